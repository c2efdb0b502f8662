"""Strategies and examples that several test modules of the model share."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from gitmem.model import nouns
from gitmem.model.nouns import (
    Alternative,
    CommitRef,
    FileRef,
    HumanRef,
    Link,
    Memory,
    MemoryRef,
    Scope,
    Span,
    Step,
    TestRef,
    TranscriptRef,
    UrlRef,
    Valid,
)
from gitmem.model.records import _keys
from gitmem.model.text import is_clean
from gitmem.model.vocabulary import AUDIENCES, KINDS, LINK_TYPES, ORIGIN_RANK, ROLES, STATUSES

# Texts that some reader or writer of YAML is known to have got wrong.
HOSTILE = [
    "", " ", "\n", "\n\n", "a\n", "a\n\n", "\na", " a", "a ", "a\n b", "a\n  \nb", "a\n\nb", " a\nb", "a\n\tb", "\ta",
    "a\tb", "a \nb \n", "a\n ", "null", "NULL", "~", "true", "True", "no", "NO", "yes", "on", "off", "y", "N", "007",
    "1.10", "1e3", "0x1F", "1_000", "12:30", "2026-11-30", "12e4567", ".5", "-.inf", ".NaN", "inf", "Infinity", "=",
    "<<", "-", "- x", "--- x", "...", "? x", ": x", "x: y", "x:", "Fix: use 5", "issue #12 is fixed", "# x", "*.py",
    "&a b", "!important", "@x", "`x`", "%s", "%YAML 1.1", "{a} and b", "[x] done", "> 5", "| x", "'", '"', "\\", "a\\",
    "it's", 'say "x"', "\\u0041", "a\u2028b", "a\u0085b", "a\rb", "a\r\nb", "\x1b[31m", "a\x00b", "a\x7fb", "\uffff",
    "\ufeffx", "a\u202eb", "zero\u200bwidth", "\U000e0041", "\ue000", "caf\u00e9", "cafe\u0301", "漢字", "emoji 😀",
    "nbsp\u00a0x", "\u3000", " \u3000\nb", "x" * 3000, "word " * 400, "---\na", "a\n---\nb",
    "a\n...\nb", "#\na", "a\n#b",
    "\U0001f600\ufe0f", "-1", "0", "-0", "00", "123456789012345678901", "a - b", "a/b.c", "a_", "A-", "key: |-\n  x",
]  # fmt: skip

texts = st.sampled_from(HOSTILE) | st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40) | st.text(
    alphabet="ab 0\n\t#:-'\"{}[]&*!|>%@`,?\\.~", max_size=30
)  # fmt: skip
# What may stand in a file as it is, for texts that are written by hand.
clean_texts = texts.filter(is_clean)
keys = texts.filter(lambda key: len(key) < 100)
scalars = st.none() | st.booleans() | st.integers(-(10**18) + 1, 10**18 - 1) | texts
trees = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
)


def _deep(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_deep, value.values()), default=0)
    return 1 + max(map(_deep, value), default=0) if isinstance(value, list) else 0


def trees_of_depth(depth: int) -> st.SearchStrategy[Any]:
    return trees.filter(lambda tree: _deep(tree) <= depth)


documents = st.dictionaries(keys, trees_of_depth(7), max_size=6)
_short = st.text(alphabet="abc 1:#", max_size=12) | texts


def _extra(cls: Any, depth: int) -> st.SearchStrategy[dict[str, Any]]:
    """Fields that a newer gitmem might write into a `cls`."""
    taken = {key for _, key, _ in _keys(cls)} | {"type"}
    return st.dictionaries(keys.filter(lambda key: key not in taken), trees_of_depth(depth), max_size=2)


def _made(cls: Any, depth: int, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(cls, **fields, extra=_extra(cls, depth))


_optional = st.none() | texts
_roles = st.sampled_from(ROLES)
_many = st.lists(_short, max_size=3).map(tuple)


def _some(of: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, max_size=2).map(tuple)


_ref = {"sha256": _short, "quote": _optional, "role": _roles}
_count = st.integers(0, 10**12)
evidence: dict[str, st.SearchStrategy[Any]] = {
    "transcript": _made(
        TranscriptRef, 4, session=_short, record=_short, speaker=_short, **_ref,
        span=_made(Span, 3, generation=_count, start=_count, end=_count),
    ),
    "file": _made(FileRef, 4, path=_short, blob=_short, commit=_short, lines=_optional, **_ref),
    "commit": _made(CommitRef, 4, commit=_short, patch=_optional, **_ref),
    "test": _made(
        TestRef, 4, path=_short, case=_short, outcome=st.sampled_from(["passed", "failed", "skipped"]),
        blob=_optional, commit=_optional, **_ref,
    ),
    "memory": _made(MemoryRef, 4, id=_short, **_ref),
    "human": _made(HumanRef, 4, quote=texts, sha256=_short, role=_roles),
    "url": _made(UrlRef, 4, url=_short, **_ref),
}  # fmt: skip

memories: st.SearchStrategy[Memory] = _made(
    Memory,
    6,
    id=_short,
    kind=st.sampled_from(KINDS),
    title=texts,
    status=st.sampled_from(STATUSES) | _short,
    scope=_made(Scope, 5, project=_short, audience=st.sampled_from(AUDIENCES)),
    origin=st.sampled_from(sorted(ORIGIN_RANK)),
    body=texts,
    aliases=_many,
    alternatives=_some(_made(Alternative, 4, title=_short, why=_short)),
    cue=_optional,
    steps=_some(_made(Step, 4, text=_short, done=st.booleans())),
    claims=_many,
    groundings=_many,
    applies_to=_many,
    key=_optional,
    tags=_many,
    valid=_made(Valid, 5, start=_optional, until=_optional),
    links=_some(_made(Link, 4, type=st.sampled_from(LINK_TYPES), to=_short, why=_optional)),
    evidence=_some(st.one_of(*evidence.values())),
)

SPAN = Span(1, 10234, 10980)
REFS: dict[str, nouns.EvidenceRef] = {
    "transcript": TranscriptRef("claude/8c2f6a10", "4d1e", SPAN, "9b" * 32, "tool", quote="412 passed in 31.20s"),
    "file": FileRef("services/api/pool.py", "1f6e" * 10, "a9c4" * 10, "77d1" * 16, lines="40-58"),
    "commit": CommitRef("a9c4" * 10, "5a" * 32, patch="31" * 20),
    "test": TestRef("out/junit.xml", "tests.test_pool::test_retry", "passed", "ab" * 32),
    "memory": MemoryRef("2m8r4cvte9hk", "cd" * 32, role="contradicts"),
    "human": HumanRef("we always retry: it's policy", "ef" * 32),
    "url": UrlRef("https://example.invalid/pool?x=1", "12" * 32),
}
MEMORY = Memory(
    id="7k3q9dxwm2ab",
    kind="solution",
    title="Retry the redis connect with backoff",
    body="The pool closes idle sockets after 300 s.\n\n  - raising the timeout did not help\n",
    aliases=("redis retry", "007"),
    alternatives=(Alternative("raise the timeout", "it only hides the failure: see #12"),),
    cue="before touching pool.py",
    steps=(Step("measure"), Step("fix it", done=True)),
    claims=("yes",),
    groundings=("1.10",),
    status="active",
    scope=Scope("shop-k3x9qd"),
    applies_to=("services/api/**",),
    key="redis.retry",
    tags=("redis", "flaky-tests"),
    valid=Valid("2026-03-02"),
    origin="inferred",
    links=(Link("solves", "2m8r4cvte9hk"), Link("differs_from", "9k3q9dxwm2ab", why="another pool")),
    evidence=tuple(REFS.values()),
    extra={"x_sig": "abc", "x_model": {"name": "x", "params": [1, 2, {"deep": [True, None, {}]}]}},
)
