"""Where and when messages are sent, by apprise (the extra `notify`): quiet hours, many at once, channels that fail.

config.md names channels, contacts.md describes them, the person's own file has their addresses. These are secrets: no
representation and no result contains one. They are only in `channels.toml` in the person's configuration folder, which
other users must not be able to read, or in the environment as `MEMDECK_CHANNEL_<ID>`; never in a workspace. Example:

    [channels]
    channel-abc123 = "tgram://TOKEN/CHAT"
    channel-def456 = ["slack://TOKEN", "mailto://USER:PASSWORD@example.com"]

    [pings]
    "/home/ann/src/shop" = "https://hc-ping.com/UUID"
"""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from memory.base.clock import format_local
from memory.base.safe_text import plural
from memory.base.toml_text import read_toml
from memory.base.values import MAX_BYTES
from memory.errors import ConfigError, MemdeckError, UsageError
from memory.files.contacts import Contact
from memory.files.snapshot import Snapshot
from memory.monitoring.alerts import Window, ends_at, parse_windows
from memory.monitoring.ledger import Message, MonitorLedger
from memory.monitoring.result import plain
from memory.trust.settings import NotOwn, read_own

FILE = "channels.toml"
_PREFIX = "MEMDECK_CHANNEL_"
_TIMES = 4
"""How many times larger than other files it may be; addresses are long."""


@dataclass(frozen=True, slots=True)
class AlertChannel:
    """One channel of the memory files, with its addresses; its representation shows none of them.

    `why` is the reason why nothing can be sent there; empty if it can.
    """

    id: str
    name: str
    urls: tuple[str, ...] = ()
    why: str = ""

    def __repr__(self) -> str:
        """Show id and name only."""
        return f"Channel({self.id!r}, {self.name!r})"


@dataclass(frozen=True, slots=True)
class AlertRoute:
    """Where messages of a workspace are sent: channels in the order in which they are tried, and the quiet hours.

    `priority` is the default for messages without one; `problems` are sentences.
    """

    channels: tuple[AlertChannel, ...] = ()
    priority: str = "normal"
    quiet: tuple[Window, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def usable(self) -> tuple[AlertChannel, ...]:
        """The channels that can receive messages: the first is used, the others are fallbacks."""
        return tuple(channel for channel in self.channels if not channel.why)

    def channel_of(self, row: Contact) -> AlertChannel | None:
        """Return the channel for a row of contacts.md; None: it is not on the route."""
        return next((one for one in self.channels if one.id == row.id or (not row.id and one.name == row.name)), None)

    def quiet_until(self, now: datetime, zone: tzinfo) -> datetime | None:
        """Return the instant (UTC) until which non-urgent messages wait; None: it is not quiet."""
        return ends_at(self.quiet, now, zone)


@dataclass(frozen=True, repr=False)
class Addresses:
    """The addresses of the person's channels; read at the first access.

    `config_home` is `$XDG_CONFIG_HOME`; None: the environment only. A file within `workspace` is refused.
    """

    config_home: Path | None
    environ: Mapping[str, str]
    workspace: Path | None = None

    def of(self, channel: str) -> tuple[str, ...]:
        """Return the addresses of a channel, by its id; the environment takes precedence over the file.

        ConfigError `channels.private` if others can read the file, `channels.inside` if it is in the workspace,
        `channels.invalid` if it is malformed.
        """
        set_ = self.environ.get(_PREFIX + re.sub(r"[^A-Za-z0-9]", "_", channel).upper())
        return tuple(set_.split()) if set_ else self._tables.get("channels", {}).get(channel, ())

    def ping(self) -> str:
        """Return the address that each run of the workspace calls at its end; "" for none; raises as `of`.

        `MEMDECK_PING` takes precedence over the table `[pings]` of the file, whose keys are folders of workspaces.
        """
        set_ = self.environ.get("MEMDECK_PING", "")
        if set_ or self.workspace is None:
            return set_
        folders = {os.path.realpath(folder): urls for folder, urls in self._tables.get("pings", {}).items()}
        return next(iter(folders.get(os.path.realpath(self.workspace), ())), "")

    @cached_property
    def _tables(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """The tables of the file."""
        if self.config_home is None:
            return {}
        file = self.config_home / "memdeck" / FILE
        try:
            data = read_own(file, self.workspace, 0o077, _TIMES * MAX_BYTES)
            values = {} if data is None else read_toml(data, FILE, code="channels.invalid", times=_TIMES).values
        except NotOwn as error:
            hint = f"chmod 600 {file}" if error.code == "private" else "see docs/alerts.md"
            raise ConfigError(f"channels.{error.code}", f"{file} {error}", hint, file=str(file)) from None
        except ConfigError as error:
            # The parser's message may quote the file, which is secret.
            raise _invalid(file, f"it is not TOML that can be read (at line {error.details['line']})") from None
        known: dict[str, dict[str, tuple[str, ...]]] = {"channels": {}, "pings": {}}
        for table, found in known.items():
            rows = values.get(table, {})
            for name, value in (rows if isinstance(rows, dict) else {}).items():
                urls = tuple(value) if isinstance(value, list) else (value,)
                if not urls or not all(isinstance(url, str) and url for url in urls):
                    raise _invalid(file, f"{name[:60]!r} is neither an address nor a list of addresses")
                found[name] = urls
        return known


def _invalid(file: Path, why: str) -> ConfigError:
    return ConfigError("channels.invalid", f"{file}: {why}", "see docs/alerts.md", file=str(file))


def read_route(snapshot: Snapshot, addresses: Addresses) -> AlertRoute:
    """Return where messages of a workspace are sent; never fails, errors are among the problems."""
    config = snapshot.config
    problems: list[str] = []
    priority = (config.get("priority") or "").casefold()
    priority = priority if priority in ("low", "high") else "normal"
    quiet: tuple[Window, ...] = ()
    try:
        quiet = parse_windows(config.get("quietHours") or "")
    except UsageError as error:
        problems.append(f"config.md: quietHours: {error.message}")
    if (config.get("target") or "im").casefold() in ("off", "false"):
        return AlertRoute((), priority, quiet, tuple(problems))
    wanted = dict.fromkeys(
        name for key in ("channelId", "primaryChannel", "secondaryChannel") if (name := config.get(key)) is not None
    )
    channels = tuple(_channel(snapshot, name, addresses, problems) for name in wanted)
    return AlertRoute(channels, priority, quiet, tuple(dict.fromkeys(problems)))


def _channel(snapshot: Snapshot, wanted: str, addresses: Addresses, problems: list[str]) -> AlertChannel:
    """Look a channel up by its id, or by its name."""
    rows = snapshot.contacts.channels
    row = next((one for one in sorted(rows, key=lambda one: one.id != wanted) if wanted in (one.id, one.name)), None)
    if row is None:
        problems.append(f"config.md names the channel {wanted[:60]!r}, which is not in contacts.md")
        return AlertChannel(wanted, wanted, (), "it is not in contacts.md")
    known, why = row.id or wanted, ""
    urls: tuple[str, ...] = ()
    if row.status.strip().casefold() in ("disconnected", "off", "disabled"):
        return AlertChannel(known, row.name, (), "it is disconnected")
    try:
        urls = addresses.of(known)
    except ConfigError as error:
        why = error.message
        problems.append(why)
    return AlertChannel(known, row.name, urls, why or ("" if urls else f"{FILE} has no address for it"))


_HTTP = re.compile(r"error=(\d{3})\b")
PING_SECONDS = 10.0
_TYPES = {"low": "info", "normal": "warning", "high": "failure"}
TOGETHER = 3
"""More messages than this in one run are sent as one."""
MOST_LINES = 50
"""The most messages that one text names."""
_RANK = {"high": 2, "normal": 1, "low": 0}
Send = Callable[..., str]
"""Sends a message like `send_message`."""


def send_message(urls: Sequence[str], title: str, body: str, priority: str, *, good: bool = False) -> str:
    """Send a message to all addresses, and return "" if all accepted it, else why not. Never echoes an address.

    `priority` is low, normal or high; `good` news is shown as such if a service supports it.
    """
    try:
        import apprise
    except ImportError:
        return "apprise is not installed: pip install 'memdeck[notify]'"
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
                    return f"address {number} of the channel is not known to apprise"
            kind = apprise.NotifyType("success" if good else _TYPES.get(priority, "warning"))
            if service.notify(body=body, title=title, notify_type=kind, body_format=apprise.NotifyFormat.TEXT):
                return ""
        except Exception as error:  # a service's own code: any exception means that the message was not sent
            return f"the service failed ({type(error).__name__})"
        status = _HTTP.search(log.getvalue())
    return f"the server answered {status[1]}" if status else "the server cannot be reached"


def ping_at_end(addresses: Addresses) -> list[str]:
    """Call the address that expects a sign of life of each run, if one is named; return a warning if it failed."""
    try:
        url = addresses.ping()
        why = call(url) if url else ""
    except MemdeckError as error:
        why = error.message
    return [f"warning: the ping at the end was not sent: {why}"] if why else []


def call(url: str) -> str:
    """Request an address that waits for a sign of life, such as one of healthchecks; return why that failed, else "".

    Never echoes the address.
    """
    import httpx

    try:
        status = httpx.get(url, timeout=PING_SECONDS, follow_redirects=True).status_code
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        return f"it cannot be reached ({type(error).__name__})"
    return "" if status < 400 else f"the server answered {status}"


class Delivery(NamedTuple):
    """The result for a message: sent, held, not sent (`detail` is the reason), or no channel."""

    message: Message
    told: Literal["yes", "held", "no", "none"]
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
        now = [message for message in messages if quiet is None or message.priority == "high"]
        groups = [now] if len(now) > TOGETHER else [[message] for message in now]
        sent = iter([done for group in groups if group for done in self._deliver_together(group)])
        return [next(sent) if message in now else self._hold(message, quiet) for message in messages]

    def _hold(self, message: Message, until: datetime | None) -> Delivery:
        assert until is not None
        self.ledger.hold(message, self.now, until)
        return Delivery(message, "held", f"quiet hours until {format_local(until, self.zone)[11:]}")

    def digest(self) -> tuple[list[Message], str]:
        """Send the held messages that are due as one message; return them, or why it was not sent.

        High priority is never held, so a digest waits if quiet hours have begun again.
        """
        held = self.ledger.held(self.now)
        if not held or not self.route.usable or self.route.quiet_until(self.now, self.zone) is not None:
            return [], ""
        messages = [message for _, _, message in held]
        title = f"{plural(len(held), 'message')} during quiet hours" if len(held) > 1 else messages[0].title
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
            good = sum(message.kind == "recovered" for message in messages)
            counts = ((len(messages) - good, "failing"), (good, "recovered"))
            title = f"Monitors: {', '.join(f'{count:,} {what}' for count, what in counts if count)}"
            more = [f"and {len(messages) - MOST_LINES} more"] if len(messages) > MOST_LINES else []
            body = "\n".join([*(message.title for message in messages[:MOST_LINES]), *more])
            details.append(f"with {plural(len(messages) - 1, 'other')}")
        channel, why = self._send_text(title, body, messages)
        if channel is None:
            return [Delivery(message, "no", why) for message in messages]
        first = self.route.channels[0]
        if channel is not first:
            details.append(f"by {plain(channel.name, 40)}, {plain(first.name, 40)} did not accept it")
        return [Delivery(message, "yes", ", ".join(details)) for message in messages]

    def _send_text(self, title: str, body: str, about: Sequence[Message]) -> tuple[AlertChannel | None, str]:
        """Send a text about messages to the first channel that accepts it; None, and why: no channel did."""
        priority = max((message.priority for message in about), key=lambda name: _RANK.get(name, 1))
        good = all(message.kind == "recovered" for message in about)
        text, failures = f"{body or title}\n{self.place}".strip(), []
        for channel in self.route.channels:
            why = channel.why or self.send(channel.urls, title, text, priority, good=good)
            if not why:
                return channel, ""
            failures.append(f"{plain(channel.name, 40)}: {why}")
        return None, "; ".join(failures)
