"""Markdown of one entry as lines of pieces: quiet, safe and cheap, without a widget per block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from memory.base.safe_text import cell_width, visible

from .glyphs import UNICODE, Glyphs
from .styled_text import Line, Piece, Tone, line, pad_line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LIMIT = 64 * 1024
"""The most characters of an entry that are read as Markdown; a longer text is shown as it is written."""


class Flow(NamedTuple):
    """A logical line before it is wrapped; the wrapped lines are indented by `hang` cells."""

    content: Line
    hang: int = 0
    wrap: bool = True


def render_markdown(text: str, glyphs: Glyphs = UNICODE) -> list[Flow]:
    """The text of one entry as lines: bullets, code, emphasis, quotes and tables keep their shape.

    Links are shown as text and address and are never active; HTML is shown as it is written; line ends of the
    source stay line ends.
    """
    if len(text) > LIMIT:
        return plain_text(text)
    return list(_Renderer(glyphs).render(_parse(text)))


def plain_text(text: str, tone: Tone = "plain") -> list[Flow]:
    """The text as it is written, one logical line per line."""
    return [Flow((Piece(part, tone),)) for part in visible(text, newlines=True).split("\n")]


def _parse(text: str) -> Sequence[Token]:
    # Hidden characters and bytes that are not UTF-8 are made visible before parsing.
    return _parser().parse(visible(text, newlines=True))


@cache
def _parser() -> MarkdownIt:
    # Imported here: it is needed only to show an entry, and would add 50 ms to each start.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int
    pending: str = ""
    width: int = 2


class _Renderer:
    """Walks block tokens once; state is the stack of lists and quotes around the current block."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        self._around: list[_List | str] = []
        self._blank = False
        self._any = False

    def render(self, tokens: Sequence[Token]) -> Iterator[Flow]:
        """The lines of a whole document."""
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if token.type == "table_open":
                end = next(i for i in range(index, len(tokens)) if tokens[i].type == "table_close")
                yield from self._table(tokens[index:end])
                index = end
            else:
                yield from self._block(token, tokens[index - 1] if index else None)
            index += 1

    def _block(self, token: Token, before: Token | None) -> Iterator[Flow]:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                if not any(isinstance(around, _List) for around in self._around):
                    yield from self._gap()
                start = token.attrGet("start")
                self._around.append(_List(token.type.startswith("ordered"), int(start) if start is not None else 1))
            case "list_item_open":
                around = self._around[-1]
                if isinstance(around, _List):
                    around.pending = f"{around.number}. " if around.ordered else f"{self._glyphs.bullet} "
                    around.width = cell_width(around.pending)
                    around.number += 1
            case "list_item_close":
                around = self._around[-1]
                if isinstance(around, _List) and around.pending:
                    yield self._flow(())
            case "blockquote_open":
                yield from self._gap()
                self._around.append(f"{self._glyphs.separator} ")
            case "bullet_list_close" | "ordered_list_close" | "blockquote_close":
                self._around.pop()
                self._blank = not self._around
            case "inline":
                heading = before is not None and before.type == "heading_open"
                if heading or not any(isinstance(around, _List) for around in self._around):
                    yield from self._gap()
                for content in _inline(token.children or (), "heading" if heading else "plain"):
                    yield self._flow(content)
                self._blank = not any(isinstance(around, _List) for around in self._around)
            case "fence" | "code_block" | "html_block":
                yield from self._gap()
                for part in token.content.rstrip("\n").split("\n"):
                    yield self._flow((Piece(f"  {part}", "muted" if token.type == "html_block" else "code"),), 2)
                self._blank = True
            case "hr":
                yield from self._gap()
                yield self._flow((Piece(self._glyphs.rule * 8, "muted"),))
                self._blank = True
            case _:
                return

    def _gap(self) -> Iterator[Flow]:
        """An empty line between two blocks."""
        if self._blank and self._any:
            self._blank = False
            yield Flow(())

    def _flow(self, content: Line, hang: int = 0, *, wrap: bool = True) -> Flow:
        """A line after the marks of the lists and quotes around it."""
        self._any = True
        marks: list[Piece] = []
        for around in self._around:
            if isinstance(around, _List):
                marks.append(Piece(around.pending or " " * around.width, "muted"))
                around.pending = ""
            else:
                marks.append(Piece(around, "muted"))
        return Flow((*marks, *content), sum(cell_width(mark.text) for mark in marks) + hang, wrap)

    def _table(self, tokens: Sequence[Token]) -> Iterator[Flow]:
        yield from self._gap()
        rows: list[list[Line]] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                tone: Tone = "heading" if len(rows) == 1 else "plain"
                rows[-1].append(line(*_inline(token.children or (), tone)))
        count = max(map(len, rows), default=0)
        widths = [
            max(sum(cell_width(piece.text) for piece in row[column]) for row in rows if column < len(row))
            for column in range(count)
        ]
        for row in rows:
            cells: list[Piece] = []
            for column, content in enumerate(row):
                cells.extend(pad_line(content, widths[column]))
                cells.append(Piece("  "))
            yield self._flow(tuple(cells), wrap=False)
        self._blank = True


_LABEL = re.compile(r"[\w-]+(?: [\w-]+)?:(?:\s|$)")
"""What begins a new line although the source has no blank line before it: `Status: done`."""


def _inline(tokens: Sequence[Token], base: Tone) -> list[Line]:
    """Inline tokens as lines; a line end of the source becomes a blank, except before what looks like a label."""
    lines: list[list[Piece]] = [[]]
    tones: list[Tone] = [base]
    addresses: list[str] = []
    spoken = [token for token in tokens if token.type != "text" or token.content]
    for token, behind in zip_longest(spoken, spoken[1:]):
        match token.type:
            case "softbreak" if behind is None or (behind.type != "strong_open" and not _LABEL.match(behind.content)):
                lines[-1].append(Piece(" ", tones[-1]))
            case "softbreak" | "hardbreak":
                lines.append([])
            case "code_inline":
                lines[-1].append(Piece(token.content, "code"))
            case "strong_open":
                tones.append("strong")
            case "em_open":
                tones.append("emphasis")
            case "s_open":
                tones.append("muted")
            case "link_open":
                tones.append("accent")
                addresses.append(str(token.attrGet("href") or ""))
            case "strong_close" | "em_close" | "s_close":
                tones.pop()
            case "link_close":
                tones.pop()
                address = addresses.pop()
                shown = "".join(piece.text for piece in lines[-1])
                if address and not shown.endswith(address.removeprefix("mailto:")):
                    lines[-1].append(Piece(f" ({address})", "muted"))
            case "image":
                lines[-1].append(Piece(token.content or "image", tones[-1]))
                lines[-1].append(Piece(f" ({token.attrGet('src')})", "muted"))
            case _:
                lines[-1].append(Piece(token.content, tones[-1]))
    return [tuple(pieces) for pieces in lines]
