"""The texts written for checks: `lastStatus`, the lines of journal entries, and messages, in the terms of the format.

Any text from a command or an answer is sanitised and shortened before it is written.
"""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from memory.base.safe_text import visible
from memory.files.monitors import Monitor

from .checks.result import Result

ALERT = "Monitor Alert"
RECOVERED = "Monitor Recovered"
_LONGEST = 100


def plain(text: str, length: int = _LONGEST) -> str:
    """Return text on one line, safe for files and screens, cut to a length."""
    line = " ".join(visible(text, newlines=True).split())
    return line if len(line) <= length else line[: length - 1] + "…"


def plural(count: int, noun: str) -> str:
    """Return a number with its noun: `1 occurrence`, `2 occurrences`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def span(time: timedelta) -> str:
    """Return a duration in words, with one number."""
    minutes = max(0, round(time.total_seconds() / 60))
    if minutes < 100:
        return f"{minutes} min"
    hours = round(minutes / 60)
    return f"{hours} h" if hours < 48 else f"{round(hours / 24)} d"


def _endpoint(monitor: Monitor) -> str:
    """Return the path of a monitor's address, without parts that may be secret."""
    try:
        path = urlsplit(monitor.url or "").path
    except ValueError:
        path = ""
    return plain(path or "/", 60)


def _status(outcome: Result) -> object:
    return outcome.values.get("status")


def alert_line(monitor: Monitor, outcome: Result, occurrences: int) -> str:
    """Describe the alert: `API endpoint /products returned 503 (2 occurrences)`, `Disk: 93% used (1 occurrence)`."""
    counted = plural(occurrences, "occurrence")
    name = plain(monitor.name, 80)
    if monitor.url and _status(outcome) is not None and outcome.summary.startswith("status "):
        return f"{name} endpoint {_endpoint(monitor)} returned {_status(outcome)} ({counted})"
    return f"{name}: {plain(outcome.summary) or outcome.state} ({counted})"


def remediation_line(command: str, failure: str) -> str:
    """Return the line for a remediation: what was run, and how it failed, if it did."""
    ran = f"Auto-remediation: Ran {plain(command)}"
    return f"{ran} ({plain(failure, 60)})" if failure else ran


def no_remediation_line(why: str) -> str:
    """Return the line for a remediation that did not run, with the reason."""
    return f"Auto-remediation: {plain(why)[:1].upper()}{plain(why)[1:]}"


def verified_line(monitor: Monitor, outcome: Result) -> str:
    """Return the line for the second check."""
    well = outcome.state == "healthy"
    status = _status(outcome)
    what = "Endpoint" if monitor.url and status is not None else plain(monitor.name, 60)
    now = f"returning {status}" if monitor.url and status is not None else plain(outcome.summary) or outcome.state
    return f"Verified: {what} recovered, now {now}" if well else f"Verified: {what} has not recovered, still {now}"


def recovered_line(monitor: Monitor, outcome: Result, lasted: timedelta) -> str:
    """Return the line for a recovery, with the duration of the outage."""
    status = _status(outcome)
    name = plain(monitor.name, 80)
    if monitor.url and status is not None:
        return f"{name} endpoint {_endpoint(monitor)} recovered after {span(lasted)}, now returning {status}"
    return f"{name} recovered after {span(lasted)}: {plain(outcome.summary) or outcome.state}"


def message_title(kind: str, monitor: Monitor, outcome: Result, occurrences: int, *, remediated: bool) -> str:
    """Return the headline of a message, which the journal quotes."""
    name = plain(monitor.name, 80).replace('"', "'")
    what = plain(outcome.summary, 60).replace('"', "'") or outcome.state
    titles = {
        "recovered": f"{name} recovered" + (" after auto-remediation" if remediated else ""),
        "reminder": f"{name} is still failing: {what} ({plural(occurrences, 'occurrence')})",
    }
    return titles.get(kind, f"{name} is failing: {what}")


def notified_line(told: str, title: str, detail: str = "") -> str:
    """Return the line for a message's delivery; empty if there is none. `told` is yes, held, no or none."""
    said = {"yes": "sent", "held": "waits", "no": "failed"}.get(told)
    if said is None:
        return ""
    return f'Notification {said}: "{title}"' + (f" ({detail})" if detail or told != "yes" else "")
