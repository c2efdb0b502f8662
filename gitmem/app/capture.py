"""`gitmem capture`: what the agents' transcripts of this repository have gained, stored in git.

One process at a time; a second one ends at once. Nothing is written before the redactor has seen it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gitmem.app.capture_archive import archive_sealed
from gitmem.app.capture_progress import Progress
from gitmem.app.capture_spool import spooled
from gitmem.app.capture_sweep import Captured, Sweeper, Tools
from gitmem.app.directives import Learned, learn
from gitmem.app.directives_heard import never_listen
from gitmem.app.forgotten import Forgotten, forgotten, remember_again
from gitmem.app.state import load, save
from gitmem.app.workspace import Workspace
from gitmem.errors import GitmemError, NoHome, UsageError
from gitmem.model.frozen import dataclass, field
from gitmem.model.times import format_instant
from gitmem.store.lock import sole
from gitmem.store.repack import repack, repack_due
from gitmem.store.worktrees import worktrees

if TYPE_CHECKING:
    from gitmem.app.learning import Learned as Taught
    from gitmem.capture.adapter import Adapter, Origin

LOCK: Final = "capture"
NOTED: Final = "commits-made"  # what the hooks post-commit and post-rewrite append to
NOTED_ASIDE: Final = f"{NOTED}.taken"
SWEPT: Final = "capture-swept"  # the state that says when each host was last looked at, and what went wrong


@dataclass(frozen=True)
class Sweep:
    """What one run did. `busy`: another run is at it and nothing was done. `faults`: of hosts, by name.

    `sessions` are those that had changed; `archived` how many were put into a month's archive. `learned` is what a
    person directed in them; of transcripts that no host is known to keep nothing is learned, they may be anybody's.
    `taught`: what failed and passed later in them, and how they ended. `forgotten`: what the retention setting let go.
    """

    busy: bool = False
    sessions: tuple[Captured, ...] = ()
    unchanged: int = 0
    archived: int = 0
    watched: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)
    learned: Learned = field(default_factory=Learned)
    taught: Taught | None = None
    forgotten: tuple[Forgotten, ...] = ()

    @property
    def failed(self) -> bool:
        return bool(self.faults) or any(item.state == "failed" for item in self.sessions)


def capture(workspace: Workspace, paths: Sequence[Path] = (), host: str | None = None) -> Sweep:
    """Sweep over every host, or one; with `paths`, take these transcripts only.

    Raises UsageError for a host or a path that is none.
    """
    from gitmem.capture.registry import adapters

    known = adapters()
    if host is not None and host not in known:
        raise UsageError(f"there is no host {host!r}", hint=f"one of {', '.join(known)}")
    chosen: dict[str, Adapter] = {}
    faults: dict[str, str] = {}
    for name in [host] if host is not None else list(known):
        try:
            chosen[name] = known[name]
        except GitmemError as error:  # a plugin that does not load keeps no other host from being captured
            faults[name] = error.message
    with sole(workspace.location, LOCK) as alone:
        return _swept(workspace, chosen, faults, paths, named=host is not None) if alone else Sweep(busy=True)


def _swept(
    workspace: Workspace,
    adapters: Mapping[str, Adapter],
    faults: dict[str, str],
    paths: Sequence[Path],
    *,
    named: bool,
) -> Sweep:
    env = workspace.env
    progress = Progress(workspace.location.private, env.random)
    sweeper = Sweeper(workspace, progress, _tools(workspace))
    origins = _origins(workspace, adapters, faults)
    with spooled(workspace, adapters, origins) as rung:
        wanted = [*origins.values(), *rung]
        if paths:
            wanted = _named(paths, wanted, adapters, named=named)
            never_listen(workspace, {f"{one.host}/{one.session}" for one in wanted}.difference(origins))
            remember_again(workspace.location.private, (f"{one.host}/{one.session}" for one in wanted))
        gone = forgotten(workspace.location.private)
        wanted = [one for one in wanted if f"{one.host}/{one.session}" not in gone]
        done = [sweeper.capture(adapters[origin.host], origin) for origin in wanted]
        sweeper.finish()
    done = [_as_it_ended(item, sweeper.unmoved) for item in done]
    _note_swept(workspace, adapters, done, faults, progress)
    commits: list[str] = []
    if (workspace.location.private / NOTED).exists() or (workspace.location.private / NOTED_ASIDE).exists():
        from gitmem.app.session_commits import note_commits

        commits = note_commits(workspace)
    learned = learn(workspace, progress)
    from gitmem.app.learning import learn_captured

    known = {f"{item.host}/{item.session}" for item in done if item.bytes} & origins.keys()
    taught = learn_captured(workspace, sorted(known))
    from gitmem.app.use_heard import note_use

    note_use(workspace, sorted(known), commits)
    archived = 0 if paths else archive_sealed(workspace)
    dropped = [] if paths else _dropped(workspace, faults)
    if repack_due(workspace.location):
        repack(workspace.location)
    home = home_of(workspace)
    return Sweep(
        sessions=tuple(item for item in done if item.state != "unchanged"),
        unchanged=sum(item.state == "unchanged" for item in done),
        archived=archived,
        watched={name: adapter.watched(home, env.environ) for name, adapter in adapters.items()},
        faults=faults,
        learned=learned,
        taught=taught,
        forgotten=tuple(dropped),
    )


def _dropped(workspace: Workspace, faults: dict[str, str]) -> list[Forgotten]:
    """What the user's retention setting lets go. Where nobody can tell what is cited, nothing goes, and it is said."""
    from gitmem.app.sessions_forget import forget_by_age_and_size

    try:
        return forget_by_age_and_size(workspace)
    except GitmemError as error:
        faults["retention"] = error.message
        return []


def _as_it_ended(item: Captured, unmoved: Mapping[str, str]) -> Captured:
    why = unmoved.get(f"{item.host}/{item.session}")
    return item if why is None else Captured(item.host, item.session, "failed", detail=why)


def home_of(workspace: Workspace) -> Path:
    """The home folder in which the hosts keep their transcripts. Raises GitmemError when there is none."""
    home = workspace.env.environ.get("HOME", "")
    if not home:
        raise NoHome("there is no HOME, so no transcripts can be found", hint="set HOME")
    return Path(home)


def work_trees(workspace: Workspace) -> list[Path]:
    """The folders of all work trees of this repository."""
    location = workspace.location
    found = [folder for folder, _ in worktrees(location) if folder.is_dir()]
    return list(dict.fromkeys([*([location.work_tree] if location.work_tree else []), *found]))


def _tools(workspace: Workspace) -> Tools:
    from dataclasses import replace

    from gitmem.app.secrets_known import known_secrets
    from gitmem.capture.records import complete
    from gitmem.policy.redaction import Redactor

    places = [replace(workspace.location, work_tree=folder) for folder in work_trees(workspace)]
    found = {value for place in places for value in known_secrets(place, workspace.env.environ)}
    exact = sorted(found, key=lambda value: (-len(value), value))
    return Tools(lambda remembered: Redactor(exact, remembered), complete)


def _origins(workspace: Workspace, adapters: Mapping[str, Adapter], faults: dict[str, str]) -> dict[str, Origin]:
    """The sessions of this repository by name. A session that lies in two places is taken from where it grew last."""
    home, trees = home_of(workspace), work_trees(workspace)
    found: dict[str, Origin] = {}
    for name, adapter in adapters.items():
        try:
            for origin in adapter.origins(home, workspace.env.environ, trees):
                key = f"{origin.host}/{origin.session}"
                found[key] = _later(found[key], origin) if key in found else origin
        except OSError as error:
            faults[name] = error.strerror or str(error)
    return found


def _later(one: Origin, other: Origin) -> Origin:
    return max((one, other), key=lambda origin: (_time(origin.path), str(origin.path)))


def _time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _named(
    paths: Sequence[Path], known: Sequence[Origin], adapters: Mapping[str, Adapter], *, named: bool
) -> list[Origin]:
    from gitmem.capture.adapter import Origin

    wanted = []
    by_path = {origin.path.resolve(): origin for origin in known}
    for path in paths:
        if not path.is_file():
            raise UsageError(f"{path} is no file", hint="name a transcript, or none: gitmem capture")
        origin = by_path.get(path.resolve())
        if origin is None and not named:
            raise UsageError(
                f"{path} is no transcript of this repository that a host is known to keep",
                hint=f"say whose it is, one of {', '.join(adapters)}: gitmem capture --host HOST {path}",
            )
        wanted.append(origin or Origin(next(iter(adapters)), path.stem, path.resolve()))
    return wanted


def _note_swept(
    workspace: Workspace,
    adapters: Mapping[str, Adapter],
    done: Sequence[Captured],
    faults: Mapping[str, str],
    progress: Progress,
) -> None:
    folder = workspace.location.private
    hosts: dict[str, Any] = dict(load(folder, SWEPT).get("hosts", {}))
    at = format_instant(workspace.env.now())
    for name in [*adapters, *(name for name in faults if name not in adapters)]:
        own = [item for item in done if item.host == name]
        errors = [faults[name]] if name in faults else [item.detail for item in own if item.state == "failed"]
        hosts[name] = {
            "at": at,
            "sessions": len(own),
            "failed": len(errors),
            "degraded": sum(item.state == "degraded" for item in own),
            "error": errors[-1] if errors else "",
        }
    known, held = progress.counts()
    save(folder, SWEPT, {"at": at, "known": known, "held": held, "hosts": hosts})
