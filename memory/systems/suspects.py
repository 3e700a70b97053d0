"""Entries that look suspicious: agents are not told of them until a person approves exactly their bytes.

Files may have come with a clone, by no write of memdeck's. So what agents may be told passes the content scan that
writes pass, in every system.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from memory.base.problems import Problem
from memory.base.scan import Gate, key_of, why_not
from memory.search.records import Record, derived_ref
from memory.trust.asks import TOLD, Ask
from memory.trust.consent import Trust
from memory.workspace import Workspace

CODE = "content.suspicious"
_AT_ONCE = 50_000
"""Characters that are scanned at once: most of them break no rule."""


class Suspect(NamedTuple):
    """An entry that breaks rules of the content scan: `why` names them, `key` is what a person approves of it.

    `line` counts from 0; `derived` is the ref of an entry without its own.
    """

    system: str
    file: str
    line: int
    ref: str | None
    title: str
    text: str
    why: str
    key: str
    derived: str
    approved: bool = False

    def problem(self) -> Problem:
        """Return it as a finding of `check`."""
        words = f"looks suspicious, so agents are not told of it ({self.why}); `memdeck trust list` has its id"
        return Problem("warning", self.file, self.line + 1, CODE, words)

    def ask(self) -> Ask:
        """Return it as a question to the person; only the person who answers it is shown the text."""
        shown = self.title if self.text == self.title else f"{self.title}\n{self.text}"
        return Ask(TOLD, "text", self.key, self.why, self.file, self.line, shown=shown)


def gate_of(workspace: Workspace) -> Gate:
    """Return what decides which entries of a workspace agents are told."""
    return Gate(lambda: _approved(workspace))


def _approved(workspace: Workspace) -> Collection[str]:
    """Return the keys that the person approved."""
    return Trust(workspace.state.folder.home, workspace.root, person=workspace.home).told()


def suspects_of(workspace: Workspace, names: Sequence[str] | None = None) -> list[Suspect]:
    """Return the entries of all systems that look suspicious, approved ones too; or those of some files."""
    found: list[Suspect] = []
    for system in workspace.systems():
        for some in _some(record for read in (system.records(None, {}), system.also_told()) for record in read):
            if why_not(some[0].kind, "\n".join(text for one in some for text in (one.title, one.text))):
                found += [one for record in some if (one := _suspect(system.name, record)) is not None]
    approved = _approved(workspace) if found else ()
    return [one._replace(approved=one.key in approved) for one in found if names is None or one.file in names]


def asks_to_tell(workspace: Workspace) -> tuple[Ask, ...]:
    """Return the suspicious entries as questions to the person, those with the same bytes once."""
    return tuple({one.key: one.ask() for one in suspects_of(workspace)}.values())


def suspicious_problems(workspace: Workspace, names: Sequence[str] | None = None) -> list[Problem]:
    """Return the suspicious entries that are not approved as findings of `check`."""
    return [one.problem() for one in suspects_of(workspace, names) if not one.approved]


def _suspect(system: str, record: Record) -> Suspect | None:
    why = why_not(record.kind, record.title, record.text)
    if not why:
        return None
    key = key_of(record.title, record.text)
    return Suspect(
        system, record.file, record.line, record.ref, record.title, record.text, why, key, derived_ref(record)
    )


def _some(records: Iterator[Record]) -> Iterator[list[Record]]:
    """Yield records of one kind in groups, to be scanned at once."""
    group: list[Record] = []
    size = 0
    for one in records:
        length = len(one.title) + len(one.text)
        if group and (size + length > _AT_ONCE or one.kind != group[0].kind):
            yield group
            group, size = [], 0
        group.append(one)
        size += length
    if group:
        yield group
