"""One cycle of the automation: sync, recall and prune by the settings, with every step in the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import MemdeckError

from .files.model import Json, plural
from .files.store import StateStore
from .recall.recall import Engine, Recalled, apply, preview, scope_of_recall
from .retention import Pruned, prune
from .sources import Synced, sync

if TYPE_CHECKING:
    from memory.storage import Change

_TYPES = {"codex": ("codex-local",), "claude": ("claude-local",), "auto": ("codex-local", "claude-local")}


@dataclass(frozen=True, slots=True)
class CycleStep:
    """What a step of a cycle did: `name` is sync, recall or prune; `state` done, nothing, off or failed.

    `planned` says of a step of a dry run that the run would do something.
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
        return (
            f"{self.name}: {self.words}"
            if self.state in ("done", "nothing")
            else f"{self.name} {self.state}: {self.words}"
        )


@dataclass(frozen=True, slots=True)
class Cycle:
    """One cycle: its steps in order, and what each step did in full (None where it did not run)."""

    steps: tuple[CycleStep, ...]
    synced: Synced | None = None
    recalled: Recalled | None = None
    pruned: Pruned | None = None
    warnings: tuple[str, ...] = ()

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
        """The changes that it made."""
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
            "warnings": list(self.warnings),
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
    """Do one cycle by `automation.*` and `retention.*`; what is off is said to be off, and a step that fails stops no
    other.

    `may_read` returns why a source is not to be read unattended, "" where it is. A dry run syncs nothing and writes
    nothing. Errors of the settings and of the state are raised: without them there is nothing to go by.
    """
    memory = store.memory()
    settings = memory.config["automation"]
    _ = memory.state
    steps: list[CycleStep] = []
    warnings: list[str] = []
    synced = _sync(store, settings, home, actor, now, dry_run, may_read, steps, warnings)
    recalled = _recall(store, settings, actor, now, dry_run, engine, steps, warnings)
    pruned = _prune(store, actor, now, dry_run, steps, warnings)
    return Cycle(tuple(steps), synced, recalled, pruned, tuple(warnings))


def _failure(name: str, error: MemdeckError) -> CycleStep:
    return CycleStep(name, "failed", error.message, error.code)


def _sync(
    store: StateStore,
    settings: Json,
    home: Path | None,
    actor: str,
    now: datetime,
    dry_run: bool,
    may_read: Callable[[Json], str] | None,
    steps: list[CycleStep],
    warnings: list[str],
) -> Synced | None:
    if not settings["importSyncBeforeRecall"]:
        steps.append(CycleStep("sync", "off", "automation.importSyncBeforeRecall is false"))
        return None
    types = _TYPES[settings["provider"]]
    try:
        sources = [source for source in store.memory().sources if source["type"] in types]
    except MemdeckError as error:
        steps.append(_failure("sync", error))
        return None
    wanted = []
    for source in sources:
        why = may_read(source) if may_read is not None else ""
        if why:
            warnings.append(f"{source['id']}: {why}")
        else:
            wanted.append(source["id"])
    if not wanted:
        steps.append(CycleStep("sync", "nothing", f"no source of {settings['provider']} to read"))
        return None
    if dry_run:
        steps.append(CycleStep("sync", "nothing", f"would read {plural(len(wanted), 'source')}", planned=True))
        return None
    try:
        synced = sync(store, wanted, home=home, actor=actor, now=now, quiet=True)
    except MemdeckError as error:
        steps.append(_failure("sync", error))
        return None
    for result in synced.results:
        warnings += [f"{result.source}: {words}" for words in (*result.failed, *result.warnings)]
        failed = len(result.failed)
        words = result.text() + (f" ({result.failed[0]})" if failed else "")
        state = "failed" if failed else "done" if result.imported else "nothing"
        steps.append(CycleStep("sync", state, words, "state.sync.failed" if failed else ""))
    return synced


def _recall(
    store: StateStore,
    settings: Json,
    actor: str,
    now: datetime,
    dry_run: bool,
    engine: Engine | None,
    steps: list[CycleStep],
    warnings: list[str],
) -> Recalled | None:
    if not settings["autoRecall"]:
        steps.append(CycleStep("recall", "off", "automation.autoRecall is false"))
        return None
    try:
        memory = store.memory()
        shown = preview(memory, scope_of_recall(memory.config), None if dry_run else engine)
        if shown.note:
            warnings.append(shown.note)
        if not shown.events:
            steps.append(CycleStep("recall", "nothing", "no event waits"))
            return None
        words = f"{plural(len(shown.events), 'event')}: {shown.digest.text()}"
        if dry_run:
            steps.append(CycleStep("recall", "nothing", f"would recall {words}", planned=True))
            return None
        done = apply(store, shown, actor=actor, now=now)
    except MemdeckError as error:
        steps.append(_failure("recall", error))
        return None
    steps.append(CycleStep("recall", "done", words))
    return done


def _prune(
    store: StateStore, actor: str, now: datetime, dry_run: bool, steps: list[CycleStep], warnings: list[str]
) -> Pruned | None:
    try:
        pruned = prune(store, actor=actor, now=now, dry_run=dry_run)
    except MemdeckError as error:
        steps.append(_failure("prune", error))
        return None
    warnings += pruned.taken.warnings
    if pruned.taken.skipped is not None:
        steps.append(CycleStep("prune", "off", pruned.taken.skipped))
        return pruned
    words = ("would take " if dry_run and pruned.taken.any else "") + pruned.taken.text()
    state = "done" if pruned.taken.any and not dry_run else "nothing"
    steps.append(CycleStep("prune", state, words, planned=dry_run and pruned.taken.any))
    return pruned
