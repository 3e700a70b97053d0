"""The eight tools as a model uses them: one call for what a person says in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.place import Place

ME = "agent:claude-code"


@pytest.fixture
def team(workspace: Place) -> Place:
    """Return a workspace with all systems that agents write to, and entries of the agent and of a person."""
    assert workspace("state", "init").code == 0
    for actor, words in (
        ("", ("knowledge", "add", "Acme pays within ten days")),
        ("", ("knowledge", "add", "Short answers, please", "--section", "User Preferences")),
        ("", ("tasks", "add", "Call Acme about the invoice", "--notes", "Ask for Ann")),
        (ME, ("tasks", "add", "Rotate the keys", "--due", "2026-03-02")),
        (ME, ("journal", "add", "Deploy", "--line", "v2 is live")),
        ("", ("facts", "store", "The scanner works offline")),
    ):
        assert workspace(*words, actor=actor).code == 0, words
    return workspace


def call(place: Place, tool: str, **given: Any) -> Any:
    """Return the answer of one call."""
    (answer,) = place.mcp((tool, given), actor=ME)
    return answer


def entry(place: Place, ref: str) -> Any:
    """Return an entry by its ref or title."""
    return call(place, "read", ref=ref)["entries"][0]


def test_a_task_is_finished_postponed_and_grows_in_one_call_each(team: Place) -> None:
    """A title is a ref, dates are words, and no read comes first."""
    assert call(team, "edit", ref="Rotate the keys", set={"due": "next monday"})["change"]
    assert entry(team, "rotate the KEYS")["fields"]["due"].startswith("20")
    assert call(team, "edit", ref="Rotate the keys", append="Vault has the new ones")["change"]
    assert entry(team, "Rotate the keys")["fields"]["notes"] == "Vault has the new ones"
    assert call(team, "edit", ref="Rotate", set={"section": "completed", "outcome": "Done"})["change"]
    assert entry(team, "Rotate the keys")["fields"]["outcome"] == "Done"
    assert call(team, "edit", ref="Deploy", append="Checked /health")["change"]
    assert entry(team, "Deploy")["fields"]["lines"] == ["v2 is live", "Checked /health"]


def test_curated_memories_are_read_and_changed_by_the_refs_that_agents_are_told(team: Place) -> None:
    """Those of the workspace and the person's own; a line that a person wrote into an index is only read."""
    for kind, name in (("project", "Scanner room"), ("user", "Tea")):
        answer = team("curated", "write", "--type", kind, "--name", name, "--content", f"about {name}", actor=ME)
        assert answer.code == 0
    index = team.read(".agh/memory/MEMORY.md").decode()
    team.write(".agh/memory/MEMORY.md", f"{index}\nsee the map\n")
    text = call(team, "brief", budget=5000)["text"]
    for name in ("Scanner room", "Tea"):
        ref = next(line.split()[1] for line in text.splitlines() if f" {name} (" in line)
        assert entry(team, ref)["text"] == entry(team, name)["text"] == f"about {name}"
        assert call(team, "edit", ref=ref, append="and more")["ref"] == ref
        assert entry(team, ref)["text"] == f"about {name}\n\nand more"
        assert call(team, "remove", ref=ref)["change"]
    (line,) = call(team, "read", kind="curated")["entries"]
    refused = call(team, "remove", ref=line["ref"])["error"]
    assert (line["text"], refused["code"]) == ("see the map", "entry.read_only")


def test_a_workspace_of_curated_memory_alone_remembers_and_tells_its_history(place: Place) -> None:
    """What the tool chooses to remember becomes a memory of a type that fits, and its changes are those of its file."""
    assert place("curated", "write", "--type", "project", "--name", "Port", "--content", "it is 8080").code == 0
    rule = call(place, "add", title="Never push on Fridays")
    assert (rule["kind"], entry(place, rule["ref"])["fields"]["type"]) == ("curated", "feedback")
    made = call(place, "add", kind="decisions", title="Keep the port", fields={"reason": "clients know it"})
    assert entry(place, made["ref"])["fields"]["description"] == "clients know it"
    (listed,) = call(place, "read", kind="preferences")["entries"]
    assert listed["ref"] == rule["ref"]
    assert call(place, "edit", ref="Never push", append="nor on Saturdays")["change"]
    assert [one["actor"] for one in call(place, "history", ref="Keep the port")["changes"]] == [ME]


def test_a_search_in_a_plain_kind_finds_no_other_entries(team: Place) -> None:
    """`gotchas` are a part of the project state, `preferences` of the knowledge: the rest of both is left out."""
    assert call(team, "add", kind="gotchas", title="The scanner hangs", text="unplug it")["ref"]
    assert call(team, "add", kind="next-steps", title="Replace the scanner")["ref"]
    for query in ("scanner", ""):
        (found,) = call(team, "search", query=query, kinds=["gotchas"])["results"]
        assert found["title"] == "The scanner hangs"
    found = call(team, "search", query="", kinds=["preferences"])["results"]
    assert [one["title"] for one in found] == ["Short answers, please"]


@pytest.mark.parametrize(
    ("title", "text", "kind", "words"),
    [
        ("Never mail customers on a Sunday", "", "knowledge", "preferences"),
        ("We decided to keep RabbitMQ", "Kafka is too much", "knowledge", "decisions"),
        ("The suite hangs when TZ is not UTC", "export TZ=UTC", "state", "gotchas"),
        ("Remember to order paper", "", "tasks", "tasks"),
        ("The wifi is called tide", "", "facts", "facts"),
    ],
)
def test_what_to_remember_finds_its_kind(team: Place, title: str, text: str, kind: str, words: str) -> None:
    """Without a kind, or with `memory`, the tool decides, and the answer says where it went."""
    given = {"title": title, **({"text": text} if text else {})}
    made = call(team, "add", **given)
    assert (made["kind"], words in made["where"]) == (kind, True)
    again = call(team, "add", kind="memory", **given)
    assert (again["exists"], again["ref"], again["change"]) == (True, made["ref"], None)
    assert "again=true" in again["summary"]


def test_a_gotcha_takes_title_and_text(team: Place) -> None:
    """The text is its cause, and it is told when a session begins."""
    made = call(team, "add", kind="gotcha", title="Playwright hangs", text="There is no display")
    assert entry(team, made["ref"])["fields"]["cause"] == "There is no display"
    told = call(team, "brief")["text"]
    assert "There is no display" in told
    assert "Not recorded" not in told


def test_several_entries_are_added_at_once(team: Place) -> None:
    """Each has its own answer; one that is wrong does not keep the others out."""
    some = [{"kind": "tasks", "title": "One"}, {"kind": "nothing", "title": "Two"}, {"title": "The door is green"}]
    first, second, third = call(team, "add", entries=some)["added"]
    assert first["change"]
    assert second["error"]["code"] == "entry.kind"
    assert third["kind"] == "facts"


def test_recurrence_and_intervals_are_words(team: Place) -> None:
    """Both are written as cron."""
    call(team, "add", kind="tasks", title="Water", fields={"recurring": "every monday 9:00"})
    assert entry(team, "Water")["fields"]["recurring"] == "0 9 * * MON"
    fields = {
        "type": "http",
        "url": "https://example.com",
        "interval": "every 5 minutes",
    }
    call(team, "add", kind="monitors", title="API", fields=fields)
    assert entry(team, "API")["fields"]["interval"] == "*/5 * * * *"


def test_an_agent_takes_its_last_change_back(team: Place) -> None:
    """The one call undoes what this agent did last, and nothing of the person."""
    made = call(team, "add", kind="tasks", title="A mistake")
    assert call(team, "edit", undo=True)["change"]
    assert call(team, "read", ref=made["ref"])["error"]["code"] == "task.gone"
    assert entry(team, "Call Acme about the invoice")


def test_a_word_is_renamed_everywhere_in_one_proposal(team: Place) -> None:
    """What a person wrote waits as one proposal, which covers all files."""
    made = call(team, "edit", rename={"from": "Acme", "to": "Globex"})
    (waiting,) = call(team, "review", id=made["proposal"])["proposals"]
    assert set(waiting["files"]) == {"tasks.md", "knowledge.md"}
    accepted = team.at_terminal("review", "accept", made["proposal"], keys="yes\n")
    assert accepted.code == 0, accepted
    assert entry(team, "Globex pays within ten days")
    assert entry(team, "Call Globex about the invoice")["fields"]["notes"] == "Ask for Ann"


def test_lists_and_hits_are_enough_for_an_edit(team: Place) -> None:
    """Each has the hash, a text that is not its title, and a path that the resources take."""
    found = call(team, "search", query="keys")["results"][0]
    assert found["snippet"] not in ("", found["title"])
    assert found["file"] == ".aiter/memory/tasks.md"
    assert call(team, "edit", ref=found["ref"], hash=found["hash"], set={"priority": "HIGH"})["change"]
    newest = call(team, "search", query="")["results"]
    assert {"Rotate the keys", "Deploy"} <= {one["title"] for one in newest}
    assert all(one["hash"] for one in newest)


def test_plain_names_of_sections_are_kinds_and_filters(team: Place) -> None:
    """`preferences` is a kind and a section; a filter that does nothing is an error with the valid ones."""
    (one,) = call(team, "read", kind="preferences")["entries"]
    assert one["title"] == "Short answers, please"
    assert call(team, "read", kind="knowledge", filter={"section": "preferences"})["entries"] == [one]
    wrong = call(team, "read", kind="journal", filter={"due": "today"})["error"]
    assert wrong["code"] == "entry.filter"
    assert "since" in wrong["details"]["hint"]
    missing = call(team, "read", kind="knowledge", filter={"section": "Recipes"})["error"]
    assert "User Preferences" in missing["details"]["hint"]


def test_a_title_of_several_names_them(team: Place) -> None:
    """The error has the refs to choose from; for none it says what to search for."""
    team("tasks", "add", "Rotate the logs")
    several = call(team, "read", ref="Rotate the")["error"]
    assert several["code"] == "entry.ambiguous"
    assert len(several["details"]["candidates"]) == 2
    none = call(team, "read", ref="Paint the shed")["error"]
    assert (none["code"], none["details"]["hint"]) == ("entry.not_found", 'search query="Paint the shed"')


def test_an_own_proposal_is_said_when_the_entry_is_read(team: Place) -> None:
    """Whoever proposed a change learns that it waits, another agent does not."""
    made = call(team, "edit", ref="Call Acme about the invoice", set={"notes": "Ask for Bob"})
    (words,) = entry(team, "Call Acme about the invoice")["waiting"]
    assert made["proposal"] in words
    (other,) = team.mcp(("read", {"ref": "Call Acme about the invoice"}), actor="agent:other")
    assert "waiting" not in other["entries"][0]


def test_a_table_that_is_padded_anew_is_an_addition(team: Place) -> None:
    """A long name that widens the columns of a person's table needs no review."""
    row = ("contacts", "add", "channel", "Ops", "--set", "id=C-1", "--set", "type=slack", "--set", "status=connected")
    assert team(*row).code == 0
    fields = {"kind": "channel", "id": "C-2", "type": "slack", "status": "connected"}
    made = call(team, "add", kind="contacts", title="A channel with a name that widens the column", fields=fields)
    assert made.get("change"), made


def test_a_folder_without_memory_says_so(place: Place) -> None:
    """The server starts, and each tool names the way out."""
    for tool, given in (("brief", {}), ("add", {"title": "x"}), ("search", {"query": "x"})):
        error = call(place, tool, **given)["error"]
        assert error["code"] == "workspace.not_found"
        assert "memdeck init" in error["details"]["hint"]


def test_hints_over_http_name_paths(team: Place) -> None:
    """A hint leads to what the caller can send, not to the command line."""
    with team.api() as api:
        _, missing = api.ask("POST", "/api/v1/tasks/add", {})
        _, unknown = api.ask("GET", "/api/v1/changes/show", {"change_id": "01H"})
        _, wrong = api.ask("GET", "/api/v1/nothing")
    assert missing["error"]["details"]["hint"].startswith("it takes title, ")
    hints = [one["error"]["details"].get("hint", "") for one in (missing, unknown, wrong)]
    assert not any("memdeck " in hint or "--help" in hint for hint in hints), hints
