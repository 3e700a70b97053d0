"""Finds what is wrong in the memory files, in one pass over each, and writes what is read in another form plainly."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from memory.base.clock import BadMoment, read_moment
from memory.base.problems import Level, Problem, copy_problem, original_of
from memory.base.safe_text import plural
from memory.document import Document
from memory.document.check import structure_problems
from memory.document.lines import decode, split_lines
from memory.files.journal.model import plain_day, plain_heading, plain_journal, split_heading
from memory.files.tasks.reading import SCHEMA as TASKS
from memory.storage.safe_open import Unlisted

from . import ARCHIVE_KINDS, MEMORY_FILES, TYPES
from .config import SCHEMA as SETTINGS
from .config import meant_key, plain_config, unknown_key_words
from .contacts import plain_contacts
from .edit import Edit, secret_problems
from .fields.dress import READ, UNREAD_CODES, LineFinding, PlainFile, unread_entries
from .journal.model import date_of
from .knowledge import plain_knowledge
from .links import link_problems
from .monitors import SCHEMA as MONITORS
from .monitors import plain_monitors
from .plans.model import SCHEMA as PLANS
from .plans.model import Plans, plain_plans, section_of
from .snapshot import Snapshot, kind_of
from .tasks.model import Task, TaskList
from .tasks.reading import plain_tasks

_MISSPELLED = 0.93
"""The likeness to a known setting from which an unknown one counts as a misspelling."""
_BRACKETED = re.compile(r"\[[A-Za-z]{1,20}\](?:[ \t]|$)")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?![0-9])", re.ASCII)


@lru_cache(maxsize=4096)
def date_problem(text: str, zone: tzinfo) -> str | None:
    """Return what is wrong with a date or time; None if nothing is, or if the field has none."""
    try:
        read_moment(text, zone)
    except BadMoment as error:
        return error.message
    return None


def task_problems(snapshot: Snapshot, name: str, _: Document) -> Iterator[Problem]:
    """Yield the findings of tasks.md or of an archive of it."""
    tasks = snapshot.view(name, TaskList)
    seen: dict[tuple[str, str], Task] = {}
    under = Counter(task.at[0] for task in tasks if task.heading is not None)
    for task in tasks:
        line, called, entry, priority = task.line + 1, task.title, task.entry, task.priority
        fields, title = entry.fields, repr(called[:40])
        if count := task.heading is not None and under.pop(task.at[0], 0):
            what = f"{title} is" if count == 1 else f"{title} and {count - 1} more are"
            where = f"under {task.heading[:40]!r}, which is not a section of tasks" if task.heading else "in no section"
            message = f"{what} {where}, and read as pending, or as completed where the box is checked"
            yield Problem("note" if task.is_item else "error", name, line, "task.unknown_section", message)
        if not called.strip() and task.heading is None:
            yield Problem("warning", name, line, "task.title", "the task has no title")
        if (tasks.archived or task.section == "completed") and not fields.get("completed"):
            message = f"{title} has no completed date, so it is never archived"
            yield Problem("note", name, line, "task.completed_missing", message)
        if priority is None and _BRACKETED.match(called) and not task.is_item:
            yield Problem("warning", name, line, "task.priority", f"{title} begins with an unknown priority")
        elif priority is None and not task.is_item:
            yield Problem("note", name, line, "task.priority_missing", f"{title} has no priority")
        if not fields.get("created") and not task.is_item:
            yield Problem("note", name, line, "task.created_missing", f"{title} has no created date")
        first = seen.setdefault((called, fields.get("created") or ""), task)
        if first is not task:
            message = f"{title} has the same title and created as the task on line {first.line + 1}"
            yield Problem("note", name, line, "task.twin", message)
        yield from TASKS.problems(name, entry, line, snapshot.zone)


def journal_problems(_: Snapshot, name: str, document: Document) -> Iterator[Problem]:
    """Yield the findings of journal.md or of an archive of it."""
    for index, section in enumerate(document.sections):
        line = document.line_of(index) + 1
        day = section.memo(plain_day).name
        if day is None and len(section):
            noun = "entry is" if len(section) == 1 else "entries are"
            message = f"{len(section)} {noun} under {section.title[:40]!r}, which is not a date"
            yield Problem("error", name, line, "journal.section", message)
        elif day is not None and date_of(day) is None:
            yield Problem("error", name, line, "journal.date", f"the date {day} does not exist")
        for number, entry in enumerate(section.entries):
            clock = _TIME.match(split_heading(plain_heading(entry.title))[0] or "")
            place = document.line_of(index, number) + 1
            if clock is None:
                yield Problem("note", name, place, "journal.time_missing", f"{entry.title[:40]!r} has no time")
            elif int(clock[1]) > 23 or int(clock[2]) > 59 or int(clock[3] or 0) > 59:
                yield Problem("error", name, place, "journal.time", f"the time {clock[0]} does not exist")


def knowledge_problems(snapshot: Snapshot, name: str, _: Document) -> Iterator[Problem]:
    """Yield the decisions whose date does not exist."""
    for item in snapshot.knowledge.items:
        if item.date and (message := date_problem(item.date, snapshot.zone)) is not None:
            yield Problem("error", name, item.line + 1, "knowledge.date", message)


def monitor_file_problems(snapshot: Snapshot, name: str, _: Document) -> Iterator[Problem]:
    """Yield the findings of monitors.md."""
    for monitor in snapshot.monitors.items:
        yield from MONITORS.problems(name, monitor.entry, monitor.line + 1, snapshot.zone)
        need = {"http": "url", "command": "command"}.get(monitor.type or "")
        if monitor.type is None or (need is not None and need not in monitor.entry.fields):
            message = f"the monitor {monitor.name[:40]!r} has no {need or 'type'}"
            yield Problem("note", name, monitor.line + 1, "monitor.incomplete", message)


def plan_file_problems(snapshot: Snapshot, name: str, document: Document) -> Iterator[Problem]:
    """Yield the findings of orchestration.md or of an archive of it."""
    known = [index for index, part in document.all_sections() if section_of(part)]
    why = "is read as active: it is in no section of plans"
    yield from (one.of(name) for one in unread_entries(document, known, "error", "plan.unknown_section", why))
    for plan in snapshot.view(name, Plans):
        yield from (one.of(name) for one in plan.problems)
        yield from PLANS.problems(name, plan.entry, plan.line + 1, snapshot.zone)
        missing = [key for key in ("planId", "status", "created") if key not in plan.entry.fields]
        if plan.section == "completed" and plan.completed is None:
            missing.append("completed")
        if missing:
            message = f"the plan {plan.title[:40]!r} has no {', '.join(missing)}"
            yield Problem("note", name, plan.line + 1, "plan.incomplete", message)


def contact_problems(snapshot: Snapshot, name: str, document: Document) -> Iterator[Problem]:
    """Yield the people in another form, and the cells and columns of tables that nothing reads."""
    for person in snapshot.contacts.people:
        if person.plain:
            message = f"{person.name[:40]!r} is not written as **Name** (Role): text"
            yield Problem("warning", name, person.line + 1, "contact.form", message)
    for index, section in enumerate(document.sections):
        top = document.line_of(index) + 2
        for table in section.tables:
            names = [title.casefold() for title in table.header if title]
            if len(set(names)) != len(names):
                message = "two columns have the same name; the first counts"
                yield Problem("warning", name, top + table.line, "contact.column", message)
            for row in table.rows:
                if len(row.cells) > len(table.header):
                    message = "the row has more cells than the table columns"
                    yield Problem("warning", name, top + row.line, "contact.cells", message)


def config_problems(snapshot: Snapshot, name: str, _: Document) -> Iterator[Problem]:
    """Yield what is wrong with settings."""
    config = snapshot.config
    doubtful = config.doubtful
    yield from (Problem("error", name, line + 1, "config.malformed", words) for line, _, words in doubtful)
    said = {line for line, _, _ in doubtful}
    for setting in config.settings:
        first = config.setting(setting.key)
        if first is not None and first is not setting:
            message = f"{setting.key} is also on line {first.line + 1}; the first counts"
            yield Problem("warning", name, setting.line + 1, "config.twice", message)
            continue
        wrong = SETTINGS.problem(setting.key, setting.value)
        if wrong is not None:
            yield Problem("error", name, setting.line + 1, "config.value", wrong)
        elif setting.line not in said and (meant := meant_key(setting.key, _MISSPELLED)) is not None:
            words = unknown_key_words(setting.key, meant)
            yield Problem("warning", name, setting.line + 1, "config.unknown_key", words)


# -- one table for check, its fixes, panes and search ------------------------------------------------------------------


class FileKind(NamedTuple):
    """How a kind of file is read: what writes it plainly and finds the lines that are not plain, and what is wrong with
    its entries.
    """

    plain: Callable[[Document], PlainFile]
    problems: Callable[[Snapshot, str, Document], Iterable[Problem]]


KINDS = {
    "tasks": FileKind(plain_tasks, task_problems),
    "journal": FileKind(plain_journal, journal_problems),
    "knowledge": FileKind(plain_knowledge, knowledge_problems),
    "contacts": FileKind(plain_contacts, contact_problems),
    "plans": FileKind(plain_plans, plan_file_problems),
    "monitors": FileKind(plain_monitors, monitor_file_problems),
    "config": FileKind(plain_config, config_problems),
}


def kind_of_file(name: str) -> FileKind | None:
    """Return the kind of a memory file or of an archive; None for other files."""
    return KINDS.get(kind_of(name) or name.removesuffix(".md"))


def line_findings(name: str, document: Document) -> Sequence[LineFinding]:
    """Return what was found in the lines of a file that are not plain; lines count from 0."""
    kind = kind_of_file(name)
    return () if kind is None else kind.plain(document).findings


_LONGEST = 2000
"""The most characters of a section that is not read."""


class UnreadLine(NamedTuple):
    """A line that nothing reads, for a row of a pane: the section it is in ("" for none), its text, `line` from 0.

    The text goes on to the end of the paragraph. Of a section that is not read `line` is that of its heading, and the
    text what is below it; of an entry that is not read, `below` is its text.
    """

    heading: str
    title: str
    line: int
    below: str = ""


@lru_cache(maxsize=16)
def unread_lines(name: str, document: Document) -> tuple[UnreadLine, ...]:
    """Return the lines of a file that no entry, list, table or setting takes, in file order.

    An unchanged file has the same document in each snapshot.
    """
    found = sorted({one.line for one in line_findings(name, document) if one.code in UNREAD_CODES})
    if not found:
        return ()
    lines = [line.strip() for line, _ in split_lines(decode(document.dump()))]
    headings = document.headings()
    titles = {line: title for line, _, title in headings}
    sections = {line: title for line, level, title in headings if level < 3}
    starts, tops = [*titles, len(lines)], [*sections]
    unread = []
    for line in found:
        end = starts[bisect_right(starts, line)]
        inside = " ".join(filter(None, lines[line + 1 : end]))[:_LONGEST]
        if line in titles:
            text, below = (inside, "") if line in sections else (titles[line], inside)
        else:
            stop = next((at for at in range(line + 1, end) if not lines[at] or at in found), end)
            text, below = " ".join(lines[line:stop])[:_LONGEST], ""
        above = bisect_right(tops, line)
        unread.append(UnreadLine(sections[tops[above - 1]] if above else "", text, line, below))
    return tuple(unread)


def write_plainly(snapshot: Snapshot, names: Sequence[str] | None = None) -> Edit:
    """Write what is read in another form in its plain form, in some files or in all; what is only told stays.

    Reading the files gives the same entries before and after. A file that cannot be read is left out.
    """
    looked = snapshot.readable()
    documents = {}
    for name in names or (*MEMORY_FILES, *snapshot.archive_names):
        kind, document = kind_of_file(name), looked.found(name)
        if kind is None or document is None:
            continue
        plain, findings = kind.plain(document)
        if any(one.code == READ for one in findings) and plain.dump() != document.dump():
            documents[name] = plain
    return Edit(documents, f"wrote {plural(len(documents), 'file')} in the plain form")


_WARNINGS = frozenset(
    {*("document.nul", "document.twin_section", "document.heading", "document.mark", "field.twice"), "front.duplicate"}
)
_OTHERS = ("journal", "knowledge", "config")
"""Files of text, in which several lines may begin with `Overdue:`, and of settings, which tell it themselves."""

_BY_PLACE = attrgetter("file", "line", "code", "message")

_EACH: dict[str, tuple[Document, tzinfo, tuple[Problem, ...]]] = {}
"""The last findings of each file, with its document and the workspace's zone."""


def check_files(snapshot: Snapshot, names: Iterable[str] | None = None) -> tuple[Problem, ...]:
    """Return all findings, sorted by file and line; with `names`, only those of these files.

    Errors: text that does not parse or loses its meaning. Warnings: dangling and duplicate links, unusual forms. Notes:
    missing optional keys, unused links, missing files. A file that cannot be read, or that is a folder or a pipe, is an
    error of that file.
    """
    snapshot = snapshot.readable()
    wanted = (*MEMORY_FILES, *snapshot.archive_names) if names is None else tuple(names)
    found = [one for name in wanted for one in _check_file(snapshot, name, snapshot.found(name))]
    beside = (*neighbour_problems(snapshot), *link_problems(snapshot))
    found += [one for one in beside if names is None or one.file in wanted]
    return tuple(sorted(dict.fromkeys(found), key=_BY_PLACE))


def _check_file(snapshot: Snapshot, name: str, document: Document | None) -> tuple[Problem, ...]:
    """Return the findings of one file, computed once per document."""
    if document is None:
        refusal = snapshot.refused(name)
        if refusal is not None:
            return (Problem("error", name, 0, refusal.code, refusal.message),)
        level: Level = "note" if name in MEMORY_FILES else "error"
        return (Problem(level, name, 0, "file.missing", f"there is no {name}"),)
    zone, known = snapshot.zone, _EACH.get(name)
    if known is None or known[0] is not document or known[1] != zone:
        known = _EACH[name] = (document, zone, tuple(_document_problems(snapshot, name, document)))
    return known[2]


def _document_problems(snapshot: Snapshot, name: str, document: Document) -> list[Problem]:
    found = [*_structure(name, document), *secret_problems(name, document)]
    if (kind := kind_of_file(name)) is not None:
        found += [one.of(name) for one in kind.plain(document).findings]
        found += kind.problems(snapshot, name, document)
    return found


def _structure(name: str, document: Document) -> Iterator[Problem]:
    fields = not name.removeprefix("archive/").startswith(_OTHERS)
    for line, code, message in structure_problems(document, fields=fields):
        yield Problem("warning" if code in _WARNINGS else "error", name, line + 1, code, message)
    if document.joined() != document.dump():
        yield Problem("error", name, 0, "document.round_trip", "parsing does not reproduce the bytes of the file")
    wanted = TYPES.get(name) or TYPES.get(name.rpartition("/")[0] + "/" + name.rpartition("/")[2].split("-")[0])
    if not document.front_raw or wanted is None:
        if wanted is not None:
            yield Problem("note", name, 1, "front.missing", "the file has no front matter")
        return
    meta = document.meta
    if meta.opaque:
        return
    said = meta.get("type")
    if said is None:
        yield Problem("note", name, 1, "front.type_missing", f"the front matter has no type; it should be {wanted}")
    elif said != wanted:
        line = (meta.line_of("type") or 0) + 1
        yield Problem("warning", name, line, "front.type", f"the type is {said[:40]!r}; this file needs {wanted}")
    for item in meta.items:
        if isinstance(item.value, list | dict):
            message = f"nothing reads {item.key[:40]!r} in the front matter; write entries below it"
            yield Problem("warning", name, item.line + 1, "front.unread", message)
    wrong = date_problem(meta.get("updated") or "", UTC)
    if wrong:
        yield Problem("error", name, (meta.line_of("updated") or 0) + 1, "front.updated", wrong)


# -- other files beside the memory files: copies left by a sync, archives under other names, dangling links ----------

_ARCHIVE = re.compile(rf"(?:{'|'.join(ARCHIVE_KINDS)})-[0-9]{{4}}-(?:0[1-9]|1[0-2])\.md")
_EVICTED = re.compile(r"\.(?P<name>[a-z]+\.md)\.icloud")


def neighbour_problems(snapshot: Snapshot) -> Iterator[Problem]:
    """Yield what is wrong with the folders and the other files in them; needs a `readable` snapshot."""
    folder = snapshot.folder
    if folder is None:
        return
    if isinstance(folder.names, Unlisted):
        yield Problem("error", ".", 0, folder.names.code, f"the memory folder is {folder.names.what}")
    else:
        for name in folder.names:
            if name not in MEMORY_FILES:
                yield from _beside(name)
            elif snapshot.found(name) is None and snapshot.refused(name) is None:
                yield Problem("error", name, 0, "file.link_dangling", f"{name} is a link to nothing")
    if isinstance(folder.archive, Unlisted):
        message = f"archive is {folder.archive.what}: nothing is read from it or moved to it"
        yield Problem("error", "archive", 0, folder.archive.code, message)
        return
    for name in folder.archive:
        shown, original = f"archive/{name}", original_of(name, _ARCHIVE.fullmatch)
        if original is not None:
            yield copy_problem(shown, f"archive/{original}")
        elif name.endswith(".md") and name[0] != "." and not _ARCHIVE.fullmatch(name):
            message = "not an archive name such as tasks-2026-12.md: nothing is ever moved into it"
            yield Problem("warning", shown, 0, "file.archive_name", message)


def _beside(name: str) -> Iterator[Problem]:
    """Yield what is wrong with another file in the memory folder than the seven."""
    original = original_of(name, lambda one: one.lower() in MEMORY_FILES)
    if original is not None:
        yield copy_problem(name, original)
    elif (found := _EVICTED.fullmatch(name)) is not None and found["name"] in MEMORY_FILES:
        message = f"{found['name']} was moved to the cloud; only a placeholder is left here"
        yield Problem("error", name, 0, "file.evicted", message)
    elif name.strip().casefold() in MEMORY_FILES:
        message = f"nothing reads it: its name differs from {name.strip().casefold()} in case or spaces"
        yield Problem("warning", name, 0, "file.similar_name", message)
