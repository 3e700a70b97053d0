"""The brief: what needs attention now, what runs, what happened last; every row leads to its entry."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import partial
from typing import Any, ClassVar, NamedTuple

from textual.message import Message

from memory.base.clock import Moment
from memory.base.problems import Problem
from memory.files.fields.values import moment_or_none
from memory.files.journal.model import JournalEntry
from memory.files.snapshot import Snapshot
from memory.files.status import Brief, NextRun, brief
from memory.files.tasks.model import Task
from memory.files.tasks.order import URGENCY, sort_key
from memory.history.changes import News
from memory.history.outside import OutsideRemoval
from memory.monitoring.overview import Notice, WaitingAsk
from memory.system import BriefLine
from widgets.list.rows import Heading, Note
from widgets.pane.records import Record, RecordPane
from widgets.text.styled_text import Column, Columns, Content, Piece, Tone
from widgets.text.words import PRIORITY_TONES, due_words, progress_line, short_moment, since, until

MOST_OPENED = 500
"""The most rows of a group that was opened here."""

SHOWN = {"news": 8, "week": 4, "run": 4, "journal": 5, "progress": 5}
"""How many rows of a group are shown, `USUAL` for others; one more row says how many are left and shows them."""

USUAL = 6

QUIET = ("journal", "muted", "beside", "run", "week", "upkeep")
"""The groups that need nothing."""

MORE = "more"
"""The group of the rows that say how many more rows there are."""

WAITING = {"waiting": "part:approvals", "lost": "part:removals"}
"""The groups that are decided in Waiting, with its filter."""

WHEN = Column("when", 14, importance=9)
ROW = Columns(WHEN, Column("title", minimum=18), gap=2)
TASK_ROW = Columns(WHEN, Column("priority", 6, importance=1), Column("title", minimum=36), gap=2)
MORE_ROW = Columns(Column("title"))
"""The columns of a row, of a task, which has a priority, and of the row that says how many more there are."""
NARROW, NARROW_ROW = 44, Columns(Column("title", minimum=12), Column("when", 12, "right"))
"""In fewer cells than that the title comes first."""

RUN_PLACES = {
    "heartbeat": ("config.md", "expression"),
    "maintenance": ("config.md", "maintenanceSchedule"),
    "monitor": ("monitors.md", ""),
    "task": ("tasks.md", ""),
}
"""Where the runs of each kind are configured: a file, and an entry if it is always the same."""


class BriefMore(NamedTuple):
    """What takes longer to find than the files: problems of a check, why maintenance is held back, monitors that wait
    for an approval or are muted, what others changed since the last visit, lines of other systems, and entries that
    other programs removed.
    """

    problems: tuple[Problem, ...] = ()
    upkeep: tuple[str, ...] = ()
    notice: Notice = Notice()
    news: tuple[News, ...] = ()
    others: tuple[BriefLine, ...] = ()
    removals: tuple[OutsideRemoval, ...] = ()


class BriefPane(RecordPane):
    """Overdue, due and started tasks, alerts, next runs and problems; Enter goes to the entry."""

    pane_id: ClassVar[str] = "brief"
    title: ClassVar[str] = "Brief"
    has_entry: ClassVar[bool] = False
    enter_words: ClassVar[str] = "go there"
    empty: ClassVar[str] = (
        "Brief shows what needs you: what is due or late, what is running, and what monitors report.\n\n"
        "All is quiet: nothing needs you now.\n\n"
        "Press {pane.tasks|2} and then {entry.add|a} to add the first task, or {app.help|?} to see every key. In a "
        "shell, `memdeck connect claude-code` lets an agent use this memory (or codex, gemini, cursor and others)."
    )

    @dataclass
    class Resume(Message):
        """A form that was not saved is to be opened again."""

        draft: str

    @dataclass
    class Decide(Message):
        """The rows of Waiting that match a filter are to be shown."""

        filter: str

    def __init__(self) -> None:
        super().__init__()
        self._drafts: tuple[tuple[str, str, datetime], ...] = ()
        self._more = BriefMore()
        self._known: tuple[Snapshot, datetime, Brief] | None = None
        self._opened: set[str] = set()

    # Display

    def columns(self, item: Record, width: int) -> Columns | None:
        """Return the columns of a row, with the title first where there is little room."""
        return NARROW_ROW if width < NARROW and item.columns is not MORE_ROW else item.columns

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:
        """Yield the groups that are not empty, those that need attention first, each with its first rows."""
        groups = [group for group in self._groups(snapshot, now) if group[2]]
        if groups and not self.filter and all(part in QUIET for part, *_ in groups):
            yield Note("All is quiet: nothing needs you now.")
        for part, title, things, record in groups:
            count = len(things)
            hint = "  B restore, x dismiss" if part == "lost" else ""
            yield Heading(title, "" if part in ("upkeep", "beside", "waiting") else f"{count}{hint}")
            shown = MOST_OPENED if part in self._opened or self.filter else SHOWN.get(part, USUAL)
            yield from map(record, things[:shown])
            if count > shown:
                words, values = f"… and {count - shown:,} more", {"part": MORE, "target": part, "file": ""}
                yield Record(f"{MORE}:{part}", words, tone="muted", values=values, mark=words, columns=MORE_ROW)

    def _groups(
        self, snapshot: Snapshot, now: datetime
    ) -> Iterator[tuple[str, str, Sequence[Any], Callable[[Any], Record]]]:
        """Yield the groups: a name in code, the heading, what is in it, and the function that makes its rows."""
        # Taken once: a worker may read other files at the same moment.
        known, more = self._known, self._more
        if known is None or known[:2] != (snapshot, now):
            known = self._known = (snapshot, now, brief(snapshot, now))
        found, zone = without_resting(known[2], more.notice.resting), snapshot.zone
        urgency = sort_key(URGENCY, now, zone)
        problems: dict[str, list[Problem]] = {level: [] for level in ("error", "warning", "note")}
        for one in more.problems:
            problems[one.level].append(one)

        yield "draft", "DRAFTS", self._drafts, partial(_draft, now=now, zone=zone)
        yield "lost", "REMOVED BY OTHER PROGRAMS", more.removals, partial(_removal, now=now, zone=zone)
        yield "alert", "FAILING", found.failing, partial(_monitor, "alert", now=now, zone=zone)
        yield "unmeasured", "STALE", found.stale, partial(_monitor, "unmeasured", now=now, zone=zone)
        yield "waiting", "NEEDS APPROVAL", list(filter(None, [more.notice.waiting])), _waiting
        yield "overdue", "OVERDUE", sorted(found.overdue, key=urgency), partial(_task, "overdue")
        yield "today", "TODAY", sorted(found.due_today, key=urgency), partial(_task, "today")
        yield "problem", "PROBLEMS", problems["error"], _problem
        yield "news", "SINCE YOUR LAST VISIT", more.news, partial(_news, now=now, zone=zone)
        yield "progress", "IN PROGRESS", sorted(found.in_progress, key=urgency), partial(_task, "progress")
        yield "journal", "JOURNAL", found.last_entries, partial(_entry, now=now, zone=zone)
        yield "muted", "MUTED", more.notice.muted, partial(_muted, now=now, zone=zone)
        yield "beside", "OTHER MEMORY", more.others, _beside
        yield "run", "NEXT RUNS", found.next_runs, partial(_run, now=now, zone=zone)
        yield "week", "THIS WEEK", found.due_week, partial(_task, "week")
        yield "warning", "WARNINGS", problems["warning"], _problem
        yield "upkeep", "NEXT MAINTENANCE", more.upkeep, _upkeep

    def counts(self, item: Record) -> bool:
        """Return whether a row is counted: all but those that only say how many more there are."""
        return item.part != MORE

    def cells(self, item: Record) -> Mapping[str, Content]:
        """Return when or where a row is, with its sign; for a task when it is due, or its progress."""
        when: Content = item.cells.get("when", "")
        if item.part in ("overdue", "today", "week"):
            when = due_words(item.thing, self.now, self.zone, self.glyphs)
        elif item.part == "progress":
            when = () if item.thing.progress is None else progress_line(item.thing.progress, self.glyphs)
        elif item.sign and isinstance(when, Piece):
            when = Piece(f"{getattr(self.glyphs, item.sign)} {when.text}", when.tone)
        return {**item.cells, "when": when}

    def remark(self, snapshot: Snapshot, now: datetime) -> str:
        """Return what day it is in the workspace's zone."""
        local = now.astimezone(snapshot.zone)
        return f"{local:%A}, {local.day} {local:%B}"

    def view(self) -> dict[str, str]:
        """Return the view without a position: the most urgent row is first, and the next visit begins there."""
        return {**super().view(), "at": ""}

    def say_more(self, more: BriefMore) -> None:
        """Show what took longer to find; cursor and scroll position stay."""
        if more != self._more:
            self._more = more
            self._show_again()
        # A requested group that is still missing will not appear any more.
        self._wanted_ref = None

    def say_drafts(self, drafts: Sequence[tuple[str, str, datetime]]) -> None:
        """Show forms that were not saved, each as the id of its draft, its subject, and when it was typed."""
        if tuple(drafts) != self._drafts:
            self._drafts = tuple(drafts)
            self._show_again()

    def set_filter(self, text: str) -> None:
        """Show only matching rows, from all rows of each group."""
        others = bool(text) != bool(self.filter)
        super().set_filter(text)
        if others:
            self._show_again()

    def _show_again(self) -> None:
        if self.snapshot is not None:
            self.show(self.snapshot, self.now, flash=False)

    def has_ref(self, item: Record, ref: str) -> bool:
        """Whether this is a ref of a row, or `group:` and the name of its group."""
        return super().has_ref(item, ref) or ref == f"group:{item.part}"

    def go_to_group(self, group: str) -> None:
        """Put the cursor on the first row of a group, as soon as it has one; a filter that hides it is cleared."""
        self._arrived = True
        if not self.go_to(f"group:{group}"):
            self._wanted_ref = f"group:{group}"

    # Where a row leads

    def copied_ref(self, item: Record) -> str:
        """Return the ref of the entry that the row leads to."""
        return item.values["target"] if "#" in item.values["target"] else ""

    def on_mount(self) -> None:
        """Give the list the whole pane, and keep it at the top, where urgent rows appear."""
        self.line_list.holds_top = True
        self.query_one(".pane--detail-frame").display = False
        frame = self.query_one(".pane--list-frame")
        frame.styles.width, frame.styles.height = "100%", "1fr"

    def open_detail(self) -> None:
        """Go to the entry under the cursor; the last row of a long group shows the others."""
        item = self.current()
        if item is None:
            return
        target = item.values["target"]
        if item.part == "draft":
            self.post_message(self.Resume(target))
        elif item.part in WAITING:
            self.post_message(self.Decide(WAITING[item.part]))
        elif item.part == MORE:
            self._opened.add(target)
            self._show_again()
        elif item.values["file"]:
            self.post_message(self.Jump(item.values["file"], target))


def without_resting(found: Brief, resting: Container[str | None]) -> Brief:
    """Return the overview where monitors that may not run are neither stale nor run next: they need approval."""
    stale = tuple(one for one in found.stale if one.ref not in resting)
    return replace(found.without(resting), stale=stale)


# A row for each kind of thing


def _row(
    part: str, thing: Any, title: str, file: str, target: str, when: str, about: str = "", mark: Tone = "muted",
    sign: str = "", **more: Any,
) -> Record:  # fmt: skip
    """Return a row; its ref is unique in the pane, because an entry may be in two groups."""
    entry = getattr(thing, "entry", None)
    ref = ":".join((part, file, target, "" if "#" in target else title))
    given = {"columns": ROW, "cells": {"when": Piece(when, mark)}, **more}
    return Record(ref, title, about=about, sign=sign, values={"part": part, "file": file, "target": target},
                  mark=about if entry is None else entry.raw.rstrip(), thing=thing, **given)  # fmt: skip


def _task(part: str, task: Task) -> Record:
    about = f"@{task.assigned}" if task.assigned else ""
    tone = PRIORITY_TONES.get(task.priority, "muted")
    cells = {"priority": Piece(task.priority or "-", tone)}
    return _row(part, task, task.title, task.file, task.ref, "", about, columns=TASK_ROW, cells=cells, tone=tone)


def _draft(draft: tuple[str, str, datetime], *, now: datetime, zone: tzinfo) -> Record:
    number, words, time = draft
    when = short_moment(Moment("", time.astimezone(zone).date(), time), now, zone)
    return _row("draft", draft, words, "", number, when, "not saved", "accent")


def _removal(one: OutsideRemoval, *, now: datetime, zone: tzinfo) -> Record:
    when = since(one.time.isoformat(), now, zone)
    return _row("lost", one, ", ".join(one.titles), "changes.log", one.id, when, f"in {', '.join(one.files)}", "alert",
                "alert")  # fmt: skip


def _monitor(part: str, one: Any, *, now: datetime, zone: tzinfo) -> Record:
    # The heading says that it fails.
    words = (word for word in one.status_at(now, zone) if word != "alert")
    when, about = since(one.last_check, now, zone), ", ".join(words)
    return _row(part, one, one.name, one.file, one.ref, when, about, "alert" if part == "alert" else "warn", "alert")


def _waiting(asks: Sequence[WaitingAsk]) -> Record:
    names = ", ".join(dict.fromkeys(one.ask.name for one in asks))
    return _row("waiting", asks, names, "", "", f"{len(asks):,} waiting", "", "warn", "half")


def _problem(one: Problem) -> Record:
    target, place = (f"line:{one.line - 1}", f"line {one.line}") if one.line else ("", "")
    mark: Tone = "alert" if one.level == "error" else "muted"
    return _row("problem", one, one.message, one.file, target, place, f"in {one.file}", mark)


def _news(one: News, *, now: datetime, zone: tzinfo) -> Record:
    times = f", {one.count} times" if one.count > 1 else ""
    when = since(one.time.isoformat(), now, zone)
    return _row("news", one, one.title, one.file, one.ref or "", when, f"{one.actor} {one.kind}{times}")


def _entry(one: JournalEntry, *, now: datetime, zone: tzinfo) -> Record:
    moment = moment_or_none(f"{one.date} {one.clock}" if one.clock else one.date, zone)
    when = short_moment(moment, now, zone) if moment else one.date or ""
    return _row("journal", one, one.title, one.file, one.ref, when, next(iter(one.lines), ""))


def _muted(pair: tuple[Any, datetime], *, now: datetime, zone: tzinfo) -> Record:
    monitor, end = pair
    return _row("muted", monitor, monitor.name, "monitors.md", monitor.ref, f"until {until(end, now, zone)}")


def _beside(one: BriefLine) -> Record:
    tone: Tone = "warn" if one.due else "muted"
    words = one.words if one.title == one.system else f"{one.title}: {one.words}"
    return _row("beside", one, words, one.system, one.target, one.system, one.due, tone)


def _run(run: NextRun, *, now: datetime, zone: tzinfo) -> Record:
    file, entry = RUN_PLACES.get(run.kind, ("", ""))
    return _row("run", run, run.label, file, run.ref or entry, until(run.instant, now, zone))


def _upkeep(words: str) -> Record:
    return _row("upkeep", words, words, "config.md", "", "config")
