"""Curated memory as a system: `.agh/memory` and the memories of agents beside it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.base.items import Item, Skipped, Taken
from memory.base.problems import Problem, copies_in
from memory.curated.files import hand_written, index_lines, strangers, suspicious_passages
from memory.curated.sides import FILE, FOLDER, HOME, CuratedReading, agent_root, agents_in, person_store
from memory.errors import MemdeckError, RefusedError
from memory.search.records import Record, UnreadText, derived_ref
from memory.storage import Change, FileChange
from memory.storage.changes import is_agent
from memory.system import Advice, Contribution, System
from memory.systems.suspects import gate_of
from memory.workspace import Outcome, Workspace

from .curated import Curated
from .model import INDEX, WORKSPACE, Invalid, Memory, OperationCall, Root

if TYPE_CHECKING:
    from memory.curated.operations.records import CuratedOverview
    from memory.maintenance.report import Report
    from memory.trust.asks import Ask
    from memory.trust.consent import Trust


class CuratedLook(NamedTuple):
    """A snapshot of the memories of a workspace; `error` says why there are none.

    `marks` change with each decision and dream; everything else is looked up in `curated`.
    """

    memories: tuple[Memory, ...]
    invalid: tuple[Invalid, ...]
    error: MemdeckError | None = None
    marks: tuple[int, ...] = ()
    curated: Curated | None = None

    def overview(self, now: datetime) -> CuratedOverview:
        """Return everything else at one time: shadows, recalls, decisions, health."""
        from memory.curated.operations.records import CuratedOverview, overview

        if self.curated is None or self.error is not None:
            return CuratedOverview(error=self.error)
        return overview(self.curated, now)


_PARTS = {
    "user": ("rules", "about the user"), "feedback": ("rules", "how to work"),
    "project": ("decisions", "about the project"), "reference": ("rest", "where to look"),
}  # fmt: skip
"""The part of a prompt for each type of memory, and why it is sent."""


class CuratedItem(NamedTuple):
    """The item behind a record: the line in the file, from 0, and the memory, None for a line of an index."""

    line: int = 0
    memory: Memory | None = None

    def json(self) -> dict[str, Any]:
        """Return the fields of the memory for programs."""
        if self.memory is None:
            return {}
        header = self.memory.header
        replaced = header.provenance.superseded_by
        return {"description": header.description, "type": header.type, **self.memory.root.json(),
                "superseded_by": replaced}  # fmt: skip


class CuratedMemory(System):
    """The curated memory of a workspace; verbs and other programs use `curated`.

    `curated` also reaches the person's own memories (`$AGH_HOME`); check, search and status cover the workspace only.
    """

    name = "curated"

    def __init__(self, workspace: Workspace) -> None:
        """Join the workspace's change log; nothing is read yet."""
        self._workspace = workspace
        self._files = workspace.add_store(FOLDER, CuratedReading())
        self._last: CuratedLook | None = None

    def entrust(self, trust: Trust, environ: Mapping[str, str]) -> None:
        """Set the person's decisions: approved commands of the settings may be run."""
        from .settings import models_of

        try:
            self.curated.models = models_of(self.curated.settings, trust, environ)
        except MemdeckError:
            return  # the error is reported where the memory is used

    @cached_property
    def curated(self) -> Curated:
        """The memories that are visible from the workspace."""
        home = self._workspace.home
        state = self._workspace.state.folder.home
        person = None if home is None else person_store(home, state)
        made = Curated(self._files, person, state_home=state, home=home)
        made.gate = gate_of(self._workspace)
        return made

    def present(self) -> bool:
        """Return whether the workspace has an identity, or files of memories that came without one."""
        if "workspace" not in self.curated.sides:
            return False
        return os.path.lexists(self._workspace.root / FOLDER / FILE) or bool(
            self.look().memories or self.look().invalid
        )

    def _roots(self) -> tuple[Root, ...]:
        agents = agents_in(self._files.root)
        return (WORKSPACE, *(agent_root(agent, "workspace") for agent in agents))

    def files(self) -> Iterable[str]:
        """Yield the identity, the memories and the indexes."""
        yield f"{FOLDER}/{FILE}"
        for root in self._roots():
            yield f"{FOLDER}/{root.folder}/{INDEX}"
        for one in self.look().memories:
            yield f"{FOLDER}/{one.root.folder}/{one.filename}"

    def folders(self) -> Iterable[str]:
        """Yield the folders of memories."""
        return [FOLDER, *(f"{FOLDER}/{root.folder}" for root in self._roots())]

    def owns(self, name: str) -> bool:
        """Return whether a file is in the folder of the system."""
        return name.startswith(f"{FOLDER}/")

    def close(self) -> None:
        """Close the databases of both sides, and the change log of the person's side; the workspace closes its own."""
        made: Curated | None = self.__dict__.get("curated")
        if made is None:
            return
        made.close()
        if "global" in made.sides:
            made.sides["global"].store.together.close()

    def look(self) -> CuratedLook:
        """Return a snapshot of the memories; the same object as long as they do not change."""
        roots = self._roots()
        try:
            memories, invalid = tuple(self.curated.memories(roots)), tuple(self.curated.invalid(roots))
            marks = tuple(side.records.newest() for side in self.curated.sides.values())
            found = CuratedLook(memories, invalid, None, marks, self.curated)
        except MemdeckError as error:
            found = CuratedLook((), (), error)
        if self._last is None or _facts(self._last) != _facts(found):
            self._last = found
        return self._last

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
        """Return problems: files that are no memory, an unreadable identity, folders that share an identity."""
        found: list[Problem] = []
        shown = f"{FOLDER}/{FILE}"
        try:
            _ = self.curated.settings
            look = self.look()
            if look.error is not None:
                raise look.error
            for one in look.invalid:
                path = f"{FOLDER}/{one.root.folder}/{one.filename}"
                found.append(Problem("error", path, one.line, one.code, one.reason))
            for root in self._roots():
                top, words = f"{FOLDER}/{root.folder}", "is not a memory: nothing reads it"
                found += (Problem("warning", f"{top}/{name}", 0, "memory.file.unread", f"{name} {words}")
                          for name in strangers(self._files, root))  # fmt: skip
                found += (Problem("warning", f"{top}/{INDEX}", line + 1, "line.unread", f"{file} is not there")
                          for line, _, file in self._hand_written(root) if file)  # fmt: skip
            for copy in self.curated.sides["workspace"].claim.copies:
                words = f"{copy} has the same workspace_id: remove {FILE} from the copy; its next write makes one"
                found.append(Problem("warning", shown, 1, "memory.workspace.copied", words))
        except MemdeckError as error:
            line = error.details.get("line", 0)
            file = str(error.details.get("file", shown))
            found.append(Problem("error", file, line if isinstance(line, int) else 0, error.code, error.message))
        for folder in self.folders():
            found += copies_in(self._workspace.root / folder, folder)
        return tuple(one for one in found if names is None or one.file in names)

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:  # noqa: ARG002
        """Remove old decisions, and dream where the gates are open; see `upkeep`."""
        from .upkeep import maintain

        return maintain(self.curated, now, actor=actor, dry_run=dry_run)

    def _read(self, refused: MutableMapping[str, MemdeckError] | None) -> tuple[Memory, ...]:
        """Return the memories; files that are no memory, or why there are none, go to `refused`, or are raised."""
        look = self.look()
        if look.error is not None:
            if refused is None:
                raise look.error
            refused[f"{FOLDER}/{FILE}"] = look.error
        if refused is None:
            return look.memories
        for bad in look.invalid:
            path = f"{FOLDER}/{bad.root.folder}/{bad.filename}"
            refused[path] = MemdeckError(bad.code, f"{path}:{bad.line}: {bad.reason}")
        return look.memories

    def records(
        self, kinds: Collection[str] | None = None, refused: MutableMapping[str, MemdeckError] | None = None
    ) -> Iterator[Record]:
        """Yield the memories, the deepest scope first; files that are no memory go to `refused`."""
        if kinds is None or self.name in kinds:
            yield from map(record_of, self._read(refused))
            for root in self._roots():
                yield from self._index_records(root, refused)

    def _hand_written(self, root: Root) -> Iterator[tuple[int, str, str]]:
        """Yield the lines of an index that people wrote; see `hand_written`."""
        text = self._files.read(f"{root.folder}/{INDEX}").data.decode("utf-8", "replace")
        return hand_written(text, {one.filename for one in self.look().memories if one.root == root})

    def _index_records(self, root: Root, refused: MutableMapping[str, MemdeckError] | None) -> list[Record]:
        """Return the lines of an index that people wrote, so that search finds them; errors as in `_read`."""
        path = f"{FOLDER}/{root.folder}/{INDEX}"
        try:
            found = list(self._hand_written(root))
        except MemdeckError as error:
            if refused is None:
                raise
            refused[path] = error
            return []
        return [Record(self.name, path, INDEX, text, UnreadText(number, text)) for number, text, _ in found]

    def also_told(self) -> Iterator[Record]:
        """Yield the person's own memories, and what looks suspicious in the indexes and is no line of a memory."""
        for root in self.curated.existing(self.curated.all_roots()):
            store = self.curated.side_of(root).store
            top = FOLDER if root.side == "workspace" else HOME
            memories = self.curated.memories((root,))
            if root.side != "workspace":
                yield from map(record_of, memories)
            text = store.read(f"{root.folder}/{INDEX}").data.decode("utf-8", "replace")
            for line, part in suspicious_passages(text, set(index_lines(memories).values())):
                yield Record(self.name, f"{top}/{root.folder}/{INDEX}", INDEX, part, CuratedItem(line))

    def items(self) -> Iterator[Item | Skipped]:
        """Yield the memories of the workspace and its agents, and the files that are no memory."""
        from memory.curated.exchange import items_of

        return items_of(self._read(None), self.look().invalid, FOLDER)

    def take(self, items: Sequence[Item], *, place: str = "", actor: str, now: datetime) -> Taken:
        """Convert items to memories of the scope that `place` names; the controller decides on each."""
        from memory.curated.exchange import take

        return take(self.curated, items, place, OperationCall(now, actor))

    def status(self, now: datetime) -> Mapping[str, Any]:  # noqa: ARG002
        """Return how many memories each scope has, and what cannot be read."""
        look = self.look()
        counts: dict[str, int] = {"memories": len(look.memories)}
        for one in look.memories:
            counts[one.root.label] = counts.get(one.root.label, 0) + 1
        number = None if look.error is not None else self.curated.workspace_id()
        error = None if look.error is None else str(look.error)
        return {"counts": counts, "invalid": len(look.invalid), "workspace_id": number, "error": error}

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:
        """Yield the memories that a message may be about, the best first, with the age of an old one.

        Without a message: what people prefer and corrected, then decisions, then where to look. A dream is left out: it
        only repeats memories that are told by themselves.
        """
        from .recall.find import find_about
        from .recall.recall import days_since

        if not self.curated.settings["enabled"]:
            return
        if not message.strip():
            for one in self.curated.memories(self.curated.visible()):
                if one.is_dream:
                    continue
                part, why = _PARTS.get(one.header.type, ("rest", one.header.type))
                yield Contribution(self.name, derived_ref(record_of(one)), one.header.name, one.body, why, 1.0, part)
            return
        answer, settings = find_about(self.curated, message, self.curated.visible(), now=now), self.curated.settings
        for found in () if answer is None else answer.ranked[: settings["recall.top_k"]]:
            memory, days = found.memory, days_since(found.memory.changed, now)
            old = f"\n{days} days old: verify it" if days > settings["recall.freshness.banner_after_days"] else ""
            ref, reason = derived_ref(record_of(memory)), ", ".join(found.why[:-1])
            yield Contribution(self.name, ref, memory.header.name, memory.body + old, reason, found.score)

    def may_be_told(self) -> bool:
        """Return whether the settings let a search tell agents the memories."""
        return bool(self.curated.settings["enabled"])

    def wants(self) -> Iterable[Ask]:
        """Yield the commands that the settings name as models."""
        from .settings import model_asks

        try:
            yield from model_asks(self.curated.settings).values()
        except MemdeckError:
            return

    # -- what the application does ----------------------------------------------------------------------------------

    def propose(
        self, verb: str, values: Mapping[str, Any], seen: str | None = None, *, actor: str, now: datetime
    ) -> Outcome:
        """Write, edit or delete a memory through the controller; `verb` and `values` are those of the operation.

        `seen` is the hash of the file that the person saw; RefusedError `memory.changed` if the file has changed since.
        If no file changes, RefusedError `memory.noop` or `memory.rejected`, with the rule that decided and its reason.
        """
        from .control.carry_out import WORDS
        from .control.decide import changed_meanwhile
        from .control.propose import propose
        from .operations.memories import CANDIDATES, selector

        curated, call = self.curated, OperationCall(now, actor, "tool" if is_agent(actor) else "cli")
        curated.finish_interrupted(now)
        given = {key: value for key, value in values.items() if value is not None}
        if seen is not None and curated.find(given["filename"], *selector(given)).hash != seen:
            raise changed_meanwhile(given["filename"])
        done = propose(curated, CANDIDATES[verb](curated, given, call), call)
        decision = done.decision
        rule = decision.trace[-1].name  # the last one decided
        if decision.op == "reject":
            words = f"rejected by {rule}: {decision.reason}"
            raise RefusedError("memory.rejected", words, "nothing was written")
        if decision.op == "noop":
            words = f"nothing to write, by {rule}: {decision.reason}"
            raise RefusedError("memory.noop", words, "change more than that")
        words = f"{WORDS[decision.op]} memory {decision.target_filename} ({decision.root.label})"
        found = curated.memories([decision.root])
        ref = next((f"curated#{one.key}" for one in found if one.filename == decision.target_filename), None)
        return Outcome(_made(done.change, words, call), words, ref)

    def doctor_lines(self) -> Iterable[Advice]:
        """Yield damaged records, and that the model for recall by meaning is missing."""
        from .providers import LOCAL, active
        from .recall.minilm import INSTALL, is_installed

        try:
            damaged = [path for side in self.curated.sides.values() for path in side.records.damaged()]
            missing = self.curated.settings["recall.semantic"] and not is_installed()
            missing = missing and active(self.curated) is LOCAL
        except MemdeckError:
            return
        if missing:
            yield Advice("recall.semantic is on, but its model is not installed", INSTALL)
        for path in damaged:
            yield Advice(
                f"records of decisions were damaged and started again; the damaged ones are {path}",
                "the memories are whole; remove the file when you do not need it",
            )


def record_of(one: Memory) -> Record:
    """Return the search record of a memory."""
    path = f"{FOLDER if one.root.side == 'workspace' else HOME}/{one.root.folder}/{one.filename}"
    day = datetime.fromtimestamp(one.changed, UTC).date().isoformat()
    return Record("curated", path, one.header.name, one.whole, CuratedItem(0, one), day, (one.header.type,))


def _made(change: Change | None, words: str, call: OperationCall) -> Change:
    """Return the recorded change; for several changes, a placeholder that only has the summary."""
    return change or Change("", call.now, call.actor, "curated", words, (FileChange("", None, None),))


def _facts(look: CuratedLook) -> object:
    """Return what distinguishes two snapshots; errors are compared by their text."""
    return look.memories, look.invalid, str(look.error or ""), look.marks
