"""One session in a browser: `python -P -m app.servers.web.session DIR`, started by the server for a page.

Without a folder it shows the fleet of all workspaces.
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
"""Seconds between checks whether the server is still running."""
LEAVING_SECONDS = 3.0
"""Seconds that leaving may take once the server is gone."""
MEMORY = 2 << 30
"""Bytes of data that a session may use, and so may each program that it starts."""


def main(folder: str | None = None) -> int:
    """Open the application with a driver that talks to the server."""
    limit_memory()
    take_no_size_from_keys()
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    from app.tui.launch import run, run_fleet

    # Browsers can show everything, whatever the server's terminal can.
    environ = {**os.environ, "LC_ALL": "C.UTF-8"}
    return run_fleet(environ) if folder is None else run(folder, environ=environ)


def take_no_size_from_keys() -> None:
    """Take the size of the screen only from the server, which limits it: terminals may also send it among the keys."""
    from textual import _xterm_parser

    _xterm_parser._re_in_band_window_resize = re.compile(r"(?!)")  # type: ignore[misc]


def limit_memory() -> None:
    """Limit memory to `MEMORY`: requests beyond it fail, and the machine stays usable.

    Data is limited and not address space: threads and programs in other languages reserve far more addresses than they
    use.
    """
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _end_with(parent: int) -> None:
    """End in order when the server is gone, for whatever reason; at once if that takes too long."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(LEAVING_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
