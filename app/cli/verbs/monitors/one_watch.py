"""One watch over the monitors, as the command line keeps it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from app.cli.session import Session

if TYPE_CHECKING:
    from memory.monitoring.run.report import Watch
    from memory.monitoring.run.run import WatchServices
    from memory.workspace import Workspace

WAIT = 10.0
"""Seconds that a check asked for by name waits while another process runs the monitors."""


def ways(workspace: Workspace) -> WatchServices:
    """Return what a watch over a workspace reaches: the environment and the person's channels."""
    from memory.monitoring.alerts.channels import Addresses
    from memory.monitoring.run.run import WatchServices
    from memory.person import config_home

    return WatchServices(os.environ, Addresses(config_home(os.environ), os.environ, workspace=workspace.root))


def watch(
    session: Session, *, names: list[str] | None = None, everything: bool = False, heartbeat: bool = True
) -> Watch:
    """Keep watch once, in the name of this run or of the monitors themselves."""
    from memory.monitoring.run.run import ACTOR, keep_watch
    from memory.person import config_home
    from memory.trust.consent import trust_of

    named = session.actor_option or os.environ.get("MEMDECK_ACTOR")
    return keep_watch(
        session.workspace,
        trust_of(session.workspace, config_home(os.environ)),
        session.now,
        ways(session.workspace),
        names=names,
        everything=everything,
        heartbeat=heartbeat,
        wait=WAIT if names or everything else 0.0,
        actor=session.actor if named else ACTOR,
    )
