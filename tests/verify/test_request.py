"""A pull request is judged as it would be merged, and by the policy of what it is merged into."""

from __future__ import annotations

import shutil

from gitmem.model.frozen import replace
from tests.conftest import git
from tests.verify.forge import ID, Branch, Shop

WHY = ("--because", "looked at it")
CODE = "file:src/pool.py:4-5"


def faults(shop: Shop, target: str, head: str) -> list[str]:
    done = shop.run(shop.repo, "--json", "verify", "--merge-into", target, "--head", head)
    assert done.lines, done
    (report,) = done.lines
    assert done.code == (0 if report["clean"] else 3), done
    return sorted({fault["code"] for fault in report["faults"]})


def cut(shop: Shop, name: str) -> str:
    git(shop.repo, "branch", "-q", name, "gitmem/main")
    return name


def on_another_line(shop: Shop, base: str, *steps: tuple[str, ...]) -> str:
    """What somebody else's clone makes of `base` by these commands: the commit. gitmem/main is where it was after."""
    there = shop.repo.parent / f"clone-{base.replace('/', '-')}"
    git(shop.repo.parent, "clone", "-q", str(shop.repo), str(there))
    git(there, "branch", "-q", "gitmem/main", f"origin/{base}")
    shop.run(there, "trust", "--yes")
    for step in steps:
        done = shop.run(there, *step)
        assert done.code == 0, done
    git(shop.repo, "fetch", "-q", str(there), "gitmem/main")
    return git(shop.repo, "rev-parse", "FETCH_HEAD").strip()


def test_a_good_request_passes_and_says_what_was_judged(shop: Shop) -> None:
    head = on_another_line(shop, "gitmem/main", ("remember", "--kind", "fact", "Invoices are numbered", "-e", CODE))
    shop.remember("other", "The cache is warmed at night", "-e", CODE)
    assert faults(shop, "gitmem/main", head) == []
    before = git(shop.repo, "for-each-ref")
    shown = shop.ok("verify", "--merge-into", "gitmem/main", "--head", head, "--format", "markdown").out
    assert "verified" in shown and "Judged as merged into" in shown and git(shop.repo, "for-each-ref") == before
    assert faults(shop, head, "gitmem/main") == []


def test_two_clean_sides_that_do_not_go_together(shop: Shop) -> None:
    base = cut(shop, "base")
    head = on_another_line(shop, "base", ("remember", "--kind", "fact", "The queue holds ninety jobs", "-e", CODE))
    assert faults(shop, base, head) == []
    item = shop.run(shop.repo, "--json", "remember", "--kind", "fact", "The queue holds ninety jobs", "-e", CODE)
    shop.ok("wrong", item.lines[0]["id"], "--because", "it holds ten")
    assert faults(shop, "gitmem/main", head) == ["tombstoned"]


def test_one_key_on_both_sides(shop: Shop) -> None:
    cut(shop, "base")
    step = ("remember", "--kind", "fact", "Jobs time out in a minute", "-e", CODE, "--key", "job.limit")
    head = on_another_line(shop, "base", step)
    shop.remember("limit", "A job may run for an hour", "-e", CODE, "--key", "job.limit")
    assert faults(shop, "base", head) == [] and "key.taken" in faults(shop, "gitmem/main", head)


def test_a_request_is_judged_by_the_policy_that_it_is_merged_into(shop: Shop) -> None:
    base = cut(shop, "base")
    shop.ok("policy", "set", "review", "forge", *WHY)
    shop.run(shop.repo, "remember", "--kind", "fact", "Logs rotate at midnight", "-e", CODE, channel="agent")
    done = shop.run(shop.repo, "--json", "propose", "--name", "sly", channel="agent")
    assert done.code == 0, done
    # Step by step each commit is by the rules: the first loosens the policy, the second uses it.
    assert shop.codes("--base", base, "--head", "gitmem/propose/sly") == []
    assert faults(shop, base, "gitmem/propose/sly") == ["channel.authority"]
    assert faults(shop, "gitmem/main", "gitmem/propose/sly") == []  # the control: where that policy stands already
    report = shop.run(shop.repo, "--json", "verify", "--merge-into", base, "--head", "gitmem/main").lines[0]
    assert report["clean"] and [note["code"] for note in report["notes"]] == ["policy.changed"]


def test_what_git_cannot_merge_is_said(shop: Shop) -> None:
    base = cut(shop, "base")
    head = on_another_line(shop, "base", ("edit", shop.ids["retries"], "--body", "one way", *WHY))
    shop.ok("edit", shop.ids["retries"], "--body", "another way", *WHY)
    assert faults(shop, base, head) == [] and faults(shop, "gitmem/main", head) == ["merge.conflict"]


def test_a_branch_of_code_is_no_request(shop: Shop) -> None:
    assert faults(shop, "gitmem/main", "main") == ["history.root"]
    assert faults(shop, "main", "gitmem/main") == ["history.root"]
    assert faults(shop, "gitmem/main", "gitmem/main") == []


def test_names_that_contradict_each_other_are_wrong_usage(shop: Shop) -> None:
    for words in (["--base", "gitmem/main"], ["--all"]):
        assert shop.run(shop.repo, "verify", "--merge-into", "gitmem/main", *words).code == 2
    assert shop.run(shop.repo, "verify", "--merge-into", "nowhere").code == 4


def test_a_hostile_tree_is_named_and_not_merged(shop: Shop, branch: Branch) -> None:
    base = branch.tip()
    link = branch.commit_tree(branch.graft("memories", "120000", "x.yaml", branch.blob(b"/etc/passwd")), base)
    large = branch.commit_tree(branch.tree_with({"memories/0/1/0123456789ab.yaml": b"x" * 200_000}), base)
    for head in (link, large):
        found = faults(shop, base, head)
        assert found and all(code.startswith("tree.") for code in found), found
    record = replace(branch.memory(shop.ids["retries"]), id=ID, title="Sockets are blue", key=None)
    good = branch.commit_tree(branch.tree_with(branch.with_event(branch.event("create", record), record)), base)
    assert faults(shop, base, good) == []


def test_an_index_that_is_behind_or_gone_changes_no_answer(shop: Shop) -> None:
    cut(shop, "base")
    said = {
        "seen": "The cache is warmed at four in the night",
        "since": "Invoices are numbered by the accounting service",
        "wrong": "The queue holds ninety jobs at once",
        "new": "Sockets are painted blue by the painter",
    }
    steps = [("remember", "--kind", "fact", said[name], "-e", CODE) for name in said]
    head = on_another_line(shop, "base", *steps)
    shop.remember("seen", said["seen"] + " now", "-e", CODE)
    shop.ok("list")  # the index has seen all so far, and nothing of what follows
    shop.remember("since", said["since"] + " now", "-e", CODE, "--key", "invoice.numbers")
    shop.remember("wrong", said["wrong"], "-e", CODE)
    shop.ok("wrong", shop.ids["wrong"], "--because", "it holds ten")

    def found() -> list[tuple[str, str]]:
        done = shop.run(shop.repo, "--json", "verify", "--merge-into", "gitmem/main", "--head", head)
        return sorted({(fault["code"], fault["path"]) for fault in done.lines[0]["faults"]})

    behind = found()
    assert [code for code, _ in behind] == ["duplicate", "duplicate", "tombstoned"]
    assert len({path for _, path in behind}) == 3
    shutil.rmtree(shop.repo / ".git/gitmem/index")
    assert found() == behind
    shop.ok("reindex")
    assert found() == behind
