"""A few lines about gitmem in AGENTS.md, or in CLAUDE.md where only that is there: a block between two marks.

What stands around the block is not touched. `gitmem import` passes the block over (`gitmem.notes.page`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.app.env import Env
from gitmem.app.host_files import Change, Receipt, known, read, receipts, text_of
from gitmem.app.host_hooks import without_inserts
from gitmem.app.host_settings import inside
from gitmem.app.shipped import shipped
from gitmem.errors import UsageError

NAME: Final = "agents-md"  # in receipts
FILES: Final = ("AGENTS.md", "CLAUDE.md")
BEGIN: Final = "<!-- gitmem:begin -->"
END: Final = "<!-- gitmem:end -->"


def plan_block(env: Env, work_tree: Path) -> list[Change]:
    """What puts the block into the file of this repository, or brings it up to date there.

    Raises UsageError for a file that is no text, lies elsewhere by a link, or whose marks are not one pair.
    """
    first, second = (inside(work_tree, name) for name in FILES)
    path = second if second.exists() and not first.exists() else first
    change = _with(path, receipts(env).get(str(path), {}))
    return [] if change is None else [change]


def plan_block_out(env: Env, work_tree: Path | None) -> list[Change]:
    """What takes the block out again, here and wherever a receipt says that one was written.

    Raises as `plan_block` for a file with a receipt; in another one, what gitmem cannot read is not its own.
    """
    kept = {Path(path): entry for path, entry in receipts(env).items() if entry.get("host") == NAME}
    found = [_without(path, entry) for path, entry in kept.items()]
    for path in dict.fromkeys(_of_here(work_tree) if work_tree else ()):
        with suppress(UsageError):
            found += [] if path in kept else [_without(path, {})]
    return [change for change in found if change is not None]


def remark(work_tree: Path, path: Path) -> str:
    """What keeps a host from reading the block; "" when nothing does."""
    other = work_tree / "CLAUDE.md"
    if path.name != "AGENTS.md" or not other.is_file() or other.samefile(path):
        return ""
    if b"@AGENTS.md" in other.read_bytes():
        return ""
    return "Claude Code reads CLAUDE.md and not AGENTS.md: a line @AGENTS.md in CLAUDE.md brings it in"


def _of_here(work_tree: Path) -> Iterator[Path]:
    for name in FILES:
        with suppress(UsageError):  # a link that leads elsewhere, where gitmem does not write
            yield inside(work_tree, name)


def _with(path: Path, receipt: Receipt) -> Change | None:
    before = read(path)
    text = text_of(before, path)
    newline = _newline(text)
    lines = [BEGIN, *(shipped("packages") / "agents.md").read_text(encoding="utf-8").splitlines(), END]
    block = newline.join(lines)
    found = _find(text, path)
    if found is None:
        gap = "" if not text or text.endswith(newline * 2) else newline if text.endswith("\n") else newline * 2
        piece = f"{gap}{block}{newline}"
        return _change(path, before, text + piece, ((len(text), len(piece)),))
    start, end = found
    after = text[:start] + block + text[end:]
    if after == text:
        return None
    grown = len(after) - len(text)
    places = tuple((at, length + grown) for at, length in receipt["places"]) if known(receipt, before) else ()
    return _change(path, before, after, places)


def _change(path: Path, before: bytes | None, after: str, places: tuple[tuple[int, int], ...]) -> Change:
    return Change(NAME, path, before, after.encode(), places, mode=0o644)


def _without(path: Path, receipt: Receipt) -> Change | None:
    before = read(path)
    text = text_of(before, path)
    found = _find(text, path)
    if found is None:
        return None
    if known(receipt, before):
        rest = without_inserts(text, [(at, length) for at, length in receipt["places"]])
    else:
        head, tail = text[: found[0]], text[found[1] :]
        newline = _newline(text)
        began = [at for at, _ in receipt.get("places", ()) if at <= len(head) and not head[at:].strip("\r\n")]
        if began:  # the empty lines that were put before the block, and no others
            head = head[: began[0]]
        elif head.endswith(newline * 2):
            head = head.removesuffix(newline)
        rest = head + tail.removeprefix(newline)
    gone = receipt.get("existed") is False and not rest.strip()
    return Change(NAME, path, before, None if gone else rest.encode())


def _newline(text: str) -> str:
    """How most of its lines end."""
    return "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"


def _find(text: str, path: Path) -> tuple[int, int] | None:
    """Where the block begins and ends, its marks with it."""
    marks: list[tuple[str, int, int]] = []
    at = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if bare in (BEGIN, END):
            start = at + line.index(bare)
            marks.append((bare, start, start + len(bare)))
        at += len(line)
    if not marks:
        return None
    if [mark for mark, _, _ in marks] != [BEGIN, END]:
        raise UsageError(
            f"{path} has {BEGIN} and {END} not as one pair; nothing was written", hint="mend the marks by hand"
        )
    return marks[0][1], marks[1][2]
