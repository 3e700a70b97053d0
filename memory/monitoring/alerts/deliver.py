"""When and where messages are sent, by apprise (the extra `notify`): quiet hours, many at once, channels that fail.

Addresses are secrets: no return value here contains one.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Literal

from memory.base.clock import format_local
from memory.base.safe_text import plural
from memory.errors import MemdeckError
from memory.monitoring.alerts.channels import Addresses, AlertChannel, AlertRoute
from memory.monitoring.run.ledger import Message, MonitorLedger
from memory.monitoring.words import plain

_HTTP = re.compile(r"error=(\d{3})\b")
PING_SECONDS = 10.0
_TYPES = {"low": "info", "normal": "warning", "high": "failure"}


@dataclass(frozen=True, slots=True)
class Sent:
    """Whether a message went out, and if not, why in a few words."""

    ok: bool
    detail: str = ""


def send_message(urls: Sequence[str], title: str, body: str, priority: str, *, good: bool = False) -> Sent:
    """Send a message to all addresses; it counts as sent if all accepted it. Never fails, never echoes an address.

    `priority` is low, normal or high; `good` news is shown as such if a service supports it.
    """
    try:
        import apprise
    except ImportError:
        return Sent(False, "apprise is not installed: pip install 'memdeck[notify]'")
    # A service may log its address: the log is captured here, and only the status of an answer is used from it.
    capture = apprise.LogCapture(level=logging.WARNING)  # type: ignore[no-untyped-call]
    with warnings.catch_warnings(), capture as log:
        try:
            # Its services may import deprecated code: that does not concern this message.
            warnings.simplefilter("ignore")
            # One after the other, in this thread, and without storing anything on disk.
            asset = apprise.AppriseAsset(app_id="memdeck", app_desc="memdeck", async_mode=False, storage_mode="memory")
            service = apprise.Apprise(asset=asset)
            for number, url in enumerate(urls, 1):
                if not service.add(url):
                    return Sent(False, f"address {number} of the channel is none that apprise knows")
            kind = apprise.NotifyType("success" if good else _TYPES.get(priority, "warning"))
            ok = service.notify(body=body, title=title, notify_type=kind, body_format=apprise.NotifyFormat.TEXT)
        except Exception as error:  # a service's own code: any exception means that the message was not sent
            return Sent(False, f"the service failed ({type(error).__name__})")
        if ok:
            return Sent(True)
        status = _HTTP.search(log.getvalue())
    return Sent(False, f"the server answered {status[1]}" if status else "the server cannot be reached")


def ping_at_end(addresses: Addresses) -> list[str]:
    """Call the address that expects a sign of life of each run, if one is named; return a warning if it failed."""
    try:
        url = addresses.ping()
        sent = call(url) if url else Sent(True)
    except MemdeckError as error:
        sent = Sent(False, error.message)
    return [] if sent.ok else [f"warning: the ping at the end was not sent: {sent.detail}"]


def call(url: str) -> Sent:
    """Request an address that waits for a sign of life, such as one of healthchecks; never fails, never echoes it."""
    import httpx

    try:
        status = httpx.get(url, timeout=PING_SECONDS, follow_redirects=True).status_code
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        return Sent(False, f"it cannot be reached ({type(error).__name__})")
    return Sent(True) if status < 400 else Sent(False, f"the server answered {status}")


TOGETHER = 3
"""More messages than this in one run are sent as one."""
_RANK = {"high": 2, "normal": 1, "low": 0}
Told = Literal["yes", "held", "no", "none"]
Send = Callable[..., Sent]


@dataclass(frozen=True, slots=True)
class Delivery:
    """The result for a message: sent, held, not sent (`detail` is the reason), or no channel."""

    message: Message
    told: Told
    detail: str = ""


class Messenger:
    """Delivers the messages of one run."""

    def __init__(
        self,
        ledger: MonitorLedger,
        route: AlertRoute,
        now: datetime,
        zone: tzinfo,
        send: Send | None = None,
        place: str = "",
    ) -> None:
        """`send` defaults to `send_message`; `place` is the host and the workspace, the last line of each message."""
        self._ledger = ledger
        self._route = route
        self._now = now
        self._zone = zone
        self._send: Send = send or send_message
        self._place = place

    def deliver(self, messages: Sequence[Message]) -> list[Delivery]:
        """Send, hold or drop messages; returns one delivery each, in their order."""
        if not self._route.channels:
            return [Delivery(message, "none") for message in messages]
        quiet = self._route.quiet_until(self._now, self._zone)
        done: dict[int, Delivery] = {}
        now: list[int] = []
        for place, message in enumerate(messages):
            if quiet is not None and message.priority != "high":
                self._ledger.hold(message, self._now, quiet)
                until = format_local(quiet, self._zone)[11:]
                done[place] = Delivery(message, "held", f"quiet hours until {until}")
            else:
                now.append(place)
        for places in [now] if len(now) > TOGETHER else [[place] for place in now]:
            done |= zip(places, self._deliver_together([messages[place] for place in places]), strict=True)
        return [done[place] for place in range(len(messages))]

    def digest(self) -> tuple[list[Message], str]:
        """Send the held messages that are due as one message; return them, or why it was not sent.

        High priority is never held, so a digest waits if quiet hours have begun again.
        """
        held = self._ledger.held(self._now)
        if not held or not self._route.usable or self._route.quiet_until(self._now, self._zone) is not None:
            return [], ""
        messages = [one.message for one in held]
        title = f"{plural(len(held), 'message')} while it was quiet" if len(held) > 1 else messages[0].title
        shown = held[-50:]
        lines = [f"{format_local(one.at, self._zone)[11:]} {one.message.title}" for one in shown]
        if len(held) > len(shown):
            lines.insert(0, f"and {len(held) - len(shown)} before them")
        sent, channel = self._send_text(title, "\n".join(lines), messages)
        if channel is None:
            return [], sent.detail
        self._ledger.drop([one.seq for one in held])
        return messages, ""

    def _deliver_together(self, messages: Sequence[Message]) -> list[Delivery]:
        """Send messages as one."""
        title, body = messages[0].title, messages[0].body
        details = []
        if len(messages) > 1:
            title, body = _summary(messages)
            details.append(f"with {plural(len(messages) - 1, 'other')}")
        sent, channel = self._send_text(title, body, messages)
        if channel is None:
            return [Delivery(message, "no", sent.detail) for message in messages]
        first = self._route.channels[0]
        if channel is not first:
            details.append(f"by {plain(channel.name, 40)}, {plain(first.name, 40)} did not take it")
        return [Delivery(message, "yes", ", ".join(details)) for message in messages]

    def _send_text(self, title: str, body: str, about: Sequence[Message]) -> tuple[Sent, AlertChannel | None]:
        """Send a text about messages to the first channel that accepts it; None: no channel did."""
        priority = max((message.priority for message in about), key=lambda name: _RANK.get(name, 1))
        good = all(message.kind == "recovered" for message in about)
        failures = [f"{plain(channel.name, 40)}: {channel.why}" for channel in self._route.channels if channel.why]
        for channel in self._route.usable:
            sent = self._send(channel.urls, title, f"{body or title}\n{self._place}".strip(), priority, good=good)
            if sent.ok:
                return sent, channel
            failures.append(f"{plain(channel.name, 40)}: {sent.detail}")
        return Sent(False, "; ".join(failures) or "no channel is configured"), None


def _summary(messages: Sequence[Message]) -> tuple[str, str]:
    """Return the title and body of a message about several."""
    bad = sum(message.kind != "recovered" for message in messages)
    counts = ((bad, "failing"), (len(messages) - bad, "recovered"))
    shown = [message.title for message in messages[:50]]
    if len(messages) > len(shown):
        shown.append(f"and {len(messages) - len(shown)} more")
    return f"Monitors: {', '.join(f'{count:,} {what}' for count, what in counts if count)}", "\n".join(shown)
