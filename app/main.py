"""The command `memdeck`: answers `--version` at once, chooses among its three forms, and handles errors.

`memdeck VERB …` runs a verb, `memdeck --maintain [DIR]` one maintenance, `memdeck [DIR]` opens the application.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `--version` does without `typing`.
if TYPE_CHECKING:
    from collections.abc import Sequence

    import click

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
    code = _run(arguments, session)
    return code if words is None else 0


def _hook_words(arguments: Sequence[str]) -> Sequence[str] | None:
    """Return what follows the word `hook` in a call of a hook, whatever options stand before it; None for other calls.

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
    """Answer a hook; return 0 whatever happens, even in an installation that is half replaced."""
    try:
        from .hooks.run import run as run_hook

        return run_hook(words)
    except Exception:
        return 0


def _run(arguments: Sequence[str], session: Session | None) -> int:
    from contextlib import suppress

    from .cli.printing import OutputClosed
    from .cli.session import Session

    session = session or Session()
    try:
        code = _call(list(arguments), session)
        session.writer.flush()
        return code
    except SystemExit:
        raise
    except BaseException as error:
        try:
            from .cli.failures import output_of, report, report_made
        except OSError:
            # No file descriptor is left, not even to read the error module.
            os.write(2, b"memdeck: system.descriptors: no more files can be opened; raise the limit: ulimit -n 256\n")
            return 1

        output = session.output if session.output != "human" else output_of(arguments)
        if session.made is not None and isinstance(error, Exception) and not isinstance(error, OutputClosed):
            return report_made(error, session.made, output, session.writer)
        return report(error, output, session.writer)
    finally:
        # The answer is already printed: running out of memory before `close` protects itself must not change the
        # result.
        with suppress(Exception):
            session.close()


def _call(arguments: list[str], session: Session) -> int:
    from click.exceptions import Exit

    from .cli.commands import command_of
    from .cli.forms import MAINTAIN, form_of
    from .cli.root import root
    from .cli.verbs import VERBS

    if "_MEMDECK_COMPLETE" in os.environ:
        root.main(prog_name="memdeck", complete_var="_MEMDECK_COMPLETE", obj=session)
    form = form_of(arguments, VERBS)
    command: click.Command = root
    prog = "memdeck"
    if form == "maintain":
        from memory.maintenance.operations import maintain

        arguments.remove(MAINTAIN)
        command, prog = command_of(maintain), f"memdeck {MAINTAIN}"
    elif form == "open":
        from .cli.verbs.opening import open_workspace

        command = command_of(open_workspace)
    try:
        with command.make_context(prog, arguments, obj=session) as context:
            result = command.invoke(context)
    except Exit as end:
        return end.exit_code
    return result if isinstance(result, int) else 0


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
    from .version import __version__

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
    from memory.errors import MemdeckError

    from .tui.launch import run

    try:
        return run(folder, now)
    except MemdeckError:
        return None


if __name__ == "__main__":
    sys.exit(main())
