from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import CorruptRecord
from gitmem.store.objects import (
    FILE,
    TREE,
    Entry,
    Identity,
    commit_bytes,
    object_id,
    parse_commit,
    parse_tree,
    tree_bytes,
)
from tests.conftest import git

WHEN = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)
names = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8)


@settings(deadline=None)
@given(st.dictionaries(names, st.sampled_from([FILE, TREE, "120000", "160000"])), st.sampled_from(["sha1", "sha256"]))
def test_trees_survive_a_round_trip(content: dict[str, str], object_format: str) -> None:
    entries = {Entry(name, mode, object_id("blob", name.encode(), object_format)) for name, mode in content.items()}
    assert set(parse_tree(tree_bytes(entries), object_format)) == entries


@settings(deadline=None)
@given(st.binary(max_size=80))
def test_any_bytes_are_a_tree_or_corrupt(data: bytes) -> None:
    try:
        entries = parse_tree(data, "sha1")
    except CorruptRecord:
        return
    assert sum(len(e.mode) + len(e.name.encode("utf-8", "surrogateescape")) + 22 for e in entries) == len(data)


def test_a_tree_that_breaks_off_is_corrupt() -> None:
    whole = tree_bytes([Entry("a", FILE, "1" * 40)])
    assert parse_tree(whole, "sha1")
    for end in range(1, len(whole)):
        with pytest.raises(CorruptRecord):
            parse_tree(whole[:end], "sha1")


def test_a_commit_is_what_git_would_make(repo: Path) -> None:
    tree = git(repo, "rev-parse", "HEAD^{tree}").strip()
    head = git(repo, "rev-parse", "HEAD").strip()
    data = commit_bytes(tree, [head], Identity("Ä <x>\n", "a@b>c"), Identity("", ""), WHEN, "line\n\nbody\n\n")
    path = repo / "raw"
    path.write_bytes(data)
    oid = git(repo, "hash-object", "-t", "commit", "-w", "raw").strip()  # checks the form strictly
    assert oid == object_id("commit", data, "sha1")
    shown = git(repo, "log", "-1", "--format=%an|%ae|%cn|%ce|%at|%B", oid)
    assert shown == f"Ä x|a@bc|unknown||{int(WHEN.timestamp())}|line\n\nbody\n\n"


def test_signed_and_strange_headers_are_kept() -> None:
    raw = (
        b"tree %b\nparent %b\nauthor A <a> 1 +0000\ncommitter C <c> 2 +0100\ngpgsig -----BEGIN\n x\n -----END\n\nmsg\n"
    )
    info = parse_commit(raw % (b"1" * 40, b"2" * 40))
    assert (info.tree, info.parents, info.message) == ("1" * 40, ("2" * 40,), "msg\n")
    assert dict(info.headers)["gpgsig"] == "-----BEGIN\nx\n-----END"
    assert (info.author, info.committer) == ("A <a> 1 +0000", "C <c> 2 +0100")
    with pytest.raises(CorruptRecord):
        parse_commit(b"tree 1\n\nmsg")
