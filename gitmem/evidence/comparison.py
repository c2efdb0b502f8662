"""Whether cited lines of an earlier file still stand in a later one: pure, of bytes and names only.

What counts as the same (docs/staleness.md says it for people): for a named definition and for a whole file, the same
code apart from comments and layout; for cited lines, the same words in the same order, comments among them; in a file
that no parser here knows, the same lines apart from white space at their end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple

from gitmem.evidence.definitions import Code, Definition, occurrences, parsed

Rows = tuple[int, int]  # first and last line, counted from 1
_TELLING: Final = 6  # words of code that are known again in another definition
_DIFF_LINES: Final = 40
_CONTEXT: Final = 1


class Compared(NamedTuple):
    """state: `changed` with `now` None when nothing stands for it, so that it is gone. before, now: the lines that were
    compared, in the earlier and in the later file; of what stands still, where it stands. whole: of what changed, no
    lines of the later file take its place."""

    state: Literal["same", "changed", "gone"]
    before: Rows
    now: Rows | None = None
    whole: bool = False


class File(NamedTuple):
    """One state of a file."""

    path: str
    data: bytes

    @property
    def lines(self) -> list[bytes]:
        return self.data.split(b"\n")

    @property
    def rows(self) -> Rows:
        return 1, max(1, self.data.count(b"\n") + (not self.data.endswith(b"\n")))


def compare(old: File, new: File, cited: Rows | None, symbol: str | None) -> Compared:
    """What became of the lines `cited` of `old` (None: all of it), which define `symbol` if one is given."""
    if cited is None:
        return _whole(old, new)
    beside = _beside_changes(old, new, cited)
    if beside is not None and (symbol is None or "." not in symbol):
        return Compared("same", cited, beside)
    before, after = parsed(old.path, old.data), parsed(new.path, new.data)
    if before is None or after is None:
        return _by_lines(old, new, cited)
    if symbol is not None:
        found = _defined(before, cited, symbol)
        if found is not None:
            return _by_name(before, after, found, "=" in symbol)
    return _by_words(before, after, old, new, cited)


def _whole(old: File, new: File) -> Compared:
    before, after = parsed(old.path, old.data), parsed(new.path, new.data)
    if before is not None and after is not None:
        names = [[one.name for one in code.definitions] for code in (before, after)]
        same = names[0] == names[1] and before.meaning() == after.meaning()
    else:
        same = [line.rstrip() for line in old.lines] == [line.rstrip() for line in new.lines]
    return Compared("same" if same else "changed", old.rows, new.rows)


def _beside_changes(old: File, new: File, cited: Rows) -> Rows | None:
    """Where the lines stand when all that changed is above or below them; None when something at them may have."""
    had, has = old.lines, new.lines
    first, last = cited
    if had[:last] == has[:last]:
        return cited
    below = len(had) - first + 1
    if below <= len(has) and had[first - 1 :] == has[len(has) - below :]:
        return first + len(has) - len(had), last + len(has) - len(had)
    return None


def _defined(code: Code, cited: Rows, symbol: str) -> Definition | None:
    """The definition of that name on the cited lines; None when the record says something else than the file."""
    name = symbol.partition("=")[0].strip()
    here = [found for found in code.named(name) if (found.first, found.last) == cited]
    return here[0] if here else None


def _by_name(before: Code, after: Code, was: Definition, by_value: bool) -> Compared:
    """By the name of a definition. One that stands several times (overloads) is the same when any of them is."""
    rows = was.first, was.last
    found = [now for now in after.definitions if now.name == was.name]
    if not found:
        return Compared("gone", rows)
    said: Callable[[Code, Definition], str | None] = Code.value if by_value else Code.meaning
    same = [now for now in found if now.node.text == was.node.text]  # the usual case, and the cheap one
    if not same:
        wanted = said(before, was)
        same = [now for now in found if said(after, now) == wanted]
    now = min(same or found, key=lambda one: abs(one.first - was.first))
    return Compared("same" if same else "changed", rows, (now.first, now.last))


def _by_words(before: Code, after: Code, old: File, new: File, cited: Rows) -> Compared:
    """Lines that define nothing by themselves: looked for in the definition that held them, then in the file."""
    was = before.enclosing(*cited)
    within = [now for now in after.definitions if was is not None and now.name == was.name]
    for now in within:
        rows = _in_lines(old, new, cited, (now.first, now.last))
        if rows:
            return Compared("same", cited, min(rows, key=lambda one: abs(one[0] - cited[0])))
    wanted = before.words_of(*cited)
    if not any(any(map(str.isalnum, word)) for word in wanted):
        return _by_lines(old, new, cited)
    for now in within:
        rows = _found(wanted, after, (now.first, now.last))
        if rows:
            return Compared("same", cited, min(rows, key=lambda one: abs(one[0] - cited[0])))
    region: Rows | None
    if was is not None and within:
        region = within[0].first, within[0].last
        if before.meaning(was) == after.meaning(within[0]) and _remarks(wanted) <= _remarks(after.words_of(*region)):
            return Compared("same", cited, region)  # written otherwise, saying the same
    else:
        region = None if was is not None else new.rows
    telling = sum(any(map(str.isalnum, word)) for word in wanted)
    known = was is None or telling >= (_TELLING if within else _TELLING // 2)
    possible = known and all(word.encode() in new.data for word in wanted if word.isidentifier())
    stands = _found(wanted, after, new.rows) if possible else []
    stood = _found(wanted, before, old.rows) if stands else []
    # In another definition only what stood once and is long enough to be known again: `return None` is found in any.
    if stands and (len(stood) == 1 if was is not None else len(stands) >= len(stood)):
        return Compared("same", cited, min(stands, key=lambda one: abs(one[0] - cited[0])))
    around = (was.first, was.last) if was is not None and region else cited
    return Compared("changed" if region else "gone", around, region, whole=was is None)


def _remarks(words: Sequence[str]) -> frozenset[str]:
    return frozenset(word for word in words if word.startswith(("#", "//", "/*")))


def _found(wanted: Sequence[str], code: Code, within: Rows) -> list[Rows]:
    words = code.words(*within)
    places = occurrences(wanted, [word for word, _ in words])
    return [(words[place][1], words[place + len(wanted) - 1][1]) for place in places]


def _in_lines(old: File, new: File, cited: Rows, within: Rows) -> list[Rows]:
    """Where the very lines stand among those of the later file."""
    wanted = [line.rstrip() for line in old.lines[cited[0] - 1 : cited[1]]]
    starts = _runs(wanted, [line.rstrip() for line in new.lines[within[0] - 1 : within[1]]])
    return [(start + within[0] - 1, start + within[0] - 2 + len(wanted)) for start in starts]


def _by_lines(old: File, new: File, cited: Rows) -> Compared:
    """By the lines themselves, without white space at their end."""
    first, last = cited
    had = [line.rstrip() for line in old.lines]
    has = [line.rstrip() for line in new.lines]
    wanted = had[first - 1 : last]
    stood, stands = _runs(wanted, had), _runs(wanted, has)
    # Lines that stood several times are followed by what is around them, unless none of them went.
    if stands and len(stands) >= len(stood):
        now = min(stands, key=lambda one: abs(one - first))
        return Compared("same", cited, (now, now + last - first))
    if stands:
        for tag, start, end, there, _ in SequenceMatcher(None, had, has, autojunk=False).get_opcodes():
            if tag == "equal" and start < first and last <= end:
                return Compared("same", cited, (first + there - start, last + there - start))
    return Compared("changed", cited, new.rows, whole=True)


def _runs(wanted: Sequence[bytes], among: Sequence[bytes]) -> list[int]:
    """The lines, counted from 1, at which `wanted` begins in `among`."""
    size = len(wanted)
    starts = [number for number, line in enumerate(among) if line == wanted[0]]
    return [number + 1 for number in starts if list(among[number : number + size]) == list(wanted)]


def difference(old: File, new: File | None, cited: Rows, found: Compared) -> list[str]:
    """What became of the cited lines as a unified diff without a head, 40 lines at most."""
    if new is None or found.now is None:
        gone = [f"-{_shown(line)}" for line in old.lines[cited[0] - 1 : cited[1]]]
        return _bounded(gone)
    (first, last), (start, end) = found.before, found.now
    had = [line.rstrip() for line in old.lines[first - 1 : last]]
    has = [line.rstrip() for line in new.lines[start - 1 : end]]
    said: list[str] = []
    for group in SequenceMatcher(None, had, has, autojunk=len(had) * len(has) > 4_000_000).get_grouped_opcodes(
        _CONTEXT
    ):
        a, b = group[0][1] + first, group[-1][2] + first - 1
        if b < cited[0] or a > cited[1]:
            continue
        said.append(f"@@ -{_range(a, b)} +{_range(group[0][3] + start, group[-1][4] + start - 1)} @@")
        for tag, one, two, three, four in group:
            if tag == "equal":
                said += [f" {_shown(line)}" for line in had[one:two]]
            else:
                said += [f"-{_shown(line)}" for line in had[one:two]]
                said += [f"+{_shown(line)}" for line in has[three:four]]
    return _bounded(said)


def _range(first: int, last: int) -> str:
    return f"{first},{max(0, last - first + 1)}"


def _shown(line: bytes) -> str:
    return line.decode(errors="replace")


def _bounded(said: list[str]) -> list[str]:
    more = len(said) - _DIFF_LINES
    return said if more <= 0 else [*said[:_DIFF_LINES], f"… {more} more lines"]
