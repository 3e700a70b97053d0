"""The user's own editor over a scratch file: the terminal is handed over and taken back."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from memory.base.programs import find_program
from memory.errors import MemdeckError
from memory.storage import fsio
from memory.storage.private.run_folder import remove_tree, temporary_folder

if TYPE_CHECKING:
    from app.tui.spine import Spine

PLUS = frozenset({"vi", "vim", "nvim", "nano", "emacs", "micro", "kak", "joe", "jed", "mg", "ne"})
"""The editors that begin at line N when `+N` precedes the file."""

NAME = "entry.md"
"""The name of the scratch file; editors choose their colours by its extension."""


def editor_command(environ: Mapping[str, str]) -> list[str]:
    """Return the words of $VISUAL, else $EDITOR, else vi; MemdeckError `editor.command` if quotes do not match."""
    value = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    try:
        words = shlex.split(value)
    except ValueError as error:
        raise MemdeckError("editor.command", f"$EDITOR cannot be read: {error}", "set it to a command") from error
    return words or ["vi"]


def edit_text(
    text: str,
    environ: Mapping[str, str],
    hand_over: Callable[[], AbstractContextManager[None]],
    name: str = NAME,
    *,
    line: int = 0,
    outside: str | None,
) -> str:
    """Let the user edit a text in a scratch file of this name, and return it; bytes that are not UTF-8 are preserved.

    The editor begins at `line`, counted from 0, if it is known how to tell it so.

    `hand_over` gives the terminal away while the editor runs. The editor is searched in the absolute folders of PATH
    that are not in the workspace `outside`. Raises MemdeckError `editor.failed`, `editor.missing` if no editor ran,
    `editor.command`; then nothing was changed. What an editor saved before it failed, such as when its terminal was
    closed, stays in the scratch file.
    """
    command = editor_command(environ)
    program = find_program(command[0], environ.get("PATH") or os.defpath, outside=outside)
    if program is None:
        raise MemdeckError("editor.missing", f"{command[0]} cannot be found", "set $EDITOR to your editor")
    folder = temporary_folder("memdeck-edit-")
    path, before = os.path.join(folder, name), text.encode("utf-8", "surrogateescape")
    at = [f"+{line + 1}"] if line and os.path.basename(program) in PLUS else []
    stays = False
    try:
        os.close(fsio.write_new(path, None, before, mode=0o600, durable=False))
        try:
            with hand_over():
                done = subprocess.run([program, *command[1:], *at, path], check=False, env=dict(environ))
        except OSError as error:
            raise MemdeckError(
                "editor.missing", f"{command[0]} cannot be started: {error.strerror}", "set $EDITOR to your editor"
            ) from error
        try:
            with open(path, "rb") as stream:
                after = stream.read()
        except OSError as error:
            raise MemdeckError("editor.failed", f"{command[0]} left no text; nothing was changed") from error
        if done.returncode:
            stays = after != before
            raise MemdeckError(
                "editor.failed",
                f"{command[0]} ended with {done.returncode}; nothing was changed",
                f"what it saved is in {path}" if stays else "",
            )
        return after.decode("utf-8", "surrogateescape")
    finally:
        if not stays:
            remove_tree(folder)  # With what the editor left in it.


def keep_text(text: str, name: str) -> str:
    """Save a text that could not be written among the machine's temporary files, and return its path."""
    path = os.path.join(temporary_folder("memdeck-kept-"), name)
    os.close(fsio.write_new(path, None, text.encode("utf-8", "surrogateescape"), mode=0o600, durable=False))
    return path


def in_editor(app: Spine, text: str, edited: Callable[[str], object], *, line: int = 0) -> None:
    """Hand a text to the user's editor, at a line from 0; `edited` gets what comes back, errors are shown."""
    from textual.app import SuspendNotSupported

    try:
        new = edit_text(text, app.environ, app.setup.hand_over or app.suspend, line=line, outside=app.top)
    except MemdeckError as error:
        app.say_error(error)
    except SuspendNotSupported:
        app.say("This terminal cannot be handed over to an editor.", severity="warning")
    else:
        edited(new)
