"""Sync, retention, automation and status."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory.errors import MemdeckError, NotFoundError, UsageError
from memory.history.undo import undo_in
from memory.maintenance.report import render
from memory.state import bundles
from memory.state.check import validate
from memory.state.files.model import ARCHIVE, EVENTS, SOURCES, STATE, stamp
from memory.state.imports.sources import add_source, chosen
from memory.state.retention import candidates, prune
from memory.state.status import status_of

from .states import ACTOR, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return a small repository with a fresh state."""
    return Repository(tmp_path)


# -- sources --------------------------------------------------------------------------------------------------------


def test_adding_refuses_what_cannot_be_a_source(repository: Repository) -> None:
    """A taken id, a missing path, an unknown type and a name without letters are refused with their codes."""
    repository.add_source()

    def code(**more: Any) -> str:
        asked = {"type": "claude-local", "path": str(repository.home), "name": "other", **more}
        kind, path = asked.pop("type"), asked.pop("path")
        with pytest.raises(MemdeckError) as caught:
            add_source(repository.store, kind, path, home=repository.home, actor=ACTOR, now=repository.at, **asked)
        return caught.value.code

    assert code(name="claude") == "state.source.exists"
    assert code(path="/nowhere") == "state.source.missing"
    assert code(type="gemini") == "state.source.type"
    assert code(name="!!") == "state.source.name"
    with pytest.raises(NotFoundError, match="known: claude"):
        chosen(repository.memory.sources, "other")
    assert issubclass(UsageError, MemdeckError)


# -- retention ------------------------------------------------------------------------------------------------------


def checkpoints(repository: Repository, count: int) -> None:
    """Make checkpoints, a minute apart."""
    for _ in range(count):
        repository.update()


def test_old_events_that_were_recalled_go_to_the_archive(repository: Repository) -> None:
    """They leave the history for a batch with manifest and events, byte for byte, and nothing fails."""
    repository.imported("one", "DECISION: Use SQLite")
    repository.recall()
    lines = repository.event_lines()
    repository.note("Nobody looked at this yet")
    waiting = repository.event_lines()[3:]
    repository.later(days=91)
    done = prune(repository.store, actor=ACTOR, now=repository.at)
    (batch,) = done.archived
    assert repository.path(f"{batch}/events.jsonl").read_bytes() == b"".join(lines)
    manifest = repository.json(f"{batch}/manifest.json")
    assert manifest["archivedEventIds"] == ["evt-000001", "evt-000002", "evt-000003"]
    assert repository.event_lines() == waiting
    assert repository.json()["maintenance"]["historyEventCount"] == 1
    assert repository.codes() == []
    assert batch == f"{ARCHIVE}/prune-20260531T120300000Z"


def test_events_are_only_ever_appended_to(repository: Repository) -> None:
    """Whatever is done, each version of events.jsonl begins with the one before, but for retention."""
    repository.add_source()
    gotcha = {"title": "Lock", "symptom": "s", "cause": "c", "correctPath": "p"}
    passed = {"label": "l", "command": "true", "status": "passed", "summary": "s"}

    def note(**more: Any) -> dict[str, Any]:
        return {"actor": ACTOR, "now": repository.later(), **more}

    acts: dict[str, Callable[[], object]] = {
        "sync": lambda: (repository.session("one", ["DECISION: Use SQLite"]), repository.sync()),
        "recall": repository.recall,
        "update": repository.update,
        "edit": lambda: bundles.edit(repository.store, "gotchas", [gotcha], **note()),
        "validation": lambda: bundles.record_validation(repository.store, [passed], **note()),
        "setting": lambda: repository.set("recall.policy", "balanced"),
        "grown session": lambda: (repository.session("one", ["DECISION: Use SQLite", "One more"]), repository.sync()),
        "recall of nothing new": repository.recall,
        "automation": lambda: cycle(repository),
    }
    before = repository.path(EVENTS).read_bytes()
    lengths = {}
    for name, act in acts.items():
        act()
        after = repository.path(EVENTS).read_bytes()
        assert after.startswith(before), name
        lengths[name] = after.count(b"\n") - before.count(b"\n")
        before = after
    assert lengths == {
        "sync": 1, "recall": 1, "update": 1, "edit": 1, "validation": 1, "setting": 0, "grown session": 1,
        "recall of nothing new": 0, "automation": 0,
    }  # fmt: skip
    repository.later(days=100)
    (batch,) = prune(repository.store, actor=ACTOR, now=repository.at).archived
    kept = repository.path(EVENTS).read_bytes()
    assert before.endswith(kept)
    assert repository.path(f"{batch}/events.jsonl").read_bytes() + kept == before


def test_what_no_recall_saw_stays(repository: Repository) -> None:
    """An event goes by the cursor of its own source: recalls of imports alone let imports go, and nothing else but
    what was written along with a bundle, the recall's own event too.
    """
    repository.note("Use Rust")
    repository.imported("one", "DECISION: Use SQLite")
    repository.recall(source="imports")
    repository.later(days=400)
    taken = candidates(repository.memory, repository.at)
    assert [event["id"] for event in taken.events] == ["evt-000001", "evt-000003", "evt-000004"]


def test_what_expired_beyond_every_cursor_is_no_gap(repository: Repository) -> None:
    """An event of update that no cursor passed may be archived and expire, and nothing fails or warns of it."""
    repository.update()
    for days in (100, 200):
        repository.later(days=days)
        prune(repository.store, actor=ACTOR, now=repository.at)
    repository.update()
    assert [event["id"] for event in repository.memory.events] == ["evt-000003"]
    assert repository.memory.batches == ()
    assert repository.codes() == []
    assert not [code for code in repository.codes("warn") if code.startswith(("history", "checkpoints"))]


@pytest.mark.parametrize(("keep", "left"), [(0, 1), (1, 1), (3, 3), (10, 6)])
def test_the_newest_checkpoints_stay(repository: Repository, keep: int, left: int) -> None:
    """keepRecent of them stay however old they are, and never fewer than the latest."""
    repository.set("retention.checkpoints.keepRecent", str(keep))
    checkpoints(repository, 5)
    repository.later(days=40)
    prune(repository.store, actor=ACTOR, now=repository.at)
    assert len(repository.memory.checkpoint_ids) == left
    assert repository.memory.checkpoint_ids[-1] == "chk-000006"
    assert repository.codes() == []


def test_batches_expire_and_the_new_one_does_not(repository: Repository) -> None:
    """A batch as old as expireAfterDays goes with its folder, the one of the same run stays, and nothing fails."""
    repository.recall()
    repository.later(days=100)
    (old,) = prune(repository.store, actor=ACTOR, now=repository.at).archived
    repository.update()
    repository.recall()
    repository.later(days=181)
    done = prune(repository.store, actor=ACTOR, now=repository.at)
    assert done.batches == (old.rpartition("/")[2],)
    assert not repository.path(old).exists()
    assert [repository.path(one).exists() for one in done.archived] == [True]
    assert repository.codes() == []
    repository.set("retention.archive.expireAfterDays", "0")
    repository.set("retention.history.maxAgeDays", "0")
    repository.update()
    repository.recall()
    done = prune(repository.store, actor=ACTOR, now=repository.later())
    assert [repository.path(one).exists() for one in done.archived] == [True]


def test_a_batch_that_was_undone_is_no_damage(repository: Repository) -> None:
    """Undo leaves empty folders of a batch behind, which hold nothing that could be wrong."""
    repository.recall()
    bundles.init(repository.store, repository.analysed(), actor=ACTOR, now=repository.later(), force=True)
    undo_in(repository.workspace.together, actor=ACTOR, now=repository.later())
    repository.path(f"{ARCHIVE}/repair-20240116T100000000Z/damaged/inner").mkdir(parents=True)
    assert repository.memory.batches == ()
    assert [one.code for one in validate(repository.memory, repository.at) if one.code.startswith("archive:")] == []


def test_a_batch_with_a_broken_manifest_stays(repository: Repository) -> None:
    """What cannot be dated does not expire."""
    repository.recall()
    repository.later(days=100)
    (batch,) = prune(repository.store, actor=ACTOR, now=repository.at).archived
    repository.path(f"{batch}/manifest.json").write_text("{")
    repository.later(days=400)
    prune(repository.store, actor=ACTOR, now=repository.at)
    assert repository.path(f"{batch}/events.jsonl").exists()


# -- automation -----------------------------------------------------------------------------------------------------


def cycle(repository: Repository) -> dict[str, str]:
    """Do one cycle, from sources that the person lets it read; return what each step says."""
    repository.system.unattended.take(repository.memory.sources, repository.at)
    report = repository.system.maintain(repository.later(), actor="maintain", force=True)
    return {rule.rule.removesuffix("-project-state"): rule.said or rule.why for rule in report.rules}


@pytest.mark.parametrize(
    ("key", "step"),
    [
        ("automation.importSyncBeforeRecall", "sync"),
        ("automation.autoRecall", "recall"),
        ("retention.enabled", "prune"),
    ],
)
def test_off_is_off(repository: Repository, key: str, step: str) -> None:
    """A step that the settings turn off does not run, and is said to be off."""
    repository.add_source()
    repository.session("one", ["DECISION: Use SQLite"])
    repository.set(key, "false")
    assert cycle(repository)[step].startswith(("off: ", "retention is off"))
    if step == "sync":
        assert [event["kind"] for event in repository.memory.events if event["kind"] != "tool_run"] == []
    if step == "recall":
        assert repository.memory.unrecalled("imports")


def test_maintenance_runs_at_most_once_in_the_interval(repository: Repository) -> None:
    """A second run within intervalMinutes does nothing and says so; after it, and with force, it runs."""
    repository.add_source()
    repository.system.unattended.take(repository.memory.sources, repository.at)
    repository.session("one", ["DECISION: Use SQLite"])
    report = repository.system.maintain(repository.later(), actor="maintain")
    assert [rule.rule for rule in report.rules] == [
        "sync-project-state", "recall-project-state", "prune-project-state",
    ]  # fmt: skip
    assert any("imported 1" in line for line in render(report))
    repository.session("two", ["DECISION: Use Rust"])
    early = repository.system.maintain(repository.later(minutes=14), actor="maintain")
    assert "less than 15 minutes ago" in early.rules[0].said
    assert len(repository.memory.unrecalled()) == 0
    said = repository.system.maintain(repository.at, actor="maintain", dry_run=True)
    assert [rule.said for rule in said.rules] == [rule.said for rule in early.rules], "a dry run says what a run does"
    assert repository.system.maintain(repository.later(minutes=1), actor="maintain").change is not None
    assert "Use Rust" in repository.memory.bundle["currentFocus"]["currentState"]


def test_maintenance_reads_no_folder_that_nobody_let_it_read(repository: Repository, tmp_path: Path) -> None:
    """A list of sources that came with a repository makes it read nothing elsewhere, until a person does it by hand."""
    secret = tmp_path / "private"
    secret.mkdir()
    (secret / "s.jsonl").write_text(repository.session("one", ["DECISION: Secret plan"]).read_text())
    planted = {
        "id": "planted", "type": "claude-local", "path": str(secret), "createdAt": stamp(repository.at),
        "updatedAt": stamp(repository.at), "lastSyncedAt": None, "lastSyncStatus": "never", "lastSyncError": None,
        "lastImportedCount": 0,
    }  # fmt: skip
    repository.put(SOURCES, [planted])
    report = repository.system.maintain(repository.later(), actor="maintain")
    assert any("you have not read it on this machine" in words for words in report.warnings)
    assert "Secret plan" not in repository.path(EVENTS).read_text()
    assert any("planted" in words for words, _ in repository.system.doctor_lines())
    repository.system.unattended.take([planted], repository.at)
    repository.system.maintain(repository.later(hours=1), actor="maintain")
    assert "Secret plan" in repository.path(EVENTS).read_text()


def test_maintenance_of_a_damaged_state_warns_and_stops_nothing(repository: Repository) -> None:
    """What keeps it from running is a warning of the report, so that other systems are maintained."""
    repository.path(STATE).write_text("{")
    report = repository.system.maintain(repository.later(), actor="maintain")
    assert report.rules == ()
    assert "state.json" in report.warnings[0]


# -- status ---------------------------------------------------------------------------------------------------------


def following(repository: Repository) -> str | None:
    """Return the command that status suggests."""
    return status_of(repository.memory, repository.at)["next"]["command"]


def test_status_says_the_one_next_thing(repository: Repository) -> None:
    """Recall while anything waits, then prune, then update where the bundle drifted, else nothing."""
    assert following(repository) is None
    repository.note("Use Rust")
    assert following(repository) == "memdeck state recall"
    repository.recall()
    assert following(repository) is None
    repository.later(days=100)
    assert following(repository) == "memdeck state prune"
    prune(repository.store, actor=ACTOR, now=repository.at)
    state = repository.json()
    state["bundle"]["project"]["summary"] = "Edited by hand."
    repository.put(STATE, state)
    assert following(repository) == "memdeck state update"
