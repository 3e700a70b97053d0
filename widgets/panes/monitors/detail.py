"""What the detail shows of a monitor: its state and history in words and charts, its check, and its alerts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from memory.base.clock import Moment, format_local
from memory.base.cron import describe
from memory.files.monitors.model import Monitor
from memory.monitoring.ledger import Past
from memory.monitoring.overview import LAST, MonitorStanding
from memory.monitoring.settings import kind_of
from memory.monitoring.threshold import DEFAULTS, BadThreshold, parse_threshold, say_time
from widgets.detail import Lines, Spacer
from widgets.text.glyphs import Glyphs, sparkline
from widgets.text.styled_text import Line, Piece, Tone, line
from widgets.text.words import beside, dated, next_run, until


def is_blocked(picture: MonitorStanding | None) -> bool:
    """Whether a monitor is blocked from running as it is."""
    return picture is not None and bool(picture.blocked)


def is_unknown(picture: MonitorStanding | None) -> bool:
    """Whether the record has no result and nothing that blocks the monitor."""
    return picture is None or picture.state in ("unknown", "skipped")


def alerts(monitor: Monitor, picture: MonitorStanding | None) -> bool:
    """Whether a monitor was not well at its last check, is stale, or cannot run; one that is blocked may."""
    return monitor.healthy is False if picture is None else picture.bad


def state_pieces(monitor: Monitor, picture: MonitorStanding | None, glyphs: Glyphs) -> tuple[Piece, Piece]:
    """The sign and the word of a monitor's state; warning colours only where it needs attention.

    The record is preferred to the file, if it has a result.
    """
    state = picture.state if picture is not None else "unknown"
    if state == "blocked":
        if alerts(monitor, picture):
            # A monitor that is no longer checked is not well for that reason.
            word = "stale" if picture is not None and picture.stale and monitor.healthy is not False else "alert"
            return Piece(glyphs.alert, "alert"), Piece(word, "alert")
        return Piece(glyphs.half, "warn"), Piece("needs approval", "warn")
    if state in ("unknown", "skipped"):
        if monitor.healthy is None:
            return Piece(glyphs.circle, "muted"), Piece(monitor.last_status or "unknown", "muted")
        state = monitor.last_status or ("healthy" if monitor.healthy else "not healthy")
        well = monitor.healthy
    else:
        well = state == "healthy"
    if well:
        return Piece(glyphs.check, "good"), Piece(state)
    return Piece(glyphs.alert, "alert"), Piece(state, "alert")


def monitor_told(
    monitor: Monitor, picture: MonitorStanding | None, now: datetime, zone: tzinfo, glyphs: Glyphs, width: int
) -> Mapping[str, Any]:
    """Return everything about a monitor; charts are as wide as there is room (`width` in cells)."""
    expression, run = monitor.interval or "", next_run(monitor.interval, now, zone)
    words = describe(expression)
    following: Any = "" if run is None else f"{run:%Y-%m-%d %H:%M}, {until(run, now, zone)}"
    if run is not None and is_blocked(picture):
        following = Piece("after the approval", "muted")
    elif run is None and expression:
        following = Piece("not a cron expression", "warn")
    remedy = "" if picture is None else picture.remedy
    return {
        **_state(monitor, picture, now, zone, glyphs),
        " ": Spacer(),
        "last check": dated(monitor.last_check, now, zone) or "never",
        "interval": words if words == expression else f"{words}  ({expression})",
        "next run": following,
        **({} if picture is None else _charts(picture, now, zone, glyphs, width)),
        "  ": Spacer(),
        "type": monitor.type,
        "url": monitor.url,
        "command": monitor.command,
        "folder": monitor.folder,
        "alert when": _threshold(monitor),
        "priority": monitor.alert_priority,
        "fix": monitor.auto_remediate or monitor.auto_remediate_remark,
        "fix allowed": Piece(remedy, "muted" if remedy == "approved" else "warn") if remedy else "",
        "cron job": monitor.cron_job_id,
        "other fields": {key: str(value) for key, value in monitor.extra.items() if value},
    }


def _threshold(monitor: Monitor) -> Any:
    """Return when it alerts: as it is written, else what is usual for its type, or what is wrong with it."""
    kind = kind_of(monitor)
    try:
        if monitor.threshold:
            parse_threshold(monitor.threshold, kind)
    except BadThreshold as error:
        return Piece(error.message, "warn")
    return monitor.threshold or Piece(DEFAULTS.get(kind, ""), "muted")


def _state(
    monitor: Monitor, picture: MonitorStanding | None, now: datetime, zone: tzinfo, glyphs: Glyphs
) -> Mapping[str, Any]:
    """Return the state, since when, and why no message may be sent."""
    sign, word = state_pieces(monitor, picture, glyphs)
    alert = None if picture is None else picture.alert
    summary = monitor.last_status_remark if picture is None or not picture.results else picture.summary
    if picture is not None and picture.blocked:
        # The record's summary is now the reason for the block; the file has what alerted.
        summary = (monitor.last_status_remark or "") if alerts(monitor, picture) else ""
    if picture is not None and word.text == "stale":
        summary = picture.was
    told: dict[str, Any] = {
        "state": Lines((line(sign, " ", word, Piece(f", {summary}" if summary else "", word.tone)),))
    }
    if picture is None or alert is None:
        return told
    if alert.known and alert.since is not None and (alert.alerting or not (picture.blocked or picture.stale)):
        told["alert since" if alert.alerting else "since"] = _dated(alert.since, now, zone)
    if alert.alerting:
        sent = {"yes": "a message was sent", "held": "the message waits"}.get(alert.told, "no message was sent yet")
        told["told"] = sent if alert.failures < 2 else f"{sent}; {alert.failures} failures in a row"
    elif alert.failures:
        told["failures"] = f"{alert.failures} in a row, no alert yet"
    told["cannot run"] = Piece(picture.broken, "alert") if picture.broken else ""
    if picture.blocked:
        told["waits"] = Piece(f"for your approval (T): {picture.blocked}", "warn")
        if monitor.last_status and not alerts(monitor, picture):
            told["before"] = ", ".join(filter(None, (monitor.last_status, monitor.last_status_remark)))
    told["muted"] = picture.muted and f"until {_dated(picture.muted, now, zone)}"
    return {**told, "silenced": picture.silenced}


def _charts(picture: MonitorStanding, now: datetime, zone: tzinfo, glyphs: Glyphs, width: int) -> Mapping[str, Any]:
    """Return latency and the last results; parts that were never measured are left out."""
    told: dict[str, Any] = {"   ": Spacer()}
    if len(picture.latencies) > 1:
        shown = picture.latencies[-max(8, width) :]
        low, high = say_time(min(shown)), say_time(max(shown))
        words = f"{say_time(shown[-1])} now" + (f", {low} to {high}" if low != high else "")
        told["latency"] = [Lines((line(Piece(words, "muted")), line(sparkline(shown, glyphs))))]
    if picture.results:
        newest = picture.results[:LAST]
        told["last results"] = [Lines(tuple(_result(past, now, zone, glyphs) for past in newest), 9)]
    return told


def _result(past: Past, now: datetime, zone: tzinfo, glyphs: Glyphs) -> Line:
    at = datetime.fromisoformat(past.at).astimezone(zone)
    when = f"{at:%H:%M}" if at.date() == now.astimezone(zone).date() else f"{at.day} {at:%b}"
    sign = {"healthy": glyphs.check, "blocked": glyphs.half, "skipped": glyphs.circle}.get(past.state, glyphs.alert)
    tone: Tone = "alert" if past.state in ("failing", "error") else "muted"
    mark: Tone = "good" if past.state == "healthy" else tone
    took = f"  {say_time(past.seconds):>7}" if past.seconds is not None else ""
    return line(
        Piece(f"{sign} ", mark), Piece(f"{when:<6} "), Piece(f"{past.state:<8}", tone), Piece(took, "muted"),
        f"  {past.summary}",
    )  # fmt: skip


def _dated(instant: datetime, now: datetime, zone: tzinfo) -> str:
    moment = Moment("", instant.astimezone(zone).date(), instant)
    return f"{format_local(instant, zone)}, {beside(moment, now, zone)}"
