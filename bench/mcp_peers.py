"""Memory servers of others beside memdeck's: what their tools cost a model, how they start, how they answer.

Backlog.md comes from npm (`backlog` on the search path), basic-memory from PyPI (`basic-memory`, Python 3.12 or later).
Costs are counted by js-tiktoken (o200k_base) where `NODE_PATH` finds it, else as a fourth of the characters.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench.facts_part import make_facts
from bench.mcp_part import EMPTY, Client
from bench.measure import Case, Unavailable
from bench.places import Places, memdeck
from bench.process_part import MESSAGE

_COUNT = """
const {getEncoding} = require("js-tiktoken"); const code = getEncoding("o200k_base")
const tools = JSON.parse(require("fs").readFileSync(0, "utf8")), cost = (text) => code.encode(text).length
const one = (tool) => cost(tool.name) + cost(tool.description || "") + cost(JSON.stringify(tool.inputSchema))
console.log(JSON.stringify([tools.reduce((sum, tool) => sum + one(tool), 0), cost(JSON.stringify(tools))]))
"""
_SETS = ("default", "default --read-only", "curated", "curated-admin")


class Peer:
    """One server: the words that start it, where, and a tool that only looks."""

    def __init__(self, places: Places, words: Sequence[str | Path], folder: Path, tool: str, **arguments: Any) -> None:
        """Nothing is started yet."""
        self._places = places
        self._words = list(words)
        self._folder = folder
        self._call = (tool, arguments)

    def client(self) -> Client:
        """Start it."""
        return Client(self._places, self._words, self._folder, own_path=self._words[0] in (memdeck(), sys.executable))

    def tools(self) -> list[dict[str, Any]]:
        """Return its tools as it lists them."""
        client = self.client()
        try:
            client.hello()
            client.ask("tools/list")
            found: list[dict[str, Any]] = client.answer["result"]["tools"]
            return found
        finally:
            client.process.kill()
            client.process.communicate()

    def times(self) -> dict[str, float]:
        """Return the seconds from the start to handshake, tools and first answer, and those of a warm call."""
        client = self.client()
        tool, arguments = self._call
        try:
            found = {"initialize": client.hello()}
            client.ask("tools/list")
            found["tools/list"] = time.perf_counter() - client.begun
            client.call(tool, **arguments)
            found["first answer"] = time.perf_counter() - client.begun
            found["a warm call"] = min(client.call(tool, **arguments) for _ in range(10))
            return found
        finally:
            client.process.kill()
            client.process.communicate()


def _backlog(places: Places) -> Peer:
    folder = places.folder / "backlog-server"
    if shutil.which("backlog") is None:
        raise Unavailable("backlog.md is not installed")
    if not folder.exists():
        folder.mkdir()
        places.run(["git", "init", "-q", "."], folder)
        places.run(["backlog", "init", "shop", "--defaults", "--integration-mode", "none"], folder)
        for number in range(20):
            places.run(["backlog", "task", "create", f"Task {number}"], folder)
    return Peer(places, ["backlog", "mcp", "start"], folder, "task_list")


def _basic(places: Places) -> Peer:
    command = shutil.which("basic-memory")
    if command is None:
        raise Unavailable("basic-memory is not installed")
    folder = places.folder / "basic"
    folder.mkdir(exist_ok=True)
    return Peer(places, [command, "mcp"], folder, "list_memory_projects")


def _ours(places: Places, size: str, *options: str) -> Peer:
    words: list[str | Path] = [memdeck(), "mcp", "-w", places.workspace(size), *options]
    return Peer(places, words, places.folder, "read", kind="tasks")


def peer_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield start and calls of each server beside an empty one of the SDK, and the hooks beside Python's own start."""
    empty = Peer(places, [sys.executable, "-c", EMPTY], places.folder, "brief")
    yield Case("an empty server", empty.times)
    yield Case("memdeck", lambda: _ours(places, size).times(), None, "an empty server")
    yield Case("Backlog.md", lambda: _backlog(places).times(), None, "an empty server")
    yield Case("basic-memory", lambda: _basic(places).times(), None, "an empty server")
    yield Case("python -c pass", lambda: places.run([sys.executable, "-c", "pass"]))
    facts = places.folder / "facts-hooks"
    make_facts(facts, 500)
    for event, given in (("session-start", {}), ("prompt", {"prompt": MESSAGE})):
        yield Case(
            f"memdeck hook {event}, 500 facts",
            lambda event=event, given=given: _hook(places, facts, event, given),  # type: ignore[misc]
            None,
            "python -c pass",
            6,
        )


def _hook(places: Places, root: Path, event: str, given: dict[str, str]) -> None:
    told = json.dumps({"cwd": str(root), "hook_event_name": event, **given}).encode()
    words = [memdeck(), "hook", event, "--client", "claude-code"]
    done = subprocess.run(words, input=told, env=places.environment(), cwd=root, capture_output=True, check=False)
    if done.returncode or (event == "prompt" and not done.stdout):
        raise Unavailable(f"the hook exits with {done.returncode} and says {done.stdout[:80]!r}")


def tool_table(places: Places) -> str:
    """Return what each list of tools costs a model that gets it whole."""
    made: dict[str, Callable[[], Peer]] = {
        f"memdeck --toolset {one}": partial(_ours, places, "S", "--toolset", *one.split()) for one in _SETS
    }
    made |= {"Backlog.md": lambda: _backlog(places), "basic-memory": lambda: _basic(places)}
    lines = ["tools | number | characters | tokens | with all fields", "--- | --- | --- | --- | ---"]
    for name, make in made.items():
        try:
            tools = make().tools()
        except Unavailable as error:
            lines.append(f"{name} | {error} | | |")
            continue
        said = [one["name"] + one.get("description", "") + json.dumps(one["inputSchema"]) for one in tools]
        cost, whole = _cost(tools)
        lines.append(f"{name} | {len(tools)} | {sum(map(len, said)):,} | {cost} | {whole}")
    return "\n".join(lines)


def _cost(tools: list[dict[str, Any]]) -> tuple[str, str]:
    """Return the tokens of names, descriptions and input schemas, and of the list as it is sent."""
    node = shutil.which("node")
    if node is not None and "NODE_PATH" in os.environ:
        done = subprocess.run(
            [node, "-e", _COUNT],
            input=json.dumps(tools),
            capture_output=True,
            text=True,
            env=dict(os.environ),
            check=False,
        )
        if done.returncode == 0:
            few, whole = json.loads(done.stdout)
            return f"{few:,}", f"{whole:,}"
    few = sum(len(one["name"] + one.get("description", "") + json.dumps(one["inputSchema"])) for one in tools)
    return f"about {few // 4:,}", f"about {len(json.dumps(tools)) // 4:,}"
