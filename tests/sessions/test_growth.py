"""What a long session costs: objects of a sweep, bytes when they are packed, memory for a large line."""

from __future__ import annotations

import random
import subprocess
import sys
import zlib
from pathlib import Path

from gitmem.app.capture import capture
from gitmem.app.capture_archive import archive_sealed
from gitmem.app.env import observe
from gitmem.app.workspace import open_workspace
from gitmem.store.repack import repack
from tests.conftest import git
from tests.sessions.hosts import PROGRAM, Host, line, said

MEMORY = 200_000_000
# A child's peak counts what it was before it became another program: a copy of whoever started it. So a small one does.
LAUNCH = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def words(seed: int, length: int) -> str:
    """Text of made-up words, a few of them often: it compresses about as well as real text."""
    drawn = random.Random(seed)
    known = ["".join(random.Random(n).choices("aeiounrtslcdmpg", k=2 + n % 7)) for n in range(3000)]
    return " ".join(known[int(drawn.paretovariate(0.7)) % 3000] for _ in range(length // 5))


def on_disk(repo: Path) -> int:
    return sum(path.stat().st_size for path in (repo / ".git/objects/pack").iterdir())


def test_a_long_session_is_about_as_large_as_it_is_compressed(host: Host) -> None:
    before = host.objects()
    for turn in range(80):
        host.say(words(turn, 9000), first=turn)
        workspace = open_workspace(observe(str(host.repo)))
        capture(workspace)
        workspace.close()
        now = host.objects()
        assert len(now - before) <= 6
        before = now
    data = host.path().read_bytes()
    assert host.stored() == data
    chunks = host.manifest()["generations"][0]["chunks"]
    assert 1 < len(chunks) < 5 and all(chunk["end"] - chunk["start"] < 50_000_000 for chunk in chunks)
    whole = len(zlib.compress(data))
    workspace = open_workspace(observe(str(host.repo)))
    repack(workspace.location)
    # A commit for each turn, its trees and what differs in the manifest are some 600 bytes, packed.
    assert on_disk(host.repo) <= 1.1 * whole + 80 * 800
    assert int(git(host.repo, "count-objects").split()[0]) < 20
    archive_sealed(workspace, at_once=True)
    workspace.close()
    git(host.repo, "reflog", "expire", "--expire=now", "--all")
    git(host.repo, "gc", "-q", "--prune=now")
    assert on_disk(host.repo) <= 1.15 * whole
    assert host.run("sessions", "verify").code == 0


def test_a_line_of_20_mb_and_a_long_file_take_little_memory(host: Host) -> None:
    text = words(1, 500_000)
    host.write(line(said(1, "look at this", host.repo)) + line(said(2, text * 40, host.repo)), "line")
    block = b"".join(line(said(n, text[n * 9 : n * 9 + 9000], host.repo)) for n in range(1000))
    for _ in range(6):
        host.write(block, "long")
    done = subprocess.run(
        [sys.executable, "-c", LAUNCH, str(PROGRAM), "capture"],
        cwd=host.repo,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) * 1024 < MEMORY
    refs = git(host.repo, "for-each-ref", "--format=%(refname)", "refs/gitmem/sessions").split()
    assert {host.manifest(ref)["session"] for ref in refs} == {"line", "long"}
    for ref in refs:
        assert host.stored(ref=ref) == host.path(host.manifest(ref)["session"]).read_bytes()
