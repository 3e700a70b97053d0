"""The two sides of curated memory, the person's and the workspace's: a store of files, the records, the catalogue."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from threading import RLock

from memory.base.retry import retry
from memory.curated.model import Root
from memory.curated.places import GLOBAL_FOLDER, NOTES, ROOTS, Claim, claim, make_identity, read_identity, root_of
from memory.errors import MemdeckError
from memory.storage import Store
from memory.storage.fsio import make_folder
from memory.storage.own_folders import StateFolder
from memory.storage.private.record import PrivateRecord
from memory.storage.transaction import Transaction

from .index.catalog import Catalog
from .index.records import Records


def archive(transaction: Transaction, source: str, target: str) -> bool:
    """Move a file; return False where it is missing, and where the target has other content: then both stay."""
    stored, there = transaction.read(source).base, transaction.read(target).base
    if stored is None or there not in (None, stored):
        return False
    if there is None:
        transaction.move(source, target, base=stored)
    else:
        transaction.remove(source, base=stored)
    return True


class Side:
    """One store with its databases; a workspace's databases are found by its ULID, wherever its folder is now."""

    def __init__(
        self,
        name: str,
        store: Store,
        state_home: Path | None,
        person: Path | None,
        global_folder: Callable[[], str] = lambda: GLOBAL_FOLDER,
    ) -> None:
        """Keep the places; nothing is read yet. Without `state_home` the databases are in memory.

        `global_folder` returns the folder of the global scope, beneath the store's root.
        """
        self.name = name
        self.store = store
        self._state_home = state_home
        self._person = person
        self._global_folder = global_folder
        self._claimed: tuple[Claim, bytes | None] | None = None
        self._folder: StateFolder | None = None
        self._open: tuple[str, Records, Catalog] | None = None
        self._mutex = RLock()

    @property
    def workspace_id(self) -> str:
        """The ULID of the workspace; empty for the person's side, and before the first write."""
        return "" if self.name == "global" else read_identity(self.store)

    def root(self, scope: str, agent: str | None = None, tier: str | None = None) -> Root:
        """Return the folder of a scope of this side, that of an agent where one is named."""
        return root_of(scope, agent, tier, self._global_folder)

    @property
    def lasting(self) -> bool:
        """Whether the records outlive the process: not without a state folder, and not before the first write."""
        return self._state_home is not None and (self.name == "global" or bool(self.workspace_id))

    @property
    def records(self) -> Records:
        """The decisions, events and signals."""
        return self._databases()[1]

    @property
    def catalog(self) -> Catalog:
        """The catalogue of the files."""
        return self._databases()[2]

    @property
    def claim(self) -> Claim:
        """The claim of this folder on its database, its previous path, and existing copies of it."""
        self._databases()
        return Claim("", None, ()) if self._claimed is None else self._claimed[0]

    def close(self) -> None:
        """Close the databases."""
        with self._mutex:
            opened, self._open = self._open, None
            if opened is not None:
                opened[1].close()
                opened[2].close()

    def change(
        self, command: str, plan: Callable[[Transaction], str], *, actor: str, now: datetime, recorded: bool = False
    ) -> bool:
        """Commit what `plan` prepares, with the summary that it returns; return False for an empty one: nothing to do.

        It is prepared again while other programs write at the same moment.
        """

        def attempt() -> bool:
            with self.store.transaction(command, actor=actor, now=now, recorded=recorded) as transaction:
                summary = plan(transaction)
                if summary:
                    transaction.commit(summary)
                return bool(summary)

        return retry(attempt)

    def prepare(self, *, actor: str, now: datetime) -> None:
        """Make what the first write needs: the folder, the identity of the workspace, the claim on its databases."""
        if self.name == "global":
            make_folder(self.store.root)
            return
        if not self.workspace_id:
            make_identity(self.store, self.store.root.parent, actor=actor, now=now)
        self.keep_claim(now)

    def keep_claim(self, now: datetime) -> None:
        """Record the claim of this folder on its databases where it is new, before a copy can be taken for it."""
        claimed = self.claim
        if self._claimed is None or self._claimed[1] is None or self._folder is None:
            return
        data = self._claimed[1]
        with suppress(MemdeckError):
            PrivateRecord(self._folder, NOTES, ROOTS).update(lambda _: data, command="curated", now=now)
        self._claimed = claimed, None
        if claimed.moved_from is not None:
            self.records.event("memory.workspace.relocated", now, moved_from=claimed.moved_from)

    def _databases(self) -> tuple[str, Records, Catalog]:
        """Return the databases of the workspace's ULID, opened by the first thread that asks."""
        with self._mutex:
            number = self.workspace_id
            if self._open is None or self._open[0] != number:
                self.close()
                self._open = (number, *self._made(number))
            return self._open

    def _made(self, number: str) -> tuple[Records, Catalog]:
        name, self._folder = "", None
        if self.lasting:
            self._folder = self._state_folder(f"curated-{number}" if number else None)
            if number:
                self._claimed = claim(self._folder, self.store.root.parent, number)
                name = self._claimed[0].name
        return Records(self._folder, name, number), Catalog(self.store, self._folder, name)

    def _state_folder(self, name: str | None) -> StateFolder:
        assert self._state_home is not None
        around = self.store.root if self.name == "global" else self.store.root.parent
        return StateFolder(self._state_home, Path(os.path.realpath(around)), self._person, name=name)
