"""A memory system: what every system answers, and the one place where a failure of one is caught.

Maintenance, search, check, status, Brief and doctor ask all systems of a workspace and know none by name. They ask
through `guarded`, so that a failure of one system ends only its own answer. A new system is a subclass of `System` in
its own folder and one line in `memory.registry`, or a package of its own (docs/extending.md).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .base.items import Item, Skipped, Taken
from .base.problems import Problem
from .errors import MemdeckError, RefusedError
from .registry import SystemName, registered, system_name

if TYPE_CHECKING:
    from .maintenance.report import Report
    from .search.records import FileRecords, Record
    from .trust.asks import Ask
    from .trust.consent import Trust

FAILED = "system.failed"
"""The error code for a failure in the code of a memory system."""


class BriefLine(NamedTuple):
    """A line of Brief: the system, the entry that it links to, its name, and its state in words.

    `due` is what a person should know or do; empty for nothing.
    """

    system: str
    target: str
    title: str
    words: str
    due: str = ""


class Advice(NamedTuple):
    """A finding for a person, and what to do about it."""

    message: str
    hint: str = ""


class Contribution(NamedTuple):
    """A block that a system offers for a prompt: the entry, its title, its text, why it fits, and how well.

    `score` is 0 or more and comparable within one system only; `ref` is None if the block is not a single entry.
    `part` says what use it has to an agent: `rules`, `gotchas`, `next`, `decisions`, `due`, `running`, `alerts`, `news`
    or `rest`, which is the order in a prompt. `assigned` is who does it, `date` when it was (in the workspace's zone).
    """

    system: str
    ref: str | None
    title: str
    text: str
    reason: str
    score: float
    part: str = "rest"
    assigned: str = ""
    date: str = ""


class System:
    """One memory system in one workspace. Creating the object reads nothing; `present` and `look` have no default.

    Paths are relative to the workspace. Times are aware. An exception of any method is reported as an error of this
    system, and the other systems continue.
    """

    name: str

    def present(self) -> bool:
        """Return whether the workspace has this system."""
        raise NotImplementedError

    def look(self) -> object:
        """Return a snapshot for panes: immutable, and the same object as long as the files are unchanged."""
        raise NotImplementedError

    def files(self) -> Iterable[str]:
        """Return the files that the history checks for changes of other programs."""
        return ()

    def folders(self) -> Iterable[str]:
        """Return the folders to watch while the application is open; those outside of the workspace as whole paths."""
        return ()

    def notice(self, now: datetime) -> int:  # noqa: ARG002
        """Log what other programs did to its files outside of the workspace; return the number of changes."""
        return 0

    def owns(self, name: str) -> bool:
        """Return whether `check` covers a file; it is named as in problems."""
        return name in self.files()

    def adopt(self, folder: str) -> None:
        """Add a folder of a `listed` system that is not listed, for its history."""

    def close(self) -> None:
        """Close what it opened; the next use opens it again."""

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:  # noqa: ARG002
        """Return the problems in its files, or in those named, by file and line."""
        return ()

    def mend(self, names: Sequence[str] | None, *, actor: str, now: datetime, dry_run: bool) -> Sequence[Problem]:  # noqa: ARG002
        """Mend what `check --fix` may mend in its files, or in those named; return the findings that this settles."""
        return ()

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:  # noqa: ARG002
        """Run its maintenance rules, in one transaction; `dry_run` only reports."""
        return _no_rules(now, dry_run)

    def records(
        self,
        kinds: Collection[str] | None = None,  # noqa: ARG002
        refused: MutableMapping[str, MemdeckError] | None = None,  # noqa: ARG002
    ) -> Iterator[Record]:
        """Yield its searchable records, archives included; only some kinds, if `kinds` names them.

        A file that cannot be read is left out and added to `refused`, by its name; without `refused` it raises.
        """
        return iter(())

    def records_by_file(self, refused: MutableMapping[str, MemdeckError]) -> Iterator[FileRecords]:
        """Yield its records file by file, for an index that reads only changed files."""
        from .search.records import grouped_by_file

        return grouped_by_file(self.records(None, refused))

    def also_told(self) -> Iterator[Record]:
        """Yield what agents are told of it that is none of its records."""
        return iter(())

    def items(self) -> Iterator[Item | Skipped]:
        """Yield its entries for another memory, and what cannot be converted; by default its records as notes."""
        for one in self.records():
            yield Item("note", one.title, one.text, f"{one.file}:{one.line + 1}", one.date, one.tags)

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:  # noqa: ARG002
        """Convert entries of another memory; nothing is written before `Taken.commit` is called.

        `place` is the target in a system that has several: the agent of typed memory, the scope of curated memory.
        RefusedError `convert.no_target` for a system that accepts none.
        """
        raise RefusedError(
            "convert.no_target", f"{self.name} takes no entries of other memories", "name another target"
        )

    def status(self, now: datetime) -> Mapping[str, object]:  # noqa: ARG002
        """Return its state as JSON-able data; `counts` maps words to numbers, for people."""
        return {"counts": {}}

    def brief_lines(self, now: datetime) -> Iterable[BriefLine]:  # noqa: ARG002
        """Return its lines of Brief."""
        return ()

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:  # noqa: ARG002
        """Return what it offers for the prompt of an agent that receives `message`, the best first.

        Without a message, what an agent should know when its session begins. Records need not be offered for a message:
        a search finds them.
        """
        return ()

    def may_be_told(self) -> bool:
        """Return whether agents may be told the records of it that a search finds for their message."""
        return True

    def wants(self) -> Iterable[Ask]:
        """Return what it may do only after a person approved exactly that."""
        return ()

    def entrust(self, trust: Trust, environ: Mapping[str, str]) -> None:
        """Set the person's decisions, and the variables that commands may get."""

    def doctor_lines(self) -> Iterable[Advice]:
        """Return its lines of `doctor`."""
        return ()


def _no_rules(now: datetime, dry_run: bool, *warnings: str) -> Report:
    from .maintenance.report import Report

    return Report(dry_run, now, (), warnings)


class Systems:
    """The systems of the workspace at `root`; each is made on first use."""

    def __init__(self, root: Path, home: Path | None, workspace: object) -> None:
        """Store the paths; nothing is imported yet."""
        self._root = root
        self._home = home
        self._workspace = workspace
        self._made: dict[str, System | MemdeckError] = {}
        self.failed: dict[tuple[str, str], MemdeckError] = {}  # By system and method, since the process began.

    def get(self, name: str) -> System:
        """Return a system, present or not; MemdeckError `system.failed` where it cannot be made."""
        if name not in self._made:
            self._made.setdefault(name, self._make(name))
        found = self._made[name]
        if isinstance(found, MemdeckError):
            raise found.with_traceback(None)
        return found

    def _make(self, name: str) -> System | MemdeckError:
        """Return a new system, or the error: its stores may be added already, so it is not tried again."""
        module, _, made = system_name(name).place.partition(":")
        try:
            found = getattr(import_module(module), made)(self._workspace)
        except Exception as error:
            return system_failed(name, "load", error)
        return found if isinstance(found, System) else system_failed(name, "load", TypeError("it is not a System"))

    def guarded(self, name: str) -> System:
        """Return a system whose failures are answers or MemdeckErrors; nothing is imported yet."""
        return cast(System, _Guarded(self, name))

    def names(self) -> tuple[str, ...]:
        """Return the names of the systems of this workspace; one is imported only where the home folder lists it."""
        here = (one for one in registered() if self._may_be_here(one))
        return tuple([one.name for one in here if self._is_marked(one) or self.guarded(one.name).present()])

    def _is_marked(self, system: SystemName) -> bool:
        places = (system.mark, system.beside) if system.beside else (system.mark,)
        return not system.asks and any(os.path.lexists(self._root / place) for place in places)

    def _may_be_here(self, system: SystemName) -> bool:
        """Return whether the system has to be asked: it has a mark here, or folders that only it knows."""
        listed = system.listed and self._home is not None and os.path.lexists(self._home / system.listed)
        return system.asks or bool(listed) or self._is_marked(system)

    def present(self) -> tuple[System, ...]:
        """Return the systems that are present, guarded; one that fails counts as present where its mark exists."""
        here = (self.guarded(one.name) for one in registered() if self._may_be_here(one))
        return tuple([system for system in here if system.present()])

    def add_around(self, path: str) -> None:
        """Add the stores of all systems that are present, and of those whose mark is in a folder around a file."""
        self.present()
        for system in registered():
            folder = os.path.dirname(path) if system.listed else ""
            while folder:
                if os.path.lexists(self._root / folder / system.mark):
                    self.guarded(system.name).adopt(folder)
                folder = os.path.dirname(folder)

    def close(self) -> None:
        """Close what the used systems opened; an error in one does not keep another open."""
        for name, made in tuple(self._made.items()):
            if isinstance(made, System):
                self.guarded(name).close()


class _Guarded:
    """A system, made at the first call. What fails is an answer of `_instead`, or raised as a MemdeckError."""

    def __init__(self, systems: Systems, name: str) -> None:
        self._systems = systems
        self.name = name

    def __getattr__(self, hook: str) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            try:
                found = getattr(self._systems.get(self.name), hook)(*args, **named)
            except Exception as error:
                return _instead(self.name, hook, self._failed(hook, error), args, named)
            return self._rest(hook, found, args, named) if isinstance(found, Iterator) else found

        return call

    def _rest(self, hook: str, items: Iterator[Any], args: Any, named: Any) -> Iterator[Any]:
        """Yield what a method yields; what it yielded before a failure stays."""
        while True:
            try:
                item = next(items)
            except StopIteration:
                return
            except Exception as error:
                yield from _instead(self.name, hook, self._failed(hook, error), args, named)
                return
            yield item

    def _failed(self, hook: str, error: Exception) -> MemdeckError:
        """Return any error as one of memdeck, and remember one of the system's code."""
        found = error if isinstance(error, MemdeckError) else system_failed(self.name, hook, error)
        if found.code == FAILED:
            self._systems.failed[self.name, hook] = found
        return found


def _instead(name: str, hook: str, error: MemdeckError, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Return what a failed method answers; the error is raised where the caller has to know of it."""
    mark = system_name(name).mark
    match hook:
        case "present":
            return True
        case "may_be_told":
            return False
        case "notice":
            return 0
        case "files" | "folders" | "contributions" | "wants" | "also_told":
            return ()
        case "adopt" | "close" | "entrust":
            return None
        case "owns":
            return args[0] == mark or args[0].startswith(f"{mark}/")
        case "check":
            return (problem_of(name, error),)
        case "brief_lines":
            return (BriefLine(name, "", name, error.message, "in trouble"),)
        case "doctor_lines":
            return (Advice(error.message, error.hint),)
        case "maintain" if error.code == FAILED:
            return _no_rules(args[0], named.get("dry_run", False), error.message)
        case "records" | "records_by_file":
            refused = named.get("refused", args[-1] if args else None)
            if isinstance(refused, MutableMapping):
                refused[mark] = error
                return ()
    raise error


def system_failed(name: str, hook: str, error: Exception) -> MemdeckError:
    """Return the error for a system whose code failed."""
    title = system_name(name).title
    why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    failed = MemdeckError(FAILED, f"{title} failed at {hook}: {why}", f"report it to the makers of {name}", system=name)
    failed.__cause__ = error
    return failed


def problem_of(name: str, error: MemdeckError) -> Problem:
    """Return an error of a system as a problem of the file that it names, else of the system's mark."""
    file, line = error.details.get("file"), error.details.get("line")
    return Problem(
        "error",
        file if isinstance(file, str) else system_name(name).mark,
        line if isinstance(line, int) else 0,
        error.code,
        error.message,
    )
