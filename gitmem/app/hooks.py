"""`gitmem hooks` and what the hooks call: where this repository keeps its hooks, and the checks they make."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from gitmem.app import githooks
from gitmem.app.env import Env
from gitmem.app.githooks_decision import Checks, deletion_possible, run_hook
from gitmem.app.verify import verify_range
from gitmem.app.verify_staged import verify_staged
from gitmem.app.workspace import Workspace
from gitmem.errors import Refused, UsageError
from gitmem.store.hook_folder import hook_folder, is_tracked
from gitmem.store.repository import locate, open_backend

_SHOWN = 20  # reasons that a refused push prints


def place(workspace: Workspace) -> githooks.Place:
    """Where git looks for this repository's hooks, core.hooksPath counted in."""
    location = workspace.location
    folder = hook_folder(location)
    return githooks.Place(location.common_dir, folder, location.work_tree, is_tracked(location, folder))


def program(arguments: Sequence[str] = ()) -> Path:
    """The absolute path of this installation's `gitmem`, which the hooks call."""
    beside = Path(sys.executable).parent / "gitmem"
    invoked = Path(arguments[0]).absolute() if arguments else None
    for candidate in (beside, invoked, shutil.which("gitmem")):
        if candidate and Path(candidate).is_file() and Path(candidate).name in ("gitmem", "git-mem"):
            return Path(candidate)
    raise UsageError("the program gitmem was not found beside its Python", hint="install git-mem, then run this again")


def install(
    workspace: Workspace, *, strict: bool, server: bool, sessions: bool = False, trailer: bool = False
) -> githooks.Report:
    """Raises Refused for `trailer` where no person is seen: it changes the messages of commits."""
    if trailer and workspace.env.channel != "terminal":
        raise Refused(
            "hooks that write into commit messages are a person's to ask for",
            reasons=[],
            hint="at a terminal: gitmem hooks install --trailer",
        )
    if server and not workspace.location.bare:
        raise UsageError("--server is for the bare repository that others push to", hint="gitmem hooks install")
    return githooks.install(
        place(workspace), program(sys.argv[:1]), strict=strict, server=server, sessions=sessions, trailer=trailer
    )


def uninstall(workspace: Workspace) -> githooks.Report:
    """Raises Refused for a program: it does not take away what holds it back."""
    from gitmem.app.trust import require_installer

    require_installer(workspace.env, "gitmem hooks uninstall")
    return githooks.uninstall(place(workspace))


def status(workspace: Workspace) -> tuple[list[githooks.HookState], str | None]:
    """The state of every hook, and the note that a hook left when it could not check."""
    return githooks.status(place(workspace)), githooks.hook_note(workspace.location.common_dir)


def decide_hook(env: Env, name: str, arguments: Sequence[str], stdin: bytes) -> tuple[int, list[str]]:
    """What the hook `name` answers: its exit status and the lines to show."""

    def open_checks() -> Checks:
        location = locate(env.cwd, environ=env.environ)
        backend = open_backend(location, long_lived=False)
        workspace = Workspace(env, location, backend)

        def verify(ref: str, old: str | None, new: str) -> list[str]:
            base = old if old is not None and backend.resolve(old) is not None else None
            report = verify_range(workspace, base, new)
            lines = [f"{f.commit[:10]} {f.path}: {f.code}: {f.message}" for f in report.faults]
            return first(lines, "gitmem verify")

        def first(lines: list[str], hint: str) -> list[str]:
            more = [f"… and {len(lines) - _SHOWN} more: {hint}"] if len(lines) > _SHOWN else []
            return lines[:_SHOWN] + more

        def shared(ref: str, old: str | None, new: str) -> list[str]:
            from gitmem.app.sessions_judged import refusals

            return first(refusals(workspace, ref, old, new), "gitmem scan-secrets")

        def is_ancestor(old: str, new: str) -> bool:
            known = backend.resolve(old) is not None and backend.resolve(new) is not None
            return known and backend.is_ancestor(old, new)

        return Checks(
            head_ref=location.head_ref,
            ref=backend.ref,
            is_ancestor=is_ancestor,
            verify=verify,
            verify_staged=lambda head: verify_staged(workspace, head),
            deletion_possible=lambda: deletion_possible(location.common_dir, location.ref_format),
            shared=shared,
        )

    return run_hook(name, arguments, stdin, open_checks)
