"""The context of one run of the monitors: what it uses, what a person decided, and what it has to say."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from memory.files.snapshot import Snapshot
from memory.monitoring.alerts.channels import Addresses
from memory.monitoring.alerts.deliver import Send
from memory.monitoring.checks.result import Around, Result
from memory.trust.asks import Ask, monitor_asks
from memory.trust.consent import Trust, blocked_json
from memory.trust.records import ConsentDecision
from memory.workspace import Workspace

from .ledger import MonitorLedger


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
