"""How a server ends, and what it tells of changes while it lives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.desks import make_workspace
from tests.patience import PATIENCE, line_of, until

from .serving import COMMAND, Api, environment, serving


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.thorough(but=("SIGTERM",))
def test_a_signal_ends_it(tmp_path: Path, number: signal.Signals) -> None:
    """It ends with exit code 0 and takes its socket away; a client that listens for changes gets a whole answer."""
    path = tmp_path / "s"
    with serving(make_workspace(tmp_path), "--port", "0", "--socket", str(path)) as api:
        connection, stream = _listen(api)
        assert path.is_socket()
        api.process.send_signal(number)
        assert stream.read() == b"\n"
        assert api.process.wait(PATIENCE) == 0
        stream.close()
        connection.close()
    assert not path.exists()


def test_it_ends_with_the_program_that_started_it(tmp_path: Path) -> None:
    """When its parent is killed the server ends by itself, and no socket is left."""
    root = make_workspace(tmp_path)
    path = tmp_path / "s"
    code = "import subprocess,sys; p = subprocess.Popen(sys.argv[1:]); print(p.pid, flush=True); p.wait()"
    words = [*COMMAND, "api", "-w", str(root), "-o", "json", "--socket", str(path)]
    parent = subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE, env=environment(root))
    assert parent.stdout is not None
    with parent.stdout:
        number = int(line_of(parent.stdout))
        assert json.loads(line_of(parent.stdout))["socket"] == str(path)
        parent.kill()
        parent.wait(PATIENCE)
        until(lambda: not _lives(number), lambda: "the server still runs")
    assert not path.exists()


def _lives(number: int) -> bool:
    try:
        os.kill(number, 0)
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def _listen(api: Api, **headers: str) -> tuple[Any, Any]:
    connection = api.connect()
    connection.request(
        "GET", "/api/v1/events", headers={"Host": api.host, "Authorization": f"Bearer {api.token}", **headers}
    )
    answer = connection.getresponse()
    assert answer.status == 200
    assert answer.getheader("content-type", "").startswith("text/event-stream")
    assert answer.readline() == b": memdeck\n"
    return connection, answer


def _next(stream: Any) -> dict[str, Any]:
    """Return the next event as its lines."""
    found: dict[str, Any] = {}
    while True:
        raw = stream.readline()
        assert raw, f"the stream ended behind {found}"
        line = raw.decode().rstrip("\n")
        if not line and found:
            return found
        name, _, value = line.partition(": ")
        if name:
            found[name] = json.loads(value) if name == "data" else value


def test_changes_are_told_by_whomever_they_are_made(tmp_path: Path) -> None:
    """A listener hears of its own server's changes, of another process's, and of an editor's; once each, in order."""
    root = make_workspace(tmp_path)
    with serving(root, now=None) as api:
        connection, stream = _listen(api)
        api.change("tasks/add", title="Mine")
        first = _next(stream)
        assert first["event"] == "change"
        assert first["data"]["summary"] == "added 'Mine'"
        assert first["id"] == first["data"]["id"]
        assert first["data"]["actor"] == "agent:http"
        subprocess.run(
            [*COMMAND, "tasks", "add", "Theirs", "-w", str(root)], env=environment(root), check=True, timeout=PATIENCE,
            capture_output=True,
        )  # fmt: skip
        assert _next(stream)["data"]["summary"] == "added 'Theirs'"
        file = root / ".aiter" / "memory" / "tasks.md"
        file.write_text(file.read_text().replace("Deploy v2.1", "Deploy v2.2"))
        assert _next(stream)["data"]["actor"] == "outside"
        stream.close()
        connection.close()
        api.change("tasks/add", title="Missed")
        connection, stream = _listen(api, **{"Last-Event-ID": first["id"]})
        missed = [_next(stream)["data"]["summary"] for _ in range(3)]
        assert missed[0] == "added 'Theirs'"
        assert missed[2] == "added 'Missed'"
        stream.close()
        connection.close()
        connection, stream = _listen(api, **{"Last-Event-ID": "nothing"})
        assert _next(stream)["event"] == "gap"
        stream.close()
        connection.close()
