"""Notes that a repository already holds, as drafts: text in, drafts out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from gitmem.model.nouns import Draft, Valid
from gitmem.model.text import forbidden
from gitmem.model.vocabulary import BODY_LIMIT, ITEM_LIMIT, TITLE_LIMIT
from gitmem.notes.adr import adr_items
from gitmem.notes.changelog import changelog_items
from gitmem.notes.instructions import instruction_items
from gitmem.notes.items import Item, Note, Skipped, Unread, cut, plain, span, title_of
from gitmem.notes.jsonl import jsonl_notes
from gitmem.notes.page import Page, page_of, split_commas

__all__ = ["Note", "Skipped", "jsonl_notes", "known_sources", "parse"]

_INSTRUCTIONS: Final = frozenset({"CLAUDE.md", "AGENTS.md", "GEMINI.md", ".cursorrules"})
_COPILOT: Final = ".github/copilot-instructions.md"
_CHANGELOGS: Final = frozenset({"changelog.md", "changes.md", "history.md"})
# Other people's code in this repository: its rules are not ours.
_VENDORED: Final = frozenset({"node_modules", "vendor", "third_party", "third-party", ".venv", "site-packages"})
# Folders that hold a tool's files: what they say is about the folder around them.
_TOOL_FOLDERS: Final = frozenset({".claude", ".codex", ".gemini", ".github"})
_NO_RECORD: Final = re.compile(r"(?:readme|index|.*template)\.md", re.IGNORECASE)
_BRACES: Final = re.compile(r"\{([^{}]*)\}")


def known_sources(paths: Iterable[str]) -> list[str]:
    """Those of a repository's tracked paths that `parse` reads without being told to, in their order.

    A JSONL file is read only when it is named: most of them are data.
    """
    return [path for path in paths if _is_known(PurePosixPath(path))]


def parse(path: str, text: str) -> tuple[list[Note], list[Skipped]]:
    """The notes of one file and what was left out, each in the order of the lines. Never raises.

    `path` is relative to the repository and decides how the file is read: as decision record, changelog,
    JSONL, or else, for any other Markdown, as instructions.
    """
    where = PurePosixPath(path)
    notes: list[Note] = []
    skipped: list[Skipped] = []
    if where.suffix.lower() == ".jsonl":
        for read in jsonl_notes(path, text.split("\n")):
            if isinstance(read, Note):
                notes.append(read)
            else:
                skipped.append(read)
        return notes, skipped or ([] if notes else [Skipped(path, "", "empty")])
    if not (_is_known(where) or where.name in _INSTRUCTIONS or where.suffix.lower() in (".md", ".mdc", ".markdown")):
        return [], [Skipped(path, "", "not a kind of file that can be imported")]
    if _is_adr(where) and _NO_RECORD.fullmatch(where.name):
        return [], [Skipped(path, "", "an index or a template of decision records")]
    page = page_of(text)
    if not any(line.strip() for line in page.lines) and not page.unread:
        return [], [Skipped(path, "", "only front matter" if page.front else "empty")]
    globs, fault = _applies_to(where, page)
    unread = [*page.unread, *([Unread(1, 1, fault)] if fault else [])]
    settled = _Settled(path, globs)
    for item in _items(where, page):
        if isinstance(item, Unread):
            unread.append(item)
        else:
            settled.take(item)
    skipped = [*settled.skipped, *(Skipped(path, span(part.start, part.end), part.why) for part in unread)]
    if not settled.notes and not skipped:
        skipped = [Skipped(path, "", "headings only")]
    return settled.notes, sorted(skipped, key=lambda part: int(part.lines.partition("-")[0] or 0))


class _Settled:
    """The items of a file as notes, each with a title of its own."""

    def __init__(self, path: str, globs: tuple[str, ...]) -> None:
        self.path, self.globs = path, globs
        self.notes: list[Note] = []
        self.skipped: list[Skipped] = []
        self._titles: set[str] = set()
        self._said: dict[tuple[object, ...], int] = {}

    def take(self, item: Item) -> None:
        """Add the item as a note, or as skipped with the reason."""
        draft = self._draft(item)
        said = (draft.kind, draft.title, draft.body, draft.tags, draft.valid.start)
        fault = _fault(draft)
        if not fault and said in self._said:
            fault = f"same as line {self._said[said]}"
        lines = span(item.start, item.end)
        if fault:
            self.skipped.append(Skipped(self.path, lines, fault))
            return
        self._said[said] = item.start
        self.notes.append(Note(self._titled(draft, item), self.path, lines, item.remark))

    def _draft(self, item: Item) -> Draft:
        return Draft(
            item.kind,
            title_of(item.text),
            item.body.strip(),
            alternatives=item.alternatives,
            applies_to=self.globs,
            tags=item.tags,
            valid=Valid(start=item.valid_from),
            evidence=(f"file:{self.path}:{span(item.start, item.end)}",),
        )

    def _titled(self, draft: Draft, item: Item) -> Draft:
        context = cut(plain(item.context), TITLE_LIMIT // 3)
        endings = ["", f" ({context})"] if context else [""]
        title = next((draft.title + end for end in endings if draft.title + end not in self._titles), None)
        title = title or f"{draft.title} (line {item.start})"
        self._titles.add(title)
        return replace(draft, title=title)


def _items(where: PurePosixPath, page: Page) -> Iterator[Item | Unread]:
    if _is_instructions(where):
        return instruction_items(page)
    if _is_adr(where):
        return adr_items(page)
    return changelog_items(page) if where.name.lower() in _CHANGELOGS else instruction_items(page)


def _is_known(where: PurePosixPath) -> bool:
    if _VENDORED.intersection(where.parts):
        return False
    if _is_instructions(where) or where.name.lower() in _CHANGELOGS:
        return True
    return _is_adr(where) and not _NO_RECORD.fullmatch(where.name)


def _is_instructions(where: PurePosixPath) -> bool:
    cursor = where.suffix == ".mdc" and _cursor_root(where) is not None
    return where.name in _INSTRUCTIONS or str(where) == _COPILOT or cursor


def _cursor_root(where: PurePosixPath) -> tuple[str, ...] | None:
    """The folders around `.cursor/rules`; None for a file that lies elsewhere."""
    folders = where.parts[:-1]
    return next((folders[:at] for at, pair in enumerate(pairwise(folders)) if pair == (".cursor", "rules")), None)


def _is_adr(where: PurePosixPath) -> bool:
    folders = [part.lower() for part in where.parts[:-1]]
    if where.suffix.lower() != ".md":
        return False
    under_docs = any(part in ("doc", "docs", "architecture") for part in folders)
    return "adr" in folders or "adrs" in folders or ("decisions" in folders and under_docs)


def _applies_to(where: PurePosixPath, page: Page) -> tuple[tuple[str, ...], str]:
    """(the paths that the file is about, what had to be left out)."""
    if _is_adr(where) and not _is_instructions(where):
        return (), ""
    root = _cursor_root(where)
    folders = where.parts[:-1] if root is None else root
    while folders and folders[-1] in _TOOL_FOLDERS:
        folders = folders[:-1]
    always = page.front.get("alwaysApply", ("",))[0].lower() == "true"
    named = [] if always else [glob for value in page.front.get("globs", ()) for glob in split_commas(value)]
    globs = list(dict.fromkeys(one for glob in named for one in _without_braces(glob.strip("\"'"))))
    if not globs and folders and (root is not None or where.name in _INSTRUCTIONS or where.name.lower() in _CHANGELOGS):
        globs = ["/".join(folders) + "/**"]
    fault = f"{len(globs)} globs; only the first {ITEM_LIMIT} are kept" if len(globs) > ITEM_LIMIT else ""
    return tuple(globs[:ITEM_LIMIT]), fault


def _without_braces(glob: str) -> list[str]:
    """`*.{ts,tsx}` as `*.ts` and `*.tsx`; as it stands when that would give more than a record may list."""
    done: list[str] = []
    waiting = [glob]
    while waiting:
        one = waiting.pop(0)
        group = _BRACES.search(one)
        if group is None:
            done.append(one)
            continue
        waiting += [one[: group.start()] + choice.strip() + one[group.end() :] for choice in group[1].split(",")]
        if len(waiting) + len(done) > ITEM_LIMIT:
            return [glob]
    return done


def _fault(draft: Draft) -> str:
    """Why the draft cannot be a memory; empty when it can."""
    if not re.search(r"\w", draft.title):
        return "no words"
    if len(draft.body) > BODY_LIMIT:
        return f"{len(draft.body)} characters, more than {BODY_LIMIT}"
    ruled_out = (text for other in draft.alternatives for text in (other.title, other.why))
    for text in (draft.title, draft.body, *draft.tags, *draft.applies_to, *ruled_out):
        for _, char in forbidden(text):
            return f"holds U+{ord(char):04X}, which no memory may hold"
    return ""
