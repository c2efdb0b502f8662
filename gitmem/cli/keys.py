"""Single keys and short lines from the terminal of a person."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from gitmem.cli.door import Door
from gitmem.model.text import escape

_ERASE = ("\x7f", "\b")
_END = ("\x04",)  # control D


class Keys:
    """What a person types, key by key, without waiting for the end of a line. Nothing that was typed ahead is lost."""

    def __init__(self, door: Door, descriptor: int) -> None:
        self._door = door
        self._descriptor = descriptor

    def key(self) -> str:
        """One character; "" when nothing more will come."""
        raw = os.read(self._descriptor, 1)
        # The first byte of UTF-8 says how many follow.
        more = 3 if raw >= b"\xf0" else 2 if raw >= b"\xe0" else 1 if raw >= b"\xc0" else 0
        raw += b"".join(os.read(self._descriptor, 1) for _ in range(more))
        char = raw.decode("utf-8", "replace")
        return "" if char in _END else char

    def line(self, prompt: str) -> str:
        """A line with what was typed after `prompt`, without white space at its ends."""
        self._show(prompt)
        typed: list[str] = []
        while (char := self.key()) not in ("", "\n", "\r"):
            if char in _ERASE:
                if typed:
                    typed.pop()
                    self._show("\b \b")
                continue
            if char.isprintable():
                typed.append(char)
                self._show(escape(char))
        self._show("\n")
        return "".join(typed).strip()

    def _show(self, text: str) -> None:
        self._door.out(text)
        self._door.flush()


@contextmanager
def typed_keys(door: Door) -> Iterator[Keys]:
    """Keys from standard input, which has to be a terminal; it is as it was afterwards."""
    import termios

    descriptor = door.env.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    changed = termios.tcgetattr(descriptor)
    changed[3] &= ~(termios.ICANON | termios.ECHO)
    changed[6][termios.VMIN], changed[6][termios.VTIME] = 1, 0
    termios.tcsetattr(descriptor, termios.TCSADRAIN, changed)
    try:
        yield Keys(door, descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
