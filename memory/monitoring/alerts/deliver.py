"""When and where messages go out: quiet hours, full channels, doubles, and channels that do not answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Literal

from memory.base.clock import format_local
from memory.monitoring.run.ledger import HeldMessage, MonitorLedger
from memory.monitoring.words import plain, plural

from .channels import AlertChannel, AlertRoute
from .notify import Sent
from .windows import ends_at

LIMIT = 10
"""So many messages go to a channel within `WITHIN`; what is beyond comes as one digest."""
WITHIN = timedelta(minutes=10)
TOGETHER = 3
"""More messages than this in one run go out as one."""
_RANK = {"high": 2, "normal": 1, "low": 0}
Told = Literal["yes", "held", "no", "none"]
Send = Callable[..., Sent]


@dataclass(frozen=True, slots=True)
class Message:
    """One message about a monitor (its key in the record); `body` may have several lines."""

    monitor: str
    kind: str
    priority: str
    title: str
    body: str = ""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of a message: sent, held, not sent (`detail` says why), or nowhere to go."""

    message: Message
    told: Told
    detail: str = ""


class Messenger:
    """Delivers the messages of one run."""

    def __init__(
        self, ledger: MonitorLedger, route: AlertRoute, now: datetime, zone: tzinfo, send: Send | None = None
    ) -> None:
        """`send` is `notify.send` unless another is given."""
        self._ledger = ledger
        self._route = route
        self._now = now
        self._zone = zone
        if send is None:
            from . import notify

            send = notify.send
        self._send: Send = send

    def deliver(self, messages: Sequence[Message]) -> list[Delivery]:
        """Send, hold or drop messages; one delivery each, in their order."""
        if not self._route.channels:
            return [Delivery(message, "none") for message in messages]
        quiet = ends_at(self._route.quiet, self._now, self._zone)
        done: dict[int, Delivery] = {}
        now: list[tuple[int, Message]] = []
        for place, message in enumerate(messages):
            if quiet is not None and message.priority != "high":
                done[place] = self._hold(message, quiet, "quiet hours")
            elif self._said_last(message):
                done[place] = Delivery(message, "yes", "sent before")
            else:
                now.append((place, message))
        if len(now) > TOGETHER:
            done |= self._together(now)
        else:
            for place, message in now:
                done[place] = self._one(message)
        return [done[place] for place in range(len(messages))]

    def digest(self) -> tuple[tuple[HeldMessage, ...], Sent | None]:
        """Send what was held and whose time has come as one message; return what it told of, None: nothing was due.

        High priority is never held, so a digest waits where quiet hours have begun again.
        """
        held = self._ledger.held(self._now)
        if not held or not self._route.usable or ends_at(self._route.quiet, self._now, self._zone) is not None:
            return (), None
        title = f"{plural(len(held), 'message')} while it was quiet" if len(held) > 1 else held[0].title
        shown = held[-50:]
        lines = [f"{format_local(one.at, self._zone)[11:]} {one.title}" for one in shown]
        if len(held) > len(shown):
            lines.insert(0, f"and {len(held) - len(shown)} before them")
        priority = max((one.priority for one in held), key=lambda name: _RANK.get(name, 1))
        sent, channel = self._try(title, "\n".join(lines), priority, good=all(one.kind == "recovered" for one in held))
        if not sent.ok or channel is None:
            return (), sent
        for one in held:
            self._ledger.note_sent(channel.id, self._now, _mark(one.monitor, one.kind, one.title))
        self._ledger.drop_held(one.seq for one in held)
        return held, sent

    def _hold(self, message: Message, until: datetime, why: str) -> Delivery:
        self._ledger.hold(
            [
                HeldMessage(
                    0, message.monitor, message.kind, self._now, until, message.priority, message.title, message.body
                )
            ]
        )
        return Delivery(message, "held", f"{why} until {format_local(until, self._zone)[11:]}")

    def _one(self, message: Message) -> Delivery:
        full = self._full()
        if full is not None:
            return self._hold(message, full, "the channel is full")
        sent, channel = self._try(message.title, message.body, message.priority, good=message.kind == "recovered")
        if not sent.ok or channel is None:
            return Delivery(message, "no", sent.detail)
        self._ledger.note_sent(channel.id, self._now, _mark(message.monitor, message.kind, message.title))
        return Delivery(message, "yes", self._by(channel))

    def _together(self, messages: Sequence[tuple[int, Message]]) -> dict[int, Delivery]:
        full = self._full()
        if full is not None:
            return {place: self._hold(message, full, "the channel is full") for place, message in messages}
        bad = sum(message.kind != "recovered" for _, message in messages)
        good = len(messages) - bad
        parts = [f"{count:,} {what}" for count, what in ((bad, "failing"), (good, "recovered")) if count]
        shown = [message.title for _, message in messages[:50]]
        if len(messages) > len(shown):
            shown.append(f"and {len(messages) - len(shown)} more")
        priority = max((message.priority for _, message in messages), key=lambda name: _RANK.get(name, 1))
        sent, channel = self._try(f"Monitors: {', '.join(parts)}", "\n".join(shown), priority, good=not bad)
        if not sent.ok or channel is None:
            return {place: Delivery(message, "no", sent.detail) for place, message in messages}
        for _, message in messages:
            self._ledger.note_sent(channel.id, self._now, _mark(message.monitor, message.kind, message.title))
        detail = ", ".join(filter(None, (f"with {plural(len(messages) - 1, 'other')}", self._by(channel))))
        return {place: Delivery(message, "yes", detail) for place, message in messages}

    def _try(self, title: str, body: str, priority: str, *, good: bool) -> tuple[Sent, AlertChannel | None]:
        """Send to the first channel that takes it."""
        failures = [f"{plain(channel.name, 40)}: {channel.why}" for channel in self._route.channels if channel.why]
        for channel in self._route.usable:
            sent = self._send(channel.urls, title, body or title, priority, good=good)
            if sent.ok:
                return sent, channel
            failures.append(f"{plain(channel.name, 40)}: {sent.detail}")
        return Sent(False, "; ".join(failures) or "no channel is configured"), None

    def _by(self, channel: AlertChannel) -> str:
        """Say by which channel a message went, where that is not the first."""
        first = self._route.channels[0]
        return "" if channel is first else f"by {plain(channel.name, 40)}, {plain(first.name, 40)} did not take it"

    def _full(self) -> datetime | None:
        """Return when the first usable channel has room again; None where it has some."""
        for channel in self._route.usable[:1]:
            times = sorted(at for at, _ in self._ledger.sent_since(channel.id, self._now - WITHIN) if at <= self._now)
            if len(times) >= LIMIT:
                return times[-LIMIT] + WITHIN
        return None

    def _said_last(self, message: Message) -> bool:
        """Tell whether the very same was the last thing said of a monitor, a short while ago: after a crash, say."""
        mark = _mark(message.monitor, message.kind, message.title)
        about = mark.partition(":")[0]
        for channel in self._route.usable:
            said = self._ledger.sent_since(channel.id, self._now - WITHIN)
            marks = [one for _, one in said if one.partition(":")[0] == about]
            if marks and marks[-1] == mark:
                return True
        return False


def _mark(monitor: str, kind: str, title: str) -> str:
    """Return what is remembered of a message: enough to know it again."""
    from hashlib import sha256

    who, what = (sha256(text.encode(errors="replace")).hexdigest()[:16] for text in (monitor, title))
    return f"{who}:{kind}:{what}"
