"""Single keys and short lines from the terminal of a person."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from contextlib import contextmanager

from gitmem.cli.door import Door
from gitmem.model.text import escape

_ERASE = ("\x7f", "\b")
_END = ("\x04",)  # control D
_ESCAPE = "\x1b"
_PATIENCE = 0.3  # seconds until an escape by itself is told from the beginning of a sequence
# What opens a sequence after the escape, and what ends it (ECMA-48): CSI, and the strings that ST or BEL ends.
_CONTROL, _SINGLE, _STRINGS = "[", "ON", "]P_^X"
_BELL, _BACKSLASH = "\x07", "\\"


class Keys:
    """What a person types, key by key, without waiting for the end of a line.

    What was typed ahead is kept until `discard`. The sequence that a key without a letter sends (an arrow, Home, F1,
    Alt with a letter) is no key here, and none of its letters is one.
    """

    def __init__(self, door: Door, descriptor: int) -> None:
        self._door = door
        self._descriptor = descriptor

    def key(self) -> str:
        """One character; "" when nothing more will come."""
        while (char := self._char()) == _ESCAPE:
            self._swallow()
        return "" if char in _END else char

    def discard(self) -> None:
        """Forget what was typed and not read yet: it was meant for a question that is not asked any more."""
        import termios

        termios.tcflush(self._descriptor, termios.TCIFLUSH)

    def _swallow(self) -> None:
        """Read the rest of an escape sequence."""
        opened = self._soon()
        while opened == _ESCAPE:  # Alt with a key that has a sequence of its own
            opened = self._soon()
        if opened == _CONTROL:
            last = self._soon()
            if last == _CONTROL:  # the function keys of the Linux console
                self._soon()
            while last and not "@" <= last <= "~":
                last = self._soon()
        elif opened and opened in _SINGLE:
            self._soon()
        elif opened and opened in _STRINGS:
            before = ""
            while (char := self._soon()) not in ("", _BELL) and before + char != _ESCAPE + _BACKSLASH:
                before = char

    def _soon(self) -> str:
        """The next character, "" when none comes at once."""
        ready, _, _ = select.select([self._descriptor], [], [], _PATIENCE)
        return self._char() if ready else ""

    def _char(self) -> str:
        raw = os.read(self._descriptor, 1)
        # The first byte of UTF-8 says how many follow.
        more = 3 if raw >= b"\xf0" else 2 if raw >= b"\xe0" else 1 if raw >= b"\xc0" else 0
        raw += b"".join(os.read(self._descriptor, 1) for _ in range(more))
        return raw.decode("utf-8", "replace")

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
