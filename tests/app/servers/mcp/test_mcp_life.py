"""When a server ends: always, and after the change that is being made."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.desks import make_workspace
from tests.memory_files import contents
from tests.patience import PATIENCE, line_of, until

from .serving import COMMAND, environment, serving


def test_requests_before_the_end_of_the_input_are_answered(tmp_path: Path) -> None:
    """A client that sends its requests and closes the pipe at once gets every answer, and the server ends."""
    root = make_workspace(tmp_path)
    with serving(root) as server:
        server.hello()
        for number in range(5):
            arguments = {"kind": "tasks", "title": f"Last {number}"}
            server.send(
                {
                    "jsonrpc": "2.0",
                    "id": 90 + number,
                    "method": "tools/call",
                    "params": {"name": "add", "arguments": arguments},
                }
            )
        server.close()
        answers = [server.answer() for _ in range(5)]
        assert {answer["id"] for answer in answers} == set(range(90, 95))
        assert server.ended() == 0
    assert contents(root)[".aiter/memory/tasks.md"].count(b"Last ") == 5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("loaded", [True, False])
@pytest.mark.thorough(but=("True-SIGTERM",))
def test_a_signal_ends_it(tmp_path: Path, number: signal.Signals, loaded: bool) -> None:
    """A signal ends the server, while the SDK loads and afterwards, with the pipe open."""
    with serving(make_workspace(tmp_path), start=() if loaded else COMMAND) as server:
        if loaded:
            server.hello()
        else:
            pid = server.process.pid
            until(lambda: _catches(pid, signal.SIGHUP))  # the last one that gets its handler
        server.process.send_signal(number)
        assert server.ended() == 0


def _catches(pid: int, number: int) -> bool:
    """Tell whether a process has a handler for a signal."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) & (1 << (number - 1)))
    return False


def test_it_ends_when_nobody_reads_its_answers(tmp_path: Path) -> None:
    """A client whose reading end is closed leaves no server behind, though it goes on writing."""
    with serving(make_workspace(tmp_path)) as server:
        server.hello()
        assert server.process.stdout is not None
        server.process.stdout.close()
        server.send({"jsonrpc": "2.0", "id": 50, "method": "ping"})
        assert server.ended() == 0


def test_it_ends_with_its_parent_where_another_process_holds_the_pipe(tmp_path: Path) -> None:
    """A client that is killed leaves no server behind, though somebody else keeps the pipe open."""
    root = make_workspace(tmp_path)
    reading, writing = os.pipe()
    program = f"""
import subprocess, sys, time
server = subprocess.Popen({[*COMMAND, "-w", str(root)]!r}, stdin={reading}, stdout=subprocess.PIPE)
print(server.pid, flush=True)
server.stdout.readline()
print("ready", flush=True)
time.sleep({PATIENCE})
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, pass_fds=[reading], env=environment(tmp_path)
    )
    try:
        assert parent.stdout is not None
        pid = int(line_of(parent.stdout))
        os.write(writing, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        assert line_of(parent.stdout) == b"ready"
        parent.kill()
        parent.wait(PATIENCE)
        until(lambda: not os.path.exists(f"/proc/{pid}") or _is_dead(pid))
    finally:
        parent.kill()
        parent.wait(PATIENCE)
        assert parent.stdout is not None
        parent.stdout.close()
        os.close(reading)
        os.close(writing)


def _is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_what_is_wrong_with_the_call_is_said_on_stderr(tmp_path: Path) -> None:
    """Without a folder, and with a toolset that is not there, the server says so and ends with code 2."""
    for words in (["-w", str(tmp_path / "gone")], ["--toolset", "nonsense", "-w", str(make_workspace(tmp_path))]):
        done = subprocess.run(
            [*COMMAND, *words],
            capture_output=True,
            env=environment(tmp_path),
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE,
        )
        assert done.returncode == 2
        assert done.stdout == b""
        assert done.stderr.startswith((b"memdeck: workspace.no_folder", b"memdeck: usage"))


def test_without_the_sdk_it_says_what_to_install(tmp_path: Path) -> None:
    """Where the SDK, or a library that it needs, is not installed, the server says so and ends with code 2."""
    root = make_workspace(tmp_path)
    for name, blocked in (("mcp", ("mcp",)), ("mcp_types", ("mcp_types",))):
        program = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(name, name=name)

import importlib.util as util
find = util.find_spec
util.find_spec = lambda name, package=None: None if name in {blocked!r} else find(name, package)
sys.meta_path.insert(0, Blocked())
sys.argv[1:] = ["mcp", "-w", {str(root)!r}]
from app.main import main
sys.exit(main())
"""
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            env=environment(tmp_path),
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE,
        )
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith(f"memdeck: mcp.missing: the library {name} is not installed".encode())
