"""Finds what is wrong in the memory files, in one pass over each: structure, dates, crons, plans, links, settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, tzinfo
from itertools import chain
from operator import attrgetter

from memory.base.problems import Level, Problem
from memory.base.sync_copies import copy_problem, original_of
from memory.document import Document
from memory.document.check import structure_problems
from memory.storage.safe_open import Unlisted

from . import ARCHIVE_KINDS, MEMORY_FILES
from .edit import secret_problems
from .links import link_problems
from .plain import date_problem, kind_of_file
from .snapshot import Snapshot
from .templates import TYPES

_WARNINGS = frozenset(
    {
        *("document.nul", "document.twin_section", "document.heading", "document.mark", "field.twice"),
        "front.duplicate",
    }
)
_PROSE = ("journal", "knowledge")
"""Files whose entries are text: a list in them may have several lines that begin with `Overdue:`."""

_BY_PLACE = attrgetter("file", "line", "code", "message")

_EACH: dict[str, tuple[Document, tzinfo, tuple[Problem, ...]]] = {}
"""The last findings of each file, with its document and the workspace's zone."""


def check_files(snapshot: Snapshot, names: Iterable[str] | None = None) -> tuple[Problem, ...]:
    """Return all findings, sorted by file and line; with `names`, only those of these files.

    Errors: text that does not parse or loses its meaning. Warnings: dangling and duplicate links, unusual forms. Notes:
    missing optional keys, unused links, missing files. A file that cannot be read, or that is a folder or a pipe, is an
    error of that file.
    """
    snapshot = snapshot.readable()
    beside = tuple(neighbour_problems(snapshot))
    if names is not None:
        wanted = list(names)
        found = [one for name in wanted for one in _check_file(snapshot, name, snapshot.found(name))]
        found += [one for one in beside if one.file in wanted]
        found += [one for one in link_problems(snapshot) if one.file in wanted]
        return _sorted(found)
    every = (*MEMORY_FILES, *snapshot.archive_names)
    each = chain.from_iterable([_check_file(snapshot, name, snapshot.found(name)) for name in every])
    return _sorted([*each, *link_problems(snapshot), *beside])


def _sorted(found: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(dict.fromkeys(found), key=_BY_PLACE))


def _check_file(snapshot: Snapshot, name: str, document: Document | None) -> tuple[Problem, ...]:
    """Return the findings of one file, computed once per document."""
    if document is None:
        refusal = snapshot.refused(name)
        if refusal is not None:
            return (Problem("error", name, 0, refusal.code, refusal.message),)
        level: Level = "note" if name in MEMORY_FILES else "error"
        return (Problem(level, name, 0, "file.missing", f"there is no {name}"),)
    zone, known = snapshot.zone, _EACH.get(name)
    if known is None or known[0] is not document or known[1] != zone:
        known = _EACH[name] = (document, zone, tuple(_document_problems(snapshot, name, document)))
    return known[2]


def _document_problems(snapshot: Snapshot, name: str, document: Document) -> list[Problem]:
    found = [*_structure(name, document), *secret_problems(name, document)]
    if (kind := kind_of_file(name)) is not None:
        found += [one.of(name) for one in kind.findings(document)]
        found += kind.problems(snapshot, name, document)
    return found


def _structure(name: str, document: Document) -> Iterator[Problem]:
    prose = name.removeprefix("archive/").startswith(_PROSE)
    for line, code, message in structure_problems(document, fields=not prose):
        yield Problem("warning" if code in _WARNINGS else "error", name, line + 1, code, message)
    if document.joined() != document.dump():
        yield Problem("error", name, 0, "document.round_trip", "the parts do not give the file's bytes back")
    wanted = TYPES.get(name) or TYPES.get(name.rpartition("/")[0] + "/" + name.rpartition("/")[2].split("-")[0])
    if not document.front_raw or wanted is None:
        if wanted is not None:
            yield Problem("note", name, 1, "front.missing", "the file has no front matter")
        return
    meta = document.meta
    if meta.opaque:
        return
    said = meta.get("type")
    if said is None:
        yield Problem("note", name, 1, "front.type_missing", f"the front matter has no type; it would be {wanted}")
    elif said != wanted:
        line = (meta.line_of("type") or 0) + 1
        yield Problem("warning", name, line, "front.type", f"the type is {said[:40]!r}, this file is a {wanted}")
    wrong = date_problem(meta.get("updated") or "", UTC)
    if wrong:
        yield Problem("error", name, (meta.line_of("updated") or 0) + 1, "front.updated", wrong)


# -- other files beside the memory files: copies left by a sync, archives under other names, dangling links ----------

_ARCHIVE = re.compile(rf"(?:{'|'.join(ARCHIVE_KINDS)})-[0-9]{{4}}-(?:0[1-9]|1[0-2])\.md")
_EVICTED = re.compile(r"\.(?P<name>[a-z]+\.md)\.icloud")
_SWAP = re.compile(r"\.(?P<name>[a-z]+\.md)\.sw[a-p]|\.#(?P<other>[a-z]+\.md)|#(?P<saved>[a-z]+\.md)#")


def neighbour_problems(snapshot: Snapshot) -> Iterator[Problem]:
    """Yield what is wrong with the folders and the other files in them; needs a `readable` snapshot."""
    folder = snapshot.folder
    if folder is None:
        return
    if isinstance(folder.names, Unlisted):
        yield Problem("error", ".", 0, folder.names.code, f"the memory folder is {folder.names.what}")
    else:
        for name in folder.names:
            if name not in MEMORY_FILES:
                yield from _beside(name)
            elif snapshot.found(name) is None and snapshot.refused(name) is None:
                yield Problem("error", name, 0, "file.link_dangling", f"{name} is a link to nothing")
    if isinstance(folder.archive, Unlisted):
        message = f"archive is {folder.archive.what}: nothing is read from it or moved to it"
        yield Problem("error", "archive", 0, folder.archive.code, message)
        return
    for name in folder.archive:
        shown, original = f"archive/{name}", original_of(name, _ARCHIVE.fullmatch)
        if original is not None:
            yield copy_problem(shown, f"archive/{original}")
        elif name.endswith(".md") and name[0] != "." and not _ARCHIVE.fullmatch(name):
            message = "no name of an archive, which is such as tasks-2024-01.md: nothing is ever moved into it"
            yield Problem("warning", shown, 0, "file.archive_name", message)


def _beside(name: str) -> Iterator[Problem]:
    """Yield what is wrong with another file in the memory folder than the seven."""
    original = original_of(name, lambda one: one.lower() in MEMORY_FILES)
    if original is not None:
        yield copy_problem(name, original)
    elif (found := _EVICTED.fullmatch(name)) is not None and found["name"] in MEMORY_FILES:
        message = f"{found['name']} was moved into the cloud; this is what is left of it here"
        yield Problem("error", name, 0, "file.evicted", message)
    elif (found := _SWAP.fullmatch(name)) is not None:
        file = found["name"] or found["other"] or found["saved"]
        if file in MEMORY_FILES:
            yield Problem("note", name, 0, "file.swap", f"an editor has {file} open, or ended without saving it")
    elif name.strip().casefold() in MEMORY_FILES:
        message = f"not {name.strip().casefold()}, whose name differs in case or blanks: nothing reads it"
        yield Problem("warning", name, 0, "file.similar_name", message)
