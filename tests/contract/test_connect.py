"""Connecting clients of agents: what is the user's own stays, and what is said of a connection is true."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.contract.place import HOUSE, Place
from tests.patience import PATIENCE

WRAPPER = {"command": "/opt/my/wrap.sh", "args": ["--profile", "work"]}
SERVERS = [
    ("claude-code", "project", "work/.mcp.json", "mcpServers"),
    ("claude-code", "user", "home/.claude.json", "mcpServers"),
    ("gemini", "project", "work/.gemini/settings.json", "mcpServers"),
    ("cursor", "project", "work/.cursor/mcp.json", "mcpServers"),
    ("opencode", "project", "work/opencode.json", "mcp"),
    ("vscode", "project", "work/.vscode/mcp.json", "servers"),
    ("zed", "project", "work/.zed/settings.json", "context_servers"),
    ("windsurf", "user", "home/.codeium/windsurf/mcp_config.json", "mcpServers"),
]


def tree(place: Place) -> dict[str, bytes]:
    """Return all files of the project and the home folder, but for the memory's."""
    return {
        str(path.relative_to(place.top)): path.read_bytes()
        for folder in (place.work, place.home)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".aiter" not in path.parts and ".git" not in path.parts
    }


def refused_and_untouched(place: Place, client: str, scope: str = "project") -> None:
    """Show that `connect` refuses the client with `connect.taken`, and that both ways leave every byte."""
    before = tree(place)
    answer = place("connect", client, "--scope", scope, "-o", "json")
    assert (answer.code, answer.error) == (2, "connect.taken")
    assert tree(place) == before
    assert place("disconnect", client, "--scope", scope, "-o", "json").code == 0
    assert tree(place) == before


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize(("client", "scope", "file", "key"), SERVERS)
@pytest.mark.parametrize(
    "own",
    [
        WRAPPER,
        {"command": "memdeck", "args": ["mcp"]},
        {"command": "memdeck", "args": ["mcp", "--actor", "agent:claude-code", "--read-only"]},
        {"type": "stdio", "command": "memdeck", "args": ["mcp", "--actor", "agent:claude-code"], "env": {"A": "b"}},
        {},
    ],
)
def test_a_server_of_the_users_own_is_not_taken_over(
    workspace: Place, client: str, scope: str, file: str, key: str, own: dict[str, Any]
) -> None:
    """A server called memdeck with another command or other options is refused, in every client alike."""
    path = workspace.top / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({key: {"memdeck": own}}))
    refused_and_untouched(workspace, client, scope)


@pytest.mark.parametrize(
    ("client", "file", "content"),
    [
        ("codex", ".codex/config.toml", '[mcp_servers.memdeck]\ncommand = "/opt/my/wrap.sh"\n'),
        ("codex", ".codex/config.toml", 'mcp_servers = { memdeck = { command = "x" } }\n'),
        ("claude-code", ".claude/settings.json", {"env": {"MEMDECK_ACTOR": "agent:mine"}}),
        ("opencode", ".opencode/plugin/memdeck.js", "export const Memdeck = 1 // mine\n"),
    ],
)
def test_other_names_of_memdeck_are_the_users_own_too(
    workspace: Place, client: str, file: str, content: str | dict[str, Any]
) -> None:
    """A table of Codex, a variable and a plugin are refused in the same way."""
    workspace.write(file, content if isinstance(content, str) else json.dumps(content))
    refused_and_untouched(workspace, client)


@pytest.mark.parametrize(
    "own",
    [
        {"hooks": [{"type": "command", "command": "memdeck hook stop --client claude-code --quiet", "timeout": 10}]},
        {"hooks": [{"type": "command", "command": "memdeck hook stop --client claude-code", "timeout": 60}]},
        {"hooks": [{"type": "command", "command": "cd x && memdeck hook stop --client claude-code", "timeout": 10}]},
        {
            "matcher": "mine",
            "hooks": [{"type": "command", "command": "memdeck hook stop --client claude-code", "timeout": 10}],
        },
    ],
)
def test_a_hook_with_the_users_options_is_not_taken_over(workspace: Place, own: dict[str, Any]) -> None:
    """Neither replaced nor removed, and not doubled: the user decides."""
    workspace.write(".claude/settings.json", json.dumps({"hooks": {"Stop": [own]}}))
    refused_and_untouched(workspace, "claude-code")


def test_what_the_user_changed_since_stays(workspace: Place) -> None:
    """A server that the user took over after `connect` is left by `disconnect`, which says so."""
    assert workspace("connect", "cursor", "-o", "json").code == 0
    path = workspace.work / ".cursor/mcp.json"
    path.write_text(json.dumps({"mcpServers": {"memdeck": WRAPPER}}))
    answer = workspace.json("disconnect", "cursor")
    assert json.loads(path.read_text()) == {"mcpServers": {"memdeck": WRAPPER}}
    assert any("keeps" in note and str(path) in note for note in answer["notes"])
    assert sorted(tree(workspace)) == ["work/.cursor/mcp.json"]


@pytest.mark.parametrize(
    ("client", "names"),
    [("claude-code", [".mcp.json", ".claude/settings.json"]), ("codex", [".codex/config.toml", ".codex/hooks.json"])],
)
def test_every_byte_comes_back(workspace: Place, client: str, names: list[str]) -> None:
    """With other entries, a byte order mark, CRLF and no last newline."""
    json_text = '\ufeff{\r\n\t"mcpServers": {"a": {"command": "x"}},\r\n\t"env": {"B": "c"}\r\n}'
    for name in names:
        toml = name.endswith(".toml")
        workspace.write(name, '\ufeffmodel = "x"\r\n[mcp_servers.a]\r\ncommand = "y"' if toml else json_text)
    workspace.write("AGENTS.md", "# Rules\r\n\r\nno end")
    before = tree(workspace)
    assert workspace("connect", client, "-o", "json").code == 0
    assert len([name for name, data in tree(workspace).items() if data != before.get(name)]) == 3
    assert workspace("connect", client, "-o", "json").data["files"][0]["action"] == "none"
    assert workspace("disconnect", client, "-o", "json").code == 0
    assert tree(workspace) == before


def test_inline_tables_of_codex_are_refused_with_true_words(workspace: Place) -> None:
    """A valid file to which no table can be added is not called broken."""
    workspace.write(".codex/config.toml", 'mcp_servers = { alpha = { command = "x" } }\n')
    before = tree(workspace)
    answer = workspace("connect", "codex")
    assert (answer.code, answer.error) == (2, "connect.toml")
    assert "mcp_servers" in answer.err
    assert "twice" not in answer.err
    assert tree(workspace) == before
    inline = 'shell_environment_policy = { inherit = "core" }\n'
    workspace.write(".codex/config.toml", inline)
    assert workspace("connect", "codex", "-o", "json").code == 0
    found = tomllib.loads(workspace.read(".codex/config.toml").decode())
    assert found["shell_environment_policy"] == {"inherit": "core"}
    assert found["mcp_servers"]["memdeck"]["args"][-2:] == ["--actor", "agent:codex"]
    assert workspace("disconnect", "codex", "-o", "json").code == 0
    assert workspace.read(".codex/config.toml") == inline.encode()


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize(("first", "second"), [("claude-code", "codex"), ("codex", "claude-code")])
@pytest.mark.parametrize("gone", ["claude-code", "codex"])
@pytest.mark.parametrize(("link", "file"), [("CLAUDE.md", "AGENTS.md"), ("AGENTS.md", "CLAUDE.md")])
def test_one_file_of_two_names_keeps_the_words_for_the_other_client(
    workspace: Place, first: str, second: str, gone: str, link: str, file: str
) -> None:
    """CLAUDE.md and AGENTS.md may be one file by a link: the words go with the last client."""
    workspace.write(file, "# Rules\n")
    (workspace.work / link).symlink_to(file)
    for client in (first, second):
        assert workspace("connect", client, "-o", "json").code == 0
    words = workspace.read(file)
    assert workspace("disconnect", gone, "-o", "json").code == 0
    assert workspace.read(file) == words != b"# Rules\n"
    assert workspace("disconnect", "codex" if gone == "claude-code" else "claude-code", "-o", "json").code == 0
    assert workspace.read(file) == b"# Rules\n"
    assert (workspace.work / link).is_symlink()


@pytest.mark.parametrize(
    ("client", "newer", "content"), [("claude-code", "CLAUDE.md", "# Mine\n"), ("opencode", "opencode.jsonc", "{}\n")]
)
def test_a_file_that_the_client_reads_since_hides_nothing(
    workspace: Place, client: str, newer: str, content: str
) -> None:
    """Where a file was made that the client reads in place of the one that `connect` wrote, both are as before."""
    assert workspace("connect", client, "-o", "json").code == 0
    workspace.write(newer, content)
    assert workspace("disconnect", client, "-o", "json").code == 0
    assert tree(workspace) == {f"work/{newer}": content.encode()}
    assert workspace("connect", client, "-o", "json").code == 0
    assert b"memdeck" in workspace.read(newer)
    assert workspace("disconnect", client, "-o", "json").code == 0
    assert tree(workspace) == {f"work/{newer}": content.encode()}


def test_the_words_for_the_agent_name_tools_and_no_shell(workspace: Place) -> None:
    """Neither the files of instructions nor the words for other clients offer a command."""
    for client in ("claude-code", "codex", "gemini", "opencode", "zed"):
        assert workspace("connect", client, "-o", "json").code == 0
    told = [*map(workspace.read, ("AGENTS.md", "GEMINI.md"))]
    told.append(workspace.json("connect", "--print")["instructions"].encode())
    for words in told:
        assert b"tools of the MCP server `memdeck`" in words
        assert b"shell" not in words
        assert b"command" not in words


def test_the_shell_of_a_client_acts_as_its_agent(workspace: Place) -> None:
    """Where a client can set a variable for its shell, it names the agent; `disconnect` takes it away."""
    for client in ("claude-code", "codex", "opencode"):
        assert workspace("connect", client, "-o", "json").code == 0
    settings = json.loads(workspace.read(".claude/settings.json"))
    assert settings["env"] == {"MEMDECK_ACTOR": "agent:claude-code"}
    table = tomllib.loads(workspace.read(".codex/config.toml").decode())
    assert table["shell_environment_policy"] == {"set": {"MEMDECK_ACTOR": "agent:codex"}}
    assert b'env.MEMDECK_ACTOR = "agent:opencode"' in workspace.read(".opencode/plugin/memdeck.js")
    for client in ("claude-code", "codex", "opencode"):
        assert workspace("disconnect", client, "-o", "json").code == 0
    assert tree(workspace) == {}


def test_where_no_memory_is_connect_says_so(place: Place) -> None:
    """The exit code, the document and the words tell; `init` is named."""
    answer = place("connect", "claude-code", "-o", "json")
    assert (answer.code, answer.data["memory"]) == (4, None)
    assert "memdeck init" in answer.data["notes"][0]
    assert "memdeck init" in place("connect", "cursor").out
    (listed, *_) = place.json("connect", "--list")["clients"]
    assert (listed["client"], listed["state"]) == ("claude-code", "not working")
    assert "memdeck init" in listed["problems"][0]
    assert place("connect", "codex", "--scope", "user", "-o", "json").code == 0
    assert place("init").code == 0
    again = place("connect", "claude-code", "-o", "json")
    assert (again.code, again.data["memory"]) == (0, str(place.work))


def test_a_person_is_asked_whether_memory_shall_be_made(place: Place) -> None:
    """At a terminal `connect` offers `init`, then shows what it writes."""
    answer = place.at_terminal("connect", "cursor", keys="y\ny\n")
    assert answer.code == 0, answer
    assert (place.work / ".aiter/memory/tasks.md").is_file()
    assert (place.work / ".cursor/mcp.json").is_file()


def test_a_connection_is_called_working_after_a_call_that_worked(workspace: Place) -> None:
    """The list starts the server and calls a tool; a server that fails is not working, with its reason."""
    binaries = workspace.top / "bin"
    binaries.mkdir()
    program = binaries / "memdeck"
    run = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m app.main "$@"\n'
    program.write_text(run)
    program.chmod(0o755)
    workspace.variables["PATH"] = f"{binaries}{os.pathsep}{os.environ['PATH']}"
    assert workspace("connect", "claude-code", "-o", "json", process=True).code == 0
    assert _listed(workspace) == ("working", [])
    program.write_text("#!/bin/sh\necho 'memdeck: broken: it is' >&2\nexit 1\n")
    assert _listed(workspace) == ("not working", ["memdeck: broken: it is"])
    program.write_text("#!/bin/sh\nexit 0\n")
    assert _listed(workspace) == ("not working", ["the server did not answer"])


def _listed(place: Place) -> tuple[str, list[str]]:
    answer = place("connect", "--list", "-o", "json", process=True)
    assert answer.code == 0, answer
    found = next(one for one in answer.data["clients"] if (one["client"], one["scope"]) == ("claude-code", "project"))
    return found["state"], found["problems"]


def test_a_program_of_the_project_is_not_what_is_tried(workspace: Place) -> None:
    """A `memdeck` in the project runs for nobody, whatever PATH says."""
    workspace.write("memdeck", "#!/bin/sh\ntouch ran\n").chmod(0o755)
    workspace.variables["PATH"] = f".{os.pathsep}{os.environ['PATH']}"
    assert workspace("connect", "claude-code", "-o", "json", process=True).code == 0
    workspace("connect", "--list", process=True)
    workspace("doctor", "--schedule", process=True)
    assert not (workspace.work / "ran").exists()


def test_no_package_of_the_project_is_what_clients_and_cron_start(workspace: Place) -> None:
    """Where memdeck runs as a module, a folder `app` of the project is not started in its place."""
    workspace.write("app/__init__.py", "")
    workspace.write("app/main.py", "open('ran', 'w')\n")
    connected = [sys.executable, "-P", "-m", "app.main", "connect", "claude-code", "-o", "json"]
    subprocess.run(connected, cwd=workspace.work, env=workspace.environment, check=True, capture_output=True)
    hooks = json.loads(workspace.read(".claude/settings.json"))["hooks"]
    server = json.loads(workspace.read(".mcp.json"))["mcpServers"]["memdeck"]
    start = f"cd {shlex.quote(str(workspace.work))} && exec "
    for command in (hooks["Stop"][0]["hooks"][0]["command"], shlex.join([server["command"], *server["args"]])):
        subprocess.run(
            ["sh", "-c", start + command], input=b"", env=workspace.environment, capture_output=True, check=False
        )
        assert not (workspace.work / "ran").exists(), command


_KILLED = """
import os, signal
rename = os.rename
def killed(source, target, **places):
    if str(target) == os.environ["KILLED_AT"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(source, target, **places)
os.rename = killed
"""


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("name", [".mcp.json", "settings.json", "AGENTS.md"])
def test_what_a_killed_connect_leaves_is_gone_after_the_next(workspace: Place, name: str, tmp_path: Path) -> None:
    """No temporary file stays in the project, and `disconnect` gives every byte back."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(_KILLED)
    workspace.write(".mcp.json", "{}\n")
    before = tree(workspace)
    done = subprocess.run(
        [sys.executable, "-m", "app.main", "connect", "claude-code", "-o", "json"],
        cwd=workspace.work,
        env={**workspace.environment, "PYTHONPATH": f"{tmp_path / 'site'}:{HOUSE}", "KILLED_AT": name},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == -9, done
    assert any(".tmp" in found for found in tree(workspace))
    assert workspace("disconnect", "claude-code", "-o", "json").code == 0
    assert tree(workspace) == before
