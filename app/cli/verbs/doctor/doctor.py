"""`memdeck doctor`: what may keep memdeck from working here, and how to schedule maintenance."""

from __future__ import annotations

import os
from collections.abc import Iterator

from app.cli.session import PROBLEMS, Session
from memory.base.clock import machine_zone
from memory.errors import UsageError
from memory.operations import option, verb
from memory.storage.own_folders import state_home

from .environment import DoctorFinding, crontab, machine, of_keys, of_workspace, scheduled
from .timetable import timetable, watch_expression


@verb("doctor", serves="look", examples=("memdeck doctor", "memdeck doctor --schedule", "memdeck doctor -o json"))
@option(
    "--schedule",
    is_flag=True,
    help="Print cron lines and a systemd timer that run --maintain, and how to install them.",
)
def doctor(session: Session, schedule: bool) -> int:
    """Look at the environment: versions, terminal, encoding, workspace, lock, watcher, cron, permissions.

    Exit code 4 when something needs a person; warnings and notes alone are none.
    """
    if schedule:
        _print_schedule(session)
        return 0
    found = list(_look(session))
    person = any(finding.level == "person" for finding in found)
    rows = [finding._asdict() for finding in found]
    session.answer(lambda: {"checks": rows, "needs_person": person}, lambda: _lines(session, found), lambda: rows)
    return PROBLEMS if person else 0


def _look(session: Session) -> Iterator[DoctorFinding]:
    yield from machine()
    root = session.root
    yield from of_keys(root)
    try:
        yield from of_workspace(session.workspace, session.now)
    except UsageError as error:
        if root is not None:
            raise
        yield DoctorFinding("workspace", "note", error.message, error.hint)
    yield scheduled(root, lambda: crontab(root))


def _lines(session: Session, found: list[DoctorFinding]) -> Iterator[str]:
    alerts = {index: 0 for index, finding in enumerate(found) if finding.level == "person"}
    rows = []
    for finding in found:
        text = finding.message + (f"; {finding.hint}" if finding.hint else "")
        rows.append((finding.level.upper() if finding.level == "person" else finding.level, finding.name, text))
    yield from session.paint.columns(rows, indent="", alerts=alerts)


def _print_schedule(session: Session) -> None:

    log = state_home(os.environ) / "memdeck" / "maintain.log"
    snapshot = session.snapshot
    monitors = snapshot.monitors.monitors
    often = watch_expression([one.interval for one in monitors if one.interval], session.now, snapshot.zone)
    known = snapshot.config.get("timezone") or ""
    zone = known if str(snapshot.zone) == known != str(machine_zone(os.environ)) else ""
    plan = timetable(session.workspace.root, snapshot.config.schedule(), log, often, environ=os.environ, zone=zone)
    log_folder, edit, units, enable, linger = plan.install

    lines = (
        "# cron: two lines in your crontab; the second checks the monitors, as often as the shortest interval of one",
        f"#   {log_folder}",
        f"#   {edit}",
        *(f"#   {remark}" for remark in plan.remarks),
        plan.cron,
        plan.watch,
        "",
        "# systemd: three files, instead of cron",
        f"#   {units}",
        f"# ~/.config/systemd/user/{plan.unit}.service",
        *plan.service.splitlines(),
        "",
        f"# ~/.config/systemd/user/{plan.unit}.timer",
        *plan.timer.splitlines(),
        "",
        f"# ~/.config/systemd/user/{plan.unit}-watch.timer",
        *plan.watch_timer.splitlines(),
        "",
        f"#   {enable}",
        f"#   {linger}",
    )
    session.answer(plan._asdict, lambda: lines)
