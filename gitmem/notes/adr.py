"""A decision record: MADR (considered options, decision outcome) and Nygard (status, context, decision)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gitmem.model.nouns import Alternative
from gitmem.model.vocabulary import BODY_LIMIT, ITEM_LIMIT
from gitmem.notes.dates import iso_date
from gitmem.notes.items import Item, Unread, cut, plain, title_of
from gitmem.notes.markdown import Block, Entry, blocks
from gitmem.notes.page import Page

NO_REASON: Final = "The record does not say."
A_FACT: Final = "a decision record that names nothing it ruled out is a fact: a decision names at least one alternative"

_NUMBER: Final = re.compile(r"(?:adr[- ]?)?\d{1,6}\s*[.:)–—-]\s*|adr[- ]?\d{1,6}\s+", re.IGNORECASE)
_FIELD: Final = re.compile(r"\W{0,6}(status|date)\b\W{1,6}(\S.*)$", re.IGNORECASE)
_DEAD: Final = re.compile(r"\b(?:superseded|rejected|deprecated|withdrawn|obsolete)\b", re.IGNORECASE)
_OPEN: Final = re.compile(r"\b(?:proposed|draft|pending|in progress|under review|open)\b", re.IGNORECASE)
_SETTLED: Final = re.compile(r"\b(?:accepted|approved|decided|implemented|adopted)\b", re.IGNORECASE)
_TOLD: Final = re.compile(
    r"context|problem|background|decision(?! drivers)|outcome|rationale|consequences", re.IGNORECASE
)
_DECISION: Final = re.compile(r"decision(?: outcome)?$|outcome$|resolution$|the decision$", re.IGNORECASE)
_OPTIONS: Final = re.compile(r"(?:considered )?options(?: considered)?$", re.IGNORECASE)
_OTHERS: Final = re.compile(r"\b(?:alternatives?|rejected)\b", re.IGNORECASE)
_WEIGHED: Final = re.compile(r"pros and cons", re.IGNORECASE)
_NOTHING: Final = re.compile(r"(?:none|n/?a|no alternatives?|nothing|tbd)\b", re.IGNORECASE)
_CHOSEN: Final = re.compile(r"\b(?:chosen|selected) (?:option|solution|alternative)s?\W{1,6}", re.IGNORECASE)
_CHOSEN_END: Final = re.compile(r"[\"”“»]|,? because\b|, (?:since|as)\b|\. ", re.IGNORECASE)
_AGAINST: Final = re.compile(
    r"(?:bad|cons?|rejected|negative|not chosen|drawbacks?)\b\W*(?:because\b\W*)?", re.IGNORECASE
)
_SPLIT: Final = re.compile(r":\s+|\s+[–—-]+\s+|,?\s+(?=because\b)|\.\s+")
_NUMBERED: Final = re.compile(r"(?:option|alternative)\s*\w{1,3}$", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")
_WHY_WIDTH: Final = 600


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading and what stands below it; `inner` are its subsections, `end` the last line of them all."""

    name: str
    level: int
    start: int
    end: int
    own: tuple[Block, ...]
    inner: tuple[_Section, ...]

    @property
    def entries(self) -> list[Entry]:
        return [entry for block in self.own for entry in block.entries]

    @property
    def paragraphs(self) -> list[str]:
        return [plain(block.text) for block in self.own if block.kind == "paragraph"]


def adr_items(page: Page) -> Iterator[Item | Unread]:
    """The one decision of the record; only the reason when it is no longer, or not yet, decided.

    A decision must list what it ruled out. A record that names nothing ruled out still states something
    true of the project, so it becomes a fact; as a convention it would be read as an order.
    """
    end = len(page.lines)
    sections = _sections(page)
    titled = next((section for section in sections if _WORD.search(section.name)), None)
    if titled is None:
        yield Unread(1, end, "a decision record without a title")
        return
    status = _field(page, sections, "status")
    if _DEAD.search(status) or (_OPEN.search(status) and not _SETTLED.search(status)):
        what = "no longer holds" if _DEAD.search(status) else "is not decided yet"
        yield Unread(1, end, f"a decision that {what}; its status: {cut(plain(status), 120)}")
        return
    decision = next((section for section in sections if _DECISION.match(section.name)), None)
    said = "\n".join(page.lines[decision.start : decision.end]) if decision else ""
    alternatives = _alternatives(sections, titled.name, said)
    if len(alternatives) > ITEM_LIMIT:
        yield Unread(1, end, f"{len(alternatives)} alternatives, more than {ITEM_LIMIT}")
        return
    yield Item(
        "decision" if alternatives else "fact",
        _NUMBER.sub("", titled.name, count=1) if _NUMBER.match(titled.name) else titled.name,
        _body(page, sections, titled, said),
        1,
        end,
        tags=("adr",),
        alternatives=alternatives,
        valid_from=iso_date(_field(page, sections, "date")),
        remark="" if alternatives else A_FACT,
    )


def _sections(page: Page) -> list[_Section]:
    """Every section in the order of the file, subsections too."""
    found = blocks(page.lines)
    heads = [at for at, block in enumerate(found) if block.kind == "heading"]
    built: list[_Section] = []
    waiting: list[_Section] = []  # sections that have no section around them yet, last of the file first
    end = len(page.lines)
    for place in range(len(heads) - 1, -1, -1):
        at = heads[place]
        stop = heads[place + 1] if place + 1 < len(heads) else len(found)
        block, inner = found[at], []
        while waiting and waiting[-1].level > block.level:
            inner.append(waiting.pop())
        last = waiting[-1].start - 1 if waiting else end
        name = plain(block.text).rstrip(":")
        section = _Section(name, block.level, block.end, last, tuple(found[at + 1 : stop]), tuple(inner))
        waiting.append(section)
        built.append(section)
    return built[::-1]


def _field(page: Page, sections: list[_Section], name: str) -> str:
    if name in page.front:
        return " ".join(page.front[name])
    for section in sections:
        if section.name.lower() == name:
            return "\n".join(page.lines[section.start : section.end]).strip()
    head = page.lines[: sections[1].start if len(sections) > 1 else len(page.lines)]
    found = (_FIELD.match(line) for line in head)
    return next((match[2] for match in found if match and match[1].lower() == name), "")


def _body(page: Page, sections: list[_Section], titled: _Section, decision: str) -> str:
    pieces, reached = [], titled.start
    for section in sections:
        if section is not titled and section.start > reached and _TOLD.match(section.name):
            pieces.append(f"{section.name}:\n" + "\n".join(page.lines[section.start : section.end]).strip())
            reached = section.end
    whole = "\n\n".join(pieces) or "\n".join(page.lines[titled.start :]).strip()
    if len(whole) > BODY_LIMIT and decision.strip():
        whole = decision.strip()
    if len(whole) <= BODY_LIMIT:
        return whole
    # The evidence cites the whole record, so a reader finds the rest there.
    space = whole.rfind("\n\n", 0, BODY_LIMIT - 2)
    return whole[: space if space > 0 else BODY_LIMIT - 2].rstrip() + "\n…"


def _alternatives(sections: list[_Section], title: str, decision: str) -> tuple[Alternative, ...]:
    weighed = {
        _normal(option.name): _against(_said(option))
        for section in sections
        if _WEIGHED.search(section.name)
        for option in section.inner
    }
    others: dict[str, Alternative] = {}
    for section in sections:
        is_options = bool(_OPTIONS.match(section.name))
        if not is_options and (_WEIGHED.search(section.name) or not _OTHERS.search(section.name)):
            continue
        named = _named(section)
        chosen = _chosen([name for name, _, _ in named], title, decision)
        # Of options it must be known which one was taken; of alternatives and rejected ones all were not.
        if is_options and chosen is None:
            continue
        for name, description, reasons in named:
            key = _normal(name)
            if name == chosen or not key or _NOTHING.match(name):
                continue
            # The list of options often says more than the heading that weighs the option.
            near = (said for name, said in weighed.items() if name == key or f"{key} ".startswith(f"{name} "))
            why = reasons or next(near, "") or ("" if is_options else description) or NO_REASON
            others.setdefault(key, Alternative(title_of(name), cut(plain(why), _WHY_WIDTH)))
    return tuple(others.values())


def _named(section: _Section) -> list[tuple[str, str, str]]:
    """(name, description, reasons against) of what a section lists: bullets, subsections or else paragraphs."""
    found = []
    for entry in section.entries:
        name, description = _split(plain(entry.text))
        children = [_entry_text(child) for child in entry.children]
        found.append((name, description or " ".join(children), _against(children)))
    for inner in section.inner:
        texts = _said(inner)
        found.append((inner.name, " ".join(texts), _against(texts)))
    if not found:
        found = [(*_split(text), "") for text in section.paragraphs]
    return found


def _said(section: _Section) -> list[str]:
    """The paragraphs and bullets of a section and of the sections right below it."""
    parts = (section, *section.inner)
    return [text for part in parts for text in (*part.paragraphs, *map(_entry_text, part.entries))]


def _entry_text(entry: Entry) -> str:
    return plain(" ".join([entry.text, *(child.text for child in entry.children)]))


def _split(text: str) -> tuple[str, str]:
    """An option's name and what follows it: "Redis: no transactions"."""
    for found in _SPLIT.finditer(text):
        name = text[: found.start()]
        if not _NUMBERED.match(name) and name.count("`") % 2 == 0:
            return name, text[found.end() :]
    return text, ""


def _against(texts: list[str]) -> str:
    reasons = ((text, _AGAINST.match(text)) for text in texts)
    return "; ".join(text[match.end() :] for text, match in reasons if match and text[match.end() :])


def _normal(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _chosen(names: list[str], title: str, decision: str) -> str | None:
    """The one of `names` that the decision took; None when that cannot be told."""
    said = plain(decision)
    if marker := _CHOSEN.search(said):
        rest = said[marker.end() : marker.end() + 300]
        end = _CHOSEN_END.search(rest)
        taken = _normal(rest[: end.start()] if end else rest)
        if not taken:
            return None
        exact = [name for name in names if _normal(name) == taken]
        near = [name for name in names if _reads_as(_normal(name), taken)]
        return max(exact or near, key=len, default=None)
    hay = f" {_normal(title)} {_normal(said[:400])} "
    named = [name for name in names if f" {_normal(name)} " in hay]
    return named[0] if len(named) == 1 else None


def _reads_as(name: str, taken: str) -> bool:
    return bool(name) and (
        name.startswith(f"{taken} ") or name.endswith(f" {taken}") or f"{taken} ".startswith(f"{name} ")
    )
