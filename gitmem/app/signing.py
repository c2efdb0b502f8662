"""Who signed a commit of the branch, by the policy of the state before it; and what signs the commits made here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gitmem.errors import GitmemError
from gitmem.model.frozen import replace
from gitmem.model.layout import CONFIG
from gitmem.model.records import config_from_bytes
from gitmem.policy.ssh_signature import NOT_SIGNED
from gitmem.store.objects import parse_commit
from gitmem.store.port import Backend
from gitmem.store.snapshot import snapshot

if TYPE_CHECKING:
    from gitmem.app.workspace import Workspace
    from gitmem.model.nouns import Config, Event, Signer
    from gitmem.policy.review import ReviewLevel
    from gitmem.policy.ssh_signature import Signed


def signing(workspace: Workspace) -> Callable[[bytes], bytes] | None:
    """What makes a signed commit of an unsigned one; None when the user's own commits are not signed with SSH."""
    key = workspace.writer.key
    if key is None:
        return None
    from gitmem.store.signing import signed

    return partial(signed, key=key, environ=workspace.env.environ)


def who_signed(backend: Backend, commit: str) -> Signed:
    """Whose signature a commit bears, by the signers that its first parent's policy names. An unreadable policy names
    nobody."""
    raw = backend.read(commit)[1]
    if not bears_signature(raw):
        return NOT_SIGNED
    parents = parse_commit(raw).parents
    return signature(raw, signers_at(backend, parents[0]) if parents else ())


def bears_signature(raw: bytes) -> bool:
    """Whether the bytes of a commit have a signature of any kind."""
    return b"\ngpgsig" in raw.partition(b"\n\n")[0]


def signature(raw: bytes, signers: Sequence[Signer]) -> Signed:
    """Whose signature stands in the bytes of a commit."""
    if not bears_signature(raw):
        return NOT_SIGNED
    from gitmem.policy.ssh_signature import signed_by
    from gitmem.store.signing import covered

    payload, armoured = covered(raw)
    return signed_by(payload, armoured, signers)


def signers_at(backend: Backend, commit: str) -> tuple[Signer, ...]:
    """The signers that the policy of a commit names, which was verified."""
    try:
        raw = snapshot(backend, commit).read(CONFIG)
        return config_from_bytes(raw, path=CONFIG, trusted=True).signers if raw is not None else ()
    except GitmemError:
        return ()


def people_of(config: Config | None) -> tuple[Signer, ...]:
    """The signers of a policy that are people."""
    return tuple(one for one in config.signers if one.role == "person") if config is not None else ()


def principal_here(workspace: Workspace, config: Config | None) -> str:
    """Who a policy says decides here: the owner of the key that commits are signed with; else `unproven`."""
    from gitmem.policy.review import UNPROVEN
    from gitmem.policy.ssh_signature import key_bytes

    key = workspace.writer.key
    mine = None if key is None else key_bytes(key.public())
    found = (one for one in people_of(config) if mine is not None and key_bytes(one.key) == mine)
    return next((one.principal for one in found), UNPROVEN)


def level(event: Event, signed: Signed) -> ReviewLevel:
    """What a change is worth as a review: by who signed its commit, and by who proposed it, itself when nobody did.

    A name in the event counts for nothing: anybody can write one.
    """
    from gitmem.policy.review import UNPROVEN, review_level

    person = signed.state == "good" and signed.signer is not None and signed.signer.role == "person"
    reviewer = replace(event.actor, principal=signed.signer.principal if person and signed.signer else UNPROVEN)
    proposer = event.proposed.actor if event.proposed else reviewer
    return review_level(reviewer, proposer)
