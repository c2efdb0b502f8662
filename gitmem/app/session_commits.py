"""Which session made a commit: what git's hooks noted, and what the sessions show of it.

A commit is known again after an amend, a rebase or a squash by what post-rewrite noted, after a cherry-pick by its
patch, after a squash elsewhere by its tree. When two sessions may have made it, nothing is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Final, Literal

from gitmem.app.belief import inert_view
from gitmem.app.capture import NOTED, NOTED_ASIDE
from gitmem.app.facts import sources
from gitmem.app.state import load, save
from gitmem.app.transcripts import Transcripts
from gitmem.app.workspace import Workspace
from gitmem.errors import Ambiguous, NotFound
from gitmem.evidence.patch import patch_ids
from gitmem.model.frozen import dataclass
from gitmem.model.layout import session_folder
from gitmem.model.text import one_line
from gitmem.store.objects import is_object_id, parse_commit
from gitmem.store.sessions import StoredSession, session_places, stored_sessions

if TYPE_CHECKING:
    from gitmem.capture.turns import Turn

_STATE: Final = "session-commits"
_LIMIT: Final = 4 * 1024 * 1024
_MADE: Final = re.compile(r"^\[[^\]\n]{1,200}? ([0-9a-f]{7,64})\] ", re.MULTILINE)  # what git commit prints
_MAKING: Final = re.compile(r"\bgit\b[^\n]*\b(?:commit|cherry-pick|merge|rebase|revert|am|pull)\b")
_BEFORE: Final = timedelta(minutes=2)  # a command that commits may have run so long before it does
_AFTER: Final = timedelta(seconds=5)

_TRAILER: Final = re.compile(r"^Gitmem-Session:[ \t]*([a-z0-9-]{1,40}/[0-9A-Za-z._-]{1,200})[ \t]*$", re.MULTILINE)

Basis = Literal["itself", "rewritten", "patch", "tree", "trailer"]


@dataclass(frozen=True)
class Commit:
    """What is kept of a commit, so that it is known again when it is gone."""

    oid: str
    tree: str
    patch: str
    at: datetime
    thread: str = ""


@dataclass(frozen=True)
class Made:
    """A session that made a commit. `commit` is the one it made, `basis` how the asked one is that.

    "trailer": only the message says so, which anybody can write; `record` is empty then.
    """

    stored: StoredSession
    record: str
    commit: str
    basis: Basis
    shown: bool


@dataclass(frozen=True)
class Touched:
    """A session that touched a file: how often, and when last."""

    stored: StoredSession
    times: int
    last: datetime | None


@dataclass(frozen=True)
class Answer:
    """`declined`: why nothing is claimed, though there is something. `absent`: sessions that the message names and that
    are not here."""

    commit: str
    made: tuple[Made, ...]
    declined: str = ""
    absent: tuple[str, ...] = ()


def note_commits(workspace: Workspace) -> list[str]:
    """Take over what the hooks noted since the last time; the commits that are news. Called by a capture, one at a
    time."""
    folder = workspace.location.private
    file, aside = folder / NOTED, folder / NOTED_ASIDE
    if not aside.exists():
        try:
            file.rename(aside)
        except FileNotFoundError:
            return []
    made, rewrote = _read(workspace, aside.read_bytes()[:_LIMIT].decode("ascii", "replace"))
    state = load(folder, _STATE)
    kept = state.get("commits", {})
    new = [oid for oid in made if oid not in kept]
    commits = {**kept, **{c.oid: _row(c) for c in _commits(workspace, new, made)}}
    save(folder, _STATE, {"commits": commits, "rewrote": {**state.get("rewrote", {}), **rewrote}})
    aside.unlink()
    return new


def _read(workspace: Workspace, text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Commits with the thread that the host named, and old commits with what they became."""
    made: dict[str, str] = {}
    rewrote: dict[str, str] = {}
    for line in text.split("\n"):
        words = [*line.split(" "), "", ""]
        oids = [word for word in words[1:3] if is_object_id(word, workspace.backend.object_format)]
        if words[0] == "made" and oids:
            made[oids[0]] = words[2] if len(oids) == 1 else ""
        elif words[0] == "rewrote" and len(oids) == 2:
            rewrote[oids[0]] = oids[1]
            made |= dict.fromkeys(oids, "")
    return made, rewrote


def _commits(workspace: Workspace, oids: Iterable[str], threads: Mapping[str, str]) -> Iterator[Commit]:
    """Those that are here."""
    found = []
    for oid in oids:
        try:
            kind, data = workspace.backend.read(oid)
        except NotFound:
            continue
        if kind == "commit":
            found.append((oid, parse_commit(data)))
    ids = patch_ids([oid for oid, _ in found], sources(inert_view(workspace), workspace.env.channel))
    for oid, info in found:
        seconds = int(info.committer.rsplit(" ", 2)[1])
        at = datetime.fromtimestamp(seconds, timezone.utc)
        yield Commit(oid, info.tree, ids.get(oid, ""), at, threads.get(oid, ""))


def _row(commit: Commit) -> dict[str, Any]:
    return {"tree": commit.tree, "patch": commit.patch, "at": int(commit.at.timestamp()), "thread": commit.thread}


def sessions_of_commit(workspace: Workspace, oid: str) -> Answer:
    """The sessions that made a commit, or one that became it."""
    state = load(workspace.location.private, _STATE)
    kept = [
        Commit(name, row["tree"], row["patch"], datetime.fromtimestamp(row["at"], timezone.utc), row["thread"])
        for name, row in state.get("commits", {}).items()
    ]
    (asked,) = _commits(workspace, [oid], {c.oid: c.thread for c in kept})
    seen = list(_seen(workspace))
    shown = _shown(workspace, seen, [asked, *kept])
    kept += shown
    ways: list[tuple[Basis, list[Commit]]] = [
        ("itself", [asked]),
        ("rewritten", _became(asked, kept, state.get("rewrote", {}))),
        ("patch", [c for c in kept if asked.patch and c.patch == asked.patch and c.oid != oid]),
        ("tree", [c for c in kept if c.tree == asked.tree and c.oid != oid]),
    ]
    for basis, commits in ways:
        made: list[Made] = []
        for commit in {c.oid: c for c in commits}.values():
            by = _makers(commit, seen)
            names = {stored.manifest.name for stored, _, _ in by}
            if len(names) > 1:
                return Answer(oid, (), f"{commit.oid[:12]} may have been made by {' or '.join(sorted(names))}")
            made += [Made(stored, turn.record, commit.oid, basis, said) for stored, turn, said in by[:1]]
        if made:
            return Answer(oid, tuple(made))
    return _said_by_message(workspace, oid)


def _said_by_message(workspace: Workspace, oid: str) -> Answer:
    """The sessions that the last paragraph of the message names: `gitmem hooks install --trailer`."""
    _, data = workspace.backend.read(oid)
    last = parse_commit(data).message.rstrip().rpartition("\n\n")[2]
    names = dict.fromkeys(_TRAILER.findall(last))
    here = (
        {stored.manifest.name: stored for stored in stored_sessions(workspace.backend, [], fetched=True)}
        if names
        else {}
    )
    made = tuple(Made(here[name], "", oid, "trailer", shown=False) for name in names if name in here)
    return Answer(oid, made, absent=tuple(name for name in names if name not in here))


def sessions_of_path(workspace: Workspace, path: str) -> list[Touched]:
    """The sessions whose tools named a file, or one below a folder, the latest first."""
    from gitmem.app.sessions_search import touches

    read = Transcripts(workspace)
    found = []
    for stored in _that_touched(workspace, path):
        last = stored.manifest.last
        turns = [turn for turn in read.turns(stored, last) if touches(turn, path)] if last else []
        if turns:
            times = [turn.at for turn in turns if turn.at]
            found.append(Touched(stored, len(turns), max(times, default=None)))
    oldest = datetime.min.replace(tzinfo=timezone.utc)
    return sorted(found, key=lambda item: item.last or oldest, reverse=True)


def _that_touched(workspace: Workspace, path: str) -> Iterator[StoredSession]:
    """The sessions captured here that may have touched a file: those of which the index of turns says so, or all where
    there is no index."""
    from gitmem.app.sessions_index import caught_up
    from gitmem.app.sessions_search import touched
    from gitmem.recall.faults import IndexBusy, IndexDamaged

    try:
        index = caught_up(workspace, session_places(workspace.backend))
    except (IndexBusy, IndexDamaged):
        index = None
    for stored in stored_sessions(workspace.backend, []):
        known = index.sessions.get(session_folder(stored.manifest.host, stored.manifest.session)) if index else None
        if known is None or known.fault or touched(known.paths, path):
            yield stored


Seen = tuple[StoredSession, "Turn", frozenset[str], bool]


def _seen(workspace: Workspace) -> Iterator[Seen]:
    """The turns that tell of commits: the short ids that git printed, and whether git was told to make one."""
    read = Transcripts(workspace)
    for stored in stored_sessions(workspace.backend, []):
        last = stored.manifest.last
        calls: set[str] = set()
        for turn in read.turns(stored, last) if last else ():
            making = turn.tool is not None and _MAKING.search(turn.text) is not None and turn.speaker != "tool"
            if making and turn.call:
                calls.add(turn.call)
            printed = (
                frozenset(_MADE.findall(turn.text)) if turn.speaker == "tool" and turn.call in calls else frozenset()
            )
            if making or printed:
                yield stored, turn, printed, making


def _shown(workspace: Workspace, seen: Iterable[Seen], known: Iterable[Commit]) -> list[Commit]:
    """The commits that git printed in a session and no hook has noted, where they are still here."""
    oids = {commit.oid for commit in known}
    short = {name for _, _, printed, _ in seen for name in printed}
    found = set()
    for name in short:
        if not any(oid.startswith(name) for oid in oids):
            with suppress(Ambiguous):
                found.add(workspace.backend.resolve(name))
    return list(_commits(workspace, sorted(oid for oid in found if oid), {}))


def _became(asked: Commit, kept: Iterable[Commit], rewrote: Mapping[str, str]) -> list[Commit]:
    """The commits that were rewritten, in one step or several, into the asked one."""
    olds, new = set(), {asked.oid}
    while new := {old for old, to in rewrote.items() if to in new and old not in olds}:
        olds |= new
    return [commit for commit in kept if commit.oid in olds]


def _makers(commit: Commit, seen: Iterable[Seen]) -> list[tuple[StoredSession, Turn, bool]]:
    """Who made a commit: the session in which git said so, else the only one that told git to commit just then."""
    rows = list(seen)
    told = [
        (stored, turn, True)
        for stored, turn, printed, _ in rows
        if any(commit.oid.startswith(name) for name in printed)
    ]
    if told:
        return told
    named = [(stored, turn, True) for stored, turn, _, _ in rows if stored.manifest.session == commit.thread]
    if named:
        return named[-1:]
    answered = {(stored.manifest.name, turn.call) for stored, turn, printed, _ in rows if printed}
    return [
        (stored, turn, False)
        for stored, turn, _, making in rows
        if making and turn.at and (stored.manifest.name, turn.call) not in answered
        if turn.at - _AFTER <= commit.at <= turn.at + _BEFORE
    ]


def asked_commit(workspace: Workspace, wanted: str) -> str | None:
    """The commit that `wanted` names, None when it is none and so a path."""
    return workspace.backend.resolve(one_line(wanted, 250)) if not wanted.startswith(("-", "./")) else None
