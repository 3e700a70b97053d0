"""One look at all memory files: documents and typed views as they are at one moment, read when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from memory.errors import MemdeckError

if TYPE_CHECKING:
    from memory.document import Document

    from .config import Config
    from .contacts.model import Contacts
    from .journal.model import Journal
    from .knowledge.model import Knowledge
    from .monitors import Monitors
    from .neighbours import Folder
    from .plans.model import Plans
    from .refs.refs import Past
    from .tasks.model import TaskList

V = TypeVar("V")


@cache
def _nothing() -> Document:
    """Return the one document of files that are not there."""
    from memory.document import parse

    return parse(b"")


class SnapshotSource(Protocol):
    """Where a snapshot reads: a workspace, a transaction in it, or files in memory."""

    def document(self, name: str) -> Document | None:
        """Return the document of a file, None where there is no such file."""

    def archives(self) -> Sequence[str]:
        """Return the names of all archive files, `archive/…`, sorted."""

    # A source of files on disk also has `folder() -> Folder`, what else lies there; see `memory.files.neighbours`.


@runtime_checkable
class Heir(Protocol):
    """A view that need not work out again what the view before it knew of the same entries."""

    def inherit(self, before: Any) -> None:
        """Take what the view of an earlier document of the same file knows."""


class Views:
    """Typed views by file, kept as long as the file's document stays the same; shared by following snapshots."""

    def __init__(self) -> None:
        """Start without any."""
        self._known: dict[str, tuple[Document, object]] = {}

    def get(self, name: str, document: Document, read: Callable[[str, Document], V]) -> V:
        """Return `read(name, document)`, computed once per document."""
        known = self._known.get(name)
        if known is not None and known[0] is document:
            return known[1]  # type: ignore[return-value]
        view = read(name, document)
        if known is not None and isinstance(view, Heir):
            view.inherit(known[1])
        self._known[name] = (document, view)
        return view


class Snapshot:
    """The memory files at one moment; immutable for the reader, files are read on first use.

    `machine_zone` gives the zone that counts where config.md names none. `zone_refused` is told why config.md cannot be
    read, and the machine's zone counts then as well; without it `zone` raises that. Reading a view never fails
    on what stands in a file; only the file system can refuse (`RefusedError`, `MemdeckError` `file.*`).
    """

    def __init__(
        self,
        source: SnapshotSource,
        machine_zone: Callable[[], tzinfo],
        views: Views | None = None,
        systems: Callable[[str], object] | None = None,
        zone_refused: Callable[[MemdeckError], object] | None = None,
    ) -> None:
        """Keep where to read from; `systems` gives a look at another memory system, by its name."""
        self._source = source
        self._machine_zone = machine_zone
        self._views = Views() if views is None else views
        self._documents: dict[str, Document | None] = {}
        self._systems = systems
        self._zone_refused = zone_refused
        self._looks: dict[str, object] = {}
        self.past: Past | None = None
        """Asks the change log what became of a ref; None where there is no log."""
        self.remarks: list[str] = []
        """What was understood in a way that a person should know of."""

    def remark(self, words: str) -> None:
        """Note how something was understood, once."""
        if words not in self.remarks:
            self.remarks.append(words)

    def of(self, system: str, kind: type[V]) -> V | None:
        """Return the look (of type `kind`) at another memory system at this moment, None where there is none."""
        if system not in self._looks:
            self._looks[system] = None if self._systems is None else self._systems(system)
        look = self._looks[system]
        return look if isinstance(look, kind) else None

    def document(self, name: str) -> Document:
        """Return the document of a file, an empty one where there is no such file."""
        found = self._read(name)
        return _nothing() if found is None else found

    def exists(self, name: str) -> bool:
        """Tell whether there is such a file."""
        return self._read(name) is not None

    def _read(self, name: str) -> Document | None:
        if name not in self._documents:
            self._documents[name] = self._source.document(name)
        return self._documents[name]

    def readable(self) -> Snapshot:
        """Return the same look in which a file that must not or cannot be read counts as missing; see `refused`."""
        found = _Readable(self._source, self._machine_zone, self._views, self._documents, self._systems)
        found.past, found.remarks = self.past, self.remarks
        return found

    def refused(self, name: str) -> MemdeckError | None:  # noqa: ARG002 - a plain look raises it instead
        """Return why a file of a `readable` look could not be read, None where it could."""
        return None

    @property
    def refusals(self) -> Mapping[str, MemdeckError]:
        """Why files of a `readable` look could not be read, of those that were asked for so far."""
        return {}

    @property
    def folder(self) -> Folder | None:
        """What lies in the memory folder, whatever it is; None where the files lie in none."""
        look = getattr(self._source, "folder", None)
        return None if look is None else look()

    @cached_property
    def archive_names(self) -> tuple[str, ...]:
        """The names of all archive files, newest month last."""
        return tuple(self._source.archives())

    def archives(self, kind: str) -> tuple[str, ...]:
        """Return the archive files of one kind (`ARCHIVE_KINDS`), newest month first."""
        return tuple(name for name in reversed(self.archive_names) if name.startswith(f"archive/{kind}-"))

    @cached_property
    def zone(self) -> tzinfo:
        """The workspace's zone: `timezone` in config.md, else the machine's (also where the name is unknown)."""
        try:
            if not self.exists("config.md"):
                return self._machine_zone()
            config = self.config
        except MemdeckError as error:
            if self._zone_refused is None:
                raise
            self._zone_refused(error)
            return self._machine_zone()
        return config.zone(self._machine_zone)

    @property
    def tasks(self) -> TaskList:
        """The tasks of tasks.md."""
        from .tasks.model import read_tasks

        return self.view("tasks.md", read_tasks)

    @property
    def journal(self) -> Journal:
        """The journal of journal.md."""
        from .journal.model import read_journal

        return self.view("journal.md", read_journal)

    @property
    def knowledge(self) -> Knowledge:
        """What knowledge.md holds."""
        from .knowledge.model import read_knowledge

        return self.view("knowledge.md", read_knowledge)

    @property
    def contacts(self) -> Contacts:
        """What contacts.md holds."""
        from .contacts.model import read_contacts

        return self.view("contacts.md", read_contacts)

    @property
    def plans(self) -> Plans:
        """The plans of orchestration.md."""
        from .plans.model import read_plans

        return self.view("orchestration.md", read_plans)

    @property
    def monitors(self) -> Monitors:
        """The monitors of monitors.md."""
        from .monitors import read_monitors

        return self.view("monitors.md", read_monitors)

    @property
    def config(self) -> Config:
        """The settings of config.md."""
        from .config import read_config

        return self.view("config.md", read_config)

    def archived_tasks(self) -> tuple[TaskList, ...]:
        """Return the task lists of the archive, newest month first."""
        from .tasks.model import read_tasks

        return self.archived("tasks", read_tasks)

    def archived_journals(self) -> tuple[Journal, ...]:
        """Return the journals of the archive, newest month first."""
        from .journal.model import read_journal

        return self.archived("journal", read_journal)

    def archived_plans(self) -> tuple[Plans, ...]:
        """Return the plans of the archive, newest month first."""
        from .plans.model import read_plans

        return self.archived("orchestration", read_plans)

    def archived(self, kind: str, read: Callable[[str, Document], V]) -> tuple[V, ...]:
        """Return the views of the archive files of one kind, newest month first."""
        return tuple(self.view(name, read) for name in self.archives(kind))

    def view(self, name: str, read: Callable[[str, Document], V]) -> V:
        """Return `read(name, document)` of a file, computed once per document."""
        return self._views.get(name, self.document(name), read)


class _Readable(Snapshot):
    """A look at what can be read; it shares what the plain look has read, and its views."""

    def __init__(
        self,
        source: SnapshotSource,
        machine_zone: Callable[[], tzinfo],
        views: Views,
        documents: dict[str, Document | None],
        systems: Callable[[str], object] | None,
    ) -> None:
        super().__init__(source, machine_zone, views, systems)
        self._shared = documents
        self._refused: dict[str, MemdeckError] = {}

    def readable(self) -> Snapshot:
        return self

    @property
    def refusals(self) -> Mapping[str, MemdeckError]:
        return dict(self._refused)

    def refused(self, name: str) -> MemdeckError | None:
        self._read(name)
        return self._refused.get(name)

    def _read(self, name: str) -> Document | None:
        if name not in self._documents:
            try:
                if name not in self._shared:
                    self._shared[name] = self._source.document(name)
                self._documents[name] = self._shared[name]
            except MemdeckError as error:
                self._refused[name] = error
                self._documents[name] = None
        return self._documents[name]


class WrittenFiles:
    """A source with some files as they were written, and the others as a look saw them before."""

    def __init__(self, before: Snapshot, written: Mapping[str, Document]) -> None:
        """Keep both; `written` is looked into when a file is asked for."""
        self._before = before
        self._written = written

    def document(self, name: str) -> Document | None:
        """Return the document of a file, None where there is no such file."""
        if name in self._written:
            return self._written[name]
        return self._before.document(name) if self._before.exists(name) else None

    def archives(self) -> tuple[str, ...]:
        """Return the names of all archive files."""
        new = (name for name in self._written if name.startswith("archive/"))
        return tuple(sorted({*self._before.archive_names, *new}))
