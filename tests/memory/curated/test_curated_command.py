"""The tiebreaker as a command of the person's settings: approved, in time, and strictly read."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory.curated.control.propose import Proposed
from memory.curated.system import CuratedMemory
from memory.systems import system_of
from memory.trust.consent import Trust
from memory.workspace import Workspace
from tests.memory.curated.conftest import NOW, Den, write

_ANSWER = {"op": "update", "target_id": "project_deploy-owner.md", "confidence": 0.9, "reason": "the same fact"}


class Place:
    """A workspace whose person has a tiebreaker in the settings."""

    def __init__(self, den: Den) -> None:
        self.den = den
        self.workspace = Workspace(den.workspace, state_home=den.state, home=den.top / "home")
        self.trust = Trust(den.state, den.workspace)
        self.system = system_of(self.workspace, "curated", CuratedMemory)

    def configure(self, command: str, more: str = "") -> CuratedMemory:
        """Write the settings and return the system."""
        limits = "max_latency = '60s'\nllm.timeout = '60s'\n" if "timeout" not in more else ""
        self.den.settings(f"[memory.controller]\nllm.command = {json.dumps(command)}\n{limits}{more}")
        system = self.system
        system.entrust(self.trust, {"PATH": "/usr/bin:/bin", "SECRET": "hidden"})
        return system

    def approve(self, system: CuratedMemory) -> None:
        """Approve what the system asks for."""
        for ask in system.wants():
            self.trust.approve(ask, who="human", now=NOW)

    def propose(self, system: CuratedMemory) -> Proposed:
        """Propose what may mean two memories."""
        curated = system.curated
        write(self.den, curated, "project", "Deploy window", "deploy happens every tuesday morning")
        write(self.den, curated, "project", "Deploy owner", "ada owns the deploy every other tuesday")
        text = "the deploy is on tuesday night"
        return write(self.den, curated, "project", "Deploy day", text, origin="extractor")


@pytest.fixture
def place(den: Den, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Yield the workspace."""
    monkeypatch.delenv("AGH_HOME", raising=False)
    made = Place(den)
    yield made
    made.system.curated.close()
    made.workspace.close()


def _script(folder: Path, text: str) -> str:
    path = folder / "answer.py"
    path.write_text(text)
    return shlex.join([sys.executable, str(path)])


def _trace(done: Proposed) -> dict[str, Any]:
    assert done.decision.llm_trace is not None
    return done.decision.llm_trace


def test_an_approved_command_decides(place: Place) -> None:
    """It gets the question on its standard input, and its answer is carried out."""
    kept = place.den.top / "question.json"
    text = f"import sys\nopen({str(kept)!r}, 'w').write(sys.stdin.read())\nprint({json.dumps(_ANSWER)!r})\n"
    system = place.configure(_script(place.den.top, text))
    place.approve(system)
    done = place.propose(system)
    assert _trace(done)["error"] is None
    assert (done.decision.op, done.decision.target_filename) == ("update", "project_deploy-owner.md")
    assert done.decision.confidence == 0.9
    question = json.loads(kept.read_text())
    assert [one["target_id"] for one in question["targets"]] == ["project_deploy-owner.md", "project_deploy-window.md"]
    held = [path for path in place.den.state.rglob("*.json") if path.is_file() and b'"targets"' in path.read_bytes()]
    assert held == []


def test_a_command_that_nobody_approved_does_not_run(place: Place) -> None:
    """It is a noop that says so, and the command has left no trace."""
    ran = place.den.top / "ran"
    done = place.propose(place.configure(f"touch {shlex.quote(str(ran))}"))
    assert done.decision.op == "noop"
    assert "not approved" in _trace(done)["error"]
    assert not ran.exists()


@pytest.mark.parametrize(
    ("command", "more", "why"),
    [
        ("exit 3", "", "exit code 3"),
        ("echo no JSON", "", "not one JSON object"),
        ("head -c 5000 /dev/zero", "", "too long"),
        (
            "exec sleep 30",
            "max_latency = '1s'\nllm.timeout = '200ms'\n",
            "memory.controller.timeout: it did not answer within 0.2 seconds",
        ),
    ],
)
def test_what_a_command_fails_at_is_a_noop(place: Place, command: str, more: str, why: str) -> None:
    """A failure, another answer, too much of it, or none in time change nothing, and the trace says why."""
    system = place.configure(command, more)
    place.approve(system)
    done = place.propose(system)
    assert (done.decision.op, done.applied) == ("noop", False)
    assert why in _trace(done)["error"]
