"""`commit:REV`: a commit of the code, found again by its patch id when history was rewritten."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import Final

from gitmem.errors import GitmemError, NotFound, UsageError
from gitmem.evidence.patch import commit_of_patch, patch_id, patch_ids
from gitmem.evidence.quote import cut, occurs, shown
from gitmem.evidence.short import is_revision
from gitmem.evidence.sources import Sources
from gitmem.model.judgement import Resolution
from gitmem.model.nouns import CommitRef
from gitmem.model.records import digest
from gitmem.model.text import escape
from gitmem.model.vocabulary import Role

EXAMPLE: Final = "commit:HEAD~1"
_PATCH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def expand(rest: str, role: Role, sources: Sources) -> CommitRef:
    """Cites the commit by its full id. The quote is its subject line."""
    commit, data = _named(rest, sources)
    return _cited(commit, data, patch_id(commit, sources), role)


def expand_many(names: Sequence[str], sources: Sources) -> dict[str, CommitRef]:
    """As `expand` for each of `names`, in support, with one look at what all of them change.

    A name that `expand` would refuse is left out.
    """
    commits = {}
    for name in names:
        with contextlib.suppress(GitmemError):  # told by `expand` to whoever asks for this one alone
            commits[name] = _named(name, sources)
    patches = patch_ids(tuple(commit for commit, _ in commits.values()), sources)
    return {name: _cited(commit, data, patches.get(commit), "supports") for name, (commit, data) in commits.items()}


def _named(rest: str, sources: Sources) -> tuple[str, bytes]:
    """The commit that `rest` names, and its bytes."""
    if not is_revision(rest):
        raise UsageError(
            f"{escape(rest)!r} is no name of one commit", hint=f"for example {EXAMPLE}, commit:v1.2 or commit:1a2b3c4"
        )
    if sources.is_oid(rest):  # no question to git is needed
        with contextlib.suppress(NotFound):
            kind, data = sources.read(rest)
            if kind == "commit":
                return rest, data
    commit = sources.backend.resolve(rest)
    if commit is None:
        raise NotFound(
            f"there is no commit {escape(rest)!r} here",
            hint="git log --oneline --all lists the commits" if sources.head else "nothing is committed here yet",
        )
    return commit, sources.read(commit)[1]


def _cited(commit: str, data: bytes, patch: str | None, role: Role) -> CommitRef:
    subject = _message(data).lstrip(b"\n").split(b"\n", 1)[0]
    return CommitRef(commit, digest(data), patch, cut(subject), role)


def resolve(ref: CommitRef, sources: Sources) -> Resolution:
    """A commit that is gone but whose change is on a branch is verified, with its new id in the detail.

    The quote is looked for in the commit's message.
    """
    if not sources.is_oid(ref.commit):
        return Resolution(ref, "missing", "the commit is no full object id of this repository")
    try:
        kind, data = sources.read(ref.commit)
    except NotFound:
        return _after_rewrite(ref, sources)
    if kind != "commit":
        return Resolution(ref, "changed", f"{ref.commit[:12]} is a {kind}, not a commit")
    message = _message(data)
    quoted = occurs(ref.quote, message)
    if digest(data) != ref.sha256:
        return Resolution(ref, "changed", "the commit does not hash to the record", shown(message), quoted)
    return Resolution(ref, "verified", "", shown(message), quoted)


def _after_rewrite(ref: CommitRef, sources: Sources) -> Resolution:
    lost = f"rewritten or not fetched, last seen as {ref.commit[:12]}"
    now = commit_of_patch(ref.patch, sources) if ref.patch and _PATCH.fullmatch(ref.patch) else None
    if now is None:
        return Resolution(ref, "unobservable", lost)
    message = _message(sources.read(now)[1])
    quoted = occurs(ref.quote, message)
    if quoted is False:
        # The words cited are gone with the old commit, so they can be neither shown nor denied.
        return Resolution(
            ref, "unobservable", f"rewritten, now {now[:12]} with another message; {lost}", shown(message)
        )
    return Resolution(
        ref, "verified", f"rewritten, now {now[:12]}; last seen as {ref.commit[:12]}", shown(message), quoted
    )


def _message(data: bytes) -> bytes:
    return data.partition(b"\n\n")[2]
