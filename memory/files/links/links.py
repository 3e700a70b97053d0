"""From one entry to those that it names, and back: ids, names and quoted titles that join the memory files."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from memory.base.values import folded
from memory.files.config import Setting
from memory.files.contacts.model import Channel, Person, Route
from memory.files.journal.model import JournalEntry
from memory.files.monitors import Monitor
from memory.files.plans.model import Plan
from memory.files.tasks.model import Task

from .index import CHANNEL_KEYS, CONFIG, LinkIndex, LinkPlace, link_index, quoted

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot

MAX_LINKS = 200
MAX_HITS = 1000
LONGEST_NAME = 80
"""Characters behind an `@` that may be a name."""

_CALL = re.compile(r"(?<![\w@.])@(?=\w)")
_END_OF_WORD = re.compile(r"(?<=\w)(?!\w)")


@dataclass(frozen=True, slots=True)
class EntryLink:
    """One jump: what joins the two (`plan`, `cron job`, …), and the target; `line` from 0, ref None for settings."""

    label: str
    file: str
    ref: str | None
    title: str
    line: int
    when: str = ""
    """The day of the target, and its time where it has one, as its file says: of a journal entry, of what is due."""


def links_of(snapshot: Snapshot, item: Any) -> tuple[EntryLink, ...]:
    """Return where one can go from an item, a task, entry, plan, monitor, contact or setting, at most `MAX_LINKS`."""
    index = link_index(snapshot)
    found: list[EntryLink] = []
    seen: set[tuple[str, int]] = {(item.file if not isinstance(item, Setting) else CONFIG, item.line)}
    for label, places in _places(snapshot, index, item):
        for place in places:
            if (place.file, place.line) in seen:
                continue
            seen.add((place.file, place.line))
            found.append(EntryLink(label, place.file, place.ref, place.title, place.line, place.when))
            if len(found) >= MAX_LINKS:
                return tuple(found)
    return tuple(found)


def _places(snapshot: Snapshot, index: LinkIndex, item: Any) -> Iterable[tuple[str, Iterable[LinkPlace]]]:
    if isinstance(item, Task):
        plan_id, job = item.orchestration_id or "", item.cron_job_id or ""
        yield "plan", index.plans.get(plan_id) or index.archived_plans.get(plan_id) or ()
        yield "cron job", index.of_job(job)
        yield "assigned", index.people.get(folded(item.assigned or ""), ())
        yield "journal", journal_naming(snapshot, item.title)
    elif isinstance(item, JournalEntry):
        yield "task", _named(item, snapshot.tasks.tasks)
        yield "plan", _named(item, snapshot.plans.plans)
        yield "monitor", _named(item, snapshot.monitors.monitors)
        yield "contact", _called(index, item.entry.text)
    elif isinstance(item, Plan):
        yield "task", index.planned(item.plan_id or "")
        yield "journal", journal_naming(snapshot, item.title)
    elif isinstance(item, Monitor):
        yield "cron job", index.of_job(item.cron_job_id or "")
        yield "journal", journal_naming(snapshot, item.name)
    elif isinstance(item, Channel):
        yield "route", index.routes.get(folded(item.name), ())
        yield "setting", index.channel_uses.get(item.id, ())
    elif isinstance(item, Route):
        yield "channel", index.channel_names.get(folded(item.channel), ())
        yield "project", index.projects.get(item.project, ())
    elif isinstance(item, Person):
        yield "assigned", index.assigned(folded(item.name))
        yield "channel", _channels_named(index, item.text)
        yield "journal", _calling(snapshot, index, item)
    elif isinstance(item, Setting):
        if item.key == "cronJobId":
            yield "cron job", index.of_job(item.value)
        elif item.key in CHANNEL_KEYS:
            yield "channel", index.channels.get(item.value, ())
        elif item.key == "projectId":
            yield "project", index.projects.get(item.value, ())


def journal_naming(snapshot: Snapshot, title: str) -> Iterable[LinkPlace]:
    """Return the journal entries that quote a title, found in the bytes of the file without reading entries."""
    if len(title) < 3:
        return ()
    return _entries_at(snapshot, lambda data: _quotes(data, title.encode("utf-8", "surrogateescape")))


def _entries_at(snapshot: Snapshot, find: Callable[[bytes], Iterator[int]]) -> Iterator[LinkPlace]:
    """Yield the journal entries at places in the bytes of the file, which come in order."""
    journal = snapshot.journal
    document = journal.document
    hits = find(document.dump())
    hit = next(hits, None)
    end = len(document.bom) + len(document.front_raw) + document.head.size
    for index, section in enumerate(document.sections):
        start, end = end, end + section.size
        offsets: list[int] | None = None
        last = -1
        while hit is not None and hit < end:
            if offsets is None:
                offsets = section.offsets
            number = bisect_right(offsets, hit - start) - 1
            if 0 <= number < len(section) and number != last:
                yield LinkPlace(journal.at(index, number))
                last = number
            hit = next(hits, None)
        if hit is None:
            return


def _quotes(data: bytes, title: bytes) -> Iterator[int]:
    """Yield where a title stands in quotation marks; no more often than anybody would read."""
    at = data.find(title)
    for _ in range(MAX_HITS):
        if at < 0:
            return
        end = at + len(title)
        if (data[at - 1 : at], data[end : end + 1]) == (b'"', b'"') or (
            data[max(0, at - 3) : at],
            data[end : end + 3],
        ) == ("“".encode(), "”".encode()):
            yield at
        at = data.find(title, end)


def _named(entry: JournalEntry, items: Iterable[Task | Plan | Monitor]) -> Iterable[LinkPlace]:
    names = set(quoted(entry.entry.text))
    return [LinkPlace(item) for item in items if item.title in names] if names else ()


def _called(index: LinkIndex, text: str) -> Iterator[LinkPlace]:
    """Yield the people whose whole name stands behind an `@`, in any case: `@Bob`, `@Dev Team`."""
    for found in islice(_CALL.finditer(text), MAX_LINKS):
        words = text[found.end() : found.end() + LONGEST_NAME]
        ends = [boundary.start() for boundary in _END_OF_WORD.finditer(words)]
        people = (index.people.get(folded(words[:end])) for end in reversed(ends))
        yield from next(filter(None, people), ())


def _calling(snapshot: Snapshot, index: LinkIndex, person: Person) -> Iterator[LinkPlace]:
    """Yield the journal entries that name a person behind an `@`."""
    name = folded(person.name)
    sign = re.compile(b"@" + re.escape(person.name.encode("utf-8", "surrogateescape")), re.IGNORECASE)
    for place in _entries_at(snapshot, lambda data: islice((at.start() for at in sign.finditer(data)), MAX_HITS)):
        # The name may go on, and a longer one may be another person's.
        if any(folded(one.item.name) == name for one in _called(index, place.item.entry.text)):
            yield place


def _channels_named(index: LinkIndex, text: str) -> Iterable[LinkPlace]:
    folded = text.casefold()
    for name, places in index.channel_names.items():
        if name in folded:
            yield from places
