"""The world as one value: streams, environment, clock, randomness, and the channel that was observed.

Nothing below `app` reads the clock or the environment. `observe` is called once, at the door.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Final, TextIO

from gitmem.errors import GitmemError, NoHome
from gitmem.model.frozen import dataclass
from gitmem.model.vocabulary import Channel

# Variables that agent hosts set for the programs they start, and the names of their processes. Whoever
# wants to hide from this list can: it tells mistakes apart, not attacks (docs/trust.md).
AGENT_VARIABLES: Final[Mapping[str, str]] = {
    "CLAUDECODE": "claude-code",
    "CLAUDE_CODE_ENTRYPOINT": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "CURSOR_AGENT": "cursor",
    "CURSOR_TRACE_ID": "cursor",
    "GEMINI_CLI": "gemini-cli",
    "ANTIGRAVITY_AGENT": "antigravity",
    "OPENCODE": "opencode",
    "COPILOT_CLI": "copilot-cli",
    "AI_AGENT": "agent",
    "AGENT": "agent",
}
AGENT_PROCESSES: Final[Mapping[str, str]] = {
    "claude": "claude-code",
    "codex": "codex",
    "cursor-agent": "cursor",
    "gemini": "gemini-cli",
    "antigravity": "antigravity",
    "opencode": "opencode",
    "copilot": "copilot-cli",
    "aider": "aider",
    "goose": "goose",
    "crush": "crush",
}
_PATIENCE: Final = 60  # seconds for a program that is not ours
CI_VARIABLES: Final = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "BUILDKITE")


@dataclass(frozen=True)
class Env:
    """What a verb may know of the outside. Tests pass one with buffers, a fixed clock and a seeded random."""

    cwd: Path
    environ: Mapping[str, str]
    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    now: Callable[[], datetime]
    random: Callable[[int], bytes]
    channel: Channel
    host: str | None = None
    start: Path | None = None  # the repository named by --repo, if one was

    def state_home(self) -> Path:
        """Where a user's own state lives: XDG_STATE_HOME/gitmem. Raises GitmemError when there is no home."""
        named, home = self.environ.get("XDG_STATE_HOME", ""), self.environ.get("HOME", "")
        if named.startswith("/"):  # the specification says to ignore a relative one
            return Path(named) / "gitmem"
        if not home:
            raise NoHome("there is no HOME", hint="set HOME, or XDG_STATE_HOME to a folder of yours")
        return Path(home) / ".local/state/gitmem"


def observe(start: str | None = None) -> Env:
    """The Env of this process."""
    environ = dict(os.environ)  # noqa: TID251
    told = any(environ.get(name) for name in AGENT_VARIABLES)
    tty = sys.stdin.isatty() if sys.stdin else False
    channel, host = observe_channel(environ, tty, () if told else _ancestors())
    return Env(
        cwd=Path.cwd(),
        environ=environ,
        stdin=sys.stdin,
        stdout=sys.stdout,
        stderr=sys.stderr,
        now=lambda: datetime.now(timezone.utc),  # noqa: TID251
        random=os.urandom,
        channel=channel,
        host=host,
        start=None if start is None else Path(start),
    )


def observe_channel(environ: Mapping[str, str], tty: bool, ancestors: tuple[str, ...]) -> tuple[Channel, str | None]:
    """The channel by what can be seen, and the host of an agent when one is seen.

    A terminal needs a TTY on standard input and no sign of an agent in environment or process ancestry.
    """
    for name, host in AGENT_VARIABLES.items():
        if environ.get(name):
            return "agent", host
    for process in ancestors:
        if process in AGENT_PROCESSES:
            return "agent", AGENT_PROCESSES[process]
    if any(environ.get(name) for name in CI_VARIABLES):
        return "ci", None
    return ("terminal", None) if tty else ("agent", None)


def _ancestors() -> tuple[str, ...]:
    """Names of the processes above this one, nearest first; empty where /proc does not tell.

    Interpreters are named by their script: `node /usr/bin/codex` is codex.
    """
    names = []
    pid = os.getppid()
    for _ in range(64):
        if pid <= 1:
            break
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:2]
        except OSError:
            break
        names += [os.path.basename(os.fsdecode(word)).removesuffix(".js") for word in words if word]  # noqa: PTH119
        pid = int(stat.rpartition(")")[2].split()[1])
    return tuple(names)


def edit_text(env: Env, text: str, suffix: str) -> str | None:
    """Open the user's editor on `text`; None when it was left unchanged. Raises GitmemError when the editor failed.

    The editor is what git would take: GIT_EDITOR, VISUAL, EDITOR, else vi; run by the shell as git does.
    """
    import subprocess  # noqa: TID251
    import tempfile

    command = next((env.environ[n] for n in ("GIT_EDITOR", "VISUAL", "EDITOR") if env.environ.get(n)), "vi")
    with tempfile.TemporaryDirectory(prefix="gitmem-") as folder:
        file = Path(folder) / f"draft{suffix}"
        file.write_text(text, encoding="utf-8")
        done = subprocess.run(["/bin/sh", "-c", f'{command} "$1"', "editor", str(file)], check=False)
        try:
            edited = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise GitmemError("what the editor left cannot be read as UTF-8; nothing was written") from None
    if done.returncode:
        raise GitmemError(
            f"the editor {command!r} ended with {done.returncode}; nothing was written",
            hint="name one that runs here: EDITOR=nano gitmem …",
        )
    return None if edited == text else edited


def which(env: Env, program: str) -> Path | None:
    """Where a program lies that PATH names; None when it does not."""
    folders = [folder for folder in env.environ.get("PATH", "").split(os.pathsep) if folder.startswith("/")]
    found = (Path(folder) / program for folder in folders)
    return next((path for path in found if path.is_file() and os.access(path, os.X_OK)), None)


def run_quietly(env: Env, words: Sequence[str]) -> str:
    """Run a program that a person agreed to; "" when it did its work, else what it said or its exit code."""
    import subprocess  # noqa: TID251

    try:
        done = subprocess.run(
            list(words),
            env=dict(env.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.decode(errors="replace").strip()
    return "" if done.returncode == 0 else said or f"exit {done.returncode}"
