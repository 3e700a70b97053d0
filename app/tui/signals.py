"""Leaving on signals: the terminal is restored whatever ends the application."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .shell import Shell

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
"""What asks a program to end; Textual alone leaves the terminal in its own mode on some of them."""


def leave_on_signals(app: Shell) -> None:
    """End the application in order, with the exit code that shells use for the signal."""
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        # Not the main thread, or a test: then somebody else owns the signals.
        with suppress(ValueError, RuntimeError, NotImplementedError):
            loop.add_signal_handler(number, app.exit, 128 + number)
