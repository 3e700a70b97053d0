"""What Brief, the header and the pane of what waits need beside the files: asks that wait, and muted monitors."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime

from memory.errors import RefusedError
from memory.files.monitors.model import FILE as MONITORS
from memory.files.monitors.model import Monitor
from memory.files.snapshot import Snapshot
from memory.monitoring.run.ledger import key_of, ledger_of
from memory.trust.asks import Ask
from memory.trust.records import ConsentDecision
from memory.workspace import Workspace


@dataclass(frozen=True, slots=True)
class WaitingAsk:
    """An ask that waits for a person, `why` in a few words.

    `place` is the memory file that asks for it, or the name of another system, `ref` the entry if one does, `monitor`
    the monitor if it is one.
    """

    ask: Ask
    why: str
    place: str
    ref: str = ""
    monitor: Monitor | None = None

    @property
    def role(self) -> str:
        """What it would do, in one word."""
        return {"remediate": "fix", "url": "check"}.get(self.ask.role, self.ask.role)


@dataclass(frozen=True, slots=True)
class Notice:
    """What the record and the approvals add to the files: asks that wait for an approval, and muted monitors."""

    waiting: tuple[WaitingAsk, ...] = ()
    muted: tuple[tuple[Monitor, datetime], ...] = ()
    all_muted: datetime | None = None
    resting: frozenset[str] = frozenset()
    """The refs of monitors that currently do not run, for any reason."""


def notice(
    workspace: Workspace, snapshot: Snapshot, now: datetime, decided: Iterable[tuple[str, Ask, ConsentDecision]]
) -> Notice:
    """Return the asks that wait for an approval and the muted monitors, without reading any result.

    `decided` are the asks of all systems: the system, the ask, and the decision about it.
    """
    monitors = {monitor.name: monitor for monitor in reversed(snapshot.monitors.monitors)}
    # A waiting task is the only open one with its title.
    tasks = {task.title: task for task in snapshot.tasks.open}
    waiting, resting = [], set()
    for system, ask, decision in decided:
        if decision.allowed:
            continue
        monitor = monitors.get(ask.name) if ask.file == MONITORS else None
        task = tasks.get(ask.name) if ask.role == "action" else None
        if monitor is not None and ask.role != "remediate":
            resting.add(monitor.ref)
        if decision.waits:
            ref = next((one.ref for one in (monitor, task) if one is not None), "")
            place = ask.file if system == "files" else system
            waiting.append(WaitingAsk(ask, decision.why, place, ref, monitor))
    mutes: dict[str, datetime] = {}
    if monitors:
        with closing(ledger_of(workspace)) as ledger, suppress(RefusedError):
            mutes = {key: until for key, until in ledger.mutes().items() if until > now}
    muted = [(one, mutes[key]) for one in snapshot.monitors.monitors if (key := key_of(one.name)) in mutes]
    return Notice(tuple(waiting), tuple(muted), mutes.get("*"), frozenset(resting))
