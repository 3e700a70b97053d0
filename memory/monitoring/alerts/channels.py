"""Where messages are sent: config.md names channels, contacts.md describes them, the person's own file has addresses.

The address of a channel is a secret. It is only in `channels.toml` in the person's configuration folder, which other
users must not be able to read, or in the environment as `MEMDECK_CHANNEL_<ID>`; never in a workspace. Example:

    [channels]
    channel-abc123 = "tgram://TOKEN/CHAT"
    channel-def456 = ["slack://TOKEN", "mailto://USER:PASSWORD@example.com"]

    [pings]
    "/home/ann/src/shop" = "https://hc-ping.com/UUID"
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property
from pathlib import Path

from memory.base.toml_text import read_toml
from memory.base.values import MAX_BYTES
from memory.errors import ConfigError, UsageError
from memory.files.contacts.model import Contact
from memory.files.snapshot import Snapshot
from memory.monitoring.alerts.options import Window, ends_at, parse_windows
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
            raise _invalid(file, f"it is no TOML that can be read (at line {error.details['line']})") from None
        known: dict[str, dict[str, tuple[str, ...]]] = {"channels": {}, "pings": {}}
        for table, found in known.items():
            rows = values.get(table, {})
            for name, value in (rows if isinstance(rows, dict) else {}).items():
                urls = tuple(value) if isinstance(value, list) else (value,)
                if not urls or not all(isinstance(url, str) and url for url in urls):
                    raise _invalid(file, f"{name[:60]!r} is no address and no list of addresses")
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
