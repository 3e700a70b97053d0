"""A workspace whose monitors have a history: healthy, failing, muted, silenced by another, and one not approved."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from memory.monitoring.alerts import AlertOptions, AlertState, advance, told
from memory.monitoring.ledger import MonitorLedger
from memory.monitoring.result import Result
from memory.trust.asks import asks_of
from memory.trust.consent import Trust
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_workspace

MONITORS = """## Monitors

### Gateway
- type: command
- command: curl -sf http://gateway.example/health
- interval: */15 * * * * (every 15 min)
- threshold: exit code != 0
- alertPriority: high
- autoRemediate: pm2 restart gateway
- lastCheck: 2024-01-15T10:30:00Z
- lastStatus: failing (exit code 7)

### API Health Check
- type: http
- url: https://api.example.com/health
- interval: */15 * * * *
- threshold: status != 200 or latency > 2s
- dependsOn: Gateway
- lastCheck: 2024-01-15T10:30:00Z
- lastStatus: healthy (status 200)

### Disk Space
- type: command
- command: df -h / | awk 'NR==2 {print $5}' | tr -d '%'
- interval: 0 * * * * (every hour)
- threshold: value > 90
- autoRemediate: null (notify only)
- lastCheck: 2024-01-15T10:00:00Z
- lastStatus: healthy (72% used)

### Nightly Backup
- type: file
- path: backup.log
- interval: 0 6 * * *

### Queue 消息队列
- type: command
- command: redis-cli llen jobs
- interval: */5 * * * *
- threshold: value > 500
"""


def watched_workspace(folder: Path) -> Workspace:
    """Return the workspace, with thirty days behind it."""
    workspace = make_workspace(folder, {"monitors.md": MONITORS})
    assert workspace.state is not None
    trust = Trust(workspace.state.folder.home, workspace.root)
    for ask in asks_of(workspace.snapshot()):
        if ask.name != "Queue 消息队列" and ask.role != "remediate":
            trust.approve(ask, who="human", now=NOW)
    ledger = MonitorLedger(workspace.state.folder)
    states: dict[str, AlertState] = {}

    def check(name: str, at: datetime, state: str, summary: str, seconds: float) -> None:
        result = Result(name, state, summary, seconds=seconds)  # type: ignore[arg-type]
        states[name], happening = advance(states.get(name, AlertState()), state, at, AlertOptions())
        if happening is not None:
            states[name] = told(states[name], happening.kind, at)
        ledger.run(lambda db: ledger.record(db, [result], at, {}), None)

    for number in range(30 * 4, -1, -1):
        at = NOW - timedelta(hours=6 * number) if number > 4 else NOW - timedelta(hours=6 * number, minutes=0)
        down = number in (40, 41, 42) or number == 90
        check("API Health Check", at, "failing" if down else "healthy", "status 503" if down else "status 200",
              0.08 + 0.03 * (number % 7) + (0.9 if number % 23 == 0 else 0))  # fmt: skip
        check("Disk Space", at, "healthy", "72% used", 0.004)
    for number in range(24, -1, -1):
        at = NOW - timedelta(hours=number)
        down = number in (0, 1) or number == 12
        check("Gateway", at, "failing" if down else "healthy", "exit code 7" if down else "exit code 0", 0.2)
        if number == 1:
            check("Gateway", at + timedelta(minutes=15), "healthy", "exit code 0", 0.31)
            check("Gateway", at + timedelta(minutes=30), "failing", "exit code 7", 2.0)
    ledger.run(lambda db: ledger.put(db, "alert", {name: state.json() for name, state in states.items()}), None)
    ledger.mute("Disk Space", NOW + timedelta(hours=2))
    ledger.close()
    return workspace
