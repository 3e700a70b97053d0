"""The first moments of `memdeck mcp`: the handshake is answered before the command line is completely parsed.

Only the plainest calls with recorded answers are handled here; everything else, including every problem, takes the
usual way. Mistakes that the command line finds afterwards end the server as they would have anyway.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .stdio import Begun

_begun: list[Begun] = []


def taken() -> Begun | None:
    """Return the server that already answers, once; None if there is none."""
    return _begun.pop() if _begun else None


def answer_early(words: Sequence[str]) -> None:
    """Start answering from the recording of the workspace that the words of a call name."""
    folder, read_only = ".", False
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--read-only":
            read_only = True
        elif word in ("-w", "--workspace") and rest:
            folder = rest.pop(0)
        elif word == "--actor" and rest:
            rest.pop(0)
        else:
            return
    from memory.errors import MemdeckError

    with suppress(MemdeckError, OSError, KeyError):  # the command line reports what is wrong
        _begin(folder, read_only)


def _begin(folder: str, read_only: bool) -> None:
    from pathlib import Path

    from app.version import __version__
    from memory.storage.own_folders import StateFolder, home, state_home

    root = _root(os.path.abspath(folder))
    if root is None:
        return
    from .recorded import RecordedAnswers

    place = StateFolder(state_home(os.environ), Path(root), home(os.environ))
    recorded = RecordedAnswers(place, version=__version__, read_only=read_only)
    if not recorded.known:
        return
    from .stdio import begin

    _begun.append(begin(recorded))


def _root(folder: str) -> str | None:
    """Return the workspace that contains a folder, judging by the marks of memdeck's own systems.

    Searching for those of other packages would take longer than an answer may. Where they would find another workspace,
    the recording of this one contains the same.
    """
    from memory.registry import REGISTRY

    marks = [system.mark for system in REGISTRY if not system.listed]
    while not any(os.path.isdir(f"{folder}/{mark}") for mark in marks):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder
