"""The context of a check: consent, the workspace, the time, and how to cancel it."""

from __future__ import annotations

import os
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memory.files.snapshot import Snapshot
from memory.storage.own_folders import StateFolder


def refuse(_url: str, _address: str) -> bool:
    """Approve nothing."""
    return False


@dataclass(frozen=True, slots=True)
class Around:
    """The context of a check.

    `root` is the workspace's folder, `pings` the last external ping of each monitor by name (aware). Before a
    connection to an address that is not public, `reach(url, address)` is called, unless a person approved exactly the
    text of the monitor: for redirects, and for workspaces that were approved as a whole. `environ` has the variables
    that commands may get, `state` is where the private folders are made in which they run. `tls` are the authorities to
    trust, None for those of the system.
    """

    root: str | os.PathLike[str]
    snapshot: Snapshot
    now: datetime
    pings: Mapping[str, datetime] = field(default_factory=dict)
    reach: Callable[[str, str], bool] = refuse
    environ: Mapping[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    cancel: threading.Event | None = None
    state: StateFolder | None = None


class NotApproved(Exception):
    """An address or a file that needs a person's approval; the message says which."""


class Down(Exception):
    """The target does not answer; the message gives the reason, in a few words."""
