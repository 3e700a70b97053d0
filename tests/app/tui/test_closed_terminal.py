"""What the application writes once its terminal was closed."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import IO, cast

from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from app.tui.start_screen import UntilGone
from tests.patience import PATIENCE


def test_nobody_waits_for_a_terminal_that_is_gone() -> None:
    """More is written than the queue of the writing thread takes, and the thread still comes to its end."""
    master, slave = os.openpty()
    file = open(slave, "w", encoding="utf-8")  # noqa: SIM115 - what is left in it cannot be written when it is closed
    gone = UntilGone(file)
    writer = WriterThread(cast("IO[str]", gone))
    writer.start()
    gone.write("seen\n")
    gone.flush()
    assert os.read(master, 100) == b"seen\r\n"
    os.close(master)

    def leave() -> None:
        for _ in range(2 * MAX_QUEUED_WRITES):
            writer.write("a picture\n")
        writer.stop()

    leaving = threading.Thread(target=leave, daemon=True)
    leaving.start()
    leaving.join(PATIENCE)
    assert not leaving.is_alive()
    with suppress(OSError):
        file.close()
