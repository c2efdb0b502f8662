"""context and brief over an index that holds records of every state, project, audience and time: one may be seen."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from gitmem.app.brief import brief
from gitmem.app.context import context
from gitmem.app.env import Env
from gitmem.app.ground import Ground
from gitmem.model.frozen import replace
from gitmem.model.judgement import Viewer
from gitmem.model.nouns import FileRef, Link, Memory, Scope, Step, Valid
from gitmem.model.vocabulary import KINDS, WITHHELD
from gitmem.recall.document import Document
from gitmem.recall.search_index import SearchIndex

NOW = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)
CITED = FileRef("src/pool.py", "a" * 40, "b" * 40, "c" * 64, "2")
HIDDEN = {
    **{status: {"status": status} for status in (*WITHHELD, "a word of tomorrow")},
    "other project": {"scope": Scope("depot")},
    "private": {"scope": Scope("shop", "private")},
    "user": {"scope": Scope("shop", "user")},
    "expired": {"valid": Valid(until="2026-03-02T10:00:00Z")},
    "not yet": {"valid": Valid(start="2026-03-02T10:00:01Z")},
}


def memories(kind: str, cue: str | None = None) -> dict[str, Memory]:
    """A record that may be seen, `control`, and one for each reason to withhold it."""
    base = Memory(
        "0" * 12, kind, "A thing", "active", Scope("shop"), "human", applies_to=("src/**",), evidence=(CITED,),
        cue=cue, steps=(Step("go on"),) if kind == "plan" else (),
    )  # fmt: skip
    found = {"control": base}
    for number, (name, changes) in enumerate(HIDDEN.items(), 1):
        identifier = f"{number:012}"
        links = (Link("contradicts", base.id),)
        found[name] = replace(base, id=identifier, title=f"Hidden {name}", links=links, **changes)
    return found


@pytest.fixture
def stood(repo: Path, env: Callable[..., Env]) -> Callable[..., Ground]:
    def made(records: dict[str, Memory], viewer: Viewer, refs: tuple[str, ...] = ("main",)) -> Ground:
        index = SearchIndex.open(repo / ".git/gitmem/index")
        documents = [
            Document(ref, record, NOW, NOW + timedelta(seconds=1), "d" * 40, 5)
            for record in records.values()
            for ref in refs
        ]
        index.update(documents, [], {"main": "x"}, rebuild=True)
        return Ground(env(repo), index, viewer, "e" * 40, None, repo, repo / ".git/gitmem", NOW)

    return made


def told(ground: Ground) -> set[str]:
    """Every id in any answer, and in what it brings."""
    found = context(ground, ["src/pool.py", "src", ".", "src/new.py"], 100).answer.items
    found += tuple(item for section in brief(ground).sections for item in section.items)
    return {hit.id for item in found for hit in (item.hit, *(near.hit for near in item.beside))}


@pytest.mark.parametrize(
    ("kind", "cue"), [*((kind, None) for kind in KINDS), ("reminder", "session start"), ("reminder", "src/pool.py")]
)
def test_one_may_be_seen(stood: Callable[..., Ground], kind: str, cue: str | None) -> None:
    records = memories(kind, cue)
    assert told(stood(records, Viewer(frozenset({"shop"})))) == {records["control"].id}
    assert told(stood(records, Viewer(frozenset({"depot"})))) == {records["other project"].id}
    assert told(stood(records, Viewer(frozenset()))) == set()
    assert told(stood(records, Viewer(frozenset({"shop"})), ("inbox", "tombstone"))) == set()


def test_what_waits_is_counted_in_the_inbox_of_this_project_only(stood: Callable[..., Ground]) -> None:
    ground = stood(memories("fact"), Viewer(frozenset({"shop"})), ("inbox",))
    assert brief(ground).waiting == 2  # the candidate and the one in quarantine
    assert brief(stood(memories("fact"), Viewer(frozenset({"depot"})), ("inbox",))).waiting == 0
    assert brief(stood(memories("fact"), Viewer(frozenset({"shop"})))).waiting == 0
