"""Text under the person's name that a host wrote: elements before and after what the person typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gitmem.capture.turns import Speaker
from gitmem.model.pattern import pattern

_TAG: Final = pattern(r"\s*<([A-Za-z][\w:-]{0,80})(?=[\s>/])[^<>]{0,1000}>")
_LAST_TAG: Final = pattern(r"</([A-Za-z][\w:-]{0,80})>\s*\Z")


def typed(
    text: str, tags: frozenset[str], starts: Sequence[str] = (), *, confirmed: bool = False
) -> Iterator[tuple[Speaker, str]]:
    """(speaker, part) of a text under the person's name.

    Elements named in `tags` at its begin and end are the harness's; between other words they are the person's, who
    may quote them. A text that begins with one of `starts` is the harness's whole. One that begins with an element
    nobody knows is `unknown`, unless the host says that a person typed it (`confirmed`).
    """
    first, last = 0, len(text)
    while (tag := _TAG.match(text, first)) and tag[1].lower() in tags:
        close = text.find(f"</{tag[1]}>", tag.end())
        first = last if close < 0 else close + len(tag[1]) + 3
    while first < last and (tag := _LAST_TAG.search(text, max(first, last - 100), last)) and tag[1].lower() in tags:
        opened = text.rfind(f"<{tag[1]}", first, tag.start())
        if opened < 0:
            break
        last = opened
    words = text[first:last]
    if text[:first].strip():
        yield "harness", text[:first]
    if words.strip():
        yield _speaker(words, starts, confirmed), words.strip()
    if text[last:].strip():
        yield "harness", text[last:]


def _speaker(words: str, starts: Sequence[str], confirmed: bool) -> Speaker:
    if confirmed:
        return "human"
    if words.lstrip().startswith(tuple(starts)):
        return "harness"
    return "unknown" if _TAG.match(words) else "human"


def element(text: str, tag: str) -> str | None:
    """What the first element `tag` of `text` holds, without the white space around it."""
    opened = text.find(f"<{tag}>")
    if opened < 0:
        return None
    begin = opened + len(tag) + 2
    close = text.find(f"</{tag}>", begin)
    return None if close < 0 else text[begin:close].strip()
