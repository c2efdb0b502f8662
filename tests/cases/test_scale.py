"""Ten thousand records through the door for bulk: all there, few objects, small writes, nothing read at the start."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from gitmem.app import claim_set
from gitmem.app.facts import claim_of
from gitmem.model.nouns import Memory, Scope
from tests.cases.world import QUOTE, environ, records, remember
from tests.conftest import git
from tests.installed import PROGRAM, agent, person

NOUNS = ("pool", "cache", "index", "worker", "queue", "token", "schema", "hook", "branch", "socket")
VERBS = ("opens", "drops", "retries", "copies", "signs", "rotates", "delays", "merges", "splits", "counts")
COUNT = int(os.environ.get("GITMEM_CASE_RECORDS", "2000"))


def notes(repo: Path, count: int) -> Path:
    """JSON lines as other tools export them, each citing a commit of its own: the repository gets so many."""
    titles = []
    for number in range(count):
        words = [(NOUNS, VERBS)[place % 2][number // 10**place % 10] for place in range(4)]
        titles.append(f"Module {number} {' '.join(words)} after {number * 7919 % 100_003} steps")
    stream = []
    for number, title in enumerate(titles):
        stream.append("commit refs/heads/main\n")
        stream.append(f"committer C <c@example.invalid> {1_700_000_000 + number} +0000\n")
        stream.append(f"data {len(title)}\n{title}\n")
        stream.append("" if number else "from refs/heads/main^0\n")
    subprocess.run(["git", "fast-import", "--quiet"], cwd=repo, input="".join(stream), text=True, check=True)
    commits = git(repo, "rev-list", "--reverse", f"--max-count={count}", "main").split()
    path = repo.parent / "memories.jsonl"
    rows = (
        {"id": f"m{number}", "title": title, "body": "", "date": "2026-03-01", "commit": commit}
        for number, (title, commit) in enumerate(zip(titles, commits, strict=True))
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_bulk_import_is_one_pack_and_later_writes_stay_small(repo: Path) -> None:
    assert person(repo, "init").code == 0
    exported = notes(repo, COUNT)
    known = set((repo / ".git/objects").rglob("*"))
    done = person(repo, "import", str(exported), "--accept", "--json")
    assert done.code == 0, done.err
    listed = git(repo, "ls-tree", "-r", "--name-only", "gitmem/main", "memories").split()
    assert len(listed) == COUNT
    new = set((repo / ".git/objects").rglob("*")) - known
    assert sum(path.suffix == ".pack" for path in new) == 1
    assert sum(path.is_file() for path in new) < 50
    before = set((repo / ".git/objects").rglob("*"))
    assert remember(repo, "One more that is written by hand", f"human:{QUOTE} by hand").code == 0
    added = [path for path in set((repo / ".git/objects").rglob("*")) - before if path.is_file()]
    assert len(added) < 16 and sum(path.stat().st_size for path in added) < 20_000
    number = COUNT // 2
    found = records(agent(repo, "recall", f"module {number} steps {number * 7919 % 100_003}", "--json", "-n", "3"))
    assert found and found[0]["title"].startswith(f"Module {number} ")
    assert agent(repo, "verify", "--base", "gitmem/main^", "--head", "gitmem/main").code == 0


HEAVY = ("pydantic", "pygit2", "ruamel", "ryaml")


def test_the_start_reads_no_sessions_and_loads_no_library(repo: Path) -> None:
    """A write and a listing load what they need; a home full of transcripts costs them nothing."""
    assert person(repo, "init").code == 0
    sessions = Path(os.environ["HOME"], ".claude/projects/-w-demo")
    sessions.mkdir(parents=True)
    trap = sessions / "00000000.jsonl"
    os.mkfifo(trap)  # whoever opened it would hang
    for line in (["list"], ["remember", "-k", "fact", "Start is quick", "-e", "file:src/pool.py:2"], ["doctor"]):
        done = subprocess.run(
            [str(PROGRAM), *line], cwd=repo, env=environ(PYTHONPROFILEIMPORTTIME="1"), capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done
        loaded = {
            text.rpartition("|")[2].strip() for text in done.stderr.splitlines() if text.startswith("import time")
        }
        assert "gitmem.errors" in loaded
        assert line[0] == "doctor" or not loaded & set(HEAVY), (line, loaded & set(HEAVY))


def test_records_made_of_few_words_are_each_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all texts share their words, every record is near to every other but for its numbers."""
    looked = 0
    really = claim_set.hard_tokens

    def counted(text: str) -> frozenset[str]:
        nonlocal looked
        looked += 1
        return really(text)

    monkeypatch.setattr(claim_set, "hard_tokens", counted)
    known = claim_set.ClaimSet()
    for number in range(300):
        title = f"pool cache index worker queue token schema hook after {1000 + number} steps"
        memory = Memory(f"{number:012}", "fact", title, "active", Scope("shop"), "human")
        assert list(known.candidates(memory)) == []
        known.add(claim_of(memory, "main"))
    again = Memory("z" * 12, "fact", "after 1007 steps: pool cache index worker queue token schema hook", "active",
                   Scope("shop"), "human")  # fmt: skip
    assert [claim.id for claim in known.candidates(again)] == [f"{7:012}"]
    assert looked < 3 * 300
