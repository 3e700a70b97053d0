"""The list of workspaces: failing and stale monitors and silent hosts are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from memory.fleet.model import WorkspaceOverview
from tests.memory_files import snapshot_of
from widgets.pane.records import Record
from widgets.panes.fleet import FleetPane

from .looking import NOW

PLAIN = WorkspaceOverview(Path("/src/shop"), "laptop", age=5)


class Listed:
    """A source of one workspace."""

    def __init__(self, one: WorkspaceOverview) -> None:
        """List a workspace."""
        self.one = one

    def rows(self, now: datetime) -> Sequence[WorkspaceOverview]:
        """Return the workspace."""
        return [self.one]

    def is_open(self, item: WorkspaceOverview) -> bool:
        """Return that another one is open."""
        return False


def row_of(one: WorkspaceOverview) -> Record:
    """Return the row of a workspace."""
    _, found, *_ = FleetPane(Listed(one)).records(snapshot_of({}), NOW)
    assert isinstance(found, Record)
    return found


@pytest.mark.parametrize(
    ("one", "urgent", "about"),
    [
        (PLAIN, False, ""),
        (replace(PLAIN, failing=2, problems=1), True, "2 failing"),
        (replace(PLAIN, stale=1), True, "1 stale"),
        (replace(PLAIN, problems=1), False, "1 problem"),
        (replace(PLAIN, overdue=1, waiting=3), True, "1 overdue, 3 waiting"),
        (replace(PLAIN, silent=True, age=25), True, "silent for a moment"),
        (replace(PLAIN, silent=True, age=7200), True, "silent for 2 h"),
        (replace(PLAIN, silent=True, age=None), True, "never seen"),
        (replace(PLAIN, error={"code": "x", "message": "there is no memory"}), True, "there is no memory"),
    ],
)
def test_what_needs_attention(one: WorkspaceOverview, urgent: bool, about: str) -> None:
    """Each has its words in the row; only what is urgent has a sign."""
    row = row_of(one)
    assert row.about == about
    assert bool(row.sign) is urgent


def test_a_longer_silence_does_not_flash() -> None:
    """A row changes when its host falls silent, and not while it stays so."""
    silent = replace(PLAIN, silent=True, age=60)
    assert row_of(silent).mark != row_of(PLAIN).mark
    assert row_of(silent).mark == row_of(replace(silent, age=600)).mark
    assert row_of(replace(PLAIN, stale=1)).mark != row_of(PLAIN).mark
