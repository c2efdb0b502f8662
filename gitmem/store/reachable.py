"""Every object that a set of refs and their reflogs still lead to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from gitmem.store.objects import is_object_id, zero_id
from gitmem.store.repository import Location

_LOGS: Final = "logs"


class LogLine(NamedTuple):
    """One entry of a reflog. `number` counts from 1, oldest first where git keeps it as a file."""

    ref: str
    number: int
    oids: tuple[str, ...]
    text: str


def reflog(location: Location, spaces: Iterable[str], refs: Iterable[str]) -> Iterator[LogLine]:
    """Every reflog entry of the refs below `spaces`, of refs that are gone too where their log was left.

    `refs` are those that there are: a reftable is asked for each.
    """
    if location.ref_format != "files":
        for ref in refs:
            done = location.git("log", "-g", "--format=%H %gs", ref, "--")
            for number, line in enumerate(done.lines if not done.status else (), 1):
                oid, _, text = line.partition(" ")
                yield LogLine(ref, number, (oid,), text)
        return
    for space in spaces:
        folder = location.common_dir / _LOGS / space
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            ref = str(file.relative_to(location.common_dir / _LOGS))
            for number, raw in enumerate(file.read_bytes().splitlines(), 1):
                line = raw.decode("utf-8", "surrogateescape")
                ids, _, text = line.partition("\t")
                found = (oid for oid in ids.split(" ")[:2] if is_object_id(oid, location.object_format))
                nothing = zero_id(location.object_format)
                yield LogLine(ref, number, tuple(oid for oid in found if oid != nothing), text)


def reachable(location: Location, tips: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """(ids of all objects below `tips`, each with a path it was found at or ""; ids of those that are not here).

    A tip that is gone is left out: a reflog may outlive its commits. Raises GitmemError when git cannot tell.
    """
    wanted = sorted(set(tips))
    if not wanted:
        return {}, []
    done = location.git(
        *("rev-list", "--objects", "--ignore-missing", "--missing=print", "--stdin"),
        stdin="".join(f"{oid}\n" for oid in wanted).encode(),
    )
    if done.status:
        raise done.failure("the objects of gitmem's refs cannot be listed", hint="git fsck")
    found: dict[str, str] = {}
    missing = []
    for line in done.lines:
        oid, _, path = line.partition(" ")
        if oid.startswith("?"):
            missing.append(oid[1:])
        else:
            found[oid] = path
    return found, missing
