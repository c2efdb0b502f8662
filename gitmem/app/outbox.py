"""What the gate refused, kept on this machine: an event of its own, with the reasons and the draft."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gitmem.app.state import private_folder, write_private
from gitmem.app.workspace import Workspace
from gitmem.model.drafts import draft_of, draft_text
from gitmem.model.ids import event_id
from gitmem.model.judgement import Change, Reason
from gitmem.model.times import format_instant
from gitmem.policy.secrets import find_secrets

KEEP: Final = 500  # refused writes kept; the oldest go first
# Refusals whose draft must not be kept: it holds what may not be written anywhere.
UNKEPT: Final = frozenset({"secret", "text.characters"})


def record_refusals(workspace: Workspace, refused: Sequence[tuple[Change, Sequence[Reason]]]) -> None:
    """Keep each refused change as one file of the outbox."""
    env = workspace.env
    now = env.now()
    folder = private_folder(workspace.location.private / "outbox")
    for number, (change, reasons) in enumerate(refused):
        identifier = event_id(int(now.timestamp() * 1000), number.to_bytes(3, "big") + env.random(7))
        unkept = any(reason.code in UNKEPT for reason in reasons)
        data = {
            "format": 1,
            "id": identifier,
            "at": format_instant(now),
            "op": "refused",
            "asked": change.op,
            "memory": change.before.id if change.before else None,
            "reasons": [{"code": r.code, "where": r.where, "message": _plain(r.message)} for r in reasons],
            "actor": {"channel": env.channel, "host": env.host},
            "draft": None if unkept else _plain(draft_text(draft_of(change.after))) or None,
        }
        write_private(folder / f"{identifier}.json", json.dumps(data, indent=1).encode() + b"\n")
    for old in sorted(folder.glob("*.json"))[:-KEEP]:
        old.unlink(missing_ok=True)


def _plain(text: str) -> str:
    """`text`, or nothing when a secret stands in it: a reference that led nowhere was not judged, and is quoted."""
    return "" if find_secrets(text) else text


def refusals(workspace: Workspace) -> Iterator[dict[str, Any]]:
    """The outbox, newest first."""
    for file in sorted((workspace.location.private / "outbox").glob("*.json"), reverse=True):
        try:
            data = json.loads(file.read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(data, dict):
            yield data
