"""Markdown documents that are hard on a block scanner, for hypothesis and for plain random loops."""

from __future__ import annotations

import random
from collections.abc import Callable

from hypothesis import strategies as st

_PREFIXES = (
    "- ", "-  ", "-   ", "-     ", "-\t", "* ", "+ ", "-", "1. ", "2. ", "1) ", "10. ", "1.\t", "1.",
    "123456789. ", "1234567890. ", "> ", ">", ">\t", ">  ", "> > ", ">>", "> - ", "- > ", "- - ", "> 1. ",
    "\t", " \t", "  \t", "    ", "  ", "   ", " ",
)  # fmt: skip
_HEADINGS = (
    "# h", "## h", "### h", "#\th", "#", "##", "###", "### ", "#### h", "###### h", "####### h", "#h",
    "## h ##", "# `h", "# <b>", "### [HIGH] task", "# h\\", "#\xa0h", "#\x0bh",
)  # fmt: skip
_FENCES = (
    "```", "````", "`````", "~~~", "~~~~", "``` py", "```py `x`", "~~~ `x` ~", "``` ", "~~~ \t", "``", "~~",
    "```\t", "```x```", "~~~x~~~", "`" * 9,
)  # fmt: skip
_HTML = (
    "<script>", "<script", "<SCRIPT src=x>", "<pre>", "<style x", "<textarea>", "</script>", "</pre>",
    "</style>", "</textarea>", "<script>x</pre>", "<scripty>", "<!-- c", "<!-- c -->", "<!-->", "<!--->",
    "-->", "x --> y", "<!-", "<?php", "?>", "<?x?>", "<!DOCTYPE", "<!x", "<!x>", "<!1", ">x>",
    "<![CDATA[", "]]>", "<![CDATA[x]]>", "<![cdata[", "<div>", "<div", "</div>", "<DIV class='x",
    "<p>text", "<table/>", "<h1", "<h7", "<li/", "<div/x", "<b>", "</b>", "</b >", "<b/>", "<b x>",
    '<b x="1" y=\'2\' z=3 w>', "<b>x", "<b> ", "<b", "<b x=>", "<b x=\"", "<a b=c\xa0d=e>", "<x-y:z>",
    "<x-y z:a.b_c-d=1>", "< b>", "<1>", "</b x>", "<b\t/>", "<http://x>", "<b\x0bx>", "<ſcript>",
    "<lİnk>", "<div\x0b", "<b \x00=1>", "<b x=\x00>",
)  # fmt: skip
# Each on one line: definitions over several lines are read as text.
_REFERENCES = (
    "[a]: /u", "[a]: /u", "[a]: /u 't'", "[a]: /u \"t\"", "[a]: /u (t)", "[a]", "[a\\]: /u", "[]: /u", "[ ]: /u",
    "[a]: <u v>", "[a]: <u> 't'", "[a]: <u", "[a]: /u v", "[a] : /u", "[a]:\t/u\t't'\t", "[b [c]: /u", "![a]: /u",
    "[a]: http://x/y?z#w", "/u",
)  # fmt: skip
_REST = (
    "", "", "", "", " ", "   ", "     ", "\t", "text", "text", "more text", "---", "--", "-", "===", "=",
    "= =", "- - -", "***", "* * *", "___", "_ _ x", "**", "+++", "---\t", "===  ", "=== x", "--- x",
    "| a | b |", "|---|---|", "\\# h", "\\", "\x0b", "\x0c", "\xa0", "\u2028", "\x1c", "\x85text",
    "- key: value", "- [ ] box", "1", "1x", "1.x", "0. z", "01. z", "١. z", "\x00", "\ufeff# h", "&lt;",
    "*x*", "_x_", "`x`", "~x~",
)  # fmt: skip
# What tells an open paragraph from a closed one: `<b>` begins an HTML block only after a closed one, which
# hides the heading that follows; a blank line ends it again. Fences show which containers are open.
_PROBES = (
    ("<b>", "# h", ""), ("<b>", "# h", ""), ("  <b>", "# h", ""), ("    <b>", "<b>", "# h", ""),
    ("  ```", "# h", "  ```", ""), ("   ```", "# h", "```", ""), (" <!--", "# h", "-->", ""),
    ("```", "# h", "```"), ("> <b>", "<b>", "# h", ""), ("2. <div>", "# h", ""),
    ("-", "  <div>", "# h", ""), ("===", "<b>", "# h", ""), ("", "  ```", "# h", "  ```"),
    ("", "", "    ```", "# h", "    ```"), (">", "<b>", "# h", ""),
)  # fmt: skip
_NESTING = ("- ", "+ ", "1. ", "* ", "> ")
_CALM = (
    "text",
    "text",
    "",
    "",
    "x",
    "-",
    "2. y",
    "1. y",
    "===",
    "---",
    "     code",
    "> q",
    "[a]: /u",
    "```",
)
_GROUPS = (_HEADINGS, _FENCES, _HTML, _REFERENCES, _REST)
_WEIGHTS = (4, 3, 4, 3, 5)
_ALL = tuple(fragment for group in _GROUPS for fragment in group)


def markdown_documents(max_lines: int = 14) -> st.SearchStrategy[str]:
    """Return documents of up to `max_lines` lines, joined by newlines, that mix all kinds of blocks."""
    prefix = st.lists(st.sampled_from(_PREFIXES), max_size=3).map("".join)
    indent = st.integers(0, 5).map(" ".__mul__)
    fragment = st.one_of(*(st.sampled_from(group) for group in _GROUPS))
    plain = st.tuples(indent, fragment).map("".join)
    nested = st.tuples(indent, prefix, fragment).map("".join)
    heading = st.sampled_from(_HEADINGS)
    deep = st.tuples(st.lists(st.sampled_from(_PREFIXES), min_size=4, max_size=24).map("".join), fragment).map("".join)
    line = st.one_of(fragment, fragment, plain, nested, nested, heading, heading, deep)
    calm = st.one_of(st.sampled_from(_CALM), st.sampled_from(_REFERENCES))
    probed = st.tuples(
        st.lists(st.tuples(indent, prefix, calm).map("".join), min_size=1, max_size=4),
        st.sampled_from(_PROBES),
    ).map(lambda parts: "\n".join((*parts[0], *parts[1])))
    # A probe fills several lines.
    return st.one_of(st.lists(line, max_size=max_lines), st.lists(probed, max_size=max_lines // 5 + 1)).map("\n".join)


def random_markdown(rng: random.Random) -> str:
    """Return one random document of the same kinds, made much faster than hypothesis does."""
    lines: list[str] = []
    if rng.random() < 0.5:
        for _ in range(rng.randint(1, 4)):
            lines += _probed(rng)
        return "\n".join(lines)
    # A document of few kinds of lines lets them meet more often.
    kinds = rng.choice((_any_kind, _any_kind, _few_fragments(rng), _few_prefixes(rng)))
    for _ in range(rng.randint(1, rng.choice((4, 8, 14, 30)))):
        lines.append(kinds(rng))
    return "\n".join(lines)


def _probed(rng: random.Random) -> list[str]:
    """Return a few lines that open and close containers and paragraphs, and a probe after them."""
    style = rng.randrange(4)
    lines: list[str] = []
    shared = _prefixes(rng, 3)
    for _ in range(rng.randint(1, 4)):
        text = rng.choice(_REFERENCES if style == 0 else _CALM)
        if style == 0:
            prefix = rng.choice(("", "", "", "", "", "     ", "  ", shared))
        elif style == 1:
            prefix = _prefixes(rng, 3)
        else:
            prefix = rng.choice((shared, _prefixes(rng, 2), " " * rng.randint(0, 9)))
        lines.append(prefix + text)
    if rng.random() < 0.04:
        lines.insert(0, "".join(rng.choice(_NESTING) for _ in range(rng.randint(8, 21))) + "x")
    return [*lines, *rng.choice(_PROBES)]


def _fragment(rng: random.Random) -> str:
    """Return one fragment, all groups in turn."""
    return rng.choice(rng.choices(_GROUPS, _WEIGHTS)[0])


def _prefixes(rng: random.Random, most: int = 3) -> str:
    """Return up to `most` container markers and runs of spaces."""
    return "".join(rng.choice(_PREFIXES) for _ in range(rng.randint(0, most)))


def _any_kind(rng: random.Random) -> str:
    """Return a line out of all fragments and prefixes."""
    draw = rng.random()
    if draw < 0.35:
        return _fragment(rng)
    if draw < 0.5:
        return rng.choice(_HEADINGS)
    if draw < 0.65:
        return " " * rng.randint(0, 5) + _fragment(rng)
    if draw < 0.98:
        return " " * rng.randint(0, 5) * rng.randint(0, 1) + _prefixes(rng) + _fragment(rng)
    return _prefixes(rng, 24) + _fragment(rng)


def _few_fragments(rng: random.Random) -> Callable[[random.Random], str]:
    """Return a source of lines over a handful of fragments and one heading."""
    few = [_fragment(rng) for _ in range(rng.randint(2, 6))] + ["# h", "", "text"]

    def line(rng: random.Random) -> str:
        fragment = rng.choice(few)
        return fragment if rng.random() < 0.6 else _prefixes(rng, 2) + fragment

    return line


def _few_prefixes(rng: random.Random) -> Callable[[random.Random], str]:
    """Return a source of lines over a handful of prefixes, so that containers go on from line to line."""
    few = [_prefixes(rng, 3) for _ in range(rng.randint(1, 3))] + ["", "  ", "    "]

    def line(rng: random.Random) -> str:
        return rng.choice(few) + (_fragment(rng) if rng.random() < 0.9 else "# h")

    return line
