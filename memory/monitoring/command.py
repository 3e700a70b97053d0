"""Running an approved command: where, what it may see and use, how long it may take, and that nothing of it remains.

A command runs in its own session. When it ends, or is ended, every process of that session is ended, and every other
one that was seen below it. A program that leaves the session and its parent at once may survive; docs/monitors.md says
so.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import IO

import psutil

from memory.base.programs import absolute_folders, passes
from memory.base.safe_text import visible
from memory.base.secrets import find_secrets
from memory.errors import MemdeckError, UsageError
from memory.monitoring.result import NotInTime, NotUsed
from memory.registry import workspace_of
from memory.storage.own_folders import StateFolder
from memory.storage.private.run_folder import run_folder
from memory.trust.consent import Trust
from memory.trust.pins import PRIVATE

TIMEOUT = 10.0
"""Seconds for a command if its monitor sets no timeout."""
GRACE = 2.0
"""Seconds between TERM and KILL."""
PATIENCE = 5.0
"""Seconds after which processes that the kernel does not end are no longer waited for."""
LIMIT = 1 << 20
"""Bytes kept of the beginning of a command's output; the same again for its errors."""
TAIL = 32 * 1024
"""Bytes kept of the end of an output that is longer than its limit."""
MOST_PROCESSES = 256
"""A command with more processes at once than this is stopped."""
KEPT = ("PATH", "HOME", "LANG", "TZ")
"""The variables that every command has."""
_TICK = 0.05
"""The most seconds between two looks at the clock, at the cancellation and at the processes."""
_DRAIN = 1.0
"""Seconds in which the last output is read after the end."""
_PIECE = 1 << 16
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

    `exit_code` is None when it never started (`failure` is the reason), and 128 plus the number of the signal that
    killed it, as in a shell. `stopped` is why memdeck ended it: `timeout`, `cancelled`, `processes` (too many of them),
    or empty. `output` and `errors` are the beginning of what it printed. Of a longer output `cut` is how many bytes are
    kept, and `tail` is its end.
    """

    exit_code: int | None = None
    output: str = ""
    errors: str = ""
    seconds: float = 0.0
    stopped: str = ""
    failure: str = ""
    cut: int = 0
    tail: str = ""

    @property
    def timed_out(self) -> bool:
        """Whether it was ended because its time was over."""
        return self.stopped == "timeout"

    @property
    def printed(self) -> str:
        """The text for people: the output, with a line that says where it was cut, else the errors."""
        output = f"{self.output}\n…\n{self.tail}" if self.cut else self.output
        return output.strip() or self.errors.strip()

    @property
    def trouble(self) -> str:
        """In a few words why it did not end with exit code 0; "" if it did."""
        words = {"timeout": "stopped, it took too long", "processes": "stopped, it started too many processes"}
        code = f"exit code {self.exit_code}" if self.exit_code else ""
        return self.failure or words.get(self.stopped, self.stopped) or code


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
    state: StateFolder,
    environ: Mapping[str, str],
    names: Iterable[str] = (),
    given: bytes = b"",
    timeout: float = TIMEOUT,
    limit: int = LIMIT,
    cancel: threading.Event | None = None,
) -> Finished:
    """Run a command as `run_command` does in a folder of the workspace `root`, or in `PRIVATE`: an empty private one.

    From a private folder nothing leads into the workspace, no variable either. `state` is where such folders are made,
    `names` are the approved variables. UsageError `monitor.folder` for a folder that is not in the workspace, and for a
    variable that leads there; errors of the state folder.
    """
    environment = clean_environment(environ, names, outside=root)
    run = partial(run_command, text, environment=environment, given=given, timeout=timeout, limit=limit, cancel=cancel)
    top = os.path.realpath(root)
    if folder != PRIVATE:
        place = os.path.realpath(os.path.join(root, folder))
        if not os.path.isdir(place) or (place != top and not place.startswith(top.rstrip("/") + "/")):
            raise UsageError("monitor.folder", f"{folder[:60]!r} is not a folder of the workspace", "write folder: .")
        return run(folder=place)
    with run_folder(state, workspace_of) as place:
        for name in names:
            if _leads_in(environment.get(name, ""), place, top):
                raise UsageError("monitor.folder", f"{name} leads into the workspace: add folder: .")
        return run(folder=place)


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
    cancel: threading.Event | None = None,
) -> Finished:
    """Run `/bin/sh -c text` in a folder and wait for its end, at most `timeout` seconds, plus `grace` to end by itself.

    `environment` is all that the command sees, see `clean_environment`; `given` is its standard input.
    Never raises because of the command.
    """
    if "\0" in text:
        return Finished(failure="a command cannot contain a NUL character")
    if cancel is not None and cancel.is_set():
        return Finished(stopped="cancelled")
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
        return Finished(failure=str(error))
    begun = time.monotonic()
    output, errors = _Captured(process.stdout, limit), _Captured(process.stderr, limit)
    if process.stdin is not None:
        threading.Thread(target=_give, args=(process.stdin, given), name="given", daemon=True).start()
    tree = _Tree(process.pid)
    try:
        reason = _wait(tree, begun + timeout, cancel)
        if reason in ("timeout", "cancelled"):
            tree.signal(signal.SIGTERM)
            until = time.monotonic() + grace
            while tree.living() and time.monotonic() < until:
                time.sleep(_TICK)
    finally:
        # Also where this thread is interrupted: no process of the command goes on.
        seconds = time.monotonic() - begun
        tree.kill()
        code = process.wait()
    return Finished(
        exit_code=code if code >= 0 else 128 - code,
        output=output.text(),
        errors=errors.text(),
        seconds=seconds,
        stopped=reason,
        cut=limit if output.tail else 0,
        tail=output.tail.decode("utf-8", "replace"),
    )


def _give(pipe: IO[bytes], given: bytes) -> None:
    """Write what a command reads; it may end before it has read all of it."""
    with suppress(OSError), pipe:
        rest = memoryview(given)
        while rest:
            rest = rest[pipe.write(rest) :]


class _Captured:
    """The output of one pipe, read in a thread: its beginning up to a limit, and its end."""

    def __init__(self, pipe: IO[bytes] | None, limit: int) -> None:
        assert pipe is not None
        self.limit = limit
        self.head = bytearray()
        self.tail = b""
        self._reader = threading.Thread(target=self._read, args=(pipe,), name="output", daemon=True)
        self._reader.start()

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            while data := pipe.read(_PIECE):
                free = self.limit - len(self.head)
                self.head += data[:free]
                if data[free:]:
                    self.tail = (self.tail + data[free:])[-TAIL:]

    def text(self) -> str:
        """Return the beginning; a process that left the run may hold the pipe, and is not waited for."""
        self._reader.join(_DRAIN)
        return bytes(self.head).decode("utf-8", "replace")


def _wait(tree: _Tree, until: float, cancel: threading.Event | None) -> str:
    """Wait until the shell has ended, or return why it has to: `timeout`, `cancelled` or `processes`."""
    pause = 0.001
    while not tree.has_ended():
        if time.monotonic() >= until:
            return "timeout"
        if cancel is not None and cancel.is_set():
            return "cancelled"
        if len(tree.living()) > MOST_PROCESSES:
            return "processes"
        time.sleep(pause)
        pause = min(2 * pause, _TICK)
    return ""


class _Tree:
    """The processes of a run: those of the session of its shell, and those that were once seen below it."""

    def __init__(self, shell: int) -> None:
        self.shell = shell
        self._seen: dict[int, psutil.Process] = {}

    def has_ended(self) -> bool:
        """Return whether the shell has ended. Its number stays taken until it is waited for."""
        return os.waitid(os.P_PID, self.shell, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def living(self) -> list[psutil.Process]:
        """Return the living processes."""
        with suppress(psutil.Error):
            self._seen |= {one.pid: one for one in psutil.Process(self.shell).children(recursive=True)}
        for pid in psutil.pids():
            if pid not in self._seen and _session_of(pid) == self.shell:
                with suppress(psutil.Error):
                    self._seen[pid] = psutil.Process(pid)
        self._seen = {pid: one for pid, one in self._seen.items() if _is_alive(one)}
        return list(self._seen.values())

    def signal(self, number: signal.Signals) -> bool:
        """Send a signal to all, those of the group at one moment; return whether any lives."""
        with suppress(OSError):
            os.killpg(self.shell, number)
        found = self.living()
        for process in found:
            with suppress(psutil.Error):
                process.send_signal(number)
        return bool(found)

    def kill(self) -> None:
        """Stop, then kill everything until nothing is left: forking processes could outrun the kill alone."""
        until = time.monotonic() + PATIENCE
        while self.signal(signal.SIGSTOP) and time.monotonic() < until:
            self.signal(signal.SIGKILL)
            time.sleep(_TICK / 10)


def _session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def _is_alive(process: psutil.Process) -> bool:
    """Return whether a process or a thread of it still runs; a zombie does not."""
    try:
        ended = process.status() == psutil.STATUS_ZOMBIE and process.num_threads() < 2
        return process.is_running() and not ended
    except psutil.Error:
        return False


def ask_command(
    text: str,
    question: object,
    *,
    trust: Trust,
    environ: Mapping[str, str],
    names: tuple[str, ...] = (),
    seconds: float,
    limit: int,
) -> str:
    """Return what an approved command prints; NotUsed if it fails, NotInTime beyond `seconds`.

    `names` are variables that it gets in addition to those of every command. It runs in an empty private folder, like
    every unattended command. `limit` is in bytes.
    """
    try:
        ended = run_placed(
            text,
            PRIVATE,
            root=trust.workspace,
            state=trust.state,
            environ=environ,
            names=names,
            given=json.dumps(question).encode("ascii"),
            timeout=seconds,
            limit=limit,
        )
    except MemdeckError as error:
        raise NotUsed(error.message) from error
    if ended.failure:
        raise NotUsed(ended.failure)
    if ended.timed_out:
        raise NotInTime(f"it did not answer within {seconds:g} seconds")
    if ended.exit_code != 0:
        last = last_line(ended)
        raise NotUsed(f"it failed: {ended.trouble}" + (f" ({last})" if last else ""))
    return ended.output


LONGEST = 200
"""Maximum length, in characters, of a printed line in messages."""


def last_line(ended: Finished) -> str:
    """Return the last line of a command's output, else of its errors; a line with a secret is skipped."""
    for text in (ended.tail or ended.output, ended.errors):
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines and not find_secrets(lines[-1]):
            return visible(lines[-1])[:LONGEST]
    return ""
