"""What lies only in the inbox of a clone is never named by what others read; and the way out where it was."""

from __future__ import annotations

import pytest

from gitmem.app import facts
from tests.app.steps import INVOICE, POOL, RETRY, WEATHER, codes, proposed, put
from tests.conftest import git
from tests.sync.conftest import Clone, Team, env, gitmem, team

__all__ = ["env", "gitmem", "team"]

WHY = ("--because", "both hold")


def led_astray(clone: Clone, monkeypatch: pytest.MonkeyPatch, title: str, candidate: str) -> str:
    """A record that names a candidate, as a version of gitmem wrote it that did not look where it landed."""
    with monkeypatch.context() as patched:
        patched.setattr(facts, "_LEAVING", frozenset())
        return put(clone.gitmem, clone.repo, title, "--relates-to", candidate)


def clean(clone: Clone) -> bool:
    return bool(clone.run("verify", "--all").code == 0)


@pytest.mark.parametrize(("flag", "title"), [("--distinct-from", f"{POOL} today"), ("--relates-to", WEATHER)])
def test_what_a_person_remembers_names_no_candidate_of_the_inbox(team: Team, flag: str, title: str) -> None:
    ana = team.ana
    candidate = proposed(ana.gitmem, ana.repo, POOL)
    before = ana.tip()
    words = ("remember", "--json", "-k", "fact", title, "-e", "file:src/pool.py:2", flag, candidate, *WHY)
    refused = ana.run(*words)
    assert refused.code == 3 and codes(refused) == ["link.missing"] and ana.tip() == before
    assert f"gitmem accept {candidate} first" in refused.err
    # From an agent it lands in the inbox as well, where the candidate is.
    theirs = ana.ok(*words, channel="agent").lines[0]["id"]
    ana.ok("retract", theirs, *WHY)
    ana.ok("accept", candidate, *WHY)
    ana.ok(*words)
    assert clean(ana)


def test_every_door_to_the_branch_refuses_and_the_inbox_does_not(team: Team) -> None:
    ana = team.ana
    candidate = proposed(ana.gitmem, ana.repo, POOL)
    mine = put(ana.gitmem, ana.repo, RETRY)
    naming = proposed(ana.gitmem, ana.repo, WEATHER, "--relates-to", candidate)
    evidence = ("-e", "file:src/pool.py:1")
    doors = {
        "supersede": ("supersede", mine, "Attempts are spread by jitter", *evidence, "--relates-to", candidate, *WHY),
        "evidence": ("remember", "-k", "fact", INVOICE, *evidence, "-e", f"memory:{candidate}"),
        "edit": ("edit", mine, "-e", f"memory:{candidate}", *WHY),
        "accept": ("accept", naming),
        "propose": ("propose", naming),
    }
    before = git(ana.repo, "for-each-ref")
    for door, words in doors.items():
        refused = ana.run("--json", *words)
        assert refused.code == 3 and set(codes(refused)) <= {"link.missing", "memory.missing"}, (door, refused)
    assert git(ana.repo, "for-each-ref") == before
    ana.ok("accept", candidate, *WHY)
    for door, words in doors.items():
        if door not in ("edit", "accept", "propose"):
            ana.ok(*words)
    ana.ok("accept", naming)
    assert clean(ana)


def test_a_duplicate_names_the_ways_that_lead_somewhere(team: Team) -> None:
    ana = team.ana
    candidate = proposed(ana.gitmem, ana.repo, POOL)
    words = ("remember", "-k", "fact", f"{POOL} today", "-e", "file:src/pool.py:2")
    said = ana.run(*words)
    assert said.code == 3
    for way in (
        f"gitmem accept {candidate}",
        f"gitmem retract {candidate}",
        f"then this with --distinct-from {candidate}",
    ):
        assert way in said.err
    ana.ok("retract", candidate, *WHY)
    ana.ok(*words)
    assert clean(ana)


def test_a_branch_that_names_a_candidate_is_mended_by_who_wrote_it(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    ana, ben = team.ana, team.clone("ben")
    candidate = proposed(ana.gitmem, ana.repo, POOL)
    assert not [line for line in ana.run("doctor", "--json").lines if line["state"] == "fault"]
    bad = led_astray(ana, monkeypatch, WEATHER, candidate)
    told = ana.run("verify", "--all")
    mend = ("edit", bad, "--unlink", candidate, "--because", "that one is not here")
    assert told.code == 3 and f"gitmem edit {bad} --unlink {candidate}" in told.err and "revert" not in told.err
    (fault,) = [line for line in ana.run("doctor", "--json").lines if line["state"] == "fault"]
    assert fault["topic"] == "links" and f"gitmem edit {bad} --unlink {candidate}" in fault["hint"]
    ana.sync()
    ben.sync()
    assert bad not in ben.ids() and bad in ana.ids()
    ana.ok(*mend)
    assert clean(ana) and not [line for line in ana.run("doctor", "--json").lines if line["state"] == "fault"]
    ana.sync()
    ben.sync()
    assert bad in ben.ids() and clean(ben)
    assert bad in team.clone("cem").ids()  # and in a clone that verifies all of it at once


def test_it_is_mended_where_it_is_left_out_as_well(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    ana, ben = team.ana, team.clone("ben")
    bad = led_astray(ana, monkeypatch, WEATHER, candidate := proposed(ana.gitmem, ana.repo, POOL))
    gone = led_astray(ana, monkeypatch, RETRY, candidate)
    ana.sync()
    ben.sync()
    assert ben.run("show", bad).code == 4 and not {bad, gone} & ben.ids()
    assert ben.run("edit", bad, "--tag", "late", *WHY).code == 3  # it still names what is not there
    ben.ok("edit", bad, "--unlink", candidate[:6], *WHY)
    ben.ok("archive", gone, *WHY)
    assert bad in ben.ids() and clean(ben)
    ben.sync()
    ana.sync()
    assert bad in ana.ids() and gone not in ana.ids() and clean(ana)
    assert ben.run("restore", gone, *WHY).code == 3  # the link is judged again


def test_what_was_left_out_for_another_fault_is_not_edited(team: Team) -> None:
    ana = team.ana
    identifier = put(ana.gitmem, ana.repo, WEATHER)
    control = put(ana.gitmem, ana.repo, RETRY)
    path = next(
        p
        for p in git(ana.repo, "ls-tree", "-r", "--name-only", "gitmem/main").split()
        if identifier in p and p.startswith("memories")
    )
    work = ana.repo.parent / "work"
    git(ana.repo, "worktree", "add", "-q", str(work), "gitmem/main")
    (work / path).write_text((work / path).read_text().replace("weather", "tide"))
    git(work, "commit", "-qam", "by hand")
    git(ana.repo, "worktree", "remove", str(work))
    assert ana.run("edit", identifier, "--tag", "late", *WHY).code == 4
    ana.ok("edit", control, "--tag", "late", *WHY)


def test_a_server_takes_the_mended_branch(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    ana = team.ana
    base = ana.tip()
    candidate = proposed(ana.gitmem, ana.repo, POOL)
    bad = led_astray(ana, monkeypatch, WEATHER, candidate)
    assert ana.run("verify", "--base", base, "--head", "gitmem/main").code == 3
    ana.ok("edit", bad, "--tag", "late", "--unlink", candidate, *WHY)
    (report,) = ana.ok("--json", "verify", "--base", base, "--head", "gitmem/main").lines
    assert [note["code"] for note in report["notes"]] == ["link.missing"]


def test_nothing_is_unlinked_that_is_not_linked(team: Team) -> None:
    ana = team.ana
    old = put(ana.gitmem, ana.repo, POOL)
    new = ana.ok("supersede", old, RETRY, "-e", "file:src/pool.py:1", "--json", *WHY).lines[0]["id"]
    mine = put(ana.gitmem, ana.repo, WEATHER, "--relates-to", new)
    assert ana.run("edit", new, "--unlink", old, *WHY).code == 2
    assert ana.run("edit", mine, "--unlink", old, *WHY).code == 2
    ana.ok("edit", mine, "--unlink", new, *WHY)
    assert ana.ok("show", mine, "--json").lines[0]["links"] == []
