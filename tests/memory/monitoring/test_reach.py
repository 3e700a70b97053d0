"""The way of a notification: the same that messages really go, and nothing of any address."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from memory.document import parse
from memory.files.snapshot import Snapshot
from memory.monitoring.alerts.channels import Addresses, AlertRoute, read_route

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


def way(environ: dict[str, str], config: str = CONFIG, home: Path | None = None) -> AlertRoute:
    """The route over these files."""
    snapshot = Snapshot(Files(contacts=CONTACTS, config=config), lambda: UTC)  # type: ignore[arg-type]
    return read_route(snapshot, Addresses(home, environ))


def test_the_first_usable_channel_is_used_and_the_next_is_the_fallback() -> None:
    """Disconnected ones are passed over, and say so."""
    found = way({"MEMDECK_CHANNEL_C_1": SECRET, "MEMDECK_CHANNEL_C_2": "json://x"})
    assert [one.name for one in found.channels] == ["Team", "Bot", "Alerts"]
    assert [one.name for one in found.usable] == ["Bot", "Alerts"]
    assert found.channels[0].why == "it is disconnected"


def test_quiet_hours_and_notifications_that_are_off() -> None:
    """Quiet hours say until when; a target that is off leaves no channel, and so does a config without any."""
    assert way({}).quiet_until(NOW, UTC) == datetime(2024, 1, 16, 7, tzinfo=UTC)
    assert way({}, CONFIG.replace("22:00-07:00", "01:00-02:00")).quiet_until(NOW, UTC) is None
    assert way({"MEMDECK_CHANNEL_C_1": SECRET}, CONFIG + "- target: off\n").channels == ()
    assert way({}, "## Workspace\n").channels == ()


def test_a_row_is_found_by_its_id_or_its_name() -> None:
    """A channel of contacts.md that is not on the route is none of it."""
    snapshot = Snapshot(Files(contacts=CONTACTS, config="## W\n\n- channelId: c-2\n"), lambda: UTC)  # type: ignore[arg-type]
    found = read_route(snapshot, Addresses(None, {}))
    steps = [found.channel_of(row) for row in snapshot.contacts.channels]
    assert [step.name if step else None for step in steps] == [None, "Alerts", None]
