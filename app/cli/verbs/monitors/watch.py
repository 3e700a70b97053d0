"""The verbs that run monitors and say how they stand: check, ping, mute, export."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.cli.declared import DeclaredGroup, argument, option, under
from app.cli.session import Session
from memory.errors import UsageError

from .one_watch import watch

if TYPE_CHECKING:
    from datetime import timedelta

    from memory.monitoring.history.overview import MonitorStanding
    from memory.monitoring.run.ledger import MonitorLedger
    from memory.monitoring.run.report import Watch


def standings_of(session: Session) -> tuple[MonitorStanding, ...]:
    """Return how the monitors of the workspace stand, and which of them may not run."""
    from memory.monitoring.history.overview import standings
    from memory.person import config_home
    from memory.trust.consent import trust_of

    trust = trust_of(session.workspace, config_home(os.environ))
    return standings(session.workspace, session.snapshot, session.now, trust)


def refuse_safe(session: Session) -> None:
    """Raise UsageError where `--safe` was given: nothing is to run then."""
    if session.safe:
        raise UsageError("usage.safe", "nothing runs with --safe", "leave it out")


def add_to(monitors: DeclaredGroup) -> None:
    """Add the verbs to the group of monitors."""

    @under(
        monitors,
        "check",
        serves="person",
        examples=(
            "memdeck monitors check",
            "memdeck monitors check 'Disk Space' -o json",
            "memdeck monitors check --all",
        ),
    )
    @argument("names", metavar="[NAME]...", nargs=-1, refs=("monitors",))
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
            from app.cli.printing import tell

            tell(f"memdeck: warning: {warning}")
        session.answer(lambda: as_document(found), lambda: _painted(session, found))
        return 3 if found.needs_approval else 0

    @under(monitors, "ping", serves="person", examples=("memdeck monitors ping 'Nightly backup'",))
    @argument("name", refs=("monitors",))
    def ping(session: Session, name: str) -> None:
        """Tell a heartbeat monitor that what it watches is alive; write it at the end of a backup script."""
        from memory.base.clock import format_utc
        from memory.files.monitors import find_monitor
        from memory.monitoring.run.ledger import key_of

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
    @argument("name", metavar="[NAME]", required=False, refs=("monitors",))
    @option("--for", "span", metavar="TIME", help="How long, such as 30m, 2h or 1d (default: 1h).")
    @option("--off", is_flag=True, help="Let it be heard again.")
    def mute(session: Session, name: str | None, span: str | None, off: bool) -> None:
        """Send no message about a monitor (default: any) for a while; it is checked all the same."""
        from memory.base.clock import format_utc
        from memory.files.monitors import find_monitor
        from memory.monitoring.run.ledger import key_of

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
        from memory.monitoring.history.overview import prometheus

        found = standings_of(session)
        if session.output == "human":
            session.writer.lines(prometheus(found).splitlines())
        else:
            session.listing("monitors", lambda: ({**s.monitor.json(), **s.json()} for s in found), lambda: [])


def as_document(found: Watch) -> dict[str, object]:
    """Return a watch as programs get it."""
    return {
        "monitors": found.json(),
        "blocked": list(found.blocked),
        "busy": found.busy,
        "warnings": list(found.warnings),
    }


def _painted(session: Session, found: Watch) -> Iterator[str]:
    for line in found.lines():
        yield session.paint.notice(line) if line.startswith(("failing", "error", "blocked", "needs")) else line


def _span(text: str) -> timedelta:
    from memory.monitoring.alerts.options import read_span

    found = read_span(text)
    if found is None:
        raise UsageError("usage.time", f"{text[:30]!r} is no span of time", "write 30m, 2h or 1d")
    return found


def _ledger(session: Session) -> MonitorLedger:
    from memory.monitoring.run.ledger import MonitorLedger

    state = session.workspace.state
    return session.opened(MonitorLedger(None if state is None else state.folder))


def _check_kept(ledger: MonitorLedger) -> None:
    """Raise MemdeckError where the record could not be written."""
    from memory.errors import MemdeckError

    if ledger.warnings:
        raise MemdeckError("monitors.record", ledger.warnings[0], "`memdeck doctor` looks at the state folder")
