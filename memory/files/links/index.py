"""Which ids stand where: one index over all memory files, built once per set of documents; and broken links.

Broken are links that lead nowhere, stand twice, or are never used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from operator import is_
from typing import TYPE_CHECKING, Any

from memory.base.problems import Problem
from memory.base.values import folded, is_absent
from memory.document.nodes import field_line
from memory.files.config import Setting

if TYPE_CHECKING:
    from memory.document import Document
    from memory.files.contacts.model import Contacts
    from memory.files.snapshot import Snapshot
    from memory.files.tasks.model import Task, TaskList

CHANNEL_KEYS = ("channelId", "primaryChannel", "secondaryChannel")
CONFIG = "config.md"
_OTHERS = ("orchestration.md", "monitors.md", "contacts.md", "config.md")
"""The files with links besides tasks.md."""
JOB, PLAN, PERSON = range(3)
"""The parts of what a task names."""
_QUOTED = re.compile(r'"([^"\r\n]{3,200})"|“([^”\r\n]{3,200})”')


@dataclass(frozen=True, slots=True)
class LinkPlace:
    """One end of a link: the item, and what is known of it. An index has thousands, and nobody looks at most."""

    item: Any

    @property
    def file(self) -> str:
        """The file's name relative to the memory folder."""
        return CONFIG if isinstance(self.item, Setting) else str(self.item.file)

    @property
    def title(self) -> str:
        """Its words."""
        item = self.item
        return f"{item.section}: {item.key}" if isinstance(item, Setting) else str(item.title)

    @property
    def when(self) -> str:
        """The day it is about: when it was written, else when it was done or is due."""
        day = getattr(self.item, "date", None)
        if day:
            return f"{day} {getattr(self.item, 'time', None) or ''}".strip()
        return str(getattr(self.item, "completed", None) or getattr(self.item, "due", None) or "")

    @property
    def line(self) -> int:
        """Where it stands, from 0."""
        return int(self.item.line)

    @property
    def ref(self) -> str | None:
        """Its ref; a setting has none."""
        return None if isinstance(self.item, Setting) else str(self.item.ref)


@dataclass(slots=True)
class LinkIndex:
    """Ids → places; names are without case. Plans of the archive are in `archived_plans`, by id.

    Tasks are in none of them: there may be very many, of which hardly any is asked for.
    """

    cron_jobs: dict[str, list[LinkPlace]] = field(default_factory=dict)
    plans: dict[str, list[LinkPlace]] = field(default_factory=dict)
    archived_plans: dict[str, list[LinkPlace]] = field(default_factory=dict)
    channels: dict[str, list[LinkPlace]] = field(default_factory=dict)
    channel_names: dict[str, list[LinkPlace]] = field(default_factory=dict)
    channel_uses: dict[str, list[LinkPlace]] = field(default_factory=dict)
    routes: dict[str, list[LinkPlace]] = field(default_factory=dict)
    projects: dict[str, list[LinkPlace]] = field(default_factory=dict)
    people: dict[str, list[LinkPlace]] = field(default_factory=dict)
    monitors: dict[str, list[LinkPlace]] = field(default_factory=dict)
    tasks: TaskList | None = None

    def of_job(self, job: str) -> Iterator[LinkPlace]:
        """Yield what a cron job runs: tasks, then monitors and settings."""
        yield from map(LinkPlace, self._naming(JOB, job))
        yield from self.cron_jobs.get(job, ())

    def planned(self, plan_id: str) -> Iterator[LinkPlace]:
        """Yield the tasks of a plan."""
        yield from map(LinkPlace, self._naming(PLAN, plan_id))

    def assigned(self, name: str) -> Iterator[LinkPlace]:
        """Yield the open tasks of a person."""
        yield from (LinkPlace(task) for task in self._naming(PERSON, name) if task.section != "completed")

    def by_id(self, part: int) -> dict[str, list[Task]]:
        """Return the tasks under the `JOB` or `PLAN` that they name."""
        if self.tasks is None:
            return {}
        found: dict[str, list[Task]] = {}
        for task in self.tasks.tasks:
            if name := _named(task)[part]:
                found.setdefault(name, []).append(task)
        return found

    def _naming(self, part: int, name: str) -> Iterator[Task]:
        if self.tasks is not None and name and not is_absent(name):
            yield from (task for task in self.tasks.tasks if _named(task)[part] == name)


def _put(index: dict[str, list[LinkPlace]], key: str | None, place: LinkPlace) -> None:
    if key and not is_absent(key):
        index.setdefault(key, []).append(place)


def link_index(snapshot: Snapshot) -> LinkIndex:
    """Return the index of a snapshot."""
    return _index(snapshot)[0]


def _index(snapshot: Snapshot) -> tuple[LinkIndex, tuple[Problem, ...]]:
    """Return the index of a snapshot, and what is wrong in it whatever tasks there are.

    All but the tasks is kept as long as the documents of the other files stay the same objects.
    """
    documents = tuple([snapshot.found(name) for name in (*_OTHERS, *snapshot.archives("orchestration"))])
    known = _LAST.get("index")
    if known is None or not same_documents(known[0], documents):
        index = _build(snapshot)
        known = _LAST["index"] = (documents, index, tuple(_problems_of_others(index, snapshot.contacts)))
    return replace(known[1], tasks=snapshot.tasks), known[2]


_LAST: dict[str, tuple[tuple[Document | None, ...], LinkIndex, tuple[Problem, ...]]] = {}


def same_documents(known: tuple[Document | None, ...], now: tuple[Document | None, ...]) -> bool:
    """Tell whether two looks saw the very same document objects."""
    return len(known) == len(now) and all(map(is_, known, now))


def _build(snapshot: Snapshot) -> LinkIndex:
    index = LinkIndex()
    for monitor in snapshot.monitors.monitors:
        place = LinkPlace(monitor)
        _put(index.cron_jobs, monitor.cron_job_id, place)
        index.monitors.setdefault(folded(monitor.name), []).append(place)
    for plan in snapshot.plans.plans:
        _put(index.plans, plan.plan_id, LinkPlace(plan))
    for plans in snapshot.archived_plans():
        for plan in plans.plans:
            _put(index.archived_plans, plan.plan_id, LinkPlace(plan))
    contacts = snapshot.contacts
    for channel in contacts.channels:
        place = LinkPlace(channel)
        _put(index.channels, channel.id, place)
        _put(index.channel_names, folded(channel.name), place)
    for route in contacts.routes:
        place = LinkPlace(route)
        _put(index.routes, folded(route.channel), place)
        _put(index.projects, route.project, place)
    for person in contacts.people:
        _put(index.people, folded(person.name), LinkPlace(person))
    for setting in snapshot.config.settings:
        place = LinkPlace(setting)
        if setting.key == "cronJobId":
            _put(index.cron_jobs, setting.value, place)
        elif setting.key in CHANNEL_KEYS:
            _put(index.channel_uses, setting.value, place)
        elif setting.key == "projectId":
            _put(index.projects, setting.value, place)
    return index


def _named(task: Task) -> tuple[str | None, str | None, str | None]:
    """Return the cron job, the plan and the person that a task names."""
    return task.cron_job_id, task.orchestration_id, folded(task.assigned or "")


def quoted(text: str) -> Iterator[str]:
    """Yield what stands in quotation marks, as journal entries name tasks."""
    for found in _QUOTED.finditer(text):
        yield found[1] or found[2]


def link_problems(snapshot: Snapshot) -> Iterator[Problem]:
    """Yield warnings for dangling and duplicate links, notes for channels and plans that nothing refers to."""
    index, others = _index(snapshot)
    yield from others
    planned, jobs = index.by_id(PLAN), index.cron_jobs.copy()
    for job, doers in index.by_id(JOB).items():
        jobs[job] = [*map(LinkPlace, doers), *jobs.get(job, [])]
    yield from _twice(jobs, "cronJobId", "cronJobId")
    for plan_id, parts in planned.items():
        if plan_id not in index.plans and plan_id not in index.archived_plans:
            for task in parts:
                line = field_line(task.entry, "orchestrationId", task.line + 1)
                yield Problem("warning", task.file, line, "link.dangling", f"no plan is called {plan_id[:40]!r}")
    for plan_id, places in index.plans.items():
        for place in places:
            if place.item.section == "active" and plan_id not in planned:
                message = f"no task carries the plan {plan_id[:40]!r}"
                yield Problem("note", place.file, place.line + 1, "link.unused", message)


def _problems_of_others(index: LinkIndex, contacts: Contacts) -> Iterator[Problem]:
    """Yield the warnings and notes of `link_problems` that no task has a part in."""
    for channel_id, places in index.channel_uses.items():
        if channel_id not in index.channels:
            yield from _dangling(places, f"no channel has the id {channel_id[:40]!r}")
    for name, places in index.routes.items():
        if name not in index.channel_names and name not in {folded(key) for key in index.channels}:
            message = f"no channel is called {places[0].item.channel[:40]!r}"
            yield from _dangling(places, message)
    yield from _twice(index.plans, "planId", "planId")
    yield from _twice(index.channels, "channel id")
    yield from _twice(index.channel_names, "channel name")
    yield from _twice(index.people, "person")
    yield from _twice(index.monitors, "monitor")
    for channel in contacts.channels:
        if channel.id not in index.channel_uses and folded(channel.name) not in index.routes:
            message = f"nothing refers to the channel {channel.title[:40]!r}"
            yield Problem("note", channel.file, channel.line + 1, "link.unused", message)


def _dangling(places: Iterable[LinkPlace], message: str) -> Iterator[Problem]:
    for place in places:
        yield Problem("warning", place.file, place.line + 1, "link.dangling", message)


def _twice(known: dict[str, list[LinkPlace]], label: str, key: str = "") -> Iterator[Problem]:
    """Yield a warning for each place of a name but the first."""
    for name, places in known.items():
        for place in places[1:]:
            message = f"the {label} {name[:40]!r} stands in {places[0].file}:{_line(places[0], key)} too"
            yield Problem("warning", place.file, _line(place, key), "link.twice", message)


def _line(place: LinkPlace, key: str) -> int:
    """Return the line (from 1) of the field `key` of an entry, else that of the place itself."""
    entry = getattr(place.item, "entry", None)
    return field_line(entry, key, place.line + 1) if key and entry is not None else place.line + 1
