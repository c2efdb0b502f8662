from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from gitmem.model.judgement import Filter
from gitmem.model.nouns import Memory, Scope
from gitmem.recall.document import Document
from gitmem.recall.query import Query
from gitmem.recall.search_index import SearchIndex

START = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)
TEAM = Filter(frozenset({"shop"}), frozenset({"team"}), frozenset({"active", "maybe_stale", "stale"}), None)


def memory(identifier: str, title: str, **given: Any) -> Memory:
    status = given.pop("status", "active")
    scope = given.pop("scope", Scope("shop"))
    return Memory(identifier, given.pop("kind", "fact"), title, status, scope, given.pop("origin", "human"), **given)


def document(made: Memory, *, ref: str = "main", day: int = 0) -> Document:
    when = START + timedelta(days=day)
    return Document(ref, made, when, when, "0" * 40)


def filled(folder: Path, documents: Iterable[Document], commit: str = "c1") -> SearchIndex:
    index = SearchIndex.open(folder)
    index.update(documents, [], {"main": commit})
    return index


def of_texts(folder: Path, texts: dict[str, str]) -> SearchIndex:
    return filled(folder, [document(memory(name, text), day=day) for day, (name, text) in enumerate(texts.items())])


def ask(index: SearchIndex, text: str, seen: Filter | None = TEAM, **more: Any) -> list[str]:
    return [hit.id for hit in index.search(Query((text,), **more), seen).hits]
