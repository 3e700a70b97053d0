"""One command from its start to the end of its last process, as its supervisor sees it."""

from __future__ import annotations

import fcntl
import os
import resource
import select
import signal
import socket
import time
from collections import deque

from .tree import kill_tree, send, tree_of

MOST_PROCESSES = 256
"""A command with more processes at once than this is stopped."""
MEMORY = 4 << 30
"""Address space of one process, in bytes."""
FILE_SIZE = 1 << 30
"""The largest file that a command may write, in bytes."""
OPEN_FILES = 1024
PIECE = 1 << 20
"""Output of this many bytes is a flood, and is then read in pieces of this size."""
NAP = 0.001
"""Seconds in which a flood may fill its pipe again."""
TICK = 0.05
"""Seconds between two reads of the machine's number of processes."""
SCAN = 1.0
"""Seconds between two counts of the command's own processes."""


class _Captured:
    """The output of one pipe: its head, its tail, and its size."""

    def __init__(self, limit: int) -> None:
        self.half = limit // 2
        self.head = bytearray()
        self.recent: deque[bytes] = deque()
        self.held = 0
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        free = self.half - len(self.head)
        if free > 0:
            self.head += data[:free]
            data = data[free:]
        if data:
            self.recent.append(data)
            self.held += len(data)
            while self.recent and self.held - len(self.recent[0]) >= self.half:
                self.held -= len(self.recent.popleft())

    def ends(self) -> tuple[bytes, bytes]:
        tail = b"".join(self.recent)
        return bytes(self.head), tail[max(0, len(tail) - self.half) :]


class CommandRun:
    """One command from its start to the end of its last process."""

    def __init__(self, connection: socket.socket, stop: list[int], timeout: float, grace: float, limit: int) -> None:
        self.connection = connection
        self.stop = stop
        self.timeout = timeout
        self.grace = grace
        self.captured = [_Captured(limit), _Captured(limit)]
        self.pipes: dict[int, _Captured] = {}
        self.given = memoryview(b"")
        self.giving = -1
        self.poll = select.poll()
        self.main = 0
        self.status: int | None = None
        self.childless = False
        self.reason = ""
        self.failure = b""
        self.left = 0
        self.begun = self.ended = time.monotonic()
        self.others = _tasks()
        self.next_look = self.begun + TICK
        self.next_count = self.begun + SCAN

    def start(self, folder: bytes, command: bytes, given: bytes, environment: list[bytes]) -> None:
        """Start the shell, with pipes for its output and one for its input."""
        self.wake = wake_on_children()
        self.poll.register(self.wake, select.POLLIN)
        self.poll.register(self.connection, select.POLLIN)
        ends = [os.pipe(), os.pipe()]
        for captured, (reading, _) in zip(self.captured, ends, strict=True):
            self.pipes[reading] = captured
            self.poll.register(reading, select.POLLIN)
        reading = self._give(given) if given else -1
        self.begun = time.monotonic()
        try:
            self._spawn(folder, command, environment, reading, ends[0][1], ends[1][1])
        except (OSError, ValueError) as error:
            self.failure = str(error).encode("utf-8", "replace")[:500]
            self.status, self.childless = 126 << 8, True
        for _, writing in ends:
            os.close(writing)
        if reading >= 0:
            os.close(reading)

    def _give(self, given: bytes) -> int:
        """Write the input to a pipe as it is read; return the end that the command reads."""
        reading, self.giving = os.pipe()
        os.set_blocking(self.giving, False)
        self.given = memoryview(given)
        self.poll.register(self.giving, select.POLLOUT)
        return reading

    def _hand_over(self) -> None:
        """Write what the pipe accepts, and close it once everything is written or no process reads it any more."""
        try:
            self.given = self.given[os.write(self.giving, self.given) :]
        except BlockingIOError:
            return
        except OSError:
            self.given = memoryview(b"")
        if not self.given:
            self._stop_giving()

    def _stop_giving(self) -> None:
        if self.giving >= 0:
            self.poll.unregister(self.giving)
            os.close(self.giving)
            self.giving = -1

    def _spawn(self, folder: bytes, command: bytes, environment: list[bytes], given: int, out: int, err: int) -> None:
        """Start the shell: own session, limits, and only the approved environment; it reads `given`, -1: nothing."""
        os.chdir(folder)
        # The limits are set here and inherited: this process itself stays far below them.
        limits = {
            resource.RLIMIT_CPU: int(self.timeout + self.grace) + 1,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_FSIZE: FILE_SIZE,
            resource.RLIMIT_NOFILE: OPEN_FILES,
            resource.RLIMIT_AS: MEMORY,
        }
        if self.others:
            # The kernel counts all processes of the user, so existing ones are added to the limit.
            limits[resource.RLIMIT_NPROC] = self.others + 2 * MOST_PROCESSES
        for which, value in limits.items():
            _limit(which, value)
        around = dict(word.split(b"=", 1) for word in environment if b"=" in word)
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0) if given < 0 else (os.POSIX_SPAWN_DUP2, given, 0),
            (os.POSIX_SPAWN_DUP2, out, 1),
            (os.POSIX_SPAWN_DUP2, err, 2),
        ]
        self.main = os.posix_spawn(
            b"/bin/sh",
            [b"/bin/sh", b"-c", command],
            around,
            file_actions=actions,
            setsid=True,
            setsigmask=(),
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
        )

    def watch(self) -> None:
        """Wait for the end, terminate the tree when necessary, and make sure that it ended."""
        deadline = self.begun + self.timeout
        while self.status is None and not self.reason:
            now = time.monotonic()
            if now >= deadline:
                self.reason = "timeout"
            elif self.stop:
                self.reason = "cancelled"
            else:
                self._look(min(TICK, deadline - now))
        if self.reason in ("timeout", "cancelled"):
            self._ask_to_end()
        self.ended = time.monotonic()
        self._stop_giving()
        self.reap()
        if not self.childless:
            self.left = kill_tree(self._group, self.take_end)
            self.reap()
        self._drain()

    def end(self) -> None:
        """Kill the remaining processes until none is left: the kernel may end a process with a delay."""
        self.reap()
        while not self.childless:
            kill_tree(self._group, self.take_end)
            self.reap()

    @property
    def _group(self) -> int:
        """The shell's process group while the number certainly belongs to it, 0 afterwards."""
        return self.main if self.status is None else 0

    def _ask_to_end(self) -> None:
        for pid in tree_of(os.getpid()) or {self.main}:
            send(pid, signal.SIGTERM)
        until = time.monotonic() + self.grace
        while not self.childless and time.monotonic() < until:
            self._look(min(TICK, until - time.monotonic()))
            self.reap()

    def _look(self, seconds: float) -> None:
        """Wait at most `seconds` for an event, and process it."""
        found = self.poll.poll(max(0, int(seconds * 1000) + 1))
        for fd, _ in found:
            if fd in self.pipes:
                self._take(fd)
            elif fd == self.giving:
                self._hand_over()
            elif fd == self.wake:
                read_some(self.wake, 512)
                self.reap()
            else:
                # No more data comes on the connection: memdeck cancelled, or it ended.
                self.poll.unregister(self.connection)
                self.stop.append(0)
        now = time.monotonic()
        if now >= self.next_look:
            self.reap()
            self.next_look = now + TICK
            spike = _tasks() > self.others + MOST_PROCESSES
            if spike or now >= self.next_count:
                self._count(now, spike)

    def _count(self, now: float, still: bool) -> None:
        """Count the tree, and end it if it has too many processes; it cannot before the machine's number grew as much.

        Counting takes too long while thousands of new processes start, so with `still` they are stopped meanwhile.
        """
        self.next_count = now + SCAN
        group = self._group if still else 0
        if group:
            send(-group, signal.SIGSTOP)
        count = len(tree_of(os.getpid()))
        if count > MOST_PROCESSES and not self.reason:
            self.reason = "processes"
        elif group:
            send(-group, signal.SIGCONT)
        self.others = _tasks() - count

    def _take(self, fd: int) -> None:
        data = read_some(fd, PIECE)
        if data:
            captured = self.pipes[fd]
            few = captured.size < PIECE
            captured.add(data)
            if captured.size >= PIECE:
                # A flood is read in few large pieces, not page by page as it arrives.
                if few:
                    _widen(fd)
                time.sleep(NAP)
        else:
            self.poll.unregister(fd)
            del self.pipes[fd]
            os.close(fd)

    def reap(self) -> None:
        """Reap the children that have ended."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.childless = True
                return
            if pid == 0:
                return
            self.take_end(pid, status)

    def take_end(self, pid: int, status: int) -> None:
        """Store the exit status of the shell."""
        if pid == self.main:
            self.status = status

    def _drain(self) -> None:
        """Read the rest of the pipes; without a subreaper another process may still hold them open."""
        until = time.monotonic() + 0.2
        while self.pipes and time.monotonic() < until:
            self._look(TICK)

    def answer(self) -> bytes:
        """Return the outcome: one line of numbers and words, then the ends of both outputs."""
        code = os.waitstatus_to_exitcode(self.status) if self.status is not None else -signal.SIGKILL
        parts = [*self.captured[0].ends(), *self.captured[1].ends(), self.failure]
        words = [code, self.reason or "-", self.left, f"{self.ended - self.begun:.6f}"]
        words += [captured.size for captured in self.captured]
        words += [len(part) for part in parts]
        return " ".join(map(str, words)).encode() + b"\n" + b"".join(parts)


def _tasks() -> int:
    """Return the number of processes and threads of the whole machine: cheap, and shows when to count the tree."""
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read(128).split()[3].split(b"/")[1])
    except (OSError, IndexError, ValueError):
        return 0


def _widen(pipe: int) -> None:
    """Enlarge the buffer of a pipe if the system allows it."""
    try:
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIECE)
    except (AttributeError, OSError):
        pass


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    try:
        resource.setrlimit(which, (value, value))
    except (OSError, ValueError):
        pass


def wake_on_children() -> int:
    """Return a pipe that becomes readable when a child ends or a signal arrives."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def read_some(fd: int, most: int) -> bytes:
    """Read what a pipe contains; empty at its end, and if nothing has arrived yet."""
    try:
        return os.read(fd, most)
    except BlockingIOError:
        return b""
