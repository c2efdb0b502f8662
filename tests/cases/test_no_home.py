"""Every verb without a folder of the user's: it works, or says so with an exit code that means it."""

from __future__ import annotations

import os
from pathlib import Path

from tests.app.conftest import env, gitmem
from tests.app.steps import POOL, Run, put
from tests.installed import agent

__all__ = ["env", "gitmem"]
VERBS = (
    ("status",), ("list",), ("brief",), ("doctor",), ("sessions", "list"), ("verify",), ("recall", "pool"), ("trust",),
    ("capture",), ("install",), ("hooks",), ("audit", "verify"), ("review",), ("lessons",), ("directives", "list"),
    ("stale",),
    ("remember", "-k", "fact", "Retries stop after three", "-e", "file:src/pool.py:2"), ("consolidate",),
)  # fmt: skip


def test_no_verb_fails_with_an_exit_code_that_says_nothing(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0
    put(gitmem, repo, POOL)
    gone = ("HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    bare = {name: value for name, value in os.environ.items() if name not in gone}
    codes = {}
    for words in VERBS:
        done = agent(repo, *words, environ=bare)
        codes[words[0]] = done.code
        assert done.code in (0, 2, 3), (words, done.code, done.err)
        if done.code == 2:
            assert "there is no HOME" in done.err and "set HOME" in done.err, (words, done.err)
    assert codes["verify"] == codes["doctor"] == 0  # the control: what needs no folder works
