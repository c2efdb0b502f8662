"""Git hooks in a person's repository or on a server: put in, taken out, and told truly.

One rule holds everywhere: a file that somebody else wrote keeps its bytes. An earlier hook is moved aside
under a name of ours and called first by the shim; a folder that is tracked, generated or shared with other
repositories is not touched at all, and the one line to add is given instead.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from gitmem.app import githooks_shim as shims
from gitmem.app.githooks_receipt import Entry, FileState, look, put, put_back, read_receipt, receipt_path, write_receipt
from gitmem.app.githooks_shim import (
    ALL_HOOKS,
    CLIENT_HOOKS,
    RECORDING_HOOKS,
    SERVER_HOOKS,
    STRICT_HOOKS,
    TRAILER_HOOKS,
    Shim,
)
from gitmem.errors import UsageError

State = Literal["installed", "bypassed", "absent", "stale", "foreign"]


@dataclass(frozen=True)
class Place:
    """Where a repository keeps its hooks.

    `hooks_dir` is the absolute form of what `git rev-parse --git-path hooks` names, so core.hooksPath is counted
    in; `tracked` says whether `git ls-files` knows a file in it.
    """

    common_dir: Path
    hooks_dir: Path
    work_tree: Path | None = None
    tracked: bool = False

    @property
    def own_folder(self) -> Path:
        """The folder for shims that another hook file calls by `githooks_shim.line_to_add`."""
        return self.common_dir / "gitmem/hooks"


@dataclass(frozen=True)
class LineToAdd:
    """What a person has to do by hand: `line` into `path`, because of `why`."""

    path: Path
    line: str
    why: str


@dataclass(frozen=True)
class HookState:
    """What git would do for one hook. `detail` says why, and what to do."""

    name: str
    state: State
    detail: str
    path: Path


@dataclass
class Report:
    """What an install or uninstall did: files changed, lines left to a person, and anything worth saying."""

    changed: list[Path] = field(default_factory=list)
    lines: list[LineToAdd] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


def install(
    place: Place,
    program: Path,
    *,
    which: Sequence[str] = CLIENT_HOOKS,
    strict: bool = False,
    server: bool = False,
    sessions: bool = False,
    trailer: bool = False,
) -> Report:
    """Put the shims in. A second call changes nothing; a call after an upgrade makes old shims new.

    `program` is the absolute path baked in. `strict` adds reference-transaction, which runs for every ref
    that moves; `sessions` adds post-commit, post-merge and post-rewrite, which note commits; `trailer` adds commit-msg;
    `server` stands for pre-receive and update in place of `which`. UsageError, CorruptRecord, OSError.
    """
    names = [*(SERVER_HOOKS if server else which), *(STRICT_HOOKS if strict else ())]
    names += RECORDING_HOOKS if sessions else ()
    names += TRAILER_HOOKS if trailer else ()
    if unknown := [name for name in names if name not in ALL_HOOKS]:
        raise UsageError(f"gitmem has no git hook named {unknown[0]}", hint=f"one of: {', '.join(ALL_HOOKS)}")
    if not program.is_absolute():
        raise UsageError(f"the program for the hooks must be an absolute path, not {program}")
    if why := _no_folder(place):
        hint = "git config --unset core.hooksPath, or name a folder for them there; then: gitmem hooks install"
        raise UsageError(f"{why}; nothing was installed", hint=hint)
    kept_off = _hands_off(place)
    report = Report()
    receipt = read_receipt(place.common_dir)
    for name in names:
        present = look(place.hooks_dir / name)
        why = kept_off or _must_keep_name(name, present)
        if why:
            _install_one(place.own_folder / name, name, program, receipt, place.common_dir, report)
            caller = _caller(place, name)
            if caller is not None and not shims.calls_shim(look(caller).content, name):
                report.lines.append(LineToAdd(caller, shims.line_to_add(name), why))
        else:
            path = _moved_copy(place.hooks_dir / name, present) or place.hooks_dir / name
            _install_one(path, name, program, receipt, place.common_dir, report)
    write_receipt(place.common_dir, receipt)
    note_path(place.common_dir).unlink(missing_ok=True)
    return report


def uninstall(place: Place) -> Report:
    """Take every shim out and put back what was there before, byte for byte and with its mode.

    A file that was edited since loses only our block; the report says so. CorruptRecord, OSError.
    """
    report = Report()
    receipt = read_receipt(place.common_dir)
    names = [*ALL_HOOKS, *(f"{name}.legacy" for name in ALL_HOOKS)]
    paths = {*receipt, *(folder / name for folder in (place.hooks_dir, place.own_folder) for name in names)}
    for path in sorted(paths):
        _take_out(path, receipt.get(path), report)
    for folder in {path.parent for path, entry in receipt.items() if entry.made_folder}:
        _remove_if_empty(folder)
    for name in ALL_HOOKS:
        caller = _caller(place, name)
        if caller is not None and shims.calls_shim(look(caller).content, name):
            report.said.append(f"{caller} still holds the line that calls gitmem; it does nothing now and can go")
    receipt_path(place.common_dir).unlink(missing_ok=True)
    note_path(place.common_dir).unlink(missing_ok=True)
    _remove_if_empty(place.own_folder)
    _remove_if_empty(place.own_folder.parent)
    return report


def status(place: Place) -> list[HookState]:
    """What git would run: always for the client hooks, for the others where there is something to tell.

    Reads the files that git would read. The receipt is not asked except for hooks left in another folder.
    """
    left = {path for path in read_receipt(place.common_dir) if path.parent not in (place.hooks_dir, place.own_folder)}
    states = (_state(place, name, left) for name in ALL_HOOKS)
    return [state for state in states if state.name in CLIENT_HOOKS or state.state not in ("absent", "foreign")]


def note_path(common_dir: Path) -> Path:
    """The one note a shim leaves when it could not check."""
    return common_dir / "gitmem/hook-note"


def hook_note(common_dir: Path) -> str | None:
    """What the note says, None when there is none. `install` and `uninstall` remove it."""
    state = look(note_path(common_dir))
    return state.content.decode("utf-8", "replace").strip() if state.kind == "file" else None


def _state(place: Place, name: str, left: set[Path]) -> HookState:
    path = place.hooks_dir / name
    present = look(path)
    shim = _shim(present)
    moved = _moved_copy(path, present)
    if shim is None and moved is not None:
        path, present = moved, look(moved)
        shim = _shim(present)
    if shim is not None:
        return _health(name, path, present, shim, "called by the pre-commit framework" if moved else "")
    own = place.own_folder / name
    caller = _caller(place, name)
    called = caller is not None and shims.calls_shim(look(caller).content, name)
    own_shim = _shim(look(own))
    if own_shim is not None and called:
        return _health(name, own, look(own), own_shim, f"called by {caller}")
    if own_shim is not None:
        why = _hands_off(place) or _must_keep_name(name, present)
        if not why:
            return HookState(name, "bypassed", "nothing calls it any more; run: gitmem hooks install", own)
        todo = f"add to {caller}: {shims.line_to_add(name)}" if caller else "git runs no hook here"
        return HookState(name, "bypassed", f"{why}; {todo}", own)
    if elsewhere := sorted(where for where in left if where.name in (name, f"{name}.legacy") and _shim(look(where))):
        return HookState(name, "bypassed", f"git looks in {place.hooks_dir}; run: gitmem hooks install", elsewhere[0])
    if present.kind == "absent":
        return HookState(name, "absent", "run: gitmem hooks install", path)
    if path in read_receipt(place.common_dir):
        return HookState(name, "bypassed", "another hook took this place; run: gitmem hooks install", path)
    return HookState(name, "foreign", "a hook of somebody else; gitmem hooks install keeps it", path)


def _health(name: str, path: Path, present: FileState, shim: Shim, detail: str) -> HookState:
    if not present.mode & 0o100:
        return HookState(name, "bypassed", "the file is not executable, so git skips it; run: chmod +x", path)
    if not Path(shim.program).is_file():
        return HookState(name, "stale", f"{shim.program} is gone; run: gitmem hooks install", path)
    if shim.name != name or not shims.is_current(present.content, shim):
        return HookState(name, "stale", "written by another version; run: gitmem hooks install", path)
    return HookState(name, "installed", detail, path)


def _shim(state: FileState) -> Shim | None:
    return shims.parse(state.content) if state.kind == "file" else None


def _no_folder(place: Place) -> str:
    """Why there is no folder that hooks could lie in, "" when there is one."""
    folder = place.hooks_dir
    if folder.exists() and not folder.is_dir():
        return f"core.hooksPath is {folder}, which is no folder"
    if folder.resolve() in _homes(place):  # an empty value, with which git runs none
        return f"core.hooksPath names {folder} itself, which is no folder for hooks"
    return ""


def _homes(place: Place) -> list[Path]:
    return [home.resolve() for home in (place.common_dir, place.work_tree) if home is not None]


def _hands_off(place: Place) -> str:
    """Why nothing may be written to the hooks folder, "" when it may."""
    folder = place.hooks_dir
    if why := _no_folder(place):
        return why
    if _is_husky(folder):
        return f"{folder} is made by husky"
    if place.tracked:
        return f"{folder} is tracked by git"
    if not any(folder.resolve().is_relative_to(home) for home in _homes(place)):
        return f"{folder} is outside this repository and may serve others"
    return ""


def _is_husky(folder: Path) -> bool:
    return folder.name == "_" and (
        folder.parent.name == ".husky" or any((folder / n).exists() for n in ("h", "husky.sh"))
    )


def _must_keep_name(name: str, present: FileState) -> str:
    keeps = present.kind == "file" and _shim(present) is None and shims.reads_own_name(present.content)
    return f"the {name} hook that is there goes by the name of its own file" if keeps else ""


def _caller(place: Place, name: str) -> Path | None:
    """The file in which a person may add the line, None when there can be none."""
    if _no_folder(place):
        return None
    return (place.hooks_dir.parent if _is_husky(place.hooks_dir) else place.hooks_dir) / name


def _moved_copy(path: Path, present: FileState) -> Path | None:
    """Where the pre-commit framework, which owns `path`, keeps and calls our shim; None when it does not."""
    legacy = path.with_name(f"{path.name}.legacy")
    framework = _shim(present) is None and shims.is_pre_commit_framework(present.content)
    return legacy if framework and _shim(look(legacy)) is not None else None


def _install_one(
    path: Path, name: str, program: Path, receipt: dict[Path, Entry], common_dir: Path, report: Report
) -> None:
    present = look(path)
    if present.kind == "other":
        raise UsageError(f"{path} is neither a file nor a link", hint="move it away, then: gitmem hooks install")
    mine = _shim(present)
    earlier = receipt.get(path)
    if mine is not None:
        before = (
            earlier.before if earlier else look(path.with_name(mine.chained)) if mine.chained else FileState("absent")
        )
        content = shims.replace_block(present.content, Shim(name, mine.chained, str(program)))
    else:
        before = present
        slot = "" if present.kind == "absent" else _slot(path, present)
        content = Shim(name, slot, str(program)).text()
    made = earlier.made_folder if earlier else not path.parent.is_dir()
    after = FileState("file", content)
    receipt[path] = Entry(before, after.sha256, made)
    mode = present.mode | 0o111 if mine is not None else 0o755
    if (present.content, present.mode) == (content, mode):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_receipt(common_dir, receipt)  # before the first change, so that whatever happens next can be undone
    if mine is None and present.kind != "absent":
        _keep(path, path.with_name(slot), present)
    put(path, content, mode)
    report.changed.append(path)


def _slot(path: Path, present: FileState) -> str:
    """A free name beside `path` for the earlier hook, or one that a broken-off install already filled with it."""
    number = 1
    while True:
        slot = path.with_name(f"{path.name}.before-gitmem{'' if number == 1 else f'-{number}'}")
        if look(slot) in (FileState("absent"), present):
            return slot.name
        number += 1


def _keep(path: Path, slot: Path, present: FileState) -> None:
    """Give the earlier hook its second name. The first stays until the shim replaces it, so git never finds none."""
    if look(slot).kind != "absent":
        return
    if present.kind == "link":
        slot.symlink_to(os.fsdecode(present.content))
        return
    try:
        slot.hardlink_to(path)
    except OSError:  # a file system without hard links
        path.rename(slot)


def _take_out(path: Path, entry: Entry | None, report: Report) -> None:
    present = look(path)
    shim = _shim(present)
    if shim is None:
        if entry is not None and present.kind != "absent":
            report.said.append(f"{path} is no longer the hook of gitmem; it was left as it is")
        return
    chained = path.with_name(shim.chained) if shim.chained else None
    report.changed.append(path)
    rest = shims.without_block(present.content)
    if rest is not None:
        put(path, rest, present.mode)
        report.said.append(f"{path} was edited since the install; only the block of gitmem was taken out")
        if chained is not None:
            report.said.append(f"{chained} holds the hook that was there before; nothing calls it now")
        return
    kept = look(chained) if chained is not None else FileState("absent")
    if chained is None or (kept.kind == "absent" and (entry is None or entry.before.kind == "absent")):
        path.unlink()
    elif kept.kind == "absent" and entry is not None:
        put_back(path, entry.before)
        report.said.append(f"{chained} was gone; {path} was put back from the receipt")
    elif path.suffix == ".legacy" and shims.is_pre_commit_framework(kept.content):
        path.unlink()  # the framework has written itself anew since; as its own legacy it would call itself
        chained.unlink()
    else:
        chained.replace(path)
        if entry is not None and entry.before != kept:
            report.said.append(f"{path} was edited since the install; the edited form was put back")


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
