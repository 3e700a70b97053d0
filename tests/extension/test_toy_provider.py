"""Providers of memories of another package, really installed: what they are told, and how little they can spoil."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory.curated.curated import Curated
from memory.curated.model import Json
from memory.curated.operations.registry import BY_NAME, OperationCall
from memory.curated.providers import ask, providers
from memory.curated.records import Records
from memory.curated.system import CuratedMemory
from memory.errors import MemdeckError
from memory.systems import system_of
from memory.workspace import Workspace
from tests.app.hooks.client import Client
from tests.extension.packages import install
from tests.memory.curated.conftest import NOW, Den, den, write

__all__ = ["den"]
TOY = Path(__file__).parent / "toy_provider"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build and install the package into a folder; return that folder."""
    return install(TOY, tmp_path_factory.mktemp("provider"))


@pytest.fixture
def toy(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Put the package on the import path of this process; yield its module, and forget it at the end."""
    monkeypatch.syspath_prepend(str(site))
    providers.cache_clear()
    module = importlib.import_module("toy_provider")
    yield module
    module.HELD.set()
    del sys.modules["toy_provider"]
    monkeypatch.undo()
    providers.cache_clear()


def run(curated: Curated, name: str, /, now: datetime = NOW, **values: Any) -> Json:
    """Call an operation of the registry."""
    return BY_NAME[name].call(curated, values, OperationCall(now, "cli", "cli"))


@pytest.fixture
def curated(den: Den, toy: Any) -> Curated:
    """Return a workspace with one memory."""
    found = den.open()
    write(den, found, "project", "Coffee", "likes oat milk in the morning", scope="workspace")
    return found


def told(toy: Any) -> list[str]:
    """Return which methods of the provider were called."""
    return [what for what, _ in toy.ECHO.told]


def test_collisions_are_refused_and_noted_once(curated: Curated) -> None:
    """A name, a tool of memdeck's own and one of another provider; one that does not load; each is an event."""
    for _ in range(2):
        found = run(curated, "provider list")
    assert [(one["name"], one["status"], one["builtin"]) for one in found["providers"]] == [
        ("local", "active", True), ("echo", "standby", False), ("quiet", "standby", False)
    ]  # fmt: skip
    assert [(one["provider"], one["reason"], one["tool_name"]) for one in found["collisions"]] == [
        ("echo", "provider_name", None),
        ("thief", "reserved_tool_name", "agh__memory_search"),
        ("copycat", "tool_name", "echo_find"),
        ("e-broken", "not_loaded", None),
    ]
    events = curated.sides["workspace"].records.events(ops=("memory.provider.collision",))
    assert len(events) == 4


def test_the_active_provider_is_told_and_adds(den: Den, curated: Curated, toy: Any) -> None:
    """Each of the eight methods is called where it belongs; what it adds is scanned."""
    run(curated, "search", query_text="what about oat milk")
    assert toy.ECHO.told == []
    run(curated, "provider select", name="echo")
    assert run(curated, "provider show", name="echo")["provider"]["status"] == "active"
    found = run(curated, "search", query_text="what about oat milk")
    assert [one["memory"]["name"] for one in found["results"]] == ["Coffee"]
    assert found["recall"]["provided"] == [
        {"title": "Echo", "body": "you asked: what about oat milk", "provider": "echo"}
    ]
    block = run(curated, "recall block", query_text="what about oat milk")["text"]
    assert "- Echo [provider echo]" in block
    assert "previous instructions" not in block
    first = run(curated, "snapshot", session_id="s1", query_text="oat milk prices")["snapshot"]["text"]
    assert "## Provider echo\n\nThe echo knows more." in first
    run(curated, "snapshot", session_id="s2")
    write(den, curated, "project", "Tea", "green tea at noon", scope="workspace")
    run(curated, "extractor feed", session_id="s2", content="a turn")
    run(curated, "session append", session_id="s2", content='{"event_type": "a"}')
    run(curated, "session end", session_id="s2")
    assert ask(curated, "pre_compress", NOW, "s2", "the plan") == "keep: the plan"
    assert set(told(toy)) == {
        "prompt_block", "recall", "prefetch", "turn", "session_end", "session_switch", "pre_compress", "on_write"
    }  # fmt: skip
    decision = next(about for what, about in toy.ECHO.told if what == "on_write")
    assert decision["target_filename"] == "project_tea.md"
    assert "green" not in str(decision)
    assert ("session_switch", ("s1", "s2")) in toy.ECHO.told


def test_meaning_finds_what_no_word_does(den: Den, curated: Curated, toy: Any) -> None:
    """With the setting on, vectors of the provider find a memory; each content is embedded once, a dream never."""
    write(den, curated, "project", "Tea", "green tea at noon", scope="workspace")
    write(den, curated, "project", "dreaming-2026-01-14", "oat milk, combined", scope="workspace")
    run(curated, "provider select", name="echo")
    question = "breakfast drink preferences"
    assert run(curated, "search", query_text=question)["results"] == []
    assert "embed" not in told(toy)
    den.settings("[memory.recall]\nsemantic = true\n")
    curated = den.open()
    for _ in range(2):
        (found,) = run(curated, "search", query_text=question)["results"]
        assert found["memory"]["name"] == "Coffee"
        assert "meaning=0.500" in found["why_recalled"]
    embedded = [text for what, texts in toy.ECHO.told if what == "embed" for text in texts if "oat" in text]
    assert len(embedded) == 1
    assert [texts for what, texts in toy.ECHO.told if what == "embed" and question in texts] == [[question]] * 2
    assert len([what for what in told(toy) if what == "embed"]) == 3
    assert run(curated, "search", query_text="what about oat milk")["results"][0]["memory"]["name"] == "Coffee"
    toy.ECHO.mode = "raises"
    assert run(curated, "search", query_text=question)["results"] == []
    assert run(curated, "search", query_text="what about oat milk")["results"][0]["memory"]["name"] == "Coffee"


@pytest.mark.parametrize(
    "answer",
    [
        lambda texts: [["1", "0"] for _ in texts],
        lambda texts: [[float("nan"), 0.0] for _ in texts],
        lambda texts: [[1e300, float("inf")] for _ in texts],
        lambda texts: [[1.0] * (1 + len(text)) for text in texts],
        lambda texts: [[1.0] * 1_000_000 for _ in texts],
        lambda texts: [[1.0, 0.0]] * (len(texts) + 1),
        lambda texts: [[] for _ in texts],
        lambda texts: (vector for vector in [[1.0, 0.0]] * len(texts)),
        lambda texts: {text: [1.0, 0.0] for text in texts},
        lambda texts: "x" * len(texts),
        lambda texts: 7,
    ],
)
def test_vectors_that_are_none_are_as_none(
    den: Den, curated: Curated, toy: Any, monkeypatch: pytest.MonkeyPatch, answer: Callable[[list[str]], Any]
) -> None:
    """Whatever a provider returns, a recall answers, nothing of it is kept, and the next true answer counts."""
    den.settings('[memory.recall]\nsemantic = true\n[memory.provider]\nname = "echo"\n')
    curated, question = den.open(), "breakfast drink preferences"
    write(den, curated, "project", "Tea", "green tea at noon", scope="workspace")
    with monkeypatch.context() as wrong:
        wrong.setattr(toy.ECHO, "embed", answer)
        assert run(curated, "search", query_text=question)["results"] == []
        wrong.setattr(toy.ECHO, "embed", lambda texts: [[1.0, 0.0]] if texts == [question] else answer(texts))
        assert run(curated, "search", query_text=question)["results"] == []
        wrong.setattr(toy.ECHO, "embed", lambda texts: [[3.0, 0.0, 4.0]] * len(texts))
        assert len(run(curated, "search", query_text=question)["results"]) == 2
    (found,) = run(curated, "search", query_text=question)["results"]
    assert "meaning=0.500" in found["why_recalled"]


def test_vectors_of_contents_that_are_gone_are_forgotten(den: Den, curated: Curated, toy: Any) -> None:
    """By `reindex`, also beside a file that is no memory."""
    den.settings('[memory.recall]\nsemantic = true\n[memory.provider]\nname = "echo"\n')
    curated = den.open()
    write(den, curated, "project", "Tea", "green tea at noon", scope="workspace")
    (side,) = (side for side, _ in curated.by_side(curated.chosen("workspace", None, None)))

    def count() -> int:
        run(curated, "reindex")
        return int(side.catalog.read((), lambda db: db.execute("SELECT count(*) FROM memory_vectors").fetchone()[0]))

    assert count() == 2
    run(curated, "delete", filename="project_tea.md")
    (den.workspace / ".agh/memory/project_none.md").write_text("no memory\n")
    assert count() == 1


def test_a_missing_model_is_told_unless_a_provider_is_active(
    den: Den, curated: Curated, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that `provider select` chose may embed as well as one of the settings."""
    monkeypatch.delenv("AGH_HOME", raising=False)
    monkeypatch.setattr("memory.curated.recall.minilm.is_installed", lambda: False)
    den.settings("[memory.recall]\nsemantic = true\n")
    with Workspace.open(den.workspace, state_home=den.state, home=den.top / "home") as workspace:
        system = system_of(workspace, "curated", CuratedMemory)
        (advice,) = system.doctor_lines()
        assert advice.message == "recall.semantic is on, but its model is not installed"
        run(curated, "provider select", name="echo")
        assert list(system.doctor_lines()) == []


def test_what_is_not_handled_memdeck_does_itself(curated: Curated) -> None:
    """A provider that handles nothing changes nothing, and is no failure."""
    before = run(curated, "search", query_text="what about oat milk")
    run(curated, "provider select", name="quiet")
    after = run(curated, "search", query_text="what about oat milk")
    assert [one["memory"]["name"] for one in after["results"]] == [one["memory"]["name"] for one in before["results"]]
    assert run(curated, "provider show", name="quiet")["provider"]["failure_count"] == 0


def test_a_breaker_opens_after_five_failures(curated: Curated, toy: Any) -> None:
    """Recall goes on without it; after the cooldown it is asked once more, and a success closes the breaker."""
    run(curated, "provider select", name="echo")
    toy.ECHO.mode = "raises"
    for number in range(7):
        found = run(curated, "search", NOW + timedelta(seconds=number), query_text="what about oat milk")
        assert [one["memory"]["name"] for one in found["results"]] == ["Coffee"]
    assert told(toy) == ["recall"] * 5
    state = run(curated, "provider show", NOW + timedelta(seconds=8), name="echo")["provider"]
    assert (state["status"], state["failure_count"]) == ("cooling_down", 5)
    assert state["last_error_code"] == "memory.provider.failed: RuntimeError"
    assert state["cooldown_until"] == "2026-01-15T12:00:34Z"
    toy.ECHO.mode = "works"
    run(curated, "search", NOW + timedelta(seconds=33), query_text="what about oat milk")
    assert told(toy) == ["recall"] * 5
    run(curated, "search", NOW + timedelta(seconds=35), query_text="what about oat milk")
    assert told(toy) == ["recall"] * 6
    state = run(curated, "provider show", NOW + timedelta(seconds=36), name="echo")["provider"]
    assert (state["status"], state["failure_count"]) == ("active", 0)


def test_a_provider_that_does_not_answer_is_left(den: Den, toy: Any) -> None:
    """After its time the recall goes on without it."""
    den.settings('[memory.provider]\ntimeout = "100ms"\nname = "echo"\n')
    curated = den.open()
    write(den, curated, "project", "Coffee", "likes oat milk in the morning", scope="workspace")
    toy.ECHO.mode = "waits"
    found = run(curated, "search", query_text="what about oat milk")
    assert [one["memory"]["name"] for one in found["results"]] == ["Coffee"]
    assert found["recall"]["provided"] == []
    state = run(curated, "provider show", name="echo")["provider"]
    assert (state["active"], state["last_error_code"]) == (True, "memory.provider.timeout")
    toy.HELD.set()


def test_disabled_ones_are_asked_nothing(curated: Curated, toy: Any) -> None:
    """A disabled provider leaves all to memdeck, cannot be selected, and comes back; each change is an event once."""
    run(curated, "provider select", name="echo")
    assert run(curated, "provider disable", name="echo", reason="noisy")["changed"]
    assert not run(curated, "provider disable", name="echo")["changed"]
    run(curated, "search", query_text="what about oat milk")
    assert toy.ECHO.told == []
    with pytest.raises(MemdeckError) as caught:
        run(curated, "provider select", name="echo")
    assert caught.value.code == "memory.provider.disabled"
    assert run(curated, "provider enable", name="echo")["provider"]["status"] == "active"
    run(curated, "search", query_text="what about oat milk")
    assert told(toy) == ["recall"]
    ops = [row["op"] for row in curated.sides["workspace"].records.events(limit=50)]
    assert [op for op in ops if op.startswith("memory.provider.")] == [
        "memory.provider.enabled", "memory.provider.disabled"
    ]  # fmt: skip


def test_a_change_beside_another_process_keeps_what_is_there(curated: Curated, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at busy records finds nothing: no provider comes back by that which was disabled."""
    run(curated, "provider disable", name="echo")
    with monkeypatch.context() as busy:
        busy.setattr(Records, "note", lambda *_: {})
        run(curated, "provider disable", name="quiet")
    known = run(curated, "provider list")["providers"]
    assert [one["status"] for one in known] == ["active", "disabled", "disabled"]


@pytest.mark.parametrize(
    ("name", "provider", "code"),
    [
        ("provider select", "nobody", "memory.not_found"),
        ("provider show", "thief", "memory.not_found"),
        ("provider disable", "local", "memory.provider.builtin"),
        ("provider enable", "local", "memory.provider.builtin"),
    ],
)
def test_wrong_arguments(curated: Curated, name: str, provider: str, code: str) -> None:
    """Each has a stable code."""
    with pytest.raises(MemdeckError) as caught:
        run(curated, name, name=provider)
    assert caught.value.code == code


def test_a_hook_tells_what_the_provider_wants_to_survive(site: Path, tmp_path: Path) -> None:
    """It is told what the session said, secrets masked, and its answer goes into the summary as data."""
    client = Client(tmp_path)
    client.environ["PYTHONPATH"] += os.pathsep + str(site)
    for words in (
        ("write", "--type", "project", "--name", "Port", "--content", "The port is 8080"),
        ("provider", "select", "echo"),
    ):
        done = client.memdeck("curated", *words)
        assert done.returncode == 0, done.stderr
    client.hook("prompt", prompt="the login is ghp_" + "0a1B2c3D4e5F6g7H8i9J" * 2)
    said = client.hook("pre-compact", trigger="auto")
    assert "keep: user_message: the login is [GitHub token]\n" in said
    assert said.endswith("</memdeck-memory>\n")
