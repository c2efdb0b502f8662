"""What people ask in many scripts and in code, asked of the installed command: found, or said not to be known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.installed import agent, person
from tests.recall.test_cases import CODE, SEARCH_CASES, SHARED, UNICODE, WORDS, rows

Question = tuple[str, list[str], list[str]]  # what is asked, what must be in the answer, what must not
OWN: dict[str, tuple[dict[str, str], list[Question]]] = {
    "unicode": (
        {name: text for name, text in UNICODE.items() if name != "zw"},
        [
            ("令牌", ["zh"], ["other", "en"]), ("重试三次", ["zh"], ["other"]), ("OAuth", ["zh"], ["en"]),
            ("Caf\u00e9", ["nfd"], ["en"]), ("cafe", ["nfd"], ["en"]), ("CAFE\u0301", ["nfd"], ["en"]),
            ("הגדרות", ["he"], ["en"]), ("数据库备份", ["other"], ["zh"]), ("未知的词", [], ["zh", "other"]),
        ],
    ),
    "code": (
        CODE,
        [
            ("file handle", ["camel"], ["snake"]), ("JSON body", ["acro"], ["camel"]), ("numpy 1.26.4", ["new"], []),
            ("retry limit", ["snake", "scream"], ["camel"]), ("@shop/tool-box", ["scoped"], ["kebab"]),
            ("__init__.py", ["path"], ["kebab"]), ("--no-cov", ["flag"], ["noise", "forced"]),
            ("-q", ["flag"], ["noise"]), ("--retries=2", ["flag"], ["snake"]),
            ("--force-if-includes", ["forced"], ["noise"]),
        ],
    ),
    "words": (
        WORDS,
        [
            ("result: green", ["colon"], []), ("don't retry", ["apostrophe"], []), ("title: are", ["sql"], []),
            ("load(items[", ["brackets"], []), ('socket "closed', ["quote"], []), (r"D:\data\cache", ["windows"], []),
            ("{x", [], ["sql"]), ("zebra AND", [], list(WORDS)),
        ],
    ),
}  # fmt: skip


REFUSED = {"text.characters", "duplicate"}  # what a store has one of, and what it never holds


def remembered(where: Path, texts: dict[str, str]) -> set[str]:
    """Put the texts in, each with its name as a tag; the names of those that the gate let in."""
    assert person(where, "init").code == 0
    drafts = where / "drafts.json"
    known = set()
    for name, text in texts.items():
        drafts.write_text(
            json.dumps([{"kind": "fact", "title": text, "evidence": ["file:README.md:1"], "tags": [name]}])
        )
        done = person(where, "remember", "--file", "drafts.json", "--json")
        if done.code == 0:
            known.add(name)
        else:
            assert {reason["code"] for reason in json.loads(done.err)["error"]["reasons"]} <= REFUSED, done
    return known


def asked(where: Path, question: Question, known: set[str]) -> None:
    words, must, must_not = question
    ran = agent(where, "recall", "--json", "--limit", "20", "--", words)
    assert ran.code == 0, (words, ran)
    found = {line["tags"][0] for line in ran.lines if "tags" in line}
    assert set(must) & known <= found, (words, found)
    assert not set(must_not) & found, (words, found)
    assert found or ran.lines[-1]["summary"]["abstained"], words


@pytest.mark.parametrize("case", OWN)
def test_what_is_asked_is_found_by_the_command(repo: Path, case: str) -> None:
    texts, questions = OWN[case]
    known = remembered(repo, texts)
    assert known >= {name for _, must, _ in questions for name in must}
    for question in questions:
        asked(repo, question, known)


if SHARED.is_dir():

    @pytest.mark.parametrize("case", [case for case in SEARCH_CASES if case != "B098"])  # that one is of many projects
    def test_a_shared_case_by_the_command(repo: Path, case: str) -> None:
        memories, queries = rows(case)
        known = remembered(repo, {row["id"]: row["text"] for row in memories})
        assert len(known) > 1
        for row in queries:
            asked(repo, (row["q"], row["must"], row["must_not"]), known)
