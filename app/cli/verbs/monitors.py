"""The verbs on monitors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from app.cli.printing import tell
from app.cli.session import short
from memory.base.clock import format_utc
from memory.base.cron import describe
from memory.base.values import is_absent
from memory.errors import MemdeckError, UsageError
from memory.files.edit import Edit
from memory.files.monitors import FIELD_KEYS, Monitor, add_monitor, edit_monitor, find_monitor, remove_monitor
from memory.files.operations import given, pairs, something
from memory.files.snapshot import Snapshot
from memory.monitoring.alerts.options import read_span
from memory.monitoring.history.overview import MonitorStanding, prometheus, standings
from memory.monitoring.problems import runnable
from memory.monitoring.run.ledger import MonitorLedger, key_of, ledger_of
from memory.monitoring.run.report import Watch
from memory.monitoring.run.schedule import overdue
from memory.monitoring.settings import kind_of
from memory.monitoring.thresholds.threshold import parse_threshold
from memory.operations import Choice, Group, Pairs, Ref, argument, option, under
from memory.operations.result import fields_of as facts
from memory.storage.own_folders import host_name

from .maintenance import ping as ping_at_end
from .maintenance import refuse_safe, watch

if TYPE_CHECKING:
    from app.cli.session import Session

monitors = Group("monitors", "List, add, edit, remove and run monitors (monitors.md).")
_ref = argument("ref", type=Ref(("monitors",)))


@under(monitors, "list", serves="look", examples=("memdeck monitors list", "memdeck monitors list --alerting -o json"))
@option("--alerting", is_flag=True, help="Only monitors that are not healthy.")
@option("--match", metavar="TEXT", help="Only monitors that contain this text, in any case.")
def list_monitors(session: Session, alerting: bool, match: str | None) -> None:
    """List monitors with their last state."""
    found = _standings(session)
    if alerting:
        found = [one for one in found if one.bad]
    if match is not None:
        found = [one for one in found if match.casefold() in _text(one.monitor).casefold()]
    for late in overdue(session.workspace, session.now):
        tell(f"memdeck: warning: {late.message}")
    session.listing("monitors", lambda: map(_row, found), lambda: _table(session, found))


def _standings(session: Session) -> list[MonitorStanding]:
    """Return the state of the workspace's monitors, and which of them may not run."""
    return list(standings(session.workspace, session.snapshot, session.now, session.trust))


def _row(one: MonitorStanding) -> dict[str, object]:
    return {**one.monitor.json(), **one.json()}


def _text(monitor: Monitor) -> str:
    return " ".join(str(value) for value in monitor.json().values() if value is not None)


def _table(session: Session, found: list[MonitorStanding]) -> Iterator[str]:
    rows = []
    for one in found:
        monitor, state = one.monitor, one.before or "never checked"
        if one.broken:
            state = f"error ({one.broken})"
        elif one.state in ("blocked", "stale"):
            state = f"{one.state}, was {one.before}" if one.before else one.state
        rows.append(
            (short(monitor.ref), state, monitor.type or "", _interval(monitor), monitor.last_check or "", monitor.name)
        )
    alerts = {row: 1 for row, one in enumerate(found) if one.bad}
    return session.paint.columns(rows, alerts=alerts, indent="", empty="no monitors")


def _interval(monitor: Monitor) -> str:
    if not monitor.interval:
        return ""

    return describe(monitor.interval)


@under(
    monitors,
    "check",
    serves="script",
    examples=(
        "memdeck monitors check",
        "memdeck monitors check 'Disk Space' -o json",
        "memdeck monitors check --all",
    ),
)
@argument("names", metavar="[NAME]...", nargs=-1, type=Ref(("monitors",)))
@option("--all", "everything", is_flag=True, help="All monitors, whether they are due or not.")
def check(session: Session, names: tuple[str, ...], everything: bool) -> int:
    """Run the monitors that are due, or those named, and do what follows: alerts, remediation, messages.

    What no person approved does not run: it is blocked, listed, and the exit code is 3. Exit code 0 says that all
    could run, whether they are healthy or not; their states are in the answer.
    """
    refuse_safe(session)
    if names and everything:
        raise UsageError("usage.arguments", "names and --all say two things", "give one of them")
    found = watch(session, names=list(names) or None, everything=everything, heartbeat=False)
    for warning in found.warnings:
        tell(f"memdeck: warning: {warning}")
    document = {
        "workspace": str(session.workspace.root),
        "monitors": found.json(),
        "blocked": list(found.blocked),
        "busy": found.busy,
        "warnings": list(found.warnings),
    }
    session.answer(lambda: document, lambda: _painted(session, found))
    if not names:
        ping_at_end(session)
    return 3 if found.blocked else 0


@under(monitors, "ping", serves="script", examples=("memdeck monitors ping 'Nightly backup'",))
@argument("name", type=Ref(("monitors",)))
def ping(session: Session, name: str) -> None:
    """Tell a heartbeat monitor that what it watches is alive; write it at the end of a backup script."""
    monitor = find_monitor(session.snapshot, name)
    ledger = _ledger(session)
    ledger.ping(key_of(monitor.name), session.now)
    _check_kept(ledger)
    at = format_utc(session.now)
    session.answer(
        lambda: {"monitor": monitor.name, "ref": monitor.ref, "at": at},
        lambda: [session.paint.line(f"noted a sign of {monitor.name} at {at}")],
    )


@under(
    monitors,
    "mute",
    serves="person",
    examples=(
        "memdeck monitors mute 'Disk Space' --for 2h",
        "memdeck monitors mute --for 30m",
        "memdeck monitors mute 'Disk Space' --off",
    ),
)
@argument("name", metavar="[NAME]", required=False, type=Ref(("monitors",)))
@option("--for", "span", metavar="TIME", help="How long, such as 30m, 2h or 1d (default: 1h).")
@option("--off", is_flag=True, help="Let it be heard again.")
def mute(session: Session, name: str | None, span: str | None, off: bool) -> None:
    """Send no message about a monitor (default: any) for a while; it is checked all the same."""
    if off and span:
        raise UsageError("usage.arguments", "--off and --for say two things", "give one of them")
    until = None if off else session.now + _span(span or "1h")
    monitor = None if name is None else find_monitor(session.snapshot, name)
    ledger = _ledger(session)
    ledger.mute("*" if monitor is None else key_of(monitor.name), until)
    _check_kept(ledger)
    who = "all monitors" if monitor is None else monitor.name
    when = None if until is None else format_utc(until)
    session.answer(
        lambda: {"monitor": None if monitor is None else monitor.name, "until": when},
        lambda: [session.paint.line(f"{who}: muted until {when}" if when else f"{who}: not muted")],
    )


@under(monitors, "export", serves="look", examples=("memdeck monitors export",))
def export(session: Session) -> None:
    """Print how the monitors stand in the text format of Prometheus."""
    found = _standings(session)

    def lines() -> list[str]:
        late = overdue(session.workspace, session.now)
        place = {"host": host_name(os.environ), "workspace": str(session.workspace.root)}
        return prometheus(found, late, session.now, **place).splitlines()

    session.listing("monitors", lambda: map(_row, found), lines)


def _painted(session: Session, found: Watch) -> Iterator[str]:
    for line in found.lines():
        yield session.paint.notice(line) if line.startswith(("failing", "error", "blocked", "needs")) else line


def _span(text: str) -> timedelta:

    found = read_span(text)
    if found is None:
        raise UsageError("usage.time", f"{text[:30]!r} is no span of time", "write 30m, 2h or 1d")
    return found


def _ledger(session: Session) -> MonitorLedger:

    return session.opened(ledger_of(session.workspace))


def _check_kept(ledger: MonitorLedger) -> None:
    """Raise MemdeckError if the record could not be written."""
    if ledger.warnings:
        raise MemdeckError("monitors.record", ledger.warnings[0], "`memdeck doctor` looks at the state folder")


def _say(session: Session, done: str, monitor: Monitor) -> None:
    def lines() -> Iterator[str]:
        values = monitor.json()
        for key in ("ref", "name", "line", "file"):
            values.pop(key, None)
        return facts(session.paint, f"{done} {monitor.ref}  {monitor.name}", values)

    session.answer(lambda: {"monitor": monitor.json()}, lines)


def _check_threshold(text: str | None, kind: str) -> None:
    """Reject a threshold that cannot be parsed, with the column of the error."""
    if text is not None and text.strip() and not is_absent(text):
        parse_threshold(text, kind.strip().casefold())


def _changed(session: Session, operation: str, done: str, build: Callable[[Snapshot], Edit]) -> None:

    _say(session, *session.change_entry(operation, done, runnable(build), find_monitor))


@under(
    monitors,
    "add",
    serves="change",
    examples=(
        "memdeck monitors add 'Shop front' --type http --url https://example.com/health --interval '*/5 * * * *'",
        "memdeck monitors add Disk --type command --command 'df -h /' --threshold 'value > 90'",
    ),
)
@argument("name")
@option(
    "--type",
    "kind",
    type=Choice(("http", "command", "tcp", "file", "heartbeat")),
    required=True,
    help="What it looks at.",
)
@option("--url", metavar="URL", help="The address that an http monitor fetches.")
@option("--command", metavar="C", help="The command of a command monitor; kept as text.")
@option(
    "--folder", metavar="DIR", help="Where its commands run: . is the workspace (default: an empty private folder)."
)
@option("--interval", metavar="CRON", help="How often: five cron fields, such as '*/5 * * * *'.")
@option("--threshold", metavar="T", help="When it alerts: 'status != 200', 'exit code != 0', 'value > 90'.")
@option("--priority", "alert_priority", metavar="P", help="Priority of its alerts: high, normal or low.")
@option("--remediate", metavar="C", help="The command that may mend it (autoRemediate); kept as text.")
@option("--set", "changes", multiple=True, type=Pairs(), help="Any other field; may be repeated.")
def add(
    session: Session,
    name: str,
    kind: str,
    url: str | None,
    command: str | None,
    folder: str | None,
    interval: str | None,
    threshold: str | None,
    alert_priority: str | None,
    remediate: str | None,
    changes: tuple[str, ...],
) -> None:
    """Add a monitor; what it would run is text until a person approves it."""
    values = given(
        type=kind,
        url=url,
        command=command,
        folder=folder,
        interval=interval,
        threshold=threshold,
        alertPriority=alert_priority,
        autoRemediate=remediate,
    ) | pairs(changes)
    _check_threshold(values.get("threshold"), values["type"])
    _changed(session, "monitors.add", "added", lambda snapshot: add_monitor(snapshot, name, values, now=session.now))


def _fields() -> tuple[str, ...]:
    """Return the names that `--set` accepts."""
    return (*FIELD_KEYS, "name")


@under(
    monitors,
    "edit",
    serves="change",
    fields=_fields,
    examples=("memdeck monitors edit 19d2e4f --set interval='*/10 * * * *' --unset autoRemediate",),
)
@_ref
@option("--set", "changes", multiple=True, type=Pairs(), help="Set a field or the name; may be repeated.")
@option("--unset", multiple=True, metavar="KEY", help="Remove a field; may be repeated.")
def edit(session: Session, ref: str, changes: tuple[str, ...], unset: tuple[str, ...]) -> None:
    """Change fields of a monitor; each changes its own line and no other."""
    values = pairs(changes)
    something((values, unset))
    if values.get("threshold"):
        _check_threshold(values["threshold"], values.get("type") or kind_of(find_monitor(session.snapshot, ref)))
    _changed(
        session,
        "monitors.edit",
        "changed",
        lambda snapshot: edit_monitor(snapshot, ref, set=values, unset=unset, now=session.now),
    )


@under(monitors, "remove", serves="change", examples=("memdeck monitors remove 19d2e4f",))
@_ref
def remove(session: Session, ref: str) -> None:
    """Remove a monitor from the file; it is printed as it was."""
    _say(session, "removed", session.remove("monitors.remove", ref, find_monitor, remove_monitor))
