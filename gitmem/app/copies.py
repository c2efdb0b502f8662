"""Every copy of one value that gitmem, or the repository that it lies in, still holds. Nothing is changed.

All objects of the repository are read, those too that no ref leads to and those of the user's own code, and every file
that gitmem keeps. A canary goes in first, and is found by the same search, so that "none" means something.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gitmem.app.workspace import Workspace
from gitmem.errors import CorruptRecord, GitmemError, UsageError
from gitmem.model.layout import BRANCH_SPACE, PRIVATE_SPACE
from gitmem.policy.spellings import SHORTEST, spellings
from gitmem.store.loose import loose_path, write_loose
from gitmem.store.objects import object_id
from gitmem.store.reachable import reachable, reflog
from gitmem.store.remote import remotes

_CANARY: Final = "canary "  # begins the names of the encodings in which it is planted
_PIECE: Final = 4 * 1024 * 1024  # bytes of a file that are read at once


@dataclass(frozen=True)
class Copy:
    """A place where the value stands. `place`: blob, commit, tree, tag, ref, reflog or file.

    `held`: what keeps an object: "refs" of gitmem, its "reflogs" only, or "elsewhere": the user's own refs or nothing.
    """

    encoding: str
    place: str
    name: str
    path: str = ""
    held: str = ""

    def data(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass
class Copies:
    """`remotes`: those that have gitmem's branch as far as this clone knows: what was pushed there stays there."""

    found: list[Copy] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    remotes: tuple[str, ...] = ()
    objects: int = 0
    files: int = 0


def copies(workspace: Workspace, value: str) -> Copies:
    """Look for `value` in every encoding of `spellings`, in this repository and the user's own store.

    Raises UsageError for a value that is too short to be looked for, and CorruptRecord when the search did not find
    its own canary.
    """
    if len(value.encode()) < SHORTEST:
        raise UsageError(f"a value of fewer than {SHORTEST} bytes stands everywhere by chance")
    needles = spellings(value)
    result = Copies()
    for number, one in enumerate([workspace, *([workspace.user] if workspace.user is not None else [])]):
        _searched(one, needles, result, "user.git " if number else "", with_state=not number)
    pushed = {ref.split("/")[2] for ref, _ in workspace.backend.refs("refs/remotes/") if "/gitmem/" in ref}
    taken = {ref.split("/")[3] for ref, _ in workspace.backend.refs(f"{PRIVATE_SPACE}remotes/")}
    result.remotes = tuple(name for name in remotes(workspace.location) if name in pushed | taken)
    return result


def _searched(workspace: Workspace, needles: dict[bytes, str], result: Copies, label: str, *, with_state: bool) -> None:
    location, backend = workspace.location, workspace.backend
    canary = workspace.env.random(20).hex()
    planted = {needle: _CANARY + encoding for needle, encoding in spellings(canary).items()}
    sought = {**planted, **needles}
    data = b"\n".join(planted) + b"\n"
    expected = {("object", one) for one in planted.values()}
    oid, file = object_id("blob", data, location.object_format), location.private / f"canary.{canary[:12]}"
    seen: set[tuple[str, str]] = set()
    write_loose(location.objects, [(oid, "blob", data)], location.shared_mode)
    try:
        if location.private.is_dir():
            file.write_bytes(data)
            expected |= {("file", one) for one in planted.values()}
        refs = [ref for space in (BRANCH_SPACE, PRIVATE_SPACE) for ref in backend.refs(space)]
        logged = list(reflog(location, (BRANCH_SPACE, PRIVATE_SPACE), (name for name, _ in refs)))
        held = _held(workspace, refs, [oid for log in logged for oid in log.oids])
        for kind, name, where, found in _objects(workspace, sought, held, result):
            if found.startswith(_CANARY):
                seen.add(("object", found))
            else:
                result.found.append(
                    Copy(found, kind, name, f"{label}{where}".strip(), held.get(name, ("elsewhere",))[0])
                )
        for name, oid_of in refs:
            _says(result, sought, name.encode("utf-8", "surrogateescape"), "ref", oid_of, label)
        for log in logged:
            _says(result, sought, log.text.encode("utf-8", "surrogateescape"), "reflog", log.ref, label)
        folders = [(location.private, location.common_dir)]
        if with_state:
            home = workspace.env.state_home()
            folders.append((home, home.parent))
        for folder, above in folders:
            for path in sorted(one for one in folder.rglob("*") if one.is_file() or one.is_symlink()):
                found_in = _file(path, sought, result)
                seen |= {("file", one) for one in found_in if one.startswith(_CANARY)}
                name = str(path.relative_to(above))
                if _in(sought, name.encode("utf-8", "surrogateescape")):
                    name = f"a file in {label}{folder.name} whose name holds it"
                    found_in = found_in or {"plain"}
                result.found += [
                    Copy(one, "file", f"{label}{name}") for one in sorted(found_in) if not one.startswith(_CANARY)
                ]
    finally:
        file.unlink(missing_ok=True)
        loose_path(location.objects, oid).unlink(missing_ok=True)
    if seen != expected:
        raise CorruptRecord("the search did not find what it planted itself, so it proves nothing", hint="git fsck")


def _held(workspace: Workspace, refs: list[tuple[str, str]], logged: list[str]) -> dict[str, tuple[str, str]]:
    """What of gitmem leads to an object, and at which path it lies."""
    by_refs, _ = reachable(workspace.location, (oid for _, oid in refs))
    by_logs, _ = reachable(workspace.location, logged)
    return {oid: ("reflogs", path) for oid, path in by_logs.items()} | {
        oid: ("refs", path) for oid, path in by_refs.items()
    }


def _objects(
    workspace: Workspace, sought: dict[bytes, str], held: dict[str, tuple[str, str]], result: Copies
) -> Iterator[tuple[str, str, str, str]]:
    """(kind, id, path, encoding) of each object that holds it; an object that cannot be read is noted."""
    done = workspace.location.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    if done.status:
        raise done.failure("the objects of this repository cannot be listed", hint="git fsck")
    oids, at = done.lines, 0
    while at < len(oids):
        try:
            for oid, kind, data in workspace.backend.read_many(oids[at:]):
                at += 1
                result.objects += 1
                path = held.get(oid, ("", ""))[1]
                shown = "" if _in(sought, path.encode("utf-8", "surrogateescape")) else path
                for encoding in sorted(_in(sought, data)):
                    yield kind, oid, shown, encoding
        except GitmemError as error:
            result.unread.append(f"object {oids[at]}: {error.message}")
            at += 1


def _says(result: Copies, sought: dict[bytes, str], text: bytes, place: str, name: str, label: str) -> None:
    shown = "a ref whose name holds it" if _in(sought, name.encode("utf-8", "surrogateescape")) else name
    result.found += [Copy(one, place, f"{label}{shown}") for one in sorted(_in(sought, text))]


def _file(path: Path, sought: dict[bytes, str], result: Copies) -> set[str]:
    result.files += 1
    found: set[str] = set()
    try:
        if path.is_symlink():
            return _in(sought, str(path.readlink()).encode("utf-8", "surrogateescape"))
        seam = max(map(len, sought))
        with path.open("rb") as file:
            rest = b""
            while piece := file.read(_PIECE):
                found |= _in(sought, rest + piece)
                rest = piece[-seam:]
    except FileNotFoundError:
        result.files -= 1  # another process took it away: it is not there
    except OSError as error:
        result.unread.append(f"file {path.name}: {error.strerror}")
    return found


def _in(sought: dict[bytes, str], data: bytes) -> set[str]:
    return {encoding for needle, encoding in sought.items() if needle in data}
