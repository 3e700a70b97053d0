"""One run of `memdeck`: which of its three forms was called, and what becomes of errors.

`memdeck VERB …` runs a verb, `memdeck --maintain [DIR]` one maintenance, `memdeck [DIR]` opens the application.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .output.failures import output_of, report
from .session import Session

if TYPE_CHECKING:
    import click

_WITH_VALUE = frozenset({"-w", "--workspace", "-o", "--output", "--actor", "--now", "--pane"})
_ABOUT = frozenset({"-h", "--help", "-V", "--version"})
MAINTAIN = "--maintain"


def run(arguments: Sequence[str], session: Session | None = None) -> int:
    """Run memdeck with these arguments and return its exit code; errors are said, never raised."""
    session = session or Session()
    try:
        code = _call(list(arguments), session)
        session.writer.flush()
        return code
    except SystemExit:
        raise
    except BaseException as error:
        output = session.output if session.output != "human" else output_of(arguments)
        return report(error, output, session.writer)


def _call(arguments: list[str], session: Session) -> int:
    from .root import VERBS, root

    prog = "memdeck"
    command: click.Command = root
    if "_MEMDECK_COMPLETE" in os.environ:
        root.main(prog_name=prog, complete_var="_MEMDECK_COMPLETE", obj=session)
    form = form_of(arguments, VERBS)
    if form == "maintain":
        from .verbs.maintenance import maintain

        arguments.remove(MAINTAIN)
        command, prog = maintain, f"memdeck {MAINTAIN}"
    elif form == "open":
        from .verbs.opening import open_workspace

        command = open_workspace
    from click.exceptions import Exit

    try:
        with command.make_context(prog, arguments, obj=session) as context:
            result = command.invoke(context)
    except Exit as end:
        return end.exit_code
    return result if isinstance(result, int) else 0


def form_of(arguments: Sequence[str], verbs: object) -> str:
    """Return `verb`, `maintain` or `open` for arguments; `verbs` is a container of the names of verbs.

    The first word that is no option decides: a verb, or a folder (one named like a verb is written `./tasks`).
    """
    for index, argument in _words(arguments):
        if argument == MAINTAIN:
            return "maintain"
        if argument in _ABOUT:
            return "maintain" if MAINTAIN in arguments[index:] else "verb"
        if argument == "--":
            return "open"
        if not argument.startswith("-") or argument == "-":
            if argument in verbs:  # type: ignore[operator]
                return "verb"
            return "maintain" if MAINTAIN in arguments[index:] else "open"
    return "open"


def first_word(arguments: Sequence[str]) -> str | None:
    """Return the first word that is no option and no value of one; None where there is none."""
    words = (word for _, word in _words(arguments) if not word.startswith("-") or word == "-")
    return next(words, None)


def _words(arguments: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the arguments with their indexes, without the values of the options that every verb takes."""
    index = 0
    while index < len(arguments):
        yield index, arguments[index]
        index += 2 if arguments[index] in _WITH_VALUE else 1
