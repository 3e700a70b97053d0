"""Runs commands on behalf of memdeck and leaves no process behind; started as a separate program.

One such process serves a whole memdeck: for every command it receives one end of a connection and forks. The fork (the
supervisor of that command) reads what to run, runs it, and answers when the last process of its tree has ended. Being a
child subreaper, the supervisor inherits processes that daemonise; it first stops, then kills all of them. It does so
when the command ends, when its time is up, when it starts too many processes, when memdeck closes the connection or
ends, and when the process that forked it ends.

It imports only `shell` and `tree` of memdeck, so that it starts fast and under `-I -S`. docs/monitors.md tells people
what commands may expect.
"""

from __future__ import annotations

import ctypes
import gc
import os
import select
import signal
import socket
import sys

from .shell import CommandRun, read_some, wake_on_children
from .tree import PATIENCE, kill_tree, send

_SUBREAPER, _DEATH_SIGNAL = 36, 1
_LINUX = sys.platform == "linux"
_prctl = ctypes.CDLL(None).prctl if _LINUX else None


def control_process(*words: int) -> None:
    """Call prctl if the system has it."""
    if _prctl is not None:
        _prctl(*words, *(0,) * (5 - len(words)))


def serve(control: socket.socket) -> None:
    """Fork one supervisor for each connection that arrives, until memdeck and the last supervisor have ended."""
    control_process(_SUBREAPER, 1)
    wake = wake_on_children()
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
                read_some(wake, 512)
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
    """Reap dead children; if a supervisor was killed, kill its processes, which become children of this process."""
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
            # A command may stop its supervisor with a signal; it is continued here.
            send(pid, signal.SIGCONT)
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
    run = CommandRun(connection, stop, timeout, grace, int(limit))
    try:
        run.start(request[3], request[4], request[5], request[6:])
        run.watch()
        connection.settimeout(PATIENCE)
        connection.sendall(run.answer())
        connection.close()
    finally:
        run.end()


def _go_first() -> None:
    """Take priority over the command: with thousands of processes a fair share of the processor would not suffice to
    stop them.

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


def main() -> None:
    """Serve the connection on this process's standard input."""
    serve(socket.socket(fileno=0))
