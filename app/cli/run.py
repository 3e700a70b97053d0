"""One run of the command line: which form the arguments ask for, its call, and how it ends."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

import click

from memory.base.safe_text import one_line
from memory.errors import UsageError
from memory.operations import load

from .commands import command_of
from .failures import output_of, report, report_made
from .forms import MAINTAIN, form_of
from .printing import OutputClosed
from .root import root
from .session import Session
from .verbs import FORMS, VERBS

_COMPLETE = "_MEMDECK_COMPLETE"
_USAGE_CODES: dict[type[click.ClickException], str] = {
    click.NoSuchOption: "usage.option",
    click.BadOptionUsage: "usage.option",
    click.MissingParameter: "usage.missing",
    click.BadParameter: "usage.value",
}


def run(arguments: Sequence[str], session: Session) -> int:
    """Run the command line and return its exit code; errors are printed, never raised."""
    try:
        code = _call(list(arguments), session)
        session.writer.flush()
        return code
    except SystemExit:
        raise
    except BaseException as error:
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
    if _COMPLETE in os.environ:
        root.main(prog_name="memdeck", complete_var=_COMPLETE, obj=session)
    form = form_of(arguments, VERBS)
    command, prog = root if form == "verb" else command_of(load(FORMS[form])), "memdeck"
    if form == "maintain":
        arguments.remove(MAINTAIN)
        prog = f"memdeck {MAINTAIN}"
    try:
        with command.make_context(prog, arguments, obj=session) as context:
            found = command.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        raise _usage_error(error) from None
    return found if isinstance(found, int) else 0


def _usage_error(error: click.ClickException) -> UsageError:
    """Return an error of click with the code and the words of memdeck."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "memdeck"
    if isinstance(error, click.NoSuchOption):
        # The words for it differ between versions of click.
        meant = f". Did you mean {error.possibilities[0]!r}?" if error.possibilities else ""
        message = f"no such option {error.option_name!r}{meant}"
    else:
        message = one_line(error.format_message()).rstrip(".")
    code = next((code for kind, code in _USAGE_CODES.items() if isinstance(error, kind)), "usage.arguments")
    return UsageError(code, message[:1].lower() + message[1:], f"see {path} --help")
