"""memdeck as a process that is forked from one that has its modules already, at a fifth of what a start costs.

Such a process has its own memory, its own streams, folder, variables and exit code; only its interpreter is not a new
one. So tests of what a start does, of what it loads and of variables that Python itself reads start a real one, and
continuous integration does so with all that is asked for by `tests.commands`.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO

from tests.clock import stand
from tests.examples import WHOLE
from tests.patience import PATIENCE

HOUSE = Path(__file__).parents[1]
VERBS = """
import app.cli.run, memory.files.tasks.operations, app.hooks.run
import app.main, memory.maintenance.run, memory.prompts.brief, memory.storage.log, memory.files.system
import memory.clients.system, memory.curated.sessions, memory.curated.system, memory.facts.system, memory.state.system
import memory.typed.system, memory.files.versions.diff, memory.prompts.sheet, memory.review.inbox
import memory.systems.suspects, memory.trust.consent
"""
"""What most verbs load."""
TOOLS = f"""{VERBS}
import app.cli.verbs.servers.mcp, app.servers.mcp.calls, app.servers.mcp.stdio, app.servers.mcp.curated_tools
import anyio._backends._asyncio, memory.files.entries, memory.monitoring.operations, memory.state.entries, rapidfuzz
"""
"""What a server of tools loads, in its way."""
REQUESTS = f"""{VERBS}
import app.cli.verbs.servers.api, app.servers.api.application, app.servers.api.routes, app.servers.api.server
app.servers.api.routes.routes()
"""
"""What a server of requests loads."""

_SERVE = """
import sys
from app.main import main
from tests.forking import serve
serve(int(sys.argv[1]))
sys.exit(main())
"""


def possible(environ: Mapping[str, str]) -> bool:
    """Whether a process with these variables is as one that was started: Python itself reads none that differs."""
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG", "C.UTF-8")
    own = {name for name in environ if name.startswith("PYTHON")} - {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
    house = environ.get("PYTHONPATH", str(HOUSE)) == str(HOUSE)
    return hasattr(os, "pidfd_open") and locale == "C.UTF-8" and house and own <= {"PYTHONUNBUFFERED"}


class Forked:
    """A process that runs memdeck; what has the name of something in `subprocess.Popen` does the same."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | os.PathLike[str] | None = None,
        loaded: str = VERBS,
        clock: str | None = None,
    ) -> None:
        """Start it with a pipe for each of its streams; `loaded` is what has been run before, `clock` stands still."""
        self.returncode: int | None = None
        self._told, telling = os.pipe()
        (reading, to_it), (from_it, writing), (errors_from_it, errors) = os.pipe(), os.pipe(), os.pipe()
        self.stdin: IO[bytes] = os.fdopen(to_it, "wb")
        self.stdout: IO[bytes] = os.fdopen(from_it, "rb")
        self.stderr: IO[bytes] = os.fdopen(errors_from_it, "rb")
        given = [reading, writing, errors, telling]
        try:
            request = pickle.dumps(([*words], os.fspath(cwd or os.getcwd()), dict(env), clock))
            control = _server(loaded)
            socket.send_fds(control, [len(request).to_bytes(4, "big")], given)
            control.sendall(request)
        finally:
            for one in given:
                os.close(one)
        self.pid = int.from_bytes(self._read(4), "big")

    def _read(self, count: int) -> bytes:
        found = os.read(self._told, count)
        assert len(found) == count, "the process from which others are forked has ended"
        return found

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float = PATIENCE) -> int:
        """Wait for its end and return the exit code; TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(["memdeck"], timeout)
            self.returncode = int.from_bytes(self._read(4), "big", signed=True)
            os.close(self._told)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def start(
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | os.PathLike[str] | None = None,
    loaded: str = VERBS,
    clock: str | None = None,
) -> Forked | subprocess.Popen[bytes]:
    """Start memdeck with a pipe for each stream: forked, but as a new process where all examples were asked for."""
    if not WHOLE and possible(env):
        return Forked(words, env=env, cwd=cwd, loaded=loaded, clock=clock)
    return subprocess.Popen(
        [sys.executable, "-m", *(["tests.clock", clock] if clock else ["app.main"]), *words],
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run(
    words: Sequence[str],
    *,
    cwd: str | os.PathLike[str],
    environ: Mapping[str, str],
    given: bytes,
    clock: str | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run memdeck to its end with these bytes on stdin."""
    process = Forked(words, cwd=cwd, env=environ, clock=clock)
    with process.stdin, process.stdout, process.stderr:
        try:
            out, err = _exchange(process.stdin, given, (process.stdout, process.stderr))
            return subprocess.CompletedProcess([*words], process.wait(), out, err)
        finally:
            process.kill()
            process.wait()


def _exchange(feeding: IO[bytes], given: bytes, ends: Sequence[IO[bytes]]) -> list[bytes]:
    """Write to one stream and read from the others until they end."""
    os.set_blocking(feeding.fileno(), False)
    found: dict[IO[bytes], list[bytes]] = {end: [] for end in ends}
    open_ends, end_at = set(ends), time.monotonic() + PATIENCE
    while open_ends:
        if not given:
            feeding.close()
        wanted = [feeding] if given else []
        readable, writable, _ = select.select([*open_ends], wanted, [], max(0.0, end_at - time.monotonic()))
        if not readable and not writable:
            raise subprocess.TimeoutExpired(["memdeck"], PATIENCE)
        if writable:
            try:
                given = given[os.write(feeding.fileno(), given[:65536]) :]
            except BrokenPipeError:
                given = b""
        for end in readable:
            part = os.read(end.fileno(), 65536)
            found[end].append(part)
            if not part:
                open_ends.remove(end)
    return [b"".join(parts) for parts in found.values()]


@lru_cache
def _server(loaded: str) -> socket.socket:
    """Start the process from which others are forked, once for what it has loaded; it ends with this one."""
    here, there = socket.socketpair()
    with there:
        environ = {
            name: value for name, value in os.environ.items() if not name.startswith(("LC_", "PYTHON", "MEMDECK"))
        }
        process = subprocess.Popen(
            [sys.executable, "-c", loaded + _SERVE, str(there.fileno())],
            cwd=HOUSE,
            env=environ | {"PYTHONPATH": str(HOUSE), "LANG": "C.UTF-8"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[there.fileno()],
        )

    owner = os.getpid()

    def end() -> None:
        if os.getpid() == owner:
            here.close()
            process.communicate()

    atexit.register(end)
    return here


def serve(number: int) -> None:
    """Fork a process for each request that comes, and return in it; tell its number and, at its end, its exit code."""
    control = socket.socket(fileno=number)
    running: dict[int, tuple[int, int]] = {}
    poll = select.poll()
    poll.register(number, select.POLLIN)
    while True:
        for ready, _ in poll.poll():
            if ready in running:
                pid, telling = running.pop(ready)
                _tell(telling, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                poll.unregister(ready)
                os.close(ready)
                os.close(telling)
                continue
            size, given, _, _ = socket.recv_fds(control, 4, 4)
            if not size:
                os._exit(0)
            *streams, telling = given
            left = int.from_bytes(size, "big")
            request = b""
            while len(request) < left:
                request += control.recv(left - len(request))
            if (pid := os.fork()) == 0:
                control.detach()
                _become(streams, *pickle.loads(request))
                return
            for one in streams:
                os.close(one)
            _tell(telling, pid)
            ended = os.pidfd_open(pid)
            running[ended] = pid, telling
            poll.register(ended, select.POLLIN)


def _tell(telling: int, value: int) -> None:
    # Nobody may wait for it any more.
    with contextlib.suppress(BrokenPipeError):
        os.write(telling, value.to_bytes(4, "big", signed=True))


def _become(streams: Sequence[int], words: list[str], folder: str, environ: dict[str, str], clock: str | None) -> None:
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            # That of the list itself is closed already.
            with contextlib.suppress(OSError):
                os.close(int(name))
    os.chdir(folder)
    sys.argv[:] = [str(HOUSE / "app/main.py"), *words]
    sys.path[0] = folder
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    if clock:
        stand(clock)
