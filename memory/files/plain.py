"""What is read in another form than the plain one, of every memory file, and the edit that writes it plainly."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from memory.document.lines import decode, split_lines
from memory.document.model import Document
from memory.errors import UsageError

from . import MEMORY_FILES
from .config import config_findings
from .contacts.model import contact_findings, plain_contacts
from .dress import READ, UNREAD_CODES, LineFinding, entry_findings, plain_entries
from .edit import Edit
from .journal.reading import journal_findings, plain_journal
from .knowledge.model import knowledge_findings, plain_knowledge
from .monitors import monitor_findings
from .plans.model import SCHEMA as PLANS
from .snapshot import Snapshot, kind_of
from .tasks.reading import plain_tasks, task_findings

FINDINGS: dict[str, Callable[[Document], Iterator[LineFinding]]] = {
    "tasks": task_findings,
    "journal": journal_findings,
    "knowledge": knowledge_findings,
    "contacts": contact_findings,
    "plans": partial(entry_findings, schema=PLANS),
    "monitors": monitor_findings,
    "config": config_findings,
}
"""What finds the lines of a kind of file that are not plain."""
PLAIN: dict[str, Callable[[Document], Document]] = {
    "tasks": plain_tasks,
    "journal": plain_journal,
    "knowledge": plain_knowledge,
    "contacts": plain_contacts,
    "plans": partial(plain_entries, schema=PLANS),
}
"""What writes a kind of file plainly."""


def line_findings(name: str, document: Document) -> list[LineFinding]:
    """Return what was found in the lines of a file that are not plain; lines count from 0."""
    find = FINDINGS.get(kind_of(name) or name.removesuffix(".md"))
    return [] if find is None else list(find(document))


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
        write = PLAIN.get(kind_of(name) or name.removesuffix(".md"))
        document = looked.found(name)
        if write is None or document is None or not any(one.code == READ for one in line_findings(name, document)):
            continue
        with suppress(UsageError):
            plain = write(document)
            if plain.dump() != document.dump():
                documents[name] = plain
    count = len(documents)
    return Edit(documents, f"wrote {count} {'file' if count == 1 else 'files'} in the plain form")
