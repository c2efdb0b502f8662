"""A `gitmem` for the shims to start: it writes down how it was called and exits as it is told."""

from __future__ import annotations

import hashlib
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from gitmem.app.githooks import Place
from tests.conftest import git

_PROGRAM = """#!/bin/sh
here=@HERE@
{
  printf 'call'; for word in "$@"; do printf ' [%s]' "$word"; done; echo
  cat
  echo "quarantine ${GIT_QUARANTINE_PATH:+yes} ${GIT_OBJECT_DIRECTORY:+yes} ${GIT_ALTERNATE_OBJECT_DIRECTORIES:+yes}"
  [ -z "$GIT_QUARANTINE_PATH" ] || echo "sees $(git cat-file -t "$(cat "$here/look-for")")"
} >>"$here/calls"
echo "stand-in speaks" >&2
exit "$(cat "$here/status")"
"""


@dataclass(frozen=True)
class StandIn:
    folder: Path

    @property
    def program(self) -> Path:
        return self.folder / "gitmem"

    @property
    def calls(self) -> str:
        record = self.folder / "calls"
        return record.read_text() if record.exists() else ""

    def exits(self, status: int) -> None:
        (self.folder / "status").write_text(f"{status}\n")


def stand_in(folder: Path, status: int = 0) -> StandIn:
    import shlex

    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "gitmem"
    program.write_text(_PROGRAM.replace("@HERE@", shlex.quote(str(folder))))
    program.chmod(0o755)
    made = StandIn(folder)
    made.exits(status)
    (folder / "look-for").write_text("HEAD\n")
    return made


def place_of(repo: Path, *, tracked: bool = False) -> Place:
    """What the door finds out with git: common directory, hooks folder, work tree."""
    common = Path(git(repo, "rev-parse", "--path-format=absolute", "--git-common-dir")[:-1])
    hooks = Path(git(repo, "rev-parse", "--path-format=absolute", "--git-path", "hooks")[:-1])
    bare = git(repo, "rev-parse", "--is-bare-repository").strip() == "true"
    return Place(common, hooks, None if bare else Path(git(repo, "rev-parse", "--show-toplevel")[:-1]), tracked)


def script(path: Path, body: str, mode: int = 0o755) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body)
    path.chmod(mode)
    return path.read_bytes()


def folder_digest(folder: Path) -> str:
    """Names, modes, link targets and bytes of everything below `folder`."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        digest.update(f"{path.relative_to(folder)}\0{status.st_mode}\0".encode("utf-8", "surrogateescape"))
        if stat.S_ISLNK(status.st_mode):
            digest.update(str(path.readlink()).encode())
        elif stat.S_ISREG(status.st_mode):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def run(*command: str | Path, where: Path, **kwargs: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [str(word) for word in command], cwd=where, capture_output=True, text=True, check=False, **kwargs
    )
