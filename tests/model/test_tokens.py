from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model.tokens import LONGEST, tokens

WORD = st.from_regex(r"[a-z]{2,8}", fullmatch=True)


@settings(deadline=None, max_examples=400)
@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_unicode_gives_tokens_that_can_be_stored(text: str) -> None:
    for token in tokens(text):
        assert token
        assert len(token) <= LONGEST
        token.encode()
        assert not any(c.isspace() or c < " " for c in token)


@settings(deadline=None, max_examples=400)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=80))
def test_every_word_of_a_text_is_found_by_asking_for_it(text: str) -> None:
    found = set(tokens(text))
    for word in text.split():
        assert set(tokens(word)) <= found


@settings(deadline=None)
@given(
    st.lists(WORD, min_size=2, max_size=4),
    st.sampled_from(["camel", "snake", "scream", "kebab", "dot", "path", "flag"]),
)
def test_every_part_of_an_identifier_is_found_by_asking_for_it(parts: list[str], style: str) -> None:
    name = {
        "camel": parts[0] + "".join(p.capitalize() for p in parts[1:]),
        "snake": "_".join(parts),
        "scream": "_".join(parts).upper(),
        "kebab": "-".join(parts),
        "dot": ".".join(parts),
        "path": "/".join(parts),
        "flag": "--" + "-".join(parts),
    }[style]
    found = set(tokens(f"see {name}, then"))
    for part in parts:
        assert set(tokens(part)) <= found
    assert set(tokens("zq")) & found == set(tokens("zq")) & set(tokens(" ".join(parts)))


# What people call a word, as they write it, and what may stand between two of them.
TYPED = [
    "pool", "Pools", "HTTP", "getUserName", "parseHTTPResponse2", "max_pool_size", "MAX_POOL_SIZE", "pre-commit",
    "E0308", "k8s", "x86", "utf8", "OAuth2", "I18N", "iPhone", "2.10.1", "1.5", "v1.4.2", "9af2bc0d4e", "main.py",
    "src/app/main.py", "settings.database.pool", "std::vector", "@acme/ui-kit", ".NET", "C++", "C#", "--no-header",
    "don't", "O'Brien", "caching", "retries", "configuración", "conectado", "naïve", "Straße", "Ünïcode", "café",
    "令牌刷新", "データベース", "한국어", "ทดสอบ", "ພາສາລາວ", "ភាសាខ្មែរ", "database", "f" * 5 + "0" * 123,
]  # fmt: skip
PARTS = {
    "src/app/main.py": ["main.py", "app", "main"],
    "settings.database.pool": ["database", "settings pool"],
    "parseHTTPResponse2": ["http response", "parse"],
    "MAX_POOL_SIZE": ["pool", "max size"],
    "max_pool_size": ["maxPoolSize"],
    "pre-commit": ["precommit", "commit"],
    "@acme/ui-kit": ["acme", "ui-kit", "kit"],
    "std::vector": ["vector"],
    "--no-header": ["header", "no-header"],
    "2.10.1": ["2.10"],
    "v1.4.2": ["1.4"],
    "9af2bc0d4e": ["9af2bc0"],
    "naïve": ["naive"],
    "configuración": ["configuracion"],
    "令牌刷新": ["刷新"],
    "データベース": ["ベース"],
    "ทดสอบ": ["สอบ"],
}
BETWEEN = [*' \n\t=|<>→…„“`*!?·"', ", ", "; ", " (", ") ", " = "]


@settings(deadline=None, max_examples=600)
@given(
    st.lists(st.tuples(st.sampled_from(BETWEEN), st.sampled_from(TYPED)), min_size=1, max_size=6),
    st.sampled_from(["", ".", ",", ":", ")", "?!", "…"]),
)
def test_whatever_a_person_would_call_a_word_of_a_text_finds_it(typed: list[tuple[str, str]], end: str) -> None:
    found = set(tokens("".join(between + word for between, word in typed) + end))
    for _, word in typed:
        assert tokens(word) and set(tokens(word)) <= found
        assert set(tokens(word.upper())) & found and set(tokens(word.lower())) & found
        for part in PARTS.get(word, ()):
            assert set(tokens(part)) <= found, part
    assert not set(tokens("zebra 斑马 ม้าลาย --zebra")) & found  # the control


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("raise NullPointerException", "null pointer"),
        ("升级到2.10.1版本后变慢", "版本 升级 2.10"),
        ("wrote backup_2.10.1 and v1_2.0", "backup 2.10 v1"),
        ("release 1.0rc1", "rc"),
        ("ພາສາລາວ", "ສາລາ"),
        ("ភាសាខ្មែរ", "ខ្មែ"),
        ("sha512 " + "0f" * 64, "0f" * 64),
        ("sha512 " + "0f" * 64, "0f0f0f0"),
        ("parseHTTPResponse", "HTTP response"),
        ("MAX_POOL_SIZE", "maxPoolSize"),
        ("the pre-commit tool", "precommit"),
        ("override settings.database.pool_size", "pool_size"),
        ("edit src/app/main.py.", "main.py"),
        ("import @acme/ui-kit", "acme/ui-kit"),
        ("std::vector<int>", "vector"),
        (r"build in C:\work\demo", r"work\demo"),
        ("pytest --no-header -x", "--no-header -x"),
        ("`--force-with-lease`", "force with lease"),
        ("error[E0308]: mismatched", "e0308"),
        ("pydantic 2.10.1", "2.10"),
        ("python-3.11", "3.11"),
        ("tagged v1.4.2", "1.4.2"),
        ("C++ and C# and .NET", "c++"),
        ("ASP.NET", "asp"),
        ("fixed in 9af2bc0d4e5f60718293a4b5c6d7e8f901234567", "9af2bc0"),
        ("see #123", "123"),
        ("don’t retry", "don't dont"),
        ("the user's name", "user"),
        ("caching the retries", "cache retry"),
        ("la configuración cambió", "configuracion"),
        ("está conectado", "esta conect"),
        ("认证系统使用JWT令牌刷新", "令牌刷新 jwt"),
        ("การทดสอบ", "ทดสอบ"),
        ("猫 is lone", "猫"),
        ("max\u200b_retries in\u200f the con\ufefffig", "max_retries config"),
        ("תִּקּוּן", "תקון"),
        ("كُتَّاَبْ", "كتاب"),
        ("Cafe\u0301", "CAFÉ cafe"),
        ("ﬁle ＡＢＣ", "file abc"),
        ("Straße", "STRASSE"),
    ],
)
def test_a_query_is_found_in_the_text(text: str, query: str) -> None:
    assert set(tokens(query)) <= set(tokens(text))
    assert tokens(query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("pydantic 2.10.1", "2.1"),
        ("pydantic 2.1", "2.10.1"),
        ("C++", "c"),
        ("use --force", "--force-with-lease"),
        ("force it", "--force"),
        ("getUserName", "username2"),
        ("hard-x", "-x"),
        ("数据库迁移", "认证"),
    ],
)
def test_a_query_that_only_looks_alike_is_not_wholly_in_the_text(text: str, query: str) -> None:
    assert not set(tokens(query)) <= set(tokens(text))
    assert set(tokens(query)) <= set(tokens(f"{text} {query}"))


def test_spanish_words_meet_in_their_stem() -> None:
    assert set(tokens("conectar")) & set(tokens("conectado")) & set(tokens("conectando"))
    assert not set(tokens("conectar")) & set(tokens("contar"))


def test_versions_that_share_digits_share_no_token() -> None:
    assert not set(tokens("2.1")) & set(tokens("2.10.1"))
    assert set(tokens("2.10")) & set(tokens("2.10.1"))


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "1." * 300_000,
        "1." + "1" * 500_000 + "\u0903",
        "aB" * 100_000,
        "-" * 500_000,
        "_" * 500_000,
        "語" * 100_000,
    ],
)
def test_a_huge_word_is_cut_and_its_neighbours_survive(text: str) -> None:
    found = tokens(f"before {text} after")
    assert {"befor", "after"} <= set(found)
    assert max(map(len, found)) <= LONGEST


def test_a_lone_surrogate_only_parts_words() -> None:
    assert tokens("pool \ud83d size\ud800x") == ["pool", "size", "x"]


def test_importing_the_tokenizer_loads_no_stemmer() -> None:
    probe = "import sys, gitmem.model.tokens as t; a = 'Stemmer' in sys.modules; t.tokens('word'); "
    probe += "print(a, 'Stemmer' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
