"""One run of the monitors: what it uses, what a person decided, and its report: for every monitor that was to run, its
result and what was done about it.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from memory.base.clock import format_utc
from memory.base.safe_text import visible
from memory.files.monitors.model import Monitor
from memory.files.snapshot import Snapshot
from memory.monitoring.alerts import Happening
from memory.monitoring.ledger import MonitorLedger
from memory.monitoring.messages import Addresses, Delivery, Send
from memory.monitoring.result import Around, Result
from memory.trust.asks import Ask, monitor_asks
from memory.trust.consent import Trust, blocked_json
from memory.trust.records import ConsentDecision
from memory.workspace import Workspace


@dataclass(frozen=True, slots=True)
class WatchServices:
    """What a watch uses in addition to the workspace.

    `environ` has the variables for commands and channels, `addresses` where messages can be sent (None: nowhere),
    `send` how (None: by apprise), `pause` how it waits before it checks whether a remediation helped. `planned` is
    called with the names of the monitors that are about to be checked, then `found` with each result as it arrives, in
    the thread of the watch.
    """

    environ: Mapping[str, str]
    addresses: Addresses | None = None
    send: Send | None = None
    pause: Callable[[float], object] | None = None
    found: Callable[[Result], object] | None = None
    cancel: threading.Event | None = None
    planned: Callable[[tuple[str, ...]], object] | None = None


@dataclass(eq=False)
class RunContext:
    """One run, while it has the lead; `snapshot` has the files as they were when it began."""

    workspace: Workspace
    snapshot: Snapshot
    trust: Trust
    ledger: MonitorLedger
    now: datetime
    services: WatchServices
    warnings: list[str] = field(default_factory=list)
    blocked: dict[str, dict[str, object]] = field(default_factory=dict)
    _deciding: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def asks(self) -> tuple[Ask, ...]:
        """The asks of the monitors."""
        return monitor_asks(self.snapshot.monitors.monitors)

    def decide(self, ask: Ask | None) -> ConsentDecision:
        """Return the person's decision; without an ask none is needed.

        Called again before each run, in any thread: earlier commands may have written the files that it names.
        """
        if ask is None:
            return ConsentDecision("pending", "it asks for nothing")
        with self._deciding:
            return self.trust.decide(ask)

    def block(self, ask: Ask, decision: ConsentDecision) -> None:
        """Note that an ask waits for a person; a denied one does not wait."""
        if not decision.allowed and decision.state != "denied":
            self.blocked[f"{ask.role} {decision.id} {ask.name} {decision.why}"] = blocked_json(ask, decision)

    def around(self) -> Around:
        """Return the context for the checks of this run."""
        return Around(
            root=self.workspace.root,
            now=self.now,
            reach=lambda url, _address: self.trust.may_reach(url),
            environ=self.services.environ,
            cancel=self.services.cancel,
            state=self.workspace.state.folder,
        )


@dataclass(frozen=True, slots=True)
class Repair:
    """The result of a remediation: whether it ran, the command, how it failed, and the second check.

    `why` is why it did not run; `blocked`: what waits for a person; `stopped`: it did not help again, and will not run
    until the monitor has been healthy.
    """

    ran: bool
    command: str = ""
    failure: str = ""
    verified: Result | None = None
    why: str = ""
    stopped: bool = False
    blocked: ConsentDecision | None = None

    @property
    def helped(self) -> bool:
        """Whether the second check was healthy."""
        return self.verified is not None and self.verified.state == "healthy"

    def json(self) -> dict[str, Any]:
        """Return it under the keys of the interface."""
        again = self.verified
        return {
            "ran": self.ran,
            "command": self.command or None,
            "failure": self.failure or None,
            "why": self.why or None,
            "verified": None if again is None else {"state": again.state, "summary": again.summary},
        }


@dataclass(slots=True)
class WatchedMonitor:
    """One monitor in a watch: its check, and what followed, filled in by the steps of the run.

    `due` is the instant of its schedule, None if it was requested by name; `ask` what it asks a person for, None for
    nothing; `runs` whether it may run: a person approved it, or it needs no approval. `silenced` is why no message is
    sent, `failures` are those in a row afterwards.
    """

    monitor: Monitor
    checked: Result
    due: datetime | None = None
    ask: Ask | None = None
    runs: bool = False
    events: tuple[Happening, ...] = ()
    silenced: str = ""
    repair: Repair | None = None
    delivery: Delivery | None = None
    failures: int = 0

    @property
    def answers(self) -> bool:
        """Whether this run uses up its due time: it runs, or only an edit of the file could make it run."""
        return self.runs or self.checked.state == "error"

    @property
    def result(self) -> Result:
        """The newest result: that of the check after a remediation if there was one."""
        return (self.repair.verified if self.repair is not None else None) or self.checked

    @property
    def happenings(self) -> tuple[str, ...]:
        """The kinds of the events, such as `alert`, each once."""
        return tuple(dict.fromkeys(one.kind for one in self.events))

    @property
    def occurrences(self) -> int:
        """The failures in a row; a remediation that helped set their number back, so that of the events counts."""
        return max((one.occurrences for one in self.events), default=self.failures)

    @property
    def told(self) -> str:
        """The result of the message in words, "" if there was none."""
        sent = self.delivery
        said = None if sent is None else {"yes": "sent", "held": "waits", "no": "failed"}.get(sent.told)
        if sent is None or said is None:
            return ""
        detail = f" ({sent.detail})" if sent.detail or sent.told != "yes" else ""
        return f'Notification {said}: "{sent.message.title}"{detail}'

    @property
    def news(self) -> bool:
        """Whether it belongs in the journal."""
        return any(one.first for one in self.events) or (self.repair is not None and self.repair.ran)

    def json(self) -> dict[str, Any]:
        """Return it under the keys of the interface."""
        result = self.result
        return {
            "ref": self.monitor.ref,
            "name": self.monitor.name,
            "state": result.state,
            "summary": result.summary,
            "seconds": round(result.seconds, 4),
            "values": dict(result.values),
            "detail": result.detail,
            "due": None if self.due is None else format_utc(self.due),
            "happenings": list(self.happenings),
            "occurrences": self.occurrences,
            "silenced": self.silenced or None,
            "notification": self.told or None,
            "remediation": None if self.repair is None else self.repair.json(),
        }


@dataclass(frozen=True, slots=True)
class Watch:
    """A whole watch. `blocked` lists what waits for a person, `beat` the lines of the heartbeat (empty: no news).

    `busy`: another process runs the monitors, and nothing ran here.
    """

    monitors: tuple[WatchedMonitor, ...] = ()
    blocked: tuple[dict[str, Any], ...] = ()
    beat: tuple[str, ...] = ()
    beaten: bool = False
    warnings: tuple[str, ...] = ()
    busy: bool = False

    def json(self) -> list[dict[str, Any]]:
        """Return what `--maintain` lists under `monitors`."""
        return [one.json() for one in self.monitors]

    @property
    def total(self) -> str:
        """The watch in one line: how many monitors have which state."""
        if self.busy:
            return "monitors: another process runs them"
        counts = Counter(one.result.state for one in self.monitors)
        return "monitors: " + (", ".join(f"{count:,} {state}" for state, count in counts.items()) or "none due")

    @property
    def news(self) -> bool:
        """Whether anything happened that a person may want to read of in a log."""
        happened = any(one.happenings or one.repair is not None for one in self.monitors)
        return bool(happened or self.blocked or self.beat or self.warnings)

    def lines(self) -> list[str]:
        """Return the watch as lines for people, safe for a screen."""
        if self.busy:
            return [self.total]
        shown = []
        for one in self.monitors:
            if one.result.state == "healthy" and not one.happenings and len(self.monitors) > 20:
                continue
            words = f"{one.result.state}  {visible(one.monitor.name)}"
            words += f": {visible(one.result.summary)}" if one.result.summary else ""
            shown.append(words)
            if one.repair is not None:
                did = f"ran {visible(one.repair.command)}" if one.repair.ran else f"not run: {visible(one.repair.why)}"
                did += f", {visible(one.repair.failure)}" if one.repair.failure else ""
                shown.append(f"    remediation: {did}" + ("; recovered" if one.repair.helped else ""))
            if one.told:
                shown.append(f"    {visible(one.told)}")
        for ask in self.blocked:
            name = visible(f"{ask['name']}: {ask['text']}")
            shown.append(f"needs approval  {ask['id'] or '-'}  {ask['role']} of {name} ({visible(ask['why'])})")
        if self.beaten:
            shown += [f"heartbeat: {visible(line)}" for line in self.beat] or ["heartbeat: no news"]
        return [*shown, self.total]
