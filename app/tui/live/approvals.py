"""What waits for an approval in the open workspace, as the command line counts it: asked for again where it changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from memory.errors import MemdeckError

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot
    from memory.systems.approvals import Approval
    from memory.trust.consent import Ask, Trust
    from memory.workspace import Workspace

LASTS = timedelta(seconds=20)
"""How long it stays known what was decided; to find out takes a look at every command and its scripts."""


class _Basis(NamedTuple):
    """What everything depends on: when it was last asked for, and what is asked for."""

    since: datetime
    decisions: int
    monitors: tuple[Ask, ...]
    tasks: tuple[Ask, ...]
    others: tuple[tuple[str, Ask], ...]


class KnownApprovals:
    """Keeps what was asked for and decided; for one thread at a time."""

    def __init__(self, trust: Callable[[], Trust | None], environ: Mapping[str, str], *, safe: bool = False) -> None:
        """Nothing is asked yet; `trust` reads what the person decided. `safe`: systems are not handed it."""
        self._trust, self._environ, self._safe = trust, environ, safe
        self._asked: dict[str, tuple[object, tuple[Ask, ...]]] = {}
        self._others: tuple[int, tuple[tuple[str, Ask], ...]] = (0, ())
        self._basis: _Basis | None = None
        self._found: tuple[Approval, ...] = ()
        self._kept: Trust | None = None

    @property
    def since(self) -> datetime | None:
        """When everything was last asked for anew."""
        return None if self._basis is None else self._basis.since

    def look(
        self, workspace: Workspace, snapshot: Snapshot, now: datetime, decisions: int, other_changes: int
    ) -> tuple[Approval, ...]:
        """Return all that is asked for, the same object as before where nothing changed; asks know no line.

        `decisions` and `other_changes` count what was decided here, and how often other files than those of entries
        may have changed. What is decided elsewhere, and other files that commands name, are seen after `LASTS`.
        """
        from memory.systems.approvals import Approval
        from memory.systems.files import monitors_want
        from memory.trust.asks import task_asks_anywhere

        before = self._basis
        if before is None or before.decisions != decisions or not timedelta(0) <= now - before.since < LASTS:
            before, since = None, now
        else:
            since = before.since
        if before is None or self._others[0] != other_changes:
            others = self._of_others(workspace)
            # What is asked for again is the same object as before, and so not decided again.
            self._others = (other_changes, others if others != self._others[1] else self._others[1])
        monitors = self._own(
            "monitors.md", snapshot, lambda: tuple(replace(ask, line=0) for ask in monitors_want(snapshot))
        )
        tasks = self._own("tasks.md", snapshot, lambda: task_asks_anywhere(snapshot.tasks))
        basis = _Basis(since, decisions, monitors, tasks, self._others[1])
        if basis != before:
            asks = (*(("files", ask) for ask in (*monitors, *tasks)), *self._others[1])
            trust = self._decisions()
            # Most are the same objects as before, of which nothing is looked at again.
            decided = [] if trust is None else trust.decide_all((ask for _, ask in asks), lately=before is not None)
            found = tuple(Approval(name, ask, one) for (name, ask), one in zip(asks, decided, strict=trust is not None))
            self._basis = basis
            if found != self._found:
                self._found = found
        return self._found

    def _own(self, file: str, snapshot: Snapshot, asks: Callable[[], tuple[Ask, ...]]) -> tuple[Ask, ...]:
        """Return what a memory file asks for, asked anew where it is another one."""
        document, known = snapshot.document(file), self._asked.get(file)
        if known is None or known[0] is not document:
            # Where an entry stands changes with each line above it, and nothing is decided by that.
            known = self._asked[file] = (document, asks())
        return known[1]

    def _of_others(self, workspace: Workspace) -> tuple[tuple[str, Ask], ...]:
        """Return what the other systems ask for; nothing of one that is in trouble."""
        from memory.systems import systems_of

        found: list[tuple[str, Ask]] = []
        trust = None if self._safe else self._decisions()
        for system in systems_of(workspace):
            if system.name == "files":
                continue
            with suppress(MemdeckError):
                if trust is not None:
                    system.entrust(trust, self._environ)
                found += [(system.name, ask) for ask in system.wants()]
        return tuple(found)

    def _decisions(self) -> Trust | None:
        """Return the decisions: the same object while the person's settings are, for it knows the scripts it read."""
        trust, kept = self._trust(), self._kept
        if trust is None or kept is None or (kept.workspace, kept.settings) != (trust.workspace, trust.settings):
            self._kept = trust
        return self._kept
