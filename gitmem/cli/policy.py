"""`gitmem policy`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitmem.app import policies
from gitmem.app.propose_policy import PolicyAsked
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import blank, which
from gitmem.cli.door import Door
from gitmem.cli.flag_values import known
from gitmem.errors import UsageError
from gitmem.model.nouns import Config, Signer

Because = Annotated[str, typer.Option("--because", help="Why.")]


def show(ctx: typer.Context) -> None:
    """The policy as it stands."""
    door: Door = ctx.obj
    _shown(door, policies.show_policy(open_workspace(door.env)))


def change(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(help="review, approvals, unobservable, languages or evidence.KIND.", metavar="SETTING")
    ],
    value: Annotated[
        str | None,
        typer.Argument(
            help="local or forge; a number; hold or refuse; names with commas.", metavar="VALUE", show_default=False
        ),
    ] = None,
    because: Because = "",
) -> None:
    """Change one setting. For a person at a terminal; judged by the policy that stands."""
    door: Door = ctx.obj
    if value is None:
        asked = policies.SETTINGS.get(name, "see gitmem policy set --help")
        raise UsageError(f"{name} needs a value: {asked}", hint=f'gitmem policy set {name} VALUE --because "…"')
    _shown(door, policies.set_policy(open_workspace(door.env), name, value, because))


def explain(
    ctx: typer.Context,
    verb: Annotated[
        str | None, typer.Argument(help="accept, wrong, remember, …; all of them without.", show_default=False)
    ] = None,
    identifier: Annotated[
        str | None, typer.Argument(help="A memory that it would be done to.", metavar="ID", show_default=False)
    ] = None,
) -> None:
    """What may be done here, what only a person may do, and why."""
    door: Door = ctx.obj
    for one in policies.explain(open_workspace(door.env), verb, identifier):
        if door.as_json:
            door.data({"what": one.what, "verdict": one.verdict, "why": one.why, "instead": one.instead or None})
            continue
        style = {"yes": "green", "proposal": "yellow"}.get(one.verdict, "red")
        door.say(f"{door.style(one.verdict.ljust(9), style)}{one.what:<16}{door.style(one.why)}")
        if one.instead:
            door.say(f"                         {door.style('→ ' + one.instead, 'dim')}")


def add(
    ctx: typer.Context,
    principal: Annotated[str, typer.Argument(help="A name for whose key it is, such as an address.")],
    key: Annotated[str, typer.Argument(help="A file with a public key of OpenSSH, or its text.")],
    role: Annotated[str, typer.Option(help="person or agent.")] = "person",
    because: Because = "",
) -> None:
    """Name whose signatures count. With the first person named, the policy is changed by signature only."""
    door: Door = ctx.obj
    known(policies.ROLES, [role], "--role")
    signer = Signer(principal, _key(door, key), "agent" if role == "agent" else "person")
    _shown(door, policies.add_signer(open_workspace(door.env), signer, because))


def remove(
    ctx: typer.Context,
    principal: Annotated[str, typer.Argument(help="Whose keys do not count any more.")],
    because: Because = "",
) -> None:
    """Forget the keys of a principal. What they signed before keeps its level."""
    door: Door = ctx.obj
    _shown(door, policies.remove_signer(open_workspace(door.env), principal, because))


def _key(door: Door, text: str) -> str:
    """The words of a key, from a file when it is one; never of a private key."""
    if not text.startswith(("ssh-", "ecdsa-", "sk-")):
        path = door.env.cwd / Path(text).expanduser()
        try:
            text = path.read_text("ascii")
        except (OSError, UnicodeDecodeError):
            raise UsageError(f"{path} cannot be read as a public key", hint="give the .pub file") from None
        if "PRIVATE KEY" in text:
            raise UsageError(f"{path} is a private key; nothing of it was kept", hint=f"{path}.pub")
    return " ".join(text.split()[:2])


def _shown(door: Door, config: Config | PolicyAsked) -> None:
    asked = config if isinstance(config, PolicyAsked) else None
    shown = config.before if isinstance(config, PolicyAsked) else policies.settings(config)
    if door.as_json and asked:
        branch = {"name": asked.name, "branch": asked.branch, "base": asked.base, "tip": asked.tip, "verb": "policy"}
        door.data({**shown, "proposed": {**branch, "title": asked.title, "body": asked.body}})
        return
    if door.as_json:
        door.data(shown)
        return
    for key, setting in shown.items():
        door.say(door.style(f"{key:<24}{setting}"))
    if asked:
        note = f"proposed in {asked.branch}; the policy stays as it is until that is merged on the forge"
        door.note(door.style(note, "yellow"))
        door.note(f"next: gitmem propose --push --name {asked.name}")


def _application() -> typer.Typer:
    app = blank()

    @app.callback(invoke_without_command=True, epilog="Example: gitmem policy")
    def policy(ctx: typer.Context) -> None:
        """Show the policy, change it, or ask what it allows."""
        if ctx.invoked_subcommand is None:
            show(ctx)

    app.command("show", epilog="Example: gitmem policy show")(show)
    app.command("set", epilog='Example: gitmem policy set review forge --because "we review on the forge now"')(change)
    app.command("explain", epilog="Example: gitmem policy explain accept 7k3q")(explain)
    signer = blank()
    signer.command(epilog='Example: gitmem policy signer add ann@example.org ~/.ssh/ann.pub --because "our lead"')(add)
    signer.command(epilog='Example: gitmem policy signer remove ann@example.org --because "she left"')(remove)
    signer.callback(invoke_without_command=True)(which)
    app.add_typer(signer, name="signer", help="Whose signatures count.")
    return app


APPLICATIONS = {"policy": _application}
