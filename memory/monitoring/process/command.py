"""Running an approved command: where, what it may see and use, how long it may take, and that no process of it remains.

The work is done by `supervisor`, in a separate process that starts with the first command and ends with memdeck.
"""

from __future__ import annotations

import atexit
import io
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

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
LIMIT = 64 * 1024
"""Bytes kept of a command's output, the first and the last half; the same again for its errors."""
KEPT = ("PATH", "HOME", "LANG", "TZ")
"""The variables that every command has."""
_MARGIN = 8.0
_HOUSE = os.path.abspath(f"{__file__}/../../../..")
# memdeck's folder comes last on the path, so that nothing in it can shadow the standard library.
_START = "import sys; sys.path.append(sys.argv[1]); from memory.monitoring.process.supervisor import main; main()"
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

    `environment` is all that the command sees, see `clean_environment`; `given` is its standard input. Never raises
    because of the command; when this returns, no process that it started is alive.
    """
    command = text.encode("utf-8", "surrogateescape")
    if b"\0" in command or b"\0" in given:
        return _failed("a command and what it reads cannot contain a NUL character")
    words = [repr(float(timeout)).encode(), repr(float(grace)).encode(), str(limit).encode()]
    words += [os.fsencode(folder), command, given]
    words += [os.fsencode(f"{name}={value}") for name, value in environment.items()]
    request = b"\0".join(words)
    for _ in range(2):
        try:
            answer = _ask(len(request).to_bytes(4, "big") + request, timeout + grace + _MARGIN, cancel)
        except OSError as error:
            return _failed(f"the supervisor does not answer: {error.strerror or error}")
        if answer is not None:
            return _read(answer)
        if cancel is not None and cancel.cancelled:
            break
        # The process ended before the command began: the next try starts another.
        SUPERVISORS.forget()
    return _failed("cancelled" if cancel is not None and cancel.cancelled else "the supervisor cannot be started")


def _failed(why: str) -> Finished:
    return Finished(None, None, False, "", 0.0, stopped="cancelled" if why == "cancelled" else "", failure=why)


def _ask(request: bytes, seconds: float, cancel: Cancel | None) -> bytes | None:
    """Pass a request on and return the answer; None if the command was never started."""
    mine, theirs = socket.socketpair()
    with mine:
        with theirs:
            SUPERVISORS.hand_over(theirs)
        until = time.monotonic() + seconds
        data = bytearray()
        # Shut down for writing only: the supervisor sees the end and still answers.
        remove = cancel.add(lambda: mine.shutdown(socket.SHUT_WR)) if cancel is not None else None
        try:
            mine.settimeout(seconds)
            mine.sendall(request)
            while True:
                mine.settimeout(max(0.001, until - time.monotonic()))
                more = mine.recv(1 << 18)
                if not more:
                    break
                data += more
        except TimeoutError:
            SUPERVISORS.close()
            raise TimeoutError(0, "it did not end in time") from None
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            if remove is not None:
                remove()
    return bytes(data[1:]) if data else None


def _read(answer: bytes) -> Finished:
    line, _, rest = answer.partition(b"\n")
    words = line.decode("ascii", "replace").split()
    if len(words) != 11:
        return _failed("the supervisor was killed")
    code, reason, left = int(words[0]), words[1], int(words[2])
    stream = io.BytesIO(rest)
    parts = [stream.read(int(length)) for length in words[6:]]
    failure = parts[4].decode("utf-8", "replace")
    return Finished(
        exit_code=code if code >= 0 and not failure else None,
        signal=-code if code < 0 else None,
        timed_out=reason == "timeout",
        output=_text(parts[0], parts[1], int(words[4])),
        seconds=float(words[3]),
        errors=_text(parts[2], parts[3], int(words[5])),
        stopped="" if reason == "-" else reason,
        left=left,
        size=int(words[4]),
        failure=failure,
    )


def _text(head: bytes, tail: bytes, size: int) -> str:
    missing = size - len(head) - len(tail)
    if missing <= 0:
        return (head + tail).decode("utf-8", "replace")
    return head.decode("utf-8", "replace") + f"\n… {missing} bytes left out …\n" + tail.decode("utf-8", "replace")


class Supervisors:
    """The one process that forks the supervisors; started on demand, ended with this process or by `close`."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._process.pid if self._process is not None else None

    def hand_over(self, connection: socket.socket) -> None:
        """Pass on one end of a connection, for the supervisor of the next command."""
        with self._lock:
            if self._owner != os.getpid():
                self._drop()
            if self._control is None:
                self._start()
            assert self._control is not None
            try:
                socket.send_fds(self._control, [b"c"], [connection.fileno()])
            except (BrokenPipeError, ConnectionResetError):
                self._drop()
                self._start()
                socket.send_fds(self._control, [b"c"], [connection.fileno()])

    def forget(self) -> None:
        """Start a new process with the next command if this one has ended."""
        with self._lock:
            if self._process is not None and self._process.poll() is not None:
                self._drop()

    def close(self) -> None:
        """End the process without waiting; running commands are ended by their supervisors."""
        with self._lock:
            self._drop()

    def _start(self) -> None:

        mine, theirs = socket.socketpair()
        with theirs:
            # Not tied to a thread: it ends when the connection does, however memdeck ends.
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", "-c", _START, _HOUSE],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"LANG": "C"},
                start_new_session=True,
            )
        self._control = mine
        self._owner = os.getpid()
        atexit.unregister(self.close)
        atexit.register(self.close)

    def _drop(self) -> None:
        control, process = self._control, self._process
        self._control = self._process = None
        if control is not None:
            control.close()
        if process is not None and self._owner == os.getpid():
            process.kill()
            process.wait()


SUPERVISORS = Supervisors()
"""The instance that `run_command` uses."""
