"""Messages name what was typed, say what is missing first, and blame nothing that mends itself."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import git
from tests.installed import agent, person


def test_messages_name_what_was_typed_and_what_is_missing_first(repo: Path) -> None:
    notes = "".join(f"- Always use the {name} first when in doubt.\n" for name in ("apple", "banana", "cherry"))
    (repo / "CLAUDE.md").write_text(notes)
    (repo / "a.py").write_text("x = 1\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "start")
    assert person(repo, "init").code == 0
    cited = ("-e", "file:a.py:1")
    put = person(repo, "remember", "-k", "fact", "The pool is small", *cited, "--json")
    known = put.lines[0]["id"]
    assert person(repo, "status", "--check").code == 0  # the index is behind, and the next read mends it

    for words, said in (
        (("remember", "-k", "fact", "It leaks", "-e", "memory:pool"), "no memory begins with 'pool'"),
        (("remember", "-k", "solution", "It leaks", *cited, "--solves", "pool"), "links[0] (solves pool) leads to no"),
        (("wrong", "zzzz"), "no memory begins with 'zzzz'"),
        (("reject", "zzzz"), "no memory begins with 'zzzz'"),
        (("edit", "zzzz"), "no memory begins with 'zzzz'"),
        (("supersede", "zzzz"), "no memory begins with 'zzzz'"),
        (("supersede", known, "The pool is large", *cited),
         f"gitmem supersede {known} 'The pool is large' -e file:a.py:1 --because"),
        (("list", "--key", "none"), "nothing matches these filters"),
        (("list", "--inbox"), "nothing waits"),
    ):  # fmt: skip
        done = person(repo, *words)
        assert said in done.err and "p001" not in done.err, (words, done)
    assert person(repo, "directives").code == 0
    told = agent(repo, "policy", "explain").out
    assert "this is an agent" in told and "any other kind  needs evidence" in told
    assert "or say which are there" in person(repo, "--help").out

    assert "3 admitted" in person(repo, "import").out  # one write, so one moment
    listed = [line.split()[-5] for line in person(repo, "list", "--inbox").out.splitlines()[1:] if line]
    assert listed == ["cherry", "banana", "apple"]


def test_what_is_typed_twice_is_stored_once_and_lines_may_be_as_forges_copy_them(repo: Path) -> None:
    (repo / "a.py").write_text("x = 1\ny = 2\nz = 3\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "start")
    assert person(repo, "init").code == 0
    said = ("remember", "-k", "fact", "The pool is small", "-t", "net", "-t", "net", "-t", "db")
    stored = person(repo, *said, "-e", "file:a.py#L1-L2", "-e", "file:a.py#L1-L2", "-e", "file:a.py:L3", "--json")
    memory = stored.lines[0]["memory"]
    assert memory["tags"] == ["net", "db"] and [ref["lines"] for ref in memory["evidence"]] == ["1-2", "3"]
    past = person(
        repo, "remember", "-k", "fact", "The queue was long", "-e", "file:a.py:2", "--valid-until", "2020-01-01"
    )
    assert past.code == 0 and "not true any more since 2020-01-01" in past.err
    wrong = person(repo, "remember", "-k", "fact", "The cache is cold", "-e", "a.py:3")
    assert wrong.code == 3 and "for a file: file:a.py:3" in wrong.err
