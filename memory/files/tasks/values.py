"""The values of a task as they are read: section, priority, title, `due` with its parts, progress, tags, `created`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from memory.base.patterns import late
from memory.base.remarks import ABSENT, is_absent, split_remark
from memory.document import Document, Section
from memory.document.lines_and_headings import decode
from memory.files.refs.refs import SHORT, hash_function, identity_hex, identity_of_bytes
from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    from memory.base.clock import Moment
    from memory.document import Entry

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
_PRIORITY = late(r"\[(HIGH|NORMAL|LOW)\](?:[ \t]+|$)", re.IGNORECASE)
_RECURRING = late(r"recurring:[ \t]*(\S.*)", re.IGNORECASE)
_PROGRESS = late(r"([0-9]{1,3})[ \t]*%?", re.ASCII)


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
        heading = usual_heading(entry.raw)
        if heading is not None:
            self.priority: str | None = _PRIORITIES[heading[0]]
            self.title = decode(heading[1])
        else:
            self.priority, self.title = split_priority(entry.title)


def created_of(entry: Entry) -> str | None:
    """Return `created`, read once."""
    head = entry.memo(Head)
    try:
        return head.created
    except AttributeError:
        head.created = _read_created(entry)
        return head.created


def identity_of(entry: Entry) -> str:
    """Return the ten hex digits made of title and `created`, computed once."""
    head = entry.memo(Head)
    try:
        return head.hex
    except AttributeError:
        head.hex = identity_hex(KIND, head.title, created_of(entry) or "")
        return head.hex


def _read_created(entry: Entry) -> str | None:
    """Return `created`; where the line is the usual one, without reading the other fields."""
    quick = _quick(entry.raw, _CREATED)
    if quick is None:
        return text_or_none(entry.fields.get("created"))
    return decode(quick) or None


def completed_of(entry: Entry) -> str | None:
    """Return `completed`; where the line is the usual one, without reading the other fields."""
    quick = _quick(entry.raw, _COMPLETED)
    if quick is None:
        return text_or_none(entry.fields.get("completed"))
    return decode(quick) or None


def is_run(entry: Entry) -> bool:
    """Tell whether a task is one completed run of a recurring one: the task itself goes on, open, beside it."""
    raw = entry.raw
    return b"completed:" in raw and b"recurring:" in raw and bool(completed_of(entry)) and _recurs(entry)


def _recurs(entry: Entry) -> bool:
    return read_due(entry.fields.get("due")).recurring is not None


_CREATED, _COMPLETED = b"created:", b"completed:"


def _quick(raw: bytes, key: bytes) -> bytes | None:
    """Return the value behind a key in its usual line, empty if the key is nowhere; None: read all fields."""
    at = raw.find(key)
    if at < 0:
        return b""
    start = at + len(key) + 1
    if raw[at - 3 : at] != b"\n- " or raw[start - 1 : start] != b" ":
        return None
    # Code and HTML above could hide it.
    above = raw[raw.find(b"\n") : at - 3]
    if above and (b"<" in above or b"```" in above or b"~~~" in above or b"\r" in above):
        return None
    moment = _MOMENT.match(raw, start)
    if moment is not None:
        return moment[1]
    end = raw.find(b"\n", start)
    # Indented lines behind it could go on with it.
    if end < 0 or (raw[end + 1 : end + 2] in b" \t\r\n" and raw[end:].strip()):
        return None
    value = raw[start:end].strip(b" \t")
    if b"\r" in value or not value.isascii():
        return None
    return b"" if len(value) < 8 and text_or_none(value.decode()) is None else value


_MOMENT = late(rb"([!-~][ -~]{6,}[!-~])\n(?=[^ \t\r\n]|[ \t\r\n]*\Z)")
"""A value of eight characters or more, as every date is, with nothing behind its line that could go on with it."""

_HEADING_FORM = rb"### (?:\[(%b)\] )?([!-Z\\-~\x80-\xff][ -~\x80-\xff]*)(?<![ -#])\n" % "|".join(PRIORITIES).encode()
_HEADING = late(_HEADING_FORM)
"""A heading with nothing odd at the ends of its title: neither blanks nor hashes nor brackets."""

_OTHERS = rb"(?:- (?:%b): [ -;=-_a-}\x80-\xff]*\n)*+"
"""Lines of some fields between those that are looked for; they can hide nothing."""

_USUAL = late(
    _HEADING_FORM
    + _OTHERS % b"due|started|completed|assigned|cronJobId|orchestrationId"
    + rb"(?:- created: ([!-~][ -~]{6,}[!-~])\n(?=[^ \t\r\n]|[ \t\r\n]*\Z))?"
)
"""Such a heading, and perhaps `created` in its usual line below fields that memdeck writes above it."""


def quick_identity(raw: bytes) -> str | None:
    """Return the identity of a task out of its source; None where heading or `created` are not the usual ones.

    A ref is looked up among all tasks of a file, and most of them are never asked for anything else.
    """
    heading = usual_heading(raw)
    if heading is None:
        return None
    created = _quick(raw, _CREATED)
    return None if created is None else identity_of_bytes(b"tasks\0%b\0%b" % (heading[1], created))


def quick_identities(entries: Iterable[Entry]) -> list[str]:
    """Return the identity of each task; those of a whole file are worked out in one go."""
    match, blake2b, size = _USUAL.match, hash_function(), SHORT // 2
    found: list[str] = []
    for entry in entries:
        raw = entry.raw
        usual = match(raw)
        if usual is not None:
            _, title, created = usual.groups(b"")
            if (created or b"created:" not in raw) and _is_stripped(title):
                found.append(blake2b(b"tasks\0%b\0%b" % (title, created), digest_size=size).hexdigest())
                continue
        found.append(quick_identity(raw) or identity_of(entry))
    return found


def usual_heading(raw: bytes) -> tuple[bytes | None, bytes] | None:
    """Return priority and title out of the source of a task; None where the heading is not the usual one."""
    heading = _HEADING.match(raw)
    if heading is None:
        return None
    priority, title = heading.groups()
    return (priority, title) if _is_stripped(title) else None


def _is_stripped(title: bytes) -> bool:
    """Tell whether a title that has no ASCII blanks at its ends has no white space at all there."""
    if title[0] < 128 and title[-1] < 128:
        return True
    text = decode(title)
    return text.strip() == text


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


SectionName = Literal["pending", "in-progress", "completed", "archived"]
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


def task_sections(document: Document) -> Iterable[tuple[int, SectionName]]:
    """Yield (section index, name) of the sections that hold tasks, in file order."""
    for index, section in enumerate(document.sections):
        name = _name_of(section)
        if name is not None:
            yield index, name


def _name_of(section: Section) -> SectionName | None:
    if section.level != 2:
        return None
    return _BY_NAME.get(section.name) or _BY_NAME.get(section.title.casefold())


def task_places(document: Document) -> Iterator[tuple[int, SectionName, str | None, Section]]:
    """Yield (index, name, heading, section) of each section with entries, in file order; -1 is before all sections.

    The heading is None for a section that has a name here. Entries under any other heading, or under none (""), are
    tasks too and count as pending: nothing that a file holds may vanish because of a slip in a heading, and nothing
    that is perhaps not done may go to the archive.
    """
    for index, section in document.all_sections():
        # A heading above no entry is not even read.
        if len(section):
            name = _name_of(section)
            if name is not None:
                yield index, name, None, section
            else:
                yield index, "pending", section.title if section.heading else "", section


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
    """Return the row of a task; the fields of a usual one are not read for it."""
    cells = _usual_cells(entry.raw)
    if cells is None:
        head, fields = entry.memo(Head), entry.fields
        cells = head.priority, head.title, fields.get("due"), fields.get("assigned"), fields.get("progress")
    priority, title, due, assigned, progress = cells
    return TaskRow(
        priority,
        title,
        read_due(due) if due else NO_DUE,
        text_or_none(assigned) if assigned else None,
        read_progress(progress) if progress else None,
    )


_PRIORITIES: dict[bytes | None, str | None] = {None: None, **{name.encode(): name for name in PRIORITIES}}
_VALUE = rb"([!-;=-_a-}\x80-\xff](?:[ -;=-_a-}\x80-\xff]*[!-;=-_a-}\x80-\xff])?)\n"
_USUAL_ROW = late(
    _HEADING_FORM
    + rb"(?:- due: %b)?" % _VALUE
    + _OTHERS % b"started|completed|cronJobId|orchestrationId"
    + rb"(?:- assigned: %b)?" % _VALUE
    + _OTHERS % b"created|cronJobId|orchestrationId"
    + rb"(?:- progress: %b)?(?=[^ \t\r\n]|[ \t\r\n]*\Z)" % _VALUE
)
"""A usual heading, and the cells of its row where memdeck writes them: nothing hides them nor goes on with them."""


def _usual_cells(raw: bytes) -> tuple[str | None, str, str | None, str | None, str | None] | None:
    """Return priority, title, due, assigned and progress as they are written; None where they may stand elsewhere."""
    usual = _USUAL_ROW.match(raw)
    if usual is None:
        return None
    priority, title, due, assigned, progress = usual.groups()
    if (
        (due is None and b"due:" in raw)
        or (assigned is None and b"assigned:" in raw)
        or (progress is None and b"progress:" in raw)
        or not _is_stripped(title)
    ):
        return None
    return (
        _PRIORITIES[priority],
        decode(title),
        decode(due) if due else None,
        decode(assigned) if assigned else None,
        decode(progress) if progress else None,
    )
