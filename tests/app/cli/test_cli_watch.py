"""The verbs that run monitors, on the sample workspace: consent, states, mutes, export, maintenance."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory.trust.asks import asks_of
from memory.trust.consent import Trust
from memory.workspace import Workspace
from tests.memory.monitoring.keeping import web

Memdeck = Callable[..., Any]
MONITORS = """---
type: monitor-config
---

## Monitors

### Good
- type: command
- command: true
- interval: */5 * * * *

### Bad
- type: command
- command: false
- interval: */5 * * * *

### Backup
- type: file
- path: backup.log
- interval: 0 * * * *
"""


@pytest.fixture
def monitors(shop: Path) -> Path:
    """Put three monitors into the sample workspace."""
    path = shop / ".aiter/memory/monitors.md"
    path.write_text(MONITORS)
    return path


def approve(shop: Path) -> None:
    """Approve everything that the workspace asks for, as a person would."""
    workspace = Workspace.open(shop, state_home=Path(os.environ["XDG_STATE_HOME"]))
    trust = Trust(Path(os.environ["XDG_STATE_HOME"]), shop)
    for ask in asks_of(workspace.snapshot()):
        if not ask.ambiguous:
            trust.approve(ask, who="person", now=datetime(2024, 1, 15, 11, tzinfo=UTC))


def test_a_wrong_setting_leaves_no_monitor_unwatched(memdeck: Memdeck, monitors: Path, shop: Path) -> None:
    """Maintenance ends with the error of config.md, and the monitors were checked all the same."""
    approve(shop)
    config = shop / ".aiter/memory/config.md"
    config.write_text(config.read_text().replace("pruneJournalAfterDays: 30", "pruneJournalAfterDays: many"))
    assert memdeck("--maintain").code == 2
    assert "- lastStatus: healthy (exit code 0)" in monitors.read_text()


def test_notify(memdeck: Memdeck, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test goes to the first channel that takes it; no address is shown."""
    failed = memdeck("notify", "test", "-o", "json")
    assert (failed.code, failed.data["error"]["code"]) == (1, "notify.failed")
    with web({}) as base:
        monkeypatch.setenv("MEMDECK_CHANNEL_CHANNEL_ABC123", base.replace("http", "json") + "/hush")
        sent = memdeck("notify", "test", "-o", "json")
        assert (sent.code, sent.data["channel"]) == (0, "channel-abc123")
        assert [json.loads(one)["title"] for one in web.posted] == ["memdeck test"]  # type: ignore[attr-defined]
    gone = memdeck("notify", "test")
    assert gone.code == 1
    assert "hush" not in gone.out + gone.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--type", "http"), "url is missing"),
        (("--type", "http", "--url", "ftp://example.com/"), "ftp is not http or https"),
        (("--type", "http", "--url", "example.com"), "the address has no scheme"),
        (("--type", "command"), "command is missing"),
        (("--type", "tcp", "--set", "host=db"), "port is missing"),
        (("--type", "file"), "path is missing"),
    ],
)
def test_a_monitor_that_could_not_run_is_not_added(memdeck: Any, words: tuple[str, ...], said: str) -> None:
    """What it looks at is missing, or no check can ask it: nothing is written."""
    before = memdeck("monitors", "list", "-o", "json").data
    answer = memdeck("monitors", "add", "New", *words)
    assert (answer.code, "monitor.setting" in answer.err, said in answer.err) == (2, True, True)
    assert memdeck("monitors", "list", "-o", "json").data == before


def test_an_edit_makes_no_monitor_that_could_not_run(memdeck: Any) -> None:
    """An address of another scheme and a taken away command are refused; what was broken before may be mended."""
    memdeck("monitors", "add", "New", "--type", "http", "--url", "https://example.com/")
    assert memdeck("monitors", "edit", "New", "--set", "url=gopher://example.com/").code == 2
    assert memdeck("monitors", "edit", "New", "--unset", "url").code == 2
    assert memdeck("monitors", "edit", "New", "--set", "type=tcp").code == 2
    assert memdeck("monitors", "edit", "New", "--set", "url=https://example.org/").code == 0


def test_mute(memdeck: Memdeck, monitors: Path, shop: Path) -> None:
    """A mute has an end and silences messages; --off ends it at once."""
    approve(shop)
    assert memdeck("monitors", "mute", "Bad", "--for", "2h", "-o", "json").data == {
        "monitor": "Bad",
        "until": "2024-01-15T14:00:00Z",
    }
    [bad] = memdeck("monitors", "check", "Bad", "-o", "json").data["monitors"]
    assert (bad["state"], bad["silenced"]) == ("failing", "muted")
    [row] = memdeck("monitors", "list", "--match", "Bad", "-o", "json").data["monitors"]
    assert row["mutedUntil"] == "2024-01-15T14:00:00Z"
    assert memdeck("monitors", "mute", "Bad", "--off").out == "Bad: not muted\n"
    assert memdeck("monitors", "mute", "Bad", "--for", "soon").code == 2
    assert memdeck("monitors", "mute", "--for", "30m").out.startswith("all monitors: muted until ")
