"""stale, marks and reverify through the command line."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Ran
from tests.app.steps import codes, status, tips
from tests.conftest import git
from tests.installed import person

Run = Callable[..., Ran]

SOURCE = """\
TIMEOUT = 300


class Pool:
    size = 20

    def acquire(self):
        return retry(self.connect, tries=3)

    def release(self):
        self.free += 1
        return None
"""
RETRY, TIMEOUT, FREE, FOLDER = (
    "The pool retries the connect three times",
    "Idle sockets live for five minutes",
    "Releasing counts what is free",
    "The shop is described in its readme",
)


@pytest.fixture
def shop(repo: Path, gitmem: Run) -> Path:
    (repo / "src/pool.py").write_text(SOURCE)
    git(repo, "commit", "-qam", "a whole pool")
    assert gitmem(repo, "init", "--offline").code == 0
    return repo


def fact(gitmem: Run, repo: Path, title: str, *evidence: str, channel: str = "terminal") -> str:
    cited = [part for item in evidence for part in ("-e", item)]
    done = gitmem(repo, "remember", "--json", "-k", "fact", title, *cited, channel=channel)
    assert done.code == 0, done.err
    return str(done.lines[0]["id"])


def change(repo: Path, text: str, path: str = "src/pool.py") -> str:
    (repo / path).write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "another pool")
    return git(repo, "rev-parse", "HEAD").strip()


def verdicts(gitmem: Run, repo: Path, *flags: str) -> dict[str, str]:
    done = gitmem(repo, "stale", "--json", "--all", *flags)
    assert done.code == 0, done.err
    return {row["title"]: row["verdict"] for row in done.lines if "title" in row}


def event(gitmem: Run, repo: Path, identifier: str) -> dict[str, Any]:
    done = gitmem(repo, "log", identifier, "--json")
    return dict(done.lines[0])


def test_every_verdict_with_its_diff_and_the_next_command(shop: Path, gitmem: Run) -> None:
    fact(gitmem, shop, RETRY, "file:src/pool.py::acquire")
    fact(gitmem, shop, TIMEOUT, "file:src/pool.py::TIMEOUT=300")
    fact(gitmem, shop, FREE, "file:src/pool.py:11")
    fact(gitmem, shop, FOLDER, "file:README.md")
    assert set(verdicts(gitmem, shop).values()) == {"current"}
    git(shop, "rm", "-q", "README.md")
    change(shop, SOURCE.replace("TIMEOUT = 300", "import re\n\nTIMEOUT = 500"))
    assert verdicts(gitmem, shop) == {FOLDER: "gone", TIMEOUT: "changed", RETRY: "moved", FREE: "moved"}
    rows = {row["title"]: row for row in gitmem(shop, "stale", "--json").lines if "title" in row}
    assert set(rows) == {FOLDER, TIMEOUT}
    assert rows[TIMEOUT]["cited"][0]["diff"] == ["@@ -1,1 +3,1 @@", "-TIMEOUT = 300", "+TIMEOUT = 500"]
    assert rows[TIMEOUT]["mark"] == "maybe_stale" and rows[FOLDER]["mark"] == "stale"
    short = rows[TIMEOUT]["id"][:8]
    assert rows[TIMEOUT]["next"] == [
        f"gitmem reverify {short} --evidence file:src/pool.py::TIMEOUT",
        f'gitmem reverify {short} --instead "…" --evidence file:src/pool.py::TIMEOUT --because "…"',
    ]
    said = gitmem(shop, "stale")
    assert said.code == 0 and "+TIMEOUT = 500" in said.out and RETRY not in said.out
    assert "4 looked at: 2 moved, 1 changed, 1 gone" in said.err
    assert gitmem(shop, "stale", "--check").code == 1
    assert gitmem(shop, "stale", "src/gone.py", "--check").code == 0
    assert set(verdicts(gitmem, shop, "src")) == {RETRY, TIMEOUT, FREE}
    assert set(verdicts(gitmem, shop, "README.md")) == {FOLDER}


def test_a_renamed_file_is_followed_also_through_a_second_rename(shop: Path, gitmem: Run) -> None:
    identifier = fact(gitmem, shop, RETRY, "file:src/pool.py::acquire")
    fact(gitmem, shop, FREE, "file:src/pool.py:11")
    git(shop, "mv", "src/pool.py", "src/sockets.py")
    git(shop, "commit", "-qm", "another name")
    assert verdicts(gitmem, shop) == {RETRY: "moved", FREE: "moved"}
    git(shop, "mv", "src/sockets.py", "pool.py")
    change(shop, SOURCE.replace("+= 1", "+= 2"), "pool.py")
    assert verdicts(gitmem, shop) == {RETRY: "moved", FREE: "changed"}
    assert "moved to pool.py" in gitmem(shop, "recall", RETRY).out
    assert "moved to pool.py" in gitmem(shop, "show", identifier).out
    git(shop, "rm", "-q", "pool.py")
    git(shop, "commit", "-qm", "no pool")
    assert verdicts(gitmem, shop) == {RETRY: "gone", FREE: "gone"}


def test_a_mark_names_commit_and_verdict_and_withholds_nothing(shop: Path, gitmem: Run) -> None:
    changed = fact(gitmem, shop, TIMEOUT, "file:src/pool.py::TIMEOUT=300")
    gone = fact(gitmem, shop, RETRY, "file:src/pool.py::acquire")
    kept = fact(gitmem, shop, FREE, "file:src/pool.py:11")
    head = change(shop, SOURCE.replace("300", "500").replace("def acquire", "def take"))
    assert gitmem(shop, "stale", "--mark").code == 0
    assert [status(gitmem, shop, one) for one in (changed, gone, kept)] == ["maybe_stale", "stale", "active"]
    told = event(gitmem, shop, changed)
    assert told["op"] == "mark" and told["actor"]["channel"] == "terminal"
    assert told["reason"].startswith(f"changed at {head[:10]}: file:src/pool.py@") and "(changed)" in told["reason"]
    assert changed in [row["id"] for row in gitmem(shop, "recall", TIMEOUT, "--json").lines if "id" in row]
    assert gitmem(shop, "verify", "--all").code == 0
    before = tips(shop)
    assert gitmem(shop, "stale", "--mark").code == 0 and tips(shop) == before  # nothing is marked twice
    # What was changed and is gone by now weighs still less; both in two steps only.
    change(shop, SOURCE.replace("TIMEOUT = 300\n", ""))
    assert gitmem(shop, "stale", "--mark").code == 0
    assert status(gitmem, shop, changed) == "stale"


@pytest.mark.parametrize("channel", ["agent", "tool", "capture", "import"])
def test_an_agent_is_told_and_marks_nothing(shop: Path, gitmem: Run, channel: str) -> None:
    identifier = fact(gitmem, shop, TIMEOUT, "file:src/pool.py::TIMEOUT=300")
    change(shop, SOURCE.replace("300", "500"))
    before = tips(shop)
    refused = gitmem(shop, "stale", "--mark", "--json", channel=channel)
    assert refused.code == 3 and codes(refused) == ["channel.authority"]
    assert refused.lines[0]["verdict"] == "changed"  # it is told all the same
    assert tips(shop) == before and status(gitmem, shop, identifier) == "active"
    refused = gitmem(shop, "reverify", identifier, "--json", channel=channel)
    assert refused.code == 3 and codes(refused) == ["channel.authority"]
    assert gitmem(shop, "stale", "--mark", channel="ci").code == 0
    assert status(gitmem, shop, identifier) == "maybe_stale"


def test_a_mark_by_an_agent_is_not_believed_when_it_comes_from_elsewhere(shop: Path) -> None:
    from gitmem.app.writing import status_change
    from gitmem.model.judgement import Facts
    from gitmem.model.nouns import Config
    from gitmem.policy.standing_rules import authority
    from tests.app.conftest import START

    memory: Any = _memory()
    marked = status_change(memory, "mark", "maybe_stale", "changed")
    config = Config("shop")
    assert list(authority(marked, Facts(now=START, channel="agent"), config))
    assert not list(authority(marked, Facts(now=START, channel="terminal"), config))
    assert not list(authority(marked, Facts(now=START, channel="ci"), config))


def _memory() -> Any:
    from gitmem.model.nouns import Memory, Scope

    return Memory("0123456789ab", "fact", RETRY, "active", Scope("shop"), "human")


def test_what_is_confirmed_cites_the_code_of_today(shop: Path, gitmem: Run) -> None:
    moved = fact(gitmem, shop, FREE, "file:src/pool.py:11")
    changed = fact(gitmem, shop, RETRY, "file:src/pool.py::acquire")
    head = change(shop, SOURCE.replace("tries=3", "tries=3, wait=1").replace("TIMEOUT", "import re\nTIMEOUT"))
    gitmem(shop, "stale", "--mark")
    assert status(gitmem, shop, changed) == "maybe_stale"
    done = gitmem(shop, "reverify", moved, changed, "--json", "--because", "read it again")
    assert done.code == 0, done.err
    cited = {row["id"]: row["memory"]["evidence"][0] for row in done.lines}
    assert (cited[moved]["lines"], cited[moved]["commit"]) == ("12", head)
    assert (cited[changed]["symbol"], cited[changed]["lines"]) == ("Pool.acquire", "8-9")
    assert event(gitmem, shop, changed)["op"] == "restore" and event(gitmem, shop, moved)["op"] == "edit"
    assert event(gitmem, shop, changed)["reason"] == "read it again"
    assert set(verdicts(gitmem, shop).values()) == {"current"}
    assert gitmem(shop, "verify", "--all").code == 0
    before = tips(shop)
    assert gitmem(shop, "reverify", moved).code == 0 and tips(shop) == before  # as it is already


def test_what_cannot_be_cited_again_needs_evidence_or_another_claim(shop: Path, gitmem: Run) -> None:
    timeout = fact(gitmem, shop, TIMEOUT, "file:src/pool.py::TIMEOUT=300")
    folder = fact(gitmem, shop, FOLDER, "file:README.md")
    git(shop, "rm", "-q", "README.md")
    change(shop, SOURCE.replace("300", "500"))
    gitmem(shop, "stale", "--mark")
    before = tips(shop)
    refused = gitmem(shop, "reverify", timeout, folder)
    assert refused.code == 2 and "TIMEOUT is no longer 300" in refused.err and tips(shop) == before
    assert gitmem(shop, "reverify", folder).code == 2 and tips(shop) == before
    done = gitmem(shop, "reverify", folder, "-e", "file:src/pool.py:1", "--json", "--because", "it says so itself")
    assert [row["path"] for row in done.lines[0]["memory"]["evidence"]] == ["src/pool.py"]
    done = gitmem(
        shop, "reverify", timeout, "--instead", "Idle sockets live for eight minutes and a third",
        "-e", "file:src/pool.py::TIMEOUT=500", "--because", "it was raised",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert status(gitmem, shop, timeout) == "superseded"
    assert gitmem(shop, "reverify", timeout).code == 3  # no longer shown
    assert gitmem(shop, "reverify", timeout, folder, "-e", "file:README.md").code == 2


def test_what_head_never_had_is_not_called_changed(shop: Path, gitmem: Run) -> None:
    git(shop, "checkout", "-qb", "topic")
    change(shop, SOURCE.replace("tries=3", "tries=5"))
    change(shop, "x = 1\n", "src/new.py")
    fact(gitmem, shop, "The pool retries five times", "file:src/pool.py::acquire")
    fact(gitmem, shop, "A new module holds x", "file:src/new.py:1")
    git(shop, "checkout", "-q", "main")
    assert set(verdicts(gitmem, shop).values()) == {"unobservable"}
    assert gitmem(shop, "recall", "retries five", "--json").lines[0]["drifts"] == [""]
    git(shop, "merge", "-q", "--squash", "topic")
    git(shop, "commit", "-qm", "all of topic")
    assert set(verdicts(gitmem, shop).values()) == {"current"}
    # The commit is on no branch of HEAD, but its bytes were: now a difference does say something.
    change(shop, SOURCE.replace("tries=3", "tries=7"))
    assert verdicts(gitmem, shop)["The pool retries five times"] == "changed"


def test_what_speaks_against_a_memory_may_change(shop: Path, gitmem: Run) -> None:
    fact(gitmem, shop, RETRY, "file:src/pool.py::acquire", "contradicts=file:src/pool.py::TIMEOUT=300")
    change(shop, SOURCE.replace("300", "500"))
    assert verdicts(gitmem, shop) == {RETRY: "moved"} or verdicts(gitmem, shop) == {RETRY: "current"}


def test_a_memory_is_gone_only_with_all_of_its_code(shop: Path, gitmem: Run) -> None:
    identifier = fact(gitmem, shop, RETRY, "file:src/pool.py::acquire", "file:README.md")
    git(shop, "rm", "-q", "README.md")
    git(shop, "commit", "-qm", "no readme")
    assert verdicts(gitmem, shop) == {RETRY: "changed"}
    gitmem(shop, "reverify", identifier, "--because", "the code is what it rests on")
    assert verdicts(gitmem, shop) == {RETRY: "current"}


def test_without_a_reason_a_person_is_shown_what_changed_and_asked_and_nobody_else(shop: Path, gitmem: Run) -> None:
    identifier = fact(gitmem, shop, RETRY, "file:src/pool.py::acquire")
    change(shop, SOURCE.replace("tries=3", "tries=3, wait=1"))
    before = tips(shop)
    assert gitmem(shop, "reverify", identifier, "--instead", "The pool waits and retries").code == 2
    for stdin in ("because\n", ""):
        refused = gitmem(shop, "reverify", identifier, "--json", stdin=stdin)
        assert refused.code == 2 and "say what you saw" in refused.err and tips(shop) == before
    silent = person(shop, "reverify", identifier, typed="\n")
    assert (silent.code, tips(shop)) == (0, before) and "nothing was changed" in silent.out
    assert "+" in silent.out and "wait=1" in silent.out
    asked = person(shop, "reverify", identifier, typed="three tries as before, now with a pause\n")
    assert asked.code == 0, asked
    assert event(gitmem, shop, identifier)["reason"] == "three tries as before, now with a pause"
    assert person(shop, "reverify", identifier).code == 0  # as it is already: nobody is asked


# -- the hooks ---------------------------------------------------------------------------------------------------


def noted(repo: Path) -> list[str]:
    file = repo / ".git/gitmem/code-moved"
    return [line.split(" ")[0] for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def hooked(shop: Path, gitmem: Run) -> Path:
    assert gitmem(shop, "hooks", "install", "--sessions").code == 0
    return shop


def test_a_persons_next_command_marks_what_the_noted_commits_changed(hooked: Path, gitmem: Run) -> None:
    timeout = fact(gitmem, hooked, TIMEOUT, "file:src/pool.py::TIMEOUT=300")
    readme = fact(gitmem, hooked, FOLDER, "file:README.md")
    change(hooked, "# another shop\n", "README.md")
    (hooked / ".git/gitmem/code-moved").unlink()  # what was never noted is not looked at
    change(hooked, SOURCE.replace("300", "500"))
    assert noted(hooked) == ["made"]
    before = tips(hooked)
    assert gitmem(hooked, "recall", TIMEOUT, channel="agent").code == 0
    assert tips(hooked) == before and noted(hooked) == ["made"]
    assert gitmem(hooked, "stale", "--changed", channel="agent").code == 0 and tips(hooked) == before
    told = gitmem(hooked, "list")
    assert f"{timeout[:8]} maybe_stale" in told.err
    assert [status(gitmem, hooked, one) for one in (timeout, readme)] == ["maybe_stale", "active"]
    assert noted(hooked) == [] and gitmem(hooked, "list").err == told.err.replace(
        f"their code changed: {timeout[:8]} maybe_stale: gitmem stale\n", ""
    )


def test_merges_and_rebases_are_noted_by_their_end(hooked: Path, gitmem: Run) -> None:
    timeout = fact(gitmem, hooked, TIMEOUT, "file:src/pool.py::TIMEOUT=300")
    git(hooked, "checkout", "-qb", "topic")
    (hooked / "other").write_text("1\n")
    git(hooked, "add", "other")
    git(hooked, "commit", "-qm", "other")
    git(hooked, "checkout", "-q", "main")
    change(hooked, SOURCE.replace("300", "500"))
    (hooked / ".git/gitmem/code-moved").unlink()
    git(hooked, "checkout", "-q", "topic")
    git(hooked, "rebase", "-q", "main")
    assert noted(hooked) == ["moved"]
    assert gitmem(hooked, "stale", "--changed", "--mark").code == 0
    assert status(gitmem, hooked, timeout) == "maybe_stale" and noted(hooked) == []
    git(hooked, "checkout", "-q", "main")
    git(hooked, "merge", "-q", "topic")
    assert noted(hooked) == ["moved"]
    git(hooked, "checkout", "-q", "topic")
    git(hooked, "commit", "-q", "--amend", "-m", "another word")
    assert noted(hooked) == ["moved", "made"]


def test_nothing_is_marked_in_the_middle_of_a_rebase(hooked: Path, gitmem: Run) -> None:
    timeout = fact(gitmem, hooked, TIMEOUT, "file:src/pool.py::TIMEOUT=300")
    change(hooked, SOURCE.replace("300", "500"))
    stop = {**os.environ, "GIT_SEQUENCE_EDITOR": "sed -i '1s/^pick/edit/'"}
    subprocess.run(["git", "rebase", "-q", "-i", "HEAD~1"], cwd=hooked, env=stop, check=True, capture_output=True)
    gitmem(hooked, "list")
    assert noted(hooked) == ["made"] and status(gitmem, hooked, timeout) == "active"
    git(hooked, "rebase", "--abort")
    gitmem(hooked, "list")
    assert status(gitmem, hooked, timeout) == "maybe_stale"
