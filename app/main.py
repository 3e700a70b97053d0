"""The command `memdeck`: answers `--version` at once, chooses among its three forms, and handles errors.

`memdeck VERB …` runs a verb, `memdeck --maintain [DIR]` one maintenance, `memdeck [DIR]` opens the application.
"""

from __future__ import annotations

import gc
import os
import sys

from .version import __version__

TYPE_CHECKING = False  # `--version` does without `typing`.
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .cli.session import Session


def main() -> int:
    """Run the command with the arguments of this process; return its exit code, or end the process with it."""
    _open_standard_files()
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]) and _told_version():
        return 0
    code = _open_at_once(arguments)
    if code is not None:
        # Threads that still read need not end first.
        os._exit(code)
    try:
        code = run(arguments)
        # Everything is written and flushed; freeing all those entries would only take time.
        os._exit(code)
    except KeyboardInterrupt:  # before or after the part of the run that handles its own errors
        return 130


def run(arguments: Sequence[str], session: Session | None = None) -> int:
    """Run memdeck with these arguments and return its exit code; errors are printed, never raised."""
    words = _hook_words(arguments)
    if words is not None and not {"-h", "--help"} & set(words):
        return _run_hook(words)
    from .cli.run import run as run_verb
    from .cli.session import Session

    code = run_verb(arguments, session or Session())
    return code if words is None else 0


def _hook_words(arguments: Sequence[str]) -> Sequence[str] | None:
    """Return the words after `hook` in a call of a hook, with any options before it; None for other calls.

    A client takes any exit code but 0 as an order to drop the user's message, so no parser of options is asked.
    """
    if list(arguments[:1]) == ["hook"]:
        return arguments[1:]
    if "hook" not in arguments or not arguments[0].startswith("-"):
        return None
    from .cli.forms import MAINTAIN, first_of
    from .cli.verbs import VERBS

    place = first_of(arguments, VERBS)
    if place is None or arguments[place] != "hook" or {MAINTAIN, "--"} & set(arguments[:place]):
        return None
    return [*arguments[:place], *arguments[place + 1 :]]


def _run_hook(words: Sequence[str]) -> int:
    """Answer a hook; always return 0, even in an installation that is half replaced."""
    try:
        from .hooks.run import run as run_hook

        return run_hook(words)
    except Exception:
        return 0


def _open_standard_files() -> None:
    """Open closed standard files (stdin, stdout, stderr) so that they read and write nothing.

    Otherwise the next file that is opened would get that number, and messages to stderr, or to a client over stdout,
    would be written into that file.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # It gets the lowest free number, which is this one.
            os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(number, True)


def _told_version() -> bool:
    """Print the version; return False if stdout fails, which the command line reports."""
    try:
        print(f"memdeck {__version__}", flush=True)
    except OSError:
        return False
    return sys.stdout is not None


def _open_at_once(arguments: list[str]) -> int | None:
    """Open the application for its plainest calls: `memdeck`, `memdeck DIR` with a slash or dot in it, and `--now`.

    They skip the command line's library, a tenth of the time to the first frame. None: the command line has to do it,
    and also reports any error.
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
    # Until the files are read nothing becomes garbage, and looking for it would delay the first titles.
    gc.disable()
    from memory.errors import MemdeckError

    from .tui.launch import run

    try:
        return run(folder, now)
    except MemdeckError:
        return None


if __name__ == "__main__":
    sys.exit(main())
