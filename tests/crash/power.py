"""Power cuts in a model of a file system: what was not synced may be there, in part, or not at all.

The calls of an operation are recorded with the inodes that they touch, and replayed into a model. `ordered` is a
file system with a journal: what happened to names survives in the order in which it happened, at least up to the
last sync of anything. `weak` promises only what POSIX does: the names in a folder survive up to the last sync of that
folder, later ones in any folder on their own, so that half of a move may be there. Bytes of a file that were
not synced are whole, cut short, zeros or missing. Each state is built on a real file system, and recovered from.

A sync that fails loses what it was to bring to the disk, for good: a later one of the same file succeeds and says
nothing. So success must not be told of a change of which a sync failed, unless it is there all the same.
"""

from __future__ import annotations

import errno
import itertools
import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory.errors import MemdeckError
from tests.crash.calls import Calls, in_force
from tests.crash.kill import Tally, check, points, prepared, some
from tests.crash.operations import Place, Tree

Names = dict[str, int]
DATA = ("whole", "empty", "zeros", "short")


@dataclass
class Event:
    """One recorded call: what it did to the names of folders, or to the bytes of a file, or what it synced."""

    kind: str  # names, data, sync, lost (a sync that failed)
    effects: tuple[tuple[int, str, int | None], ...] = ()  # (folder, name, inode or None for gone)
    inode: int = 0
    data: bytes = b""
    offset: int | None = None  # None appends


@dataclass
class Model:
    """A file system at the start, and what happened to it since."""

    folders: dict[int, Names] = field(default_factory=dict)
    files: dict[int, bytes] = field(default_factory=dict)
    root: int = 0
    events: list[Event] = field(default_factory=list)
    numbers: dict[tuple[int, int], int] = field(default_factory=dict)  # real device and inode -> ours
    _last: int = 1_000_000

    def load(self, top: Path) -> None:
        """Take over a folder as it is: all of it counts as synced."""
        self.root = self._number(top.stat(), new=True)
        for folder, _, names in os.walk(top):
            here = self._folder(Path(folder))
            for name in os.listdir(folder):
                path = Path(folder) / name
                inode = self._number(path.lstat(), new=True)
                here[name] = inode
                if path.is_dir():
                    self.folders[inode] = {}
            for name in names:
                self.files[here[name]] = (Path(folder) / name).read_bytes()

    def _folder(self, path: Path) -> Names:
        return self.folders.setdefault(self._number(path.stat()), {})

    def _number(self, found: os.stat_result, *, new: bool = False) -> int:
        key = (found.st_dev, found.st_ino)
        if new or key not in self.numbers:
            self._last += 1
            self.numbers[key] = self._last
        return self.numbers[key]

    def record(self, name: str, args: tuple[Any, ...], words: dict[str, Any], result: Any) -> None:
        """Note a call that was just made."""
        known = self._note(name, args, words, result)
        if known is not None:
            self.events.append(known)

    def _note(self, name: str, args: tuple[Any, ...], words: dict[str, Any], result: Any) -> Event | None:
        if name == "open":
            if not args[1] & os.O_CREAT:
                return None
            folder, inode = self._at(words["dir_fd"]), self._number(os.fstat(result))
            if not args[1] & os.O_EXCL and inode in self.files:
                return None
            inode = self._number(os.fstat(result), new=True)
            self.files[inode] = b""
            return Event("names", ((folder, args[0], inode),), inode)
        if name == "mkdir":
            inode = self._number(os.stat(args[0], dir_fd=words["dir_fd"]), new=True)
            self.folders[inode] = {}
            return Event("names", ((self._at(words["dir_fd"]), args[0], inode),))
        if name in ("unlink", "rmdir"):
            if "dir_fd" in words:
                return Event("names", ((self._at(words["dir_fd"]), args[0], None),))
            path = Path(args[0])
            return Event("names", ((self._number(path.parent.stat()), path.name, None),))
        if name in ("rename", "link"):
            source, target = self._at(words["src_dir_fd"]), self._at(words["dst_dir_fd"])
            inode = self._number(os.stat(args[1], dir_fd=words["dst_dir_fd"]))
            added = (target, args[1], inode)
            return Event("names", (added,) if name == "link" else (added, (source, args[0], None)))
        if name == "renameat2":
            folder, one, other_folder, other, flags = args
            there = (self._at(other_folder), other, self._number(os.stat(other, dir_fd=other_folder)))
            here = self._number(os.stat(one, dir_fd=folder)) if flags == 2 else None
            return Event("names", (there, (self._at(folder), one, here)))
        if name == "write":
            return Event("data", inode=self._at(args[0]), data=bytes(args[1])[:result])
        if name == "pwrite":
            return Event("data", inode=self._at(args[0]), data=bytes(args[1]), offset=args[2])
        if name == "fsync":
            return Event("sync", inode=self._at(args[0]))
        return None

    def _at(self, fd: int) -> int:
        return self._number(os.fstat(fd))


@dataclass
class State:
    """What is on the disk after a power cut: names of folders, bytes of files."""

    folders: dict[int, Names]
    files: dict[int, bytes]

    def key(self) -> int:
        """Tell states apart."""
        names = tuple(sorted((inode, tuple(sorted(one.items()))) for inode, one in self.folders.items()))
        return hash((names, tuple(sorted(self.files.items()))))


def _after(start: Model, cut: int, weak: bool, dice: random.Random, samples: int) -> Iterator[State]:
    """Yield the states of a power cut right after an event."""
    events = start.events
    if weak:
        reaches = list(_reaches(events, cut, dice, samples))
    else:
        # What the last sync covers is there; of later names, as many as survived, in their order. Before the end
        # of the change these are the states of earlier cuts.
        synced = max((n + 1 for n, event in enumerate(events[:cut]) if event.kind == "sync"), default=0)
        least = synced if cut == len(events) else cut
        reaches = [dict.fromkeys(_touched(events), reach) for reach in range(least, cut + 1)]
    for reach in reaches:
        for data in DATA:
            yield _state(start, cut, reach, data)


def _touched(events: list[Event]) -> set[int]:
    return {folder for event in events for folder, _, _ in event.effects}


def _reaches(events: list[Event], cut: int, dice: random.Random, samples: int) -> Iterator[dict[int, int]]:
    """Choose for each folder how far its names got: at least up to its last sync, at most up to the cut."""
    floor = dict.fromkeys(_touched(events), 0)
    for number, event in enumerate(events[:cut]):
        if event.kind == "sync" and event.inode in floor:
            floor[event.inode] = number + 1
    yield dict(floor)
    for folder in floor:
        yield {**floor, folder: cut}
        yield {**dict.fromkeys(floor, cut), folder: floor[folder]}
    if cut == len(events):
        # At the end of a change every folder may have stayed behind at any of its names.
        for number, event in enumerate(events):
            for folder in {folder for folder, _, _ in event.effects if number >= floor[folder]}:
                yield {**dict.fromkeys(floor, cut), folder: number}
    for _ in range(samples):
        yield {folder: dice.randint(least, cut) for folder, least in floor.items()}


def _state(start: Model, cut: int, reach: dict[int, int], data: str) -> State:
    folders = {inode: dict(names) for inode, names in start.folders.items()}
    files = {inode: [content, content] for inode, content in start.files.items()}  # synced, written
    lost: set[int] = set()
    for number, event in enumerate(start.events[:cut]):
        for folder, name, inode in event.effects:
            if number < reach.get(folder, 0):
                if inode is None:
                    folders[folder].pop(name, None)
                else:
                    folders[folder][name] = inode
        if event.kind == "data":
            written = files.setdefault(event.inode, [b"", b""])
            at = len(written[1]) if event.offset is None else event.offset
            written[1] = written[1][:at] + event.data + written[1][at + len(event.data) :]
        elif event.kind == "lost":
            lost.add(event.inode)
        elif event.kind == "sync" and event.inode in files and event.inode not in lost:
            files[event.inode][0] = files[event.inode][1]
    return State(folders, {inode: _content(synced, written, data) for inode, (synced, written) in files.items()})


def _content(synced: bytes, written: bytes, data: str) -> bytes:
    if synced == written or data == "whole":
        return written
    if data == "zeros":
        # What was added to a file does not make the blocks before it zeros.
        kept = synced if written.startswith(synced) else b""
        return kept + bytes(len(written) - len(kept))
    return synced if data == "empty" else written[: (len(synced) + len(written)) // 2]


def build(model: Model, state: State, top: Path) -> None:
    """Make a state on a real file system."""
    made: dict[int, Path] = {}

    def fill(inode: int, path: Path) -> None:
        for name, child in state.folders.get(inode, {}).items():
            here = path / name
            if child in state.folders:
                here.mkdir(mode=0o700)
                fill(child, here)
            elif child in made:
                os.link(made[child], here)
            else:
                here.write_bytes(state.files.get(child, b""))
                made[child] = here

    shutil.rmtree(top, ignore_errors=True)
    top.mkdir()
    fill(model.root, top)


def recorded(run: Callable[[Place], object], place: Place, failing: int = -1) -> tuple[Model, BaseException | None]:
    """Run something and return the model of what it did, and what it raised; the sync `failing` fails."""
    model = Model()
    model.load(place.top)
    start = {inode: dict(names) for inode, names in model.folders.items()}
    turns = itertools.count()

    def fail(_: int, name: str, args: tuple[Any, ...], __: dict[str, Any]) -> None:
        if name == "fsync" and next(turns) == failing:
            model.events.append(Event("lost", inode=model._at(args[0])))
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    told: BaseException | None = None
    with in_force(Calls(fail, after=model.record)):
        try:
            run(place)
        except Exception as error:
            told = error
    model.folders = {inode: start.get(inode, {}) for inode in model.folders}
    return model, told


def failed_syncs(top: Path, *, every: int = 1, samples: int = 2, seed: int = 1) -> Tally:
    """Let each sync of each operation fail, and cut the power when the operation has come to its end."""
    tally = Tally("a sync that fails, then a power cut")
    dice, wanted = random.Random(seed), some(every)
    for operation, folder, start, allowed in prepared(top):
        for number in range(points(operation, start, folder).count("fsync")):
            if not wanted():
                continue
            place = start.copy(folder / "run")
            model, told = recorded(operation.run, place, number)
            where = f"{operation.name}, sync {number} failed"
            tally.expect(told is None or isinstance(told, MemdeckError), f"{where}: raised {told!r}")
            done = len(model.events)
            found = (state for weak in (False, True) for state in _after(model, done, weak, dice, samples))
            for state in {state.key(): state for state in found}.values():
                tree = _recovered(tally, model, state, place, allowed, where)
                if told is None:
                    tally.expect(tree == allowed[-1], f"{where}: acknowledged, and gone")
            place.clear()
    return tally


def power(top: Path, *, weak: bool, every: int = 1, samples: int = 6, seed: int = 1) -> Tally:
    """Cut the power during every operation; every `every`th different state is built and recovered from."""
    tally = Tally(f"power cut, {'weak' if weak else 'ordered'} persistence, torn data")
    dice, wanted = random.Random(seed), some(every)
    for operation, folder, start, allowed in prepared(top):
        place = start.copy(folder / "run")
        model, told = recorded(operation.run, place)
        tally.expect(told is None, f"{operation.name}: raised {told!r}")
        done = len(model.events)
        seen: set[int] = set()
        for cut in range(done + 1):
            for state in _after(model, cut, weak, dice, samples):
                key = state.key() ^ (cut == done)
                if key in seen or not (wanted() or cut == done):
                    continue
                seen.add(key)
                where = f"{operation.name}, after {cut} of {done}"
                tree = _recovered(tally, model, state, place, allowed, where)
                if cut == done:
                    tally.expect(tree == allowed[-1], f"{where}: acknowledged, and gone")
    return tally


def _recovered(tally: Tally, model: Model, state: State, place: Place, allowed: list[Tree], where: str) -> Tree:
    """Build a state on the disk, and recover from it."""
    build(model, state, place.top)
    tally.points += 1
    return check(tally, place, allowed, where)
