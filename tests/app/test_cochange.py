"""Which files change together, and that what is remembered of it says what git would say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gitmem.app.cochange import Touched, touched, worked_on
from gitmem.app.env import Env
from gitmem.app.ground import ground
from tests.app.test_context import commit
from tests.conftest import git

PAIRS = Touched((("a", "b"), ("a", "b", "c"), ("a",), ("a", "d/x"), ("d/x", "d/y", "c"), ("d/y", "c", "b")))


def begun(gitmem: Callable[..., Any], repo: Path) -> None:
    """A memory whose index is fresh, so that nothing is left open here."""
    for verb in ("init", "list"):
        assert gitmem(repo, verb).code == 0


def test_shares_are_of_the_commits_that_touched_what_was_asked() -> None:
    assert PAIRS.companions(["a"]) == {"b": 0.5}  # c and d/x were changed with it once only
    assert PAIRS.companions(["c"]) == {"b": 2 / 3, "d/y": 2 / 3}
    assert PAIRS.companions(["d"]) == {"c": 2 / 3}  # all of a folder, whose own files are no companions
    assert PAIRS.companions(["a", "c"]) == {"b": 0.5, "d/x": 1 / 3, "d/y": 1 / 3}
    assert PAIRS.companions(["."]) == {}
    assert PAIRS.companions(["none"]) == PAIRS.companions([]) == Touched().companions(["a"]) == {}
    seldom = Touched((*(("a", f"f{n}") for n in range(20)), ("a", "b"), ("a", "b")))
    assert seldom.companions(["a"]) == {}
    assert seldom.companions(["b"]) == {"a": 1.0}
    assert PAIRS.lately(2) == ("a", "b", "c")


def test_what_is_remembered_says_what_git_says(repo: Path, gitmem: Callable[..., Any], env: Callable[..., Env]) -> None:
    begun(gitmem, repo)

    def both() -> Touched:
        """What is told with what was remembered before, which is what is told without."""
        with_it = touched(ground(env(repo)))
        (state,) = (repo / ".git/gitmem").glob("touched-*.json")
        kept = state.read_bytes()
        state.unlink()
        assert touched(ground(env(repo))) == with_it
        state.write_bytes(kept)
        return with_it

    assert both().companions(["src/pool.py"]) == {}
    for number in range(2):
        commit(repo, "src/pool.py", "src/schema.py", text=f"both {number}")
        both()
    assert both().companions(["src/pool.py"]) == {"src/schema.py": 2 / 3}
    git(repo, "switch", "-q", "-c", "side", "HEAD~2")
    assert both().companions(["src/pool.py"]) == {}
    commit(repo, "src/other.py", "src/pool.py")
    both()
    git(repo, "commit", "-q", "--amend", "-m", "amended")
    both()
    git(repo, "switch", "-q", "main")
    git(repo, "merge", "-q", "-X", "ours", "--no-edit", "side")
    assert set(touched(ground(env(repo))).commits) == {
        ("src/pool.py", "src/schema.py"), ("src/other.py", "src/pool.py"), ("README.md", "src/pool.py"),
    }  # fmt: skip


def test_worktrees_do_not_forget_each_others_history(
    repo: Path, tmp_path: Path, gitmem: Callable[..., Any], env: Callable[..., Env]
) -> None:
    begun(gitmem, repo)
    for number in range(12):
        side = tmp_path / f"side{number}"
        git(repo, "worktree", "add", "-q", "--detach", str(side))
        commit(side, f"file{number}")
        assert touched(ground(env(side))).lately(1) == (f"file{number}",)
        assert touched(ground(env(repo))).lately(1) == ("README.md", "src/pool.py")
    assert len(list((repo / ".git/gitmem").glob("touched-*.json"))) == 8


def test_uncommitted_files_are_worked_on_first(repo: Path, gitmem: Callable[..., Any], env: Callable[..., Env]) -> None:
    begun(gitmem, repo)
    (repo / "new.py").write_text("x")
    assert worked_on(ground(env(repo))) == ("new.py", "README.md", "src/pool.py")
