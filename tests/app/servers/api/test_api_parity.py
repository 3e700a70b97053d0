"""The same call gets the same answer from the command line, the port, the socket, and as a tool."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from app.cli.verbs import _OWN
from app.servers.api.routes import method_of, operations, path_of, routes
from app.servers.mcp.curated_tools import PROPOSE
from memory.curated.operations.registry import OPERATIONS
from memory.operations import Operation
from tests.app.servers.mcp.serving import Server
from tests.app.servers.mcp.serving import serving as mcp_serving
from tests.commands import memdeck
from tests.desks import make_workspace, open_desk, with_state

from .serving import NOW, Api, environment, serving

Json = dict[str, Any]
ACTOR = "agent:tester"
TABLE = {one.does: one for one in operations()}
VERBS: tuple[tuple[str, Json], ...] = (
    ("tasks list", {"section": "all"}),
    ("tasks list", {"tag": ["ops", "release"], "priority": "HIGH"}),
    ("tasks list", {"due": "nonsense day"}),
    ("tasks show", {"ref": "Deploy"}),
    ("tasks show", {"ref": "nothing like it"}),
    ("tasks add", {"title": "-w new", "priority": "LOW", "due": "2024-02-01 10:00", "tag": ["a", "b"], "notes": "=x"}),
    ("tasks add", {"title": "Bad", "priority": "NOPE"}),
    ("tasks add", {}),
    ("tasks edit", {"ref": "-w new", "set": ["assigned=ada"], "unset": ["notes"]}),
    ("tasks start", {"ref": "-w new"}),
    ("tasks progress", {"ref": "-w new", "percent": 40, "note": "half"}),
    ("tasks progress", {"ref": "-w new", "percent": 400}),
    ("tasks done", {"ref": "-w new", "outcome": "Ünïcode ✓"}),
    ("tasks reopen", {"ref": "-w new"}),
    ("tasks remove", {"ref": "-w new"}),
    ("undo", {}),
    ("redo", {}),
    ("journal list", {}),
    ("journal add", {"title": "Deploy", "line": ["one", "- two"], "at": "10:00"}),
    ("journal show", {"ref": "Standup"}),
    ("journal edit", {"ref": "Standup", "line": ["new line"]}),
    ("journal remove", {"ref": "Standup"}),
    ("knowledge list", {"match": "ci"}),
    ("knowledge add", {"text": "Redis is slow", "decision": True, "reason": "seen"}),
    ("knowledge edit", {"ref": "CI takes", "text": "CI takes 9 minutes"}),
    ("knowledge remove", {"ref": "Redis is slow"}),
    ("contacts list", {}),
    ("contacts add", {"kind": "people", "name": "Bob", "set": ["role=Dev"]}),
    ("contacts edit", {"ref": "Alice", "set": ["role=CTO"]}),
    ("contacts remove", {"ref": "Bob"}),
    ("orchestration add", {"title": "Move to Redis", "set": ["status=planning"], "text": "Prose."}),
    ("orchestration edit", {"ref": "Move to Redis", "set": ["status=running"]}),
    ("orchestration edit", {"ref": "Move to Redis", "set": ["status=running"], "text": "### Both"}),
    ("orchestration edit", {"ref": "Move to Redis", "task": "T1", "set": ["title=Add a client", "phase=1"]}),
    ("orchestration start", {"ref": "Move to Redis"}),
    ("orchestration start", {"ref": "Move to Redis", "task": "T9"}),
    ("orchestration advance", {"ref": "Move to Redis"}),
    ("orchestration show", {"ref": "Move to Redis"}),
    ("orchestration done", {"ref": "Move to Redis", "task": "T1"}),
    ("orchestration done", {"ref": "Move to Redis"}),
    ("orchestration remove", {"ref": "Move to Redis", "task": "T9"}),
    ("orchestration remove", {"ref": "Move to Redis"}),
    ("orchestration list", {}),
    ("monitors list", {}),
    ("monitors export", {}),
    ("monitors add", {"name": "Web", "type": "http", "url": "http://127.0.0.1:1/", "interval": "*/5 * * * *"}),
    ("monitors edit", {"ref": "Web", "set": ["interval=*/9 * * * *"]}),
    ("monitors remove", {"ref": "Web"}),
    ("config list", {}),
    ("config get", {"key": "timezone"}),
    ("config set", {"key": "maxJournalEntries", "value": "400"}),
    ("config unset", {"key": "maxJournalEntries"}),
    ("facts store", {"text": "User likes tea", "tag": ["taste"], "scope": "user"}),
    ("facts search", {"query": "tea"}),
    ("facts list", {}),
    ("facts inject", {"message": "tea or coffee?", "explain": True}),
    ("facts check", {}),
    ("facts delete", {"fact_id": "m-1"}),
    ("typed status", {}),
    ("typed failures", {}),
    ("typed fail", {"agent": "shop", "status": "timeout", "task": "Migrate", "tokens": 5}),
    ("typed merge", {"path": "memory/procedural/lessons.md", "text": "## More\n\nTest first.\n"}),
    ("typed lock", {"path": "memory/procedural/lessons.md"}),
    ("typed unlock", {"path": "memory/procedural/lessons.md"}),
    ("typed expire", {"path": "memory/procedural/lessons.md", "max_age": "30d"}),
    ("typed promote", {"source": "memory/procedural/lessons.md", "target": "memory/core/"}),
    ("typed demote", {"source": "memory/core/lessons.md", "target": "memory/procedural/"}),
    ("typed prune", {"dry_run": True}),
    ("clients list", {"match": "style"}),
    ("clients folders", {}),
    ("clients loads", {}),
    ("clients show", {"ref": "Style"}),
    ("clients add", {"client": "claude-code", "title": "x"}),
    ("clients edit", {"ref": "nothing like it", "text": "x"}),
    ("clients remove", {"ref": "nothing like it"}),
    ("clients restore", {"list": True}),
    ("export", {"from": "facts"}),
    ("state status", {}),
    ("state show", {"section": "current-focus"}),
    ("state export", {}),
    ("state diff", {"before": "0000", "after": "latest"}),
    ("state query", {"question": ["what", "next?"]}),
    ("state config", {"key": "nope"}),
    ("state edit", {"section": "next-steps", "json": "[]"}),
    ("state edit", {"section": "next-steps", "json": "{"}),
    ("state recall", {}),
    ("state sync", {"all": True}),
    ("state update", {}),
    ("state validate", {}),
    ("state validate", {"run": True, "yes": True}),
    ("state prune", {"dry_run": True}),
    ("state init", {}),
    ("status", {}),
    ("search", {"query": ["deploy"], "limit": 3}),
    ("prompt", {"message": "deploy"}),
    ("trust list", {}),
    ("review list", {}),
    ("review show", {"proposal_id": "00000"}),
    ("check", {}),
    ("supersede", {"ref": "nothing like it"}),
    ("relink", {}),
    ("doctor", {}),
    ("archive", {"dry_run": True}),
    ("prune", {"dry_run": True}),
    ("archive", {}),
    ("restore", {"ref": "Long gone"}),
    ("changes list", {"limit": 5}),
    ("changes show", {"change_id": "00000"}),
    ("changes revert", {"change_id": "00000"}),
)
LEFT_OUT = {"extractor feed", "session append"}
"""What takes the words of a session, whose events have ids and times of their own."""
READ_FROM_STDIN = {"state edit": "json"}
"""Arguments that name a file or stdin at a prompt, and are the text itself for programs."""
MACHINE = {"doctor", "state update", "state init", "trust list"}
"""What tells of the process itself, or of a repository's files: here only the kind of answer is compared."""
OF_THE_CALLER = (["typed", "lock"], ["typed", "unlock"])
"""What is held for the process that called: always called by one."""
CURATED: tuple[tuple[str, Json], ...] = (
    ("health", {}),
    ("write", {"type": "user", "name": "Coffee", "content": "Ada likes oat milk in coffee", "scope": "global"}),
    ("write", {"type": "user", "name": "Coffee", "content": "Ada likes oat milk in coffee", "scope": "global"}),
    (
        "write",
        {"type": "project", "name": "Deploy window", "content": "We deploy on Tuesdays", "dry_run": True},
    ),
    ("write", {"type": "project", "name": "Deploy window", "content": "We deploy on Tuesdays"}),
    ("write", {"type": "project", "name": "Key", "content": "the api key is sk-abcdefgh12345678"}),
    ("write", {"type": "nonsense", "name": "x", "content": "y"}),
    ("write", {"type": "user", "content": "y"}),
    ("list", {}),
    ("list", {"type": "user", "include_shadowed": True}),
    ("list", {"scope": "moon"}),
    ("show", {"filename": "user_coffee"}),
    ("show", {"filename": "nothing"}),
    ("edit", {"filename": "user_coffee", "content": "Ada likes soy milk in coffee"}),
    ("search", {"query_text": "when do we deploy?", "top_k": 3, "session_id": "s1", "turn_seq": 1}),
    ("search", {"query_text": "when do we deploy?", "top_k": 0}),
    ("note", {"content": "ask Bob about the port", "tags": ["a"]}),
    ("promote", {"filename": "project_deploy-window", "from": "workspace", "to": "global"}),
    ("decisions list", {"op": "reject"}),
    ("decisions show", {"id": "dec_nothing"}),
    ("decisions revert", {"id": "dec_nothing"}),
    ("recall trace", {"session_id": "s1", "turn_seq": 1}),
    ("recall trace", {"session_id": "s1", "turn_seq": 9}),
    ("recall block", {"query_text": "when do we deploy the shop?", "session_id": "s2", "turn_seq": 2}),
    ("snapshot", {"session_id": "s1"}),
    ("reload", {}),
    ("reindex", {}),
    ("reset", {"confirm": True}),
    ("reset", {"dry_run": True}),
    ("scope-show", {}),
    ("history", {"limit": 3}),
    ("config", {"key": "recall.weights"}),
    ("dream status", {}),
    ("dream list", {}),
    ("dream trigger", {"dry_run": True}),
    ("dream show", {"run_id": "nothing"}),
    ("dream retry", {"run_id": "nothing"}),
    ("extractor status", {}),
    ("extractor list-pending", {}),
    ("extractor replay", {"failure_id": "nothing"}),
    ("extractor drain", {}),
    ("session replay", {"session_id": "nothing"}),
    ("session ledger", {"session_id": "nothing"}),
    ("session end", {"session_id": "nothing"}),
    ("session prune", {"older_than_hours": 1, "dry_run": True}),
    ("session repair", {"dry_run": True}),
    ("daily ls", {}),
    ("provider list", {}),
    ("provider show", {"name": "local"}),
    ("provider show", {"name": "nothing"}),
    ("provider select", {"name": "nothing"}),
    ("provider enable", {"name": "nothing"}),
    ("provider disable", {"name": "nothing"}),
    ("delete", {"filename": "user_coffee"}),
    ("delete", {"filename": "nothing"}),
)


def _command(root: Path, words: list[str], text: str = "") -> Any:
    """Return what the command line answers, with a text on stdin."""
    done = memdeck(
        words,
        cwd=root,
        environ=environment(root) | {"MEMDECK_ACTOR": ACTOR},
        given=text.encode(),
        child=words[:2] in OF_THE_CALLER,
        clock=NOW,
    )
    assert b"Traceback" not in done.stderr
    return _read(done.stdout)


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode()


def _words(operation: Operation, values: Json) -> list[str]:
    """Return the words that a person would type: options first, then what stands in a place."""
    options: list[str] = []
    places: list[str] = []
    for one in operation.sent:
        value = values.get(one.sent_as)
        for word in value if isinstance(value, list) else [] if value is None else [value]:
            if not one.words:
                places.append(str(word))
            else:
                options.append(one.words[-1] if word is True else f"{one.words[-1]}={word}")
    return [*operation.does.split(), *options, "-o", "json", "--", *places]


def _same(answer: Any, root: Path) -> Any:
    """Return an answer without what differs from run to run: paths, random ids, hashes over them, and spans; and
    without hints, which name the way of the caller.
    """
    if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
        answer["error"].get("details", {}).pop("hint", None)
    text = json.dumps(answer, sort_keys=True, ensure_ascii=False)
    text = text.replace(str(root.parent), "TOP")
    text = re.sub(r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "ULID", text)
    text = re.sub(r"\b[0-9a-f]{32,64}\b", "HASH", text)
    text = re.sub(r"\bdec_[0-9a-f]+", "dec", text)
    text = re.sub(r'"(duration_ms|durationMs|ms|mod_time|oldest_seconds)": [^,}\]]+', r'"\1": 0', text)
    text = re.sub(r'"(origin|source_actor|actor)": "(cli|http|uds|tool)"', r'"\1": "face"', text)
    text = re.sub(r'"pid": \d+', '"pid": 0', text)
    return json.loads(text)


@pytest.mark.parametrize("name", sorted(name for name, one in TABLE.items() if one.offered))
def test_every_served_verb_is_compared(name: str) -> None:
    """No verb is left out of the comparison; those on curated memory are in the other one."""
    if name.split()[0] in _OWN and name.split()[0] != "curated":
        assert name in {words for words, _ in VERBS}


class Places(NamedTuple):
    """Copies of one workspace, each with its way in."""

    typed: Path
    port: Api
    socket: Api
    tool: Server
    admin: Server
    tool_root: Path


@pytest.fixture(name="places", scope="module")
def _places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    def copy(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        root = make_workspace(folder)
        desk = open_desk(root, folder / "records")
        with_state(desk)
        desk.close()
        (root / ".agh").mkdir()
        (folder / "home").mkdir()
        (folder / "home" / ".aide").mkdir()
        return root

    with ExitStack() as stack:
        tools = copy("tools")
        yield Places(
            copy("typed"),
            stack.enter_context(serving(copy("port"), "--actor", ACTOR)),
            stack.enter_context(
                serving(copy("socket"), "--actor", ACTOR, "--socket", str(tmp_path_factory.mktemp("s") / "s"))
            ),
            stack.enter_context(mcp_serving(tools, "--toolset", "curated", "--now", NOW, "--actor", ACTOR)),
            stack.enter_context(mcp_serving(tools, "--toolset", "curated-admin", "--now", NOW, "--actor", ACTOR)),
            tools,
        )


def test_verbs_answer_alike(places: Places) -> None:
    """Each verb, in one long session on copies of a workspace, answers as the command line does, errors included, and
    the change log names the caller of each request, as it names who typed.
    """
    for name, values in VERBS:
        made = TABLE[name]
        ask: Callable[[Api], Any] = lambda api, made=made, values=values: _read(  # noqa: E731
            api.ask(method_of(made), path_of(made), values).body
        )
        text = READ_FROM_STDIN.get(name, "")
        typed = {**values, text: "-"} if text else values
        expected = _same(_command(places.typed, _words(made, typed), str(values.get(text, ""))), places.typed)
        for api in (places.port, places.socket):
            found = _same(ask(api), api.root)
            if name in MACHINE:
                assert isinstance(found, dict), name
                assert found.keys() == expected.keys(), name
            else:
                assert found == expected, (name, values)
    actors = {row["actor"] for row in places.port.look("changes/list", limit=0).data["changes"]}
    assert {ACTOR} <= actors <= {ACTOR, "human", "outside"}


def test_operations_on_curated_memory_answer_alike(places: Places) -> None:
    """Each operation of the registry has one answer at the prompt, the port, the socket and as a tool."""
    known = {one.words: one for one in OPERATIONS}
    own = [one for one in routes() if one.path.startswith(("/api/memory", "/api/workspaces"))]
    paths = {one.operation.does.removeprefix("curated "): one for one in own}
    places.tool.hello()
    places.admin.hello()
    for name, values in CURATED:
        operation = known[name]
        words = _words(TABLE[f"curated {name}"], _options(operation, values))
        expected = _same(_command(places.typed, words), places.typed)
        if "error" in expected and expected["error"]["code"].startswith("usage."):
            # The command line's own library said it first, in its words.
            expected = {"error": {"code": "memory.validation"}}
        for api in (places.port, places.socket):
            route = paths[name]
            path = route.path
            rest = dict(values)
            for key, given in route.keys.items():
                value = rest.pop(given) if given in rest else api.look("curated/health").data["workspace_id"]
                path = path.replace(f"{{{key}}}", quote(str(value), safe=""))
            _alike(api.ask(route.method, path, rest).data, expected, api.root, (name, values))
        if not operation.tool:
            continue
        if operation.tool == PROPOSE:
            kind = {"write": "add", "edit": "update", "delete": "delete"}[name]
            found = places.tool.call(PROPOSE, operation=kind, **values)
        else:
            server = places.tool if name in ("list", "show", "search", "note") else places.admin
            found = server.call(operation.tool, **values)
        _alike(found, expected, places.tool_root, (name, values, "tool"))


def _alike(found: Any, expected: Any, root: Path, what: object) -> None:
    same = _same(found, root)
    if expected.get("error", {}).keys() == {"code"}:
        assert same["error"]["code"] == expected["error"]["code"], what
    else:
        assert same == expected, what


def _options(operation: Operation, values: Json) -> Json:
    """Return the inputs under the names that the command line has for them."""
    names = {one.name: one.sent_as for one in operation.parameters}
    return {names.get(key, key): value for key, value in values.items()}


def test_every_operation_is_compared() -> None:
    """No operation of the registry is left out of the comparison, but those that take what another one made."""
    assert {one.words for one in OPERATIONS} - {name for name, _ in CURATED} == LEFT_OUT
