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
    Json,
)
from memory.state.files.store import StateStore, entry_path
from memory.state.look import StateLook
from memory.state.projections.files import NAMES, path_of
from memory.state.unattended import Unattended

from .protocol import Advice, BriefLine, Contribution, PlainSystem
from .state_reading import StateReading, ref_of

if TYPE_CHECKING:
    from memory.base.items import Item, Skipped, Taken
    from memory.base.problems import Problem
    from memory.maintenance import Report, RuleReport
    from memory.search import Record
    from memory.state.automate import Cycle
    from memory.state.diff import SectionDiff
    from memory.state.recall.recall import Engine, Recalled, RecallPreview
    from memory.state.repair_plan import RepairPlan
    from memory.trust.consent import Ask, Trust
    from memory.workspace import Outcome, Workspace

_FILES = (STATE, EVENTS, SOURCES, CONFIG, ANALYSED)
_VIEWS = tuple(map(path_of, NAMES))


class ProjectState(PlainSystem):
    """The project state of a workspace; `store` is what verbs and other programs use.

    `trust` are the person's decisions, and `environ` what commands may get variables from, where a face set them:
    without, no engine but the deterministic one is used, and no validation command runs.
    """

    name = "state"

    def __init__(self, workspace: Workspace) -> None:
        """Join the workspace's change log; nothing is read yet."""
        self._workspace = workspace
        # The projections and the entry block lie outside of the system's folder, and change with it.
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
        """Tell whether there is anything of the format: memdeck's own folder alone is nothing."""
        root = self._workspace.root
        places = (STATE, EVENTS, SOURCES, CONFIG, CHECKPOINTS)
        return any(os.path.lexists(root / place) for place in places)

    def files(self) -> Iterable[str]:
        """Yield the files of the format but for checkpoints and archive, which nobody edits, and those it shows."""
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
        """Tell whether a file is one of the format, a projection, or the entry file."""
        if name.startswith((f"{FOLDER}/", f"{PROJECTIONS}/")):
            return True
        return name in ENTRY_FILES and name == self._entry()

    def look(self) -> StateLook:
        """Return one look at it; the same object as long as its files are."""
        memory = self.store.memory()
        key: list[Any] = [*memory.checkpoint_names]
        for path in _FILES:
            try:
                # Kept by the store as long as the file is the same.
                key.append(id(self._files.read(path)))
            except MemdeckError as error:
                key.append(error.code)
        if self._last is None or self._last.key != key:
            self._last = StateLook(memory, key)
        return self._last

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
        """Return what `state validate` finds wrong, but for what depends on the time."""
        from memory.state.checks.check import validate

        found = (one.problem() for one in validate(self.store.memory(), None) if one.level != "pass")
        return tuple(problem for problem in found if names is None or problem.file in names)

    def records(
        self, kinds: Collection[str] | None = None, refused: MutableMapping[str, MemdeckError] | None = None
    ) -> Iterator[Record]:
        """Yield the parts of the bundle, then the events, the newest first, those of the archive behind."""
        from .state_records import records_of

        if kinds is None or self.name in kinds:
            yield from records_of(self.store.memory(), refused)

    def items(self) -> Iterator[Item | Skipped]:
        """Yield the bundle, then the events with those of the archive."""
        from memory.base.items import Item
        from memory.state.exchange import parts_of

        yield from parts_of(self.store.memory())
        for one in self.records():
            if one.file != STATE:
                yield Item("event", one.title, one.text, f"{one.file}:{one.line + 1}", one.date, one.tags)

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:  # noqa: ARG002
        """Return what becomes of items: open tasks become next steps, gotchas gotchas."""
        from memory.state.exchange import take

        return take(self.store, items, actor=actor, now=now)

    def status(self, now: datetime) -> Mapping[str, object]:
        """Return what `state status` says; MemdeckError where the state or its events cannot be read."""
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
        """Yield how many checkpoints and events there are, and what `state status` says to do next."""
        from memory.state.files.model import plural
        from memory.state.status import status_of

        status = status_of(self.store.memory(), now)
        words = f"{plural(status.checkpoints, 'checkpoint')}, {plural(status.totals['all'], 'event')}"
        after = status.json()["next"]
        yield BriefLine(self.name, "state#status", "state", words, after["why"] if after["command"] else "")

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:  # noqa: ARG002
        """Yield the current focus, whatever the message is; nothing where there is none."""
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
        """Yield the sources of the list that are not read by themselves on this machine."""
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
        """Do a cycle of the automation, at most one in `automation.intervalMinutes` unless `force`.

        Every step is in the report. What keeps the cycle from running is a warning: it stops no other system.
        """
        import time

        from memory.maintenance import Report

        begun = time.perf_counter()
        try:
            memory = self.store.memory()
            minutes = memory.config["automation"]["intervalMinutes"]
            _ = memory.state
            if not force and not self.unattended.is_due(now, minutes):
                rule = _said("automate-project-state", f"the last cycle was less than {minutes} minutes ago")
                return Report(dry_run, now, (rule,), duration_ms=_milliseconds(begun))
            cycle = self.automate(now, actor=actor, dry_run=dry_run, attended=False)
        except MemdeckError as error:
            return Report(dry_run, now, (), (f"project state: {error}",), _milliseconds(begun))
        if not dry_run:
            self.unattended.ran(now)
        change = next((one.id for one in reversed(cycle.changes)), None)
        warnings = tuple(f"project state: {words}" for words in cycle.warnings)
        return Report(dry_run, now, tuple(_rules(cycle)), warnings, _milliseconds(begun), change=change)

    def automate(self, now: datetime, *, actor: str, dry_run: bool = False, attended: bool = True) -> Cycle:
        """Do a cycle of the automation now; unattended, only sources that a person let be read are read."""
        from memory.state.automate import run_once

        engine = None if dry_run else self.engine()
        may_read = None if attended else self.unattended.refusal
        return run_once(
            self.store, home=self.home, actor=actor, now=now, dry_run=dry_run, may_read=may_read, engine=engine
        )

    # -- what the pane asks for, as outcomes of changes -------------------------------------------------------------

    def entrust(self, trust: Trust | None, environ: Mapping[str, str]) -> None:
        """Take the person's decisions, and what commands may get variables from."""
        self.trust, self.environ = trust, environ

    def wants(self) -> tuple[Ask, ...]:
        """Return what it asks to run: the validation commands of the bundle, and the engine of the settings."""
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
        from memory.workspace import Outcome

        done: Recalled = apply(self.store, shown, actor=actor, now=now)
        if done.change is None:
            raise MemdeckError("state.recall.nothing", "there is nothing to recall")
        return Outcome(done.change, done.change.summary)

    def repair(self, shown: RepairPlan, *, actor: str, now: datetime) -> Outcome:
        """Do what a plan of a repair says; errors as `memory.state.checks.repair.repair`."""
        from memory.state.checks.repair import repair
        from memory.workspace import Outcome

        _, change = repair(self.store, shown, actor=actor, now=now)
        return Outcome(change, change.summary)

    def edit(self, section: str, value: Any, base: Any, *, actor: str, now: datetime) -> Outcome:
        """Give a section another value; errors as `memory.state.operations.edit`."""
        from memory.state.operations import edit
        from memory.workspace import Outcome

        done = edit(self.store, section, value, base=base, actor=actor, now=now)
        if done.change is None:
            raise MemdeckError("state.unchanged", done.summary)
        return Outcome(done.change, done.summary)

    def diff(self, before: str, after: str) -> tuple[SectionDiff, ...]:
        """Return the diff of two checkpoints; see `StateLook.diff`."""
        return self.look().diff(before, after)


def _milliseconds(begun: float) -> float:
    import time

    return round((time.perf_counter() - begun) * 1000, 1)


def _said(rule: str, words: str, *, acts: bool = False) -> RuleReport:
    from memory.maintenance import RuleReport

    return RuleReport(rule, FOLDER, 0, 0, 0, 0, said=words, acts=acts)


def _rules(cycle: Cycle) -> Iterator[RuleReport]:
    """Yield a part of the report for each step; what a prune archives is counted, what goes from the archive too."""
    from memory.maintenance import RuleReport
    from memory.maintenance.others import Gone

    for step in cycle.steps:
        taken = cycle.pruned.taken if step.name == "prune" and cycle.pruned is not None else None
        if taken is None or not (taken.events or taken.checkpoints):
            words = step.words if step.state in ("done", "nothing") else f"{step.state}: {step.words}"
            yield _said(f"{step.name}-project-state", words, acts=step.planned or step.state == "done")
            continue
        where = ", ".join(cycle.pruned.archived) if cycle.pruned else ""
        moves = [_gone(event, where) for event in taken.events]
        moves += [Gone(None, name, where or "the archive") for name in taken.checkpoints]
        count = len(moves)
        noun = ("event or checkpoint", "archived") if taken.events and taken.checkpoints else ("event", "archived")
        noun = noun if taken.events else ("checkpoint", "archived")
        yield RuleReport("prune-project-state", FOLDER, count, 0, count, 0, tuple(moves), (), noun, step.words)


def _gone(event: Json, where: str) -> Any:
    from memory.maintenance.others import Gone

    return Gone(ref_of(event["id"]), event["summary"], where or "the archive", event["createdAt"][:10])
