"""What one write publishes, while it is being made: for each ref the files, the events and their chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from gitmem.app import belief
from gitmem.app.beside import Beside, worthwhile
from gitmem.app.chain import Chain, open_chain, save_chains
from gitmem.app.signing import signing
from gitmem.app.workspace import View, Workspace
from gitmem.errors import NotFound, Refused
from gitmem.model.claims import claim_digest
from gitmem.model.frozen import dataclass
from gitmem.model.ids import event_id
from gitmem.model.judgement import Change
from gitmem.model.layout import INBOX, MAIN, PRIVATE, USER, memory_path, tombstone_path
from gitmem.model.nouns import Actor, Event, GateRecord, Memory, Proposal, Tombstone, TombstoneEntry
from gitmem.model.records import digest, edited_bytes, memory_bytes, memory_from_bytes, tombstone_bytes
from gitmem.model.text import one_line
from gitmem.model.times import format_instant
from gitmem.model.vocabulary import KIND_CLASS
from gitmem.policy.gate import RULES_VERSION
from gitmem.store.port import RefMove
from gitmem.store.snapshot import Snapshot
from gitmem.store.transaction import Transaction

if TYPE_CHECKING:
    from gitmem.app.writing import Judged, Mutation


_MANY: Final = 1000  # records of one write above which the rest are made beside
_BATCH: Final = 250
_ORDER: Final = (MAIN, PRIVATE, USER, INBOX)


@dataclass(frozen=True)
class _Told:
    """What the files of one record are made of. `number` keeps the ids of one batch in order."""

    change: Change
    verdict: str
    evidence: tuple[str, ...]
    stores_record: bool
    proposed: Proposal | None
    number: int


class _Open:
    """One ref that is being written to. With `beside`, the chain is ahead there by what is on its way."""

    def __init__(self, base: Snapshot, transaction: Transaction, chain: Chain) -> None:
        self.base = base
        self.transaction = transaction
        self.chain = chain
        self.events = 0
        self.waiting: list[_Told] = []
        self.beside: Beside | None = None

    def take(self, made: tuple[Chain, list[tuple[str, bytes]]] | None) -> None:
        if made is not None:
            self.chain, files = made
            for path, raw in files:
                self.transaction.put(path, raw)

    def settle(self) -> None:
        """Nothing is on its way after this."""
        if self.beside is not None:
            self.take(self.beside.give(self.waiting))
            self.take(self.beside.take())
            self.waiting = []
            self.close()

    def close(self) -> None:
        if self.beside is not None:
            self.beside.close()
            self.beside = None


class Staging:
    """Takes judged mutations one by one and keeps only their bytes; `publish` makes the commits and moves the refs."""

    def __init__(self, workspace: Workspace, view: View, chains: dict[str, Chain] | None = None) -> None:
        """`chains`: of refs that are not written to under their own names; they are moved on by `commits`."""
        self._workspace = workspace
        self._view = view
        self._chains = {} if chains is None else chains
        self._now = workspace.env.now()
        self._open: dict[str, _Open] = {}
        self._reasons: set[str] = set()

    def put(self, item: Judged) -> None:
        mutation = item.mutation
        refs = [ref for ref in _ORDER if ref == mutation.ref or (ref == INBOX and mutation.leaves_inbox)]
        for ref in refs:
            opened = self._opened(ref)
            told = _told(item, opened.events)
            opened.events += 1
            if not self._stage_beside(opened, told, mutation):
                opened.settle()
                self._stage(opened, told, mutation, ref)
        if mutation.change.reason:
            self._reasons.add(mutation.change.reason)

    def close(self) -> None:
        """End what is still being made: it is not wanted any more."""
        for opened in self._open.values():
            opened.close()

    def publish(self, subject: str) -> dict[str, str]:
        """The new commit of each ref that moved. Raises RefMoved when somebody else moved one; then nothing is."""
        commits = self.commits(subject)
        told = f"gitmem: {one_line(subject, 80)}"
        # Two repositories have no common step. The user's own store is first: a candidate that is in both for a moment
        # is accepted once more, one that were in neither would be lost.
        if USER in commits and self._view.user is not None:
            self._move(self._view.user, {MAIN: self._open[USER]}, {MAIN: commits[USER]}, told)
        here = {ref: commit for ref, commit in commits.items() if ref != USER}
        if here:
            self._move(self._view, self._open, here, told)
        return commits

    def _move(self, view: View, refs: Mapping[str, _Open], commits: Mapping[str, str], told: str) -> None:
        """Move the refs of one repository, and note what this process wrote there."""
        workspace = view.workspace
        if PRIVATE in commits:
            belief.intend(workspace, commits[PRIVATE])
        workspace.backend.move_refs([RefMove(ref, new, refs[ref].base.commit, told) for ref, new in commits.items()])
        save_chains(workspace, {ref: (refs[ref].chain, new) for ref, new in commits.items()})
        belief.note_own_commits(workspace, view, commits)

    def commits(self, subject: str) -> dict[str, str]:
        """The new commit for each ref, written; no ref moves."""
        for opened in self._open.values():
            opened.settle()
        self._chains.update({ref: self._open[ref].chain for ref in self._chains.keys() & self._open.keys()})
        message = subject + ("\n\n" + "\n".join(sorted(self._reasons)) if self._reasons else "") + "\n"
        author, committer, _ = self._workspace.writer
        return {
            ref: self._open[ref].transaction.commit(message, author, committer, self._now, sign=self._sign(ref))
            for ref in sorted(self._open, key=_ORDER.index)
        }

    def _sign(self, ref: str) -> Callable[[bytes], bytes] | None:
        """What signs a commit of this ref: only what others read is signed."""
        return signing(self._workspace) if ref == MAIN else None

    def _opened(self, ref: str) -> _Open:
        if ref not in self._open:
            base = self._view.place(ref)
            store, name = (self._view.user, MAIN) if ref == USER else (self._view, ref)
            if store is None:
                raise NotFound("there is no store for what is remembered for the user", hint="gitmem doctor")
            chain = self._chains.get(ref) or open_chain(store.workspace, name, base)
            self._open[ref] = _Open(base, Transaction(store.workspace.backend, base), chain)
        return self._open[ref]

    def _stage_beside(self, opened: _Open, told: _Told, mutation: Mutation) -> bool:
        """True when a new record, one of many, is left to the other process."""
        new = told.change.before is None and not mutation.entomb and not mutation.leaves_inbox
        if not new or not told.stores_record or opened.events <= _MANY:
            return False
        if opened.beside is None:
            if not worthwhile():
                return False
            opened.beside = Beside(_Scribe(self._workspace, self._now, opened.chain))
        opened.waiting.append(told)
        if len(opened.waiting) == _BATCH:
            opened.take(opened.beside.give(opened.waiting))
            opened.waiting = []
        return True

    def _stage(self, opened: _Open, told: _Told, mutation: Mutation, ref: str) -> None:
        change = told.change
        canonical = memory_bytes(change.after)
        event = make_event(self._workspace, told, canonical, self._now)
        opened.chain, event, path, raw = opened.chain.append(event)
        opened.transaction.put(path, raw)
        where = memory_path(change.after.id)
        if ref == INBOX and mutation.leaves_inbox:
            opened.transaction.delete(where)
            return
        if mutation.entomb and ref != INBOX:
            tomb = _entombed(self._view, ref, change, mutation.entomb, event)
            opened.transaction.put(tombstone_path(tomb.digest), tombstone_bytes(tomb))
        if mutation.stores_record:
            opened.transaction.put(where, _record_bytes(opened.base, where, change, canonical))
        for settled in mutation.settles:
            opened.transaction.delete(settled)


class _Scribe:
    """Makes the files of new records and of their events, batch after batch."""

    def __init__(self, workspace: Workspace, now: datetime, chain: Chain) -> None:
        self._workspace = workspace
        self._now = now
        self._chain = chain

    def __call__(self, batch: Sequence[_Told]) -> tuple[Chain, list[tuple[str, bytes]]]:
        files = []
        for told in batch:
            memory = told.change.after
            where = memory_path(memory.id)
            canonical = _reread(memory_bytes(memory), where, memory)
            event = make_event(self._workspace, told, canonical, self._now)
            self._chain, _, path, raw = self._chain.append(event)
            files += [(path, raw), (where, canonical)]
        return self._chain, files


def _told(item: Judged, number: int) -> _Told:
    mutation = item.mutation
    return _Told(
        mutation.change,
        "hold" if item.decision.verdict == "hold" else "admit",
        tuple([resolution.state for resolution in item.facts.resolutions]),
        mutation.stores_record,
        mutation.proposed,
        number,
    )


def _record_bytes(base: Snapshot, path: str, change: Change, canonical: bytes) -> bytes:
    old = base.read(path) if change.before is not None else None
    raw = edited_bytes(old, change.after) if old is not None else canonical
    return _reread(raw, path, change.after)


def _reread(raw: bytes, path: str, memory: Memory) -> bytes:
    """The bytes, once they read back as the record (docs/format.md, "Writing")."""
    if memory_from_bytes(raw, path=path, trusted=True) != memory:
        raise Refused(f"{path} would not read back as it was written; nothing was written")
    return raw


def _entombed(view: View, ref: str, change: Change, op: Literal["reject", "lift"], event: Event) -> Tombstone:
    memory = change.after
    config = view.config_for(memory.scope.audience) or view.require_config()
    key = claim_digest(config.project, memory.kind, memory.title, memory.body)
    entry = TombstoneEntry(op=op, at=event.at, event=event.id, memory=memory.id, reason=event.reason)
    before = view.tombstone(key, ref)
    if before is not None:
        return replace(before, history=(*before.history, entry))
    return Tombstone(
        digest=key,
        project=config.project,
        kind_class=KIND_CLASS[memory.kind],
        history=(entry,),
        title=memory.title,
        body=memory.body,
    )


def make_event(workspace: Workspace, told: _Told, canonical: bytes, now: datetime) -> Event:
    """The event of one judged mutation; `canonical` are the bytes of the record after it."""
    env, change = workspace.env, told.change
    before, after = change.before, change.after
    return Event(
        id=event_id(int(now.timestamp() * 1000), told.number.to_bytes(3, "big") + env.random(7)),
        at=format_instant(now),
        op=change.op,
        memory=after.id,
        status_from=before.status if before else None,
        status_to=after.status,
        before=digest(memory_bytes(before)) if before else None,
        after=digest(canonical) if told.stores_record else None,
        reason=change.reason,
        actor=Actor(channel=env.channel, host=env.host),
        gate=GateRecord(
            version=RULES_VERSION,
            verdict=told.verdict,  # type: ignore[arg-type]
            evidence=told.evidence,
        ),
        writer="",
        proposed=told.proposed,
    )
