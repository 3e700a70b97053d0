"""One run of `memdeck`: which of its three forms was called, and what becomes of errors.

`memdeck VERB …` runs a verb, `memdeck --maintain [DIR]` one maintenance, `memdeck [DIR]` opens the application.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from .declared import MAINTAIN, form_of, read
from .printing import OutputClosed
from .session import Session
from .verbs import VERBS

if TYPE_CHECKING:
    from .declared import DeclaredVerb


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
        try:
            from .failures import output_of, report, report_made
        except OSError:
            # No descriptor is left to read even this with.
            os.write(2, b"memdeck: system.descriptors: no more files can be opened; raise the limit: ulimit -n 256\n")
            return 1

        output = session.output if session.output != "human" else output_of(arguments)
        if session.made is not None and isinstance(error, Exception) and not isinstance(error, OutputClosed):
            return report_made(error, session.made, output, session.writer)
        return report(error, output, session.writer)
    finally:
        # The answer is told: memory that runs out before `close` can guard itself must not turn it into another one.
        with suppress(Exception):
            session.close()


def _call(arguments: list[str], session: Session) -> int:
    if "_MEMDECK_COMPLETE" in os.environ:
        from .root import root

        root.main(prog_name="memdeck", complete_var="_MEMDECK_COMPLETE", obj=session)
    form = form_of(arguments, VERBS)
    verb: DeclaredVerb | None = None
    prog = "memdeck"
    if form == "maintain":
        from .verbs.maintenance import maintain

        arguments.remove(MAINTAIN)
        verb, prog = maintain, f"memdeck {MAINTAIN}"
    elif form == "open":
        from .verbs.opening import open_workspace

        verb = open_workspace
    plain = read(verb, arguments)
    if plain is None:
        return _call_by_click(verb, prog, arguments, session)
    called, options, values = plain
    session.take(options)
    result = called.function(session, **values)
    return result if isinstance(result, int) else 0


def _call_by_click(verb: DeclaredVerb | None, prog: str, arguments: list[str], session: Session) -> int:
    """Let click read the arguments and call a verb; None: the one that they name."""
    from click.exceptions import Exit

    from .lazy_groups import command_of
    from .root import root

    command = root if verb is None else command_of(verb)
    try:
        with command.make_context(prog, arguments, obj=session) as context:
            result = command.invoke(context)
    except Exit as end:
        return end.exit_code
    return result if isinstance(result, int) else 0
