"""Who approved a request, by the forge's word: what counts, what does not, and by whose policy it is asked for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.app.test_policies import key_pair
from tests.conftest import git
from tests.verify.forge import Shop

WHY = ("--because", "we agreed on it")
OLD = "1" * 40


def say(shop: Shop, head: str, *said: tuple[str, str, str], author: str = "CARL") -> str:
    """The path of a file of approvals: (who, state, commit) each, the oldest first."""
    told = [{"by": by, "state": state, "commit": commit} for by, state, commit in said]
    file = shop.repo.parent / "approvals.json"
    file.write_text(json.dumps({"format": 1, "head": head, "author": author, "approvals": told}))
    return str(file)


def check(shop: Shop, target: str, head: str, *more: str) -> tuple[list[str], Any]:
    """The messages of approvals.missing, and the report."""
    done = shop.run(shop.repo, "--json", "verify", "--merge-into", target, "--head", head, *more)
    assert done.lines, done
    (report,) = done.lines
    assert done.code == (0 if report["clean"] else 3), done
    assert {fault["code"] for fault in report["faults"]} <= {"approvals.missing"}, report
    return [fault["message"] for fault in report["faults"]], report


def request(shop: Shop, asked: int) -> tuple[str, str]:
    """A base whose policy asks for so many approvals, and the commit of a good request for it."""
    shop.ok("policy", "set", "approvals", str(asked), *WHY)
    git(shop.repo, "branch", "-q", "base", "gitmem/main")
    shop.remember("said", "Invoices are numbered by the accounting service", "-e", "file:src/pool.py:2")
    return "base", git(shop.repo, "rev-parse", "gitmem/main").strip()


def test_what_counts_is_the_last_word_of_another_person_on_the_commit_that_is_checked(shop: Shop) -> None:
    shop.ok("policy", "signer", "add", "robo", f"{key_pair(shop.repo.parent, 'robo')}.pub", "--role", "agent", *WHY)
    base, head = request(shop, 1)
    (said,), _ = check(shop, base, head)
    assert "asks for 1 approval and none were given" in said and "--approvals FILE" in said
    good = ("ann", "approved", head)
    for why, *words in (
        ("0 of 1 count",),
        ("carl is the author of the request", ("Carl", "approved", head)),
        (f"ann approved {OLD[:12]}, and {head[:12]} is checked", ("ann", "approved", OLD)),
        ("ann was dismissed", good, ("ann", "dismissed", head)),
        ("ann asked for changes", good, ("ANN", "changes_requested", head)),
        ("ann only commented", ("ann", "commented", head)),
        ("robo is a program; tool[bot] is a program", ("tool[bot]", "approved", head), ("Robo", "approved", head)),
    ):
        (said,), report = check(shop, base, head, "--approvals", say(shop, head, *words))
        assert "0 of 1 count" in said and why.casefold() in said.casefold(), said
        assert report["approvals"] == {"asked": 1, "by": []}
        # The control: the same words and one that counts, the last of a person among them.
        fixed = say(shop, head, *words, ("bob", "approved", head))
        assert check(shop, base, head, "--approvals", fixed)[1]["approvals"]["by"] == ["bob"]
    back = say(shop, head, ("ann", "changes_requested", head), good, ("ann", "commented", head))
    assert check(shop, base, head, "--approvals", back)[0] == []
    (said,), _ = check(shop, base, head, "--approvals", say(shop, OLD, good))
    assert f"stood at {OLD[:12]}" in said
    # Readers and the whole branch ask the forge for nothing.
    assert shop.codes("--all") == [] and shop.codes("--base", base, "--head", head) == []


def test_two_people_are_two_and_a_request_does_not_lower_what_its_target_asks_for(shop: Shop) -> None:
    base, head = request(shop, 2)
    ann, bob = ("ann_b", "approved", head), ("bob", "approved", head)
    (said,), _ = check(shop, base, head, "--approvals", say(shop, head, ann, ("Ann_B", "approved", head)))
    assert "asks for 2 approvals and 1 of 2 count (Ann_B)" in said
    file = say(shop, head, ann, bob)
    assert check(shop, base, head, "--approvals", file)[0] == []
    words = ("verify", "--merge-into", base, "--head", head, "--approvals", file, "--format", "markdown")
    assert "\nApproved by `ann_b`, `bob`: 2 of 2 that the policy asks for.\n" in shop.ok(*words).out

    shop.ok("policy", "set", "approvals", "0", *WHY)
    sly = git(shop.repo, "rev-parse", "gitmem/main").strip()
    file = say(shop, sly, ("ann", "approved", sly))
    (said,), report = check(shop, base, sly, "--approvals", file)
    assert "1 of 2 count" in said and [note["code"] for note in report["notes"]] == ["policy.changed"]
    shop.remember("later", "Sockets are painted blue by the painter", "-e", "file:src/pool.py:2")
    assert check(shop, sly, "gitmem/main")[0] == []  # the control: where it stands, nobody is asked for


def test_the_setting_is_shown_explained_and_checked(shop: Shop) -> None:
    assert shop.ok("--json", "policy", "show").lines[0]["approvals"] == 0
    before = git(shop.repo, "show", "gitmem/main:gitmem.yaml")
    for value in ("-1", "21", "many", "1.5", "\u0661"):
        done = shop.run(shop.repo, "policy", "set", *WHY, "--", "approvals", value)
        assert done.code == 2 and "a number of people from 0 to 20" in done.err, done
    assert shop.run(shop.repo, "policy", "set", "approvals", "0", *WHY, channel="agent").code == 3
    assert shop.ok("--json", "policy", "set", "approvals", "2", *WHY).lines[0]["approvals"] == 2
    assert "approvals: 2\n" in git(shop.repo, "show", "gitmem/main:gitmem.yaml")
    assert "the approval of 2 people" in shop.ok("policy", "explain").out
    shop.ok("policy", "set", "approvals", "0", *WHY)
    assert git(shop.repo, "show", "gitmem/main:gitmem.yaml") == before


def test_a_hostile_file_is_wrong_usage_and_passes_nothing(shop: Shop) -> None:
    base, head = request(shop, 1)
    good = json.loads(Path(say(shop, head, ("ann", "approved", head))).read_text())
    one = good["approvals"][0]
    file = shop.repo.parent / "hostile.json"
    words = ("verify", "--merge-into", base, "--head", head, "--approvals", str(file))

    def with_one(**change: Any) -> str:
        return json.dumps({**good, "approvals": [{**one, **change}]})

    for text in (
        "", "[]", "null", "{", "[" * 100_000, '{"format": NaN}', json.dumps({**good, "format": 2}),
        json.dumps({**good, "format": True}), json.dumps({**good, "approvals": {"0": one}}),
        json.dumps({**good, "more": 1}), json.dumps({**good, "head": "HEAD"}), json.dumps({**good, "author": None}),
        '{"head": "x", ' + json.dumps(good)[1:], with_one(by="ann\x1b[2J"), with_one(by="a|<img src=x>"),
        with_one(by="\u0430nn"), with_one(by=["ann"]), with_one(by=""), with_one(by="ann\n"), with_one(by="\ud800"),
        with_one(state="APPROVED"), with_one(commit=head[:12]), with_one(commit=7), with_one(id=1),
        json.dumps(good) + " " * 2_000_000,
    ):  # fmt: skip
        file.write_text(text)
        done = shop.run(shop.repo, *words)
        assert done.code == 2 and "docs/review.md" in done.err, (text[:80], done)
        assert "\x1b" not in done.err and len(done.err) < 1000 and "Traceback" not in done.err
    file.write_bytes(b"\xff\xfe")
    assert shop.run(shop.repo, *words).code == 2
    file.unlink()
    assert shop.run(shop.repo, *words).code == 2
    os.mkfifo(file)
    assert "no plain file" in shop.run(shop.repo, *words).err
    file.unlink()
    file.write_text(json.dumps(good))
    shop.ok(*words)  # the control
    assert shop.run(shop.repo, "verify", "--base", base, "--approvals", str(file)).code == 2
