"""Whole runs: the three monitors of the format for real, many at once, crashes, and what nobody approved."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from memory.errors import BusyError
from memory.monitoring.ledger import Leader
from memory.monitoring.schedule import due_of, schedules
from memory.storage.own_folders import StateFolder
from tests.memory.monitoring.keeping import NOW, Place, command, web
from tests.patience import PATIENCE, until

HOUSE = Path(__file__).parents[3]


def journal(place: Place) -> list[str]:
    """Return the lines of the journal below its day."""
    return place.text("journal.md").partition("## 2026-01-15\n")[2].splitlines()


def test_the_three_monitors_of_the_format(tmp_path: Path) -> None:
    """An http check fails twice, is remediated, verified, journalled, told; df and a command are well beside it."""
    # The remediation is a process of its own: the server looks for what it leaves behind.
    mended = tmp_path / "mended"

    class Answers(dict[str, int]):
        def get(self, path: str, default: int = 200) -> int:  # type: ignore[override]
            return 503 if path == "/products" and not mended.exists() else default

    with web(Answers()) as base:
        place = Place(
            tmp_path,
            f"""### API
- type: http
- url: {base}/products
- interval: */5 * * * * (every 5 min)
- cronJobId: cron-mon-001
- threshold: status != 200
- alertPriority: high
- autoRemediate: touch {mended}
- lastCheck: 2024-01-15T10:30:00Z
- lastStatus: healthy

### Database Connection
- type: command
- command: test -d {tmp_path}
- interval: */10 * * * * (every 10 min)
- cronJobId: cron-mon-002
- threshold: exit code != 0
- alertPriority: high
- autoRemediate: touch {tmp_path}/never
- lastCheck: 2024-01-15T10:30:00Z
- lastStatus: healthy

### Disk Space
- type: command
- command: df -h / | awk 'NR==2 {{print $5}}' | tr -d '%'
- interval: 0 * * * * (every hour)
- cronJobId: cron-mon-003
- threshold: value > 100
- alertPriority: normal
- autoRemediate: null (notify only)
- lastCheck: 2024-01-15T10:00:00Z
- lastStatus: healthy (72% used)
""",
        )
        place.approve()
        first = place.watch(0)
        assert [one.result.state for one in first.monitors] == ["failing", "healthy", "healthy"]
        assert place.post.titles == ["API is failing: status 503"]
        second = place.watch(5)
        assert [(one.monitor.name, one.result.state) for one in second.monitors] == [("API", "healthy")]
        third = place.watch(10)
    assert [one.result.state for one in third.monitors] == ["healthy", "healthy"]
    assert third.monitors[0].happenings == ()
    assert journal(place) == [
        "### 11:35 — Monitor Alert",
        "- API endpoint /products returned 503 (2 occurrences)",
        f"- Auto-remediation: Ran touch {mended}",
        "- Verified: Endpoint recovered, now returning 200",
        '- Notification sent: "API recovered after auto-remediation"',
        "### 11:30 — Monitor Alert",
        "- API endpoint /products returned 503 (1 occurrence)",
        '- Notification sent: "API is failing: status 503"',
    ]
    text = place.text("monitors.md")
    assert "- lastCheck: 2026-01-15T11:40:00Z\n- lastStatus: healthy (status 200, " in text
    assert "- lastCheck: 2026-01-15T11:40:00Z\n- lastStatus: healthy (exit code 0)\n" in text
    used = subprocess.run(
        ["/bin/sh", "-c", "df -h / | awk 'NR==2 {print $5}' | tr -d '%'"],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    ).stdout.strip()
    assert f"- lastCheck: 2026-01-15T11:30:00Z\n- lastStatus: healthy ({used}% used)\n" in text
    assert not (tmp_path / "never").exists()
    assert place.post.titles == ["API is failing: status 503", "API recovered after auto-remediation"]


def test_a_remediation_needs_an_approval_of_its_own(tmp_path: Path) -> None:
    """Approving the check does not approve what mends it: it is blocked, listed and told in the journal."""
    place = Place(tmp_path, command("One", "false", f"- autoRemediate: touch {tmp_path}/ran"))
    place.approve("check")
    assert place.watch(0).blocked == ()
    watch = place.watch(5)
    assert [(row["role"], row["text"]) for row in watch.blocked] == [("remediate", f"touch {tmp_path}/ran")]
    assert not (tmp_path / "ran").exists()
    assert watch.monitors[0].json()["remediation"]["ran"] is False


def test_what_a_remediation_would_run_is_looked_at_after_the_check(tmp_path: Path) -> None:
    """Where a check writes the script of its remediation anew, that waits for a person."""
    place = Place(
        tmp_path, command("One", "cp ../new.sh mend.sh; exit 1", "- folder: .", "- autoRemediate: sh mend.sh")
    )
    (place.root / "mend.sh").write_text("true\n")
    (tmp_path / "new.sh").write_text("true\n")
    place.approve()
    place.watch(0)
    (tmp_path / "new.sh").write_text("touch ../ran\n")
    watch = place.watch(5)
    assert [row["state"] for row in watch.blocked] == ["withdrawn"]
    assert not (tmp_path / "ran").exists()


def test_a_remediation_stops_itself(tmp_path: Path) -> None:
    """Two that did not help are the last ones of an outage; with help they come at most three times a day."""
    place = Place(tmp_path, command("One", "false", f"- autoRemediate: echo x >> {tmp_path}/ran"))
    place.approve()
    for minutes in range(0, 120, 5):
        place.watch(minutes)
    assert (tmp_path / "ran").read_text() == "x\n" * 2
    text = place.text("journal.md")
    assert text.count("Auto-remediation: Ran echo") == 2
    assert text.count("Auto-remediation: Stopped, because the last two did not help") == 1
    assert "- One: exit code 1 (2 occurrences)" in text
    assert "- Verified: One has not recovered, still exit code 1" in text


def test_two_runners_at_once(tmp_path: Path) -> None:
    """Of processes that watch at the same minutes each instant is run by one, and once."""
    ran = tmp_path / "ran"
    place = Place(tmp_path, command("One", f"echo x >> {ran}") + command("Two", f"echo x >> {ran}"))
    place.approve()
    code = (
        "import sys; from datetime import timedelta; from pathlib import Path\n"
        "from memory.workspace import Workspace; from memory.trust.consent import Trust\n"
        "from memory.monitoring.run import keep_watch\n"
        "from memory.monitoring.watch import WatchServices\n"
        "from tests.memory.monitoring.keeping import NOW\n"
        "root, state = Path(sys.argv[1]), Path(sys.argv[2])\n"
        "w = Workspace.open(root, state_home=state); t = Trust(state, root)\n"
        "for minute in range(0, 21):\n"
        "    keep_watch(w, t, NOW + timedelta(minutes=minute), WatchServices({}), wait=20)\n"
    )
    runners = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(place.root), str(place.state_home)],
            cwd=HOUSE,
            env={**os.environ, "PYTHONPATH": str(HOUSE), "TZ": "UTC"},
        )
        for _ in range(2)
    ]
    assert [runner.wait(PATIENCE) for runner in runners] == [0, 0]
    # 11:30, 11:35, 11:40, 11:45 and 11:50, two monitors.
    assert ran.read_text() == "x\n" * 10


def test_the_lead_is_taken(tmp_path: Path) -> None:
    """While another process runs the monitors nothing runs here; who asks by name is told so."""
    place = Place(tmp_path, command("One", f"touch {tmp_path}/ran"))
    place.approve()
    with closing(Leader(StateFolder(place.state_home, place.root))) as leader:
        assert leader.take()
        watch = place.watch()
        assert (watch.busy, watch.monitors, watch.lines()) == (True, (), ["monitors: another process is running them"])
        with pytest.raises(BusyError) as raised:
            place.watch(names=["One"])
        assert raised.value.code == "monitors.busy"
    assert not (tmp_path / "ran").exists()
    assert place.watch().monitors[0].result.state == "healthy"


def test_a_run_that_was_killed(tmp_path: Path) -> None:
    """A process that dies in the middle of a check does not run it again; the next instant is run."""
    ran = tmp_path / "ran"
    place = Place(tmp_path, command("One", f"echo x >> {ran}; sleep 300", "- timeout: 600s"))
    place.approve()
    code = (
        "import sys; from pathlib import Path\n"
        "from memory.workspace import Workspace; from memory.trust.consent import Trust\n"
        "from memory.monitoring.run import keep_watch\n"
        "from memory.monitoring.watch import WatchServices\n"
        "from tests.memory.monitoring.keeping import NOW\n"
        "root, state = Path(sys.argv[1]), Path(sys.argv[2])\n"
        "keep_watch(Workspace.open(root, state_home=state), Trust(state, root), NOW, WatchServices({}))\n"
    )
    runner = subprocess.Popen(
        [sys.executable, "-c", code, str(place.root), str(place.state_home)],
        cwd=HOUSE,
        env={**os.environ, "PYTHONPATH": str(HOUSE), "TZ": "UTC"},
    )
    until(ran.exists)
    runner.kill()
    runner.wait(PATIENCE)
    watch = place.watch(1)
    assert (watch.monitors, ran.read_text()) == ((), "x\n")
    assert watch.warnings == ("the last run of 'One' was interrupted; it is not run again for its time",)
    due, _ = due_of(
        schedules(place.workspace.snapshot()),
        place.ledger().last_claims(NOW + timedelta(minutes=5)),
        NOW + timedelta(minutes=5),
        place.workspace.zone,
    )
    assert [at for _, at in due] == [NOW + timedelta(minutes=5)]


def test_journal_entries_wait_while_the_files_cannot_be_written(tmp_path: Path) -> None:
    """What cannot be written back is kept, and written with the next run under its own time."""
    place = Place(tmp_path, command("One", "false"))
    place.approve()
    path = place.root / ".aiter/memory/journal.md"
    whole = path.read_bytes()
    path.write_bytes(b"<<<<<<< HEAD\n" + whole + b"=======\n>>>>>>> theirs\n")
    watch = place.watch(0)
    assert len(watch.warnings) == 1
    assert "conflict markers" in watch.warnings[0]
    path.write_bytes(whole)
    place.watch(1)
    assert journal(place) == [
        "### 11:30 — Monitor Alert",
        "- One: exit code 1 (1 occurrence)",
        '- Notification sent: "One is failing: exit code 1"',
    ]
    assert place.post.titles == ["One is failing: exit code 1"]
    assert place.ledger().unwritten() == ()


def test_silence(tmp_path: Path) -> None:
    """A parent that is down, a mute and a maintenance window silence messages, not checks."""
    place = Place(
        tmp_path,
        command("Child", "false", "- dependsOn: Parent")
        + command("Parent", "false")
        + command("Window", "false", "- maintenance: 11:00-12:00")
        + command("Muted", "false"),
    )
    place.approve()
    place.ledger().mute("Muted", NOW + timedelta(minutes=30))
    watch = place.watch()
    assert {one.monitor.name: one.silenced for one in watch.monitors} == {
        "Child": "Parent is down",
        "Parent": "",
        "Window": "maintenance window until 12:00",
        "Muted": "muted",
    }
    assert place.post.titles == ["Parent is failing: exit code 1"]
    place.watch(30)
    assert set(place.post.titles[1:]) == {"Window is failing: exit code 1", "Muted is failing: exit code 1"}


def test_a_name_full_of_signs_stays_one_line(tmp_path: Path) -> None:
    """Names and outputs with Markdown in them cannot become headings, fences or further entries."""
    for name in ("```", "<!-- x", "## 2020-01-01 `", "- [ ] *x* ~~~", "A [x](y) <b>"):
        folder = tmp_path / str(abs(hash(name)))
        place = Place(folder, command(name, "printf '\\n### 09:00 fake\\n```\\033[31m'; false"))
        place.approve()
        place.watch()
        entries = place.workspace.snapshot().journal.entries(limit=10)
        assert [entry.title for entry in entries] == ["Monitor Alert"]
        assert "\x1b" not in place.text("journal.md") + place.text("monitors.md")


def test_a_workspace_without_monitors_leaves_nothing_behind(tmp_path: Path) -> None:
    """Where there is nothing to watch over nothing is made, inside or outside of the workspace."""
    place = Place(tmp_path, "")
    before = sorted(place.state_home.rglob("*"))
    watch = place.watch()
    assert (watch.monitors, watch.beaten, watch.lines()) == ((), False, ["monitors: none due"])
    assert sorted(place.state_home.rglob("*")) == before


def test_who_runs_a_due_monitor_by_hand_runs_it_for_its_time(tmp_path: Path) -> None:
    """The schedule does not run it again for that time, and by hand it runs as often as somebody wants."""
    place = Place(tmp_path, command("Count", f"echo run >> {tmp_path}/ran"))
    place.approve()
    assert len(place.watch(0, names=["Count"]).monitors) == 1
    assert place.watch(1).monitors == ()
    assert len(place.watch(2, names=["Count"]).monitors) == 1
    assert len(place.watch(5).monitors) == 1
    assert (tmp_path / "ran").read_text() == "run\n" * 3
