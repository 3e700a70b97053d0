"""Reads the documents of a repository: the sections of Markdown and reStructuredText, and plain sentences in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from memory.base.safe_text import one_line
from memory.base.words import content_words, stem

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
    (re.compile(r":[a-z:+-]+:`~?([^`<]{1,200}?)(?:\s*<[^`>]*>)?`"), r"\1"),
    (re.compile(r"`([^`<>]{1,200}?)\s*<[^`<>]*>`__?"), r"\1"),
    (re.compile(r"``"), "`"),
)
"""The forms of reStructuredText, each with its form in Markdown."""
_RST_HEADING = re.compile(
    r"^(?:([=~^\"'`#*+:.-])\1{2,}[ \t]*\n)?[ \t]*(\S[^\n]*)\n([=~^\"'`#*+:.-])\3{2,}[ \t]*$", re.MULTILINE
)
FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_IN_HTML = re.compile(r"^[ \t]*<p\b[^<>\n]{0,80}>\s*([^<>\s][^<>]{20,300})</p>[ \t]*$", re.MULTILINE)
"""A paragraph of nothing but text in HTML."""
_MYST = re.compile(r"(?:\{|:)(?:issue|pr|pull|gh|user|ghuser)(?:\}|:)`(?=(\d*))[^`\n]*`|\{[a-z:]{2,20}\}(?=`)")
_ALERT = re.compile(r"\[!\w+\]")
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[\"'(\[`A-Z0-9À-ÞА-Я])|(?<=[。！？])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|vs|cf|al|approx|resp|incl|No|Dr|Mr|Ms|St)\.|\b[A-Z]\.)\Z")
_BROKEN = re.compile(r" (?:and|or|but|an?|the|of|for|with|by|from|into|as)[.]?\Z")
"""The end of a sentence that was cut: a conjunction, a preposition or an article."""


class ListItem(NamedTuple):
    """An item of a list: its text, and whether its box is ticked (None: it has none)."""

    text: str
    ticked: bool | None


class Code(NamedTuple):
    """A block of code: the language that it is marked with ("indented" without a fence), and its text."""

    language: str
    text: str


class Section(NamedTuple):
    """A section: its title, its level (0 is before the first heading), its paragraphs, list items and code in order.

    `above` holds the titles of the enclosing sections, the outermost first.
    """

    title: str
    level: int
    above: tuple[str, ...]
    blocks: list[str | ListItem | Code]

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


def as_markdown(text: str, path: str) -> str:
    """Return a document with its headings, and its links and code, in the form of Markdown."""
    if path and "." not in path.rpartition("/")[2]:
        return re.sub(r"^\* (\w[^\n]{0,60})\n(?=\n\S)", r"# \1\n", text, flags=re.MULTILINE)
    if path.endswith((".rdoc", ".adoc")):
        return re.sub(r"^=+(?= )", lambda found: "#" * len(found[0]), text, flags=re.MULTILINE)
    if path.startswith("release-notes/"):
        text = re.sub(r"^#\d+: ", "- ", text, flags=re.MULTILINE)
        return re.sub(r"^\d+\.\d+[\w.]*(?: \([^()\n]*\))?$", r"## \g<0>", text, flags=re.MULTILINE)
    if path.endswith(".rst"):
        for form, markdown in _RST:
            text = form.sub(markdown, text)
        order: dict[str, int] = {}
        # The level of a heading is that of its line, in the order of the first of each.
        text = _RST_HEADING.sub(lambda one: f"{'#' * order.setdefault(one[3], len(order) + 1)} {one[2]}\n", text)
    return text


@lru_cache(maxsize=32)
def sections_of(text: str, path: str = "", most: int = _MOST_CHARACTERS) -> list[Section]:
    """Return the sections of the first `most` characters of a document, without HTML, tables, badges and alerts."""
    text = _IN_HTML.sub(r"\n\n\1\n\n", FRONT.sub("", text[:most]))
    text = _MYST.sub(lambda one: f"#{one[1]}" if one[1] else "", "\n".join(map(_bounded, text.split("\n"))))
    text = as_markdown(re.sub(r"^CHANGES (?:FROM|IN) ", r"# \g<0>", text, flags=re.MULTILINE), path)
    found = [Section("", 0, (), [])]
    around: dict[int, str] = {}
    depth, titled = 0, False
    tokens = _markdown().parse(text)
    for before, token in pairwise((*tokens[:1], *tokens)):
        depth += token.nesting if token.type.startswith("list_item") else 0
        titled = titled and depth > 0
        last = found[-1].blocks[-1] if found[-1].blocks else None
        if token.type == "fence" and isinstance(last, str) and last.endswith("following header."):
            begin = re.split(r"[.\n`]", token.content)[0]
            found[-1].blocks[-1] = f"{last[:-1]}: `{begin}…`."
        if token.type in ("fence", "code_block"):
            kind = token.info.partition(" ")[0].lower() if token.type == "fence" else "indented"
            found[-1].blocks.append(Code(kind, token.content))
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
    r"\b(?:is|are) (?:an?|the|\w+ing)\b|\b(?:provides|implements|contains|lets you|allows you|helps)\b",
    re.IGNORECASE,
)
_SAYS_WHAT = r"(?:is an?|is the|are|provides|lets|allows|helps|implements)\b"
_PASSED_OVER = {
    "title": r"\A(?:usage|install|getting started|quick ?start|set ?up|examples?|requirements|sponsors?"
             r"|.*\b(?:versions?|releases?|migrat\w+|upgrad\w+|changes|changelog|what's new|AI|LLMs?)\b)",
    "sentence": r"\A(?:\.\.\.|…|[<\"“(]|`[^`]* [^`]*`|\W*this is a work in|see\b|note\b|requires?\b|install|available"
                r"|docs\b|you (?:need|must|can)\b|our \w+ ha[sd]\b|there (?:is|are)\b|thank|welcome|please|if you|when "
                r"|while |however|for (?:more|the|guides)\b|read (?:the|this|more)|documentation|we(?:'re)? |sponsor"
                r"|check |an? .* implies|click (?:here|on)\b|follow |join |looking for|warning|english\b"
                r"|\w+ (?:is|are) (?:now )?(?:deprecated|available)|(?:this|it) is a (?:continuation|rewrite) of\b)"
                r"|://|[!?]\Z|\bplease (?:refer|see|visit|check)\b|\brefer to\b|\bdon['’]t miss\b"
                r"|\bthis (?:branch|documentation|document|guide|readme|version|page|section|template|tutorial)\b"
                r"|\bis available (?:on|at|from)\b|\b(?:provides?|supports?|includes?|offers?|following(?: \w+)?):\Z",
    "addition": r"\b(?:you'll|you're|well-exercised|(?:it )?started|original(?:ly)?|written by|sponsors?|inspired|joy"
                r"|named after|awesome|aims?|check out|please|we|our)\b|[ (]@\w|:\Z",
}  # fmt: skip
"""What is passed over where the opening of a document is read: the titles of sections about use or changes, sentences
about anything else, and further sentences that praise, thank or tell the history.
"""


def _passed_over(kind: str, text: str) -> bool:
    return re.search(_PASSED_OVER[kind], text, re.IGNORECASE) is not None


def opening_of(
    sections: list[Section], most: int, *, strict: bool = False, known: str = "", names: Sequence[str] = ()
) -> str:
    """Return the one or two sentences that say what something is, of at most `most` characters; "" without any.

    One that begins with one of the `names` counts first. With `strict` they have the form of a definition. A paragraph
    that only repeats what is `known` is passed over.
    """
    of_name = re.compile(rf"\A\W*(?:{'|'.join(map(re.escape, names))})\b.{{0,60}}? {_SAYS_WHAT}", re.IGNORECASE)
    forms = [(3, of_name)] if names else []
    for place, form in (*forms, (2, _DEFINES), (4, _DEFINES if strict else re.compile(r"[^:]\Z"))):
        near = (one for one in sections[:place] if not any(_passed_over("title", title) for title in one.titles))
        for paragraph in (one for section in near for one in section.paragraphs[:5]):
            told = [one for one in sentences(paragraph) if not _passed_over("sentence", one)]
            while told and not _is_prose(told[0]):
                told.pop(0)
            if told and paragraph.rstrip(".") != known and form.search(told[0]):
                return some_sentences(without_praise(" ".join(told[:2])), most).rstrip(":")
    return ""


def _is_prose(sentence: str) -> bool:
    return len(sentence.split()) >= 4 and len(re.findall(r"[^\W\d_]", sentence)) * 2 >= len(sentence)


def documents(tree: Tree, names: re.Pattern[str], more: Sequence[str] = ()) -> Iterator[tuple[str, list[Section]]]:
    """Yield path and sections of the documents whose names fit: at the root, in `docs`, and in some more folders."""
    for folder in dict.fromkeys(("", *more, "docs", "doc", ".github", "release-notes")):
        for path in tree.folders.get(folder, []):
            if names.fullmatch(path.rpartition("/")[2]):
                # A template says in comments what is asked.
                hides = "_template" in path.lower()
                yield path, sections_of(re.sub("<!--|-->", "", tree.text(path)) if hides else tree.text(path), path)


_REQUIRED = re.compile(r"\brequires? (?:at least )?((?:JDK|Java|Node\.js|Node|Python|PHP|Ruby) v?\d+(?:\.\d+)*)\b")
_FROM_ON = re.compile(r"\b(?:above|later|newer|higher|and up)\b")


def required_in(sections: list[Section]) -> tuple[str, str] | None:
    """Return the sentence that says what the newest versions require, and the one thing that it names; None without."""
    texts = (text for one in sections for text in (*one.paragraphs, *(item.text for item in one.items)))
    found = [(one, said[1]) for text in texts for one in sentences(text) if (said := _REQUIRED.search(one))]
    found = [one for one in found if _FROM_ON.search(one[0])] or found
    return found[0] if len({name for _, name in found}) == 1 else None


_SAYS = re.compile(
    r"(?:readme|agents|claude|contributing|architecture|design|develop\w+|hacking|structure|overview|index)"
    r"\.(?:md|markdown|rst|mdx)",
    re.IGNORECASE,
)
"""The documents that tell what the folders and files of a repository are."""
_NAME = re.compile(r"`?((?=[\w./-]*[A-Za-z])[\w./@+-]{3,80})`?")
_ITEM = re.compile(rf"(?:{_NAME.pattern})(?: \([^()]*\))? *(?:[–—:]|-+ )\s*(.+)")
_BRANCH = re.compile(r"[\s│├└─|`+\\-]*([\w.@-][\w./@-]*)\s+(?:#|//|←|<-|[–—]|--?)\s+(.{8,160})")
"""A line of a drawn tree of files, with a comment."""
_RULER = re.compile(r"[|:\s-]*-[|:\s-]*")
_TARGET = re.compile(r"\A\s*\[[^\]]*\]\((?!\w+:|#)([^()#?\s]+)\)\s*\Z")
"""A cell that is a link to a file or folder."""
_NO_SAYING = re.compile(r"(?:run|use|see|please|install|make sure|if|add|update|e\.g)\b|.*https?:|[^\w`]|.*:\Z",
                        re.IGNORECASE)  # fmt: skip


def sayings(tree: Tree) -> dict[str, str]:
    """Return what the documents say of the files and folders that they name by a path, in lists, tables, drawn trees.

    A path that several files have in part names none of them. In a README a bare word is rather one of its language.
    """
    found: dict[str, str] = {}
    paths = (*tree.files, *tree.folders)
    for path, sections in documents(tree, _SAYS):
        items = (_ITEM.match(item.text) for section in sections for item in section.items)
        for name, said in (*(item.groups() for item in items if item), *_drawn(tree.text(path))):
            told = first_sentence(plain(said), 200)
            words = re.findall(r"[^\W\d]{3,}", re.sub(r"`[^`]*`", "", told))
            says = len(words) > 1 and not _NO_SAYING.match(told)
            if says and (re.search(r"[./]", name) or "readme" not in path.lower()):
                bare = name.removeprefix("./").rstrip("/")
                named = [bare] if tree.has(bare) or bare in tree.folders else []
                named = named or [one for one in paths if one.endswith(f"/{bare}")]
                found |= {one: found.get(one, told) for one in named if len(named) == 1}
    return found


def _drawn(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names in the tables and drawn trees of a document, each with what is said of it."""
    fenced = False
    lines = text[:_MOST_CHARACTERS].split("\n")
    for line, after in pairwise([*lines, ""]):
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fenced = not fenced
        elif fenced and (found := _BRANCH.fullmatch(line[:_MOST_LINE])):
            if re.search(r"[│├└]", line) or re.search(r"[./]", found[1]):
                yield found[1], found[2]
        elif bare.startswith("|") and len(bare) < _MOST_LINE and not _RULER.fullmatch(after):
            cells = bare.strip("|").split("|")
            if named := _TARGET.match(cells[0]) or _NAME.fullmatch(plain(cells[0])):
                yield named[1], max(map(plain, cells[1:] or [""]), key=lambda cell: len(cell.split()))


def without_praise(text: str) -> str:
    """Return a text without the later sentences that praise, thank or tell the history."""
    first, *rest = sentences(text) or [""]
    return " ".join([first, *(one for one in rest if not _passed_over("addition", one))])


def is_said(text: str, told: str) -> bool:
    """Return whether what a text says is in another one, by most of its words."""
    words, known = ({stem(word) for word in content_words(one)} for one in (text, told))
    return len(words) > 2 and len(words & known) >= 0.7 * len(words)


def sentences(text: str) -> list[str]:
    """Return the sentences of a line of text; an abbreviation does not end one, and one without its end is left out."""
    found: list[str] = []
    for piece in _SENTENCE.split(text):
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] = f"{found[-1]} {piece}"
        elif piece.strip():
            found.append(piece.strip())
    return [one for one in found if not _BROKEN.search(one)]


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
