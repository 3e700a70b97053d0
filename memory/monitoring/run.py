"""The watch: one run over the due monitors, from the claim of each instant to the message that is sent.

The order of a run: take the lead, claim the due monitors, check them, follow their results (alerts, remediations,
messages), record, and write everything back in one transaction. What a crash interrupts is never run twice; messages
and journal entries that it delayed follow with the next run.

A task's action runs only on an explicit call, only if a person approved it; its output becomes the outcome.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from memory.base.clock import format_utc
from memory.base.safe_text import plural, visible
from memory.document import Document, Entry
from memory.errors import BlockedError, BusyError, MemdeckError, NotFoundError, UsageError
from memory.files.edit import Edit
from memory.files.find import find_monitor, find_task
from memory.files.journal.edits import with_notes
from memory.files.monitors import FILE as MONITORS
from memory.files.monitors import Monitor
from memory.files.snapshot import Snapshot
from memory.files.tasks.edits import edit_task
from memory.files.tasks.operations import done_task
from memory.monitoring.alerts import AlertState
from memory.monitoring.checks import run_checks
from memory.monitoring.command import Finished, run_placed
from memory.monitoring.ledger import WATCHED, JournalNote, Leader, MonitorLedger, key_of, ledger_of
from memory.monitoring.result import Result, State, last_status, one_line
from memory.monitoring.schedule import BEAT, BEAT_TITLE, NOTE, Beat, beat, due_of, schedules
from memory.monitoring.settings import broken
from memory.monitoring.watch import Consequences, RunContext, Watch, WatchedMonitor, WatchServices
from memory.trust.asks import Ask, asks_of, by_name
from memory.trust.consent import Trust, blocked_json
from memory.workspace import Outcome, Workspace

OPERATION = "monitors"
JOURNAL = "journal.md"
ACTOR = "monitor"


def keep_watch(
    workspace: Workspace,
    trust: Trust,
    now: datetime,
    services: WatchServices,
    *,
    names: Sequence[str] | None = None,
    everything: bool = False,
    heartbeat: bool = True,
    wait: float = 0.0,
    actor: str = ACTOR,
) -> Watch:
    """Run the monitors that are due at `now` (or those of `names`, by ref or name; or all), and the heartbeat if due.

    If another process has the lead, this waits up to `wait` seconds, then
    returns a busy watch: the other process does the due work. Raises NotFoundError and AmbiguousError for names,
    BusyError `monitors.busy` if monitors were requested. The error of a monitor is in its result. What could not be
    written back is among the warnings and follows with the next run.
    """
    asked = everything or names is not None
    for name in names or ():
        find_monitor(workspace.snapshot(), name)
    if not asked and not _anything(workspace, heartbeat, now):
        return Watch()
    folder = workspace.state.folder
    with closing(Leader(folder)) as leader, closing(MonitorLedger(folder)) as ledger:
        if not leader.take(wait):
            if asked:
                raise BusyError(
                    "monitors.busy",
                    "another process is running the monitors of this workspace",
                    "try again when it is done",
                )
            return Watch(busy=True)
        run = RunContext(workspace, workspace.snapshot(), trust, ledger, now, services)
        return _whole(run, names, everything, heartbeat and not asked, actor)


def _anything(workspace: Workspace, heartbeat: bool, now: datetime) -> bool:
    """Return whether there is anything to watch; if not, nothing is created outside the workspace."""
    snapshot = workspace.snapshot()
    if snapshot.monitors.items or (heartbeat and snapshot.config.get("expression") is not None):
        return True
    with closing(ledger_of(workspace)) as ledger:
        return bool(ledger.held(now) or ledger.unwritten())


def _whole(run: RunContext, names: Sequence[str] | None, everything: bool, heartbeat: bool, actor: str) -> Watch:
    """Do all steps of the run, and return its report."""
    for name in run.ledger.take_over():
        if not name.startswith("\0"):  # Not for the heartbeat or maintenance: there it does no harm.
            run.warnings.append(f"the last run of {name[:60]!r} was interrupted; it is not run again for its time")
    watched = _choose(run, names, everything)
    pulse = _pulse(run) if heartbeat else None
    _check(run, [one for one in watched if one.runs])
    followed = Consequences(run, watched)
    if watched or run.ledger.held(run.now):
        followed.follow()
    beaten = None
    if pulse is not None:
        checked = {one.monitor.name for one in watched if one.result.ran}
        beaten = beat(run.snapshot, run.ledger.kept("note").get(NOTE, {}), run.now, run.snapshot.zone, checked)
    _record(run, watched, followed.states, followed.notes, pulse, beaten)
    _write(run, watched, actor)
    return Watch(
        tuple(watched),
        tuple(run.blocked.values()),
        beaten.lines if beaten is not None else (),
        beaten is not None,
        (*dict.fromkeys(run.warnings), *run.ledger.warnings),
    )


def _choose(run: RunContext, names: Sequence[str] | None, everything: bool) -> list[WatchedMonitor]:
    """Return the monitors to run. Due ones are claimed, except blocked ones: these stay due until they may run.

    A due monitor that is run on request uses up its due time: it does not run for that time again.
    """
    monitors = run.snapshot.monitors.items
    timed = [one for one in schedules(run.snapshot) if one.monitor is not None]
    due, problems = due_of(timed, run.ledger.last_claims(run.now), run.now, run.snapshot.zone)
    instants = {one.monitor.ref: at for one, at in due if one.monitor is not None}
    if names is not None:
        refs = {monitor.ref: monitor for monitor in monitors}
        wanted = [refs.get(name) or find_monitor(run.snapshot, name) for name in names]
    elif everything:
        wanted = list(monitors)
    else:
        run.warnings += problems
        wanted = [one.monitor for one, _ in due if one.monitor is not None]
    checks, twice = by_name(run.asks, "check", "url"), Counter(monitor.name for monitor in monitors)
    chosen = [
        _decided(run, monitor, instants.get(ref), checks.get(monitor.name), twin=twice[monitor.name] > 1)
        for ref, monitor in {monitor.ref: monitor for monitor in wanted}.items()
    ]
    claims = {one.monitor.ref: (key_of(one.monitor.name), one.due) for one in chosen if one.due and one.answers}
    taken = run.ledger.claim(claims.values(), run.now) if claims else set()
    for one in chosen:
        if one.monitor.ref in claims and claims[one.monitor.ref] not in taken:
            one.due = None  # Another process has it.
    asked = everything or names is not None
    return [one for one in chosen if asked or one.due is not None]


def _decided(run: RunContext, monitor: Monitor, due: datetime | None, ask: Ask | None, *, twin: bool) -> WatchedMonitor:
    """Return a monitor that is to run, or the result why it does not.

    What an edit of the file alone could make run is an error, what a person has not approved is blocked.
    """
    decision = run.decide(ask)
    why = broken(monitor, run.workspace.root)
    if not why and ask is None and twin:
        why = "another monitor has the same name"
    if not why and ask is not None:
        run.block(ask, decision)
        why = decision.why if decision.state == "refused" else ""
    if why:
        return WatchedMonitor(monitor, Result(monitor.name, "error", one_line(why)), due, ask)
    allowed = ask is None or decision.allowed
    state: State = "skipped" if allowed or decision.state == "denied" else "blocked"
    return WatchedMonitor(monitor, Result(monitor.name, state, decision.why), due, ask, allowed)


def _check(run: RunContext, allowed: Sequence[WatchedMonitor]) -> None:
    """Check the monitors that may run."""
    if not allowed:
        return
    by_ref = {one.monitor.ref: one for one in allowed}
    if run.services.planned is not None:
        run.services.planned(tuple(one.monitor.name for one in allowed))
    planned = [(one.monitor, partial(run.decide, one.ask)) for one in allowed]
    for monitor, result in run_checks(planned, run.around()):
        by_ref[monitor.ref].checked = result
        if run.services.found is not None:
            run.services.found(result)


def _pulse(run: RunContext) -> datetime | None:
    """Claim the heartbeat if it is due; return its instant."""
    beats = [one for one in schedules(run.snapshot) if one.what == "heartbeat"]
    due, problems = due_of(beats, run.ledger.last_claims(run.now), run.now, run.snapshot.zone)
    run.warnings += problems
    return next((at for _, at in due if run.ledger.claim([(BEAT, at)], run.now)), None)


def _record(
    run: RunContext,
    watched: Sequence[WatchedMonitor],
    states: Mapping[str, AlertState],
    notes: Sequence[JournalNote],
    pulse: datetime | None,
    beaten: Beat | None,
) -> None:
    """Store results, states and pending entries in one step."""
    ledger = run.ledger
    claimed = {one.monitor.name: one.due for one in watched if one.due is not None and one.answers}

    def work(db: sqlite3.Connection) -> None:
        ledger.end(db, [*((key_of(name), due) for name, due in claimed.items()), *([(BEAT, pulse)] if pulse else [])])
        ledger.record(db, [one.result for one in watched if one.result.state != "skipped"], run.now, claimed)
        ledger.put(db, "alert", {key: state.json() for key, state in states.items()})
        ledger.put(db, "note", {WATCHED: {"at": format_utc(run.now)}})
        for note in notes:
            ledger.put_unwritten(db, note)
        if beaten is not None:
            ledger.put(db, "note", {NOTE: beaten.memory})
            if beaten.lines:
                ledger.put_unwritten(db, JournalNote(run.now, BEAT_TITLE, beaten.lines))

    ledger.run(work, None)


def _write(run: RunContext, watched: Sequence[WatchedMonitor], actor: str) -> None:
    """Write everything back in one transaction; what cannot be written now waits for the next run."""
    waiting = run.ledger.unwritten()
    statuses = {one.monitor.name: last_status(one.result) for one in watched if one.result.ran}
    if not waiting and not statuses:
        return
    try:
        run.workspace.change(
            OPERATION,
            lambda snapshot: write_back(snapshot, statuses, waiting, run.now),
            actor=actor,
            now=run.now,
        )
        run.ledger.drop([one.seq for one in waiting])
    except MemdeckError as error:
        run.warnings.append(f"the results are not in the files yet: {error.message}")


def write_back(snapshot: Snapshot, statuses: Mapping[str, str], notes: Sequence[JournalNote], now: datetime) -> Edit:
    """Return the edit of one run: `statuses` maps names of monitors to their `lastStatus`.

    Monitors that no longer exist are left out.
    """
    documents: dict[str, Document] = {}
    if statuses:
        documents[MONITORS] = _with_statuses(snapshot, statuses, format_utc(now))
    if notes:
        documents[JOURNAL] = _with_notes(snapshot, notes, now)
    parts = [f"checked {plural(len(statuses), 'monitor')}"] if statuses else []
    parts += [note.title for note in notes[:3]]
    if len(notes) > 3:
        parts.append(f"{len(notes) - 3:,} more entries")
    return Edit(documents, ", ".join(parts) or "nothing to write")


def _with_statuses(snapshot: Snapshot, statuses: Mapping[str, str], checked: str) -> Document:
    document = snapshot.monitors.document
    changed: dict[int, dict[int, Entry]] = {}
    for monitor in snapshot.monitors.items:
        if (status := statuses.get(monitor.name)) is not None:
            section, number = monitor.at
            entry = monitor.entry.set_field("lastCheck", checked).set_field("lastStatus", status)
            changed.setdefault(section, {})[number] = entry
    for index, entries in changed.items():
        section_now = document.sections[index]
        new = [entries.get(number, entry) for number, entry in enumerate(section_now.entries)]
        document = document.with_section(index, section_now.with_entries(new))
    return document


def _with_notes(snapshot: Snapshot, notes: Sequence[JournalNote], now: datetime) -> Document:
    try:
        return with_notes(snapshot, [(note.at, note.title, note.lines) for note in notes], now)
    except UsageError:
        # A name or an output that Markdown would not read as a plain line: its signs are removed, the words stay.
        return with_notes(snapshot, [(note.at, note.title, [*map(_tame, note.lines)]) for note in notes], now)


def _tame(line: str) -> str:
    plain = " ".join("".join(" " if char in "`~<>#|*_+-=[]" else char for char in line).split())
    return plain if plain[:1].isalpha() else f"Monitor {plain}"


TIMEOUT = 600.0
"""Seconds that an action may take."""
MOST_LINES, MOST = 20, 2000
"""Maximum lines and characters that are kept of its output, from the end."""


@dataclass(frozen=True, slots=True)
class ActionRun:
    """The result of an action: how the command ended, the outcome that was written, and the change."""

    finished: Finished
    outcome: str
    change: Outcome

    @property
    def good(self) -> bool:
        """Whether the command ended with exit code 0."""
        return self.finished.exit_code == 0


def run_action(
    workspace: Workspace,
    trust: Trust,
    ref: str,
    now: datetime,
    *,
    actor: str,
    environ: Mapping[str, str],
    finish: bool = False,
    cancel: threading.Event | None = None,
) -> ActionRun:
    """Run the approved action of an open task and write a summary of its output into `outcome`.

    `finish` also completes the task if the command ended with exit code 0. Raises NotFoundError `task.not_found`,
    `task.no_action`, BlockedError `trust.blocked` for an action that no person approved; nothing ran then.
    """
    snapshot = workspace.snapshot()
    task = find_task(snapshot, ref)
    ask = by_name(asks_of(snapshot), "action").get(task.title)
    if ask is None or task.section not in ("pending", "in-progress"):
        raise NotFoundError(
            "task.no_action",
            f"{task.title[:60]!r} has no action to run",
            "its field `action` has to be a command, not a sentence",
        )
    decision = trust.decide(ask)
    if decision.text is None:
        raise BlockedError(
            "trust.blocked",
            f"the action of {task.title[:60]!r} may not run: {decision.why}",
            "`memdeck trust list` shows what needs approval",
            blocked=[blocked_json(ask, decision)],
        )
    finished = run_placed(
        decision.text,
        ask.folder,
        root=workspace.root,
        state=trust.state,
        environ=environ,
        timeout=TIMEOUT,
        cancel=cancel,
    )
    outcome = outcome_text(finished)
    entry = task.long_hex

    def build(current: Snapshot) -> Edit:
        # The task may have been completed while its action ran.
        if finish and finished.exit_code == 0 and find_task(current, entry).section != "completed":
            return done_task(current, entry, outcome=outcome, now=now)
        return edit_task(current, entry, set={"outcome": outcome}, now=now)

    return ActionRun(finished, outcome, workspace.change("tasks.action", build, actor=actor, now=now))


def outcome_text(finished: Finished) -> str:
    """Return how a command ended and its last output, as the value of a field: safe, and not too long."""
    head = f"not run: {finished.failure}" if finished.failure else finished.trouble or "exit code 0"
    printed = visible(finished.printed, newlines=True)[-MOST:]
    lines = [line.strip() for line in printed.splitlines() if line.strip()][-MOST_LINES:]
    if not lines:
        return visible(head)
    if len(lines) == 1:
        return f"{visible(head)}: {lines[0]}"
    # A line of a field must not look like the start of another element.
    return "\n".join([f"{visible(head)}:", *(f"| {line}" for line in lines)])
