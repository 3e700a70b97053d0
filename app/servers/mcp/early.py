"""The first moments of `memdeck mcp`: the handshake is answered before the command line is even read as a whole.

Only calls of the plainest form get here, and only where answers are recorded; everything else takes the usual way, and
so does whatever goes wrong. What the command line finds wrong afterwards ends the server as it would have anyway.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .stdio import Begun

_begun: list[Begun] = []
_FOLDER = ("-w", "--workspace")
_VALUED = ("--actor",)


def taken() -> Begun | None:
    """Return the server that answers already, once; None where there is none."""
    return _begun.pop() if _begun else None


def answer_early(words: Sequence[str]) -> None:
    """Begin to answer from the recording of the workspace that the words of a call name."""
    folder, read_only = ".", False
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--read-only":
            read_only = True
        elif word in _FOLDER and rest:
            folder = rest.pop(0)
        elif word in _VALUED and rest:
            rest.pop(0)
        else:
            return
    from memory.errors import MemdeckError

    try:
        _begin(folder, read_only)
    except (MemdeckError, OSError, KeyError):
        pass  # the command line says what is wrong


def _begin(folder: str, read_only: bool) -> None:
    from pathlib import Path

    from app.version import __version__
    from memory.person import home, state_home
    from memory.storage.places import StateFolder

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
    """Return the workspace that a folder lies in, as far as the marks of memdeck's own systems tell.

    To look for those of other packages takes longer than the answer may. Where they would find another workspace, the
    recording of this one says the same.
    """
    from memory.registry import REGISTRY

    marks = [system.mark for system in REGISTRY if not system.listed]
    while not any(os.path.isdir(f"{folder}/{mark}") for mark in marks):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder
