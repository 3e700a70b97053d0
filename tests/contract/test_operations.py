"""A walk over all operations that are served: each is described, its examples run, and each surface answers alike."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.contract.place import HOUSE, NOW, Place
from tests.contract.test_numbers import schema_of, verbs

PAGE = (HOUSE / "docs" / "command-line.md").read_text("utf-8")
ADDED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "tasks": (
        {"title": "Rotate", "priority": "HIGH", "due": "fri 9:00", "tag": ["ops"], "set": {"size": "L"}},
        {"title": "Rotate", "fields": {"priority": "HIGH", "due": "fri 9:00", "tags": ["ops"], "size": "L"}},
        "tasks.md",
    ),
    "journal": (
        {"title": "Deploy", "line": ["v2 is live"], "at": "08:30"},
        {"title": "Deploy", "text": "v2 is live", "fields": {"time": "08:30"}},
        "journal.md",
    ),
    "knowledge": (
        {"text": "Using Redis", "decision": True, "reason": "it runs"},
        {"title": "Using Redis", "fields": {"reason": "it runs"}},
        "knowledge.md",
    ),
    "contacts": (
        {"kind": "person", "name": "Dana", "set": {"role": "QA"}},
        {"title": "Dana", "fields": {"kind": "person", "role": "QA"}},
        "contacts.md",
    ),
    "orchestration": (
        {"title": "Move", "set": {"status": "planning"}, "text": "Prose."},
        {"title": "Move", "fields": {"status": "planning"}, "text": "Prose."},
        "orchestration.md",
    ),
    "monitors": (
        {"name": "API", "type": "http", "set": {"url": "https://example.com", "interval": "*/5 * * * *"}},
        {"title": "API", "fields": {"type": "http", "url": "https://example.com", "interval": "*/5 * * * *"}},
        "monitors.md",
    ),
}
"""For each noun: what is sent over HTTP, what a tool sends for the same entry, and the file that both write."""


def _examples(place: Place, words: list[str]) -> list[list[str]]:
    """Return the examples in the help of a verb, as their words."""
    shown = place(*words, "--help", now=None)
    assert shown.code == 0, (words, shown.err)
    lines = [line.strip() for line in shown.out.partition("\nExamples:\n")[2].splitlines() if line.strip()]
    assert lines, words
    return [shlex.split(line[line.index("memdeck ") :].partition(" > ~")[0])[1:] for line in lines]


def test_each_operation_is_described_and_its_examples_run(workspace: Place) -> None:
    """A sentence, its place in the docs, and examples that are no wrong calls."""
    schema = schema_of(workspace)
    for words, _, _ in verbs(schema):
        path = f"memdeck {' '.join(words)}"
        assert f" {path}\n" in PAGE, path
        for example in _examples(workspace, words):
            answer = workspace(*example)
            wrong = ("memdeck: usage.", "memdeck: internal", "memdeck: memory.validation")
            assert not answer.err.startswith(wrong), (example, answer)
    for made in (one for methods in schema["paths"].values() for one in methods.values()):
        assert made["summary"].strip()


def test_a_word_that_is_none_of_a_choice_names_those_that_are(workspace: Place) -> None:
    """The command line and HTTP refuse it with one code, and the message has each valid word."""
    with workspace.api() as api:
        for words, method, arguments in verbs(schema_of(workspace)):
            needed = {one["name"]: str(one["enum"][0]) if "enum" in one else "1" for one in arguments if one["needed"]}
            for one in arguments:
                if "enum" not in one or words[0] == "curated":
                    continue
                values: dict[str, Any] = {**needed, one["name"]: "nonsense"}
                status, found = api.ask(method, f"/api/v1/{'/'.join(words)}", values)
                assert (status, found["error"]["code"]) == (400, "usage.value"), (words, found)
                assert all(word in found["error"]["message"] for word in one["enum"]), (words, found)
                if not one["needed"]:
                    answer = workspace(*words, f"--{one['name'].replace('_', '-')}=nonsense", *needed.values())
                    assert (answer.code, answer.error) == (2, "usage.value"), (words, answer)
                    assert found["error"]["message"] in answer.err


@pytest.mark.parametrize("noun", ADDED)
def test_an_entry_is_the_same_however_it_is_added(tmp_path: Path, noun: str) -> None:
    """The command line, HTTP and a tool write the same bytes."""
    sent, said, file = ADDED[noun]
    written = []
    for way in ("typed", "http", "tool"):
        (tmp_path / way).mkdir()
        place = Place(tmp_path / way)
        place.json("init")
        if way == "typed":
            options = [
                f"--{key}={one}" if one is not True else f"--{key}"
                for key, value in sent.items()
                if key not in ("title", "text", "kind", "name") or (noun == "orchestration" and key == "text")
                for one in ([f"{k}={v}" for k, v in value.items()] if isinstance(value, dict) else
                            value if isinstance(value, list) else [value])
            ]  # fmt: skip
            places = [value for key, value in sent.items() if key in ("kind", "title", "name")]
            places += [sent["text"]] if noun == "knowledge" else []
            place.json(noun, "add", *options, *places)
        elif way == "http":
            with place.api("--now", "2026-03-02T09:00:00Z") as api:
                status, found = api.ask("POST", f"/api/v1/{noun}/add", sent)
                assert status == 200, found
        else:
            kind = "plans" if noun == "orchestration" else noun
            (answer,) = place.mcp(("add", {"kind": kind, **said}), now="2026-03-02T09:00:00Z")
            assert "ref" in answer, answer
        written.append(place.read(f".aiter/memory/{file}"))
    assert written[0] == written[1] == written[2]


KNOWN = {"ref": "Rotate", "key": "timezone", "query": "rotate", "section": "pending", "question": "next"}
"""Values for arguments that a look needs; the others get one that fits nothing, and the same error everywhere."""
OF_THE_MOMENT = {"duration_ms", "created_at", "generated_at"}
"""Keys whose values are of the call itself."""
OF_THE_PROCESS = {"doctor"}
"""Looks at the process that answers, so only the kinds of what they say are the same."""


def _still(value: Any) -> Any:
    """Return an answer without what is of the call itself."""
    if isinstance(value, dict):
        return {key: _still(one) for key, one in value.items() if key not in OF_THE_MOMENT}
    return [_still(one) for one in value] if isinstance(value, list) else value


def test_each_look_answers_alike_typed_and_over_http(workspace: Place) -> None:
    """One table makes both: the same document, or the same error with the same words."""
    workspace.json("tasks", "add", "Rotate the keys", "--due", "fri 9:00")
    workspace.json("journal", "add", "Rotate the logs", "--line", "by hand")
    workspace.json("monitors", "add", "Disk", "--type", "command", "--command", "df -h /")
    workspace.json("facts", "store", "Keys rotate on Fridays")
    looks = [(words, arguments) for words, method, arguments in verbs(schema_of(workspace)) if method == "GET"]
    assert len(looks) > 50
    with workspace.api("--now", NOW) as api:
        for words, arguments in looks:
            values = {one["name"]: KNOWN.get(one["name"], "1") for one in arguments if one["needed"]}
            typed = workspace(*words, "-o", "json", *values.values())
            status, found = api.ask("GET", f"/api/v1/{'/'.join(words)}", values)
            if typed.error:
                assert (status >= 400, found["error"]["code"]) == (True, typed.error), (words, typed, found)
                assert found["error"]["message"] == typed.data["error"]["message"], words
            elif words[0] in OF_THE_PROCESS:
                assert (status, sorted(found)) == (200, sorted(typed.data)), words
            else:
                assert (status, _still(found)) == (200, _still(typed.data)), words


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("changes list --since yes", ["yesterday"]),
        ("journal list --date t", ["today", "tue", "thu"]),
        ("tasks add Sweep --due to", ["today", "tomorrow"]),
        ("tasks add Sweep --recurring we", ["weekdays", "weekly"]),
        ("tasks list --tag re", ["release"]),
    ],
)
def test_what_a_parameter_takes_is_completed(workspace: Place, words: str, offered: list[str]) -> None:
    """Days, recurrences and tags, by the kind of the parameter."""
    workspace.json("tasks", "add", "Ship", "--tag", "release")
    typed = ["memdeck", *words.split()]
    shell = {"COMP_WORDS": " ".join(typed), "COMP_CWORD": str(len(typed) - 1), "_MEMDECK_COMPLETE": "bash_complete"}
    answer = workspace(environ=shell, process=True, now=None)
    assert answer.out.split() == [f"plain,{word}" for word in offered]


def test_a_threshold_that_is_none_is_refused_on_every_way(workspace: Place) -> None:
    """The same code from the command line and from a tool, and nothing is written."""
    fields = {"type": "tcp", "host": "db.example.com:5432", "threshold": "latency > 500"}
    typed = workspace(
        "monitors", "add", "Port", *(f"--set={key}={value}" for key, value in fields.items()), "--type=tcp"
    )
    assert (typed.code, typed.error) == (2, "monitor.threshold")
    (added,) = workspace.mcp(("add", {"kind": "monitors", "title": "Port", "fields": fields}))
    assert added["error"]["code"] == "monitor.threshold"
    (good,) = workspace.mcp(
        ("add", {"kind": "monitors", "title": "Port", "fields": {**fields, "threshold": "not open"}})
    )
    change = {"ref": good["ref"], "hash": good["hash"], "set": {"threshold": "latency > 500"}}
    (edited,) = workspace.mcp(("edit", change))
    assert edited["error"]["code"] == "monitor.threshold"


def test_each_list_of_entries_is_what_the_tool_reads(workspace: Place) -> None:
    """For each operation that lists entries, agents read the same refs by its kind."""
    workspace.json("tasks", "add", "Rotate the keys")
    workspace.json("journal", "add", "Rotated the logs", "--line", "by hand")
    workspace.json("knowledge", "add", "Redis is slow")
    workspace.json("contacts", "add", "person", "Dana", "--set", "role=QA")
    workspace.json("orchestration", "add", "Move")
    workspace.json("monitors", "add", "Disk", "--type", "command", "--command", "df -h /")
    whole = {"tasks": ("--section", "all"), "journal": ("--limit", "0")}
    compared = []
    for (noun, *rest), _, arguments in verbs(schema_of(workspace)):
        if rest != ["list"] or any(one["needed"] for one in arguments):
            continue
        found = workspace.json(noun, "list", *whole.get(noun, ()))
        rows = [row for value in found.values() if isinstance(value, list) for row in value]
        refs = {row["ref"] for row in rows if "#" in str(row.get("ref"))}
        if refs and noun != "review":
            asked: dict[str, Any] = {"kind": noun, "limit": 50} | (
                {"filter": {"section": "all"}} if noun == "tasks" else {}
            )
            (answer,) = workspace.mcp(("read", asked))
            assert {one["ref"] for one in answer["entries"]} == refs, noun
            compared.append(noun)
    assert {"tasks", "journal", "knowledge", "contacts", "orchestration", "monitors"} <= set(compared)
