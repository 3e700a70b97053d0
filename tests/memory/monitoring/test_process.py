"""Commands that do what they should not: none outlives its run, none makes it hang, none floods it.

Its limits and what it leaves out are real; so is everything that is run.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from memory.monitoring.command import LIMIT, Finished, run_command
from tests.patience import Stopwatch, join, until

HOUSE = Path(__file__).resolve().parents[3]
TIMEOUT, GRACE = 0.5, 0.3
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and subreapers")


@dataclass
class Marked:
    """Runs commands whose processes can be told from all others by a variable."""

    folder: Path
    mark: str

    def run(self, text: str, *, timeout: float = TIMEOUT, cancel: threading.Event | None = None) -> Finished:
        """Run a command with the mark around it."""
        environment = {"PATH": os.environ["PATH"], "MARK": self.mark}
        return run_command(
            text, folder=self.folder, environment=environment, timeout=timeout, grace=GRACE, cancel=cancel
        )

    def alive(self) -> list[int]:
        """Return the ids of the processes that carry the mark."""
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self.mark in _environment(pid)]


def _environment(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().decode("ascii", "replace")
    except OSError:
        return ""


@pytest.fixture
def marked(tmp_path: Path) -> Iterator[Marked]:
    """A folder and a mark; whatever still carries it afterwards is ended, so that no test harms the next."""
    found = Marked(tmp_path, f"memdeck-{uuid.uuid4().hex}")
    yield found
    if sys.platform == "linux":
        for pid in found.alive():
            os.kill(pid, signal.SIGKILL)


STORM = "storm() { [ $1 -gt 0 ] && { storm $(($1-1)) & storm $(($1-1)) & }; sleep 30; }; storm 10"
SESSIONS = "for i in 1 2 3 4 5 6 7 8; do setsid sh -c 'sleep 30 & trap \"\" TERM; sleep 30' & done; sleep 30"
BEHIND = "sh -c 'trap \"\" TERM HUP; sleep 30' >/dev/null 2>&1 & echo started"
THREAD = (
    "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(30,)).start(); "
    "ctypes.CDLL(None).pthread_exit(None)"
)
FLOOD = "head -c 1000000000 /dev/zero"
NASTY = {
    "endless output": ("yes", {"timed_out": True, "exit_code": 143}),
    "ignores TERM": ("trap '' TERM; while :; do sleep 1; done", {"timed_out": True, "exit_code": 137}),
    "leaves a process behind": (BEHIND, {"exit_code": 0, "timed_out": False, "output": "started\n"}),
    "many sessions": (SESSIONS, {"timed_out": True}),
    "reads the terminal": ("cat; read x </dev/tty; echo got $x", {"exit_code": 0, "output": "got\n"}),
    "a gigabyte of output": (FLOOD, {"exit_code": 0, "cut": LIMIT}),
    "fork storm": (STORM, {"stopped": "processes", "timed_out": False}),
    "closes its output": ("exec >&- 2>&-; sleep 0.1; exit 4", {"exit_code": 4, "output": ""}),
    "invalid UTF-8": ("printf 'a\\377\\0b'", {"exit_code": 0, "output": "a\ufffd\0b"}),
    "dies by a signal": ("kill -SEGV $$", {"exit_code": 139}),
    "leaves only a thread": (f"{sys.executable} -c '{THREAD}' & sleep 0.2; echo left", {"output": "left\n"}),
    "is not there": ("no-such-command", {"exit_code": 127}),
    "stops itself": ("kill -STOP $$", {"timed_out": True}),
}


@linux
@pytest.mark.parametrize("name", NASTY)
def test_no_nasty_command_survives(marked: Marked, name: str) -> None:
    """Each ends in time and as expected, its output is capped, and none of its processes is left."""
    text, expected = NASTY[name]
    # A gigabyte takes a second, and on a busy machine a minute.
    timeout = 120.0 if "gigabyte" in name else 10.0 if "storm" in name else TIMEOUT
    watch = Stopwatch(os.getpid())
    done = marked.run(text, timeout=timeout)
    assert watch.seconds() < timeout + GRACE + 3
    assert marked.alive() == []
    assert {key: getattr(done, key) for key in expected} == expected
    assert len(done.output.encode()) <= LIMIT + 100


@linux
def test_the_head_and_the_tail_are_kept(marked: Marked) -> None:
    """Of long output the first and last bytes are kept, apart from each other; people see a line between them."""
    done = marked.run("echo first; seq 1 1000000; echo last; echo oops >&2", timeout=10)
    assert done.output.startswith("first\n1\n2\n")
    assert done.tail.endswith("999999\n1000000\nlast\n")
    assert (len(done.output), done.cut) == (LIMIT, LIMIT)
    assert "\n…\n" in done.printed
    assert done.errors == "oops\n"


@linux
@pytest.mark.parametrize(
    ("resource", "most"),
    [("-t", 2), ("-c", 0), ("-n", 1024), ("-v", 4 << 20), ("-f", 2 << 20)],
    ids=lambda one: str(one),
)
def test_limits_are_set(marked: Marked, resource: str, most: int) -> None:
    """CPU seconds, core files, open files, memory and file size are limited (in the units of `ulimit`)."""
    assert int(marked.run(f"ulimit {resource}").output) <= most


@linux
def test_no_more_than_it_may_write(marked: Marked) -> None:
    """A file stops growing at the limit."""
    done = marked.run("truncate -s 1073741824 big && echo x >> big", timeout=5)
    assert (marked.folder / "big").stat().st_size <= 1 << 30
    assert done.exit_code != 0


@pytest.mark.parametrize("text", ["echo \0", "echo a\0b"])
def test_a_nul_is_refused(marked: Marked, text: str) -> None:
    """No command is cut short at a NUL character."""
    done = marked.run(text)
    assert (done.exit_code, done.output) == (None, "")
    assert "NUL" in done.failure


@linux
def test_a_run_can_be_called_off(marked: Marked) -> None:
    """Calling it off ends the command as its time limit would, at once."""
    cancel = threading.Event()
    done: list[Finished] = []
    thread = threading.Thread(target=lambda: done.append(marked.run("sleep 600", timeout=600, cancel=cancel)))
    thread.start()
    assert until(lambda: marked.alive() != [])
    cancel.set()
    join(thread)
    assert done[0].stopped == "cancelled"
    assert not done[0].timed_out
    assert marked.alive() == []
    assert marked.run("echo no", cancel=cancel).stopped == "cancelled"


@linux
def test_no_handle_stays_open(marked: Marked) -> None:
    """Dozens of commands leave no open file behind."""
    marked.run("true")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(30):
        marked.run("true")
        marked.run("exit 1", cancel=threading.Event())
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("size", [1, 100_000, 3_000_000])
def test_what_a_command_is_given_it_reads_whole(tmp_path: Path, size: int) -> None:
    """More than a pipe holds reaches it as well, and its end."""
    given = b"x" * size
    done = run_command("wc -c", folder=tmp_path, environment=dict(os.environ), given=given, timeout=60)
    assert (done.exit_code, done.output.strip()) == (0, str(size))


@pytest.mark.parametrize("text", ["true", "exec <&-; echo done >&2", "head -c 3 >/dev/null; sleep 0.1"])
def test_what_a_command_does_not_read_holds_nothing_up(tmp_path: Path, text: str) -> None:
    """One that reads nothing, or stops in the middle, ends as it would."""
    done = run_command(text, folder=tmp_path, environment=dict(os.environ), given=b"x" * 1_000_000, timeout=60)
    assert (done.exit_code, done.stopped) == (0, "")
