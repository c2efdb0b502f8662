"""The port on the git program: works in every repository that git works in."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.errors import GitmemError, NotFound, UnsupportedRepository
from gitmem.store import program
from gitmem.store.cat_file import CatFile, object_fault, stream
from gitmem.store.lock import past_locks
from gitmem.store.loose import adopt_owner, fsync, fsync_all, loose_path, write_loose
from gitmem.store.objects import is_object_id, object_id, zero_id
from gitmem.store.packfile import write_pack
from gitmem.store.port import BULK, RefMove
from gitmem.store.refs import list_refs, read_ref, refusal
from gitmem.store.repack import count_objects

if TYPE_CHECKING:
    from gitmem.store.repository import Location

_TRIES = 3
_STREAM_ABOVE = 64  # objects; below it the resident process answers faster than a new one starts


class GitBackend:
    """See `gitmem.store.port.Backend`."""

    name = "git"

    def __init__(self, location: Location) -> None:
        self.location = location
        self.object_format = location.object_format
        self._cat_file = CatFile(location)
        self._unpublished: list[tuple[str, str, bytes]] = []
        self._kept_packs: list[Path] = []

    def start(self) -> None:
        """Start the process that reads objects; it is ready when the first one is asked for."""
        self._cat_file.start()

    def ref(self, name: str) -> str | None:
        return read_ref(self.location, name)

    def refs(self, prefix: str) -> list[tuple[str, str]]:
        return list_refs(self.location, prefix)

    def resolve(self, revision: str) -> str | None:
        return self._cat_file.commit_of(revision)

    def read(self, oid: str) -> tuple[str, bytes]:
        return self._cat_file.contents(oid)

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, str, bytes]]:
        rest = iter(oids)
        first = list(itertools.islice(rest, _STREAM_ABOVE))
        if len(first) < _STREAM_ABOVE:
            return ((oid, *self.read(oid)) for oid in first)
        return stream(self.location, itertools.chain(first, rest))

    def size(self, oid: str) -> int:
        return self._cat_file.header(oid)[1]

    def write(self, objects: Sequence[tuple[str, bytes]]) -> None:
        if self.location.quarantined:
            raise UnsupportedRepository("nothing can be written while a push is being judged")
        if len(objects) > BULK:
            self._kept_packs.append(self._write_pack(objects))
            return
        staged = [(object_id(kind, data, self.object_format), kind, data) for kind, data in objects]
        write_loose(self.location.objects, staged, self.location.shared_mode)
        self._unpublished += staged
        count_objects(self.location, len(staged))

    def move_refs(self, moves: Sequence[RefMove]) -> None:
        self.publish_with(lambda: past_locks(self.location, lambda: self._update_refs(moves)) if moves else None)

    def publish_with(self, move: Callable[[], None]) -> None:
        """Run `move`, the ref move, so that a `git gc --prune=now` beside it takes nothing of what was written.

        Until a ref names them, new objects are garbage to a gc. While one is running they go into a pack that is
        marked to be kept; a gc that begins later sees the ref. What was taken in between is written again.
        """
        for _ in range(_TRIES - 1):
            self._shield()
            try:
                move()
                break
            except NotFound:
                if not self._write_lost():
                    raise
        else:
            move()
        self._shield()
        self._write_lost()
        self._unpublished.clear()
        for keep in self._kept_packs:
            keep.unlink(missing_ok=True)
        self._kept_packs.clear()

    def _shield(self) -> None:
        if self._unpublished and _gc_is_running(self.location):
            self._kept_packs.append(self._write_pack([(kind, data) for _, kind, data in self._unpublished]))
            self._unpublished.clear()

    def _write_lost(self) -> bool:
        taken = [row for row in self._unpublished if not loose_path(self.location.objects, row[0]).exists()]
        lost = [row for row in taken if not self._is_packed(row[0])]
        if lost:
            write_loose(self.location.objects, lost, self.location.shared_mode)
        return bool(lost)

    def log(
        self,
        tip: str,
        *,
        base: str | None = None,
        first_parent: bool = False,
        paths: Sequence[str] = (),
        limit: int | None = None,
    ) -> list[str]:
        options = ["--first-parent"] if first_parent else []
        if limit is not None:
            options.append(f"--max-count={limit}")
        revisions = [tip, *([f"^{base}"] if base else [])]
        done = self.location.git("rev-list", *options, "--end-of-options", *revisions, "--", *paths)
        if done.status:
            raise self._unreadable(done, tip, base)
        return done.lines

    def is_ancestor(self, old: str, new: str) -> bool:
        done = self.location.git("merge-base", "--is-ancestor", "--end-of-options", old, new)
        if done.status > 1:
            raise self._unreadable(done, old, new)
        return done.status == 0

    def close(self) -> None:
        self._cat_file.close()

    def _unreadable(self, done: program.Completed, *oids: str | None) -> GitmemError:
        for oid in oids:
            if oid and is_object_id(oid, self.object_format):
                self.read(oid)  # raises NotFound or CorruptRecord for the one that is at fault
            elif oid and self.resolve(oid) is None:
                return NotFound(f"there is no commit {oid}")
        return object_fault(done.err, self.location) or done.failure("the history cannot be read")

    def _update_refs(self, moves: Sequence[RefMove]) -> None:
        zero = zero_id(self.object_format)
        commands = ["start"]
        for move in moves:
            if move.new is None and move.old is None:
                commands.append(f"verify {move.ref}\0{zero}")
            elif move.new is None:
                commands += ["option no-deref", f"delete {move.ref}\0{move.old}"]
            else:
                commands += ["option no-deref", f"update {move.ref}\0{move.new}\0{move.old or zero}"]
        text = "\0".join([*commands, "prepare", "commit", ""])
        reason = moves[0].reason.replace("\n", " ") or "gitmem"
        done = self.location.git("update-ref", "-m", reason, "-z", "--stdin", stdin=text.encode())
        if done.status:
            raise refusal(done, moves)
        settle_refs(self.location, moves)

    def _is_packed(self, oid: str) -> bool:
        try:
            self._cat_file.header(oid)
        except NotFound:
            return False
        return True

    def _write_pack(self, objects: Sequence[tuple[str, bytes]]) -> Path:
        """Store objects as one pack; gives the .keep file that shields it from gc until a ref names it."""
        done = self._index_pack(objects)
        for _ in range(_TRIES - 1):
            if not done.status:
                break
            done = self._index_pack(objects)  # a `git prune` removes packs that are being written: once a run
        if done.status:
            raise done.failure(f"a pack of {len(objects)} objects could not be stored")
        pack = self.location.objects / "pack" / f"pack-{done.lines[-1].split()[-1]}"
        for suffix in (".pack", ".idx"):
            adopt_owner(pack.with_suffix(suffix), self.location.objects)
        fsync(pack.parent)
        return pack.with_suffix(".keep")

    def _index_pack(self, objects: Sequence[tuple[str, bytes]]) -> program.Completed:
        process = program.spawn(
            ("index-pack", "--stdin", "--fix-thin", "--keep=gitmem is writing"),
            environ=self.location.environ,
            git_dir=self.location.git_dir,
        )
        try:
            assert process.stdin  # noqa: S101 - a pipe was asked for
            with contextlib.suppress(BrokenPipeError):  # index-pack ended early and says why on stderr
                write_pack(objects, len(objects), self.object_format, process.stdin.write)
            out, err = process.communicate()
        except BaseException:
            process.kill()
            process.communicate()
            raise
        return program.Completed(process.returncode, out, err.decode("utf-8", "replace"))


def _gc_is_running(location: Location) -> bool:
    """True while a gc with a person behind it runs; `gc --auto` leaves young objects alone."""
    try:
        process = int((location.common_dir / "gc.pid").read_text("ascii", "replace").split()[0])
        os.kill(process, 0)
    except (FileNotFoundError, ProcessLookupError, ValueError, IndexError):
        return False
    except PermissionError:
        return True  # alive, another user's
    try:
        return b"--auto" not in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return True


def settle_refs(location: Location, moves: Sequence[RefMove]) -> None:
    """fsync the folders in which refs appeared; leave refs and reflogs to the repository's owner."""
    if location.ref_format != "files":
        return
    for _ in range(_TRIES - 1):
        try:
            _settle_once(location, moves)
            return
        except (
            FileNotFoundError
        ):  # git's pack-refs took a folder away that had been seen; it syncs what it wrote itself
            continue
    _settle_once(location, moves)


def _settle_once(location: Location, moves: Sequence[RefMove]) -> None:
    for top in (location.common_dir, location.common_dir / "logs"):
        folders: set[Path] = set()
        for move in moves:
            folder = (top / move.ref).parent
            while folder != location.common_dir and folder not in folders and folder.is_dir():
                folders.add(folder)
                folder = folder.parent
            if (top / move.ref).is_file():
                adopt_owner(top / move.ref, location.common_dir)
        if top == location.common_dir:
            fsync_all(sorted(folders))
        for folder in folders:
            adopt_owner(folder, location.common_dir)
