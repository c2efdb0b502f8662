"""A verb of several parts, named without one: it shows what there is, or says what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.model.text import counted
from tests.installed import Ran, person


@pytest.fixture
def shop(repo: Path) -> Path:
    assert person(repo, "init").code == 0
    return repo


@pytest.mark.parametrize(("verb", "part"), [("hooks", "status"), ("sessions", "list"), ("policy", "show")])
def test_without_a_part_it_shows_what_there_is(shop: Path, verb: str, part: str) -> None:
    bare, named = person(shop, verb), person(shop, verb, part)
    assert (bare.code, bare.out, bare.err) == (0, named.out, named.err)
    assert bare.out or bare.err
    assert person(shop, verb, "nonsense").code == 2  # the control: not every word does


@pytest.mark.parametrize(
    ("verb", "parts"), [(["audit"], ["verify", "show"]), (["policy", "signer"], ["add", "remove"])]
)
def test_where_nothing_is_to_be_shown_it_names_its_parts(shop: Path, verb: list[str], parts: list[str]) -> None:
    bare: Ran = person(shop, *verb)
    assert (bare.code, bare.out) == (2, "")
    assert all(part in bare.err for part in parts) and f"gitmem {' '.join(verb)} --help" in bare.err
    assert person(shop, *verb, "--help").code == 0


def test_one_is_no_plural() -> None:
    assert [counted(number, "commit") for number in (0, 1, 1200)] == ["0 commits", "1 commit", "1,200 commits"]
    assert [counted(number, "memory") for number in (1, 2)] == ["1 memory", "2 memories"]
    assert counted(2, "key") == "2 keys"
