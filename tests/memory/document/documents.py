"""What the tests of the document share: strategies, a naive reading of structure, and line lists."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from memory.document import Document, parse
from memory.document.lines import has_lone_cr
from tests.examples import wanted
from tests.strategies import markdown_documents

EXAMPLES = wanted(300)
_PIECES = (
    b"# a", b"## A", b"## B (last 7 days)", b"### T", b"### [HIGH] T ##", b"#### deep", b"##", b"###", b"- due: 1",
    b"- due: 2", b"- notes:", b"- notes: text", b"  more", b"\tmore", b"  ## in", b"* bullet: x", b"- key:value",
    b"-key: v", b"- [ ] box", b"-", b"```", b"````", b"~~~", b"```sh", b"``` x`", b"  ```", b"- ```", b"> ```",
    b"<!--", b"-->", b"<div>", b"</div>", b"<b>", b"<pre>", b"</pre>", b"  <div>", b"- <!--", b"<?", b"?>", b"[a]: /u",
    b"'t", b"| a | b |", b"|---|---|", b"| 1 | 2 |", b"---", b"...", b"--- ", b"type: x", b"a: [", b"=======",
    b"<<<<<<< a", b">>>>>>> b", b"text", b"more text", b"text", b"\xef\xbb\xbf", b"\xff\xfe", b"caf\xc3\xa9", b"\xc3",
    b"\0", b"\x0b", b"1) x", b"\x0c## x", b"\xe2\x80\xa8## x", b"\xc2\x85", b"    code", b"    ## x",
    b"1. one", b"> q", b"- - - x",
)  # fmt: skip
_ENDS = (b"\n", b"\n", b"\n", b"\n", b"\r\n", b"\r\n", b"\r", b"\n\n", b"\n\n", b"", b" \n", b"\n \n")
_TOPS = (
    b"",
    b"",
    b"---\n",
    b"---\ntype: x\n---\n",
    b"---\r\na: 1\r\n---\r\n",
    b"\xef\xbb\xbf",
    b"\xef\xbb\xbf---\n---\n",
)


def byte_strings(most: int = 24) -> st.SearchStrategy[bytes]:
    """Return byte strings that are rich in structure, with every line end and stray bytes between."""
    piece = st.one_of(
        st.sampled_from(_PIECES), st.sampled_from(_PIECES), st.sampled_from(_PIECES), st.binary(max_size=3)
    )
    line = st.tuples(piece, st.sampled_from(_ENDS)).map(b"".join)
    body = st.lists(line, max_size=most).map(b"".join)
    return st.tuples(st.sampled_from(_TOPS), body).map(b"".join)


def documents() -> st.SearchStrategy[bytes]:
    """Return structured bytes and generated Markdown in turn."""
    return st.one_of(byte_strings(), byte_strings(), markdown_documents().map(lambda text: text.encode()))


def structure(document: Document) -> tuple[object, ...]:
    """Return all that a reader sees: headings, sources, bodies and fields of every part, and the open end."""
    parts = []
    for index, section in document.all_sections():
        entries = [(entry.raw, entry.title, entry.body, list(entry.fields.items())) for entry in section.entries]
        lines = [document.line_of(index), *[document.line_of(index, number) for number in range(len(section))]]
        parts.append((section.level, section.title, section.heading, section.lead, entries, lines))
    return document.bom, document.front_raw, document.headings(), parts, document.open_end


def lines_of(data: bytes) -> list[bytes]:
    """Return the lines of a source with their line ends."""
    return re.findall(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z", data)


def check_again(document: Document) -> None:
    """Parse the dump again: it says what the edited document says."""
    assert structure(parse(document.dump())) == structure(document)


def check_around(before: bytes, after: bytes, first: int, stop: int) -> None:
    """All lines before `first` and from `stop` on are as they were; a last line may have got its line end."""
    old, new = (lines_of(data.removeprefix(b"\xef\xbb\xbf")) for data in (before, after))
    if old and first == len(old) < len(new) and new[first - 1].rstrip(b"\r\n") == old[-1]:
        old[-1] = new[first - 1]
    if has_lone_cr(before):
        # Where a line goes from between a carriage return and a line feed, the blank line stays, not its form.
        old, new = ([line.rstrip(b"\r\n") for line in lines] for lines in (old, new))
    assert old[:first] == new[:first]
    assert old[stop:] == new[len(new) - (len(old) - stop) :]
