"""A walk over all operations that are served: each is described, its examples run, and each surface answers alike."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.contract.place import HOUSE, Place
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
