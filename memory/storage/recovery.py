"""Recovery after a crash: a change that had begun to move files is finished, or discarded where that is not possible.

The inode or bytes of each file show how far the change had come. So recovery may itself be interrupted and repeated;
doing it twice has the same result as once.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from memory.errors import RefusedError, write_failed

from . import file_step, fsio
from .intent_log import Displaced, IntendedFile, Intent
from .safe_open import Mark, look, ours


class RecoveryOutcome(Enum):
    """How an interrupted change ended: all its files are new, all are old, or other programs wrote in between."""

    FINISHED = "finished"
    DISCARDED = "discarded"
    MIXED = "mixed"


class Recovery(NamedTuple):
    """One change that was interrupted, and how it ended."""

    intent: Intent
    outcome: RecoveryOutcome


class _Stand(Enum):
    """How far one file of a change had come."""

    OPEN = "not in its place yet, and staged"
    DONE = "in its place"
    CROSSED = "in its place, where it displaced something else than what was checked"
    PASSED = "somebody changed it after it was in its place"
    BLOCKED = "somebody changed it before it could take its place"
    GONE = "not in its place and not staged"
    UNTOLD = "somebody changed it, and nothing is left that tells whether it was in its place before"


class _File:
    def __init__(self, role: IntendedFile, stage: int, folder: int) -> None:
        self.role = role
        self.stage = stage
        self.folder = folder
        self.stand = _Stand.GONE
        self.displaced = ""

    @property
    def name(self) -> str:
        return self.role.path.rpartition("/")[2]

    @property
    def new(self) -> str:
        return f"{self.role.label}.new"

    @property
    def old(self) -> str:
        return f"{self.role.label}.old"

    def look(self) -> None:
        """Set `stand` by the files found in its place and in the stage folder."""
        here = self._which(self.name, self.folder)
        new, old = self._which(self.new, self.stage), self._which(self.old, self.stage)
        before, after = self.role.before, self.role.after
        self.displaced = self.old if old else self.new if new in ("before", "other") else ""
        shown = old or (new if new != "after" else "")
        if (after is not None and here == "after") or (after is None and not here):
            self.stand = _Stand.CROSSED if shown == "other" else _Stand.DONE
        elif here == "before" or (before is None and not here):
            self.stand = _Stand.OPEN if after is None or new == "after" else _Stand.GONE
        elif after is not None and new == "after":
            self.stand = _Stand.BLOCKED
        elif shown == "before" or (before is None and not new):
            self.stand = _Stand.PASSED
        elif before is not None and not new and not old:
            self.stand = _Stand.UNTOLD
        else:
            self.stand = _Stand.BLOCKED

    def _which(self, name: str, folder: int) -> str:
        """Return which file has a name: "before", "after", "other", or "" for none."""
        found = look(name, folder)
        if found is None:
            return ""
        for side, mark in (("before", self.role.before), ("after", self.role.after)):
            if mark is not None and ours(found) and mark.fits(name, folder, found):
                return side
        return "other"

    def go_on(self) -> None:
        """Put the file in place, as the change would have done."""
        if self._which(self.old, self.stage) == "before":
            # A second name of the file that is still in place: half of a move, or a link made for safety.
            fsio.remove(self.old, self.stage)
        if self.role.before is None:
            file_step.create(self.new, self.stage, self.name, self.folder)
        elif self.role.after is None:
            file_step.take_away(self.name, self.folder, self.old, self.stage)
        else:
            file_step.swap(self.new, self.old, self.stage, self.name, self.folder)

    def go_back(self) -> None:
        """Put the displaced file back in place; a file that others put there since stays."""
        if self.stand not in (_Stand.DONE, _Stand.CROSSED):
            return
        if self.role.before is None:
            fsio.remove(self.new, self.stage)  # The second name that it kept.
            file_step.take_away(self.name, self.folder, self.new, self.stage)
        elif not self.displaced:
            return
        elif self.role.after is None:
            file_step.create(self.displaced, self.stage, self.name, self.folder)
            fsio.sync(self.folder)
            fsio.remove(self.displaced, self.stage)
        else:
            file_step.swap_back(self.displaced, self.stage, self.name, self.folder, self.new)
        self.look()

    def left(self, change: str, outcome: RecoveryOutcome) -> list[Displaced]:
        """Return its files in the stage folder that other programs may still write to."""
        files = []
        for name in (self.new, self.old):
            found = look(name, self.stage)
            if found is None:
                continue
            which = self._which(name, self.stage)
            torn = self.stand is _Stand.GONE and which == "other" and name == self.new
            if torn:
                continue  # It never had another name, so it is cleared away.
            late = which == "other" or (
                which == "before" and self.stand is _Stand.PASSED and outcome is RecoveryOutcome.MIXED
            )
            mark = {"before": self.role.before, "after": self.role.after}.get(which) or Mark.of(found)
            kept = self.old + fsio.KEPT
            if late:
                fsio.rename(name, self.stage, kept, self.stage)
            files.append(Displaced(kept if late else name, self.role.path, change, mark, late))
        return files


def recover(
    intent: Intent, workspace: Path, stage: int, check_path: Callable[[str], None]
) -> tuple[Recovery, list[Displaced]]:
    """Finish or discard an interrupted change; return how it ended and the files it leaves in the stage folder.

    Every path is checked like that of a new change. MemdeckError `file.io` where the disk fails: the next start
    tries again.
    """
    files: list[_File] = []
    try:
        for role in intent.roles:
            check_path(role.path)
            files.append(_File(role, stage, _folder(role.path, workspace)))
        outcome = _settle(intent, files, workspace)
        left = [one for file in files for one in file.left(intent.id, outcome)]
        if outcome is RecoveryOutcome.DISCARDED:
            for path in intent.folders:
                check_path(path)
            fsio.remove_folders(list(intent.folders), workspace)
        return Recovery(intent, outcome), left
    except OSError as error:
        raise write_failed(error, intent.roles[0].path if intent.roles else str(workspace)) from error
    finally:
        for file in files:
            if file.folder >= 0:
                os.close(file.folder)


def _settle(intent: Intent, files: list[_File], workspace: Path) -> RecoveryOutcome:
    for file in files:
        file.look()
    if len(files) > 1:
        _sync(files)  # A kill is not a power cut: files that had moved are visible, but may not be on the disk yet.
    # Bytes that a change displaced without having read them go back first, whatever happens to the change.
    for file in files:
        if file.stand is _Stand.CROSSED:
            file.go_back()
    fine = {_Stand.OPEN, _Stand.DONE, _Stand.PASSED}
    if all(file.stand in fine for file in files) and _complete(intent, files, workspace):
        last: _File | None = None
        for file in [file for file in files if file.stand is _Stand.OPEN]:
            last = _sync_between(last, file)
            with suppress(FileExistsError, FileNotFoundError):
                file.go_on()
            file.look()
        for file in files:
            if file.stand is _Stand.CROSSED:
                file.go_back()
    if not all(file.stand in fine - {_Stand.OPEN} for file in files):
        last = None
        for file in reversed(files):
            if file.stand not in (_Stand.PASSED, _Stand.UNTOLD):
                last = _sync_between(last, file)
                with suppress(FileExistsError, FileNotFoundError):
                    file.go_back()
            if file.stand in (_Stand.DONE, _Stand.CROSSED, _Stand.PASSED, _Stand.UNTOLD):
                # It may have lost what earlier files gained: duplicated is better than lost.
                break
    _sync(files)
    if all(file.stand in (_Stand.DONE, _Stand.PASSED) for file in files):
        return RecoveryOutcome.FINISHED
    mixed = any(file.stand in (_Stand.DONE, _Stand.CROSSED, _Stand.PASSED, _Stand.UNTOLD) for file in files)
    return RecoveryOutcome.MIXED if mixed else RecoveryOutcome.DISCARDED


def _sync_between(last: _File | None, file: _File) -> _File:
    """Sync the folder of the last file before one in another folder moves, as a change does; return that file."""
    if last is not None and last.folder >= 0 and last.role.path.rpartition("/")[0] != file.role.path.rpartition("/")[0]:
        fsio.sync(last.folder)
    return file


def _complete(intent: Intent, files: list[_File], workspace: Path) -> bool:
    """Make the folders that finishing a change needs; False where something else is in their place."""
    try:
        for path in intent.folders:
            os.close(fsio.open_folder(path.split("/"), workspace, []))
        for file in files:
            if file.folder < 0:
                file.folder = _folder(file.role.path, workspace)
                if file.folder < 0:
                    return False
    except (RefusedError, FileNotFoundError):
        return False
    return True


def _folder(path: str, workspace: Path) -> int:
    """Open the folder of a file, -1 where there is none or a part of the path is a link."""
    try:
        return fsio.open_folder(path.split("/")[:-1], workspace)
    except FileNotFoundError:
        return -1
    except RefusedError as error:
        # Any other error may be temporary, and must not count as a change by others.
        if error.code in ("file.link", "file.not_folder"):
            return -1
        raise


def _sync(files: list[_File]) -> None:
    for file in files:
        if file.folder >= 0:
            fsio.sync(file.folder)
    if files:
        fsio.sync(files[0].stage)
