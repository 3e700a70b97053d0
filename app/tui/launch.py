"""Starts the application: `run`. Textual is imported only inside it."""

from __future__ import annotations

import locale
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from app.cli.failures import say
from app.cli.marks import client_of
from memory.base.clock import machine_zone
from memory.base.safe_text import visible
from memory.errors import RefusedError, UsageError
from memory.storage.own_folders import config_home, home, short_path, state_home
from memory.workspace import Workspace
from widgets.panes import all_panes
from widgets.text.glyphs import glyphs_for
from widgets.text.theme import depth_of

from .app import MemdeckApp
from .keys.type_ahead import use_parser
from .keys.user_keys import read_keymap
from .leaving import Leaving
from .shell import Destination, Setup


class Clock:
    """Returns the time as an aware datetime in UTC when it is called."""

    def __init__(self, start: datetime | None = None) -> None:
        """`start` (aware) is the time now; without it the machine's clock is used."""
        self._start = start
        self._begun = time.monotonic()

    def __call__(self) -> datetime:
        """Return the time."""
        if self._start is None:
            return datetime.now(UTC)
        return self._start.astimezone(UTC) + timedelta(seconds=time.monotonic() - self._begun)


def run(
    path: str | None = None,
    now: str | None = None,
    *,
    pane: str | None = None,
    demo: bool = False,
    safe: bool = False,
    environ: Mapping[str, str] | None = None,
) -> int:
    """Open the workspace that contains `path` (default: the current folder) and return the exit code.

    `now` is a time in ISO form at which the clock starts. `pane` is the id of the pane to open first: by default the
    one that was open last, in a new workspace Tasks, because that pane is ready soonest. A `demo` opens its Brief, and
    says what other programs do.
    `safe`: nothing from memory files runs, and nothing is sent. Without a workspace the application offers to create
    one. An unexpected error ends the application with a line on stderr. Raises UsageError `usage.now`, `usage.pane`,
    `workspace.no_folder`, RefusedError `app.person_only` for the agent of a client: all that is done here is done by a
    person.
    """

    environ = os.environ if environ is None else environ
    if client := client_of(environ, typed=True):
        raise RefusedError(
            "app.person_only",
            f"an agent of {client} started this; only a person uses the application",
            "use the verbs, such as memdeck status and memdeck tasks list",
        )
    workspace: Workspace | None
    try:
        workspace = Workspace.open(path or ".", state_home=state_home(environ), home=home(environ))
    except UsageError as error:
        if error.code != "workspace.not_found":
            raise
        workspace = None
    start = None if now is None else _read_now(now, workspace, environ)
    if pane is not None and pane not in {name.id for name in all_panes()}:
        raise UsageError("usage.pane", f"there is no pane {pane!r}", ", ".join(name.id for name in all_panes()))

    first, path = pane or ("brief" if demo else None), path or "."
    going: Destination | None = None
    leaving = Leaving()
    while True:
        setup = replace(_setup(start, workspace, environ), pane=first, path=path, safe=safe, tells=demo)
        if going is not None:
            setup = replace(setup, pane=going.pane, entry=going.entry, entered=True)
        app = MemdeckApp(workspace, setup)
        code = _show(app, leaving)
        going = app.fleet.destination
        if app.workspace is not None:
            with suppress(Exception):
                app.workspace.close()
        if going is None or app.failure is not None:
            if app.workspace is not None and not code:
                place = visible(short_path(str(app.workspace.root), environ.get("HOME")))
                print(f"Everything is saved in {place}.", file=sys.stderr)
            return code
        try:
            workspace = Workspace.open(going.root, state_home=state_home(environ), home=home(environ))
        except BaseException:
            leaving.restore()
            raise


def _show(app: MemdeckApp, leaving: Leaving) -> int:
    """Show the application until the user leaves; return the exit code."""

    use_parser()
    app.leaving = leaving
    leaving.of(app, app.finish)
    code = app.run() or app.return_code or 0
    leaving.finish()
    if app.failure is not None:
        code = say(app.failure, choices=False).exit_code
    return code


def _setup(start: datetime | None, workspace: Workspace | None, environ: Mapping[str, str]) -> Setup:
    """Return how the terminal and the user's files want the application."""
    # Keys must not wait long for a thread that reads large files.
    sys.setswitchinterval(0.001)
    return Setup(
        clock=Clock(start),
        environ=environ,
        keymap=read_keymap(config_home(environ), None if workspace is None else workspace.root),
        glyphs=glyphs_for(terminal_encoding(environ) or locale.getpreferredencoding(False), environ.get("TERM", "")),
        depth=depth_of(environ),
    )


def terminal_encoding(environ: Mapping[str, str]) -> str | None:
    """Return the encoding that the locale names, `ascii` for the locale C; None if nothing names one.

    Python uses UTF-8 for the locale C, and even writes `LC_CTYPE=C.UTF-8` into the environment. So the interpreter
    cannot tell what the terminal shows.
    """
    names = [environ.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    if not names[0] and names[1] == "C.UTF-8" and names[2] in ("C", "POSIX"):
        names[1] = ""
    locale = next((name for name in names if name), "")
    if locale in ("C", "POSIX"):
        return "ascii"
    return locale.partition(".")[2].partition("@")[0] or None


def _read_now(text: str, workspace: object, environ: Mapping[str, str]) -> datetime:

    try:
        found = datetime.fromisoformat(text.strip())
        if found.tzinfo is None:
            zone = workspace.zone if isinstance(workspace, Workspace) else machine_zone(environ)
            found = found.replace(tzinfo=zone)
        return found.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            "usage.now", f"invalid time for --now: {text!r}", "write a time such as 2026-12-01T10:30:00Z"
        ) from error
