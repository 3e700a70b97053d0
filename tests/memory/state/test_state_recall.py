"""Recall: preview first, one transaction, cursors, policies, sections, and what events say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory.errors import ConflictError
from memory.state.files.model import EVENTS, STATE
from memory.state.recall.recall import apply, preview, scope_of_recall

from .states import ACTOR, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return a repository with a fresh state."""
    return Repository(tmp_path)


def shown(repository: Repository, **more: Any) -> Any:
    """Return the preview of a recall."""
    return preview(repository.memory, scope_of_recall(repository.memory.config, **more))


def test_a_no_op_moves_the_cursor(repository: Repository) -> None:
    """Events that say nothing new count as recalled afterwards; the bundle, its event and checkpoint stay."""
    repository.imported("one", "Just some words.")
    events = repository.path(EVENTS).read_bytes()
    before = repository.memory.checkpoint_ids
    assert repository.recall().summary.endswith("nothing new")
    assert repository.memory.checkpoint_ids == before
    assert repository.memory.unrecalled() == []
    assert repository.path(EVENTS).read_bytes() == events
    assert repository.memory.checkpoint_ids == ("chk-000001",)
    assert repository.codes() == []


def test_what_was_written_along_with_a_bundle_never_waits(repository: Repository) -> None:
    """Events of init, update and edit say what is in the bundle: none of them waits, and status says so."""
    from memory.state import bundles
    from memory.state.status import status_of

    assert repository.memory.unrecalled() == []
    repository.update()
    bundles.edit(repository.store, "gotchas", [], actor=ACTOR, now=repository.later())
    assert repository.memory.unrecalled() == []
    status = status_of(repository.memory, repository.at)
    assert (status["unrecalled"]["all"], status["groups"], status["next"]["command"]) == (0, [], None)
    assert "memdeck state add" in status["next"]["why"]
    repository.note("Use Rust")
    assert [event["sourceId"] for event in repository.memory.unrecalled("local")] == ["notes"]


def test_a_path_through_a_link_that_leads_out_is_none(repository: Repository, tmp_path: Path) -> None:
    """What lies behind a link to a folder outside is no key path, whoever wrote the event."""
    from memory.state.files.model import is_there

    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("s")
    (repository.root / "link").symlink_to(tmp_path / "outside")
    assert not is_there(repository.root, "link/secret.txt")
    assert is_there(repository.root, "shop/cache.py")
    repository.imported("one", "PATH: shop/cache.py")
    lines = repository.event_lines()
    event = json.loads(lines[1])
    event["signals"]["keyPaths"] = ["link/secret.txt", "shop/cache.py"]
    repository.path(EVENTS).write_bytes(lines[0] + json.dumps(event, separators=(",", ":")).encode() + b"\n")
    repository.recall()
    paths = repository.memory.bundle["project"]["keyPaths"]
    assert "shop/cache.py" in paths
    assert "link/secret.txt" not in paths


def test_done_in_an_older_session_leaves_a_newer_step(repository: Repository) -> None:
    """Sessions of one sync become events in the order of their times, not of their names."""
    repository.add_source()
    repository.session("a-newer", ["NEXT: Ship it: call Ada"], at="2026-02-28T10:00:00.000Z")
    repository.session("b-older", ["DONE: Ship it"], at="2026-02-20T10:00:00.000Z")
    repository.sync()
    assert [event["externalItemId"] for event in repository.memory.events[1:]] == ["b-older", "a-newer"]
    repository.recall()
    assert "Ship it" in [one["title"] for one in repository.memory.bundle["nextSteps"]]


def test_a_recall_of_imports_moves_that_cursor_alone(repository: Repository) -> None:
    """The cursor of the source stands at the last event that was looked at, those of others where they were."""
    before = repository.json()["maintenance"]
    repository.note("Use Rust")
    repository.imported("one", "DECISION: Use SQLite")
    repository.recall(source="imports")
    after = repository.json()["maintenance"]
    assert after["recallCursors"]["imports"]["lastRecalledEventId"] == "evt-000003"
    assert after["recallCursors"]["local"] == before["recallCursors"]["local"]
    assert after["lastRecalledEventId"] == before["lastRecalledEventId"]
    assert [event["id"] for event in repository.memory.unrecalled()] == ["evt-000002"]
    assert repository.memory.unrecalled("imports") == []


@pytest.mark.parametrize(
    ("policy", "source"), [("imports-only", "imports"), ("local-only", "local"), ("balanced", "all")]
)
def test_a_policy_of_the_settings_takes_effect(repository: Repository, policy: str, source: str) -> None:
    """The policy says the source, from the settings as well as from a flag; a source that is given counts first."""
    repository.set("recall.policy", policy)
    config = repository.memory.config
    assert scope_of_recall(config).source == source
    assert scope_of_recall(config, source="all").source == "all"
    repository.set("recall.policy", "balanced")
    assert scope_of_recall(repository.memory.config, policy=policy).source == source


def test_a_protected_project_map_stays(repository: Repository) -> None:
    """Under project-map-protected no engine changes the project map, unless it is the section."""

    def engine(bundle: Any, events: Any, section: str) -> tuple[Any, str]:
        parts = {**bundle["projectMap"], "architectureNotes": ["All new."]}
        return {**bundle, "projectMap": parts}, "test"

    repository.imported("one", "DECISION: Use SQLite")
    config = repository.memory.config
    protected = preview(repository.memory, scope_of_recall(config, policy="project-map-protected"), engine)
    assert protected.document["summary"]["changedSections"] == []
    assert protected.document["summary"]["protectedSections"] == ["project-map"]
    scope = scope_of_recall(config, policy="project-map-protected", section="project-map")
    assert preview(repository.memory, scope, engine).document["summary"]["changedSections"] == ["project-map"]


def test_what_a_person_removed_does_not_come_back(repository: Repository) -> None:
    """Events that were written along with a bundle say what it said then, and add nothing to a later one."""
    from memory.state import bundles

    gotcha = [{"title": "Lock", "symptom": "s", "cause": "c", "correctPath": "p"}]
    bundles.edit(repository.store, "gotchas", gotcha, actor=ACTOR, now=repository.later())
    bundles.edit(repository.store, "gotchas", [], actor=ACTOR, now=repository.later())
    repository.imported("one", "DECISION: Use SQLite")
    assert repository.recall().change is not None
    assert repository.memory.bundle["gotchas"] == []


def test_a_stale_preview_is_refused(repository: Repository) -> None:
    """What is applied is what was shown: with another event since, nothing is written."""
    repository.imported("one", "DECISION: Use SQLite")
    found = shown(repository)
    repository.imported("two", "DECISION: Use Rust")
    before = repository.path(STATE).read_bytes()
    with pytest.raises(ConflictError) as caught:
        apply(repository.store, found, actor=ACTOR, now=repository.later())
    assert caught.value.code == "state.recall.stale"
    assert repository.path(STATE).read_bytes() == before


def test_events_without_a_newline_at_the_end_are_mended(repository: Repository) -> None:
    """A torn end gets its newline, so that the next event is a line of its own."""
    file = repository.path(EVENTS)
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    repository.imported("one", "DECISION: Use SQLite")
    assert [json.loads(line)["id"] for line in repository.event_lines()] == ["evt-000001", "evt-000002"]
