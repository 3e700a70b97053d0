"""What each client of agents reads: the files and formats of its servers, hooks and instructions."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from memory.errors import UsageError

from .parts import ConnectionPart, InstructionBlock, JsonEntry, JsonHook, OwnFile, TomlTable

Scope = Literal["project", "user"]
SCOPES: tuple[Scope, ...] = ("project", "user")
SECONDS = 10
"""Seconds that a client waits for a hook; the default of some is a second and a half."""
WORDS = (
    "## Memory",
    "",
    "The memory of this project (tasks, journal, knowledge, contacts, plans) is kept with memdeck. Read and change it",
    "with the tools of the MCP server `memdeck` only: a person can review and undo what they change. If the tools are",
    "missing, say so. If nothing told you of the memory when the session began, call the tool `brief`. Note what you",
    "did in the journal before you finish.",
)
ACTOR = "MEMDECK_ACTOR"
"""The environment variable with the actor of memdeck commands that run in a client's shell."""


@dataclass(frozen=True, slots=True)
class ConnectionTarget:
    """The target of a connection: one client, in one project or for a user, and how memdeck is started.

    With `everywhere` the connection is in every file that the client may read, not only in those that it reads now.
    """

    client: str
    scope: Scope
    project: Path
    home: Path
    environ: Mapping[str, str]
    command: tuple[str, ...]
    everywhere: bool = False

    @property
    def user(self) -> bool:
        """Whether it applies to all projects of a user."""
        return self.scope == "user"

    @property
    def actor(self) -> str:
        """The actor of the client's changes."""
        return f"agent:{self.client}"

    @property
    def server(self) -> list[str]:
        """The command that starts the server."""
        return [*self.command, "mcp", "--actor", self.actor]

    def hook(self, event: str) -> str:
        """Return the command line that runs a hook."""
        return shlex.join([*self.command, "hook", event, "--client", self.client])

    def first_of(self, folder: Path, *names: str) -> list[Path]:
        """Return the first of the names that exists in a folder, else the last; with `everywhere` all that exist."""
        there = [folder / name for name in names if os.path.isfile(folder / name)] or [folder / names[-1]]
        return [*dict.fromkeys(there)] if self.everywhere else there[:1]

    def place(self, project: str, user: str) -> Path:
        """Return the file of the scope: a path in the project or in the home folder."""
        return self.home / user if self.user else self.project / project


@dataclass(frozen=True, slots=True)
class Client:
    """One client: its name, the parts written for it, and what the user has to do by hand, always or in a project.

    `events` are those for which it runs a hook of memdeck.
    """

    title: str
    parts: Callable[[ConnectionTarget], Sequence[ConnectionPart]]
    by_hand: tuple[str, ...] = ()
    in_project: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = SCOPES
    events: tuple[str, ...] = ()

    def notes(self, setting: ConnectionTarget) -> list[str]:
        """Return what the user has to do by hand."""
        notes = self.by_hand if setting.user else (*self.in_project, *self.by_hand)
        places = {"codex": _codex_home(setting), "project": setting.project, "title": self.title}
        return [note.format(**places) for note in notes]


def _entry(setting: ConnectionTarget, **more: Any) -> dict[str, Any]:
    first, *rest = setting.server
    return {**more, "command": first, "args": rest}


def _instructions(setting: ConnectionTarget, user: str | Path | None, *names: str) -> list[ConnectionPart]:
    """Return the instructions for the agent: in the first of the project's files that exists, else in the last.

    `user` is the user's own file, absolute or relative to the home folder; None if the client has none.
    """
    if setting.user:
        return [InstructionBlock(setting.home / user, WORDS)] if user is not None else []
    return [InstructionBlock(path, WORDS) for path in setting.first_of(setting.project, *names)]


_CLAUDE_EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "PreCompact": "pre-compact",
    "Stop": "stop",
    "SessionEnd": "session-end",
}
_GEMINI_EVENTS = {
    "SessionStart": "session-start",
    "BeforeAgent": "prompt",
    "PreCompress": "pre-compact",
    "AfterAgent": "stop",
    "SessionEnd": "session-end",
}


def _nested_hooks(
    setting: ConnectionTarget, path: Path, events: Mapping[str, str], seconds: int, *, strict: bool = True
) -> list[ConnectionPart]:
    return [
        JsonHook(
            path,
            ("hooks", event),
            {"hooks": [{"type": "command", "command": setting.hook(own), "timeout": seconds}]},
            strict=strict,
        )
        for event, own in events.items()
    ]


def _claude(setting: ConnectionTarget) -> Sequence[ConnectionPart]:
    settings = setting.place(".claude/settings.json", ".claude/settings.json")
    return [
        JsonEntry(
            setting.place(".mcp.json", ".claude.json"),
            ("mcpServers", "memdeck"),
            _entry(setting, type="stdio"),
            strict=True,
        ),
        JsonEntry(settings, ("env", ACTOR), setting.actor, strict=True),
        *_nested_hooks(setting, settings, _CLAUDE_EVENTS, SECONDS),
        *_instructions(setting, ".claude/CLAUDE.md", "CLAUDE.md", "AGENTS.md"),
    ]


def _codex_home(setting: ConnectionTarget) -> Path:
    named = setting.environ.get("CODEX_HOME", "")
    return Path(named) if Path(named).is_absolute() else setting.home / ".codex"


def _codex(setting: ConnectionTarget) -> Sequence[ConnectionPart]:
    folder = _codex_home(setting) if setting.user else setting.project / ".codex"
    first, *rest = setting.server
    table = [
        "[mcp_servers.memdeck]",
        # TOML does not allow escaped surrogate pairs.
        f"command = {json.dumps(first, ensure_ascii=False)}",
        f"args = {json.dumps(rest, ensure_ascii=False)}",
        'env_vars = ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "AGH_HOME"]',
    ]
    shell = ["[shell_environment_policy.set]", f'{ACTOR} = "{setting.actor}"']
    return [
        TomlTable(folder / "config.toml", ("mcp_servers", "memdeck"), tuple(table), tuple(shell)),
        *_nested_hooks(setting, folder / "hooks.json", _CLAUDE_EVENTS, SECONDS),
        *_instructions(setting, _codex_home(setting) / "AGENTS.md", "AGENTS.md"),
    ]


def _gemini(setting: ConnectionTarget) -> Sequence[ConnectionPart]:
    path = setting.place(".gemini/settings.json", ".gemini/settings.json")
    return [
        JsonEntry(path, ("mcpServers", "memdeck"), _entry(setting)),
        *_nested_hooks(setting, path, _GEMINI_EVENTS, SECONDS * 1000, strict=False),
        *_instructions(setting, ".gemini/GEMINI.md", "GEMINI.md"),
    ]


def _cursor(setting: ConnectionTarget) -> Sequence[ConnectionPart]:
    hooks = setting.place(".cursor/hooks.json", ".cursor/hooks.json")
    server = _entry(setting)
    if setting.user:
        server["args"] = [*server["args"], "-w", "${workspaceFolder}"]
    return [
        JsonEntry(
            setting.place(".cursor/mcp.json", ".cursor/mcp.json"), ("mcpServers", "memdeck"), server, strict=True
        ),
        JsonEntry(hooks, ("version",), 1, strict=True, keep=True),
        *(
            JsonHook(hooks, ("hooks", event), {"command": setting.hook(own)}, strict=True)
            for event, own in (("sessionStart", "session-start"), ("stop", "stop"))
        ),
        *_instructions(setting, None, "AGENTS.md"),
    ]


def _opencode(setting: ConnectionTarget) -> Sequence[ConnectionPart]:
    folder = setting.home / ".config/opencode" if setting.user else setting.project
    files = setting.first_of(folder, "opencode.jsonc", "opencode.json")
    plugin = folder / ("plugin" if setting.user else ".opencode/plugin") / "memdeck.js"
    server = {"type": "local", "command": setting.server, "enabled": True}
    words = _instructions(setting, folder / "AGENTS.md", "AGENTS.md", "CLAUDE.md", "AGENTS.md")
    entries = [JsonEntry(path, ("mcp", "memdeck"), server) for path in files]
    return [*entries, OwnFile(plugin, _plugin(setting)), *words]


def _plugin(setting: ConnectionTarget) -> str:
    """Return the plugin that passes the text of the session start to the model.

    OpenCode calls it for every request. The text is made once a session, so that all requests begin with the same
    words; the request that makes a session's title does not get it.
    """
    words = json.dumps([*setting.command, "hook", "session-start", "--client", setting.client])
    return f"""// Written by `memdeck connect opencode`; `memdeck disconnect opencode` takes it away.
import {{ execFile }} from "node:child_process"

const [command, ...words] = {words}
const told = new Map()

const ask = (session_id, cwd) =>
  new Promise((resolve) => {{
    const options = {{ cwd, encoding: "utf8", timeout: {SECONDS * 1000} }}
    const child = execFile(command, words, options, (error, text) => resolve(error ? "" : text))
    child.stdin?.on("error", () => {{}})
    child.stdin?.end(JSON.stringify({{ hook_event_name: "SessionStart", session_id, cwd }}))
  }})

export const Memdeck = async ({{ directory }}) => ({{
  "experimental.chat.system.transform": async ({{ sessionID }}, {{ system }}) => {{
    if (!sessionID || system[0]?.startsWith("You are a title generator")) return
    if (!told.has(sessionID)) told.set(sessionID, ask(sessionID, directory))
    const text = await told.get(sessionID)
    if (text) system.push(text)
  }},
  "shell.env": async ({{ sessionID }}, {{ env }}) => {{
    if (sessionID) env.{ACTOR} = {json.dumps(setting.actor)}
  }},
}})
"""


def _vscode(setting: ConnectionTarget) -> Sequence[ConnectionPart]:
    server = _entry(setting, type="stdio")
    server["args"] = [*server["args"], "-w", "${workspaceFolder}"]
    path = setting.place(".vscode/mcp.json", ".config/Code/User/mcp.json")
    hooks = setting.place(".github/hooks/memdeck.json", ".copilot/hooks/memdeck.json")
    start = {"type": "command", "command": setting.hook("session-start"), "timeout": SECONDS}
    return [
        JsonEntry(path, ("servers", "memdeck"), server),
        JsonHook(hooks, ("hooks", "SessionStart"), start),
        *_instructions(setting, None, "AGENTS.md"),
    ]


def _zed(setting: ConnectionTarget) -> Sequence[ConnectionPart]:
    path = setting.place(".zed/settings.json", ".config/zed/settings.json")
    return [
        JsonEntry(path, ("context_servers", "memdeck"), {**_entry(setting), "env": {}}),
        *_instructions(setting, None, ".rules", "AGENTS.md", "CLAUDE.md", "AGENTS.md"),
    ]


def _windsurf(setting: ConnectionTarget) -> Sequence[ConnectionPart]:
    path = setting.home / ".codeium/windsurf/mcp_config.json"
    return [JsonEntry(path, ("mcpServers", "memdeck"), _entry(setting), strict=True)]


_ALL_EVENTS = tuple(_CLAUDE_EVENTS.values())
_ASKS = "{title} asks once whether it may start the server."
CLIENTS: dict[str, Client] = {
    "claude-code": Client(
        "Claude Code",
        _claude,
        in_project=("Claude Code asks once whether it may start the server of this project.",),
        events=_ALL_EVENTS,
    ),
    "codex": Client(
        "Codex",
        _codex,
        ("Codex runs a hook only after you trusted it: type /hooks there once, and again after each change.",),
        ('Codex reads the project\'s file only if {codex}/config.toml trusts it: [projects."{project}"].',),
        events=_ALL_EVENTS,
    ),
    "gemini": Client(
        "Gemini CLI",
        _gemini,
        ("Gemini starts servers and hooks only in folders that you trusted there.",),
        events=_ALL_EVENTS,
    ),
    "cursor": Client("Cursor", _cursor, (_ASKS,), events=("session-start", "stop")),
    "opencode": Client("OpenCode", _opencode, events=("session-start",)),
    "vscode": Client("VS Code", _vscode, (_ASKS,), events=("session-start",)),
    "zed": Client("Zed", _zed, ("Zed reads a project's settings once you trusted its worktree.",)),
    "windsurf": Client("Windsurf", _windsurf, scopes=("user",)),
}


def client_of(name: str, scope: Scope) -> Client:
    """Return a client by its name; UsageError `connect.unknown_client`, `connect.scope`."""
    client = CLIENTS.get(name)
    if client is None:
        raise UsageError(
            "connect.unknown_client",
            f"memdeck does not know the client {name!r}",
            f"choose one of {', '.join(CLIENTS)}, or see what any other needs with --print",
        )
    if scope not in client.scopes:
        raise UsageError(
            "connect.scope", f"{client.title} reads no file of a project", f"use --scope {client.scopes[0]}"
        )
    return client


def gains(client: Client, setting: ConnectionTarget) -> str:
    """Return in a sentence what a connected client has: the server, hooks, instructions; and what it lacks."""
    words = next((part.path.name for part in client.parts(setting) if isinstance(part, InstructionBlock)), "")
    has = ["the server", *(["hooks"] if client.events else []), *([f"words for the agent in {words}"] if words else [])]
    sentence = f"{client.title} gets {' and '.join(filter(None, (', '.join(has[:-1]), has[-1])))}"
    if not client.events:
        return (
            f"{sentence}, but has no hooks: the agent is told nothing by itself, only when it calls the tool `brief`."
        )
    if "prompt" not in client.events:
        return f"{sentence}; hooks tell the agent what it should know when a session begins, none for each message."
    return f"{sentence}; hooks tell the agent what it should know when a session begins and for each message."


def for_any(setting: ConnectionTarget) -> dict[str, Any]:
    """Return the settings for a client that memdeck does not know."""
    return {
        "server": _entry(setting, type="stdio"),
        "hooks": {own: setting.hook(own) for own in _CLAUDE_EVENTS.values()},
        "instructions": "\n".join(WORDS),
    }
