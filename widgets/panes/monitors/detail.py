"""What the detail shows of a monitor: its state and history in words and charts, its check, and its alerts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo

from memory.base.clock import Moment, format_local
from memory.files.monitors import Monitor
from memory.monitoring.history.charts import Picture
from memory.monitoring.history.overview import Past
from memory.monitoring.settings import kind_of
from memory.monitoring.thresholds.threshold import BadThreshold, meaning, parse_threshold
from memory.monitoring.thresholds.units import say_time
from widgets.detail import Caption, DetailLine, Labelled, Lines, Spacer, Title
from widgets.text.glyphs import Glyphs, sparkline
from widgets.text.styled_text import Line, Piece, Tone, clip_line, line
from widgets.text.words import beside, dated, next_run, until

_PARTS: dict[str, tuple[int, Tone]] = {
    "": (0, "muted"),
    "well": (1, "muted"),
    "partly": (2, "warn"),
    "down": (3, "alert"),
}
"""The sign and the tone of each part of a strip; the signs differ even without colour."""


def is_blocked(picture: Picture | None) -> bool:
    """Whether a monitor is blocked from running as it is."""
    return picture is not None and bool(picture.standing.blocked)


def is_unknown(picture: Picture | None) -> bool:
    """Whether the record has no result and nothing that blocks the monitor."""
    return picture is None or picture.standing.state in ("unknown", "skipped")


def alerts(monitor: Monitor, picture: Picture | None) -> bool:
    """Whether a monitor was not well at its last check, is stale, or cannot run; one that was blocked still alerts."""
    return monitor.healthy is False if picture is None else picture.standing.bad


def state_pieces(monitor: Monitor, picture: Picture | None, glyphs: Glyphs) -> tuple[Piece, Piece]:
    """The sign and the word of a monitor's state; warning colours only where it needs attention.

    The record is preferred to the file, if it has a result.
    """
    state = picture.standing.state if picture is not None else "unknown"
    if state == "blocked":
        if alerts(monitor, picture):
            # A monitor that is no longer checked is not well for that reason.
            return Piece(glyphs.alert, "alert"), Piece("alert", "alert")
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


def monitor_detail(
    monitor: Monitor, picture: Picture | None, now: datetime, zone: tzinfo, glyphs: Glyphs, width: int
) -> list[DetailLine]:
    """Everything about a monitor; charts are as wide as there is room (`width` in cells)."""
    parts: list[DetailLine] = [Title(monitor.name), Spacer()]
    parts += _state(monitor, picture, now, zone, glyphs)
    parts += [Spacer(), *_times(monitor, now, zone, runs=not is_blocked(picture))]
    if picture is not None:
        parts += _pictures(picture, now, zone, glyphs, width)
    parts += [Spacer(), *_what(monitor)]
    parts += [Spacer(), *_alerts(monitor, picture)]
    extra = [Labelled(key, str(value)) for key, value in monitor.extra.items() if value]
    if extra:
        parts += [Spacer(), Caption("OTHER FIELDS"), *extra]
    return parts


def _state(
    monitor: Monitor, picture: Picture | None, now: datetime, zone: tzinfo, glyphs: Glyphs
) -> Iterator[DetailLine]:
    """The state, since when, and why no message may be sent."""
    sign, word = state_pieces(monitor, picture, glyphs)
    standing = None if picture is None else picture.standing
    alert = None if standing is None else standing.alert
    summary = alert.summary if alert is not None and alert.known else monitor.last_status_remark
    if standing is not None and standing.blocked:
        # The record's summary is now the reason for the block; the file has what alerted.
        summary = (monitor.last_status_remark or "") if alerts(monitor, picture) else ""
    if standing is not None and standing.state == "stale":
        summary = f"was {standing.before}"
    remark = (Piece(f", {summary}", word.tone),) if summary else ()
    yield Lines((line(sign, " ", word, remark),))
    if standing is None or alert is None:
        return
    if alert.known and alert.since is not None:
        words = "alert since" if alert.alerting else f"{(alert.state or word.text)[:8]} since"
        if alert.alerting or not (standing.blocked or standing.stale):
            yield Labelled(words, _dated(alert.since, now, zone))
    if alert.alerting:
        told = {"yes": "a message was sent", "held": "the message waits"}.get(alert.told, "no message was sent yet")
        yield Labelled("told", told if alert.failures < 2 else f"{told}; {alert.failures} failures in a row")
    elif alert.failures:
        yield Labelled("failures", f"{alert.failures} in a row, no alert yet")
    if standing.broken:
        yield Labelled("cannot run", standing.broken, "alert")
    if standing.blocked:
        yield Labelled("blocked", f"{standing.blocked} (T)", "warn")
        if picture is not None and picture.blocked_since is not None:
            yield Labelled("blocked since", _dated(picture.blocked_since, now, zone))
        if monitor.last_status and not alerts(monitor, picture):
            before = f"{monitor.last_status}, {monitor.last_status_remark}" if monitor.last_status_remark else ""
            yield Labelled("before", before or monitor.last_status)
    if standing.muted is not None:
        yield Labelled("muted", f"until {_dated(standing.muted, now, zone)}")
    if picture is not None and picture.silenced:
        yield Labelled("silenced", picture.silenced)


def _times(monitor: Monitor, now: datetime, zone: tzinfo, *, runs: bool) -> Iterator[DetailLine]:
    """When it was checked last, and when it is checked next; `runs`: whether it may run at all."""
    from memory.base.cron import describe

    expression = monitor.interval or ""
    words = describe(expression)
    yield Labelled("last check", dated(monitor.last_check, now, zone) or "never")
    if words:
        yield Labelled("interval", words if words == expression else f"{words}  ({expression})")
    run = next_run(monitor.interval, now, zone)
    if run is not None and not runs:
        yield Labelled("next run", line(Piece("none while it is blocked", "muted")))
    elif run is not None:
        yield Labelled("next run", f"{run:%Y-%m-%d %H:%M}, {until(run, now, zone)}")
    elif expression:
        yield Labelled("next run", "not a cron expression", "warn")


def _pictures(picture: Picture, now: datetime, zone: tzinfo, glyphs: Glyphs, width: int) -> Iterator[DetailLine]:
    """Uptime, latency, outages and the last results; parts that were never measured are left out."""
    standing = picture.standing
    if any(percent is not None for percent in standing.uptime.values()):
        gap = "  " if width >= 38 else " "
        checks = picture.checks
        most, fewer = max(checks.values(), default=0), 0
        shares = []
        for span, value in standing.uptime.items():
            # A longer span without more measurements adds no information.
            shares.append(f"{span} {_percent(value if checks.get(span, 1) > fewer else None, glyphs)}")
            fewer = max(fewer, checks.get(span, 0))
        words = gap.join(shares)
        counted = f"{gap}{most:,} check{'s' if most != 1 else ''}" if most else ""
        if len("UPTIME" + gap + words + counted) > width:
            counted = ""
        yield Spacer()
        yield Lines((line(Piece("UPTIME", "heading"), f"{gap}{words}", Piece(counted, "muted")),))
    if len(picture.latencies) > 1:
        shown = picture.latencies[-max(8, min(width, len(picture.latencies))) :]
        low, high = _time(min(shown)), _time(max(shown))
        words = f"  {_time(shown[-1])} now" + (f", {low} to {high}" if low != high else "")
        yield Spacer()
        yield Lines((line(Piece("LATENCY", "heading"), Piece(words, "muted")), line(sparkline(shown, glyphs))))
    strips = [("LAST 24 HOURS", picture.hours), ("LAST 30 DAYS", picture.days)]
    strips = [(title, parts) for title, parts in strips if any(parts)]
    if strips:
        yield Spacer()
        lines: list[Line] = []
        for title, parts in strips:
            lines += [line(Piece(title, "heading")), strip(parts, glyphs, width)]
        lines.append(legend(glyphs, width))
        yield Lines(tuple(lines))
    if standing.results:
        yield Spacer()
        rows = [line(Piece("LAST RESULTS", "heading"))]
        rows += [_result(past, now, zone, glyphs) for past in standing.results]
        yield Lines(tuple(rows))


def strip(parts: Sequence[str], glyphs: Glyphs, width: int) -> Line:
    """Outages as one cell for each span of time, the newest last; the oldest are dropped where there is no room."""
    shown = [_PARTS[part] for part in parts[-max(1, width) :]]
    return tuple(Piece(glyphs.outage[number], tone) for number, tone in shown)


def legend(glyphs: Glyphs, width: int) -> Line:
    """The legend of a strip."""
    none, well, partly, down = glyphs.outage
    words = f"{well} well  {partly} partly  {down} down  {none} not checked"
    if len(words) > width:
        words = f"{well} well {partly} partly {down} down"
    return clip_line(line(Piece(words, "muted")), max(1, width))


def _result(past: Past, now: datetime, zone: tzinfo, glyphs: Glyphs) -> Line:
    at = datetime.fromisoformat(past.at).astimezone(zone)
    when = f"{at:%H:%M}" if at.date() == now.astimezone(zone).date() else f"{at.day} {at:%b}"
    sign = {"healthy": glyphs.check, "blocked": glyphs.half, "skipped": glyphs.circle}.get(past.state, glyphs.alert)
    tone: Tone = "alert" if past.state in ("failing", "error") else "muted"
    mark: Tone = "good" if past.state == "healthy" else tone
    took = f"  {_time(past.seconds)}" if past.seconds is not None else ""
    return line(
        Piece(f"{sign} ", mark), Piece(f"{when:<6} "), Piece(f"{past.state:<8}", tone), Piece(f"{took:>9}", "muted"),
        f"  {past.summary}",
    )  # fmt: skip


def _what(monitor: Monitor) -> Iterator[DetailLine]:
    parts = (("type", monitor.type), ("url", monitor.url), ("command", monitor.command), ("folder", monitor.folder))
    for label, value in parts:
        if value:
            yield Labelled(label, value)
    if monitor.threshold:
        yield Labelled("alert when", monitor.threshold)
    try:
        kind = kind_of(monitor)
        if kind:
            words = meaning(parse_threshold(monitor.threshold or "", kind), kind)
            if not monitor.threshold:
                yield Labelled("alert when", line(Piece(words.partition(" when ")[2], "muted")))
    except BadThreshold as error:
        yield Labelled("", error.message, "warn")
    except KeyError:
        return


def _alerts(monitor: Monitor, picture: Picture | None) -> Iterator[DetailLine]:
    if monitor.alert_priority:
        yield Labelled("alert", monitor.alert_priority)
    remedy = monitor.auto_remediate or monitor.auto_remediate_remark or ""
    if remedy:
        yield Labelled("fix", remedy)
    if picture is not None and picture.remedy:
        yield Labelled("", line(Piece(f"{picture.remedy}", "muted" if picture.remedy == "approved" else "warn")))
    if monitor.cron_job_id:
        yield Labelled("cron job", monitor.cron_job_id)


def _dated(instant: datetime, now: datetime, zone: tzinfo) -> str:
    moment = Moment("", instant.astimezone(zone).date(), instant)
    return f"{format_local(instant, zone)}, {beside(moment, now, zone)}"


def _percent(value: float | None, glyphs: Glyphs) -> str:
    """A percentage that is 100 only where nothing was missing, and 0 only where all was; a dash for None."""
    if value is None:
        return "-" if glyphs.name == "ascii" else "–"
    if value in (0, 100):
        return f"{value:.0f}%"
    return f"{min(99.9, max(0.1, value)):.1f}%"


def _time(seconds: float) -> str:
    return say_time(seconds)
