"""Links between entries: the ids, names and quoted titles that join the memory files, and those that lead nowhere."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from memory.base.problems import Problem
from memory.base.values import folded, is_absent
from memory.document.lines import encode
from memory.document.nodes import field_line
from memory.files.config import FILE as CONFIG
from memory.files.config import Setting
from memory.files.contacts import Contact
from memory.files.journal.model import JournalEntry
from memory.files.monitors import Monitor
from memory.files.plans.model import Plan
from memory.files.snapshot import Snapshot
from memory.files.tasks.model import Task

MAX_LINKS = 200
CHANNEL_KEYS = ("channelId", "primaryChannel", "secondaryChannel")
_MUTUAL = ("cron job", "project")
"""Links that join all items with the same id; the others join an item that is called so with those that name it."""
_ENDS: dict[str, tuple[tuple[str, str], ...]] = {
    "task": (("plan", "orchestration_id"), ("cron job", "cron_job_id"), ("assigned", "assigned")),
    "plan": (("plan", "plan_id"),),
    "monitor": (("cron job", "cron_job_id"), ("monitor", "name")),
    "channel": (("channel", "name"), ("channel id", "id")),
    "route": (("channel", "channel"), ("project", "project")),
    "person": (("assigned", "name"),),
}
"""What joins an item of each kind with others, and the attribute that has the id or name."""
_SETTINGS = {"cronJobId": "cron job", "projectId": "project", **dict.fromkeys(CHANNEL_KEYS, "channel id")}
_CALLED = {("plan", "plan"), ("monitor", "monitor"), ("channel", "channel"), ("channel", "channel id")}
_CALLED |= {("person", "assigned")}
"""The kinds of items that are called by an id or name themselves."""
_NAMES = ("assigned", "channel", "monitor")
"""The links by a name, whose case does not count."""
_QUOTED = re.compile(r'"([^"\r\n]{3,200})"|“([^”\r\n]{3,200})”')


class EntryLink(NamedTuple):
    """One jump: what joins the two (`plan`, `cron job`, …), and the target; `line` from 0, ref None for settings.

    `when` is the day of the target, and its time where it has one.
    """

    label: str
    file: str
    ref: str | None
    title: str
    line: int
    when: str = ""


class _End(NamedTuple):
    """One end of a link: what joins, the id or name, the item, and whether the item is called so itself."""

    link: str
    key: str
    item: Any
    called: bool = False


def _ends_of(item: Any) -> Iterator[_End]:
    """Yield the ends of an item; what is absent joins nothing."""
    noun = _noun(item)
    names = _ENDS.get(noun, ())
    if isinstance(item, Setting):
        names = ((_SETTINGS[item.key], "value"),) if item.key in _SETTINGS else ()
    for link, attribute in names:
        key = getattr(item, attribute) or ""
        if not is_absent(key):
            yield _End(link, folded(key) if link in _NAMES else key, item, (noun, link) in _CALLED)


def _items(snapshot: Snapshot, *, tasks: bool) -> Iterator[Any]:
    """Yield the items of all files that may be an end of a link, journal entries left out."""
    views: tuple[Any, ...] = (snapshot.plans, *snapshot.archived_plans(), snapshot.monitors, snapshot.contacts)
    for view in (*((snapshot.tasks,) if tasks else ()), *views, snapshot.config):
        yield from view.listed()


def links_of(snapshot: Snapshot, item: Any) -> tuple[EntryLink, ...]:
    """Return where one can go from an item, a task, entry, plan, monitor, contact or setting, at most `MAX_LINKS`."""
    found: dict[tuple[str, int], EntryLink] = {}
    own = _place(item)
    for label, other in islice(_linked(snapshot, item), 10 * MAX_LINKS):
        place = _place(other)
        if place != own and place not in found and len(found) < MAX_LINKS:
            ref = None if isinstance(other, Setting) else str(other.ref)
            title = f"{other.section}: {other.key}" if isinstance(other, Setting) else str(other.title)
            found[place] = EntryLink(label, place[0], ref, title, place[1], _when(other))
    return tuple(found.values())


def _place(item: Any) -> tuple[str, int]:
    return (CONFIG if isinstance(item, Setting) else str(item.file), int(item.line))


def _when(item: Any) -> str:
    """Return the day an item is about: when it was written, else when it was done or is due."""
    if day := getattr(item, "date", None):
        return f"{day} {getattr(item, 'time', None) or ''}".strip()
    return str(getattr(item, "completed", None) or getattr(item, "due", None) or "")


def _linked(snapshot: Snapshot, item: Any) -> Iterator[tuple[str, Any]]:
    """Yield the items that an item is linked with, each with what joins them."""
    ends = list(_ends_of(item))
    # Tasks are called nothing themselves, and there may be thousands of them.
    tasks = any(end.called or end.link == "cron job" for end in ends)
    others = [end for one in _items(snapshot, tasks=tasks) for end in _ends_of(one)] if ends else []
    for mine in ends:
        for other in others:
            joined = mine.link in _MUTUAL or mine.called != other.called
            if joined and (other.link, other.key) == mine[:2] and not _is_done(mine, other):
                named = mine.link in (*_MUTUAL, "assigned")
                yield (mine.link if named else _noun(other.item)), other.item
    if isinstance(item, JournalEntry):
        names = set(quoted(item.entry.text))
        titled: tuple[Task | Plan | Monitor, ...] = (
            (*snapshot.tasks.items, *snapshot.plans.items, *snapshot.monitors.items) if names else ()
        )
        yield from ((_noun(one), one) for one in titled if one.title in names)
    elif isinstance(item, Task | Plan | Monitor):
        yield from (("journal", entry) for entry in journal_naming(snapshot, item.title))
    elif isinstance(item, Contact) and item.kind == "person":
        text = folded(item.text)
        yield from (("channel", one) for one in snapshot.contacts.channels if one.name and folded(one.name) in text)


def _is_done(mine: _End, other: _End) -> bool:
    """Return whether a person is linked with a task that is completed: of those only the open ones are shown."""
    return mine.link == "assigned" and mine.called and other.item.section == "completed"


def _noun(item: Any) -> str:
    return item.kind if isinstance(item, Contact) else type(item).__name__.lower()


def journal_naming(snapshot: Snapshot, title: str) -> Iterator[JournalEntry]:
    """Yield the entries of journal.md that have a title in quotation marks, in file order."""
    if len(title) < 3:
        return
    named = re.compile(b"|".join(re.escape(encode(f"{left}{title}{right}")) for left, right in ('""', "“”"))).search
    yield from (entry for entry in snapshot.journal if named(entry.raw.raw))


def quoted(text: str) -> Iterator[str]:
    """Yield the texts in quotation marks, as journal entries name tasks."""
    return (found[1] or found[2] for found in _QUOTED.finditer(text))


# -- links that lead nowhere, occur twice, or are never used ---------------------------------------------------------

_FIELDS = {"plan": "planId", "cron job": "cronJobId"}
_UNIQUE = {
    "cron job": "cronJobId",
    "plan": "planId",
    "channel id": "channel id",
    "channel": "channel name",
    "assigned": "person",
    "monitor": "monitor",
}
"""The links of which one item may have each id or name, and their words."""


def link_problems(snapshot: Snapshot) -> Iterator[Problem]:
    """Yield warnings for dangling and duplicate links, notes for channels and plans that nothing refers to."""
    ends = [end for item in _items(snapshot, tasks=True) for end in _ends_of(item)]
    called = {(end.link, end.key) for end in ends if end.called}
    channels = {folded(one.id) for one in snapshot.contacts.channels}
    used = {(end.link, end.key) for end in ends if not end.called}
    twice: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for link, key, item, is_called in ends:
        if link in _UNIQUE and (is_called or link == "cron job") and not getattr(item, "archived", False):
            twice[link, key].append(item)
        if is_called or link in (*_MUTUAL, "assigned") or (link, key) in called:
            continue
        if link != "channel" or key not in channels:
            named = item.channel if isinstance(item, Contact) else key
            words = "has the id" if link == "channel id" else "is called"
            line = _line(item, "orchestrationId" if link == "plan" else "")
            message = f"no {link.removesuffix(' id')} {words} {named[:40]!r}"
            yield Problem("warning", _place(item)[0], line, "link.dangling", message)
    for (link, key), items in twice.items():
        yield from _twice(link, key, items)
    for plan in snapshot.plans.items:
        if plan.section == "active" and not is_absent(plan.plan_id or "") and ("plan", plan.plan_id) not in used:
            message = f"no task belongs to the plan {(plan.plan_id or '')[:40]!r}"
            yield Problem("note", plan.file, plan.line + 1, "link.unused", message)
    for channel in snapshot.contacts.channels:
        if ("channel id", channel.id) not in used and ("channel", folded(channel.name)) not in used:
            message = f"nothing refers to the channel {channel.title[:40]!r}"
            yield Problem("note", channel.file, channel.line + 1, "link.unused", message)


def _twice(link: str, key: str, items: Iterable[Any]) -> Iterator[Problem]:
    """Yield a warning for each item with an id or name but the first."""
    first, *others = items
    field = _FIELDS.get(link, "")
    for item in others:
        where = f"{_place(first)[0]}:{_line(first, field)}"
        message = f"the {_UNIQUE[link]} {key[:40]!r} is in {where} too"
        yield Problem("warning", _place(item)[0], _line(item, field), "link.twice", message)


def _line(item: Any, key: str) -> int:
    """Return the line (from 1) of the field `key` of an entry, else that of the item itself."""
    entry = getattr(item, "entry", None)
    return field_line(entry, key, item.line + 1) if key and entry is not None else int(item.line) + 1
