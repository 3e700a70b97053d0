"""One cycle of the automation: sync, recall and prune according to the settings, with every step in the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from memory.errors import MemdeckError
from memory.storage import Change

from .files.model import Json, plural
from .files.store import StateStore
from .recall.recall import Engine, Recalled, apply, preview, scope_of_recall
from .retention import Pruned, prune
from .sources import Synced, sync

_TYPES = {"codex": ("codex-local",), "claude": ("claude-local",), "auto": ("codex-local", "claude-local")}


@dataclass(frozen=True, slots=True)
class CycleStep:
    """The result of one step of a cycle: `name` is sync, recall or prune; `state` done, nothing, off or failed.

    `planned` is true for a step of a dry run that would do something in a real run.
    """

    name: str
    state: str
    words: str
    code: str = ""
    planned: bool = False

    def json(self) -> Json:
        """Return it for programs."""
        return {"step": self.name, "state": self.state, "message": self.words, "code": self.code or None}

    def text(self) -> str:
        """Return it as one line for people."""
        name = self.name if self.state in ("done", "nothing") else f"{self.name} {self.state}"
        return f"{name}: {self.words}"


@dataclass(slots=True)
class Cycle:
    """One cycle: its steps in order, and the full result of each step (None where it did not run)."""

    steps: list[CycleStep] = field(default_factory=list)
    synced: Synced | None = None
    recalled: Recalled | None = None
    pruned: Pruned | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether any step failed."""
        return any(step.state == "failed" for step in self.steps)

    @property
    def status(self) -> str:
        """`failed`, `recalled`, `recalled_noop`, `imported` or `idle`; a recall counts for more than a failure."""
        if self.recalled is not None and self.recalled.change is not None:
            return "recalled" if self.recalled.preview.changes else "recalled_noop"
        if self.failed:
            return "failed"
        return "imported" if self.synced is not None and self.synced.imported else "idle"

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes that the cycle made."""
        made = [one.change for one in (self.synced, self.recalled) if one is not None and one.change is not None]
        return (*made, *(self.pruned.changes if self.pruned else ()))

    def json(self) -> Json:
        """Return it for programs."""
        recalled = self.recalled
        shown = None if recalled is None else recalled.preview
        applied = recalled is not None and recalled.outcome == "applied"
        synced = self.synced
        return {
            "status": self.status,
            "steps": [step.json() for step in self.steps],
            "importSync": {
                "attempted": synced is not None,
                "results": [one.json() for one in synced.results] if synced else [],
            },
            "recall": {
                "attempted": recalled is not None,
                "applied": applied,
                "rawEventCount": len(shown.events) if shown else 0,
                "groupedItemCount": len(shown.groups) if shown else 0,
                "noopReason": None if shown is None or applied else shown.digest.text(),
                "engine": shown.engine if shown else None,
            },
            "prune": self.pruned.json() if self.pruned else {"attempted": False},
            "warnings": self.warnings,
            "changes": [change.id for change in self.changes],
        }


@dataclass(slots=True)
class CycleRun:
    """One cycle by `automation.*` and `retention.*`: what it works with.

    `may_read` returns why a source must not be read unattended, "" where it may be. A dry run syncs nothing and writes
    nothing.
    """

    store: StateStore
    home: Path | None
    actor: str
    now: datetime
    dry_run: bool = False
    may_read: Callable[[Json], str] | None = None
    engine: Engine | None = None
    cycle: Cycle = field(default_factory=Cycle)

    def run(self) -> Cycle:
        """Run the cycle.

        A step that is off is reported as off, and a step that fails does not stop the others. Errors of the settings
        and of the state are raised, because no step can run without them.
        """
        memory = self.store.memory()
        settings = memory.config["automation"]
        _ = memory.state
        for name, steps in (
            ("sync", self._sync(settings)),
            ("recall", self._recall(settings)),
            ("prune", self._prune()),
        ):
            try:
                self.cycle.steps.extend(steps)
            except MemdeckError as error:
                self.cycle.steps.append(CycleStep(name, "failed", error.message, error.code))
        return self.cycle

    def _sync(self, settings: Json) -> Iterator[CycleStep]:
        if not settings["importSyncBeforeRecall"]:
            yield CycleStep("sync", "off", "automation.importSyncBeforeRecall is false")
            return
        wanted = []
        for source in self.store.memory().sources:
            if source["type"] in _TYPES[settings["provider"]]:
                if self.may_read is not None and (why := self.may_read(source)):
                    self.cycle.warnings.append(f"{source['id']}: {why}")
                else:
                    wanted.append(source["id"])
        if not wanted:
            yield CycleStep("sync", "nothing", f"no source of {settings['provider']} to read")
            return
        if self.dry_run:
            yield CycleStep("sync", "nothing", f"would read {plural(len(wanted), 'source')}", planned=True)
            return
        synced = sync(self.store, wanted, home=self.home, actor=self.actor, now=self.now, quiet=True)
        self.cycle.synced = synced
        for result in synced.results:
            self.cycle.warnings += [f"{result.source}: {words}" for words in (*result.failed, *result.warnings)]
            failed = f" ({result.failed[0]})" if result.failed else ""
            state = "failed" if failed else "done" if result.imported else "nothing"
            yield CycleStep("sync", state, result.text() + failed, "state.sync.failed" if failed else "")

    def _recall(self, settings: Json) -> Iterator[CycleStep]:
        if not settings["autoRecall"]:
            yield CycleStep("recall", "off", "automation.autoRecall is false")
            return
        memory = self.store.memory()
        shown = preview(memory, scope_of_recall(memory.config), None if self.dry_run else self.engine)
        if shown.note:
            self.cycle.warnings.append(shown.note)
        words = f"{plural(len(shown.events), 'event')}: {shown.digest.text()}"
        if not shown.events:
            yield CycleStep("recall", "nothing", "no event waits")
        elif self.dry_run:
            yield CycleStep("recall", "nothing", f"would recall {words}", planned=True)
        else:
            self.cycle.recalled = apply(self.store, shown, actor=self.actor, now=self.now)
            yield CycleStep("recall", "done", words)

    def _prune(self) -> Iterator[CycleStep]:
        self.cycle.pruned = prune(self.store, actor=self.actor, now=self.now, dry_run=self.dry_run)
        taken = self.cycle.pruned.taken
        self.cycle.warnings += taken.warnings
        if taken.skipped is not None:
            yield CycleStep("prune", "off", taken.skipped)
        elif self.dry_run and taken.any:
            yield CycleStep("prune", "nothing", f"would take {taken.text()}", planned=True)
        else:
            yield CycleStep("prune", "done" if taken.any else "nothing", taken.text())
