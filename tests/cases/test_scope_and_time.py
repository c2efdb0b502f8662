"""Which project, and when it was true: one rule, whatever the folder is called and wherever the clock stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases.world import environ, records, seeded
from tests.conftest import git
from tests.installed import agent, person


def project(where: Path) -> str:
    return str(person(where, "init", "--json").lines[0]["project"])


def test_one_project_however_it_is_reached(repo: Path, tmp_path: Path) -> None:
    identifier = seeded(repo)
    name = project(repo)
    git(repo, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    (tmp_path / "link").symlink_to(repo)
    (repo / "src/deep").mkdir()
    git(tmp_path, "clone", "-q", str(repo), "clone")
    places = [Path(f"{repo}/"), repo / "src/deep", tmp_path / "linked", tmp_path / "link", tmp_path / "clone"]
    assert {project(place) for place in places} == {name}
    repo.rename(tmp_path / "renamed")
    for place in (tmp_path / "renamed", tmp_path / "clone"):  # memory at a new place is looked at first
        assert agent(place, "list", "--json").code == 3
        assert person(place, "trust", "--yes").code == 0
        assert [record["id"] for record in records(agent(place, "list", "--json"))] == [identifier], place


def test_folders_of_like_names_are_different_projects(repo: Path, tmp_path: Path) -> None:
    seen = set()
    places = ("a-b", "a/b", "a_b", "외주/app", "개인/app", "Demo", "demo")
    for place in places:
        where = tmp_path / "places" / place
        where.mkdir(parents=True)
        git(where, "init", "-q")
        assert records(agent(where, "list", "--json")) == []
        seen.add(project(where))
    assert len(seen) == len(places)


def test_a_new_repository_in_an_old_place_knows_nothing(repo: Path, tmp_path: Path) -> None:
    seeded(repo)
    first = project(repo)
    repo.rename(tmp_path / "gone")
    repo.mkdir()
    git(repo, "init", "-q")
    assert agent(repo, "list").code == 4
    assert project(repo) != first
    assert records(agent(repo, "list", "--json")) == []


def test_another_scope_is_an_error_and_never_widens(repo: Path) -> None:
    seeded(repo)
    own = project(repo)
    assert len(records(agent(repo, "list", "--scope", own, "--json"))) == 1
    other = agent(repo, "list", "--scope", "other-project", "--json")
    assert other.code != 0 or records(other) == []


INTERVALS = {
    "The pool has ten connections": ("2026-01-01T00:00:00Z", "2026-06-01T00:00:00+05:30"),
    "Twenty sockets are what opens": ("2026-06-01T00:00:00+05:30", None),
    "Nothing is deployed in the freeze": ("2026-11-30", None),
}
ASKED = {
    "2025-12-31T23:59:59Z": [],
    "2026-01-01T00:00:00Z": [0],
    "2026-05-31T18:29:59Z": [0],
    "2026-05-31T18:30:00Z": [1],
    "2026-05-31T20:30:00+02:00": [1],
    "2026-11-29T23:59:59Z": [1],
    "2026-11-30": [1, 2],
    "2026-11-30T12:00:00Z": [1, 2],
}


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/New_York"])
def test_an_interval_ends_before_its_end_in_every_zone(repo: Path, zone: str) -> None:
    env = environ(TZ=zone)
    assert person(repo, "init", environ=env).code == 0
    drafts = [
        {"kind": "fact", "title": title, "evidence": [f"human:{title}"], "valid": {"from": start, "until": until}}
        for title, (start, until) in INTERVALS.items()
    ]
    (repo / "drafts.json").write_text(json.dumps(drafts))
    done = person(repo, "remember", "--file", "drafts.json", environ=env)
    assert done.code == 0, done.err
    titles = list(INTERVALS)
    for at, wanted in ASKED.items():
        found = agent(repo, "list", "--valid-at", at, "--json", environ=env)
        assert {record["title"] for record in records(found)} == {titles[number] for number in wanted}, (zone, at)
    now = {record["title"] for record in records(agent(repo, "recall", "pool connections", "--json", environ=env))}
    assert titles[0] not in now  # it is past, whatever year this is
    past = agent(repo, "recall", "pool connections", "--valid-at", "2026-02-01", "--json", environ=env)
    assert titles[0] in {record["title"] for record in records(past)}


@pytest.mark.parametrize("text", ["2026-02-30", "2026-13-01", "yesterday", "2026-06-01T25:00:00Z"])
def test_a_time_that_is_none_is_named(repo: Path, text: str) -> None:
    seeded(repo)
    answer = agent(repo, "list", "--valid-at", text)
    assert answer.code == 2 and text in answer.err
    draft = person(repo, "remember", "-k", "fact", "Until when", "-e", "human:until", "--valid-until", text)
    assert draft.code in (2, 3) and "valid.until" in draft.err and "Traceback" not in draft.err
