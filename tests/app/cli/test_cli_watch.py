"""The verbs that run monitors, on the sample workspace: consent, states, mutes, pings, export, maintenance."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory.trust.consent import Trust, asks_of
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
- type: heartbeat
- olderThan: 1d
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


def test_check_blocks(memdeck: Memdeck, monitors: Path) -> None:
    """What nobody approved is blocked: exit code 3 and a list; what needs no approval runs."""
    answer = memdeck("monitors", "check", "-o", "json")
    assert answer.code == 3
    assert {one["name"]: one["state"] for one in answer.data["monitors"]} == {
        "Good": "blocked",
        "Bad": "blocked",
        "Backup": "failing",
    }
    assert [(row["name"], row["text"], row["state"]) for row in answer.data["blocked"]] == [
        ("Good", "true", "pending"),
        ("Bad", "false", "pending"),
    ]
    people = memdeck("monitors", "check")
    assert people.code == 3
    assert "needs approval  " in people.out


def test_check_runs(memdeck: Memdeck, monitors: Path, shop: Path) -> None:
    """Approved monitors run when due, by name, and all; the exit code says that they could."""
    approve(shop)
    answer = memdeck("monitors", "check", "-o", "json")
    assert answer.code == 0
    assert {one["name"]: one["state"] for one in answer.data["monitors"]} == {
        "Good": "healthy",
        "Bad": "failing",
        "Backup": "failing",
    }
    assert memdeck("monitors", "check", "-o", "json").data["monitors"] == []
    assert [one["name"] for one in memdeck("monitors", "check", "Bad", "-o", "json").data["monitors"]] == ["Bad"]
    assert len(memdeck("monitors", "check", "--all", "-o", "json").data["monitors"]) == 3
    assert memdeck("monitors", "check", "Bad", "--all").code == 2
    assert memdeck("monitors", "check", "Nobody").code == 1
    assert "- lastStatus: healthy (exit code 0)\n" in monitors.read_text()


def test_list_tells_how_they_stand(memdeck: Memdeck, monitors: Path, shop: Path) -> None:
    """State, since, uptime, results and the next run stand beside what is in the file."""
    approve(shop)
    memdeck("monitors", "check")
    rows = {row["name"]: row for row in memdeck("monitors", "list", "-o", "json").data["monitors"]}
    assert (rows["Good"]["state"], rows["Good"]["uptime"]["24h"], rows["Good"]["alerting"]) == ("healthy", 100.0, False)
    assert (rows["Bad"]["state"], rows["Bad"]["since"], rows["Bad"]["alerting"]) == (
        "failing",
        "2024-01-15T12:00:00Z",
        True,
    )
    assert rows["Bad"]["nextRun"] == "2024-01-15T12:05:00Z"
    assert len(rows["Bad"]["results"]) == 1
    alerting = memdeck("monitors", "list", "--alerting", "-o", "json").data["monitors"]
    assert [row["name"] for row in alerting] == ["Bad", "Backup"]
    status = memdeck("status", "-o", "json").data["monitors"]["alerts"]
    assert [(row["name"], row["state"]) for row in status] == [("Bad", "failing"), ("Backup", "failing")]
    assert "failing (exit code 1)" in memdeck("status").out


def test_ping(memdeck: Memdeck, monitors: Path) -> None:
    """A ping is a sign of life for a heartbeat monitor."""
    assert memdeck("monitors", "ping", "Backup", "-o", "json").data["at"] == "2024-01-15T12:00:00Z"
    [one] = memdeck("monitors", "check", "Backup", "-o", "json").data["monitors"]
    assert (one["state"], one["summary"]) == ("healthy", "last sign 0 ms ago")


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


def test_export(memdeck: Memdeck, monitors: Path, shop: Path) -> None:
    """The text of Prometheus is on stdout, JSON where it is asked for."""
    approve(shop)
    memdeck("monitors", "check")
    lines = memdeck("monitors", "export").out.splitlines()
    values = {line.partition(",")[0]: line.rpartition(" ")[2] for line in lines}
    assert values['memdeck_monitor_up{name="Good"'] == "1"
    assert values['memdeck_monitor_alerting{name="Bad"'] == "1"
    assert len(memdeck("monitors", "export", "-o", "json").data["monitors"]) == 3


def test_maintain_keeps_watch(memdeck: Memdeck, monitors: Path, shop: Path) -> None:
    """It applies the rules, checks what is due and beats; without an approval its exit code is 3."""
    first = memdeck("--maintain", "-o", "json")
    assert first.code == 3
    assert [one["state"] for one in first.data["monitors"]] == ["blocked", "blocked", "failing"]
    assert len(first.data["blocked"]) == 2
    assert len(first.data["rules"]) == 4
    assert first.data["heartbeat"]
    journal = (shop / ".aiter/memory/journal.md").read_text()
    assert "### 12:00 — Heartbeat Check\n" in journal
    approve(shop)
    second = memdeck("--maintain", "-o", "json", now="2024-01-15T12:05:00Z")
    assert (second.code, [one["state"] for one in second.data["monitors"]]) == (0, ["healthy", "failing"])
    assert "monitors: " in memdeck("--maintain", now="2024-01-15T12:10:00Z").out


@pytest.mark.parametrize("option", ["--no-exec", "--safe", "--dry-run"])
def test_maintain_without_monitors(memdeck: Memdeck, monitors: Path, shop: Path, option: str) -> None:
    """With one of these options there is no check and no heartbeat, which is no error."""
    approve(shop)
    before = monitors.read_bytes()
    answer = memdeck("--maintain", option, "-o", "json")
    assert (answer.code, answer.data["monitors"]) == (0, [])
    assert monitors.read_bytes() == before
    assert "### 12:00 — Heartbeat Check" not in (shop / ".aiter/memory/journal.md").read_text()


def test_a_wrong_setting_leaves_no_monitor_unwatched(memdeck: Memdeck, monitors: Path, shop: Path) -> None:
    """Maintenance ends with the error of config.md, and the monitors were checked all the same."""
    approve(shop)
    config = shop / ".aiter/memory/config.md"
    config.write_text(config.read_text().replace("pruneJournalAfterDays: 30", "pruneJournalAfterDays: many"))
    assert memdeck("--maintain").code == 2
    assert "- lastStatus: healthy (exit code 0)" in monitors.read_text()


def test_safe_runs_nothing(memdeck: Memdeck, monitors: Path, shop: Path) -> None:
    """With --safe who asks for a run is told that there is none."""
    approve(shop)
    for words in (["monitors", "check"], ["notify", "test"]):
        answer = memdeck(*words, "--safe", "-o", "json")
        assert (answer.code, answer.data["error"]["code"]) == (2, "usage.safe")
    assert "lastStatus" not in monitors.read_text()


def test_notify(memdeck: Memdeck, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Channels are listed without their addresses, a test goes to the first that takes it."""
    listed = memdeck("notify", "list", "-o", "json").data["channels"]
    assert listed[0]["id"] == "channel-abc123"
    assert listed[0]["usable"] is False
    failed = memdeck("notify", "test", "-o", "json")
    assert (failed.code, failed.data["error"]["code"]) == (1, "notify.failed")
    with web({}) as base:
        monkeypatch.setenv("MEMDECK_CHANNEL_CHANNEL_ABC123", base.replace("http", "json") + "/hush")
        sent = memdeck("notify", "test", "-o", "json")
        assert (sent.code, sent.data["channel"]) == (0, "channel-abc123")
        assert [json.loads(one)["title"] for one in web.posted] == ["memdeck test"]  # type: ignore[attr-defined]
    gone = memdeck("notify", "test")
    assert gone.code == 1
    assert "hush" not in gone.out + gone.err + memdeck("notify", "list").out


def test_what_may_not_run_is_listed_as_blocked(memdeck: Memdeck, shop: Path) -> None:
    """A monitor that nobody approved is never listed as healthy, whatever its file says."""
    assert {row["state"] for row in memdeck("monitors", "list", "-o", "json").data["monitors"]} == {"blocked"}
    table = memdeck("monitors", "list").out
    assert (table.count("healthy"), table.count("blocked, was healthy")) == (3, 3)
    approve(shop)
    assert "blocked" not in memdeck("monitors", "list").out
    assert {row["state"] for row in memdeck("monitors", "list", "-o", "json").data["monitors"]} == {"stale"}


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
