"""One session in a browser: `python -P -m app.servers.web.session DIR`, started by the server for a page.

Without a folder it shows all workspaces, and none of them.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import sys
import threading
import time

LOOK_SECONDS = 1.0
"""How often is looked whether the server is still there."""
LEAVING_SECONDS = 3.0
"""How long leaving may take once it is not."""
MEMORY = 2 << 30
"""Bytes of data that a session may hold, and each program that it starts."""


def main(folder: str | None = None) -> int:
    """Open the application for a driver that talks to the server."""
    limit_memory()
    take_no_size_from_keys()
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    from app.tui.launch import run, run_fleet

    # Browsers can show everything, whatever the terminal of the server can.
    environ = {**os.environ, "LC_ALL": "C.UTF-8"}
    return run_fleet(environ) if folder is None else run(folder, environ=environ)


def take_no_size_from_keys() -> None:
    """Let the size of the screen come from the server alone, which bounds it: terminals may say it among the keys."""
    from textual import _xterm_parser

    _xterm_parser._re_in_band_window_resize = re.compile(r"(?!)")  # type: ignore[misc]


def limit_memory() -> None:
    """Let no more than `MEMORY` be taken: what asks for more gets an error, and the machine stays usable.

    Data are counted and not addresses, of which threads and other languages' programs reserve far more than they use.
    """
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _end_with(parent: int) -> None:
    """End in order when the server is gone, however it went; at once where that takes too long."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(LEAVING_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
