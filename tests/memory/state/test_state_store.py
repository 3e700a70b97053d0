"""Init, update, edit and settings: what is written, in which bytes, and what stays."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from memory.errors import ConfigError, ConflictError, NotFoundError, RefusedError
from memory.history.undo import redo_in, undo_in
from memory.state import bundles
from memory.state.files.model import (
    CHECKPOINTS,
    CONFIG,
    EVENTS,
    SOURCES,
    STATE,
)
from memory.state.files.store import StateStore

from .states import ACTOR, Repository

PARTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return a small repository with a fresh state."""
    return Repository(tmp_path)


def test_hashes_can_be_made_by_hand(repository: Repository, tmp_path: Path) -> None:
    """sha256sum over the sorted JSON without its final newline is the hash that the files hold."""
    state = repository.json()
    checkpoint = repository.json(f"{CHECKPOINTS}/chk-000001.json")
    for holder in (state, checkpoint):
        text = json.dumps(holder["bundle"], indent=2, sort_keys=True, ensure_ascii=False)
        (tmp_path / "by-hand").write_text(text)
        by_hand = subprocess.run(["sha256sum", tmp_path / "by-hand"], capture_output=True, check=True, text=True)
        assert by_hand.stdout.split()[0] == holder["bundleHash"]
    event = json.loads(repository.event_lines()[0])
    said = {"bundleHash": state["bundleHash"], "commandName": "init", "diffSummary": None}
    text = json.dumps(said, indent=2, sort_keys=True, ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == event["contentHash"]


def test_a_fresh_state_is_whole(repository: Repository) -> None:
    """Init writes version 2, one event, one checkpoint that names it, no sources, and validates without a fail."""
    state = repository.json()
    checkpoint = repository.json(f"{CHECKPOINTS}/chk-000001.json")
    assert (state["schemaVersion"], state["maintenance"]["historyEventCount"]) == (2, 1)
    assert (checkpoint["id"], checkpoint["eventId"]) == ("chk-000001", "evt-000001")
    assert checkpoint["bundle"] == state["bundle"]
    assert checkpoint["summary"] == state["bundle"]["currentFocus"]["summary"]
    assert state["maintenance"]["latestCheckpointId"] == "chk-000001"
    assert state["generatedAt"] == "2026-03-01T12:00:00.000Z"
    assert repository.json(SOURCES) == []
    assert repository.codes() == []


def test_update_keeps_what_people_and_recalls_put_there(repository: Repository) -> None:
    """Gotchas, next steps, lines and texts that no analysis said survive an update."""
    focus = repository.memory.bundle["currentFocus"]
    repository.imported(
        "one", "DECISION: Use SQLite for the cache", "GOTCHA: Lock: two writers block", "NEXT: Write tests: now"
    )
    repository.recall()
    edited = {**repository.memory.bundle["project"], "summary": "What a person wrote."}
    bundles.edit(repository.store, "project", edited, actor=ACTOR, now=repository.later())
    repository.update()
    bundle = repository.memory.bundle
    assert "Use SQLite for the cache" in bundle["currentFocus"]["currentState"]
    assert set(focus["currentState"]) <= set(bundle["currentFocus"]["currentState"])
    assert "Lock" in {one["title"] for one in bundle["gotchas"]}
    assert "Write tests" in {one["title"] for one in bundle["nextSteps"]}
    assert bundle["project"]["summary"] == "What a person wrote."


def test_of_two_inits_at_once_the_second_finds_the_first(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another process made while this one waited for the lock is neither archived nor replaced."""
    store, bundle = repository.store, repository.analysed()
    for path in (repository.path(".agent-memory"), repository.path("docs/agent-memory")):
        shutil.rmtree(path)
    repository.open()
    whole = type(store).change
    made: list[dict[Path, bytes]] = []

    def after_another(self: StateStore, *given: Any, **more: Any) -> Any:
        if not made:
            made.append({})
            bundles.init(store, bundle, actor=ACTOR, now=repository.later())
            made[0].update(_files(repository.root))
        return whole(self, *given, **more)

    monkeypatch.setattr(type(store), "change", after_another)
    with pytest.raises(RefusedError) as caught:
        bundles.init(repository.store, bundle, actor=ACTOR, now=repository.later())
    assert caught.value.code == "state.exists"
    assert _files(repository.root) == made[0]


def _files(root: Path) -> dict[Path, bytes]:
    """Return every file but the locks."""
    found = (path for path in root.rglob("*") if path.is_file() and ".memdeck" not in path.parts)
    return {path: path.read_bytes() for path in found}


def test_force_archives_first(repository: Repository) -> None:
    """With force, what was there is in the archive, settings and sources stay, and ids go on."""
    repository.imported("one", "DECISION: Use SQLite")
    repository.set("recall.policy", "local-only")
    events, state = repository.path(EVENTS).read_bytes(), repository.path(STATE).read_bytes()
    sources, config = repository.path(SOURCES).read_bytes(), repository.path(CONFIG).read_bytes()
    made = bundles.init(repository.store, repository.analysed(), actor=ACTOR, now=repository.later(), force=True)
    assert made.archived is not None
    assert repository.path(f"{made.archived}/events.jsonl").read_bytes() == events
    assert repository.path(f"{made.archived}/state.json").read_bytes() == state
    assert repository.path(f"{made.archived}/checkpoints/chk-000001.json").exists()
    assert (repository.path(SOURCES).read_bytes(), repository.path(CONFIG).read_bytes()) == (sources, config)
    assert [event["id"] for event in repository.memory.events] == ["evt-000003"]
    assert repository.memory.checkpoint_ids == ("chk-000002",)
    assert repository.codes() == []


def test_ids_are_never_given_again(repository: Repository) -> None:
    """Neither a cursor nor a checkpoint nor the archive lets an id come back that is in no active file any more."""
    repository.update()
    state = repository.json()
    state["maintenance"]["recallCursors"]["imports"]["lastRecalledEventId"] = "evt-1000004"
    repository.put(STATE, state)
    repository.path(EVENTS).write_bytes(b"")
    assert repository.memory.highest_event() == 1_000_004
    assert bundles.update(repository.store, repository.analysed(), actor=ACTOR, now=repository.later()).change
    assert repository.memory.events[0]["id"] == "evt-1000005"


def test_edit_writes_nothing_wrong(repository: Repository) -> None:
    """A value without the shape, a stale base and an unknown section are refused with their codes."""
    before = repository.path(STATE).read_bytes()
    with pytest.raises(RefusedError) as refused:
        bundles.edit(repository.store, "gotchas", [{"title": " "}], actor=ACTOR, now=repository.later())
    assert refused.value.code == "state.refused"
    assert refused.value.details["faults"][0] == {"where": "gotchas[0].title", "what": "is not text, or it is blank"}
    with pytest.raises(ConflictError):
        bundles.edit(repository.store, "gotchas", [], base=[1], actor=ACTOR, now=repository.later())
    with pytest.raises(NotFoundError, match="no section"):
        bundles.edit(repository.store, "plans", [], actor=ACTOR, now=repository.later())
    assert repository.path(STATE).read_bytes() == before


def test_a_bundle_names_no_other_entry_file(repository: Repository) -> None:
    """An entry file that is none of the three is refused: a bundle cannot make memdeck write anywhere else."""
    project = {**repository.memory.bundle["project"], "recommendedEntryFile": "shop/cache.py"}
    with pytest.raises(RefusedError) as caught:
        bundles.edit(repository.store, "project", project, actor=ACTOR, now=repository.later())
    assert caught.value.code == "state.entry_file"
    assert repository.path("shop/cache.py").read_text() == "x = 1\n"


def test_the_entry_block_goes_through_a_link_between_entry_files(tmp_path: Path) -> None:
    """Where CLAUDE.md is a link to AGENTS.md, the block is in AGENTS.md, and the link stays."""
    repository = Repository(tmp_path)
    repository.path("AGENTS.md").write_text("# Agents\n\nRead this.\n")
    os.symlink("AGENTS.md", repository.path("CLAUDE.md"))
    project = {**repository.memory.bundle["project"], "recommendedEntryFile": "CLAUDE.md"}
    bundles.edit(repository.store, "project", project, actor=ACTOR, now=repository.later())
    assert repository.path("CLAUDE.md").is_symlink()
    assert "agent-memory:entry" in repository.path("AGENTS.md").read_text()
    assert repository.codes() == []


def test_undo_takes_a_whole_command_back(repository: Repository) -> None:
    """State, event, checkpoint, projections and entry block go back together, and so does what undo undid."""
    (repository.root / "shop" / "orders.py").write_text("y = 1\n")
    before = {
        path: path.read_bytes() for path in repository.root.rglob("*") if path.is_file() and ".memdeck" not in str(path)
    }
    repository.update()
    undo_in(repository.workspace.together, actor=ACTOR, now=repository.later())
    after = {
        path: path.read_bytes() for path in repository.root.rglob("*") if path.is_file() and ".memdeck" not in str(path)
    }
    assert after == before
    redo_in(repository.workspace.together, actor=ACTOR, now=repository.later())
    assert repository.memory.checkpoint_ids == ("chk-000001", "chk-000002")
    assert repository.codes() == []


def test_settings_are_set_in_their_place(repository: Repository) -> None:
    """One setting changes, order and unknown keys stay, and wrong keys and values are refused."""
    repository.put(CONFIG, {"mine": {"z": 1}, "retention": {"enabled": True}})
    repository.set("retention.enabled", "false")
    repository.set("recall.backlogWarnThreshold", "3")
    assert (
        repository.path(CONFIG).read_text()
        == json.dumps(
            {"mine": {"z": 1}, "retention": {"enabled": False}, "recall": {"backlogWarnThreshold": 3}}, indent=2
        )
        + "\n"
    )
    assert repository.memory.config["retention.history.maxAgeDays"] == 90
    for key, value, code in (
        ("recall.policy", "wild", "state.config.value"),
        ("recall.backlogWarnThreshold", "-1", "state.config.value"),
        ("automation.intervalMinutes", "0", "state.config.value"),
        ("retention.enabled", "yes", "state.config.value"),
        ("recall.colour", "red", "state.config.key"),
    ):
        with pytest.raises(ConfigError) as caught:
            repository.set(key, value)
        assert caught.value.code == code
