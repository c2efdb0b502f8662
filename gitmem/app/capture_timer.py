"""A timer of the user that runs `gitmem capture` in the repositories that asked for it: systemd, or launchd on macOS.

Nothing runs in the background because of gitmem until a person wrote this and enabled it.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gitmem.app.env import Env, run_quietly, which
from gitmem.app.host_files import Change, read, receipts
from gitmem.app.host_settings import HOSTS
from gitmem.errors import NoHome, UsageError

NAME: Final = "timer"  # in receipts
UNIT: Final = "gitmem-capture"
LABEL: Final = "gitmem.capture"
EVERY: Final = 10  # minutes; `status` calls a session stale after 15
_HEAD: Final = "# Written by `gitmem install --timer`, taken out by `gitmem uninstall`.\n"
_PLACES: Final = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
_REPOSITORIES: Final = "repositories"


def plan_timer(env: Env, program: Path, repository: Path, platform: str = sys.platform) -> list[Change]:
    """What has to change for the timer to capture in `repository` too.

    Raises UsageError when a file of that name is not ours, GitmemError when there is no home.
    """
    wanted = [*(known for known in _repositories(env) if Path(known).exists()), str(repository)]
    repositories = tuple(dict.fromkeys(wanted))
    found = []
    for path, text in _texts(env, program, repositories, platform).items():
        before = read(path)
        if before is not None and not _is_ours(before):
            raise UsageError(f"{path} was not written by gitmem; nothing was written", hint="move it away")
        if before != text:
            about = ((_REPOSITORIES, repositories),)
            found.append(Change(NAME, path, before, text, mode=0o644, about=about))
    return found


def plan_timer_out(env: Env) -> list[Change]:
    """What takes the timer out, for all repositories."""
    paths = [Path(path) for path, entry in receipts(env).items() if entry.get("host") == NAME]
    found = ((path, read(path)) for path in paths)
    return [Change(NAME, path, before, None) for path, before in found if before is not None and _is_ours(before)]


def enabling(env: Env, platform: str = sys.platform) -> list[str]:
    """The commands by which a person starts the timer."""
    if platform == "darwin":
        return [f"launchctl bootstrap gui/{os.getuid()} {shlex.quote(str(_agents(env) / f'{LABEL}.plist'))}"]
    return ["systemctl --user daemon-reload", f"systemctl --user enable --now {UNIT}.timer"]


def disabling(platform: str = sys.platform) -> list[str]:
    """The commands by which a person stops it."""
    if platform == "darwin":
        return [f"launchctl bootout gui/{os.getuid()}/{LABEL}"]
    return [f"systemctl --user disable --now {UNIT}.timer"]


def stop(env: Env, platform: str = sys.platform) -> str | None:
    """Stop it before it is taken out, as `run_all`; the link by which systemd starts it goes in any case."""
    said = run_all(env, disabling(platform))
    (_units(env) / f"timers.target.wants/{UNIT}.timer").unlink(missing_ok=True)
    return said


def run_all(env: Env, commands: Sequence[str]) -> str | None:
    """Run what a person agreed to; None when the program is not there, else what went wrong, "" for nothing."""
    for line in commands:
        words = shlex.split(line)
        if which(env, words[0]) is None:
            return None
        if said := run_quietly(env, words):
            return f"{line}: {said}"
    return ""


def _repositories(env: Env) -> list[str]:
    entries = [entry for entry in receipts(env).values() if entry.get("host") == NAME]
    return [str(path) for entry in entries for path in entry.get(_REPOSITORIES, ())]


def _texts(env: Env, program: Path, repositories: Sequence[str], platform: str) -> dict[Path, bytes]:
    places = {name: env.environ[name] for name in _variables() if env.environ.get(name)}
    if platform == "darwin":
        return {_agents(env) / f"{LABEL}.plist": _plist(env, program, repositories, places)}
    lines = "".join(f"Environment={_quoted(f'{name}={value}')}\n" for name, value in places.items())
    runs = "".join(
        f"ExecStart=-{_quoted(str(program))} -C {_quoted(path, dollar='$$')} capture\n" for path in repositories
    )
    service = (
        f"{_HEAD}[Unit]\nDescription=Capture the sessions of coding agents (gitmem)\n\n[Service]\nType=oneshot\n"
        f"Nice=19\nIOSchedulingClass=idle\nTimeoutStartSec=10min\n{lines}{runs}"
    )
    timer = (
        f"{_HEAD}[Unit]\nDescription=Capture the sessions of coding agents every {EVERY} minutes (gitmem)\n\n[Timer]\n"
        f"OnStartupSec=2min\nOnUnitInactiveSec={EVERY}min\nRandomizedDelaySec=30s\n\n[Install]\n"
        "WantedBy=timers.target\n"
    )
    folder = _units(env)
    return {folder / f"{UNIT}.service": service.encode(), folder / f"{UNIT}.timer": timer.encode()}


def _plist(env: Env, program: Path, repositories: Sequence[str], places: dict[str, str]) -> bytes:
    from plistlib import dumps

    runs = "; ".join(f"{shlex.quote(str(program))} -C {shlex.quote(path)} capture" for path in repositories)
    path = {"PATH": env.environ["PATH"]} if env.environ.get("PATH") else {}  # git may lie where launchd does not look
    return dumps(
        {
            "Label": LABEL,
            "ProgramArguments": ["/bin/sh", "-c", runs],
            "StartInterval": EVERY * 60,
            "ProcessType": "Background",
            "LowPriorityIO": True,
            "EnvironmentVariables": {**path, **places},
        }
    )


def _quoted(text: str, dollar: str = "$") -> str:
    """One word of a unit. In an argument a dollar sign would name a variable, so it is `$$` there."""
    if any(ord(char) < 0x20 for char in text):
        raise UsageError(f"a unit cannot name {text!r}", hint="move it to a path without control characters")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", dollar) + '"'


def _variables() -> list[str]:
    """What says where hosts and gitmem keep their files; a timer sees none of the shell's variables."""
    named = (host.home_variable for host in HOSTS.values())
    return list(dict.fromkeys((*_PLACES, *filter(None, named))))


def _units(env: Env) -> Path:
    named = env.environ.get("XDG_CONFIG_HOME", "")
    return (Path(named) if named.startswith("/") else _home(env) / ".config") / "systemd/user"


def _agents(env: Env) -> Path:
    return _home(env) / "Library/LaunchAgents"


def _home(env: Env) -> Path:
    if not env.environ.get("HOME"):
        raise NoHome("there is no HOME", hint="set HOME")
    return Path(env.environ["HOME"])


def _is_ours(content: bytes) -> bool:
    return content.startswith(_HEAD.encode()) or f"<string>{LABEL}</string>".encode() in content
