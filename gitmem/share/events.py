"""The event of a merge. It is made of what was merged and of nothing else, so everybody who merges writes the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Final

from gitmem.model.ids import event_id, event_milliseconds
from gitmem.model.nouns import Actor, Event, GateRecord
from gitmem.model.times import format_instant

WRITER: Final = "merge"  # of no clone: such an event begins no chain and belongs to none
RULES_VERSION: Final = 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


def merge_event(
    memory: str | None,
    known: Iterable[str],
    *,
    status_from: str | None,
    status_to: str | None,
    before: str | None,
    merged: str | None,
    after: str | None,
    reason: str,
) -> Event:
    """The event that tells what a merge made of one record, or of `gitmem.yaml` when `memory` is None.

    `known`: the ids of all events of it on either side; the new one comes right after the newest. `before` and
    `merged` are digests of what the sides had, that of the side whose word stands first.
    """
    milliseconds = max(map(event_milliseconds, known), default=0) + 1
    parts = [memory or "", *sorted((before or "", merged or "")), after or "", status_to or ""]
    random = hashlib.sha256("\n".join(["gitmem merge", *parts]).encode()).digest()
    return Event(
        id=event_id(milliseconds, random),
        at=format_instant(_EPOCH + timedelta(milliseconds=milliseconds)),
        op="merge",
        memory=memory,
        status_from=status_from,
        status_to=status_to,
        before=before,
        after=after,
        reason=reason,
        actor=Actor(channel="merge"),
        gate=GateRecord(version=RULES_VERSION, verdict="admit"),
        writer=WRITER,
        merged=merged,
    )
