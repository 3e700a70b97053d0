"""The texts written for checks: `lastStatus`, the lines of journal entries, and messages, in the terms of the format.

Any text from a command or an answer is sanitised and shortened before it is written.
"""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from memory.base.clock import say_span
from memory.base.safe_text import cut, one_line, plural
from memory.files.monitors.model import Monitor
from memory.monitoring.result import Result

ALERT = "Monitor Alert"
RECOVERED = "Monitor Recovered"
_LONGEST = 100


def plain(text: str, length: int = _LONGEST) -> str:
    """Return text on one line, safe for files and screens, cut to a length."""
    return cut(one_line(text), length)


def _target(monitor: Monitor, outcome: Result) -> tuple[str, str]:
    """Return what was checked, and what came out: an endpoint and its status, or the name and the summary."""
    status = outcome.values.get("status")
    if status is None:
        return plain(monitor.name, 80), plain(outcome.summary) or outcome.state
    # Without parts that may be secret.
    path = urlsplit(monitor.url or "").path or "/"
    return f"{plain(monitor.name, 80)} endpoint {plain(path, 60)}", str(status)


def alert_line(monitor: Monitor, outcome: Result, occurrences: int) -> str:
    """Describe the alert: `API endpoint /products returned 503 (2 occurrences)`, `Disk: 93% used (1 occurrence)`."""
    counted = plural(occurrences, "occurrence")
    if outcome.summary.startswith("status ") and "status" in outcome.values:
        return f"{' returned '.join(_target(monitor, outcome))} ({counted})"
    return f"{plain(monitor.name, 80)}: {plain(outcome.summary) or outcome.state} ({counted})"


def remediation_line(command: str, failure: str) -> str:
    """Return the line for a remediation: what was run, and how it failed, if it did."""
    ran = f"Auto-remediation: Ran {plain(command)}"
    return f"{ran} ({plain(failure, 60)})" if failure else ran


def verified_line(monitor: Monitor, outcome: Result) -> str:
    """Return the line for the second check."""
    what, now = _target(monitor, outcome)
    if "status" in outcome.values:
        what, now = "Endpoint", f"returning {now}"
    return f"Verified: {what} {'recovered, now' if outcome.state == 'healthy' else 'has not recovered, still'} {now}"


def recovered_line(monitor: Monitor, outcome: Result, lasted: timedelta) -> str:
    """Return the line for a recovery, with the duration of the outage."""
    what, now = _target(monitor, outcome)
    end = f", now returning {now}" if "status" in outcome.values else f": {now}"
    return f"{what} recovered after {say_span(lasted.total_seconds()) or 'a moment'}{end}"


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
