"""One session in a browser: `python -P -m app.servers.web.session DIR`, started by the server for a page."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

LOOK_SECONDS = 1.0
"""How often is looked whether the server is still there."""


def main(folder: str) -> int:
    """Open the application for a driver that talks to the server."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    from app.tui.launch import run

    # Browsers can show everything, whatever the terminal of the server can.
    return run(folder, environ={**os.environ, "LC_ALL": "C.UTF-8"})


def _end_with(parent: int) -> None:
    """End in order when the server is gone, however it went."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
