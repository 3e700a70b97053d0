"""The clipboard: copied text goes to the terminal (OSC 52) and to the desktop's clipboard program, if one exists.

Both get the content of files only as text: the terminal gets Base64, the program gets it on standard input and never as
an argument. Control characters are escaped first, so that pasting cannot press keys.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping

from memory.base.programs import find_program
from memory.base.safe_text import visible

PATIENCE = 3.0
"""Seconds after which a program that does not end is ended."""

LARGEST = 1_000_000
"""Bytes beyond which nothing is sent to the terminal; few terminals accept more."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


_TOOLS = (
    ("WAYLAND_DISPLAY", ("wl-copy", "--type", "text/plain;charset=utf-8")),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-in")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
)
"""The variable that a clipboard program needs, and its command, which reads text on standard input."""


def safe_text(text: str) -> str:
    """Return the text as it may be pasted into a terminal: tabs and line ends stay, other control characters are
    escaped.
    """
    return _CONTROLS.sub(lambda found: visible(found[0]), text.replace("\r\n", "\n").replace("\r", "\n"))


def find_tool(
    environ: Mapping[str, str], platform: str = sys.platform, *, outside: str | None = None
) -> tuple[str, ...] | None:
    """Return the command of the desktop's clipboard program, found by `find_program`; None if there is none.

    `outside` is the workspace, whose programs do not count.
    """
    tools = [command for variable, command in _TOOLS if environ.get(variable)]
    for name, *words in [("pbcopy",)] if platform == "darwin" else tools:
        path = find_program(name, environ.get("PATH", ""), outside=outside)
        if path is not None:
            return (path, *words)
    return None


def give_to_tool(command: tuple[str, ...], text: str, environ: Mapping[str, str]) -> bool:
    """Run the clipboard program with the text on standard input. Return False if it failed. For a worker."""
    try:
        # xclip and wl-copy keep running to serve the clipboard: they must not hold on to our terminal.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
            env=dict(environ),
        )
    except OSError:
        return False
    try:
        process.communicate(text.encode("utf-8", "replace"), timeout=PATIENCE)
    except (subprocess.TimeoutExpired, OSError):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False
    return process.returncode == 0
