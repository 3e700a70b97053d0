"""What runs unattended: it says when it stopped running, prints one line, and is scheduled with what it needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from tests.contract.place import Place
from tests.contract.test_monitors import approve, entry, write
from tests.patience import join

CONFIG = ".aiter/memory/config.md"
MONDAY, FRIDAY = "2026-03-02T09:00:00Z", "2026-03-06T09:00:00Z"


@pytest.fixture
def watched(workspace: Place) -> Place:
    """Return a workspace with an approved monitor that runs every hour, maintenance every night, and a heartbeat."""
    write(workspace, entry("Disk", "type: command", "command: echo 7", "interval: 0 * * * *", "threshold: value > 9"))
    text = "---\ntype: agent-config\n---\n\n## Workspace\n- timezone: UTC\n- maintenanceSchedule: 0 2 * * *\n"
    workspace.write(CONFIG, f"{text}\n## Heartbeat\n- expression: */30 * * * *\n")
    approve(workspace)
    return workspace


def metrics(place: Place, now: str) -> dict[str, str]:
    """Return the metrics by name, without their labels."""
    lines = place("monitors", "export", now=now).out.splitlines()
    return {re.sub(r"\{.*\}", "", line.split(" ")[0]): line for line in lines if not line.startswith("#")}


def test_what_stopped_running_is_stale_everywhere(watched: Place) -> None:
    """A healthy monitor is stale once two of its runs are missing, wherever it is shown, until it is measured."""
    assert watched("--maintain", now=MONDAY).code == 0
    fresh = watched.json("monitors", "list", now="2026-03-02T10:59:00Z")["monitors"][0]
    assert (fresh["state"], fresh["checked"]) == ("healthy", MONDAY)
    assert "memdeck_monitor_up" in metrics(watched, MONDAY)
    assert watched.json("status", now=MONDAY)["upkeep"] == []

    row = watched.json("monitors", "list", now=FRIDAY)["monitors"][0]
    assert (row["state"], row["summary"]) == ("stale", "was healthy (7)")
    assert len(watched.json("monitors", "list", "--alerting", now=FRIDAY)["monitors"]) == 1
    listed = watched("monitors", "list", now=FRIDAY)
    assert "stale, was healthy (7)" in listed.out
    status = watched.json("status", now=FRIDAY)
    assert [one["state"] for one in status["monitors"]["alerts"]] == ["stale"]
    assert (status["monitors"]["failing"], status["monitors"]["stale"]) == (0, 1)
    assert {one["what"]: one["last"] for one in status["upkeep"]} == {
        "maintenance": MONDAY,
        "monitors": MONDAY,
        "heartbeat": MONDAY,
    }
    said = watched("status", now=FRIDAY).out
    assert "Monitors (1 stale)" in said
    assert "stale, was healthy (7)" in said
    assert f"maintenance ran last at {MONDAY}, scheduled daily 02:00" in said
    for what in ("maintenance ran", "monitors were checked", "heartbeat ran"):
        assert what in said
        assert what in listed.err
    codes = [(one["code"], one["level"]) for one in watched.json("check", now=FRIDAY)["problems"]]
    assert codes.count(("upkeep.overdue", "warning")) == 3
    assert ("monitor.stale", "warning") in codes
    assert "maintenance ran last at" in watched("doctor", now=FRIDAY).out
    found = metrics(watched, FRIDAY)
    assert "memdeck_monitor_up" not in found
    assert found["memdeck_monitor_age_seconds"].endswith(" 345600")
    assert found["memdeck_upkeep_overdue"].endswith(" 1")
    assert "stale" in watched("prompt", now=FRIDAY).out
    watched("fleet", "add", str(watched.work), now=FRIDAY)
    assert watched.json("fleet", "status", now=FRIDAY)["workspaces"][0]["alerts"] == 4

    assert watched("--maintain", now=FRIDAY).code == 0
    assert watched.json("monitors", "list", now=FRIDAY)["monitors"][0]["state"] == "healthy"
    assert watched.json("status", now=FRIDAY)["upkeep"] == []
    assert "memdeck_monitor_up" in metrics(watched, FRIDAY)


def stale_in(place: Place, now: str) -> set[str]:
    """Return the places that tell at a time that a monitor is stale."""
    listed = place.json("monitors", "list", now=now)["monitors"]
    codes = {one["code"] for one in place.json("check", now=now)["problems"]}
    exported = metrics(place, now)
    return {
        name
        for name, told in {
            "list": "stale, was healthy" in place("monitors", "list", now=now).out,
            "json": [one["state"] for one in listed] == ["stale"] and listed[0]["healthy"] is False,
            "status": "stale, was healthy" in place("status", now=now).out,
            "brief": "stale" in place("prompt", now=now).out,
            "check": "monitor.stale" in codes,
            "export": "memdeck_monitor_up" not in exported and exported["memdeck_monitor_stale"].endswith(" 1"),
            "fleet": place.json("fleet", "status", now=now)["workspaces"][0]["stale"] > 0,
        }.items()
        if told
    }


def test_a_week_in_which_cron_is_killed(watched: Place) -> None:
    """cron runs until Wednesday evening and again from Sunday: in between the monitor is stale in every place."""
    everywhere = {"list", "json", "status", "brief", "check", "export", "fleet"}
    write(watched, entry("Disk", "type: command", "command: echo 7", "interval: 0 */6 * * *", "threshold: value > 9"))
    approve(watched)
    watched("fleet", "add", str(watched.work), now=MONDAY)
    for day in range(2, 9):
        for hour in (0, 6, 12, 18):
            now = f"2026-03-{day:02}T{hour:02}:00:10Z"
            if day < 5 or day > 7:
                assert watched("--maintain", "--quiet", now=now).code == 0, now
        # Two intervals after the last run it is no longer known how the monitor is.
        evening = f"2026-03-{day:02}T18:30:00Z"
        assert stale_in(watched, evening) == (everywhere if 5 <= day <= 7 else set()), evening


def test_a_clone_is_stale_from_its_first_moment(workspace: Place) -> None:
    """What a file says of a check long ago is no state of today, in a workspace where nothing ran yet."""
    lines = ("type: command", "command: true", "interval: 0 * * * *", f"lastCheck: {MONDAY}", "lastStatus: healthy")
    write(workspace, entry("Disk", *lines), entry("On request", *lines[:2], *lines[3:]))
    alerts = workspace.json("status", now=FRIDAY)["monitors"]["alerts"]
    assert [one["name"] for one in alerts] == ["Disk"]


def test_what_was_never_measured_is_stale(workspace: Place) -> None:
    """A monitor that runs by itself and was never measured is told everywhere; one that waits for approval as such."""
    write(
        workspace,
        entry("Flag", "type: file", "path: flag", "interval: */5 * * * *", "threshold: missing"),
        entry("Disk", "type: command", "command: true", "interval: 0 * * * *"),
        entry("On request", "type: file", "path: flag"),
    )
    rows = {one["name"]: one for one in workspace.json("monitors", "list", now=MONDAY)["monitors"]}
    assert {name: one["state"] for name, one in rows.items()} == {
        "Flag": "stale",
        "Disk": "blocked",
        "On request": "unknown",
    }
    assert rows["Flag"]["summary"] == "never measured"
    assert "stale, never measured" in workspace("monitors", "list", now=MONDAY).out
    problems = workspace.json("check", now=MONDAY)["problems"]
    told = [one["message"] for one in problems if one["code"] == "monitor.stale"]
    assert told == ["Flag: never measured", "Disk: never measured"]
    status = workspace.json("status", now=MONDAY)
    assert [one["name"] for one in status["monitors"]["alerts"]] == ["Flag"]
    assert "stale, never measured" in workspace("status", now=MONDAY).out
    exported = workspace("monitors", "export", now=MONDAY).out
    assert 'memdeck_monitor_stale{name="Flag"' in exported
    assert "memdeck_monitor_up" not in exported
    workspace("fleet", "add", str(workspace.work), now=MONDAY)
    assert workspace.json("fleet", "status", now=MONDAY)["workspaces"][0]["stale"] == 1

    assert workspace("monitors", "check", now=MONDAY).code == 3
    rows = {one["name"]: one["state"] for one in workspace.json("monitors", "list", now=MONDAY)["monitors"]}
    assert rows["Flag"] == "failing"


def test_a_run_is_one_dated_line_with_its_workspace(watched: Place) -> None:
    """The first line says when, where and what; quiet, it is the only one, and nothing happened is nothing printed."""
    first = watched("--maintain", now=MONDAY).out.splitlines()
    assert first[0] == f"{MONDAY} {watched.work}: nothing to do; monitors: 1 healthy"
    assert len(first) > 1
    later = "2026-03-02T10:00:00Z"
    assert watched("--maintain", "--quiet", now=later).out == ""
    watched.json("tasks", "add", "Old", now=MONDAY)
    watched.json("tasks", "done", "Old", now=MONDAY)
    [line] = watched("--maintain", "--quiet", now="2026-03-20T10:00:00Z").out.splitlines()
    assert line.startswith(f"2026-03-20T10:00:00Z {watched.work}: archived 1 task; monitors: 1 healthy")
    for words in (("--maintain", "--dry-run"), ("monitors", "check"), ("archive",)):
        assert watched.json(*words, now="2026-03-20T10:01:00Z")["workspace"] == str(watched.work)


@pytest.fixture
def calls() -> Iterator[tuple[int, list[str]]]:
    """Return the port of a server and the paths that are requested from it."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200 if self.path == "/sign" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    httpd = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield httpd.server_port, asked
    httpd.shutdown()
    httpd.server_close()
    join(thread)


def test_each_run_ends_with_a_sign_of_life_if_asked(watched: Place, calls: tuple[int, list[str]]) -> None:
    """An address of the person is called at the end of each run, never by a look, and a failure is a warning."""
    port, asked = calls
    file = watched.top / "config" / "memdeck" / "channels.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'[pings]\n"{watched.work}" = "http://127.0.0.1:{port}/sign"\n')
    file.chmod(0o600)
    watched("--maintain", "--dry-run")
    watched("--maintain", "--no-exec")
    watched("monitors", "list")
    assert asked == []
    watched("--maintain", "--quiet")
    watched("monitors", "check")
    assert asked == ["/sign", "/sign"]
    answer = watched("--maintain", environ={"MEMDECK_PING": f"http://127.0.0.1:{port}/gone"})
    assert (answer.code, "the ping at the end was not sent: the server answered 404" in answer.err) == (0, True)
    assert "/gone" not in answer.err
    watched.write(CONFIG, "## Maintenance\n- archiveCompletedAfterDays: soon\n")
    asked.clear()
    assert watched("--maintain").code == 2
    assert asked == []


def test_metrics_carry_host_and_workspace(watched: Place) -> None:
    """Each line of the export has both as labels; `MEMDECK_HOST` names the host."""
    watched("--maintain", now=MONDAY)
    lines = watched("monitors", "export", environ={"MEMDECK_HOST": "box"}).out.splitlines()
    place = f'host="box",workspace="{watched.work}"}}'
    assert lines
    assert all(place in line for line in lines if not line.startswith("#"))


def test_the_schedule_works_under_its_own_environment(watched: Place) -> None:
    """cron's lines and systemd's units set what they need, run quietly, and include the watch."""
    plan = watched.json("doctor", "--schedule", environ={"TZ": "Asia/Tokyo"})
    state = f"XDG_STATE_HOME={watched.top}/state"
    for line in (plan["cron"], plan["watch"]):
        assert f" {state} " in line
        assert " PATH=/" in line
        assert f"--maintain {watched.work} --quiet >> " in line
    assert plan["watch"].startswith("0 * * * * ")
    assert f"\nEnvironment={state}\n" in plan["service"]
    assert "\nSuccessExitStatus=3 75\n" in plan["service"]
    assert "OnCalendar=*-*-* 02:00:00 UTC\n" in plan["timer"]
    assert f"Unit={plan['unit']}.service" in plan["watch_timer"]
    assert "CRON_TZ=UTC" in plan["remarks"][0]
    assert f"{plan['unit']}-watch.timer" in watched("doctor", "--schedule").out
