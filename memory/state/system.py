"""Project state as a system: `.agent-memory/`, its projections and the entry block."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memory.base.items import Item, Skipped, Taken
from memory.base.problems import Problem, copies_in
from memory.base.safe_text import plural
from memory.document import Document
from memory.document.model import BOM
from memory.errors import MemdeckError
from memory.search.records import Record
from memory.storage.changes import PlainReading
from memory.system import Advice, BriefLine, Contribution, System
from memory.workspace import Outcome, Workspace

from .entry_block import without_blocks
from .files import model
from .files.model import Json, is_entry_file
from .files.reading import read_events
from .files.store import StateStore, entry_path
from .parts import bundle_records, items_of, records_of, ref_of, take
from .projections import NAMES, path_of

if TYPE_CHECKING:
    from memory.maintenance.report import Report
    from memory.trust.asks import Ask
    from memory.trust.consent import Trust

    from .automate import MachineNotes
    from .recall.recall import Engine
    from .status import StateLook

_FILES = (model.STATE, model.EVENTS, model.SOURCES, model.CONFIG, model.ANALYSED)
_VIEWS = tuple(map(path_of, NAMES))


class ProjectState(System):
    """The project state of a workspace; verbs and other programs use `store`.

    `trust` are the person's decisions, `environ` the variables that commands may get; `entrust` sets both. Until then
    only the deterministic engine is used, and no validation command runs.
    """

    name = "state"

    def __init__(self, workspace: Workspace) -> None:
        """Join the workspace's change log; nothing is read yet."""
        self._workspace = workspace
        # The projections and the entry block are outside the system's folder, and change with it.
        self._files = workspace.add_store("", StateReading(), private=model.PRIVATE)
        self.store = StateStore(self._files)
        self.trust: Trust | None = None
        self.environ: Mapping[str, str] = {}
        self._last: StateLook | None = None

    @cached_property
    def unattended(self) -> MachineNotes:
        """What this machine remembers of the automation."""
        from .automate import MachineNotes

        return MachineNotes(self._workspace.root, self._workspace.state.folder, self._workspace.home)

    def present(self) -> bool:
        """Return whether any file of the format exists: memdeck's own folder alone does not count."""
        root = self._workspace.root
        places = (model.STATE, model.EVENTS, model.SOURCES, model.CONFIG, model.CHECKPOINTS)
        return any(os.path.lexists(root / place) for place in places)

    def files(self) -> Iterable[str]:
        """Return the files of the format (without checkpoints and archive, which no one edits), projections and entry
        file.
        """
        return (*_FILES, *_VIEWS, *filter(None, [self._entry()]))

    def _entry(self) -> str | None:
        try:
            return entry_path(self._workspace.root, self.store.memory().bundle)
        except MemdeckError:
            return None

    def folders(self) -> Iterable[str]:
        """Yield the folders of the format and of the projections."""
        return (model.FOLDER, f"{model.FOLDER}/history", model.CHECKPOINTS, model.PROJECTIONS)

    def owns(self, name: str) -> bool:
        """Return whether a file belongs to the format, is a projection, or is the entry file."""
        if name.startswith((f"{model.FOLDER}/", f"{model.PROJECTIONS}/")):
            return True
        return is_entry_file(name.rpartition("/")[2]) and name == self._entry()

    def look(self) -> StateLook:
        """Return a snapshot; the same object as long as the files do not change."""
        from .status import StateLook

        memory = self.store.memory()
        key: list[Any] = [*memory.checkpoint_ids]
        for path in _FILES:
            try:
                # The store returns the same object as long as the file does not change.
                key.append(id(self._files.read(path)))
            except MemdeckError as error:
                key.append(error.code)
        if self._last is None or self._last.key != key:
            self._last = StateLook(memory, key)
        return self._last

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
        """Return the problems that `state validate` finds, except those that depend on the time."""
        from .check import validate

        found = [one.problem() for one in validate(self.store.memory(), None) if one.level != "pass"]
        for folder in self.folders():
            found += copies_in(self._workspace.root / folder, folder)
        return tuple(problem for problem in found if names is None or problem.file in names)

    def records(
        self, kinds: Collection[str] | None = None, refused: MutableMapping[str, MemdeckError] | None = None
    ) -> Iterator[Record]:
        """Yield the parts of the bundle, then the events, the newest first, then those of the archive."""
        if kinds is None or self.name in kinds:
            yield from records_of(self.store.memory(), refused)

    def items(self) -> Iterator[Item | Skipped]:
        """Yield the bundle, then the events, including those of the archive."""
        return items_of(self.store.memory())

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:  # noqa: ARG002
        """Convert items: open tasks become next steps, gotchas stay gotchas."""
        return take(self.store, items, actor=actor, now=now)

    def status(self, now: datetime) -> Mapping[str, object]:
        """Return what `state status` reports; MemdeckError if the state or its events cannot be read."""
        from .status import status_of

        status = status_of(self.store.memory(), now)
        events = {"events": status["events"]["all"], "unrecalled": status["unrecalled"]["all"]}
        counts = {**events, "checkpoints": status["checkpoints"], "sources": len(status["sources"])}
        return {"counts": counts, **{key: value for key, value in status.items() if key != "groups"}}

    def brief_lines(self, now: datetime) -> Iterable[BriefLine]:
        """Yield how many checkpoints and events there are, and what `state status` recommends next."""
        from .status import status_of

        status = status_of(self.store.memory(), now)
        words = f"{plural(status['checkpoints'], 'checkpoint')}, {plural(status['events']['all'], 'event')}"
        following = status["next"]["why"] if status["next"]["command"] else ""
        yield BriefLine(self.name, "state#status", "state", words, following)

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:  # noqa: ARG002
        """Yield gotchas, next steps and the current focus; nothing for a message: a search finds the parts.

        Advice about memdeck itself is left out, and so is what was never recorded.
        """
        memory = self.store.memory()
        if message.strip() or not memory.read(model.STATE).exists:
            return
        for record in bundle_records(memory):
            if record.item.kind in ("gotcha", "next-step"):
                part = "gotchas" if record.item.kind == "gotcha" else "next"
                said = _sayings(record.item.values)
                yield Contribution(self.name, record.ref or "", record.title, said, "the repository", 1.0, part)
        focus, ref = memory.bundle["currentFocus"], ref_of("current-focus")
        lines = [focus["summary"], *focus["currentState"], *focus["knownRisks"]]
        lines = [line for line in lines if line and "`memdeck " not in line]
        yield Contribution(self.name, ref, "How to leave a note", model.MARKERS, "the repository", 1.0, "rest")
        if lines:
            rest = "\n".join(lines[1:])
            yield Contribution(self.name, ref, lines[0], rest, "the current focus", 1.0, "running")

    def doctor_lines(self) -> Iterable[Advice]:
        """Yield the listed sources that are not read automatically on this machine."""
        for source in self.store.memory().sources:
            if why := self.unattended.refusal(source):
                words, _, advice = why.partition("; ")
                yield Advice(f"the source {source['id']} is not read automatically: {words}", advice)

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:
        """Run a cycle of the automation, at most one in `automation.intervalMinutes` unless `force`.

        Every step is in the report. If the cycle cannot run, the report has a warning: it stops no other system.
        """
        from memory.maintenance.report import Report

        from .automate import Cycle, said

        try:
            minutes = self.store.memory().config["automation.intervalMinutes"]
            if not force and not self.unattended.is_due(now, minutes):
                rule = said("automate", f"the last cycle was less than {minutes} minutes ago")
                return Report(dry_run, now, (rule,))
            cycle = Cycle(self.store, self.unattended, self.engine(), self._workspace.home, actor, now, dry_run)
            report = cycle.report()
        except MemdeckError as error:
            return Report(dry_run, now, (), (f"project state: {error}",))
        if not dry_run:
            self.unattended.ran(now)
        return report

    # -- what the pane asks for, as outcomes of changes -------------------------------------------------------------

    def entrust(self, trust: Trust, environ: Mapping[str, str]) -> None:
        """Set the person's decisions, and the variables that commands may get."""
        self.trust, self.environ = trust, environ

    def wants(self) -> tuple[Ask, ...]:
        """Return the commands that it asks to run: the bundle's validation commands, and the engine of the settings."""
        from .commands import engine_ask, validation_asks

        engine = None if self.trust is None else engine_ask(self.trust.settings)
        return (*validation_asks(self.store.memory()), *(() if engine is None else (engine,)))

    def engine(self) -> Engine | None:
        """Return the engine of the person's settings, None where there is none."""
        from .commands import engine_of

        return None if self.trust is None else engine_of(self.trust, self.environ)

    def edit(self, section: str, value: Any, base: Any, *, actor: str, now: datetime) -> Outcome:
        """Set the value of a section; errors as `memory.state.bundles.edit`."""
        from .bundles import edit

        done = edit(self.store, section, value, base=base, actor=actor, now=now)
        if done.change is None:
            raise MemdeckError("state.unchanged", done.summary)
        return Outcome(done.change, done.summary)


# -- the change log ---------------------------------------------------------------------------------------------


class StateReading(PlainReading):
    """Reads the files of the format: an undo restores them whole, except events.jsonl, which it restores by line."""

    def knows(self, path: str) -> bool:
        """Return whether a path is a file of the format, a projection or an entry file."""
        if path.startswith(f"{model.FOLDER}/"):
            return not path.startswith(f"{model.PRIVATE}/") and (
                path.endswith((".json", ".jsonl")) or "/damaged/" in path
            )
        return is_entry_file(path) or (path.startswith(f"{model.PROJECTIONS}/") and path.endswith(".md"))

    def authored(self, path: str, data: bytes) -> bytes:
        """Return what people and agents wrote in a file: the bundle, and an entry file without the entry block."""
        if path.startswith(f"{model.PROJECTIONS}/") or path == model.ANALYSED:
            return b""
        if path == model.STATE:
            return _bundle(data)
        if is_entry_file(path):
            return without_blocks(data)
        return data

    def document(self, path: str, data: bytes) -> Document | None:  # noqa: ARG002
        """Return None: these files are never restored entry by entry."""
        return None

    def line(self, path: str, line: bytes) -> tuple[str | None, str]:  # noqa: ARG002
        """Return the ref and the summary of an event; a line without an event has no ref."""
        found = read_events(line.rstrip(b"\n"))
        if not found.items:
            return None, "a line that is not an event"
        event = found.items[0]
        return ref_of(event["id"]), f"{event['id']} {event['summary']}"


_SAYINGS = {
    "symptom": "",
    "cause": "cause: ",
    "correctPath": "instead: ",
    "why": "",
    "start": "start: ",
    "done": "done: ",
}
"""The values of gotchas and next steps in the order in which agents are told them, each with the words before it."""


def _sayings(values: Json) -> str:
    """Return the values of a gotcha or a next step, a line each, without those that were never stated."""
    said = [(words, values.get(key)) for key, words in _SAYINGS.items()]
    return "\n".join(f"{words}{value}" for words, value in said if value not in (None, "", "-", model.NOT_SAID))


def _bundle(data: bytes) -> bytes:
    """Return the bundle of a state without the outcome of the last validation; bytes without a bundle unchanged."""
    try:
        bundle = json.loads(data.removeprefix(BOM))["bundle"]
        bundle["currentFocus"].pop("validationSnapshot", None)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return data
    return json.dumps(bundle, indent=1).encode()
