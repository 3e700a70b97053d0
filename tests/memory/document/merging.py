"""What the tests of merging share: three versions of a file by random edits, and the count of lines."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from hypothesis import strategies as st

from memory.document import Document, parse
from memory.document.merge import MergeResult, merge
from memory.document.model import BOM
from tests.memory.document.documents import documents, lines_of

KINDS = ("tasks", "journal", "knowledge", "contacts", "plans", "monitors", "config")
_TITLES = ("a", "b", "[HIGH] a", "[LOW] c", "10:30 — a", "09:00 — b", "d")
_LINES = (
    "- due: 1", "- due: 2", "- notes: x", "- notes: x\n  more", "- created: 1", "- created: 2", "- completed: 3",
    "- lastCheck: 2024-01-15 10:30", "- lastCheck: 2024-01-15 10:40", "- lastStatus: up", "- lastStatus: down",
    "text", "other text", "- bullet", "* star", "", "```\ncode\n```", "```\nother\n```", "<!--\n### x\n-->",
    "| ID | V |\n|---|---|\n| 1 | x |\n| 2 | y |", "| ID | V |\n|---|---|\n| 1 | z |\n| 3 | y |", "    code",
)  # fmt: skip
_SECTIONS = ("Pending", "In Progress", "Completed (last 7 days)", "2024-01-15", "2024-01-14")
_FRONTS = (
    "", "---\ntype: x\nupdated: 2024-01-15T10:30:00Z\n---\n", "---\ntype: x\nupdated: 2024-01-15T11:30:00Z\n---\n",
    "---\ntype: y\nupdated: 2024-01-15T10:30:00Z\n# note\n---\n", "---\na: [1,\n---\n",
)  # fmt: skip
_LATER = re.compile(rb"-?\s*(?:updated|lastCheck|lastUpdate|lastStatus):")


@st.composite
def files(draw: st.DrawFn) -> list[list[str]]:
    """Return a file as a list of units: front matter, section headings, entries, each a text."""
    units = [[draw(st.sampled_from(_FRONTS))]]
    for title in draw(st.lists(st.sampled_from(_SECTIONS), max_size=3)):
        units.append([f"## {title}", *draw(st.lists(st.sampled_from(_LINES), max_size=3))])
        for name in draw(st.lists(st.sampled_from(_TITLES), max_size=4)):
            units.append([f"### {name}", *draw(st.lists(st.sampled_from(_LINES), max_size=4))])
    return units


@st.composite
def edited(draw: st.DrawFn, units: list[list[str]]) -> list[list[str]]:
    """Return a file after a few edits: lines and units put in, taken out, changed and moved."""
    units = [list(unit) for unit in units]
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(units) - 1))
        unit = units[at]
        match draw(st.integers(0, 6)):
            case 0 if at:
                unit.insert(draw(st.integers(1, len(unit))), draw(st.sampled_from(_LINES)))
            case 1 if len(unit) > 1:
                del unit[draw(st.integers(1, len(unit) - 1))]
            case 2 if len(unit) > 1:
                unit[draw(st.integers(1, len(unit) - 1))] = draw(st.sampled_from(_LINES))
            case 3 if at:
                units.append(units.pop(at))
            case 4 if at:
                del units[at]
            case 5:
                units.insert(at + 1, [f"### {draw(st.sampled_from(_TITLES))}", draw(st.sampled_from(_LINES))])
            case 6 if not at:
                units[0] = [draw(st.sampled_from(_FRONTS))]
            case _:
                units.append(["## " + draw(st.sampled_from(_SECTIONS))])
    return units


def written(units: list[list[str]], newline: str = "\n", blank: bool = False) -> bytes:
    """Return the bytes of a file in units."""
    text = units[0][0] + "".join("".join(f"{line}\n" for line in [*unit, *[""] * blank]) for unit in units[1:])
    return text.replace("\n", newline).encode()


@st.composite
def three(draw: st.DrawFn, any_bytes: bool = True) -> tuple[bytes, bytes, bytes]:
    """Return base, ours and theirs: edits of one file, or any bytes."""
    if any_bytes and draw(st.integers(0, 4)) == 0:
        one, two = draw(documents()), draw(documents())
        cut = draw(st.integers(0, len(one)))
        return one, one[:cut] + two, draw(st.sampled_from([two + one[cut:], one + two, draw(documents())]))
    base = draw(files())
    newline, blank = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"])), draw(st.booleans())
    versions = [base, draw(edited(base)), draw(edited(base))]
    sources = [written(units, newline, blank) for units in versions]
    if draw(st.integers(0, 9)) == 0:
        sources[1] = written(versions[1], "\r\n", blank)
    if draw(st.integers(0, 9)) == 0:
        sources[2] = sources[2].rstrip()
    return sources[0], sources[1], sources[2]


def merged(base: bytes, ours: bytes, theirs: bytes, kind: str = "tasks", **how: Any) -> MergeResult:
    """Return the merge of bytes."""
    return merge(parse(base), parse(ours), parse(theirs), kind, **how)


def counted(*sources: bytes) -> Counter[bytes]:
    """Count the lines that are not blank, without space and without those of which only the later one stays."""
    lines = (re.sub(rb"\s", b"", line) for data in sources for line in lines_of(data.replace(BOM, b"")))
    return Counter(line for line in lines if line and not _LATER.match(line))


def text_of(document: Document) -> str:
    """Return the text of a document."""
    return document.dump().decode("utf-8", "surrogateescape")
