"""One cycle of the automation: sync, recall and prune according to the settings, each a rule of the report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory.base.safe_text import plural
from memory.errors import MemdeckError
from memory.maintenance.report import Gone, Report, RuleReport

from .files.model import FOLDER, Json
from .recall.recall import apply, preview, scope_of_recall
from .retention import prune
from .sources import sync

if TYPE_CHECKING:
    from memory.storage import Change

    from .files.store import StateStore
    from .machine_notes import MachineNotes
    from .recall.recall import Engine


@dataclass(slots=True)
class Cycle:
    """One cycle by `automation.*` and `retention.*`. A dry run syncs nothing and writes nothing.

    `unattended` knows which sources may be read, `engine` replaces the deterministic one in a recall.
    """

    store: StateStore
    unattended: MachineNotes
    engine: Engine | None
    home: Path | None
    actor: str
    now: datetime
    dry_run: bool
    changes: list[Change | None] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def report(self) -> Report:
        """Run the steps and return what they did; one that fails does not stop the others.

        Errors of the settings and of the state are raised, because no step can run without them.
        """
        memory = self.store.memory()
        settings, _ = memory.config["automation"], memory.state
        rules: list[RuleReport] = []
        for name, step in (("sync", self._sync), ("recall", self._recall), ("prune", self._prune)):
            try:
                rules += step(settings)
            except MemdeckError as error:
                rules.append(said(name, f"failed: {error.message}"))
        done = [change.id for change in self.changes if change is not None]
        warnings = tuple(f"project state: {words}" for words in self.warnings)
        return Report(self.dry_run, self.now, tuple(rules), warnings, change=done[-1] if done else None)

    def _sync(self, settings: Json) -> Iterator[RuleReport]:
        if not settings["importSyncBeforeRecall"]:
            yield said("sync", "off: automation.importSyncBeforeRecall is false")
            return
        wanted = []
        for source in self.store.memory().sources:
            if settings["provider"] in ("auto", source["type"].partition("-")[0]):
                if why := self.unattended.refusal(source):
                    self.warnings.append(f"{source['id']}: {why}")
                else:
                    wanted.append(source["id"])
        if not wanted:
            yield said("sync", f"no source of {settings['provider']} to read")
        elif self.dry_run:
            yield said("sync", f"would read {plural(len(wanted), 'source')}", acts=True)
        else:
            done = sync(self.store, wanted, home=self.home, actor=self.actor, now=self.now, quiet=True)
            self.changes.append(done.change)
            for one in done.results:
                self.warnings += [f"{one.source}: {words}" for words in (*one.failed, *one.warnings)]
                words = f"failed: {one.text()} ({one.failed[0]})" if one.failed else one.text()
                yield said("sync", words, acts=bool(one.imported and not one.failed))

    def _recall(self, settings: Json) -> Iterator[RuleReport]:
        if not settings["autoRecall"]:
            yield said("recall", "off: automation.autoRecall is false")
            return
        memory = self.store.memory()
        shown = preview(memory, scope_of_recall(memory.config), None if self.dry_run else self.engine)
        self.warnings += filter(None, [shown.document["note"]])
        words = f"{plural(len(shown.events), 'event')}: {shown.summary}"
        if shown.events and not self.dry_run:
            self.changes.append(apply(self.store, shown, actor=self.actor, now=self.now).change)
        planned = f"would recall {words}" if self.dry_run else words
        yield said("recall", planned if shown.events else "no event waits", acts=bool(shown.events))

    def _prune(self, _settings: Json) -> Iterator[RuleReport]:
        done = prune(self.store, actor=self.actor, now=self.now, dry_run=self.dry_run)
        self.changes += done.changes
        self.warnings += done.warnings
        words = f"would take {done.text()}" if self.dry_run and done.any else done.text()
        if not (done.events or done.checkpoints):
            yield said("prune", f"off: {done.skipped}" if done.skipped else words, acts=done.any)
            return
        where = ", ".join(done.archived) or "the archive"
        moves = [Gone(f"state#{one['id']}", one["summary"], where, one["createdAt"][:10]) for one in done.events]
        moves += [Gone(None, name, where) for name in done.checkpoints]
        what, count = ("event or checkpoint", "archived"), len(moves)
        yield RuleReport("prune-project-state", FOLDER, count, 0, count, 0, tuple(moves), (), what, words)


def said(step: str, words: str, *, acts: bool = False) -> RuleReport:
    """Return the rule of a step that moves nothing, with what it did in words."""
    return RuleReport(f"{step}-project-state", FOLDER, 0, 0, 0, 0, said=words, acts=acts)
