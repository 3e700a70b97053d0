"""How a failed run ends: one line on stderr, an object on stdout for programs, and an exit code.

If a text matches several entries, they are listed below that line for human output.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress

from app.cli.printing import OutputClosed, Printer, tell
from memory.base.safe_text import one_line
from memory.errors import AmbiguousError, EntryChoice, MemdeckError
from memory.operations.result import Paint

INTERRUPTED = 130
OUTPUT_CLOSED = 141
_TO_CHOOSE, _WIDTH = 10, 79
_PACKAGES = ("app", "widgets", "memory")


def say(error: BaseException, *, choices: bool) -> MemdeckError:
    """Print what went wrong on stderr, with the matches of an ambiguous text, and return it as a MemdeckError."""
    known = known_error(error)
    found = known.choices if choices and isinstance(known, AmbiguousError) else ()
    if found:
        tell(f"memdeck: {known.code}: {one_line(known.message)}; use one of these refs:")
        for line in _to_choose(found, known.details.get("count", len(found))):
            tell(line)
    else:
        tell("memdeck: " + one_line(str(known)))
    return known


def known_error(error: BaseException) -> MemdeckError:
    """Return any error as a MemdeckError."""
    return error if isinstance(error, MemdeckError) else _internal(error)


def document_of(error: MemdeckError) -> dict[str, object]:
    """Return an error as JSON for programs; if a change waits for a person, the id of the proposal comes first."""
    found = error.document()
    return {"proposal": error.details["proposal"], **found} if error.code == "review.waiting" else found


def made_document(error: MemdeckError, made: str) -> dict[str, object]:
    """Return the JSON for a change that was made although a later step failed."""
    return {"made": made, "error": {"code": error.code, "message": error.message}}


def report(error: BaseException, output: str, writer: Printer) -> int:
    """Print what went wrong and return the exit code; with MEMDECK_DEBUG set, the traceback comes first."""
    if isinstance(error, OutputClosed):
        return OUTPUT_CLOSED
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    known = say(error, choices=output == "human")
    if output != "human":
        _try_to_print(writer, document_of(known))
    return known.exit_code


def report_made(error: Exception, made: str, output: str, writer: Printer) -> int:
    """Print that a change was made although a later step failed, and return the exit code of a success."""
    known = known_error(error)
    tell(f"memdeck: warning: the change is made ({one_line(made)}), but not shown: {one_line(str(known))}")
    if output != "human" and not writer.begun:
        _try_to_print(writer, made_document(known, made))
    return 0


def _try_to_print(writer: Printer, document: dict[str, object]) -> None:
    """Print a document on stdout if that is possible: what it says was already printed on stderr."""
    with suppress(OutputClosed, MemdeckError):
        writer.document(document)
        writer.flush()


def _to_choose(choices: Sequence[EntryChoice], count: int) -> Iterator[str]:
    """Yield a line for each of the first choices, with their places if their titles are the same."""
    shown = choices[:_TO_CHOOSE]
    placed = len({choice.title for choice in shown}) < len(shown)
    rows = [(choice.ref, choice.place if placed else "", choice.title) for choice in shown]
    yield from Paint(False, _WIDTH).columns(rows)
    if count > len(shown):
        yield f"  … and {count - len(shown)} more"


def _internal(error: BaseException) -> MemdeckError:
    debug = os.environ.get("MEMDECK_DEBUG")
    if debug:
        import traceback

        for line in "".join(traceback.format_exception(error)).splitlines():
            tell(line)
    what = type(error).__name__ + (f": {error}" if str(error) else "")
    hint = "please report it with the lines above" if debug else "MEMDECK_DEBUG=1 shows where; please report it"
    if _is_replaced():
        hint = "memdeck was updated while this ran: start it again"
    return MemdeckError("internal", one_line(what)[:500], hint)


def output_of(arguments: Sequence[str]) -> str:
    """Return the output format that the arguments ask for, even if they contain mistakes; the last one counts."""
    options = "".join(f"\0{argument}" for argument in arguments).partition("\0--\0")[0]
    found = re.findall(r"\0(?:-o\0?|--output[=\0])(human|jsonl?)(?=\0|$)", options)
    return found[-1] if found else "human"


def _is_replaced() -> bool:
    """Return whether a source file changed after this process began: it may have loaded parts of two versions."""
    import psutil

    begun = psutil.Process().create_time()
    loaded = [module for name, module in [*sys.modules.items()] if name.partition(".")[0] in _PACKAGES]
    files = [file for module in loaded if (file := getattr(module, "__file__", None)) and os.path.exists(file)]
    return any(os.path.getmtime(file) > begun for file in files)
