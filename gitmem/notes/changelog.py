"""Items of a changelog: Keep a Changelog, and the plainer forms with a heading for each release."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gitmem.model.vocabulary import TAG_LIMIT
from gitmem.notes.dates import DAY, iso_date
from gitmem.notes.instructions import split_entry
from gitmem.notes.items import Item, Unread, plain
from gitmem.notes.markdown import Block, blocks
from gitmem.notes.page import Page

_VERSION: Final = re.compile(
    r"(?<![\w.])v?(\d+(?:\.\d+){1,3}(?:[-+.]?[0-9A-Za-z]+(?:[-+.][0-9A-Za-z]+){0,6})?)(?![\w.-])"
)
_NOT_OUT: Final = "Unreleased"
_UNRELEASED: Final = re.compile(r"\b(?:unreleased|next|upcoming|dev)\b", re.IGNORECASE)
# What only touches up words is no change that anybody asks for later; a name in code makes it one.
_TOUCH_UP: Final = re.compile(
    r"\b(?:typos?|spelling|misspell\w*|grammar|wording|white ?space|dead links?|broken links?)\b", re.IGNORECASE
)
_TOUCH_UP_WORDS: Final = 8
_BOLD_LINE: Final = re.compile(r"\*\*([^*]{1,60})\*\*:?$")


def changelog_items(page: Page) -> Iterator[Item | Unread]:
    """One change for each entry, with the release's version and section as tags and its date as the start.

    What is not released yet may still change, so it is left out.
    """
    release, section, level = "", "", 0
    version_tags: tuple[str, ...] = ()
    day: str | None = None
    for block in blocks(page.lines):
        text = plain(block.text)
        if block.kind == "heading":
            named = _release(text)
            if named is not None and (not release or block.level <= level or section == ""):
                release, version_tags = named
                day, section, level = iso_date(text), "", block.level
            elif release and block.level <= level:
                release, section = "", ""
            else:
                section = text
        elif release and block.kind == "paragraph" and (bold := _BOLD_LINE.match(block.text)):
            section = bold[1].rstrip(":")
        elif not release:
            yield Unread(block.start, block.end, "text outside a release")
        elif block.kind in ("list", "paragraph"):
            tags = tuple(dict.fromkeys(tag for tag in (*version_tags, _slug(section)) if tag))
            for said, start, end, path in _entries(block, (release, section) if section else (release,)):
                if why := _left_out(said, release):
                    yield Unread(start, end, why)
                    continue
                context = ", ".join(path)
                yield Item(
                    "change", said, f"{context}\n\n{said}", start, end, context=context, tags=tags, valid_from=day
                )
        else:
            yield Unread(block.start, block.end, f"a {block.kind} block outside an entry")


def _left_out(said: str, release: str) -> str:
    """Why an entry is no change to remember; empty when it is one."""
    if release == _NOT_OUT:
        return "not released yet"
    if len(said.split()) <= _TOUCH_UP_WORDS and "`" not in said and _TOUCH_UP.search(said):
        return "only words were touched up"
    return ""


def _entries(block: Block, path: tuple[str, ...]) -> Iterator[tuple[str, int, int, tuple[str, ...]]]:
    if block.kind == "paragraph":
        yield block.text, block.start, block.end, path
    for entry in block.entries:
        yield from split_entry(entry, path)


def _release(heading: str) -> tuple[str, tuple[str, ...]] | None:
    """(name, tags) of the release that a heading opens; None for another heading."""
    text = DAY.sub(" ", heading)
    yanked = ("yanked",) if "yanked" in text.lower() else ()
    version = _VERSION.search(text)
    if version and len(text[: version.start()].split()) <= 3:
        return version[1], (version[1][:TAG_LIMIT], *yanked)
    if _UNRELEASED.search(text) and len(text.split()) <= 3:
        return _NOT_OUT, ()
    if text != heading and len(text.split()) <= 2:  # releases named by their date alone
        day = DAY.search(heading)
        return (day[0], (day[0],)) if day else None
    return None


def _slug(section: str) -> str:
    return "-".join(re.findall(r"\w+", section.lower()))[:TAG_LIMIT].strip("-")
