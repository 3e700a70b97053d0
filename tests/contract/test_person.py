"""What belongs to the person: a client's mark makes its agent an agent, and decisions need a person at a terminal."""

from __future__ import annotations

import json

import pytest

from tests.contract.place import Place

MARKS = (
    ("CLAUDECODE", "1", "claude-code"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "1", "codex"),
    ("CODEX_THREAD_ID", "t-1", "codex"),
    ("GEMINI_CLI", "1", "gemini"),
    ("OPENCODE", "1", "opencode"),
    ("CURSOR_AGENT", "1", "cursor"),
    ("CURSOR_TRACE_ID", "7f", "cursor"),
    ("AI_AGENT", "Some Tool@2.1", "some-tool"),
    ("AGENT", "goose", "goose"),
)
CLAUDE = {"CLAUDECODE": "1"}


@pytest.fixture
def asked(workspace: Place) -> Place:
    """Return a workspace in which a person wrote something and an agent's delete of it waits."""
    assert workspace("knowledge", "add", "Deploys are on Tuesdays").code == 0
    assert workspace("knowledge", "remove", "Deploys", actor="agent:x").code == 3
    return workspace


def waiting(place: Place) -> list[str]:
    """Return the ids of the proposals that wait."""
    return [one["id"] for one in place.json("review", "list")["proposals"]]


@pytest.mark.parametrize(("variable", "value", "client"), MARKS, ids=[name for name, _, _ in MARKS])
def test_a_clients_mark_names_the_agent(workspace: Place, variable: str, value: str, client: str) -> None:
    """Without a name the actor is the client's agent: adds are made, deletes of a person's entry wait."""
    assert workspace("knowledge", "add", "Deploys are on Tuesdays").code == 0
    marked = {variable: value}
    assert workspace("tasks", "add", "Rotate the keys", environ=marked).code == 0
    assert workspace.json("changes", "list")["changes"][0]["actor"] == f"agent:{client}"
    for named in ("", "cli", "human", "maintain", "nightly"):
        answer = workspace("knowledge", "remove", "Deploys", environ=marked, actor=named)
        assert (answer.code, answer.error) == (3, "review.waiting"), named
    assert b"Tuesdays" in workspace.read(".aiter/memory/knowledge.md")
    (proposal,) = workspace.json("review", "list")["proposals"]
    assert proposal["actor"] == f"agent:{client}"
    assert workspace("tasks", "add", "Mine", environ=marked, actor="agent:own").code == 0
    assert workspace.json("changes", "list")["changes"][0]["actor"] == "agent:own"


def test_a_mark_that_is_off_and_a_word_of_a_common_variable_name_nobody(workspace: Place) -> None:
    """`CLAUDECODE=0` and `AGENT=1` are no agent."""
    assert workspace("tasks", "add", "Mine", environ={"CLAUDECODE": "0", "AGENT": "1"}).code == 0
    assert workspace.json("changes", "list")["changes"][0]["actor"] == "cli"


DECISIONS = (
    ("review", "accept", "{id}"),
    ("review", "reject", "{id}"),
    ("review", "edit", "{id}", "--text", "- Deploys are on Mondays"),
    ("review", "policy", "agent:*", "*", "apply"),
    ("review", "policy", "agent:*", "*", "--unset"),
    ("trust", "approve", "--workspace"),
    ("trust", "deny", "abcdef0123"),
    ("trust", "revoke", "--workspace"),
    ("prompt", "--mute", "tasks#abcdef0"),
    ("fleet", "approve", "1"),
)


@pytest.mark.thorough(one_of=2)
@pytest.mark.parametrize("words", DECISIONS, ids=" ".join)
def test_a_decision_needs_a_person_at_a_terminal(asked: Place, words: tuple[str, ...]) -> None:
    """Neither a pipe nor an agent decides, at a terminal or not, whatever it calls itself; nothing changes."""
    (proposal,) = waiting(asked)
    given = [word.format(id=proposal) for word in words]
    before = asked.read(".aiter/memory/knowledge.md")
    piped = asked(*given)
    assert (piped.code, piped.error) == (3, f"{words[0]}.terminal")
    for named in ("", "cli", "human", "maintain", "agent:x"):
        assert "person" in asked(*given, environ=CLAUDE, actor=named).error, named
    seen = asked.at_terminal("--actor", "cli", *given, environ=CLAUDE)
    assert seen.code != 0
    assert "belongs to the person" in seen.out
    assert waiting(asked) == [proposal]
    assert asked.read(".aiter/memory/knowledge.md") == before
    assert asked.json("review", "policy")["rules"] == []


@pytest.mark.thorough(one_of=5)
@pytest.mark.parametrize("named", ["cli", "human", "outside", "maintain", "nightly"])
def test_no_other_name_hides_the_agent_of_the_variable(asked: Place, named: str) -> None:
    """Where MEMDECK_ACTOR names an agent, as `connect` sets it, `--actor` cannot make a person or a script of it."""
    shell = {"MEMDECK_ACTOR": "agent:opencode"}
    before = asked.read(".aiter/memory/knowledge.md")
    answer = asked("knowledge", "remove", "Deploys", actor=named, environ=shell)
    assert (answer.code, answer.error) == (3, "review.waiting")
    assert asked.read(".aiter/memory/knowledge.md") == before
    seen = asked.at_terminal("--actor", named, "review", "policy", "agent:*", "*", "apply", environ=shell)
    assert "belongs to the person" in seen.out
    assert asked.json("review", "policy")["rules"] == []


def test_a_person_at_a_terminal_decides(asked: Place) -> None:
    """The same words are done for a person, also in the terminal of an editor that marks all of its terminals."""
    (proposal,) = waiting(asked)
    edited = asked.at_terminal("review", "edit", proposal, "--text", "- Deploys are on Mondays")
    assert "not about the text of one entry" in edited.out or edited.code == 0, edited
    assert asked.at_terminal("review", "policy", "agent:y", "remove", "deny").code == 0
    assert asked.at_terminal("review", "accept", proposal, environ={"CURSOR_TRACE_ID": "7f"}).code == 0
    assert waiting(asked) == []
    assert b"Tuesdays" not in asked.read(".aiter/memory/knowledge.md")
    assert asked("knowledge", "list", actor="agent:y").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("connect", "claude-code"),
        ("disconnect", "claude-code"),
        ("state", "add", "--type", "claude-local", "--path", "."),
        ("monitors", "mute"),
    ],
    ids=" ".join,
)
def test_what_a_persons_script_may_do_no_agent_does(workspace: Place, words: tuple[str, ...]) -> None:
    """These need no terminal, but an agent is refused, whatever it calls itself."""
    for named in ("", "cli", "agent:x"):
        answer = workspace(*words, environ=CLAUDE, actor=named)
        assert (answer.code, answer.error) == (1, f"{words[0]}.person_only"), named
    assert workspace(*words).error != f"{words[0]}.person_only"


def test_an_agent_takes_back_only_its_own(workspace: Place) -> None:
    """`undo` in a client's shell leaves the person's newest change, also with a person's name."""
    assert workspace("tasks", "add", "By the person").code == 0
    for named in ("", "cli", "human"):
        assert workspace("undo", environ=CLAUDE, actor=named).code != 0
    assert b"By the person" in workspace.read(".aiter/memory/tasks.md")


def test_the_application_belongs_to_the_person(workspace: Place) -> None:
    """An agent that drives a terminal does not open it, by none of its spellings."""
    for words in ((), (".",), ("--pane", "tasks")):
        seen = workspace.at_terminal(*words, now=None, environ=CLAUDE)
        assert (seen.code, "app.person_only" in seen.out) == (1, True), seen


def test_http_has_no_verb_of_a_person(asked: Place) -> None:
    """Each decision is refused over HTTP with `api.person`, and none is offered."""
    with asked.api() as api:
        for words in DECISIONS:
            if words[0] in ("prompt", "fleet"):
                continue
            status, found = api.ask("POST", f"/api/v1/{words[0]}/{words[1]}", {})
            assert (status, found["error"]["code"]) == (403, "api.person"), words
        offered = json.dumps(api.ask("GET", "/api/openapi.json")[1])
        assert "/api/v1/review/accept" not in offered
        status, found = api.ask("GET", "/api/v1/prompt", {"mute": "tasks#abcdef0"})
        assert (status, found["error"]["code"]) == (400, "api.argument")
