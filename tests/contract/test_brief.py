"""What agents are told: at the beginning of a session in the order of use, and for a message what belongs to it."""

from __future__ import annotations

import json

import pytest

from tests.contract.place import NOW, Place

RULE = "Never push to main without asking Marta"
FRIDAY = "No deploys on Fridays after noon"


def hook(place: Place, event: str, now: str = NOW, client: str = "claude-code", **given: str) -> str:
    """Return what a client's hook says."""
    values = json.dumps({"session_id": "one", **given})
    return place("hook", event, "--client", client, "--now", now, now=None, given=values, process=True).out


@pytest.fixture
def team(workspace: Place) -> Place:
    """Return a workspace with entries of each use."""
    for words in (
        ("knowledge", "add", RULE, "--section", "User Preferences"),
        ("knowledge", "add", FRIDAY, "--section", "User Preferences"),
        ("knowledge", "add", "CI takes eight minutes"),
        ("knowledge", "add", "Queue is RabbitMQ", "--decision", "--reason", "Kafka is too much for five people"),
        ("tasks", "add", "Offer of the data centre", "--due", "2026-03-02", "--assigned", "Marta"),
        (
            "tasks",
            "add",
            "Send invoices",
            "--due",
            "2026-03-02",
            "--assigned",
            "claude-code",
            "--notes",
            "Danes pay no VAT",
        ),
        ("tasks", "add", "Translate the tickets"),
        ("tasks", "add", "Draw the floor plan", "--priority", "HIGH", "--due", "2026-04-01"),
        ("journal", "add", "Call with the festival", "--line", "They expect 40,000 visitors"),
        ("journal", "add", "Heartbeat", "--line", "3 tasks"),
        ("facts", "store", FRIDAY),
        ("facts", "store", "The scanner works offline for twelve hours"),
    ):
        assert workspace(*words).code == 0, words
    return workspace


def test_a_session_begins_with_what_is_of_use(team: Place) -> None:
    """Rules, decisions with reasons, the agent's due tasks first and with notes, news, open tasks, then the rest."""
    told = hook(team, "session-start")
    order = [
        RULE,
        "Kafka is too much",
        "Danes pay no VAT",
        "Offer of the data centre",
        "40,000 visitors",
        "Draw the floor plan",
        "Translate the tickets",
        "CI takes eight",
    ]
    places = [told.find(words) for words in order]
    assert -1 not in places
    assert places == sorted(places)
    assert told.count(FRIDAY) == 1
    assert "Heartbeat" not in told


def test_the_text_is_the_same_while_nothing_changed(team: Place) -> None:
    """Another session, a later minute and a compaction get the same bytes; an hour that nothing happened in, too."""
    first = hook(team, "session-start")
    for session, now in (("one", "2026-03-02T09:40:00Z"), ("two", "2026-03-02T10:40:00Z"), ("three", NOW)):
        assert hook(team, "session-start", now, session_id=session) == first
    assert team.json("prompt", "--client", "claude-code")["text"] == first


def test_whole_entries_are_cut_and_it_says_how_to_get_them(team: Place) -> None:
    """What does not fit is counted by its kind, and each ref that is told can be read."""
    for number in range(60):
        assert team("knowledge", "add", f"Shelf {number} holds the boxes of the year {1960 + number}").code == 0
    found = team.json("prompt", "--budget", "600")
    assert found["used"] <= 600
    assert RULE in found["text"]
    assert " knowledge" in found["text"].partition("No room was left for more:")[2]
    assert "`read`" in found["text"]
    refs = [one["ref"] for one in found["blocks"] if one["included"]]
    answers = team.mcp(*(("read", {"ref": ref}) for ref in refs))
    assert [one["entries"][0]["ref"] for one in answers] == refs


@pytest.mark.parametrize(
    ("message", "told", "untold"),
    [
        ("deploy it now", FRIDAY, "RabbitMQ"),
        ("can you merge this and push it", RULE, "CI takes"),
        ("why is there no Kafka?", "Kafka is too much for five people", FRIDAY),
        ("who has to pay VAT?", "Danes pay no VAT", "visitors"),
        ("how long does the scanner work offline? and how many people does the festival expect?", "40,000", "RabbitMQ"),
        ("how long does the scanner work offline? and how many people does the festival expect?", "twelve hours", "CI"),
        ("What is due today?", "Danes pay no VAT", "visitors"),
        ("hi, what's next?", "Offer of the data centre", FRIDAY),
        ("hi, what's next?", "Draw the floor plan", "visitors"),
        ("which tasks are open?", "Translate the tickets", "visitors"),
        ("what happened yesterday?", "They expect 40,000 visitors", "VAT"),
        ("which rules should I know?", RULE, "VAT"),
        ("what is new? and why is there no Kafka?", "40,000", "VAT"),
        ("what is new? and why is there no Kafka?", "Kafka is too much", FRIDAY),
    ],
)
def test_a_message_gets_what_belongs_to_it(team: Place, message: str, told: str, untold: str) -> None:
    """The rule for what it asks to do, the part of the brief that it asks for, and what answers each of its parts."""
    said = hook(team, "prompt", prompt=message)
    assert told in said
    assert untold not in said


@pytest.mark.parametrize(
    "message", ["thanks!", "yes please", "ok, go on", "what is the capital of Portugal?", "/compact"]
)
def test_a_message_about_nothing_gets_nothing(team: Place, message: str) -> None:
    """A thank you, a yes and a question of another subject cost no token."""
    assert hook(team, "prompt", prompt=message) == ""


def test_a_rejected_change_is_news_with_its_note(team: Place) -> None:
    """The agent whose change a person rejected learns of it when its next session begins."""
    ref = next(one["ref"] for one in team.json("knowledge", "list")["knowledge"] if one["text"] == RULE)
    team("knowledge", "remove", ref, actor="agent:claude-code")
    waiting = team.json("review", "list")["proposals"][0]["id"]
    assert team.at_terminal("review", "reject", waiting, "--note", "Marta still wants it", keys="yes\n").code == 0
    assert "Marta still wants it" in hook(team, "session-start")
    assert "Marta still wants it" not in hook(team, "session-start", client="codex")
