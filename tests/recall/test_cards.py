from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.model.records import memory_bytes
from gitmem.recall.cards import Card, Cards, CardWriter, pack
from gitmem.recall.document import card_of
from tests.recall.builders import document, memory

ONE = Card("main", "m1", 3, "b" * 40, ("m1", "pool.size", "net", "src/pool.py"), "pool size 20", b"title: pool\n")
TWO = Card("inbox", "m2", 0, "c" * 40, (), "", b"")


def written(path: Path, *cards: Card, start: int = 0) -> tuple[list[int], int]:
    """The places of the cards and the end of the file."""
    with CardWriter(path, start) as writer:
        places = [writer.add(pack(card)) for card in cards]
        writer.close()
    return places, writer.end


def test_a_card_comes_back_as_it_was_written(tmp_path: Path) -> None:
    (first, second), end = written(tmp_path / "cards.1", ONE, TWO)
    cards = Cards(tmp_path / "cards.1", end)
    ranked = cards.ranked(first)
    assert (ranked.ref, ranked.id, ranked.since, ranked.blob) == ("main", "m1", 3, "b" * 40)
    assert (ranked.names, ranked.words) == (ONE.names, " pool size 20 ")
    assert cards.record(first) == b"title: pool\n"
    assert cards.ranked(second).names in ((), ("",))
    assert cards.record(second) == b""


def test_what_a_writer_that_died_left_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "cards.1"
    (first,), end = written(path, ONE)
    before = path.read_bytes()
    reader = Cards(path, end)
    written(path, TWO, TWO, TWO, start=end)  # and no index ever named them
    (again,), more = written(path, TWO, start=end)
    assert path.read_bytes().startswith(before)
    assert Cards(path, more).ranked(again).id == "m2"
    assert reader.ranked(first).id == "m1"


def test_an_open_file_of_cards_outlives_its_removal(tmp_path: Path) -> None:
    (place,), end = written(tmp_path / "cards.1", ONE)
    cards = Cards(tmp_path / "cards.1", end)
    (tmp_path / "cards.1").unlink()
    assert cards.record(place) == ONE.record
    with pytest.raises(OSError, match=r"cards\.1"):
        Cards(tmp_path / "cards.1", end)


def test_a_file_that_is_shorter_than_it_was_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "cards.1"
    _, end = written(path, ONE)
    Cards(path, end)
    for size in (end - 1, 0):
        path.write_bytes(path.read_bytes()[:size])
        with pytest.raises(ValueError, match="shorter"):
            Cards(path, end)


def test_every_flipped_byte_and_every_wrong_place_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "cards.1"
    (first, second), end = written(path, ONE, TWO)
    whole = path.read_bytes()
    for position in range(first & 0xFFFFFF):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        cards = Cards(path, end)
        for read in (cards.ranked, cards.record):
            with pytest.raises(ValueError, match="checksum"):
                read(first)
        assert cards.ranked(second).id == "m2"
    path.write_bytes(whole)
    cards = Cards(path, end)
    assert cards.ranked(first).id == "m1"
    for place in (first + 1, first - 1, first + (1 << 24), 0, second + (9 << 24), end << 24 | 8, 2**62):
        with pytest.raises(ValueError, match="checksum"):
            cards.ranked(place)
    with pytest.raises((ValueError, OSError)):
        cards.ranked(-1)


def test_a_card_of_more_than_sixteen_megabytes_is_refused(tmp_path: Path) -> None:
    import os

    large = Card("main", "m1", 0, "b" * 40, (), "", os.urandom(2**24))
    with pytest.raises(ValueError, match="too large"):
        written(tmp_path / "cards.1", large)
    written(tmp_path / "cards.1", Card("main", "m1", 0, "b" * 40, (), "", bytes(2**24)))  # it is the packed size


TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \n\t/"), max_size=40)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXT.filter(str.strip), TEXT, st.lists(TEXT.filter(str.strip), max_size=3), st.one_of(st.none(), TEXT))
def test_whatever_a_memory_says_its_card_can_be_read(
    tmp_path: Path, title: str, body: str, tags: list[str], key: str | None
) -> None:
    made = memory("0123456789ab", title, body=body, tags=tuple(tags), key=key, applies_to=tuple(tags))
    card = card_of(document(made))
    (place,), end = written(tmp_path / "cards.1", card)
    cards = Cards(tmp_path / "cards.1", end)
    ranked = cards.ranked(place)
    assert (ranked.id, ranked.words, cards.record(place)) == (made.id, f" {card.words} ", memory_bytes(made))
    assert {" ".join(tag.casefold().split()) for tag in tags} <= set(ranked.names)
