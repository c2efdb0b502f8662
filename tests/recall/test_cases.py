"""What people ask, and what has to be found: our own small cases, and the shared collection where it is there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitmem.model.nouns import Scope
from gitmem.recall.query import Query
from tests.recall.builders import TEAM, ask, document, filled, memory, of_texts

SHARED = Path(__file__).resolve().parents[2].parent / "shared/cases/bugs"
SEARCH_CASES = ("B001", "B003", "B005", "B007", "B008", "B009", "B011", "B098")

UNICODE = {
    "zh": "登录服务使用OAuth令牌，失败时重试三次",
    "other": "数据库备份每天运行",
    "nfc": "Die Über\u00adsicht im Caf\u00e9",
    "nfd": "Die U\u0308bersicht im Cafe\u0301",
    "he": "הַגְדָּרוֹת שרת",
    "zw": "raise pool\u200b_limit in the con\ufefffig",
    "en": "token retry is in the gateway",
}
CODE = {
    "camel": "openFileHandle throws BrokenPipeError",
    "acro": "readJSONBody trims spaces",
    "snake": "worker_retry_limit is 4",
    "scream": "WORKER_RETRY_LIMIT is read once",
    "kebab": "red-panda-runner needs node 22",
    "part": "the runner of the red team",
    "new": "pin numpy 1.26.4",
    "old": "numpy 1.2 breaks casts",
    "scoped": "import @shop/tool-box",
    "path": "edit lib/net/__init__.py only",
    "flag": "run tests with --no-cov -q --retries=2",
    "forced": "never push --force, but --force-if-includes",
    "noise": "handle the file with care; no cov here, no force",
}
WORDS = {
    "colon": "result: green means built, not shipped",
    "apostrophe": "don't retry payments",
    "sql": "IS NULL and OR in title: are words",
    "brackets": "call load(items[0]) first",
    "quote": 'the "socket closed line is harmless',
    "windows": "cache in D:\\data\\cache",
}


@pytest.mark.parametrize(
    ("texts", "query", "must", "must_not"),
    [
        (UNICODE, "令牌", ["zh"], ["other", "en"]),
        (UNICODE, "重试三次", ["zh"], ["other"]),
        (UNICODE, "OAuth", ["zh"], ["en"]),
        (UNICODE, "Caf\u00e9", ["nfc", "nfd"], ["en"]),
        (UNICODE, "cafe", ["nfc", "nfd"], ["en"]),
        (UNICODE, "U\u0308bersicht", ["nfc", "nfd"], ["en"]),
        (UNICODE, "הגדרות", ["he"], ["en"]),
        (UNICODE, "pool_limit", ["zw"], ["en"]),
        (UNICODE, "config", ["zw"], ["en"]),
        (CODE, "file handle", ["camel"], ["snake"]),
        (CODE, "JSON body", ["acro"], ["camel"]),
        (CODE, "retry limit", ["snake", "scream"], ["camel"]),
        (CODE, "numpy 1.26.4", ["new"], []),
        (CODE, "1.2", ["old"], ["new"]),
        (CODE, "@shop/tool-box", ["scoped"], ["kebab"]),
        (CODE, "__init__.py", ["path"], ["kebab"]),
        (CODE, "--no-cov", ["flag"], ["noise", "forced"]),
        (CODE, "-q", ["flag"], ["noise"]),
        (CODE, "--retries=2", ["flag"], ["snake"]),
        (CODE, "--force-if-includes", ["forced"], ["noise"]),
        (WORDS, "result: green", ["colon"], []),
        (WORDS, "don't retry", ["apostrophe"], []),
        (WORDS, "title: are", ["sql"], []),
        (WORDS, "NULL OR", ["sql"], []),
        (WORDS, "NOT -shipped", ["colon"], []),
        (WORDS, "load(items[", ["brackets"], []),
        (WORDS, 'socket "closed', ["quote"], []),
        (WORDS, r"D:\data\cache", ["windows"], []),
    ],
)
def test_words_are_found(
    tmp_path: Path, texts: dict[str, str], query: str, must: list[str], must_not: list[str]
) -> None:
    found = ask(of_texts(tmp_path, texts), query)
    assert set(must) <= set(found)
    assert not set(must_not) & set(found)


@pytest.mark.parametrize(
    ("query", "first"),
    [("openFileHandle", "camel"), ("red-panda-runner", "kebab"), ("lib/net/__init__.py", "path"), ("--force", "forced"),
     ("tests --no-cov", "flag")],
)  # fmt: skip
def test_the_exact_form_comes_first(tmp_path: Path, query: str, first: str) -> None:
    assert ask(of_texts(tmp_path, CODE), query)[0] == first


@pytest.mark.parametrize("query", ["\\", "a && b", "{x", "((((", "*", "^~", "\x00", "\ud83d", '"', "id:x OR", "🚀"])
def test_text_without_meaning_is_an_ordinary_question(tmp_path: Path, query: str) -> None:
    index = of_texts(tmp_path, WORDS)
    answer = index.search(Query((query,)), TEAM)
    assert answer.searched == len(WORDS)
    assert ask(index, f"{query} payments")[0] == "apostrophe"


@pytest.mark.parametrize(
    "query",
    ["(" * 20_000, "(a " * 5000 + ")" * 5000, "a:(^", "pool " * 50_000, "a" * 1_000_000, "NOT " * 3000 + "pool",
     'Traceback:\n  File "x.py", line 1\n' * 20_000, " ".join(f"word{i}" for i in range(50_000))],
    ids=["open", "nested", "boost", "terms", "word", "not", "trace", "distinct"],
)  # fmt: skip
def test_a_hostile_query_is_cut(tmp_path: Path, query: str) -> None:
    index = of_texts(tmp_path, {"m": "pool size is 20"})
    assert index.search(Query((query,)), TEAM).searched == 1
    assert ask(index, f"pool {query}") == ["m"]


def test_a_scope_is_never_left(tmp_path: Path) -> None:
    made = [memory("a", "auth.ts: tokens rotate"), memory("b", "auth.ts: tokens stay", scope=Scope("till"))]
    index = filled(tmp_path, map(document, made))
    assert ask(index, "auth.ts tokens") == ["a"]
    assert ask(index, "auth.ts tokens", replace(TEAM, projects=frozenset({"till"}))) == ["b"]
    assert ask(index, "auth.ts tokens", replace(TEAM, projects=frozenset())) == []


def rows(case: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    folder = SHARED / case
    memories = [json.loads(line) for line in (folder / "memories.jsonl").read_text().splitlines()]
    return memories, json.loads((folder / "queries.json").read_text())


def scope_of(row: dict[str, Any]) -> Scope:
    named = row.get("scope", {"project": "shop"})
    if "user" in named:
        return Scope(f"user-{named['user']}", "user")
    return Scope(named.get("project", "everyone"))


if SHARED.is_dir():

    @pytest.mark.parametrize("case", SEARCH_CASES)
    def test_a_shared_case(tmp_path: Path, case: str) -> None:
        memories, queries = rows(case)
        index = filled(tmp_path, [document(memory(r["id"], r["text"], scope=scope_of(r))) for r in memories])
        for query in queries:
            seen = TEAM
            if "as" in query:
                viewer = query["as"]
                projects = {viewer["project"], "everyone"} if viewer else set()
                own = {f"user-{viewer['user']}"} if viewer else set()
                both = frozenset({"team", "user"})
                seen = replace(TEAM, projects=frozenset(projects), audiences=both, own=frozenset(own))
            found = ask(index, query["q"], seen)
            assert set(query["must"]) <= set(found), query
            assert not set(query["must_not"]) & set(found), query
