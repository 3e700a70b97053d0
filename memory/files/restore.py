"""Back to where it came from: archived entries, and earlier versions of an entry."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, TypeVar

from memory.document import Document, Entry, Section, parse
from memory.errors import AmbiguousError, ConflictError, EntryChoice, MemdeckError, NotFoundError

from .edit import Edit, started_document
from .journal.edits import section_for
from .journal.model import JournalEntry, find_entry, read_date, read_journal, split_heading
from .plans.model import Plan, find_plan, read_plans
from .refs.entry_refs import kind_of, ref_of
from .refs.refs import read_ref
from .tasks.model import Task, find_task, read_tasks
from .tasks.values import with_section

if TYPE_CHECKING:
    from .reader import Files
    from .refs.refs import Past
    from .snapshot import Snapshot

V = TypeVar("V")

HOMES = {"tasks": "tasks.md", "journal": "journal.md", "plans": "orchestration.md"}
"""The file that archived entries of each kind came from."""
_FINDERS: dict[str, Callable[..., Task | JournalEntry | Plan]] = {
    "tasks": find_task,
    "journal": find_entry,
    "plans": find_plan,
}
_PLAN_SECTION = "Completed Plans"


def restore_entry(snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:
    """Move an archived entry back: a task to Completed, a journal entry to its day, a plan to Completed Plans.

    Its bytes stay as they are. `ref` is a ref, its hex digits, or a unique part of the title. Raises NotFoundError
    `archive.not_found`, AmbiguousError `archive.ambiguous`, UsageError `document.unclosed`.
    """
    item = find_archived(snapshot, ref)
    kind = kind_of(item.file) or "tasks"
    home = HOMES[kind]
    document, place = _placed(started_document(snapshot, home, now), kind, item.entry, _section_title(snapshot, item))
    emptied = snapshot.document(item.file).remove_entry(*item.at)
    left = emptied.section(item.at[0])
    if kind == "journal" and item.at[0] >= 0 and not left.entries and not left.body.strip():
        emptied = emptied.remove_section(item.at[0])
    return Edit(
        {home: document, item.file: emptied},
        f"restored {_short(item.title)} to {home}",
        _ref_at(home, document, place),
    )


def _ref_at(file: str, document: Document, place: tuple[int, int]) -> str | None:
    """Return the ref of the entry at a place, longer than its identity where it needs that."""
    kind = kind_of(file)
    if kind == "tasks":
        task = read_tasks(file, document).at(*place)
        return None if task is None else task.ref
    if kind == "journal":
        return read_journal(file, document).at(*place).ref
    section = document.section(place[0])
    short = ref_of(file, section.title or None, section.entries[place[1]])
    plans = read_plans(file, document).plans if kind == "plans" else ()
    return next((plan.ref for plan in plans if plan.at == place), short)


def find_archived(snapshot: Snapshot, text: str) -> Task | JournalEntry | Plan:
    """Return the archived entry that a text names; errors as `restore_entry`."""
    read = read_ref(text.strip())
    kinds = [kind for kind in _FINDERS if read is None or read[0] is None or _fits(read[0], kind)]
    found: list[Task | JournalEntry | Plan] = []
    view: Files = _ArchiveOnly(snapshot)
    candidates: list[object] = []
    choices: list[EntryChoice] = []
    for kind in kinds:
        try:
            found.append(_FINDERS[kind](view, text, archived=True))
        except NotFoundError:
            continue
        except AmbiguousError as error:
            candidates += error.details.get("candidates", ())
            choices += error.choices
    if len(found) == 1 and not candidates:
        return found[0]
    if found or candidates:
        rows = candidates + [{"ref": item.ref, "title": item.title, "file": item.file} for item in found]
        choices += [
            EntryChoice(item.ref.partition("#")[2], f"{item.file}:{item.line + 1}", item.title) for item in found
        ]
        raise AmbiguousError(
            "archive.ambiguous",
            f"{len(rows)} archived entries fit {text!r}",
            "use one of their refs",
            choices=choices,
            candidates=rows,
        )
    raise NotFoundError(
        "archive.not_found",
        f"no archived entry fits {text[:60]!r}",
        "`memdeck tasks list --section archived` and `memdeck search` find them",
        text=text,
    )


def _fits(scope: str, kind: str) -> bool:
    return scope == kind or kind_of(scope) == kind or kind_of(scope + ".md") == kind


class _ArchiveOnly:
    """A look in which the files themselves are empty, so that a ref is looked up in the archive alone."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._empty = parse(b"")

    def document(self, name: str) -> Document:
        return self._files.document(name) if name.startswith("archive/") else self._empty

    def exists(self, name: str) -> bool:
        return name.startswith("archive/") and self._files.exists(name)

    def archives(self, kind: str) -> tuple[str, ...]:
        return self._files.archives(kind)

    def view(self, name: str, read: Callable[[str, Document], V]) -> V:
        return self._files.view(name, read) if name.startswith("archive/") else read(name, self._empty)

    def archived(self, kind: str, read: Callable[[str, Document], V]) -> tuple[V, ...]:
        return self._files.archived(kind, read)

    def readable(self) -> Files:
        return self

    @property
    def zone(self) -> tzinfo:
        return self._files.zone

    @property
    def past(self) -> Past | None:
        return self._files.past

    def remark(self, words: str) -> None:
        self._files.remark(words)


def _section_title(snapshot: Snapshot, item: Task | JournalEntry | Plan) -> str:
    return snapshot.document(item.file).section(item.at[0]).title


def _placed(document: Document, kind: str, entry: Entry, title: str) -> tuple[Document, tuple[int, int]]:
    """Return the document with an entry of the archive put where it belongs, and its place."""
    if kind == "journal":
        date = read_date(title)
        if date is None:
            raise MemdeckError("archive.no_date", f"{entry.title[:60]!r} stands under no date", "move it in an editor")
        document, section = section_for(document, date)
        times = [split_heading(one.title)[0] or "" for one in document.section(section).entries]
        mine = split_heading(entry.title)[0] or ""
    else:
        if kind == "tasks":
            document, section = with_section(document, "completed")
        else:
            document, section = _plan_section(document)
        times = [one.fields.get("completed") or "" for one in document.section(section).entries]
        mine = entry.fields.get("completed") or ""
    if len(times) > 1 and times == sorted(times) and times[0] < times[-1]:
        index = next((number for number, time in enumerate(times) if time > mine), len(times))
    else:  # newest first, as files are kept
        index = next((number for number, time in enumerate(times) if time <= mine), len(times))
    return document.insert_entry(section, index, entry), (section, index)


def _plan_section(document: Document) -> tuple[Document, int]:
    found = document.find(_PLAN_SECTION)
    if found:
        return document, found[0]
    index = len(document.sections)
    return document.insert_section(index, Section.compose(_PLAN_SECTION, newline=document.newline)), index


def restore_version(
    snapshot: Snapshot, file: str, version: Entry, section: str | None, titles: tuple[str, ...]
) -> Edit:
    """Give an entry the source that it had, or put it back where it is gone.

    It is looked for by its ref, in `file` and under the other refs or titles that it had (`titles`); a removed one
    goes on top of the section where it stood. Raises NotFoundError `change.no_place` where that section is gone.
    """
    document = snapshot.document(file)
    wanted = {ref_of(file, section, version), *titles}
    places = [
        (index, number, entry)
        for index, part in document.all_sections()
        for number, entry in enumerate(part.entries)
        if (ref_of(file, part.title or None, entry) or entry.title) in wanted or entry.title in titles
    ]
    short = _short(version.title)
    if len(places) > 1:
        same = [place for place in places if (document.section(place[0]).title or None) == section]
        if len(same) != 1:
            raise ConflictError(
                "document.conflict", f"{len(places)} entries are called {short}", "restore it by hand", file=file
            )
        places = same
    if places:
        index, number, entry = places[0]
        content = version.raw.rstrip(b" \t\r\n")
        new = Entry.from_text(Entry(content + entry.raw[len(entry.raw.rstrip(b" \t\r\n")) :]).text)
        if new.raw == entry.raw:
            return Edit({}, "nothing changed", _ref_at(file, document, (index, number)))
        document = document.replace_entry(index, number, new)
    else:
        found = [index for index, part in enumerate(document.sections) if part.title == section]
        if not found and section is not None and kind_of(file) == "journal" and read_date(section):
            document, day = section_for(document, read_date(section) or "")
            found = [day]
        if not found:
            raise NotFoundError(
                "change.no_place", f"{short} stood in {section!r} of {file}, which is gone", "add it by hand"
            )
        index, number = found[0], 0
        document = document.insert_entry(index, number, version)
    return Edit({file: document}, f"restored an earlier version of {short}", _ref_at(file, document, (index, number)))


def _short(title: str) -> str:
    return repr(title if len(title) <= 60 else title[:59] + "…")
