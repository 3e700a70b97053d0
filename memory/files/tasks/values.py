"""The values of a task as they are read: section, priority, title, `due` with its parts, progress, tags, `created`.

`TaskNames` tells the tasks of a file apart: their refs, and their twins, which are tasks of one title and `created`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import tzinfo
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from memory.base.values import ABSENT, is_absent, split_remark
from memory.document import Document, Section
from memory.document.lines import encode
from memory.document.nodes import bare, of_each
from memory.files.refs import identity_hex, tell_apart

if TYPE_CHECKING:
    from typing import Any, Literal, TypeVar

    from memory.base.clock import Moment
    from memory.document import Entry

    SectionName = Literal["pending", "in-progress", "completed", "archived"]
    # The first task of a section among those of the file, the index of the section in the document, and the section.
    TaskSection = tuple[int, int, Section]
    T = TypeVar("T")

KIND = "tasks"
PRIORITIES = ("HIGH", "NORMAL", "LOW")
FIELD_KEYS = (
    "due",
    "started",
    "completed",
    "assigned",
    "created",
    "cronJobId",
    "orchestrationId",
    "progress",
    "tags",
    "notes",
    "action",
    "outcome",
    "lastUpdate",
)
"""The fields that the format knows, in the order in which memdeck writes them."""

KNOWN_KEYS = frozenset(FIELD_KEYS)
_PRIORITY = re.compile(r"\[(HIGH|NORMAL|LOW)\](?:[ \t]+|$)", re.IGNORECASE)
_RECURRING = re.compile(r"recurring:[ \t]*(\S.*)", re.IGNORECASE)
_PROGRESS = re.compile(r"([0-9]{1,3})[ \t]*%?", re.ASCII)


class DueValue(NamedTuple):
    """The value of `due` in its parts: date or date and time as text, cron expression, other remark."""

    date: str | None = None
    recurring: str | None = None
    remark: str | None = None

    def __str__(self) -> str:
        """Return the value as it is written; empty if there is nothing to say."""
        recurring = f"recurring: {self.recurring}" if self.recurring else ""
        if self.date is None:
            value = recurring or ("null" if self.remark else "")
        else:
            value = f"{self.date} ({recurring})" if recurring else self.date
        return f"{value} ({self.remark})" if self.remark else value


NO_DUE = DueValue()
"""What a task without `due` has."""


@lru_cache(maxsize=4096)
def read_due(value: str | None) -> DueValue:
    """Take the value of `due` apart: a date, `(recurring: CRON)` or `recurring: CRON` alone, and a remark."""
    if not value:
        return NO_DUE
    if value[0] in "0123456789" and value[-1] not in ") \t":
        return DueValue(value)
    plain, remark = split_remark(value)
    recurring = None
    other = None
    while remark is not None:
        found = _RECURRING.fullmatch(remark)
        if found and recurring is None:
            recurring = found[1]
        else:
            other = remark if other is None else other
        # A remark may stand behind the recurrence.
        plain, remark = split_remark(plain) if plain.endswith(")") else (plain, None)
    found = _RECURRING.fullmatch(plain)
    if found:
        return DueValue(None, found[1], other)
    return DueValue(None if is_absent(plain) else plain, recurring, other)


def split_priority(title: str) -> tuple[str | None, str]:
    """Split a heading into its priority and the title; an unknown priority stays a part of the title."""
    found = _PRIORITY.match(title)
    if found is None:
        return None, title
    return found[1].upper(), title[found.end() :]


class Head:
    """What is asked of every task, kept with its entry: priority and title; once needed, `created` and identity.

    `entry.memo(Head)` gives the one of an entry.
    """

    __slots__ = ("created", "hex", "priority", "title")
    created: str | None
    hex: str

    def __init__(self, entry: Entry) -> None:
        """Read the heading."""
        self.priority, self.title = split_priority(entry.title)


def created_of(entry: Entry) -> str | None:
    """Return `created`, read once."""
    head = entry.memo(Head)
    try:
        return head.created
    except AttributeError:
        head.created = text_or_none(entry.fields.get("created"))
        return head.created


def task_identity(entry: Entry) -> str:
    """Return the ten hex digits made of title and `created`, computed once."""
    head = entry.memo(Head)
    try:
        return head.hex
    except AttributeError:
        head.hex = identity_hex(KIND, head.title, created_of(entry) or "")
        return head.hex


def is_run(entry: Entry) -> bool:
    """Tell whether a task is one completed run of a recurring one: the task itself goes on, open, beside it."""
    raw = entry.raw
    if b"completed:" not in raw or b"recurring:" not in raw:
        return False
    fields = entry.fields
    return bool(text_or_none(fields.get("completed"))) and read_due(fields.get("due")).recurring is not None


def text_or_none(value: str | None) -> str | None:
    """Return a value, None for one that says that there is none."""
    if value is None or (len(value) < 8 and value.strip().lower() in ABSENT):
        return None
    return value


def read_progress(value: str | None) -> int | None:
    """Return 0 to 100, None for another value."""
    found = _PROGRESS.fullmatch(value) if value else None
    return int(found[1]) if found and int(found[1]) <= 100 else None


def read_tags(value: str | None) -> list[str]:
    """Return the tags of a value that separates them by commas."""
    if value is None or value.lower() in ABSENT:
        return []
    return [tag for tag in (part.strip() for part in value.replace("\n", ",").split(",")) if tag]


def moment_or_none(text: str | None, zone: tzinfo) -> Moment | None:
    """Return the moment of a value, None where it is absent or does not exist."""
    if text is None:
        return None
    from memory.base.clock import BadMoment, read_moment

    try:
        return read_moment(text, zone)
    except BadMoment:
        return None


SECTIONS: tuple[SectionName, ...] = ("pending", "in-progress", "completed")
"""The sections of tasks.md, in their order."""
TITLES = {"pending": "Pending", "in-progress": "In Progress", "completed": "Completed (last 7 days)"}
"""The headings of sections that memdeck creates."""
_BY_NAME: dict[str, SectionName] = {
    "pending": "pending",
    "in progress": "in-progress",
    "in-progress": "in-progress",
    "completed": "completed",
}


def task_sections(document: Document) -> list[tuple[int, SectionName]]:
    """Return (section index, name) of the sections that hold tasks, in file order."""
    return [(index, name) for index, name in enumerate(of_each(document.sections, _name_of)) if name is not None]


def _name_of(section: Section) -> SectionName | None:
    if section.level != 2:
        return None
    return _BY_NAME.get(section.name) or _BY_NAME.get(section.title.casefold())


def task_places(document: Document) -> list[tuple[int, SectionName, str | None, Section]]:
    """Return (index, name, heading, section) of each section with entries, in file order; -1 is before all sections.

    The heading is None for a section that has a name here. Entries under any other heading, or under none (""), are
    tasks too and count as pending: nothing that a file holds may vanish because of a slip in a heading, and nothing
    that is perhaps not done may go to the archive.
    """
    sections = (document.head, *document.sections)
    places = enumerate(of_each(sections, _place_of), -1)
    return [(index, *place, sections[index + 1]) for index, place in places if place is not None]


def _place_of(section: Section) -> tuple[SectionName, str | None] | None:
    """Return the name and the heading that `task_places` has for a section; None for one without entries."""
    if not len(section):
        return None
    name = _name_of(section)
    if name is not None:
        return name, None
    return "pending", section.title if section.heading else ""


def new_section_index(document: Document, name: SectionName) -> int:
    """Return where a missing section belongs: behind those that come before it, else before those behind it."""
    rank = SECTIONS.index(name)
    known = [(index, SECTIONS.index(found)) for index, found in task_sections(document)]
    before = [index for index, other in known if other < rank]
    if before:
        return max(before) + 1
    return min((index for index, other in known if other > rank), default=len(document.sections))


def with_section(document: Document, name: SectionName) -> tuple[Document, int]:
    """Return the document with that section, made where it is missing, and the index of the first of the name."""
    for index, found in task_sections(document):
        if found == name:
            return document, index
    index = new_section_index(document, name)
    return document.insert_section(index, Section.compose(TITLES[name], newline=document.newline)), index


class TaskRow(NamedTuple):
    """The cells of a task; each value is what the property of `Task` with that name has."""

    priority: str | None
    title: str
    due: DueValue = NO_DUE
    assigned: str | None = None
    progress: int | None = None


def read_row(entry: Entry) -> TaskRow:
    """Return the row of a task."""
    head, fields = entry.memo(Head), entry.fields
    return TaskRow(
        head.priority,
        head.title,
        read_due(fields.get("due")),
        text_or_none(fields.get("assigned")),
        read_progress(fields.get("progress")),
    )


# -- names of the tasks of a file -----------------------------------------------------------------------------------


class EntryColumns:
    """Answers about the entries of one file, in file order, one row of them for each function that was asked.

    A function looks at nothing but its entry, so an answer stays true as long as the entry is the same object.
    """

    __slots__ = ("_known", "_read", "cut")

    def __init__(self, read: Callable[[], Iterable[Entry]]) -> None:
        """Nothing is asked yet, and no entry cut out of the file: `read` returns them."""
        self._read = read
        self.cut: tuple[Entry, ...] | None = None
        """All entries where they were cut out already."""
        self._known: dict[Callable[[Entry], Any], Sequence[Any]] = {}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries; they are cut out when they are asked for first."""
        if self.cut is None:
            self.cut = tuple(self._read())
        return self.cut

    def of(self, function: Callable[[Entry], T]) -> Sequence[T]:
        """Return what a function says of each entry."""
        known = self._known.get(function)
        if known is None:
            known = self._known[function] = list(map(function, self.entries))
        return known

    def put(self, function: Callable[[Entry], T], answers: Sequence[T]) -> None:
        """Take what a function says of each entry from whoever asked in a quicker way."""
        self._known[function] = answers

    def known(self, function: Callable[[Entry], T]) -> Sequence[T] | None:
        """Return the same where it was asked before, else None."""
        return self._known.get(function)

    def inherit(self, before: EntryColumns) -> None:
        """Take the answers about the entries that an earlier look had; every function it asked is asked of the others.

        A look differs from the one before in few entries, most often in one: those before it and those behind it are
        taken over as they stand.
        """
        from memory.document.compare import ends

        old, new = before.entries, self.entries
        head, tail = ends(old, new)
        old_stop = len(old) - tail
        places = {id(entry): place for place, entry in enumerate(old[head:old_stop], head)}
        middle = new[head : len(new) - tail]
        for function, known in list(before._known.items()):
            answers = list(known[:head])
            for entry in middle:
                place = places.get(id(entry))
                answers.append(function(entry) if place is None else known[place])
            answers += known[old_stop:]
            self._known[function] = answers


_BEGIN = itemgetter(0)
_FEW = 8  # so many refs are made one by one before all twins are looked for at once
_LOOK = 3  # or so many times as many for which a look at the bytes of the file is enough


class TaskNames:
    """What the tasks of one file share: the document they stand in, and what tells each of them from the others.

    A task is named by its place among the tasks of the file, from 0.
    """

    __slots__ = (
        "_alone",
        "_asked",
        "_goes_on",
        "_hexes",
        "_told",
        "_twins",
        "columns",
        "document",
        "file",
        "headings",
        "sections",
    )

    def __init__(self, file: str, document: Document, sections: Sequence[TaskSection]) -> None:
        """Nothing is worked out yet."""
        self.file = file
        self.document = document
        self.sections = sections
        self.columns = EntryColumns(lambda: chain.from_iterable([part.entries for *_, part in sections]))
        self._twins: dict[int, str] | None = None
        self._goes_on: set[int] = set()
        self._hexes: Sequence[str] | None = None
        self._alone: set[int] = set()  # Tasks that were asked for and have no twin.
        self._told: dict[tuple[Entry, ...], list[str]] = {}
        self._asked = 0
        self.headings: dict[int, str] = {}
        """The headings of sections that have no name here, by the index of the section."""

    def at(self, index: int) -> tuple[int, int]:
        """Return where a task stands in the document: the index of its section, and its own in there."""
        start, section, _ = self.sections[bisect_right(self.sections, index, key=_BEGIN) - 1]
        return section, index - start

    def entry(self, index: int) -> Entry:
        """Return the entry of one task; those of other sections are not cut out for it."""
        if self.columns.cut is not None:
            return self.columns.cut[index]
        start, _, part = self.sections[bisect_right(self.sections, index, key=_BEGIN) - 1]
        return part.entries[index - start]

    def inherit(self, before: TaskNames) -> None:
        """Take what is known of the same entries, and of twins that are the same."""
        self.columns.inherit(before.columns)
        self._told = before._told
        self._twins = self._twins_of(before)

    def _twins_of(self, before: TaskNames) -> dict[int, str] | None:
        """Return the twins where hardly an entry is another one than before, None where all have to be looked at."""
        if before._twins is None:
            return None
        earlier, entries = before.columns.entries, self.columns.entries
        if len(entries) != len(earlier):
            return None
        from memory.document.compare import ends

        head, tail = ends(earlier, entries)
        if len(entries) - tail - head > _FEW:
            return None
        identities, old, twins = self.identities(), before.identities(), dict(before._twins)
        self._goes_on = set(before._goes_on)
        for place in range(head, len(entries) - tail):
            twins.pop(place, None)
            self._goes_on.discard(place)
        for identity in {*identities[head : len(entries) - tail], *old[head : len(entries) - tail]}:
            group = _places(identities, identity)
            long = tell_apart(identity, [bare(entries[place]) for place in group])
            self._goes_on.difference_update(group)
            for place, digits in zip(group, long, strict=True):
                twins.pop(place, None)
                if len(group) > 1:
                    twins[place] = digits
            if len(group) > 1:
                self._look_at(group)
        return twins

    def identity(self, index: int) -> str:
        """Return the ten hex digits of one task."""
        known = self.columns.known(task_identity)
        return task_identity(self.entry(index)) if known is None else known[index]

    def identities(self) -> Sequence[str]:
        """Return the identity of each task, in file order."""
        return self.columns.of(task_identity)

    def ref_hex(self, index: int) -> str:
        """Return the digits of the ref of one task."""
        if self._hexes is not None:
            return self._hexes[index]
        return self.twin_hex(index) or self.identity(index)

    def long_hex(self, index: int) -> str:
        """Return the digits that no other task of the file has."""
        return self._twin_of(index) or tell_apart(self.identity(index), [bare(self.entry(index))])[0]

    def twin_hex(self, index: int) -> str | None:
        """Return the long digits of a task whose identity names another one as well, else None.

        The completed runs of a recurring task are always named by them: the identity is the open one's.
        """
        if is_run(self.entry(index)):
            return self.long_hex(index)
        digits = self._twin_of(index)
        return None if index in self._goes_on else digits

    def _look_at(self, group: Sequence[int]) -> None:
        """Note the one task of a group of twins of which all others are completed runs."""
        entries = self.columns.entries
        others = [place for place in group if not is_run(entries[place])]
        if len(others) == 1:
            self._goes_on.add(others[0])

    def _twin_of(self, index: int) -> str | None:
        """Return the long digits of a task that has the same title and `created` as another one, else None."""
        if self._twins is None:
            if index in self._alone:
                return None
            if self._asked < _FEW * _LOOK:
                return self._look_for_twins(index)
            self._find_twins()
        assert self._twins is not None
        return self._twins.get(index)

    def _look_for_twins(self, index: int) -> str | None:
        """Answer for one task: only those that have its title somewhere are looked into."""
        known = self.columns.known(task_identity)
        self._asked += _LOOK
        group: list[int] = []
        if known is not None:
            # Most tasks have no twin, and to count is quicker than to look for one.
            if known.count(known[index]) > 1:
                group = _places(known, known[index])
        else:
            entry = self.entry(index)
            title, created = entry.memo(Head).title, created_of(entry)
            source = encode(title)
            # Nearly every title stands in the file once, which one look at its bytes tells.
            if _is_once(self.document.dump(), source):
                self._asked -= _LOOK - 1
            else:
                group = [
                    place
                    for place, other in enumerate(self.columns.entries)
                    if source in other.raw and other.memo(Head).title == title and created_of(other) == created
                ]
        if len(group) < 2:
            self._alone.add(index)
            return None
        self._look_at(group)
        digits = tell_apart(self.identity(index), [bare(self.entry(place)) for place in group])
        return digits[group.index(index)]

    def name_all(self) -> None:
        """Work out what all tasks are called."""
        if self._twins is None:
            # Another thread that asks meanwhile is answered one by one; it must not do all this as well.
            self._asked = -len(self.columns.entries)
            self._find_twins()

    def list_all(self) -> None:
        """Put down the digits of the refs of all tasks, for who is about to ask for every one of them."""
        self.name_all()
        found = list(self.identities())
        for place, digits in (self._twins or {}).items():
            if place not in self._goes_on:
                found[place] = digits
        for place, entry in enumerate(self.columns.entries):
            if b"recurring:" in entry.raw and is_run(entry):
                found[place] = self.long_hex(place)
        self._hexes = found

    def _find_twins(self) -> None:
        """Work out the identity of every task, and the long digits of those that share theirs with another."""
        identities = self.identities()
        groups: dict[str, list[int]] = {}
        if len(set(identities)) < len(identities):
            shared = {identity for identity, count in Counter(identities).items() if count > 1}
            for index, identity in enumerate(identities):
                if identity in shared:
                    groups.setdefault(identity, []).append(index)
        digits: dict[int, str] = {}
        entries, before = self.columns.entries, self._told
        told: dict[tuple[Entry, ...], list[str]] = {}
        for identity, group in groups.items():
            twins = tuple([entries[index] for index in group])
            long = before.get(twins) or tell_apart(identity, [bare(entry) for entry in twins])
            told[twins] = long
            digits.update(zip(group, long, strict=True))
            self._look_at(group)
        self._told = told
        self._twins = digits


def _is_once(data: bytes, part: bytes) -> bool:
    """Tell whether bytes hold a part no more than once."""
    return data.find(part, data.find(part) + 1) < 0


def _places(identities: Sequence[str], identity: str) -> list[int]:
    """Return the places of an identity, in order; most have one, which is found without a step for each other."""
    found: list[int] = []
    with suppress(ValueError):
        while True:
            found.append(identities.index(identity, found[-1] + 1 if found else 0))
    return found
