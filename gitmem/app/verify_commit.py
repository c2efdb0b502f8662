"""The judgement of one commit of the memory branch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from gitmem.app.facts import claim_of, gather, tombstone_claim
from gitmem.app.workspace import View, Workspace, raw_view
from gitmem.errors import CorruptRecord
from gitmem.model import layout
from gitmem.model.claims import claim_digest
from gitmem.model.judgement import Change
from gitmem.model.nouns import Config, Event, Memory, Tombstone
from gitmem.model.records import (
    config_from_bytes,
    digest,
    event_from_bytes,
    memory_bytes,
    memory_from_bytes,
    tombstone_from_bytes,
)
from gitmem.policy.codes import CODES
from gitmem.policy.gate import decide
from gitmem.policy.origin import derive_origin, source_channel
from gitmem.policy.transitions import check_move
from gitmem.store.inspection import inspect_tree
from gitmem.store.objects import parse_commit
from gitmem.store.snapshot import Changed, changed_paths
from gitmem.store.transaction import root_commit_id

if TYPE_CHECKING:
    from gitmem.app.verify import RangeLookup

# Which operations an event may carry for a memory that goes from nothing or from a state to another.
_CREATES: Final = ("create", "import", "accept")


@dataclass(frozen=True)
class Fault:
    """One thing wrong. `reach`: "record" leaves the rest of the branch believable, "tip" does not."""

    code: str
    message: str
    commit: str
    path: str = ""
    reach: Literal["record", "tip"] = "tip"

    def data(self) -> dict[str, Any]:
        return {"code": self.code, "message": self.message, "commit": self.commit, "path": self.path}


@dataclass
class Checked:
    """What checking one commit gave."""

    commit: str
    faults: list[Fault] = field(default_factory=list)
    notes: list[Fault] = field(default_factory=list)
    records: int = 0

    def fault(self, code: str, message: str, path: str = "", *, record: bool = False) -> None:
        self.faults.append(Fault(code, message, self.commit, path, "record" if record else "tip"))

    def note(self, code: str, message: str, path: str = "") -> None:
        self.notes.append(Fault(code, message, self.commit, path, "record"))


def check_commit(workspace: Workspace, commit: str, lookup: RangeLookup) -> Checked:
    """Everything that `commit` changed against its parents, judged on the state that it made."""
    backend = workspace.backend
    checked = Checked(commit)
    info = parse_commit(backend.read(commit)[1])
    if not info.parents:
        if commit != root_commit_id(backend):
            checked.fault("history.root", "a commit without parents that is not the root of a gitmem branch")
        return checked
    parents = [raw_view(workspace, parent) for parent in info.parents]
    before, after = parents[0], raw_view(workspace, commit)
    structural = inspect_tree(backend, after.main.tree, base=before.main.tree)
    if structural:
        for fault in structural:
            checked.fault(f"tree.{fault.code}", fault.message, fault.path)
        return checked  # nothing of such a tree is read
    changes = [
        change
        for change in changed_paths(backend, before.main.tree, after.main.tree)
        if not any(other.main.entry(change.path) == change.new for other in parents[1:])
    ]
    _Commit(workspace, checked, before, after, parents, changes, lookup).check()
    return checked


class _Commit:
    """The state of one check: what changed, sorted by what it is."""

    def __init__(
        self,
        workspace: Workspace,
        checked: Checked,
        before: View,
        after: View,
        parents: list[View],
        changes: list[Changed],
        lookup: RangeLookup,
    ) -> None:
        self.workspace = workspace
        self.checked = checked
        self.before = before
        self.after = after
        self.parents = parents
        self.changes = changes
        self.lookup = lookup
        self.events: defaultdict[str | None, list[Event]] = defaultdict(list)
        self.memories: dict[str, Memory] = {}

    def check(self) -> None:
        config = self._config()
        for change in self.changes:
            if change.path.startswith(layout.EVENTS + "/"):
                self._read_event(change)
        for events in self.events.values():
            events.sort(key=lambda event: event.id)
        for change in self.changes:
            if change.path.startswith(layout.TOMBSTONES + "/"):
                self._tombstone(change)
        touched = []
        for change in self.changes:
            if change.path.startswith(layout.MEMORIES + "/"):
                memory = self._read_memory(change)
                if memory is not None:
                    touched.append((change, memory))
        for change, memory in touched:
            self._memory(change, memory, config)
        self._loose_events({memory.id for _, memory in touched})
        for change in self.changes:
            self._other(change)

    # -- reading ---------------------------------------------------------------------------------------------

    def _parsed(self, change: Changed, read: Callable[..., Any], *, record: bool) -> Any:
        if change.new is None:
            return None
        try:
            return read(self.workspace.backend.read(change.new.oid)[1], path=change.path)
        except CorruptRecord as error:
            self.checked.fault("record.shape", error.message, change.path, record=record)
            return None

    def _config(self) -> Config | None:
        """The policy that judges this commit: the one of the state before it, or its own when it is the first."""
        try:
            old = self.before.main.read(layout.CONFIG)
            raw = self.after.main.read(layout.CONFIG)
            if raw is None:
                self.checked.fault("config.missing", "there is no gitmem.yaml", layout.CONFIG)
                return None
            new = config_from_bytes(raw, path=layout.CONFIG)
            current = new if old is None else config_from_bytes(old, path=layout.CONFIG)
        except CorruptRecord as error:
            self.checked.fault("config.shape", error.message, layout.CONFIG)
            return None
        if old is not None and new.project != current.project and current.project not in new.aliases:
            self.checked.fault("config.project", "the project id changed", layout.CONFIG)
        return current

    def _read_event(self, change: Changed) -> None:
        path = change.path
        if change.old is not None:
            what = "removed" if change.new is None else "edited"
            self.checked.fault("event.rewritten", f"an event was {what}; events are only ever added", path)
            return
        event = self._parsed(change, event_from_bytes, record=False)
        if event is None:
            return
        if layout.event_path(event.id, event.memory) != path:
            self.checked.fault("event.path", "the event is not the one that its name says", path)
            return
        if event.prev is not None:
            found = self.after.main.read(event.prev.path)
            if found is None or digest(found) != event.prev.sha256:
                self.checked.fault(
                    "event.chain", "the writer's previous event is not on the branch or is another one", path
                )
            elif event_from_bytes(found, trusted=True).writer != event.writer:
                self.checked.fault("event.chain", "the previous event is of another writer", path)
        if event.op == "policy":
            self._policy_event(event, path)
        self.events[event.memory].append(event)

    def _policy_event(self, event: Event, path: str) -> None:
        raw = self.after.main.read(layout.CONFIG)
        if event.before is not None and event.actor.channel != "terminal":
            self.checked.fault("policy.authority", f"a {event.actor.channel} channel changed the policy", path)
        if raw is None or event.after != digest(raw):
            self.checked.fault("event.digest", "the event does not say what gitmem.yaml became", path)

    def _read_memory(self, change: Changed) -> Memory | None:
        path = change.path
        if change.new is None:
            self.checked.fault("memory.removed", "a memory was removed; it can be archived, retracted or wrong", path)
            return None
        memory: Memory | None = self._parsed(change, memory_from_bytes, record=True)
        if memory is None:
            self.lookup.replace("main", path.rsplit("/", 1)[-1].removesuffix(".yaml"), None)
            return None
        if layout.memory_path(memory.id) != path:
            self.checked.fault("memory.path", "the file is not named by the id in it", path, record=True)
            return None
        self.memories[memory.id] = memory
        self.lookup.replace("main", memory.id, claim_of(memory, "main"))
        return memory

    # -- judging ---------------------------------------------------------------------------------------------

    def _memory(self, change: Changed, memory: Memory, config: Config | None) -> None:
        self.checked.records += 1
        path = change.path
        old: Memory | None = None
        if change.old is not None:
            try:
                old = memory_from_bytes(self.workspace.backend.read(change.old.oid)[1], path=path)
            except CorruptRecord:
                self.checked.note("record.mended", "the record before this one could not be read", path)
        if old == memory:
            return  # only comments or layout differ
        events = self.events.get(memory.id, [])
        if not self._told_by(events, old, memory, path):
            return
        last = events[-1]
        if last.op == "merge":
            self.checked.note("merge", "a merge of records", path)
        facts = gather(
            self.after,
            Change(op=last.op, before=old, after=memory, reason=last.reason),
            self.lookup,
            channel=last.actor.channel,
        )
        said = last.proposed or last
        made_by = source_channel(said.op, said.actor.channel)
        op = self._op(events, old)
        change_as_judged = Change(op=op, before=self._candidate(events, old, memory), after=memory, reason=last.reason)
        decision = decide(change_as_judged, facts, config)
        for reason in decision.reasons:
            seen_then = "verified" in last.gate.evidence or not memory.evidence
            if CODES[reason.code].verdict == "hold" and seen_then:
                self.checked.note(reason.code, reason.message, path)
            else:
                self.checked.fault(reason.code, reason.message, path, record=True)
        derived = derive_origin(made_by, facts.resolutions, facts.linked)
        if old is None and memory.origin != derived and op in ("create", "import", "accept"):
            self.checked.fault(
                "origin.claimed", f"the origin says {memory.origin}; the channel gives {derived}", path, record=True
            )
        self._sides(old, memory, path)

    def _candidate(self, events: list[Event], old: Memory | None, memory: Memory) -> Memory | None:
        """What an accepted record was in the inbox that it came from: the same but for its state."""
        if old is not None or events[0].op != "accept":
            return old
        return replace(memory, status=events[0].status_from or "candidate")

    def _op(self, events: list[Event], old: Memory | None) -> Any:
        """The operation that the whole commit amounts to, when a squash joined several."""
        last = events[-1].op
        if old is None and events[0].op in _CREATES and last not in _CREATES:
            return events[0].op if events[-1].status_to == events[0].status_to else last
        return last

    def _told_by(self, events: list[Event], old: Memory | None, new: Memory, path: str) -> bool:
        """True when the events of this commit tell of this change, one step after another."""
        if not events:
            self.checked.fault(
                "event.missing", "the record changed and no event says by whom and why", path, record=True
            )
            return False
        digest_now = digest(memory_bytes(old)) if old else None
        status = old.status if old else None
        for event in events:
            if event.before != digest_now and not (old is None and event.op == "accept"):
                self.checked.fault("event.digest", "the event does not say what the record was", path, record=True)
                return False
            from_status = event.status_from if event.op == "accept" and old is None else status
            move = check_move(event.op, from_status, event.status_to or "")
            if move is not None:
                self.checked.fault(move.code, move.message, path, record=True)
            digest_now, status = event.after, event.status_to
        first = events[0]
        if old is None and first.op == "accept" and len(events) == 1:
            candidate = replace(new, status=first.status_from or "candidate")
            if first.before != digest(memory_bytes(candidate)):
                self.checked.fault("event.digest", "what was accepted is not what was proposed", path, record=True)
        if digest_now != digest(memory_bytes(new)) or status != new.status:
            self.checked.fault("event.digest", "the event does not say what the record became", path, record=True)
            return False
        return True

    def _sides(self, old: Memory | None, new: Memory, path: str) -> None:
        """Both sides of a supersession stand in one commit; `wrong` has its tombstone."""
        was = old.status if old else None
        if new.status == "superseded" and was != "superseded":
            pairs = [self.memories.get(i) for i in new.linked("superseded_by")]
            if not any(p is not None and new.id in p.linked("supersedes") for p in pairs):
                self.checked.fault(
                    "supersede.half", "superseded, and its replacement is not in the same commit", path, record=True
                )
        for identifier in new.linked("supersedes"):
            if old is not None and identifier in old.linked("supersedes"):
                continue
            other = self.memories.get(identifier)
            if new.status == "candidate":
                continue
            if other is None or other.status != "superseded":
                self.checked.fault(
                    "supersede.half",
                    f"it supersedes {identifier}, which did not change in this commit",
                    path,
                    record=True,
                )
        if (new.status == "wrong") != (was == "wrong"):
            key = claim_digest(new.scope.project, new.kind, new.title, new.body)
            tomb = self.after.tombstone(key)
            if new.status == "wrong" and not (tomb and tomb.standing):
                self.checked.fault("tombstone.missing", "found wrong, and no tombstone keeps it out", path, record=True)
            if was == "wrong" and tomb and tomb.standing:
                self.checked.fault("tombstone.standing", "lifted, and its tombstone still stands", path, record=True)

    def _tombstone(self, change: Changed) -> None:
        path = change.path
        if change.new is None:
            self.checked.fault("tombstone.removed", "a tombstone was removed; gitmem lift is its opposite", path)
            return
        new: Tombstone | None = self._parsed(change, tombstone_from_bytes, record=False)
        if new is None:
            return
        old: Tombstone | None = None
        if change.old is not None:
            old = tombstone_from_bytes(self.workspace.backend.read(change.old.oid)[1], path=path, trusted=True)
        if layout.tombstone_path(new.digest) != path:
            self.checked.fault("tombstone.path", "the file is not named by the digest in it", path)
        if (new.title or new.body) and not any(
            claim_digest(new.project, kind, new.title, new.body) == new.digest for kind in _kinds_of(new.kind_class)
        ):
            self.checked.fault("tombstone.digest", "the digest is not that of the claim", path)
        kept = old.history if old else ()
        added = new.history[len(kept) :]
        if new.history[: len(kept)] != kept or not added:
            self.checked.fault("tombstone.rewritten", "the history of a tombstone was rewritten", path)
        for entry in added:
            told = [e for e in self.events.get(entry.memory, []) if e.id == entry.event]
            if not told or told[0].op not in (entry.op, "accept" if entry.op == "lift" else entry.op):
                self.checked.fault("event.missing", f"no event tells of the {entry.op} of {entry.memory}", path)
            elif told[0].actor.channel != "terminal":
                self.checked.fault("channel.authority", f"a {told[0].actor.channel} channel wrote a tombstone", path)
        for entry in new.history:
            self.lookup.replace("tombstone", entry.memory, None)
        if new.standing:
            self.lookup.replace("tombstone", new.history[-1].memory, tombstone_claim(new))

    def _loose_events(self, touched: set[str]) -> None:
        """An event about a memory that this commit does not change tells of nothing, but for a rejection."""
        for subject, events in self.events.items():
            for event in events:
                if subject is None or subject in touched or event.op in ("reject", "refused", "redact"):
                    continue
                current = self.after.main.entry(layout.memory_path(subject))
                if current is None or event.after is None:
                    self.checked.fault(
                        "event.loose", f"an event tells of {event.op} and {subject} did not change",
                        layout.event_path(event.id, subject),
                    )  # fmt: skip

    def _other(self, change: Changed) -> None:
        """The few files beside the records: they change only with an event that says so."""
        path = change.path
        told = any(event.op == "policy" for event in self.events.get(None, []))
        if path in (layout.CONFIG, layout.ATTRIBUTES, layout.SCHEMA) and not told:
            self.checked.fault("event.missing", f"{path} changed and no event says by whom and why", path)
        elif path in (layout.CONFIG, layout.ATTRIBUTES, layout.SCHEMA, layout.README) and change.new is None:
            self.checked.fault("file.removed", f"{path} was removed", path)


def _kinds_of(kind_class: str) -> Iterator[str]:
    from gitmem.model.vocabulary import KIND_CLASS

    return (kind for kind, name in KIND_CLASS.items() if name == kind_class)
