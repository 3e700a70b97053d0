"""Extracts plain sentences from Markdown, comments and docstrings."""

from __future__ import annotations

import re

from memory.state.projections.markdown import one_line

_IMAGE = re.compile(
    r"!\[[^\]\n]{0,300}\]\([^()\s]{0,600}(?:\s+\"[^\"\n]{0,200}\")?\)|!\[[^\]\n]{0,300}\]\[[^\]\n]{0,100}\]"
)
_LINK = re.compile(
    r"\[([^\[\]\n]{0,300})\](?:\((?:[^()\s]|\([^()\s]{0,300}\)){0,600}(?:\s+\"[^\"\n]{0,200}\")?\)|\[[^\]\n]{0,100}\])?"
)
_HTML = re.compile(r"(`[^`\n]*`)|<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>\n]{0,600}>", re.DOTALL)
_STRONG = re.compile(
    r"\*\*([^*\n]{1,300})\*\*|__([^_\n]{1,300})__|(?<![\w*])\*(?!\s)([^*\n]{1,300})(?<!\s)\*(?![\w*])"
    r"|(?<![\w`])_(?![\s_])([^_`\n]{1,300})(?<!\s)_(?![\w`])"
)
_ENTITY = re.compile(r"`[^`]*`|&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[\"'(\[`A-Z0-9À-ÞА-Я])|(?<=[。！？])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|al|approx|resp|incl|No|Dr|Mr|Ms|St)\.|\b[A-Z]\.)\Z")


def plain(markdown: str) -> str:
    """Return inline Markdown as one line of text: without images, tags and emphasis, links as their text."""
    text = _LINK.sub(r"\1", _IMAGE.sub("", _HTML.sub(_code, markdown)))
    text = _STRONG.sub(lambda found: found[found.lastindex or 0], text)
    if "&" in text:
        text = _ENTITY.sub(_letter, text)
    return one_line(re.sub(r"\\([\\`*_{}\[\]()#+.!<>|~-])", r"\1", text))


def _code(found: re.Match[str]) -> str:
    """Return a code span as it is; "" for tags and comments."""
    return found[1] or ""


def _letter(found: re.Match[str]) -> str:
    """Return the character of an HTML entity; an unknown entity and code stay as they are."""
    import html.entities

    name = found[0][1:]
    known = name.startswith("#") or name in html.entities.html5
    return html.unescape(found[0]) if found[0].startswith("&") and known else found[0]


def sentences(text: str) -> list[str]:
    """Return the sentences of a line of text; an abbreviation does not end one."""
    found: list[str] = []
    for piece in _SENTENCE.split(text):
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] = f"{found[-1]} {piece}"
        elif piece.strip():
            found.append(piece.strip())
    return found


def first_sentence(text: str, most: int = 240) -> str:
    """Return the first sentence of a text, cut at a word where it has more than `most` characters."""
    found = sentences(one_line(text))
    return cut(found[0], most) if found else ""


def some_sentences(text: str, most: int) -> str:
    """Return as many whole sentences as fit in `most` characters, at least the beginning of the first."""
    taken = ""
    for sentence in sentences(one_line(text)):
        longer = f"{taken} {sentence}".strip()
        if taken and len(longer) > most:
            break
        taken = longer
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


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun: `1 change`, `12000 changes`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


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
