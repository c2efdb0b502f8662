"""One control that may be seen, and one record for each reason to withhold one: no way of reading shows another.

All of it through the installed command. What no command lets in, other projects and audiences, is put on the branch
by hand and believed as if this clone had written it: a reader does not rely on the gate.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitmem.model.layout import INBOX, PRIVATE, memory_path
from gitmem.model.nouns import Link, Memory, Scope
from gitmem.model.records import memory_bytes, memory_from_bytes
from tests.conftest import git
from tests.installed import Ran, agent, person
from tests.verify.forge import Branch

CITED = ("-e", "file:src/pool.py:2")
WHY = ("--because", "it is so")
TAGGED = ("--tag", "crane", "-p", "src/**")
CONTROL = "Aardvark: the harbour crane lifts forty tons"
BESIDE = "Antelope: the harbour crane rusts in the rain"  # linked to everything that is hidden
INSTEAD = "Armadillo: ships call on a new channel"
# Titles that no two are alike, each with the words of the question and one of its own.
TITLES = {
    "candidate": "Badger: the harbour crane wears a candidate coat of paint",
    "disputed": "Camel: whether the harbour crane was bought or leased",
    "superseded": "Dolphin: the harbour crane answers to radio calls",
    "wrong": "Elephant: every harbour crane is made of oak",
    "archived": "Flamingo: a harbour crane was assembled by hand once",
    "rejected": "Giraffe: one harbour crane is enough for four ships",
    "expired": "Hedgehog: the old harbour crane has steam in its boiler",
    "early": "Iguana: next decade the harbour crane drives itself",
    "quarantined": "Jaguar: a harbour crane may be opened with a spoon",
    "waits in quarantine": "Kangaroo: some harbour crane keys lie below the mat",
    "candidate on the branch": "Lemur: nobody has agreed on the harbour crane colours",
    "other project": "Meerkat: in the depot the harbour crane is yellow",
    "private": "Narwhal: privately the harbour crane frightens me",
    "user": "Ocelot: users of the harbour crane like gloves",
    "failed": "Pelican: by hand the harbour crane lost its brakes",
}
WORDS = {name: title.split(":")[0] for name, title in TITLES.items()}


def remembered(where: Path, title: str, *flags: str, by: Any = person) -> str:
    done = by(where, "remember", "--json", "-k", "convention", title, *CITED, *TAGGED, *flags)
    assert done.code == 0, done
    return str(done.lines[0]["id"])


def ok(where: Path, *words: str) -> Ran:
    done = person(where, *words)
    assert done.code == 0, done
    return done


def made(where: Path) -> dict[str, str]:
    """The ids of the control, of what is linked to all, and of each hidden record but the failing one."""
    ok(where, "init")
    ok(where, "brief")  # so that whatever comes is new to the next one
    ids = {"control": remembered(where, CONTROL, "--key", "crane.load")}
    for name in ("candidate", "rejected"):
        ids[name] = remembered(where, TITLES[name], by=agent)
    for name, flags in {
        "disputed": ("--key", "crane.paper"), "superseded": ("--key", "crane.call"), "wrong": (), "archived": (),
        "expired": ("--valid-until", "2026-01-01", "--key", "crane.boiler"), "early": ("--valid-from", "2046-01-01"),
    }.items():  # fmt: skip
        ids[name] = remembered(where, TITLES[name], *flags)
    ok(where, "reject", ids["rejected"], *WHY)
    for verb, name in (("dispute", "disputed"), ("wrong", "wrong"), ("archive", "archived")):
        ok(where, verb, ids[name], *WHY)
    done = ok(where, "supersede", ids["superseded"], INSTEAD, "-k", "convention", *CITED, *TAGGED, *WHY, "--json")
    ids["instead"] = done.lines[0]["id"]
    by_hand(where, ids)
    return ids


def by_hand(where: Path, ids: dict[str, str]) -> None:
    branch = Branch(where)
    control = branch.memory(ids["control"])
    project = control.scope.project

    def record(name: str, **changes: Any) -> Memory:
        ids[name] = f"{len(ids):02}0123456789"
        return replace(control, id=ids[name], title=TITLES.get(name, BESIDE), **changes)

    hidden = [
        record("other project", scope=Scope("depot-000000")),
        record("private", scope=Scope(project, "private"), key="crane.mine"),
        record("user", scope=Scope(project, "user"), key="crane.gloves"),
        record("quarantined", status="quarantined", key=None),
        record("candidate on the branch", status="candidate", key=None),
    ]
    waits = record("waits in quarantine", status="quarantined", key=None)
    # Every type of link that brings something along, from a memory that may be seen and to it.
    links = tuple(
        Link(kind, ids[name])  # type: ignore[arg-type]
        for number, name in enumerate(sorted(TITLES.keys() & ids.keys()))
        for kind in (("derived_from", "contradicts", "relates_to")[number % 3],)
    )
    beside = record("beside", links=links, key=None)
    back = (Link("contradicts", beside.id), Link("derived_from", control.id))
    for name in ("expired", "early", "disputed", "wrong", "archived", "superseded"):
        old = branch.memory(ids[name])
        hidden.append(replace(old, links=(*old.links, *back)))
    hidden = [one if one.links else replace(one, links=back) for one in hidden]
    branch.commit({memory_path(one.id): memory_bytes(one) for one in (*hidden, beside)})
    tree = branch.tree_with({memory_path(waits.id): memory_bytes(waits)}, base=INBOX)
    inbox = branch.commit_tree(tree, git(where, "rev-parse", INBOX).strip())
    git(where, "update-ref", INBOX, inbox)
    believed = where / ".git/gitmem/belief.json"
    said = json.loads(believed.read_text())
    said.update(commit=branch.tip(), tip=branch.tip(), inbox=inbox)
    believed.write_text(json.dumps(said))


def failing(where: Path, ids: dict[str, str]) -> None:
    """One more commit by hand, which is not believed: its record has no event."""
    branch = Branch(where)
    ids["failed"] = "ff0123456789"
    made = replace(branch.memory(ids["control"]), id=ids["failed"], title=TITLES["failed"], key=None)
    branch.commit({memory_path(made.id): memory_bytes(made)})


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    return tmp_path_factory.mktemp("shelf") / "shop", {}


@pytest.fixture
def ids(repo: Path, shelf: tuple[Path, dict[str, str]]) -> dict[str, str]:
    """`repo` with everything in it."""
    kept, known = shelf
    if not kept.exists():
        known.update(made(repo))
        shutil.copytree(repo, kept, symlinks=True)
    else:
        shutil.rmtree(repo)
        shutil.copytree(kept, repo, symlinks=True)
        assert person(repo, "trust", "--yes").code == 0  # a copy at another place, by another user
    return dict(known)


ASKED = ("harbour", "crane")
# Each way of reading in each of its forms; those that do not tell of the control tell of nothing.
LANES: dict[str, tuple[str, ...]] = {
    "recall": ("recall", *ASKED),
    "recall --json": ("recall", *ASKED, "--json"),
    "recall prompt": ("recall", *ASKED, "--format", "prompt", "--budget", "100000"),
    "recall --full": ("recall", *ASKED, "--full"),
    "recall --limit": ("recall", *ASKED, "--limit", "10000"),
    "recall one budget": ("recall", *ASKED, "--budget", "300"),
    "recall two questions": ("recall", *ASKED, "-q", "which harbour crane is it", "-q", "harbour"),
    "recall a follow-up": ("recall", "crane?", "--with-previous", "the harbour"),
    "recall --path": ("recall", *ASKED, "--path", "src/pool.py"),
    "recall --phrase": ("recall", "--phrase", "harbour crane"),
    "recall --tag": ("recall", *ASKED, "--tag", "crane"),
    "recall --as-of": ("recall", *ASKED, "--as-of", "gitmem/main"),
    "list": ("list",),
    "list --json": ("list", "--json"),
    "list --tag": ("list", "--tag", "crane"),
    "list --path": ("list", "--path", "src/pool.py"),
    "list --kind": ("list", "--kind", "convention", "--limit", "1000"),
    "key": ("key", "crane.load"),
    "key --json": ("key", "crane.load", "--json"),
    "context": ("context", "src/pool.py", "--limit", "100"),
    "context --json": ("context", "src/pool.py", "--limit", "100", "--json"),
    "context prompt": ("context", ".", "--format", "prompt", "--budget", "100000"),
    "brief": ("brief", "--peek", "--budget", "100000"),
    "brief --json": ("brief", "--peek", "--budget", "100000", "--json"),
    "brief prompt": ("brief", "--peek", "--budget", "100000", "--format", "prompt"),
    "why": ("why", "harbour crane", "--limit", "100"),
    "why --json": ("why", "harbour crane", "--json", "--limit", "100"),
    "export": ("export",),
    "related": ("related", "beside"),
    "related --json": ("related", "beside", "--json"),
    "show": ("show", "control"),
    "log": ("log", "control"),
}  # fmt: skip


def told(where: Path, ids: dict[str, str], lane: str) -> str:
    """What a lane prints on both streams, less what links of a visible memory name by id alone."""
    ran = agent(where, *(ids.get(word, word) for word in LANES[lane]))
    assert ran.code == 0, ran
    out = ran.out
    if "--json" in LANES[lane] or LANES[lane][0] == "export":
        lines = [json.loads(line) for line in out.splitlines()]
        out = "\n".join(json.dumps({k: v for k, v in line.items() if k != "links"}) for line in lines)
    return f"{out}\n{ran.err}"


def hidden_in(text: str, ids: dict[str, str]) -> list[str]:
    """Which hidden records a text gives away."""
    return [
        name
        for name, word in WORDS.items()
        if word in text or TITLES[name][10:] in text or (name in ids and ids[name][:8] in text)
    ]


@pytest.mark.parametrize("failed", [False, True], ids=["at hand", "with a record that failed"])
def test_no_lane_shows_what_is_hidden(repo: Path, ids: dict[str, str], failed: bool) -> None:
    if failed:
        failing(repo, ids)
    listed = agent(repo, "list", "--status", "all", "--json", "--limit", "1000").lines
    there = TITLES.keys() & {name for name, known in ids.items() if known in [line.get("id") for line in listed]}
    assert there == TITLES.keys() - {"other project", "private", "user", "failed"}  # the control: they do exist
    for lane in LANES:
        text = told(repo, ids, lane)
        assert ids["control"][:8] in text or CONTROL in text, lane
        assert hidden_in(text, ids) == [], lane
    beside = [json.loads(line) for line in agent(repo, "recall", "antelope", "--json").out.splitlines()]
    assert ids["beside"] == beside[0]["id"]
    assert beside[0]["links"]
    assert beside[0]["beside"] == []


def test_a_key_that_only_hidden_ones_hold_is_held_by_none(repo: Path, ids: dict[str, str]) -> None:
    assert agent(repo, "key", "crane.load").code == 0
    for key in ("crane.paper", "crane.boiler", "crane.mine", "crane.gloves"):
        ran = agent(repo, "key", key)
        assert (ran.code, ran.out) == (4, ""), key
        assert hidden_in(ran.err, ids) == []


def test_another_project_and_another_audience_are_found_by_no_id(repo: Path, ids: dict[str, str]) -> None:
    for name in ("other project", "private", "user"):
        for verb in (["show"], ["related"], ["log"], ["blame"], ["why", "harbour crane"]):
            assert agent(repo, *verb, ids["control"]).code == 0
            ran = agent(repo, *verb, ids[name])
            assert (ran.code, ran.out) == (4, ""), (verb, name)
            assert WORDS[name] not in ran.err
    # What is withheld in this project is told of to whoever names it, with its state.
    for name in ("candidate", "disputed", "superseded", "wrong", "archived", "rejected"):
        ran = agent(repo, "show", ids[name])
        assert ran.code == 0
        assert WORDS[name] in ran.out
        assert ran.err


def test_why_tells_the_state_of_what_was_expected_and_nothing_of_the_others(repo: Path, ids: dict[str, str]) -> None:
    for name in ("candidate", "disputed", "superseded", "wrong", "archived", "rejected", "expired", "early"):
        text = agent(repo, "why", "harbour crane", ids[name]).out
        assert CONTROL in text
        assert "not in the answer" in text
        assert [other for other in hidden_in(text, ids) if other != name] == [], name


def test_an_earlier_value_is_told_only_as_such(repo: Path, ids: dict[str, str]) -> None:
    old = ids["control"]
    ok(repo, "supersede", old, "Aardvark: the harbour crane lifts sixty tons", *CITED, *TAGGED, *WHY)
    for form in ((), ("--json",), ("--format", "prompt"), ("--full",)):
        now = agent(repo, "recall", "crane tons", *form).out
        assert "sixty tons" in now
        assert "forty tons" not in now, form
        then = agent(repo, "recall", "crane tons", "--history", *form).out
        assert "sixty tons" in then, form
        assert "forty tons" in then, form
    assert "(superseded) Aardvark: the harbour crane lifts forty tons" in agent(repo, "recall", "tons", "--history").out
    lines = agent(repo, "recall", "crane tons", "--history", "--json").lines
    marks = {line["title"]: line["earlier"] for line in lines if "earlier" in line}
    assert marks["Aardvark: the harbour crane lifts sixty tons"] == ""
    assert marks[CONTROL] == "superseded"
    # What was never let in, or belongs to others, is not an earlier value either.
    text = agent(repo, "recall", *ASKED, "--history", "--limit", "1000").out
    never = {"candidate", "rejected", "quarantined", "waits in quarantine", "candidate on the branch",
             "other project", "private", "user"}  # fmt: skip
    assert never & set(hidden_in(text, ids)) == set()
    assert {"archived", "wrong", "superseded", "disputed"} <= set(hidden_in(text, ids))
    for mark, name in (("archived", "archived"), ("rejected as wrong", "wrong"), ("disputed", "disputed")):
        assert f"({mark}) {TITLES[name]}" in text


@pytest.mark.parametrize("words", [
    ("recall", "harbour"), ("recall", "harbour", "-q", "crane"), ("recall", "harbour", "--history"), ("list",),
    ("context", "src/pool.py"), ("why", "harbour"),
], ids=" ".join)  # fmt: skip
def test_a_limit_is_an_upper_bound(repo: Path, ids: dict[str, str], words: tuple[str, ...]) -> None:
    def number(limit: int) -> int:
        lines = agent(repo, *words, "--json", "--limit", str(limit)).lines
        return len(lines[0]["ranked"]) if words[0] == "why" else sum("id" in line for line in lines)

    most = number(1000)
    assert most >= 3
    questions = 1 + words.count("-q")
    for limit in (1, 2):
        assert 0 < number(limit) <= limit * questions


def test_where_no_scope_is_known_nothing_is(repo: Path, ids: dict[str, str], tmp_path: Path) -> None:
    """A repository without a project of its own; what is seen by no project is tested where a reader cannot go."""
    git(tmp_path, "init", "-q", "empty")
    for words in (
        ("recall", "harbour crane"),
        ("list",),
        ("context", "."),
        ("brief",),
        ("export",),
        ("key", "crane.load"),
    ):
        assert ids["control"] in agent(repo, *words, "--json").out
        ran = agent(tmp_path / "empty", *words)
        assert (ran.code, ran.out) == (4, ""), words


def test_a_record_of_a_later_version_is_read_by_none(repo: Path, ids: dict[str, str]) -> None:
    """A state that this version does not know hides a memory; the control is the same record before."""
    branch = Branch(repo)
    path = memory_path(ids["control"])
    raw = branch.read(path)
    assert memory_from_bytes(raw).status == "active"
    branch.commit({path: raw.replace(b"status: active", b"status: pondered")})
    assert ids["control"][:8] not in agent(repo, "recall", *ASKED).out
    assert ids["control"][:8] not in agent(repo, "list", "--json").out


OWN = {
    "private": "Quokka: the harbour crane keeps me awake",
    "user": "Raccoon: say harbour crane and never gantry",
    "elsewhere": "Stoat: this harbour crane belongs to the depot",
    "astray": "Tapir: for the team on a ref that is mine, the harbour crane",
}


def test_ones_own_memory_is_told_where_it_belongs_and_nowhere_else(
    repo: Path, ids: dict[str, str], tmp_path: Path
) -> None:
    """By every lane: private here and in no other repository, user-wide in both; of another project, or for another
    audience than lies where it lies, nowhere. The last two no command writes: they are put there by hand."""
    mine = remembered(repo, OWN["private"], "--private")
    said = ("-k", "convention", OWN["user"], "-e", 'human:"say crane"', *TAGGED)
    assert person(repo, "remember", "--user", *said).code == 0
    branch = Branch(repo)
    record = memory_from_bytes(git(repo, "show", f"{PRIVATE}:{memory_path(mine)}").encode(), path="", trusted=True)
    astray = [
        replace(record, id="ee0123456789", title=OWN["elsewhere"], scope=Scope("depot-000000", "private")),
        replace(record, id="aa0123456789", title=OWN["astray"], scope=Scope(record.scope.project, "team")),
    ]
    tree = branch.tree_with({memory_path(one.id): memory_bytes(one) for one in astray}, base=PRIVATE)
    tip = branch.commit_tree(tree, git(repo, "rev-parse", PRIVATE).strip())
    git(repo, "update-ref", PRIVATE, tip)
    believed = repo / ".git/gitmem/belief.json"
    believed.write_text(json.dumps({**json.loads(believed.read_text()), "private": [tip]}))
    depot = tmp_path / "depot"
    (depot / "src").mkdir(parents=True)
    git(depot, "init", "-q", "-b", "main")
    (depot / "src/pool.py").write_text("pool\n")
    git(depot, "add", ".")
    git(depot, "commit", "-q", "-m", "pool")
    ok(depot, "init")

    words = {name: title.split(":")[0] for name, title in OWN.items()}
    telling = ("recall", "list", "context", "brief", "why")
    for lane, command in LANES.items():
        text = told(repo, ids, lane)
        assert words["elsewhere"] not in text, lane
        assert words["astray"] not in text, lane
        if command[0] in telling and lane != "recall one budget":
            assert words["private"] in text, lane
            assert words["user"] in text, lane
            there = agent(depot, *command)
            assert words["user"] in there.out, (lane, there)
            assert [name for name in words if name != "user" and words[name] in there.out + there.err] == [], lane
    for one in astray:
        assert agent(repo, "show", one.id).code == 4
    assert agent(depot, "show", mine).code == 4
    assert agent(repo, "show", mine).code == 0
    assert words["private"] not in agent(repo, "list", "--audience", "user", "--audience", "team").out
    assert not {words["private"], words["user"]} & set(agent(repo, "export", "--all").out.replace(":", "").split())
