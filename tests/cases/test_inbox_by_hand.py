"""The inbox is a ref that any program here can write: what lies there is let in by nobody, whatever it says."""

from __future__ import annotations

from pathlib import Path

from gitmem.model.layout import INBOX, memory_path
from tests.app.conftest import env, gitmem
from tests.app.steps import POOL, RETRY, Run, proposed, put
from tests.conftest import git
from tests.verify.forge import Branch

__all__ = ["env", "gitmem"]


def test_a_candidate_that_calls_itself_active_is_told_to_nobody(repo: Path, gitmem: Run) -> None:
    # Found by an attack: `show`, and the tool of that name, told agents its words.
    assert gitmem(repo, "init").code == 0
    let_in, forged = put(gitmem, repo, POOL), proposed(gitmem, repo, RETRY)
    assert RETRY in gitmem(repo, "show", forged).out and "candidate" in gitmem(repo, "show", forged).out
    branch, path = Branch(repo), memory_path(forged)
    raw = branch.read(path, INBOX).replace(b"status: candidate", b"status: active")
    tree = branch.tree_with({path: raw}, base=INBOX)
    git(repo, "update-ref", INBOX, branch.commit_tree(tree, git(repo, "rev-parse", INBOX).strip()))
    for words in (("list",), ("list", "--inbox"), ("recall", "retries"), ("brief",), ("review",), ("context", "src")):
        assert RETRY not in gitmem(repo, *words, channel="agent").out
    assert gitmem(repo, "show", forged).code == 4 and POOL in gitmem(repo, "show", let_in).out
    (report,) = gitmem(repo, "verify", "--json").lines
    assert [(fault["code"], fault["path"]) for fault in report["faults"]] == [("inbox.status", path)]
    assert gitmem(repo, "reindex").code == 0 and RETRY not in gitmem(repo, "recall", "retries").out
