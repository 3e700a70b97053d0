"""What sessions of agents teach: natural forms of the markers, said text only, and a report of what was learned."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.contract.place import Place
from tests.contract.test_state_recall import project, session  # noqa: F401


def signals(place: Place) -> dict[str, list[str]]:
    """Return what the newest event holds."""
    found: dict[str, Any] = json.loads(place.read(".agent-memory/history/events.jsonl").splitlines()[-1])
    return {kind: texts for kind, texts in found["signals"].items() if texts}


@pytest.mark.parametrize(
    ("said", "kind", "texts"),
    [
        ("Decision: Uploads go through nginx", "decisions", ["Uploads go through nginx"]),
        ("**Decision:** Uploads go through nginx", "decisions", ["Uploads go through nginx"]),
        ("**DECISION**: Uploads go through nginx", "decisions", ["Uploads go through nginx"]),
        ("## DECISION: Uploads go through nginx", "decisions", ["Uploads go through nginx"]),
        ("> DECISION: Uploads go through nginx", "decisions", ["Uploads go through nginx"]),
        ("`DECISION:` Uploads go through nginx", "decisions", ["Uploads go through nginx"]),
        ("DECISION：Uploads go through nginx", "decisions", ["Uploads go through nginx"]),
        ("- [ ] NEXT: Ship it", "nextStepHints", ["NEXT: Ship it"]),
        ("- [x] DONE: Ship it", "nextStepHints", ["DONE: Ship it"]),
        ("Next step: update CHANGES.md", "nextStepHints", ["NEXT: update CHANGES.md"]),
        ("TODO: Ship it", "nextStepHints", ["NEXT: Ship it"]),
        ("Gotcha: `bg=0` goes through a branch", "gotchas", ["`bg=0` goes through a branch"]),
        ("GOTCHA:\nthe lock blocks", "gotchas", ["the lock blocks"]),
        ("DECISIONS:\n- Use nginx\n- Use a queue\n\nThat is all.", "decisions", ["Use nginx", "Use a queue"]),
        ("## Next steps\n\n1. Ship it\n2. Call Ada", "nextStepHints", ["NEXT: Ship it", "NEXT: Call Ada"]),
        ("Fine. We decided to compare with `is not None`.", "decisions",
         ["We decided to compare with `is not None`"]),
    ],
)  # fmt: skip
def test_natural_forms_count(project: Place, said: str, kind: str, texts: list[str]) -> None:  # noqa: F811
    """A marker in any of these forms is one."""
    session(project, "one", said)
    answer = project.json("state", "sync", "--all")["sources"][0]
    assert (answer["imported"], answer["learned"]) == (1, len(texts))
    assert signals(project) == {kind: texts}


@pytest.mark.parametrize(
    "said",
    [
        "```\nDECISION: Use nginx\n```",
        "See:\n\n    DECISION: Use nginx",
        "> The guide says:\n> DECISION: Use nginx",
        "End with these markers:\n- DECISION: Use nginx\n- NEXT: Ship it",
        "`DECISION:` Use it for decisions\n`GOTCHA:` Use it for traps",
        "GOTCHA: what happens: why",
        "Have we decided on nginx?",
        "The next step is easy. Done.",
    ],
)
def test_a_session_that_taught_nothing_is_reported(project: Place, said: str) -> None:  # noqa: F811
    """Code, quotes of documents and explanations of the markers teach nothing, and the report says so."""
    session(project, "one", said)
    assert "imported 1, learned 0: no markers" in project("state", "sync", "--all").out
    assert signals(project) == {}


def test_a_session_that_is_left_out_says_why(project: Place) -> None:  # noqa: F811
    """One of another folder names that folder, with ~ for the home folder; of several the first, and how many more."""
    message = {"role": "assistant", "content": "DECISION: Use nginx"}
    for name in ("other", "second", "third", "fourth", "fifth"):
        other = project.home / name
        other.mkdir(parents=True)
        record = {"type": "assistant", "cwd": str(other), "message": message}
        project.write(f"sessions/{name}.jsonl", json.dumps(record) + "\n")
        if name == "other":
            assert "1 left out: another folder, ~/other, 1" in project("state", "sync", "--all").out
    assert "5 left out: another folder, ~/fifth and 4 more, 1" in project("state", "sync", "--all").out


def test_what_is_too_much_is_told(project: Place) -> None:  # noqa: F811
    """Of very many decisions of one session the last ones are kept, and a warning says so."""
    session(project, "one", *(f"DECISION: Step {number} is decided" for number in range(250)))
    assert "the first 50 of its decisions are too many" in project("state", "sync", "--all").out
    assert len(signals(project)["decisions"]) == 200


def test_a_source_added_twice_is_told(project: Place) -> None:  # noqa: F811
    """The same folder under another name would count each session twice."""
    answer = project("state", "add", "--type", "claude-local", "--path", "sessions", "--name", "again", "-o", "json")
    assert (answer.code, answer.error) == (2, "state.source.exists")
    assert "mine" in answer.data["error"]["message"]


def test_no_committed_byte_names_the_home_folder(project: Place) -> None:  # noqa: F811
    """Neither a path of a source nor a session's folder does, in its encoded form neither."""
    home = str(project.home)
    own = re.sub(r"[^A-Za-z0-9]", "-", home)
    encoded = f"{own}-src-shop"
    folder = project.home / "agent" / "projects" / encoded
    folder.mkdir(parents=True)
    message = {"role": "assistant", "content": f"GOTCHA: Lock: {home}/notes says so\nNEXT: look at projects/{encoded}"}
    record = {"type": "assistant", "cwd": str(project.work), "message": message}
    (folder / "one.jsonl").write_text(json.dumps(record) + "\n")
    add = ("state", "add", "--type", "claude-local", "--path", f"{folder}", "--name", "home")
    assert project(*add).code == 0
    assert project("state", "sync", "home").code == 0
    assert project("state", "recall", "--yes").code == 0
    files = [path for top in (".agent-memory", "docs") for path in (project.work / top).rglob("*") if path.is_file()]
    said = "".join(path.read_text() for path in files if ".memdeck" not in path.parts)
    assert home not in said
    assert own not in said
    paths = [one["path"] for one in project.json("state", "show", "sources")["sources"]]
    assert paths == ["sessions", "~/agent/projects/~-src-shop"]


def test_agents_are_told_the_markers(project: Place) -> None:  # noqa: F811
    """What a client puts into a session names them."""
    told = project(
        "hook", "session-start", given=f'{{"cwd": "{project.work}", "session_id": "s", "source": "startup"}}'
    )
    assert "DECISION:" in told.out, told
    assert "GOTCHA:" in told.out
