"""The automation: what this machine remembers of it, and one cycle of sync, recall and prune as rules of the report."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.base.safe_text import plural
from memory.base.values import read_object
from memory.errors import MemdeckError
from memory.maintenance.report import Gone, Report, RuleReport
from memory.state.files.model import FOLDER, Json, full_path, moment, stamp
from memory.state.imports.sources import sync
from memory.state.recall.recall import apply, preview, scope_of_recall
from memory.state.retention import prune
from memory.storage.own_folders import StateFolder
from memory.storage.private.record import PrivateRecord

if TYPE_CHECKING:
    from memory.state.files.store import StateStore
    from memory.state.recall.recall import Engine
    from memory.storage import Change


class MachineNotes:
    """The machine's notes about a workspace's state: when the automation ran, and which sources it may read.

    They are outside of the workspace and may be lost at any time. The list of sources is a file of the repository, and
    a repository may come from anyone: sources inside the workspace are read unattended, a folder elsewhere only after
    it was added or synced by hand on this machine.
    """

    def __init__(self, root: Path, folder: StateFolder | None, home: Path | None) -> None:
        """Nothing is read yet; `home` is the person's home folder."""
        self._root, self._home = root, home
        self._record = None if folder is None else PrivateRecord(folder, "state", "automation.json")

    def _read(self) -> dict[str, Any]:
        with suppress(MemdeckError, OSError):
            return {} if self._record is None else read_object(self._record.read().base)
        return {}

    def _note(self, now: datetime, **new: Any) -> None:
        """Store values in the notes; where that cannot be done, they are forgotten."""
        if self._record is not None:
            with suppress(MemdeckError):
                self._record.update(
                    lambda data: json.dumps({**read_object(data), **new}).encode(), command="state", now=now
                )

    def _where(self, source: Json) -> list[str]:
        return [source["type"], os.path.realpath(full_path(source["path"], self._root, self._home))]

    def is_due(self, now: datetime, minutes: int) -> bool:
        """Return whether the last cycle was at least `minutes` ago; a last cycle in the future does not count."""
        last = moment(self._read().get("lastCycleAt"))
        return last is None or last > now or last <= now - timedelta(minutes=minutes)

    def ran(self, now: datetime) -> None:
        """Record that a cycle ran."""
        self._note(now, lastCycleAt=stamp(now))

    def take(self, sources: Iterable[Json], now: datetime) -> None:
        """Record that a person allowed these sources to be read."""
        known = self._read().get("sources", [])
        new = [where for where in map(self._where, sources) if where not in known]
        self._note(now, sources=[*known, *new])

    def refusal(self, source: Json) -> str:
        """Return why a source is not read unattended, "" where it is."""
        where, root = self._where(source), os.path.realpath(self._root)
        if where[1].startswith(root.rstrip("/") + "/") or where in self._read().get("sources", []):
            return ""
        return (
            f"{source['path']} is outside of the workspace, and you have not read it on this machine yet; "
            f"`memdeck state sync {source['id']}` does, and from then on it is read"
        )


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
        settings, _ = memory.config, memory.state
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
        if not settings["automation.importSyncBeforeRecall"]:
            yield said("sync", "off: automation.importSyncBeforeRecall is false")
            return
        wanted, provider = [], settings["automation.provider"]
        for source in self.store.memory().sources:
            if provider in ("auto", source["type"].partition("-")[0]):
                if why := self.unattended.refusal(source):
                    self.warnings.append(f"{source['id']}: {why}")
                else:
                    wanted.append(source["id"])
        if not wanted:
            yield said("sync", f"no source of {provider} to read")
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
        if not settings["automation.autoRecall"]:
            yield said("recall", "off: automation.autoRecall is false")
            return
        memory = self.store.memory()
        shown = preview(memory, scope_of_recall(memory.config), None if self.dry_run else self.engine)
        self.warnings += filter(None, [shown.document["note"]])
        words = f"{plural(len(shown.events), 'event')}: {shown.summary}"
        if shown.events and not self.dry_run:
            self.changes.append(apply(self.store, shown, actor=self.actor, now=self.now).change)
        planned = f"would recall {words}" if self.dry_run else words
        yield said("recall", planned if shown.events else "no events are waiting", acts=bool(shown.events))

    def _prune(self, _settings: Json) -> Iterator[RuleReport]:
        done = prune(self.store, actor=self.actor, now=self.now, dry_run=self.dry_run)
        self.changes += done.changes
        words = done.text(planned=self.dry_run)
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
