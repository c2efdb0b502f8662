"""A resident `git cat-file --batch-command`: objects and revisions at some 50 microseconds each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gitmem.errors import Ambiguous, CorruptRecord, GitmemError, NotFound, RemoteError, UnsupportedRepository
from gitmem.model.pattern import pattern
from gitmem.model.text import one_line
from gitmem.store import program
from gitmem.store.loose import DAMAGED_HINT, damaged, loose_path
from gitmem.store.objects import is_object_id, object_id
from gitmem.store.packfile import broken_pack

if TYPE_CHECKING:
    from gitmem.store.repository import Location


_SHORT = pattern(r"[0-9a-fA-F]{4,64}")
_CORRUPT = pattern(r"(?:loose|packed) object ([0-9a-f]{40,64}) \(stored in (.+?)\) is corrupt")
_UNFETCHED = pattern(r"could not fetch ([0-9a-f]{40,64}) from promisor remote")


class CatFile:
    """Starts with `start` or the first question, ends with `close`."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._process: program.Process | None = None

    def start(self) -> None:
        if self._process is None:
            self._process = _start(self._location, "--batch-command")

    def contents(self, oid: str) -> tuple[str, bytes]:
        kind, size = self._ask("contents", self._checked(oid))
        data = self._body(oid, size)
        _verify(self._location, oid, kind, data)
        return kind, data

    def header(self, oid: str) -> tuple[str, int]:
        """(kind, size)."""
        return self._ask("info", self._checked(oid))

    def commit_of(self, revision: str) -> str | None:
        """The commit that a revision names. Raises Ambiguous."""
        if "\n" in revision or "\0" in revision or not revision.strip():
            return None
        line = self._question("info", f"{revision}^{{commit}}")
        if line.endswith(" missing") and _SHORT.fullmatch(revision):
            line = self._question("info", revision)  # git calls a peeled short id of two commits missing
        if line.endswith(" ambiguous"):
            raise Ambiguous(f"{revision!r} names more than one object", hint="give more of its characters")
        oid = line.split(" ")[0]
        return oid if line.startswith(f"{oid} commit ") else None

    def close(self) -> None:
        if self._process:
            _end(self._process)
            self._process = None

    def _checked(self, oid: str) -> str:
        if not is_object_id(oid, self._location.object_format):
            raise NotFound(f"{one_line(oid, 80)!r} is not a {self._location.object_format} object id")
        return oid

    def _ask(self, command: str, oid: str) -> tuple[str, int]:
        return _parsed(self._question(command, oid), oid, self._location)

    def _question(self, command: str, about: str) -> str:
        self.start()
        assert self._process and self._process.stdin and self._process.stdout  # noqa: S101 - pipes were asked for
        try:
            self._process.stdin.write(f"{command} {about}\n".encode("utf-8", "surrogateescape"))
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            raise self._died(about)
        return line.decode("utf-8", "surrogateescape").rstrip("\n")

    def _body(self, oid: str, size: int) -> bytes:
        assert self._process and self._process.stdout  # noqa: S101
        data = self._process.stdout.read(size + 1)
        if len(data) != size + 1:
            raise self._died(oid)
        return data[:-1]

    def _died(self, about: str) -> GitmemError:
        assert self._process is not None  # noqa: S101
        process, self._process = self._process, None
        return _death(process, about, self._location)


def stream(location: Location, oids: Iterable[str]) -> Iterator[tuple[str, str, bytes]]:
    """(id, kind, data) of many objects in the order asked, through a process of its own.

    A thread feeds the ids; what git has not been asked for yet costs no memory.
    """
    import threading
    from collections import deque

    process = _start(location, "--batch", "--buffer")
    stdin, stdout = process.stdin, process.stdout
    assert stdin and stdout  # noqa: S101
    asked: deque[str] = deque()
    broken: list[BaseException] = []

    def feed() -> None:
        try:
            for oid in oids:
                asked.append(oid)
                stdin.write(oid.encode("ascii", "replace") + b"\n")
        except BrokenPipeError:
            pass  # git ended; the reading side says why
        except BaseException as error:  # handed to the reader, who raises it
            broken.append(error)
        finally:
            with contextlib.suppress(BrokenPipeError):
                stdin.close()

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    try:
        while line := stdout.readline():
            oid = asked.popleft()
            kind, size = _parsed(line.decode("utf-8", "surrogateescape").rstrip("\n"), oid, location)
            data = stdout.read(size + 1)
            if len(data) != size + 1:
                raise _death(process, oid, location)
            _verify(location, oid, kind, data[:-1])
            yield oid, kind, data[:-1]
        feeder.join()
        if broken:
            raise broken[0]
        if asked:
            raise _death(process, asked[0], location)
    finally:
        process.kill()
        feeder.join()
        _end(process)


def _start(location: Location, *arguments: str) -> program.Process:
    # In a partial clone git fetches a missing object by itself, as it would on any read of the user's.
    return program.spawn(
        ("cat-file", *arguments),
        environ=location.environ,
        git_dir=location.git_dir,
        cwd=location.work_tree if location.partial else None,  # where the path of a promisor remote begins
        user_config=location.partial,
    )


def _end(process: program.Process) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe and not pipe.closed:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
    process.wait()


def _parsed(line: str, oid: str, location: Location) -> tuple[str, int]:
    parts = line.rsplit(" ", 2)
    if len(parts) == 3 and parts[2].isdigit():
        return parts[1], int(parts[2])
    path = loose_path(location.objects, oid)
    if path.exists():
        raise damaged(path)
    if broken := broken_pack(location.objects, location.object_format):
        raise CorruptRecord(
            f"object {oid} cannot be read: {broken} is not whole",
            hint=DAMAGED_HINT,
            details={"object": oid, "path": str(broken)},
        )
    hint = "it is not in this clone; fetch from where it came" if location.partial or location.shallow else ""
    raise NotFound(f"object {oid} is not in the repository", hint=hint, details={"object": oid})


def _verify(location: Location, oid: str, kind: str, data: bytes) -> None:
    """git itself does not compare a loose object with its name on this way."""
    if object_id(kind, data, location.object_format) != oid:
        raise damaged(loose_path(location.objects, oid))


def _death(process: program.Process, about: str, location: Location) -> GitmemError:
    said = process.stderr.read().decode("utf-8", "replace") if process.stderr else ""
    _end(process)
    if "unknown option" in said or "usage: git cat-file" in said:
        return UnsupportedRepository("this git is too old", hint=f"install git {program.OLDEST_GIT} or newer")
    if fault := object_fault(said, location):
        return fault
    if is_object_id(about, location.object_format):
        path = loose_path(location.objects, about)
        if path.exists():
            return damaged(path)
        return CorruptRecord(
            f"object {about} is damaged: {one_line(said, 300)}",
            hint=DAMAGED_HINT,
            details={"object": about},
        )
    return GitmemError(f"git could not read {one_line(about, 100)!r}: {one_line(said, 300)}")


def object_fault(said: str, location: Location) -> GitmemError | None:
    """The error when git ended because of one object: damaged, or promised by a remote that gave no answer."""
    if found := _UNFETCHED.search(said):
        return RemoteError(
            f"object {found[1]} is not in this partial clone and could not be fetched: {one_line(said, 200)}",
            hint="run it again when the remote can be reached; git fetch shows whether it can",
            details={"object": found[1]},
        )
    if found := _CORRUPT.search(said):
        path = loose_path(location.objects, found[1])
        if path.exists():
            return damaged(path)
        return CorruptRecord(
            f"object {found[1]} is damaged: {one_line(found[2], 300)} is not whole",
            hint=DAMAGED_HINT,
            details={"object": found[1]},
        )
    return None
