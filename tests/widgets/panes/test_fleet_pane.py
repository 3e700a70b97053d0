"""The fleet pane: which workspaces need attention, and why."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.fleet.model import WorkspaceOverview
from memory.workspace import Workspace
from widgets.panes.fleet import FleetPane

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)


class Rows:
    """A source of one workspace."""

    def __init__(self, row: WorkspaceOverview) -> None:
        self.row = row

    def rows(self, now: datetime) -> Sequence[WorkspaceOverview]:
        return [self.row]

    def is_open(self, item: WorkspaceOverview) -> bool:
        return False


@pytest.mark.parametrize(
    ("given", "is_", "about", "sign"),
    [
        ({"age": 1}, "", "", ""),
        ({"age": 1, "stale": 1}, "stale", "1 stale", "alert"),
        ({"age": 1, "failing": 2, "stale": 1}, "failing stale", "2 failing, 1 stale", "alert"),
        ({"age": 7200, "silent": True}, "silent", "not heard for 2 h", "alert"),
        ({"silent": True}, "silent", "never heard", "alert"),
        ({"age": 1, "problems": 1}, "broken", "1 problem", ""),
    ],
)
def test_what_needs_attention(tmp_path: Path, given: dict[str, int], is_: str, about: str, sign: str) -> None:
    """A failing, a stale and a silent one are told apart, and each is marked."""
    snapshot = Workspace(tmp_path, state_home=tmp_path / "state").snapshot()
    pane = FleetPane(Rows(WorkspaceOverview(Path("/srv/shop"), "desk", **given)))
    [found] = pane.records(snapshot, NOW)
    assert (found.values["is"], found.about, found.sign) == (is_, about, sign)


def test_a_longer_silence_is_no_news(tmp_path: Path) -> None:
    """The row of a silent host does not flash each time its silence is longer."""
    snapshot = Workspace(tmp_path, state_home=tmp_path / "state").snapshot()
    panes = [FleetPane(Rows(WorkspaceOverview(Path("/a"), "desk", age=age, silent=True))) for age in (60, 120)]
    first, second = [next(pane.records(snapshot, NOW)) for pane in panes]
    assert first.about != second.about
    assert first.mark == second.mark
