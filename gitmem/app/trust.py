"""Whether a person of this machine trusted the memory of this clone. Until then nothing of it is shown or injected.

The answer lies outside the repository, below XDG_STATE_HOME: one file for each trusted clone, named by a secret token
that the clone keeps. A repository that somebody made cannot know one, so it cannot bring trust along; a copy of a clone
at another place has the token and not the place. What a clone itself began is trusted from then on. Where the user has
no home, the clone keeps the answer itself: there, and only there, a git dir that somebody handed over could bring one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gitmem.app import state
from gitmem.app.env import Env
from gitmem.errors import GitmemError, Refused
from gitmem.model.frozen import dataclass
from gitmem.model.judgement import Reason
from gitmem.model.pattern import pattern

if TYPE_CHECKING:
    from gitmem.app.workspace import View, Workspace

_STATE: Final = "trust"  # in the clone: the token
_FOLDER: Final = "trust"  # below the user's state: a file a clone
_HOMELESS: Final = "no home"  # in the clone: the answer itself, where there is no state of the user
_TOKEN: Final = pattern(r"[0-9a-f]{32}")
SHOWN: Final = 20  # authors that are listed


@dataclass(frozen=True)
class Trusted:
    """One trusted clone. `path`: its common git dir. `root`, `tip`: the first commit, and the last when it was trusted.
    `policy`: SHA-256 of gitmem.yaml then. `how`: "asked" or "begun" here."""

    path: str
    project: str
    root: str
    policy: str
    tip: str
    at: str
    how: str


@dataclass(frozen=True)
class About:
    """What a person should know before trusting. No text of a memory is in it.

    `policy`: what gitmem.yaml says, and its SHA-256. `signers`: whose signatures it lets count. `kinds`, `origins`,
    `statuses`, `authors`: how many. `remotes`: name and address without credentials. `elsewhere`: clones of this
    project that were trusted before, each with whether what was trusted there is part of this history.
    """

    repository: str
    project: str
    aliases: tuple[str, ...]
    root: str
    tip: str
    commits: int
    policy: str
    review: str
    signers: tuple[str, ...]
    memories: int
    kinds: Mapping[str, int]
    origins: Mapping[str, int]
    statuses: Mapping[str, int]
    authors: Mapping[str, int]
    remotes: Mapping[str, str]
    quarantined: int
    trusted: Trusted | None
    elsewhere: tuple[tuple[str, bool], ...]


def stands(env: Env, common_dir: Path, projects: frozenset[str]) -> bool:
    """Is the memory of these projects in this clone trusted? Two small files are read and no git is started."""
    found = _record(env, common_dir)
    return found is not None and found.project in projects


def require(view: View) -> View:
    """The view itself when it may be shown; where there is no memory there is none to trust. Raises Refused."""
    workspace = view.workspace
    if view.config is None or stands(workspace.env, workspace.location.common_dir, view.config.projects):
        return view
    raise Refused(
        f"the memory of {workspace.location.title} came from elsewhere and nobody here has trusted it: nothing of it"
        " is shown, and nothing is written to it",
        reasons=[Reason("branch.untrusted", "it is inert until a person at a terminal looked at it", "gitmem trust")],
        hint="gitmem trust shows whose memory it is, and asks",
        details={"project": view.config.project},
    )


def grant(view: View, how: str) -> Trusted:
    """Trust the memory as it is now and what later comes to it. The caller has made sure of who asks."""
    from gitmem.model.times import format_instant

    workspace = view.workspace
    env, location = workspace.env, workspace.location
    config = view.require_config()
    private = location.private
    token = _token(private)
    folder = _folder(env)
    if token is None or (folder is not None and (folder / f"{token}.json").exists()):  # never one that a copy may have
        token = env.random(16).hex()
    made = Trusted(
        path=os.path.realpath(location.common_dir),
        project=config.project,
        root=_root(view),
        policy=policy_digest(view),
        tip=view.main.commit or "",
        at=format_instant(env.now()),
        how=how,
    )
    revoke(workspace)
    if folder is not None:
        state.save(folder, token, _data(made), durable=True)
    kept = {"clone": token} if folder is not None else {"clone": token, _HOMELESS: _data(made)}
    state.save(private, _STATE, kept, durable=True)
    return made


def revoke(workspace: Workspace) -> bool:
    """Make the memory of this clone inert again. False when it was not trusted."""
    found = _record(workspace.env, workspace.location.common_dir)
    token = _token(workspace.location.private)
    if found is None or token is None:
        return False
    folder = _folder(workspace.env)
    if folder is None:
        state.save(workspace.location.private, _STATE, {"clone": token})
    else:
        (folder / f"{token}.json").unlink(missing_ok=True)
    return True


def still_about(workspace: Workspace, tip: str) -> None:
    """Take trust back when `tip` is another history than the one that was trusted: it was rewritten, and forgotten."""
    found = _record(workspace.env, workspace.location.common_dir)
    if found is None or not found.tip:
        return
    backend = workspace.backend
    if backend.resolve(found.tip) is None or not backend.is_ancestor(found.tip, tip):
        revoke(workspace)


def about(view: View) -> About:
    """What `gitmem trust` shows."""
    from gitmem.store.identity import authors
    from gitmem.store.remote import remotes

    workspace = view.workspace
    config = view.require_config()
    kinds: Counter[str] = Counter()
    origins: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    for memory in view.memories():
        kinds[memory.kind] += 1
        origins[memory.origin] += 1
        statuses[memory.status] += 1
    tip = view.main.commit or ""
    commits = authors(workspace.location, tip)
    return About(
        repository=workspace.location.title,
        project=config.project,
        aliases=tuple(config.aliases),
        root=_root(view),
        tip=tip,
        commits=sum(commits.values()),
        policy=policy_digest(view),
        review=config.review,
        signers=tuple(dict.fromkeys(one.principal for one in config.signers)),
        memories=sum(kinds.values()),
        kinds=dict(kinds.most_common()),
        origins=dict(origins.most_common()),
        statuses=dict(statuses.most_common()),
        authors=dict(commits.most_common()),
        remotes={name: remote.shown for name, remote in remotes(workspace.location).items()},
        quarantined=len(view.quarantined),
        trusted=_record(workspace.env, workspace.location.common_dir),
        elsewhere=tuple(_elsewhere(view, config.projects)),
    )


def require_person(env: Env, what: str = "trusting memory", command: str = "gitmem trust") -> None:
    """Raises Refused for whoever is no person at a terminal: a program may ask what there is, and decide nothing."""
    if env.channel != "terminal":
        raise Refused(
            f"{what} is for a person at a terminal (this is the channel {env.channel})",
            reasons=[Reason("authority", "a program does not decide that, nor take it back", command)],
            hint=f"run it yourself, in a terminal of your own: {command}",
        )


def require_installer(env: Env, command: str) -> None:
    """Raises Refused for whoever is neither a person at a terminal nor continuous integration, for what runs unasked on
    this machine from then on, or no more: a program that nobody watches does not decide that."""
    if env.channel not in ("terminal", "ci"):
        who = f"the channel {env.channel}" + (f", {env.host}" if env.host else "")
        raise Refused(
            f"what git and agent hosts run on this machine is for a person at a terminal to decide (this is {who});"
            " nothing was written",
            reasons=[Reason("authority", "a program does not decide that, nor take it back", command)],
            hint=f"run it yourself, in a terminal of your own: {command}",
        )


def policy_digest(view: View) -> str:
    from gitmem.model.layout import CONFIG
    from gitmem.model.records import digest

    return digest(view.main.read(CONFIG) or b"")


def _root(view: View) -> str:
    from gitmem.store.transaction import root_commit_id

    return root_commit_id(view.workspace.backend)


def _record(env: Env, common_dir: Path) -> Trusted | None:
    private = common_dir / "gitmem"
    token = _token(private)
    if token is None:
        return None
    folder = _folder(env)
    found = _parsed(state.load(private, _STATE).get(_HOMELESS) if folder is None else state.load(folder, token))
    return found if found is not None and found.path == os.path.realpath(common_dir) else None


def _token(private: Path) -> str | None:
    token = state.load(private, _STATE).get("clone")
    return token if isinstance(token, str) and _TOKEN.fullmatch(token) else None


def _folder(env: Env) -> Path | None:
    """Where the answers lie; None for a user without a home."""
    with suppress(GitmemError):
        return env.state_home() / _FOLDER
    return None


def _data(trusted: Trusted) -> dict[str, str]:
    names = ("path", "project", "root", "policy", "tip", "at", "how")
    return {name: getattr(trusted, name) for name in names}


def _parsed(data: Any) -> Trusted | None:
    try:
        found = Trusted(**data)
    except TypeError:
        return None
    return found if all(isinstance(value, str) for value in _data(found).values()) else None


def _elsewhere(view: View, projects: frozenset[str]) -> list[tuple[str, bool]]:
    workspace = view.workspace
    here = os.path.realpath(workspace.location.common_dir)
    found = []
    folder = _folder(workspace.env)
    for path in sorted(folder.glob("*.json")) if folder is not None else ():
        other = _parsed(state.load(path.parent, path.stem))
        if other is not None and other.project in projects and other.path != here:
            known = workspace.backend.resolve(other.tip) is not None if other.tip else False
            same = known and workspace.backend.is_ancestor(other.tip, view.main.commit or "")
            found.append((other.path, same))
    return found
