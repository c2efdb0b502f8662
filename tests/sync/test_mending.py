"""What `verify` and `sync` say to do about a fault does mend it, and never breaks more."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping

from gitmem.model.layout import memory_path
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
    assert "undid it" in ana.ok("verify", "--all").out
    ana.sync()


def test_what_a_hand_did_and_took_back_whole_is_a_note_and_anything_else_stays_a_fault(team: Team) -> None:
    ana = team.ana
    pool, weather = (put(ana.gitmem, ana.repo, words) for words in (POOL, WEATHER))
    ana.sync()
    good = ana.tip()
    work = ana.repo.parent / "hands"
    git(ana.repo, "worktree", "add", "-q", "--detach", str(work), good)
    names = {each: memory_path(each) for each in (pool, weather)}

    def commit(changes: Mapping[str, bytes | None], parent: str | None = None) -> str:
        git(work, "checkout", "-q", parent or "HEAD")
        for name, raw in changes.items():
            if raw is None:
                (work / name).unlink()
            else:
                (work / name).parent.mkdir(parents=True, exist_ok=True)
                (work / name).write_bytes(raw)
        git(work, "add", "-A")
        git(work, "commit", "-qm", "by hand")
        return git(work, "rev-parse", "HEAD").strip()

    def judged(head: str) -> set[str]:
        said = ana.run("--json", "verify", "--base", good, "--head", head)
        found = said.lines[-1]
        assert said.code == (0 if found["clean"] else 3)
        assert found["clean"] or found["faults"]
        return {fault["code"] for fault in found["faults"]}

    was = {name: (work / name).read_bytes() for name in [*names.values(), "gitmem.yaml"]}
    event = next(path for path in work.rglob(f"*.{pool}.json"))
    told, stray = event.read_bytes(), str(event.relative_to(work))
    mine, other = names[pool], names[weather]
    said = {name: raw.replace(b"title: ", b"title: Never ") for name, raw in was.items()}
    open_ = was["gitmem.yaml"].replace(b"review: local", b"review: forge")
    assert open_ != was["gitmem.yaml"]
    # Undone whole: one record, both in the other order, the policy, a record that was removed.
    assert judged(commit({mine: said[mine]}, good)) == {"event.missing"}
    assert judged(commit({mine: was[mine]})) == set()
    first = commit({mine: said[mine], other: said[other]}, good)
    assert judged(commit({other: was[other]})) == {"event.missing"}
    assert judged(commit({mine: was[mine]})) == set()
    commit({"gitmem.yaml": open_}, good)
    assert judged(commit({"gitmem.yaml": was["gitmem.yaml"]})) == set()
    commit({mine: None}, good)
    assert judged(commit({mine: was[mine]})) == set()
    # Not whole, or something was made in between.
    commit({mine: said[mine], other: said[other]}, good)
    assert judged(commit({mine: was[mine]})) == {"event.missing"}
    commit({"gitmem.yaml": open_, other: said[other]}, good)
    assert "event.missing" in judged(commit({"gitmem.yaml": was["gitmem.yaml"]}))
    added = (
        stray.replace(f"0.{pool}", f"1.{pool}") if f"0.{pool}" in stray else re.sub(rf".\.{pool}", f"0.{pool}", stray)
    )
    commit({mine: said[mine], added: told}, good)
    assert "event.rewritten" in judged(commit({mine: was[mine], added: None}))
    commit({stray: None}, good)
    assert "event.rewritten" in judged(commit({mine: said[mine], stray: told}))
    # gitmem wrote on under a changed record: that stays, and sync says so; what was said meanwhile is believed nowhere.
    git(ana.repo, "update-ref", "refs/heads/gitmem/main", first)
    assert pool not in ana.ids()
    kept = put(ana.gitmem, ana.repo, RETRY)
    git(work, "checkout", "-q", ana.tip())
    git(work, "revert", "--no-edit", first)
    git(ana.repo, "update-ref", "refs/heads/gitmem/main", git(work, "rev-parse", "HEAD").strip())
    assert "undid it" in ana.ok("verify", "--all").out
    ana.sync()
    ben = team.clone("ben")
    assert {pool, weather, kept} <= ben.ids()
    for clone in (ana, ben):
        assert pool in clone.ok("recall", POOL, "--as-of", good, "--json").out
        assert "Never" not in clone.run("recall", POOL, "--as-of", first, "--json").out
        assert "Never" not in clone.run("recall", POOL, "--history", "--json").out
    # What names the record in between may have been let in for what it said then.
    there = ana.tip()
    ana.ok("remember", "-k", "fact", "Twenty is what the pool was sized for", "-e", f"memory:{pool}")
    building = ana.tip()
    for between, codes in ((building, {"event.missing"}), (None, set())):
        changed = commit({mine: said[mine]}, there)
        if between is not None:
            git(work, "cherry-pick", between)
        git(work, "revert", "--no-edit", changed)
        assert judged(git(work, "rev-parse", "HEAD").strip()) == codes
    git(ana.repo, "worktree", "remove", "--force", str(work))
