"""What is written of checks: `lastStatus`, the lines of journal entries, and messages, in the words of the format.

Everything that came from a command or an answer is made harmless and short before it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from memory.base.safe_text import visible

if TYPE_CHECKING:
    from memory.files.monitors import Monitor

ALERT = "Monitor Alert"
RECOVERED = "Monitor Recovered"
_LONGEST = 100


class ResultWords(Protocol):
    """What the words need of a result."""

    @property
    def state(self) -> str:
        """healthy, failing, error, blocked or skipped."""

    @property
    def summary(self) -> str:
        """A few words: `72% used`, `status 503`."""

    @property
    def values(self) -> Mapping[str, object]:
        """What was measured."""


def plain(text: str, length: int = _LONGEST) -> str:
    """Return text on one line, harmless for files and screens, cut to a length."""
    line = " ".join(visible(text, newlines=True).split())
    return line if len(line) <= length else line[: length - 1] + "…"


def plural(count: int, noun: str) -> str:
    """Return a number with its noun: `1 occurrence`, `2 occurrences`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def span(time: timedelta) -> str:
    """Say how long something was, in one number."""
    minutes = max(0, round(time.total_seconds() / 60))
    if minutes < 100:
        return f"{minutes} min"
    hours = round(minutes / 60)
    return f"{hours} h" if hours < 48 else f"{round(hours / 24)} d"


def _endpoint(monitor: Monitor) -> str:
    """Return the path of a monitor's address, without what may be secret in it."""
    from urllib.parse import urlsplit

    try:
        path = urlsplit(monitor.url or "").path
    except ValueError:
        path = ""
    return plain(path or "/", 60)


def _status(outcome: ResultWords) -> object:
    return outcome.values.get("status")


def alert_line(monitor: Monitor, outcome: ResultWords, occurrences: int) -> str:
    """Say what is wrong: `API endpoint /products returned 503 (2 occurrences)`, `Disk: 93% used (1 occurrence)`."""
    counted = plural(occurrences, "occurrence")
    name = plain(monitor.name, 80)
    if monitor.url and _status(outcome) is not None and outcome.summary.startswith("status "):
        return f"{name} endpoint {_endpoint(monitor)} returned {_status(outcome)} ({counted})"
    return f"{name}: {plain(outcome.summary) or outcome.state} ({counted})"


def remediation_line(command: str, failure: str) -> str:
    """Say what was run against it, and how that went wrong, if it did."""
    ran = f"Auto-remediation: Ran {plain(command)}"
    return f"{ran} ({plain(failure, 60)})" if failure else ran


def no_remediation_line(why: str) -> str:
    """Say why nothing was run."""
    return f"Auto-remediation: {plain(why)[:1].upper()}{plain(why)[1:]}"


def verified_line(monitor: Monitor, outcome: ResultWords) -> str:
    """Say what the second check found."""
    well = outcome.state == "healthy"
    status = _status(outcome)
    what = "Endpoint" if monitor.url and status is not None else plain(monitor.name, 60)
    now = f"returning {status}" if monitor.url and status is not None else plain(outcome.summary) or outcome.state
    return f"Verified: {what} recovered, now {now}" if well else f"Verified: {what} has not recovered, still {now}"


def recovered_line(monitor: Monitor, outcome: ResultWords, lasted: timedelta) -> str:
    """Say that it is over, and how long it was."""
    status = _status(outcome)
    name = plain(monitor.name, 80)
    if monitor.url and status is not None:
        return f"{name} endpoint {_endpoint(monitor)} recovered after {span(lasted)}, now returning {status}"
    return f"{name} recovered after {span(lasted)}: {plain(outcome.summary) or outcome.state}"


def flapping_line(monitor: Monitor) -> str:
    """Say that it goes up and down."""
    return f"{plain(monitor.name, 80)} is flapping; messages wait until it settles"


def message_title(kind: str, monitor: Monitor, outcome: ResultWords, occurrences: int, *, remediated: bool) -> str:
    """Return the headline of a message, which the journal quotes."""
    name = plain(monitor.name, 80).replace('"', "'")
    what = plain(outcome.summary, 60).replace('"', "'") or outcome.state
    match kind:
        case "recovered":
            return f"{name} recovered" + (" after auto-remediation" if remediated else "")
        case "reminder":
            return f"{name} is still failing: {what} ({plural(occurrences, 'occurrence')})"
        case "flapping":
            return f"{name} is flapping: {what}"
        case _:
            return f"{name} is failing: {what}"


def notified_line(told: str, title: str, detail: str = "") -> str:
    """Say what became of a message; empty where there is nothing to say. `told` is yes, held, no or none."""
    match told:
        case "yes":
            return f'Notification sent: "{title}"' + (f" ({detail})" if detail else "")
        case "held":
            return f'Notification waits: "{title}" ({detail})'
        case "no":
            return f'Notification failed: "{title}" ({detail})'
        case _:
            return ""
