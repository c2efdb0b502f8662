"""`gitmem conflicts`: what merges left for people, and how it is settled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.app.merge import Merged
from tests.verify.forge import Branch, Shop

COMMIT = ("--evidence", "commit:HEAD")
WHY = ("--because", "measured again")


@pytest.fixture
def disputed(shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]) -> str:
    """A memory that both clones gave another title: 50 stands, 20 is kept beside it."""
    identifier = shop.ids["retries"]
    for clone, times in ((shop, 20), (other, 50)):
        clone.ok("edit", identifier, "--title", f"The pool retries the connect {times} times", "--because", "seen")
    merge()
    return identifier


def test_they_are_listed_and_shown_to_people(shop: Shop, disputed: str) -> None:
    (line,) = shop.ok("--json", "conflicts").lines
    assert (line["id"], line["memory"]["status"], len(line["kept"])) == (disputed, "disputed", 1)
    assert "both sides changed it" in line["why"]
    assert line["kept"][0]["memory"]["title"] == "The pool retries the connect 20 times"
    shown = shop.ok("conflicts", "show", disputed[:6]).out
    assert "-title:" in shown and "+title:" in shown and "20 times" in shown and "50 times" in shown
    assert disputed in {line["id"] for line in shop.ok("--json", "list", "--status", "disputed").lines if "id" in line}
    assert shop.run(shop.repo, "conflicts", "show", shop.ids["idle"]).code == 4
    assert any(line["topic"] == "conflicts" for line in shop.run(shop.repo, "--json", "doctor").lines)


@pytest.mark.parametrize(("take", "times"), [("ours", 50), ("theirs", 20)])
def test_one_text_is_taken_and_the_other_goes(take: str, times: int, shop: Shop, branch: Branch, disputed: str) -> None:
    shop.ok("conflicts", "resolve", disputed, "--take", take, *WHY)
    memory = branch.memory(disputed)
    assert (memory.title, memory.status) == (f"The pool retries the connect {times} times", "active")
    assert branch.paths("conflicts/") == []
    assert shop.ok("--json", "conflicts").lines == []
    assert disputed in shop.recalled("pool retries connect")
    assert shop.codes() == [] and shop.unbelieved() == []


def test_a_third_text_settles_it(shop: Shop, branch: Branch, disputed: str, tmp_path: Path) -> None:
    draft = tmp_path / "draft.yaml"
    draft.write_text('kind: fact\ntitle: "The pool retries as often as it is told"\nevidence:\n  - "commit:HEAD"\n')
    shop.ok("conflicts", "resolve", disputed, "--file", str(draft), *WHY)
    assert branch.memory(disputed).title == "The pool retries as often as it is told"
    assert branch.paths("conflicts/") == [] and shop.codes() == []


def test_what_cannot_be_is_said(shop: Shop, branch: Branch, disputed: str) -> None:
    tip = branch.tip()
    for arguments, code in (
        (("resolve", disputed, "--take", "ours"), 2),
        (("resolve", disputed, *WHY), 2),
        (("resolve", disputed, "--take", "abcdef00", *WHY), 4),
        (("resolve", shop.ids["idle"], "--take", "ours", *WHY), 4),
    ):
        assert shop.run(shop.repo, "conflicts", *arguments).code == code, arguments
    refused = shop.run(shop.repo, "conflicts", "resolve", disputed, "--take", "ours", *WHY, channel="agent")
    assert refused.code == 3 and "for a person at a terminal" in refused.err
    assert branch.tip() == tip
    kept = shop.ok("--json", "conflicts").lines[0]["kept"][0]["name"]
    shop.ok("conflicts", "resolve", disputed, "--take", kept, *WHY)


def test_of_two_with_one_key_one_stands(shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]) -> None:
    mine = shop.remember("mine", "Invoices are numbered by the year", *COMMIT, "--key", "invoice.number")
    yours = other.remember("theirs", "Bills carry a number of the month", *COMMIT, "--key", "invoice.number")
    merge()
    rivals = {line["id"]: line["rivals"] for line in shop.ok("--json", "conflicts", "list").lines}
    assert rivals == {mine: [yours], yours: [mine]}
    shop.ok("conflicts", "resolve", yours, "--take", "ours", *WHY)
    assert branch.memory(yours).status == "active" and branch.memory(mine).status == "superseded"
    assert shop.ok("--json", "key", "invoice.number").lines[0]["id"] == yours
    assert shop.ok("--json", "conflicts").lines == [] and shop.codes() == []


def test_what_was_edited_while_it_was_put_away_is_offered(
    shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]
) -> None:
    idle, tuesday = shop.ids["idle"], shop.ids["tuesday"]
    shop.ok("archive", idle, "--because", "solved")
    shop.ok("wrong", tuesday, "--because", "it is Thursday now")
    for identifier, title in ((idle, "Idle sockets are closed by the firewall"), (tuesday, "Deploys go out at night")):
        other.ok("edit", identifier, "--title", title, "--because", "seen")
    done = merge()
    assert set(done.conflicts) == {idle, tuesday} and done.disputes == ()
    assert {line["id"] for line in shop.ok("--json", "conflicts").lines} == {idle, tuesday}
    refused = shop.run(shop.repo, "conflicts", "resolve", tuesday, "--take", "theirs", *WHY)
    assert refused.code == 3 and "gitmem lift" in refused.err
    shop.ok("conflicts", "resolve", tuesday, "--take", "ours", *WHY)
    assert branch.memory(tuesday).status == "wrong"
    shop.ok("conflicts", "resolve", idle, "--take", "theirs", *WHY)
    assert (branch.memory(idle).status, branch.memory(idle).title) == (
        "active", "Idle sockets are closed by the firewall"
    )  # fmt: skip
    assert branch.paths("conflicts/") == [] and shop.codes() == [] and shop.unbelieved() == []


def test_a_decision_is_not_undone_by_a_clone_that_merged_too(
    shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]
) -> None:
    identifier = shop.ids["retries"]
    for clone, times in ((shop, 20), (other, 50)):
        clone.ok("edit", identifier, "--title", f"The pool retries the connect {times} times", "--because", "seen")
    here, there = merge(moves=False), merge(back=True, moves=False)
    branch.move(here.commit)
    Branch(other.repo).move(there.commit)
    shop.ok("conflicts", "resolve", identifier, "--take", "ours", *WHY)
    other.remember("theirs", "The warehouse counts stock at midnight", *COMMIT)
    merge()
    assert branch.memory(identifier).status == "active"
    assert branch.paths("conflicts/") == [] and shop.codes() == []


def test_no_text_is_kept_or_taken_away_by_hand(shop: Shop, branch: Branch, disputed: str) -> None:
    (path,) = branch.paths("conflicts/")
    good, raw = branch.tip(), branch.read(path)
    assert shop.codes() == []
    branch.commit({path: None})
    assert shop.codes() == ["conflict.removed"]
    branch.move(good)
    branch.commit({path.replace(disputed, shop.ids["idle"]): raw})
    assert shop.codes() == ["conflict.loose", "conflict.path"]
    branch.move(good)
    branch.commit({path: raw.replace(b"20 times", b"21 times")})
    assert shop.codes() == ["conflict.path"]
