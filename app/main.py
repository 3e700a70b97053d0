"""The command `memdeck`: answers `--version` at once, hands everything else to the command line."""

from __future__ import annotations

import gc
import os
import sys

from app.version import __version__


def main() -> int:
    """Run the command with the arguments of this process; return its exit code, or leave with it."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        sys.stdout.write(f"memdeck {__version__}\n")
        return 0
    # A verb lives for a moment: looking for cycles among a hundred thousand entries would free nothing.
    gc.disable()
    try:
        from app.cli.run import run

        code = run(arguments)
        if "textual" not in sys.modules:
            # Everything is written and flushed; taking all those entries apart would only take time.
            os._exit(code)
        return code
    except KeyboardInterrupt:  # before or after the part of the run that answers for itself
        return 130


if __name__ == "__main__":
    sys.exit(main())
