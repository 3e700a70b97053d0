"""The clock: no agent sets the time of a change, and a run that the clock holds back says so."""

from __future__ import annotations

import pytest

from tests.contract.place import Place

AHEAD = "2099-01-01T00:00:00Z"
AGENTS = ({"actor": "agent:x"}, {"environ": {"CLAUDECODE": "1"}}, {"environ": {"CLAUDECODE": "1"}, "actor": "cli"})


@pytest.mark.parametrize("caller", AGENTS, ids=str)
@pytest.mark.parametrize(
    "words",
    [
        ("tasks", "add", "hello"),
        ("journal", "add", "hello"),
        ("prune",),
        ("archive",),
        ("--maintain",),
        ("--maintain", "--force"),
        ("typed", "prune"),
        ("facts", "store", "hello"),
        ("knowledge", "add", "hello"),
        ("curated", "write", "--type", "user", "--name", "n", "--content", "c"),
        ("undo",),
        ("init", "there"),
    ],
    ids=" ".join,
)
def test_an_agent_sets_no_time(workspace: Place, words: tuple[str, ...], caller: dict[str, object]) -> None:
    """`--now` of an agent is refused for whatever changes something, and nothing is written."""
    assert workspace("journal", "add", "By the person").code == 0
    assert workspace("tasks", "add", "By the person").code == 0
    before = {path: path.read_bytes() for path in workspace.work.rglob("*.md")}
    answer = workspace(*words, "--now", AHEAD, **caller)  # type: ignore[arg-type]
    assert (answer.code, answer.error) == (2, "usage.now"), answer
    assert {path: path.read_bytes() for path in workspace.work.rglob("*.md")} == before
    assert workspace("--maintain", "--no-exec").code == 0


def test_an_agent_looks_at_any_time(workspace: Place) -> None:
    """Looks and dry runs take `--now` from everybody."""
    for words in (("status",), ("tasks", "list"), ("prune", "--dry-run"), ("--maintain", "--dry-run"), ("search", "x")):
        assert workspace(*words, "--now", AHEAD, actor="agent:x").code == 0, words


def test_a_run_that_the_clock_holds_back_says_so(workspace: Place) -> None:
    """After a change far ahead, maintenance ends with 4 and writes nothing, and status and Brief say what to do."""
    assert workspace("tasks", "add", "Old work").code == 0
    assert workspace("tasks", "done", "Old work").code == 0
    assert workspace("tasks", "add", "From the future", now=AHEAD).code == 0
    later = "2026-04-02T09:00:00Z"
    before = workspace.read(".aiter/memory/tasks.md")
    for words in (("--maintain", "--no-exec"), ("--maintain",), ("archive",), ("prune",)):
        held = workspace(*words, now=later)
        assert held.code == 4, words
        assert "--force" in held.out, words
        assert workspace(*words, "--dry-run", now=later).code == 0
    assert workspace.read(".aiter/memory/tasks.md") == before
    told = "maintenance writes nothing"
    assert told in workspace("status", now=later).out
    clock = workspace.json("status", now=later)["clock"]
    assert clock["latest"].startswith("2099-01-01")
    seen = workspace.at_terminal("--pane", "brief", now=later, keys="q", after="NEXT MAINTENANCE").out
    assert "clock behind" in seen
    forced = workspace("--maintain", "--no-exec", "--force", now=later)
    assert forced.code == 0
    assert b"Old work" not in workspace.read(".aiter/memory/tasks.md")
    assert workspace("--maintain", "--no-exec", now="2026-04-03T09:00:00Z").code == 0
    assert told not in workspace("status", now=later).out
    assert workspace.json("status", now=later)["clock"] is None
