"""Reads the documents of a repository: the sections of Markdown and reStructuredText, and plain sentences in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from memory.base.safe_text import one_line

from .tree import Tree

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MOST_CHARACTERS = 40_000
_MOST_LINE = 2000
_MOST_MARKS = 400
_MARKS = re.compile(r"[\[\]*_`<>]")
_BOX = re.compile(r"\[([ xX])\](?:\s+|\Z)")
_RST = (
    (re.compile(r"^(?:\.\. |:[\w-]+:(?:\s|$))[^\n]*(?:\n[ \t]+\S[^\n]*)*", re.MULTILINE), ""),
    (re.compile(r"^([~^\"'`#*+:.])\1{2,}[ \t]*$", re.MULTILINE), "---"),
    (re.compile(r":[a-z:+-]+:`~?([^`<]{1,200}?)(?:\s*<[^`>]*>)?`"), r"\1"),
    (re.compile(r"`([^`<>]{1,200}?)\s*<[^`<>]*>`__?"), r"\1"),
    (re.compile(r"``"), "`"),
)
"""The forms of reStructuredText, each with its form in Markdown."""
_MYST = re.compile(r" ?(?:\{|:)(?:issue|pr|pull|gh|user|ghuser)(?:\}|:)`[^`\n]*`|\{[a-z:]{2,20}\}(?=`)")
_ALERT = re.compile(r"\[!\w+\]")
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[\"'(\[`A-Z0-9À-ÞА-Я])|(?<=[。！？])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|al|approx|resp|incl|No|Dr|Mr|Ms|St)\.|\b[A-Z]\.)\Z")


class ListItem(NamedTuple):
    """An item of a list: its text, and whether its box is ticked (None: it has none)."""

    text: str
    ticked: bool | None


class Section(NamedTuple):
    """A section: its title, its level (0 is before the first heading), and its paragraphs and top list items in order.

    `above` holds the titles of the enclosing sections, the outermost first.
    """

    title: str
    level: int
    above: tuple[str, ...]
    blocks: list[str | ListItem]

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the enclosing sections, and its own."""
        return (*self.above, self.title)

    @property
    def paragraphs(self) -> list[str]:
        """The paragraphs of the section."""
        return [block for block in self.blocks if isinstance(block, str)]

    @property
    def items(self) -> list[ListItem]:
        """The items of its lists."""
        return [block for block in self.blocks if isinstance(block, ListItem)]


@cache
def _markdown() -> MarkdownIt:
    # It is loaded where a document is read: verbs that only list take half as long without it.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")


def sections_of(text: str, path: str = "") -> list[Section]:
    """Return the sections of a document, without code, HTML, tables, badges and alerts."""
    text = _MYST.sub("", "\n".join(map(_bounded, text[:_MOST_CHARACTERS].split("\n"))))
    for form, markdown in _RST if path.endswith(".rst") else ():
        text = form.sub(markdown, text)
    found = [Section("", 0, (), [])]
    around: dict[int, str] = {}
    depth, titled = 0, False
    tokens = _markdown().parse(text)
    for before, token in pairwise(tokens):
        depth += token.nesting if token.type.startswith("list_item") else 0
        titled = titled and depth > 0
        if token.type != "inline":
            continue
        said = _said(token)
        if before.type == "heading_open":
            level = int(before.tag[1:])
            around = {one: title for one, title in around.items() if one < level}
            found.append(Section(said, level, tuple(around.values()), []))
            around |= {level: said} if said else {}
        elif before.type == "paragraph_open" and said:
            if depth == 0 and not _ALERT.match(said):
                found[-1].blocks.append(said)
            elif depth == 1 and token.level <= 3 and said.endswith(":"):
                # It is the title of the items below it.
                titled = True
            elif depth == (token.level - 1) // 2 and (depth == 1 or (depth == 2 and titled)):
                titled = titled and depth == 2
                box = _BOX.match(said)
                text, ticked = (said, None) if box is None else (said[box.end() :], box[1] != " ")
                found[-1].blocks.append(ListItem(text, ticked))
    return found


def _bounded(line: str) -> str:
    """Return a line that is parsed in little time: without its end where it is long, empty where it is all marks."""
    line = line[:_MOST_LINE]
    return line if len(_MARKS.findall(line)) < _MOST_MARKS else ""


def _said(token: Token) -> str:
    shown = {"code_inline": "`{}`", "softbreak": " ", "hardbreak": "\n", "image": "", "html_inline": ""}
    text = "".join(shown.get(one.type, "{}").replace("{}", one.content) for one in token.children or ())
    return one_line(re.sub(r"(?<=\w)[ \t]*\n(?=[A-Z])", ". ", text))


def plain(markdown: str) -> str:
    """Return inline Markdown as one line of text: without images, tags and emphasis, links as their text."""
    return _said(_markdown().parseInline(_bounded(one_line(markdown)))[0])


_DEFINES = re.compile(
    r"\b(?:is|are) (?:an?|the|\w+ing)\b|\A(?:an?|the) |\b(?:provides|implements|contains|lets you|allows you|helps)\b",
    re.IGNORECASE,
)
_NO_OPENING = re.compile(
    r"(?:\.\.\.|…|see\b|note\b|this (?:branch|readme|document|version|page)\b|requires?\b|you (?:need|must|can)\b"
    r"|there (?:is|are)\b|our \w+ ha[sd]\b"
    r"|install|thank|welcome|please|if you|read (?:the|this|more)|for (?:more|the) |documentation|we're |sponsor"
    r"|an? .* implies|while |click (?:here|on)\b|check out|follow |join |looking for|warning|english\b"
    r"|\w+ (?:is|are) (?:now )?(?:deprecated|available))",
    re.IGNORECASE,
)


_OF_ITSELF = re.compile(r"\bthis (?:documentation|document|guide|readme|page|section|tutorial)\b|[!?]\Z", re.IGNORECASE)
"""Sentences about the document, and those that only call out."""


def opening_of(sections: list[Section], most: int, *, strict: bool = False, known: str = "") -> str:
    """Return the first sentences that say what something is, of at most `most` characters; "" without any.

    With `strict` they have the form of a definition. Questions, requirements and ends of sentences are passed over, and
    so is a paragraph that only repeats what is `known`.
    """
    for place, defines in ((2, True), (4, strict)):
        for paragraph in [one for section in sections[:place] for one in section.paragraphs[:5]]:
            told = [one for one in sentences(paragraph) if not _OF_ITSELF.search(one)]
            while told and not _says_something(told[0]):
                told.pop(0)
            if paragraph.rstrip(".") == known:
                continue
            if told and (_DEFINES.search(told[0]) if defines else not told[0].endswith(":")):
                return some_sentences(" ".join(told), most).rstrip(":")
    return ""


def _says_something(sentence: str) -> bool:
    letters = len(re.findall(r"[^\W\d_]", sentence))
    if len(sentence.split()) < 4 or letters * 2 < len(sentence) or sentence.endswith(("?", "!")):
        return False
    if sentence.startswith("<") or re.match(r"`[^`]* [^`]*`", sentence):
        return False
    return _NO_OPENING.match(sentence) is None and "http" not in sentence


def documents(tree: Tree, names: re.Pattern[str], main: str = "") -> Iterator[tuple[str, list[Section]]]:
    """Yield path and sections of the documents whose names fit: at the root, in the main folder, and in `docs`."""
    for folder in dict.fromkeys(("", main, "docs", "doc", ".github")):
        for path in tree.folders.get(folder, []):
            if names.fullmatch(path.rpartition("/")[2]):
                yield path, sections_of(tree.text(path), path)


def sentences(text: str) -> list[str]:
    """Return the sentences of a line of text; an abbreviation does not end one."""
    found: list[str] = []
    for piece in _SENTENCE.split(text):
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] = f"{found[-1]} {piece}"
        elif piece.strip():
            found.append(piece.strip())
    return found


def first_sentence(text: str, most: int = 200) -> str:
    """Return the first sentence of a text, cut at a word where it has more than `most` characters."""
    return cut(next(iter(sentences(one_line(text))), ""), most)


def some_sentences(text: str, most: int) -> str:
    """Return as many whole sentences as fit in `most` characters, at least the beginning of the first."""
    taken, *rest = sentences(one_line(text)) or [""]
    for sentence in rest:
        if len(taken) + 1 + len(sentence) > most:
            break
        taken = f"{taken} {sentence}"
    return cut(taken, most)


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters, which ends with `…` after a whole word where it was longer."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    place = head.rfind(" ")
    # An unclosed code span would turn the following text into code.
    if head.count("`") % 2 and head.rfind("`") > most // 3:
        place = head.rfind("`")
    return head[: place if place > most // 3 else len(head)].rstrip(" ,;:-(") + "…"


def listed(texts: list[str], most: int) -> str:
    """Return the first texts of a list, and how many more there are."""
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def capital(text: str) -> str:
    """Return a text with a capital first letter; code at its beginning stays, and so does a name such as `cJSON`."""
    first = text.partition(" ")[0]
    return text if any(letter.isupper() for letter in first[1:]) else text[:1].upper() + text[1:]


def ended(text: str) -> str:
    """Return a text that ends like a sentence."""
    return text if text.endswith((".", "!", "?", "…", "。", "！", "？", ":")) else f"{text}."
