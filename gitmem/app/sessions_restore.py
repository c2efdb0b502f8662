"""`gitmem sessions restore`: a host gets the files of a session back that it lost, all of them or none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

from gitmem.app.capture import LOCK
from gitmem.app.capture_lines import Prefix, put_back
from gitmem.app.capture_progress import Known, Progress, mark_of_given_back
from gitmem.app.sessions import session
from gitmem.app.workspace import Workspace
from gitmem.errors import GitmemError, Locked, NotFound, Refused
from gitmem.model.frozen import dataclass
from gitmem.model.sessions import Generation
from gitmem.store.lock import sole
from gitmem.store.sessions import StoredSession, stored_sessions

_SUFFIX: Final = ".gitmem-restoring"
_LINE: Final = b"\n"


@dataclass(frozen=True)
class Receipt:
    """What was given back, or would be. `sha256` is over the bytes of the file; `removed` secrets stay out of it."""

    name: str
    path: Path
    bytes: int
    sha256: str
    removed: int
    captured: str


def restore(workspace: Workspace, wanted: str, *, to: Path | None = None, dry_run: bool = False) -> tuple[Receipt, ...]:
    """Write the last captured state of a session, and of those it started, where the host had them.

    `to` is a folder for the files of a session that this clone did not capture, or for a copy. Each file is
    written beside its place, read again and compared, then all are put in place. A file that is there is never
    written over; one that holds just what was captured is left out. Raises Refused naming what is in the way, Locked
    while a capture is at work.
    """
    with sole(workspace.location, LOCK) as alone:
        if not alone:
            raise Locked("a capture is at work here", hint="try again when it has ended")
        return _restored(workspace, wanted, to, dry_run)


def _restored(workspace: Workspace, wanted: str, to: Path | None, dry_run: bool) -> tuple[Receipt, ...]:
    main = session(workspace, wanted)
    family = [main, *_children(workspace, main)]
    targets = []
    for stored, path in [(stored, _target(workspace, stored, to)) for stored in family]:
        if not (path.exists() or path.is_symlink()):
            targets.append((stored, path))
        elif not path.is_file() or _digest_of(path) != _measured(stored)[1]:
            raise Refused(
                f"{path} is there and is not what was captured; a file is never written over, nothing was restored",
                hint=f"move it away, or restore a copy: gitmem sessions restore {main.manifest.name} --to FOLDER",
                details={"path": str(path)},
            )
    if dry_run:
        return tuple(_receipt(stored, path, *_measured(stored)) for stored, path in targets)
    receipts = _written(targets)
    if to is None:
        _note_given_back(workspace, targets)
    return receipts


def _note_given_back(workspace: Workspace, targets: list[tuple[StoredSession, Path]]) -> None:
    """So that the next capture goes on behind what was given back, though markers stand in it for secrets."""
    progress = Progress(workspace.location.private, workspace.env.random)
    for stored, path in targets:
        with path.open("rb") as stream:
            prefix = Prefix(stream, progress.key)
            size = path.stat().st_size
            prefix.skip(size)
        known = progress.known(stored.manifest.name)
        last = _last(stored)
        marks = {mark_of_given_back(last.number, last.origin, size): prefix.digest}
        progress.note(
            stored.manifest.name,
            Known(
                str(path),
                [],
                marks,
                remembered=known.remembered if known else (),
                trees=known.trees if known else (),
            ),
        )
    progress.save()


def _written(targets: list[tuple[StoredSession, Path]]) -> tuple[Receipt, ...]:
    made: list[Path] = []
    placed: list[Path] = []
    receipts = []
    try:
        for stored, path in targets:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f"{path.name}{_SUFFIX}.{os.getpid()}")
            made.append(beside)
            receipts.append(_write(stored, path, beside))
        for beside, (_, path) in zip(made, targets, strict=True):
            os.link(beside, path)  # fails when something came there meanwhile
            placed.append(path)
    except OSError as error:
        for path in placed:
            path.unlink(missing_ok=True)
        raise GitmemError(
            f"{error.filename2 or error.filename}: {error.strerror}; nothing was restored",
            hint="see the free space and the rights, or name another folder: --to FOLDER",
        ) from None
    except BaseException:
        for path in placed:
            path.unlink(missing_ok=True)
        raise
    finally:
        for beside in made:
            beside.unlink(missing_ok=True)
    return tuple(receipts)


def _write(stored: StoredSession, path: Path, beside: Path) -> Receipt:
    """Write `beside`, on the disk when this returns, and read it again."""
    digest, size = sha256(), 0
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        for line in _lines(stored, _last(stored)):
            out.write(line)
            digest.update(line)
            size += len(line)
        out.flush()
        os.fsync(descriptor)
    if _digest_of(beside) != digest.hexdigest():
        raise GitmemError(f"{beside} does not hold what was written to it; nothing was restored", hint="check the disk")
    return _receipt(stored, path, size, digest.hexdigest())


def _digest_of(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1024 * 1024):
            digest.update(block)
    return digest.hexdigest()


def _measured(stored: StoredSession) -> tuple[int, str]:
    digest, size = sha256(), 0
    for line in _lines(stored, _last(stored)):
        digest.update(line)
        size += len(line)
    return size, digest.hexdigest()


def _receipt(stored: StoredSession, path: Path, size: int, digest: str) -> Receipt:
    last = _last(stored)
    removed = sum(len(lines) for lines in last.removed.values())
    return Receipt(stored.manifest.name, path, size, digest, removed, last.captured)


def _lines(stored: StoredSession, generation: Generation) -> Iterator[bytes]:
    """The bytes of the host's file but for removed secrets; what was taken apart is in its place again."""
    known = {item.sha256 for item in generation.apart}
    rest = b""
    for chunk in stored.stream(generation):
        *whole, rest = (rest + chunk).split(_LINE)
        for line in whole:
            yield put_back(line, lambda digest: stored.apart(digest) if digest in known else None) + _LINE
    if rest:
        yield put_back(rest, lambda digest: stored.apart(digest) if digest in known else None)


def _last(stored: StoredSession) -> Generation:
    last = stored.manifest.last
    if last is None:
        raise NotFound(f"nothing of {stored.manifest.name} is stored", hint="gitmem capture")
    return last


def _children(workspace: Workspace, main: StoredSession) -> list[StoredSession]:
    return [
        stored
        for stored in stored_sessions(workspace.backend, [])
        if stored.manifest.host == main.manifest.host and stored.manifest.parent == main.manifest.session
    ]


def _target(workspace: Workspace, stored: StoredSession, to: Path | None) -> Path:
    progress = Progress(workspace.location.private, workspace.env.random)
    known = None if stored.fetched else progress.known(stored.manifest.name)
    if to is not None:
        name = Path(known.path).name if known and known.plain else stored.ref.rsplit("/", 1)[-1]
        return to / (name if known and known.plain else f"{name}.{stored.manifest.suffix}")
    again = f"gitmem sessions restore {stored.manifest.name} --to FOLDER"
    if known is None:
        raise NotFound(
            f"{stored.manifest.name} was captured in another clone: where it lay is not known here", hint=again
        )
    if not known.plain:
        raise GitmemError(
            f"{stored.manifest.host} keeps {stored.manifest.session} in a database, which gitmem does not write to",
            hint=again,
        )
    return Path(known.path)
