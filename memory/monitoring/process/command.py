"""Running an approved command: what it may see and use, how long it may take, and that nothing of it stays.

The work is done by `supervisor`, in a process of its own that is started with the first command and ends with memdeck.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.base.programs import absolute_folders
from memory.monitoring.run.cancel import Cancel
from memory.trust.variables import kept_outside, loads

if TYPE_CHECKING:
    import subprocess

TIMEOUT = 10.0
"""Seconds that a command has where its monitor does not say."""
GRACE = 2.0
"""Seconds between TERM and KILL."""
LIMIT = 64 * 1024
"""Bytes that are kept of what a command prints, the first and the last half; of errors as many again."""
KEPT = ("PATH", "HOME", "LANG", "TZ")
"""The variables that every command has."""
ALONE: Mapping[str, str] = {"PYTHONSAFEPATH": "1", "PYTHONPYCACHEPREFIX": "/dev/null"}
"""What keeps Python from taking modules of a script's own folder, and compiled ones in the place of those it reads."""
_MARGIN = 8.0
_HOUSE = os.path.abspath(f"{__file__}/../../../..")
# The house comes last on the path, so that nothing in it can stand before the standard library.
_START = "import sys; sys.path.append(sys.argv[1]); from memory.monitoring.process.supervisor import main; main()"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended.

    `exit_code` is None when it died by `signal` (a number) or never started (`failure` says why). `stopped` is why
    memdeck ended it: `timeout`, `cancelled`, `processes` (too many of them), or empty. `output` and `errors` are what
    it printed, at most `limit` bytes each, with a line where the middle was left out. `left` counts the processes
    that were still there and were killed.
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
    """Return what a command sees of an environment: PATH, HOME, LANG, TZ and the variables of approved names.

    Of PATH it sees the absolute folders that do not lie in the folder `outside`, a workspace: with others an approved
    `df` would be whatever the workspace calls so. What other variables have programs load from there is left out too
    (`memory.trust.variables`), for no approval covers it. Python is kept from modules that it comes upon (`ALONE`).
    """
    names = (*KEPT, *approved)
    found = {name: environ[name] for name in names if name in environ and "\0" not in environ[name]}
    for name in filter(loads, tuple(found)):
        value = kept_outside(name, found.pop(name), outside)
        if value is not None:
            found[name] = value
    found["PATH"] = absolute_folders(found.get("PATH", ""), outside=outside) or _PATH
    return {**found, **ALONE}


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
    """Run `/bin/sh -c text` in a folder and wait for its end, at most `timeout` seconds, `grace` more to end by itself.

    `environment` is all that the command sees, see `clean_environment`; `given` is what it can read. Never raises for
    what the command does; when this returns no process that it started is alive.
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
        # It was gone before it began: the next try starts another.
        SUPERVISORS.forget()
    return _failed("cancelled" if cancel is not None and cancel.cancelled else "the supervisor cannot be started")


def _failed(why: str) -> Finished:
    return Finished(None, None, False, "", 0.0, stopped="cancelled" if why == "cancelled" else "", failure=why)


def _ask(request: bytes, seconds: float, cancel: Cancel | None) -> bytes | None:
    """Hand a request over and return the answer; None if the command was never begun."""
    mine, theirs = socket.socketpair()
    with mine:
        try:
            SUPERVISORS.hand_over(theirs)
        finally:
            theirs.close()
        until = time.monotonic() + seconds
        data = bytearray()
        # Shut down for writing: the supervisor sees the end and answers all the same.
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
    if not data:
        return None
    return bytes(data[1:])


def _read(answer: bytes) -> Finished:
    line, _, rest = answer.partition(b"\n")
    words = line.decode("ascii", "replace").split()
    if len(words) != 11:
        return _failed("the supervisor was killed")
    code, reason, left = int(words[0]), words[1], int(words[2])
    lengths = [int(word) for word in words[6:]]
    parts: list[bytes] = []
    at = 0
    for length in lengths:
        parts.append(rest[at : at + length])
        at += length
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
    """The one process that forks the supervisors; started when needed, gone with this process or by `close`."""

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
        """Give one end of a connection away; the supervisor of the next command holds it."""
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
        """Start anew with the next command if the process is gone."""
        with self._lock:
            if self._process is not None and self._process.poll() is not None:
                self._drop()

    def close(self) -> None:
        """End the process; whatever runs is ended by the supervisors, without anybody waiting for it."""
        with self._lock:
            self._drop()

    def _start(self) -> None:
        import atexit
        import subprocess

        mine, theirs = socket.socketpair()
        with theirs:
            # Not a child of a thread's life: it ends when the connection does, however memdeck ends.
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
"""What `run_command` uses."""
