"""The extractor: the inbox in order, failures one by one, turns that wait, markers, and a model behind a command."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memory.curated.curated import Curated
from memory.curated.model import Json
from memory.curated.operations.registry import BY_NAME, OperationCall
from memory.curated.settings import ModelError
from memory.errors import MemdeckError
from tests.memory.curated.conftest import Den, forget, tree, write


def line(name: str = "Tea", content: str = "green tea in the morning", **more: Any) -> str:
    """Return a line of the inbox."""
    return json.dumps({"type": "project", "name": name, "content": content, **more})


def put(den: Den, *lines: str, session: str = "s1", name: str = "20260115T120000.000000Z-1.jsonl") -> Path:
    """Put lines into the inbox of the workspace."""
    path = den.workspace / ".agh/memory/_inbox" / session / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{one}\n" for one in lines).encode("utf-8", "surrogateescape"))
    return path


def run(den: Den, curated: Curated, name: str, /, **values: Any) -> Json:
    """Call an operation of the registry."""
    return BY_NAME[name].call(curated, values, OperationCall(den.now(), "cli", "cli"))


def names(curated: Curated) -> list[str]:
    """Return the names of all memories."""
    return sorted(one.header.name for one in curated.memories(curated.all_roots()))


@pytest.fixture
def curated(den: Den) -> Curated:
    """Return a workspace with an identity and one memory."""
    found = den.open()
    write(den, found, "project", "Coffee", "likes oat milk", scope="workspace")
    return found


def test_the_inbox_is_consumed_in_order(den: Den, curated: Curated) -> None:
    """The oldest file first, its lines from top to bottom; the origin is the extractor's, the session is kept."""
    put(den, line("Second", "rye bread with seeds"), name="20260115T120000.000000Z-2.jsonl", session="s0")
    put(den, line("First", "plum jam from may"), line("Again", "plum jam from may"))
    done = run(den, curated, "extractor drain")
    assert (done["consumed"], done["failed"], done["remaining"]) == (3, 0, 0)
    assert done["decisions"] == {"add": 2, "noop": 1}
    rows = run(den, curated, "decisions list", limit=3)["decisions"]
    assert [row["frontmatter"]["name"] for row in reversed(rows)] == ["First", "Again", "Second"]
    assert {row["origin"] for row in rows} == {"extractor"}
    memory = curated.find("project_first")
    assert memory.header.provenance.source_sessions == ("s1",)
    assert not (den.workspace / ".agh/memory/_inbox/s1").exists()
    ops = [row["op"] for row in curated.sides["workspace"].records.events(limit=20)]
    assert ops.count("memory.extractor.started") == ops.count("memory.extractor.completed") == 2


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("no JSON", "not JSON"),
        ("[1]", "not a JSON object"),
        ("{" * 100_000, "not JSON"),
        ('{"type": "mood", "content": "x"}', "not one of"),
        ('{"type": "project", "content": " "}', "memory.validation"),
        ('{"type": "project", "content": "x", "more": 1}', "no argument 'more'"),
        ('{"type": "project", "content": 3}', "content is no string"),
        (line(scope="moon"), "memory.scope.invalid"),
        (line(scope="agent", agent_name="../x"), "memory.scope.agent_invalid"),
        (line(origin="cli"), "inbox belongs to the extractor"),
        (line(scope="global"), "about that workspace only"),
        (line(workspace_id="01ARZ3NDEKTSV4RRFFQ69G5FAV"), "another workspace"),
        (line(metadata={"raw_content": "x"}), "raw content"),
        ("\udcff\udcfe", "not JSON"),
    ],
)
def test_bad_lines_fail_one_by_one(den: Den, curated: Curated, bad: str, words: str) -> None:
    """A bad line becomes a record with its reason, and the others become memories; mended, it is replayed."""
    put(den, line("First", "plum jam from may"), bad, line("Third", "rye bread with seeds"))
    done = run(den, curated, "extractor drain")
    assert (done["decisions"], done["failed"], done["remaining"]) == ({"add": 2}, 1, 0)
    assert names(curated) == ["Coffee", "First", "Third"]
    (failed,) = run(den, curated, "extractor list-pending")["failures"]
    assert words in failed["reason"]
    assert (failed["session_id"], failed["line"]) == ("s1", 2)
    record = den.workspace / ".agh" / failed["path"]
    assert record.parent == den.workspace / ".agh/memory/_system/extractor/failures"
    assert failed["content"] == bad.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    kept = json.loads(record.read_text())
    record.write_text(json.dumps({**kept, "content": line("Mended", "tea from the hills")}))
    assert run(den, curated, "extractor replay", session_id="s1") == {"retried": 1, "failed": 0}
    assert not record.exists()
    done = run(den, curated, "extractor drain")
    assert (done["consumed"], done["remaining"]) == (1, 0)
    assert "Mended" in names(curated)
    assert run(den, curated, "extractor status")["extractor"]["failure_count"] == 0


def test_the_inbox_of_the_person_reaches_the_workspace_that_it_names(den: Den, curated: Curated) -> None:
    """A line about another workspace waits for that one; all others go where their type and scope say."""
    number = curated.workspace_id()
    folder = den.person / "memory/_inbox/s1"
    folder.mkdir(parents=True)
    (folder / "1.jsonl").write_text(
        line("Here", "plum jam from may", workspace_id=number, scope="workspace")
        + "\n" + line("Mine", "likes rye bread", type="user") + "\n"
    )  # fmt: skip
    away = folder / "2.jsonl"
    away.write_text(line("There", "tea from the hills", scope="workspace", workspace_id="01ARZ3NDEKTSV4RRFFQ69G5FAV"))
    done = run(den, curated, "extractor drain")
    assert (done["consumed"], done["remaining"], done["reason"]) == (2, 1, "some lines are about another workspace")
    assert curated.find("project_here").root.scope == "workspace"
    assert curated.find("user_mine").root.scope == "global"
    assert away.exists()


def test_haste_makes_lines_wait(den: Den) -> None:
    """Beyond the writes of a minute nothing is rejected: the rest waits, and no line is decided on twice."""
    den.settings("[memory.controller.policy]\nmax_writes_per_min = 2\n")
    curated = den.open()
    things = ("plum jam from may", "rye bread with seeds", "tea from the hills")
    path = put(den, *(line(f"Thing {number}", text) for number, text in enumerate(things)))
    done = run(den, curated, "extractor drain")
    assert "the rest waits" in done["reason"]
    assert path.exists()
    assert len(names(curated)) == 2
    den.seconds += 120
    done = run(den, curated, "extractor drain")
    assert (done["remaining"], len(names(curated))) == (0, 3)
    rows = run(den, curated, "decisions list")["decisions"]
    assert [row["op"] for row in rows] == ["add", "add", "add"]


def test_a_line_that_was_consumed_is_not_consumed_again(den: Den, curated: Curated) -> None:
    """The same file once more, as a crash leaves it, does not bring back what a person forgot since."""
    path = put(den, line("Tea", "tea from the hills"))
    data, seen = path.read_bytes(), path.stat()
    run(den, curated, "extractor drain")
    forget(den, curated, "project_tea.md", "workspace")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, ns=(seen.st_mtime_ns, seen.st_mtime_ns))
    run(den, curated, "extractor drain")
    assert names(curated) == ["Coffee"]
    put(den, line("Tea", "tea from the hills"), line("Tea", "tea from the valley"), name="later.jsonl")
    assert run(den, curated, "extractor drain")["decisions"] == {"noop": 1, "add": 1}
    assert names(curated) == ["Coffee", "Tea"]


def test_hostile_names_in_the_inbox_are_passed_over(den: Den, curated: Curated) -> None:
    """Links, folders and names that lead elsewhere are neither read nor removed."""
    secret = den.top / "secret.jsonl"
    secret.write_text(line("Secret", "tea from the hills"))
    inbox = den.workspace / ".agh/memory/_inbox"
    (inbox / "s1").mkdir(parents=True)
    (inbox / "s1/link.jsonl").symlink_to(secret)
    (inbox / "away").symlink_to(den.top)
    (inbox / "s1/folder.jsonl").mkdir()
    (inbox / "..x").mkdir()
    (inbox / "..x/1.jsonl").write_text(line())
    before = tree(inbox)
    done = run(den, curated, "extractor drain")
    assert (done["consumed"], tree(inbox), names(curated)) == (0, before, ["Coffee"])


def test_turns_wait_and_markers_become_candidates(den: Den, curated: Curated) -> None:
    """Without a model only explicit markers count: in the inbox at once, decided on by a drain."""
    text = "Sure.\nremember: deploys happen on tuesdays\n- remember(reference): Logs | the logs are in the console\nbye"
    done = run(den, curated, "extractor feed", session_id="s1", content=text, turn_seq=3)
    assert (done["state"], done["candidates"], done["waiting_turns"]) == ("read", 2, 0)
    assert names(curated) == ["Coffee"]
    run(den, curated, "extractor drain")
    assert names(curated) == ["Coffee", "Logs", "deploys happen on tuesdays"]
    assert curated.find("reference_logs").body == "the logs are in the console"
    nothing = run(den, curated, "extractor feed", session_id="s1", content="I remember: nothing", turn_seq=4)
    assert nothing["candidates"] == 0


def test_turns_coalesce_and_the_oldest_are_dropped(den: Den) -> None:
    """What waits for a model is bounded, and each turn that is joined, dropped or empty is counted."""
    den.settings("[memory.extractor]\nqueue.coalesce_max = 4\n")
    curated = den.open()
    write(den, curated, "project", "Coffee", "likes oat milk", scope="workspace")
    curated.models["extractor"] = _Says("{}")
    states = [
        run(den, curated, "extractor feed", session_id="s1", content=f"turn {number}")["state"] for number in range(6)
    ]
    assert states == ["queued", *["coalesced"] * 5]
    assert run(den, curated, "extractor feed", session_id="s2", content=" ")["state"] == "dropped"
    found = run(den, curated, "extractor status")["extractor"]
    assert (found["waiting_turns"], found["queued_sessions"]) == (4, 1)
    assert (found["dropped_turns"], found["coalesced_turns"], found["skipped_turns"]) == (2, 5, 1)


class _Says:
    """A model with one answer; it keeps the questions."""

    def __init__(self, answer: str | ModelError) -> None:
        self.answer = answer
        self.questions: list[Json] = []

    def ask(self, question: Json, *, seconds: float, limit: int, now: Any) -> str:
        self.questions.append(question)
        if isinstance(self.answer, ModelError):
            raise self.answer
        return self.answer


def test_a_model_names_candidates(den: Den, curated: Curated) -> None:
    """Its turns are those that wait; what is no candidate fails by itself, and turns are looked at once."""
    good = {"type": "project", "name": "Deploy day", "content": "deploys happen on tuesdays", "description": ""}
    model = curated.models["extractor"] = _Says(json.dumps({"candidates": [good, {"kind": "x"}, 3]}))
    for number in (1, 2):
        run(den, curated, "extractor feed", session_id="s1", role="user", content=f"words {number}")
    done = run(den, curated, "extractor drain")
    assert (done["extracted"], done["decisions"], done["remaining"]) == (3, {"add": 1}, 0)
    (question,) = model.questions
    assert [one["content"] for one in question["turns"]] == ["words 1", "words 2"]
    assert run(den, curated, "extractor status")["extractor"]["failure_count"] == 2
    run(den, curated, "extractor drain")
    assert len(model.questions) == 1


def test_an_extractor_that_is_off_does_nothing(den: Den) -> None:
    """Feeding and draining say so, and what lies in the inbox stays."""
    den.settings("[memory.extractor]\nenabled = false\n")
    curated = den.open()
    path = put(den, line())
    with pytest.raises(MemdeckError) as caught:
        run(den, curated, "extractor drain")
    assert caught.value.code == "memory.extractor.disabled"
    assert path.exists()
    assert run(den, curated, "extractor status")["extractor"]["status"] == "disabled"


@pytest.mark.parametrize("answer", [ModelError("it did not answer in time"), "no JSON", '{"candidates": 3}'])
def test_a_model_that_fails_loses_no_turn(den: Den, curated: Curated, answer: str | ModelError) -> None:
    """Markers count nevertheless, the drain says why, and the next one asks again."""
    curated.models["extractor"] = _Says(answer)
    run(den, curated, "extractor feed", session_id="s1", content="remember: tea from the hills")
    done = run(den, curated, "extractor drain")
    assert (done["decisions"], done["remaining"]) == ({"add": 1}, 1)
    assert done["reason"].startswith("the turns wait for a model: ")
    good = {"type": "project", "name": "Bread", "content": "rye bread with seeds"}
    curated.models["extractor"] = _Says(json.dumps({"candidates": [good]}))
    assert run(den, curated, "extractor drain")["remaining"] == 0
    assert "Bread" in names(curated)
