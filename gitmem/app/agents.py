"""`gitmem install` and `gitmem uninstall`: the doorbell in the configuration of the agent hosts that are here.

At the end of a turn it rings for capture; at the events of `injection_hosts` it says what the agent should know.
Everything is planned before anything is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from gitmem.app import host_hooks
from gitmem.app.codex_features import switched_off
from gitmem.app.doorbell import doorbell_path, is_current, put_doorbell
from gitmem.app.env import Env
from gitmem.app.githooks_receipt import look
from gitmem.app.host_files import Change, Receipt, known, read, receipts, take_out, text_of, unreadable, write
from gitmem.app.host_settings import HOSTS, command, here, hooks, host_home, settings_file
from gitmem.app.injection_hosts import EVENTS
from gitmem.app.shipped import shipped
from gitmem.errors import GitmemError, NotFound, UsageError

_OURS: Final = b"// Written by `gitmem install"  # how a file that is ours as a whole begins


def plan_install(env: Env, names: Sequence[str], work_tree: Path | None, *, inject: bool = True) -> list[Change]:
    """What has to change for `names`, or every host that is here; in `work_tree` only, or for the user. Without
    `inject` nothing is told to agents unasked, and what did so goes.

    Raises UsageError for a host that gitmem cannot install there or a file that its host could not read, NotFound
    where no host is.
    """
    chosen = _chosen(names) or [name for name in here(env) if not asked_for(name, work_tree)]
    if absent := [name for name in chosen if not host_home(env, name).is_dir()]:
        raise NotFound(f"{absent[0]} is not here: there is no {host_home(env, absent[0])}", hint="gitmem install")
    if not chosen:
        raise NotFound("no agent host that gitmem can install is here", hint=f"known are: {', '.join(HOSTS)}")
    kept = receipts(env)
    found = []
    for name in chosen:
        path = settings_file(env, name, work_tree)
        if path is None:
            raise UsageError(
                f"{name} runs a hook of the user outside of every repository",
                hint=f"gitmem install {name} --project",
            )
        found.append(_with(env, name, path, kept.get(str(path), {}), inject=inject))
    return [change for change in found if change is not None]


def install(env: Env, changes: Sequence[Change], program: Path) -> bool:
    """Write the doorbell and what was planned; whether the doorbell had to be written.

    Raises GitmemError when a file is another one by now or cannot be written.
    """
    path = doorbell_path(env.environ)
    written = not is_current(path, program)
    try:
        put_doorbell(path, program)
        write(env, changes)
    except OSError as error:
        raise GitmemError(f"cannot write {error.filename or path}: {error.strerror}", hint="gitmem install") from None
    return written


def plan_uninstall(env: Env, names: Sequence[str], work_tree: Path | None) -> list[Change]:
    """What has to change for nothing of gitmem to be left: in every file of a receipt, of the user and of here."""
    chosen = _chosen(names) or list(HOSTS)
    kept = receipts(env)
    files = [(str(entry.get("host")), Path(path)) for path, entry in kept.items()]
    files += [(name, path) for name in chosen for path in _files(env, name, work_tree)]
    wanted = dict.fromkeys(item for item in files if item[0] in chosen)
    found = (_without(name, path, kept.get(str(path), {})) for name, path in wanted)
    return [change for change in found if change is not None]


def uninstall(env: Env, names: Sequence[str], changes: Sequence[Change]) -> bool:
    """Write what was planned and forget the receipts; whether the doorbell went too, as no host rings it any more."""
    path = doorbell_path(env.environ)
    try:
        take_out(env, changes, names or list(HOSTS))
        if not path.exists() or any(entry.get("host") in HOSTS for entry in receipts(env).values()):
            return False
        path.unlink()
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
    except OSError as error:
        raise GitmemError(f"cannot write {error.filename or path}: {error.strerror}", hint="gitmem uninstall") from None
    return True


def asked_for(name: str, work_tree: Path | None) -> bool:
    """Whether the host is installed there only when it is named."""
    return bool(HOSTS[name].plugin) or (work_tree is None and not HOSTS[name].user)


def installed(env: Env, name: str, work_tree: Path | None) -> list[Path]:
    """The files in which the host is told to ring, as they are now; one that cannot be read tells nothing."""
    wanted = (HOSTS[name].anchor, command(env, name))
    return [path for path in _files(env, name, work_tree) if wanted in _named(env, name, path)]


def taken_out(env: Env, name: str, work_tree: Path | None) -> list[Path]:
    """The files into which the hook was put, and in which it is no more, without `uninstall`."""
    put = [Path(path) for path, entry in receipts(env).items() if entry.get("host") == name]
    there = installed(env, name, work_tree)
    return [path for path in _files(env, name, work_tree) if path in put and path not in there]


def injecting(env: Env, name: str, work_tree: Path | None) -> list[str]:
    """The events at which the host is told to ask what its agent should know, as its files are now."""
    bell = command(env, name)
    named = [pair for path in _files(env, name, work_tree) for pair in _named(env, name, path)]
    return [event for event in EVENTS[name] if (event, f"{bell} {event}") in named]


def remarks(env: Env, name: str, path: Path) -> Iterator[str]:
    """What keeps the host from ringing although the file says so."""
    data: Any = {} if HOSTS[name].plugin else json.loads(look(path).content or b"{}")
    if name == "claude-code" and data.get("disableAllHooks") is True:
        yield f"claude-code runs no hook while disableAllHooks is true in {path}"
    if name == "codex":
        for key in data.keys() - {"hooks", "description"}:
            yield f"codex rejects {path} whole because of {key}"
        if off := switched_off(env.environ, path.parent):
            yield f"codex runs no hook while [features] hooks is false in {off}"
        yield "codex runs a new hook only when it is trusted: start codex, type /hooks, trust it once"
    if (
        name == "gemini-cli"
        and isinstance(settings := data.get("hooksConfig"), dict)
        and not settings.get("enabled", 1)
    ):
        yield f"gemini-cli runs no hook while hooksConfig.enabled is false in {path}"
    if name in ("opencode", "pi"):
        yield f"{name} loads it when it starts anew"


def plugin_text(name: str, verb: str, doorbell: str, *, inject: bool) -> bytes:
    """The plugin file of a host, as `verb` writes it. doorbell: where that lies, as an expression of its language."""
    text = (shipped("packages") / HOSTS[name].plugin).read_text(encoding="utf-8").replace("@VERB@", verb, 1)
    return text.replace("@DOORBELL@", doorbell, 1).replace("@INJECT@", "true" if inject else "false", 1).encode()


def _chosen(names: Sequence[str]) -> list[str]:
    if unknown := [name for name in names if name not in HOSTS]:
        raise UsageError(f"gitmem cannot install {unknown[0]!r}", hint=f"one of: {', '.join(HOSTS)}")
    return list(dict.fromkeys(names))


def _files(env: Env, name: str, work_tree: Path | None) -> list[Path]:
    """The host's files, of the user and of here; one that a link leads out of the repository is none of them."""
    found = []
    for where in (None, work_tree):
        try:
            found.append(settings_file(env, name, where))
        except UsageError:
            continue
    return list(dict.fromkeys(path for path in found if path is not None))


def _named(env: Env, name: str, path: Path) -> list[tuple[str, str]]:
    """Event and command of each hook of a host's file."""
    try:
        content = look(path).content
        if HOSTS[name].plugin:
            bell = doorbell_path(env.environ)
            found = [inject for inject in (True, False) if content == _plugin(name, bell, inject=inject)]
            ours = hooks(name, command(env, name), inject=found[0]) if found else []
            return [(hook.event, hook.command) for hook in ours]
        return host_hooks.commands(text_of(content, path), HOSTS[name].shape)
    except (GitmemError, ValueError):
        return []


def _with(env: Env, name: str, path: Path, receipt: Receipt, *, inject: bool) -> Change | None:
    if HOSTS[name].plugin:
        return _with_plugin(name, path, _plugin(name, doorbell_path(env.environ), inject=inject))
    wanted, shape = hooks(name, command(env, name), inject=inject), HOSTS[name].shape
    if name == "cursor" and "//" in wanted[0].command:
        raise UsageError("cursor takes what stands behind // for a comment", hint="set XDG_DATA_HOME to another folder")
    before = read(path)
    text = text_of(before, path)
    try:
        earlier = {found for _, found in host_hooks.commands(text, shape) if _is_ours(found, name)}
        fresh = text
        for old in earlier - {hook.command for hook in wanted}:
            fresh = host_hooks.without_hooks(fresh, old, shape)
        added = host_hooks.inserts(fresh, wanted, shape)
    except ValueError as error:
        raise unreadable(path, error, f"mend the file, or: gitmem package {name} --to FOLDER") from None
    after = host_hooks.with_inserts(fresh, added)
    if after == text:
        return None
    places = [(at, len(piece)) for at, piece in added]
    if earlier:
        same = fresh == text and known(receipt, before)
        places = [*((at, length) for at, length in receipt["places"]), *places] if same else []
    return Change(name, path, before, after.encode(), tuple(places))


def _plugin(name: str, bell: Path, *, inject: bool) -> bytes:
    return plugin_text(name, "install", json.dumps(str(bell)), inject=inject)


def _with_plugin(name: str, path: Path, wanted: bytes) -> Change | None:
    before = read(path)
    if before is not None and not before.startswith(_OURS):
        raise UsageError(f"{path} was not written by gitmem install; nothing was written", hint="move it away")
    return None if before == wanted else Change(name, path, before, wanted)


def _without(name: str, path: Path, receipt: Receipt) -> Change | None:
    shape = HOSTS[name].shape
    before = read(path)
    if before is None:
        return None
    if HOSTS[name].plugin:
        return Change(name, path, before, None) if before.startswith(_OURS) else None
    text = rest = text_of(before, path)
    if known(receipt, before):
        rest = host_hooks.without_inserts(rest, [(at, length) for at, length in receipt["places"]])
    try:
        for found in {found for _, found in host_hooks.commands(rest, shape) if _is_ours(found, name)}:
            rest = host_hooks.without_hooks(rest, found, shape)
    except ValueError as error:
        raise unreadable(path, error) from None
    if rest == text:
        return None
    return Change(name, path, before, None if receipt.get("existed") is False and _is_empty(rest) else rest.encode())


def _is_empty(text: str) -> bool:
    """Whether nothing but what we put there is left."""
    return not text.strip() or json.loads(text) in ({}, {"version": 1})


def _is_ours(found: str, name: str) -> bool:
    """Also as another version or another home wrote it."""
    return re.fullmatch(rf"'?/.*/gitmem/doorbell'? {re.escape(name)}( [A-Za-z]+)?", found, re.DOTALL) is not None
