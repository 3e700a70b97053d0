"""What a memory system promises its users and often breaks, end to end through the operations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory.curated.curated import Curated
from memory.curated.model import Json
from memory.curated.operations.registry import BY_NAME, OperationCall
from tests.memory.curated.conftest import Den, tree

_HERE: dict[str, Any] = {"scope": "workspace"}


def run(den: Den, curated: Curated, verb: str, **values: Any) -> Json:
    """Call an operation of the registry."""
    return BY_NAME[verb].call(curated, values, OperationCall(den.now(), "cli", "cli"))


@pytest.fixture
def curated(den: Den) -> Curated:
    """A workspace with two memories, and one of the person."""
    found = den.open()
    run(den, found, "write", type="project", name="Deploy window", content="we deploy on tuesdays", **_HERE)
    run(den, found, "write", type="reference", name="Logs", content="logs are in the provider console", **_HERE)
    run(den, found, "write", type="user", name="Coffee", content="likes oat milk")
    return found


@pytest.mark.parametrize(
    ("verb", "values"),
    [
        ("write", {"type": "project", "name": "Port", "content": "the port is 8080", **_HERE}),
        ("edit", {"filename": "project_deploy-window", "content": "we deploy on fridays"}),
        ("edit", {"filename": "project_deploy-window", "type": "reference"}),
        ("delete", {"filename": "project_deploy-window"}),
        ("promote", {"filename": "project_deploy-window", "from": "workspace", "to": "global"}),
        ("reset", {"confirm": True}),
        ("dream trigger", {"force": True}),
        ("session prune", {"older_than_hours": 1}),
    ],
)
def test_a_dry_run_of_each_operation_changes_nothing(den: Den, curated: Curated, verb: str, values: Json) -> None:
    """No file, no decision and no event come of it, whatever it says it would do."""

    def state() -> object:
        known = [run(den, curated, "decisions list")["decisions"], run(den, curated, "history", limit=100)]
        return known, tree(den.workspace / ".agh"), tree(den.person)

    before = state()
    run(den, curated, verb, dry_run=True, **values)
    assert state() == before


def test_history_says_something_of_each_operation(den: Den, curated: Curated) -> None:
    """No summary is empty, and the memories of agents have a history, too."""
    run(den, curated, "write", type="feedback", name="Tone", content="be brief", scope="agent", agent_name="ada")
    run(den, curated, "search", query_text="deploy tuesdays")
    run(den, curated, "delete", filename="user_coffee")
    run(den, curated, "dream trigger", force=True)
    rows = run(den, curated, "history", limit=100)["operations"]
    assert {"memory.write", "memory.search", "memory.delete"} <= {row["operation"] for row in rows}
    assert [row["operation"] for row in rows if not row["summary"]] == []
    (own,) = run(den, curated, "history", scope="agent")["operations"]
    assert (own["filename"], own["agent_name"]) == ("feedback_tone.md", "ada")


def test_a_tier_that_belongs_to_no_agent_loses_no_candidate(den: Den, curated: Curated) -> None:
    """A tier beside another scope, and a session that ended long ago, keep no line of the inbox from being decided."""
    inbox = den.workspace / ".agh/memory/_inbox/s1"
    inbox.mkdir(parents=True)
    lines = [
        {"type": "project", "content": "the gateway listens on 8443", "scope": "workspace", "agent_tier": "workspace"},
        {"type": "project", "content": "invoices are sent on the first", "agent_tier": "global"},
    ]
    (inbox / "1.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines) + "And that is all I found.\n")
    run(den, curated, "session append", session_id="s1", content='{"event_type": "user_message", "content": "hello"}')
    run(den, curated, "session end", session_id="s1")
    run(den, curated, "extractor drain")
    names = {one["name"] for one in run(den, curated, "list")["memories"]}
    assert {"the gateway listens on 8443", "invoices are sent on the first"} <= names
    (bad,) = run(den, curated, "extractor list-pending")["failures"]
    assert bad["line"] == 3
