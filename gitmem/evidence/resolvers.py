"""From short form to full reference, and from reference to what is there today. One resolver for each type."""

from __future__ import annotations

from typing import Any, Final, Protocol

from gitmem.errors import GitmemError, UsageError
from gitmem.evidence import commit, file, human, memory, testcase, transcript, url
from gitmem.evidence.short import parse
from gitmem.evidence.sources import Sources
from gitmem.model.judgement import Resolution
from gitmem.model.nouns import EvidenceRef
from gitmem.model.vocabulary import EVIDENCE_TYPES, Role


class Resolver(Protocol):
    """What a type of evidence has to offer; the modules of this room are resolvers themselves.

    EXAMPLE: one right short form. expand: the full reference for what stands behind `TYPE:`. resolve: re-checks
    a reference from anywhere; may raise GitmemError when the repository cannot answer, never for what it says.
    """

    @property
    def EXAMPLE(self) -> str: ...

    def expand(self, rest: str, role: Role, sources: Sources) -> Any: ...

    def resolve(self, ref: Any, sources: Sources) -> Resolution: ...


# Whoever sets up another source adds it here, under the type that its records carry.
RESOLVERS: Final[dict[str, Resolver]] = {
    "file": file,
    "commit": commit,
    "test": testcase,
    "memory": memory,
    "human": human,
    "url": url,
    "transcript": transcript,
}


def expand(short: str, sources: Sources) -> EvidenceRef:
    """The full reference for a short form such as `file:src/pool.py:40-58`, resolved today.

    Raises UsageError with an example of the right form, NotFound or Ambiguous with what is near.
    """
    role, kind, rest = parse(short)
    resolver = RESOLVERS.get(kind)
    if resolver is None:
        known = ", ".join(RESOLVERS)
        if kind in EVIDENCE_TYPES:
            raise UsageError(f"{kind} evidence has not been set up here", hint=f"what can be cited: {known}")
        raise UsageError(f"there is no evidence of type {kind!r}", hint=f"the types are {known}; e.g. {file.EXAMPLE}")
    if not rest.strip():
        raise UsageError(f"nothing stands behind {kind}:", hint=f"for example {resolver.EXAMPLE}")
    ref: EvidenceRef = resolver.expand(rest, role, sources)
    return ref


def resolve(ref: EvidenceRef, sources: Sources) -> Resolution:
    """What looking at the cited bytes gives today. Never raises for what a reference says, however hostile.

    What the repository cannot answer (an object is damaged or too large, git fails) is `unobservable`, with the
    reason in the detail.
    """
    resolver = RESOLVERS.get(ref.type)
    if resolver is None:
        return Resolution(ref, "unobservable", f"{ref.type} evidence has not been set up here")
    try:
        return resolver.resolve(ref, sources)
    except GitmemError as error:
        return Resolution(ref, "unobservable", error.message)
