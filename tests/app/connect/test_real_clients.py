"""Real clients: each starts the server that `memdeck connect` wrote, and what a hook says reaches the model's request.

The model is a small server of this machine that keeps each request and answers none of them. These take minutes: they
run with MEMDECK_CLIENTS=1, as in `make torture`, and where the client is installed (npm install -g
@anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai @modelcontextprotocol/inspector).
"""

from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.desks import make_workspace
from tests.patience import PATIENCE, join, until

pytestmark = pytest.mark.skipif(not os.environ.get("MEMDECK_CLIENTS"), reason="MEMDECK_CLIENTS=1 tries real clients")
QUESTION = "what about the deploy?"


class Model:
    """A model's address that keeps what it is asked."""

    def __init__(self) -> None:
        """It listens from here on."""
        self.asked: list[str] = []
        asked = self.asked

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked.append(self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace"))
                self._refuse()

            def do_GET(self) -> None:
                self._refuse()

            do_HEAD = do_GET

            def _refuse(self) -> None:
                body = b'{"type": "error", "error": {"type": "invalid_request_error", "message": "no model"}}'
                self.send_response(400)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()
        join(self._thread)


class Place(NamedTuple):
    """A workspace, the person's home beside it, and the model."""

    root: Path
    home: Path
    model: Model

    def environment(self, **more: str) -> dict[str, str]:
        """Return an environment in which a client finds memdeck, the home and nothing of this machine's person."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TERM") if name in os.environ}
        path = f"{self.home.parent / 'bin'}{os.pathsep}{kept['PATH']}"
        return kept | {"PATH": path, "HOME": str(self.home), **more}

    def run(self, *words: str, **more: str) -> str:
        """Run a program in the workspace and return what it says."""
        done = subprocess.run(
            words, cwd=self.root, env=self.environment(**more), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=2 * PATIENCE, check=False,
        )  # fmt: skip
        return done.stdout + done.stderr

    def write(self, name: str, text: str) -> None:
        """Write a file of the person's home, as that person would have it."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def started(self) -> bool:
        """Tell whether a client started the server."""
        calls = self.home.parent / "calls"
        return calls.exists() and any(line.startswith("mcp ") for line in calls.read_text().splitlines())


@pytest.fixture(name="place")
def _place(tmp_path: Path) -> Iterator[Place]:
    model = Model()
    home = tmp_path / "home"
    home.mkdir()
    command = tmp_path / "bin" / "memdeck"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nexec {sys.executable} -P -m app.main "$@"\n')
    command.chmod(0o755)
    yield Place(make_workspace(tmp_path), home, model)
    model.close()


def _needs(command: str) -> None:
    if shutil.which(command) is None:
        pytest.skip(f"{command} is not installed")


def _claude(place: Place) -> str:
    place.write(".claude/settings.json", '{"enableAllProjectMcpServers": true}')
    more = {
        "ANTHROPIC_BASE_URL": place.model.address,
        "ANTHROPIC_API_KEY": "x",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    said = place.run("claude", "mcp", "list", **more)
    assert "Connected" in said, said
    return place.run("claude", "-p", QUESTION, **more)


def _codex(place: Place) -> str:
    place.write(
        ".codex/config.toml",
        f'model = "m"\nmodel_provider = "local"\n[model_providers.local]\nname = "local"\nwire_api = "responses"\n'
        f'base_url = "{place.model.address}/v1"\nenv_key = "MODEL_KEY"\n'
        "request_max_retries = 0\nstream_max_retries = 0\n"
        f'[projects."{place.root}"]\ntrust_level = "trusted"\n',
    )
    words = ("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", QUESTION)
    return place.run(*words, MODEL_KEY="x")


def _gemini(place: Place) -> str:
    place.write(".gemini/trustedFolders.json", json.dumps({str(place.root): "TRUST_FOLDER"}))
    place.write(".gemini/settings.json", '{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
    more = {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": place.model.address}
    said = place.run("gemini", "mcp", "list", **more)
    assert "Connected" in said, said
    return place.run("gemini", "-p", QUESTION, **more)


def _opencode(place: Place) -> str:
    options = {"baseURL": f"{place.model.address}/v1", "apiKey": "x"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "local", "options": options, "models": {"m": {"name": "m"}}}
    settings = {"provider": {"local": provider}, "model": "local/m", "autoupdate": False}
    place.write(".config/opencode/opencode.json", json.dumps(settings))
    more = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    said = place.run("opencode", "mcp", "list", **more)
    assert "connected" in said, said
    return place.run("opencode", "run", QUESTION, **more)


CLIENTS: dict[str, tuple[str, Callable[[Place], str]]] = {
    "claude-code": ("claude", _claude),
    "codex": ("codex", _codex),
    "gemini": ("gemini", _gemini),
    "opencode": ("opencode", _opencode),
}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_starts_the_server_and_sends_what_the_hook_says(place: Place, client: str) -> None:
    """After `connect`, the client starts the server as it was told to, and the model's request holds the brief."""
    command, ask = CLIENTS[client]
    _needs(command)
    said = place.run("memdeck", "connect", client, "--scope", "project")
    assert "is connected" in said, said
    said = ask(place)
    asked = [one for one in place.model.asked if "memdeck-memory" in one]
    assert asked, said
    assert any("Deploy v2.1" in one for one in asked)
    until(place.started, lambda: said)


def test_the_inspector_lists_and_calls_tools(place: Place) -> None:
    """The official inspector's command line lists the eight tools and calls one, both read as JSON."""
    _needs("mcp-inspector")
    words = ("mcp-inspector", "--cli", "memdeck", "mcp", "--method")
    said = place.run(*words, "tools/list")
    assert len(json.loads(said)["tools"]) == 8
    said = place.run(*words, "tools/call", "--tool-name", "search", "--tool-arg", "query=deploy")
    assert json.loads(said)["structuredContent"]["results"]
    said = place.run(*words[:4], "--toolset", "curated", "--method", "tools/list")
    assert len(json.loads(said)["tools"]) == 5
