"""`MEMORY.md`, the index of a client's folder: what of it the client loads; and the findings of `check`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from memory.base.problems import Problem
from memory.base.secrets import secret_lines
from memory.base.values import alike
from memory.clients.memories import MOST_FILES, TYPES, ClientMemory, one_line, without_code
from memory.clients.sources import INDEX
from memory.document.lines import decode, encode, newline_of
from memory.search.records import Record

if TYPE_CHECKING:
    from memory.clients.folders import ClientFolder

MOST_LINES, MOST_BYTES = 200, 25_000
"""How much of an index Claude Code loads: whichever is reached first."""
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(<?([^()<>\s]{1,1000}\.md)>?(?:#[^()\s]{0,200})?\)")
_NO_LINK = re.compile(r"[\s()<>%]")
"""A character of a file name that a link cannot hold as it is."""
_ENTRY = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+[*_]*\[")
"""The beginning of a line that is only about one memory."""
_NEAR = 0.9
"""From which share of the limits an index is nearly full."""


@dataclass(frozen=True, slots=True)
class IndexLink:
    """One link of an index: the file that it names, relative to the index, its title, and its line from 0.

    `entry` says that the line is only about that memory.
    """

    file: str
    title: str
    line: int
    entry: bool


@dataclass(frozen=True, slots=True)
class Gauge:
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


_FIX = "`memdeck check --fix`"
_SHORTEST = 40
"""Letters from which equal texts are copies of each other, not chance."""


class Mend(NamedTuple):
    """The repair of one index: the lines to add, the files whose lines go, what this settles, and what stays."""

    folder: ClientFolder
    path: str
    lines: tuple[str, ...]
    dead: tuple[str, ...]
    problems: tuple[Problem, ...]
    left: tuple[Problem, ...]


def problems_in(folders: Sequence[ClientFolder], others: Sequence[Record]) -> Iterator[Problem]:
    """Yield the findings about folders; `others` are the records of other systems, for copies."""
    for folder in folders:
        if len({*folder.files, *folder.indexes, *folder.refused}) >= MOST_FILES:
            words = f"only the first {MOST_FILES:,} files of the folder are read"
            yield Problem("warning", folder.source.shown, 0, "clients.too_many", words)
        for path, error in folder.refused.items():
            yield Problem("warning", folder.shown(path), 0, error.code, error.message)
        for path, one in folder.gauges.items():
            if one.state != "ok":
                over = one.state == "over"
                code = f"clients.index_{one.state}"
                line = one.loaded + 1 if over else 0
                yield Problem("warning" if over else "note", folder.shown(path), line, code, one.words())
        for mend in mends_of(folder):
            yield from (*mend.problems, *mend.left)
        names: dict[str, set[str]] = {}
        for memory in folder.memories if folder.source.indexed else ():
            top, _, name = memory.path.rpartition("/")
            names.setdefault(top, set()).update((_plain(name), _plain(memory.title)))
        for memory in folder.memories:
            yield from _of_memory(memory, names.get(memory.path.rpartition("/")[0]))
    yield from _copies(folders, others)


def mends_of(folder: ClientFolder) -> Iterator[Mend]:
    """Yield what would mend the indexes of a folder, those that need it."""
    known = {*folder.files, *folder.indexes, *folder.refused}
    tops = {path.rpartition("/")[0] for path in folder.files} if folder.source.indexed else set()
    for top in sorted(tops | {path.rpartition("/")[0] for path in folder.indexes}):
        index = f"{top}/{INDEX}" if top else INDEX
        # The files of an inner folder without an index of its own are the business of the one above.
        if index not in folder.indexes and not folder.source.is_top(top):
            continue
        beside = folder.beside(index)
        text = folder.indexes[index].text if index in folder.indexes else ""
        shown, found = folder.shown(index), list[Problem]()
        loose = orphans(beside, text, (one.body for one in beside.values()))
        for name in loose:
            words = f"{index} does not list it, so the client does not find it; {_FIX} adds the line"
            found.append(Problem("warning", folder.shown(beside[name].path), 0, "clients.orphan", words))
        links, left = links_of(text), list[Problem]()
        dead = {link: None for link in links if _is_dead(folder, known, index, link.file)}
        alive = {link.line for link in links if link not in dead}
        for link in dead:
            mended = link.entry and link.line not in alive
            words = f"{link.file} is not there" + (f"; {_FIX} removes the line" if mended else "")
            told = Problem("warning", shown, link.line + 1, "clients.dead_link", words)
            (found if mended else left).append(told)
        if found or left:
            lines = tuple(line_for(beside[name], name) for name in loose)
            yield Mend(folder, index, lines, tuple(link.file for link in dead), tuple(found), tuple(left))


def _is_dead(folder: ClientFolder, known: Collection[str], index: str, file: str) -> bool:
    """Return whether a link of an index leads nowhere; one that leads out of the folder is not looked at."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(index), file))
    return not path.startswith(("../", "/")) and path not in known and not (folder.source.root / path).exists()


def _of_memory(memory: ClientMemory, names: Collection[str] | None) -> Iterator[Problem]:
    """Yield the secrets of a memory, and its links to none of `names`, those beside it; None: links mean nothing."""
    for line, kind in secret_lines(memory.text):
        yield Problem("warning", memory.file, line + 1, "content.secret", f"it contains what looks like a {kind}")
    for name, line in memory.links:
        if names is not None and _plain(name) not in names:
            words = f"[[{name[:60]}]] is not the name of a memory"
            yield Problem("note", memory.file, line + 1, "clients.dead_name", words)


def _plain(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", name.casefold().removesuffix(".md")).strip("-")
    return re.sub(rf"^(?:{'|'.join(TYPES)})-", "", plain)


def _copies(folders: Sequence[ClientFolder], others: Sequence[Record]) -> Iterator[Problem]:
    """Yield the memories that say the same as an earlier one, of another folder or another system."""
    known: dict[str, str] = {}
    for record in others:
        for said in (record.text, record.title):
            if len(key := alike(said)) >= _SHORTEST:
                known.setdefault(key, f"{record.file}:{record.line + 1}")
    for folder in folders:
        for memory in folder.memories:
            key = alike(memory.body)
            if len(key) < _SHORTEST:
                continue
            if key in known:
                words = f"it says the same as {known[key]}"
                yield Problem("note", memory.file, 0, "clients.copy", words)
            known.setdefault(key, memory.file)
