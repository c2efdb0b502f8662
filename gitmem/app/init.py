"""`gitmem init`: begin the memory of a repository, or adopt the one that its remote has."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from gitmem.app import belief, trust
from gitmem.app.chain import open_chain, save_chains
from gitmem.app.shipped import shipped
from gitmem.app.workspace import Workspace, raw_view
from gitmem.app.writing import config_event
from gitmem.errors import GitmemError, RemoteError, UnsupportedRepository, UsageError
from gitmem.model.ids import is_project, project_id
from gitmem.model.layout import ATTRIBUTES, CONFIG, MAIN, README, SCHEMA
from gitmem.model.nouns import Config
from gitmem.model.records import config_bytes
from gitmem.store.lock import writer_lock
from gitmem.store.port import RefMove
from gitmem.store.quarantine import tracking_ref
from gitmem.store.remote import remote_named, remote_tip, remotes
from gitmem.store.snapshot import Snapshot
from gitmem.store.transaction import Transaction, root_commit

ATTRIBUTES_TEXT: Final = """\
# Records are text with LF and are never merged line by line; events are kept byte for byte.
* -text
memories/** text eol=lf merge=binary
tombstones/** text eol=lf merge=binary
gitmem.yaml text eol=lf
"""

README_TEXT: Final = """\
# Memory of this project

This branch holds what was learned about this project, one YAML file a memory, for coding agents and people.
It has no code and no common history with the code branches.

- `memories/` what is known; every file cites its evidence
- `events/` who changed what, when and why; only ever added to
- `tombstones/` what was found wrong and must not be learned again
- `gitmem.yaml` the project's id and the policy

Read it with `gitmem recall "words"`, `gitmem list`, `gitmem log`; change it with `gitmem remember`,
`gitmem supersede`, `gitmem wrong`. Edits by hand are checked by `gitmem verify`, as every reader does.
"""


@dataclass(frozen=True)
class Initialised:
    """What `init` did: "created", "adopted" (the remote's branch) or "present" (there was one).

    `trusted`: what is in it is shown (see `gitmem.app.trust`). `asked`: False when the remote was not reached, and what
    a `git clone` or `git fetch` of before brought of its branch was taken over.
    """

    result: str
    repository: str
    project: str
    commit: str
    remote: str | None = None
    trusted: bool = True
    asked: bool = True


def init(
    workspace: Workspace, *, remote: str | None = None, offline: bool = False, project: str | None = None
) -> Initialised:
    """Make sure that the branch exists, asking the remote first. Touches no work tree, staging area or config."""
    if project is not None and not is_project(project):
        raise UsageError(f"{project!r} is not a project id: lower-case letters, digits, dots and dashes")
    backend, location = workspace.backend, workspace.location
    with writer_lock(location):
        present = backend.ref(MAIN)
        if present is not None:
            return _present(workspace, present)
        belief.require_branch(workspace)
        refuse_names_in_the_way(workspace)
        source = _brought(workspace) if offline and remote is None else _remote(workspace, remote)
        if source is None:
            return _create(workspace, project)
        try:
            tip = None if offline else remote_tip(location, source, MAIN)
        except RemoteError as error:
            adopted = _adopt_kept(workspace, source)
            if adopted is None:
                raise error
            return adopted
        if tip is not None:
            return _adopt(workspace, source)
        return (_adopt_kept(workspace, source) if offline else None) or _create(workspace, project)


def _present(workspace: Workspace, tip: str) -> Initialised:
    if raw_view(workspace, tip).main.entry(CONFIG) is None:
        raise UnsupportedRepository(
            "a branch gitmem/main is here and is not a gitmem memory: it has no gitmem.yaml",
            hint="git branch -m gitmem/main some-other-name, then gitmem init",
        )
    view = belief.inert_view(workspace)
    return _made("present", workspace, view.require_config(), view.main.commit or "")


def _made(result: str, workspace: Workspace, config: Config, commit: str, remote: str | None = None) -> Initialised:
    trusted = trust.stands(workspace.env, workspace.location.common_dir, config.projects)
    return Initialised(result, workspace.location.title, config.project, commit, remote, trusted)


def refuse_names_in_the_way(workspace: Workspace) -> None:
    """git cannot hold both a branch `gitmem` and one below `gitmem/`."""
    for name in ("refs/heads/gitmem", f"{MAIN}/"):
        taken = [name] if workspace.backend.ref(name) else []
        if name.endswith("/"):
            taken = [ref for ref, _ in workspace.backend.refs(name)]
        for ref in taken:
            branch = ref.removeprefix("refs/heads/")
            raise UnsupportedRepository(
                f"the branch {branch!r} is in the way of gitmem/main: git cannot hold both; nothing was written",
                hint=f"git branch -m {branch} {branch.replace('/', '-')}-old, then gitmem init",
            )


def _remote(workspace: Workspace, name: str | None) -> str | None:
    """The remote to ask: the named one, else origin, else the only one; None when there is none."""
    if name is not None:
        return remote_named(workspace.location, name).name
    known = list(remotes(workspace.location))
    if "origin" in known:
        return "origin"
    if len(known) > 1:
        raise UsageError(f"which remote? {', '.join(known)}", hint=f"gitmem init --remote {known[0]}")
    return known[0] if known else None


def _brought(workspace: Workspace) -> str | None:
    """The remote whose branch a plain git has brought here: origin, or the only such one."""
    known = [ref for ref, _ in workspace.backend.refs("refs/remotes/") if ref.endswith("/gitmem/main")]
    names = [name for name in remotes(workspace.location) if tracking_ref(name) in known]
    if len(names) > 1 and "origin" not in names:
        raise UsageError(f"whose branch? {', '.join(names)}", hint=f"gitmem init --offline --remote {names[0]}")
    return "origin" if "origin" in names else names[0] if names else None


def _adopt(workspace: Workspace, remote: str) -> Initialised:
    """Take over the branch of a remote after all of it was verified. It is inert until somebody trusts it."""
    from gitmem.app.sync import joined_branch
    from gitmem.app.sync_incoming import receive

    incoming = receive(workspace, remote_named(workspace.location, remote), admit=True)
    _, tip, _ = joined_branch(workspace, incoming)
    return _made("adopted", workspace, belief.inert_view(workspace).require_config(), tip, remote)


def _adopt_kept(workspace: Workspace, remote: str) -> Initialised | None:
    """Take over what this clone has of the remote's branch; None when it has none of it. Inert as well."""
    from gitmem.app.sync import joined_branch
    from gitmem.app.sync_incoming import kept_here

    incoming = kept_here(workspace, remote_named(workspace.location, remote))
    if incoming is None:
        return None
    _, tip, _ = joined_branch(workspace, incoming)
    made = _made("adopted", workspace, belief.inert_view(workspace).require_config(), tip, remote)
    return replace(made, asked=False)


def _create(workspace: Workspace, project: str | None) -> Initialised:
    backend, env = workspace.backend, workspace.env
    name = project or project_id(_folder_name(workspace), env.random(4))
    root = Snapshot(backend, root_commit(backend), raw_view(workspace).main.tree)
    now = env.now()
    config = config_bytes(Config(project=name))
    transaction = Transaction(backend, root)
    transaction.put(CONFIG, config)
    transaction.put(README, README_TEXT.encode())
    transaction.put(ATTRIBUTES, ATTRIBUTES_TEXT.encode())
    transaction.put(SCHEMA, (shipped("schemas") / "memory.schema.json").read_bytes())
    event = config_event(workspace, now, "the memory of this project begins", None, config)
    chain, _, path, raw = open_chain(workspace, MAIN, root).append(event)
    transaction.put(path, raw)
    author, committer, _ = workspace.writer
    commit = transaction.commit(f"init: memory of {name}\n", author, committer, now)
    backend.move_refs([RefMove(MAIN, commit, None, "gitmem: init")])
    save_chains(workspace, {MAIN: (chain, commit)})
    belief.note_own_commits(workspace, raw_view(workspace), {MAIN: commit})
    with suppress(GitmemError):  # no place to keep that: `gitmem trust` says why
        trust.grant(belief.inert_view(workspace), "begun")
    return _made("created", workspace, Config(project=name), commit)


def _folder_name(workspace: Workspace) -> str:
    location = workspace.location
    if location.common_dir.name == ".git":  # from a linked worktree too: all of them share one memory
        return location.common_dir.parent.name or "project"
    folder = location.work_tree or location.common_dir
    return folder.name.removesuffix(".git") or "project"
