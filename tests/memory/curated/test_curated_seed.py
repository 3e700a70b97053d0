"""Behaviour of curated memory that is stated in one sentence and shown in one place."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from memory.curated.curated import Curated
from memory.curated.model import Json
from memory.curated.operations.registry import BY_NAME, OperationCall
from memory.curated.recall.recall import capture
from memory.errors import NotFoundError
from tests.memory.curated.conftest import NOW, Den, write


def run(curated: Curated, name: str, /, now: Any = NOW + timedelta(minutes=5), **values: Any) -> Json:
    """Call an operation of the registry."""
    return BY_NAME[name].call(curated, values, OperationCall(now))


def test_a_missing_index_is_made_of_the_memories_and_an_outdated_one_is_told(den: Den) -> None:
    """The snapshot lists every memory; only where a file is there and wrong it says so."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    path = den.person / "memory/MEMORY.md"
    assert "outdated" not in capture(curated, "s1", now=NOW)["text"]
    path.unlink()
    missing = capture(curated, "s2", now=NOW)["text"]
    assert "- [Coffee](user_coffee.md)" in missing
    assert "outdated" not in missing
    path.write_text("- [Coffee](user_coffee.md) \u2014 what it was\n")
    stale = capture(curated, "s3", now=NOW)["text"]
    assert "- [Coffee](user_coffee.md) \u2014 what it is about" in stale
    assert "MEMORY.md is outdated" in stale


def test_decisions_are_shown_without_the_texts(den: Den) -> None:
    """Neither list nor detail has the bytes before and after, nor what a model said."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    write(den, curated, "user", "Coffee", "likes soy milk")
    listed = run(curated, "decisions list")["decisions"]
    assert [one["op"] for one in listed] == ["update", "add"]
    shown = run(curated, "decisions show", id=listed[0]["id"])
    for said in (json.dumps(listed), json.dumps(shown)):
        assert "oat milk" not in said
        assert "soy milk" not in said
        assert not {"post_content", "prior_content"} & set(json.loads(said)[0] if said[0] == "[" else {})


def test_health_tells_of_everything_that_can_stand_still(den: Den) -> None:
    """Enabled, decisions that wait, the provider and its breaker, gates of dreaming, files by scope."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    found = run(curated, "health")
    assert (found["status"], found["enabled"], found["pending_decisions"]) == ("ok", True, 0)
    assert (found["provider"]["name"], found["provider"]["status"]) == ("local", "active")
    assert found["provider"]["cooldown_until"] is None
    assert "0 of 5 memories" in found["dream_gates"]["global"]
    assert found["files"] == {"global": 1}


def test_a_promoted_memory_is_a_copy(den: Den) -> None:
    """It goes through the controller into the other scope, and the source stays."""
    curated = den.open()
    write(den, curated, "project", "Port", "the gateway listens on 8080", scope="workspace")
    options = {"from": "workspace", "to": "global"}
    done = run(curated, "promote", filename="project_port.md", **options)
    assert (done["decision"]["op"], done["applied"]) == ("add", True)
    assert (den.workspace / ".agh/memory/project_port.md").exists()
    assert (den.person / "memory/project_port.md").exists()


def test_a_reset_throws_away_what_is_derived_only(den: Den) -> None:
    """Without a confirmation nothing happens; with it memories, decisions and counts are there as before."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    assert run(curated, "reset", scope="global")["deleted_rows"] == 0
    assert run(curated, "reset", scope="global", confirm=True)["deleted_rows"] == 1
    assert len(run(curated, "list")["memories"]) == len(run(curated, "decisions list")["decisions"]) == 1


def test_the_file_of_an_agent_names_it(den: Den) -> None:
    """The front matter has `agent` and `agent_tier`, an answer `agent_name` and `agent_tier`."""
    curated = den.open()
    write(den, curated, "feedback", "Tone", "short and dry", scope="agent", agent="reviewer", tier="global")
    path = den.person / "agents/reviewer/memory/feedback_tone.md"
    head = path.read_text().split("---")[1].splitlines()
    assert {"scope: agent", "agent: reviewer", "agent_tier: global", "  source_actor: cli"} <= set(head)
    where = {"scope": "agent", "agent_name": "reviewer", "agent_tier": "global"}
    shown = run(curated, "show", filename="feedback_tone.md", **where)["memory"]
    assert {key: shown[key] for key in where} == where
    assert shown["provenance"]["source_actor"] == "cli"


def test_files_of_the_system_are_listed_and_shown_where_asked_for(den: Den) -> None:
    """A note is in the list and can be shown with `include_system`, and is neither without it."""
    curated = den.open()
    path = run(curated, "note", content="remember the milk", slug="milk", scope="global")["path"]
    assert run(curated, "list")["memories"] == []
    (listed,) = [one for one in run(curated, "list", include_system=True)["memories"] if one["filename"] == path]
    assert (listed["system_managed"], listed["injection"]) == (True, False)
    assert run(curated, "show", filename=path, include_system=True)["memory"]["content"] == "remember the milk\n"
    with pytest.raises(NotFoundError):
        run(curated, "show", filename=path)
