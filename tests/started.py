"""The installed command from a process that has its modules loaded, in a fraction of the time of a fresh start.

Each command line still is a process of its own, with its own environment, folder, streams and parents, and runs the
installed program; only the interpreter, its seed of hashes and the imports were there before. Run as a program, this is
the process that all of them are forked from.

`TESTS_START=plain` starts each of them afresh. Those of tests/cli and tests/hooks always are, as is all that starts the
program itself: tests/race, tests/wheel, the hooks of git and of agents. What a fresh start loads, and in which order,
is theirs to tell; tests/test_started.py holds that the answers are the same.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

PROGRAM = Path(sys.executable).parent / "gitmem"
FILE = Path(__file__)
PLAIN = os.environ.get("TESTS_START") == "plain" or sys.platform != "linux"  # elsewhere sockets keep no records
LIMIT = 120  # seconds until a command that hangs is killed
_MOST = 64 * 1024  # bytes of a request
_READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_")  # by the interpreter or the loader, before any of ours
_LOADED = ("Stemmer", "cryptography.hazmat.primitives.serialization", "pygit2", "re2", "ruamel.yaml", "tantivy")
_asking = threading.Lock()
_server: tuple[socket.socket, dict[str, str]] | None = None


def ask(
    arguments: Sequence[str], where: Path, environ: Mapping[str, str], streams: tuple[int, int, int], *, orphan: bool
) -> int | None:
    """Start `gitmem ARGUMENTS` in `where`: a descriptor that `code_of` reads.

    `orphan`: only init is above it, nothing that runs the tests. None when it has to be started afresh.
    """
    asked = {"arguments": list(arguments), "where": str(where), "environ": dict(environ), "orphan": orphan}
    request = json.dumps(asked).encode()
    with _asking:
        if PLAIN or len(request) > _MOST:
            return None
        channel, started_with = _serving(environ)
        if started_with != _for_the_start(environ):
            return None
        told, tell = os.pipe()
        try:
            socket.send_fds(channel, [request], [*streams, tell])
        finally:
            os.close(tell)
    return told


def code_of(told: int) -> int:
    """The exit code of a command when it has ended; negative for a signal."""
    with os.fdopen(told) as answer:
        return int(answer.read())


def _for_the_start(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name.startswith(_READ_AT_START)}


def _serving(environ: Mapping[str, str]) -> tuple[socket.socket, dict[str, str]]:
    global _server
    if _server is None:
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        process = subprocess.Popen([sys.executable, str(FILE)], stdin=its.fileno(), env=dict(environ), cwd="/")
        its.close()
        atexit.register(process.wait)
        atexit.register(ours.close)  # runs before the line above: its end is what the process waits for
        _server = ours, _for_the_start(environ)
    return _server


def _load() -> None:
    """All that a command may import, but the server of agents and what it brings."""
    import gitmem

    for module in pkgutil.walk_packages(gitmem.__path__, "gitmem."):
        if "mcp" not in module.name:
            importlib.import_module(module.name)
    for name in _LOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


def _serve() -> NoReturn:
    """Fork for each request until the socket closes."""
    channel = socket.socket(fileno=os.dup(0))
    while True:
        request, streams, _, _ = socket.recv_fds(channel, _MOST, 4)
        if not request:
            os._exit(0)
        asked = json.loads(request)
        child = os.fork()
        if not child:
            channel.close()
            _attend(asked, streams)
        for descriptor in streams:
            os.close(descriptor)
        if asked["orphan"]:
            os.waitpid(child, 0)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _attend(asked: dict[str, Any], streams: list[int]) -> NoReturn:
    """Run the command in one more process and tell its exit code."""
    if asked["orphan"]:
        above = os.getpid()
        if os.fork():
            os._exit(0)
        while os.getppid() == above:
            time.sleep(0.0002)
    command = os.fork()
    *streams, tell = streams
    if not command:
        os.close(tell)
        _run(asked, streams)
    for descriptor in streams:
        os.close(descriptor)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(command, signal.SIGKILL))
    signal.alarm(LIMIT)
    _, status = os.waitpid(command, 0)
    os.write(tell, str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _run(asked: dict[str, Any], streams: list[int]) -> NoReturn:
    """What the interpreter does for `gitmem ARGUMENTS` after it has started."""
    import pygit2
    from pygit2.enums import ConfigLevel

    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(asked["where"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    time.tzset()
    for level in (ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = None  # type: ignore[assignment]  # where this HOME says
    for name, number, mode in (("stdin", 0, "rb"), ("stdout", 1, "wb"), ("stderr", 2, "wb")):
        before = getattr(sys, name)
        stream = TextIOWrapper(
            open(number, mode, closefd=False),  # noqa: SIM115
            encoding=before.encoding,
            errors=before.errors,
            line_buffering=name == "stderr" or os.isatty(number),
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv = [str(PROGRAM), *asked["arguments"]]
    sys.path[0] = str(PROGRAM.parent)
    runpy.run_path(str(PROGRAM), run_name="__main__")
    sys.exit(0)


if __name__ == "__main__":
    _load()
    _serve()
