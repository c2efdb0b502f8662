"""The one place that starts the git program: a fixed environment, list arguments, no shell.

Nothing in a repository or in the caller's environment may make git run another program or act elsewhere:
every `GIT_*` is dropped, system and global configuration are off unless the user's own is asked for
(credentials, ownership exceptions, identity), and the keys by which a repository's configuration starts
programs are overridden. Variables in arguments stand behind `--end-of-options` or travel on standard input.
"""

from __future__ import annotations

import subprocess  # noqa: TID251 - this module owns it
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from os import X_OK, access, killpg, read, set_blocking, write
from pathlib import Path
from signal import SIGKILL
from time import monotonic
from typing import IO, Final, NamedTuple

from gitmem.errors import GitmemError, RemoteError, UnsupportedRepository
from gitmem.model.text import one_line

OLDEST_GIT = "2.36"
_PARTING: Final = 5.0  # seconds
_PIECE: Final = 65536  # bytes
_LOOK: Final = 0.1  # seconds between two looks at what a watched git does

# hooksPath: what gitmem writes has passed the gate, and a hook of gitmem's own would be called back by its own
# ref move. gc and maintenance: never started behind a person's back from here.
_FIXED = (
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.alternateRefsCommand=:"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "core.fsync=all"),
    *("-c", "core.fsyncMethod=fsync"),
    *("-c", "core.filesRefLockTimeout=100"),
)
_ALWAYS = {
    "LC_ALL": "C",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "https:ssh:file",
    # Only the reflog reads these: commits are built here, with identities of their own.
    "GIT_COMMITTER_NAME": "gitmem",
    "GIT_COMMITTER_EMAIL": "gitmem@localhost.invalid",
}
_USER_CONFIGURATION = ("GIT_CONFIG_", "GIT_SSH", "GIT_ASKPASS", "GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_")
# Inside a server's pre-receive hook the pushed objects lie in a quarantine that only these variables name.
QUARANTINE = ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH")


Process = subprocess.Popen[bytes]
NO_INPUT = subprocess.DEVNULL


class Completed(NamedTuple):
    """What a finished git said. `err` is decoded, `out` is bytes."""

    status: int
    out: bytes
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n") if self.out else []

    def failure(self, what: str, *, hint: str = "") -> GitmemError:
        """The error for a failure that the caller has no better word for."""
        return GitmemError(f"{what}: git said: {one_line(self.err, 400) or f'exit {self.status}'}", hint=hint)


def environment(environ: Mapping[str, str], *, user_config: bool) -> dict[str, str]:
    """The whole environment of a git child, made from the caller's.

    `user_config` keeps the user's own global and system configuration, ssh and askpass programs.
    """
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    kept.update(_ALWAYS)
    if user_config:
        kept.update(
            (name, value)
            for name, value in environ.items()
            if name.startswith(_USER_CONFIGURATION) and name != "GIT_CONFIG_PARAMETERS"
        )
    else:
        kept["GIT_CONFIG_NOSYSTEM"] = "1"
        kept["GIT_CONFIG_GLOBAL"] = "/dev/null"
    if "GIT_QUARANTINE_PATH" in environ:
        kept.update((name, environ[name]) for name in QUARANTINE if name in environ)
    return kept


def spawn(
    arguments: Sequence[str],
    *,
    environ: Mapping[str, str],
    git_dir: Path | None = None,
    cwd: Path | None = None,
    user_config: bool = False,
    ceiling: Mapping[str, str] | None = None,
    also: Mapping[str, str] | None = None,
    stdin: int | IO[bytes] = subprocess.PIPE,
) -> Process:
    """Start git with pipes at its three ends. `git_dir` names the repository; without it git looks from `cwd`.

    `ceiling`: the variables by which the user limits how far git climbs. `also`: variables of gitmem's own for it.

    Raises UnsupportedRepository when there is no git program.
    """
    where = ("--git-dir", str(git_dir)) if git_dir else ()
    try:
        return subprocess.Popen(
            ["git", *where, *_FIXED, *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd or git_dir,
            env=environment(environ, user_config=user_config) | dict(ceiling or {}) | dict(also or {}),
        )
    except FileNotFoundError as error:
        if cwd and not cwd.is_dir():
            raise GitmemError(f"{cwd} is not a folder") from error
        raise UnsupportedRepository(
            "there is no git program on PATH", hint=f"install git {OLDEST_GIT} or newer"
        ) from error


def run(
    arguments: Sequence[str],
    *,
    environ: Mapping[str, str],
    git_dir: Path | None = None,
    cwd: Path | None = None,
    user_config: bool = False,
    ceiling: Mapping[str, str] | None = None,
    also: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout: float | None = None,
    meanwhile: Callable[[], None] | None = None,
    watch: Callable[[], None] | None = None,
) -> Completed:
    """Run git to its end, and `meanwhile` beside it; `watch` some times a second, whose error ends git.

    Never raises for git's exit status; RemoteError when `timeout` seconds have passed.
    """
    process = spawn(
        arguments,
        environ=environ,
        git_dir=git_dir,
        cwd=cwd,
        user_config=user_config,
        ceiling=ceiling,
        also=also,
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
    )
    try:
        if meanwhile:
            meanwhile()
        out, err = _watched(process, timeout, watch) if watch else process.communicate(stdin or None, timeout=timeout)
    except subprocess.TimeoutExpired as error:
        _abandon(process)
        raise RemoteError(f"git {arguments[0]} did not answer in {timeout:g} s", hint="try again later") from error
    except BaseException:
        process.kill()
        with suppress(subprocess.TimeoutExpired):  # what git started ends when its pipes do
            process.communicate(timeout=_PARTING)
        raise
    return Completed(process.returncode, out, err.decode("utf-8", "replace"))


def _abandon(process: Process) -> None:
    """End git without waiting for what it started, such as ssh, which lives on and holds its pipes."""
    process.kill()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):  # what was still to be written
                pipe.close()
    process.wait()


def run_other(
    name: str, arguments: Sequence[str], *, environ: Mapping[str, str], cwd: Path, timeout: float, stdin: bytes = b""
) -> Completed | None:
    """Run a program of the user's, such as gh, to its end with the user's environment; None when there is none.

    It is looked for in the absolute folders of PATH only, never where the repository lies; `name` may be an absolute
    path. Raises RemoteError when `timeout` seconds have passed.
    """
    found = program_on_path(name, environ)
    if found is None:
        return None
    try:
        done = subprocess.run(
            [str(found), *arguments],
            input=stdin,
            capture_output=True,
            cwd=cwd,
            env=dict(environ),
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise RemoteError(f"{name} did not answer in {timeout:g} s", hint="try again later") from error
    except OSError:
        return None
    return Completed(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def run_bounded(
    program: Path, arguments: Sequence[str], *, environ: Mapping[str, str], cwd: Path, stdin: bytes, most: int,
    timeout: float,
) -> Completed:  # fmt: skip
    """Run a program of the user's and read no more than `most` bytes of each of its outputs; one byte more ends it and
    everything that it started. Without a shell. Raises GitmemError when it cannot be started, RemoteError when
    `timeout` seconds have passed."""
    try:
        process = subprocess.Popen(
            [str(program), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
            env=dict(environ), start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise GitmemError(f"{program} cannot be started: {error.strerror}") from None
    try:
        out, err = _exchanged(process, stdin, most, monotonic() + timeout)
        if len(out) <= most:
            process.wait(_PARTING)
    except subprocess.TimeoutExpired as error:
        raise RemoteError(f"{program.name} did not end in {timeout:g} s", hint="try again later") from error
    finally:
        _end_group(process)
    return Completed(process.returncode, out, err.decode("utf-8", "replace"))


def _exchanged(process: Process, stdin: bytes, most: int, deadline: float) -> tuple[bytes, bytes]:
    """What a program says on both outputs while it is given its input, up to one byte more than `most` of the first."""
    from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

    given, taken = process.stdin, process.stdout
    told = process.stderr
    if given is None or taken is None or told is None:
        raise GitmemError("a program was started without pipes")
    said = {taken: bytearray(), told: bytearray()}
    left = memoryview(stdin)
    with DefaultSelector() as selector, given, taken, told:
        set_blocking(given.fileno(), False)
        selector.register(given, EVENT_WRITE)
        selector.register(taken, EVENT_READ)
        selector.register(told, EVENT_READ)
        while any(stream in (taken, told) for stream in (key.fileobj for key in selector.get_map().values())):
            ready = selector.select(max(deadline - monotonic(), 0))
            if not ready:
                raise subprocess.TimeoutExpired(process.args, 0)
            for key, _ in ready:
                if key.fileobj is given:
                    with suppress(BrokenPipeError, BlockingIOError):
                        left = left[write(given.fileno(), left[:_PIECE]) :]
                        if left:
                            continue
                    selector.unregister(given)
                    given.close()
                    continue
                data = read(key.fd, _PIECE)
                said[key.fileobj] += data  # type: ignore[index]
                if not data:
                    selector.unregister(key.fileobj)
            if any(len(output) > most for output in said.values()):
                break
    return bytes(said[taken][: most + 1]), bytes(said[told][:most])


def _end_group(process: Process) -> None:
    """End a program and what it started."""
    with suppress(ProcessLookupError, PermissionError):
        killpg(process.pid, SIGKILL)
    process.wait()


def detach(words: Sequence[str], *, environ: Mapping[str, str]) -> None:
    """Start a program in a session of its own, silent, and do not wait for it. Nothing of git's environment, which may
    be that of a hook, goes along. OSError when it cannot be started."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    nowhere = subprocess.DEVNULL
    subprocess.Popen(
        list(words), stdin=nowhere, stdout=nowhere, stderr=nowhere, cwd="/", env=kept, start_new_session=True
    )


def program_on_path(name: str, environ: Mapping[str, str]) -> Path | None:
    """Where a program of the user's lies: in the absolute folders of PATH only, or where an absolute `name` says."""
    folders = [Path(part) for part in environ.get("PATH", "").split(":") if part.startswith("/")]
    return next((folder / name for folder in folders if access(folder / name, X_OK)), None)


def _watched(process: Process, timeout: float | None, watch: Callable[[], None]) -> tuple[bytes, bytes]:
    started = monotonic()
    while True:
        try:
            return process.communicate(timeout=_LOOK)
        except subprocess.TimeoutExpired:
            watch()
            if timeout is not None and monotonic() - started > timeout:
                raise subprocess.TimeoutExpired(process.args, timeout) from None
