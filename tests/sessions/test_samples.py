"""Every sample of every host: stored byte for byte outside markers, cited, verified, given back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.app.belief import believed_view
from gitmem.app.capture import capture
from gitmem.app.env import observe
from gitmem.app.facts import sources
from gitmem.app.sessions import session, turns, verify
from gitmem.app.sessions_restore import restore
from gitmem.app.workspace import Workspace, open_workspace
from gitmem.evidence.resolvers import expand, resolve
from tests.capture.samples import ALL, Sample

MARKER = re.compile(rb"\[gitmem:removed [^\]]*\]")


@pytest.fixture
def workspace(repo: Path) -> Iterator[Workspace]:
    opened = open_workspace(observe(str(repo)))
    yield opened
    opened.close()


@pytest.mark.parametrize("sample", ALL, ids=lambda sample: f"{sample.host}/{sample.name}")
def test_stored_cited_verified_restored(workspace: Workspace, sample: Sample, tmp_path: Path) -> None:
    name = f"s{ALL.index(sample)}"
    origin = tmp_path / f"{name}.{sample.adapter.suffix}"
    origin.write_bytes(sample.data)
    (done,) = capture(workspace, [origin], sample.host).sessions
    assert done.state == "new"
    stored = session(workspace, name)
    last = stored.manifest.last
    assert last is not None
    origin.unlink()
    where = sources(believed_view(workspace), "terminal")
    for turn in list(turns(workspace, stored))[:: max(1, len(sample.turns()) // 20)]:
        ref = expand(f"transcript:{name}#{turn.record}", where)
        found = resolve(ref, where)
        assert found.state == "verified" and found.quoted is not False
        assert found.human <= any(
            said.speaker == "human" for said in turns(workspace, stored) if said.record == turn.record
        )
        assert "has deleted the session" in found.detail
    assert [checked.faults for checked in verify(workspace, name)] == [()]
    (receipt,) = restore(workspace, name)
    back = receipt.path.read_bytes()
    pattern = b"(?s:.*?)".join(re.escape(part) for part in MARKER.split(back))
    assert receipt.path == origin and re.fullmatch(pattern, sample.data[: last.origin])
    assert last.origin == len(sample.data) or not sample.data[last.origin :].endswith(b"\n")
    (again,) = capture(workspace, [origin], sample.host).sessions or (None,)
    assert again is None  # what was given back is known, markers and all
