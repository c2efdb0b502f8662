"""The judgement of one commit of the memory branch."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from gitmem.app import verify_files, verify_merge
from gitmem.app.beside import Beside, worthwhile
from gitmem.app.claim_set import words_are
from gitmem.app.facts import claim_of
from gitmem.app.verify_ahead import Files, Looked, look
from gitmem.app.verify_fault import Checked
from gitmem.app.verify_record import Ground, Record, in_order, judge
from gitmem.app.verify_view import JudgedView, judged_view
from gitmem.app.workspace import Workspace
from gitmem.errors import CorruptRecord, NotFound
from gitmem.model import layout
from gitmem.model.ids import event_milliseconds
from gitmem.model.nouns import Event, Memory, Previous
from gitmem.model.records import digest, event_from_bytes, memory_bytes, memory_from_bytes, texts
from gitmem.model.text import forbidden
from gitmem.model.times import parse_instant
from gitmem.model.vocabulary import FILE_LIMIT, REASON_LIMIT
from gitmem.policy.secrets import find_secrets
from gitmem.store.inspection import inspect_tree
from gitmem.store.objects import Entry, parse_commit
from gitmem.store.remembering import Remembering
from gitmem.store.snapshot import Changed
from gitmem.store.transaction import root_commit_id

if TYPE_CHECKING:
    from gitmem.app.verify_lookup import RangeLookup

_SIGNED: Final = re.compile(r"[^\n]* <[^<>\n]*> [0-9]{1,11} [+-][0-9]{4}")
_AHEAD: Final = 1000  # records whose files are read at once
_MANY: Final = 2000  # new records above which a second process reads ahead
_ASIDE: Final = frozenset({"reject", "lift", "redact"})  # may tell of a record that never was on the branch


def check_commit(workspace: Workspace, commit: str, lookup: RangeLookup) -> Checked:
    """Everything that `commit` changed against its parents, judged on the state that it made."""
    backend = workspace.backend
    checked = Checked(commit)
    info = parse_commit(backend.read(commit)[1])
    if not info.parents:
        if commit != root_commit_id(backend):
            checked.tip("history.root", "a commit without parents that is not the root of a gitmem branch")
        return checked
    if not all(_SIGNED.fullmatch(line) for line in (info.author, info.committer)):
        checked.tip("commit.shape", "author or committer is not a name, an address and a time")
    try:
        parents = [judged_view(workspace, parent) for parent in info.parents]
    except NotFound:
        checked.readable = False
        hint = "git fetch --unshallow" if workspace.location.shallow else "git fetch"
        checked.tip("history.missing", f"what it builds on is not in this clone; {hint} brings it")
        return checked
    after = judged_view(workspace, commit)
    structural = inspect_tree(backend, after.main.tree, base=parents[0].main.tree)
    if structural:
        for fault in structural:
            checked.tip(f"tree.{fault.code}", fault.message, fault.path)
        checked.readable = False  # nothing of such a tree is read
        return checked
    if find_secrets(info.message):
        checked.record("secret", "the commit message holds what looks like a secret", "", None)
    own, taken = verify_merge.split(parents, after)
    rest = verify_merge.unexplained(workspace, parents, after, own, taken)
    merges = len(parents) > 1
    _Commit(workspace, checked, parents[0], after, rest, taken, lookup, merges=merges).check()
    return checked


class _Commit:
    """One check: what changed, sorted by what it is. Events and records are read when they are judged."""

    def __init__(
        self,
        workspace: Workspace,
        checked: Checked,
        before: JudgedView,
        after: JudgedView,
        rest: verify_merge.Unexplained,
        taken: Sequence[verify_merge.Taken],
        lookup: RangeLookup,
        *,
        merges: bool,
    ) -> None:
        own = rest.own
        self.workspace = workspace
        self.checked = checked
        self.before = before
        self.after = after
        self.rest = rest
        self.taken = taken
        self.lookup = lookup
        self.merges = merges
        self.memories = [c for c in own if c.path.startswith(f"{layout.MEMORIES}/")]
        self.tombstones = [c for c in own if c.path.startswith(f"{layout.TOMBSTONES}/")]
        self.conflicts = [c for c in own if c.path.startswith(f"{layout.CONFLICTS}/")]
        self.others = [c for c in own if "/" not in c.path or c.path == layout.SCHEMA]
        self.changed = frozenset(c.path for c in own)
        self.added: defaultdict[str, list[Changed]] = defaultdict(list)  # the new event files of each subject
        self.read: dict[str, list[Event]] = {}
        self.looked: dict[str, Looked] = {}  # the records of the batch that is judged, by path
        self.told: dict[str, Event] = {}  # and their events
        self.digests: dict[str, tuple[str, str]] = {}  # of events read so far, by path: digest and writer
        for change in own:
            if change.path.startswith(f"{layout.EVENTS}/"):
                self._event_file(change)

    def check(self) -> None:
        self.lookup.at(self.after)
        config = verify_files.policy(self.checked, self.before, self.after)
        ground = Ground(self.checked, self.before, self.after, config, self.lookup, self.changed)
        branch = self._events("branch")
        verify_files.settings(self.checked, self.before, self.after, branch)
        if layout.CONFIG in self.changed:
            raw = self.workspace.backend.read(self.checked.commit)[1]
            verify_files.signed_policy(self.checked, self.before, raw)
        verify_files.others(self.checked, self.after, self.others, told=any(event.op == "policy" for event in branch))
        _read_ahead(self.workspace, self._files([change for change in self.memories if change.old is not None]))
        # What changed or went is known before anything new is compared with it.
        modified = [record for change in self.memories if change.old is not None for record in self._record(change)]
        for change in self.tombstones:
            verify_files.tombstone(ground, change, self._events)
        verify_merge.check_taken(self.checked, self.rest.taken)
        if self.merges:
            verify_merge.check_own(self.checked, self.rest.own)
        else:
            for record in modified:
                judge(ground, record, self._events(record.new.id))
            for change in self.conflicts:
                verify_files.conflict(ground, change, self._events)
            self._judge_new(ground)
            subjects = {layout.memory_of_path(change.path) for change in self.memories}
            for subject in sorted(self.added.keys() - subjects - {"branch"}):
                self._nothing_changed(subject)
        for path in self.rest.untold:
            self.checked.note("merge.untold", "merged as gitmem does it, and no event tells of it", path)
        self._merged_records()
        verify_merge.check_together(ground, self.rest.taken, self.rest.withheld)

    def _read_blob(self, entry: Entry | None) -> bytes:
        """The bytes of a file that inspection found to be there and not too long."""
        return b"" if entry is None else self.workspace.backend.read(entry.oid)[1]

    # -- events ----------------------------------------------------------------------------------------------

    def _event_file(self, change: Changed) -> None:
        if change.old is not None:
            what = "removed" if change.new is None else "edited"
            self.checked.tip("event.rewritten", f"an event was {what}; events are only ever added", change.path)
        else:
            self.added[_subject(change.path)].append(change)

    def _events(self, subject: str) -> list[Event]:
        """The new events of one memory, or of "branch", each judged by itself."""
        if subject not in self.read:
            found = (self._event(change) for change in self.added.get(subject, ()))
            self.read[subject] = [event for event in found if event is not None]
        return self.read[subject]

    def _event(self, change: Changed) -> Event | None:
        path = change.path
        raw = self._read_blob(change.new)
        try:
            event = self.told.get(path) or event_from_bytes(raw, path=path)
        except CorruptRecord as error:
            self.checked.tip("record.shape", error.message, path)
            return None
        if layout.event_of_path(path) != event.id or _subject(path) != (event.memory or "branch"):
            self.checked.tip("event.path", "the event is not the one that its name says", path)
            return None
        if event.prev is not None:
            self._chained(event.prev, event.writer, path)
        self.digests[path] = (digest(raw), event.writer)
        if not _when_it_says(event):
            self.checked.tip("event.time", "the time in the event is not the one in its id", path)
        self._event_texts(event, raw, path)
        return event

    def _chained(self, prev: Previous, writer: str, path: str) -> None:
        known = self.digests.get(prev.path) or self._stored_event(prev.path)
        if known is None or known[0] != prev.sha256:
            message = "the writer's previous event is not on the branch or is another one"
            self.checked.tip("event.chain", message, path)
        elif known[1] != writer:
            self.checked.tip("event.chain", "the previous event is of another writer", path)

    def _stored_event(self, path: str) -> tuple[str, str] | None:
        raw = self.after.bytes_at(path) if layout.event_of_path(path) else None
        try:
            return None if raw is None else (digest(raw), event_from_bytes(raw, path=path).writer)
        except CorruptRecord:
            return None

    def _event_texts(self, event: Event, raw: bytes, path: str) -> None:
        if len(event.reason) > REASON_LIMIT:
            self.checked.tip("text.long", f"the reason is longer than {REASON_LIMIT} characters", path)
        # In canonical JSON every character but the printable ones of ASCII is an escape.
        for where, text in texts(event) if b"\\" in raw else ():
            if next(forbidden(text), None) is not None:
                self.checked.tip("text.characters", f"{where} holds control or invisible characters", path)
                return
        # The reason of a change to a record is judged with the record.
        if event.memory is None or event.op in _ASIDE:
            for where, text in texts(event):
                if find_secrets(text):
                    self.checked.record("secret", f"{where} holds what looks like a secret", path, None)
                    return

    def _nothing_changed(self, subject: str) -> None:
        """The events of a memory that is after the commit what it was before: all of them lead back to that."""
        events = self._events(subject)
        memory = self.after.memory(subject)
        if memory is None:
            loose = next((event for event in events if event.op not in _ASIDE or event.after is not None), None)
        else:
            now = digest(memory_bytes(memory))
            told, complete = in_order(events, now)
            loose = None if complete and told and told[-1].after == now else next(iter(events), None)
        if loose is not None:
            path = layout.event_path(loose.id, subject)
            self.checked.tip("event.loose", f"an event tells of {loose.op} and the memory did not change", path)

    # -- records ---------------------------------------------------------------------------------------------

    def _judge_new(self, ground: Ground) -> None:
        """New records in the order of their events, so that each is compared with those before it."""
        new = [change for change in self.memories if change.old is None]
        new.sort(key=lambda change: self._first_event(change.path))
        batches = [new[start : start + _AHEAD] for start in range(0, len(new), _AHEAD)]
        if len(new) <= _MANY or not worthwhile():
            for some in batches:
                _read_ahead(self.workspace, self._files(some))
                self._judge_batch(ground, some)
            return
        beside = Beside(look)
        try:
            for before, some in pairwise(([], *batches, [])):
                looks = beside.give(self._bytes_of(some)) or ()
                self.looked = {found.path: found for found in looks if found is not None}
                self.told = {path: event for found in self.looked.values() for path, event in found.events.items()}
                self._judge_batch(ground, before)
        finally:
            beside.close()

    def _judge_batch(self, ground: Ground, some: Sequence[Changed]) -> None:
        for change in some:
            for record in self._record(change):
                judge(ground, record, self._events(record.new.id))
                self.read.pop(record.new.id, None)
                self.added.pop(record.new.id, None)

    def _bytes_of(self, changes: Sequence[Changed]) -> list[Files]:
        _read_ahead(self.workspace, self._files(changes))
        return [
            Files(
                change.path,
                self._read_blob(change.new),
                tuple((event.path, self._read_blob(event.new)) for event in self._new_events(change)),
            )
            for change in changes
        ]

    def _new_events(self, change: Changed) -> Sequence[Changed]:
        return self.added.get(layout.memory_of_path(change.path) or "", ())

    def _first_event(self, path: str) -> str:
        names = (change.path.rsplit("/", 1)[-1] for change in self.added.get(layout.memory_of_path(path) or "", ()))
        return min(names, default="")

    def _files(self, changes: Sequence[Changed]) -> Iterator[str]:
        for change in changes:
            for entry in (change.old, change.new):
                if entry is not None:
                    yield entry.oid
            for event in self._new_events(change):
                if event.new is not None:
                    yield event.new.oid

    def _record(self, change: Changed) -> Iterable[Record]:
        """The record at a changed path, if there is one that can be judged."""
        path = change.path
        identifier = layout.memory_of_path(path) or ""
        if change.new is None:
            self._removed(path, identifier)
            return ()
        self.lookup.replace("main", identifier, None)
        looked = self.looked.get(path)
        try:
            memory = looked.memory if looked else memory_from_bytes(self._read_blob(change.new), path=path)
        except CorruptRecord as error:
            self.checked.record("record.shape", error.message, path, change.new.oid)
            return ()
        if memory.id != identifier:
            self.checked.record("memory.path", "the file is not named by the id in it", path, change.new.oid)
            return ()
        if looked:
            words_are(f"{memory.title}\n{memory.body}", looked.words)
        self.lookup.replace("main", memory.id, claim_of(memory, "main"))
        old = self._before(change)
        if old == memory:
            return ()  # only comments or layout differ
        now = looked.digest if looked else digest(memory_bytes(memory))
        return (Record(path, change.new.oid, old, memory, now, plain=looked is not None and looked.plain),)

    def _removed(self, path: str, identifier: str) -> None:
        if self.after.main.event_names(identifier):
            message = "a memory was removed; it can be archived, retracted or wrong"
            self.checked.tip("memory.removed", message, path)
        else:
            self.checked.note("record.restored", "taken away again; no event ever told of it", path)
        self.lookup.replace("main", identifier, None)

    def _before(self, change: Changed) -> Memory | None:
        backend = self.workspace.backend
        if change.old is None or change.old.is_tree or backend.size(change.old.oid) > FILE_LIMIT:
            return None
        try:
            return memory_from_bytes(backend.read(change.old.oid)[1], path=change.path)
        except CorruptRecord:
            self.checked.note("record.mended", "the record before this one could not be read", change.path)
            return None

    def _merged_records(self) -> None:
        """What a merge took or made is known to whatever comes after it."""
        for path in (*(item.path for item in self.taken), *(change.path for change in self.rest.made)):
            identifier, key = layout.memory_of_path(path), layout.tombstone_of_path(path)
            if identifier is not None:
                memory = self.after.memory(identifier)
                self.lookup.replace("main", identifier, claim_of(memory, "main") if memory else None)
            elif key is not None and (tomb := self.after.tombstone(key)) is not None:
                self.lookup.rejected(tomb)


def _subject(event_path: str) -> str:
    return event_path.rsplit("/", 1)[-1].removesuffix(".json").partition(".")[2]


def _when_it_says(event: Event) -> bool:
    try:
        at = parse_instant(event.at)
    except (ValueError, OverflowError):
        return False
    return abs(at.timestamp() * 1000 - event_milliseconds(event.id)) < 2


def _read_ahead(workspace: Workspace, oids: Iterable[str]) -> None:
    if isinstance(workspace.backend, Remembering):
        workspace.backend.read_ahead(oids)
