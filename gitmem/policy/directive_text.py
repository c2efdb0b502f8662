"""Which words of a turn are said to the agent by the person who typed it, and which only stand there.

What is pasted, quoted or shown speaks for somebody else: fences, quoted lines, headings, lists, logs, diffs, stack
traces, what follows a line that ends with a colon, paragraphs as long as nobody types them. A person's own words that
look like one of these are lost; that is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitmem.model.frozen import dataclass
from gitmem.model.pattern import pattern

TURN_LINES: Final = 25  # lines of one's own after which a turn is taken for a paste
_PARAGRAPH_LINES: Final = 3
_LINE: Final = 500  # characters

_FENCE: Final = pattern(r"[ \t]*(?:```|~~~)")
# A quote, a heading, an entry of a list, a row of a table, a line of code that is set in, an element, a chat log.
_SHOWN: Final = pattern(
    r"[ \t]*(?:>|#{1,6}[ \t]|[-*+•][ \t]|\d{1,3}[.)][ \t]|\||</?[A-Za-z!]|[$%][ \t])|\t| {4}"
    r"|(?i:user|human|assistant|system|ai|me|bot|usuario|asistente)[ \t]*:"
)
# One such line makes its whole paragraph something that was pasted.
_MACHINE: Final = pattern(
    r"[ \t]*(?:[+-](?![ \t]?[-+]?$)|@@|diff |index [0-9a-f]|Traceback|File \"|at [\w.$<]+[ (]|caused by:"
    r"|\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\[?(?:DEBUG|TRACE|INFO|WARN(?:ING)?|ERROR|FATAL)\b|[A-Z]\w*(?:Error|Exception)\b"
    r"|[\w.-]+@[\w.-]+[:$#]|(?:npm|make|cargo|pytest):? (?:ERR|\*\*\*|FAILED))"
)
_OPENING: Final = pattern(r".*[:：][ \t]*\Z")
# A full stop ends no sentence behind a short form or inside a name such as v1.2.
_END: Final = pattern(r"[.!?…;]+[\"')\]]*(?=\s|\Z)|(?<=\s)[—–](?=\s)")
_SHORT: Final = pattern(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|p\. ?ej|ej|núm)|\b[A-Za-z])\Z", 2)
_QUOTED: Final = pattern(
    r"`[^`\n]*(?:`|\Z)|\"[^\"\n]*(?:\"|\Z)|“[^”\n]*(?:”|\Z)|«[^»\n]*(?:»|\Z)|(?<![\w])'[^'\n]*'(?!\w)|(?<![\w])‘[^’\n]*’(?!\w)"
)
_MASK: Final = "_"


@dataclass(frozen=True)
class Sentence:
    """`text` as it stands; `bare`, as long, with "_" for what is in quotes; offsets in characters of the turn, of the
    sentence and of the line that it stands in. `asks`: it ends with a question mark or begins with a Spanish one."""

    text: str
    bare: str
    start: int
    line_start: int
    line_end: int
    asks: bool


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a turn that are its author's own words to the agent."""
    own = list(_own_lines(text))
    if len(own) > TURN_LINES:
        return
    for start, end in own:
        yield from _of_line(text, start, end)


def _own_lines(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each line, without the white space around it."""
    for paragraph in _paragraphs(text):
        lines = [text[start:end] for start, end in paragraph]
        if any(_MACHINE.match(line) for line in lines):
            continue
        if len(lines) > _PARAGRAPH_LINES:
            continue
        for (start, _), line in zip(paragraph, lines, strict=True):
            if len(line) <= _LINE and not _SHOWN.match(line):
                blank = len(line) - len(line.lstrip())
                yield start + blank, start + len(line.rstrip())


def _paragraphs(text: str) -> Iterator[list[tuple[int, int]]]:
    """Runs of lines without a blank one between them, up to a line that opens what is shown."""
    held: list[tuple[int, int]] = []
    fenced = False
    at = 0
    for line in text.split("\n"):
        start, at = at, at + len(line) + 1
        if _FENCE.match(line):
            fenced = not fenced
        if fenced or _FENCE.match(line) or not line.strip():
            if held:
                yield held
            held = []
            continue
        held.append((start, start + len(line.rstrip("\r"))))
        if _OPENING.match(line):
            break
    if held:
        yield held


def _of_line(text: str, start: int, end: int) -> Iterator[Sentence]:
    line = text[start:end]
    bare = _QUOTED.sub(lambda found: _MASK * len(found[0]), line).replace("’", "'")
    at = 0
    for found in [*_END.finditer(bare), None]:
        if found is not None and _goes_on(found[0], bare[at : found.start()]):
            continue
        stop = len(line) if found is None else found.start()
        skipped = len(line[at:stop]) - len(line[at:stop].lstrip())
        said = line[at:stop].strip()
        if said:
            first = at + skipped
            asks = (found is not None and "?" in found[0]) or said.startswith("¿")
            yield Sentence(said, bare[first : first + len(said)], start + first, start, end, asks)
        at = len(line) if found is None else found.end()


def _goes_on(mark: str, before: str) -> bool:
    """Whether a mark ends no sentence: behind a short form, or between the parts of what a colon opened."""
    return _SHORT.search(before) is not None if mark[0] == "." else mark[0] == ";" and ": " in before
