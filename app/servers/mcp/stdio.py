"""The server over stdin and stdout: recorded answers at once, then the SDK, which takes over the whole stream."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from app.servers.life import Life

from .recorded import RecordedAnswers
from .relay import LAST, Relay
from .wire import Wire

if TYPE_CHECKING:
    from .calls import Calls
    from .watched import WatchedResources

_MORE = 2.0
"""Seconds after these in which the process ends, whoever still waits for what."""
_SOON = 0.3
"""Seconds without a first message after which the SDK is loaded anyway."""


class Begun(NamedTuple):
    """A server whose first answers are given before anything else is loaded."""

    life: Life
    relay: Relay


def begin(recorded: RecordedAnswers | None) -> Begun:
    """Take stdin and stdout, and return once the first message is answered, or has to wait for the SDK.

    A moment without a message is enough as well: then loading goes on, which makes answers slower while it does.
    """
    life = Life()
    relay = Relay(Wire.of_process(life.end), recorded)
    life.before.append(relay.finish)
    life.watch(parent=True)
    threading.Thread(target=_leave, args=(relay, life), name="memdeck-mcp-leave", daemon=True).start()
    relay.start()
    if recorded is not None and recorded.known:
        relay.begun.wait(_SOON)
    return Begun(life, relay)


def _leave(relay: Relay, life: Life) -> None:
    """End the process some time after its input, also where nobody takes its last answers."""
    relay.ended.wait()
    time.sleep(LAST + _MORE)
    life.end()


def serve_stdio(calls: Calls, watched: WatchedResources, begun: Begun) -> None:
    """Serve one client on stdin and stdout until it leaves; ends the process."""
    from .sdk import leave_out_unused

    leave_out_unused()
    from .sdk_stream import run

    begun.life.busy.at_rest(calls.rest)
    run(calls, watched, begun.relay)
    begun.life.end()
