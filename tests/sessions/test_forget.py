"""Sessions go when a person or the setting says so, never one that is cited, and do not come back."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.conftest import git
from tests.installed import Ran, agent, person
from tests.sessions.hosts import SESSION, Host, everything, line, said
from tests.sessions.test_sessions import talk

OTHER = "99999999-1111-4111-8111-111111111111"
WORDS = b"Another matter of the lamp."


def two(host: Host) -> None:
    """One session that a memory cites, and another one."""
    talk(host)
    host.write(line(said(1, WORDS.decode(), host.repo, session=OTHER)), OTHER)
    host.capture()
    assert person(host.repo, "init").code == 0
    cite = 'transcript:8c2f#toolu_01:"412 passed"'
    assert person(host.repo, "remember", "-k", "fact", "The nightly run has 412 tests", "-e", cite).code == 0


def forget(host: Host, *words: str) -> Ran:
    return person(host.repo, "sessions", "forget", *words)


def names(host: Host) -> list[str]:
    return sorted(row["session"] for row in host.run("sessions", "list", "--json").lines)


def setting(**limits: int) -> Path:
    path = Path(os.environ["HOME"]) / ".config/gitmem/retention.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(limits))
    return path


def test_what_a_person_names_goes_and_is_not_captured_again(host: Host) -> None:
    two(host)
    assert "goes" in forget(host, "9999", "--dry-run").out and names(host) == [SESSION, OTHER]
    assert agent(host.repo, "sessions", "forget", "9999", "--yes").code == 3 and names(host) == [SESSION, OTHER]
    assert forget(host, "9999", "--yes").code == 0 and names(host) == [SESSION]
    host.write(line(said(2, "It goes on.", host.repo, session=OTHER)), OTHER)
    assert host.capture()["captured"] == 0 and names(host) == [SESSION]
    status = host.run("status", "--json").lines[-1]
    assert status["forgotten"] == 1
    kept = json.loads((host.repo / ".git/gitmem/sessions-forgotten.json").read_text())["sessions"]
    (row,) = kept.values()
    assert set(kept) == {f"claude-code/{OTHER}"} and set(row) == {"digest", "bytes", "at", "why"}
    git(host.repo, "reflog", "expire", "--expire=now", "--all")
    git(host.repo, "gc", "-q", "--prune=now")
    assert WORDS not in everything(host.repo)
    assert host.capture(str(host.path(OTHER)), "--host", "claude-code")["captured"] == 1  # named, it comes back
    assert names(host) == [SESSION, OTHER] and WORDS in everything(host.repo)


def test_what_a_memory_cites_stays_unless_that_is_asked_for(host: Host) -> None:
    two(host)
    for words in (["8c2f"], ["--bytes", "1"]):
        done = forget(host, *words, "--yes", "--json")
        assert done.code == 0 and ("kept", f"claude-code/{SESSION}") in [(r["state"], r["session"]) for r in done.lines]
        assert SESSION in names(host)
    assert names(host) == [SESSION]  # the other was over the limit
    memory = host.run("list", "--json").lines[0]["id"]
    assert "verified" in host.run("show", memory).out
    assert forget(host, "8c2f", "--cited", "--yes").code == 0 and names(host) == []
    shown = host.run("show", memory).out
    assert "unobservable" in shown and "let the session go" in shown


def test_the_setting_is_kept_to_by_capture_and_shown(host: Host) -> None:
    two(host)
    assert "for ever" in host.run("status").out
    assert host.capture()["forgotten"] == []  # the control: nothing is said
    setting(days=10_000)
    assert host.capture()["forgotten"] == [] and "10,000 days" in host.run("status").out
    (host.repo / ".git/gitmem/sessions-forgotten.json").unlink()  # it looks once a day
    setting(bytes=1)
    done = host.capture()["forgotten"]
    assert [row["session"] for row in done] == [f"claude-code/{OTHER}"] and names(host) == [SESSION]
    setting(bytes=-1)
    assert host.run("sessions", "forget", "--dry-run").code == 2


@pytest.mark.parametrize("both", [False, True])
def test_an_archive_is_made_anew_without_them(host: Host, both: bool) -> None:
    two(host)
    from gitmem.app.capture_archive import archive_sealed
    from gitmem.app.env import observe
    from gitmem.app.workspace import open_workspace

    workspace = open_workspace(observe(str(host.repo)))
    assert archive_sealed(workspace, at_once=True) == 2
    workspace.close()
    (archive,) = git(host.repo, "for-each-ref", "--format=%(refname)", "refs/gitmem/sessions-archive").split()
    assert forget(host, "9999", *(["8c2f", "--cited"] if both else []), "--yes").code == 0
    assert names(host) == ([] if both else [SESSION])
    if both:
        assert not git(host.repo, "for-each-ref", "refs/gitmem/sessions-archive")
    else:
        assert git(host.repo, "rev-list", "--count", archive).strip() == "1"
        assert host.run("sessions", "verify").code == 0
    git(host.repo, "reflog", "expire", "--expire=now", "--all")
    git(host.repo, "gc", "-q", "--prune=now")
    assert WORDS not in everything(host.repo)


def test_what_was_shared_can_be_forgotten_here(host: Host, tmp_path: Path) -> None:
    two(host)
    git(tmp_path, "init", "-q", "--bare", "server.git")
    git(host.repo, "remote", "add", "origin", str(tmp_path / "server.git"))
    assert person(host.repo, "sessions", "share", "9999", "--to", "origin", "--yes").code == 0
    assert forget(host, "9999", "--yes").code == 0
    assert not git(host.repo, "for-each-ref", "refs/gitmem/remotes")
