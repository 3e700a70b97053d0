"""`memdeck status`: the state of the workspace, on one screen."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from typing import Any

from app.cli.session import Session, short
from memory.base.clock import format_local, format_utc, humanize, read_moment
from memory.base.problems import Problem
from memory.errors import MemdeckError
from memory.files import MEMORY_FILES
from memory.files.status import Brief, NextRun, brief
from memory.files.tasks.values import moment_or_none
from memory.history.outside import lost_files
from memory.maintenance.run import ahead_of, held_words
from memory.monitoring.history.overview import standings
from memory.monitoring.run.schedule import overdue
from memory.operations import verb
from memory.review import Inbox
from memory.systems import approvals_of, waiting_in

from .check import as_json

_SOME = 5
_SHORT = 4_000_000
"""Up to so many bytes of memory files are compared with their last known content before the status is printed."""


@verb("status", serves="look", examples=("memdeck status", "memdeck status -o json"))
def status(session: Session) -> None:
    """Say how things stand: counts, what is due and overdue, monitors, last maintenance, problems."""
    if _is_short(session):
        session.look_outside()
    found = brief(session.snapshot.readable(), session.now)
    last = _last_maintenance(session)
    alerts = _alerts(session, found)
    runs = _runs(session, found)
    session.answer(
        lambda: _document(session, found, last, alerts, runs), lambda: _lines(session, found, last, alerts, runs)
    )


def _waiting(session: Session) -> tuple[int, int]:
    """Return how many proposals of agents wait for a decision, and how many things to run or to reach for an approval.

    A folder that cannot be read counts as empty: doctor reports what is wrong with it.
    """
    proposals = approvals = 0
    with suppress(MemdeckError):
        proposals = Inbox(session.workspace).count()
    with suppress(MemdeckError):
        approvals = len(waiting_in(approvals_of(session.workspace, session.trust, os.environ)))
    return proposals, approvals


def _is_short(session: Session) -> bool:
    """Return whether the files are fast to read: for very long ones, other verbs log what other programs did."""
    size = 0
    for name in MEMORY_FILES:
        with suppress(OSError):
            size += os.stat(session.workspace.memory / name).st_size
    return size <= _SHORT


def _runs(session: Session, found: Brief) -> list[NextRun]:
    """Return what runs next; monitors that are not approved do not run."""
    runs = list(found.next_runs)
    if not any(run.kind == "monitor" for run in runs):
        return runs
    try:
        known = standings(session.workspace, found.snapshot, session.now, session.trust)
    except MemdeckError:
        return runs  # doctor reports what is wrong with the folder
    blocked = {one.monitor.ref for one in known if one.blocked}
    return [run for run in runs if run.kind != "monitor" or run.ref not in blocked]


def _alerts(session: Session, found: Brief) -> list[dict[str, Any]]:
    """Return the monitors that alert: by the record, and by the file if the record does not know them."""
    by_file = {monitor.at for monitor in found.alerts}
    return [
        {**one.monitor.json(), **one.json()}
        for one in standings(session.workspace, found.snapshot, session.now)
        if one.stale or (one.alert.alerting if one.alert.known else one.monitor.at in by_file)
    ]


def _last_maintenance(session: Session) -> datetime | None:
    state = session.workspace.state
    with suppress(MemdeckError):  # doctor reports what is wrong with the folder
        return state.read().last_maintenance if state is not None else None
    return None


def _ahead(session: Session) -> datetime | None:
    """Return the last recorded time if the clock is behind it, so that maintenance writes nothing."""
    with suppress(MemdeckError):
        return ahead_of(session.workspace, session.now)
    return None


def _document(
    session: Session, found: Brief, last: datetime | None, alerts: list[dict[str, Any]], runs: Sequence[NextRun]
) -> dict[str, Any]:
    proposals, approvals = _waiting(session)
    return {
        "workspace": str(session.workspace.root),
        "now": format_utc(session.now),
        "counts": {name: dict(counts) for name, counts in found.counts.items()},
        "overdue": [task.json() for task in found.overdue],
        "due": {
            "today": [task.json() for task in found.due_today],
            "week": [task.json() for task in found.due_week],
        },
        "in_progress": [task.json() for task in found.in_progress],
        "monitors": {
            "total": len(found.snapshot.monitors.monitors),
            "alerts": alerts,
        },
        "next_runs": [
            {"label": run.label, "kind": run.kind, "ref": run.ref, "at": format_utc(run.instant)} for run in runs
        ],
        "systems": _systems(session),
        "last_maintenance": format_utc(last) if last else None,
        "upkeep": [one.json() for one in overdue(session.workspace, session.now)],
        "clock": None if (latest := _ahead(session)) is None else {"latest": format_utc(latest)},
        "review": {"waiting": proposals},
        "approvals": {"waiting": approvals},
        "taken_back": [one.json() for one in session.removals()],
        "problems": [as_json(problem) for problem in _serious(session, found)],
    }


def _systems(session: Session) -> dict[str, Any]:
    """Return the status of the systems besides the memory files."""
    found: dict[str, Any] = {}
    for system in session.workspace.systems():
        if system.name == "files":
            continue
        try:
            found[system.name] = dict(system.status(session.now))
        except MemdeckError as error:
            found[system.name] = {"error": error.message}
    return found


def _lines(
    session: Session, found: Brief, last: datetime | None, alerts: list[dict[str, Any]], runs: Sequence[NextRun]
) -> Iterator[str]:
    paint, zone, now = session.paint, found.snapshot.zone, session.now
    yield paint.line(str(session.workspace.root))
    counted = [(_words(name), _counted(counts)) for name, counts in found.counts.items()]
    counted += [
        (name, _counted(values["counts"]) if "counts" in values else values["error"])
        for name, values in _systems(session).items()
    ]
    yield from paint.columns(counted)
    latest = _ahead(session)
    if latest is not None:
        yield ""
        yield paint.notice(held_words(now, latest))
    for late in overdue(session.workspace, now):
        yield ""
        yield paint.notice(late.message)
    proposals, approvals = _waiting(session)
    if proposals:
        yield ""
        yield paint.notice(f"{proposals:,} {_noun('proposals', proposals)} of agents: `memdeck review list`")
    if approvals:
        yield ""
        yield paint.notice(f"{approvals:,} wait{'s' if approvals == 1 else ''} for an approval: `memdeck trust list`")
    found_gone = session.removals()
    gone = [(one.id[:16], format_local(one.time, zone), ", ".join(one.files), one.words) for one in found_gone[:_SOME]]
    yield from _part(session, "Removed by other programs", gone, len(found_gone), range(len(gone)))
    if gone:
        yield "  `memdeck changes revert --removed ID` brings it back, `memdeck changes keep ID` leaves it so"
    for heading, tasks, alerting in (
        ("Overdue", found.overdue, True),
        ("Due today", found.due_today, False),
        ("Due in 7 days", found.due_week, False),
        ("In progress", found.in_progress, False),
    ):
        rows = [(short(task.ref), task.due or task.recurring or "", _far(task), task.title) for task in tasks[:_SOME]]
        yield from _part(session, heading, rows, len(tasks), range(len(rows)) if alerting else ())
    rows = [(short(m["ref"]), _status(m), _local(m["lastCheck"], zone), m["name"]) for m in alerts[:_SOME]]
    yield from _part(session, "Monitors that alert", rows, len(alerts), range(len(rows)))
    shown = [(format_local(run.instant, zone), run.label) for run in runs[:_SOME]]
    yield from _part(session, "Next runs", shown, len(runs))
    serious = _serious(session, found)
    problems = [(p.place, p.level, p.message) for p in serious[:_SOME]]
    errors = [index for index, problem in enumerate(serious[:_SOME]) if problem.level == "error"]
    yield from _part(session, "Problems", problems, len(serious), errors)
    yield ""
    moment = read_moment(last.isoformat(timespec="seconds"), zone) if last else None
    yield f"last maintenance: {humanize(moment, now, zone) if moment else 'never'}"


def _local(text: str | None, zone: tzinfo) -> str:
    """Return a time of a file in the workspace's zone, in the same format as other times; other texts unchanged."""
    moment = moment_or_none(text, zone)
    return (text or "") if moment is None or moment.instant is None else format_local(moment.instant, zone)


def _status(monitor: dict[str, Any]) -> str:
    if monitor["state"] == "stale":
        return f"stale, {monitor['summary']}"
    remark = monitor["lastStatusRemark"]
    return (monitor["lastStatus"] or "") + (f" ({remark})" if remark else "")


def _far(task: Any) -> str:
    return "" if task.progress is None or task.section != "in-progress" else f"{task.progress}%"


def _serious(session: Session, found: Brief) -> list[Problem]:
    """Return errors and warnings, missing files first; `check` has the notes too."""
    lost = [one.problem() for one in lost_files(session.workspace)]
    return lost + [problem for problem in found.problems if problem.level != "note"]


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {_noun(_words(name), count)}" for name, count in counts.items())


def _noun(words: str, count: int) -> str:
    """Return a count with its noun; one thing has no s at the end."""
    if words == "next prune":
        return "for the next prune"
    if count != 1 or words.endswith("ss"):
        return words
    if words == "people":
        return "person"
    return f"{words[:-3]}y" if words.endswith("ies") else words.removesuffix("s")


def _words(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


def _part(
    session: Session, heading: str, rows: Sequence[tuple[str, ...]], total: int, alerts: Iterable[int] = ()
) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield f"{heading} ({total})"
    yield from session.paint.columns(rows, alerts=dict.fromkeys(alerts, 1))
    if total > len(rows):
        yield f"  and {total - len(rows)} more"
