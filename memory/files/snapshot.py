"""A snapshot of all memory files: documents and typed views at one moment, read on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from memory.document import Document, Entry, parse
from memory.document.lines import encode
from memory.errors import MemdeckError
from memory.files.journal.model import split_heading
from memory.files.tasks.reading import split_priority
from memory.storage.safe_open import Unlisted

from .refs import Past, Place

if TYPE_CHECKING:
    from .config import Config
    from .contacts import Contacts
    from .journal.model import Journal
    from .knowledge import Knowledge
    from .monitors import Monitors
    from .plans.model import Plans
    from .tasks.model import TaskList

V = TypeVar("V")
_NOTHING = parse(b"")
"""The shared document of missing files."""


class SnapshotSource(Protocol):
    """The source that a snapshot reads from: a workspace, a transaction in it, or files in memory.

    A source of files on disk also has `folder() -> Folder`, all names in the folder.
    """

    def document(self, name: str) -> Document | None:
        """Return the document of a file, None where there is no such file."""

    def archives(self) -> Sequence[str]:
        """Return the names of all archive files, `archive/…`, sorted."""


class Folder(NamedTuple):
    """The names in the memory folder and in its `archive/`, sorted."""

    names: tuple[str, ...] | Unlisted
    archive: tuple[str, ...] | Unlisted


class Views:
    """Typed views by file, cached as long as the file's document stays the same; shared by later snapshots."""

    def __init__(self) -> None:
        """Start empty."""
        self._known: dict[str, tuple[Document, object]] = {}

    def get(self, name: str, document: Document, read: Callable[[str, Document], V]) -> V:
        """Return `read(name, document)`, computed once per document."""
        known = self._known.get(name)
        if known is not None and known[0] is document:
            return known[1]  # type: ignore[return-value]
        view = read(name, document)
        self._known[name] = (document, view)
        return view


_READERS = {
    "tasks.md": "tasks.model:TaskList",
    "journal.md": "journal.model:Journal",
    "knowledge.md": "knowledge:Knowledge",
    "contacts.md": "contacts:Contacts",
    "orchestration.md": "plans.model:Plans",
    "monitors.md": "monitors:Monitors",
    "config.md": "config:Config",
}
"""The module in this folder, and the class in it, that reads a file and its archives."""


class _View(Generic[V]):
    """A property of a snapshot: the typed view of one file, whose reader is imported on first use."""

    def __init__(self, name: str) -> None:
        """Store the name of the file."""
        self._name = name

    def __get__(self, snapshot: Snapshot, owner: object) -> V:
        """Return the view of the file in a snapshot."""
        found: V = snapshot.view_of(self._name)
        return found


@cache
def _reader(file: str) -> Callable[[str, Document], Any]:
    module, _, name = _READERS[file].partition(":")
    found: Callable[[str, Document], Any] = getattr(import_module(f".{module}", __package__), name)
    return found


class Snapshot:
    """The memory files at one moment; immutable for the reader, files are read on first use.

    `machine_zone` returns the zone that applies where config.md names none. Where config.md cannot be read,
    `zone_refused` is called with the error and the machine's zone applies; without it `zone` raises the error. Reading
    a view never fails because of a file's content, only because of the file system (`RefusedError`, `MemdeckError`
    `file.*`).
    """

    def __init__(
        self,
        source: SnapshotSource,
        machine_zone: Callable[[], tzinfo],
        views: Views | None = None,
        systems: Callable[[str], object] | None = None,
        zone_refused: Callable[[MemdeckError], object] | None = None,
    ) -> None:
        """Store the sources; `systems` returns the snapshot of another memory system, by its name."""
        self._source = source
        self._machine_zone = machine_zone
        self._views = Views() if views is None else views
        self._documents: dict[str, Document | None] = {}
        self._seen: dict[str, object] = {}
        self._systems = systems
        self._zone_refused = zone_refused
        self._looks: dict[str, object] = {}
        self._refused: dict[str, MemdeckError] | None = None
        self.past: Past | None = None
        """Looks up an outdated ref in the change log; None where there is no log."""
        self.remarks: list[str] = []
        """Remarks for the user about how something was understood."""

    def remark(self, words: str) -> None:
        """Add a remark about how something was understood, once."""
        if words not in self.remarks:
            self.remarks.append(words)

    def of(self, system: str, kind: type[V]) -> V | None:
        """Return the snapshot (of type `kind`) of another memory system, always the same; None if there is none."""
        if system not in self._looks:
            self._looks.setdefault(system, None if self._systems is None else self._systems(system))
        look = self._looks[system]
        return look if isinstance(look, kind) else None

    def document(self, name: str) -> Document:
        """Return the document of a file, an empty one where there is no such file."""
        found = self.found(name)
        return _NOTHING if found is None else found

    def found(self, name: str) -> Document | None:
        """Return the document of a file, None where there is no such file."""
        if name not in self._documents and name not in self.refusals:
            try:
                self._documents.setdefault(name, self._source.document(name))
            except MemdeckError as error:
                if self._refused is None:
                    raise
                self._refused[name] = error
        return self._documents.get(name)

    def readable(self) -> Snapshot:
        """Return the same snapshot in which a file that must not or cannot be read counts as missing; see `refused`."""
        if self._refused is not None:
            return self
        same = Snapshot(self._source, self._machine_zone, self._views, self._systems, lambda _: None)
        same.past, same.remarks, same._documents, same._refused = self.past, self.remarks, self._documents, {}
        return same

    def refused(self, name: str) -> MemdeckError | None:
        """Return why a file of a `readable` snapshot could not be read, None where it could."""
        self.found(name)
        return self.refusals.get(name)

    @property
    def refusals(self) -> Mapping[str, MemdeckError]:
        """Why files of a `readable` snapshot could not be read, for those read so far."""
        return dict(self._refused or {})

    @property
    def folder(self) -> Folder | None:
        """All names in the memory folder; None where the files are in no folder."""
        look = getattr(self._source, "folder", None)
        return None if look is None else look()

    @property
    def root(self) -> Path | None:
        """The folder of the workspace; None where the files are in no folder."""
        return getattr(self._source, "root", None)

    @cached_property
    def archive_names(self) -> tuple[str, ...]:
        """The names of all archive files, newest month last."""
        return tuple(self._source.archives())

    def archives(self, kind: str) -> tuple[str, ...]:
        """Return the archive files of one kind (`ARCHIVE_KINDS`), newest month first."""
        return tuple([name for name in reversed(self.archive_names) if name.startswith(f"archive/{kind}-")])

    @cached_property
    def zone(self) -> tzinfo:
        """The workspace's zone: `timezone` in config.md, else the machine's (also where the name is unknown)."""
        try:
            if self.found("config.md") is None:
                return self._machine_zone()
            config = self.config
        except MemdeckError as error:
            if self._zone_refused is None:
                raise
            self._zone_refused(error)
            return self._machine_zone()
        return config.zone(self._machine_zone)

    tasks: _View[TaskList] = _View("tasks.md")
    journal: _View[Journal] = _View("journal.md")
    knowledge: _View[Knowledge] = _View("knowledge.md")
    contacts: _View[Contacts] = _View("contacts.md")
    plans: _View[Plans] = _View("orchestration.md")
    monitors: _View[Monitors] = _View("monitors.md")
    config: _View[Config] = _View("config.md")

    def archived_tasks(self) -> tuple[TaskList, ...]:
        """Return the task lists of the archive, newest month first."""
        return self.archived("tasks")

    def archived_journals(self) -> tuple[Journal, ...]:
        """Return the journals of the archive, newest month first."""
        return self.archived("journal")

    def archived_plans(self) -> tuple[Plans, ...]:
        """Return the plans of the archive, newest month first."""
        return self.archived("orchestration")

    def archived(self, kind: str) -> tuple[Any, ...]:
        """Return the views of the archives of one kind (`ARCHIVE_KINDS`), newest month first."""
        return tuple(map(self.view_of, self.archives(kind)))

    def item(self, file: str, place: Place) -> Any:
        """Return the entry, bullet or row at a place of a file; KeyError where there is none."""
        return self.view_of(file).at(*place)

    def view_of(self, name: str) -> Any:
        """Return the typed view of a file or an archive."""
        return self.view(name, _reader(_home(name)))

    def view(self, name: str, read: Callable[[str, Document], V]) -> V:
        """Return `read(name, document)` of a file: the same object each time, also after others read."""
        if name not in self._seen:
            # Of two threads that read it at once, both get what the first one read.
            self._seen.setdefault(name, self._views.get(name, self.document(name), read))
        return self._seen[name]  # type: ignore[return-value]


class WrittenFiles:
    """A source with some files as they were written, and the others as in an earlier snapshot."""

    def __init__(self, before: Snapshot, written: Mapping[str, Document]) -> None:
        """Store both; `written` is read on use."""
        self._before = before
        self._written = written
        self.root = before.root

    def document(self, name: str) -> Document | None:
        """Return the document of a file, None where there is no such file."""
        if name in self._written:
            return self._written[name]
        return self._before.found(name)

    def archives(self) -> tuple[str, ...]:
        """Return the names of all archive files."""
        new = (name for name in self._written if name.startswith("archive/"))
        return tuple(sorted({*self._before.archive_names, *new}))


# -- entries by their file, section and source alone --------------------------------------------------------------

ARCHIVED = "archive/"


def plain_title(file: str, heading: str) -> str:
    """Return the title in a heading: of a task without `[HIGH]`, of a journal entry without its time.

    A heading that would be empty without them is returned whole.
    """
    split = {"tasks": split_priority, "journal": split_heading}.get(kind_of(file) or "")
    return (split(heading)[1] if split else "") or heading


def kind_of(file: str) -> str | None:
    """Return which kind of entries a file of the memory folder holds, archives included; None for others."""
    name = _home(file).removesuffix(".md")
    return {"tasks": "tasks", "journal": "journal", "orchestration": "plans", "monitors": "monitors"}.get(name)


def _home(file: str) -> str:
    """Return the file that the entries of an archive come from; any other file is its own."""
    return f"{file.removeprefix(ARCHIVED).partition('-')[0]}.md" if file.startswith(ARCHIVED) else file


def ref_of(file: str, section: str | None, entry: Entry) -> str | None:
    """Return the short ref of an entry, the same for all its twins; None where its kind has no refs.

    `file` is relative to the memory folder, `section` the title of the entry's section.
    """
    if kind_of(file) is None:
        return None
    alone = parse(encode(f"## {section or ''}\n") + entry.raw)
    item = next(iter(_reader(_home(file))(file, alone)), None)
    return None if item is None else f"{item.of.kind}#{item.identity}"
