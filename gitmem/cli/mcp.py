"""`gitmem mcp`."""

from __future__ import annotations

import typer

from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import single
from gitmem.cli.door import Door
from gitmem.errors import GitmemError


def mcp(ctx: typer.Context) -> None:
    """Serve this repository's memory to an agent over the Model Context Protocol, on standard input and output.

    Seven tools that read or propose: recall, context, show, propose, sessions_search, session_get, status. Needs the
    extra: pip install 'git-mem[mcp]'.
    """
    door: Door = ctx.obj
    try:
        from gitmem.mcp import serve
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        raise GitmemError("the MCP SDK is not installed", hint="pip install 'git-mem[mcp]'") from None
    open_workspace(door.env).close()  # says now, and not at each call, that there is no repository
    serve(door.env)


APPLICATIONS = {"mcp": single(mcp, "gitmem -C ~/shop mcp")}
