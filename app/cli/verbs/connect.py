"""The verbs that connect memdeck with clients of agents, and disconnect it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from app.cli.printing import tell
from app.cli.session import Session
from app.connect.clients import ConnectionTarget, Scope, for_any
from app.connect.command import this_command
from app.connect.connect import Connection, State, carry_out, plan_connect, plan_disconnect, states
from app.connect.trial import try_server
from memory.errors import UsageError
from memory.operations import Choice, argument, option, verb
from memory.operations.result import PROBLEMS
from memory.storage.own_folders import home, state_home

from .opening import init

_scope = option(
    "--scope",
    type=Choice(("project", "user")),
    default="project",
    help="For this project (the default), or for all your projects.",
)
_dry_run = option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")


@verb(
    "connect",
    serves="person",
    looks=lambda values: values["listing"] or values["printing"],
    examples=(
        "memdeck connect claude-code",
        "memdeck connect codex --scope user --dry-run",
        "memdeck connect --list",
        "memdeck connect --print",
    ),
)
@argument("client", required=False)
@_scope
@_dry_run
@option("--list", "listing", is_flag=True, help="Show which clients are connected where, and whether a call works.")
@option("--print", "printing", is_flag=True, help="Print the settings for any other client.")
def connect(
    session: Session, client: str | None, scope: Scope, dry_run: bool, listing: bool, printing: bool
) -> int | None:
    """Connect CLIENT: write the MCP server, hooks and a few words for the agent into its own files.

    CLIENT is claude-code, codex, gemini, cursor, opencode, vscode, zed or windsurf. Only memdeck's own lines are
    written. In a terminal, memdeck shows the change and asks first. `memdeck disconnect` restores every byte.
    The exit code is 4 if there is no memory here.
    """
    if client is not None and scope == "project" and not (listing or printing or dry_run):
        _offer_memory(session)
    setting = _setting(session, client or "other", scope)
    if listing:
        _list(session)
    elif printing:
        told = for_any(setting)
        session.answer(lambda: told, lambda: json.dumps(told, indent=2).splitlines())
    else:
        if client is None:
            raise UsageError("usage.client", "name a client to connect", "see memdeck connect --help")
        connection = plan_connect(setting, state_home(os.environ))
        _do(session, connection, dry_run=dry_run, undo=False)
        return PROBLEMS if connection.memory is None and scope == "project" else None
    return None


def _offer_memory(session: Session) -> None:
    """Ask a person whether memory shall be created where there is none."""
    if session.root is None and session.asks_person:
        session.writer.lines(["There is no memory here yet for an agent to work with."])
        if session.agreed("Create it (memdeck init)?"):
            session.run(init, {"folder": None})


@verb(
    "disconnect",
    serves="person",
    examples=("memdeck disconnect claude-code", "memdeck disconnect codex --scope user --dry-run"),
)
@argument("client")
@_scope
@_dry_run
def disconnect(session: Session, client: str, scope: Scope, dry_run: bool) -> None:
    """Take away what `connect` wrote for CLIENT; its files are as they were before, with what others changed since."""
    setting = _setting(session, client, scope)
    _do(session, plan_disconnect(setting, state_home(os.environ)), dry_run=dry_run, undo=True)


def _setting(session: Session, client: str, scope: Scope) -> ConnectionTarget:
    project = session.root or Path(os.path.abspath(session.folder or "."))
    command = tuple(this_command(portable=scope == "project"))
    return ConnectionTarget(client, scope, project, home(os.environ), os.environ, command)


def _do(session: Session, connection: Connection, *, dry_run: bool, undo: bool) -> None:
    """Show the plan, ask if someone can answer, and carry it out."""
    if connection.changes and session.asks_person and not dry_run:
        session.writer.lines([*_plan_lines(session, connection), "", *_note_lines(session, connection)])
        if not session.agreed("Write this?"):
            session.writer.lines(["nothing was changed"])
            return
        done = carry_out(connection, state_home(os.environ), undo=undo)
        session.writer.lines([*_done_lines(done, undo)])
    else:
        done = connection if dry_run else carry_out(connection, state_home(os.environ), undo=undo)
        session.answer(
            done.json,
            lambda: [
                *_plan_lines(session, done),
                *([] if dry_run else _done_lines(done, undo)),
                *_note_lines(session, done),
            ],
        )


def _plan_lines(session: Session, connection: Connection) -> Iterator[str]:
    for file in connection.files:
        if file.action != "none":
            yield from (session.paint.line(one) for one in file.diff().splitlines())


def _done_lines(connection: Connection, undo: bool) -> Iterator[str]:
    client = connection.setting.client
    if not connection.changes:
        yield f"{client} is {'not connected' if undo else 'connected already'}: nothing to do"
    else:
        yield f"{client} is {'disconnected' if undo else 'connected'} ({connection.setting.scope})"


def _note_lines(session: Session, connection: Connection) -> Iterator[str]:
    """Yield what the client gets, and what the user still has to do."""
    for note in connection.notes:
        yield session.paint.line(f"  {note}")


def _list(session: Session) -> None:
    tried: dict[tuple[str, ...], str] = {}

    def trial(setting: ConnectionTarget) -> tuple[State, str]:
        """Try the server once for all clients that start the same memdeck."""
        root = session.root
        if root is None:
            what = "there is no memory here: `memdeck init` creates it"
            return ("not tried", what) if setting.user else ("not working", what)
        if setting.command not in tried:
            tell(f"memdeck: trying the server of {setting.client} ...")
            tried[setting.command] = try_server(setting.server, root, os.environ.get("PATH", os.defpath))
        return "not working" if tried[setting.command] else "working", tried[setting.command]

    found = states(_setting(session, "other", "project"), _setting(session, "other", "user"), trial)

    def lines() -> Iterator[str]:
        for one in found:
            if one.state != "no":
                yield f"{one.client:<12} {one.scope:<8} {one.state}"
                yield session.paint.line(one.gains, "  ")
                yield from (session.paint.line(f"  {problem}") for problem in one.problems)
        if all(one.state == "no" for one in found):
            yield "no client is connected; see memdeck connect --help"

    rows = [one.json() for one in found]
    session.answer(lambda: {"clients": rows}, lines, lambda: rows)
