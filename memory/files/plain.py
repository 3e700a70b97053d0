"""What is read in another form than the plain one, of every memory file, and the edit that writes it plainly."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from memory.base.problems import Problem
from memory.document.lines import decode, split_lines
from memory.document.model import Document
from memory.errors import UsageError

from . import MEMORY_FILES
from .config import config_findings
from .contacts.model import contact_findings, plain_contacts
from .dress import READ, UNREAD_CODES, LineFinding, entry_findings, plain_entries
from .edit import Edit
from .entry_checks import (
    config_problems,
    contact_problems,
    journal_problems,
    knowledge_problems,
    monitor_file_problems,
    plan_file_problems,
    task_problems,
)
from .journal.reading import journal_findings, plain_journal
from .knowledge.model import knowledge_findings, plain_knowledge
from .monitors import monitor_findings
from .plans.model import SCHEMA as PLANS
from .snapshot import Snapshot, kind_of
from .tasks.reading import plain_tasks, task_findings


class FileKind(NamedTuple):
    """What `check` and `check --fix` do with a kind of file: what finds the lines that are not plain, what is wrong
    with its entries, and what writes it plainly (None: such lines are only told).
    """

    findings: Callable[[Document], Iterable[LineFinding]]
    problems: Callable[[Snapshot, str, Document], Iterable[Problem]]
    plain: Callable[[Document], Document] | None = None


KINDS = {
    "tasks": FileKind(task_findings, task_problems, plain_tasks),
    "journal": FileKind(journal_findings, journal_problems, plain_journal),
    "knowledge": FileKind(knowledge_findings, knowledge_problems, plain_knowledge),
    "contacts": FileKind(contact_findings, contact_problems, plain_contacts),
    "plans": FileKind(partial(entry_findings, schema=PLANS), plan_file_problems, partial(plain_entries, schema=PLANS)),
    "monitors": FileKind(monitor_findings, monitor_file_problems),
    "config": FileKind(config_findings, config_problems),
}


def kind_of_file(name: str) -> FileKind | None:
    """Return the kind of a memory file or of an archive; None for other files."""
    return KINDS.get(kind_of(name) or name.removesuffix(".md"))


def line_findings(name: str, document: Document) -> list[LineFinding]:
    """Return what was found in the lines of a file that are not plain; lines count from 0."""
    kind = kind_of_file(name)
    return [] if kind is None else list(kind.findings(document))


_LONGEST = 2000
"""The most characters of a section that is not read."""


class UnreadLine(NamedTuple):
    """A line that nothing reads, for a row of a pane: the section it is in ("" for none), its text, `line` from 0.

    Of a section that is not read `line` is that of its heading, and the text what is below it.
    """

    heading: str
    title: str
    line: int


def unread_lines(name: str, document: Document) -> tuple[UnreadLine, ...]:
    """Return the lines of a file that no entry, list, table or setting takes, in file order."""
    found = sorted({one.line for one in line_findings(name, document) if one.code in UNREAD_CODES})
    lines = [line.strip() for line, _ in split_lines(decode(document.dump()))] if found else []
    headings = document.headings()
    titles = {line: title for line, _, title in headings}
    sections = {line: title for line, level, title in headings if level < 3}
    starts, tops = [*titles, len(lines)], [*sections]
    unread = []
    for line in found:
        text = titles.get(line, lines[line])
        if line in sections:
            end = starts[bisect_right(starts, line)]
            text = " ".join(filter(None, lines[line + 1 : end]))[:_LONGEST]
        above = bisect_right(tops, line)
        unread.append(UnreadLine(sections[tops[above - 1]] if above else "", text, line))
    return tuple(unread)


def write_plainly(snapshot: Snapshot, names: Sequence[str] | None = None) -> Edit:
    """Write what is read in another form in its plain form, in some files or in all; what is only told stays.

    Reading the files gives the same entries before and after. A file that cannot be read is left out, and so is one in
    which an unclosed code fence would swallow what is written.
    """
    looked = snapshot.readable()
    documents = {}
    for name in names or (*MEMORY_FILES, *snapshot.archive_names):
        kind, document = kind_of_file(name), looked.found(name)
        if kind is None or kind.plain is None or document is None:
            continue
        if not any(one.code == READ for one in kind.findings(document)):
            continue
        with suppress(UsageError):
            plain = kind.plain(document)
            if plain.dump() != document.dump():
                documents[name] = plain
    count = len(documents)
    return Edit(documents, f"wrote {count} {'file' if count == 1 else 'files'} in the plain form")
