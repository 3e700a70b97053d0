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
MOST_LINES = 50
"""The most messages that one text names."""
_RANK = {"high": 2, "normal": 1, "low": 0}
Told = Literal["yes", "held", "no", "none"]
Send = Callable[..., Sent]


@dataclass(frozen=True, slots=True)
class Delivery:
    """The result for a message: sent, held, not sent (`detail` is the reason), or no channel."""

    message: Message
    told: Told
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Messenger:
    """Delivers the messages of one run; `place` is the host and the workspace, the last line of each message."""

    ledger: MonitorLedger
    route: AlertRoute
    now: datetime
    zone: tzinfo
    send: Send = send_message
    place: str = ""

    def deliver(self, messages: Sequence[Message]) -> list[Delivery]:
        """Send, hold or drop messages; returns one delivery each, in their order."""
        if not self.route.channels:
            return [Delivery(message, "none") for message in messages]
        quiet = self.route.quiet_until(self.now, self.zone)
        held = [quiet is not None and message.priority != "high" for message in messages]
        now = [message for message, waits in zip(messages, held, strict=True) if not waits]
        together = [now] if len(now) > TOGETHER else [[message] for message in now]
        sent = iter([done for some in together if some for done in self._deliver_together(some)])
        found = []
        for message, waits in zip(messages, held, strict=True):
            if waits and quiet is not None:
                self.ledger.hold(message, self.now, quiet)
                until = f"quiet hours until {format_local(quiet, self.zone)[11:]}"
            found.append(Delivery(message, "held", until) if waits else next(sent))
        return found

    def digest(self) -> tuple[list[Message], str]:
        """Send the held messages that are due as one message; return them, or why it was not sent.

        High priority is never held, so a digest waits if quiet hours have begun again.
        """
        held = self.ledger.held(self.now)
        if not held or not self.route.usable or self.route.quiet_until(self.now, self.zone) is not None:
            return [], ""
        messages = [message for _, _, message in held]
        title = f"{plural(len(held), 'message')} while it was quiet" if len(held) > 1 else messages[0].title
        lines = [f"and {len(held) - MOST_LINES} before them"] if len(held) > MOST_LINES else []
        lines += [f"{format_local(at, self.zone)[11:]} {message.title}" for _, at, message in held[-MOST_LINES:]]
        channel, why = self._send_text(title, "\n".join(lines), messages)
        if channel is None:
            return [], why
        self.ledger.drop([seq for seq, _, _ in held])
        return messages, ""

    def _deliver_together(self, messages: Sequence[Message]) -> list[Delivery]:
        """Send messages as one."""
        title, body, details = messages[0].title, messages[0].body, []
        if len(messages) > 1:
            title, body = _summary(messages)
            details.append(f"with {plural(len(messages) - 1, 'other')}")
        channel, why = self._send_text(title, body, messages)
        if channel is None:
            return [Delivery(message, "no", why) for message in messages]
        first = self.route.channels[0]
        if channel is not first:
            details.append(f"by {plain(channel.name, 40)}, {plain(first.name, 40)} did not take it")
        return [Delivery(message, "yes", ", ".join(details)) for message in messages]

    def _send_text(self, title: str, body: str, about: Sequence[Message]) -> tuple[AlertChannel | None, str]:
        """Send a text about messages to the first channel that accepts it; None, and why: no channel did."""
        priority = max((message.priority for message in about), key=lambda name: _RANK.get(name, 1))
        good = all(message.kind == "recovered" for message in about)
        failures = []
        for channel in self.route.channels:
            why = channel.why
            if not why:
                text = f"{body or title}\n{self.place}".strip()
                sent = self.send(channel.urls, title, text, priority, good=good)
                if sent.ok:
                    return channel, ""
                why = sent.detail
            failures.append(f"{plain(channel.name, 40)}: {why}")
        return None, "; ".join(failures) or "no channel is configured"


def _summary(messages: Sequence[Message]) -> tuple[str, str]:
    """Return the title and body of a message about several."""
    good = sum(message.kind == "recovered" for message in messages)
    counts = ((len(messages) - good, "failing"), (good, "recovered"))
    shown = [message.title for message in messages[:MOST_LINES]]
    if len(messages) > len(shown):
        shown.append(f"and {len(messages) - len(shown)} more")
    return f"Monitors: {', '.join(f'{count:,} {what}' for count, what in counts if count)}", "\n".join(shown)
