"""`memdeck screen`: what a pane of the application shows, as plain text, for screen readers, scripts and agents."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from app.cli.session import Session
from app.tui.launch import terminal_encoding
from app.tui.pane_text import picture_of
from memory.errors import UsageError
from memory.operations import argument, option, shows, verb
from widgets.panes import all_panes
from widgets.text.fallback import plain_text
from widgets.text.glyphs import ASCII, UNICODE, glyphs_for

DEFAULT_SIZE = "120x36"
LARGEST = 1000
_FRAMES = dict.fromkeys((*range(0x2500, 0x2580), *range(0x2581, 0x2589)), " ")


@verb(
    "screen",
    serves="machine",
    looks=shows,
    examples=(
        "memdeck screen tasks",
        "memdeck screen journal --size 80x24 --filter deploy",
        "memdeck screen plans -o json",
    ),
)
@argument("pane", metavar="PANE", required=False, default="brief")
@option("--size", metavar="COLUMNSxROWS", default=DEFAULT_SIZE, help=f"The terminal's size ({DEFAULT_SIZE}).")
@option("--at", metavar="REF", help="The entry under the cursor, which the detail shows.")
@option("--no-frames", is_flag=True, help="Spaces instead of frames and scroll bars, for screen readers.")
@option("--filter", "words", metavar="WORDS", help="Only what fits, as / in the application.")
def screen(session: Session, pane: str, size: str, at: str | None, words: str | None, no_frames: bool) -> None:
    """Print what PANE (default: brief) shows, without a terminal: the same panes over the same files.

    Nothing is changed and nothing is remembered. JSON has the lines, and the entries in view with their refs.
    """
    columns, rows = _size(size)

    if pane not in {name.id for name in all_panes()}:
        raise UsageError("usage.pane", f"there is no pane {pane!r}", ", ".join(name.id for name in all_panes()))

    wide = session.output != "human" or (session.writer.utf8 and _is_wide(os.environ))
    picture = picture_of(
        session.workspace,
        pane,
        now=session.now,
        size=(columns, rows),
        at=at or "",
        words=words or "",
        glyphs=UNICODE if wide else ASCII,
        environ=os.environ,
    )
    lines = picture.lines
    if no_frames:
        lines = tuple(line.translate(_FRAMES) for line in lines)
    if not wide:
        lines = tuple(map(plain_text, lines))
    lines = tuple(line.rstrip() for line in lines)
    document = {
        "pane": picture.pane,
        "title": picture.title,
        "columns": picture.columns,
        "rows": picture.rows,
        "lines": list(lines),
        "entries": [
            {"ref": row.ref or None, "line": row.screen_line, "text": row.text, "cursor": row.cursor}
            for row in picture.entries
        ],
        "total": picture.total,
    }
    session.answer(lambda: document, lambda: lines)


def _is_wide(environ: Mapping[str, str]) -> bool:
    """Return whether the locale has more than ASCII, by the same rule as the application."""
    named = terminal_encoding(environ)
    return named is None or glyphs_for(named) is UNICODE


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,4})x(\d{1,4})", text, re.ASCII)
    columns, rows = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= columns <= LARGEST or not 1 <= rows <= LARGEST:
        raise UsageError(
            "usage.value", f"--size does not take {text!r}", f"write {DEFAULT_SIZE}, at most {LARGEST} each"
        )
    return columns, rows
