"""Many servers on one workspace at once."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.desks import make_workspace
from tests.examples import examples
from tests.patience import PATIENCE, join

from .serving import Server, memdeck, serving

SERVERS, EACH = examples(10, 5), examples(4, 1)


@pytest.mark.thorough
def test_many_servers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Processes add tasks, journal entries and facts at the same time: all of them are there, each once."""
    root = make_workspace(tmp_path)
    wrong: list[object] = []

    def write(server: Server, number: int) -> None:
        for part in range(EACH):
            for kind in ("tasks", "journal", "facts"):
                title = f"Server {number} wrote {kind} number {part}"
                answer = server.call("add", kind=kind, title=title)
                end = time.monotonic() + PATIENCE
                while answer.get("error", {}).get("code") == "file.locked" and time.monotonic() < end:
                    answer = server.call("add", kind=kind, title=title)
                if "error" in answer:
                    wrong.append(answer)

    with ExitStack() as stack:
        servers = [stack.enter_context(serving(root, "--actor", f"agent:s{number}")) for number in range(SERVERS)]
        for server in servers:
            server.hello()
        threads = [threading.Thread(target=write, args=(one, number)) for number, one in enumerate(servers)]
        for thread in threads:
            thread.start()
        join(*threads)
    assert wrong == []
    found = {
        "tasks": [one["title"] for one in memdeck(root, "tasks", "list")["tasks"]],
        "journal": [one["title"] for one in memdeck(root, "journal", "list", "--limit", "0")["entries"]],
        "facts": [one["text"] for one in memdeck(root, "facts", "list")["memories"]],
    }
    for kind, titles in found.items():
        expected = [f"Server {number} wrote {kind} number {part}" for number in range(SERVERS) for part in range(EACH)]
        assert sorted(one for one in titles if one.startswith("Server ")) == sorted(expected), kind
    rows = memdeck(root, "changes", "list", "--limit", "0")["changes"]
    assert {f"agent:s{number}" for number in range(SERVERS)} <= {row["actor"] for row in rows}
    assert memdeck(root, "check", "--level", "error")["problems"] == []
