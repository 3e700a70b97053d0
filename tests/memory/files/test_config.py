"""Settings: read from any section, checked, and changed one line at a time."""

from __future__ import annotations

from datetime import UTC, tzinfo

import pytest

from memory.base.clock import find_zone
from memory.errors import ConfigError, MemdeckError, NotFoundError, UsageError
from memory.files import template_files
from memory.files.config import MaintenanceSettings
from memory.files.verbs.config import get_setting, set_setting, unset_setting
from tests.fixture_files import sample
from tests.memory_files import NOW, after, changed_lines, snapshot_of, text_of

NAME = "config.md"
SAMPLE = snapshot_of({NAME: sample(NAME)})
BERLIN = find_zone("Europe/Berlin")


def _berlin() -> tzinfo:
    return BERLIN


def test_the_sample() -> None:
    """Front matter and sections give one flat mapping; remarks are apart."""
    config = SAMPLE.config
    assert config.json()["primaryChannel"] == "channel-abc123"
    assert config.json()["setupComplete"] == "true"
    found = config.setting("primaryChannel")
    assert found is not None
    assert (found.remark, found.section, found.line, found.raw) == (
        "Telegram",
        "IM Configuration",
        14,
        "channel-abc123 (Telegram)",
    )
    assert config.maintenance() == MaintenanceSettings(7, 30, 500)


@pytest.mark.parametrize(
    "value", ["seven", "-1", "7.5", "1e3", "٧", "7 8", "99999999999", "7 (days) x", "", "null", "- (no limit)"]
)
@pytest.mark.parametrize("key", ["archiveCompletedAfterDays", "pruneJournalAfterDays", "maxJournalEntries"])
def test_bad_numbers_are_errors_with_file_and_line(key: str, value: str) -> None:
    """A number that is none is never replaced by a default."""
    config = snapshot_of({NAME: f"---\ntype: agent-config\n---\n## Memory Maintenance\n- {key}: {value}\n"}).config
    with pytest.raises(ConfigError, match=r"config\.md:5") as caught:
        config.maintenance()
    assert (caught.value.code, caught.value.exit_code) == ("config.value", 2)
    assert (caught.value.details["file"], caught.value.details["line"]) == (NAME, 5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", MaintenanceSettings(7, 30, 500)),
        ("- archiveCompletedAfterDays: 3 (days)\n", MaintenanceSettings(3, 30, 500)),
        ("- maxJournalEntries: 0 (none)\n- pruneJournalAfterDays: 0\n", MaintenanceSettings(7, 0, 0)),
        ("## A\n- maxJournalEntries: 5\n## B\n- maxJournalEntries: 6\n", MaintenanceSettings(7, 30, 5)),
    ],
)
def test_numbers(text: str, expected: MaintenanceSettings) -> None:
    """Missing settings have defaults, remarks do not matter, the first of a key counts."""
    assert snapshot_of({NAME: text}).config.maintenance() == expected


def test_zone() -> None:
    """`timezone` counts; without it, or with an unknown one, the machine's zone; who insists gets an error."""
    good = snapshot_of({NAME: "## Workspace\n- timezone: UTC\n"}).config
    assert good.zone(_berlin) is UTC
    assert snapshot_of({}).config.require_zone(_berlin) is BERLIN
    bad = snapshot_of({NAME: "## Workspace\n- timezone: Nowhere/Else\n"}).config
    assert bad.zone(_berlin) is BERLIN
    with pytest.raises(ConfigError, match=r"config\.md:2"):
        bad.require_zone(_berlin)


@pytest.mark.parametrize(
    ("key", "value", "came"),
    [
        ("maintenanceSchedule", "0 2 * * *", ["- maintenanceSchedule: 0 2 * * *\n"]),
        ("timezone", "Europe/Berlin", ["## Workspace\n", "\n", "- timezone: Europe/Berlin\n"]),
        ("somethingNew", "x", ["## Workspace\n", "\n", "- somethingNew: x\n"]),
    ],
)
def test_new_keys_go_home(key: str, value: str, came: list[str]) -> None:
    """A key that is not there is added to its section, which is made where it is missing."""
    done = after(SAMPLE, set_setting(SAMPLE, key, value, now=NOW))
    gone, new = changed_lines(text_of(SAMPLE, NAME), text_of(done, NAME))
    assert gone == []
    assert [line for line in new if line != "\n"] == [line for line in came if line != "\n"]
    assert done.config.get(key) == value


def test_remarks() -> None:
    """A remark goes with the value it was about."""
    done = after(SAMPLE, set_setting(SAMPLE, "primaryChannel", "channel-def456", now=NOW))
    assert "- primaryChannel: channel-def456\n" in text_of(done, NAME)
    done = after(SAMPLE, set_setting(SAMPLE, "primaryChannel", "channel-abc123", now=NOW))
    assert text_of(done, NAME) == text_of(SAMPLE, NAME)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("timezone", "Nowhere"),
        ("expression", "* * *"),
        ("maintenanceSchedule", "0 0 31 2 *"),
        ("maxJournalEntries", "many"),
        ("journalTaskChanges", "maybe"),
        ("setupDate", "2024-02-30"),
        ("priority", "urgent"),
        ("no key", "x"),
    ],
)
def test_bad_values_are_refused(key: str, value: str) -> None:
    """What a key cannot have, and what would not stay a value, is never written."""
    with pytest.raises(UsageError):
        set_setting(SAMPLE, key, value, now=NOW)


def test_get_unset_and_sections() -> None:
    """A key is found, taken out, and set in a section by name; a template takes its first key with blank lines."""
    assert get_setting(SAMPLE, "target").value == "im"
    done = after(SAMPLE, unset_setting(SAMPLE, "target", now=NOW))
    assert changed_lines(text_of(SAMPLE, NAME), text_of(done, NAME)) == (["- target: im\n"], [])
    with pytest.raises(NotFoundError):
        get_setting(done, "target")
    with pytest.raises(MemdeckError):
        unset_setting(SAMPLE, "setupDate", now=NOW)
    twice = after(SAMPLE, set_setting(SAMPLE, "priority", "high", section="Heartbeat", now=NOW))
    assert twice.config.get("priority") == "high"
    new = snapshot_of(template_files(NOW))
    text = text_of(after(new, set_setting(new, "expression", "@daily", now=NOW)), NAME)
    assert "## Heartbeat\n\n- expression: @daily\n\n## Default Notification\n" in text
