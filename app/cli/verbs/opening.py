"""Creating a workspace and opening it in the application."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from difflib import get_close_matches

from app.cli.forms import first_word
from app.cli.session import Session, at_terminal
from app.demo.workspace import make_demo
from memory.errors import UsageError
from memory.files import MEMORY_FOLDER
from memory.operations import Context, Whole, argument, option, shows, verb
from memory.operations.result import Result, said
from memory.storage.own_folders import home, state_home
from memory.workspace import Workspace

from . import VERBS

_NEXT = "`memdeck` opens them; `memdeck connect claude-code` lets an agent use them"


@verb("init", serves="machine", examples=("memdeck init", "memdeck init ~/src/shop"))
@argument("folder", metavar="[DIR]", required=False)
def init(context: Context, folder: str | None) -> Result:
    """Create the memory files in DIR (default: the current folder): seven files in .aiter/memory, from templates.

    Existing files are never changed.
    """
    context.folder = context.folder or folder
    workspace, created = Workspace.init(
        folder or context.folder or ".",
        context.now,
        actor=context.actor,
        state_home=state_home(context.environ),
        home=home(context.environ),
    )
    context.made = f"created {len(created)} files" if created else None
    context.opened(workspace)
    words = [f"nothing to create: {workspace.memory} has all files"]
    if created:
        words = [f"created {len(created)} files in {workspace.memory}", f"  {', '.join(created)}", _NEXT]
    return said({"workspace": str(workspace.root), "created": list(created)}, *words)


@verb(
    "demo", serves="machine", examples=("memdeck demo", "memdeck demo --no-agent", "memdeck demo /tmp/shop --no-open")
)
@argument("folder", metavar="[DIR]", required=False)
@option("--no-open", is_flag=True, help="Create it and print its path, without opening it.")
@option("--no-agent", is_flag=True, help="Leave out the scripted agent.")
@option("--seed", type=Whole(0), default=1, metavar="N", help="Seed of what the agent does later (default: 1).")
def demo(session: Session, folder: str | None, no_open: bool, no_agent: bool, seed: int) -> int:
    """Create a lively sample workspace in a temporary folder, or in DIR, print its path and open it.

    A scripted agent changes tasks, journal and monitors while you watch, and a message says what it just did.
    """
    if not no_open:
        _need_terminal("--no-open makes the sample without opening it")
    workspace, created = _make_demo(session, folder or session.folder)
    session.answer(
        lambda: {"workspace": str(workspace.root), "created": list(created)},
        lambda: [session.paint.line(str(workspace.root))],
    )
    if no_open:
        return 0
    session.writer.flush()
    with _agent(str(workspace.root), seed, session.now) if not no_agent else nullcontext():
        return _open(session, str(workspace.root), demo=True)


@contextmanager
def _agent(root: str, seed: int, now: datetime) -> Iterator[None]:
    """Run the scripted agent; it ends when its standard input closes, however the application ends."""
    shift = (now - datetime.now(UTC)).total_seconds()
    command = [sys.executable, "-P", "-m", "app.demo.agent", root, str(seed), "1", str(shift)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _make_demo(session: Session, folder: str | None) -> tuple[Workspace, tuple[str, ...]]:
    if folder is not None and os.path.exists(os.path.join(folder, MEMORY_FOLDER)):
        raise UsageError(
            "demo.exists",
            f"{folder} has memory files already",
            f"open it with `memdeck {folder}`, or name another folder",
            folder=folder,
        )
    made = make_demo(folder, session.now, os.environ, actor=session.actor)
    made[0].close()
    return made


PANE_VERBS = {"brief": "status", "waiting": "review", "plan": "orchestration", "plans": "orchestration"}
"""The verbs for panes with another name in the application."""


def _unknown(arguments: list[str]) -> UsageError | None:
    """Return the error for a first word that is neither a verb nor a folder; its options do not matter."""
    name = first_word(arguments)
    return None if name is None or os.path.isdir(name) else _no_folder(name)


@verb(
    "memdeck",
    looks=shows,
    unknown=_unknown,
    help="Open the workspace that contains DIR (default: the current folder) in the application.",
    examples=("memdeck", "memdeck ~/src/shop", "memdeck ./tasks --pane journal"),
)
@argument("folders", metavar="[DIR]", nargs=-1)
@option("--pane", metavar="NAME", help="The pane to open first, such as tasks or journal.")
def open_workspace(session: Session, folders: tuple[str, ...], pane: str | None) -> int:
    """Open the application."""
    folder = folders[0] if folders else session.folder
    if folder is not None and not os.path.isdir(folder):
        raise _no_folder(folder)
    if len(folders) > 1:
        raise UsageError("usage.arguments", f"one folder at a time, not {len(folders)}", "see memdeck --help")
    _need_terminal("`memdeck status` and the other verbs work without one")
    return _open(session, folder, pane=pane)


def _no_folder(name: str) -> UsageError:
    if os.sep in name or os.path.exists(name):
        return UsageError("workspace.no_folder", f"{name!r} is not a folder", "name a folder", folder=name)
    meant = PANE_VERBS.get(name.casefold())
    near = [meant] if meant else get_close_matches(name, VERBS, 1)
    return UsageError(
        "usage.verb",
        f"no verb or folder is called {name!r}" + (f" (did you mean {near[0]}?)" if near else ""),
        "see memdeck --help",
    )


def _need_terminal(instead: str) -> None:
    if not at_terminal():
        raise UsageError("terminal.missing", "the application needs a terminal", instead)


def _open(session: Session, folder: str | None, *, pane: str | None = None, demo: bool = False) -> int:
    if session.no_color:
        os.environ["NO_COLOR"] = "1"  # Textual reads it when it is imported.
    from app.tui.launch import run

    return run(folder, session.now_option, pane=pane, demo=demo, safe=session.safe)
