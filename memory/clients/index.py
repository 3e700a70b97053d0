"""`MEMORY.md`, the index of a client's folder: what of it the client loads, and edits of its lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from memory.clients.memories import ClientMemory, one_line, without_code
from memory.clients.sources import INDEX
from memory.document.lines import decode, encode, newline_of

MOST_LINES, MOST_BYTES = 200, 25_000
"""How much of an index Claude Code loads: whichever is reached first."""
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(<?([^()<>\s]{1,1000}\.md)>?(?:#[^()\s]{0,200})?\)")
_NO_LINK = re.compile(r"[\s()<>%]")
"""A character of a file name that a link cannot hold as it is."""
_ENTRY = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+[*_]*\[")
"""The beginning of a line that is only about one memory."""
_NEAR = 0.9
"""From which share of the limits an index is nearly full."""


class IndexLink(NamedTuple):
    """One link of an index: the file that it names, relative to the index, its title, and its line from 0.

    `entry` says that the line is only about that memory.
    """

    file: str
    title: str
    line: int
    entry: bool


class Gauge(NamedTuple):
    """How full an index is: its lines and bytes, how many lines are loaded, and the titles that fall off."""

    lines: int
    size: int
    loaded: int
    lost: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """How much of the tighter limit is used; over 1 something falls off."""
        return max(self.lines / MOST_LINES, self.size / MOST_BYTES)

    @property
    def state(self) -> str:
        """`over`, `near` or `ok`."""
        return "over" if self.loaded < self.lines else "near" if self.share >= _NEAR else "ok"

    def words(self) -> str:
        """Return it in words."""
        words = f"{self.lines:,} of {MOST_LINES} lines, {self.size / 1000:.1f} of {MOST_BYTES / 1000:.0f} KB"
        if not self.lost:
            return words
        more = f" and {len(self.lost) - 3} more" if len(self.lost) > 3 else ""
        return f"{words}; not loaded: {', '.join(self.lost[:3])}{more}"

    def json(self) -> dict[str, object]:
        """Return it for programs."""
        return {
            "lines": self.lines,
            "bytes": self.size,
            "loaded": self.loaded,
            "state": self.state,
            "not_loaded": list(self.lost),
        }


def links_of(text: str) -> tuple[IndexLink, ...]:
    """Return the links to Markdown files in an index, addresses and code left out."""
    return tuple(
        IndexLink(unquote(found[2]).removeprefix("./"), one_line(found[1]), number, bool(_ENTRY.match(line)))
        for number, line in enumerate(without_code(text).splitlines())
        for found in _LINK.finditer(line)
        if "://" not in found[2]
    )


def holds_text(text: str) -> bool:
    """Return whether an index holds anything besides headings and links: then it is a memory itself."""
    linked = {link.line for link in links_of(text)}
    lines = enumerate(text.splitlines())
    return any(line.strip() and not line.startswith("#") and number not in linked for number, line in lines)


def gauge(data: bytes) -> Gauge:
    """Return how much of an index the client loads; a line counts as loaded if it is whole within both limits."""
    lines = data.splitlines(keepends=True)
    size = loaded = 0
    for line in lines[:MOST_LINES]:
        size += len(line)
        if size > MOST_BYTES:
            break
        loaded += 1
    rest = b"".join(lines[loaded:]).decode(errors="replace")
    said = [link.title or link.file for link in links_of(rest)]
    lost = said or [one_line(line)[:60] for line in rest.splitlines() if line.strip()]
    return Gauge(len(lines), len(data), loaded, tuple(lost))


def line_for(memory: ClientMemory, name: str) -> str:
    """Return the line of an index for a memory: `- [Title](file.md) — description`."""
    title = _bracketless(memory.title)
    hook = memory.description or next(
        (one_line(line).lstrip("#> *") for line in memory.body.splitlines() if line.strip(" #\r")), ""
    )
    return f"- [{title}]({_NO_LINK.sub(lambda one: quote(one[0]), name)})" + (f" — {hook[:150]}" if hook else "")


def with_lines(data: bytes, lines: Sequence[str]) -> bytes:
    """Return an index with lines added behind its last link, or at its end; every other byte stays."""
    if not lines:
        return data
    text, newline = decode(data), newline_of(data)
    kept = text.splitlines(keepends=True)
    known = links_of(text)
    at = known[-1].line + 1 if known else len(kept)
    if at and not kept[at - 1].endswith(("\n", "\r")):
        kept[at - 1] += newline
    return encode("".join([*kept[:at], *(line + newline for line in lines), *kept[at:]]))


def without(data: bytes, files: Collection[str]) -> bytes:
    """Return an index without the entries whose only links are to these files; sentences that name one stay."""
    text = decode(data)
    kept = text.splitlines(keepends=True)
    of_line: dict[int, list[str]] = {}
    for link in (link for link in links_of(text) if link.entry):
        of_line.setdefault(link.line, []).append(link.file)
    gone = {at for at, named in of_line.items() if set(named) <= set(files)}
    return encode("".join(line for at, line in enumerate(kept) if at not in gone))


def with_words(data: bytes, file: str, title: str | None, hook: str | None) -> bytes:
    """Return an index in which the line that names only this file has another title, other words behind it, or both."""
    text = decode(data)
    kept = text.splitlines(keepends=True)
    here = {link.line for link in links_of(text) if link.file == file}
    if len(here) == 1 and sum(link.line in here for link in links_of(text)) == 1:
        (at,) = here
        line = kept[at].rstrip("\r\n")
        found = _LINK.search(line)
        assert found is not None
        link = found[0] if title is None else f"[{_bracketless(title)}]({found[2]})"
        rest = line[found.end() :] if hook is None else f" — {one_line(hook)}" if hook else ""
        kept[at] = line[: found.start()] + link + rest + kept[at][len(line) :]
    return encode("".join(kept))


def _bracketless(title: str) -> str:
    return one_line(title).replace("[", "(").replace("]", ")")


def orphans(files: Iterable[str], index: str, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the files in the folder of an index, none of inner ones, that neither it nor another memory names."""
    named = {link.file for link in links_of(index)}
    loose = [name for name in files if name not in named and "/" not in name and name != INDEX]
    if not loose:
        return ()
    said = "\n".join((index, *texts))
    return tuple(name for name in loose if name not in said and f"[[{name.removesuffix('.md')}]]" not in said)
