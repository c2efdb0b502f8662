"""`gitmem scan-secrets`: every object and file of gitmem, looked through for secrets by the rules of capture.

By enumeration and never by a pattern of names: what refs and reflogs lead to, and every file below the private
folder and the user's state. What is found is named by rule and place; the value is not repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Final

from gitmem.app.secrets_known import known_secrets
from gitmem.app.workspace import Workspace
from gitmem.errors import GitmemError
from gitmem.model.layout import BRANCH_SPACE, PRIVATE_SPACE
from gitmem.policy.redaction import Redactor
from gitmem.store.objects import parse_tree
from gitmem.store.reachable import LogLine, reachable, reflog

_PIECE: Final = 4 * 1024 * 1024  # bytes of a line that are read at once
_SEAM: Final = 1024  # bytes of a long line that are read with both of its pieces
_REMOTES: Final = "refs/remotes/"

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Found:
    """A secret by `rule`. `place`: blob, commit, tree, tag, ref, reflog or file.

    `name`: the object's id, the ref's name, or the file's path; `path`: where the branch has the object, if told.
    """

    rule: str
    place: str
    name: str
    line: int
    path: str = ""

    def data(self) -> dict[str, Any]:
        return {"rule": self.rule, "place": self.place, "name": self.name, "line": self.line, "path": self.path}


@dataclass
class Scan:
    """What was found, and how much was looked at. `unread`: what could not be, a line each."""

    found: list[Found] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    objects: int = 0
    files: int = 0
    refs: int = 0
    size: int = 0  # bytes read


def scan_secrets(workspace: Workspace, progress: Progress) -> Scan:
    """Look through all that is gitmem's in this repository and on this machine, the user's own store with it."""
    result = _scanned(workspace, progress)
    store = workspace.user
    if store is not None:
        other = _scanned(store, progress, state=False)
        named = [replace(found, path=f"user.git {found.path}".strip()) for found in other.found]
        result.found += named
        result.unread += [f"user.git: {why}" for why in other.unread]
        for name in ("objects", "files", "refs", "size"):
            setattr(result, name, getattr(result, name) + getattr(other, name))
    return result


def _scanned(workspace: Workspace, progress: Progress, *, state: bool = True) -> Scan:
    """One repository, and with `state` what this user keeps beside all of them."""
    location, backend = workspace.location, workspace.backend
    scan = Scanner(known_secrets(location, workspace.env.environ))
    refs = [ref for space in (BRANCH_SPACE, PRIVATE_SPACE) for ref in backend.refs(space)]
    refs += [(name, oid) for name, oid in backend.refs(_REMOTES) if "/gitmem/" in name]
    remote_spaces = {name[: name.index("/gitmem/") + 8] for name, _ in refs if name.startswith(_REMOTES)}
    logged = list(reflog(location, (BRANCH_SPACE, PRIVATE_SPACE, *sorted(remote_spaces)), (name for name, _ in refs)))
    scan.refs(refs, logged)
    objects, missing = reachable(location, [*(oid for _, oid in refs), *(oid for log in logged for oid in log.oids)])
    scan.result.unread += [f"object {oid} is not here" for oid in missing]
    places = [(path, location.common_dir) for path in _files(location.private)]
    if state:
        home = workspace.env.state_home()
        places += [(path, home.parent) for path in _files(home)]
    total = len(objects) + len(places)
    for number, (oid, kind, data) in enumerate(_read(workspace, list(objects), scan.result), 1):
        scan.object(oid, kind, data, objects[oid], location.object_format)
        progress(number, total)
    for number, (path, above) in enumerate(places, 1):
        scan.file(path, str(path.relative_to(above)))
        progress(len(objects) + number, total)
    return scan.result


def _files(folder: Path) -> list[Path]:
    """Every file at any depth below `folder`, hidden ones too; a link is not followed."""
    return sorted(path for path in folder.rglob("*") if path.is_symlink() or path.is_file())


def _read(workspace: Workspace, oids: list[str], result: Scan) -> Iterator[tuple[str, str, bytes]]:
    """All objects; one that cannot be read is noted, and the rest follow."""
    at = 0
    while at < len(oids):
        try:
            for oid, kind, data in workspace.backend.read_many(oids[at:]):
                at += 1
                yield oid, kind, data
        except GitmemError as error:
            result.unread.append(f"object {oids[at]}: {error.message}")
            at += 1


class Scanner:
    """Looks at one thing after the other and keeps what it found in `result`. `exact`: values that are secret."""

    def __init__(self, exact: tuple[str, ...]) -> None:
        self.result = Scan()
        self._exact = exact

    def refs(self, refs: Iterable[tuple[str, str]], logged: Iterable[LogLine]) -> None:
        """Names of refs, and what reflogs say. A name that holds a secret is not repeated: the object is named."""
        for name, oid in refs:
            self.result.refs += 1
            for rule in self._rules(_raw(name)):
                self.result.found.append(Found(rule, "ref", oid, 0))
        for log in logged:
            for rule in self._rules(_raw(log.text)):
                self.result.found.append(Found(rule, "reflog", self._sayable(log.ref), log.number))

    def object(self, oid: str, kind: str, data: bytes, path: str, object_format: str) -> None:
        self.result.objects += 1
        self.result.size += len(data)
        lines = [_raw(entry.name) for entry in parse_tree(data, object_format)] if kind == "tree" else data.split(b"\n")
        self._lines(
            lines, 1, Redactor(self._exact), lambda rule, line: Found(rule, kind, oid, line, self._sayable(path))
        )

    def stream(self, pieces: Iterable[bytes], name: str, path: str) -> None:
        """What lies in several objects and is read as one: a secret over their seams is found too."""
        redactor, first, rest = Redactor(self._exact), 1, b""
        for piece in pieces:
            self.result.size += len(piece)
            *lines, rest = (rest + piece).split(b"\n")
            self._lines(lines, first, redactor, lambda rule, line: Found(rule, "blob", name, line, path))
            first += len(lines)
            if len(rest) > _PIECE:
                self._lines([rest], first, redactor, lambda rule, line: Found(rule, "blob", name, line, path))
                rest = rest[-_SEAM:]
        self._lines([rest], first, redactor, lambda rule, line: Found(rule, "blob", name, line, path))

    def file(self, path: Path, name: str) -> None:
        """A file in pieces, and its name. A link is read as its target's name."""
        self.result.files += 1
        shown = self._sayable(name)
        for rule in self._rules(_raw(name)):
            self.result.found.append(Found(rule, "file", shown, 0))
        try:
            if path.is_symlink():
                self._lines(
                    [_raw(str(path.readlink()))], 1, Redactor(self._exact), lambda r, n: Found(r, "file", shown, n)
                )
                return
            redactor = Redactor(self._exact)
            with path.open("rb") as file:
                for number, lines in _batches(file):
                    self._lines(lines, number, redactor, lambda rule, line: Found(rule, "file", shown, line))
                    self.result.size += sum(map(len, lines))
        except FileNotFoundError:
            self.result.files -= 1  # another process took it away: it is not there
        except OSError as error:
            self.result.unread.append(f"file {shown}: {error.strerror}")

    def _lines(self, lines: list[bytes], first: int, redactor: Redactor, found: Callable[[str, int], Found]) -> None:
        bare = [line.removesuffix(b"\n") for line in lines]
        for number, (_, rules) in enumerate(redactor.lines(bare), first):
            self.result.found += [found(rule, number) for rule in dict.fromkeys(rules)]

    def _rules(self, text: bytes) -> list[str]:
        return list(dict.fromkeys(Redactor(self._exact).line(text)[1]))

    def _sayable(self, name: str) -> str:
        """A name that may be shown: without what is secret in it."""
        return Redactor(self._exact).line(_raw(name))[0].decode("utf-8", "replace")


def _batches(file: IO[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Lines of a file with the number of the first. A line too long to be held comes in pieces that overlap."""
    first, lines, size, seam = 1, [], 0, b""
    while line := file.readline(_PIECE):
        lines.append(seam + line)
        size += len(line)
        whole = line.endswith(b"\n")
        seam = b"" if whole else line[-_SEAM:]
        if size >= _PIECE or not whole:
            yield first, lines
            first += len(lines) - (not whole)
            lines, size = [], 0
    if lines:
        yield first, lines


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
