"""Which session made a commit: noted by git's hooks, shown by the transcripts, found again after a rewrite."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import git
from tests.installed import person
from tests.sessions.hosts import SESSION, Host, line, said


@pytest.fixture
def hooked(host: Host) -> Host:
    assert host.run("hooks", "install", "--sessions").code == 0
    return host


def commit(host: Host, path: str, text: str, *options: str, at: str = "2026-03-02T10:00:00Z") -> str:
    (host.repo / path).write_text(text)
    git(host.repo, "add", path)
    environ = {**os.environ, "GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": at}
    git(host.repo, "commit", "-m", f"change {path}", *options, env=environ)
    return git(host.repo, "rev-parse", "HEAD").strip()


def told(
    host: Host, oid: str | None, *, session: str = SESSION, at: str = "2026-03-02T09:59:58.000Z", first: int = 1
) -> None:
    """A session in which an agent commits; git says which commit it made, unless it was quiet."""
    call = f"toolu_{session}_{first}"
    use = said(first, "", host.repo, "assistant", session, timestamp=at)
    use["message"]["content"] = [
        {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "git commit -m x"}}
    ]
    result = said(first + 1, "", host.repo, "user", session, timestamp=at)
    text = f"[main {oid[:7]}] change\n 1 file changed" if oid else ""
    result["message"]["content"] = [{"type": "tool_result", "tool_use_id": call, "content": text or "(no output)"}]
    host.write(line(said(first, "please commit", host.repo, session=session)) + line(use) + line(result), session)
    host.capture()


def made(host: Host, what: str = "HEAD") -> list[tuple[str, str]]:
    *rows, _ = host.run("sessions", "for", what, "--json").lines
    return [(row["session"].split("/")[1], row["basis"]) for row in rows]


def test_git_said_which(host: Host) -> None:
    """Without any hook: the transcript shows it."""
    oid = commit(host, "src/pool.py", "one\n")
    told(host, oid)
    assert made(host) == [(SESSION, "itself")]
    assert made(host, "HEAD~1") == []
    shown = host.run("sessions", "for", "HEAD")
    assert "git said so" in shown.out and f"transcript:claude-code/{SESSION}#" in shown.out


def test_a_quiet_commit_is_known_by_the_time_of_its_command(hooked: Host) -> None:
    commit(hooked, "a", "one\n")
    told(hooked, None)
    assert made(hooked) == [(SESSION, "itself")]
    commit(hooked, "a", "two\n", at="2026-03-02T11:00:00Z")  # by a person, an hour later
    hooked.capture()
    assert made(hooked) == []


def test_two_sessions_that_may_have_made_it_are_declined(hooked: Host) -> None:
    commit(hooked, "a", "one\n")
    told(hooked, None)
    told(hooked, None, session="another")
    assert made(hooked) == []
    assert "may have been made by claude-code/" in hooked.run("sessions", "for", "HEAD").out


def test_it_is_found_again_after_a_rewrite(hooked: Host) -> None:
    first = commit(hooked, "a", "one\n")
    told(hooked, first)
    git(hooked.repo, "commit", "-q", "--amend", "-m", "another subject")
    hooked.capture()
    assert made(hooked) == [(SESSION, "rewritten")]
    base = git(hooked.repo, "rev-parse", "HEAD~1").strip()
    git(hooked.repo, "checkout", "-q", "-b", "side", base)
    commit(hooked, "b", "elsewhere\n", at="2026-04-01T10:00:00Z")
    git(hooked.repo, "cherry-pick", "main")
    hooked.capture()
    assert made(hooked) == [(SESSION, "patch")]
    git(hooked.repo, "checkout", "-q", "main")
    second = commit(hooked, "c", "two\n", at="2026-03-03T10:00:00Z")
    told(hooked, second, session="second", at="2026-03-03T09:59:58.000Z")
    git(hooked.repo, "rebase", "-q", "side")
    hooked.capture()
    assert [name for name, _ in made(hooked)] == ["second"]
    git(hooked.repo, "reflog", "expire", "--expire=now", "--all")
    git(hooked.repo, "gc", "-q", "--prune=now")
    assert [name for name, _ in made(hooked)] == ["second"]  # the commit that was made is gone


def test_a_squash_names_every_session_in_it(hooked: Host, tmp_path: Path) -> None:
    base = git(hooked.repo, "rev-parse", "HEAD").strip()
    for number, name in enumerate(("one", "two")):
        oid = commit(hooked, name, name, at=f"2026-03-0{number + 3}T10:00:00Z")
        told(hooked, oid, session=name, at=f"2026-03-0{number + 3}T09:59:58.000Z")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "2s/^pick/fixup/" "$1"\n')
    editor.chmod(0o755)
    git(hooked.repo, "-c", f"sequence.editor={editor}", "rebase", "-q", "-i", base)
    hooked.capture()
    assert git(hooked.repo, "rev-list", "--count", f"{base}..HEAD").strip() == "1"
    assert sorted(made(hooked)) == [("one", "rewritten"), ("two", "rewritten")]


def test_a_squash_merge_has_the_same_tree(host: Host) -> None:
    git(host.repo, "checkout", "-q", "-b", "topic")
    commit(host, "a", "one\n")
    told(host, commit(host, "b", "two\n"))
    git(host.repo, "checkout", "-q", "main")
    git(host.repo, "merge", "-q", "--squash", "topic")
    git(host.repo, "commit", "-q", "-m", "all of it")
    assert made(host) == [(SESSION, "tree")]


def test_the_hooks_cost_little_and_keep_what_was_there(host: Host) -> None:
    earlier = host.repo / ".git/hooks/post-commit"
    earlier.write_text("#!/bin/sh\necho earlier >>earlier.log\n")
    earlier.chmod(0o755)
    assert host.run("hooks", "install", "--sessions").code == 0
    environ = {**os.environ, "PATH": "/usr/bin:/bin"}  # no gitmem, no Python of ours
    (host.repo / "a").write_text("x")
    subprocess.run(["git", "add", "a"], cwd=host.repo, check=True)
    subprocess.run(["git", "commit", "-q", "-m", "x"], cwd=host.repo, check=True, env=environ)
    oid = git(host.repo, "rev-parse", "HEAD").strip()
    assert (host.repo / ".git/gitmem/commits-made").read_text() == f"made {oid} \n"
    assert (host.repo / "earlier.log").read_text() == "earlier\n"
    states = {row["name"]: row["state"] for row in host.run("hooks", "status", "--json").lines if "name" in row}
    assert states["post-commit"] == states["post-rewrite"] == "installed"
    assert person(host.repo, "hooks", "uninstall").code == 0
    assert earlier.read_text() == "#!/bin/sh\necho earlier >>earlier.log\n"


def test_sessions_that_touched_a_path(host: Host) -> None:
    row = said(1, "", host.repo, "assistant")
    tool = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": str(host.repo / "src/pool.py")}}
    row["message"]["content"] = [tool]
    host.write(line(row))
    host.capture()
    (found,) = host.run("sessions", "for", "src/pool.py", "--json").lines
    assert found == {"session": f"claude-code/{SESSION}", "times": 1, "last": "2026-03-01T00:01:00Z"}
    assert host.run("sessions", "for", "src", "--json").lines
    assert "no captured session" in host.run("sessions", "for", "README.md").out


def test_a_trailer_names_the_session_where_a_person_asked_for_it(host: Host) -> None:
    other = "0b1c2d3e-0000-4000-8000-000000000000"
    asked = {**os.environ, "CLAUDE_CODE_SESSION_ID": SESSION}

    def committed(name: str, *options: str, **more: str) -> str:
        (host.repo / name).write_text(f"{options}{more}")
        git(host.repo, "add", name)
        git(host.repo, "commit", "-q", *(options or ("-m", f"add {name}")), env={**asked, **more})
        return git(host.repo, "log", "-1", "--format=%B").rstrip()

    assert host.run("hooks", "install", "--trailer").code == 3  # no agent asks for it
    assert person(host.repo, "hooks", "install").code == 0
    assert committed("a") == "add a"  # nor is it there with the other hooks
    assert person(host.repo, "hooks", "install", "--trailer").code == 0
    trailer = f"Gitmem-Session: claude-code/{SESSION}"
    assert committed("b") == f"add b\n\n{trailer}"
    assert committed("b", "--amend", "--no-edit").count(trailer) == 1
    with_other = committed("c", "-m", "add c", "-m", "Signed-off-by: A <a@example.org>")
    assert with_other == f"add c\n\nSigned-off-by: A <a@example.org>\n{trailer}"
    editor = host.repo.parent / "editor"  # as with `commit -v`: below the line is a diff, and what is above is no word
    editor.write_text(
        '#!/bin/sh\n[ -n "$WORDS" ] || { sed "1,/^#/{/^#/!d}" "$1" >"$1.n"; mv "$1.n" "$1"; exit; }\n'
        'printf "%s\\n" "$WORDS" | cat - "$1" >"$1.n"; mv "$1.n" "$1"\n'
    )
    editor.chmod(0o755)
    assert committed("d", "-v", GIT_EDITOR=str(editor), WORDS="by hand") == f"by hand\n\n{trailer}"
    (host.repo / "e").write_text("x")
    git(host.repo, "add", "e")
    empty = subprocess.run(
        ["git", "commit", "-v"], cwd=host.repo, env={**asked, "GIT_EDITOR": str(editor)}, check=False
    )
    assert empty.returncode == 1  # aborted, as without the hook
    git(host.repo, "rm", "-q", "--cached", "e")
    for more in ({"CLAUDE_CODE_SESSION_ID": ""}, {"CODEX_THREAD_ID": other}, {"CLAUDE_CODE_SESSION_ID": "x y\nz"}):
        assert committed(f"f{len(str(more))}", **more) == f"add f{len(str(more))}"  # a person; two hosts; no id
    only_codex = {"CLAUDE_CODE_SESSION_ID": "", "CODEX_THREAD_ID": other}
    assert committed("g", **only_codex) == f"add g\n\nGitmem-Session: codex/{other}"
    picked = git(host.repo, "rev-parse", "HEAD~1").strip()
    git(host.repo, "checkout", "-q", "-b", "side", "HEAD~3")
    git(host.repo, "cherry-pick", picked, env=asked)
    assert "Gitmem-Session" not in git(host.repo, "log", "-1", "--format=%B")  # the commit of somebody else
    git(host.repo, "checkout", "-q", "main")
    host.say("Add c.")
    host.capture()
    assert made(host, "HEAD") == [] and made(host, "HEAD~5") == [(SESSION, "trailer")]
    assert f"codex/{other}  the message says so; that session is not here" in host.run("sessions", "for", "HEAD").out
    assert person(host.repo, "hooks", "uninstall").code == 0
    assert committed("h") == "add h"
