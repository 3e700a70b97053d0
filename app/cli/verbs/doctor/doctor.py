"""`memdeck doctor`: what may keep memdeck from working here, and how to have maintenance run."""

from __future__ import annotations

import os
from collections.abc import Iterator

from app.cli.declared import option, verb
from app.cli.session import Session
from memory.errors import UsageError

from .environment import DoctorFinding, crontab, machine, of_keys, of_workspace, scheduled

NEEDS_PERSON = 4


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
    if session.output == "json":
        session.writer.document({"checks": [finding.json() for finding in found], "needs_person": person})
    else:
        session.listing("checks", lambda: (finding.json() for finding in found), lambda: _lines(session, found))
    return NEEDS_PERSON if person else 0


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
    from memory.person import state_home

    from .timetable import timetable, watch_expression

    log = state_home(os.environ) / "memdeck" / "maintain.log"
    snapshot = session.snapshot
    monitors = snapshot.monitors.monitors
    often = watch_expression([one.interval for one in monitors if one.interval], session.now, snapshot.zone)
    plan = timetable(session.workspace.root, snapshot.config.schedule(), log, often)
    log_folder, edit, units, enable, linger = plan.install

    def lines() -> Iterator[str]:
        yield "# cron: one line in your crontab"
        yield f"#   {log_folder}"
        yield f"#   {edit}"
        yield plan.cron
        yield "# cron: a second line checks the monitors, as often as the shortest interval of one"
        yield plan.watch
        yield ""
        yield "# systemd: two files, instead of cron"
        yield f"#   {units}"
        yield f"# ~/.config/systemd/user/{plan.unit}.service"
        yield from plan.service.splitlines()
        yield ""
        yield f"# ~/.config/systemd/user/{plan.unit}.timer"
        yield from plan.timer.splitlines()
        yield ""
        yield f"#   {enable}"
        yield f"#   {linger}"

    session.answer(plan.json, lines)
