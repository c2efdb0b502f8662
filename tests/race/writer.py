"""A small writer, run as a process of its own: `writer.py <repository> <tag> <count> [libgit2]`.

Prints each commit on a line of its own once it is acknowledged. Count 0 goes on until it is killed.
"""

from __future__ import annotations

import itertools
import os
import sys
from datetime import datetime, timezone
from pathlib import Path

from gitmem.errors import RefMoved
from gitmem.store.lock import writer_lock
from gitmem.store.port import RefMove
from gitmem.store.repack import repack, repack_due
from gitmem.store.repository import locate, open_backend
from gitmem.store.snapshot import snapshot
from gitmem.store.transaction import TOOL, Transaction, publish

REF = "refs/heads/gitmem/main"
WHEN = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)


def main(where: str, tag: str, count: int, long_lived: bool) -> None:
    location = locate(Path(where), environ=os.environ, named=True)
    backend = open_backend(location, long_lived=long_lived)
    numbers = range(count) if count else itertools.count()
    for number in numbers:
        path = f"memories/{tag[0]}/{number % 10}/{tag}-{number}.yaml"
        for _ in range(200):
            with writer_lock(location):
                base = snapshot(backend, REF)
                change = Transaction(backend, base)
                change.put(path, f"{tag} {number}\n".encode())
                made = change.commit(f"{tag} {number}", TOOL, TOOL, WHEN)
                try:
                    publish(backend, [RefMove(REF, made, base.commit, "race")])
                    break
                except RefMoved:  # git itself got in between; it knows nothing of our lock
                    continue
        else:
            raise SystemExit(f"{tag} {number}: lost every race")
        print(made, path, flush=True)
        if repack_due(location):
            repack(location)
    backend.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:] == ["libgit2"])
