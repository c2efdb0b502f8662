"""Where a reader stands, and which file a question names, breaks what is nearly a tie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.app.conftest import Ran
from tests.app.steps import Run
from tests.conftest import git


def told(ran: Ran) -> list[str]:
    return [line["title"] for line in ran.lines if "title" in line]


def put(gitmem: Run, repo: Path, title: str, path: str) -> None:
    done: Any = gitmem(repo, "remember", "-k", "fact", title, "-p", path, "-e", "file:src/pool.py:2")
    assert done.code == 0, done.err


def test_a_place_and_what_changes_with_a_named_file_break_a_tie(repo: Path, gitmem: Run) -> None:
    for number in range(3):  # api and wire change together; docs changes alone
        for name in ("api", "wire"):
            (repo / "src" / name).mkdir(exist_ok=True)
            (repo / "src" / name / "main.py").write_text(f"n = {number}\n")
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", f"both {number}")
    (repo / "src/docs").mkdir()
    (repo / "src/docs/main.py").write_text("d = 1\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "docs")
    gitmem(repo, "init")
    put(gitmem, repo, "Timeouts of the wire are 3 s", "src/wire/**")
    put(gitmem, repo, "Timeouts of the docs are 5 s", "src/docs/**")
    newest_first = ["Timeouts of the docs are 5 s", "Timeouts of the wire are 3 s"]
    assert told(gitmem(repo, "recall", "timeouts", "--json")) == newest_first
    assert told(gitmem(repo / "src/wire", "recall", "timeouts", "--json")) == newest_first[::-1]
    assert told(gitmem(repo / "src/docs", "recall", "timeouts", "--json")) == newest_first
    assert told(gitmem(repo, "recall", "timeouts for src/api/main.py", "--json")) == newest_first[::-1]
    assert told(gitmem(repo, "recall", "timeouts for src/none/main.py", "--json")) == newest_first


def test_a_path_is_typed_as_git_takes_one_from_where_the_reader_is(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0
    pool = "The pool holds twenty connections"
    put(gitmem, repo, pool, "src/pool.py")
    below = repo / "src"
    for verb in (("recall", "twenty connections"), ("list",)):
        assert told(gitmem(repo, *verb, "--path", "src/pool.py", "--json")) == [pool]
        for path in ("pool.py", ".", "../src"):
            assert told(gitmem(below, *verb, "--path", path, "--json")) == [pool]
        assert told(gitmem(below, *verb, "--path", "src/pool.py", "--json")) == []
        outside = gitmem(below, *verb, "--path", "../../elsewhere", "--json")
        assert outside.code == 2 and "not inside" in outside.err
