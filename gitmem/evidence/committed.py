"""What a commit holds at a path: found by name, or checked against what a record says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from gitmem.errors import NotFound, UsageError
from gitmem.evidence.sources import Sources, is_plain_path, is_utf8
from gitmem.model.text import escape
from gitmem.store.objects import Entry, parse_commit
from gitmem.store.snapshot import Snapshot

_FILE_MODES: Final = ("100644", "100755", "100664")  # the last is in trees of git before 2005-05
_SUCCESSORS: Final = 200  # commits that touched the path, newest first, among which lost bytes are looked for
_NAMES_READ: Final = 20_000
_OTHER: Final = {
    "40000": ("a folder", "cite a file in it"),
    "120000": ("a symbolic link", "cite the file that it points at"),
    "160000": ("a submodule", "cite the file in its own repository, or the commit here: commit:HEAD"),
}


class Standing(NamedTuple):
    """How `commit:path` names a blob today, with the blob's bytes when verified."""

    state: Literal["verified", "changed", "missing", "unobservable"]
    detail: str = ""
    data: bytes = b""


def entry_at(commit: str, path: str, sources: Sources) -> Entry | None:
    """What `commit` holds at a plain path; None when nothing. Raises NotFound when the commit is not here."""
    return _view(commit, sources).entry(path)


def _view(commit: str, sources: Sources) -> Snapshot:
    kind, data = sources.read(commit)
    if kind != "commit":
        raise NotFound(f"{commit[:12]} is no commit")
    return Snapshot(sources.backend, commit, parse_commit(data).tree)


def is_file(entry: Entry) -> bool:
    return entry.mode in _FILE_MODES


def file_at(commit: str, path: str, sources: Sources) -> Entry | None:
    """Like `entry_at`, for files only. Raises UsageError for a folder, a symbolic link or a submodule."""
    entry = entry_at(commit, path, sources)
    if entry is not None and not is_file(entry):
        what, instead = _OTHER.get(entry.mode, ("no file", "cite a file"))
        raise UsageError(f"{path} is {what}, not a file", hint=instead)
    return entry


def standing(path: str, commit: str, blob: str, sources: Sources) -> Standing:
    """Whether `commit:path` is `blob`, and its bytes.

    When the commit is not here (rewritten, pruned or never fetched), the history of `path` that HEAD has is
    searched for the same blob. A blob that merely exists proves nothing: anyone may write one.
    """
    if not (is_plain_path(path) and sources.is_oid(commit) and sources.is_oid(blob)):
        return Standing("missing", "path, commit or blob is not one that a repository like this can hold")
    try:
        entry = entry_at(commit, path, sources)
    except NotFound:
        return _after_rewrite(path, commit, blob, sources)
    if entry is None:
        return Standing("missing", f"{commit[:12]} has no {path}")
    if not is_file(entry) or entry.oid != blob:
        return Standing("changed", f"{commit[:12]} has other bytes at {path}")
    return _bytes_of(blob, "", sources)


def _after_rewrite(path: str, commit: str, blob: str, sources: Sources) -> Standing:
    tips = sources.backend.log(sources.head, paths=[path], limit=_SUCCESSORS) if sources.head else []
    for tip in tips:
        try:
            entry = entry_at(tip, path, sources)
        except NotFound:  # a clone without all trees
            continue
        if entry and is_file(entry) and entry.oid == blob:
            return _bytes_of(blob, f"rewritten; the same bytes are in {tip[:12]}", sources)
    return Standing("unobservable", f"rewritten or not fetched, last seen as {commit[:12]}")


def _bytes_of(blob: str, detail: str, sources: Sources) -> Standing:
    try:
        kind, data = sources.read(blob)
    except NotFound:
        return Standing("unobservable", f"the bytes of {blob[:12]} are not in this clone")
    return Standing("verified", detail, data) if kind == "blob" else Standing("changed", f"{blob[:12]} is no file")


def nearest(commit: str, path: str, sources: Sources) -> str | None:
    """The committed file whose name is most like `path`: the same name elsewhere, else a like name anywhere.

    Looks at 20,000 names at most.
    """
    from difflib import get_close_matches
    from itertools import islice

    paths = list(islice(_files(commit, sources), _NAMES_READ))
    name = path.rsplit("/", 1)[-1]
    same = [found for found in paths if found.rsplit("/", 1)[-1] == name]
    return next(iter(get_close_matches(path, same or paths, n=1, cutoff=0.0 if same else 0.6)), None)


def _files(commit: str, sources: Sources) -> Iterator[str]:
    return (path for path, entry in _view(commit, sources).walk() if is_file(entry) and is_utf8(path))


def must_be_plain(path: str, example: str) -> None:
    """Raises UsageError when no file of a repository can have this path."""
    if not is_plain_path(path):
        raise UsageError(
            f"{escape(path)!r} is no path of a file in this repository",
            hint=f"give it from the top folder of the repository, without '..', as in {example}",
        )
