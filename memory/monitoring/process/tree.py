"""All processes beneath one: found, and killed so that none of them gets away."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Set

PATIENCE = 5.0
"""Seconds after which nobody waits any longer for what the kernel does not let go of; killing goes on."""
_LINUX = sys.platform == "linux"


def tree_of(root: int, known: Set[int] = frozenset(), spare: Set[int] = frozenset()) -> set[int]:
    """Return the processes beneath one, with `known` ones (not looked at again), without `spare` and theirs.

    The dead that nobody has waited for count too: of a program whose first thread has ended, the others may live.
    Where there is no /proc, only the known ones are returned.
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
    """Stop, then kill everything beneath this process but `spare`; return how many processes there were.

    Stopping first keeps those that fork from being faster than the look at them. `group` is stopped and killed as one.
    `reaped` is called with id and status of each child that ended; those of `spare` are taken out of it.
    """
    here = os.getpid()
    kept = set() if spare is None else spare
    until = time.monotonic() + PATIENCE
    count = 0
    while True:
        if group:
            # One call for the usual group, which nothing in it can outrun.
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
    """Send a signal to a process, or to a group by its negative number; whoever is gone needs none."""
    try:
        if pid < 0:
            os.killpg(-pid, number)
        else:
            os.kill(pid, number)
    except OSError:
        pass


def _all_gone(until: float, reaped: Callable[[int, int], object] | None, spare: set[int]) -> bool:
    """Wait for the dead until there are no others than `spare`, at most until some time."""
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
