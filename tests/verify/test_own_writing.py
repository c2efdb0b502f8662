"""Whatever gitmem writes verifies clean: here, commit by commit, and in another clone that has no inbox."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.app.conftest import Ran
from tests.conftest import git
from tests.verify.forge import MAIN, Shop


def _proposed(shop: Shop, title: str, *words: str, verb: tuple[str, ...] = ("remember", "--kind", "fact")) -> str:
    done = shop.ok("--json", *verb, title, *words, "--evidence", "commit:HEAD", channel="agent")
    return str(done.lines[0]["id"])


def test_every_verb_writes_what_every_clone_believes(shop: Shop, gitmem: Callable[..., Ran], tmp_path: Path) -> None:
    ids = shop.ids
    because = ("--because", "somebody said so")
    edited = _proposed(shop, "Invoices are numbered by the year")
    shop.ok("edit", edited, "--title", "Invoices are numbered by the month", *because)
    shop.ok("accept", edited, *because)
    plain = _proposed(shop, "The warehouse counts stock at midnight", "--tag", "stock")
    shop.ok("accept", plain)
    newer = _proposed(shop, "The warehouse counts stock at dawn", *because, verb=("supersede", plain))
    shop.ok("accept", newer, *because)
    shop.ok("supersede", newer, "The warehouse counts stock at noon", *because, "--evidence", "commit:HEAD")
    rejected = _proposed(shop, "Backups are taken at four at night")
    shop.ok("reject", rejected, *because)
    shop.ok("lift", rejected, *because)
    shop.ok("wrong", ids["tuesday"], *because)
    shop.ok("lift", ids["tuesday"], *because)
    shop.ok("dispute", ids["tuesday"], *because)
    shop.ok("restore", ids["tuesday"], *because)
    shop.ok("edit", ids["retries"], "--title", "The pool retries the connect four times", *because)
    shop.ok("retract", ids["retries"], *because)
    solved = ("--kind", "solution", "--solves", ids["idle"], "--evidence", f"memory:{ids['idle']}")
    shop.remember("solved", "Sockets are kept alive with a ping", *solved, "--evidence", "commit:HEAD")
    shop.ok("archive", ids["solved"], *because)
    shop.ok("restore", ids["solved"], *because)
    shop.ok("policy", "set", "evidence.fact", "file,commit", *because)
    (shop.repo / "CLAUDE.md").write_text("# Rules\n\n- Run make lint before pushing.\n- Migrations are reversible.\n")
    git(shop.repo, "add", ".")
    git(shop.repo, "commit", "-q", "-m", "rules")
    shop.ok("import", "--accept")
    assert shop.codes() == []
    for commit in git(shop.repo, "rev-list", "--reverse", MAIN).split()[1:]:
        assert shop.codes("--base", f"{commit}~", "--head", commit) == []
    where = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(shop.repo), str(where))
    git(where, "fetch", "-q", "origin", "gitmem/main:gitmem/main")
    clone = Shop(where, gitmem)
    assert clone.codes() == []
    clone.ok("trust", "--yes")
    assert clone.listed() == shop.listed() >= {edited, ids["tuesday"], ids["idle"], ids["solved"]}
    assert clone.unbelieved() == []
