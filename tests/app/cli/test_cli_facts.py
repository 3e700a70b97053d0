"""The verbs on facts: the objects for programs, the words for people, and what a prompt hook gets."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.cli.conftest import Answer

Memdeck = Callable[..., Answer]
SECRET = "password: " + "hunter2"
TS = "2024-01-15T12:00:00Z"


def facts(memdeck: Memdeck, *arguments: str) -> Answer:
    """Run a verb on facts with JSON as its answer."""
    return memdeck("facts", *arguments, "-o", "json")


def test_store_prints_exactly_its_object(memdeck: Memdeck, shop: Path) -> None:
    """An id, or the reason why not with exit code 1; stderr stays silent."""
    answer = facts(memdeck, "store", "Deploy target is us-east-1", "--tag", "infra", "--tag", "deploy")
    assert (answer.code, answer.data, answer.err) == (0, {"ok": True, "id": "m-1"}, "")
    answer = facts(memdeck, "store", SECRET)
    refused = {"ok": False, "error": "text appears to contain a secret — not stored"}
    assert (answer.code, answer.data, answer.err) == (1, refused, "")
    line = '{"id":"m-1","scope":"workspace","text":"Deploy target is us-east-1","tags":["infra","deploy"],"ts":"%s"}\n'
    assert (shop / ".aegis/memory/memories.jsonl").read_text() == line % TS


def test_delete_prints_exactly_its_object(memdeck: Memdeck) -> None:
    """ok, or that there is no such memory with exit code 1."""
    facts(memdeck, "store", "one")
    assert facts(memdeck, "delete", "m-1").data == {"ok": True}
    answer = facts(memdeck, "delete", "m-1")
    assert (answer.code, answer.data) == (1, {"ok": False, "error": "memory m-1 not found"})


def test_search_prints_exactly_its_object(memdeck: Memdeck) -> None:
    """A count and the facts, newest first; query and tag both have to fit; nothing is an empty list."""
    facts(memdeck, "store", "PostgreSQL on port 5432", "--tag", "infra")
    facts(memdeck, "store", "Port of Hamburg", "--scope", "user")
    found = facts(memdeck, "search", "port").data
    assert [one["id"] for one in found["memories"]] == ["m-2", "m-1"]
    assert found["memories"][1] == {
        "id": "m-1",
        "text": "PostgreSQL on port 5432",
        "tags": ["infra"],
        "scope": "workspace",
        "ts": TS,
    }
    assert facts(memdeck, "search", "port", "--tag", "INFRA").data["count"] == 1
    assert facts(memdeck, "search", "nothing").data == {"count": 0, "memories": []}
    assert facts(memdeck, "search").data["count"] == 2
    assert facts(memdeck, "list", "--scope", "user").data["memories"][0]["id"] == "m-2"
    assert [one["id"] for one in memdeck("facts", "list", "--limit", "1", "-o", "jsonl").objects] == ["m-2"]


def test_inject_prints_the_block_and_nothing_else(memdeck: Memdeck) -> None:
    """The header, a line for each fact, and the end; with -o json why these."""
    facts(memdeck, "store", "User prefers tabs over spaces", "--tag", "preference")
    facts(memdeck, "store", "The database is PostgreSQL")
    answer = memdeck("facts", "inject", "What indentation style, tabs?")
    assert (answer.code, answer.err) == (0, "")
    header, line, end = answer.out.splitlines()
    assert (header, line) == ("[Memories]", "- (m-1, preference) User prefers tabs over spaces")
    assert end.startswith("[/Memories ")
    told = facts(memdeck, "inject", "tabs").data
    assert (told["reason"], told["candidates"][0]["words"]) == ("match", ["tabs"])
    explained = memdeck("facts", "inject", "tabs", "--explain").out
    assert "1 + 1.0000" in explained
    assert "29 of 2,000" in explained


def test_inject_reads_stdin(memdeck: Memdeck, monkeypatch: pytest.MonkeyPatch) -> None:
    """With - the message is what stands there, whatever its bytes are."""
    facts(memdeck, "store", "User prefers tabs")
    facts(memdeck, "store", "Something else")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff tabs\n")))
    assert memdeck("facts", "inject", "-").out.splitlines()[:-1] == ["[Memories]", "- (m-1) User prefers tabs"]


def test_a_prompt_hook_gets_nothing_where_there_is_nothing(
    memdeck: Memdeck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 0 and empty output: without facts, with injection off, and outside of any workspace."""
    assert memdeck("facts", "inject", "hello") == Answer(0, "", "")
    facts(memdeck, "store", "hello")
    Path(".aegis/agent.json").write_text('{"memory": {"inject_mode": "off"}}')
    assert memdeck("facts", "inject", "hello") == Answer(0, "", "")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert memdeck("facts", "inject", "hello") == Answer(0, "", "")
    assert memdeck("facts", "store", "hello").code == 2


def test_a_wrong_setting_is_an_error(memdeck: Memdeck) -> None:
    """It names the file and the value, with exit code 2."""
    facts(memdeck, "store", "hello")
    Path(".aegis/agent.json").write_text('{"memory": {"inject_mode": "always"}}')
    answer = memdeck("facts", "inject", "hello")
    assert (answer.code, answer.out) == (2, "")
    assert ".aegis/agent.json:1: it has the inject_mode 'always'" in answer.err


def test_check_exits_with_4_on_errors(memdeck: Memdeck, shop: Path) -> None:
    """Both checks tell the line; notes alone are no error."""
    facts(memdeck, "store", "one")
    assert memdeck("facts", "check").out == "no problems\n"
    with open(shop / ".aegis/memory/memories.jsonl", "a") as file:
        file.write("torn\n")
    answer = facts(memdeck, "check")
    assert (answer.code, [one["line"] for one in answer.data["problems"]]) == (4, [2])
    whole = memdeck("check", "-o", "json")
    assert whole.code == 4
    assert ".aegis/memory/memories.jsonl" in {one["file"] for one in whole.data["problems"]}
    named = memdeck("check", ".aegis/memory/memories.jsonl", "-o", "json")
    assert [one["code"] for one in named.data["problems"]] == ["fact.unread"]
