"""`gitmem import`: notes that a repository already holds, through the gate, in one commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, NamedTuple, TypeGuard

from gitmem.app.belief import believed_view
from gitmem.app.beside import Beside, worthwhile
from gitmem.app.claim_set import ClaimSet, says_the_same, words_are
from gitmem.app.facts import Claim, Lookup, claim_of, index_lookup, sources, tombstone_claim
from gitmem.app.import_sources import Source, chosen_sources, count, read
from gitmem.app.outbox import UNKEPT
from gitmem.app.remember import Built, build
from gitmem.app.tiers import accepting
from gitmem.app.workspace import Found, View, Workspace
from gitmem.app.writing import Judged, Mutation, refuses, status_change, write
from gitmem.errors import Refused
from gitmem.evidence.commit import expand_many
from gitmem.model.frozen import replace
from gitmem.model.ids import memory_id
from gitmem.model.judgement import Change, Reason
from gitmem.model.layout import HOMES, INBOX, MAIN, PLACES, TOMBSTONES
from gitmem.model.nouns import Draft, FileRef, Memory
from gitmem.model.records import tombstone_from_bytes
from gitmem.model.text import counted
from gitmem.model.vocabulary import WAITING
from gitmem.notes.items import Note, Skipped
from gitmem.policy.landing import decides
from gitmem.policy.near import words
from gitmem.policy.text_rules import is_plain

_FIRST: Final = 40  # admitted notes that a person is shown
_CHUNK: Final = 500  # notes whose evidence is looked up together
_MANY_MORE: Final = 2000  # notes above which a second process looks at what comes next
_MANY: Final = 200  # notes above which the records are compared in memory instead of through the search index

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Left:
    """A note that the gate refused: where it stands, its title unless it may hold a secret, and why."""

    source: str
    lines: str
    title: str
    reasons: tuple[Reason, ...]


@dataclass
class Imported:
    """What became of what was read: read = admitted + already + refused + skipped.

    `held` of the admitted wait in the inbox though they were to be let in, `waited` of them did so before; `waiting` of
    the ones already there wait there still. `withdrawn`: candidates that their files say no more. `commits` maps each
    ref that moved.
    `first`: (kind, place, title) of the first of them; `kinds`: how many of each kind are admitted; `remarks`: how many
    are of another kind than a reader may expect, for each reason.
    """

    read: int = 0
    admitted: int = 0
    held: int = 0
    waited: int = 0
    already: int = 0
    waiting: int = 0
    withdrawn: int = 0
    refused: list[Left] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    commits: dict[str, str] = field(default_factory=dict)
    first: list[tuple[str, str, str]] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)

    @property
    def codes(self) -> Counter[str]:
        """How many notes each code refused."""
        return Counter(code for left in self.refused for code in dict.fromkeys(r.code for r in left.reasons))


@dataclass
class Listed:
    """What one source holds: how many notes of each kind, and how many items that are none."""

    source: str
    kinds: Counter[str] = field(default_factory=Counter)
    skipped: int = 0

    @property
    def notes(self) -> int:
        return self.kinds.total()


def list_sources(workspace: Workspace, paths: Sequence[str]) -> list[Listed]:
    """What an import of `paths` would read; nothing is judged or written."""
    listed = []
    for source in chosen_sources(workspace, paths):
        row = Listed(source.path)
        for item in read(workspace, source):
            if isinstance(item, Note):
                row.kinds[item.draft.kind] += 1
            else:
                row.skipped += 1
        listed.append(row)
    return listed


def import_notes(
    workspace: Workspace,
    paths: Sequence[str],
    *,
    accept: bool = False,
    dry_run: bool = False,
    reason: str = "",
    progress: Progress = lambda phase, done, total: None,
) -> Imported:
    """Read the notes of `paths` (every known source without any) and propose, or with `accept` admit, them.

    What the gate refuses or the records already say is left out and counted; the rest is one commit.
    Raises Refused when this channel may not accept.
    """
    if accept:
        _require_person(workspace)
    chosen = chosen_sources(workspace, paths)
    run = _Run(workspace, chosen, "active" if accept else "candidate", reason, progress)
    try:
        outcome = write(workspace, run.plan, subject=run.subject, dry_run=dry_run, lookup=run.lookup, sift=run.sift)
    finally:
        run.close()
    run.result.commits = outcome.commits
    return run.result


def _require_person(workspace: Workspace) -> None:
    env = workspace.env
    config = believed_view(workspace).require_config()
    if decides(env.channel, config):
        return
    who = "this was not called by a person at a terminal" if env.channel != "terminal" else "policy sends it to review"
    seen = f" (seen: {env.host})" if env.host else ""
    hint = "without --accept the notes wait in the inbox, where a person decides on each: gitmem review"
    raise Refused(
        f"import --accept is a person's to do: {who}{seen}; nothing was written",
        reasons=[Reason("channel.authority", f"the channel {env.channel} may add candidates only", hint)],
        hint="gitmem import",
    )


class _Run:
    """One import. `plan` and `sift` take turns: a note is made into a mutation, judged, told of, forgotten."""

    def __init__(
        self, workspace: Workspace, chosen: Sequence[Source], status: str, reason: str, progress: Progress
    ) -> None:
        self._workspace = workspace
        self._chosen = chosen
        self._status = status
        self._reason = reason
        self._progress = progress
        self._total = 0
        self._note: Note | None = None  # the one that is being judged
        self._known: _Known | None = None
        self._ahead: Beside | None = None
        self.result = Imported()

    def lookup(self, view: View) -> Lookup:
        self._total = _counted(self._workspace, self._chosen, self._progress)
        self._known = _Known(view, self._total)
        return self._known

    def subject(self, _: Sequence[Mutation]) -> str:
        if self.result.admitted:
            self._progress("writing", 0, self.result.admitted)
        return f"import {counted(self.result.admitted, 'memory')}"

    def plan(self, view: View, _: Lookup) -> Iterator[Mutation]:
        self.result = Imported()
        self.close()
        yield from self._outdated(view)
        if self._total > _MANY_MORE and worthwhile():
            self._ahead = Beside(_look)
        items = (item for source in self._chosen for item in read(self._workspace, source))
        before: Sequence[tuple[Note, Built]] = ()
        while chunk := list(islice(items, _CHUNK)):
            made = self._built(view, chunk)
            looks = self._ahead.give([built.memory for _, built in made]) if self._ahead else None
            yield from self._mutations(view, before, looks)
            before = made
            self.result.read += len(chunk)
            self._progress("judging", self.result.read, self._total)
        yield from self._mutations(view, before, self._ahead.take() if self._ahead else None)

    def close(self) -> None:
        """End the look at the notes to come."""
        if self._ahead is not None:
            self._ahead.close()
            self._ahead = None

    def _built(self, view: View, chunk: Sequence[Note | Skipped]) -> Sequence[tuple[Note, Built]]:
        notes = []
        for item in chunk:
            if isinstance(item, Skipped):
                self.result.skipped.append(item)
            else:
                notes.append(item)
        drafts = _cited(view, [_at_head(view, note) for note in notes])
        identifiers = [memory_id(self._workspace.env.random(8)) for _ in drafts]
        return list(zip(notes, build(view, drafts, identifiers, self._status), strict=True))

    def _waiting(self, view: View, same: Claim) -> Found | None:
        """The candidate of this clone's inbox that says what a note says, and replaces nothing."""
        memory = view.memory(same.id, INBOX) if same.where == "inbox" and same.audience == "team" else None
        plain = memory is not None and memory.status in WAITING and not memory.linked("supersedes")
        return Found(memory, INBOX) if memory is not None and plain else None

    def _outdated(self, view: View) -> Iterator[Mutation]:
        """The candidates that an import of a file brought and that the file says no more: each is closed."""
        assert self._known is not None  # noqa: S101  the lookup is made before the plan
        chosen = {source.path: source for source in self._chosen if source.entry is not None and not source.lines}
        said: dict[str, set[tuple[str, str, str]]] = {}
        for memory in view.memories(INBOX) if chosen else ():
            paths = {ref.path if isinstance(ref, FileRef) else "" for ref in memory.evidence}
            path = next(iter(paths), "")
            if memory.status not in WAITING or memory.origin != "imported" or len(paths) > 1 or path not in chosen:
                continue
            if path not in said:
                notes = (item.draft for item in read(self._workspace, chosen[path]) if isinstance(item, Note))
                said[path] = {(str(draft.kind), draft.title, draft.body) for draft in notes}
            if (memory.kind, memory.title, memory.body) not in said[path]:
                self._known.gone.add(memory.id)
                self.result.withdrawn += 1
                why = f"its note was changed: {path} says it no more"
                yield Mutation(status_change(memory, "retract", "archived", why), INBOX)

    def _mutations(
        self, view: View, made: Sequence[tuple[Note, Built]], looks: Sequence[_Look] | None
    ) -> Iterator[Mutation]:
        assert self._known is not None  # noqa: S101  the lookup is made before the plan
        for (note, built), look in zip(made, looks or [_Look()] * len(made), strict=True):
            memory = built.memory
            if look.words is not None:
                words_are(f"{memory.title}\n{memory.body}", look.words)
            self._note = note
            if (same := self._known.says(memory)) is not None:
                waiting = self._waiting(view, same)
                if waiting is not None and self._status == "active":
                    yield from accepting(view, waiting, self._reason or "accepted")
                else:
                    self.result.already += 1
                    self.result.waiting += waiting is not None
                continue
            ref = HOMES.get(memory.scope.audience, MAIN) if memory.status == "active" else INBOX
            change = Change("import", memory, reason=self._reason)
            yield Mutation(change, ref, unresolved=built.unresolved, plain=look.plain)

    def sift(self, item: Judged) -> None:
        memory = item.mutation.change.after
        if item.mutation.change.op == "retract":
            return
        assert self._known is not None and self._note is not None  # noqa: S101  the plan has set them
        if refuses(item):
            # What may not be kept may not be shown either.
            title = "" if any(found.code in UNKEPT for found in item.decision.reasons) else memory.title
            self.result.refused.append(Left(self._note.source, self._note.lines, title, item.decision.reasons))
            return
        self.result.waited += item.mutation.change.op == "accept"
        self._known.add(memory)
        self.result.admitted += 1
        self.result.held += memory.status != self._status
        if self._note.remark:
            self.result.remarks[self._note.remark] += 1
        self.result.kinds[memory.kind] += 1
        if len(self.result.first) < _FIRST:
            self.result.first.append((memory.kind, f"{self._note.source}:{self._note.lines}", memory.title))


class _Look(NamedTuple):
    """What can be said of a record by itself, and so beside the judging of those before it."""

    plain: bool = False
    words: frozenset[str] | None = None


def _look(memories: Sequence[Memory]) -> list[_Look]:
    return [_Look(is_plain(memory), words(f"{memory.title}\n{memory.body}")) for memory in memories]


def _counted(workspace: Workspace, chosen: Sequence[Source], progress: Progress) -> int:
    """About how many items there are to read."""
    total = 0
    for number, source in enumerate(chosen, 1):
        total += count(workspace, source)
        progress("reading", number, len(chosen))
    return total


def _at_head(view: View, note: Note) -> Draft:
    """The draft of a note with its lines cited at HEAD, where they were read, whatever the work tree holds by now."""
    own, head = f"file:{note.source}:{note.lines}", view.workspace.location.head
    evidence = (f"file:{note.source}@{head}:{note.lines}" if ref == own else ref for ref in note.draft.evidence)
    return replace(note.draft, evidence=tuple(evidence)) if head else note.draft


def _cited(view: View, drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts with their commits in full, looked up together. What cannot be found stays short and is told later."""
    short = {ref.removeprefix("commit:"): "" for d in drafts for ref in d.evidence if _is_commit(ref)}
    found = expand_many(list(short), sources(view, view.workspace.env.channel)) if short else {}

    def full(ref: Any) -> Any:
        return found.get(ref.removeprefix("commit:"), ref) if _is_commit(ref) else ref

    return [replace(draft, evidence=tuple(map(full, draft.evidence))) for draft in drafts]


def _is_commit(ref: Any) -> TypeGuard[str]:
    return isinstance(ref, str) and ref.startswith("commit:")


class _Known:
    """What the records say, and what this run has added to them.

    Many notes against records that are not many more are compared in memory; else the search index is asked.
    """

    def __init__(self, view: View, notes: int) -> None:
        self._added = ClaimSet()
        self.gone: set[str] = set()  # records that this run closes
        self._stored: Lookup = index_lookup(view) if notes <= _MANY else _in_memory(view, notes)

    def candidates(self, memory: Memory) -> Iterator[Claim]:
        yield from self._added.candidates(memory)
        yield from (claim for claim in self._stored.candidates(memory) if claim.id not in self.gone)

    def key_holders(self, key: str) -> Iterator[str]:
        yield from self._added.key_holders(key)
        yield from self._stored.key_holders(key)

    def add(self, memory: Memory) -> None:
        self._added.add(claim_of(memory, "batch"))

    def says(self, memory: Memory) -> Claim | None:
        """A record that was not rejected and says word for word the same, in whatever state; one let in first."""
        if (added := self._added.same(memory)) is not None:
            return added
        if isinstance(self._stored, ClaimSet):
            same: Iterable[Claim | None] = [self._stored.same(memory)]
        else:
            same = (claim for claim in self._stored.candidates(memory) if says_the_same(claim, memory))
        found = [claim for claim in same if claim is not None and claim.status != "wrong"]
        return min(found, key=lambda claim: claim.where == "inbox", default=None)


def _in_memory(view: View, notes: int) -> Lookup:
    stored = sum(len(view.place(ref).memory_ids()) for ref in PLACES.values())
    if stored > 10 * notes:
        return index_lookup(view)
    made = ClaimSet()
    for where, ref in PLACES.items():
        for memory in view.memories(ref):
            made.add(claim_of(memory, where))
    for path, raw in view.main.read_all(TOMBSTONES):
        tomb = tombstone_from_bytes(raw, path=path, trusted=True)
        if tomb.standing and path not in view.quarantined:
            made.add(tombstone_claim(tomb))
    return made
