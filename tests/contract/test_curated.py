"""Curated memory: one write path, drains that are whole, recall that shares its room."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.contract.place import Place

MEMORY = ".agh/memory"


@pytest.fixture
def memory(workspace: Place) -> Place:
    """Return a workspace with one memory of the person."""
    write(workspace, "Anchor", "the anchor holds the boat")
    return workspace


def write(place: Place, name: str, content: str, *, kind: str = "project", **options: Any) -> Any:
    """Remember something; return the answer."""
    return place.json("curated", "write", "--type", kind, "--name", name, "--content", content, **options)


def decisions(place: Place, file: str = "", **options: Any) -> list[tuple[str, str, str]]:
    """Return operation, origin and deciding rule of all decisions on a file, the oldest first."""
    words = ["--filename", file] if file else []
    found = place.json("curated", "decisions", "list", *words, **options)["decisions"]
    return [(one["op"], one["origin"], one["rule_trace"][-1]["name"]) for one in reversed(found)]


def names(place: Place) -> set[str]:
    """Return the files of the memories of the workspace and the person."""
    return {one["filename"] for one in place.json("curated", "list")["memories"]}


def inbox(place: Place, session: str, *lines: str | dict[str, str], name: str = "1") -> Path:
    """Put lines into the inbox of the workspace as another program would."""
    text = "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines)
    return place.write(f"{MEMORY}/_inbox/{session}/{name}.jsonl", text)


LINE = {"type": "project", "name": "Tide", "content": "the tide turns at noon"}


def test_a_turn_of_number_zero_leaves_a_trace(memory: Place) -> None:
    """An agent that counts its turns from 0 finds the recall of its first one."""
    assert memory.json("curated", "search", "anchor boat", "--session", "s", "--turn", "0")["results"]
    trace = memory.json("curated", "recall", "trace", "s", "0")["trace"]
    assert (trace["turn_seq"], trace["query"]) == (0, "anchor boat")


def test_a_drain_by_an_agent_is_made_whole(memory: Place) -> None:
    """Where the line is decided, the answer says so, and the inbox is empty."""
    file = inbox(memory, "s", LINE)
    done = memory.json("curated", "extractor", "drain", actor="agent:x")
    assert (done["decisions"], done["remaining"]) == ({"add": 1}, 0)
    assert "project_tide.md" in names(memory)
    assert not file.exists()


def test_a_line_that_needs_the_person_waits_as_a_proposal(memory: Place) -> None:
    """The other lines are decided, nothing of this one is written, and accepting it makes its decision."""
    slot = {"entity": "harbour", "attribute": "depth"}
    memory.json("curated", "write", "--type", "project", "--name", "Depth", "--content", "it is five metres deep",
                "--entity", "harbour", "--attribute", "depth")  # fmt: skip
    inbox(memory, "s", {**LINE, "name": "Depth now", "content": "it is six metres deep", **slot}, LINE)
    done = memory.json("curated", "extractor", "drain", actor="agent:x")
    assert (done["decisions"], done["remaining"]) == ({"waiting": 1, "add": 1}, 0)
    assert b"five metres" in memory.read(f"{MEMORY}/project_depth.md")
    (proposal,) = memory.json("review", "list")["proposals"]
    assert memory.at_terminal("review", "accept", proposal["id"]).code == 0
    assert b"six metres" in memory.read(f"{MEMORY}/project_depth.md")
    assert decisions(memory, "project_depth.md")[-1] == ("update", "extractor", "controller.accepted")


def test_failures_are_replayed_as_often_as_one_likes(memory: Place) -> None:
    """Two bad lines replayed do not stop the good ones behind them, and their names do not grow."""
    inbox(memory, "session-with-a-long-name", "prose", "more prose")
    lengths = set()
    for _ in range(4):
        done = memory.json("curated", "extractor", "drain")
        assert (done["failed"], done["remaining"]) == (2, 0)
        lengths |= {len(one["id"]) for one in memory.json("curated", "extractor", "list-pending")["failures"]}
        back = memory.json("curated", "extractor", "replay", "--session", "session-with-a-long-name")
        assert (back["retried"], back["failed"]) == (2, 0)
    inbox(memory, "session-with-a-long-name", LINE, name="9")
    done = memory.json("curated", "extractor", "drain")
    assert (done["failed"], done["decisions"]) == (2, {"add": 1})
    assert len(lengths) == 1


@pytest.mark.parametrize("how", ["delete", "undo", "file", "revert"])
def test_what_a_person_deleted_stays_deleted(memory: Place, how: str) -> None:
    """The extractor does not bring back a text that a person deleted, in whatever way; the person may."""
    inbox(memory, "s", LINE)
    memory.json("curated", "extractor", "drain")
    if how == "delete":
        assert memory("curated", "delete", "project_tide.md").code == 0
    elif how == "undo":
        assert memory("undo").code == 0
    elif how == "revert":
        (made,) = memory.json("curated", "decisions", "list", "--filename", "project_tide.md")["decisions"]
        assert memory("curated", "decisions", "revert", made["id"]).code == 0
    else:
        (memory.work / MEMORY / "project_tide.md").unlink()
    assert "project_tide.md" not in names(memory)
    inbox(memory, "s2", {**LINE, "name": "Another name", "content": "The tide turns at  noon"})
    assert memory.json("curated", "extractor", "drain")["decisions"] == {"noop": 1}
    assert not [one for one in names(memory) if "tide" in one or "another" in one]
    (newest, *_) = memory.json("curated", "decisions", "list")["decisions"]
    assert newest["rule_trace"][-1]["name"] == "controller.forgotten"
    assert write(memory, "Tide", LINE["content"])["applied"]


def dreamt(place: Place) -> str:
    """Recall some memories and gather them into a dream; return its file."""
    for number, word in enumerate(("granite", "marble", "basalt")):
        write(place, f"Stone {word}", f"the {word} quarry opens on day {number} of each month")
        place.json("curated", "search", f"{word} quarry")
    dream = place.json("curated", "dream", "trigger", "--force", "--scope", "workspace")["dream"]
    return str(dream["target_filename"])


def test_a_dream_is_listed_and_never_recalled(workspace: Place) -> None:
    """Its sources are told and found as before; neither a hook, a search nor a block has it, even edited."""
    file = dreamt(workspace)
    assert file in names(workspace)
    edited = workspace.read(f"{MEMORY}/{file}").replace(b"gathered", b"put together").decode()
    for turn in range(2):
        found = workspace.json("curated", "search", "marble quarry opens")["results"]
        assert found[0]["memory"]["filename"] == "project_stone-marble.md"
        assert file not in {one["memory"]["filename"] for one in found}
        assert "Dreaming" not in workspace.json("curated", "recall", "block", "marble quarry opens")["text"]
        brief = workspace("hook", "session-start", "--client", "codex", given=json.dumps({"session_id": str(turn)}))
        assert "marble quarry" in brief.out
        assert "Dreaming" not in brief.out
        workspace("curated", "edit", file, "--content", edited.partition("\n---\n")[2])


def test_a_dream_that_was_taken_back_can_be_dreamt_again(workspace: Place) -> None:
    """By force only: maintenance does not bring it back."""
    file = dreamt(workspace)
    (made,) = workspace.json("curated", "decisions", "list", "--filename", file)["decisions"]
    assert workspace("curated", "decisions", "revert", made["id"]).code == 0
    assert workspace.json("curated", "dream", "status", "--scope", "workspace")["scopes"][0]["gates"][4]["have"] == 0
    again = workspace.json("curated", "dream", "trigger", "--force", "--scope", "workspace")
    assert again["dream"]["promoted_count"] == 3
    assert file in names(workspace)


def test_a_block_shares_its_room(workspace: Place) -> None:
    """One long memory is cut, and the short ones beside it are whole."""
    write(workspace, "Lighthouse keeper", "lighthouse lamp " + "burns all night long and " * 150)
    write(workspace, "Lighthouse oil", "lighthouse lamp oil comes from the cooperative")
    write(workspace, "Lighthouse stairs", "lighthouse lamp is up 214 stairs")
    text = workspace.json("curated", "recall", "block", "what about the lighthouse lamp")["text"]
    assert len(text) <= 1500
    assert "comes from the cooperative" in text
    assert "is up 214 stairs" in text
    assert text.count("burns all night") > 20


def test_accepted_proposals_are_decisions(memory: Place) -> None:
    """An agent's edit and delete of a person's memory, accepted by the person, are in the list with their events."""
    file = "project_anchor.md"
    assert memory("curated", "edit", file, "--content", "it drags", actor="agent:x").error == "review.waiting"
    (proposal,) = memory.json("review", "list")["proposals"]
    write(memory, "Tide", "the tide turns at noon")
    assert memory.at_terminal("review", "accept", proposal["id"]).code == 0
    assert memory("curated", "delete", file, actor="agent:x").error == "review.waiting"
    (proposal,) = memory.json("review", "list")["proposals"]
    assert memory.at_terminal("review", "accept", proposal["id"]).code == 0
    assert [(op, rule) for op, _, rule in decisions(memory, file)] == [
        ("add", "controller.fresh_slot"), ("update", "controller.accepted"), ("delete", "controller.accepted")
    ]  # fmt: skip
    found = memory.json("curated", "decisions", "list", "--filename", file)["decisions"]
    assert "agent:x" in found[0]["rule_trace"][0]["details"]
    assert [one["decision_id"] for one in memory.json("curated", "history")["operations"]].count(found[0]["id"]) == 1


def test_an_undone_move_is_one_decision_that_takes_the_other_back(memory: Place) -> None:
    """A memory whose change of type is undone keeps its recalls, and its deletion is in no list."""
    file = "project_anchor.md"
    memory("curated", "search", "anchor boat")
    moved = memory.json("curated", "edit", file, "--type", "reference")["decision"]
    assert memory("undo").code == 0
    (undone,) = memory.json("curated", "decisions", "list", "--limit", "1")["decisions"]
    assert (undone["op"], undone["targets"], undone["target_filename"]) == ("update", ["reference_anchor.md"], file)
    assert (undone["rule_trace"][0]["name"], undone["reverts"]) == ("controller.undone", moved["id"])
    (listed,) = [one for one in memory.json("curated", "list")["memories"] if one["filename"] == file]
    assert listed["recall_count"] == 1


def test_what_another_program_did_after_an_undo_is_its_own_decision(memory: Place) -> None:
    """The undo gets the bytes that it left, and the edit by hand after it those of its own."""
    file = memory.work / MEMORY / "project_anchor.md"
    before = file.read_bytes()
    memory("curated", "edit", "project_anchor.md", "--content", "it was lifted")
    assert memory("undo").code == 0
    assert file.read_bytes() == before
    file.write_bytes(before.replace(b"holds", b"drags"))
    found = memory.json("curated", "decisions", "list", "--filename", "project_anchor.md", "--limit", "2")["decisions"]
    assert [one["rule_trace"][0]["name"] for one in found] == ["controller.file", "controller.undone"]
    assert found[0]["prior_hash"] == found[1]["post_content_hash"]


def test_a_folder_that_is_gone_before_a_look_is_no_fault(memory: Place) -> None:
    """A search indexes the memories of an agent; where their folder is removed then, every verb goes on."""
    text = "---\nname: Buoy\ndescription: where it floats\ntype: project\n---\n\nnorth of the pier\n"
    file = memory.write(".agh/agents/x/memory/project_buoy.md", text)
    assert memory("search", "pier").code == 0
    shutil.rmtree(file.parents[2])
    assert names(memory) == {"project_anchor.md"}


def test_edits_by_hand_are_decisions_of_the_file(memory: Place) -> None:
    """A file that is made, changed and removed in an editor is found on the next look, each time once."""
    text = "---\nname: Buoy\ndescription: where it floats\ntype: project\n---\n\nnorth of the pier\n"
    file = memory.write(f"{MEMORY}/project_buoy.md", text)
    assert decisions(memory, "project_buoy.md") == [("add", "file", "controller.file")]
    file.write_text(text.replace("north", "south"))
    memory("curated", "list")
    file.unlink()
    for _ in range(2):
        assert [op for op, _, _ in decisions(memory, "project_buoy.md")] == ["add", "update", "delete"]
    file.write_text("no front matter\n")
    assert len(decisions(memory, "project_buoy.md")) == 3


def test_an_edit_by_hand_before_a_write_has_its_decision(memory: Place) -> None:
    """The chain has no gap: each decision begins with what the one before it left."""
    file = memory.work / MEMORY / "project_anchor.md"
    file.write_bytes(file.read_bytes().replace(b"holds", b"drags"))
    assert memory("curated", "edit", "project_anchor.md", "--content", "it was lifted").code == 0
    found = memory.json("curated", "decisions", "list", "--filename", "project_anchor.md")["decisions"][::-1]
    assert [one["origin"] for one in found] == ["cli", "file", "cli"]
    for before, after in pairwise(found):
        assert after["prior_hash"] == before["post_content_hash"]


def test_a_look_at_nothing_new_records_nothing(memory: Place) -> None:
    """Reading makes no decisions, however often."""
    before = decisions(memory)
    for words in (("list",), ("search", "anchor boat"), ("health",), ("reindex",)):
        assert memory("curated", *words).code == 0
    memory("tasks", "add", "Something else")
    assert decisions(memory) == before


def test_a_drain_that_is_denied_says_so(memory: Place) -> None:
    """Where the person lets agents add nothing, the line waits in the inbox, and the answer tells why."""
    assert memory.at_terminal("review", "policy", "agent:*", "*", "deny").code == 0
    file = inbox(memory, "s", LINE)
    done = memory.json("curated", "extractor", "drain", actor="agent:x")
    assert (done["decisions"], done["remaining"]) == ({}, 1)
    assert "does not allow agent:x" in done["reason"]
    assert file.exists()
    assert "does not allow agent:x" in memory("curated", "extractor", "drain", actor="agent:x").out


def test_many_files_of_a_clone_do_not_count_as_writes(memory: Place) -> None:
    """Each gets its decision on the first look, and the limit of writes in a minute is for writes."""
    for number in range(70):
        text = f"---\nname: Reef {number}\ndescription: d\ntype: project\n---\n\nreef number {number}\n"
        memory.write(f"{MEMORY}/project_reef-{number}.md", text)
    assert len(decisions(memory, "", now="2026-03-02T09:00:01Z")) == 50
    assert decisions(memory, "project_reef-69.md") == [("add", "file", "controller.file")]
    assert write(memory, "Tide", LINE["content"])["applied"]


def told(place: Place, message: str, *words: str) -> str:
    """Return the block of memories for a message."""
    return str(place.json("curated", "recall", "block", message, *words)["text"])


def test_one_word_that_names_a_memory_is_no_trivial_message(memory: Place) -> None:
    """Another single word, and a message with nothing but common words of a memory, get nothing."""
    write(memory, "Kubernetes", "three clusters in Frankfurt run the open version of it")
    assert "three clusters" in told(memory, "kubernetes?")
    assert told(memory, "frankfurt") == told(memory, "thanks") == told(memory, "open the door please") == ""


def test_names_in_camel_case_and_in_snake_case_are_the_same_words(memory: Place) -> None:
    """Whichever a memory has, the other finds it, also as the only word of a message."""
    write(memory, "Pool", "the setting pool_size_max is forty")
    write(memory, "Retries", "the worker reads maxRetryDelay at its start")
    assert "is forty" in told(memory, "poolSizeMax")
    assert "at its start" in told(memory, "what does max_retry_delay do")


def test_letters_inside_of_a_word_find_nothing(memory: Place) -> None:
    """A typo does."""
    write(memory, "Caching", "entries of the cache are invalidated nightly")
    assert memory.json("curated", "search", "lidat ntri")["results"] == []
    assert memory.json("curated", "search", "invalidatd entires")["results"]


def test_of_two_that_say_the_same_the_newer_is_first(memory: Place) -> None:
    """However often the older one was recalled."""
    write(memory, "Database of staging", "the staging database listens on port 5432", now="2025-03-01T09:00:00Z")
    for _ in range(3):
        assert memory.json("curated", "search", "staging database port", now="2025-03-02T09:00:00Z")["results"]
    write(memory, "Staging database", "the staging database listens on port 6432", now="2025-09-01T09:00:00Z")
    found = memory.json("curated", "search", "staging database port")["results"]
    assert [one["memory"]["filename"] for one in found[:2]] == [
        "project_staging-database.md", "project_database-of-staging.md"
    ]  # fmt: skip


def test_what_is_read_of_an_agent_is_in_both_of_its_tiers(memory: Place) -> None:
    """Without a tier list, search and show cover both; with one only that."""
    for tier, name in (("global", "Tone of reviews"), ("workspace", "Names in reviews")):
        where = ("--scope", "agent", "--agent", "ada", "--agent-tier", tier)
        memory.json("curated", "write", "--type", "feedback", "--name", name, "--content", f"{name}: be kind", *where)
    mine = ("--scope", "agent", "--agent", "ada")
    assert len(memory.json("curated", "list", *mine)["memories"]) == 2
    assert len(memory.json("curated", "search", "kind reviews", *mine)["results"]) == 2
    assert memory.json("curated", "show", "feedback_tone-of-reviews", *mine)["memory"]["agent_tier"] == "global"
    assert len(memory.json("curated", "list", *mine, "--agent-tier", "global")["memories"]) == 1


def test_an_edit_by_hand_makes_a_memory_new(workspace: Place) -> None:
    """Its age begins anew, and the warning about old memories is gone; a copy of the file is as old as it says."""
    write(workspace, "Pier", "the pier has nine berths", now="2020-01-01T09:00:00Z")
    path = workspace.work / MEMORY / "project_pier.md"

    def old() -> bool:
        (one,) = workspace.json("curated", "list")["memories"]
        return bool(one["staleness_banner"])

    assert old()
    path.write_bytes(path.read_bytes())
    assert old()
    path.write_bytes(path.read_bytes().replace(b"nine", b"ten"))
    assert not old()


def test_what_nothing_reads_is_told(memory: Place) -> None:
    """A file that is no memory and a line that links to none are warnings; lines of a person are found by search."""
    memory.write(f"{MEMORY}/notes.txt", "buy rope\n")
    memory.write(f"{MEMORY}/drafts/project_later.md", "later\n")
    index = memory.read(f"{MEMORY}/MEMORY.md").decode()
    memory.write(f"{MEMORY}/MEMORY.md", f"{index}- [Gone](project_gone.md) — it was here\nThe winch is in the shed.\n")
    found = memory("check", "-o", "json").data["problems"]
    told = {(one["file"].rpartition("/")[2], one["code"]) for one in found if ".agh" in one["file"]}
    assert told == {
        ("notes.txt", "memory.file.unread"), ("drafts", "memory.file.unread"), ("MEMORY.md", "line.unread")
    }  # fmt: skip
    (winch,) = memory.json("search", "winch shed")["results"]
    assert (winch["file"].rpartition("/")[2], winch["snippet"]) == ("MEMORY.md", "The winch is in the shed.")


def test_an_index_that_is_a_link_stops_no_search(memory: Place) -> None:
    """It is a problem of check, and what the other files have is found."""
    index = memory.work / MEMORY / "MEMORY.md"
    index.unlink()
    outside = memory.top / "elsewhere.md"
    outside.write_text("the capstan is rusty\n")
    index.symlink_to(outside)
    assert [one["title"] for one in memory.json("search", "anchor boat")["results"]] == ["Anchor"]
    assert memory.json("search", "capstan rusty")["results"] == []
    told = memory("check", "-o", "json").data["problems"]
    assert [one["file"].rpartition("/")[2] for one in told if ".agh" in one["file"]] == ["MEMORY.md"]
