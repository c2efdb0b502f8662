from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem.errors import RemoteError, UsageError
from gitmem.store.git_backend import GitBackend
from gitmem.store.port import RefMove
from gitmem.store.remote import beside, fetch, remote_named, remote_tip
from gitmem.store.repository import Location, locate, open_backend
from gitmem.store.transaction import root_commit
from tests.conftest import git

REF = "refs/heads/gitmem/main"
INTO = "refs/gitmem/fetched/origin/main"


def fetch_ref(location: Location, remote: str, ref: str, into: str) -> None:
    """Fetch into a quarantine and take it over, whatever it is."""
    known = remote_named(location, remote)
    with beside(location, known) as place:
        tip = fetch(place, known, ref)
        backend = GitBackend(location)
        place.admit(backend, [RefMove(into, tip, backend.ref(into), "test")])
        backend.close()


@pytest.fixture
def clone(repo: Path, tmp_path: Path) -> Location:
    """A single-branch clone of `repo`, which is where the branch is absent though the remote has it."""
    backend = open_backend(locate(repo, environ=os.environ), long_lived=False)
    git(repo, "update-ref", REF, root_commit(backend))
    backend.close()
    git(tmp_path, "clone", "-q", "--single-branch", f"file://{repo}", "clone")
    return locate(tmp_path / "clone", environ=os.environ)


def test_absent_is_not_the_same_as_could_not_ask(clone: Location, repo: Path) -> None:
    assert remote_tip(clone, "origin", REF) == git(repo, "rev-parse", REF).strip()
    assert remote_tip(clone, "origin", "refs/heads/absent") is None
    repo.rename(repo.parent / "moved")
    for ref in (REF, "refs/heads/absent"):
        with pytest.raises(RemoteError) as caught:
            remote_tip(clone, "origin", ref)
        assert "origin" in caught.value.message and caught.value.hint


def test_a_remote_with_a_relative_path_is_found_as_git_finds_it(clone: Location, repo: Path) -> None:
    work_tree = clone.work_tree
    assert work_tree is not None
    git(work_tree, "remote", "set-url", "origin", f"../{repo.name}")
    (work_tree / "below").mkdir()
    for start in (work_tree, work_tree / "below"):
        there = locate(start, environ=os.environ)
        assert remote_tip(there, "origin", REF) == git(repo, "rev-parse", REF).strip()
        fetch_ref(there, "origin", REF, INTO)
        assert git(work_tree, "rev-parse", INTO) == git(repo, "rev-parse", REF)
        git(work_tree, "update-ref", "-d", INTO)


def test_only_the_exact_ref_answers(clone: Location, repo: Path) -> None:
    git(repo, "update-ref", f"refs/x/{REF}", "HEAD")
    git(repo, "update-ref", "-d", REF)
    assert remote_tip(clone, "origin", REF) is None
    assert remote_tip(clone, "origin", f"refs/x/{REF}")


def test_fetching_brings_one_ref_and_touches_nothing_else(clone: Location, repo: Path) -> None:
    git(repo, "tag", "v1", REF)
    assert clone.work_tree
    before = git(clone.work_tree, "for-each-ref")
    fetch_ref(clone, "origin", REF, INTO)
    backend = open_backend(clone, long_lived=False)
    tip = backend.ref(INTO)
    backend.close()
    assert tip == git(repo, "rev-parse", REF).strip()
    after = git(clone.work_tree, "for-each-ref").splitlines()
    assert [line for line in after if not line.endswith(INTO)] == before.splitlines()
    assert not (clone.git_dir / "FETCH_HEAD").exists()
    assert git(clone.work_tree, "cat-file", "-t", INTO) == "commit\n"
    git(repo, "update-ref", REF, "HEAD")  # not a fast-forward
    fetch_ref(clone, "origin", REF, INTO)
    assert git(clone.work_tree, "rev-parse", INTO) == git(repo, "rev-parse", "HEAD")


def test_a_shallow_or_partial_clone_gets_the_whole_branch(clone: Location, repo: Path, tmp_path: Path) -> None:
    git(repo, "config", "uploadpack.allowFilter", "true")
    for number, options in enumerate((["--depth", "1"], ["--filter=blob:none", "--no-checkout"])):
        git(tmp_path, "clone", "-q", *options, f"file://{repo}", f"c{number}")
        there = locate(tmp_path / f"c{number}", environ=os.environ)
        git(repo, "update-ref", "refs/heads/side", "main")
        fetch_ref(there, "origin", "refs/heads/side", INTO)
        git(repo, "config", "uploadpack.allowFilter", "true")
        assert there.shallow == (number == 0) and there.partial == (number == 1)
        fetch_ref(there, "origin", REF, "refs/gitmem/fetched/origin/other")


def test_broken_objects_are_not_let_in(clone: Location, repo: Path) -> None:
    evil = repo / "evil"
    blob = git(repo, "hash-object", "-w", "README.md").strip()
    evil.write_bytes(b"100644 .git\0" + bytes.fromhex(blob))
    tree = git(repo, "hash-object", "-t", "tree", "-w", "--literally", "evil").strip()
    made = git(repo, "commit-tree", "-m", "x", tree).strip()
    git(repo, "update-ref", "refs/heads/evil", made)
    with pytest.raises(RemoteError) as caught:
        fetch_ref(clone, "origin", "refs/heads/evil", INTO)
    assert ".git" in caught.value.message
    fetch_ref(clone, "origin", REF, INTO)


def test_only_configured_names_and_full_refs(clone: Location, repo: Path, tmp_path: Path) -> None:
    mark = tmp_path / "PWNED"
    for remote in (f"--upload-pack=touch {mark}", str(repo), f"ext::touch {mark}", "-x", "", "absent"):
        with pytest.raises(UsageError) as caught:
            remote_tip(clone, remote, REF)
        assert "origin" in caught.value.message
    for ref in ("--output=x", "main", "refs/heads/a:b", "refs/heads/*", "+refs/heads/main"):
        with pytest.raises(UsageError):
            fetch_ref(clone, "origin", ref, INTO)
    assert clone.work_tree
    git(clone.work_tree, "remote", "add", "evil", f"ext::sh -c touch% {mark}")
    git(clone.work_tree, "config", "protocol.ext.allow", "always")
    with pytest.raises(RemoteError):
        remote_tip(clone, "evil", REF)
    assert not mark.exists()
    assert remote_tip(clone, "origin", REF)
