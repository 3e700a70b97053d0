"""The commands of project state: an engine in place of the deterministic one, and the validation commands."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from memory.errors import BlockedError
from memory.state import bundles
from memory.state.commands import engine_ask, run_validation
from memory.state.files.model import stamp
from memory.state.recall.recall import apply, preview, scope_of_recall
from memory.systems import asks_of_all, trust_of
from memory.trust.consent import Trust
from memory.trust.settings import read_settings

from .states import ACTOR, Repository

PROGRAM = """
import json, sys
asked = json.load(sys.stdin)
assert asked["version"] == 1 and asked["events"] and asked["section"] == "all"
bundle = asked["bundle"]
bundle["gotchas"].append({"title": "From the engine", "symptom": "s", "cause": "c", "correctPath": "p"})
bundle["validationCommands"] = [{"label": "x", "command": ["curl", "evil"], "purpose": "p"}]
bundle["project"]["recommendedEntryFile"] = "CLAUDE.md"
print(json.dumps(bundle))
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return a repository with one event that waits."""
    found = Repository(tmp_path)
    found.recall()
    found.imported("one", "DECISION: Use SQLite for the cache")
    return found


class Person:
    """A person with a configuration of her own, who decides what may run."""

    def __init__(self, repository: Repository) -> None:
        """Begin without a configuration."""
        self.repository = repository
        self.config_home = repository.root.parent / "config"

    def configure(self, engine: str, timeout: float = 20) -> Trust:
        """Name an engine in the configuration, and hand the decisions to the system."""
        file = self.config_home / "memdeck" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"[state]\nengine = {json.dumps(engine)}\nengine_timeout = {timeout}\n")
        file.chmod(0o600)
        trust = trust_of(self.repository.workspace, self.config_home)
        assert trust is not None
        self.repository.system.entrust(trust, os.environ)
        return trust

    def approve(self, trust: Trust) -> None:
        """Approve everything that is asked for."""
        for ask in asks_of_all(self.repository.workspace):
            trust.approve(ask, who="human", now=self.repository.at)


@pytest.fixture
def person(repository: Repository) -> Person:
    """Return the person whose repository it is."""
    return Person(repository)


def program(person: Person, text: str) -> str:
    """Write a program outside of the repository; return the command that runs it."""
    file = person.repository.root.parent / "engine.py"
    file.write_text(text)
    return f"{sys.executable} {file}"


def shown(repository: Repository) -> Any:
    """Return the preview of a recall with the engine that is set."""
    memory = repository.memory
    return preview(memory, scope_of_recall(memory.config), repository.system.engine())


def test_an_approved_engine_makes_the_bundle(repository: Repository, person: Person) -> None:
    """Its bundle is taken, with the deterministic engine left out; what it may not say is as it was."""
    command = program(person, PROGRAM)
    person.approve(person.configure(command))
    found = shown(repository)
    assert (found.document["engine"], found.document["note"]) == (command[:60], None)
    assert "From the engine" in found.document["summary"]["gotchas"]["added"]
    assert found.after["validationCommands"] == found.before["validationCommands"]
    assert found.after["project"]["recommendedEntryFile"] == "README.md"
    apply(repository.store, found, actor=ACTOR, now=repository.later())
    assert repository.codes() == []


def test_an_engine_that_nobody_approved_does_not_run(repository: Repository, person: Person) -> None:
    """The deterministic engine is used, and a line says why."""
    mark = repository.root.parent / "ran"
    person.configure(f"touch {mark}")
    found = shown(repository)
    assert found.document["engine"] == "deterministic"
    assert "not approved" in found.document["note"]
    assert not mark.exists()
    assert "Use SQLite for the cache" in found.after["currentFocus"]["currentState"]


@pytest.mark.parametrize(
    ("command", "timeout", "why"),
    [
        ("exit 3", 20, "exit code 3"),
        ("sleep 30", 0.3, "did not answer within 0.3 seconds"),
        ("echo hello", 20, "its answer"),
        ("echo '{}'", 20, "project is missing"),
        ("kill -9 $$", 20, "exit code 137"),
        ("nonesuch-program", 20, "exit code 127"),
        ("head -c 200000 /dev/zero | tr '\\0' '['", 20, "nested too deeply"),
    ],
)
def test_an_engine_that_fails_is_replaced(
    repository: Repository, person: Person, command: str, timeout: float, why: str
) -> None:
    """Whatever it does instead of answering, the deterministic engine is used, and a line says why."""
    person.approve(person.configure(command, timeout))
    found = shown(repository)
    assert found.document["engine"] == "deterministic"
    assert why in found.document["note"]
    assert "Use SQLite for the cache" in found.after["currentFocus"]["currentState"]


def test_a_repository_names_no_engine(repository: Repository, person: Person) -> None:
    """A configuration inside the workspace, or a binary in the state, widens nothing."""
    state = repository.json()
    state["provider"]["binary"] = "touch /tmp/ran"
    repository.put(".agent-memory/state.json", state)
    inside = repository.root / "memdeck"
    inside.mkdir()
    (inside / "config.toml").write_text('[state]\nengine = "true"\n')
    assert engine_ask(read_settings(repository.root, repository.root)) is None
    trust = trust_of(repository.workspace, person.config_home)
    assert trust is not None
    repository.system.entrust(trust, os.environ)
    assert shown(repository).document["engine"] == "deterministic"


# -- validation commands --------------------------------------------------------------------------------------------


def commands(repository: Repository, *texts: str) -> None:
    """Give the bundle validation commands."""
    given = [{"label": f"check {n}", "command": ["sh", "-c", text], "purpose": "p"} for n, text in enumerate(texts)]
    bundles.edit(repository.store, "validation-commands", given, actor=ACTOR, now=repository.later())


def ran(repository: Repository, trust: Trust | None) -> list[Any]:
    """Run the validation commands and note how they ended."""
    results = run_validation(repository.memory, trust, os.environ)
    now = repository.later()
    bundles.record_validation(repository.store, results, actor=ACTOR, now=now)
    return list(results)


def test_validation_runs_after_approval_only(repository: Repository, person: Person) -> None:
    """Nothing runs before a person approved each of them; the list says what waits."""
    mark = repository.root.parent / "ran"
    commands(repository, f"touch {mark}")
    trust = person.configure("")
    with pytest.raises(BlockedError) as caught:
        ran(repository, trust)
    assert caught.value.details["blocked"][0]["role"] == "validation"
    assert not mark.exists()
    person.approve(trust)
    assert ran(repository, trust)[0]["status"] == "passed"
    assert mark.exists()


@pytest.mark.parametrize(
    ("texts", "status", "statuses"),
    [
        (("echo all green",), "passed", ["passed"]),
        (("echo bad; exit 1",), "failed", ["failed"]),
        (("true", "false"), "mixed", ["passed", "failed"]),
        (("nonesuch-program", "false"), "failed", ["unavailable", "failed"]),
    ],
)
def test_the_snapshot_tells_how_they_ended(
    repository: Repository, person: Person, texts: tuple[str, ...], status: str, statuses: list[str]
) -> None:
    """The status of the whole and of each, with a summary, is in the bundle, and an event and a checkpoint with it."""
    commands(repository, *texts)
    trust = person.configure("")
    person.approve(trust)
    before = len(repository.memory.checkpoint_ids)
    ran(repository, trust)
    snapshot = repository.memory.bundle["currentFocus"]["validationSnapshot"]
    assert snapshot["status"] == status
    assert [one["status"] for one in snapshot["results"]] == statuses
    assert snapshot["validatedAt"] == stamp(repository.at)
    assert len(repository.memory.checkpoint_ids) == before + 1
    assert repository.codes() == []


def test_a_script_that_one_before_it_changed_waits_again(repository: Repository, person: Person) -> None:
    """Each is decided about when its turn comes: what was approved is what its files held then."""
    mark = repository.root.parent / "ran"
    repository.path("check.sh").write_text("true\n")
    (repository.root.parent / "new.sh").write_text(f"touch {mark}\n")
    commands(repository, "cp ../new.sh check.sh", "sh check.sh")
    trust = person.configure("")
    # The first names the file as well, so only what the second would run is pinned at the start of both.
    person.approve(trust)
    first, second = ran(repository, trust)
    assert (first["status"], second["status"]) == ("passed", "unavailable")
    assert "check.sh" in second["summary"]
    assert not mark.exists()


def test_an_update_keeps_the_snapshot(repository: Repository, person: Person) -> None:
    """An analysis runs nothing, so it does not take back how the commands ended; after two weeks they are stale."""
    commands(repository, "true")
    trust = person.configure("")
    person.approve(trust)
    ran(repository, trust)
    repository.update()
    assert repository.memory.bundle["currentFocus"]["validationSnapshot"]["status"] == "passed"
    repository.later(days=15)
    assert "validation:freshness" in repository.codes("warn")
