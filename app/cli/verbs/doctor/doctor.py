"""`memdeck doctor`: what may keep memdeck from working here, and how to schedule maintenance."""

from __future__ import annotations

from collections.abc import Iterator

from memory.base.clock import machine_zone
from memory.errors import UsageError
from memory.operations import Context, option, verb
from memory.operations.result import PROBLEMS, Paint, Result
from memory.storage.own_folders import state_home

from .checks import DoctorFinding, findings
from .timetable import agent_unit, timetable, watch_expression


@verb(
    "doctor",
    serves="look",
    examples=("memdeck doctor", "memdeck doctor --schedule", "memdeck doctor --schedule --fleet"),
)
@option(
    "--schedule",
    is_flag=True,
    help="Print cron lines and a systemd timer that run --maintain, and how to install them.",
)
@option("--fleet", is_flag=True, help="With --schedule: print the systemd unit of the agent of this host instead.")
def doctor(context: Context, schedule: bool, fleet: bool) -> Result:
    """Check the environment: versions, terminal, encoding, workspace, lock, watcher, cron, permissions.

    Exit code 4 when something needs a person, 0 when there are only warnings and notes.
    """
    if fleet and not schedule:
        raise UsageError("usage.arguments", "--fleet works only with --schedule", "give both")
    if schedule:
        return _agent(context) if fleet else _schedule(context)
    found = list(findings(context.root, lambda: context.workspace, context.now))
    person = any(finding.level == "person" for finding in found)
    rows = [finding._asdict() for finding in found]
    return Result(
        lambda: {"checks": rows, "needs_person": person},
        lambda paint: _lines(paint, found),
        lambda: rows,
        code=PROBLEMS if person else 0,
    )


def _lines(paint: Paint, found: list[DoctorFinding]) -> Iterator[str]:
    alerts = {index: 0 for index, finding in enumerate(found) if finding.level == "person"}
    rows = []
    for finding in found:
        text = finding.message + (f"; {finding.hint}" if finding.hint else "")
        rows.append((finding.level.upper() if finding.level == "person" else finding.level, finding.name, text))
    yield from paint.columns(rows, indent="", alerts=alerts)


def _agent(context: Context) -> Result:
    unit = agent_unit(context.environ)
    install = (
        "mkdir -p ~/.config/systemd/user   # and save the unit there",
        "install -D -m 600 /dev/null ~/.config/memdeck/fleet.env   # and write MEMDECK_DATABASE=… into it",
        "systemctl --user daemon-reload && systemctl --user enable --now memdeck-fleet.service",
        "loginctl enable-linger   # lets it run while you are not logged in",
    )
    lines = (
        f"#   {install[0]}",
        "# ~/.config/systemd/user/memdeck-fleet.service",
        *unit.splitlines(),
        "",
        *(f"#   {one}" for one in install[1:]),
    )
    return Result(lambda: {"unit": "memdeck-fleet", "service": unit, "install": install}, lambda _: lines)


def _schedule(context: Context) -> Result:
    log = state_home(context.environ) / "memdeck" / "maintain.log"
    snapshot = context.snapshot
    monitors = snapshot.monitors.items
    often = watch_expression([one.interval for one in monitors if one.interval], context.now, snapshot.zone)
    known = snapshot.config.get("timezone") or ""
    zone = known if str(snapshot.zone) == known != str(machine_zone(context.environ)) else ""
    plan = timetable(context.workspace.root, snapshot.config.schedule(), log, often, environ=context.environ, zone=zone)
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
    return Result(plan._asdict, lambda _: lines)
