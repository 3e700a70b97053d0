"""What the tasks of a file are called, what functions say of each, kept while its entry is the same one, and twins.

Twins are open tasks of one title: allowed, but their actions do not run, and the title names neither of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from memory.base.patterns import late
from memory.document.lines_and_headings import decode, encode
from memory.document.nodes import bare

from .refs.refs import tell_apart
from .tasks.values import Head, created_of, identity_of, is_run, quick_identities, quick_identity, split_priority

if TYPE_CHECKING:
    from memory.document import Document, Entry

    from .tasks.model import Task

T = TypeVar("T")
_HEADING = late(rb"\n#[^\n]*")


class EntryColumns:
    """Answers about the entries of one file, in file order, one row of them for each function that was asked.

    A function looks at nothing but its entry, so an answer stays true as long as the entry is the same object.
    """

    __slots__ = ("_cut", "_entries", "_known")

    def __init__(self, cut: Callable[[], Iterable[Entry]]) -> None:
        """Nothing is asked yet, and no entry cut out of the file: `cut` returns them."""
        self._cut = cut
        self._entries: tuple[Entry, ...] | None = None
        self._known: dict[Callable[[Entry], Any], Sequence[Any]] = {}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries; they are cut out when they are asked for first."""
        if self._entries is None:
            self._entries = tuple(self._cut())
        return self._entries

    def of(self, function: Callable[[Entry], T]) -> Sequence[T]:
        """Return what a function says of each entry."""
        known = self._known.get(function)
        if known is None:
            known = self._known[function] = list(map(function, self.entries))
        return known

    def put(self, function: Callable[[Entry], T], answers: Sequence[T]) -> None:
        """Take what a function says of each entry from whoever asked in a quicker way."""
        self._known[function] = answers

    def known(self, function: Callable[[Entry], T]) -> Sequence[T] | None:
        """Return the same where it was asked before, else None."""
        return self._known.get(function)

    def inherit(self, before: EntryColumns) -> None:
        """Take the answers about the entries that an earlier look had; every function it asked is asked of the others.

        A look differs from the one before in few entries, most often in one: those before it and those behind it are
        taken over as they stand.
        """
        from memory.document.compare import ends

        head, tail = ends(before.entries, self.entries)
        stop, old_stop = len(self.entries) - tail, len(before.entries) - tail
        places = {id(entry): place for place, entry in enumerate(before.entries[head:old_stop], head)}
        middle = self.entries[head:stop]
        for function, known in list(before._known.items()):
            answers = list(known[:head])
            for entry in middle:
                place = places.get(id(entry))
                answers.append(function(entry) if place is None else known[place])
            answers += known[old_stop:]
            self._known[function] = cast("Sequence[Any]", answers)


_FEW = 8  # so many refs are made one by one before all twins are looked for at once
_LOOK = 3  # or so many times as many for which a look at the bytes of the file is enough


class TaskNames:
    """What the tasks of one file share: the document they stand in, and what tells each of them from the others.

    A task is named by its place among the tasks of the file, from 0.
    """

    __slots__ = (
        "_alone",
        "_asked",
        "_goes_on",
        "_hexes",
        "_told",
        "_twins",
        "columns",
        "document",
        "file",
        "headings",
        "sections",
    )

    def __init__(self, file: str, document: Document, sections: Sequence[tuple[int, int]]) -> None:
        """Nothing is worked out yet."""
        self.file = file
        self.document = document
        self.sections = sections
        """Where the tasks of each section begin, and the index of the section in the document."""
        parts = [document.section(section) for _, section in sections]
        self.columns = EntryColumns(lambda: chain.from_iterable(part.entries for part in parts))
        self._twins: dict[int, str] | None = None
        self._goes_on: set[int] = set()
        self._hexes: Sequence[str] | None = None
        self._alone: set[int] = set()  # Tasks that were asked for and have no twin.
        self._told: dict[tuple[Entry, ...], list[str]] = {}
        self._asked = 0
        self.headings: dict[int, str] = {}
        """The headings of sections that have no name here, by the index of the section."""

    def at(self, index: int) -> tuple[int, int]:
        """Return where a task stands in the document: the index of its section, and its own in there."""
        start, section = self.sections[bisect_right(self.sections, index, key=itemgetter(0)) - 1]
        return section, index - start

    def entry(self, index: int) -> Entry:
        """Return the entry of one task; those of other sections are not cut out for it."""
        section, number = self.at(index)
        return self.document.section(section).entries[number]

    def inherit(self, before: TaskNames) -> None:
        """Take what is known of the same entries, and of twins that are the same."""
        self.columns.inherit(before.columns)
        self._told = before._told
        self._twins = self._twins_of(before)

    def _twins_of(self, before: TaskNames) -> dict[int, str] | None:
        """Return the twins where hardly an entry is another one than before, None where all have to be looked at."""
        entries = self.columns.entries
        if before._twins is None or len(entries) != len(before.columns.entries):
            return None
        from memory.document.compare import ends

        head, tail = ends(before.columns.entries, entries)
        if len(entries) - tail - head > _FEW:
            return None
        identities, old, twins = self.identities(), before.identities(), dict(before._twins)
        self._goes_on = set(before._goes_on)
        for place in range(head, len(entries) - tail):
            twins.pop(place, None)
            self._goes_on.discard(place)
        for identity in {*identities[head : len(entries) - tail], *old[head : len(entries) - tail]}:
            group = _places(identities, identity)
            long = tell_apart(identity, [bare(entries[place]) for place in group])
            self._goes_on.difference_update(group)
            for place, digits in zip(group, long, strict=True):
                twins.pop(place, None)
                if len(group) > 1:
                    twins[place] = digits
            if len(group) > 1:
                self._look_at(group)
        return twins

    def identity(self, index: int) -> str:
        """Return the ten hex digits of one task."""
        known = self.columns.known(task_identity)
        return identity_of(self.entry(index)) if known is None else known[index]

    def identities(self) -> Sequence[str]:
        """Return the identity of each task, in file order."""
        if self.columns.known(task_identity) is None:
            self.columns.put(task_identity, quick_identities(self.columns.entries))
        return self.columns.of(task_identity)

    def ref_hex(self, index: int) -> str:
        """Return the digits of the ref of one task."""
        if self._hexes is not None:
            return self._hexes[index]
        return self.twin_hex(index) or self.identity(index)

    def long_hex(self, index: int) -> str:
        """Return the digits that no other task of the file has."""
        return self._twin_of(index) or tell_apart(self.identity(index), [bare(self.entry(index))])[0]

    def twin_hex(self, index: int) -> str | None:
        """Return the long digits of a task whose identity names another one as well, else None.

        The completed runs of a recurring task are always named by them: the identity is the open one's.
        """
        if is_run(self.entry(index)):
            return self.long_hex(index)
        digits = self._twin_of(index)
        return None if index in self._goes_on else digits

    def _look_at(self, group: Sequence[int]) -> None:
        """Note the one task of a group of twins of which all others are completed runs."""
        entries = self.columns.entries
        others = [place for place in group if not is_run(entries[place])]
        if len(others) == 1:
            self._goes_on.add(others[0])

    def _twin_of(self, index: int) -> str | None:
        """Return the long digits of a task that has the same title and `created` as another one, else None."""
        if self._twins is None:
            if index in self._alone:
                return None
            if self._asked < _FEW * _LOOK:
                return self._look_for_twins(index)
            self._find_twins()
        assert self._twins is not None
        return self._twins.get(index)

    def _look_for_twins(self, index: int) -> str | None:
        """Answer for one task: only those that have its title somewhere are looked into."""
        known = self.columns.known(task_identity)
        self._asked += _LOOK
        group: list[int] = []
        if known is not None:
            # Most tasks have no twin, and to count is quicker than to look for one.
            if known.count(known[index]) > 1:
                group = _places(known, known[index])
        else:
            entry = self.entry(index)
            title, created = entry.memo(Head).title, created_of(entry)
            source = encode(title)
            # Nearly every title stands in the file once, which one look at its bytes tells.
            if _is_once(self.document.dump(), source):
                self._asked -= _LOOK - 1
            else:
                group = [
                    place
                    for place, other in enumerate(self.columns.entries)
                    if source in other.raw and other.memo(Head).title == title and created_of(other) == created
                ]
        if len(group) < 2:
            self._alone.add(index)
            return None
        self._look_at(group)
        digits = tell_apart(self.identity(index), [bare(self.entry(place)) for place in group])
        return digits[group.index(index)]

    def name_all(self) -> None:
        """Work out what all tasks are called."""
        if self._twins is None:
            # Another thread that asks meanwhile is answered one by one; it must not do all this as well.
            self._asked = -len(self.columns.entries)
            self._find_twins()

    def list_all(self) -> None:
        """Put down the digits of the refs of all tasks, for who is about to ask for every one of them."""
        self.name_all()
        found = list(self.identities())
        for place, digits in (self._twins or {}).items():
            if place not in self._goes_on:
                found[place] = digits
        for place, entry in enumerate(self.columns.entries):
            if b"recurring:" in entry.raw and is_run(entry):
                found[place] = self.long_hex(place)
        self._hexes = found

    def _find_twins(self) -> None:
        """Work out the identity of every task, and the long digits of those that share theirs with another."""
        identities = self.identities()
        groups: dict[str, list[int]] = {}
        if len(set(identities)) < len(identities):
            shared = {identity for identity, count in Counter(identities).items() if count > 1}
            for index, identity in enumerate(identities):
                if identity in shared:
                    groups.setdefault(identity, []).append(index)
        digits: dict[int, str] = {}
        entries, before = self.columns.entries, self._told
        told: dict[tuple[Entry, ...], list[str]] = {}
        for identity, group in groups.items():
            twins = tuple([entries[index] for index in group])
            long = before.get(twins) or tell_apart(identity, [bare(entry) for entry in twins])
            told[twins] = long
            digits.update(zip(group, long, strict=True))
            self._look_at(group)
        self._told = told
        self._twins = digits


def task_identity(entry: Entry) -> str:
    """Return the ten hex digits of a task."""
    return quick_identity(entry.raw) or identity_of(entry)


def _is_once(data: bytes, part: bytes) -> bool:
    """Tell whether bytes hold a part no more than once."""
    return data.find(part, data.find(part) + 1) < 0


def _places(identities: Sequence[str], identity: str) -> list[int]:
    """Return the places of an identity, in order; most have one, which is found without a step for each other."""
    found: list[int] = []
    with suppress(ValueError):
        while True:
            found.append(identities.index(identity, found[-1] + 1 if found else 0))
    return found


def open_twins(tasks: Iterable[Task]) -> dict[str, list[Task]]:
    """Return the open tasks by what titles share that a person would take for one."""
    from memory.base.names import alike

    found: dict[str, list[Task]] = {}
    for task in tasks:
        if task.section in ("pending", "in-progress"):
            found.setdefault(alike(task.title), []).append(task)
    return found


def may_have_twin(document: Document, heading: str) -> bool:
    """Tell, by the lines of a file alone, whether a second heading may have the title that one of its tasks has.

    `heading` is that task's own, priority and all. A line that has the words of the title in it is enough.
    """
    from memory.base.names import alike

    wanted = alike(split_priority(heading)[1])
    word = wanted.partition(" ")[0]
    data = document.dump()
    if not word or b"\r" in data or not word.isascii():
        return True
    if not data.endswith(b"\n"):
        data += b"\n"
    return sum(wanted in alike(line) for line in _heading_lines(data, word)) > 1


def _heading_lines(data: bytes, word: str) -> list[str]:
    """Return the headings in which a person may find a word of small ASCII letters."""
    from memory.base.names import unsettled

    small, lower, places = word.encode(), data.lower(), set[int]()
    at = lower.find(small)
    while at >= 0:
        begin = lower.rfind(b"\n", 0, at) + 1
        if lower.startswith(b"#", begin):
            places.add(begin)
        at = lower.find(small, at + 1)
    lines = [decode(data[at : data.index(b"\n", at)]) for at in places]
    # Only letters outside of ASCII are taken for others, and nearly always it is a dash, an accent or a picture.
    headings = [data.partition(b"\n")[0], *_HEADING.findall(data)]
    beyond = decode(b"".join([line for line in headings if not line.isascii()])).split("\n")
    odd = unsettled("".join(beyond))
    return lines + [line for line in beyond if not odd.isdisjoint(line) and word not in line.lower()] if odd else lines


def twins_of(tasks: Iterable[Task], title: str) -> list[Task]:
    """Return the open tasks whose title a person would take for this one, without working out that of every other."""
    from memory.base.names import alike

    wanted = alike(title)
    word = wanted.partition(" ")[0].encode("utf-8", "surrogateescape")
    found = []
    for task in tasks:
        raw = task.entry.raw
        heading = raw[: raw.find(b"\n") + 1] or raw
        # Only letters outside of ASCII are taken for others.
        may = not heading.isascii() or word in heading.lower()
        if may and task.section in ("pending", "in-progress") and alike(task.title) == wanted:
            found.append(task)
    return found


def twin_words(twins: Iterable[Task], title: str) -> str:
    """Return a sentence on the open tasks that have a title already; empty where there is none."""
    found = tuple(twins)
    if not found or not title.strip():
        return ""
    words = "an open task has this title already" if len(found) == 1 else f"{len(found)} open tasks have this title"
    return f"{words}; the action of neither runs" if any(task.action is not None for task in found) else words
