"""`gitmem consolidate` and `gitmem skill`: what time decided is closed, the rest is a person's to decide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem.app import use
from tests.app.conftest import Ran
from tests.app.steps import INVOICE, POOL, RETRY, proposed, put, status, tips
from tests.conftest import git

Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def run(gitmem: Run, repo: Path, *flags: str, channel: str = "terminal") -> tuple[list[Any], dict[str, Any], Any]:
    """(what was closed, what is needed by section, the summary)."""
    done = gitmem(repo, "consolidate", "--json", *flags, channel=channel)
    assert done.code == 0, done.err
    *rows, last = done.lines
    needs: dict[str, Any] = {}
    for row in rows:
        if "needs" in row:
            needs.setdefault(row["needs"], []).append(row)
    return [row for row in rows if "closed" in row], needs, last["summary"]


def ending(gitmem: Run, repo: Path, title: str, until: str = "2026-03-02T10:00:40Z", *more: str) -> str:
    """A memory that is true for a little while by the clock of the tests, which counts a second a look."""
    return put(gitmem, repo, title, "--valid-until", until, *more)


def test_what_is_true_no_more_is_closed_once_and_the_rest_is_listed(repo: Path, gitmem: Run) -> None:
    over, stays = ending(gitmem, repo, POOL), put(gitmem, repo, RETRY)
    waits = proposed(gitmem, repo, INVOICE)
    expired = put(
        gitmem, repo, "Deploys stop for the holidays", "--valid-until", "2026-03-02T10:00:40Z", channel="agent"
    )
    closed, needs, _ = run(gitmem, repo)
    assert (closed, [row["ids"] for row in needs["waiting"]]) == (
        [],
        [[waits], [expired]] if waits < expired else [[expired], [waits]],
    )
    tick(gitmem, repo)
    before = tips(repo)
    would, _, _ = run(gitmem, repo, "--dry-run")
    assert {row["closed"] for row in would} == {over, expired} and tips(repo) == before
    closed, needs, summary = run(gitmem, repo)
    assert {row["closed"] for row in closed} == {over, expired} and summary["closed"] == 2
    assert [row["commands"] for row in needs["waiting"]] == [[f"gitmem review {waits[:8]}"]]
    assert (status(gitmem, repo, over), status(gitmem, repo, stays)) == ("archived", "active")
    before = tips(repo)
    again, same, _ = run(gitmem, repo)
    assert (again, same) == ([], needs) and tips(repo) == before
    assert gitmem(repo, "restore", over, "--because", "it holds on").code == 0
    assert run(gitmem, repo)[0] == [] and status(gitmem, repo, over) == "active"  # a person's word after its end


def tick(gitmem: Run, repo: Path) -> None:
    """The clock of the tests passes 10:00:40 and more."""
    for _ in range(40):
        if gitmem(repo, "list", "--since", "2026-03-02", "--json").code:
            break


@pytest.mark.parametrize("audience", ["--private", "--user"])
def test_what_is_ones_own_is_closed_in_its_own_store(repo: Path, gitmem: Run, audience: str) -> None:
    flags = ("--valid-until", "2026-03-02T10:00:40Z", "-e", 'human:"until noon"', audience)
    over = gitmem(repo, "remember", "--json", "-k", "fact", POOL, *flags).lines[0]["id"]
    tick(gitmem, repo)
    main = git(repo, "rev-parse", "gitmem/main")
    assert [row["closed"] for row in run(gitmem, repo)[0]] == [over]
    assert status(gitmem, repo, over) == "archived" and git(repo, "rev-parse", "gitmem/main") == main
    assert run(gitmem, repo)[0] == []


def test_an_agent_closes_no_memory_and_is_told_who_does(repo: Path, gitmem: Run) -> None:
    over = ending(gitmem, repo, POOL)
    tick(gitmem, repo)
    closed, needs, _ = run(gitmem, repo, channel="agent")
    assert closed == [] and status(gitmem, repo, over) == "active"
    assert needs["ended"][0]["commands"][0].startswith(f"gitmem archive {over[:8]} --because")
    assert [row["closed"] for row in run(gitmem, repo)[0]] == [over]


def test_near_ones_disputed_ones_and_unused_ones_are_named_with_their_commands(repo: Path, gitmem: Run) -> None:
    first = put(gitmem, repo, "The pool closes idle sockets after three hundred seconds of silence")
    apart = ("--distinct-from", first, "--because", "the other pool")
    told_apart = put(gitmem, repo, "The pool closes idle sockets after three hundred seconds of waiting", *apart)
    disputed = put(gitmem, repo, RETRY)
    assert gitmem(repo, "dispute", disputed, "--because", "is it so?").code == 0
    guess = put(gitmem, repo, "Buttons are blue", kind="convention", channel="agent")
    assert gitmem(repo, "accept", guess, "--because", "it is so").code == 0
    for _ in range(use.FADES_AFTER):
        assert gitmem(repo, "brief").code == 0
    before = tips(repo)
    _, needs, _ = run(gitmem, repo)
    assert "near" not in needs, told_apart
    assert needs["conflict"][0]["ids"] == [disputed]
    assert needs["unused"][0]["commands"][0] == f"gitmem feedback {guess[:8]} useful"
    assert tips(repo) == before
    text = gitmem(repo, "consolidate").out
    assert f"gitmem conflicts show {disputed[:8]}" in text and f"gitmem feedback {guess[:8]} useful" in text


def test_near_pairs_keep_what_rests_on_more(repo: Path, gitmem: Run) -> None:
    from gitmem.app.near_pairs import near_pairs
    from gitmem.app.use import Used
    from gitmem.model.nouns import Link, Memory, Scope

    def memory(name: str, title: str, origin: Any = "inferred", **more: Any) -> Memory:
        return Memory(name * 12, more.pop("kind", "fact"), title, "active", Scope("shop"), origin, **more)

    said = "The pool closes idle sockets after three hundred seconds of silence"
    one, two, three = memory("a", said), memory("b", said + " there", "human"), memory("c", "Buttons are blue")
    assert list(near_pairs([one, two, three], {})) == [(two.id, one.id)]
    credited = {"b" * 12: Used(credits=("person",))}
    alike = memory("b", said + " there")
    assert list(near_pairs([one, alike], {})) == [(one.id, alike.id)]
    assert list(near_pairs([one, alike], credited)) == [(alike.id, one.id)]
    linked = memory("b", said + " there", links=(Link("differs_from", one.id, "another pool"),))
    assert list(near_pairs([one, linked], {})) == []
    done, again = memory("a", said, kind="change"), memory("b", said + " there", kind="change")
    assert list(near_pairs([done, again], {})) == []  # what was done is told as often as it was
    assert list(near_pairs([one, memory("b", said + " there", kind="problem")], {})) == []


STEPS = ("--step", "Stop the workers", "--step", "Drain the queue: then restart")
HOW = "How the pool is restarted"


def test_a_skill_is_written_on_a_persons_word_and_cites_its_memory(repo: Path, gitmem: Run) -> None:
    known = put(gitmem, repo, HOW, "--body", "Mind the --- queue.\n# no front matter", *STEPS, kind="procedure")
    other = put(gitmem, repo, POOL)
    private = repo / ".git/gitmem"
    file = repo / f".claude/skills/how-the-pool-is-restarted-{known[:8]}/SKILL.md"
    use.credit(private, {}, [known, other], "claude-code/one")
    use.credit(private, {}, [known], use.PERSON)
    assert "skill" not in run(gitmem, repo)[1]
    short = gitmem(repo, "skill", "propose", known)
    assert short.code == 2 and "credit from 1 of 2 sessions" in short.err
    use.credit(private, {}, [known, other], "claude-code/two")
    assert [row["id"] for row in gitmem(repo, "skill", "list", "--json").lines] == [known]
    assert run(gitmem, repo)[1]["skill"][0]["commands"] == [f"gitmem skill propose {known[:8]}"]
    assert gitmem(repo, "skill", "propose", other).code == 2
    assert gitmem(repo, "skill", "propose", known, "--dry-run").code == 0
    refused = gitmem(repo, "skill", "propose", known, "--yes", channel="agent")
    assert refused.code == 3 and "for a person" in refused.err
    no = gitmem(repo, "skill", "propose", known, stdin="n\n")
    assert no.code == 1 and "+1. Stop the workers" in no.out and not file.exists()
    assert gitmem(repo, "skill", "propose", known, stdin="y\n").code == 0
    text = file.read_text()
    assert text.startswith(f'---\nname: how-the-pool-is-restarted-{known[:8]}\ndescription: "{HOW}."\n---\n')
    assert "2. Drain the queue: then restart" in text and f"gitmem show {known}" in text and "file:src/pool.py" in text
    assert gitmem(repo, "skill", "list", "--json").lines[0]["written"]
    assert "skill" not in run(gitmem, repo)[1]
    assert git(repo, "status", "--porcelain") == "?? .claude/\n"


def test_a_skill_overwrites_nothing_of_others_and_follows_no_link(repo: Path, gitmem: Run, tmp_path: Path) -> None:
    known = put(gitmem, repo, HOW, *STEPS, kind="procedure")
    for session in ("one", "two"):
        use.credit(repo / ".git/gitmem", {}, [known], f"claude-code/{session}")
    folder = f"how-the-pool-is-restarted-{known[:8]}"
    file = repo / ".claude/skills" / folder / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("mine\n")
    refused = gitmem(repo, "skill", "propose", known, "--yes")
    assert (refused.code, file.read_text()) == (3, "mine\n")
    secret = tmp_path / "secret"
    secret.mkdir()
    (repo / "linked").symlink_to(secret)
    (secret / folder).mkdir()
    (secret / folder / "SKILL.md").write_text("SECRET WORDS")
    linked = gitmem(repo, "skill", "propose", known, "--to", "linked", "--yes")
    assert linked.code == 3 and "symbolic link" in linked.err and "SECRET WORDS" not in linked.out + linked.err
    for outside in ("../elsewhere", "/tmp/x", ".git/skills", ""):
        assert gitmem(repo, "skill", "propose", known, "--to", outside, "--yes").code == 2
    assert gitmem(repo, "skill", "propose", known, "--to", ".agents/skills", "--yes").code == 0
    assert (repo / ".agents/skills" / folder / "SKILL.md").is_file()
