"""`memdeck mcp`: the workspace's memory for agents that speak the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.cli.declared import OneOf, Whole, option, verb
from app.cli.session import Session
from memory.errors import UsageError

if TYPE_CHECKING:
    from app.servers.mcp.calls import Calls
    from memory.storage.own_folders import PrivateState


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
@option("--read-only", is_flag=True, help="Offer only the tools that look.")
@option(
    "--toolset",
    type=OneOf(("default", "curated", "curated-admin")),
    default="default",
    help="The eight, or those on curated memory.",
)
def mcp(session: Session, http: bool, port: int | None, read_only: bool, toolset: str) -> None:
    """Serve the workspace to an agent over stdin and stdout: eight tools, resources and prompts.

    Clients start it themselves; docs/mcp.md shows how each is told to. In a folder without memory each tool says so.
    Changes are made in the name of --actor or MEMDECK_ACTOR, else of the client. Needs the extra `mcp`: pip install
    'memdeck[mcp]'.
    """
    if port is not None and not http:
        raise UsageError("usage.arguments", "--port goes with --http", "add --http")
    from app.servers.mcp.recorded import RecordedAnswers, sdk_version

    if not sdk_version():
        raise _missing("mcp")
    from app.servers.life import Life
    from app.servers.mcp.watched import WatchedResources
    from app.version import __version__

    actor = session.named_actor or None
    if http:
        life, root = Life(), session.workspace.root
        calls = _calls(session, toolset, actor=actor, read_only=read_only, busy=life.busy)
        watched = WatchedResources(calls)
        from app.servers.mcp.sdk import leave_out_unused

        leave_out_unused()
        try:
            from app.servers.mcp.http import serve_http
        except ImportError as error:
            raise _missing(str(error.name)) from error

        def say(address: str, token: str) -> None:
            session.answer(
                lambda: {"workspace": str(root), "address": address, "token": token},
                lambda: [address, f"Authorization: Bearer {token}", "serves this machine only; ctrl+c ends it"],
            )
            session.writer.flush()

        serve_http(calls, watched, life, port or 0, say)
        return
    from app.servers.mcp import early_answer
    from app.servers.mcp.stdio import begin, serve_stdio

    begun = early_answer.taken()
    if begun is None:
        # The recorded answers are those of the eight tools.
        state = _state(session) if toolset == "default" else None
        begun = begin(
            None if state is None else RecordedAnswers(state.folder, version=__version__, read_only=read_only)
        )
    calls = _calls(session, toolset, actor=actor, read_only=read_only, busy=begun.life.busy)
    try:
        serve_stdio(calls, WatchedResources(calls), begun)
    except ImportError as error:
        raise _missing(str(error.name)) from error


def _state(session: Session) -> PrivateState | None:
    """Return the private folder of the workspace; None if there is no memory yet, which each call says."""
    try:
        return session.workspace.state
    except UsageError as error:
        if error.code != "workspace.not_found":
            raise
        return None


def _calls(session: Session, toolset: str, **options: Any) -> Calls:
    """Return the object that does the calls of a set of tools."""
    if toolset == "default":
        from app.servers.mcp.calls import Calls

        return Calls(lambda: session.workspace, session.clock, **options)
    from app.servers.mcp.curated_tools import CuratedCalls

    return CuratedCalls(lambda: session.workspace, session.clock, toolset=toolset, **options)


def _missing(name: str) -> UsageError:
    hint = "pip install 'memdeck[mcp]' brings what it needs"
    return UsageError("mcp.missing", f"the library {name} is not installed", hint)
