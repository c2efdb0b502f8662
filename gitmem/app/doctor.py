"""`gitmem doctor`: what is wrong or at risk here, each with what to do."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gitmem.app import belief, hooks
from gitmem.app.catch_up import opened_index
from gitmem.app.meaning import meaning
from gitmem.app.outbox import refusals
from gitmem.app.signing import people_of
from gitmem.app.trust import stands
from gitmem.app.user_store import store_path
from gitmem.app.verify_own import own_faults
from gitmem.app.workspace import View, Workspace
from gitmem.errors import CorruptRecord, GitmemError
from gitmem.model.layout import BRANCH_SPACE, CONFLICTS, INBOX, MAIN, MEMORIES, PRIVATE, USER, memory_of_path
from gitmem.model.nouns import Config, Memory, MemoryRef
from gitmem.model.records import memory_from_bytes
from gitmem.model.text import counted
from gitmem.model.vocabulary import VISIBLE, WAITING
from gitmem.recall.faults import MeaningUnavailable
from gitmem.recall.semantic import Absent
from gitmem.store.identity import writer
from gitmem.store.lock import left_locks
from gitmem.store.repack import loose_count
from gitmem.store.transaction import TOOL
from gitmem.store.worktrees import checked_out_at

_STANDING = frozenset({*VISIBLE, *WAITING, "disputed"})
_LOOSE_MANY = 5000  # git starts a gc of its own near 6,700


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `state`: fine, note (worth knowing) or fault (to be mended)."""

    topic: str
    state: Literal["fine", "note", "fault"]
    message: str
    hint: str = ""


def examine(workspace: Workspace) -> list[Finding]:
    """Everything that was looked at, in a fixed order."""
    found: list[Finding] = []
    for look in (_repository, _branch, _worktree, _identity, _hooks, _own, _index, _meaning, _objects, _locks, _outbox):
        try:
            found += look(workspace)
        except GitmemError as error:
            found.append(Finding(look.__name__.strip("_"), "fault", error.message, error.hint))
    return found


def _repository(workspace: Workspace) -> Iterator[Finding]:
    location = workspace.location
    kinds = [location.object_format, f"{location.ref_format} refs"]
    kinds += [
        word
        for word, on in (("bare", location.bare), ("shallow", location.shallow), ("partial", location.partial))
        if on
    ]
    if location.git_dir != location.common_dir:
        kinds.append("linked worktree")
    yield Finding("repository", "fine", f"{location.title} ({', '.join(kinds)}), read through {workspace.backend.name}")
    named = workspace.env.environ.get("GIT_DIR")
    if named and (workspace.env.cwd / named).resolve() not in (
        location.git_dir.resolve(),
        location.common_dir.resolve(),
    ):
        yield Finding(
            "repository", "note", f"GIT_DIR names {named}, and this is the repository that you stand in or named",
            f"unset GIT_DIR, or gitmem -C {shlex.quote(named)} …",
        )  # fmt: skip
    yield Finding("python", "fine", f"Python {sys.version.split()[0]}, channel {workspace.env.channel}")


def _branch(workspace: Workspace) -> Iterator[Finding]:
    trust = belief.believe(workspace)
    if trust.commit is None and trust.tip is None:
        yield Finding("branch", "note", "there is no gitmem/main here", "gitmem init")
        return
    gone = trust.tip is None
    mend = f"git update-ref {MAIN} {trust.commit}" if gone else "gitmem verify --all; gitmem reindex --forget"
    for why in trust.rejected:
        yield Finding("branch", "fault", f"not believed: {why}", mend)
    view = belief.inert_view(workspace)
    config = view.config
    if config is not None:
        yield Finding(
            "branch", "fine", f"project {config.project}, format {config.format}, at {(trust.commit or '')[:12]}"
        )
        yield Finding("review", "fine", f"review is {config.review}; {_signers(config)}")
    if config is not None and not stands(workspace.env, workspace.location.common_dir, config.projects):
        yield Finding("trust", "note", "nobody here has trusted this memory: nothing of it is shown", "gitmem trust")
    for path, reasons in trust.quarantined.items():
        yield Finding("quarantine", "fault", f"{path}: {'; '.join(reasons)}", "gitmem verify --all")
    yield from _astray(view)
    yield from _inbox(view)


def _astray(view: View) -> Iterator[Finding]:
    """What this clone wrote is believed here; a record of it that names what is not on the branch is believed nowhere
    else."""
    there = frozenset(view.main.memory_ids())
    for memory in _naming(view):
        named = [link.to for link in memory.links]
        named += [ref.id for ref in memory.evidence if isinstance(ref, MemoryRef)]
        lost = next((identifier for identifier in named if identifier not in there), None)
        if lost is not None and memory.status in _STANDING:
            said = f"{memory.id} names {lost}, which is not on gitmem/main: whoever verifies the branch leaves it out"
            yield Finding("links", "fault", said, f'gitmem edit {memory.id} --unlink {lost} --because "…"')


def _naming(view: View) -> Iterator[Memory]:
    """Memories that may name another. Most name none, as their canonical bytes tell, and reading one as YAML is what
    takes the time."""
    for path, raw in view.main.read_all(MEMORIES):
        names = b"\nlinks: []\n" not in raw or b"type: memory" in raw
        identifier = memory_of_path(path) if names else None
        memory = view.memory(identifier) if identifier else None
        if memory is not None:
            yield memory


def _own(workspace: Workspace) -> Iterator[Finding]:
    """What is for this user alone: here, and in all projects."""
    view = belief.inert_view(workspace)
    count = len(view.place(PRIVATE).memory_ids())
    if count:
        yield Finding(
            "private", "fine", f"{counted(count, 'record')} for you alone in {PRIVATE}, which is never pushed"
        )
    path = store_path(workspace.env.environ)
    if path is not None and path.exists() and not workspace.is_user_store:
        many = len(view.place(USER).memory_ids())
        state: Literal["fine", "fault"] = "fine" if view.user is not None else "fault"
        said = f"{counted(many, 'record')} for you in all of your projects, in {path}"
        yield Finding("user", state, said if view.user else f"{path} cannot be read", "" if view.user else "git fsck")
    for fault in own_faults(workspace):
        yield Finding("own", "fault", f"{fault.path}: {fault.message}".removeprefix(": "), "gitmem verify --all")


def _inbox(view: View) -> Iterator[Finding]:
    """How many wait, and what a hand put there that cannot be read: readers leave it out."""
    waiting = 0
    for path, raw in view.inbox.read_all(MEMORIES):
        if not memory_of_path(path):
            continue
        try:
            waiting += memory_from_bytes(raw, path=path, trusted=view.inbox_own).status in WAITING
        except CorruptRecord as error:
            yield Finding("inbox", "fault", f"left out of every answer: {error.message}", f"git show {INBOX}:{path}")
    if waiting:
        yield Finding("inbox", "note", f"{waiting} waiting in the inbox ({INBOX})", "gitmem list --inbox")
    kept = len(view.main.children(CONFLICTS))
    if kept:
        yield Finding(
            "conflicts", "note", f"merges kept a second text of {counted(kept, 'memory')}", "gitmem conflicts"
        )


def _signers(config: Config) -> str:
    people = sorted({one.principal for one in people_of(config)})
    named = f"signatures of {', '.join(people)} count" if people else "no signer is named, so every review is level 0"
    return f"{named} (gitmem policy)"


def _worktree(workspace: Workspace) -> Iterator[Finding]:
    where = checked_out_at(workspace.location, MAIN)
    if where is not None:
        yield Finding(
            "checkout",
            "fault",
            f"gitmem/main is checked out in {where}: gitmem does not write",
            f"git -C {shlex.quote(str(where))} switch --detach",
        )
    for ref, _ in workspace.backend.refs(f"{MAIN}/"):
        name = ref.removeprefix("refs/heads/")
        yield Finding("branch", "fault", f"the branch {name} is in the way of gitmem/main", _renamed(name))
    if workspace.backend.ref(BRANCH_SPACE.rstrip("/")) is not None:
        yield Finding("branch", "fault", "the branch gitmem is in the way of gitmem/main", _renamed("gitmem"))


def _renamed(branch: str) -> str:
    return f"git branch -m {branch} {branch.replace('/', '-')}-old"


def _identity(workspace: Workspace) -> Iterator[Finding]:
    author, _, key = writer(workspace.location, workspace.env.environ, "terminal")
    signed = "unsigned" if key is None else "signed with SSH when a person writes"
    if author == TOOL:
        yield Finding(
            "identity", "note", f"no git identity: commits are written as {TOOL.name} <{TOOL.email}>",
            'git config user.name "…" && git config user.email "…"',
        )  # fmt: skip
    else:
        yield Finding("identity", "fine", f"commits are written as {author.name} <{author.email}>, {signed}")


def _hooks(workspace: Workspace) -> Iterator[Finding]:
    states, note = hooks.status(workspace)
    for state in states:
        if state.state in ("stale", "bypassed"):
            yield Finding("hooks", "fault", f"{state.name} is {state.state}: {state.detail}", "gitmem hooks install")
    on = [state.name for state in states if state.state == "installed"]
    if on:
        yield Finding("hooks", "fine", f"git runs {', '.join(on)}")
    else:
        yield Finding("hooks", "note", "no git hook is installed", "gitmem hooks install")
    if note:
        yield Finding("hooks", "fault", note, "gitmem hooks install")


def _index(workspace: Workspace) -> Iterator[Finding]:
    view = belief.inert_view(workspace)
    if view.config is None:
        return
    seen = opened_index(workspace).tips.get("main")
    if seen == view.main.commit:
        yield Finding("index", "fine", "the search index has seen everything")
    else:
        yield Finding("index", "note", "the search index is behind; the next read brings it up", "gitmem reindex")


def _meaning(workspace: Workspace) -> Iterator[Finding]:
    found = meaning(workspace.env)
    if isinstance(found, Absent):
        yield Finding("meaning", "fine", f"only words are searched: {found.reason}", found.hint)
        return
    try:
        next(found.embed([[("memory", 1.0)]]))
    except MeaningUnavailable as error:
        yield Finding("meaning", "fault", f"only words are searched: {error.message}", error.hint)
        return
    about = f"{found.name}, {found.dimension} dimensions, licence {found.licence}"
    yield Finding("meaning", "fine", f"meaning is searched beside words ({about})")


def _objects(workspace: Workspace) -> Iterator[Finding]:
    count = loose_count(workspace.location)
    state: Literal["note", "fine"] = "note" if count > _LOOSE_MANY else "fine"
    yield Finding("objects", state, f"about {count:,} loose objects", "git maintenance run" if state == "note" else "")


def _locks(workspace: Workspace) -> Iterator[Finding]:
    for lock in left_locks(workspace.location):
        yield Finding(
            "lock", "fault" if lock.stale else "note", f"{lock.path} is {lock.age:.0f} s old",
            f"rm {lock.path}" if lock.stale else "wait a moment",
        )  # fmt: skip


def _outbox(workspace: Workspace) -> Iterator[Finding]:
    count = sum(1 for _ in refusals(workspace))
    if count:
        yield Finding("outbox", "note", f"{count} writes were refused here", "gitmem list --refused")
