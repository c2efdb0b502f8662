"""The state of a record that both sides changed.

Withholding wins. The order, the stronger first, and why each stands where it does:

    wrong        a person found it false; only a lift that saw the rejection ends that
    archived     a person took it out of use or its proposer took it back; restoring it is one command
    superseded   something else says what is true now
    quarantined  it came from outside and nobody looked at it
    disputed     people disagree: nobody is shown it until one of them settles it
    candidate    nobody accepted it yet
    stale, maybe_stale, active      how sure it is; the more careful word is kept
"""

from __future__ import annotations

from typing import Final

from gitmem.model.vocabulary import VISIBLE

LATTICE: Final = (
    "active", "maybe_stale", "stale", "candidate", "disputed", "quarantined", "superseded", "archived", "wrong",
)  # fmt: skip
_RANK: Final = {status: rank for rank, status in enumerate(LATTICE)}


def merged_status(base: str | None, ours: str, theirs: str, *, ours_says: bool, theirs_says: bool) -> str:
    """The state after a merge. `*_says`: that side changed what the record says, so whoever let it in on the other
    side let in another text.

    One side that changed the state decides it, but for letting in what the other side changed. A word that is in no
    list withholds more than any that is.
    """
    if ours == theirs:
        return ours
    if base == ours and not (_lets_in(base, theirs) and ours_says):
        return theirs
    if base == theirs and not (_lets_in(base, ours) and theirs_says):
        return ours
    return max(ours, theirs, key=lambda status: (_RANK.get(status, len(_RANK)), status))


def _lets_in(before: str | None, after: str) -> bool:
    return before not in VISIBLE and after in VISIBLE
