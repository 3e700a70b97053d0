"""The verbs on monitors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from app.cli.declared import OneOf, argument, group, option, under
from app.cli.session import Session
from app.cli.values import facts, given, pairs, short, something

from .watch import add_to, standings_of

if TYPE_CHECKING:
    from memory.files.edit import Edit
    from memory.files.monitors import Monitor
    from memory.files.snapshot import Snapshot

monitors = group("monitors", "List, add, edit, remove and run monitors (monitors.md).")
_ref = argument("ref", refs=("monitors",))


@under(monitors, "list", serves="look", examples=("memdeck monitors list", "memdeck monitors list --alerting -o json"))
@option("--alerting", is_flag=True, help="Only monitors that are not healthy.")
@option("--match", metavar="TEXT", help="Only monitors that contain this text, in any case.")
def list_monitors(session: Session, alerting: bool, match: str | None) -> None:
    """List monitors with their last state."""
    found: list[Monitor] = list(session.snapshot.monitors.monitors)
    if alerting:
        found = [monitor for monitor in found if monitor.healthy is False]
    if match is not None:
        found = [monitor for monitor in found if match.casefold() in " ".join(_texts(monitor)).casefold()]

    def rows() -> Iterator[dict[str, object]]:
        wanted = {monitor.at for monitor in found}
        for one in standings_of(session):
            if one.monitor.at in wanted:
                yield {**one.monitor.json(), **one.json()}

    session.listing("monitors", rows, lambda: _table(session, found))


def _texts(monitor: Monitor) -> list[str]:
    return [str(value) for value in monitor.json().values() if value is not None]


def _table(session: Session, found: list[Monitor]) -> Iterator[str]:
    if not found:
        yield "no monitors"
        return
    rows = []
    # What may not run is called that, whatever its file says of the last time.
    standings = standings_of(session)
    blocked = {one.monitor.at for one in standings if one.blocked}
    broken = {one.monitor.at: one.broken for one in standings if one.broken}
    for monitor in found:
        remark = f" ({monitor.last_status_remark})" if monitor.last_status_remark else ""
        state = (monitor.last_status or "never checked") + remark
        if monitor.at in blocked:
            state = f"blocked, was {state}" if monitor.last_status else "blocked"
        elif monitor.at in broken:
            state = f"error ({broken[monitor.at]})"
        rows.append(
            (short(monitor.ref), state, monitor.type or "", _interval(monitor), monitor.last_check or "", monitor.name)
        )
    alerts = {row: 1 for row, monitor in enumerate(found) if monitor.healthy is False}
    yield from session.paint.columns(rows, alerts=alerts, indent="")


def _interval(monitor: Monitor) -> str:
    if not monitor.interval:
        return ""
    from memory.base.cron import describe

    return describe(monitor.interval)


add_to(monitors)


def _say(session: Session, done: str, monitor: Monitor) -> None:
    def lines() -> Iterator[str]:
        values = monitor.json()
        for key in ("ref", "name", "line", "file"):
            values.pop(key, None)
        return facts(session.paint, f"{done} {monitor.ref}  {monitor.name}", values)

    session.answer(lambda: {"monitor": monitor.json()}, lines)


def _check_threshold(text: str | None, kind: str) -> None:
    """Refuse a threshold that nobody will understand later, with the column where it goes wrong."""
    if text is not None and text.strip():
        from memory.base.remarks import is_absent
        from memory.monitoring.thresholds.threshold import parse_threshold

        if not is_absent(text):
            parse_threshold(text, kind.strip().casefold())


def _changed(session: Session, operation: str, done: str, build: Callable[[Snapshot], Edit]) -> None:
    from memory.files.monitors import find_monitor
    from memory.monitoring.problems import runnable

    outcome = session.change(operation, runnable(build))
    monitor = find_monitor(session.left_by(outcome), outcome.ref or "")
    _say(session, done if outcome.change.files else "nothing to change in", monitor)


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
    type=OneOf(("http", "command", "tcp", "file", "heartbeat")),
    required=True,
    help="What it looks at.",
)
@option("--url", metavar="URL", help="The address that an http monitor fetches.")
@option("--command", metavar="C", help="The command of a command monitor; kept as text.")
@option("--interval", metavar="CRON", help="How often: five cron fields, such as '*/5 * * * *'.")
@option("--threshold", metavar="T", help="When it alerts: 'status != 200', 'exit code != 0', 'value > 90'.")
@option("--priority", "alert_priority", metavar="P", help="Priority of its alerts: high, normal or low.")
@option("--remediate", metavar="C", help="The command that may mend it (autoRemediate); kept as text.")
@option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Any other field; may be repeated.")
def add(
    session: Session,
    name: str,
    kind: str,
    url: str | None,
    command: str | None,
    interval: str | None,
    threshold: str | None,
    alert_priority: str | None,
    remediate: str | None,
    changes: tuple[str, ...],
) -> None:
    """Add a monitor; what it would run is text until a person approves it."""
    from memory.files.monitors import add_monitor

    values = given(
        type=kind,
        url=url,
        command=command,
        interval=interval,
        threshold=threshold,
        alertPriority=alert_priority,
        autoRemediate=remediate,
    ) | pairs(changes)
    _check_threshold(values.get("threshold"), values["type"])
    _changed(session, "monitors.add", "added", lambda snapshot: add_monitor(snapshot, name, values, now=session.now))


def _fields() -> tuple[str, ...]:
    """Return what `--set` takes."""
    from memory.files.monitors import FIELD_KEYS

    return (*FIELD_KEYS, "name")


@under(
    monitors,
    "edit",
    serves="change",
    fields=_fields,
    examples=("memdeck monitors edit 19d2e4f --set interval='*/10 * * * *' --unset autoRemediate",),
)
@_ref
@option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Set a field or the name; may be repeated.")
@option("--unset", multiple=True, metavar="KEY", help="Remove a field; may be repeated.")
def edit(session: Session, ref: str, changes: tuple[str, ...], unset: tuple[str, ...]) -> None:
    """Change fields of a monitor; each changes its own line and no other."""
    from memory.files.monitors import edit_monitor

    values = pairs(changes)
    something((values, unset))
    if values.get("threshold"):
        from memory.files.monitors import find_monitor
        from memory.monitoring.settings import kind_of

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
    from memory.files.monitors import find_monitor, remove_monitor

    _say(session, "removed", session.remove("monitors.remove", ref, find_monitor, remove_monitor))
