"""Links between the memory files that lead nowhere, stand twice, or are never used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from memory.base.problems import Level, Problem

from .index import JOB, PLAN, LinkPlace, link_index

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot


def link_problems(snapshot: Snapshot) -> Iterator[Problem]:
    """Yield warnings for dangling and duplicate links, notes for channels and plans that nothing refers to."""
    index = link_index(snapshot)
    planned, jobs = index.by_id(PLAN), index.by_id(JOB)
    for job, others in index.cron_jobs.items():
        jobs.setdefault(job, []).extend(others)
    for plan_id, places in planned.items():
        if plan_id not in index.plans and plan_id not in index.archived_plans:
            yield from _each(
                places, "warning", "link.dangling", f"no plan is called {plan_id[:40]!r}", "orchestrationId"
            )
    for channel_id, places in index.channel_uses.items():
        if channel_id not in index.channels:
            yield from _each(places, "warning", "link.dangling", f"no channel has the id {channel_id[:40]!r}")
    for name, places in index.routes.items():
        if name not in index.channel_names and name not in {key.casefold() for key in index.channels}:
            message = f"no channel is called {places[0].item.channel[:40]!r}"
            yield from _each(places, "warning", "link.dangling", message)
    for label, ids in (("planId", index.plans), ("channel id", index.channels), ("cronJobId", jobs)):
        for name, places in ids.items():
            yield from _twice(places, f"the {label} {name[:40]!r}", label)
    for name, places in index.channel_names.items():
        yield from _twice(places, f"the channel name {name[:40]!r}")
    for name, places in index.people.items():
        yield from _twice(places, f"the person {name[:40]!r}")
    names: dict[str, list[LinkPlace]] = {}
    for monitor in snapshot.monitors.monitors:
        names.setdefault(monitor.name.casefold(), []).append(LinkPlace(monitor))
    for name, places in names.items():
        yield from _twice(places, f"the monitor {name[:40]!r}")
    for channel in snapshot.contacts.channels:
        if channel.id not in index.channel_uses and channel.name.casefold() not in index.routes:
            message = f"nothing refers to the channel {channel.title[:40]!r}"
            yield Problem("note", channel.file, channel.line + 1, "link.unused", message)
    for plan in snapshot.plans.plans:
        if plan.section == "active" and plan.plan_id and plan.plan_id not in planned:
            message = f"no task carries the plan {plan.plan_id[:40]!r}"
            yield Problem("note", plan.file, plan.line + 1, "link.unused", message)


def _each(places: Iterable[LinkPlace], level: Level, code: str, message: str, key: str = "") -> Iterator[Problem]:
    for place in places:
        yield Problem(level, place.file, _line(place, key), code, message)


def _twice(places: list[LinkPlace], what: str, key: str = "") -> Iterator[Problem]:
    for place in places[1:]:
        message = f"{what} stands in {places[0].file}:{_line(places[0], key)} too"
        yield Problem("warning", place.file, _line(place, key), "link.twice", message)


def _line(place: LinkPlace, key: str) -> int:
    """Return the line (from 1) of the field `key` of an entry, else that of the place itself."""
    entry = getattr(place.item, "entry", None)
    nodes = entry.fields.nodes if key and entry is not None else ()
    return place.line + next((2 + node.line for node in nodes if node.key == key), 1)
