"""The tasks of tasks.md and its archives: cheap views over the entries, read field by field when asked.

Open tasks of one title are twins: allowed, but their actions do not run, and the title names neither of them. Of a long
list a screen shows few, so a task is made when it is asked for.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from functools import partial
from itertools import chain, count, groupby, repeat
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING

from memory.document.lines import decode, encode
from memory.files.refs import SHORT, fits, look_up

from .values import (
    FIELD_KEYS,
    KIND,
    KNOWN_KEYS,
    PRIORITIES,
    SECTIONS,
    DueValue,
    Head,
    TaskNames,
    created_of,
    is_run,
    moment_or_none,
    new_section_index,
    read_due,
    read_progress,
    read_tags,
    split_priority,
    task_identity,
    task_places,
    text_or_none,
)

if TYPE_CHECKING:
    from typing import Any, Literal, overload

    from memory.base.clock import Moment
    from memory.document import Document, Entry
    from memory.files.reader import Files

    from .values import EntryColumns, SectionName, TaskSection

    DueState = Literal["overdue", "today", "week", "later"]

__all__ = [
    "FIELD_KEYS",
    "PRIORITIES",
    "SECTIONS",
    "DueValue",
    "Task",
    "TaskList",
    "find_task",
    "moment_or_none",
    "read_due",
    "read_tasks",
    "split_priority",
]
ARCHIVE = "archive/"
"""Where the files of the archive stand in the memory folder."""
_OFTEN = 64  # A text that stands in a file more often than this tells too little.
_NOTHING: dict[str, Any] = dict.fromkeys(
    (
        *("ref", "section", "priority", "title", "due", "recurring", "assigned", "created", "started", "completed"),
        *("progress", "tags", "cronJobId", "orchestrationId", "action", "notes", "outcome", "lastUpdate"),
        *("extra", "line"),
    )
)
"""The keys of the interface in their order, as a task has them that says nothing."""
_TEXTS = KNOWN_KEYS - {"due", "tags", "progress"}


class Task:
    """One task; every property reads the entry when it is asked. Texts are as they stand in the file.

    `at` is (section index, entry index) in the document of `file`, `section` one of pending, in-progress,
    completed, archived; `heading` tells where it is none of these by its file.
    Values that say `null`, `none` or `-` are None.
    """

    __slots__ = ("_index", "_names", "entry", "section")

    def __init__(self, names: TaskNames, index: int, section: SectionName, entry: Entry) -> None:
        """Keep where the task stands: its place among the tasks of the file, and the name of its section."""
        # Who looks at all tasks of a changed file has all made anew: what can be worked out from the place is not kept.
        self._names = names
        self._index = index
        self.section = section
        self.entry = entry

    def __repr__(self) -> str:
        """Show section and title."""
        return f"Task({self.section}, {self.title!r})"

    @property
    def file(self) -> str:
        """The file's name relative to the memory folder."""
        return self._names.file

    @property
    def document(self) -> Document:
        """The document that the task stands in."""
        return self._names.document

    @property
    def heading(self) -> str | None:
        """The words of the heading that it stands under where that is no section of tasks, "" for none; else None."""
        return self._names.headings.get(self.at[0]) if self._names.headings else None

    @property
    def misplaced(self) -> bool:
        """Whether any task of the file stands under a heading that is no section."""
        return bool(self._names.headings)

    @property
    def at(self) -> tuple[int, int]:
        """Where the task stands: the index of its section, and its own in there."""
        return self._names.at(self._index)

    @property
    def line(self) -> int:
        """The line of the heading, from 0."""
        return self._names.document.line_of(*self.at)

    @property
    def identity(self) -> str:
        """Ten hex digits made of title and `created`; twins have the same."""
        return self._names.identity(self._index)

    @property
    def knows_identities(self) -> bool:
        """Whether the identities of all tasks of the file were worked out already."""
        return self._names.columns.known(task_identity) is not None

    @property
    def long_hex(self) -> str:
        """The digits that no other task of the file has."""
        return self._names.long_hex(self._index)

    @property
    def ref(self) -> str:
        """The ref, `tasks#…`: ten digits, more for twins in the file and for completed runs of a recurring task."""
        return f"{KIND}#{self._names.ref_hex(self._index)}"

    @property
    def ref_hex(self) -> str:
        """The digits of the ref."""
        return self._names.ref_hex(self._index)

    @property
    def priority(self) -> str | None:
        """HIGH, NORMAL, LOW, or None where the heading has no known one."""
        return self.entry.memo(Head).priority

    @property
    def title(self) -> str:
        """The heading without its priority."""
        return self.entry.memo(Head).title

    @property
    def created(self) -> str | None:
        """When the task was created."""
        return created_of(self.entry)

    @property
    def fields(self) -> Mapping[str, str]:
        """All fields as they stand, unknown ones included, in file order."""
        return self.entry.fields

    @property
    def due_parts(self) -> DueValue:
        """The value of `due` taken apart."""
        return read_due(self.entry.fields.get("due"))

    @property
    def due(self) -> str | None:
        """The date or date and time of `due`, without recurrence and remark."""
        return self.due_parts.date

    @property
    def recurring(self) -> str | None:
        """The cron expression of `due`."""
        return self.due_parts.recurring

    def _get(self, key: str) -> str | None:
        value = self.entry.fields.get(key)
        return None if value is None else text_or_none(value)

    @property
    def assigned(self) -> str | None:
        """Who is to do it."""
        return self._get("assigned")

    @property
    def started(self) -> str | None:
        """When it was started."""
        return self._get("started")

    @property
    def completed(self) -> str | None:
        """When it was completed."""
        return self._get("completed")

    @property
    def progress(self) -> int | None:
        """0 to 100; None where there is none or it is no such number."""
        return read_progress(self.entry.fields.get("progress"))

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags, in their order."""
        return tuple(read_tags(self.entry.fields.get("tags")))

    @property
    def cron_job_id(self) -> str | None:
        """The cron job that belongs to the task."""
        return self._get("cronJobId")

    @property
    def orchestration_id(self) -> str | None:
        """The plan that the task is a part of."""
        return self._get("orchestrationId")

    @property
    def action(self) -> str | None:
        """What to run or to do; text, never run unasked."""
        return self._get("action")

    @property
    def notes(self) -> str | None:
        """Further words."""
        return self._get("notes")

    @property
    def outcome(self) -> str | None:
        """What came of it."""
        return self._get("outcome")

    @property
    def last_update(self) -> str | None:
        """The last word on the progress."""
        return self._get("lastUpdate")

    @property
    def extra(self) -> dict[str, str]:
        """The fields that the format does not know."""
        fields = self.entry.fields
        return {key: fields[key] for key in fields if key not in KNOWN_KEYS}

    def due_moment(self, zone: tzinfo) -> Moment | None:
        """Return the date or time of `due`; None where there is none, or one that does not exist."""
        return moment_or_none(self.due, zone)

    def due_state(self, now: datetime, zone: tzinfo) -> DueState | None:
        """Say how near the due date is: overdue, today, week (within the next seven days, today included), later.

        None for completed tasks and those without a usable date. A task that only recurs is due at its next run.
        """
        if self.section in ("completed", "archived"):
            return None
        parts = self.due_parts
        today = now.astimezone(zone).date()
        if parts.date is not None:
            moment = moment_or_none(parts.date, zone)
            if moment is None:
                return None
            if moment.is_overdue(now, zone):
                return "overdue"
            day = moment.date
        elif parts.recurring is not None:
            from memory.base.cron import BadCron, next_runs

            try:
                day = next_runs(parts.recurring, now, zone)[0].date()
            except BadCron:
                return None
        else:
            return None
        if day <= today:
            return "today"
        return "week" if day - today < timedelta(days=7) else "later"

    def json(self) -> dict[str, Any]:
        """Return the task under the keys of the interface; absent values are None, lines count from 1.

        One that stands under a heading that is no section is `pending`, and `extra` has that heading as `heading`.
        """
        head = self.entry.memo(Head)
        found = _NOTHING.copy()
        found["ref"] = self.ref
        found["section"] = self.section
        found["priority"] = head.priority
        found["title"] = head.title
        found["tags"] = []
        found["extra"] = extra = {}
        found["line"] = self.line + 1
        # Most keys of most tasks are absent: what is there is gone through, not what could be.
        for key, value in self.entry.fields.items():
            if key in _TEXTS:
                found[key] = text_or_none(value)
            elif key == "due":
                due = read_due(value)
                found["due"], found["recurring"] = due.date, due.recurring
            elif key == "tags":
                found["tags"] = read_tags(value)
            elif key == "progress":
                found["progress"] = read_progress(value)
            else:
                extra[key] = value
        if self._names.headings and (heading := self.heading) is not None:
            extra.setdefault("heading", heading)
        return found


class TaskList:
    """The tasks of one file in file order: those of the sections Pending, In Progress and Completed, and all others.

    Entries under another heading, or before any section, are pending tasks that have that `heading`. Tasks of an
    archive are `archived`.
    """

    __slots__ = ("_ranges", "names", "tasks")

    def __init__(self, file: str, document: Document) -> None:
        """Wrap the entries; nothing inside them is read."""
        self._ranges: list[tuple[SectionName, int, int, int]] = []
        headings: dict[int, str] = {}
        places: list[TaskSection] = []
        stop = 0
        for section, name, heading, part in task_places(document):
            shown: SectionName = "archived" if file.startswith(ARCHIVE) else name
            start, stop = stop, stop + len(part)
            self._ranges.append((shown, section, start, stop))
            places.append((start, section, part))
            if heading is not None:
                headings[section] = heading
        # What the tasks share knows none of them: a list that nobody looks at any more goes at once, with its document.
        names = self.names = TaskNames(file, document, places)
        names.headings = headings
        columns = names.columns
        self.tasks = LazyTasks.of_file(stop, lambda: columns.entries, partial(_made, names, tuple(self._ranges)))

    def __iter__(self) -> Iterator[Task]:
        """Iterate in file order."""
        return iter(self.tasks)

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(self.tasks)

    @property
    def file(self) -> str:
        """The file's name relative to the memory folder."""
        return self.names.file

    @property
    def document(self) -> Document:
        """The document that the tasks stand in."""
        return self.names.document

    @property
    def archived(self) -> bool:
        """Whether it is the file of an archive."""
        return self.file.startswith(ARCHIVE)

    @property
    def columns(self) -> EntryColumns:
        """What functions say of the entry of each task, in file order."""
        return self.names.columns

    def inherit(self, before: object) -> None:
        """Take what is known of the entries that are the same objects as in an earlier list of the file."""
        if isinstance(before, TaskList):
            self.names.inherit(before.names)

    def in_section(self, name: str) -> LazyTasks:
        """Return the tasks of one section: pending, in-progress, completed or archived."""
        parts = self.places(name)
        return self.tasks[parts[0].start : parts[0].stop] if len(parts) == 1 else self.tasks.pick(chain(*parts))

    def places(self, *names: str) -> list[range]:
        """Return where the tasks of some sections stand among all tasks, in file order."""
        return [range(start, stop) for shown, _, start, stop in self._ranges if shown in names]

    def count(self, name: str) -> int:
        """Return how many tasks a section has."""
        return sum([stop - start for shown, _, start, stop in self._ranges if shown == name])

    def new_section_index(self, name: SectionName) -> int:
        """Return the index at which a missing section belongs."""
        return new_section_index(self.document, name)

    def at(self, section: int, entry: int) -> Task | None:
        """Return the task of an entry of the document."""
        for _, place, start, stop in self._ranges:
            if place == section and 0 <= entry < stop - start:
                return self.tasks[start + entry]
        return None

    def lines(self) -> Sequence[int]:
        """Return the line (from 0) of the heading of each task."""
        found: list[int] = []
        tops = self.document.section_lines
        for _, section, part in self.names.sections:
            top = tops[section + 1]
            # The last of its lines is the one behind the entries.
            found += [top + line for line in part.entry_lines[:-1]]
        return found

    def spelled(self, title: str) -> Sequence[Task]:
        """Return the tasks that have a text somewhere: among them are all of that title.

        The bytes of the file tell: no other task is made, nor any entry of a section that has none of them cut out.
        """
        document, data, wanted = self.document, self.document.dump(), encode(title)
        if data.count(wanted) > _OFTEN:
            return self.tasks
        begin, begins = len(document.bom) + len(document.front_raw), {}
        for index, section in document.all_sections():
            begins[index] = begin
            begin += section.size
        found: list[int] = []
        for _, index, start, _ in self._ranges:
            section, begin = document.section(index), begins[index]
            end = begin + section.size
            place = data.find(wanted, begin, end)
            offsets = section.offsets if place >= 0 else []
            while place >= 0:
                number = bisect_right(offsets, place - begin) - 1
                if number >= 0 and found[-1:] != [start + number]:
                    found.append(start + number)
                place = data.find(wanted, place + 1, end)
        return self.tasks.pick(found)

    def with_identity(self, digits: str) -> LazyTasks:
        """Return the tasks whose identity begins with the first ten of some hex digits; no other task is made."""
        begin = digits[:SHORT]
        places = enumerate(self.names.identities())
        return self.tasks.pick([place for place, identity in places if identity.startswith(begin)])

    def task_of(self, entry: Entry | None) -> Task | None:
        """Return the task of an entry that is this very object, None where there is none."""
        return next((task for task in self.tasks if task.entry is entry), None)

    def ref_of(self, place: int) -> str:
        """Return the ref of the task at a place among all."""
        return f"{KIND}#{self.names.ref_hex(place)}"

    def ref_at(self, section: int, entry: int) -> str:
        """Return the ref of the task of an entry."""
        found = self.at(section, entry)
        assert found is not None
        return found.ref

    def name_all(self) -> None:
        """Get ready for many refs: who lists all tasks of a long file saves looking for the first ones one by one."""
        self.names.name_all()

    def list_all(self) -> None:
        """Get ready for the ref of every task: who prints all of them saves asking for each by itself."""
        self.names.list_all()


def _made(names: TaskNames, ranges: Sequence[tuple[SectionName, int, int, int]], first: int, last: int) -> list[Task]:
    """Return the tasks from one place in the file to another."""
    made: list[Task] = []
    for (shown, _, start, stop), (*_, part) in zip(ranges, names.sections, strict=True):
        low, high = max(first, start), min(last, stop)
        if low < high:
            entries = part.entries[low - start : high - start]
            made += map(Task, repeat(names), count(low), repeat(shown), entries)
    return made


def read_tasks(file: str, document: Document) -> TaskList:
    """Return the tasks of tasks.md or of an archive file; never fails."""
    return TaskList(file, document)


def find_task(snapshot: Files, text: str, *, archived: bool = False) -> Task:
    """Return the task that a ref, seven or more of its hex digits, or a unique part of its title names.

    Archives are asked if `archived` says so, and only for what tasks.md does not have. Raises NotFoundError
    `task.not_found`, AmbiguousError `task.ambiguous` with candidates and their longer refs.
    """

    def archive() -> Iterator[Task]:
        files = snapshot if archived else snapshot.readable()
        return (task for tasks in files.archived("tasks", read_tasks) for task in tasks.tasks)

    def listed() -> TaskList:
        return snapshot.view("tasks.md", read_tasks)

    def spelled(tasks: Sequence[Task], name: str) -> Sequence[Task]:
        known = listed()
        return known.spelled(name) if tasks is known.tasks else tasks

    def by_digits(tasks: Iterable[Task], digits: str) -> list[Task]:
        known = listed()
        same = known.with_identity(digits) if tasks is known.tasks else of_identity(tasks, digits)
        if len(digits) <= SHORT:
            # A completed run of a recurring task has longer ones.
            return [task for task in same if not is_run(task.entry)]
        return [task for task in same if fits(task, digits)]

    pools: list[Callable[[], Iterable[Task]]] = [lambda: listed().tasks, *([archive] if archived else ())]
    return look_up(
        text,
        KIND,
        "task",
        pools,
        by_digits,
        None if archived else archive,
        _titled,
        spelled,
        past=snapshot.past,
        is_open=lambda task: task.section in ("pending", "in-progress"),
        remark=snapshot.remark,
    )


def _titled(tasks: Sequence[Task], part: str) -> Sequence[Task]:
    """Leave out the tasks whose heading line surely does not contain a casefolded text."""
    if not part.isascii():
        return tasks
    text = part.encode()
    found = []
    for task in tasks:
        raw = task.entry.raw
        heading = raw[: raw.find(b"\n") + 1] or raw
        # Letters outside of ASCII may fold into it.
        if text in heading.lower() if heading.isascii() else part in decode(heading).casefold():
            found.append(task)
    return found


def of_identity(tasks: Iterable[Task], digits: str) -> list[Task]:
    """Return the tasks whose identity begins with the first ten of some hex digits: those of a ref, and its twins."""
    found: list[Task] = []
    for names, group in groupby(tasks, attrgetter("_names")):
        identities = names.identities()
        found += [task for task in group if identities[task._index].startswith(digits[:SHORT])]
    return found


# -- twins -----------------------------------------------------------------------------------------------------------

_HEADING = re.compile(rb"\n#[^\n]*")


def open_twins(tasks: Iterable[Task]) -> dict[str, list[Task]]:
    """Return the open tasks by what titles share that a person would take for one."""
    from memory.base.values import alike

    found: dict[str, list[Task]] = {}
    for task in tasks:
        if task.section in ("pending", "in-progress"):
            found.setdefault(alike(task.title), []).append(task)
    return found


def may_have_twin(document: Document, heading: str) -> bool:
    """Tell, by the lines of a file alone, whether a second heading may have the title that one of its tasks has.

    `heading` is that task's own, priority and all. A line that has the words of the title in it is enough.
    """
    from memory.base.values import alike

    wanted = alike(split_priority(heading)[1])
    word = wanted.partition(" ")[0]
    data = document.dump()
    if not word or b"\r" in data or not word.isascii():
        return True
    if not data.endswith(b"\n"):
        data += b"\n"
    return sum(wanted in alike(line) for line in _heading_lines(data, word)) > 1


def _heading_lines(data: bytes, word: str) -> list[str]:
    """Return the headings in which a person may find a word of small ASCII letters."""
    from memory.base.values import unsettled

    headings = [data.partition(b"\n")[0], *_HEADING.findall(data)]
    small = word.encode()
    lines = [decode(line) for line in headings if small in line.lower()]
    # Only letters outside of ASCII are taken for others, and nearly always it is a dash, an accent or a picture.
    beyond = decode(b"".join([line for line in headings if not line.isascii()])).split("\n")
    odd = unsettled("".join(beyond))
    return lines + [line for line in beyond if not odd.isdisjoint(line) and word not in line.lower()] if odd else lines


def twins_of(tasks: Iterable[Task], title: str) -> list[Task]:
    """Return the open tasks whose title a person would take for this one, without working out that of every other."""
    from memory.base.values import alike

    wanted = alike(title)
    word = wanted.partition(" ")[0].encode("utf-8", "surrogateescape")
    found = []
    for task in tasks:
        raw = task.entry.raw
        heading = raw[: raw.find(b"\n") + 1] or raw
        # Only letters outside of ASCII are taken for others.
        may = not heading.isascii() or word in heading.lower()
        if may and task.section in ("pending", "in-progress") and alike(task.title) == wanted:
            found.append(task)
    return found


def twin_words(twins: Iterable[Task], title: str) -> str:
    """Return a sentence on the open tasks that have a title already; empty where there is none."""
    found = tuple(twins)
    if not found or not title.strip():
        return ""
    words = "an open task has this title already" if len(found) == 1 else f"{len(found)} open tasks have this title"
    return f"{words}; the action of neither runs" if any(task.action is not None for task in found) else words


# -- tasks made when they are asked for ------------------------------------------------------------------------

_MANY = 4  # Who goes through more than this part of all tasks has all of them made, which takes less for each.


class _Made:
    """The tasks of one file that were made so far; each is made once, whichever thread asks for it first."""

    __slots__ = ("_all", "_cut", "_lock", "_make", "_some", "size")

    def __init__(self, size: int, cut: Callable[[], Sequence[Entry]], make: Callable[[int, int], list[Task]]) -> None:
        self.size = size
        self._cut = cut
        self._make = make
        self._some: dict[int, Task] = {}
        self._all: tuple[Task, ...] | None = None
        self._lock = Lock()

    @property
    def entries(self) -> Sequence[Entry]:
        return self._cut()

    def one(self, number: int) -> Task:
        every = self._all
        if every is not None:
            return every[number]
        return self._some.get(number) or self._first(number)

    def _first(self, number: int) -> Task:
        with self._lock:
            if self._all is None:
                (made,) = self._make(number, number + 1)
                return self._some.setdefault(number, made)
        # Another thread had all of them made meanwhile.
        return self._all[number]

    def all(self) -> tuple[Task, ...]:
        if self._all is None:
            with self._lock:
                if self._all is None:
                    every = self._make(0, self.size)
                    for number, task in self._some.items():
                        every[number] = task
                    self._all = tuple(every)
        return self._all


class LazyTasks(Sequence["Task"]):
    """Some tasks of one file in a given order; asked for again, each is the same object."""

    __slots__ = ("_made", "_numbers")

    def __init__(self, made: _Made, numbers: Sequence[int]) -> None:
        """Name the tasks by their places in the file; `of_file` is the way to the first ones."""
        self._made = made
        self._numbers = numbers

    @classmethod
    def of_file(
        cls, size: int, cut: Callable[[], Sequence[Entry]], make: Callable[[int, int], list[Task]]
    ) -> LazyTasks:
        """Return all tasks of a file: `cut` returns the entry of each, `make` makes those from one place to another."""
        return cls(_Made(size, cut, make), range(size))

    def pick(self, numbers: Iterable[int]) -> LazyTasks:
        """Return some of these tasks, by their places among them, in that order."""
        mine = self._numbers
        whole = isinstance(mine, range) and mine == range(self._made.size)
        return LazyTasks(self._made, tuple(numbers) if whole else tuple([mine[number] for number in numbers]))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entry of each task."""
        numbers, entries = self._numbers, self._made.entries
        if isinstance(numbers, range) and numbers.step == 1:
            return tuple(entries[numbers.start : numbers.stop])
        return tuple([entries[number] for number in numbers])

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(self._numbers)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, place: int) -> Task: ...
        @overload
        def __getitem__(self, place: slice) -> LazyTasks: ...

    def __getitem__(self, place: int | slice) -> Task | LazyTasks:
        """Return one task, or those of a stretch."""
        if isinstance(place, slice):
            return LazyTasks(self._made, self._numbers[place])
        return self._made.one(self._numbers[place])

    def __iter__(self) -> Iterator[Task]:
        """Iterate in order."""
        made, numbers = self._made, self._numbers
        if len(numbers) * _MANY < made.size:
            return map(made.one, numbers)
        every = made.all()
        return (
            iter(every)
            if len(numbers) == len(every) and isinstance(numbers, range)
            else map(every.__getitem__, numbers)
        )
