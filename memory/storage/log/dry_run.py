"""What a change would do to the files, worked out without writing anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.storage.changes import FileChange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory.document.compare import Region
    from memory.storage.safe_open import Stored
    from memory.storage.store import Store


class Rehearsal:
    """Takes the place of a transaction and keeps what it was told in `files`; takes no lock."""

    def __init__(self, store: Store) -> None:
        """Files are read from the store."""
        self._store = store
        self.files: list[FileChange] = []

    def read(self, path: str) -> Stored:
        """Return a file as it is now."""
        return self._store.read(path)

    def write(
        self,
        path: str,
        data: bytes,
        *,
        base: bytes | None,
        mode: int | None = None,
        regions: Sequence[Region] | None = None,  # noqa: ARG002 - for the log, into which nothing is written
    ) -> None:
        """Note what would be written."""
        self.files.append(FileChange(path, base, data, mode))

    def remove(self, path: str, *, base: bytes) -> None:
        """Note what would be removed."""
        self.files.append(FileChange(path, base, None))
