"""Identifiers and paths: functions and their inverses agree, and no hostile name is ever a path of the branch."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import UsageError
from gitmem.model.ids import (
    ALPHABET,
    event_id,
    event_milliseconds,
    id_prefix,
    is_digest,
    is_event_id,
    is_memory_id,
    is_project,
    memory_id,
    project_id,
)
from gitmem.model.layout import (
    MAX_DEPTH,
    event_of_path,
    event_path,
    is_allowed_path,
    memory_of_path,
    memory_path,
    tombstone_of_path,
    tombstone_path,
)

randoms = st.binary(min_size=10, max_size=10)
moments = st.integers(0, 253402300799999)
PATHS = [
    memory_path("7k3q9dxwm2ab"),
    event_path("01hqyc3v0w0000000000000000", "7k3q9dxwm2ab"),
    event_path("01hqyc3v0w0000000000000000", None),
    tombstone_path("5f" * 32),
]


@settings(deadline=None)
@given(randoms, moments, randoms)
def test_a_path_gives_back_what_it_was_made_of(one: bytes, milliseconds: int, two: bytes) -> None:
    memory, event = memory_id(one), event_id(milliseconds, two)
    assert is_memory_id(memory)
    assert is_event_id(event)
    assert event_milliseconds(event) == milliseconds
    assert memory_of_path(memory_path(memory)) == memory
    assert event_of_path(event_path(event, memory)) == event_of_path(event_path(event, None)) == event
    for path in (memory_path(memory), event_path(event, memory), event_path(event, None)):
        assert is_allowed_path(path)
        assert path.count("/") < MAX_DEPTH
        assert sum(inverse(path) is not None for inverse in (memory_of_path, event_of_path, tombstone_of_path)) == 1


@settings(deadline=None)
@given(st.text(alphabet="0123456789abcdef", min_size=64, max_size=64))
def test_a_tombstone_is_filed_under_its_digest(digest: str) -> None:
    assert is_digest(digest)
    assert tombstone_of_path(tombstone_path(digest)) == digest
    assert is_allowed_path(tombstone_path(digest))


@settings(deadline=None)
@given(moments, moments, randoms, randoms)
def test_event_ids_sort_by_time(one: int, two: int, left: bytes, right: bytes) -> None:
    if one != two:
        assert (event_id(one, left) < event_id(two, right)) == (one < two)


HOSTILE = [
    "..", ".", ".git", ".GIT", "git~1", "GIT~1", ".g\u200cit", ".git::$INDEX_ALLOCATION", ".gitmodules", "CON", "con",
    "con.yaml", "aux", "nul.json", "com1", "lpt9.yaml", "-x", "--output=x", "x.", "x ", " x", "a\\b", "a:b", "a*b",
    "a\nb", "a\x00b", "é", "\u0430", "x" * 300, "", "a..b", "_", "A", "~", "x.lock~", "\ud83d",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_hostile_name_is_never_a_path(name: str) -> None:
    good = f"conflicts/7k3q9dxwm2ab/{'5f' * 32}.yaml"
    assert is_allowed_path(good)
    for path in (
        name, f"memories/{name}", f"memories/7/k/{name}", f"memories/7/{name}/7k3q9dxwm2ab.yaml", f"{name}/{PATHS[0]}",
        f"events/2026-03/7/k/{name}", f"tombstones/5/f/{name}.yaml", f"conflicts/7k3q9dxwm2ab/{name}",
        f"conflicts/{name}/{'5f' * 32}.yaml", f"{PATHS[0]}/{name}", f"schemas/{name}",
        f"conflicts/7k3q9dxwm2ab/{name}/a.yaml",
    ):  # fmt: skip
        assert not is_allowed_path(path), path
        assert (memory_of_path(path), event_of_path(path), tombstone_of_path(path)) == (None, None, None)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_with_one_thing_wrong_is_none(path: str) -> None:
    assert is_allowed_path(path)
    wrong = [
        path.upper(), f"/{path}", f"./{path}", f"{path}/", f"{path}\n", f" {path}", path.replace("/", "//", 1),
        path.replace("/", "\\"), path.rsplit(".", 1)[0], path.replace(".yaml", ".yml").replace(".json", ".jsn"),
        path.replace("memories", "Memories").replace("events", "Events").replace("tombstones", "Tombstones"),
        f"x/{path}", path.replace("k", "ｋ").replace("0", "０"), "/".join([path.split("/")[0], path.split("/")[-1]]),
    ]  # fmt: skip
    for text in wrong:
        assert text == path or not is_allowed_path(text), text


def test_the_fan_out_and_the_month_belong_to_the_id() -> None:
    assert memory_of_path("memories/7/k/7k3q9dxwm2ab.yaml")
    assert memory_of_path("memories/k/7/7k3q9dxwm2ab.yaml") is None
    assert event_of_path(PATHS[1])
    assert event_of_path(PATHS[1].replace("2024-03", "2024-02")) is None
    assert event_of_path("events/9999-12/b/r/7zzzzzzzzz0000000000000000.branch.json") is None
    assert event_of_path("events/2024-03/7/k/01hqyc3v0w0000000000000000.other.json") is None


@pytest.mark.parametrize(
    ("typed", "prefix"), [("7K3Q", "7k3q"), (" 7k3q9dxwm2ab\n", "7k3q9dxwm2ab"), ("ILO0", "1100"), ("oooo", "0000")]
)
def test_what_people_type_as_an_id(typed: str, prefix: str) -> None:
    assert id_prefix(typed) == prefix


@pytest.mark.parametrize("typed", ["", "7k3", "7k3q9dxwm2abc", "7k3u", "../..", "7k3\u0661", "7k3q%", "*" * 5])
def test_what_is_no_id_says_how_to_find_one(typed: str) -> None:
    assert id_prefix("7k3q")
    with pytest.raises(UsageError) as caught:
        id_prefix(typed)
    assert "gitmem list" in caught.value.hint


@settings(deadline=None)
@given(st.text(), randoms)
def test_any_folder_gives_a_project_id(name: str, random: bytes) -> None:
    made = project_id(name, random)
    assert is_project(made)
    assert set(made.rsplit("-", 1)[1]) <= set(ALPHABET)


@pytest.mark.parametrize("text", ["", "-a", "a-", ".a", "A", "a/b", "a\n", "x" * 65, "é", "a b"])
def test_what_is_no_project_id(text: str) -> None:
    assert is_project("shop-k3x9qd")
    assert not is_project(text)
