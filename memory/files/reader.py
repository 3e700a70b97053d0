"""The part of a snapshot of the memory files that finders and edits use."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from memory.document import Document

    from .refs import Past

V = TypeVar("V")


class Files(Protocol):
    """The memory files at one moment, for modules that know only one of them; implemented by `Snapshot`."""

    def document(self, name: str) -> Document:
        """Return the document of a file, an empty one where there is no such file."""

    def exists(self, name: str) -> bool:
        """Return whether the file exists."""

    def archives(self, kind: str) -> tuple[str, ...]:
        """Return the archive files of one kind (`ARCHIVE_KINDS`), newest month first."""

    def view(self, name: str, read: Callable[[str, Document], V]) -> V:
        """Return `read(name, document)` of a file, computed once per document."""

    def archived(self, kind: str, read: Callable[[str, Document], V]) -> tuple[V, ...]:
        """Return the views of the archive files of one kind, newest month first."""

    def readable(self) -> Files:
        """Return the same snapshot in which a file that must not or cannot be read counts as missing."""

    @property
    def zone(self) -> tzinfo:
        """The workspace's zone."""

    @property
    def past(self) -> Past | None:
        """Looks up in the change log a ref that no longer fits an entry; None where there is no log."""

    def remark(self, words: str) -> None:
        """Add a remark for the user about how something was understood."""
