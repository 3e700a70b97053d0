"""The operations on monitors, and on the channels that their messages take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from memory.base.clock import format_local, format_utc
from memory.base.cron import describe
from memory.errors import ConfigError, MemdeckError, UsageError
from memory.files.edit import Edit
from memory.files.find import MONITORS, find_monitor
from memory.files.monitors import FIELD_KEYS
from memory.files.operations import UNSET, Call, EntryGroup, pairs, something, whole_text
from memory.files.verbs.monitors import MONITOR_EDITS, add_monitor, edit_monitor
from memory.monitoring.alerts import read_span
from memory.monitoring.ledger import key_of, ledger_of
from memory.monitoring.messages import Addresses, ping_at_end, read_route, send_message
from memory.monitoring.overview import MonitorStanding, prometheus, standings
from memory.monitoring.run import ACTOR, keep_watch
from memory.monitoring.schedule import overdue
from memory.monitoring.settings import runnable
from memory.monitoring.threshold import DEFAULTS
from memory.monitoring.watch import Watch, WatchServices
from memory.operations import Choice, Context, Group, Pairs, Ref, argument, option, under
from memory.operations.result import Paint, Result, listing, said, short
from memory.storage.own_folders import config_home, host_name

WAIT = 10.0
"""Seconds that a check asked for by name waits while another process runs the monitors."""
BLOCKED = 3


monitors = EntryGroup(
    "monitors",
    "List, add, edit, remove and run monitors (monitors.md).",
    MONITORS,
    key="monitor",
)


def watch(
    context: Context, *, names: list[str] | None = None, everything: bool = False, heartbeat: bool = True
) -> Watch:
    """Run one watch over the monitors, with the actor of this run or of the monitors themselves."""
    return keep_watch(
        context.workspace,
        context.trust,
        context.now,
        WatchServices(context.environ, addresses_of(context)),
        names=names,
        everything=everything,
        heartbeat=heartbeat,
        wait=WAIT if names or everything else 0.0,
        actor=context.named_actor or ACTOR,
    )


def addresses_of(context: Context) -> Addresses:
    """Return the addresses of the person's channels; nothing is read yet."""
    return Addresses(config_home(context.environ), context.environ, workspace=context.workspace.root)


def _refuse_safe(context: Context) -> None:
    """Raise UsageError if `--safe` was given: nothing may run then."""
    if context.safe:
        raise UsageError("usage.safe", "nothing runs with --safe", "leave it out")


@monitors.look("list", "", "--alerting -o json")
@option("--alerting", is_flag=True, help="Only monitors that are failing or stale.")
@option("--match", metavar="TEXT", help="Only monitors that contain this text, in any case.")
def list_monitors(context: Context, alerting: bool, match: str | None) -> Result:
    """List monitors with their last state."""
    found = _standings(context)
    if alerting:
        found = [one for one in found if one.bad]
    if match is not None:
        wanted = match.casefold()
        found = [one for one in found if wanted in f"{one.monitor.name}\n{one.monitor.entry.text}".casefold()]
    notes = [f"warning: {late.message}" for late in overdue(context.workspace, context.now)]
    return listing("monitors", lambda: [one.json() for one in found], lambda paint: _table(paint, found), notes=notes)


def _standings(context: Context) -> list[MonitorStanding]:
    """Return the state of the workspace's monitors, and which of them may not run."""
    return list(standings(context.workspace, context.snapshot, context.now, context.trust))


def _table(paint: Paint, known: list[MonitorStanding]) -> Iterator[str]:
    rows = []
    for one in known:
        monitor, checked = one.monitor, one.monitor.last_check or ""
        interval = describe(monitor.interval) if monitor.interval else ""
        rows.append((short(monitor.ref), one.words, monitor.type or "", interval, checked, monitor.name))
    alerts = {row: 1 for row, one in enumerate(known) if one.bad}
    return paint.columns(rows, alerts=alerts, indent="", empty="no monitors")


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
@option("--all", "everything", is_flag=True, help="All monitors, even those that are not due.")
def check(context: Context, names: tuple[str, ...], everything: bool) -> Result:
    """Run the monitors that are due, or those named, with their alerts, remediations and messages.

    What you have not approved does not run: it is listed as blocked, and the exit code is 3. Exit code 0 means that all
    could run, healthy or not; the answer has their states.
    """
    _refuse_safe(context)
    if names and everything:
        raise UsageError("usage.arguments", "names and --all cannot be used together", "give only one of them")
    found = watch(context, names=list(names) or None, everything=everything, heartbeat=False)
    document = {
        "workspace": str(context.workspace.root),
        "monitors": found.json(),
        "blocked": list(found.blocked),
        "busy": found.busy,
        "warnings": list(found.warnings),
    }
    notes = [f"warning: {warning}" for warning in found.warnings]
    notes += [] if names else ping_at_end(addresses_of(context))
    code = BLOCKED if found.blocked else 0
    return Result(lambda: document, lambda paint: _painted(paint, found), notes=notes, code=code)


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
@option("--off", is_flag=True, help="Unmute it.")
def mute(context: Context, name: str | None, span: str | None, off: bool) -> Result:
    """Mute a monitor (default: all) for a while: it is still checked, but sends no messages."""
    if off and span:
        raise UsageError("usage.arguments", "--off and --for cannot be used together", "give only one of them")
    until = None if off else context.now + _span(span or "1h")
    monitor = None if name is None else find_monitor(context.snapshot, name)
    ledger = context.opened(ledger_of(context.workspace))
    ledger.mute("*" if monitor is None else key_of(monitor.name), until)
    if ledger.warnings:
        raise MemdeckError("monitors.record", ledger.warnings[0], "`memdeck doctor` looks at the state folder")
    who = "all monitors" if monitor is None else monitor.name
    when = None if until is None else format_utc(until)
    return said(
        {"monitor": None if monitor is None else monitor.name, "until": when},
        f"{who}: not muted" if until is None else f"{who}: muted until {format_local(until, context.snapshot.zone)}",
    )


@monitors.look("export", "")
def export(context: Context) -> Result:
    """Print the states of the monitors in the text format of Prometheus."""
    found = _standings(context)

    def lines() -> list[str]:
        late = overdue(context.workspace, context.now)
        place = {"host": host_name(context.environ), "workspace": str(context.workspace.root)}
        return prometheus(found, late, context.now, **place).splitlines()

    return listing("monitors", lambda: [one.json() for one in found], lambda _: lines())


def _painted(paint: Paint, found: Watch) -> Iterator[str]:
    for line in found.lines():
        yield paint.notice(line) if line.startswith(("failing", "error", "blocked", "needs")) else line


def _span(text: str) -> timedelta:
    found = read_span(text)
    if found is None:
        raise UsageError("usage.time", f"{text[:30]!r} is not a span of time", "write 30m, 2h or 1d")
    return found


@monitors.changes(
    "add",
    "added",
    "'Shop front' --type http --url https://example.com/health --interval '*/5 * * * *'",
    "Disk --type command --command 'df -h /' --threshold 'value > 90'",
)
@argument("name")
@option("--type", type=Choice(tuple(DEFAULTS)), required=True, help="What it watches.")
@option("--url", metavar="URL", help="The address that an http monitor fetches.")
@option("--command", metavar="C", help="The command of a command monitor; kept as text.")
@option(
    "--folder", metavar="DIR", help="Where its commands run: . for the workspace (default: an empty private folder)."
)
@option("--interval", metavar="CRON", help="How often: five cron fields, such as '*/5 * * * *'.")
@option("--threshold", metavar="T", help="When it alerts: 'status != 200', 'exit code != 0', 'value > 90'.")
@option("--priority", "alertPriority", metavar="P", help="Priority of its alerts: high, normal or low.")
@option("--remediate", "autoRemediate", metavar="C", help="The command that may fix it (autoRemediate); kept as text.")
@option("--set", "changes", multiple=True, type=Pairs(), help="Any other field; may be repeated.")
def add(call: Call, name: str, changes: Sequence[str] | Mapping[str, str] = (), **fields: str | None) -> Edit:
    """Add a monitor; its command does not run until a person approves it."""
    values = pairs(changes, **fields)
    return runnable(add_monitor(call.snapshot, name, values, now=call.now), call.snapshot)


@monitors.changes(
    "edit",
    "changed",
    "19d2e4f --set interval='*/10 * * * *' --unset autoRemediate",
    fields=lambda: (*FIELD_KEYS, "name"),
)
@monitors.ref
@option("--set", "changes", multiple=True, type=Pairs(), help="Set a field or the name; may be repeated.")
@UNSET
@whole_text("monitor")
def edit(
    call: Call,
    ref: str,
    changes: Sequence[str] | Mapping[str, str] = (),
    unset: Sequence[str] = (),
    text: str | None = None,
) -> Edit:
    """Change fields of a monitor; each field changes only its own line."""
    values = pairs(changes)
    if text is not None:
        made = MONITOR_EDITS.rewrite(call.snapshot, ref, text, base=call.base, beside=(values, unset))
        return runnable(made, call.snapshot)
    something((values, unset))
    return runnable(edit_monitor(call.snapshot, ref, {**values, **dict.fromkeys(unset, "")}, call.base), call.snapshot)


remove = monitors.removes(MONITOR_EDITS, "19d2e4f", "a monitor")


notify = Group("notify", "Messages about monitors.")


@under(
    notify, "test", serves="person", examples=("memdeck notify test", "memdeck notify test --channel channel-def456")
)
@option("--channel", metavar="ID", help="Only this channel (default: the channels of an alert).")
@option("--priority", type=Choice(("low", "normal", "high")), default="normal", help="Priority of the message.")
def test(context: Context, channel: str | None, priority: str) -> Result:
    """Send a test message as an alert would be sent, and say which channel took it."""
    _refuse_safe(context)
    route = read_route(context.snapshot, addresses_of(context))
    wanted = [one for one in route.channels if channel in (None, one.id, one.name)]
    if not wanted:
        why = f"no channel {channel[:60]!r}" if channel else "no channel is configured"
        raise ConfigError("notify.no_channel", why, "see docs/alerts.md")
    failures: list[dict[str, str]] = []
    for one in wanted:
        why = one.why or send_message(one.urls, "memdeck test", f"A test from {context.workspace.root.name}", priority)
        if not why:
            return said({"sent": True, "channel": one.id, "failed": failures}, f"sent to {one.name}")
        failures.append({"channel": one.id, "why": why})
    raise MemdeckError(
        "notify.failed",
        "; ".join(f"{failure['channel']}: {failure['why']}" for failure in failures),
        "see docs/alerts.md",
        failed=failures,
    )
