"""`memdeck mcp`: the workspace's memory for agents that speak the Model Context Protocol."""

from __future__ import annotations

from typing import Any

from app.cli.session import Session
from app.servers.life import Life
from app.servers.mcp.calls import Calls
from memory.errors import UsageError
from memory.operations import Choice, Whole, option, verb

from . import needs, tell_where


@verb(
    "mcp",
    serves="machine",
    examples=(
        "memdeck mcp",
        "memdeck mcp -w ~/src/shop --read-only",
        "memdeck mcp --toolset curated",
        "memdeck mcp --http --port 8124",
    ),
)
@option("--http", is_flag=True, help="Serve streamable HTTP on 127.0.0.1 with a token, instead of stdin and stdout.")
@option("--port", type=Whole(0, 65535), metavar="N", help="The port of --http (default: a free one).")
@option("--read-only", is_flag=True, help="Offer only the tools that read.")
@option(
    "--toolset",
    type=Choice(("default", "curated", "curated-admin")),
    default="default",
    help="The eight default tools, or those for curated memory.",
)
def mcp(session: Session, http: bool, port: int | None, read_only: bool, toolset: str) -> None:
    """Serve the workspace to an agent over stdin and stdout: eight tools, and resources.

    Clients start it themselves; docs/mcp.md shows how to configure each. In a folder without memory, each tool says so.
    Changes are made in the name of --actor or MEMDECK_ACTOR, else of the client. Needs the extra `mcp`: pip install
    'memdeck[mcp]'.
    """
    if port is not None and not http:
        raise UsageError("usage.arguments", "--port works only with --http", "add --http")
    try:
        _ = session.workspace
    except UsageError as error:
        # Without memory the server starts all the same, and each tool says so.
        if http or error.code != "workspace.not_found":
            raise
    life = Life()
    calls = _calls(session, toolset, actor=session.named_actor or None, read_only=read_only, busy=life.busy)
    with needs("mcp", "mcp.missing"):
        if http:
            from app.servers.mcp.http import serve_http

            root = str(session.workspace.root)

            def say(address: str, token: str) -> None:
                document = {"workspace": root, "address": address, "token": token}
                tell_where(session, document, address, f"Authorization: Bearer {token}")

            serve_http(calls, life, port or 0, say)
        else:
            from app.servers.mcp.stdio import serve_stdio

            serve_stdio(calls, life)


def _calls(session: Session, toolset: str, **options: Any) -> Calls:
    """Return the object that does the calls of a set of tools."""
    if toolset == "default":
        return Calls(lambda: session.workspace, session.clock, **options)
    from app.servers.mcp.curated_tools import CuratedCalls  # The default tools start without curated memory.

    return CuratedCalls(lambda: session.workspace, session.clock, toolset=toolset, **options)
