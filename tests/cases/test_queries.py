"""Words that look like query language, and words that were meant to kill a parser: an answer within a second."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cases.world import environ, records, remember
from tests.installed import PROGRAM, agent, person

TEXTS = {
    "status": "status: done means deployed and not merged",
    "quote": "don't use agents for release notes",
    "address": "the manual lives at https://wiki.example.org/x?a=1&b=2",
    "windows": "build it in C:\\work\\demo",
    "sql": "NOT NULL and OR clauses: title: is a column",
    "call": "call foo(bar[0]) before the exit",
    "open": 'the "timeout error is a proxy problem',
}
ASKED = {
    "status: done": "status", "don't use agents": "quote", "https://wiki.example.org/x?a=1": "address",
    "C:\\work\\demo": "windows", "title: is": "sql", "clauses OR": "sql", "NOT NULL": "sql", "foo(bar[0])": "call",
    "foo(bar": "call", "bar)": "call", 'timeout "error': "open", "deploy [now": "status", "GB/s AND": "", "{x": "",
    "a && b || c": "", "\\": "", "-": "", "*": "", "~": "", '"': "", "''": "",
}  # fmt: skip


@pytest.fixture
def filled(repo: Path) -> Path:
    assert person(repo, "init").code == 0
    drafts = [{"kind": "fact", "title": text, "evidence": [f"human:{text}"]} for text in TEXTS.values()]
    (repo / "drafts.json").write_text(json.dumps(drafts))
    done = person(repo, "remember", "--file", "drafts.json")
    assert done.code == 0, done.err
    return repo


def test_no_text_is_query_language(filled: Path) -> None:
    for words, wanted in ASKED.items():
        answer = agent(filled, "recall", "--json", "--", words)
        assert answer.code == 0 and "Traceback" not in answer.err and "yntax" not in answer.err, (words, answer)
        if wanted:
            assert TEXTS[wanted] in [record["title"] for record in records(answer)], words


HOSTILE: dict[str, bytes] = {
    "20,000 open": b"(" * 20_000,
    "5,000 deep": b"(a " * 5_000 + b")" * 5_000,
    "boost": b"a:(^",
    "20,000 terms": b"pool " * 20_000,
    "one long word": b"a" * 120_000,
    "3,000 not": b"NOT " * 3_000 + b"pool",
    "a surrogate": b"pool \xed\xa0\xbd",
    "not UTF-8": b"pool \xff\xfe",
    "a stack trace": b"Traceback (most recent call last):\n  File \"x.py\", line 1\n" * 2_000,
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_no_query_kills_the_process(filled: Path, name: str) -> None:
    assert remember(filled, "The pool is the control", "human:the control").code == 0
    asked = [bytes(PROGRAM), b"recall", b"--", HOSTILE[name]]
    done = subprocess.run(asked, cwd=filled, env=environ(), capture_output=True, timeout=60)
    assert done.returncode == 0 and b"Traceback" not in done.stderr, done
    assert "The pool is the control" in agent(filled, "recall", "pool control").out


@pytest.mark.parametrize("words", ["", "   "])
def test_no_words_are_no_question(filled: Path, words: str) -> None:
    answer = agent(filled, "recall", words)
    assert answer.code == 2 and "recall what?" in answer.err
