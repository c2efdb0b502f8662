"""The terminal door: where output goes and how it looks. Everything shown passes `escape`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from gitmem.app.env import Env
from gitmem.errors import GitmemError, Refused, error_data
from gitmem.model.frozen import dataclass
from gitmem.model.text import counted as counted
from gitmem.model.text import escape

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


@dataclass(frozen=True)
class Door:
    """How this command talks: `as_json` makes standard output data and errors JSON lines; `colour` is decided."""

    env: Env
    as_json: bool = False
    colour: bool = False

    def say(self, text: str = "") -> None:
        """A line of the answer, on standard output."""
        self.out(f"{text}\n")

    def out(self, text: str) -> None:
        """A part of the answer as it is. Raises GitmemError when there is no room where it goes."""
        try:
            self.env.stdout.write(text)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _no_room(error) from None

    def flush(self) -> None:
        """Send on what was said. Raises GitmemError as `out`."""
        try:
            self.env.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _no_room(error) from None

    def note(self, text: str) -> None:
        """A line about the work, on standard error; nothing in JSON mode."""
        if not self.as_json:
            self.env.stderr.write(f"{text}\n")

    def data(self, value: Mapping[str, Any]) -> None:
        """One JSON line of the answer."""
        self.out(json.dumps(value, ensure_ascii=False, default=str) + "\n")

    def style(self, text: str, *names: str) -> str:
        """`text` escaped, and styled where colour is on."""
        safe = escape(text)
        if not self.colour or not names:
            return safe
        return f"\x1b[{';'.join(_STYLES[name] for name in names)}m{safe}\x1b[0m"

    def error(self, error: GitmemError) -> None:
        """An error with every reason and what to do next, on standard error."""
        if self.as_json:
            self.env.stderr.write(json.dumps({"error": error_data(error)}, ensure_ascii=False, default=str) + "\n")
            return
        out = self.env.stderr
        first, *rest = error.message.split("\n")
        out.write(f"{self.style('gitmem:', 'red', 'bold')} {escape(first)}\n")
        out.writelines(f"  {escape(line)}\n" for line in rest)
        for reason in error.reasons if isinstance(error, Refused) else ():
            where = f" ({escape(reason.where)})" if reason.where else ""
            out.write(f"  {self.style(reason.code, 'yellow')}{where}: {escape(reason.message)}\n")
            if reason.hint:
                out.write(f"    {self.style('→ ' + reason.hint, 'dim')}\n")
        if error.hint:
            out.write(f"{self.style('→ ' + error.hint, 'cyan')}\n")

    def progress(self, label: str) -> Progress:
        """A counter on standard error that shows only on a terminal."""
        return Progress(self, label)


def _no_room(error: OSError) -> GitmemError:
    return GitmemError(f"the answer could not be written: {error.strerror}", hint="send it elsewhere")


class Progress:
    """`bar(done, total)`; call `close` at the end. Total 0 is unknown."""

    def __init__(self, door: Door, label: str) -> None:
        self._door = door
        self._label = label
        self._on = not door.as_json and door.env.stderr.isatty()
        self._shown = -1

    def __call__(self, done: int, total: int) -> None:
        share = done * 100 // total if total else done // 100
        if not self._on or share == self._shown:
            return
        self._shown = share
        width = 30
        filled = width * done // total if total else 0
        count = f"{done:,} of {total:,}" if total else f"{done:,}"
        self._door.env.stderr.write(f"\r{self._label} [{'#' * filled}{'.' * (width - filled)}] {count}\x1b[K")
        self._door.env.stderr.flush()

    def close(self) -> None:
        if self._on and self._shown >= 0:
            self._door.env.stderr.write("\r\x1b[K")


def columns(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Rows of plain text with aligned columns; the last column is not padded."""
    table = [tuple(escape(cell) for cell in row) for row in rows]
    if not table:
        return []
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]) - 1)]
    return ["  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]]) for row in table]
