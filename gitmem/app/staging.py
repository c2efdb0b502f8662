"""What one write publishes, while it is being made: for each ref the files, the events and their chain."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from gitmem.app import belief
from gitmem.app.chain import Chain, open_chain, save_chains
from gitmem.app.workspace import View, Workspace
from gitmem.errors import Refused
from gitmem.model.claims import claim_digest
from gitmem.model.ids import event_id
from gitmem.model.judgement import Change
from gitmem.model.layout import INBOX, MAIN, memory_path, tombstone_path
from gitmem.model.nouns import Actor, Config, Event, GateRecord, Tombstone, TombstoneEntry
from gitmem.model.records import digest, edited_bytes, memory_bytes, memory_from_bytes, tombstone_bytes
from gitmem.model.text import one_line
from gitmem.model.times import format_instant
from gitmem.model.vocabulary import KIND_CLASS
from gitmem.policy.gate import RULES_VERSION
from gitmem.store.port import RefMove
from gitmem.store.snapshot import Snapshot
from gitmem.store.transaction import Transaction

if TYPE_CHECKING:
    from gitmem.app.writing import Judged


class _Open:
    def __init__(self, base: Snapshot, transaction: Transaction, chain: Chain) -> None:
        self.base = base
        self.transaction = transaction
        self.chain = chain
        self.events = 0


class Staging:
    """Takes judged mutations one by one and keeps only their bytes; `publish` makes the commits and moves the refs."""

    def __init__(self, workspace: Workspace, view: View) -> None:
        self._workspace = workspace
        self._view = view
        self._now = workspace.env.now()
        self._open: dict[str, _Open] = {}
        self._reasons: set[str] = set()

    def put(self, item: Judged) -> None:
        mutation = item.mutation
        refs = [ref for ref in (MAIN, INBOX) if ref == mutation.ref or (ref == INBOX and mutation.leaves_inbox)]
        for ref in refs:
            self._stage(self._opened(ref), item, ref)
        if mutation.change.reason:
            self._reasons.add(mutation.change.reason)

    def publish(self, subject: str) -> dict[str, str]:
        """The new commit of each ref that moved. Raises RefMoved when somebody else moved one; then nothing is."""
        workspace = self._workspace
        message = subject + ("\n\n" + "\n".join(sorted(self._reasons)) if self._reasons else "") + "\n"
        author, committer = workspace.people
        moves, commits = [], {}
        for ref in sorted(self._open, key=(MAIN, INBOX).index):
            opened = self._open[ref]
            commits[ref] = opened.transaction.commit(message, author, committer, self._now)
            moves.append(RefMove(ref, commits[ref], opened.base.commit, f"gitmem: {one_line(subject, 80)}"))
        workspace.backend.move_refs(moves)
        save_chains(workspace, {ref: (self._open[ref].chain, commit) for ref, commit in commits.items()})
        belief.note_own_commits(workspace, self._view, commits)
        return commits

    def _opened(self, ref: str) -> _Open:
        if ref not in self._open:
            base = self._view.main if ref == MAIN else self._view.inbox
            backend = self._workspace.backend
            self._open[ref] = _Open(base, Transaction(backend, base), open_chain(self._workspace, ref, base))
        return self._open[ref]

    def _stage(self, opened: _Open, item: Judged, ref: str) -> None:
        mutation, change = item.mutation, item.mutation.change
        canonical = memory_bytes(change.after)
        event = make_event(self._workspace, item, canonical, self._now, opened.events)
        opened.events += 1
        opened.chain, event, path, raw = opened.chain.append(event)
        opened.transaction.put(path, raw)
        where = memory_path(change.after.id)
        if ref == INBOX and mutation.leaves_inbox:
            opened.transaction.delete(where)
            return
        if mutation.entomb and ref == MAIN:
            tomb = _entombed(self._view, self._view.require_config(), change, mutation.entomb, event)
            opened.transaction.put(tombstone_path(tomb.digest), tombstone_bytes(tomb))
        if mutation.stores_record:
            opened.transaction.put(where, _record_bytes(opened.base, where, change, canonical))


def _record_bytes(base: Snapshot, path: str, change: Change, canonical: bytes) -> bytes:
    old = base.read(path) if change.before is not None else None
    raw = edited_bytes(old, change.after) if old is not None else canonical
    if memory_from_bytes(raw, path=path, trusted=True) != change.after:
        # The writer re-reads what it wrote before anything is committed (docs/format.md, "Writing").
        raise Refused(f"{path} would not read back as it was written; nothing was written")
    return raw


def _entombed(view: View, config: Config, change: Change, op: Literal["reject", "lift"], event: Event) -> Tombstone:
    memory = change.after
    key = claim_digest(config.project, memory.kind, memory.title, memory.body)
    entry = TombstoneEntry(op=op, at=event.at, event=event.id, memory=memory.id, reason=event.reason)
    before = view.tombstone(key)
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


def make_event(workspace: Workspace, item: Judged, canonical: bytes, now: datetime, number: int) -> Event:
    """The event of one judged mutation; `canonical` are the bytes of the record after it. `number` keeps the ids
    of one batch in order."""
    env, change = workspace.env, item.mutation.change
    before, after = change.before, change.after
    return Event(
        id=event_id(int(now.timestamp() * 1000), number.to_bytes(3, "big") + env.random(7)),
        at=format_instant(now),
        op=change.op,
        memory=after.id,
        status_from=before.status if before else None,
        status_to=after.status,
        before=digest(memory_bytes(before)) if before else None,
        after=digest(canonical) if item.mutation.stores_record else None,
        reason=change.reason,
        actor=Actor(channel=env.channel, host=env.host),
        gate=GateRecord(
            version=RULES_VERSION,
            verdict="hold" if item.decision.verdict == "hold" else "admit",
            evidence=tuple(resolution.state for resolution in item.facts.resolutions),
        ),
        writer="",
        proposed=item.mutation.proposed,
    )
