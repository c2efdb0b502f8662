"""What went wrong when something should have been told unasked: the host hears nothing of it, `gitmem status` does.

An entry holds where and what, and nothing that was said. When a hook fired last, a file of its own says by its time.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from gitmem.app import state
from gitmem.errors import GitmemError
from gitmem.model.text import one_line
from gitmem.model.times import format_instant

FIRED: Final = "fired"  # a folder; the doorbell touches HOST.EVENT in it
MOST: Final = 20
_NAME: Final = "injection-errors"
_LENGTH: Final = 200  # characters of a message


def note_failure(private: Path, now: datetime, host: str, event: str, error: Exception) -> None:
    """Keep the newest few. A folder that cannot be written to keeps none."""
    entry = {
        "at": format_instant(now),
        "host": one_line(host, 40),
        "event": one_line(event, 40),
        "message": one_line(_message(error), _LENGTH),
    }
    with suppress(GitmemError):
        state.save(private, _NAME, {"errors": [*failures(private), entry][-MOST:]})


def failures(private: Path) -> list[dict[str, str]]:
    """The newest last: at, host, event, message."""
    kept = state.load(private, _NAME).get("errors")
    return [_entry(one) for one in kept if isinstance(one, dict)] if isinstance(kept, list) else []


def fired(private: Path, host: str, event: str) -> str:
    """When a hook fired last in this clone; "" for never."""
    try:
        changed = (private / FIRED / f"{host}.{event}").stat().st_mtime
    except OSError:
        return ""
    return format_instant(datetime.fromtimestamp(changed, timezone.utc))


def _entry(data: dict[str, Any]) -> dict[str, str]:
    return {key: str(data.get(key, "")) for key in ("at", "host", "event", "message")}


def _message(error: Exception) -> str:
    """Of an error that nobody expected only its sort and where it was raised: its words may quote what was said."""
    if isinstance(error, GitmemError):
        return f"{error.message} ({error.hint})" if error.hint else error.message
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
    return f"unexpected {type(error).__name__}{where}"
