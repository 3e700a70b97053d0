"""Project state as a system: `.agent-memory/`, its projections and the entry block."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.errors import MemdeckError
from memory.state.files.model import (
    ANALYSED,
    CHECKPOINTS,
    CONFIG,
    ENTRY_FILES,
    EVENTS,
    FOLDER,
    PRIVATE,
    PROJECTIONS,
    SOURCES,
    STATE,
)
from memory.state.files.store import StateStore, entry_path
from memory.state.look import StateLook
from memory.state.machine_notes import Unattended
from memory.state.projections.files import NAMES, path_of
from memory.system import Advice, BriefLine, Contribution, System
from memory.workspace import Outcome

from .state_reading import StateReading, ref_of

if TYPE_CHECKING:
    from memory.base.items import Item, Skipped, Taken
    from memory.base.problems import Problem
    from memory.maintenance import Report, RuleReport
    from memory.search.records import Record
    from memory.state.automate import Cycle
    from memory.state.checks.finding import RepairPlan
    from memory.state.recall.recall import Engine, Recalled, RecallPreview
    from memory.trust.consent import Ask, Trust
    from memory.workspace import Workspace

_FILES = (STATE, EVENTS, SOURCES, CONFIG, ANALYSED)
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
        self._files = workspace.add_store("", StateReading(), private=PRIVATE)
        folder = None if workspace.state is None else workspace.state.folder
        self.store = StateStore(self._files, folder)
        self.trust: Trust | None = None
        self.environ: Mapping[str, str] = {}
        self._last: StateLook | None = None
        self.unattended = Unattended(workspace.root, folder)

    @property
    def home(self) -> Path | None:
        """The person's home folder."""
        return self._workspace.home

    def present(self) -> bool:
        """Return whether any file of the format exists: memdeck's own folder alone does not count."""
        root = self._workspace.root
        places = (STATE, EVENTS, SOURCES, CONFIG, CHECKPOINTS)
        return any(os.path.lexists(root / place) for place in places)

    def files(self) -> Iterable[str]:
        """Yield the files of the format (without checkpoints and archive, which no one edits), projections and entry
        file.
        """
        yield from _FILES
        yield from _VIEWS
        if (entry := self._entry()) is not None:
            yield entry

    def _entry(self) -> str | None:
        try:
            return entry_path(self._workspace.root, self.store.memory().bundle)
        except MemdeckError:
            return None

    def folders(self) -> Iterable[str]:
        """Yield the folders of the format and of the projections."""
        return (FOLDER, f"{FOLDER}/history", CHECKPOINTS, PROJECTIONS)

    def owns(self, name: str) -> bool:
        """Return whether a file belongs to the format, is a projection, or is the entry file."""
        if name.startswith((f"{FOLDER}/", f"{PROJECTIONS}/")):
            return True
        return name in ENTRY_FILES and name == self._entry()

    def look(self) -> StateLook:
        """Return a snapshot; the same object as long as the files do not change."""
        memory = self.store.memory()
        key: list[Any] = [*memory.checkpoint_names]
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
        from memory.state.checks.check import validate

        found = (one.problem() for one in validate(self.store.memory(), None) if one.level != "pass")
        return tuple(problem for problem in found if names is None or problem.file in names)

    def records(
        self, kinds: Collection[str] | None = None, refused: MutableMapping[str, MemdeckError] | None = None
    ) -> Iterator[Record]:
        """Yield the parts of the bundle, then the events, the newest first, then those of the archive."""
        from .state_records import records_of

        if kinds is None or self.name in kinds:
            yield from records_of(self.store.memory(), refused)

    def items(self) -> Iterator[Item | Skipped]:
        """Yield the bundle, then the events, including those of the archive."""
        from memory.base.items import Item
        from memory.state.exchange import parts_of

        yield from parts_of(self.store.memory())
        for one in self.records():
            if one.file != STATE:
                yield Item("event", one.title, one.text, f"{one.file}:{one.line + 1}", one.date, one.tags)

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:  # noqa: ARG002
        """Convert items: open tasks become next steps, gotchas stay gotchas."""
        from memory.state.exchange import take

        return take(self.store, items, actor=actor, now=now)

    def status(self, now: datetime) -> Mapping[str, object]:
        """Return what `state status` reports; MemdeckError if the state or its events cannot be read."""
        from memory.state.status import status_of

        status = status_of(self.store.memory(), now)
        counts = {
            "events": status.totals["all"],
            "unrecalled": status.unrecalled["all"],
            "checkpoints": status.checkpoints,
            "sources": len(status.sources),
        }
        return {"counts": counts, **{key: value for key, value in status.json().items() if key != "groups"}}

    def brief_lines(self, now: datetime) -> Iterable[BriefLine]:
        """Yield how many checkpoints and events there are, and what `state status` recommends next."""
        from memory.state.files.model import plural
        from memory.state.status import status_of

        status = status_of(self.store.memory(), now)
        words = f"{plural(status.checkpoints, 'checkpoint')}, {plural(status.totals['all'], 'event')}"
        after = status.json()["next"]
        yield BriefLine(self.name, "state#status", "state", words, after["why"] if after["command"] else "")

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:  # noqa: ARG002
        """Yield the current focus, whatever the message is; nothing if there is none."""
        memory = self.store.memory()
        if not memory.read(STATE).exists:
            return
        focus = memory.bundle["currentFocus"]
        if focus["summary"]:
            lines = [focus["summary"], *focus["currentState"], *focus["knownRisks"], *focus["suggestedNextActions"]]
            yield Contribution(
                self.name, ref_of("current-focus"), "Current focus", "\n".join(lines), "the current focus", 1.0
            )

    def doctor_lines(self) -> Iterable[Advice]:
        """Yield the listed sources that are not read automatically on this machine."""
        try:
            sources = self.store.memory().sources
        except MemdeckError:
            return
        for source in sources:
            if why := self.unattended.refusal(source):
                words, _, advice = why.partition("; ")
                yield Advice(f"the source {source['id']} is not read by itself: {words}", advice)

    # -- maintenance ----------------------------------------------------------------------------------------------

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:
        """Run a cycle of the automation, at most one in `automation.intervalMinutes` unless `force`.

        Every step is in the report. If the cycle cannot run, the report has a warning: it stops no other system.
        """
        import time

        begun = time.perf_counter()
        report = self._cycle(now, actor, dry_run=dry_run, force=force)
        return report._replace(duration_ms=round((time.perf_counter() - begun) * 1000, 1))

    def _cycle(self, now: datetime, actor: str, *, dry_run: bool, force: bool) -> Report:
        from memory.maintenance import Report

        try:
            memory = self.store.memory()
            minutes = memory.config["automation"]["intervalMinutes"]
            _ = memory.state
            if not force and not self.unattended.is_due(now, minutes):
                rule = _said("automate-project-state", f"the last cycle was less than {minutes} minutes ago")
                return Report(dry_run, now, (rule,))
            cycle = self.automate(now, actor=actor, dry_run=dry_run, attended=False)
        except MemdeckError as error:
            return Report(dry_run, now, (), (f"project state: {error}",))
        if not dry_run:
            self.unattended.ran(now)
        change = next((one.id for one in reversed(cycle.changes)), None)
        warnings = tuple(f"project state: {words}" for words in cycle.warnings)
        return Report(dry_run, now, tuple(_rules(cycle)), warnings, change=change)

    def automate(self, now: datetime, *, actor: str, dry_run: bool = False, attended: bool = True) -> Cycle:
        """Run a cycle of the automation now; unattended, it reads only the sources that the person permitted."""
        from memory.state.automate import run_once

        engine = None if dry_run else self.engine()
        may_read = None if attended else self.unattended.refusal
        return run_once(
            self.store, home=self.home, actor=actor, now=now, dry_run=dry_run, may_read=may_read, engine=engine
        )

    # -- what the pane asks for, as outcomes of changes -------------------------------------------------------------

    def entrust(self, trust: Trust | None, environ: Mapping[str, str]) -> None:
        """Set the person's decisions, and the variables that commands may get."""
        self.trust, self.environ = trust, environ

    def wants(self) -> tuple[Ask, ...]:
        """Return the commands that it asks to run: the bundle's validation commands, and the engine of the settings."""
        from .state_commands import engine_ask, validation_asks

        engine = None if self.trust is None else engine_ask(self.trust.settings)
        return (*validation_asks(self.store.memory()), *(() if engine is None else (engine,)))

    def engine(self) -> Engine | None:
        """Return the engine of the person's settings, None where there is none."""
        from .state_commands import engine_of

        return None if self.trust is None else engine_of(self.trust, self.environ)

    def preview(
        self, source: str | None = None, section: str | None = None, policy: str | None = None
    ) -> RecallPreview:
        """Return what a recall would do, with the engine of the person's settings."""
        from memory.state.recall.recall import preview, scope_of_recall

        memory = self.store.memory()
        scope = scope_of_recall(memory.config, source=source, section=section, policy=policy)
        return preview(memory, scope, self.engine())

    def recall(self, shown: RecallPreview, *, actor: str, now: datetime) -> Outcome:
        """Apply a recall that was shown; errors as `memory.state.recall.recall.apply`."""
        from memory.state.recall.recall import apply

        done: Recalled = apply(self.store, shown, actor=actor, now=now)
        if done.change is None:
            raise MemdeckError("state.recall.nothing", "there is nothing to recall")
        return Outcome(done.change, done.change.summary)

    def repair(self, shown: RepairPlan, *, actor: str, now: datetime) -> Outcome:
        """Apply a repair plan; errors as `memory.state.checks.repair.repair`."""
        from memory.state.checks.repair import repair

        _, change = repair(self.store, shown, actor=actor, now=now)
        return Outcome(change, change.summary)

    def edit(self, section: str, value: Any, base: Any, *, actor: str, now: datetime) -> Outcome:
        """Set the value of a section; errors as `memory.state.operations.edit`."""
        from memory.state.operations import edit

        done = edit(self.store, section, value, base=base, actor=actor, now=now)
        if done.change is None:
            raise MemdeckError("state.unchanged", done.summary)
        return Outcome(done.change, done.summary)


def _said(rule: str, words: str, *, acts: bool = False) -> RuleReport:
    from memory.maintenance import RuleReport

    return RuleReport(rule, FOLDER, 0, 0, 0, 0, said=words, acts=acts)


def _rules(cycle: Cycle) -> Iterator[RuleReport]:
    """Yield a part of the report for each step; for a prune, count what it archives and what leaves the archive."""
    from memory.maintenance.report import Gone, RuleReport

    for step in cycle.steps:
        pruned = cycle.pruned if step.name == "prune" else None
        if pruned is None or not (pruned.taken.events or pruned.taken.checkpoints):
            words = step.words if step.state in ("done", "nothing") else f"{step.state}: {step.words}"
            yield _said(f"{step.name}-project-state", words, acts=step.planned or step.state == "done")
            continue
        where, taken = ", ".join(pruned.archived) or "the archive", pruned.taken
        moves = [Gone(ref_of(one["id"]), one["summary"], where, one["createdAt"][:10]) for one in taken.events]
        moves += [Gone(None, name, where) for name in taken.checkpoints]
        kinds = {"event": taken.events, "checkpoint": taken.checkpoints}
        what = (" or ".join(kind for kind, gone in kinds.items() if gone), "archived")
        count = len(moves)
        yield RuleReport("prune-project-state", FOLDER, count, 0, count, 0, tuple(moves), (), what, step.words)
