"""Running an approved command: where, what it may see and use, how long it may take, and that nothing of it remains.

A command runs in its own session. When it ends, or is ended, every process of that session is ended, and every other
one that was seen below it. A program that leaves the session and its parent at once may survive; docs/monitors.md says
so.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

import psutil

from memory.base.programs import absolute_folders, passes
from memory.errors import UsageError
from memory.monitoring.run.cancel import Cancel
from memory.registry import workspace_of
from memory.storage.own_folders import StateFolder
from memory.storage.private.run_folder import run_folder
from memory.trust.pins import PRIVATE

TIMEOUT = 10.0
"""Seconds for a command if its monitor sets no timeout."""
GRACE = 2.0
"""Seconds between TERM and KILL."""
PATIENCE = 5.0
"""Seconds after which processes that the kernel does not end are no longer waited for."""
LIMIT = 64 * 1024
"""Bytes kept of a command's output, the first and the last half; the same again for its errors."""
MOST_PROCESSES = 256
"""A command with more processes at once than this is stopped."""
KEPT = ("PATH", "HOME", "LANG", "TZ")
"""The variables that every command has."""
_TICK = 0.05
"""Seconds between two looks at the clock, at the cancellation and at the processes."""
_PIECE = 1 << 20
# Core files, CPU seconds, blocks of a file (1 GiB; dash and bash count them in 512 bytes or 1 KiB), open files,
# address space (4 GiB). What the system does not have is skipped.
_LIMITED = (
    "{{ ulimit -c 0; ulimit -t {seconds}; ulimit -f 1048576; ulimit -n 1024; ulimit -v 4194304; }} 2>/dev/null; "
    'exec /bin/sh -c "$1"'
)
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended.

    `exit_code` is None when it died by `signal` (a number) or never started (`failure` is the reason). `stopped` is why
    memdeck ended it: `timeout`, `cancelled`, `processes` (too many of them), or empty. `output` and `errors` are what
    it printed, at most `limit` bytes each, with a line where the middle was left out. `left` counts the processes that
    still existed and were killed.
    """

    exit_code: int | None
    signal: int | None
    timed_out: bool
    output: str
    seconds: float
    errors: str = ""
    stopped: str = ""
    left: int = 0
    size: int = 0
    failure: str = ""


def clean_environment(
    environ: Mapping[str, str], approved: Iterable[str] = (), *, outside: str | os.PathLike[str]
) -> dict[str, str]:
    """Return the environment for a command: PATH, HOME, LANG, TZ and the variables of approved names.

    PATH keeps only absolute folders outside the folder `outside`, a workspace: otherwise an approved `df` could be any
    program that the workspace calls so.
    """
    names = (*KEPT, *approved)
    found = {name: environ[name] for name in names if name in environ and "\0" not in environ[name]}
    found["PATH"] = absolute_folders(found.get("PATH", ""), outside=outside) or _PATH
    return found


def run_placed(
    text: str,
    folder: str,
    *,
    root: str | os.PathLike[str],
    state: StateFolder | None,
    environ: Mapping[str, str],
    names: Iterable[str] = (),
    given: bytes = b"",
    timeout: float = TIMEOUT,
    limit: int = LIMIT,
    cancel: Cancel | None = None,
) -> Finished:
    """Run a command as `run_command` does in a folder of the workspace `root`, or in `PRIVATE`: an empty private one.

    From a private folder nothing leads into the workspace, no variable either. `state` is where such folders are made,
    `names` are the approved variables. UsageError `monitor.folder` for a folder that is not in the workspace, and for a
    variable that leads there; errors of the state folder.
    """
    environment = clean_environment(environ, names, outside=root)
    if folder != PRIVATE:
        place = os.path.realpath(os.path.join(root, folder))
        top = os.path.realpath(root)
        if not os.path.isdir(place) or (place != top and not place.startswith(top.rstrip("/") + "/")):
            raise UsageError("monitor.folder", f"{folder[:60]!r} is no folder of the workspace", "write folder: .")
        return run_command(
            text, folder=place, environment=environment, given=given, timeout=timeout, limit=limit, cancel=cancel
        )
    if state is None:
        return _failed("there is no state folder to run it in")
    with run_folder(state, workspace_of) as place:
        for name in names:
            if _leads_in(environment.get(name, ""), place, os.path.realpath(root)):
                raise UsageError("monitor.folder", f"{name} leads into the workspace: add folder: .")
        return run_command(
            text, folder=place, environment=environment, given=given, timeout=timeout, limit=limit, cancel=cancel
        )


def _leads_in(value: str, place: str, root: str) -> bool:
    """Return whether a part of a variable's value names something in the workspace, as seen from a folder."""
    parts = [part for part in re.split(r"[\s:;,=]+", value) if "/" in part or part.startswith(".")]
    return bool(re.search(rf"{re.escape(root)}(?![^/\s:;,=])", value)) or any(
        passes(os.path.join(place, part), root) for part in parts
    )


def run_command(
    text: str,
    *,
    folder: str | os.PathLike[str],
    environment: Mapping[str, str],
    given: bytes = b"",
    timeout: float = TIMEOUT,
    limit: int = LIMIT,
    grace: float = GRACE,
    cancel: Cancel | None = None,
) -> Finished:
    """Run `/bin/sh -c text` in a folder and wait for its end, at most `timeout` seconds, plus `grace` to end by itself.

    `environment` is all that the command sees, see `clean_environment`; `given` is its standard input.
    Never raises because of the command.
    """
    if "\0" in text or b"\0" in given:
        return _failed("a command and what it reads cannot contain a NUL character")
    if cancel is not None and cancel.cancelled:
        return _failed("cancelled")
    shell = _LIMITED.format(seconds=int(timeout + grace) + 1)
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", shell, "sh", text.encode(errors="surrogateescape")],
            stdin=subprocess.PIPE if given else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        return _failed(str(error))
    return _Run(process, given, limit).finish(timeout, grace, cancel)


def _failed(why: str) -> Finished:
    return Finished(None, None, False, "", 0.0, stopped="cancelled" if why == "cancelled" else "", failure=why)


class _Captured:
    """The output of one pipe: its first and its last bytes, half the limit each, and its size."""

    def __init__(self, limit: int) -> None:
        self.half = limit // 2
        self.head = b""
        self.tail = b""
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        free = self.half - len(self.head)
        self.head += data[:free]
        self.tail = (self.tail + data[free:])[-self.half :]

    def text(self) -> str:
        missing = self.size - len(self.head) - len(self.tail)
        if missing <= 0:
            return (self.head + self.tail).decode("utf-8", "replace")
        head, tail = self.head.decode("utf-8", "replace"), self.tail.decode("utf-8", "replace")
        return f"{head}\n… {missing} bytes left out …\n{tail}"


class _Run:
    """One command from its start to the end of its last process."""

    def __init__(self, process: subprocess.Popen[bytes], given: bytes, limit: int) -> None:
        self._process = process
        self._given = memoryview(given)
        self._begun = time.monotonic()
        self._seen: dict[int, psutil.Process] = {}
        self._output, self._errors = _Captured(limit), _Captured(limit)
        self._selector = selectors.DefaultSelector()
        for pipe, captured in ((process.stdout, self._output), (process.stderr, self._errors)):
            assert pipe is not None
            self._selector.register(pipe, selectors.EVENT_READ, captured)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            self._selector.register(process.stdin, selectors.EVENT_WRITE)

    def finish(self, timeout: float, grace: float, cancel: Cancel | None) -> Finished:
        """Wait for the end, end what takes too long, and return how it ended."""
        reason, left = "", 0
        try:
            reason = self._watch(timeout, cancel)
            if reason in ("timeout", "cancelled"):
                self._signal(signal.SIGTERM)
                until = time.monotonic() + grace
                while self._tree() and time.monotonic() < until:
                    self._step(_TICK)
        finally:
            # Also where this thread is interrupted: no process of the command goes on.
            seconds = time.monotonic() - self._begun
            left = self._kill()
        until = time.monotonic() + 0.2
        while self._selector.get_map() and time.monotonic() < until:
            self._step(_TICK)
        for key in list(self._selector.get_map().values()):
            self._close(key.fileobj)
        self._selector.close()
        code = self._process.returncode
        return Finished(
            exit_code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            timed_out=reason == "timeout",
            output=self._output.text(),
            seconds=seconds,
            errors=self._errors.text(),
            stopped=reason,
            left=left,
            size=self._output.size,
        )

    def _watch(self, timeout: float, cancel: Cancel | None) -> str:
        """Wait until the shell has ended, or return why it has to: `timeout`, `cancelled` or `processes`."""
        until = self._begun + timeout
        looked = self._begun
        while not self._has_ended():
            now = time.monotonic()
            if now >= until:
                return "timeout"
            if cancel is not None and cancel.cancelled:
                return "cancelled"
            if now - looked >= _TICK:
                looked = now
                if sum(_session_of(pid) == self._process.pid for pid in psutil.pids()) > MOST_PROCESSES:
                    return "processes"
                self._tree()  # remembers what is below the shell now
            self._step(min(_TICK, until - now))
        return ""

    def _step(self, seconds: float) -> None:
        """Read and write what is ready, at most `seconds` from now."""
        if not self._selector.get_map():
            time.sleep(min(seconds, _TICK / 5))
            return
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                self._give(key.fileobj)
            elif data := os.read(key.fd, _PIECE):
                key.data.add(data)
            else:
                self._close(key.fileobj)

    def _give(self, pipe: object) -> None:
        """Write what the command reads; close the pipe at its end, or when no process reads it any more."""
        assert self._process.stdin is not None
        try:
            self._given = self._given[os.write(self._process.stdin.fileno(), self._given) :]
        except BlockingIOError:
            return
        except OSError:
            self._given = memoryview(b"")
        if not self._given:
            self._close(pipe)

    def _close(self, pipe: object) -> None:
        self._selector.unregister(pipe)  # type: ignore[arg-type]
        if isinstance(pipe, IO) or hasattr(pipe, "close"):
            pipe.close()

    # -- its processes --------------------------------------------------------------------------------------------

    def _has_ended(self) -> bool:
        """Return whether the shell has ended. Its number stays taken: the last step waits for it."""
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _tree(self) -> list[psutil.Process]:
        """Return the living processes of the run: those of its session, and those that were seen below its shell."""
        own = self._process.pid
        with suppress(psutil.Error):
            self._seen |= {one.pid: one for one in psutil.Process(own).children(recursive=True)}
        for pid in psutil.pids():
            if pid not in self._seen and _session_of(pid) == own:
                with suppress(psutil.Error):
                    self._seen[pid] = psutil.Process(pid)
        self._seen = {pid: one for pid, one in self._seen.items() if _is_alive(one)}
        return list(self._seen.values())

    def _signal(self, number: signal.Signals) -> list[psutil.Process]:
        """Send a signal to all processes of the run, those of its group at one moment, and return them."""
        with suppress(OSError):
            os.killpg(self._process.pid, number)
        found = self._tree()
        for process in found:
            with suppress(psutil.Error):
                process.send_signal(number)
        return found

    def _kill(self) -> int:
        """Stop, then kill everything until nothing is left; return how many processes the shell left behind.

        They are stopped first, because forking processes could outrun the kill.
        """
        until = time.monotonic() + PATIENCE
        left = 0
        while True:
            found = self._signal(signal.SIGSTOP)
            self._signal(signal.SIGKILL)
            left = max(left, len([one for one in found if one.pid != self._process.pid]))
            if not found or time.monotonic() > until:
                break
            time.sleep(_TICK / 10)
        self._process.wait()
        return left


def _session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def _is_alive(process: psutil.Process) -> bool:
    """Return whether a process or a thread of it still runs; an ended one that nobody waited for does not."""
    try:
        ended = process.status() == psutil.STATUS_ZOMBIE and process.num_threads() < 2
        return process.is_running() and not ended
    except psutil.Error:
        return False
