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
        return {
            "status": self.status,
            "steps": [step.json() for step in self.steps],
            "importSync": {
                "attempted": self.synced is not None,
                "results": [one.json() for one in self.synced.results] if self.synced else [],
            },
            "recall": {
                "attempted": recalled is not None,
                "applied": recalled is not None and recalled.outcome == "applied",
                "rawEventCount": len(recalled.preview.events) if recalled else 0,
                "groupedItemCount": len(recalled.preview.groups) if recalled else 0,
                "noopReason": None
                if recalled is None or recalled.outcome == "applied"
                else recalled.preview.digest.text(),
                "engine": recalled.preview.engine if recalled else None,
            },
            "prune": self.pruned.json() if self.pruned else {"attempted": False},
            "warnings": self.warnings,
            "changes": [change.id for change in self.changes],
        }


def run_once(
    store: StateStore,
    *,
    home: Path | None,
    actor: str,
    now: datetime,
    dry_run: bool = False,
    may_read: Callable[[Json], str] | None = None,
    engine: Engine | None = None,
) -> Cycle:
    """Run one cycle by `automation.*` and `retention.*`.

    A step that is off is reported as off, and a step that fails does not stop the others. `may_read` returns why a
    source must not be read unattended, "" where it may be. A dry run syncs nothing and writes nothing. Errors of the
    settings and of the state are raised, because no step can run without them.
    """
    memory = store.memory()
    settings = memory.config["automation"]
    _ = memory.state
    cycle = Cycle()
    for name, steps in (
        ("sync", _sync(cycle, store, settings, home, actor, now, dry_run, may_read)),
        ("recall", _recall(cycle, store, settings, actor, now, dry_run, engine)),
        ("prune", _prune(cycle, store, actor, now, dry_run)),
    ):
        try:
            cycle.steps.extend(steps)
        except MemdeckError as error:
            cycle.steps.append(CycleStep(name, "failed", error.message, error.code))
    return cycle


def _sync(
    cycle: Cycle,
    store: StateStore,
    settings: Json,
    home: Path | None,
    actor: str,
    now: datetime,
    dry_run: bool,
    may_read: Callable[[Json], str] | None,
) -> Iterator[CycleStep]:
    if not settings["importSyncBeforeRecall"]:
        yield CycleStep("sync", "off", "automation.importSyncBeforeRecall is false")
        return
    wanted = []
    for source in store.memory().sources:
        if source["type"] not in _TYPES[settings["provider"]]:
            continue
        why = may_read(source) if may_read is not None else ""
        if why:
            cycle.warnings.append(f"{source['id']}: {why}")
        else:
            wanted.append(source["id"])
    if not wanted:
        yield CycleStep("sync", "nothing", f"no source of {settings['provider']} to read")
        return
    if dry_run:
        yield CycleStep("sync", "nothing", f"would read {plural(len(wanted), 'source')}", planned=True)
        return
    cycle.synced = sync(store, wanted, home=home, actor=actor, now=now, quiet=True)
    for result in cycle.synced.results:
        cycle.warnings += [f"{result.source}: {words}" for words in (*result.failed, *result.warnings)]
        failed = len(result.failed)
        words = result.text() + (f" ({result.failed[0]})" if failed else "")
        state = "failed" if failed else "done" if result.imported else "nothing"
        yield CycleStep("sync", state, words, "state.sync.failed" if failed else "")


def _recall(
    cycle: Cycle, store: StateStore, settings: Json, actor: str, now: datetime, dry_run: bool, engine: Engine | None
) -> Iterator[CycleStep]:
    if not settings["autoRecall"]:
        yield CycleStep("recall", "off", "automation.autoRecall is false")
        return
    memory = store.memory()
    shown = preview(memory, scope_of_recall(memory.config), None if dry_run else engine)
    if shown.note:
        cycle.warnings.append(shown.note)
    words = f"{plural(len(shown.events), 'event')}: {shown.digest.text()}"
    if not shown.events:
        yield CycleStep("recall", "nothing", "no event waits")
    elif dry_run:
        yield CycleStep("recall", "nothing", f"would recall {words}", planned=True)
    else:
        cycle.recalled = apply(store, shown, actor=actor, now=now)
        yield CycleStep("recall", "done", words)


def _prune(cycle: Cycle, store: StateStore, actor: str, now: datetime, dry_run: bool) -> Iterator[CycleStep]:
    cycle.pruned = prune(store, actor=actor, now=now, dry_run=dry_run)
    taken = cycle.pruned.taken
    cycle.warnings += taken.warnings
    if taken.skipped is not None:
        yield CycleStep("prune", "off", taken.skipped)
    elif dry_run and taken.any:
        yield CycleStep("prune", "nothing", f"would take {taken.text()}", planned=True)
    else:
        yield CycleStep("prune", "done" if taken.any else "nothing", taken.text())
