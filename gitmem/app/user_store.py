"""The user's own store: one bare repository for all of a user's projects, in the same format, read beside each of them.

It lies at `XDG_DATA_HOME/gitmem/user.git`, mode 0700, and is made when something is first remembered for the user. Its
`gitmem/main` is a branch as any other: it has a project of its own, is believed as any other, and has no inbox.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.errors import GitmemError, NoHome
from gitmem.model.frozen import replace
from gitmem.model.layout import MAIN

if TYPE_CHECKING:
    from gitmem.app.workspace import View, Workspace


def store_path(environ: Mapping[str, str]) -> Path | None:
    """Where the store is, or would be; None when nothing says where the user's data lies."""
    named, home = environ.get("XDG_DATA_HOME", ""), environ.get("HOME", "")
    if named.startswith("/"):  # the specification says to ignore a relative one
        return Path(named, "gitmem/user.git")
    return Path(home, ".local/share/gitmem/user.git") if home else None


def tip(environ: Mapping[str, str]) -> str | None:
    """Where the store's branch is, told from its files without git. Raises OSError and ValueError on any doubt."""
    from gitmem.store.at_rest import bare_tip

    path = store_path(environ)
    return None if path is None else bare_tip(path, MAIN)


def opened(workspace: Workspace) -> Workspace | None:
    """The store beside a project; None when there is none or this is the store itself."""
    from gitmem.app.workspace import workspace_at
    from gitmem.store.repository import bare_location

    environ = workspace.env.environ
    path = store_path(environ)
    if path is None or not path.is_dir() or workspace.is_user_store:
        return None
    env = replace(workspace.env, start=path)
    return workspace_at(env, bare_location(path, environ), long_lived=workspace.backend.name == "libgit2")


def believed(workspace: Workspace) -> View | None:
    """What is believed of the store. None when there is none, or nothing of it can be read: a user's own store that is
    broken stops nobody from reading the team's memory, and `doctor` names what is wrong."""
    from gitmem.app.belief import inert_view

    try:
        store = workspace.user
        return None if store is None else inert_view(store)  # it lies where no repository can put one
    except GitmemError:
        return None


def made(workspace: Workspace) -> None:
    """Make the store where there is none yet. Raises GitmemError when there is no place for it."""
    from gitmem.app.init import init
    from gitmem.app.state import private_folder
    from gitmem.store.program import run

    if workspace.user is None and not workspace.is_user_store:
        path = store_path(workspace.env.environ)
        if path is None:
            raise NoHome("there is no HOME", hint="set HOME, or XDG_DATA_HOME to a folder of yours")
        private_folder(path)
        done = run(("init", "--bare", "--quiet", str(path)), environ=workspace.env.environ, cwd=path)
        if done.status:
            raise done.failure(f"{path} could not be made")
        del workspace.__dict__["user"]
    store = workspace.user
    if store is not None and store.backend.ref(MAIN) is None:
        init(store, offline=True)
