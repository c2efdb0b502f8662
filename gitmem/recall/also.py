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
    arg argument; param paramet; dir directori folder; doc document; config configur cfg; repo repositori;
    env environ; var variabl; func function fn; msg messag; err error except; exc except; dep depend; impl implement;
    perf perform speed; slow perform speed fast faster optim optimis; init initi initialis; lib librari; pkg packag;
    req request requir; resp respons; db databas; auth authent author; app applic; attr attribut; char charact;
    cmd command; conn connect; cert certif; ctx context; dest destin; dev develop; dist distribut; elem element;
    ext extens; fmt format; gen generat; id identifi; idx index; info inform; int integ; str string; bool boolean;
    len length; lang languag; max maximum; min minimum; mem memori; num number; obj object; op oper; opt option;
    pos posit; prev previous; proc process; prod product; prop properti; ref refer; regex regexp; spec specif;
    rm remov delet drop; del delet; src sourc; sync synchron synchronis; sys system; tmp temp temporari; val valu;
    ver version; async asynchron; desc descript; mod modul; kwarg keyword; deprec obsolet; crash traceback except;
    fix bugfix repair; stdout output; stdin input; color colour; behavior behaviour; maco osx darwin; win window;
    js javascript; ts typescript; py python; k8s kubernet; whitespac space; newlin linebreak; type annot hint;
    test unittest; build compil; support handl allow;
    addr address; buf buffer; cb callback; cli commandlin; col column; conf configur; coord coordin; cur current;
    curr current; dbs databas; decl declar; def definit; dict dictionari; dim dimens; div divid; dst destin; dt
    datetim; eval evalu; exec execut; expr express; img imag; mgr manag; mul multipli; neg negat; orig origin; res
    respons; sep separ; stmt statement; sub subtract; ts timestamp; tz timezon; url uri; venv virtualenv; ws
    whitespac
"""
# Words that say nearly the same when a change or a fault is told.
_NEAR: Final = """
    add allow; add implement; add introduc; add support; averag mean; avoid stop; begin init; blank whitespac;
    broken fail; call invok; chang modifi; check test; check valid; check verifi; combin merg; compar
    equal; concaten join; convert cast; convert pars; convert transform; count number; crash error; creat build;
    creat generat; creat make; date datetim; date time; decim number; determin check; dictionari map; disabl turn;
    drop deprec; duplic uniqu; empti blank; enabl turn; equal same; fail error; fail failur; file path; find locat;
    find lookup; find search; first start; fix bug; fix correct; fix issu; fix rep; fix resolv; float decim; get
    fetch; get retriev; get return; graph plot; hide suppress; ignor skip; imag pictur; improv better; improv
    enhanc; incorrect broken; invok run; iter loop; kill termin; last end; length size; letter charact; line row;
    list array; matrix array; merg join; miss absent; move reloc; multipl sever; open read; path directori; plot
    figur; prevent avoid; print display; print output; quick fast; rais error; rais throw; random rand; read load;
    remov deprec; renam name; replac substitut; requir need; run execut; save dump; save store; show display; size
    number; skip exclud; sort order; split separ; start begin; stop termin; string text; strip trim; time datetim;
    timeout time; uniqu distinct; updat bump; updat upgrad; upgrad bump; warn deprec; write save; wrong incorrect
"""


@cache
def groups() -> Mapping[str, tuple[str, ...]]:
    """For a token the others that may stand in its place."""
    others: dict[str, dict[str, None]] = {}
    for group in f"{_GROUPS};{_NEAR}".split(";"):
        words = group.split()
        for word in words:
            others.setdefault(word, {}).update((other, None) for other in words if other != word)
    return {word: tuple(found) for word, found in others.items()}
