"""Keeping gitmem's loose objects few: a write makes about a dozen, so a pack every hundred writes or so.

Above some 6,700 loose objects the user's next commit would start a gc of git's own.
"""

from __future__ import annotations

import os
import re
from typing import Final

from gitmem.model.layout import BRANCH_SPACE, PRIVATE_SPACE
from gitmem.store.lock import writer_lock
from gitmem.store.loose import adopt_owner, clear_temporaries, fsync, make_folder
from gitmem.store.refs import list_refs
from gitmem.store.repository import Location

EVERY: Final = 1500  # loose objects
_TEMPORARY_AGE: Final = 3600  # seconds
_COUNT: Final = "loose-objects"  # one byte an object: appending needs no lock
_PACKED: Final = "packed-tips"
_CHUNK: Final = re.compile(rb"(g[0-9]+/[0-9]+)-[0-9]+(\.[a-z]+)$", re.MULTILINE)
_IN_A_HOOK: Final = ("GIT_DIR", "GIT_INDEX_FILE", "GIT_QUARANTINE_PATH")


def count_objects(location: Location, objects: int) -> None:
    """Note that so many loose objects were written."""
    make_folder(location.private, location.shared_mode)
    descriptor = os.open(location.private / _COUNT, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(descriptor, b"." * objects)
    finally:
        os.close(descriptor)
    adopt_owner(location.private / _COUNT, location.common_dir)


def repack_due(location: Location) -> bool:
    """True after `EVERY` loose objects; never inside a git hook, which must not keep a person waiting."""
    if any(name in location.environ for name in _IN_A_HOOK):
        return False
    try:
        return (location.private / _COUNT).stat().st_size >= EVERY
    except FileNotFoundError:
        return False


def repack(location: Location) -> None:
    """Pack what gitmem's refs gained since the last time and drop the loose copies. Takes the writer lock.

    Only gitmem's refs are walked, from where the last pack ended; the user's packs are left as they are.
    """
    with writer_lock(location):
        tips = {oid for space in (BRANCH_SPACE, PRIVATE_SPACE) for _, oid in list_refs(location, space)}
        known = location.private / _PACKED
        before = set(known.read_text("ascii").split()) if known.exists() else set()
        revisions = [*sorted(tips), *(f"^{tip}" for tip in sorted(before))]
        pack = location.objects / "pack" / "pack"
        only_ours = ("--exclude-promisor-objects",) if location.partial else ()  # else git would fetch them all
        done = location.git(
            *("rev-list", "--objects", "--unpacked", *only_ours, "--stdin"),
            stdin="".join(f"{revision}\n" for revision in revisions).encode(),
        )
        if not done.status:
            done = location.git(
                *("pack-objects", "--quiet", "--incremental", "--non-empty", "--threads=1", "--window=20", str(pack)),
                stdin=_named_alike(done.out),
            )  # several threads share the objects out among them and lose deltas where they part
        if done.status and before:  # a tip of last time is gone: walk everything
            known.unlink()
        elif done.status:
            raise done.failure("the loose objects could not be packed", hint="git fsck")
        else:
            fsync(pack.parent)
            location.git("prune-packed", "--quiet")
            known.write_text("".join(f"{tip}\n" for tip in sorted(tips)), "ascii")
            for made in (
                known,
                *(pack.with_name(f"pack-{done.out.decode().strip()}{end}") for end in (".pack", ".idx")),
            ):
                if made.exists():
                    adopt_owner(made, location.common_dir)
        count = location.private / _COUNT
        if count.exists():  # its last byte is the file system's idea of now
            clear_temporaries(location.objects, count.stat().st_mtime - _TEMPORARY_AGE)
            count.unlink()


def _named_alike(objects: bytes) -> bytes:
    """The lines of `git rev-list --objects` with one name for all states of one chunk of a session.

    git looks for deltas among objects of like names. A chunk that grows has its end in its name, so without this each
    capture of a turn would be kept whole.
    """
    return _CHUNK.sub(rb"\1\2", objects)


def loose_count(location: Location) -> int:
    """About how many loose objects there are: one folder of 256 counted, as git does for gc.auto."""
    folder = location.objects / "17"
    return 256 * sum(1 for _ in folder.iterdir()) if folder.is_dir() else 0
