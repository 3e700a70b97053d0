"""Entries that somebody brought back from the archive: the day of that counts as theirs, so that they stay a while."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memory.base.clock import Moment
from memory.document.nodes import bare
from memory.errors import MemdeckError
from memory.named_tuple import NamedTuple

from .rules import LeavingEntries, RuleResult, Today

if TYPE_CHECKING:
    from memory.document import Document
    from memory.workspace import Workspace

OPERATION = "restore"
"""The operation that brings an archived entry back."""


class Restored(NamedTuple):
    """One entry that was brought back: when, its source without the blank lines at its end, and its ref."""

    time: datetime
    source: bytes
    ref: str | None


RestoredIn = Callable[[str], Sequence[Restored]]
"""Returns what was brought back into a memory file, by its name in the memory folder; newest first."""


def restored_in(workspace: Workspace) -> RestoredIn:
    """Return what tells which entries were brought back, by the change log; nothing where there is none."""

    def found(name: str) -> Sequence[Restored]:
        from memory.document.units import units_of
        from memory.files.refs.entry_refs import ref_of

        path = workspace.store.shown(f"memory/{name}")
        history = workspace.store.history
        restored: list[Restored] = []
        try:
            for record in history.done_to(OPERATION, path):
                file = next(one for one in record.files if one.path == path)
                for unit in units_of(history.regions(record, file)):
                    if unit.after is not None and unit.before is None:
                        ref = ref_of(name, unit.new_section, unit.after)
                        restored.append(Restored(record.time, bare(unit.after), ref))
        except MemdeckError:
            return ()  # `doctor` says what is wrong with the log; without it entries go by their own dates.
        return restored

    return found


def staying(
    name: str, document: Document, restored: Sequence[Restored], today: Today, age: timedelta
) -> frozenset[tuple[int, int]]:
    """Return the places (section, entry) of what was brought back at most `age` ago, whatever became of its fields.

    An entry that is not there as it was brought back is known by its ref.
    """
    fresh = [
        one for one in restored if not today.older(Moment("", one.time.astimezone(today.zone).date(), one.time), age)
    ]
    if not fresh:
        return frozenset()
    from memory.files.refs.entry_refs import ref_of

    by_source: dict[bytes, set[tuple[int, int]]] = {}
    by_ref: dict[str, set[tuple[int, int]]] = {}
    sources, refs = {one.source for one in fresh}, {one.ref for one in fresh if one.ref}
    for index, section in document.all_sections():
        for number, entry in enumerate(section.entries):
            if (source := bare(entry)) in sources:
                by_source.setdefault(source, set()).add((index, number))
            elif refs and (ref := ref_of(name, section.title or None, entry)) in refs and ref is not None:
                by_ref.setdefault(ref, set()).add((index, number))
    found: set[tuple[int, int]] = set()
    for one in fresh:
        found |= by_source.get(one.source) or by_ref.get(one.ref or "", set())
    return frozenset(found)


def without(choice: RuleResult, places: Container[tuple[int, int]]) -> RuleResult:
    """Return a choice without the entries of some places: they stay like any that is young enough."""
    if places == frozenset():
        return choice
    picks = []
    for pick in choice.picks:
        numbers = [number for number in pick.entries if (pick.section, number) not in places]
        if len(numbers) == len(pick.entries):
            picks.append(pick)
        elif numbers:
            picks.append(LeavingEntries(pick.section, numbers, pick.date))
    return choice._replace(picks=tuple(picks))
