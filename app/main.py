"""The command `memdeck`: answers `--version` at once, hands everything else to the command line."""

from __future__ import annotations

import gc
import os
import sys


def main() -> int:
    """Run the command with the arguments of this process; return its exit code, or leave with it."""
    _open_standard_files()
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]) and _told_version():
        return 0
    code = _open_at_once(arguments)
    if code is not None:
        return code
    # A verb lives for a moment: looking for cycles among a hundred thousand entries would free nothing.
    gc.disable()
    if arguments[:1] == ["hook"]:
        from .hooks.run import run as run_hook

        if run_hook(arguments[1:]) is not None:
            # A client waits for the end of the process, not for what it holds to be taken apart.
            os._exit(0)
    try:
        if arguments[:1] == ["mcp"]:
            from .servers.mcp.early import answer_early

            answer_early(arguments[1:])
        from .cli.run import run

        code = run(arguments)
        if "textual" not in sys.modules:
            # Everything is written and flushed; taking all those entries apart would only take time.
            os._exit(code)
        return code
    except KeyboardInterrupt:  # before or after the part of the run that answers for itself
        return 130


def _open_standard_files() -> None:
    """Open what was closed of stdin, stdout and stderr, to read and write nothing.

    Else the next file that is opened gets its number, and whatever writes to stderr, or speaks to a client over stdout,
    would write into that file.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # It gets the lowest number that is free, which is this one.
            os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(number, True)


def _told_version() -> bool:
    """Print the version; False where stdout does not take it, which the command line reports."""
    from .version import __version__

    try:
        print(f"memdeck {__version__}", flush=True)
    except OSError:
        return False
    return sys.stdout is not None


def _open_at_once(arguments: list[str]) -> int | None:
    """Open the application for its plainest calls: `memdeck`, `memdeck DIR` with a slash or dot in it, and `--now`.

    They skip the command line's library, a tenth of the time to the first frame. None: this is for the command line,
    which also reports whatever goes wrong here.
    """
    words, now = list(arguments), None
    if len(words) >= 2 and words[-2] == "--now":
        now = words[-1]
        del words[-2:]
    folder = words[0] if words else None
    plain = folder is None or (folder[:1] in (".", "/") and os.path.isdir(folder))
    if len(words) > 1 or not plain or "_MEMDECK_COMPLETE" in os.environ:
        return None
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        return None
    from memory.errors import MemdeckError

    from .tui.launch import run

    try:
        return run(folder, now)
    except MemdeckError:
        return None


if __name__ == "__main__":
    sys.exit(main())
