"""What a person says in one sentence is one call of an agent, with the words that a model would write."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.place import Place

ME = "agent:claude-code"
Call = tuple[str, dict[str, Any]]


@pytest.fixture
def team(workspace: Place) -> Place:
    """Return a workspace with entries of the agent and of a person."""
    assert workspace("state", "init").code == 0
    for actor, words in (
        ("", ("tasks", "add", "Call Acme about the invoice")),
        ("", ("contacts", "add", "person", "Alice", "--set", "text=Reach via Slack, on-call weekdays")),
        ("", ("contacts", "add", "person", "Bob", "--set", "role=DevOps")),
        ("", ("knowledge", "add", "We use PostgreSQL", "--decision", "--reason", "It has transactions")),
        (ME, ("tasks", "add", "Rotate the keys", "--due", "2026-03-02")),
        (ME, ("tasks", "add", "Write the release notes")),
        (ME, ("tasks", "add", "Water the plants", "--recurring", "weekly")),
        (ME, ("tasks", "add", "Old chore")),
        (ME, ("journal", "add", "Deploy", "--line", "v2 is live")),
        (ME, ("facts", "store", "The scanner works offline")),
    ):
        assert workspace(*words, actor=actor).code == 0, words
    return workspace


SAID: dict[str, Call] = {
    "What should I do today?": ("brief", {"message": "What should I do today?"}),
    "What did we decide about PostgreSQL?": ("search", {"query": "What did we decide about PostgreSQL?"}),
    "How do I reach Alice?": ("search", {"query": "How do I reach Alice?"}),
    "The keys are rotated": ("edit", {"ref": "Rotate the keys", "set": {"status": "done", "outcome": "All rotated"}}),
    "Postpone the release notes to Friday": (
        "edit",
        {
            "ref": "Write the release notes",
            "set": {"due_date": "next friday 10:00", "assignee": "bob", "priority": "urgent"},
        },
    ),
    "The plants are watered": ("edit", {"ref": "Water the plants", "set": {"completed": True}}),
    "Note below the deploy that health was checked": ("edit", {"ref": "Deploy", "append": "Checked /health"}),
    "Remember the trap with the certificate": (
        "add",
        {
            "kind": "gotcha",
            "title": "The certificate is cached",
            "fields": {"reason": "ledgerd reads it once", "fix": "systemctl reload ledgerd"},
        },
    ),
    "Add two tasks": (
        "add",
        {"entries": [{"kind": "task", "title": "Book a room"}, {"title": "Order lunch", "deadline": "tomorrow"}]},
    ),
    "Every Monday at nine there is the sync": (
        "add",
        {"kind": "task", "title": "Team sync", "fields": {"repeat": "every monday 9:00", "description": "In the wiki"}},
    ),
    "Watch the health page every five minutes": (
        "add",
        {"kind": "monitor", "title": "API", "fields": {"url": "https://example.com/health", "every": "5 minutes"}},
    ),
    "Watch the disk": (
        "add",
        {"kind": "monitor", "title": "Disk", "text": "df /", "fields": {"schedule": "1h", "alert_if": "value > 90"}},
    ),
    "We take Valkey, for its licence": (
        "add",
        {"kind": "decision", "title": "Valkey instead of Redis", "fields": {"rationale": "The licence"}},
    ),
    "Never push to main without asking": ("add", {"title": "Never push to main without asking"}),
    "Carol is the designer": (
        "add",
        {"kind": "person", "title": "Carol", "fields": {"position": "Designer", "email": "carol@example.com"}},
    ),
    "There is a channel for operations": (
        "add",
        {"kind": "contacts", "title": "#ops", "fields": {"type": "slack", "id": "C-2"}},
    ),
    "Plan the move": ("add", {"kind": "plan", "title": "Move", "fields": {"steps": ["Install it", "Switch"]}}),
    "Acme is called Globex now": ("edit", {"rename": {"from": "Acme", "to": "Globex"}}),
    "Forget the old chore": ("remove", {"ref": "Old chore"}),
    "The scanner needs the network now": ("remove", {"ref": "The scanner works offline", "reason": "It changed"}),
    "Undo that": ("edit", {"undo": True}),
}
"""What a person says, and the one call that a model makes of it."""


def test_each_sentence_is_one_call_without_an_error(team: Place) -> None:
    """Fields have the words that a model writes; twenty-one sentences need as many calls."""
    answers = dict(zip(SAID, team.mcp(*SAID.values(), actor=ME), strict=True))
    for said, answer in answers.items():
        assert "error" not in answer, (said, answer)
        assert all("error" not in one for one in answer.get("added", ())), (said, answer)

    refs = ("Rotate the keys", "Write the release notes", "Team sync", "API", "Disk", "Carol", "#ops", "Move")
    found = team.mcp(*(("read", {"ref": ref}) for ref in refs), actor=ME)
    fields = {ref: answer["entries"][0]["fields"] for ref, answer in zip(refs, found, strict=True)}
    assert (fields["Rotate the keys"]["section"], fields["Rotate the keys"]["outcome"]) == ("completed", "All rotated")
    assert fields["Write the release notes"]["due"].endswith("10:00")
    assert (fields["Write the release notes"]["assigned"], fields["Write the release notes"]["priority"]) == (
        "bob",
        "HIGH",
    )
    assert (fields["Team sync"]["recurring"], fields["Team sync"]["notes"]) == ("0 9 * * MON", "In the wiki")
    assert fields["API"]["interval"] == "*/5 * * * *"
    assert (fields["Disk"]["command"], fields["Disk"]["threshold"]) == ("df /", "value > 90")
    assert (fields["Carol"]["role"], found[5]["entries"][0]["text"]) == ("Designer", "email: carol@example.com")
    assert fields["#ops"]["type"] == "slack"
    assert [one["title"] for one in fields["Move"]["tasks"]] == ["Install it", "Switch"]
    assert all("extra" not in one for one in fields.values())
    assert "on-call weekdays" in answers["How do I reach Alice?"]["results"][0]["snippet"]
    assert answers["Acme is called Globex now"]["proposal"]
    (back,) = team.mcp(("search", {"query": "scanner offline"}), actor=ME)
    assert back["results"][0]["title"] == "The scanner works offline"


def test_fields_that_a_kind_does_not_have_are_told(team: Place) -> None:
    """A word that is no field is kept and named; two words for one field are refused; filters know the words, too."""
    look: Call = ("read", {"ref": "Old chore"})
    change: Call = ("edit", {"ref": "Old chore", "set": {"severity": "low"}})
    (_, changed, gone) = team.mcp(look, change, ("remove", {"ref": "Old chore"}), actor=ME)
    assert "severity" in changed["summary"]
    assert gone["change"]
    answers = team.mcp(
        ("read", {"ref": "Rotate the keys"}),
        ("edit", {"ref": "Rotate the keys", "set": {"due": "fri", "deadline": "mon"}}),
        ("read", {"kind": "tasks", "filter": {"assigned_to": "bob"}}),
        ("read", {"kind": "people"}),
        actor=ME,
    )
    assert answers[1]["error"]["code"] == "entry.field"
    assert answers[2]["entries"] == []
    assert [one["title"] for one in answers[3]["entries"]] == ["Alice", "Bob"]
