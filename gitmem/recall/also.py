"""Words that stand for each other in the talk about software: `dep` and `dependency`, `rm`, `remove` and `delete`.

A memory that holds one of them answers, at less weight, a question that holds another. The words are written as the
tokens that `gitmem.model.tokens` makes of them, so that nothing is stemmed when a search starts; tests/recall holds
the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

# Short forms with what they are short for, spellings, and verbs of changes that mean the same.
_GROUPS: Final = """
    arg argument; param paramet; dir directori folder; doc document; config configur cfg; repo repositori
    env environ; var variabl; func function fn; msg messag; err error except; exc except; dep depend; impl implement
    perf perform speed; slow perform speed fast faster optim optimis; init initi initialis; lib librari; pkg packag
    req request requir; resp respons; db databas; auth authent author; app applic; attr attribut; char charact
    cmd command; conn connect; cert certif; ctx context; dest destin; dev develop; dist distribut; elem element
    ext extens; fmt format; gen generat; id identifi; idx index; info inform; int integ; str string; bool boolean
    len length; lang languag; max maximum; min minimum; mem memori; num number; obj object; op oper; opt option
    pos posit; prev previous; proc process; prod product; prop properti; ref refer; regex regexp; spec specif
    rm remov delet drop; del delet; src sourc; sync synchron synchronis; sys system; tmp temp temporari; val valu
    ver version; async asynchron; desc descript; mod modul; kwarg keyword; deprec obsolet; crash traceback except
    fix bugfix repair; stdout output; stdin input; color colour; behavior behaviour; maco osx darwin; win window
    js javascript; ts typescript; py python; k8s kubernet; whitespac space; newlin linebreak; type annot hint
    test unittest; build compil; support handl allow
"""


@cache
def groups() -> Mapping[str, tuple[str, ...]]:
    """For a token the others that may stand in its place."""
    others: dict[str, dict[str, None]] = {}
    for group in _GROUPS.replace("\n", ";").split(";"):
        words = group.split()
        for word in words:
            others.setdefault(word, {}).update((other, None) for other in words if other != word)
    return {word: tuple(found) for word, found in others.items()}
