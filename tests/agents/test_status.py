"""`gitmem status` by the installed command: fresh, stale or unknown, and never fine without a look."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitmem.app.status import Health, HostHealth, MemoryHealth
from gitmem.store.lock import sole
from gitmem.store.repository import locate
from tests.conftest import git
from tests.installed import person
from tests.sessions.hosts import Host, make_host

HOUR = 3600


@pytest.fixture
def host(repo: Path) -> Host:
    return make_host(repo)


def rows(host: Host) -> dict[str, Any]:
    """Hosts by name; what is said of all under ""; the exit code of --check under "check"."""
    done = host.run("status", "--json", "--check")
    return {**{row.get("host", ""): row for row in done.lines}, "check": done.code}


def state(host: Host, name: str = "claude-code") -> tuple[str, str, int]:
    found = rows(host)
    return found[name]["state"], found[name]["reason"], found["check"]


def aged(path: Path, seconds: int = HOUR) -> Path:
    """`path`, last changed so long ago."""
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def test_fresh_is_what_was_looked_at_and_has_nothing_that_waits(host: Host) -> None:
    aged(host.say("one"))
    assert state(host) == ("unknown", "never looked at here", 1)
    assert host.run("capture").code == 0
    assert state(host) == ("fresh", "all is captured", 0)
    host.say("two", first=2)
    assert state(host) == ("fresh", "1 under way", 0)
    aged(host.path())
    assert state(host) == ("stale", "1 with something that is not captured", 1)
    assert host.run("capture").code == 0
    assert state(host) == ("fresh", "all is captured", 0)


def test_what_git_needs_is_counted_and_a_host_that_is_not_here_is_no_fault(host: Host) -> None:
    host.say("one", "two")
    assert host.run("capture").code == 0
    found = rows(host)
    assert found["codex"]["state"] == "absent" and found["codex"]["sessions"] == 0
    about = found[""]
    assert (about["sessions"], about["bytes"]) == (1, host.path().stat().st_size)
    assert about["objects"] >= 4 and about["disk"] > 100 and about["fine"] and found["check"] == 0
    told = host.run("status")
    assert told.code == 0 and "fresh     claude-code  all is captured, 1 session" in told.out
    assert "not here  codex" in told.out


def test_transcripts_that_went_away_are_unknown(host: Host) -> None:
    host.say("one")
    assert host.run("capture").code == 0 and state(host)[0] == "fresh"
    shutil.rmtree(host.projects.parent)
    found, reason, code = state(host)
    assert (found, code) == ("unknown", 1) and str(host.projects.parent) in reason


def test_sessions_that_cannot_be_read_are_unknown(host: Host, seal: Path) -> None:
    host.say("one")
    assert host.run("capture").code == 0 and state(host)[2] == 0
    database = seal / ".local/share/opencode/opencode.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"no database")
    found, reason, code = state(host, "opencode")
    assert (found, code) == ("unknown", 1) and "cannot be read" in reason


def test_a_hook_that_never_rang_is_stale_until_it_rings(host: Host, seal: Path) -> None:
    host.say("one")
    assert person(host.repo, "install", "claude-code", "--yes").code == 0
    assert host.run("capture").code == 0
    bell = seal / ".local/share/gitmem/doorbell"
    aged(bell, -HOUR)
    assert state(host) == ("fresh", "all is captured", 0)  # nothing was said since
    aged(bell)
    found, reason, code = state(host)
    assert (found, code) == ("stale", 1) and "never rung here" in reason
    assert "installed, never rang here" in host.run("status").out
    spool = host.repo / ".git/gitmem/spool"
    spool.mkdir(exist_ok=True)
    (spool / "waiting").write_text(f"{os.getpid()}\n")  # so it starts no capture
    subprocess.run([str(bell), "claude-code"], cwd=host.repo, input=b"{}", check=True)
    assert state(host) == ("fresh", "all is captured", 0)
    assert rows(host)["claude-code"]["rung"].startswith("20")


def test_what_failed_in_the_last_run_is_told(host: Host) -> None:
    host.say("one")
    assert host.run("capture").code == 0 and state(host)[0] == "fresh"
    swept = host.repo / ".git/gitmem/capture-swept.json"
    text = swept.read_text()
    begin = text.index('"claude-code"')
    swept.write_text(text[:begin] + text[begin:].replace('"error": ""', '"error": "no space left"', 1))
    assert state(host) == ("stale", "no space left", 1)
    swept.write_text(text[:begin] + text[begin:].replace('"degraded": 0', '"degraded": 2', 1))
    assert state(host) == ("stale", "2 rewritten too often today", 1)


def test_a_damaged_session_and_a_run_at_work_are_told(host: Host) -> None:
    host.say("one")
    assert host.run("capture").code == 0
    assert rows(host)[""]["damaged"] == [] and not rows(host)[""]["capturing"]
    with sole(locate(host.repo, environ=os.environ), "capture"):
        assert rows(host)[""]["capturing"] and "a capture is at work now" in host.run("status").out
    git(host.repo, "update-ref", "refs/gitmem/sessions/codex/aa/aa-1", "HEAD")
    found = rows(host)
    assert len(found[""]["damaged"]) == 1 and found["check"] == 1


def test_the_memory_its_candidates_and_its_index(host: Host) -> None:
    assert rows(host)[""]["memory"]["state"] == "absent"
    assert person(host.repo, "init").code == 0
    wrote = host.run("remember", "-k", "fact", "Connections are closed when idle", "-e", "file:src/pool.py:2")
    assert wrote.code == 0
    index = host.repo / ".git/gitmem"
    assert host.run("reindex").code == 0
    memory = rows(host)[""]["memory"]
    assert (memory["state"], memory["candidates"]) == ("fresh", 1)
    assert "1 candidate waiting" in host.run("status").out
    for folder in index.glob("index*"):
        shutil.rmtree(folder)
    found = rows(host)
    # The next read builds it again: no fault.
    assert "behind" in found[""]["memory"]["reason"] and found[""]["memory"]["state"] == "fresh"


def test_fine_is_only_what_was_told_to_be() -> None:
    def of(state: Any) -> HostHealth:
        return HostHealth("codex", state, "")

    memory = MemoryHealth("fresh", "")
    good = Health((of("fresh"), of("absent")), 1, 1, 1, 1, (), False, memory, 10**9)
    assert good.is_fine
    assert not replace(good, hosts=(of("unknown"),)).is_fine and not replace(good, hosts=(of("stale"),)).is_fine
    assert not replace(good, damaged=("x",)).is_fine and not replace(good, free=1).is_fine
    assert not replace(good, memory=MemoryHealth("unknown", "")).is_fine


def test_right_after_init_nothing_is_stale(host: Host) -> None:
    assert person(host.repo, "init").code == 0
    memory = rows(host)[""]["memory"]
    assert (memory["state"], memory["reason"]) == ("fresh", "there is nothing to index yet")


def test_codex_with_its_hooks_switched_off_is_stale(host: Host) -> None:
    home = Path(os.environ["HOME"]) / ".codex"
    (home / "sessions").mkdir(parents=True)
    assert person(host.repo, "install", "codex", "--yes").code == 0
    host.capture()
    for text, off in (
        ("[features]\nhooks = true\n", False),
        ("[features]\nhooks = false\n", True),
        ("[features", False),
    ):
        (home / "config.toml").write_text(text)
        row = rows(host)["codex"]
        assert (row["state"] == "stale" and "runs no hook" in row["reason"]) is off, (text, row)


def test_a_hook_that_another_program_took_out_is_told(host: Host, seal: Path) -> None:
    """Case B111: a program that runs writes back the settings that it had read before."""
    settings = seal / ".claude/settings.json"
    settings.write_text('{"model": "opus"}\n')
    host.say("one")
    host.capture()
    assert person(host.repo, "install", "claude-code", "--yes").code == 0
    (host.repo / ".git/gitmem/spool").mkdir()
    (host.repo / ".git/gitmem/spool/claude-code.rung").touch()
    assert state(host) == ("fresh", "all is captured", 0)
    settings.write_text('{"model": "opus"}\n')
    assert state(host) == ("stale", f"its hook is no longer in {settings}", 1)
    assert person(host.repo, "install", "claude-code", "--yes").code == 0
    assert state(host)[0] == "fresh"
    settings.write_text('{"model": "opus"}\n')
    assert person(host.repo, "uninstall", "--yes").code == 0 and state(host)[0] == "fresh"
