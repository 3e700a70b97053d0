"""Reads the documents of a repository: its README, the sections of a document, and the lists in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from memory.document.scan.blocks import scan_blocks
from memory.state.analysis.tree import Tree

from .prose import ended, plain

_README = re.compile(r"readme(?:\.(?:md|markdown|rst|txt|adoc|org))?", re.IGNORECASE)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\Z")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+])\1{2,}[ \t]*\Z")
_BULLET = re.compile(r"([ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[([ xX])\][ \t]+)?(.+)\Z")
_NOISE = re.compile(
    r"[ \t]*(?:\[?!\[|\[[^\]]+\]:|<|\||:\w+:|\.\. |=+[ \t]*\Z|-{3,}[ \t]*\Z|\*{3,}[ \t]*\Z|\[//\]|\{[%{]|@[a-z]+\b"
    r"|:[A-Za-z-]+:[ \t])"
)
_ALERT = re.compile(r"\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]", re.IGNORECASE)
_H1 = re.compile(r"<h1(?:\s[^<>]{0,300})?>(.{1,300}?)</h1>", re.DOTALL | re.IGNORECASE)
_MOST_LINES = 4000
_MOST_CHARACTERS = 2000
_SHORT = 120


@dataclass(frozen=True, slots=True)
class ListItem:
    """An item of a list: its text, whether its box is ticked (None: it has none), and its line from 1."""

    text: str
    ticked: bool | None
    line: int


@dataclass(slots=True)
class TextSection:
    """A section: its title, its level (0 is before the first heading), its paragraphs, and the items of its lists.

    `above` holds the titles of the enclosing sections, the outermost first; `line` is that of its heading, from 1.
    `order` says for each part of the section whether it is a paragraph (True) or an item.
    """

    title: str
    level: int
    line: int
    above: tuple[str, ...] = ()
    paragraphs: list[str] = field(default_factory=list)
    items: list[ListItem] = field(default_factory=list)
    order: list[bool] = field(default_factory=list)

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the enclosing sections, and its own."""
        return (*self.above, self.title)

    def texts(self) -> list[str]:
        """Return the paragraphs, and the items as sentences, in their order."""
        paragraphs, items = iter(self.paragraphs), iter(self.items)
        return [next(paragraphs) if one else ended(next(items).text) for one in self.order]


def readme_of(tree: Tree, folder: str = "") -> str | None:
    """Return the path of the README of a folder, None where it has none."""
    names = [path for path in tree.folders.get(folder, []) if _README.fullmatch(path.rpartition("/")[2])]
    return min(names, key=lambda path: (not path.lower().endswith(".md"), path), default=None)


def parts_of(text: str) -> list[TextSection]:
    """Return the sections of a Markdown or reStructuredText document, without code, HTML, tables, badges and rules."""
    lines = [line[:_MOST_CHARACTERS].rstrip() for line in text.split("\n")[:_MOST_LINES]]
    hidden = _hidden(lines)
    parts = [TextSection("", 0, 1)]
    underlines: list[str] = []
    paragraph: list[str] = []
    in_item = False
    for number, line in enumerate([*lines, ""]):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        part = parts[-1]
        heading = None if number < len(lines) and hidden[number] else _HEADING.match(line)
        underline = _UNDERLINE.match(line) if paragraph else None
        if heading is not None:
            _end(part, paragraph)
            parts.append(_open(parts, plain(heading[2] or ""), len(heading[1]), number + 1))
            in_item = False
        elif underline is not None and len(paragraph) == 1 and not in_item:
            # Markdown has two kinds of underlines; reStructuredText assigns levels in the order of appearance.
            if underline[1] not in underlines:
                underlines.append(underline[1])
            parts.append(_open(parts, plain(paragraph.pop()), underlines.index(underline[1]) + 1, number))
        elif number >= len(lines) or hidden[number] or not line.strip():
            _end(part, paragraph)
            in_item = in_item and not line.strip() and below.startswith((" ", "\t"))
        elif (bullet := _BULLET.match(line)) is not None:
            _end(part, paragraph)
            in_item = True
            if len(bullet[1].expandtabs(4)) < 2:
                ticked = None if bullet[2] is None else bullet[2] != " "
                part.items.append(ListItem(plain(bullet[3]), ticked, number + 1))
                part.order.append(False)
        elif in_item:
            if line.startswith((" ", "\t")) and part.items and not part.items[-1].text.endswith("\n"):
                last = part.items[-1]
                part.items[-1] = ListItem(f"{last.text} {plain(line)}".strip(), last.ticked, last.line)
        elif _NOISE.match(line) is not None or (not paragraph and line.startswith(("    ", "\t"))):
            _end(part, paragraph)
        else:
            paragraph.append(line.strip().removeprefix(">").removesuffix("\\").strip())
    return parts


def _hidden(lines: list[str]) -> list[bool]:
    """Return for each line whether it is in a code fence or an HTML block."""
    hidden: list[bool] = []
    while len(hidden) < len(lines):
        # Each scan ends at a heading, and the next one begins after it.
        hidden += scan_blocks(islice(lines, len(hidden), None)).hidden
    return hidden


def _open(parts: list[TextSection], title: str, level: int, line: int) -> TextSection:
    last = parts[-1]
    around = [*enumerate(last.above, 1), (last.level, last.title)]
    above = tuple(name for one, name in around if 0 < one < level and name)
    return TextSection(title, level, line, above)


def _end(part: TextSection, paragraph: list[str]) -> None:
    # A GitHub alert is about the present state, not about what the project or its section is.
    text = "" if paragraph and _ALERT.match(paragraph[0]) else plain(" ".join(paragraph))
    paragraph.clear()
    if text:
        part.paragraphs.append(text)
        part.order.append(True)


def title_of(parts: list[TextSection]) -> str:
    """Return the title of a document: its first heading of level 1; "" without one."""
    return next((part.title for part in parts if part.level == 1 and part.title), "")


def html_title(text: str) -> str:
    """Return the first `<h1>` of a document, which some use as the title; "" without one."""
    found = _H1.search(text)
    return plain(found[1]) if found is not None else ""


def opening_of(parts: list[TextSection]) -> str:
    """Return the first meaningful paragraph, with the next one where it is short; "" without one.

    Paragraphs before the second section are tried first, then those of the next sections.
    """
    for part in parts[:6]:
        said = [text for text in part.paragraphs if _says_something(text)]
        if said:
            return " ".join(said[:2]) if len(said[0]) < _SHORT and said[0].endswith((".", "!")) else said[0]
    return ""


def _says_something(text: str) -> bool:
    words = text.split()
    if text.startswith(("...", "…")):  # the end of a sentence that begins in a picture or the title
        return False
    return len(words) >= 4 and len(re.findall(r"[^\W\d_]", text)) * 2 >= len(text) and not text.endswith(":")


def documents(tree: Tree, names: re.Pattern[str]) -> Iterator[tuple[str, list[TextSection]]]:
    """Yield path and sections of the documents at the root and in `docs` whose file names fit, in a fixed order."""
    for folder in ("", "docs", "doc", ".github"):
        for path in tree.folders.get(folder, []):
            if names.fullmatch(path.rpartition("/")[2]):
                yield path, parts_of(tree.text(path))
