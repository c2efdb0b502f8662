"""Secrets in a text: where they stand and by which rule. Never what they are.

What no rule finds: unlabelled words, secrets of a shape nobody described, values in a table far from their
heading. A person can name such values exactly (`exact`).
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from gitmem.model.pattern import pattern
from gitmem.model.text import is_clean, is_forbidden
from gitmem.policy.patterns import compiled, is_loaded, readable, search
from gitmem.policy.secret_checks import CHECKS
from gitmem.policy.secret_rules import RULES, Rule

_RULES_OF: Final[dict[str, set[int]]] = {}  # the numbers of the rules that a keyword belongs to
for _number, _rule in enumerate(RULES):
    for _word in _rule.keywords:
        _RULES_OF.setdefault(_word, set()).add(_number)
_ANY_KEYWORD: Final = "|".join(sorted(map(re.escape, _RULES_OF)))
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_PERCENT: Final = pattern(r"%([0-9A-Fa-f]{2})")
# Terminal colours, also as JSON writes them; a line broken by a backslash; the escapes of JSON.
_ESCAPED: Final = pattern(
    r"(?:\x1b|\\u001[bB]|\\x1[bB]|\\e|\\033)\[[0-9;?]{0,20}[A-Za-z]|\\\r?\n\s*|\\u([0-9A-Fa-f]{4})|\\([\"'`/\\bfnrt])"
)
_DEPTH: Final = 3  # times that JSON is written inside JSON: a tool result in a message in a transcript
_JSON: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


class Secret(NamedTuple):
    """Characters [start, end) of the text hold a secret of the kind that `rule` names."""

    rule: str
    start: int
    end: int


class _Layer(NamedTuple):
    """One reading of a text. `spans[i]` is where character i came from; None: the text as it is."""

    text: str
    spans: Sequence[tuple[int, int]] | None


def find_secrets(text: str, exact: Sequence[str] = ()) -> list[Secret]:
    """The secrets in `text`, in order and without overlap: by rule, and every occurrence of a value of `exact`.

    Read as it stands, with JSON escapes, terminal colours and invisible characters undone, percent-decoded, and
    base64 decoded once; a hit in base64 covers the whole of it. Linear in the length of the text.
    """
    found: list[Secret] = []
    for layer in _layers(text):
        for hit in _scan(layer.text, exact):
            if layer.spans is None:
                found.append(hit)
            elif hit.end > hit.start:
                found.append(Secret(hit.rule, layer.spans[hit.start][0], layer.spans[hit.end - 1][1]))
    for carrier in _BASE64.finditer(text):
        decoded = _decoded(carrier[0])
        hit_inside = next(iter(_scan(decoded, exact)), None) if decoded else None
        if hit_inside is not None:
            found.append(Secret(hit_inside.rule, carrier.start(), carrier.end()))
    return without_overlap(found)


def may_hold(text: str) -> bool:
    """False only when no line of `text` holds a secret by any rule, read by itself or with other lines.

    One look for many texts, joined by line feeds: no pattern needs more of its surroundings than the line.
    """
    if "\\" in text or not is_clean(text) or ("%" in text and _PERCENT.search(text)):
        return True
    if any(_decoded(carrier[0]) for carrier in _BASE64.finditer(text)):
        return True
    return any(search(rule.pattern, text) for rule in candidates(text))


def _layers(text: str) -> Iterator[_Layer]:
    plain = _Layer(text, None)
    yield plain
    layer = plain
    for _ in range(_DEPTH):
        if not ("\\" in layer.text or (not layer.text.isprintable() and any(map(is_forbidden, layer.text)))):
            break
        layer = _undone(layer)
        yield layer
    if "%" in text and _PERCENT.search(text):
        yield _mapped(plain, _PERCENT, lambda match: chr(int(match[1], 16)))


def _undone(layer: _Layer) -> _Layer:
    def meaning(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return _JSON.get(match[2], match[2]) if match[2] else ""

    characters, spans = _mapped(layer, _ESCAPED, meaning)
    seen = [i for i, char in enumerate(characters) if not is_forbidden(char)]
    return _Layer("".join(characters[i] for i in seen), [spans[i] for i in seen] if spans is not None else None)


def _mapped(layer: _Layer, pattern: re.Pattern[str], meaning: Callable[[re.Match[str]], str]) -> _Layer:
    """`layer` with each match replaced by its meaning (at most one character), and where each character was."""
    old = layer.spans if layer.spans is not None else [(i, i + 1) for i in range(len(layer.text))]
    out: list[str] = []
    spans: list[tuple[int, int]] = []
    position = 0
    for match in pattern.finditer(layer.text):
        out += layer.text[position : match.start()]
        spans += old[position : match.start()]
        char = meaning(match)
        out += char
        spans += [(old[match.start()][0], old[match.end() - 1][1])] * len(char)
        position = match.end()
    return _Layer("".join(out) + layer.text[position:], [*spans, *old[position:]])


def _decoded(carrier: str) -> str:
    """The text that base64 hides, or "" when it hides none."""
    body = carrier.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        decoded = binascii.a2b_base64(body + "=" * (-len(body) % 4)).decode()
    except (ValueError, UnicodeDecodeError):
        return ""
    return decoded if all(char.isprintable() or char in "\r\n\t" for char in decoded) else ""


def _scan(text: str, exact: Sequence[str]) -> Iterator[Secret]:
    for value in exact:
        start = text.find(value) if value else -1
        while start >= 0:
            yield Secret("exact", start, start + len(value))
            start = text.find(value, start + len(value))
    rules = candidates(text)
    if not rules:
        return
    text = readable(text)
    for rule in rules:
        check = CHECKS[rule.check]
        for match in compiled(rule.pattern).finditer(text):
            if check(match[1], match[0]):
                yield Secret(rule.name, match.start(1), match.end(1))


def candidates(text: str) -> list[Rule]:
    """The rules that may match `text`: those of which a keyword is in it. For most texts there is none."""
    folded = text.casefold()
    # One search in place of some 200, once there is an engine; a few texts are not worth loading it.
    if is_loaded() and compiled(_ANY_KEYWORD).search(readable(folded)) is None:
        return []
    near = {number for word, numbers in _RULES_OF.items() if word in folded for number in numbers}
    return [RULES[number] for number in sorted(near)]


def without_overlap(found: list[Secret]) -> list[Secret]:
    """In order of place; of hits that overlap, the rule that says most (a token before a label) over all of both."""
    if not found:
        return []
    order = {rule.name: number for number, rule in enumerate(RULES)}
    out: list[Secret] = []
    for hit in sorted(set(found), key=lambda h: (h.start, -h.end, order.get(h.rule, -1))):
        if out and hit.start < out[-1].end:
            last = out[-1]
            rule = min(last.rule, hit.rule, key=lambda name: order.get(name, -1))
            out[-1] = Secret(rule, last.start, max(last.end, hit.end))
        else:
            out.append(hit)
    return out
