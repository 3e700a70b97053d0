"""Reads source files: what they declare, and what the comments at their head and above a declaration say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .documents import first_sentence, plain
from .tree import HASHED, Tree, folded_name, language_of, stem_of

_MOST_TEXT = 200_000
_LEAST_OF_FILE, _LEAST, _MOST_COMMENT = 2, 3, 40_000
"""How many words the description of a file has at least, and that of a declaration; how long a comment may be."""
TYPES = (
    "class", "struct", "interface", "trait", "enum class", "enum", "record", "protocol", "object", "actor", "defmodule",
    "defprotocol", "module", "union", "mixin", "type", "namespace", "package",
)  # fmt: skip
_KINDS = (
    *TYPES, "def", "fn", "func", "fun", "function*", "function", "macro_rules!", "defmacro", "const", "static", "val",
    "var", "let", "#define",
)  # fmt: skip
"""The words that declare something, those of types first."""
_DECLARES = re.compile(
    r"^(?P<indent>[ \t]*)(?!import\b|return\b|else\b|from\b|use\b|case\b)"
    r"(?P<before>(?:(?:module\.)?exports(?:\.\w+)?[ \t]*=[ \t]*)?(?:[a-z]\w*(?:\([\w: ]*\))?[ \t]+){0,6}?)"
    rf"(?P<kind>{'|'.join(map(re.escape, _KINDS))})[ \t]+"
    r"(?:\([^()\n]{0,80}\)[ \t]*)?(?:[A-Z_]{3,}[ \t]+)?(?!(?:class|struct|enum|func|protocol)\b)"
    r"(?P<name>(?:\w{1,60}(?:::|\.))*[A-Za-z_]\w{0,60})"
    # What names something of that type declares no type.
    r"(?![\w.]|::|[ \t]*\*|[ \t]+\w+[ \t]*[;=,\[])[^\n]*",
    re.MULTILINE,
)
_DECLARES_TYPED = re.compile(
    r"^(?P<indent>[ \t]{0,4})(?!return\b|else\b|new\b|throw\b|typedef\b|[\w ]*=)"
    r"(?P<before>(?:[\w:<>,~\[\]]{1,60}[ \t*&]+){0,8}?)(?P<name>(?:\w{1,60}::)*[A-Za-z_]\w{2,60})[ \t]*\([^;\n]*$",
    re.MULTILINE,
)
"""The forms of a declaration: by a word, and by the type of what it returns."""
_TYPED = frozenset({"C", "C++", "Objective-C", "Java", "C#"})
_NO_NAME = frozenset(("if", "for", "while", "switch", "catch", "return", "sizeof", "defined", "else", "do", "assert"))
_NESTED = frozenset({"C#", "F#", "Ruby", "Elixir", "Visual Basic"})
"""The languages in which types are usually inside of a namespace or module."""


class Declared(NamedTuple):
    """A declaration: its name with those it is inside of, the word that declares it ("" for a type before it), its
    line as it is, where that begins in the text, and what is before the name.
    """

    name: str
    kind: str
    line: str
    start: int
    indent: int
    before: str

    @property
    def short(self) -> str:
        """The last part of its name, without signs and case."""
        return folded_name(re.split(r"\.|::", self.name)[-1])

    @property
    def is_type(self) -> bool:
        """Whether it declares a type."""
        return self.kind in TYPES

    @property
    def is_value(self) -> bool:
        """Whether it declares a value that is not exported."""
        return self.kind in ("const", "static", "val", "var", "let") and "export" not in self.before

    def is_outer(self, language: str | None) -> bool:
        """Return whether it is not inside of another declaration, by its indentation."""
        return self.indent <= (4 if language in _NESTED and self.is_type else 0)


def declared_in(text: str, language: str | None) -> Iterator[Declared]:
    """Yield the declarations of a source, those by a word first."""
    text = text[:_MOST_TEXT]
    for form in (_DECLARES, _DECLARES_TYPED) if language in _TYPED else (_DECLARES,):
        for one in form.finditer(text):
            kind = one["kind"] if form is _DECLARES else ""
            if kind in TYPES and not one["before"] and one[0].endswith(f"{one['name']};"):
                continue  # It only says that it exists.
            if kind or not (one["name"] in _NO_NAME or (one["indent"] and not one["before"])):
                yield Declared(one["name"], kind, one[0], one.start(), len(one["indent"]), one["before"])


# -- what comments say ------------------------------------------------------------------------------------------------

_DOCSTRING = re.compile(
    r"\s*(?:#[^\n]*\n\s*)*[rRuUbB]{0,2}(?:\"\"\"(.{1,4000}?)\"\"\"|'''(.{1,4000}?)'''|\"([^\"\n]{1,300})\")", re.DOTALL
)
_INSIDE = re.compile(
    r"[^\n]*\n\s*(?:@moduledoc[ \t]+)?(?:[rRuU]|~[sS])?(?:\"\"\"(.{1,20000}?)\"\"\"|\"([^\"\n]{1,300})\")", re.DOTALL
)
_STARS = re.compile(r"^[ \t]*(?:/?\*+/?|//+[!/]?|#+|--)[ \t]?|[ \t]*\*+/[ \t]*$", re.MULTILINE)
_SLASHES, _HASH = re.compile(r"//|/\*"), re.compile(r"//|/\*|#(?!!|\[)")
_SIGN = re.compile(r"//|/?\*|#(?!\[|!)|--")
_ENDS = re.compile(r"\s*(?:\Z|import|use|from|package|namespace[^;]*;|#(?!define|ifdef __cplusplus)|[\"']use)")
"""What follows line comments about the file; those directly above other code are about that code."""
_BEFORE = re.compile(r"#(?:!|pragma once|ifndef|define|if !|nullable)|[\"']use \w+|<\?php")
"""Lines that come before the first comment of a file."""
_TAG = re.compile(
    r"^[ \t]*(?:[@\\]brief|(?:[@\\]\w+|\{@(?:template|macro|endtemplate)|vim?:|-\*-|\[?!\[|\[[^\]\n]+\]: http)[^\n]*$)",
    re.IGNORECASE | re.MULTILINE,
)
"""Tags, the settings of an editor, badges, and the addresses of links."""
_LINK = re.compile(
    r"<(?:see|paramref|typeparamref)\b[^<>]*?=\"(?:\w:)?(?:[\w.]*\.)?(?P<xml>[\w ]+)[^\"<>]*\"\s*/?>"
    r"|(?P<tag></?[a-z]+>|(?: \w+ed)?(?: (?:per|at|in|by|from|on|see))?[ \n]<https?://[^<>\s]+>)"
    r"|\{@\w+ (?:[\w.]+\.)?(?P<javadoc>[^{}\n]+)\}|\[(?P<code>`[^`\n]+`)\](?![(\[])"
    r"|:[a-z:]{2,20}:`~?(?:[\w.]+\.)?(?P<sphinx>[^`<>\n]+)`"
    r"|\[(?P<text>[^\[\]\n]{2,60})\](?:\[[^\[\]\n]*\])?(?!\()"
)
"""The references of C#, Javadoc, rustdoc, Sphinx and KDoc, and tags of HTML."""
_UNDERLINED = re.compile(r"\A\s*[^\n]+\n[ \t]*([=~*^#-])\1{2,}[ \t]*\n")
"""A title at the beginning of a comment."""
_INLINE = re.compile(r"[@\\](?:ref|c|a|p|em)[ \t]+")
_LEGAL = re.compile(
    r"go:generate|copyright|licen[sc]e|spdx|all rights reserved|eslint|prettier|resharper|@ts-|frozen_string|coding:"
    r"|typed: |[@\\]deprecated|deprecated(?:[:.]| since)|\+build|go:build|shellcheck|generated|warnings?\b|please "
    r"|the author\b|bug reports|ifndef|pragma",
    re.IGNORECASE,
)
_NO_DESCRIPTION = re.compile(
    r"\A(?:```|(?:import|include|const|see|do not|on|if|when|whether|how|there|we|raised|for|by|despite|although"
    r"|example|usage|namespace|nocov|use the|this (?:include|converter|is the documentation)|note|todo|fixme)\b"
    r"|\w+ class\Z|[\w.]+ = |.*\b(?:Version \d|so we|that we|this one)\b)|://| -- |\.\.\.|[:…]\Z"
    r"|[@\\](?:ref|see|link|param|return)|\b\d\.\Z|\]\(|\]\[|\{@|::`",
    re.IGNORECASE,
)
"""What a sentence has that is none about the thing itself, or the rest of a mark."""
_PARAGRAPH = re.compile(r"\n[ \t]*(?:\n|[-*] )|(?<=[\w)])\n(?=(?:They|It|This|These|We|You|If|When|The) )")
_SHORT_LINE = re.compile(r"^([^\n]{1,60}[\w)])\n(?=[A-Z][a-z]+ )", re.MULTILINE)
"""A short line without a full stop before one with a capital letter: each is a thought of its own."""


def described(comment: str, least: int) -> str:
    """Return the first sentence of a comment with at least so many words; "" where it describes nothing."""
    text = _TAG.sub("", _INLINE.sub("", _STARS.sub("", _UNDERLINED.sub("", comment).strip("/*!")))).strip()
    text = _SHORT_LINE.sub(r"\1\n\n", _UNDERLINED.sub("", f"{text}\n"))
    if _LEGAL.search(text[:600]):
        return ""
    for said in map(plain, _PARAGRAPH.split(_LINK.sub(_unlinked, text))):
        words = said.split()
        if len(words) >= _LEAST_OF_FILE and not said.startswith(("#", "=", "-")):
            # At least a third of the words are plain ones.
            prose = sum(re.fullmatch(r"[(\"'‘“]?[a-z][a-z'’-]*[.,;:)\"'’”]*", word) is not None for word in words)
            first = first_sentence(said)
            told = len(words) >= least and len(words) <= 3 * prose and not _NO_DESCRIPTION.search(first)
            return first if told else ""
    return ""


def _unlinked(link: re.Match[str]) -> str:
    """Return the text of a reference, as code where it is a name."""
    if link["tag"]:
        return ""
    name = link["xml"] or link["sphinx"] or (link["text"] if re.fullmatch(r"[A-Z]\w+", link["text"] or "") else "")
    return f"`{name}`" if name else link["javadoc"] or link["code"] or link["text"]


def header(tree: Tree, path: str) -> str:
    """Return the first sentence of the description at the top of a source file; "" where there is none."""
    text, language = tree.text(path), language_of(path)
    if language == "Python":
        found = _DOCSTRING.match(text)
        return described(next(filter(None, found.groups())), _LEAST_OF_FILE) if found else ""
    for comment, line in _comments(text, language) if language is not None else ():
        name, bare = re.escape(path.rpartition("/")[2]), _STARS.sub("", comment)
        said = re.sub(rf"\A\W*(?:{name}(?::| +[-–—]+)?|\w+ +--)\s+", "", bare, flags=re.IGNORECASE)
        named = said != bare
        # A licence may follow what is said.
        said = said.partition("\n\n")[0] if named else said
        if said.strip() and not _LEGAL.search(said[:600]):
            block = comment.startswith("/*") and language not in ("C", "C++") and not _is_code(line, language)
            return described(said, _LEAST) if named or block or _ENDS.match(line) else ""
        if line.strip() and not _BEFORE.match(line):
            break
    return ""


def _is_code(line: str, language: str | None) -> bool:
    """Return whether a line declares something, so that the comment above it is about that."""
    value = re.match(r"(?:module\.)?exports\b|(?:var|let|const|static|private|protected) |namespace\b[^;]*\Z", line)
    return value is not None or next(declared_in(line, language), None) is not None


def _comments(text: str, language: str | None) -> Iterator[tuple[str, str]]:
    """Yield the lines of code of a source file, each with the comment above it; a blank line ends a comment, too."""
    begins = _HASH if language in HASHED else _SLASHES
    comment: list[str] = []
    block = False
    for line in [*text[:_MOST_TEXT].split("\n"), ""]:
        bare = line.strip()
        if block or begins.match(bare):
            comment.append(bare)
            block = (block or bare.startswith("/*")) and not bare.endswith("*/")
        elif not bare.startswith(("@", "[", "#[", "template")):
            yield "\n".join(comment), line
            comment = []


def comment_of(text: str, one: Declared, least: int = _LEAST) -> str:
    """Return the first sentence of the comment directly above a declaration, or of the docstring in it."""
    above: list[str] = []
    for line in reversed(text[max(0, one.start - _MOST_COMMENT) : one.start].split("\n")[:-1]):
        bare = line.strip()
        if _SIGN.match(bare):
            above.insert(0, bare)
        elif not bare.startswith(("@", "#[", "[", "template")):
            break
    inside = _INSIDE.match(text, one.start) if one.kind.startswith(("class", "def")) else None
    within = described(inside[1] or inside[2], least) if inside is not None else ""
    return described("\n".join(above), least) or within


_PART = 3
"""The part of a file that its largest declaration has at least."""
_MADE = re.compile(r"\A(?:define|create|make|new|use|get)(?=\w{3})")
"""Verbs in front of the thing that a function makes: `defineStore` is what `store.ts` is about."""
_HIDDEN = re.compile(r".*\b(?:private|protected|fileprivate|internal|static)\b|_")
_PUBLIC = {"Rust": "pub", "TypeScript": "export", "JavaScript": "export", "Java": "public", "C#": "public"}
"""What is before a declaration that others may use."""


def about(tree: Tree, path: str) -> str:
    """Return what a source file says that it is; "" where it does not.

    That is the description at its top, else that of what is named like it, else that of its largest public type, after
    the name of that.
    """
    text, language = tree.text(path)[:_MOST_TEXT], language_of(path)
    if (said := header(tree, path)) or language == "C":
        return said
    outer = [one for one in declared_in(text, language) if one.is_outer(language)]
    ends = [*(one.start for one in outer[1:]), len(text)]
    sizes = {one: end - one.start for one, end in zip(outer, ends, strict=False)}
    file, least = folded_name(stem_of(path)), len(text) // _PART
    # A function is what a file is about only where it is most of it.
    named = [one for one in outer if _is_like(one, file) and (one.is_type or sizes[one] > least)]
    shown = re.compile(_PUBLIC.get(language or "", ""))
    types = [one for one in outer if one.is_type and shown.search(one.before) and sizes[one] > least]
    types = [one for one in types if not _HIDDEN.match(one.before + one.name)]
    types = [one for one in types if not (language == "Go" and one.name[0].islower())]
    largest = [] if named else sorted(types, key=lambda one: -sizes[one])[:1]
    for one in (*sorted(named, key=lambda one: one.short != file), *largest):
        if said := comment_of(text, one):
            whole = one.short == file or re.match(rf"(?:The )?{re.escape(one.name)} \w+s\b", said)
            return said if whole else f"`{one.name}`: {said}"
    return ""


def _is_like(one: Declared, file: str) -> bool:
    """Return whether a declaration has the name of its file, but for a letter or two after it; if it is exported, but
    for a verb before it, too.
    """
    short = _MADE.sub("", one.short) if re.match(r"export|pub|public", one.before) else one.short
    return short.startswith(file) and len(short) - len(file) < 3
