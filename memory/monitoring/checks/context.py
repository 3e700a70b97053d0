"""What a check is given beside its monitor: consent, the workspace, the time, and how it may be called off."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from memory.monitoring.run.cancel import Cancel

if TYPE_CHECKING:
    import ssl

    from memory.files.snapshot import Snapshot


class RunPermission(Protocol):
    """What a person decided about a command or an address."""

    @property
    def allowed(self) -> bool:
        """Whether it may run."""

    @property
    def text(self) -> str | None:
        """The approved text, which is what runs; None where nothing may."""

    @property
    def single(self) -> bool:
        """Whether a person approved this very text, and not the workspace as a whole."""

    @property
    def why(self) -> str:
        """Why it may or may not run, for people."""


def refuse(_url: str, _address: str) -> bool:
    """Approve nothing."""
    return False


@dataclass(frozen=True, slots=True)
class Around:
    """The world around a check.

    `root` is the workspace's folder, `pings` when which monitor (by name) last heard an external sign, aware.
    `reach(url, address)` is asked before a connection to an address that is not public, unless a person approved the
    very text of the monitor: for redirects and for workspaces that were approved as a whole. `environ` is what
    commands may get variables from. `tls` are the authorities to trust, None for those of the system.
    """

    root: str | os.PathLike[str]
    snapshot: Snapshot
    now: datetime
    pings: Mapping[str, datetime] = field(default_factory=dict)
    reach: Callable[[str, str], bool] = refuse
    environ: Mapping[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    cancel: Cancel | None = None


class NotApproved(Exception):
    """An address or a file that needs a person's approval; the message says which."""
