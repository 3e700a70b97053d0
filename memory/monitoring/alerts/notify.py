"""Sending one message to the addresses of a channel, by apprise (the extra `notify`).

Addresses are secrets: no return value here contains one.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from memory.errors import MemdeckError

from .channels import Addresses

_HTTP = re.compile(r"error=(\d{3})\b")
PING_SECONDS = 10.0
_TYPES = {"low": "info", "normal": "warning", "high": "failure"}


@dataclass(frozen=True, slots=True)
class Sent:
    """Whether a message went out, and if not, why in a few words."""

    ok: bool
    detail: str = ""


def send(urls: Sequence[str], title: str, body: str, priority: str, *, good: bool = False) -> Sent:
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
