"""The installed command finds what is about a file under the name that the file has now."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import git
from tests.installed import agent, person


def test_a_renamed_file_keeps_its_memory_and_leaves_none_to_who_takes_its_name(repo: Path) -> None:
    for path in ("src/a.py", "lib/x.py", "lib/y.py"):
        (repo / path).parent.mkdir(exist_ok=True)
        (repo / path).write_text("".join(f"{path[:5]}{number} = {number}\n" for number in range(9)))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "three")
    assert person(repo, "init", "--offline").code == 0

    def fact(path: str, title: str) -> str:
        done = person(repo, "remember", "--json", "-k", "fact", title, "-e", f"file:{path}:2")
        assert done.code == 0, done.err
        return str(done.lines[0]["id"])

    def told(path: str) -> list[set[str]]:
        """What each way to ask for a path finds."""
        ways = (("context", path), ("list", "-p", path), ("recall", "memory zebra", "-p", path))
        return [{row["id"] for row in person(repo, *way, "--json").lines if "kind" in row} for way in ways]

    first, x, y = (fact(path, f"a memory of the zebra in {path}") for path in ("src/a.py", "lib/x.py", "lib/y.py"))
    for old, new in (("src/a.py", "src/b.py"), ("src/b.py", "src/c.py"), ("lib", "kit")):
        assert told(old)[0]  # what is remembered of renames is there, and each one is caught up with
        git(repo, "mv", old, new)
        git(repo, "commit", "-qm", f"{old} is {new}")
    assert told("src/c.py") == [{first}] * 3
    assert told("kit/x.py") == [{x}] * 3 and told("kit") == [{x, y}] * 3
    assert "src/a.py, which is src/c.py now" in person(repo, "context", "src/c.py").out
    assert [row.get("looked_at") for row in person(repo, "stale", "src/c.py", "--json").lines][-1] == 1
    edit = {
        "session_id": "s-1", "transcript_path": "", "cwd": str(repo),
        "hook_event_name": "PreToolUse", "tool_name": "Edit",
        "tool_input": {"file_path": str(repo / "src/c.py")},
    }  # fmt: skip
    assert "zebra in src/a.py" in agent(repo, "hook-agent", "claude-code", "PreToolUse", stdin=json.dumps(edit)).out

    (repo / "src/a.py").write_text("other = 1\nelse_ = 2\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "another file takes the name")
    other = fact("src/a.py", "a memory of the zebra elsewhere")
    assert told("src/a.py") == [{other}] * 3
    assert told("src/c.py") == [{first}] * 3
