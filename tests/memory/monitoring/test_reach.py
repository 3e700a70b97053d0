"""The way of a notification: the same that messages really go, and nothing of any address."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from memory.document import parse
from memory.files.snapshot import Snapshot
from memory.monitoring.alerts.channels import Addresses, Reach, reach_of, read_route

NOW = datetime(2024, 1, 15, 23, 30, tzinfo=UTC)
CONTACTS = """## Channels

| Name | ID | Type | Status |
|---|---|---|---|
| Bot | c-1 | telegram | connected |
| Alerts | c-2 | webhook | connected |
| Team | c-3 | webhook | disconnected |
"""
CONFIG = """## Default Notification

- channelId: c-3
- quietHours: 22:00-07:00

## IM Configuration

- primaryChannel: c-1
- secondaryChannel: Alerts
"""
SECRET = "tgram://hunter2/chat"


class Files:
    """Memory files in memory."""

    def __init__(self, **files: str) -> None:
        self._files = {f"{name}.md": parse(text.encode()) for name, text in files.items()}

    def document(self, name: str) -> object:
        """The document of a file."""
        return self._files.get(name)

    def archives(self) -> tuple[str, ...]:
        """None."""
        return ()


def way(environ: dict[str, str], config: str = CONFIG, home: Path | None = None) -> Reach:
    """The way over these files."""
    snapshot = Snapshot(Files(contacts=CONTACTS, config=config), lambda: UTC)  # type: ignore[arg-type]
    found = reach_of(snapshot, Addresses(home, environ), NOW)
    route = read_route(snapshot, Addresses(home, environ))
    assert [step.name for step in found.steps] == [channel.name for channel in route.channels]
    assert [step.name for step in found.usable] == [channel.name for channel in route.usable]
    return found


def test_the_first_usable_channel_is_used_and_the_next_is_the_fallback() -> None:
    """Disconnected ones are passed over, and say so; the order is that of real messages."""
    found = way({"MEMDECK_CHANNEL_C_1": SECRET, "MEMDECK_CHANNEL_C_2": "json://x"})
    assert [step.name for step in found.steps] == ["Team", "Bot", "Alerts"]
    assert found.first is not None
    assert found.fallback is not None
    assert (found.first.name, found.fallback.name) == ("Bot", "Alerts")
    assert found.steps[0].why == "it is disconnected"


def test_quiet_hours_and_notifications_that_are_off() -> None:
    """Quiet hours say until when; a target that is off leaves no way, and so does a config without channels."""
    assert way({}).quiet == datetime(2024, 1, 16, 7, tzinfo=UTC)
    assert way({}, CONFIG.replace("22:00-07:00", "01:00-02:00")).quiet is None
    assert way({"MEMDECK_CHANNEL_C_1": SECRET}, CONFIG + "- target: off\n").steps == ()
    assert way({}, "## Workspace\n").steps == ()


def test_a_file_that_others_can_read_is_told_and_not_used(tmp_path: Path) -> None:
    """The step says why, without what the file holds."""
    (tmp_path / "memdeck").mkdir()
    file = tmp_path / "memdeck" / "channels.toml"
    file.write_text(f'[channels]\nc-1 = "{SECRET}"\n', "utf-8")
    file.chmod(0o644)
    found = way({}, home=tmp_path)
    assert found.first is None
    assert any("can be read by others" in step.why for step in found.steps)
    assert "hunter2" not in repr(found)
    file.chmod(0o600)
    usable = way({}, home=tmp_path).first
    assert usable is not None
    assert usable.name == "Bot"


def test_a_row_is_found_by_its_id_or_its_name() -> None:
    """A channel of contacts.md that is on no way has no step."""
    snapshot = Snapshot(Files(contacts=CONTACTS, config="## W\n\n- channelId: c-2\n"), lambda: UTC)  # type: ignore[arg-type]
    found = reach_of(snapshot, Addresses(None, {}), NOW)
    steps = [found.step(row) for row in snapshot.contacts.channels]
    assert [step.name if step else None for step in steps] == [None, "Alerts", None]
