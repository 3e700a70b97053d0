"""The verbs on messages: their channels, and a test."""

from __future__ import annotations

import os

from app.cli.session import Session
from memory.errors import ConfigError, MemdeckError
from memory.monitoring.alerts.channels import Addresses, AlertChannel, AlertRoute, read_route
from memory.monitoring.alerts.notify import send
from memory.operations import Choice, Group, option, under
from memory.storage.own_folders import config_home

from .maintenance import refuse_safe

notify = Group("notify", "Where messages about monitors go.")


def _route(session: Session) -> AlertRoute:

    return read_route(
        session.snapshot, Addresses(config_home(os.environ), os.environ, workspace=session.workspace.root)
    )


@under(notify, "list", serves="look", examples=("memdeck notify list",))
def list_channels(session: Session) -> None:
    """List the channels of this workspace in the order in which they are tried; addresses are never shown."""
    route = _route(session)
    rows = ((one.id, one.name, one.why or "ready") for one in route.channels)
    session.listing(
        "channels",
        lambda: (
            {"id": one.id, "name": one.name, "usable": not one.why, "why": one.why or None} for one in route.channels
        ),
        lambda: [*session.paint.columns(rows, indent=""), *route.problems] or ["no channel is configured"],
    )


@under(
    notify, "test", serves="person", examples=("memdeck notify test", "memdeck notify test --channel channel-def456")
)
@option("--channel", metavar="ID", help="Only this channel of the workspace (default: as an alert would go).")
@option("--priority", type=Choice(("low", "normal", "high")), default="normal", help="Priority of the message.")
def test(session: Session, channel: str | None, priority: str) -> None:
    """Send a message to the channels of this workspace, as an alert would go, and say which one took it."""

    refuse_safe(session)
    route = _route(session)
    wanted = [one for one in route.channels if channel in (None, one.id, one.name)]
    if not wanted:
        why = f"no channel {channel[:60]!r}" if channel else "no channel is configured"
        raise ConfigError("notify.no_channel", why, "see docs/alerts.md, and `memdeck notify list`")
    failures: list[dict[str, str]] = []
    for one in wanted:
        why = one.why
        if not why:
            sent = send(one.urls, "memdeck test", f"A test from {session.workspace.root.name}", priority)
            if sent.ok:
                _say_sent(session, one, failures)
                return
            why = sent.detail
        failures.append({"channel": one.id, "why": why})
    raise MemdeckError(
        "notify.failed",
        "; ".join(f"{failure['channel']}: {failure['why']}" for failure in failures),
        "see docs/alerts.md",
        failed=failures,
    )


def _say_sent(session: Session, channel: AlertChannel, failures: list[dict[str, str]]) -> None:
    session.answer(
        lambda: {"sent": True, "channel": channel.id, "failed": failures},
        lambda: [session.paint.line(f"sent to {channel.name}")],
    )
