"""Records the tour: the real application in a real pseudo-terminal, as an asciinema cast (version 2).

`python -m screenshots.tour [FILE]` writes `screenshots/tour.cast`; `asciinema play screenshots/tour.cast` shows it.
"""

from __future__ import annotations

import codecs
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
SIZE = (110, 28)
NOW = "2024-01-15T10:50:00Z"
STAMP = 1705315800
KEY_SECONDS = 0.07
"""How long a person takes from key to key."""

FRAME_SECONDS = 0.02

ENTER, ESCAPE, SAVE = "\r", "\x1b", "\x13"


@dataclass(frozen=True, slots=True)
class Step:
    """Keys that are pressed one after the other (or typed as one), and how long one looks at what they did."""

    keys: str
    look: float = 1.2
    at_once: bool = False


TOUR: tuple[Step, ...] = (
    Step("", 2.5),
    Step("2", 1.5),
    Step("jjj", 0.8),
    Step("a", 0.8),
    Step("Rotate the API keys", 0.4),
    Step("\t", 0.2),
    Step("\x1b[D", 0.4, at_once=True),
    Step("\t", 0.2),
    Step("fri 9:00", 1.0),
    Step(SAVE, 1.8),
    Step("s", 1.4),
    Step("/", 0.4),
    Step("rotate", 0.6),
    Step(ENTER, 0.8),
    Step("p", 0.6),
    Step("40", 0.4),
    Step(ENTER, 1.5),
    Step("d", 0.8),
    Step("all four keys are new", 0.5),
    Step(ENTER, 1.5),
    Step("u", 1.5),
    Step(ESCAPE, 0.8),
    Step("/", 0.4),
    Step("redis", 1.5),
    Step(ESCAPE, 0.8),
    Step("3", 1.5),
    Step("jj", 1.0),
    Step("6", 2.0),
    Step("7", 1.8),
    Step("jj", 1.2),
    Step("M", 2.5),
    Step(ESCAPE, 0.6),
    Step("0", 1.5),
    Step("L", 1.5),
    Step("1", 1.5),
    Step(":", 0.6),
    Step("arch", 1.5),
    Step(ESCAPE, 0.6),
    Step("?", 2.0),
    Step(ESCAPE, 0.5),
    Step("q", 0.5),
)
"""What is shown: a day's work in about a minute."""


@dataclass(slots=True)
class Recording:
    """What a program wrote, with the seconds from its start."""

    size: tuple[int, int]
    events: list[tuple[float, str]] = field(default_factory=list)
    code: int | None = None

    def cast(self, title: str) -> str:
        """The file: a line with the header, then one for each piece of output."""
        width, height = self.size
        header = {
            "version": 2,
            "width": width,
            "height": height,
            "timestamp": STAMP,
            "title": title,
            "env": {"TERM": "xterm-256color"},
        }
        lines = [json.dumps(header)]
        pieces: list[tuple[float, str]] = []
        for at, text in self.events:
            # What comes within one frame is one piece.
            if pieces and at - pieces[-1][0] < FRAME_SECONDS:
                pieces[-1] = (pieces[-1][0], pieces[-1][1] + text)
            elif text:
                pieces.append((at, text))
        lines += [json.dumps([round(at, 3), "o", text], ensure_ascii=False) for at, text in pieces]
        return "\n".join(lines) + "\n"


def record(
    command: Sequence[str],
    environ: Mapping[str, str],
    steps: Sequence[Step],
    size: tuple[int, int] = SIZE,
    *,
    ready: str = "",
    patience: float = 10,
) -> Recording:
    """Run a program in a pseudo-terminal, press the keys, and keep what it writes until it ends.

    The first key waits until `ready` was written. A program that is still there `patience` seconds after the last
    key is ended.
    """
    found = Recording(size)
    go, begin = os.pipe()
    pid, terminal = pty.fork()
    if pid == 0:
        try:
            os.read(go, 1)
            os.execvpe(command[0], list(command), dict(environ))
        finally:
            os._exit(127)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    started = time.monotonic()

    def take(until: float) -> bool:
        """Keep what is written until a moment; False: the program is gone."""
        while (left := until - time.monotonic()) > 0:
            if not select.select([terminal], [], [], left)[0]:
                break
            try:
                data = os.read(terminal, 65536)
            except OSError:
                return False
            if not data:
                return False
            text = decoder.decode(data)
            if text:
                found.events.append((time.monotonic() - started, text))
        return True

    try:
        os.write(begin, b"x")
        lives, latest = True, time.monotonic() + 20
        while lives and ready not in "".join(text for _, text in found.events) and time.monotonic() < latest:
            lives = take(time.monotonic() + 0.05)
        for step in steps:
            for keys in [step.keys] if step.at_once or not step.keys else step.keys:
                if lives:
                    os.write(terminal, keys.encode())
                    lives = take(time.monotonic() + KEY_SECONDS)
            lives = lives and take(time.monotonic() + step.look)
        if take(time.monotonic() + patience):
            os.kill(pid, signal.SIGKILL)
    finally:
        os.close(terminal)
        os.close(go)
        os.close(begin)
        found.code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return found


def tour(steps: Sequence[Step] = TOUR, size: tuple[int, int] = SIZE, *, patience: float = 10) -> Recording:
    """Record the application over a sample workspace in a home folder that is there for this only."""
    with tempfile.TemporaryDirectory(prefix="tour-") as home:
        environ = {
            "HOME": home,
            "XDG_STATE_HOME": f"{home}/state",
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(HERE.parent),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }
        memdeck = [sys.executable, "-P", "-m", "app.main"]
        shop = f"{home}/src/shop"
        subprocess.run(
            [*memdeck, "demo", shop, "--no-open", "--now", NOW], env=environ, check=True, stdout=subprocess.DEVNULL
        )
        return record(
            [*memdeck, shop, "--pane", "brief", "--now", NOW], environ, steps, size, ready="FAILING", patience=patience
        )


def main(arguments: list[str]) -> int:
    """Write the cast."""
    target = Path(arguments[0]) if arguments else HERE / "tour.cast"
    found = tour()
    if found.code != 0:
        print(f"the application ended with {found.code}", file=sys.stderr)
        return 1
    target.write_text(found.cast("memdeck: a day's work in a minute"), encoding="utf-8")
    print(f"{target}: {found.events[-1][0]:.0f} s, {target.stat().st_size // 1000} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
