"""Runs commands on behalf of memdeck and leaves nothing of them behind; started as a program of its own.

One such process serves a whole memdeck: for every command it is handed one end of a connection, forks, and the fork
(the supervisor of that command) reads what to run, runs it, and answers when the last process of its tree is gone.
Being a child subreaper, the supervisor inherits what daemonises itself; it first stops, then kills all of it. It does
so when the command ends, when its time is up, when it starts too many processes, when memdeck closes the connection
or is gone, and when the process that forked it is gone.

The file imports nothing of memdeck, so that it starts fast and under `-I -S`. docs/monitors.md tells people what
commands may expect.
"""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import select
import signal
import socket
import sys
import time

MOST_PROCESSES = 256
"""A command with more processes at once than this is stopped."""
MEMORY = 4 << 30
"""Address space of one process, in bytes."""
FILE_SIZE = 1 << 30
"""The largest file that a command may write, in bytes."""
OPEN_FILES = 1024
TICK = 0.05
"""Seconds between two looks at the number of processes."""
PATIENCE = 5.0
"""Seconds after which the answer waits no longer for what the kernel does not let go of; killing goes on."""
_SUBREAPER, _DEATH_SIGNAL = 36, 1
_LINUX = sys.platform == "linux"
_prctl = ctypes.CDLL(None).prctl if _LINUX else None


def control_process(*words: int) -> None:
    """Call prctl where there is one."""
    if _prctl is not None:
        _prctl(*words, *(0,) * (5 - len(words)))


def serve(control: socket.socket) -> None:
    """Fork one supervisor for each connection that arrives, until memdeck is gone and the last has finished."""
    control_process(_SUBREAPER, 1)
    wake = _wake_on_children()
    supervisors: set[int] = set()
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(wake, select.POLLIN)
    here = os.getpid()
    # Forks share memory until one writes to it, and collecting garbage writes to all of it.
    gc.disable()
    gc.freeze()
    while True:
        for fd, _ in poll.poll():
            if fd == wake:
                _read_some(wake, 512)
                _bury(supervisors)
                continue
            byte, handles, _, _ = socket.recv_fds(control, 1, 1)
            if not byte:
                while supervisors:
                    _bury(supervisors, wait=True)
                return
            for handle in handles:
                os.set_inheritable(handle, False)
                child = os.fork()
                if child == 0:
                    _start_supervisor(control, handle, here)
                supervisors.add(child)
                os.close(handle)


def _start_supervisor(control: socket.socket, handle: int, parent: int) -> None:
    code = 1
    try:
        control.close()
        with socket.socket(fileno=handle) as connection:
            supervise(connection, parent)
        code = 0
    finally:
        os._exit(code)


def _bury(supervisors: set[int], wait: bool = False) -> None:
    """Take the dead; if a supervisor was killed, kill what it leaves, which comes to this process."""
    killed = False
    while True:
        try:
            pid, status = os.waitpid(-1, os.WUNTRACED | (0 if wait else os.WNOHANG))
        except ChildProcessError:
            supervisors.clear()
            return
        if pid == 0:
            break
        if os.WIFSTOPPED(status):
            # A command may stop its supervisor, but not for long.
            _send(pid, signal.SIGCONT)
        elif pid in supervisors:
            supervisors.discard(pid)
            killed = killed or status != 0
            if wait:
                break
    if killed:
        kill_tree(spare=supervisors)


def supervise(connection: socket.socket, parent: int) -> None:
    """Read one request, run it, answer; never leaves a process behind."""
    os.setsid()
    _go_first()
    control_process(_SUBREAPER, 1)
    control_process(_DEATH_SIGNAL, signal.SIGTERM)
    stop: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stop.append(number))
    request = _read_request(connection)
    if request is None or os.getppid() != parent:
        return
    connection.sendall(b"+")
    timeout, grace, limit = (float(word) for word in request[:3])
    run = _Run(connection, stop, timeout, grace, int(limit))
    try:
        run.start(request[3], request[4], request[5:])
        run.watch()
        connection.settimeout(PATIENCE)
        connection.sendall(run.answer())
        connection.close()
    finally:
        run.end()


def _go_first() -> None:
    """Come before the command whatever it does; with thousands of processes there is no fair share left to stop them.

    Only root may, and only root needs it: for others the kernel limits the number of processes.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except (AttributeError, OSError):
        pass


def _read_request(connection: socket.socket) -> list[bytes] | None:
    connection.settimeout(PATIENCE)
    data = bytearray()
    while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4], "big"):
        more = connection.recv(1 << 16)
        if not more:
            return None
        data += more
    return bytes(data[4:]).split(b"\0")


class _Captured:
    """What came through one pipe: its head, its tail, and how much there was."""

    def __init__(self, limit: int) -> None:
        self.half = limit // 2
        self.head = bytearray()
        self.tail = bytearray()
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        free = self.half - len(self.head)
        if free > 0:
            self.head += data[:free]
            data = data[free:]
        if data:
            self.tail += data
            if len(self.tail) > 4 * self.half:
                del self.tail[: -self.half]

    def ends(self) -> tuple[bytes, bytes]:
        return bytes(self.head), bytes(self.tail[-self.half :] if self.half else b"")


class _Run:
    """One command from its start to the end of its last process."""

    def __init__(self, connection: socket.socket, stop: list[int], timeout: float, grace: float, limit: int) -> None:
        self.connection = connection
        self.stop = stop
        self.timeout = timeout
        self.grace = grace
        self.captured = [_Captured(limit), _Captured(limit)]
        self.pipes: dict[int, _Captured] = {}
        self.poll = select.poll()
        self.main = 0
        self.status: int | None = None
        self.childless = False
        self.reason = ""
        self.failure = b""
        self.left = 0
        self.begun = self.ended = time.monotonic()
        self.tasks = _tasks()
        self.next_count = self.begun + TICK

    def start(self, folder: bytes, command: bytes, environment: list[bytes]) -> None:
        """Start the shell, with pipes for what it prints."""
        self.wake = _wake_on_children()
        self.poll.register(self.wake, select.POLLIN)
        self.poll.register(self.connection, select.POLLIN)
        ends = [os.pipe(), os.pipe()]
        for captured, (reading, _) in zip(self.captured, ends, strict=True):
            self.pipes[reading] = captured
            self.poll.register(reading, select.POLLIN)
        self.begun = time.monotonic()
        try:
            self._spawn(folder, command, environment, ends[0][1], ends[1][1])
        except (OSError, ValueError) as error:
            self.failure = str(error).encode("utf-8", "replace")[:500]
            self.status, self.childless = 126 << 8, True
        for _, writing in ends:
            os.close(writing)

    def _spawn(self, folder: bytes, command: bytes, environment: list[bytes], out: int, err: int) -> None:
        """Start the shell: own session, nothing to read, limits, and only what was approved around it."""
        os.chdir(folder)
        # The limits are set here and inherited: what this process does itself stays far below them.
        _limit(resource.RLIMIT_CPU, int(self.timeout + self.grace) + 1)
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_FSIZE, FILE_SIZE)
        _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
        _limit(resource.RLIMIT_AS, MEMORY)
        if self.tasks:
            # The kernel counts all processes of the user, so those that are there already come on top.
            _limit(resource.RLIMIT_NPROC, self.tasks + 2 * MOST_PROCESSES)
        around = dict(word.split(b"=", 1) for word in environment if b"=" in word)
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
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
        """Wait for the end, ask the tree to end where it must, and make sure that it did."""
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
        self.reap()
        if not self.childless:
            self.left = kill_tree(self._group, self.take_end)
            self.reap()
        self._drain()

    def end(self) -> None:
        """Kill what is left for as long as it takes: the kernel lets go of a process only between its own steps."""
        self.reap()
        while not self.childless:
            kill_tree(self._group, self.take_end)
            self.reap()

    @property
    def _group(self) -> int:
        """The shell's group while its number is surely nobody else's, 0 afterwards."""
        return self.main if self.status is None else 0

    def _ask_to_end(self) -> None:
        for pid in tree_of(os.getpid(), set()) or {self.main}:
            _send(pid, signal.SIGTERM)
        until = time.monotonic() + self.grace
        while not self.childless and time.monotonic() < until:
            self._look(min(TICK, until - time.monotonic()))
            self.reap()

    def _look(self, seconds: float) -> None:
        """Wait for something to happen, at most some seconds, and take it in."""
        found = self.poll.poll(max(0, int(seconds * 1000) + 1))
        for fd, _ in found:
            if fd in self.pipes:
                self._take(fd)
            elif fd == self.wake:
                _read_some(self.wake, 512)
                self.reap()
            else:
                # Nothing more is ever said on the connection: memdeck cancels, or it is gone.
                self.poll.unregister(self.connection)
                self.stop.append(0)
        now = time.monotonic()
        if now >= self.next_count:
            self.reap()
            self.next_count = now + TICK
            if self.tasks and _tasks() > self.tasks + MOST_PROCESSES and not self.reason:
                self._count()

    def _count(self) -> None:
        """Count the tree while it holds still, and end it if it has too many."""
        if self._group:
            _send(-self._group, signal.SIGSTOP)
        if len(tree_of(os.getpid(), set())) > MOST_PROCESSES:
            self.reason = "processes"
        elif self._group:
            _send(-self._group, signal.SIGCONT)

    def _take(self, fd: int) -> None:
        data = _read_some(fd, 1 << 18)
        if data:
            self.pipes[fd].add(data)
        else:
            self.poll.unregister(fd)
            del self.pipes[fd]
            os.close(fd)

    def reap(self) -> None:
        """Take the children that have ended."""
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
        """Keep how the shell ended."""
        if pid == self.main:
            self.status = status

    def _drain(self) -> None:
        """Read what is left in the pipes; without a subreaper somebody may still hold them open."""
        until = time.monotonic() + 0.2
        while self.pipes and time.monotonic() < until:
            for fd, _ in self.poll.poll(20):
                if fd in self.pipes:
                    self._take(fd)
                elif fd == self.wake:
                    _read_some(self.wake, 512)
                else:
                    self.poll.unregister(self.connection)

    def answer(self) -> bytes:
        """Return the outcome: one line of numbers and words, then the ends of both outputs."""
        code = os.waitstatus_to_exitcode(self.status) if self.status is not None else -signal.SIGKILL
        parts = [*self.captured[0].ends(), *self.captured[1].ends(), self.failure]
        words = [code, self.reason or "-", self.left, f"{self.ended - self.begun:.6f}"]
        words += [captured.size for captured in self.captured]
        words += [len(part) for part in parts]
        return " ".join(map(str, words)).encode() + b"\n" + b"".join(parts)


def kill_tree(main: int = 0, reaped: object = None, spare: set[int] | None = None) -> int:
    """Stop, then kill everything beneath this process but `spare`; return how many processes there were.

    Stopping first keeps those that fork from being faster. `reaped` is called with each child that ended.
    """
    here = os.getpid()
    until = time.monotonic() + PATIENCE
    count = 0
    if main:
        # One call for the usual group, which nothing in it can outrun.
        _send(-main, signal.SIGSTOP)
    while time.monotonic() < until:
        stopped: set[int] = set()
        while time.monotonic() < until:
            new = tree_of(here, stopped, spare or set()) - stopped
            if not new:
                break
            for group in {_group(pid) for pid in new} - {0, os.getpgrp(), *(spare or ())}:
                _send(-group, signal.SIGSTOP)
            for pid in new:
                _send(pid, signal.SIGSTOP)
            stopped |= new
        count = max(count, len(stopped))
        for pid in stopped:
            _send(pid, signal.SIGKILL)
        if not _LINUX and main:
            _send(-main, signal.SIGKILL)
        if _all_gone(min(until, time.monotonic() + 0.5), reaped, spare or set()):
            break
    return count


def _all_gone(until: float, reaped: object, spare: set[int]) -> bool:
    pause = 0.0005
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        if pid:
            if callable(reaped):
                reaped(pid, status)
            spare.discard(pid)
            continue
        if spare and not tree_of(os.getpid(), set(), spare):
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(pause)
        pause = min(pause * 2, 0.02)


def tree_of(root: int, known: set[int], spare: set[int] = frozenset()) -> set[int]:  # type: ignore[assignment]
    """Return the living processes beneath one, with `known` ones (not looked at again), without `spare` and theirs."""
    if not _LINUX:
        return set()
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) in known:
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                words = file.read(512).rpartition(b")")[2].split()
        except OSError:
            continue
        # A zombie that still has children cannot be: they went to the subreaper when it died.
        if len(words) > 1 and words[0] not in (b"Z", b"X"):
            children.setdefault(int(words[1]), []).append(int(name))
    found = set(known)
    pending = [root, *known]
    while pending:
        for pid in children.pop(pending.pop(), ()):
            if pid not in spare:
                found.add(pid)
                pending.append(pid)
    return found


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0


def _send(pid: int, number: int) -> None:
    try:
        if pid < 0:
            os.killpg(-pid, number)
        else:
            os.kill(pid, number)
    except OSError:
        pass


def _tasks() -> int:
    """Return the number of processes and threads of the whole machine: cheap, and enough to tell when to look."""
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read(128).split()[3].split(b"/")[1])
    except (OSError, IndexError, ValueError):
        return 0


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    try:
        resource.setrlimit(which, (value, value))
    except (OSError, ValueError):
        pass


def _wake_on_children() -> int:
    """Return a pipe that can be read when a child ends or a signal arrives."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def _read_some(fd: int, most: int) -> bytes:
    try:
        return os.read(fd, most)
    except BlockingIOError:
        return b""


if __name__ == "__main__":
    serve(socket.socket(fileno=0))
