"""What a hostile remote offers: refused, and the repository is as it was before (security page, 2.2)."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.store import quarantine
from tests.cases.test_hostile_tips import FOLDER, PLANTS, _commit_object, _huge_blob
from tests.conftest import git
from tests.sync.conftest import MAIN, Clone, Team
from tests.sync.test_sync import everything
from tests.verify.forge import ID, Branch

LONG = b"a: " + b"[" * 500 + b"]" * 500 + b"\n"
BOMBS = {
    "aliases": b"a: &a [x, x]\n" + b"".join(b"%c: &%c [*%c, *%c]\n" % (n + 1, n + 1, n, n) for n in range(97, 115)),
    "merge keys": b"a: &a {x: 1}\n" + b"".join(b"k%d: &k%d {<<: *a}\n" % (n, n) for n in range(22)),
    "deep": LONG,
    "tags": b"!!python/object/apply:os.system ['touch PWNED']\n",
    "two documents": b"a: 1\n---\nb: 2\n",
    "duplicate keys": b"a: 1\na: 2\n",
    "many keys": b"".join(b"k%d: 1\n" % n for n in range(6000)),
    "not utf-8": b"\xff\xfe\x00",
    "empty": b"",
    "bidi": "title: \u202eevil\n".encode(),
}


@pytest.fixture
def ben(team: Team) -> Clone:
    """A clone that believes and trusts what the hub has."""
    return team.clone("ben")


def plant(team: Team, make: Callable[[Branch], str]) -> str:
    """Put the commit of a tree on the hub, past every check of git's own."""
    branch = Branch(team.ana.repo)
    commit = _commit_object(branch, make(branch), branch.tip())
    for path in (team.ana.repo / ".git/objects").rglob("*"):
        if path.is_file() and not path.name.startswith("pack") and path.parent.name not in ("info", "pack"):
            target = team.hub / path.relative_to(team.ana.repo / ".git")
            if not target.exists():
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(path.read_bytes())
    (team.hub / MAIN).parent.mkdir(parents=True, exist_ok=True)
    (team.hub / MAIN).write_text(f"{commit}\n")
    return commit


def assert_refused(ben: Clone, *codes: int) -> str:
    """The sync is refused with a reason, twice, and leaves no ref and no object behind."""
    before, known = everything(ben.repo), ben.ids()
    outside = {str(path) for path in ben.repo.parent.rglob("*") if ".git/" not in f"{path}/"}
    for _ in range(2):
        done = ben.run("sync")
        assert done.code in codes and done.err and "Traceback" not in done.err, done
        assert not any(char < " " and char != "\n" for char in done.err + done.out)
    assert everything(ben.repo) == before and ben.ids() == known
    assert not list((ben.repo / ".git/gitmem/quarantine").iterdir())
    assert {str(path) for path in ben.repo.parent.rglob("*") if ".git/" not in f"{path}/"} == outside
    return done.err


@pytest.mark.parametrize("name", PLANTS)
def test_a_hostile_tree_is_refused_and_nothing_of_it_comes_in(name: str, team: Team, ben: Clone) -> None:
    make, code = PLANTS[name]
    plant(team, make)
    said = assert_refused(ben, 3, 8)
    assert code in said or "could not be fetched" in said, said  # our check, or git's own on the way in


@pytest.mark.parametrize("name", BOMBS)
def test_a_hostile_record_comes_in_as_bytes_and_is_never_read_as_a_record(name: str, team: Team, ben: Clone) -> None:
    plant(team, lambda branch: branch.graft(FOLDER, "100644", f"{ID}.yaml", branch.blob(BOMBS[name])))
    known, peak = ben.ids(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert ben.sync()["left_out"] == [f"{FOLDER}/{ID}.yaml"]
    assert ben.ids() == known and ben.run("show", ID).code == 4
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 64 * 1024
    assert not (ben.repo / "PWNED").exists()


@pytest.mark.parametrize("kind", ["policy", "event", "tombstone"])
def test_a_hostile_policy_event_or_tombstone_refuses_the_tip(kind: str, team: Team, ben: Clone) -> None:
    branch = Branch(team.ana.repo)
    event, _ = branch.events()[-1]
    digest = "ab" * 32
    path = {"policy": "gitmem.yaml", "event": event, "tombstone": f"tombstones/a/b/{digest}.yaml"}[kind]
    folder, _, name = path.rpartition("/")
    plant(team, lambda branch: branch.graft(folder, "100644", name, branch.blob(BOMBS["aliases"])))
    assert_refused(ben, 3)


def test_a_blob_that_unpacks_to_a_gibibyte(team: Team, ben: Clone) -> None:
    oid = _huge_blob(team.ana.repo, 1 << 30)
    plant(team, lambda branch: branch.graft(FOLDER, "100644", f"{ID}.yaml", oid))
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert "tree.size" in assert_refused(ben, 3)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1 << 20  # KiB
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(children, 600 * 1024)


def test_more_than_may_come_is_cut_off(team: Team, ben: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    noise = os.urandom(60_000)
    plant(team, lambda branch: branch.graft(FOLDER, "100644", f"{ID}.yaml", branch.blob(noise)))
    with monkeypatch.context() as patched:
        patched.setattr(quarantine, "DISK_LIMIT", 10_000)
        assert "more than" in assert_refused(ben, 8)
    assert ben.sync()["left_out"] == [f"{FOLDER}/{ID}.yaml"]  # the control


def test_a_branch_that_is_no_commit(team: Team, ben: Clone) -> None:
    for kind in ("blob", "tree"):
        words = ("hash-object", "-w", str(team.ana.repo / ".git/config")) if kind == "blob" else ("write-tree",)
        (team.hub / MAIN).write_text(git(team.hub, *words))
        assert f"is a {kind} and not a commit" in assert_refused(ben, 3)


@pytest.mark.parametrize("how", ["truncated", "flipped", "missing"])
def test_damaged_objects_on_the_remote(how: str, team: Team, ben: Clone) -> None:
    team.ana.remember("Invoices are numbered by the year")
    team.ana.sync()
    blob = git(team.hub, "rev-parse", f"{MAIN}^{{tree}}").strip()
    git(team.hub, "repack", "-adq")
    for pack in (team.hub / "objects/pack").glob("*.pack"):
        kept = team.top / pack.name
        pack.rename(kept)
        for left in (team.hub / "objects/pack").iterdir():
            left.unlink()
        subprocess.run(["git", "-C", str(team.hub), "unpack-objects", "-q"], input=kept.read_bytes(), check=True)
    path = team.hub / "objects" / blob[:2] / blob[2:]
    data = path.read_bytes()
    path.chmod(0o644)
    if how == "missing":
        path.unlink()
    else:
        path.write_bytes(data[: len(data) // 2] if how == "truncated" else data[:-4] + b"\0\0\0\0")
    assert_refused(ben, 3, 8)


@pytest.mark.parametrize("name", ["--output=x", "-x", "a..b"])
def test_odd_names_of_branches_beside_it_do_nothing(name: str, team: Team, ben: Clone, tmp_path: Path) -> None:
    team.ana.remember("Invoices are numbered by the year")
    team.ana.sync()
    with (team.hub / "packed-refs").open("a") as refs:
        refs.write(f"{git(team.hub, 'rev-parse', 'refs/heads/main').strip()} refs/heads/gitmem/{name}\n")
    before = git(ben.repo, "for-each-ref", "refs/heads/gitmem/").count("\n")
    ben.run("sync")
    assert git(ben.repo, "for-each-ref", "refs/heads/gitmem/").count("\n") == before
    assert not (ben.repo / "x").exists()
