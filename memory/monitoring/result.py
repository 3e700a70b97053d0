"""The context of a check, where it may connect, how it can fail, and its result with the text in monitors.md."""

from __future__ import annotations

import os
import re
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from memory.base.safe_text import clip, cut, visible
from memory.base.safe_text import one_line as safe_line
from memory.trust.addresses import is_open_address

if TYPE_CHECKING:
    import ssl

    from memory.storage.own_folders import StateFolder

State = Literal["healthy", "failing", "error", "blocked", "skipped"]
"""`failing`: the threshold is breached or nothing answers. `error`: it could not be judged, because the monitor is
invalid or printed nothing that its threshold can judge. `blocked`: needs a person's approval. `skipped`: did not run.
"""
_WIDEST = 80
_MOST_ADDRESSES = 4


@dataclass(frozen=True, slots=True)
class Around:
    """The context of a check.

    `root` is the workspace's folder. Before a connection to an address that is not public, `reach(url, address)` is
    called, unless a person approved exactly the text of the monitor: for redirects, and for workspaces that were
    approved as a whole. `environ` has the variables that commands may get, `state` is where the private folders are
    made in which they run. `tls` are the authorities to trust, None for those of the system.
    """

    root: str | os.PathLike[str]
    now: datetime
    state: StateFolder
    reach: Callable[[str, str], bool] = lambda _url, _address: False
    environ: Mapping[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    cancel: threading.Event | None = None


class NotApproved(Exception):
    """An address or a file that needs a person's approval; the message says which."""


class Down(Exception):
    """The target does not answer; the message gives the reason, in a few words."""


class NotUsed(Exception):
    """Why the output of a command is not used."""


class NotInTime(NotUsed):
    """A command did not end in time."""


def resolve(host: str, port: int, seconds: float) -> tuple[str, ...]:
    """Return the addresses of a host in the order to try them, waiting at most `seconds`; raises Down.

    The system's resolver has no time limit, so it runs in a thread that is abandoned if it takes too long.
    """
    found: list[str] = []
    trouble: list[str] = []

    def ask() -> None:
        try:
            found.extend(str(target[0]) for *_, target in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError, ValueError) as error:
            trouble.append(getattr(error, "strerror", None) or str(error))

    thread = threading.Thread(target=ask, name="resolve", daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    if thread.is_alive():
        raise Down(f"{host} was not resolved in time")
    if trouble or not found:
        raise Down(f"{host} is unknown ({trouble[0] if trouble else 'no address'})")
    return tuple(dict.fromkeys(found))[:_MOST_ADDRESSES]


def allowed_addresses(
    host: str, port: int, seconds: float, target: str, approved: bool, around: Around
) -> tuple[str, ...]:
    """Return the addresses of a host to which a check may connect: all if a person approved exactly this `target`.

    Raises Down, and NotApproved if there is none.
    """
    found = resolve(host, port, seconds)
    allowed = tuple(one for one in found if approved or is_open_address(one) or around.reach(target, one))
    if not allowed:
        raise NotApproved(f"{found[0]} is not a public address")
    return allowed


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one check.

    `summary` is one short safe line such as `72% used` or `status 503`. `values` has the measured values: times in
    seconds, sizes in bytes. `seconds` is how long the check took, `detail` more for people (the output of a command,
    the reason of a failure), made safe for a screen.
    """

    monitor: str
    state: State
    summary: str
    values: dict[str, int | float | str] = field(default_factory=dict)
    seconds: float = 0.0
    detail: str = ""

    @property
    def ran(self) -> bool:
        """Whether something was measured: blocked and skipped checks say nothing about the target."""
        return self.state not in ("blocked", "skipped")


def last_status(result: Result) -> str:
    """Return the value of `lastStatus`: the state with the summary as its remark, `healthy (72% used)`."""
    return f"{result.state} ({result.summary})" if result.summary else result.state


def one_line(text: str) -> str:
    """Return a summary: safe for a screen and for a remark in parentheses, which must be balanced."""
    line = clip(visible(" ".join(text.split())), _WIDEST)
    depth = 0
    for char in line:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            break
    return line if depth == 0 else re.sub(r"[()]", "", line)


def plain(text: str, length: int = 100) -> str:
    """Return text on one line, safe for files and screens, cut to a length."""
    return cut(safe_line(text), length)


def safe_detail(text: str) -> str:
    """Return a detail: lines stay, terminal control codes are made visible, at most 4,000 characters from its end."""
    text = text.strip()
    if len(text) > 4000:
        text = "…" + text[-4000:]
    return visible(text, newlines=True)
