"""One piece of work done in a second process while this one goes on: what a bulk import makes of its records.

The second process is a fork, so it knows what this one knew, and it gets batches and gives results through two pipes.
It touches no file, repository or terminal. When it ends early there is no result, and so nothing is written.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from typing import Any, Final, NoReturn

from gitmem.errors import GitmemError

_LENGTH: Final = 8  # bytes that say how long the next message is
_FAILED: Final = b""


def worthwhile() -> bool:
    """True where a process can be forked and another processor would run it."""
    return hasattr(os, "fork") and (os.cpu_count() or 1) > 1


class Beside:
    """Runs `work` on each batch in turn. At most one is on its way, so neither side waits for the other to read."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self._work = work
        self._sent: Any = None
        inside, outside = os.pipe(), os.pipe()
        self._process = os.fork()
        if self._process == 0:
            _serve(work, inside[0], outside[1])
        os.close(inside[0])
        os.close(outside[1])
        self._to, self._from = inside[1], outside[0]

    def give(self, batch: Any) -> Any:
        """Hand over a batch; the result of the one before, None before the first.

        Raises what the work raised, and GitmemError when the other process is gone.
        """
        before = self.take()
        self._sent = batch
        try:
            _send(self._to, pickle.dumps(batch, pickle.HIGHEST_PROTOCOL))
        except BrokenPipeError:
            raise _gone() from None
        return before

    def take(self) -> Any:
        """The result of the batch that is on its way; None when there is none."""
        if self._sent is None:
            return None
        answer = _receive(self._from)
        if answer is None:
            raise _gone()
        sent, self._sent = self._sent, None
        if answer == _FAILED:
            self._work(sent)  # here it fails in the same way, with its own error
            raise _gone()
        return pickle.loads(answer)  # noqa: S301 - by a fork of this process

    def close(self) -> None:
        """End the other process, whatever it is at."""
        if self._process:
            os.close(self._to)
            os.close(self._from)
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
            self._process = 0


def _gone() -> GitmemError:
    return GitmemError(
        "the process that made the records ended before it was done; nothing was written",
        hint="run the command again; with less memory in use, if it was killed for that",
    )


def _serve(work: Callable[[Any], Any], source: int, target: int) -> NoReturn:
    """The life of the other process. It never returns into the code that forked it."""
    try:
        # A pipe to a git program that stayed open here would keep that program from ending.
        first, last = sorted((source, target))
        for low, high in ((3, first), (first + 1, last), (last + 1, os.sysconf("SC_OPEN_MAX"))):
            os.closerange(low, high)
        while (message := _receive(source)) is not None:
            try:
                answer = pickle.dumps(work(pickle.loads(message)), pickle.HIGHEST_PROTOCOL)  # noqa: S301
            except Exception:
                answer = _FAILED
            _send(target, answer)
    finally:
        os._exit(0)


def _send(pipe: int, message: bytes) -> None:
    left = memoryview(len(message).to_bytes(_LENGTH, "big") + message)
    while left:
        left = left[os.write(pipe, left) :]


def _receive(pipe: int) -> bytes | None:
    """One message; None when the other side is gone, in the middle of one too."""
    length = _read(pipe, _LENGTH)
    return None if length is None else _read(pipe, int.from_bytes(length, "big"))


def _read(pipe: int, length: int) -> bytes | None:
    parts = []
    while length:
        part = os.read(pipe, min(length, 1 << 20))
        if not part:
            return None
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
