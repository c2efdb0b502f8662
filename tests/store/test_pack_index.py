"""What a pack's index holds is read as git reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.store.pack_index import holds
from tests.conftest import git


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_an_object_is_found_loose_and_packed_and_no_other_is(tmp_path: Path, object_format: str) -> None:
    repo = tmp_path / "repo"
    git(tmp_path, "init", "-q", f"--object-format={object_format}", str(repo))
    for number in range(300):
        (repo / f"{number}").write_text(f"{number}\n")
    git(repo, "add", "-A")
    every = {line.split()[0] for line in git(repo, "cat-file", "--batch-check", "--batch-all-objects").splitlines()}
    objects = repo / ".git/objects"

    def agrees() -> None:
        assert len(every) == 300 and all(holds(objects, oid) for oid in every)
        # One digit further: its neighbours in the index, and what lies before the first and behind the last.
        others = {f"{oid[:-1]}{int(oid[-1], 16) ^ 1:x}" for oid in every} - every
        ends = {digit * len(next(iter(every))) for digit in "0f"}
        assert not any(holds(objects, oid) for oid in (others | ends) - every)
        assert not any(holds(objects, odd) for odd in ("", "ab", "../config", "zz" * 20, next(iter(every))[:-2]))

    agrees()
    git(repo, "commit", "-qm", "all")
    tip = git(repo, "rev-parse", "HEAD").strip()
    assert holds(objects, tip)
    git(repo, "gc", "-q", "--prune=now")
    assert not list(objects.glob("[0-9a-f][0-9a-f]")) and holds(objects, tip)
    agrees()
