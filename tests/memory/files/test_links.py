"""Links: from each end of a link one gets to the other."""

from __future__ import annotations

import pytest

from memory.files.find import find_contact, find_entry, find_monitor, find_plan, find_task
from memory.files.links import links_of
from tests.fixture_files import sample, sample_names, with_newlines
from tests.memory_files import snapshot_of

FILES = {name: sample(name) for name in sample_names()}


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_both_directions(newline: bytes) -> None:
    """Tasks and plans, entries and what they quote, channels and their routes and settings."""
    snapshot = snapshot_of({name: with_newlines(data, newline) for name, data in FILES.items()})
    task, plan = find_task(snapshot, "latency"), find_plan(snapshot, "orch-xyz789")
    weekly, beat = find_task(snapshot, "weekly"), find_entry(snapshot, "Heartbeat")
    bot, route = find_contact(snapshot, snapshot.contacts.channels[0].ref), snapshot.contacts.routes[0]
    setting = snapshot.config.setting("primaryChannel")
    assert setting is not None
    for one, other in [(task, plan), (weekly, beat), (bot, route), (plan, find_entry(snapshot, "Orchestration"))]:
        assert (other.file, other.ref) in [(link.file, link.ref) for link in links_of(snapshot, one)]
        assert (one.file, one.ref) in [(link.file, link.ref) for link in links_of(snapshot, other)]
    assert ("config.md", setting.line) in [(link.file, link.line) for link in links_of(snapshot, bot)]
    assert [link.ref for link in links_of(snapshot, setting)] == [bot.ref]
    assert links_of(snapshot, find_monitor(snapshot, "Disk")) == ()


def test_people_crons_and_archived_plans() -> None:
    """Who is assigned, what one cron job runs, and a plan that has moved to the archive."""
    snapshot = snapshot_of(
        {
            "tasks.md": "## Pending\n### A\n- assigned: alice\n- cronJobId: c-1\n- orchestrationId: orch-1\n",
            "contacts.md": "## People\n- **Alice**: x\n",
            "monitors.md": "## Monitors\n### M\n- cronJobId: c-1\n",
            "archive/orchestration-2024-01.md": "## Completed Plans\n### P\n- planId: orch-1\n",
        }
    )
    task = find_task(snapshot, "A")
    assert {link.file for link in links_of(snapshot, task)} == {
        "archive/orchestration-2024-01.md",
        "monitors.md",
        "contacts.md",
    }
    assert [link.title for link in links_of(snapshot, find_contact(snapshot, "Alice"))] == ["A"]
    assert [link.title for link in links_of(snapshot, find_monitor(snapshot, "M"))] == ["A"]
