"""Sessions: events while they run, one ledger at the end, replay, prune, repair, and what maintenance puts away."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory.curated.curated import Curated
from memory.curated.dreaming.dream import sessions_since
from memory.curated.model import Json
from memory.curated.operations.registry import BY_NAME, OperationCall
from memory.curated.records import milliseconds
from memory.curated.sessions import checksum
from memory.errors import MemdeckError
from tests.memory.curated.conftest import NOW, Den, tree, write

_EVENTS = (
    {"event_type": "user_message", "content": "hello", "turn_id": "t1"},
    {"event_type": "tool_call", "content": {"name": "ls"}},
    {"event_type": "memory_recall", "content": "two entries"},
    {"event_type": "assistant_message", "content": "bye"},
)


@pytest.fixture
def curated(den: Den) -> Curated:
    """Return a workspace with an identity."""
    found = den.open()
    write(den, found, "project", "Coffee", "likes oat milk", scope="workspace")
    return found


def run(curated: Curated, name: str, /, now: Any = NOW, **values: Any) -> Json:
    """Call an operation of the registry."""
    return BY_NAME[name].call(curated, values, OperationCall(now, "cli", "cli"))


def begin(curated: Curated, session: str = "s1", now: Any = NOW, **more: Any) -> None:
    """Give a session its events."""
    content = "\n".join(json.dumps(one) for one in _EVENTS)
    run(curated, "session append", now, session_id=session, content=content, **more)


def folder(den: Den, curated: Curated, session: str = "s1") -> Path:
    """Return where a session is."""
    return den.person / "sessions" / curated.workspace_id() / session


def test_a_session_becomes_a_ledger(den: Den, curated: Curated) -> None:
    """Its events come in their order, behind a line that describes it with the checksum of all of them."""
    begin(curated, agent_name="ada")
    running = run(curated, "session ledger", session_id="s1")["meta"]
    assert (running["state"], running["checksum"], running["event_count"]) == ("running", None, 4)
    later = NOW + timedelta(hours=1)
    done = run(curated, "session end", later, session_id="s1")["ledger"]
    data = (folder(den, curated) / "ledger.jsonl").read_bytes()
    lines = [json.loads(one) for one in data.splitlines()]
    assert [one["type"] for one in lines] == ["ledger_meta", *["session_event"] * 4]
    assert [one["sequence"] for one in lines[1:]] == [1, 2, 3, 4]
    assert lines[0]["checksum"] == checksum(data) == done["events_checksum"]
    assert (lines[0]["agent_name"], lines[0]["ended_at"]) == ("ada", "2026-01-15T13:00:00Z")
    found = run(curated, "session ledger", session_id="s1")
    assert found["events"][1]["payload"] == {"name": "ls"}
    assert found["meta"]["stopped_at"] == "2026-01-15T13:00:00Z"


def test_replay_leaves_tools_and_memory_out(curated: Curated) -> None:
    """They come back when they are asked for."""
    begin(curated)
    kinds = [one["event_type"] for one in run(curated, "session replay", session_id="s1")["events"]]
    assert kinds == ["user_message", "assistant_message"]
    more = run(curated, "session replay", session_id="s1", include_tool_events=True, include_memory=True)
    assert len(more["events"]) == 4


def test_a_ledger_is_never_overwritten(den: Den, curated: Curated) -> None:
    """The same end twice changes nothing; other events are refused, before the end and behind it."""
    begin(curated)
    run(curated, "session end", session_id="s1")
    before = tree(folder(den, curated))
    run(curated, "session end", NOW + timedelta(hours=2), session_id="s1")
    assert tree(folder(den, curated)) == before
    with pytest.raises(MemdeckError) as ended:
        begin(curated)
    assert ended.value.code == "memory.session.ended"
    events = folder(den, curated) / "events.jsonl"
    events.write_bytes(events.read_bytes().replace(b"hello", b"jello"))
    with pytest.raises(MemdeckError) as other:
        run(curated, "session end", session_id="s1")
    assert other.value.code == "memory.ledger.exists"
    assert (folder(den, curated) / "ledger.jsonl").read_bytes() == before["ledger.jsonl"]


@pytest.mark.parametrize("damage", [b"x", b'{"type": "session_event"}\n', b""])
def test_a_damaged_ledger_is_repaired_from_its_events(den: Den, curated: Curated, damage: bytes) -> None:
    """It is told and never shown as sound; the repair keeps what was there; without events it stays as it is."""
    for session in ("s1", "s2"):
        begin(curated, session)
        run(curated, "session end", session_id=session)
    place = folder(den, curated) / "ledger.jsonl"
    sound = place.read_bytes()
    broken = sound[: len(sound) // 2] + damage if damage else sound.replace(b"hello", b"jello")
    place.write_bytes(broken)
    lost = folder(den, curated, "s2")
    (lost / "events.jsonl").unlink()
    (lost / "ledger.jsonl").write_bytes(broken)
    with pytest.raises(MemdeckError) as caught:
        run(curated, "session ledger", session_id="s1")
    assert caught.value.code == "memory.ledger.damaged"
    assert run(curated, "session repair", dry_run=True)["repaired"] == ["s1"]
    assert place.read_bytes() == broken
    done = run(curated, "session repair")
    assert (done["checked_sessions"], done["repaired"]) == (2, ["s1"])
    assert [one["session_id"] for one in done["problems"]] == ["s2"]
    assert place.read_bytes() == sound
    assert (folder(den, curated) / "ledger.damaged.jsonl").read_bytes() == broken
    assert (lost / "ledger.jsonl").read_bytes() == broken


def test_a_session_that_nobody_ended_is_repaired_after_its_grace(den: Den, curated: Curated) -> None:
    """Within a day it may still run; behind that its ledger is made."""
    begin(curated)
    assert run(curated, "session repair", NOW + timedelta(hours=23))["repaired"] == []
    assert run(curated, "session repair", NOW + timedelta(hours=25))["repaired"] == ["s1"]
    assert run(curated, "session ledger", session_id="s1")["meta"]["stopped_at"] == "2026-01-15T12:00:00Z"


def test_prune_removes_what_ended_long_ago(den: Den, curated: Curated) -> None:
    """A dry run counts; what runs, what is damaged and what is young stays; the change log keeps what goes."""
    for session in ("old", "damaged", "running", "young"):
        begin(curated, session)
    run(curated, "session end", session_id="old")
    run(curated, "session end", session_id="damaged")
    run(curated, "session end", NOW + timedelta(hours=40), session_id="young")
    ledger = folder(den, curated, "damaged") / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes()[:-3])
    later = NOW + timedelta(hours=48)
    before = tree(den.person / "sessions")
    dry = run(curated, "session prune", later, older_than_hours=24, dry_run=True)
    assert (dry["pruned_sessions"], dry["pruned_events"], tree(den.person / "sessions")) == (1, 4, before)
    done = run(curated, "session prune", later, older_than_hours=24)
    assert (done["pruned_sessions"], done["dry_run"]) == (1, False)
    left = {path.name for path in folder(den, curated).parent.iterdir()}
    assert left == {"damaged", "running", "young"}
    change = curated.sides["global"].store.history.list(limit=1)[0]
    assert {file.path.rpartition("/")[2] for file in change.files} == {"events.jsonl", "ledger.jsonl"}


def test_a_ledger_counts_as_a_session_for_dreaming(curated: Curated) -> None:
    """A session that ended since the last dream counts, without any recall."""
    begin(curated)
    run(curated, "session end", NOW + timedelta(hours=1), session_id="s1")
    assert sessions_since(curated, milliseconds(NOW)) == {"s1"}
    assert sessions_since(curated, milliseconds(NOW + timedelta(hours=2))) == set()
