"""The process tree below a process: finding it, and killing it so that no process escapes."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Set

PATIENCE = 5.0
"""Seconds after which processes that the kernel does not end yet are no longer waited for; killing continues."""
_LINUX = sys.platform == "linux"


def tree_of(root: int, known: Set[int] = frozenset(), spare: Set[int] = frozenset()) -> set[int]:
    """Return the processes below `root`, including `known` ones (not read again), without `spare` and its descendants.

    Zombies that were not reaped count too: if the first thread of a program has ended, others may still run. Without
    /proc, only the known ones are returned.
    """
    children: dict[int, list[int]] = {}
    try:
        names = os.listdir("/proc") if _LINUX else []
    except OSError:
        names = []
    for name in names:
        if not name.isdigit() or int(name) in known:
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                words = file.read(512).rpartition(b")")[2].split()
        except OSError:
            continue
        if len(words) > 1:
            children.setdefault(int(words[1]), []).append(int(name))
    found = set(known)
    pending = [root, *known]
    while pending:
        for pid in children.pop(pending.pop(), ()):
            if pid not in spare:
                found.add(pid)
                pending.append(pid)
    return found


def kill_tree(group: int = 0, reaped: Callable[[int, int], object] | None = None, spare: set[int] | None = None) -> int:
    """Stop, then kill everything below this process except `spare`; return how many processes there were.

    They are stopped first, because forking processes could otherwise outrun the scan. `group` is stopped and killed as
    one. `reaped` is called with id and status of each child that ended; children in `spare` are removed from it.
    """
    here = os.getpid()
    kept = set() if spare is None else spare
    until = time.monotonic() + PATIENCE
    count = 0
    while True:
        if group:
            # One call for the usual group, which no process in it can outrun.
            send(-group, signal.SIGSTOP)
        stopped: set[int] = set()
        while new := tree_of(here, stopped, kept) - stopped:
            for one in {_group_of(pid) for pid in new} - {0, os.getpgrp(), *kept}:
                send(-one, signal.SIGSTOP)
            for pid in new:
                send(pid, signal.SIGSTOP)
            stopped |= new
            if time.monotonic() > until:
                break
        count = max(count, len(stopped))
        for pid in stopped:
            send(pid, signal.SIGKILL)
        if group:
            send(-group, signal.SIGKILL)
        if _all_gone(min(until, time.monotonic() + 0.5), reaped, kept) or time.monotonic() > until:
            return count


def send(pid: int, number: int) -> None:
    """Send a signal to a process, or to a group by its negative number; ignored if it has ended."""
    try:
        if pid < 0:
            os.killpg(-pid, number)
        else:
            os.kill(pid, number)
    except OSError:
        pass


def _all_gone(until: float, reaped: Callable[[int, int], object] | None, spare: set[int]) -> bool:
    """Reap children until only `spare` remain, at most until some time."""
    pause = 0.0005
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        if pid:
            if reaped is not None:
                reaped(pid, status)
            spare.discard(pid)
            continue
        if spare and not tree_of(os.getpid(), spare=spare):
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(pause)
        pause = min(pause * 2, 0.02)


def _group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0
