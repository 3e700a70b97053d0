"""The clipboard: what is copied goes to the terminal (OSC 52) and to the desktop's own program where there is one.

Content of files reaches neither as anything but text: the terminal gets Base64, the program gets it on its standard
input and never as an argument, and control characters are escapes before, so that pasting cannot press keys.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass

PATIENCE = 3.0
"""Seconds after which a program that does not end is ended."""

LARGEST = 1_000_000
"""Bytes beyond which nothing is sent to the terminal, since those that take more are rare."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ClipboardProgram:
    """A program of the desktop that takes text on its standard input, and the variable it needs (empty: none)."""

    command: tuple[str, ...]
    variable: str = ""


TOOLS = (
    ClipboardProgram(("wl-copy", "--type", "text/plain;charset=utf-8"), "WAYLAND_DISPLAY"),
    ClipboardProgram(("xclip", "-selection", "clipboard", "-in"), "DISPLAY"),
    ClipboardProgram(("xsel", "--clipboard", "--input"), "DISPLAY"),
)
_MAC = ClipboardProgram(("pbcopy",))


def safe_text(text: str) -> str:
    """The text as it may be pasted into a terminal: tabs and line ends stay, other controls become escapes."""
    from memory.base.safe_text import visible

    return _CONTROLS.sub(lambda found: visible(found[0]), text.replace("\r\n", "\n").replace("\r", "\n"))


def find_tool(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[str, ...] | None:
    """The command of the desktop's program, found in the absolute folders of PATH; None where there is none."""
    for tool in (_MAC,) if platform == "darwin" else TOOLS:
        if tool.variable and not environ.get(tool.variable):
            continue
        path = _which(tool.command[0], environ.get("PATH", ""))
        if path is not None:
            return (path, *tool.command[1:])
    return None


def _which(name: str, path: str) -> str | None:
    """The program in PATH; an empty or relative folder in it would be the workspace's, whose files are not trusted."""
    for folder in path.split(os.pathsep):
        candidate = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return None


def give_to_tool(command: tuple[str, ...], text: str, environ: Mapping[str, str]) -> bool:
    """Run the desktop's program with the text on its standard input; False where it failed. For a worker."""
    import signal
    import subprocess

    try:
        # xclip and wl-copy stay behind to serve the clipboard: they must not hold on to our terminal.
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
