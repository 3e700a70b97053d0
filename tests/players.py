"""Processes that play cases of bad input: one that has imported everything, and from it one a case and one a verb.

A player reads requests, one JSON object a line, and answers each with a line. What is measured is the verb, not the
start of Python. A verb that hangs is killed, and a case that wants another user or its own mounts changes nothing else.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import psutil

from tests.patience import Stopwatch

HOUSE = Path(__file__).parents[1]
PATIENCE = 240.0
HANGS = 40.0
"""Seconds by the clock after which a verb counts as hanging, without those in which others had the processors."""
_UNSEEN = (
    *("tests.corpus.screen", "sqlite3", "zoneinfo", "croniter", "yaml", "difflib", "encodings.idna"),
    *("concurrent.futures.thread", "textual.pilot", "textual.drivers.linux_driver", "textual.drivers.headless_driver"),
)
"""What a verb or the application imports late, beside the widgets of Textual and all of memdeck."""


class PlayerProcess:
    """A player process as its client sees it, started at the first request; `with` ends it.

    After a request without an answer the next goes to a new process: the old one might still answer that other case.
    """

    def __init__(self, *words: str) -> None:
        """`words` are the command that starts it."""
        self._words = words
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> PlayerProcess:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process."""
        self.stop()

    def ask(self, request: Mapping[str, Any], seconds: float = PATIENCE) -> dict[str, Any]:
        """Return the answer to one request; TimeoutError where none comes."""
        if self._process is None:
            self._process = subprocess.Popen(
                self._words,
                cwd=HOUSE,
                env=os.environ | {"PYTHONPATH": str(HOUSE), "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        given, told = self._process.stdin, self._process.stdout
        assert given is not None
        assert told is not None
        answer, until = b"", time.monotonic() + seconds
        given.write(json.dumps(request).encode() + b"\n")
        given.flush()
        while not answer.endswith(b"\n"):
            ready, _, _ = select.select([told], [], [], max(0.0, until - time.monotonic()))
            data = os.read(told.fileno(), 1 << 20) if ready else b""
            if not data:
                self.stop()
                raise TimeoutError(f"the player does not answer to {request}")
            answer += data
        found: dict[str, Any] = json.loads(answer)
        return found

    def stop(self) -> None:
        """End the process, and those that it started."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()  # It ends when its input does, unless a case never ends.
        started = psutil.Process(process.pid).children(recursive=True)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            for one in (*started, process):
                with suppress(psutil.NoSuchProcess):
                    one.kill()
            process.wait(PATIENCE)
        process.stdout.close()


def serve(prefix: str, play: Callable[[dict[str, Any], Path], dict[str, Any]]) -> None:
    """Answer each request on stdin with what `play` returns in a process of its own, for an empty folder."""
    answers = os.dup(1)
    os.dup2(2, 1)  # What else is printed must not stand among the answers.
    home = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    for line in sys.stdin:
        top = Path(tempfile.mkdtemp(prefix=prefix, dir=home))
        top.chmod(0o755)
        os.chdir("/")
        gc.freeze()
        pid = os.fork()
        if pid == 0:
            data = json.dumps(play(json.loads(line), top)).encode() + b"\n"
            while data:
                data = data[os.write(answers, data) :]
            os._exit(0)
        os.waitpid(pid, 0)
        with suppress(RecursionError):
            shutil.rmtree(top, ignore_errors=True)
        if top.exists():  # Something has no rights, or is deeper than a path can say.
            subprocess.run(["chmod", "-R", "u+rwx", top], check=False, stderr=subprocess.DEVNULL)
            subprocess.run(["rm", "-rf", top], check=False)


class Ended(NamedTuple):
    """How a verb ended: its exit code (-1: killed), the seconds that it took by the processor and the clock, and its
    output.
    """

    code: int
    cpu: float
    wall: float
    out: bytes
    err: bytes


def run(work: Callable[[], int]) -> Ended:
    """Run a verb in a process of its own, killed with all that it started where it hangs."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            _child(work, out.fileno(), err.fileno())
        code, cpu = _wait(pid)
        wall = time.monotonic() - began
        out.seek(0)
        err.seek(0)
        return Ended(code, cpu, wall, out.read(), err.read())


def _child(work: Callable[[], int], out: int, err: int) -> None:
    """Do the work of a forked process and end it."""
    code = 70
    try:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        for name in ("MEMDECK_ACTOR", "EDITOR", "VISUAL"):
            os.environ.pop(name, None)
        code = work()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        sys.stderr.write(traceback.format_exc())
        sys.stderr.flush()
    os._exit(code)


def _wait(pid: int) -> tuple[int, float]:
    """Return a process's exit code, -1 where it had to be killed, and the processor time that it took."""
    watch, pause, until = Stopwatch(pid), 0.001, time.monotonic() + HANGS
    while True:
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
        # What each thread waited is read from the system, so only where the clock alone says that it may hang.
        if time.monotonic() > until and watch.seconds() > HANGS:
            os.killpg(pid, signal.SIGKILL)
            _, _, usage = os.wait4(pid, 0)
            return -1, usage.ru_utime + usage.ru_stime
        time.sleep(pause)
        pause = min(pause * 1.3, 0.02)


def memdeck(words: Sequence[str]) -> int:
    """Run memdeck with these words and return its exit code."""
    from app.main import run as main

    gc.disable()
    return main(list(words))


def import_everything() -> None:
    """Import what any verb may import: neither the time nor another user's rights are spent on it later."""
    names = [*_UNSEEN]
    widgets = importlib.import_module("textual.widgets").__path__
    names += [found.name for found in pkgutil.iter_modules(widgets, "textual.widgets.")]
    for top in ("app", "memory", "widgets"):
        package = importlib.import_module(top)
        names += [found.name for found in pkgutil.walk_packages(package.__path__, f"{top}.")]
    for name in names:
        importlib.import_module(name)
