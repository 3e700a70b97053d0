"""Finds what is wrong in the memory files, in one pass over each: structure, dates, crons, plans, links, settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from itertools import chain
from operator import attrgetter

from memory.base.problems import Level, Problem
from memory.base.sync_copies import copy_problem, original_of
from memory.document import Document, Section
from memory.document.check import structure_problems
from memory.document.lines import split_lines
from memory.document.tables import Table
from memory.storage.safe_open import Unlisted

from . import ARCHIVE_KINDS, MEMORY_FILES
from .config import meant_key, unknown_key_words
from .config import value_problem as config_problem
from .edit import secret_problems
from .entry_checks import (
    date_problem,
    journal_problems,
    knowledge_problems,
    monitor_file_problems,
    plan_file_problems,
    task_problems,
)
from .links import link_problems
from .plain import line_findings
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
    found += [Problem(one.level, name, one.line + 1, one.code, one.message) for one in line_findings(name, document)]
    kind = name.removesuffix(".md") if not name.startswith("archive/") else name[8:].split("-")[0]
    rule = _RULES.get(kind)
    if rule is not None:
        found += rule(snapshot, name, document)
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


def _contacts(snapshot: Snapshot, name: str, document: Document) -> Iterator[Problem]:
    for person in snapshot.contacts.people:
        if person.plain:
            message = f"{person.name[:40]!r} is not written as **Name** (Role): text"
            yield Problem("warning", name, person.line + 1, "contact.form", message)
    for index, section in enumerate(document.sections):
        tables = section.tables
        yield from _table_problems(name, document.line_of(index) + 2, section, tables)
        for table in tables:
            for row in table.rows:
                if len(row.cells) > len(table.header):
                    line = document.line_of(index) + 2 + row.line
                    yield Problem(
                        "warning", name, line, "contact.cells", "the row has more cells than the table columns"
                    )


def _table_problems(name: str, top: int, section: Section, tables: Sequence[Table]) -> Iterator[Problem]:
    """Yield a warning where a section of channels or routes has rows outside a table, or a table without names."""
    need = _NEED.get(section.name)
    if need is None:
        return
    if not tables:
        number = next((at for at, (line, _) in enumerate(split_lines(section.body)) if "|" in line), None)
        if number is not None:
            message = (
                f"no table is here: it needs a header, a row of dashes with as many cells, and no fence ({need}, …)"
            )
            yield Problem("warning", name, top + number, "contact.table", message)
    elif all(table.column(need) is None for table in tables):
        message = f"the table has no column {need}"
        yield Problem("warning", name, top + tables[0].line, "contact.column", message)
    for table in tables:
        names = [title.casefold() for title in table.header if title]
        if len(set(names)) != len(names):
            message = "two columns have the same name; the first counts"
            yield Problem("warning", name, top + table.line, "contact.column", message)


def _config(snapshot: Snapshot, name: str, document: Document) -> Iterator[Problem]:
    config = snapshot.config
    doubtful = config.doubtful
    yield from (Problem("error", name, line + 1, "config.malformed", words) for line, _, words in doubtful)
    said = {line for line, _, _ in doubtful}
    again = set(map(id, config.duplicates))
    # Two in one section are already reported as duplicate fields.
    found = {line for line, code, _ in structure_problems(document) if code == "field.twice"} if again else set()
    for setting in config.settings:
        if id(setting) in again:
            if setting.line in found:
                continue
            first = config.setting(setting.key)
            message = f"{setting.key} stands in line {first.line + 1 if first else 0} too; the first counts"
            yield Problem("warning", name, setting.line + 1, "config.twice", message)
            continue
        wrong = config_problem(setting.key, setting.value)
        if wrong is not None:
            yield Problem("error", name, setting.line + 1, "config.value", wrong)
        elif setting.line not in said and (meant := meant_key(setting.key, _MISSPELLED)) is not None:
            words = unknown_key_words(setting.key, meant)
            yield Problem("warning", name, setting.line + 1, "config.unknown_key", words)


_Rule = Callable[["Snapshot", str, Document], Iterable[Problem]]
_RULES: dict[str, _Rule] = {
    "tasks": task_problems,
    "journal": journal_problems,
    "knowledge": knowledge_problems,
    "contacts": _contacts,
    "monitors": monitor_file_problems,
    "config": _config,
    "orchestration": plan_file_problems,
}
_MISSPELLED = 0.93
"""The likeness to a known setting from which an unknown one counts as a misspelling."""
_NEED = {"channels": "Name", "message routes": "Channel", "routes": "Channel"}

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
