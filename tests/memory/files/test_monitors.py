"""Monitors: values and remarks apart, edits of one line, and nothing that runs."""

from __future__ import annotations

import pytest

from memory.errors import AmbiguousError, ConflictError, NotFoundError, UsageError
from memory.files import template_files
from memory.files.find import find_monitor
from memory.files.verbs.monitors import MONITOR_EDITS, add_monitor, edit_monitor
from tests.fixture_files import sample
from tests.memory_files import NOW, after, left_by, snapshot_of

NAME = "monitors.md"
SAMPLE = snapshot_of({NAME: sample(NAME)})


def test_the_sample() -> None:
    """`null (notify only)` is no command with a remark, `healthy (72% used)` is healthy."""
    disk = find_monitor(SAMPLE, "disk")
    assert (disk.auto_remediate, disk.auto_remediate_remark) == (None, "notify only")
    assert (disk.last_status, disk.last_status_remark, disk.healthy) == ("healthy", "72% used", True)
    assert (disk.interval, disk.json()["intervalRemark"]) == ("0 * * * *", "every hour")
    assert disk.command == "df -h / | awk 'NR==2 {print $5}' | tr -d '%'"
    assert disk.json()["line"] == 26
    assert [one.name for one in SAMPLE.monitors.items] == ["API Health Check", "Database Connection", "Disk Space"]


def test_add() -> None:
    """A new monitor stands last, in the order of the format; a missing file begins as the template."""
    values = {"foo": "1", "interval": "@hourly", "type": "http", "url": "https://x.example", "command": " "}
    for start in (SAMPLE, snapshot_of({}), snapshot_of(template_files(NOW)), snapshot_of({NAME: "# Mine\n"})):
        edit = add_monitor(start, "New one", values, now=NOW)
        last = left_by(after(start, edit), edit)
        assert last.name == "New one"
        assert list(last.entry.fields) == ["type", "url", "interval", "foo"]


@pytest.mark.parametrize(
    "values",
    [{"interval": "often"}, {"lastCheck": "2024-13-01"}, {"alertPriority": "urgent"}, {"bad key": "x"}],
)
def test_bad_values_are_refused(values: dict[str, str]) -> None:
    """What does not read as it is written is refused."""
    with pytest.raises(UsageError):
        add_monitor(SAMPLE, "X", values, now=NOW)
    with pytest.raises(UsageError):
        edit_monitor(SAMPLE, "Disk", values)


@pytest.mark.parametrize("name", ["", "a\nb", "Disk Space"])
def test_bad_names_are_refused(name: str) -> None:
    """A name is one line, and a new one."""
    with pytest.raises(UsageError):
        add_monitor(SAMPLE, name, {}, now=NOW)


def test_conflicts() -> None:
    """Other fields merge, the same field is a conflict, in an editor's text as well."""
    base = find_monitor(SAMPLE, "Disk").entry
    theirs = after(SAMPLE, edit_monitor(SAMPLE, "Disk", {"lastStatus": "down"}))
    done = after(theirs, edit_monitor(theirs, "Disk", {"threshold": "value > 80"}, base))
    assert (find_monitor(done, "Disk").last_status, find_monitor(done, "Disk").threshold) == ("down", "value > 80")
    with pytest.raises(ConflictError) as caught:
        edit_monitor(theirs, "Disk", {"lastStatus": "full"}, base)
    assert caught.value.details["fields"] == ["lastStatus"]
    edit_monitor(theirs, "Disk", {"lastStatus": "down"}, base)
    mine = base.text.replace("lastStatus: healthy (72% used)", "lastStatus: full").replace("- type: command\n", "")
    with pytest.raises(ConflictError) as caught:
        MONITOR_EDITS.rewrite(theirs, "Disk", mine, base=base)
    assert caught.value.details["fields"] == ["lastStatus"]
    done = after(SAMPLE, MONITOR_EDITS.rewrite(SAMPLE, "Disk", "### Disk\n- type: command\n", base=base))
    assert find_monitor(done, "Disk").interval is None


def test_twins_and_lookup() -> None:
    """Monitors of one name have longer refs; a name that fits several is ambiguous."""
    snapshot = snapshot_of({NAME: "## Monitors\n### A\n### A\n### B\n"})
    refs = [one.ref for one in snapshot.monitors.items]
    assert len(set(refs)) == 3
    assert [len(ref.split("#")[1]) for ref in refs] == [18, 18, 10]
    assert find_monitor(snapshot, refs[1]).at == (0, 1)
    with pytest.raises(AmbiguousError):
        find_monitor(snapshot, "A")
    with pytest.raises(NotFoundError):
        find_monitor(snapshot, "monitors#0000000")
