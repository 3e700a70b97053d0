"""One session in a browser: `python -P -m app.servers.web.session DIR`, started by the server for a page."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time

LOOK_SECONDS = 1.0
"""Seconds between checks whether the server is still running."""
LEAVING_SECONDS = 3.0
"""Seconds that leaving may take once the server is gone."""


def main(folder: str) -> int:
    """Open the application with a driver that talks to the server."""
    take_no_size_from_keys()
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    from app.tui.launch import run

    # Browsers can show everything, even if the server's terminal cannot.
    return run(folder, environ={**os.environ, "LC_ALL": "C.UTF-8"})


def take_no_size_from_keys() -> None:
    """Take the size of the screen only from the server, which limits it: terminals may also send it among the keys."""
    from textual import _xterm_parser

    _xterm_parser._re_in_band_window_resize = re.compile(r"(?!)")  # type: ignore[misc]


def _end_with(parent: int) -> None:
    """End in order when the server is gone, for any reason; at once if that takes too long."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(LEAVING_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
