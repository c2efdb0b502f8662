"""`gitmem install` and `gitmem uninstall`: the doorbell in the configuration of the agent hosts that are here.

At the end of a turn it rings for capture; at the events of `injection_hosts` it says what the agent should know.

Everything is planned before anything is written. Nothing of such a file is kept: a receipt holds where each insertion
went and the digest of the file after it, so a file that is still that one is taken back byte for byte.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from gitmem.app import host_hooks
from gitmem.app.doorbell import doorbell_path, is_current, put_doorbell
from gitmem.app.env import Env
from gitmem.app.githooks_receipt import look, put
from gitmem.app.injection_hosts import EVENTS
from gitmem.app.state import load, save
from gitmem.errors import GitmemError, NotFound, UsageError
from gitmem.model.frozen import dataclass

_RECEIPT: Final = "agents"
_RINGS: Final = ("SessionStart", "Stop", "SessionEnd")
_WAIT: Final = 15  # seconds; what an agent should know takes a fraction of one, and more after a large fetch


@dataclass(frozen=True)
class Host:
    """Where a host keeps its own files and its hooks. `project` is for one repository, and for this person there."""

    home_variable: str
    home: str
    user: str
    project: str
    edits: str  # which of its tools write files


HOSTS: Final[Mapping[str, Host]] = {
    "claude-code": Host(
        "CLAUDE_CONFIG_DIR", ".claude", "settings.json", ".claude/settings.local.json",
        "Edit|MultiEdit|Write|NotebookEdit",
    ),
    "codex": Host("CODEX_HOME", ".codex", "hooks.json", ".codex/hooks.json", "apply_patch|Edit|Write"),
}  # fmt: skip


@dataclass(frozen=True)
class Change:
    """One file before and after; None where there is none. `places`: where each insertion went, and its length."""

    host: str
    path: Path
    before: bytes | None
    after: bytes | None
    places: tuple[tuple[int, int], ...] = ()

    def diff(self) -> list[str]:
        """The lines of a unified diff."""
        from difflib import unified_diff

        name = str(self.path)
        old, new = ((data or b"").decode().splitlines() for data in (self.before, self.after))
        ends = ["/dev/null" if data is None else name for data in (self.before, self.after)]
        return list(unified_diff(old, new, ends[0], ends[1], lineterm=""))


def present(env: Env) -> list[str]:
    """The hosts that are here, by their folders."""
    return [name for name in HOSTS if host_home(env, name).is_dir()]


def host_home(env: Env, name: str) -> Path:
    """The folder of a host's own files. Raises GitmemError when there is no home."""
    host = HOSTS[name]
    if named := env.environ.get(host.home_variable):
        return env.cwd / named
    if not env.environ.get("HOME"):
        raise GitmemError("there is no HOME, so no host can be found", hint="set HOME")
    return Path(env.environ["HOME"]) / host.home


def command(env: Env, name: str) -> str:
    """What the host runs: always the same, so that a host that asks for trust asks once."""
    return f"{shlex.quote(str(doorbell_path(env.environ)))} {name}"


def hooks(env: Env, name: str, *, inject: bool) -> list[host_hooks.Hook]:
    """All that is installed in a host; without `inject` only what captures."""
    bell = command(env, name)
    rings = [host_hooks.Hook(event, bell) for event in _RINGS]
    told = [
        host_hooks.Hook(event, f"{bell} {event}", HOSTS[name].edits if moment == "edit" else "", _WAIT)
        for event, moment in (EVENTS[name] if inject else {}).items()
    ]
    return [*rings, *told]


def plan_install(env: Env, names: Sequence[str], work_tree: Path | None, *, inject: bool = True) -> list[Change]:
    """What has to change for `names`, or every host that is here; in `work_tree` only, or for the user. Without
    `inject` nothing is told to agents unasked, and what did so goes.

    Raises UsageError for a host that gitmem cannot install or a file that its host could not read, NotFound where no
    host is.
    """
    chosen = _chosen(names) or present(env)
    if absent := [name for name in chosen if not host_home(env, name).is_dir()]:
        raise NotFound(f"{absent[0]} is not here: there is no {host_home(env, absent[0])}", hint="gitmem install")
    if not chosen:
        raise NotFound("no agent host that gitmem can install is here", hint=f"known are: {', '.join(HOSTS)}")
    places = [(name, _file(env, name, work_tree)) for name in chosen]
    receipts = _receipts(env)
    found = (_with(path, name, hooks(env, name, inject=inject), receipts.get(str(path), {})) for name, path in places)
    return [change for change in found if change is not None]


def install(env: Env, changes: Sequence[Change], program: Path) -> bool:
    """Write the doorbell and what was planned; whether the doorbell had to be written.

    Raises GitmemError when a file is another one by now or cannot be written.
    """
    path = doorbell_path(env.environ)
    written = not is_current(path, program)
    try:
        put_doorbell(path, program)
        receipts = _receipts(env)
        for change in changes:
            earlier = receipts.get(str(change.path), {})
            receipts[str(change.path)] = {
                "host": change.host,
                "existed": earlier.get("existed", change.before is not None),
                "after": _digest(change.after or b"") if change.places else "",
                "places": [list(place) for place in change.places],
                "made_folder": earlier.get("made_folder", not change.path.parent.is_dir()),
            }
        if changes:
            save(env.state_home(), _RECEIPT, {"files": receipts})
        for change in changes:
            _write(change)
    except OSError as error:
        raise GitmemError(f"cannot write {error.filename or path}: {error.strerror}", hint="gitmem install") from None
    return written


def plan_uninstall(env: Env, names: Sequence[str], work_tree: Path | None) -> list[Change]:
    """What has to change for nothing of gitmem to be left: in every file of a receipt, of the user and of here."""
    chosen = _chosen(names) or list(HOSTS)
    receipts = _receipts(env)
    files = [(str(entry.get("host")), Path(path)) for path, entry in receipts.items()]
    files += [(name, _file(env, name, where)) for name in chosen for where in {None, work_tree}]
    wanted = dict.fromkeys(item for item in files if item[0] in chosen)
    found = (_without(env, name, path, receipts.get(str(path), {})) for name, path in wanted)
    return [change for change in found if change is not None]


def uninstall(env: Env, names: Sequence[str], changes: Sequence[Change]) -> bool:
    """Write what was planned and forget the receipts; whether the doorbell went too, as no host rings it any more."""
    receipts = _receipts(env)
    gone = {path for path, entry in receipts.items() if entry.get("host") in (names or HOSTS)}
    path = doorbell_path(env.environ)
    try:
        for change in changes:
            _write(change)
            if change.after is None and receipts.get(str(change.path), {}).get("made_folder"):
                _remove_if_empty(change.path.parent)
        left = {path: entry for path, entry in receipts.items() if path not in gone}
        if left != receipts:
            save(env.state_home(), _RECEIPT, {"files": left})
        if left or not path.exists():
            return False
        path.unlink()
        _remove_if_empty(path.parent)
    except OSError as error:
        raise GitmemError(f"cannot write {error.filename or path}: {error.strerror}", hint="gitmem uninstall") from None
    return True


def installed(env: Env, name: str, work_tree: Path | None) -> list[Path]:
    """The files in which the host is told to ring, as they are now; one that cannot be read tells nothing."""
    found = []
    for path in dict.fromkeys(_file(env, name, where) for where in (None, work_tree)):
        try:
            named = host_hooks.commands(_text(look(path).content, path))
        except (GitmemError, ValueError):
            continue
        found += [path] if ("Stop", command(env, name)) in named else []
    return found


def injecting(env: Env, name: str, work_tree: Path | None) -> list[str]:
    """The events at which the host is told to ask what its agent should know, as its files are now."""
    bell = command(env, name)
    found = []
    for path in dict.fromkeys(_file(env, name, where) for where in (None, work_tree)):
        try:
            named = host_hooks.commands(_text(look(path).content, path))
        except (GitmemError, ValueError):
            continue
        found += [event for event in EVENTS[name] if (event, f"{bell} {event}") in named]
    return list(dict.fromkeys(found))


def remarks(env: Env, name: str, path: Path) -> Iterator[str]:
    """What keeps the host from ringing although the file says so."""
    import json

    data: Any = json.loads(look(path).content or b"{}")
    if name == "claude-code" and data.get("disableAllHooks") is True:
        yield f"claude-code runs no hook while disableAllHooks is true in {path}"
    if name == "codex":
        for key in data.keys() - {"hooks", "description"}:
            yield f"codex rejects {path} whole because of {key}"
        yield "codex runs a new hook only when it is trusted: start codex, type /hooks, trust it once"


def _chosen(names: Sequence[str]) -> list[str]:
    if unknown := [name for name in names if name not in HOSTS]:
        raise UsageError(f"gitmem cannot install {unknown[0]!r}", hint=f"one of: {', '.join(HOSTS)}")
    return list(dict.fromkeys(names))


def _file(env: Env, name: str, work_tree: Path | None) -> Path:
    path = host_home(env, name) / HOSTS[name].user if work_tree is None else work_tree / HOSTS[name].project
    return Path(os.path.realpath(path))  # a link of whoever keeps these files elsewhere stays


def _with(path: Path, name: str, wanted: Sequence[host_hooks.Hook], receipt: Mapping[str, Any]) -> Change | None:
    before = _read(path)
    text = _text(before or b"", path)
    try:
        earlier = {found for _, found in host_hooks.commands(text) if _is_ours(found, name)}
        fresh = text
        for old in earlier - {hook.command for hook in wanted}:
            fresh = host_hooks.without_hooks(fresh, old)
        added = host_hooks.inserts(fresh, wanted)
    except ValueError as error:
        raise _unreadable(path, error) from None
    after = host_hooks.with_inserts(fresh, added)
    if after == text:
        return None
    places = [(at, len(piece)) for at, piece in added]
    if earlier:
        known = fresh == text and receipt.get("after") == _digest(before or b"")
        places = [*((at, length) for at, length in receipt["places"]), *places] if known else []
    return Change(name, path, before, after.encode(), tuple(places))


def _without(env: Env, name: str, path: Path, receipt: Mapping[str, Any]) -> Change | None:
    before = _read(path)
    if before is None:
        return None
    text = rest = _text(before, path)
    if receipt.get("after") == _digest(before):
        rest = host_hooks.without_inserts(rest, [(at, length) for at, length in receipt["places"]])
    try:
        for found in {found for _, found in host_hooks.commands(rest) if _is_ours(found, name)}:
            rest = host_hooks.without_hooks(rest, found)
    except ValueError as error:
        raise _unreadable(path, error) from None
    if rest == text:
        return None
    return Change(
        name, path, before, None if receipt.get("existed") is False and rest.strip() in ("", "{}") else rest.encode()
    )


def _is_ours(found: str, name: str) -> bool:
    """Also as another version or another home wrote it."""
    return re.fullmatch(rf"'?/.*/gitmem/doorbell'? {re.escape(name)}( [A-Za-z]+)?", found, re.DOTALL) is not None


def _read(path: Path) -> bytes | None:
    state = look(path)
    if state.kind == "other":
        raise UsageError(f"{path} is no file", hint="move it away, then run this again")
    return None if state.kind == "absent" else state.content


def _text(data: bytes, path: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: ValueError) -> UsageError:
    return UsageError(f"{path} cannot be read as its host's JSON: {error}; nothing was written", hint="mend the file")


def _write(change: Change) -> None:
    if _read(change.path) != change.before:
        raise GitmemError(f"{change.path} was changed meanwhile; it was left as it is", hint="run this again")
    if change.after is None:
        change.path.unlink()
        return
    change.path.parent.mkdir(parents=True, exist_ok=True)
    put(change.path, change.after, look(change.path).mode or 0o600)


def _receipts(env: Env) -> dict[str, dict[str, Any]]:
    files = load(env.state_home(), _RECEIPT).get("files")
    entries = files.items() if isinstance(files, dict) else ()
    return {path: entry for path, entry in entries if isinstance(entry, dict)}


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
