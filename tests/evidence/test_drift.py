"""Verdicts on references at HEAD: what can be said, and what cannot."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem.evidence.drift import Drift, drifts, said
from gitmem.evidence.resolvers import expand
from gitmem.evidence.sources import Sources
from gitmem.model.frozen import replace
from gitmem.model.nouns import FileRef
from gitmem.store.repository import locate, open_backend
from tests.conftest import git

Open = Callable[[Path], Sources]


@pytest.fixture
def at(request: pytest.FixtureRequest) -> Iterator[Open]:
    """`at(repo)`: sources at its HEAD of now."""
    opened: list[Any] = []

    def made(where: Path) -> Sources:
        location = locate(where, environ=os.environ)
        opened.append(open_backend(location, long_lived=False))
        return Sources(opened[-1], location.head, location.work_tree, lambda _: None, "terminal")

    yield made
    for backend in opened:
        backend.close()


def cited(at: Open, repo: Path, short: str) -> FileRef:
    ref = expand(short, at(repo))
    assert isinstance(ref, FileRef)
    return ref


def commit(repo: Path, path: str, text: str) -> None:
    (repo / path).write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", f"another {path}")


def verdict(ref: FileRef, sources: Sources) -> str:
    return drifts([ref], sources)[0].verdict


def test_the_file_as_it_was_is_current_without_a_look_at_its_bytes(
    repo: Path, at: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = cited(at, repo, "file:src/pool.py:4-5")
    commit(repo, "README.md", "# another shop\n")
    sources = at(repo)
    read: list[str] = []
    really = Sources.read
    monkeypatch.setattr(Sources, "read", lambda self, oid: read.append(oid) or really(self, oid))
    assert verdict(ref, sources) == "current" and read == []
    commit(repo, "src/pool.py", "x = 1\n" + (repo / "src/pool.py").read_text())
    assert drifts([ref], at(repo)) == [Drift("moved", "src/pool.py", "5-6")] and ref.blob in read


def test_what_was_compared_before_is_not_compared_again(repo: Path, at: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    ref = cited(at, repo, "file:src/pool.py:4-5")
    commit(repo, "src/pool.py", "x = 1\n" + (repo / "src/pool.py").read_text())
    known: dict[str, Any] = {"another": ["same", [1, 2], [1, 2], False]}
    first = drifts([ref], at(repo), known=known)
    assert list(known.values()) == [["same", (4, 5), (5, 6), False]]
    from gitmem.evidence import comparison

    monkeypatch.setattr(comparison, "compare", lambda *_: pytest.fail("compared again"))
    assert drifts([ref], at(repo), known=dict(known)) == first
    monkeypatch.undo()
    for harm in (None, 7, [], ["same"], ["same", "ab", None, False], ["other", [1, 2], None, False], [1, 2, 3, 4]):
        assert drifts([ref], at(repo), known=dict.fromkeys(known, harm)) == first, harm


def test_what_is_no_file_any_more_is_gone(repo: Path, at: Open) -> None:
    ref = cited(at, repo, "file:README.md")
    git(repo, "rm", "-q", "README.md")
    (repo / "README.md").mkdir()
    commit(repo, "README.md/x", "1\n")
    assert verdict(ref, at(repo)) == "gone"
    git(repo, "rm", "-qr", "README.md")
    (repo / "README.md").symlink_to("src/pool.py")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "a link")
    assert verdict(ref, at(repo)) == "gone"


def test_hostile_references_are_unobservable_and_raise_nothing(repo: Path, at: Open) -> None:
    ref = cited(at, repo, "file:src/pool.py:4-5")
    commit(repo, "src/pool.py", (repo / "src/pool.py").read_text().replace("tries=3", "tries=9"))
    assert verdict(ref, at(repo)) == "changed"
    away = "0" * 40
    for other in (
        replace(ref, blob=away),
        replace(ref, blob="no oid"),
        replace(ref, path="../../etc/passwd"),
        replace(ref, path="-x"),
        replace(ref, path="never/was.py"),
        replace(ref, lines="9-400"),
        replace(ref, lines="x"),
        replace(ref, path="a\nb"),
    ):
        assert verdict(other, at(repo)) == "unobservable", other
    # A symbol that says something else than the lines is left aside; a commit that is not here is not needed.
    assert verdict(replace(ref, symbol="\0;rm"), at(repo)) == "changed"
    assert verdict(replace(ref, commit=away), at(repo)) == "changed"
    assert verdict(replace(ref, commit="HEAD"), at(repo)) == "changed"


def test_nothing_is_said_before_the_first_commit(repo: Path, at: Open) -> None:
    ref = cited(at, repo, "file:src/pool.py:4-5")
    git(repo, "checkout", "-q", "--orphan", "empty")
    assert verdict(ref, at(repo)) == "unobservable"


def test_a_partial_clone_that_cannot_fetch_says_so(repo: Path, at: Open, tmp_path: Path) -> None:
    ref, readme = cited(at, repo, "file:src/pool.py:4-5"), cited(at, repo, "file:README.md")
    commit(repo, "src/pool.py", (repo / "src/pool.py").read_text().replace("tries=3", "tries=9"))
    git(repo, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{repo}", str(clone))
    repo.rename(tmp_path / "away")
    assert [drift.verdict for drift in drifts([ref, readme], at(clone))] == ["unobservable", "current"]
    (tmp_path / "away").rename(repo)
    assert verdict(ref, at(clone)) == "changed"  # now it is fetched


def test_a_shallow_clone_calls_nothing_changed_that_it_never_saw(repo: Path, at: Open, tmp_path: Path) -> None:
    ref = cited(at, repo, "file:src/pool.py:4-5")
    commit(repo, "src/pool.py", (repo / "src/pool.py").read_text().replace("tries=3", "tries=9"))
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo}", str(clone))
    assert verdict(ref, at(clone)) == "unobservable"
    git(clone, "fetch", "-q", "--unshallow")
    assert verdict(ref, at(clone)) == "changed"


def test_each_verdict_in_words() -> None:
    ref = FileRef("a.py", "b", "c", "d")
    words = [said(verdict, "a.py", ref) for verdict in ("current", "moved", "changed", "gone", "unobservable")]
    assert words == ["", "", "changed at HEAD", "gone at HEAD", ""]
    assert said("moved", "b.py", ref) == "moved to b.py"
