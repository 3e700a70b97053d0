"""The findings of `check` about the folders of clients, and what mends their indexes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from memory.base.problems import Problem
from memory.base.secrets import secret_lines
from memory.base.values import alike
from memory.clients.folders import ClientFolder
from memory.clients.index import line_for, links_of, orphans
from memory.clients.memories import MOST_FILES, TYPES, ClientMemory
from memory.clients.sources import INDEX
from memory.search.records import Record

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
