"""A proposal on its way: pushed to the remote that the user names, and the pull request opened or its address told."""

from __future__ import annotations

from typing import Final, Literal

from gitmem.app.propose import kept_text, note_pushed
from gitmem.app.propose_forge import Forge, address, forge_of
from gitmem.app.workspace import Workspace
from gitmem.errors import NotFound, Refused, RemoteError, UsageError
from gitmem.model.frozen import dataclass
from gitmem.model.judgement import Reason
from gitmem.model.layout import MAIN, proposal_ref
from gitmem.model.text import one_line
from gitmem.store import remote as remotes
from gitmem.store.ancestry import merge_bases
from gitmem.store.program import run_other
from gitmem.store.remote import without_credentials

_PATIENCE: Final = 60.0  # seconds for gh and glab
_SHOWN: Final = 20
_BASE: Final = MAIN.removeprefix("refs/heads/")


@dataclass(frozen=True)
class Pushed:
    """`url`: of the pull request when `opened` names the program that opened it, else where to open it ("" unknown).

    `said`: why no program opened it.
    """

    remote: str
    result: Literal["done", "there"]
    url: str = ""
    opened: str = ""
    said: str = ""


def push(workspace: Workspace, name: str, remote: str | None) -> Pushed:
    """Push a proposal and open its pull request. Nothing is pushed to a remote that is empty or lacks gitmem/main.

    Raises UsageError when it is not clear which remote is meant, Refused when the branch is no sound proposal or the
    remote refuses, RemoteError when it cannot be reached; the proposal stays here.
    """
    ref = proposal_ref(name)
    tip = workspace.backend.ref(ref)
    if tip is None:
        raise NotFound(f"there is no proposal {name}", hint="gitmem propose --status")
    known = remotes.remote_named(workspace.location, remote or _only(workspace))
    _require_sound(workspace, name, tip)
    with remotes.beside(workspace.location, known) as place:
        main, there = remotes.ask(place, known, MAIN), remotes.ask(place, known, ref).tip
        if main.empty:
            hint = f"push the code first: git push {known.name} main"
            raise Refused(f"{known.name} is empty: its first branch would become its default branch", hint=hint)
        if main.tip is None:
            hint = f"gitmem sync --push {known.name}"
            raise Refused(f"{known.name} has no gitmem/main that a pull request could be for", hint=hint)
        if there != tip:
            done = remotes.push(place, known, [(ref, tip, there)], force=False)
            if done.state != "done":
                raise _refused(known.name, name, done.state, done.said)
    note_pushed(workspace, name, known.name, tip)
    forge = forge_of(known.push_url)
    result: Literal["done", "there"] = "there" if there == tip else "done"
    return _opened(workspace, name, known.name, result, forge)


def _require_sound(workspace: Workspace, name: str, tip: str) -> None:
    """Anything can be called a proposal: private memory, the inbox, code. What leaves is memory for gitmem/main that
    verifies, as at the door of a push by hand."""
    from gitmem.app.verify import verify_range

    main = workspace.backend.ref(MAIN)
    parted = merge_bases(workspace.location, main, tip) if main is not None else ()
    if not parted:
        said = "it is not cut from gitmem/main"
        reasons = [Reason("history.root", said, "gitmem propose cuts a branch from it", proposal_ref(name))]
    else:
        faults = verify_range(workspace, parted[0], tip).faults
        reasons = [
            Reason(f.code, f.message, f"gitmem verify --base {parted[0][:12]} --head {tip[:12]}", f.path)
            for f in faults
        ]
    if reasons:
        raise Refused(
            f"the branch {proposal_ref(name).removeprefix('refs/heads/')} is no sound proposal; nothing was pushed",
            reasons=reasons[:_SHOWN],
            hint="gitmem propose --name ANOTHER makes one of what waits; git branch -D removes this one",
        )


def _only(workspace: Workspace) -> str:
    names = remotes.remote_names(workspace.location)
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError("there is no remote to push to", hint="git remote add <name> <url>")
    raise UsageError(
        f"there are several remotes: {', '.join(names)}", hint=f"gitmem propose --push --remote {names[0]}"
    )


def _refused(remote: str, name: str, state: str, said: str) -> Refused:
    words = one_line(without_credentials(said), 400)
    hints = {
        "moved": f"the remote has another proposal of this name: gitmem propose --name {name}-2 --push",
        "protected": "the remote lets nobody push such branches: ask who runs it for gitmem/propose/*",
    }
    return Refused(
        f"{remote} did not take the proposal {name}; it stays here",
        reasons=[Reason(f"push.{state}", words or "the remote said nothing", hints.get(state, "mend what it says"))],
        hint=f"gitmem propose --push --name {name} tries again",
    )


def _opened(
    workspace: Workspace, name: str, remote: str, result: Literal["done", "there"], forge: Forge | None
) -> Pushed:
    if forge is None:
        return Pushed(remote, result, said="the remote is on no forge that gitmem knows")
    head = proposal_ref(name).removeprefix("refs/heads/")
    url = address(forge, _BASE, head)
    program, arguments = _program(workspace, forge, name, head)
    if not program:
        return Pushed(remote, result, url)
    try:
        done = run_other(
            program, arguments, environ=workspace.location.environ, cwd=workspace.location.git_dir, timeout=_PATIENCE
        )
    except RemoteError as error:
        return Pushed(remote, result, url, said=error.message)
    if done is None:
        return Pushed(remote, result, url, said=f"{program} is not installed")
    if done.status:
        return Pushed(remote, result, url, said=f"{program}: {one_line(without_credentials(done.err), 200)}")
    words = done.out.decode("utf-8", "replace").split()
    made = next((word for word in reversed(words) if word.startswith("https://")), url)
    return Pushed(remote, result, one_line(without_credentials(made), 300), opened=program)


def _program(workspace: Workspace, forge: Forge, name: str, head: str) -> tuple[str, list[str]]:
    """The program of the user's that opens a pull request there, and what it is told."""
    title, body = kept_text(workspace, name)
    if forge.kind == "github":
        return "gh", [
            *("pr", "create", f"--repo={forge.repository}", f"--base={_BASE}", f"--head={head}"),
            *(f"--title={title}", f"--body={body}"),
        ]
    if forge.kind == "gitlab":
        return "glab", [
            *("mr", "create", f"--repo=https://{forge.repository}", f"--target-branch={_BASE}"),
            *(f"--source-branch={head}", f"--title={title}", f"--description={body}", "--yes"),
        ]
    return "", []
