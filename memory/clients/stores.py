"""The stores of clients' folders: their files are changed only after the person allowed it, once for each folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Unpack

from memory.base.clock import format_utc
from memory.errors import BlockedError
from memory.review.proposals import hold
from memory.storage import PrivateState, Store
from memory.storage.changes import OUTSIDE, PlainReading
from memory.storage.private.record import PrivateRecord
from memory.storage.store import SharedLog
from memory.storage.transaction import Options, Transaction

from .sources import Source, sources

TEXTS = (".md", ".txt", ".mdc", ".patch", ".json")
"""The endings of files that are memories."""


class ClientReading(PlainReading):
    """Reads the files of one client's folder for the history."""

    own = True

    def __init__(self, source: Source) -> None:
        """A change that memdeck did not make counts as the client's; in a workspace git may have made it as well."""
        self._only = source.only
        self.writer = OUTSIDE if source.inside else f"agent:{source.client}"

    def knows(self, path: str) -> bool:
        """Return whether a path is that of a memory."""
        return is_memory(path) and (not self._only or path in self._only)


def is_memory(path: str) -> bool:
    """Return whether a file of a client's folder is read: a text, and nothing hidden but the inbox of patches.

    What Codex writes for the agent that tidies its memory up is none.
    """
    *folders, name = path.split("/")
    hidden = any((one.startswith(".") and one != ".inbox") or one == "node_modules" for one in folders)
    own = name == "phase2_workspace_diff.md" or (folders[:1] == ["extensions"] and name == "instructions.md")
    return not hidden and not own and not name.startswith(".") and name.endswith(TEXTS)


class ClientStore(Store):
    """The files of one client's folder; BlockedError `clients.consent` for each change before the person allowed it."""

    def __init__(self, source: Source, state: PrivateState, workspace: Path, together: SharedLog | None = None) -> None:
        """Nothing is read yet; `workspace` is the folder itself where it is outside the workspace."""
        self.source = source
        super().__init__(
            source.root,
            state=state,
            workspace=workspace,
            reading=ClientReading(source),
            together=together,
            gate=hold,
        )

    def transaction(self, operation: str, *, actor: str, now: datetime, **options: Unpack[Options]) -> Transaction:
        """Return a transaction, as any store does."""
        self._refuse_unallowed()
        return super().transaction(operation, actor=actor, now=now, **options)

    def check_path(self, path: str) -> None:
        """Raise as any store does: every write passes here, also those of undo and of accepted proposals."""
        self._refuse_unallowed()
        super().check_path(path)

    def _refuse_unallowed(self) -> None:
        if not self.allowed:
            refused = BlockedError(
                "clients.consent",
                f"{self.source.shown} belongs to {self.source.title}; memdeck changes it only after you allow it",
                f"run `memdeck clients allow {self.source.name}` once",
                folder=str(self.source.root),
            )
            refused.grant = self.allow
            raise refused

    @property
    def _record(self) -> PrivateRecord:
        return PrivateRecord(self.state.folder, "clients", "allowed.json")

    @property
    def allowed(self) -> bool:
        """Whether the person allowed changes of this folder."""
        return str(self.source.root) in _read(self._record.read().data)

    def allow(self, now: datetime, *, allowed: bool = True) -> None:
        """Keep that changes of this folder are allowed, or no longer are."""
        root = str(self.source.root)

        def changed(data: bytes | None) -> bytes:
            known = {key: value for key, value in _read(data or b"").items() if key != root}
            return json.dumps({**known, root: format_utc(now)} if allowed else known).encode()

        self._record.update(changed, command="clients.allow", now=now)


def _read(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def outside(root: Path, home: Path, state_home: Path) -> Iterator[Store]:
    """Yield the stores of the clients' folders that are outside of a workspace."""
    for source in sources(root, home, os.environ):
        if not source.inside:
            yield ClientStore(source, PrivateState(state_home, source.root, home), source.root)
