"""The protocol of a memory system, the values that it answers with, and a base class that answers with nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    from memory.base.items import Item, Skipped, Taken
    from memory.base.problems import Problem
    from memory.errors import MemdeckError
    from memory.maintenance.report import Report
    from memory.search.index.inventory import Shelf
    from memory.search.records import Record
    from memory.trust.asks import Ask
    from memory.trust.consent import Trust


class BriefLine(NamedTuple):
    """A line of Brief: the system, the entry that it leads to, its name, and its state in words.

    `due` is what a person should know or do, empty for nothing.
    """

    system: str
    target: str
    title: str
    words: str
    due: str = ""


class Advice(NamedTuple):
    """What a person should look at, and what to do about it."""

    message: str
    hint: str = ""


class Contribution(NamedTuple):
    """A block that a system offers for a prompt: the entry, its title, its text, why it fits, and how well.

    `score` is 0 or more and compares within one system only; `ref` is None for what is no single entry.
    """

    system: str
    ref: str | None
    title: str
    text: str
    reason: str
    score: float


@runtime_checkable
class System(Protocol):
    """One memory system in one workspace; making the object reads nothing.

    Paths are as seen from the workspace. Times are aware. Whatever a method raises is reported as an error of this
    system, and the other systems go on.
    """

    @property
    def name(self) -> str:
        """The name under which it is registered."""

    def present(self) -> bool:
        """Tell whether the workspace holds this system."""

    def files(self) -> Iterable[str]:
        """Yield the files that the history looks at for changes of other programs."""

    def folders(self) -> Iterable[str]:
        """Yield the folders to watch while a person looks."""

    def owns(self, name: str) -> bool:
        """Tell whether a file, named as in problems, is one that `check` looks at."""

    def adopt(self, folder: str) -> None:
        """Take in a folder of a `listed` system that nobody listed, for its history."""

    def close(self) -> None:
        """Close what it opened, such as databases; the next question opens it again."""

    def look(self) -> object:
        """Return one look at it for panes: immutable, and the same as long as its files are."""

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
        """Return what is wrong in its files, or in those named, by file and line."""

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:
        """Keep it small by its rules, in one transaction; `dry_run` only reports."""

    def records(
        self, kinds: Collection[str] | None = None, refused: MutableMapping[str, MemdeckError] | None = None
    ) -> Iterator[Record]:
        """Yield what can be found in it, archives included; of some kinds only, where `kinds` names them.

        A file that cannot be read is left out and noted in `refused`, by its name; without `refused` it raises.
        """

    def items(self) -> Iterator[Item | Skipped]:
        """Yield its entries for another memory, and what cannot come along."""

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:
        """Return what becomes of entries of another memory; nothing is written before `Taken.commit` is called.

        `place` is where they go in a system that has several places: the agent of typed memory, the scope of curated
        memory. RefusedError `convert.no_target` for a system that takes none.
        """

    def shelves(self, refused: MutableMapping[str, MemdeckError]) -> Iterator[Shelf]:
        """Yield its records file by file, for an index that reads only files that changed."""

    def status(self, now: datetime) -> Mapping[str, object]:
        """Return its state as JSON-able data; `counts` maps words to numbers, for people."""

    def brief_lines(self, now: datetime) -> Iterable[BriefLine]:
        """Yield its lines of Brief."""

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:
        """Yield what it offers for the prompt of an agent that is given `message`, the best first."""

    def wants(self) -> Iterable[Ask]:
        """Yield what it may do only after a person approved exactly that."""

    def entrust(self, trust: Trust | None, environ: Mapping[str, str]) -> None:
        """Take the person's decisions, and what commands may get variables from; None: nothing is approved."""

    def doctor_lines(self) -> Iterable[Advice]:
        """Yield what `doctor` says about it."""


class PlainSystem:
    """Answers with nothing what a system does not override; `name`, `present` and `look` are the system's own."""

    name: str

    def files(self) -> Iterable[str]:
        """Yield nothing."""
        return ()

    def folders(self) -> Iterable[str]:
        """Yield nothing."""
        return ()

    def owns(self, name: str) -> bool:
        """Tell whether it is one of the files."""
        return name in self.files()

    def adopt(self, folder: str) -> None:
        """Do nothing: its folders are in one place."""

    def close(self) -> None:
        """Do nothing: it keeps nothing open."""

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:  # noqa: ARG002
        """Return nothing."""
        return ()

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:  # noqa: ARG002
        """Return the report of a run without rules."""
        from memory.maintenance.report import Report

        return Report(dry_run, now, ())

    def records(
        self,
        kinds: Collection[str] | None = None,  # noqa: ARG002
        refused: MutableMapping[str, MemdeckError] | None = None,  # noqa: ARG002
    ) -> Iterator[Record]:
        """Yield nothing."""
        return iter(())

    def shelves(self, refused: MutableMapping[str, MemdeckError]) -> Iterator[Shelf]:
        """Yield the records by file; all are read each time."""
        from memory.search.index.inventory import shelves_of_records

        return shelves_of_records(self.records(None, refused))

    def items(self) -> Iterator[Item | Skipped]:
        """Yield its records as notes."""
        from memory.base.items import Item

        for one in self.records():
            yield Item("note", one.title, one.text, f"{one.file}:{one.line + 1}", one.date, one.tags)

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:  # noqa: ARG002
        """Refuse."""
        from memory.errors import RefusedError

        raise RefusedError(
            "convert.no_target", f"{self.name} takes no entries of other memories", "name another target"
        )

    def status(self, now: datetime) -> Mapping[str, object]:  # noqa: ARG002
        """Return no counts."""
        return {"counts": {}}

    def brief_lines(self, now: datetime) -> Iterable[BriefLine]:  # noqa: ARG002
        """Yield nothing."""
        return ()

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:  # noqa: ARG002
        """Yield nothing."""
        return ()

    def wants(self) -> Iterable[Ask]:
        """Yield nothing."""
        return ()

    def entrust(self, trust: Trust | None, environ: Mapping[str, str]) -> None:
        """Do nothing: it runs nothing."""

    def doctor_lines(self) -> Iterable[Advice]:
        """Yield nothing."""
        return ()
