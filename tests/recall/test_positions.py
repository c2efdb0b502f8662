from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.recall.positions import Positions, PositionsFile, Step


def steps(*times: int, salt: str = "", size: int = 40) -> list[Step]:
    return [Step(hashlib.sha256(f"{salt}{n}".encode()).hexdigest()[:size], at) for n, at in enumerate(times)]


def test_a_history_is_a_row_of_commits_with_their_times() -> None:
    made = steps(5, 3, 9)
    positions = Positions().with_steps(0, made)
    assert len(positions) == 3
    assert [(positions.commit(n), positions.time(n)) for n in range(3)] == [(s.commit, s.at) for s in made]
    assert [positions.find(step.commit) for step in made] == [0, 1, 2]
    assert positions.find("0" * 40) is None
    assert (len(Positions()), Positions().find("0" * 40), Positions().at(1e12)) == (0, None, None)


@pytest.mark.parametrize(
    ("seconds", "position"), [(2, None), (3, 1), (4.9, 1), (5, 1), (8, 1), (9, 2), (9.5, 2), (1e12, 2), (-1, None)]
)
def test_a_time_is_the_newest_commit_that_was_made_by_then(seconds: float, position: int | None) -> None:
    assert Positions().with_steps(0, steps(5, 3, 9)).at(seconds) == position  # the clock went back once


def test_a_history_goes_on_or_goes_on_from_earlier() -> None:
    before = Positions().with_steps(0, steps(1, 2, 3))
    after = steps(7, 8, salt="x")
    assert [before.with_steps(3, after).time(n) for n in range(5)] == [1, 2, 3, 7, 8]
    assert [before.with_steps(1, after).time(n) for n in range(3)] == [1, 7, 8]
    assert len(before.with_steps(2, [])) == 2
    assert len(before.with_steps(0, [])) == 0
    assert len(before) == 3


def test_ids_of_sha256_are_as_good() -> None:
    made = steps(1, 2, size=64)
    positions = Positions().with_steps(0, made).with_steps(2, steps(3, salt="y", size=64))
    assert positions.oid_size == 32
    assert positions.find(made[1].commit) == 1 and positions.time(2) == 3
    # And a branch of the other format in its place.
    assert positions.with_steps(0, steps(4)).oid_size == 20


def test_an_id_is_found_only_where_one_begins() -> None:
    """The bytes of an id may occur across two rows, or within a time."""
    first, second = Step("ab" * 19 + "cd", 0x11), Step("ef" * 20, 0x22)
    positions = Positions().with_steps(0, [first, second])
    row = bytes.fromhex(first.commit) + (0x11).to_bytes(8, "little") + bytes.fromhex(second.commit)
    for offset in range(1, 28):
        assert positions.find(row[offset : offset + 20].hex()) is None
    assert positions.find(second.commit) == 1


def test_what_was_saved_is_read_and_what_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "positions.1.0"
    before = Positions().with_steps(0, steps(1, 2, 3))
    before.save(path, 0)
    opened = PositionsFile(path, 3, 20)
    longer = before.with_steps(3, steps(4, salt="z"))
    longer.save(path, 3)
    assert path.stat().st_size == 4 * 28
    assert [opened.read(before.checksum).time(n) for n in range(3)] == [1, 2, 3]
    assert PositionsFile(path, 4, 20).read(longer.checksum).find(longer.commit(3)) == 3
    path.unlink()
    assert len(opened.read(before.checksum)) == 3


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "gone"])
def test_damage_is_noticed(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "positions.1.0"
    positions = Positions().with_steps(0, steps(1, 2, 3))
    positions.save(path, 0)
    whole = path.read_bytes()
    assert len(PositionsFile(path, 3, 20).read(positions.checksum)) == 3
    path.unlink()
    if damage == "flipped":
        for position in range(len(whole)):
            path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
            with pytest.raises(ValueError, match="checksum"):
                PositionsFile(path, 3, 20).read(positions.checksum)
        return
    if damage != "gone":
        path.write_bytes(whole[:-1] if damage == "cut" else b"")
    with pytest.raises((ValueError, OSError)):
        PositionsFile(path, 3, 20)


@settings(deadline=None)
@given(st.lists(st.integers(-(2**40), 2**40), max_size=12), st.floats(-(2.0**41), 2.0**41))
def test_as_of_a_time_is_the_last_position_at_or_before_it(times: list[int], seconds: float) -> None:
    positions = Positions().with_steps(0, steps(*times))
    at_or_before = [n for n, time in enumerate(times) if time <= seconds]
    assert positions.at(seconds) == (at_or_before[-1] if at_or_before else None)
