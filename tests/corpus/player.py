"""Plays cases with the real command, each verb in a process of its own, and tells what it saw."""

from __future__ import annotations

import json
import os
import re
import resource
import stat as st
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.players import PlayerProcess, import_everything, memdeck, run, serve

from .case import Case
from .place import Impossible, Place, become_ordinary, digest, need_root, own_mounts

NOW = "2024-01-15T12:00:00Z"
LATER = "2024-03-15T12:00:00Z"
UNDO = ["undo", "--actor", "maintain", "--now", LATER]
TITLE = "Written by the corpus"
READING = ("check", "status", "view", "other")
TIMES = 5
"""How often a verb that only reads is run where it takes too long: processor time too grows where another process works
on the same core, and a verb that needs more than the bound needs it each time."""
MEMORY = 3 << 30
LISTS = {
    "tasks.md": "tasks list",
    "journal.md": "journal list",
    "knowledge.md": "knowledge list",
    "contacts.md": "contacts list",
    "orchestration.md": "orchestration list",
    "monitors.md": "monitors list",
    "config.md": "config list",
    "Aidefile": "typed status",
    "memories.jsonl": "facts list",
    "keys.toml": "doctor",
    "channels.toml": "doctor",
    "config.toml": "trust list",
}
# What no output may hold: controls but tab and line feed, bidirectional controls, tags, bytes that are no text.
_DRIVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\ufffd]")
_ERROR = re.compile(r"memdeck: ([a-z_]+\.[a-z_]+|internal): ")
_UPDATED = re.compile(rb"updated[\"']?:[^\r\n,}]*")
_LINES = re.compile(rb"[^\r\n]+")


def words_of(case: Case) -> dict[str, list[str]]:
    """Return the verbs that every case is played with, in order, by a short name."""
    view = LISTS.get(case.file, "tasks list").split()
    other = "knowledge" if view[0] != "knowledge" else "contacts"
    return {
        "check": ["check", "-o", "json"],
        "status": ["status"],
        "view": view,
        "other": [other, "list"],
        "add": ["tasks", "add", TITLE],
        "note": ["journal", "add", TITLE],
        "maintain": ["--maintain", "--no-exec", "--now", LATER],
    }


MAY_CHANGE = {
    "add": ("shop/.aiter/memory/tasks.md",),
    "note": ("shop/.aiter/memory/journal.md",),
    "maintain": tuple(
        f"shop/.aiter/memory/{name}" for name in ("tasks.md", "journal.md", "orchestration.md", "archive")
    ),
}


@dataclass(slots=True)
class Seen:
    """How a verb ended; `code` is that of its error, `cpu` and `wall` are seconds, `changed` are paths."""

    verb: str
    exit: int
    code: str = ""
    cpu: float = 0.0
    wall: float = 0.0
    out: str = ""
    err: str = ""
    changed: list[str] = field(default_factory=list)


class Player:
    """Plays one case in a process that it may do with as it likes."""

    def __init__(self, case: Case, top: Path, *, whole: bool) -> None:
        """Prepare nothing yet."""
        self.case = case
        self.violations: list[str] = []
        self.seen: list[Seen] = []
        self.place = Place(top, whole=whole, run=lambda *words: self.start(words, "preparing"))

    def play(self, *, screen: bool) -> None:
        """Build the situation and run every verb; what is wrong goes to `violations`."""
        self.place.build()
        self.case.prepare(self.place)
        try:
            for verb, words in words_of(self.case).items():
                self.verb(verb, words)
            if screen:
                self.screen()
            if self.case.planted and not self.case.expect:
                self._without()
        finally:
            for close in self.place.closers:
                close()

    def _without(self) -> None:
        """Play the same verbs, and an undo, without what was planted; hold that the files are the same."""
        self.start(UNDO, "undo")
        planted, self.place = self.place, Place(self.place.top / "clean", whole=False, run=self.place.run)
        self.place.build()
        for verb, words in words_of(self.case).items():
            self.start([*words, *([] if "--now" in words else ["--now", NOW])], f"{verb}, clean")
        self.start(UNDO, "undo, clean")
        clean, self.place = self._memory(), planted
        if clean != self._memory():
            self.wrong("what was planted had an effect on the files")

    def wrong(self, text: str) -> None:
        """Note a violation."""
        self.violations.append(text)

    # -- one verb ----------------------------------------------------------------------------------------------------

    def verb(self, verb: str, words: list[str]) -> None:
        """Run one verb and compare the files before and after."""
        before = digest(self.place)
        texts = self._memory()
        seen = self.start([*words, *([] if "--now" in words else ["--now", NOW])], verb)
        if verb == "check" and seen.exit in (0, 4):
            self.check(seen)
        if self.case.changing:
            return
        after = digest(self.place)
        seen.changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        allowed = MAY_CHANGE.get(verb, ()) if seen.exit == 0 else ()
        for path in seen.changed:
            if not path.startswith(allowed) if allowed else True:
                self.wrong(f"{verb} changed {path!r}")
        if seen.exit == 0 and verb in ("add", "note"):
            self._inserted(verb, texts, self._memory())
        elif seen.exit == 0 and verb == "maintain":
            self._conserved(texts, self._memory())

    def start(self, words: list[str] | tuple[str, ...], verb: str) -> Seen:
        """Run memdeck in a process of its own and look at how it ends; `cpu` is the least of its `TIMES`."""
        seen, out, err = self._fork(lambda: memdeck(words), verb)
        for _ in range(TIMES - 1 if verb in READING and seen.exit != -1 else 0):
            if seen.cpu > self.case.seconds:
                seen.cpu = min(seen.cpu, self._fork(lambda: memdeck(words), verb)[0].cpu)
        self.seen.append(seen)
        self._look(seen, out, err)
        return seen

    def _fork(self, work: Callable[[], int], verb: str) -> tuple[Seen, bytes, bytes]:
        ended = run(lambda: self._in_place(work))
        return Seen(verb, ended.code, "", ended.cpu, ended.wall), ended.out, ended.err

    def _in_place(self, work: Callable[[], int]) -> int:
        """Do work in the folder of the case, with the variables and the bounds of a person's shell."""
        place = self.place
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.environ |= {"XDG_STATE_HOME": str(place.state), "HOME": str(place.top / "home"), "TZ": "UTC"}
        os.environ |= {"XDG_CONFIG_HOME": str(place.top / "config"), "MEMDECK_DEBUG": "1"}
        place.folder.mkdir(exist_ok=True)
        os.chdir(place.deep if place.deep >= 0 else place.folder)
        if place.folder != place.shop:
            place.folder.rmdir()
        return work()

    def _look(self, seen: Seen, out: bytes, err: bytes) -> None:
        verb = seen.verb
        seen.out, seen.err = (data.decode("utf-8", "replace") for data in (out, err))
        found = _ERROR.match(seen.err)
        seen.code = found[1] if (found and seen.exit not in (0, 4)) or (found and seen.exit == 4 and not out) else ""
        if seen.exit == -1:
            self.wrong(f"{verb} hangs: killed after {seen.wall:.0f} s")
            return
        if seen.exit not in (0, 1, 2, 3, 4, 75):
            self.wrong(f"{verb} ends with {seen.exit}")
        if "Traceback" in seen.err or "internal: " in seen.err or "Error:" in seen.err:
            self.wrong(f"{verb} fails unexpectedly: {seen.err[-2500:]}")
        if seen.cpu > self.case.seconds:
            self.wrong(f"{verb} takes {seen.cpu:.2f} s of CPU time, {self.case.seconds:g} at most")
        for stream, text in (("stdout", seen.out), ("stderr", seen.err)):
            if drives := _DRIVES.search(text):
                self.wrong(f"{verb} writes {drives[0]!a} to {stream}")
        if seen.code and seen.err.count("\n") != 1:
            self.wrong(f"{verb} says its error in {seen.err.count(chr(10))} lines")

    # -- what the verbs did to the files -----------------------------------------------------------------------------

    def _memory(self) -> dict[str, bytes]:
        return dict(_regular(self.place.memory))

    def _inserted(self, verb: str, before: dict[str, bytes], after: dict[str, bytes]) -> None:
        """Hold that a file differs by one inserted entry, blank lines around it, and the time of the change only."""
        name = "tasks.md" if verb == "add" else "journal.md"
        old = _UPDATED.sub(b"", before.get(name, b""), count=1)
        new = _UPDATED.sub(b"", after.get(name, b""), count=1)
        start = _common(old, new)
        rest = _common(old[start:][::-1], new[start:][::-1])
        if old[start : len(old) - rest].strip():
            self.wrong(f"{verb} took away {old[start : len(old) - rest][:80]!r}")
        if TITLE.encode() not in new:
            self.wrong(f"{verb} exits with 0 and wrote nothing")

    def _conserved(self, before: dict[str, bytes], after: dict[str, bytes]) -> None:
        """Hold that every line is still there, somewhere; day headings may go, times of changes change."""
        gone = _count(before) - _count(after)
        lost = [line for line in gone if line.strip() and not line.startswith((b"updated:", b"## "))]
        if lost:
            self.wrong(f"maintain lost {lost[:3]!r}")

    def check(self, seen: Seen) -> None:
        """Compare what `check` found with what the case says."""
        problems = json.loads(seen.out)["problems"]
        # The monitors of the sample were checked long before the clock of this machine.
        told = [p for p in problems if p["level"] != "note" and p["code"] != "monitor.stale"]
        lines = [f"{p['file']}:{p['line'] or 0} {p['code']}" for p in told]
        found = [line.replace("\n", "\\n") for line in lines]
        seen.out = "\n".join(found)
        wanted = self.case.finds
        open_end = wanted[-1:] == ("...",)
        if open_end:
            wanted = wanted[:-1]
        missing = Counter(wanted) - Counter(found)
        extra = Counter() if open_end else Counter(found) - Counter(wanted)
        if missing or extra:
            self.wrong(f"check: missing {sorted(missing)}, unexpected {sorted(extra)[:8]}")

    # -- the application ---------------------------------------------------------------------------------------------

    def screen(self) -> None:
        """Open the application, go through its panes, and compare the files."""
        before = digest(self.place)
        refusal = self.case.expect.get("status", "").partition(" ")[0]
        seen, _, err = self._fork(lambda: _application(self.place, refusal), "screen")
        self.seen.append(seen)
        seen.err = err.decode("utf-8", "replace")
        if seen.exit != 0:
            self.wrong(f"screen ends with {seen.exit} after {seen.wall:.0f} s: {seen.err[-3000:]}")
        if not self.case.changing and before != digest(self.place):
            self.wrong("looking at the application changed files")


def _application(place: Place, refusal: str) -> int:
    import asyncio

    from .screen import look

    return asyncio.run(look(place, refusal))


def _regular(folder: Path) -> Iterator[tuple[str, bytes]]:
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.X_OK):
        return
    for path in (*sorted(folder.glob("*.md")), *sorted(folder.glob("archive/*.md"))):
        status = path.lstat()
        if st.S_ISREG(status.st_mode) and os.access(path, os.R_OK) and status.st_size < 1 << 30:
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _common(one: bytes, other: bytes) -> int:
    """Return how many bytes two byte strings begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _count(files: dict[str, bytes]) -> Counter[bytes]:
    return Counter(line for data in files.values() for line in _LINES.findall(data))


def _play(case: Case, top: Path, *, whole: bool, screen: bool) -> dict[str, Any]:
    player = Player(case, top, whole=whole)
    try:
        if case.needs == "mounts":
            own_mounts()
        elif case.needs == "root":
            need_root()
        elif case.needs == "ordinary user":
            become_ordinary(top)
        player.play(screen=screen)
    except Impossible as error:
        return {"skip": str(error), "seen": [], "violations": []}
    except Exception:
        player.wrong(f"the case itself fails: {traceback.format_exc()}")
    return {"skip": "", "seen": [asdict(seen) for seen in player.seen], "violations": player.violations}


@dataclass(frozen=True, slots=True)
class Report:
    """What a player saw: why the case cannot be built here, how each verb ended, and what must not be."""

    skip: str
    seen: list[dict[str, Any]]
    violations: list[str]


class Client(PlayerProcess):
    """Asks a player process to play cases."""

    def __init__(self) -> None:
        """Name the process; it takes a second to import everything."""
        super().__init__(sys.executable, "-m", "tests.corpus.player")

    def play(self, case: Case, *, whole: bool, screen: bool) -> Report:
        """Play one case; TimeoutError where the player does not answer."""
        return Report(**self.ask({"case": case.name, "whole": whole, "screen": screen}))


def main() -> None:
    """Answer requests until stdin ends."""
    import_everything()
    from .catalogue import BY_NAME

    def play(request: dict[str, Any], top: Path) -> dict[str, Any]:
        os.setpgid(0, 0)
        return _play(BY_NAME[request["case"]], top, whole=request["whole"], screen=request["screen"])

    serve("memdeck-corpus-", play)


if __name__ == "__main__":
    main()
