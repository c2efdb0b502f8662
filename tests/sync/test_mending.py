"""What `verify` and `sync` say to do about a fault does mend it, and never breaks more."""

from __future__ import annotations

import re
import subprocess

from tests.app.steps import POOL, RETRY, WEATHER, put
from tests.conftest import git
from tests.sync.conftest import Clone, Team, env, gitmem, team

__all__ = ["env", "gitmem", "team"]


def by_hand(clone: Clone, *steps: tuple[str, ...]) -> str:
    """Run git in a work tree of the branch; the commit that it leaves."""
    work = clone.repo.parent / "work"
    git(clone.repo, "worktree", "add", "-q", str(work), "gitmem/main")
    for step in steps:
        git(work, *step)
    git(clone.repo, "worktree", "remove", "--force", str(work))
    return clone.tip()


def told(text: str, start: str) -> str:
    """The command that an answer names."""
    found = re.search(rf"{start}[^;\n]*", text)
    assert found, text
    return found.group().strip()


def shell(clone: Clone, command: str) -> None:
    subprocess.run(["sh", "-c", command], cwd=clone.repo, check=True, capture_output=True)


def test_a_revert_of_what_gitmem_wrote_is_answered_with_what_brings_it_back(team: Team) -> None:
    ana = team.ana
    kept = put(ana.gitmem, ana.repo, POOL)
    good = ana.tip()
    bad = by_hand(ana, ("revert", "--no-edit", "HEAD"))
    said = ana.run("verify", "--all")
    assert said.code == 3 and f"{bad[:10]} took away" in said.err and "mends what is read" not in said.err
    assert ana.run("remember", "-k", "fact", RETRY, "-e", "file:src/pool.py:2").code == 3
    shell(ana, told(said.err, "git update-ref"))
    assert git(ana.repo, "rev-parse", "gitmem/main^{tree}") == git(ana.repo, "rev-parse", f"{good}^{{tree}}")
    assert ana.run("verify", "--all").code == 0 and kept in ana.ids()
    assert put(ana.gitmem, ana.repo, RETRY) in ana.ids()
    ana.sync()
    assert kept in team.clone("cem").ids()


def test_a_revert_that_was_pushed_is_answered_where_it_lies(team: Team) -> None:
    ana, ben = team.ana, team.clone("ben")
    kept = put(ana.gitmem, ana.repo, POOL)
    ana.sync()
    ben.sync()
    by_hand(ana, ("revert", "--no-edit", "HEAD"))
    git(ana.repo, "push", "-q", "origin", "gitmem/main")
    refused = ben.fails(code=3, state="unbelievable")
    hint = refused.lines[-1]["error"]["hint"]
    assert kept in ben.ids()
    command = told(hint, "git push")
    shell(ben, f"git fetch -q origin gitmem/main; {command}")
    ben.sync()
    assert kept in ben.ids() and ben.run("verify", "--all").code == 0
    back = re.search(r"git update-ref \S+ [0-9a-f]{40}", ana.run("sync").err)
    assert back is not None
    shell(ana, back.group())
    ana.sync()
    assert kept in ana.ids() and ana.run("verify", "--all").code == 0
    put(ana.gitmem, ana.repo, RETRY)
    ana.sync()
    assert kept in team.clone("cem").ids()


def test_events_that_were_taken_away_and_not_all_brought_back_stay_a_fault(team: Team) -> None:
    ana = team.ana
    put(ana.gitmem, ana.repo, POOL)
    put(ana.gitmem, ana.repo, WEATHER)
    good = ana.tip()
    by_hand(ana, ("revert", "--no-edit", "HEAD", "HEAD~"))
    bad = ana.tip()
    by_hand(ana, ("revert", "--no-edit", "HEAD~"))
    assert ana.run("verify", "--all").code == 3
    # The control: the whole tree of before.
    back = git(ana.repo, "commit-tree", f"{good}^{{tree}}", "-p", bad, "-m", "back").strip()
    git(ana.repo, "update-ref", "refs/heads/gitmem/main", back)
    assert ana.run("verify", "--all").code == 0


def test_the_revert_is_named_for_what_a_hand_did_and_for_nothing_else(team: Team) -> None:
    ana = team.ana
    identifier = put(ana.gitmem, ana.repo, WEATHER)
    names = git(ana.repo, "ls-tree", "-r", "--name-only", "gitmem/main").split()
    path = next(name for name in names if name.startswith("memories/") and identifier in name)
    hand = by_hand(ana, ("rm", "-q", "--cached", path), ("commit", "-qm", "by hand"), ("reset", "-q", "--hard"))
    said = ana.run("verify", "--all")
    assert said.code == 3 and f"never revert {hand[:10]}" not in said.err
    work = ana.repo.parent / "again"
    git(ana.repo, "update-ref", "refs/heads/gitmem/main", f"{hand}~")
    git(ana.repo, "worktree", "add", "-q", str(work), "gitmem/main")
    (work / path).write_text((work / path).read_text().replace("weather", "tide"))
    git(work, "commit", "-qam", "by hand")
    hand = ana.tip()
    said = ana.run("verify", "--all")
    assert f"a git revert of {hand[:10]} mends what is read" in said.err
    git(work, "revert", "--no-edit", "HEAD")
    git(ana.repo, "worktree", "remove", str(work))
    assert identifier in ana.ids()
    assert ana.ok("doctor", "--json")
