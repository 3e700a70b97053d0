"""The two sides of curated memory, the person's and the workspace's: a store of files, the records, the catalogue."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import MemdeckError

from .files.listing import digest
from .index.catalog import Catalog
from .index.records import Records
from .places.identity import NOTES, ROOTS, Claim, claim, make_identity, read_identity

if TYPE_CHECKING:
    from memory.curated.model import Root
    from memory.storage import Store
    from memory.storage.places import StateFolder
    from memory.storage.record import PrivateRecord

_NAMELESS = "nameless"
"""What the catalogue of a workspace without an identity is called."""
_FOLDERS = ("memory", "agents")


class Side:
    """One store with its databases; those of a workspace are found by its ULID, wherever the folder is now."""

    def __init__(self, name: str, store: Store, state_home: Path | None, person: Path | None) -> None:
        """Keep where things are; nothing is read yet. Without `state_home` the databases live in memory."""
        self.name = name
        self.store = store
        self._state_home = state_home
        self._person = person
        self._claimed: tuple[Claim, bytes | None] | None = None
        self._folder: StateFolder | None = None
        self._open: tuple[str, Records, Catalog] | None = None
        self._indexes: dict[str, tuple[bytes, str]] = {}

    @property
    def workspace_id(self) -> str:
        """The ULID of the workspace; empty for the person's side, and before the first write."""
        if self.name == "global":
            return ""
        found = read_identity(self.store)
        return "" if found is None else found.workspace_id

    @property
    def records(self) -> Records:
        """The decisions, events and signals."""
        return self._databases()[1]

    @property
    def catalog(self) -> Catalog:
        """What the files say."""
        return self._databases()[2]

    @property
    def claim(self) -> Claim:
        """Which database is that of this folder, where it was before, and which copies of it exist."""
        self._databases()
        return Claim("", None, ()) if self._claimed is None else self._claimed[0]

    def close(self) -> None:
        """Close the databases."""
        opened, self._open = self._open, None
        if opened is not None:
            opened[1].close()
            opened[2].close()

    def digest(self, root: Root, index: bytes) -> str:
        """Return the SHA-256 of the index of a folder in hex; that of the last bytes is remembered."""
        known = self._indexes.get(root.key)
        if known is None or known[0] is not index:
            known = self._indexes[root.key] = index, digest(index)
        return known[1]

    def record(self, name: str) -> PrivateRecord | None:
        """Return a small private file of this side, beside its databases; None where nothing outlives the process."""
        from memory.storage.record import PrivateRecord

        self._databases()
        if self._folder is None:
            return None
        ending = f"-{self.claim.name}" if self.claim.name else ""
        return PrivateRecord(self._folder, NOTES, f"{name}{ending}.json")

    def prepare(self, *, actor: str, now: datetime) -> None:
        """Make what the first write needs: the folder, the identity of the workspace, the claim on its databases."""
        from memory.storage.fsio import make_folder

        if self.name == "global":
            make_folder(self.store.root)
            return
        if read_identity(self.store) is None:
            make_identity(self.store, self.store.root.parent, actor=actor, now=now)
        self._databases()
        self._keep_claim(now)

    def follow_move(self, now: datetime) -> None:
        """Note that the folder was moved, before a copy of it can be taken for the one that was."""
        if self.claim.moved_from is not None:
            self._keep_claim(now)

    def _keep_claim(self, now: datetime) -> None:
        """Write down which databases are those of this folder, where that is not known yet."""
        if self._claimed is None or self._claimed[1] is None or self._folder is None:
            return
        from memory.storage.record import PrivateRecord

        claimed, data = self._claimed
        written = data or b""
        with suppress(MemdeckError):
            PrivateRecord(self._folder, NOTES, ROOTS).update(lambda _: written, command="curated", now=now)
        self._claimed = claimed, None
        if claimed.moved_from is not None:
            self.records.event("memory.workspace.relocated", now, moved_from=claimed.moved_from)

    def _databases(self) -> tuple[str, Records, Catalog]:
        number = self.workspace_id
        if self._open is not None and self._open[0] == number:
            return self._open
        self.close()
        name, folder = "", None
        if self._state_home is not None:
            if self.name == "global":
                folder = self._folder = self._state_folder(None)
            elif number:
                folder = self._state_folder(f"curated-{number}")
                self._folder = folder
                self._claimed = claim(folder, self.store.root.parent, number)
                name = self._claimed[0].name
        place, called = (folder, name) if self.name == "global" or number else self._nameless()
        self._open = (number, Records(folder, name, number), Catalog(self.store, place, called))
        if number and not name and folder is not None:
            self._open[2].take_over(self._state_folder(None), _NAMELESS)
        return self._open

    def _nameless(self) -> tuple[StateFolder | None, str]:
        """Return where the catalogue of a workspace is that has no identity yet: by the path of the workspace.

        Nowhere without files, of which nothing has to be remembered.
        """
        if self._state_home is None or not any(os.path.isdir(self.store.root / name) for name in _FOLDERS):
            return None, ""
        return self._state_folder(None), _NAMELESS

    def _state_folder(self, name: str | None) -> StateFolder:
        from memory.storage.places import StateFolder

        assert self._state_home is not None
        around = self.store.root if self.name == "global" else self.store.root.parent
        return StateFolder(self._state_home, Path(os.path.realpath(around)), self._person, name=name)
