"""The operations over all systems: `status`, the overview of the workspace, and `check`, the problems in its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, TypeVar

from memory.base.clock import format_local, format_utc, humanize, read_moment
from memory.base.problems import Problem
from memory.errors import MemdeckError, UsageError
from memory.files.check import line_findings, write_plainly
from memory.files.fields.dress import READ
from memory.files.fields.values import moment_or_none
from memory.files.status import Attention, Brief, brief
from memory.files.tasks.model import Task
from memory.history.outside import OutsideRemoval, lost_files, outside_removals
from memory.maintenance.run import ahead_of, held_words
from memory.monitoring.overview import MonitorStanding, resting_in, standings
from memory.monitoring.schedule import Overdue, overdue
from memory.operations import Choice, Context, argument, option, verb
from memory.operations.result import Paint, Result, listing, problem_json, problems_found, short
from memory.review.inbox import Inbox

from . import approvals_of, check_all, waiting_in

T = TypeVar("T")
_SOME = 5
LEVELS = ("error", "warning", "note")


@verb(
    "check",
    serves="look",
    changed_by=("fix", "dry_run"),
    examples=("memdeck check", "memdeck check tasks.md", "memdeck check -o json", "memdeck check --fix --dry-run"),
)
@argument("files", metavar="[FILE]...", nargs=-1)
@option(
    "--level",
    type=Choice(LEVELS),
    default="note",
    help="Hide problems below this level (default: note).",
)
@option("--fix", is_flag=True, help="Rewrite lines of other forms in their plain form; one undo reverts it.")
@option("--dry-run", is_flag=True, help="With --fix: show what would be written, and write nothing.")
def check(context: Context, files: tuple[str, ...], level: str, fix: bool, dry_run: bool) -> Result:
    """Parse memory files, compare them with their own bytes, and report problems as file:line.

    All files of the workspace, or those named: tasks.md, archive/tasks-2026-12.md, or a path. Exit code 4 when there
    is an error, 0 when there are only warnings and notes.

    What is clearly meant is read in other forms, too, and noted; --fix writes the plain form.
    """
    names = [_name(context, file) for file in files] or None
    if dry_run and not fix:
        raise UsageError("usage", "--dry-run works only with --fix", "add --fix, or leave it out")
    if fix:
        return _fix(context, names, dry_run=dry_run)
    problems = check_all(context.workspace, names, now=context.now)
    wanted = LEVELS[: LEVELS.index(level) + 1]
    return problems_found(problems, [problem for problem in problems if problem.level in wanted])


def _fix(context: Context, names: Sequence[str] | None, *, dry_run: bool) -> Result:
    """Rewrite lines of other forms in their plain form, and list those lines as they were."""
    snapshot = context.snapshot
    edit = write_plainly(snapshot, names)
    fixed = [
        Problem(one.level, name, one.line + 1, one.code, one.message)
        for name in edit.documents
        for one in line_findings(name, snapshot.document(name))
        if one.code == READ
    ]
    if edit.documents and not dry_run:
        context.change("check.fix", lambda seen: write_plainly(seen, names))
    for system in context.workspace.systems():
        fixed += system.mend(names, actor=context.actor, now=context.now, dry_run=dry_run)

    def lines(paint: Paint) -> Iterator[str]:
        yield from (paint.line(f"{one.place}: {one.message}") for one in fixed)
        if not fixed:
            yield "nothing to fix"
        else:
            yield "nothing was changed" if dry_run else "written; `memdeck undo` reverts it"

    return listing("fixed", lambda: map(problem_json, fixed), lines)


def _name(context: Context, file: str) -> str:
    """Return the name of a file inside the memory folder; a path is relative to the current folder."""
    memory = context.workspace.memory
    name = os.path.relpath(os.path.abspath(file), memory) if os.path.lexists(file) else os.path.normpath(file)
    outside = name == "." or name.startswith("..") or os.path.isabs(name)
    root = context.workspace.root
    shown = os.path.relpath(os.path.abspath(file), root) if os.path.lexists(file) else os.path.normpath(file)
    if outside or not os.path.lexists(memory / name):
        if not shown.startswith("..") and not os.path.isabs(shown) and os.path.lexists(root / shown):
            found = shown.replace(os.sep, "/")
            if any(system.owns(found) for system in context.workspace.systems()):
                return found
        raise UsageError(
            "file.not_found", f"there is no memory file {file!r}", f"name one in {memory}, such as tasks.md", file=file
        )
    return name.replace(os.sep, "/")


@dataclass(frozen=True, slots=True)
class _Status:
    """The status of a workspace, as `status` prints it."""

    root: str
    now: datetime
    found: Brief
    systems: Mapping[str, Mapping[str, Any]]
    last: datetime | None
    latest: datetime | None
    late: Sequence[Overdue]
    attention: Attention
    alerts: Sequence[MonitorStanding]
    proposals: int
    removed: Sequence[OutsideRemoval]
    problems: Sequence[Problem]

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        found = self.found
        return {
            "workspace": self.root,
            "now": format_utc(self.now),
            "counts": {name: dict(counts) for name, counts in found.counts.items()},
            "overdue": [task.json() for task in found.overdue],
            "due": {
                "today": [task.json() for task in found.due_today],
                "week": [task.json() for task in found.due_week],
            },
            "in_progress": [task.json() for task in found.in_progress],
            "monitors": {
                "total": len(found.snapshot.monitors.items),
                "failing": self.attention.failing,
                "stale": self.attention.stale,
                "alerts": [one.json() for one in self.alerts],
            },
            "next_runs": [
                {"label": run.label, "kind": run.kind, "ref": run.ref, "at": format_utc(run.instant)}
                for run in found.next_runs
            ],
            "systems": self.systems,
            "last_maintenance": format_utc(self.last) if self.last else None,
            "upkeep": [one.json() for one in self.late],
            "clock": {"latest": format_utc(self.latest)} if self.latest else None,
            "review": {"waiting": self.proposals},
            "approvals": {"waiting": self.attention.approval},
            "taken_back": [one.json() for one in self.removed],
            "problems": [problem_json(problem) for problem in self.problems],
        }

    def lines(self, paint: Paint) -> Iterator[str]:
        """Yield it for people."""
        found, zone = self.found, self.found.snapshot.zone
        yield paint.line(self.root)
        counted = [(_words(name), _counted(counts)) for name, counts in found.counts.items()]
        counted += [
            (name, _counted(values["counts"]) if "counts" in values else values["error"])
            for name, values in self.systems.items()
        ]
        yield from paint.columns(counted)
        if self.latest is not None:
            yield from ("", paint.notice(held_words(self.now, self.latest)))
        for late in self.late:
            yield from ("", paint.notice(late.message))
        if self.proposals:
            words = f"{self.proposals:,} {_noun('proposals', self.proposals)} of agents: `memdeck review list`"
            yield from ("", paint.notice(words))
        attention = self.attention.words
        if approval := attention.pop("approval", ""):
            yield from ("", paint.notice(f"{approval}: `memdeck trust list`"))
        gone = [
            (one.id[:16], format_local(one.time, zone), ", ".join(one.files), one.words) for one in self.removed[:_SOME]
        ]
        yield from _part(paint, "Removed by other programs", gone, len(self.removed), range(len(gone)))
        if gone:
            yield "  `memdeck changes revert --removed ID` brings it back, `memdeck changes keep ID` accepts it"
        for heading, tasks, alerting in (
            ("Overdue", found.overdue, True),
            ("Due today", found.due_today, False),
            ("Due in 7 days", found.due_week, False),
            ("In progress", found.in_progress, False),
        ):
            rows = [(task.ref_hex, task.due or task.recurring or "", _far(task), task.title) for task in tasks[:_SOME]]
            yield from _part(paint, heading, rows, len(tasks), range(len(rows)) if alerting else ())
        rows = [
            (short(one.monitor.ref), one.words, _local(one.monitor.last_check, zone), one.monitor.name)
            for one in self.alerts[:_SOME]
        ]
        counts = ", ".join(attention.values())
        yield from _part(paint, "Monitors", rows, len(self.alerts), range(len(rows)), counts)
        shown = [(format_local(run.instant, zone), run.label) for run in found.next_runs[:_SOME]]
        yield from _part(paint, "Next runs", shown, len(found.next_runs))
        problems = [(p.place, p.level, p.message) for p in self.problems[:_SOME]]
        errors = [index for index, problem in enumerate(self.problems[:_SOME]) if problem.level == "error"]
        yield from _part(paint, "Problems", problems, len(self.problems), errors)
        yield ""
        moment = read_moment(self.last.isoformat(timespec="seconds"), zone) if self.last else None
        yield f"last maintenance: {humanize(moment, self.now, zone) if moment else 'never'}"


@verb("status", serves="look", examples=("memdeck status", "memdeck status -o json"))
def status(context: Context) -> Result:
    """Show a summary: counts, due and overdue entries, monitors, last maintenance, problems."""
    workspace, now = context.workspace, context.now
    with suppress(MemdeckError):  # `doctor` says why the change log cannot be used; reading starts none.
        if workspace.store.history.seen():
            workspace.notice(now)
    found = brief(context.snapshot.readable(), now)
    # What cannot be read counts as empty here: `doctor` reports the problems of the folder.
    decided = _or_none(lambda: approvals_of(workspace, context.trust, context.environ)) or ()
    found = found.without(resting_in(found.snapshot, decided))
    alerting = (*found.failing, *found.stale)
    lost = [one.problem() for one in lost_files(workspace)]
    told = _Status(
        root=str(workspace.root),
        now=now,
        found=found,
        systems=_systems(context),
        last=_or_none(workspace.state.last_maintenance),
        latest=_or_none(lambda: ahead_of(workspace, now)),
        late=overdue(workspace, now),
        attention=found.attention(len(waiting_in(decided))),
        alerts=[one for one in standings(workspace, found.snapshot, now, context.trust) if one.monitor in alerting],
        proposals=_or_none(Inbox(workspace.together).count) or 0,
        removed=_or_none(lambda: outside_removals(workspace, now)) or (),
        problems=lost + [problem for problem in found.problems if problem.level != "note"],
    )
    return Result(told.json, told.lines)


def _or_none(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except MemdeckError:
        return None


def _systems(context: Context) -> dict[str, Any]:
    """Return the status of the systems besides the memory files."""
    found: dict[str, Any] = {}
    for system in context.workspace.systems():
        if system.name == "files":
            continue
        try:
            found[system.name] = dict(system.status(context.now))
        except MemdeckError as error:
            found[system.name] = {"error": error.message}
    return found


def _local(text: str | None, zone: tzinfo) -> str:
    """Return a time of a file in the workspace's zone, in the same format as other times; other texts unchanged."""
    moment = moment_or_none(text, zone)
    return (text or "") if moment is None or moment.instant is None else format_local(moment.instant, zone)


def _far(task: Task) -> str:
    return "" if task.progress is None or task.section != "in-progress" else f"{task.progress}%"


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
    paint: Paint,
    heading: str,
    rows: Sequence[tuple[str, ...]],
    total: int,
    alerts: Iterable[int] = (),
    counts: str = "",
) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield f"{heading} ({counts or total})"
    yield from paint.columns(rows, alerts=dict.fromkeys(alerts, 1))
    if total > len(rows):
        yield f"  and {total - len(rows)} more"
