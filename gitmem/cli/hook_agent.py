"""What an agent host's hook runs: `gitmem hook-agent HOST EVENT`, with the host's JSON on standard input.

Knows nothing of Typer, pydantic or pygit2. Always ends well and quietly: a hook that fails can stop a prompt or a tool
of its host.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gitmem.cli.quick import Flags

if TYPE_CHECKING:
    from gitmem.cli.door import Door

FLAGS: Final = Flags(positional="words", several=True, one={}, many={}, yes={})


def run(door: Door, *, words: Sequence[str] = ()) -> None:
    """Tell the host what it should know now, in its own JSON; nothing at all for other words than two."""
    from gitmem.app.injection import LARGEST, injected

    if len(words) != 2:
        return
    stream = getattr(door.env.stdin, "buffer", None)
    raw: bytes = stream.read(LARGEST + 1) if stream is not None else door.env.stdin.read().encode()
    door.out(injected(door.env, words[0], words[1], raw))
