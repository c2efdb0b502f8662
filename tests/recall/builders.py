from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from gitmem.model.judgement import Filter
from gitmem.model.nouns import Memory, Scope
from gitmem.recall.document import OPEN_END, Document
from gitmem.recall.positions import Step
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


def commits(*numbers: int) -> list[Step]:
    """Steps of a history, each by a number."""
    return [Step(f"{number:02x}" * 20, 1000 + number) for number in numbers]


def version(identifier: str, title: str, since: int, until: int = OPEN_END, **given: Any) -> Document:
    return replace(document(memory(identifier, title, **given)), since=since, until=until, blob=f"{since:040x}")


def storied(folder: Path) -> SearchIndex:
    """Positions 0 to 3: `a` came at 1 and was changed at 3, `b` came at 1 and went at 2."""
    index = SearchIndex.open(folder)
    first = [version("a", "pool one", 1), version("b", "pool bee", 1, key="k.b")]
    index.update(first, [], {"main": "c1"}, steps=commits(0, 1))
    index.update([], [], {"main": "c2"}, ended={"b": 2}, steps=commits(2))
    index.update([version("a", "pool two", 3, key="k.a")], [], {"main": "c3"}, ended={"a": 3}, steps=commits(3))
    return index


def stood(index: SearchIndex, position: int | None = None) -> list[tuple[str, int, int, str]]:
    """What is told of the versions at a position: by id and by search the same."""
    told = [(h.id, h.since, h.until, h.memory.title) for h in index.versions(["a", "b", "c"], None, position)]
    for query in (Query(position=position, limit=99), Query(("pool",), position=position, limit=99)):
        assert sorted((h.id, h.since, h.until, h.memory.title) for h in index.search(query, None).hits) == sorted(told)
    return told
