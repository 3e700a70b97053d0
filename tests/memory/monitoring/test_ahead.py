"""Looking ahead: what is due, when to look again, maintenance by its schedule, and what a person sees of the record."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.monitoring.ledger import MonitorLedger
from memory.monitoring.overview import notice
from memory.monitoring.schedule import LONGEST, look_ahead, maintain_if_due
from memory.systems import approvals_of, maintain_all
from memory.trust.asks import asks_of
from memory.trust.consent import Trust
from memory.workspace import Workspace

NOW = datetime(2024, 1, 15, 10, 30, 20, tzinfo=UTC)
DISK = "## Monitors\n\n### Disk\n- type: command\n- command: echo 72\n- interval: */5 * * * *\n"
SIGN = "## Monitors\n\n### Sign\n- type: file\n- path: sign\n- interval: 0 * * * *\n"
UPKEEP = "## Memory Maintenance\n- maintenanceSchedule: 0 11 * * *\n- archiveCompletedAfterDays: 7\n"
OLD = "## Completed\n\n### [NORMAL] Long done\n- completed: 2023-11-02\n"


def make(folder: Path, **files: str) -> Workspace:
    """Return a workspace with these files, by name without its ending."""
    named = {f"{name}.md": text for name, text in files.items()}
    return Workspace.init(
        folder / "shop", NOW, actor="test", state_home=folder / "state", machine_zone=UTC, files=named
    )[0]


def trust_in(workspace: Workspace) -> Trust:
    """Return the decisions about a workspace."""
    assert workspace.state is not None
    return Trust(workspace.state.folder.home, workspace.root)


def ledger_of(workspace: Workspace) -> MonitorLedger:
    """Return the record of a workspace."""
    assert workspace.state is not None
    return MonitorLedger(workspace.state.folder)


def test_what_nobody_approved_is_not_due(tmp_path: Path) -> None:
    """A command is due once a person approved it, until its instant is claimed; then the next instant is waited for."""
    workspace = make(tmp_path, monitors=DISK)
    trust = trust_in(workspace)
    ahead = look_ahead(workspace, trust, NOW)
    assert (ahead.scheduled, ahead.watch, ahead.upkeep) == (True, False, False)
    assert not look_ahead(workspace, trust_in(workspace), NOW).watch
    trust.approve(asks_of(workspace.snapshot())[0], who="human", now=NOW)
    assert look_ahead(workspace, trust, NOW).watch
    ledger = ledger_of(workspace)
    ledger.claim([("Disk", datetime(2024, 1, 15, 10, 30, tzinfo=UTC))], NOW)
    assert not look_ahead(workspace, trust, NOW).watch
    late = NOW + timedelta(minutes=4, seconds=10)
    assert look_ahead(workspace, trust, late).again == datetime(2024, 1, 15, 10, 35, tzinfo=UTC)
    assert look_ahead(workspace, trust, NOW).again == NOW + LONGEST
    ledger.close()


@pytest.mark.parametrize(
    ("files", "scheduled", "watch"),
    [
        ({}, False, False),
        ({"monitors": DISK.replace("*/5 * * * *", "sometimes")}, True, False),
        ({"monitors": SIGN}, True, True),
        ({"config": "## Heartbeat\n- expression: */30 * * * *\n"}, True, True),
        ({"config": "## Heartbeat\n- expression: never\n"}, True, False),
    ],
    ids=["nothing", "no schedule", "asks for nothing", "heartbeat", "bad heartbeat"],
)
def test_only_what_can_run_is_due(tmp_path: Path, files: dict[str, str], scheduled: bool, watch: bool) -> None:
    """What asks for nothing runs without an approval; what has no readable schedule is never due."""
    workspace = make(tmp_path, **({"config": ""} | files))
    ahead = look_ahead(workspace, trust_in(workspace), NOW)
    assert (ahead.scheduled, ahead.watch) == (scheduled, watch)


def test_maintenance_waits_for_its_next_time_and_runs_once(tmp_path: Path) -> None:
    """The first look moves nothing; the next time does, once for all who look."""
    workspace = make(tmp_path, config=UPKEEP, tasks=OLD)
    calls: list[datetime] = []

    def run(now: datetime) -> bool:
        def maintain() -> object:
            calls.append(now)
            return maintain_all(workspace, now, actor="maintain")

        return maintain_if_due(workspace, now, maintain) is not None

    assert look_ahead(workspace, trust_in(workspace), NOW).upkeep
    assert not run(NOW)
    assert not look_ahead(workspace, trust_in(workspace), NOW).upkeep
    eleven = NOW + timedelta(minutes=30)
    assert look_ahead(workspace, trust_in(workspace), eleven).upkeep
    assert run(eleven)
    assert not run(eleven)
    assert not look_ahead(workspace, trust_in(workspace), eleven + timedelta(hours=1)).upkeep
    assert calls == [eleven]
    assert "Long done" in (workspace.memory / "archive" / "tasks-2023-11.md").read_text(encoding="utf-8")


def test_a_failing_maintenance_is_tried_once(tmp_path: Path) -> None:
    """What fails at a time is told once and waits for the next."""
    workspace = make(tmp_path, config=UPKEEP)

    def fail() -> None:
        raise ValueError("no")

    assert maintain_if_due(workspace, NOW, fail) is None
    with pytest.raises(ValueError, match="no"):
        maintain_if_due(workspace, NOW + timedelta(hours=1), fail)
    assert maintain_if_due(workspace, NOW + timedelta(hours=1), fail) is None


def test_who_waits_and_who_is_muted(tmp_path: Path) -> None:
    """Checks and remediations that no person decided about wait; what was denied does not; mutes end."""
    workspace = make(tmp_path, monitors=DISK + "- autoRemediate: rm -rf /tmp/x\n")
    trust = trust_in(workspace)
    found = notice(workspace, workspace.snapshot(), NOW, approvals_of(workspace, trust, {}))
    assert [(one.ask.name, one.role) for one in found.waiting] == [("Disk", "check"), ("Disk", "fix")]
    trust.deny(asks_of(workspace.snapshot())[1], who="human", now=NOW)
    ledger = ledger_of(workspace)
    ledger.mute("Disk", NOW + timedelta(hours=1))
    ledger.close()
    found = notice(workspace, workspace.snapshot(), NOW, approvals_of(workspace, trust, {}))
    assert [one.role for one in found.waiting] == ["check"]
    assert [(monitor.name, end) for monitor, end in found.muted] == [("Disk", NOW.replace(hour=11))]
    assert notice(workspace, workspace.snapshot(), NOW + timedelta(hours=2), ()).muted == ()
