"""How the history reads curated memory, and the store of the person's own memories, which lie outside of workspaces."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from memory.person import agh_home
from memory.storage import PrivateState, Store
from memory.storage.log.records import PlainReading

from .model import INDEX


class CuratedReading(PlainReading):
    """Reads the files of curated memory for the history: each goes back whole."""

    def authored(self, path: str, data: bytes) -> bytes:
        """Return what people and agents wrote of a file: nothing of an index, which is made from the memories."""
        return b"" if path.rpartition("/")[2] == INDEX else data

    def document(self, path: str, data: bytes) -> None:  # noqa: ARG002
        """Return none: a memory is one file and has no entries."""
        return


def person_store(home: Path, state_home: Path | None) -> Store:
    """Return the store of `$AGH_HOME`; without `state_home` nothing is remembered of it."""
    own = agh_home(os.environ, home)
    kept = None if state_home is None else PrivateState(state_home, own, home)
    return Store(own, state=kept, workspace=own, reading=CuratedReading())


def outside(_root: Path, home: Path, state_home: Path) -> Iterator[Store]:
    """Yield that store, where there is such a folder."""
    store = person_store(home, state_home)
    if store.root.is_dir():
        yield store
