"""This clone's own state: replaced whole, lost without harm, and nothing left behind for long."""

from __future__ import annotations

import os
from pathlib import Path

from gitmem.app import state


def test_what_was_saved_is_loaded_and_what_is_damaged_is_nothing(tmp_path: Path) -> None:
    state.save(tmp_path / "gitmem", "belief", {"tip": "a"})
    file = tmp_path / "gitmem/belief.json"
    assert state.load(tmp_path / "gitmem", "belief") == {"tip": "a"} and file.stat().st_mode & 0o777 == 0o600
    for damaged in (b"", b"{", b"[]", b"\xff"):
        file.write_bytes(damaged)
        assert state.load(tmp_path / "gitmem", "belief") == {}
    assert state.load(tmp_path / "nowhere", "belief") == {}


def test_what_a_killed_writer_left_is_removed_after_an_hour(tmp_path: Path) -> None:
    state.save(tmp_path, "chains", {})
    old, young, others = (tmp_path / name for name in (".chains.json.11", ".chains.json.12", ".belief.json.11"))
    for path in (old, young, others):
        path.write_bytes(b"{")
    now = young.stat().st_mtime
    os.utime(old, (now - 4000, now - 4000))
    os.utime(others, (now - 4000, now - 4000))
    state.save(tmp_path, "chains", {"a": 1})
    assert {path.name for path in tmp_path.iterdir()} == {"chains.json", young.name, others.name}
