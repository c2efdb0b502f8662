"""The shell shim as text: made from its template, recognised, taken out of a file again."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CLIENT_HOOKS: Final = ("pre-push", "pre-commit")
STRICT_HOOKS: Final = ("reference-transaction",)
SERVER_HOOKS: Final = ("pre-receive", "update")
RECORDING_HOOKS: Final = ("post-commit", "post-merge", "post-rewrite")  # which commits were made or merged
TRAILER_HOOKS: Final = ("commit-msg",)  # names the session in an agent's commit
ALL_HOOKS: Final = (*CLIENT_HOOKS, *RECORDING_HOOKS, *TRAILER_HOOKS, *STRICT_HOOKS, *SERVER_HOOKS)

_BLOCK: Final = re.compile(rb"^# >>> gitmem hook \d+ >>>\n.*?^# <<< gitmem hook \d+ <<<\n?", re.DOTALL | re.MULTILINE)
_BAKED: Final = re.compile(
    rb"^gitmem_name=(?P<name>[a-z-]+)\ngitmem_chained=(?P<chained>[^\n]*)\n(?:#[^\n]*\n)*"
    rb"gitmem_program=(?P<program>.*?)\n# The rest",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Shim:
    """What is baked into one copy: the hook's name, the earlier hook beside it ("" for none), the program."""

    name: str
    chained: str
    program: str

    def text(self) -> bytes:
        """The whole file. Names and paths are quoted for the shell, whatever they hold."""
        template = template_path().read_text(encoding="ascii")
        for place, value in (("@NAME@", self.name), ("@CHAINED@", self.chained), ("@PROGRAM@", self.program)):
            template = template.replace(place, shlex.quote(value), 1)
        return os.fsencode(template)

    def block(self) -> bytes:
        """The marked part of `text`."""
        return self.text().partition(b"\n")[2]


def template_path() -> Path:
    """`hooks/git/gitmem-hook`: inside the package when it is installed, beside it in a checkout."""
    package = Path(__file__).parents[1]
    shipped = package / "_shipped/hooks/git/gitmem-hook"
    return shipped if shipped.exists() else package.parent / "hooks/git/gitmem-hook"


def parse(data: bytes) -> Shim | None:
    """The shim in a hook file's bytes, None when there is none of ours."""
    block = _BLOCK.search(data)
    baked = _BAKED.search(block.group()) if block else None
    if baked is None:
        return None
    try:
        values = [shlex.split(os.fsdecode(baked[part])) for part in ("name", "chained", "program")]
    except ValueError:  # an edited file with a quote left open
        return None
    name, chained, program = (" ".join(words) for words in values)
    return Shim(name, chained, program)


def is_current(data: bytes, shim: Shim) -> bool:
    """True when the block in `data` is what this version would write for the same baked values."""
    return shim.block() in data


def replace_block(data: bytes, shim: Shim) -> bytes:
    """`data` with its block made anew; what a person wrote around it stays."""
    return _BLOCK.sub(lambda _: shim.block(), data, count=1)


def without_block(data: bytes) -> bytes | None:
    """What is left of `data` without the block; None when that is no more than the shim's own first line."""
    rest = _BLOCK.sub(b"", data, count=1)
    return None if rest.strip() in (b"", b"#!/bin/sh") else rest


def line_to_add(name: str) -> str:
    """The line by which somebody else's hook file calls our shim in `<common dir>/gitmem/hooks`.

    It names no path of this machine, and does nothing in a clone without gitmem.
    """
    return (
        f'gitmem_hook="$(git rev-parse --git-common-dir)/gitmem/hooks/{name}"; '
        '[ ! -x "$gitmem_hook" ] || "$gitmem_hook" "$@" || exit $?'
    )


def calls_shim(data: bytes, name: str) -> bool:
    """True when a hook file has that line, or one like it, and it is not a comment."""
    wanted = f"gitmem/hooks/{name}".encode()
    return any(wanted in line and not line.lstrip().startswith(b"#") for line in data.splitlines())


def is_pre_commit_framework(data: bytes) -> bool:
    """The framework that moves an earlier hook to `<name>.legacy` and goes on calling it."""
    return b"pre-commit.com" in data


def reads_own_name(data: bytes) -> bool:
    """True when a script chooses what to do by the name of its own file, so that it must keep that name."""
    return re.search(rb"basename[^\n]*(\$0|\$\{0|\$PROGRAM_NAME|__FILE__|argv)|\$\{0##\*/\}", data) is not None
