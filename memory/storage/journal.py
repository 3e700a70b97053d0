"""The journal of a store: what a change is about to do, and the recovery by it.

The record is in the private state folder: one that came with a clone would be an order to write files. Even so, each
path in it is checked like any path of a transaction before it is used. The files themselves show how far a change had
come, so recovery may be interrupted and repeated; doing it twice has the same result as once.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memory.errors import MemdeckError, RefusedError, writing

from . import fsio
from .own_folders import STATE, StateFolder
from .step import Folders, Step

_HEAD = b"memdeck 3 "
_ID = re.compile(r"[0-9A-Z]{26}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Intent(NamedTuple):
    """A change that has begun to move files; `time` is aware.

    `files` are the path in the workspace and the SHA-256 before and after (None: no file) of each, `folders` those that
    the change makes.
    """

    id: str
    time: datetime
    files: tuple[tuple[str, str | None, str | None], ...]
    folders: tuple[str, ...] = ()

    def encode(self) -> bytes:
        """Return the bytes of the intent, with length and checksum: an incomplete one must count as none."""
        body = json.dumps({**self._asdict(), "time": self.time.isoformat()}, separators=(",", ":")).encode()
        return _HEAD + f"{len(body)} {zlib.crc32(body):08x}\n".encode() + body

    @classmethod
    def decode(cls, data: bytes) -> Intent | None:
        """Read an intent back; None where the bytes are torn or not an intent.

        Its id becomes a name in the stage folder and must not lead elsewhere.
        """
        head, _, body = data.partition(b"\n")
        if head != _HEAD + f"{len(body)} {zlib.crc32(body):08x}".encode():
            return None
        try:
            values = json.loads(body)
            time = datetime.fromisoformat(values["time"])
            files = tuple((str(path), before, after) for path, before, after in values["files"])
            folders = tuple(str(path) for path in values["folders"])
            good = time.tzinfo is not None and _ID.fullmatch(values["id"]) and all(map(_are_digests, files))
        except (KeyError, TypeError, ValueError, RecursionError):
            return None
        return cls(values["id"], time, files, folders) if good else None


def _are_digests(file: tuple[str, str | None, str | None]) -> bool:
    return all(one is None or _DIGEST.fullmatch(one) for one in file[1:])


class Journal:
    """The journal of one memory system of a workspace; used under its lock."""

    def __init__(self, folder: StateFolder, system: str) -> None:
        """`system` names the system in its workspace (`.aiter`); nothing is read yet."""
        self._place = folder
        self._system = system
        self._name = f"journal-{system}"
        self.where = f"{folder.path}/{self._name}"  # For messages.

    def _read(self) -> Intent | None:
        return Intent.decode(self._place.read(self._name) or b"")

    def under_way(self) -> Intent | None:
        """Return the change under way, None where there is none or the record is not readable; needs no lock."""
        try:
            return self._read()
        except MemdeckError:
            return None

    def begin(self, intent: Intent, *, durable: bool) -> None:
        """Write an intent; from here on a durable one is the commit. MemdeckError `file.io`."""
        with writing(self.where), self._place.opened() as folder:
            fsio.put(self._name, folder, intent.encode(), durable=durable)

    def end(self, *, durable: bool) -> None:
        """Remove the intent: no change is under way. MemdeckError `file.io`.

        It is durable where the intent must not come back after a power cut, when the files have gone on.
        """
        with writing(self.where), self._place.opened() as folder:
            fsio.remove(self._name, folder)
            if durable:
                fsio.sync(folder)

    def recover(self, workspace: Path, stage: int, check_path: Callable[[str], None]) -> bool:
        """Complete or take back a change that was interrupted, and forget it; return whether there was one.

        What a crash left of an intent that was being written goes. MemdeckError `file.io`, RefusedError for a path that
        no change could have named.
        """
        with writing(self.where), self._place.opened() as folder:
            # The lock is that of this system, so another system may be writing its own files.
            for name in (fsio.temporary_name(self._name), fsio.temporary_name(STATE, self._system)):
                fsio.remove(name, folder)
        intent = self._read()
        if intent is None:
            return False
        try:
            with writing(intent.files[0][0] if intent.files else workspace):
                for path in (*[path for path, _, _ in intent.files], *intent.folders):
                    check_path(path)
                _recover(intent, workspace, stage)
        except RefusedError as error:
            error.details.setdefault("record", self.where)
            error.hint = error.hint or f"an interrupted change waits for it; to give it up, remove {self.where}"
            raise
        self.end(durable=True)
        return True


def _recover(intent: Intent, workspace: Path, stage: int) -> None:
    """Complete a change where all its files allow it, else take back what it did."""
    with closing(Folders(workspace, stage)) as around:
        steps = [Step(*file, f"{intent.id}.{number}", around) for number, file in enumerate(intent.files)]
        for step in steps:
            _enter(step)
            step.look()
        _sync(steps, stage)  # A kill is not a power cut: files that had moved may not be on the disk yet.
        # Bytes of other programs that the change displaced go back first, whether the change is completed or not.
        _take_back([step for step in steps if step.crossed])
        if all(step.done or step.open for step in steps) and _make_folders(intent, steps, workspace):
            _go_on([step for step in steps if step.open])
        complete = all(step.done for step in steps)
        if not complete:
            go_back(steps)
        _sync(steps, stage)
        if not complete and not any(step.done for step in steps):
            fsio.remove_folders(list(intent.folders), workspace)


def _go_on(steps: list[Step]) -> None:
    """Put files in their places; where another program came in between, its bytes go back."""
    last: Step | None = None
    for step in steps:
        if last is not None and last.parent != step.parent:
            fsio.sync(last.folder)
        with suppress(FileExistsError, FileNotFoundError):
            if step.after is None and step.staged == step.before:
                fsio.remove(step.label, step.stage_folder)  # Half of a move: the file has both names.
            step.put()
        step.look()
        last = step
    _take_back([step for step in steps if step.crossed])


def _take_back(steps: list[Step]) -> None:
    for step in steps:
        with suppress(FileExistsError, FileNotFoundError):
            step.take_back()
        step.look()


def go_back(steps: Sequence[Step]) -> bool:
    """Take files back, the last first, and return whether all are as before; one that cannot be taken back ends it.

    That one may have lost what the files before it gained: duplicated is better than lost.
    """
    for step in reversed(steps):
        step.look()
        if step.here != step.before and not step.blocked:
            _take_back([step])
        if step.here != step.before and not step.blocked:
            return False
    return True


def _make_folders(intent: Intent, steps: list[Step], workspace: Path) -> bool:
    """Make the folders that completing a change needs; False where something else has their names."""
    try:
        for path in intent.folders:
            os.close(fsio.open_folder(path.split("/"), workspace, []))
    except (RefusedError, FileNotFoundError):
        return False
    for step in steps:
        _enter(step)
    return all(step.folder >= 0 for step in steps)


def _enter(step: Step) -> None:
    """Open the folder of a file, if there is one and no part of its path is a link.

    Any other error may be temporary, and must not count as a change by another program.
    """
    try:
        step.enter()
    except FileNotFoundError:
        return
    except RefusedError as error:
        if error.code not in ("file.link", "file.not_folder"):
            raise


def _sync(steps: list[Step], stage: int) -> None:
    for folder in {step.folder for step in steps if step.folder >= 0}:
        fsio.sync(folder)
    fsio.sync(stage)
