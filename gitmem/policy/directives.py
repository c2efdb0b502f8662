"""What a person tells an agent to do from now on, found in their own words by rules, without a model.

The rules are data, one file a language (`directive_rules/`); a further language is a further file. Precision comes
first: a rule that is missed is said again, one that was never said is obeyed. docs/learning.md has the figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from gitmem.errors import UsageError
from gitmem.model.frozen import dataclass
from gitmem.model.text import is_clean, one_line
from gitmem.model.vocabulary import QUOTE_LIMIT, TITLE_LIMIT
from gitmem.policy.directive_text import Sentence, sentences
from gitmem.policy.patterns import compiled, readable

if TYPE_CHECKING:
    from gitmem.model.vocabulary import Kind

Polarity = Literal["for", "against"]
KINDS: Final = ("preference", "convention", "fact")
TURN: Final = 20_000  # characters of a turn that anybody types
_LEAST: Final = 4  # characters of a claim
_POLITE: Final = ".,;:!?…-–— \t"


@dataclass(frozen=True)
class Rule:
    """`pattern` finds the rule in a sentence; its group `claim` is what `title` is made of. `lasting`: the words
    themselves say that it holds beyond the task at hand."""

    name: str
    kind: Kind
    polarity: Polarity
    title: str
    pattern: str
    lasting: bool


@dataclass(frozen=True)
class Language:
    """The rules of one language; every pattern is RE2, without regard to case, over one sentence.

    `signs`: of every sentence that a rule finds, one is a part in lower case. `pardons` are blanked before `vetoes` are
    looked for; a sentence with a veto is no directive, a turn with one of `turn_vetoes` has none. Behind a sentence
    that is one of `tasks` only rules that are `lasting` count: the rest may be about what is built. `team` speaks of
    everybody, `personal` of how the agent talks to the person. `trailing` is cut from the end of a claim. `denials`
    turn a claim around, `ignored` add nothing to it; what follows `instead` is what it takes the place of; of the words
    of one of `values` a thing has one.
    """

    code: str
    signs: tuple[str, ...]
    rules: tuple[Rule, ...]
    vetoes: tuple[str, ...]
    pardons: tuple[str, ...]
    turn_vetoes: tuple[str, ...]
    tasks: tuple[str, ...]
    team: tuple[str, ...]
    personal: tuple[str, ...]
    trailing: str
    denials: frozenset[str]
    ignored: frozenset[str]
    instead: tuple[tuple[str, ...], ...]
    values: tuple[frozenset[str], ...]


@dataclass(frozen=True)
class Directive:
    """One rule that a person stated.

    `line` is the line as it stands, `start` and `end` where it stands in the turn, in characters; `start_byte` and
    `end_byte` the same in UTF-8. `team`: it speaks of everybody who works here. `rule` is `language/name`.
    """

    kind: Kind
    title: str
    polarity: Polarity
    team: bool
    line: str
    start: int
    end: int
    start_byte: int
    end_byte: int
    rule: str


def may_direct(text: str, languages: Sequence[Language]) -> bool:
    """False only when `directives` finds nothing: a look for a few words."""
    lowered = text.lower()
    return any(sign in lowered for language in languages for sign in language.signs)


def directives(text: str, languages: Sequence[Language]) -> tuple[Directive, ...]:
    """The rules that a person states in one turn, in order; one a sentence at the most."""
    if len(text) > TURN or not may_direct(text, languages):
        return ()
    text = readable(text)
    if any(_any(language.turn_vetoes, text) for language in languages):
        return ()
    found: list[Directive] = []
    tasked = False
    for sentence in sentences(text):
        made = _found(sentence, text, languages, tasked)
        if made is not None:
            found.append(made)
        tasked = tasked or any(_any(language.tasks, sentence.bare) for language in languages)
    return tuple(found)


def _found(sentence: Sentence, text: str, languages: Sequence[Language], tasked: bool) -> Directive | None:
    if sentence.asks:
        return None
    lowered = sentence.bare.lower()
    for language in languages:
        if not any(sign in lowered for sign in language.signs):
            continue
        for rule in language.rules:
            if tasked and not rule.lasting:
                continue
            pattern = compiled(f"(?i){rule.pattern}")
            match = pattern.search(sentence.bare)
            if match is None:
                continue
            if _vetoed(sentence.bare, language):
                break
            made = _made(sentence, match.span(pattern.groupindex["claim"]), rule, language, text)
            if made is not None:
                return made
    return None


def _vetoed(bare: str, language: Language) -> bool:
    for pattern in language.pardons:
        bare = compiled(f"(?i){pattern}").sub(" ", bare)
    return _any(language.vetoes, bare)


def _made(sentence: Sentence, span: tuple[int, int], rule: Rule, language: Language, text: str) -> Directive | None:
    start, end = span
    claim = sentence.text[start:end]
    cut = compiled(f"(?i)(?:{language.trailing})$").search(sentence.bare[start:end])
    if cut is not None:
        claim = claim[: cut.start()]
    claim = " ".join(claim.strip(_POLITE).split())
    title = rule.title.replace("{claim}", claim)
    title = title[:1].upper() + title[1:]
    line = text[sentence.line_start : sentence.line_end]
    if len(line) > QUOTE_LIMIT or len(claim) < _LEAST or len(title) > TITLE_LIMIT or not is_clean(line):
        return None
    personal = rule.kind == "preference" or (rule.kind == "convention" and _any(language.personal, claim))
    return Directive(
        kind="preference" if personal else rule.kind,
        title=title,
        polarity=rule.polarity,
        team=not personal and _any(language.team, sentence.bare),
        line=line,
        start=sentence.line_start,
        end=sentence.line_end,
        start_byte=len(text[: sentence.line_start].encode()),
        end_byte=len(text[: sentence.line_end].encode()),
        rule=f"{language.code}/{rule.name}",
    )


def _any(patterns: Sequence[str], text: str) -> bool:
    return any(compiled(f"(?i){pattern}").search(text) is not None for pattern in patterns)


def language_of(data: Any, where: str) -> Language:
    """The language that a rule file describes; `where` names it. Raises UsageError with what is wrong with it."""
    try:
        return _language(data)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        said = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else one_line(str(error), 200)
        raise UsageError(f"{where} is no file of directive rules: {said}", hint="docs/learning.md has one") from None


def _language(data: Any) -> Language:
    parts = {name: _words(text) for name, text in data.get("words", {}).items()}
    for name, text in data.get("parts", {}).items():
        parts[name] = _filled(text.replace("\n", ""), parts)

    def patterns(key: str) -> tuple[str, ...]:
        return tuple(_checked(_filled(text, parts)) for text in data.get(key, []))

    rules = tuple(_rule(item, parts) for item in data["rules"])
    return Language(
        code=_text(data["language"]),
        signs=tuple(_text(sign).lower() for sign in data["signs"]),
        rules=rules,
        vetoes=patterns("vetoes"),
        pardons=patterns("pardons"),
        turn_vetoes=patterns("turn_vetoes"),
        tasks=patterns("tasks"),
        team=patterns("team"),
        personal=patterns("personal"),
        trailing=_checked(_filled(data.get("trailing", "[^\\s\\S]"), parts)),
        denials=frozenset(data.get("denials", "").split()),
        ignored=frozenset(data.get("ignored", "").split()),
        instead=tuple(tuple(_text(mark).split()) for mark in data.get("instead", [])),
        values=tuple(frozenset(_text(group).split()) for group in data.get("values", [])),
    )


def _rule(item: Mapping[str, Any], parts: Mapping[str, str]) -> Rule:
    kind, polarity = item["kind"], item["polarity"]
    if kind not in KINDS or polarity not in ("for", "against"):
        raise ValueError(f"the rule {item['name']!r} needs a kind of {', '.join(KINDS)} and polarity for or against")
    pattern = _checked(_filled(item["pattern"].replace("\n", ""), parts))
    if "claim" not in compiled(pattern).groupindex:
        raise ValueError(f"the pattern of the rule {item['name']!r} has no group (?P<claim>…)")
    lasting = item.get("lasting", False) is True
    return Rule(_text(item["name"]), kind, polarity, _text(item["title"]), pattern, lasting)


def _words(text: str) -> str:
    return "(?:" + "|".join(sorted(text.split(), key=lambda word: (-len(word), word))) + ")"


def _filled(pattern: str, parts: Mapping[str, str]) -> str:
    """`pattern` with `{name}` for each part that is known; a counted repetition stays."""
    for name, part in parts.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return pattern


def _checked(pattern: str) -> str:
    try:
        compiled(f"(?i){pattern}")
    except Exception as error:  # what RE2 raises is no exception of its public face
        raise ValueError(f"{one_line(pattern, 60)!r} is no pattern: {error}") from None
    return pattern


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{value!r} should be a text")
    return value


@lru_cache(maxsize=512)
def stance(title: str, languages: tuple[Language, ...]) -> tuple[Polarity, frozenset[str], frozenset[str]]:
    """What a title says: for or against, of what, instead of what. Words in lower case that add something to it."""
    from gitmem.model.claims import normalise_claim

    words = [word.strip(".,;:!?()\"'`*") for word in normalise_claim(title).replace("'", "").split()]
    denials = frozenset().union(*(language.denials for language in languages))
    ignored = frozenset().union(*(language.ignored for language in languages))
    against = bool(words) and words[0] in denials
    marks = [mark for language in languages for mark in language.instead]
    head, rest = _parted([word for word in words if word], marks)
    return (
        "against" if against else "for",
        frozenset(word for word in head if word not in denials and word not in ignored),
        frozenset(word for word in rest if word not in denials and word not in ignored),
    )


def _parted(words: list[str], marks: Sequence[tuple[str, ...]]) -> tuple[list[str], list[str]]:
    for at in range(1, len(words)):
        for mark in marks:
            if tuple(words[at : at + len(mark)]) == mark:
                return words[:at], words[at + len(mark) :]
    return words, []


def restates(one: str, other: str, languages: tuple[Language, ...]) -> bool:
    """Whether two titles say the same, by their words."""
    left, right = stance(one, languages), stance(other, languages)
    return left == right and bool(left[1])


def contrary(one: str, other: str, languages: tuple[Language, ...]) -> bool:
    """Whether two titles cannot both hold: the same words for and against, one other value in the same place, or one
    that names what the other says as what it takes the place of. Anything less sure is False."""
    (a, left, left_not), (b, right, right_not) = stance(one, languages), stance(other, languages)
    if not left or not right:
        return False
    if a != b:
        return left == right
    if a == "against":
        return False
    if left == right_not or right == left_not:
        return True
    only_left, only_right = left - right, right - left
    if len(only_left) != 1 or len(only_right) != 1:
        return False
    both = only_left | only_right
    return any(both <= group for language in languages for group in language.values)
