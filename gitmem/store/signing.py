"""Signing a commit as the user's own git does, with SSH, and what of a commit a signature covers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.errors import GitmemError
from gitmem.model.text import one_line
from gitmem.store.program import run_other

_HEADERS: Final = ("gpgsig", "gpgsig-sha256")
_PATIENCE: Final = 120.0  # seconds in which a person types a passphrase or touches a key
_LITERAL: Final = "key::"


class SigningKey(NamedTuple):
    """What the user's configuration of git signs with. `text`: a file, or `key::` and a public key that an agent
    holds. `program`: what makes the signature."""

    text: str
    program: str = "ssh-keygen"

    def public(self) -> str:
        """The public key, as OpenSSH writes it; "" where it cannot be read."""
        if self.text.startswith(_LITERAL):
            return self.text.removeprefix(_LITERAL)
        path = self.path()
        for beside in (path if path.suffix == ".pub" else path.with_name(f"{path.name}.pub"), path):
            with suppress(OSError):
                return beside.read_text("ascii", "replace")
        return ""

    def path(self) -> Path:
        """The file that is named, as git finds it."""
        return Path(os.path.expanduser(self.text))  # noqa: PTH111 - `~user` too


def signing_key(config: Mapping[str, str]) -> SigningKey | None:
    """The key by which the user's own commits are signed, when they are and it is an SSH key.

    `config`: git's settings by their lower-case names. `gitmem.sign` false leaves gitmem's commits unsigned.
    """
    wanted = _true(config.get("commit.gpgsign", "")) and _true(config.get("gitmem.sign", "true"))
    key = config.get("user.signingkey", "")
    if not wanted or not key or config.get("gpg.format") != "ssh":
        return None
    text = key if key.startswith((_LITERAL, "~/")) else f"{_LITERAL}{key}" if key.startswith("ssh-") else key
    return SigningKey(text, config.get("gpg.ssh.program") or "ssh-keygen")


def signed(commit: bytes, key: SigningKey, environ: Mapping[str, str]) -> bytes:
    """`commit` with the signature of `key`. Raises GitmemError when none could be made."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="gitmem-") as folder:
        options = []
        if key.text.startswith(_LITERAL):
            file = Path(folder) / "key.pub"
            file.write_text(key.text.removeprefix(_LITERAL) + "\n")
            options = ["-U"]  # the agent has the private part
        else:
            file = key.path()
        arguments = ["-Y", "sign", "-n", "git", "-f", str(file), *options]
        done = run_other(
            key.program, arguments, environ=environ, cwd=Path(folder), timeout=_PATIENCE, stdin=commit
        )  # fmt: skip
    armoured = done.out.decode("ascii", "replace").strip() if done else ""
    if done is None or done.status or "SSH SIGNATURE" not in armoured:
        why = f"there is no {key.program}" if done is None else one_line(done.err, 300) or "no signature"
        raise GitmemError(
            f"the memory could not be signed, so nothing was written: {why}",
            hint="git commit signs the same way; git config gitmem.sign false leaves memory unsigned",
        )
    head, _, message = commit.partition(b"\n\n")
    lines = "\n ".join(armoured.split("\n"))
    return head + f"\n{_header(head)} {lines}".encode() + b"\n\n" + message


def covered(commit: bytes) -> tuple[bytes, str]:
    """The bytes of a commit that its signature is over, and the signature; "" when there is none.

    As git has it: the header of the other hash is left out of the bytes too, and signs nothing here.
    """
    head, _, message = commit.partition(b"\n\n")
    own = _header(head)
    kept: list[bytes] = []
    signature: list[bytes] = []
    name = ""
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key:
            name = key.decode("ascii", "replace")
        else:
            value = line[1:]
        if name == own:
            signature.append(value)
        elif name not in _HEADERS:
            kept.append(line)
    return b"\n".join(kept) + b"\n\n" + message, b"\n".join(signature).decode("ascii", "replace")


def _header(head: bytes) -> str:
    """The name of the header that signs a commit of these headers: by the hash of its repository."""
    return _HEADERS[len(head.split(b"\n", 1)[0]) > len("tree ") + 40]


def _true(text: str) -> bool:
    return text.lower() in ("true", "yes", "on", "1", "")
