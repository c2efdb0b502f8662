"""What `gitmem verify` says, in text, JSON and Markdown, and with which exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gitmem.app.verify import Report, markdown
from gitmem.app.verify_fault import Fault
from gitmem.model.layout import memory_path
from tests.app.conftest import Ran
from tests.conftest import git
from tests.verify.forge import MAIN, Branch, Shop


def test_a_clean_branch_ends_with_zero_in_every_form(shop: Shop) -> None:
    assert shop.run(shop.repo, "verify", "--all").out == "clean: 5 commits, 3 records\n"
    (data,) = shop.ok("--json", "verify", "--all").lines
    assert (data["clean"], data["commits"], data["records"], data["faults"], data["notes"]) == (True, 5, 3, [], [])
    assert json.loads(shop.ok("verify", "--all", "--format", "json").out) == data
    said = shop.ok("verify", "--all", "--format", "markdown").out
    assert said.startswith("✅ **gitmem: verified**") and "|" not in said


def test_a_faulty_branch_ends_with_three_in_every_form(shop: Shop, branch: Branch) -> None:
    good = branch.tip()
    path = memory_path(shop.ids["retries"])
    bad = branch.commit({path: branch.read(path).replace(b"three", b"four")})
    text = shop.run(shop.repo, "verify", "--all")
    assert text.code == 3 and f"{bad[:10]}  event.missing  {path}: " in text.out and "1 fault:" in text.out
    (data,) = shop.run(shop.repo, "--json", "verify", "--base", good).lines
    assert (data["base"], data["head"], data["commits"], data["clean"]) == (good, bad, 1, False)
    (fault,) = data["faults"]
    assert set(fault) == {"code", "message", "commit", "path", "reach"}
    assert (fault["code"], fault["commit"], fault["path"], fault["reach"]) == ("event.missing", bad, path, "record")
    report = shop.run(shop.repo, "verify", "--base", good, "--head", bad, "--format", "markdown")
    assert report.code == 3 and f"| `{bad[:12]}` | `{path}` | `event.missing` |" in report.out
    assert shop.run(shop.repo, "verify", "--base", bad).code == 0


def test_ranges_that_are_none_say_what_to_do(shop: Shop, branch: Branch, repo: Path) -> None:
    assert shop.run(shop.repo, "verify").out == shop.run(shop.repo, "verify", "--all").out
    assert shop.run(shop.repo, "verify", "--all", "--head", "HEAD").code == 2
    for words in (["--base", "nowhere"], ["--head", "nowhere"], ["--base", "--output=x"], ["--head", ""]):
        done = shop.run(shop.repo, "verify", *words)
        assert done.code in (2, 4), (words, done)
        assert "→" in done.err
    rewound = shop.codes("--base", branch.tip(), "--head", f"{branch.tip()}~")
    assert rewound == ["history.rewritten"]
    assert shop.codes("--base", f"{MAIN}~", "--head", MAIN) == []
    assert shop.codes("--base", "main", "--head", MAIN) == ["history.rewritten"]


def test_a_report_cannot_be_broken_out_of() -> None:
    evil = "x`|<script>alert(1)</script>](javascript:x) @team #1 ![i](http://e) \x1b[31m\u202e\n\n# Verified ✅ **ok**"
    fault = Fault("record.shape", evil, "a" * 40, evil)
    said = markdown(Report(None, "b" * 40, 1, 1, (fault,), (fault,)))
    rows = [line for line in said.splitlines() if line.startswith("| `")]
    assert len(rows) == 2
    for row in rows:
        assert row.count("|") == 5
        message = row.split("|")[4]
        for mark in "<>`[]()@*!#\\_":
            assert mark not in message.replace("&#", "")
        assert row.count("`") == 6
    assert "# Verified" not in said.splitlines()
    assert not any(char < " " and char != "\n" for char in said) and "\u202e" not in said
    plain = Fault("record.shape", "plain words", "a" * 40, "memories/a/b/x.yaml")
    assert "| plain words |" in markdown(Report(None, "b" * 40, 1, 1, (plain,)))
    many = markdown(Report(None, "b" * 40, 1, 1, (plain,) * 500))
    assert "300 more" in many and len(many.splitlines()) < 220


def test_hostile_titles_and_paths_stay_in_their_place(shop: Shop, branch: Branch) -> None:
    old = branch.memory(shop.ids["retries"])
    title = "a | b `c` <img src=x onerror=alert(1)> [d](http://e.invalid)"
    new = replace(old, id="0123456789ab", key=None, title=title, kind="solution")
    branch.commit(branch.with_event(branch.event("create", new), new))
    for form in ("text", "markdown"):
        done = shop.run(shop.repo, "verify", "--all", "--format", form)
        assert done.code == 3 and "<img" not in done.out and "problem.missing" in done.out


def test_what_a_shallow_clone_lacks_is_named(shop: Shop, gitmem: Callable[..., Ran]) -> None:
    git(shop.repo, "config", "uploadpack.allowAnySHA1InWant", "true")
    where = shop.repo.parent / "shallow"
    git(shop.repo.parent, "clone", "-q", "--depth=1", "-b", "gitmem/main", f"file://{shop.repo}", str(where))
    git(where, "switch", "-q", "--detach")
    shallow = Shop(where, gitmem)
    assert shallow.codes() == ["history.missing"]
    said = gitmem(where, "verify", "--all")
    assert said.code == 3 and "git fetch --unshallow" in said.out
    listed = gitmem(where, "list")
    assert listed.code == 3 and "git fetch --unshallow" in listed.err
    git(where, "fetch", "-q", "--unshallow")
    git(where, "fetch", "-q", "origin", "main")
    assert shallow.codes() == []
    gitmem(where, "reindex", "--forget")
    shallow.ok("trust", "--yes")
    assert shallow.listed() == set(shop.ids.values())
