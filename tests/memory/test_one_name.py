"""Thousands of entries, of one name and of many: every look at them costs in proportion to their number."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.maintenance.run import maintain
from memory.monitoring.overview import notice, standings
from memory.monitoring.run import keep_watch
from memory.monitoring.schedule import look_ahead
from memory.monitoring.watch import WatchServices
from memory.systems import approvals_of, check_all
from memory.trust.asks import asks_of
from memory.trust.consent import Trust
from memory.trust.settings import TrustSettings
from memory.workspace import Workspace
from tests.growth import assert_in_proportion

NOW = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)
LATER = datetime(2024, 6, 15, 12, 0, tzinfo=UTC)
"""When all of the journal is old: else the first entries would stay, and cost nothing."""
SMALL = 400
MONITOR = "### {}\n- type: http\n- url: https://example.com/\n- interval: */5 * * * *\n- dependsOn: {}\n\n"
FILES: dict[str, tuple[str, str, str]] = {
    "monitors": ("monitors.md", "## Monitors\n\n", MONITOR),
    "tasks": ("tasks.md", "## Pending\n\n", "### [HIGH] {}\n- created: 2024-01-14\n- action: ls\n- dependsOn: {}\n\n"),
    "journal": ("journal.md", "## 2024-01-15\n\n", "### 10:00 — {}\n- see: tasks.md#abcdef1 @{}\n\n"),
    "plans": ("orchestration.md", "## Active Plans\n\n", "### {}\n- id: {}\n- status: executing\n- tasks: 2\n\n"),
    "knowledge": ("knowledge.md", "", "## {}\n\n- a line of {}\n\n"),
    "people": ("contacts.md", "## People\n\n", "- **{}** (PM): knows {}\n"),
    "channels": ("contacts.md", "## Channels\n\n| Name | ID |\n|---|---|\n", "| {} | {} |\n"),
}


@pytest.fixture(params=[f"{kind} of {names}" for kind in FILES for names in ("one name", "many names")])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[int], Path]:
    """Return what makes a workspace with a number of entries."""
    kind, _, names = str(request.param).partition(" of ")
    file, top, entry = FILES[kind]

    def made(count: int) -> Path:
        memory = tmp_path / str(count) / ".aiter" / "memory"
        if not memory.is_dir():
            memory.mkdir(parents=True)
            called = ["Same" if names == "one name" else f"N{number}" for number in range(count)]
            (memory / file).write_text(top + "".join(entry.format(name, name) for name in called))
        return tmp_path / str(count)

    return made


LOOKS: dict[str, Callable[[Workspace, Trust], object]] = {
    "check": lambda workspace, _: check_all(workspace),
    "approvals": lambda workspace, trust: [trust.decide(ask) for ask in asks_of(workspace.snapshot())],
    "monitors": lambda workspace, trust: standings(workspace, workspace.snapshot(), NOW, trust),
    "notices": lambda workspace, trust: notice(
        workspace, workspace.snapshot(), NOW, approvals_of(workspace, trust, {})
    ),
    "what is due": lambda workspace, trust: look_ahead(workspace, trust, NOW),
    "a watch": lambda workspace, trust: keep_watch(workspace, trust, NOW, WatchServices({}), everything=True),
    "maintenance": lambda workspace, _: maintain(workspace, LATER, actor="cli", dry_run=True),
}


SAMPLE = (
    *("tasks of one name-check", "journal of many names-maintenance"),
    *(f"monitors of one name-{look}" for look in LOOKS),
)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.thorough(but=SAMPLE)
def test_a_look_costs_in_proportion(
    request: pytest.FixtureRequest, make: Callable[[int], Path], look: str, tmp_path: Path
) -> None:
    """Eight times the entries cost about eight times as much, whichever file they are in, however they are called."""

    if look not in ("check", "maintenance") and "[monitors" not in request.node.name:
        pytest.skip("it looks at monitors only")

    def work(root: Path) -> object:
        workspace = Workspace.open(root, state_home=tmp_path / "state")
        return LOOKS[look](workspace, Trust(tmp_path / "state", root, TrustSettings()))

    assert_in_proportion(make, work, SMALL)


def test_the_files_hold_what_the_views_read(make: Callable[[int], Path], tmp_path: Path) -> None:
    """The entries are no mere text: each is one of a view."""
    look = Workspace.open(make(SMALL), state_home=tmp_path / "state").snapshot()
    found = (look.monitors.items, look.tasks.items, look.contacts.people, look.contacts.channels)
    more = (look.knowledge.sections, look.plans.items, tuple(look.journal.newest_first()))
    assert max(map(len, (*found, *more))) == SMALL
