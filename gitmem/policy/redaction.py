"""Secrets taken out of transcripts before anything is written: by rule, by exact value, and by what was asked for.

A marker stands in the place of each value. The rest of a line stays as it was, byte for byte, and a line that
was JSON is JSON still. What no rule finds is said in `gitmem.policy.secrets`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gitmem.model.pattern import pattern_of_bytes
from gitmem.policy.json_spans import Node, Scalars, parse
from gitmem.policy.layers import carried, readings
from gitmem.policy.risky_calls import MARK, NEXT_STEP, stubs
from gitmem.policy.screening import may_match, scan
from gitmem.policy.secret_sources import may_be_risky
from gitmem.policy.secrets import Secret, without_overlap

_REMEMBERED: Final = 256  # calls whose results are still awaited
_BLOCK_LINES: Final = 400  # lines of a private key; the largest in use has about 100
_TOGETHER: Final = 8192  # bytes of short lines that are looked at together
_BODY: Final = 40  # characters of the first line of a key; the last may be short
_BACKSLASH: Final = ord("\\")
_PRIVATE_KEY: Final = "private-key"
_BEGIN_KEY: Final = pattern_of_bytes(rb"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END_KEY: Final = pattern_of_bytes(rb"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
# A line of a key, perhaps quoted, numbered, indented or in a diff; or one of its headers.
_KEY_LINE: Final = pattern_of_bytes(
    rb"([>+\-|\s]{0,40}(?:[0-9]{1,5}[:|\t ]\s{0,8})?)([A-Za-z0-9+/=]{1,200}|[A-Z][A-Za-z-]{2,20}: .{1,100})?\s{0,20}"
)
# Values that the makers of the models sign or encrypt: a host refuses its own session when they change.
_SEALED: Final = pattern_of_bytes(
    rb"\\*\"(?:signature|thinkingSignature|thoughtSignature|thought_signature|encrypted_content|reasoningOpaque"
    rb"|reasoning_opaque|encryptedContent)\\*\"\s*:\s*\\*\"([A-Za-z0-9+/=_-]{64,})\\*\""
)


def marker(rule: str) -> bytes:
    """What stands where a value was: never quotes or backslashes, so it fits into JSON of any depth."""
    return MARK + rule.encode() + b"]"


def redact_line(line: bytes, exact: Sequence[str] = ()) -> tuple[bytes, tuple[str, ...]]:
    """`line` without its secrets, and the rules that hit, in order of place; the same object when none did.

    `exact`: values that are secret by themselves. Linear in the length of the line.
    """
    hits = _hits(line, exact)
    return _replaced(line, hits, parse(line)) if hits else (line, ())


class Redactor:
    """Redacts the lines of one stream in order, and remembers what a line says about those after it.

    The results of calls that read secrets are stubbed, and private keys are removed over several lines of text.
    Bounded: the last calls are remembered. `remembered` can be kept and given to the next Redactor of the
    same stream; it holds ids of calls and no value.
    """

    def __init__(self, exact: Sequence[str] = (), remembered: Sequence[str] = ()) -> None:
        self._exact = tuple(exact)
        self._calls = dict.fromkeys(call for call in remembered if call != _PRIVATE_KEY)
        self._block = _BLOCK_LINES if _PRIVATE_KEY in remembered else 0
        self._in_body = self._block > 0

    @property
    def remembered(self) -> tuple[str, ...]:
        return (*self._calls, *((_PRIVATE_KEY,) if self._block else ()))

    def line(self, line: bytes) -> tuple[bytes, tuple[str, ...]]:
        """As `redact_line`, knowing the lines before."""
        hits = _hits(line, self._exact)
        roots: list[Node] | None = None
        asked = NEXT_STEP in self._calls or any(call.encode() in line for call in self._calls)
        if asked or may_be_risky(line):
            roots = parse(line)
            if roots is not None:
                found = stubs(line, roots, self._calls)
                hits += [Secret("risky-call", start, end) for start, end in found.spans]
                if found.answered:
                    self._calls.pop(NEXT_STEP, None)
                for call in found.calls:
                    self._calls.pop(call, None)
                    self._calls[call] = None
                while len(self._calls) > _REMEMBERED:
                    del self._calls[next(iter(self._calls))]
        if self._block or _BEGIN_KEY.search(line):
            roots = parse(line) if roots is None else roots
            hits += self._of_block(line, roots is not None)
        if not hits:
            return line, ()
        return _replaced(line, hits, parse(line) if roots is None else roots)

    def lines(self, lines: Sequence[bytes]) -> list[tuple[bytes, tuple[str, ...]]]:
        """As `line` for each, with one look for many short lines together."""
        out: list[tuple[bytes, tuple[str, ...]]] = []
        for group in _groups(lines):
            if len(group) > 1 and not self._block and not self._calls and self._is_quiet(group):
                out += [(line, ()) for line in group]
            else:
                out += map(self.line, group)
        return out

    def _is_quiet(self, group: Sequence[bytes]) -> bool:
        """True only when no line of the group holds a secret, a risky call or the beginning of a private key."""
        together = b"\n".join(group)
        if b"\\\n" in together or b"\\\r\n" in together or _BEGIN_KEY.search(together):
            return False  # a wrapped line would swallow the beginning of the next
        if may_be_risky(together) and any(line.lstrip()[:1] in (b"{", b"[") for line in group):
            return False
        return not any(
            may_match(layer.data, self._exact) or next(carried(layer), None) is not None for layer in readings(together)
        )

    def _of_block(self, line: bytes, is_json: bool) -> list[Secret]:
        """What of `line` belongs to a private key that began on a line of text before it; notes where one begins."""
        found: list[Secret] = []
        rest = line
        if self._block and not is_json:
            end = _END_KEY.search(line)
            match = None if end else _KEY_LINE.fullmatch(line)
            said = match[2] or b"" if match is not None else b""
            if said and (self._in_body or len(said) >= _BODY or b": " in said):
                found.append(Secret(_PRIVATE_KEY, *match.span(2)))  # type: ignore[union-attr]
                self._in_body = self._in_body or len(said) >= _BODY
            elif said:
                match = None  # a word of the sentence that speaks of a key
            self._block = self._block - 1 if match is not None else 0
            if end is not None:
                rest = line[end.end() :]
        if not is_json:
            last = max((match.end() for match in _BEGIN_KEY.finditer(rest)), default=-1)
            if last >= 0 and not _END_KEY.search(rest, last):
                self._block, self._in_body = _BLOCK_LINES, False
        return found


def _groups(lines: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """`lines` in order, in groups of about _TOGETHER bytes."""
    first, size = 0, 0
    for number, line in enumerate(lines):
        if size and size + len(line) > _TOGETHER:
            yield lines[first:number]
            first, size = number, 0
        size += len(line) + 1
    if first < len(lines):
        yield lines[first:]


def _hits(line: bytes, exact: Sequence[str]) -> list[Secret]:
    """The secrets of every reading, by bytes of the line."""
    found: list[Secret] = []
    for layer in readings(line):
        for hit in scan(layer.data, exact):
            start, end = layer.span(hit.start, hit.end)
            if end > start:
                found.append(Secret(hit.rule, start, end))
        carriers = list(carried(layer))
        if carriers and may_match(b"\n".join(text for text, _, _ in carriers), exact):
            for text, start, end in carriers:
                inside = next(scan(text, exact), None)
                if inside is not None:
                    found.append(Secret(inside.rule, start, end))
    return found


def _replaced(line: bytes, hits: list[Secret], roots: list[Node] | None) -> tuple[bytes, tuple[str, ...]]:
    sealed = [match.span(1) for match in _SEALED.finditer(line)]
    kept = [hit for hit in hits if hit.rule == "exact" or not any(s <= hit.start and hit.end <= e for s, e in sealed)]
    out = bytearray()
    rules: list[str] = []
    position = 0
    scalars = None if roots is None else Scalars(roots)
    for hit in without_overlap(kept):
        for start, end, quoted in _pieces(line, hit, scalars):
            if start < position or end <= start:
                continue
            out += line[position:start]
            out += b'"' + marker(hit.rule) + b'"' if quoted else marker(hit.rule)
            position = end
            rules.append(hit.rule)
    out += line[position:]
    return (bytes(out), tuple(rules)) if rules else (line, ())


def _pieces(line: bytes, hit: Secret, scalars: Scalars | None) -> Iterator[tuple[int, int, bool]]:
    """The parts of a hit that may be replaced: in JSON the insides of strings, and whole numbers by a string."""
    if scalars is None:
        yield hit.start, hit.end, False
        return
    first = True
    for node in scalars.touched(hit.start, hit.end):
        if node.kind == "string":
            start, end = max(hit.start, node.start + 1), min(hit.end, node.end - 1)
            # A hit that runs over several strings is a key cut into lines; other strings between are not its.
            if not first and not (_KEY_LINE.fullmatch(_unbroken(line[start:end])) or b"PRIVATE KEY" in line[start:end]):
                return
            yield _escape_at(line, node.start, start)[0], _escape_at(line, node.start, end)[1], False
        elif line[node.start : node.end] not in (b"true", b"false", b"null"):
            yield node.start, node.end, True
        first = False


def _escape_at(line: bytes, low: int, position: int) -> tuple[int, int]:
    """Begin and end of the JSON escape that `position` lies within; twice the position when in none."""
    for begin in range(position - 1, max(low, position - 6), -1):
        if line[begin] == _BACKSLASH:
            run = begin
            while run > low and line[run - 1] == _BACKSLASH:
                run -= 1
            length = 6 if line[begin + 1 : begin + 2] == b"u" else 2
            if (begin - run) % 2 == 0 and begin + length > position:
                return begin, begin + length
            break
    return position, position


def _unbroken(text: bytes) -> bytes:
    return text.replace(rb"\r", b"").replace(rb"\n", b"")
