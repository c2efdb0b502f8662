"""The closed lists of the format: kinds, states, origins, channels, operations, limits.

An unknown word in one of these lists is refused on write and hidden on read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

FORMAT: Final = 1

Kind = Literal[
    "problem", "solution", "failed_tactic", "fact", "decision", "convention", "preference",
    "procedure", "change", "concept", "episode", "plan", "reminder",
]  # fmt: skip
KINDS: Final[tuple[Kind, ...]] = (
    "problem", "solution", "failed_tactic", "fact", "decision", "convention", "preference",
    "procedure", "change", "concept", "episode", "plan", "reminder",
)  # fmt: skip

# A claim keeps its identity when somebody files it under a neighbouring kind, so a rejected fact does
# not come back as a convention. Solution and failed_tactic stay apart: they say opposite things.
KIND_CLASS: Final[Mapping[str, str]] = {
    "problem": "problem",
    "solution": "solution",
    "failed_tactic": "failed_tactic",
    "episode": "work",
    "plan": "work",
    "reminder": "work",
    **dict.fromkeys(("fact", "decision", "convention", "preference", "procedure", "change", "concept"), "claim"),
}

Status = Literal[
    "active", "maybe_stale", "stale",
    "candidate", "quarantined", "disputed", "superseded", "wrong", "archived",
]  # fmt: skip
# The one allow-list of states that a reader may see, with the weight in ranking. Everything else,
# known or unknown, is withheld.
VISIBLE: Final[Mapping[str, float]] = {"active": 1.0, "maybe_stale": 0.65, "stale": 0.25}
WAITING: Final[tuple[str, ...]] = ("candidate", "quarantined")  # for a person to decide
WITHHELD: Final[tuple[str, ...]] = ("candidate", "quarantined", "disputed", "superseded", "wrong", "archived")
STATUSES: Final[tuple[str, ...]] = (*VISIBLE, *WITHHELD)

Audience = Literal["team", "private", "user"]
AUDIENCES: Final[tuple[Audience, ...]] = ("team", "private", "user")

Origin = Literal["human", "observed", "inferred", "imported", "external"]
# Higher never yields to lower.
ORIGIN_RANK: Final[Mapping[str, int]] = {"external": 0, "imported": 1, "inferred": 2, "observed": 3, "human": 4}

Channel = Literal["terminal", "agent", "tool", "capture", "import", "ci", "forge", "merge"]
CHANNELS: Final[tuple[Channel, ...]] = ("terminal", "agent", "tool", "capture", "import", "ci", "forge", "merge")

EvidenceType = Literal["transcript", "file", "commit", "test", "memory", "human", "url"]
EVIDENCE_TYPES: Final[tuple[EvidenceType, ...]] = (
    "transcript", "file", "commit", "test", "memory", "human", "url",
)  # fmt: skip
Role = Literal["supports", "contradicts", "invalidated_by"]
ROLES: Final[tuple[Role, ...]] = ("supports", "contradicts", "invalidated_by")

LinkType = Literal[
    "solves", "tried_for", "supersedes", "superseded_by", "contradicts", "derived_from", "relates_to",
    "differs_from",
]  # fmt: skip
LINK_TYPES: Final[tuple[LinkType, ...]] = (
    "solves", "tried_for", "supersedes", "superseded_by", "contradicts", "derived_from", "relates_to",
    "differs_from",
)  # fmt: skip
# The link by which a kind names its problem.
PROBLEM_LINK: Final[Mapping[str, str]] = {"solution": "solves", "failed_tactic": "tried_for"}

Op = Literal[
    "create", "edit", "accept", "reject", "supersede", "retract", "archive", "restore", "dispute",
    "mark", "lift", "import", "merge", "redact", "policy", "refused",
]  # fmt: skip
OPS: Final[tuple[Op, ...]] = (
    "create", "edit", "accept", "reject", "supersede", "retract", "archive", "restore", "dispute",
    "mark", "lift", "import", "merge", "redact", "policy", "refused",
)  # fmt: skip

# Languages of which a question may be taken by their stems, beside English and Spanish: names of Snowball's stemmers.
LANGUAGES: Final[tuple[str, ...]] = (
    "arabic", "armenian", "basque", "catalan", "danish", "dutch", "finnish", "french", "german", "greek", "hindi",
    "hungarian", "indonesian", "irish", "italian", "lithuanian", "nepali", "norwegian", "portuguese", "romanian",
    "russian", "serbian", "swedish", "tamil", "turkish", "yiddish",
)  # fmt: skip

LESSON: Final = "lesson"  # the tag of what failed and then passed in a session

FILE_LIMIT: Final = 64 * 1024  # bytes of any file on the branch
YAML_DEPTH: Final = 8
YAML_NODES: Final = 2000
TITLE_LIMIT: Final = 200  # characters
BODY_LIMIT: Final = 8000
QUOTE_LIMIT: Final = 600
SYMBOL_LIMIT: Final = 200
REASON_LIMIT: Final = 2000
TAG_LIMIT: Final = 60
ITEM_LIMIT: Final = 32  # entries of tags, applies_to, links, evidence, aliases, alternatives, steps
KEY_LIMIT: Final = 100
