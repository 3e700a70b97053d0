"""Connecting clients of agents: their files as people have them, before and after, byte for byte."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.connect.clients import CLIENTS, ConnectionTarget, gains
from app.connect.connect import ConnectionState, carry_out, plan_connect, plan_disconnect, states
from app.connect.jsonc import JsonFile
from app.connect.parts import InstructionBlock, JsonHook, OwnFile
from memory.errors import MemdeckError
from tests.growth import assert_in_proportion

PLAIN = [
    "",
    "{}",
    "{}\n",
    "{\n}\n",
    '{"a": 1}',
    '{ "a": 1, "b": [1, 2] }\n',
    '{\n  "a": 1\n}\n',
    '{\n    "a": 1,\n    "b": {"c": []}\n}',
    '{\n\t"a": "tab",\n\t"x": {\n\t\t"y": null\n\t}\n}\n',
    '{\r\n  "a": "crlf",\r\n  "b": true\r\n}\r\n',
    '\ufeff{\n  "a": "mark"\n}\n',
    '{\n  "KEY": {"other": {"command": "npx", "args": ["-y", "x"]}}\n}\n',
    '{\n  "KEY": {\n    "one": {"command": "a"},\n    "two": {\n      "command": "b"\n    }\n  },\n  "rest": "…"\n}\n',
    '{\n  "KEY": {},\n  "unknown": {"deep": {"deeper": [[], {}]}}\n}\n',
    '{"KEY":{"one":{"command":"a"}},"hooks":{}}',
    '{\n  "hooks": {\n    "SessionStart": [\n      {"hooks": [{"type": "command", "command": "a"}]}\n    ]\n  }\n}\n',
    '{\n  "hooks": {"SessionStart": [], "Stop": [{"hooks": []}], "sessionStart": [{"command": "date"}]}\n}\n',
    '{\n  "a": "quote \\" and brace }",\n  "b": "// no comment", "c": "\\u00e9 结账 📸"\n}\n',
    '{\n  "numbers": [1, -2.5e10, 0],\n\n\n  "gap": true\n}\n\n\n',
]
COMMENTS = [
    '// first\n{\n  // inside\n  "a": 1 // behind\n}\n// last\n',
    '{\n  "a": 1, /* one\n  and two */ "b": 2\n  // end\n}\n',
    '{\n  "KEY": {\n    // "off": {"command": "x"}\n  }\n}\n',
    '{\n  "KEY": {\n    "one": {"command": "a"} // the first\n    // no more\n  }\n}\n',
    "{\n  /* nothing */\n}\n",
]
COMMAS = [
    '{\n  "a": 1,\n}\n',
    '{\n  "KEY": {\n    "one": {"command": "a"},\n  },\n}\n',
    '{\r\n  "KEY": {"one": {"command": "a",},}, // all of it\r\n}\r\n',
    '{\n  "hooks": {"SessionStart": [{"hooks": [],},],},\n}\n',
]
TOML = [
    "",
    "\n",
    'model = "x"\n',
    'model = "x"',
    '# only a comment\n\n[projects."/home/a"]\ntrust_level = "trusted"\n',
    'model = "x"\r\n[mcp_servers.other]\r\ncommand = "npx"\r\n',
    '[mcp_servers.other]\ncommand = "npx"\n# a comment of the next\n[profiles.x]\nmodel = "y"\n\n\n',
    '[[list]]\na = 1\n[[list]]\na = """\nlong [x]\n"""\n',
]
MARKDOWN = ["", "# Rules\n", "# Rules\n\nno end", "# Rules\r\n\r\ncrlf\r\n"]
OWN_KEYS = ("memdeck", "version", "MEMDECK_ACTOR")
"""The keys of memdeck's entries, and the version of hooks."""
KEYS = {"opencode": "mcp", "vscode": "servers", "zed": "context_servers"}
LENIENT = {"gemini": COMMENTS, "opencode": [*COMMENTS, *COMMAS], "vscode": COMMENTS, "zed": [*COMMENTS, *COMMAS]}


def setting_of(top: Path, client: str, scope: str = "project") -> ConnectionTarget:
    """Return a setting in a project and a home of the test."""
    for name in ("project", "home", "state"):
        (top / name).mkdir(exist_ok=True)
    chosen = scope if scope in CLIENTS[client].scopes else CLIENTS[client].scopes[0]
    return ConnectionTarget(client, chosen, top / "project", top / "home", {}, ("/bin/true",))  # type: ignore[arg-type]


def state_of(setting: ConnectionTarget) -> ConnectionState:
    """Return how the client of a setting is connected, with a server that works."""
    found = states(setting, setting, lambda _: ("working", ""))
    return next(one for one in found if (one.client, one.scope) == (setting.client, setting.scope))


def tree(top: Path) -> dict[str, bytes | None]:
    """Return all files, and folders as None, but for memdeck's own."""
    return {
        str(path.relative_to(top)): path.read_bytes() if path.is_file() else None
        for path in sorted(top.rglob("*"))
        if not path.is_relative_to(top / "state")
    }


def there_and_back(setting: ConnectionTarget, top: Path) -> None:
    """Connect twice, look at what stands there, and disconnect: every byte is as it was."""
    state = top / "state"
    before = tree(top)
    first = carry_out(plan_connect(setting, state), state)
    assert first.changes
    after = tree(top)
    assert not plan_connect(setting, state).changes
    found = state_of(setting)
    assert (found.state, found.problems) == ("working", ())
    for name, data in before.items():
        if data is not None and name.endswith((".json", ".jsonc")):
            old, new = [JsonFile(name, one.decode()) for one in (data, after[name] or b"")]
            assert _without_ours(new.value) == _without_ours(old.value or {})
    carry_out(plan_disconnect(setting, state), state, undo=True)
    assert tree(top) == before
    # Without the record the file still means what it meant.
    carry_out(plan_connect(setting, state), state)
    for record in (state / "memdeck/connections").iterdir():
        record.unlink()
    carry_out(plan_disconnect(setting, state), state, undo=True)
    for name, data in tree(top).items():
        if name.endswith(".json") and data is not None:
            file, old = [JsonFile(name, one.decode()) for one in (data, before.get(name) or b"")]
            assert _without_ours(file.value) == _without_ours(old.value or {})


def _without_ours(data: Any) -> Any:
    """Return data without memdeck's entries, and without the lists and objects that are empty then."""
    if isinstance(data, dict):
        found = {key: _without_ours(value) for key, value in data.items() if key not in OWN_KEYS}
        return {key: value for key, value in found.items() if value not in ({}, [])}
    if isinstance(data, list):
        return [
            found for one in data if "--client" not in json.dumps(one) and (found := _without_ours(one)) not in ({}, [])
        ]
    return data


JSON_CASES = [
    (client, number, text)
    for client in CLIENTS
    if client != "codex"
    for number, text in enumerate([*PLAIN, *LENIENT.get(client, [])])
]


@pytest.mark.parametrize(
    ("client", "number", "text"), JSON_CASES, ids=[f"{one}-{place}" for one, place, _ in JSON_CASES]
)
@pytest.mark.thorough(but=tuple(f"{one}-{place}" for one, place, _ in JSON_CASES[::3]))
def test_json_files_come_back(client: str, number: int, text: str, tmp_path: Path) -> None:
    """Whatever a client's JSON files look like, connecting keeps their sense and disconnecting every byte."""
    setting = setting_of(tmp_path, client)
    paths = {part.path for part in CLIENTS[client].parts(setting) if part.path.suffix in (".json", ".jsonc")}
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.replace("KEY", KEYS.get(client, "mcpServers")).encode())
    there_and_back(setting, tmp_path)


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("client", list(CLIENTS))
def test_files_that_are_not_there_are_gone_again(client: str, scope: str, tmp_path: Path) -> None:
    """Files and folders that were made for the connection go with it."""
    there_and_back(setting_of(tmp_path, client, scope), tmp_path)


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("text", TOML)
def test_toml_files_come_back(text: str, scope: str, tmp_path: Path) -> None:
    """The table is appended; the rest of the file means what it meant."""
    setting = setting_of(tmp_path, "codex", scope)
    path = CLIENTS["codex"].parts(setting)[0].path
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())
    there_and_back(setting, tmp_path)
    carry_out(plan_connect(setting, tmp_path / "state"), tmp_path / "state")
    found = tomllib.loads(path.read_text())
    assert found["mcp_servers"].pop("memdeck")["args"] == ["mcp", "--actor", "agent:codex"]
    assert found.pop("shell_environment_policy") == {"set": {"MEMDECK_ACTOR": "agent:codex"}}
    assert {key: value for key, value in found.items() if value} == tomllib.loads(text)


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("text", MARKDOWN)
@pytest.mark.parametrize("client", [name for name in CLIENTS if name != "windsurf"])
def test_words_for_the_agent_come_and_go(client: str, text: str, tmp_path: Path) -> None:
    """They stand at the end of the file that the client reads."""
    setting = setting_of(tmp_path, client)
    path = CLIENTS[client].parts(setting)[-1].path
    path.write_bytes(text.encode())
    there_and_back(setting, tmp_path)


@pytest.mark.parametrize(
    ("client", "name", "data", "code", "line"),
    [
        ("claude-code", ".mcp.json", b'{\n  // x\n  "a": 1\n}\n', "connect.json", 2),
        ("claude-code", ".mcp.json", b'{\n  "a": 1,\n}\n', "connect.json", 2),
        ("claude-code", ".claude/settings.json", b'{\n  "a": 1\n  "b": 2\n}\n', "connect.json", 3),
        ("gemini", ".gemini/settings.json", b'{\n  "a": [1, 2\n}\n', "connect.json", 3),
        ("gemini", ".gemini/settings.json", b'{"a": 1, "a": 2}', "connect.json", 1),
        ("gemini", ".gemini/settings.json", b'{"mcpServers": [1]}', "connect.json", 1),
        ("gemini", ".gemini/settings.json", b'{"hooks": {"SessionStart": 5}}', "connect.json", 1),
        ("zed", ".zed/settings.json", b"{\n" + b"[" * 300, "connect.json", 2),
        ("zed", ".zed/settings.json", b'{"a": 1} x', "connect.json", 1),
        ("zed", ".zed/settings.json", b'{"a": 1} {}', "connect.json", 1),
        ("vscode", ".vscode/mcp.json", b"[1]", "connect.json", 1),
        ("cursor", ".cursor/mcp.json", b'{\n"a": "\xff"}', "connect.not_text", None),
        ("codex", ".codex/config.toml", b"a = 1\nb = = 2\n", "connect.toml", 2),
        ("codex", ".codex/config.toml", b'[mcp_servers.memdeck]\ncommand = "x"\n', "connect.taken", None),
        ("codex", ".codex/config.toml", b"# memdeck begin\n", "connect.block", None),
        ("opencode", ".opencode/plugin/memdeck.js", b"export const x = 1 // memdeck\n", "connect.taken", None),
    ],
)
def test_files_that_are_broken_stay_as_they_are(
    client: str, name: str, data: bytes, code: str, line: int | None, tmp_path: Path
) -> None:
    """They are refused with a code and the line, and no other file of the client is written either."""
    setting = setting_of(tmp_path, client)
    path = tmp_path / "project" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    before = tree(tmp_path)
    with pytest.raises(MemdeckError) as error:
        carry_out(plan_connect(setting, tmp_path / "state"), tmp_path / "state")
    assert (error.value.code, error.value.details.get("line")) == (code, line)
    assert tree(tmp_path) == before


def test_a_file_that_is_read_only_is_refused(tmp_path: Path) -> None:
    """It could be replaced, but its owner closed it."""
    setting = setting_of(tmp_path, "claude-code")
    path = tmp_path / "project/.mcp.json"
    path.write_text("{}\n")
    path.chmod(0o444)
    with pytest.raises(MemdeckError) as error:
        plan_connect(setting, tmp_path / "state")
    assert error.value.code == "file.read_only"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """People keep such files elsewhere and link to them: the file behind is changed, with its mode."""
    setting = setting_of(tmp_path, "claude-code", "user")
    real = tmp_path / "dotfiles.json"
    real.write_text('{\n  "theme": "dark"\n}\n')
    real.chmod(0o600)
    link = tmp_path / "home/.claude.json"
    link.symlink_to(real)
    there_and_back(setting, tmp_path)
    carry_out(plan_connect(setting, tmp_path / "state"), tmp_path / "state")
    assert link.is_symlink()
    assert "memdeck" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o600


def test_what_others_wrote_since_stays(tmp_path: Path) -> None:
    """The client adds a key and the person another server: only memdeck's lines go."""
    state = tmp_path / "state"
    setting = setting_of(tmp_path, "claude-code")
    path = tmp_path / "project/.mcp.json"
    path.write_text('{\n  "mcpServers": {\n    "one": {\n      "command": "a"\n    }\n  }\n}\n')
    carry_out(plan_connect(setting, state), state)
    text = path.read_text()
    path.write_text(text.replace('"command": "a"', '"command": "b"').replace("{\n", '{\n  "added": true,\n', 1))
    carry_out(plan_disconnect(setting, state), state, undo=True)
    assert path.read_text() == (
        '{\n  "added": true,\n  "mcpServers": {\n    "one": {\n      "command": "b"\n    }\n  }\n}\n'
    )


def test_a_file_that_changes_between_plan_and_write_is_planned_again(tmp_path: Path) -> None:
    """Neither the other program's bytes are lost nor memdeck's."""
    state = tmp_path / "state"
    setting = setting_of(tmp_path, "claude-code")
    path = tmp_path / "project/.mcp.json"
    path.write_text('{"a": 1}\n')
    plan = plan_connect(setting, state)
    path.write_text('{"a": 1, "b": 2}\n')
    done = carry_out(plan, state)
    assert done.changes
    found = json.loads(path.read_text())
    assert (found["b"], "memdeck" in found["mcpServers"]) == (2, True)
    carry_out(plan_disconnect(setting, state), state, undo=True)
    assert path.read_text() == '{"a": 1, "b": 2}\n'


def test_words_that_two_clients_share_stay_for_the_second(tmp_path: Path) -> None:
    """AGENTS.md keeps its block until the last client that reads it is disconnected."""
    state = tmp_path / "state"
    agents = tmp_path / "project/AGENTS.md"
    setting_of(tmp_path, "codex")
    agents.write_text("# Rules\n")
    one, two = setting_of(tmp_path, "codex"), setting_of(tmp_path, "cursor")
    for setting in (one, two):
        carry_out(plan_connect(setting, state), state)
    carry_out(plan_disconnect(one, state), state, undo=True)
    assert "memdeck" in agents.read_text()
    carry_out(plan_disconnect(two, state), state, undo=True)
    assert agents.read_text() == "# Rules\n"


def test_an_older_hook_is_replaced(tmp_path: Path) -> None:
    """After a move of the command there is one hook an event, the new one, and the way back is still whole."""
    state = tmp_path / "state"
    path = tmp_path / "project/.claude/settings.json"
    usual = setting_of(tmp_path, "claude-code")
    command = ("/old place/python3", "-m", "app.main")
    old = ConnectionTarget("claude-code", "project", usual.project, usual.home, {}, command)
    path.parent.mkdir()
    path.write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "date"}]}]}}\n')
    before = tree(tmp_path)
    carry_out(plan_connect(old, state), state)
    new = ConnectionTarget("claude-code", "project", old.project, old.home, {}, ("/opt/memdeck",))
    assert state_of(new).state == "partly"
    carry_out(plan_connect(new, state), state)
    stops = json.loads(path.read_text())["hooks"]["Stop"]
    assert [hook["command"] for stop in stops for hook in stop["hooks"]] == [
        "date",
        "/opt/memdeck hook stop --client claude-code",
    ]
    carry_out(plan_disconnect(new, state), state, undo=True)
    assert tree(tmp_path) == before


def test_a_command_that_is_gone_is_told(tmp_path: Path) -> None:
    """`connect --list` says that what stands in the files cannot be run any more."""
    setting = setting_of(tmp_path, "cursor")
    gone = ConnectionTarget("cursor", "project", setting.project, setting.home, {}, ("/gone/memdeck",))
    carry_out(plan_connect(gone, tmp_path / "state"), tmp_path / "state")
    found = state_of(gone)
    assert (found.state, found.problems) == ("partly", ("/gone/memdeck cannot be run",))


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_is_read_only_is_an_error(tmp_path: Path) -> None:
    """Nothing is half written."""
    setting = setting_of(tmp_path, "zed")
    (tmp_path / "project").chmod(0o555)
    with pytest.raises(MemdeckError):
        carry_out(plan_connect(setting, tmp_path / "state"), tmp_path / "state")
    (tmp_path / "project").chmod(0o755)


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("client", CLIENTS)
def test_what_a_client_gets_is_said(client: str, scope: str, tmp_path: Path) -> None:
    """The sentence names hooks and words where they are written, says where there are none, and the list has it too."""
    setting = setting_of(tmp_path, client, scope)
    parts = CLIENTS[client].parts(setting)
    said = gains(CLIENTS[client], setting)
    runs = any(isinstance(part, (JsonHook, OwnFile)) for part in parts)
    assert runs == bool(CLIENTS[client].events)
    assert runs == ("has no hooks" not in said)
    assert any(isinstance(part, InstructionBlock) for part in parts) == ("words for the agent" in said)
    connection = plan_connect(setting, tmp_path / "state")
    assert said in connection.notes
    carry_out(connection, tmp_path / "state")
    state = state_of(setting)
    assert (state.state, state.gains) == ("working", said)
    for event in CLIENTS[client].events:
        assert any(f"hook {event}" in str(part) or f'"{event}"' in str(part) for part in parts), event


OURS = "/bin/true hook stop --client claude-code"


def test_commands_of_the_person_beside_a_hook_stay(tmp_path: Path) -> None:
    """Put into the item of memdeck's hook, or like it in words, they are still there when memdeck's own are gone."""
    state = tmp_path / "state"
    setting = setting_of(tmp_path, "claude-code")
    path = tmp_path / "project/.claude/settings.json"
    carry_out(plan_connect(setting, state), state)
    hooks = json.loads(path.read_text())
    hooks["hooks"]["Stop"][0]["hooks"][:0] = [{"type": "command", "command": "first"}]
    hooks["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "last"})
    other = {"type": "command", "command": "other hook session-start --client mine"}
    hooks["hooks"]["SessionStart"].append({"matcher": "startup", "hooks": [other]})
    path.write_text(json.dumps(hooks, indent=2))
    assert not plan_connect(setting, state).changes
    carry_out(plan_disconnect(setting, state), state, undo=True)
    left = json.loads(path.read_text())["hooks"]
    assert [one["command"] for one in left["Stop"][0]["hooks"]] == ["first", "last"]
    assert left["SessionStart"] == [{"matcher": "startup", "hooks": [other]}]
    assert sorted(left) == ["SessionStart", "Stop"]


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("ours", [{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}, {3}, {2, 3}, {0, 3}])
@pytest.mark.parametrize("last", ["", ", "])
def test_whichever_hooks_of_a_list_are_ours_the_others_stay(ours: set[int], last: str) -> None:
    """First, in the middle, last, with a comma behind it or not: the rest is the same JSON, and means the same."""
    items = [f'{{"command": "{OURS if place in ours else f"own {place}"}"}}' for place in range(4)]
    text = '{"hooks": {"stop": [' + ", ".join(items) + last + ']}, "a": 1}'
    part = JsonHook(Path("hooks.json"), ("hooks", "stop"), {"command": OURS})
    left = JsonFile("hooks.json", (part.take(text.encode()) or b"").decode())
    own = [{"command": f"own {place}"} for place in range(4) if place not in ours]
    assert left.value == {"hooks": {"stop": own}, "a": 1}


@pytest.mark.parametrize(
    ("link", "target"),
    [("CLAUDE.md", "../home/.bashrc"), (".claude", "../home/.claude"), (".mcp.json", "../home/none.json")],
)
def test_a_project_that_leads_elsewhere_is_not_followed(tmp_path: Path, link: str, target: str) -> None:
    """Who wrote the project would choose which file of the person's memdeck writes; nothing is written."""
    setting = setting_of(tmp_path, "claude-code")
    (tmp_path / "home/.claude").mkdir()
    (tmp_path / "home/.claude/settings.json").write_text("{}\n")
    (tmp_path / "home/.bashrc").write_text("export A=1\n")
    (tmp_path / "project" / link).symlink_to(target)
    before = tree(tmp_path)
    for plan in (plan_connect, plan_disconnect):
        with pytest.raises(MemdeckError) as error:
            plan(setting, tmp_path / "state")
        assert error.value.code == "connect.outside"
    assert tree(tmp_path) == before


def test_a_link_within_the_project_is_followed(tmp_path: Path) -> None:
    """`CLAUDE.md -> AGENTS.md` is how many projects have it; the project itself may be reached by a link as well."""
    (tmp_path / "real").mkdir()
    (tmp_path / "project").symlink_to("real")
    (tmp_path / "real/AGENTS.md").write_text("# Rules\n")
    (tmp_path / "real/CLAUDE.md").symlink_to("AGENTS.md")
    there_and_back(setting_of(tmp_path, "claude-code"), tmp_path)


def test_what_was_connected_through_a_link_is_disconnected(tmp_path: Path) -> None:
    """What memdeck wrote itself it takes away, wherever the project leads by now."""
    state = tmp_path / "state"
    setting = setting_of(tmp_path, "claude-code")
    words = tmp_path / "project/AGENTS.md"
    words.write_text("# Rules\n")
    carry_out(plan_connect(setting, state), state)
    words.rename(tmp_path / "shared.md")
    words.symlink_to("../shared.md")
    carry_out(plan_disconnect(setting, state), state, undo=True)
    assert (tmp_path / "shared.md").read_text() == "# Rules\n"


def test_a_command_with_any_letters_is_written(tmp_path: Path) -> None:
    """TOML has no pairs of escapes: a path with an emoji is written as it is."""
    usual = setting_of(tmp_path, "codex")
    setting = ConnectionTarget("codex", "project", usual.project, usual.home, {}, ("/bin/📸/memdeck",))
    carry_out(plan_connect(setting, tmp_path / "state"), tmp_path / "state")
    table = tomllib.loads((tmp_path / "project/.codex/config.toml").read_text())
    assert table["mcp_servers"]["memdeck"]["command"] == "/bin/📸/memdeck"


@pytest.mark.parametrize(
    "make",
    [
        lambda size: "{" + ", ".join(f'"k{number}": 1' for number in range(size)) + "}",
        lambda size: '{"a": [' + ", ".join('{"k": 1 /* x */}' for _ in range(size)) + "]}",
        lambda size: '{"a": 1, "stop": [{"command": "date"}' + f', {{"command": "{OURS}"}}' * size + "]}",
    ],
    ids=["keys", "comments", "hooks"],
)
def test_a_file_of_one_long_line_costs_what_it_holds(make: Callable[[int], str]) -> None:
    """A hundred thousand keys, comments or hooks of memdeck in one line are no reason to wait for minutes."""
    part = JsonHook(Path("hooks.json"), ("stop",), {"command": OURS})

    def change(text: str) -> None:
        JsonFile("hooks.json", text).put(("mcpServers", "memdeck"), {"command": "x"})
        part.take(text.encode())

    assert_in_proportion(make, change, 3_000)
