"""What finders and edits ask of a look at the memory files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from memory.document import Document

    from .refs.refs import Past

V = TypeVar("V")


class Files(Protocol):
    """The memory files at one moment, as a module that knows one of them sees them; `Snapshot` is one."""

    def document(self, name: str) -> Document:
        """Return the document of a file, an empty one where there is no such file."""

    def exists(self, name: str) -> bool:
        """Tell whether there is such a file."""

    def archives(self, kind: str) -> tuple[str, ...]:
        """Return the archive files of one kind (`ARCHIVE_KINDS`), newest month first."""

    def view(self, name: str, read: Callable[[str, Document], V]) -> V:
        """Return `read(name, document)` of a file, computed once per document."""

    def archived(self, kind: str, read: Callable[[str, Document], V]) -> tuple[V, ...]:
        """Return the views of the archive files of one kind, newest month first."""

    def readable(self) -> Files:
        """Return the same look in which a file that must not or cannot be read counts as missing."""

    @property
    def zone(self) -> tzinfo:
        """The workspace's zone."""

    @property
    def past(self) -> Past | None:
        """What knows what became of a ref that fits no entry any more; None where nothing does."""

    def remark(self, words: str) -> None:
        """Take words for the person about how something was understood."""
