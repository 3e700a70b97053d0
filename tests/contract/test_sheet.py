"""The balance sheet of what agents are told: counted truly, of entries that hooks sent, and off with one setting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.place import Place

DAY = "2026-03-{:02}T09:00:00Z"
RULE, COLOUR, LINT = "Never deploy on Fridays after lunch", "Buttons are painted teal", "Lint with ruff before a commit"


@pytest.fixture
def team(workspace: Place) -> Place:
    """Return a workspace with three facts that every session is told."""
    for rule in (RULE, COLOUR, LINT):
        assert workspace("facts", "store", rule, "--tag", "preference").code == 0
    return workspace


def hook(
    place: Place, event: str, day: int = 2, client: str = "claude-code", session: str = "one", **given: Any
) -> str:
    """Call a hook on a day of March; return what it says."""
    words = json.dumps({"session_id": session, "cwd": str(place.work), **given})
    return place("hook", event, "--client", client, now=DAY.format(day), given=words, process=True).out


def sheet(place: Place, day: int = 2) -> dict[str, Any]:
    """Return the rows of the sheet by their titles."""
    return {one["title"]: one for one in place.json("prompt", "--sheet", now=DAY.format(day))["entries"]}


def test_what_is_sent_is_counted_by_entry_and_agent(team: Place) -> None:
    """Tokens and times add up over sessions; what was not sent is not there, and `prompt` itself counts nothing."""
    team.json("prompt", "--client", "claude-code")
    assert sheet(team) == {}
    told = hook(team, "session-start")
    tokens = {one["title"]: one["tokens"] for one in team.json("prompt", "--client", "claude-code")["blocks"]}
    hook(team, "session-start", day=3, client="codex", session="two")
    rows = sheet(team, 3)
    row = rows[RULE]
    assert row["ref"] in told
    assert (row["sent"], row["tokens"], row["agents"]) == (2, 2 * tokens[RULE], {"claude-code": 1, "codex": 1})
    assert (row["firstSent"], row["lastSent"]) == (DAY.format(2), DAY.format(3))
    assert (row["answers"], row["cited"], row["lastUsed"], row["unused"]) == (0, 0, None, False)
    again = hook(team, "session-start", source="resume")
    assert again == ""
    assert sheet(team, 3)[RULE]["sent"] == 2


def test_answers_are_read_for_handles_and_words(team: Place) -> None:
    """A ref counts whole or by its hash, words only where they are the entry's own and the person did not say them."""
    hook(team, "session-start")
    ref = sheet(team)[LINT]["ref"]
    hook(team, "stop", last_assistant_message=f"I ran it first ({ref}).")
    hook(team, "stop", last_assistant_message="No deploy now: it is one of the Fridays, after lunch.")
    hook(team, "stop", last_assistant_message="Nothing of that kind.")
    rows = sheet(team)
    counts = {title: (one["answers"], one["cited"], one["takenUp"]) for title, one in rows.items()}
    assert counts == {RULE: (3, 0, 1), COLOUR: (3, 0, 0), LINT: (3, 1, 0)}
    assert rows[COLOUR]["lastUsed"] is None
    said = "may we deploy on Fridays after lunch?"
    hook(team, "prompt", prompt=said)
    hook(team, "stop", last_assistant_message=f"You asked: {said}")
    assert sheet(team)[RULE]["takenUp"] == 1


def test_a_changed_entry_was_used(workspace: Place) -> None:
    """An agent that finishes a task that it was told has used it, once for the session."""
    assert workspace("tasks", "add", "Rotate the keys", "--due", "2026-03-01").code == 0
    hook(workspace, "session-start")
    ref = sheet(workspace)["Rotate the keys"]["ref"]
    assert workspace("tasks", "done", ref, actor="agent:claude-code", now="2026-03-02T09:05:00Z").code == 0
    for _ in range(2):
        hook(workspace, "stop", stop_hook_active=True, last_assistant_message="Done.")
    row = sheet(workspace)["Rotate the keys"]
    assert (row["answers"], row["cited"]) == (2, 1)


def test_the_tool_brief_is_counted_for_the_session_of_its_agent(team: Place) -> None:
    """What the tool told belongs to the newest session of the same agent, whose answers may cite it."""
    hook(team, "session-start")
    for actor in ("agent:claude-code", "agent:other"):
        assert team.mcp(("brief", {}), actor=actor)[0]["tokens"]
    row = sheet(team)[LINT]
    assert (row["sent"], row["agents"]) == (3, {"claude-code": 2, "other": 1})
    hook(team, "stop", last_assistant_message=f"I ran it first ({row['ref']}).")
    assert sheet(team)[LINT]["cited"] == 1


def test_unused_has_a_grace_and_needs_an_answer(team: Place) -> None:
    """Sent and ignored is not the same as new, as never sent, or as sent to a client whose answers are not seen."""
    for _ in range(4):
        hook(team, "session-start", day=2)
    hook(team, "session-start", day=2, client="opencode", session="two")
    assert not any(one["unused"] for one in sheet(team, 20).values())
    hook(team, "stop", day=2, last_assistant_message="Teal buttons it is, painted as agreed.")
    assert not any(one["unused"] for one in sheet(team, 8).values())
    unused = {title for title, one in sheet(team, 10).items() if one["unused"]}
    assert unused == {RULE, LINT}
    later = {one["title"]: one["unused"] for one in
             team.json("prompt", "--sheet", now="2026-05-01T09:00:00Z")["entries"]}  # fmt: skip
    assert not any(later.values())
    told = team("prompt", "--sheet", now=DAY.format(10)).out
    assert "--mute" in told


def test_it_is_off_with_one_setting_and_the_budget_is_another(team: Place) -> None:
    """Switched off, nothing is written; a person's budget is what a start may cost; agents set neither."""
    for words in (("--count", "off"), ("--set-budget", "200")):
        assert team("prompt", *words, actor="agent:x").error == "prompt.person_only"
        assert team.at_terminal("prompt", *words).code == 0
    hook(team, "session-start")
    found = team.json("prompt", "--sheet")
    assert (found["counts"], found["startBudget"], found["entries"]) == (False, 200, [])
    assert team.json("prompt", "--client", "claude-code")["budget"] == 200
    assert not list(Path(team.top, "state").rglob("sheet.json"))
    assert team.at_terminal("prompt", "--count", "on", "--set-budget", "0").code == 0
    hook(team, "session-start")
    assert set(sheet(team)) == {RULE, COLOUR, LINT}


@pytest.mark.parametrize("damage", ["", "{", '{"entries": {"a": 5}, "sessions": {}}', '{"entries": {}, "sessions": 4}'])
def test_a_damaged_sheet_is_counted_anew(team: Place, damage: str) -> None:
    """No hook fails for it, and nothing but the sheet is lost."""
    hook(team, "session-start")
    (file,) = Path(team.top, "state").rglob("sheet.json")
    file.write_text(damage)
    assert sheet(team) == {}
    assert RULE in hook(team, "session-start")
    assert sheet(team)[RULE]["sent"] == 1


def test_a_secret_of_a_message_is_not_kept(team: Place) -> None:
    """Of a message only words are kept that lines of the session have."""
    hook(team, "session-start")
    hook(team, "prompt", prompt="paint the buttons teal, the password is hunter2swordfish")
    (file,) = Path(team.top, "state").rglob("sheet.json")
    assert "hunter2swordfish" not in file.read_text()
    assert json.loads(file.read_text())["sessions"]["one"]["said"]
