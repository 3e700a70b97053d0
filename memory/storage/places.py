"""Where memdeck keeps what is its own: a folder beside the memory files, and a private one far from every
workspace.

`.memdeck/` (0700, its own `.gitignore` of `*`, `lock`, `stage/`) lies in the system's folder, so that staged
files are on the file system of their targets. A clone may bring one along: nothing in it is ever trusted or
replayed.
"""

from __future__ import annotations

import os
import stat as st
from contextlib import suppress
from pathlib import Path

from memory.errors import MemdeckError, RefusedError
from memory.named_tuple import NamedTuple
from memory.storage import fsio
from memory.storage.files import errnos as faults
from memory.storage.files.safe_open import parts_of
from memory.storage.files.version import sha256

STAGE = "stage"
MEMORY_FOLDERS = frozenset({".aiter", ".aegis", ".agent-memory", ".agh"})
"""Folders of memory systems: whatever lies in one may have come with a repository."""
AGENT_MARK = "Aidefile"
"""The file by which an agent's folder is recognised."""
_TRIAL, _TRIAL_SIZE = "trial", 32 * 1024
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class OpenFolder(NamedTuple):
    """The two folders that a transaction works in, as open descriptors."""

    folder: int
    stage: int

    def close(self) -> None:
        """Close both."""
        os.close(self.stage)
        os.close(self.folder)


class WorkFolder(NamedTuple):
    """The `.memdeck` folder of a memory system, made by the first change: reading writes nothing."""

    workspace: Path
    path: str  # relative to the workspace

    def open(self) -> OpenFolder:
        """Open the folder, make it first where it is missing.

        RefusedError where it is a link, no folder, another user's, or cannot be made.
        """
        *parents, name = parts_of(self.path)
        try:
            parent = fsio.open_folder(parents, self.workspace, made=[])
        except FileNotFoundError as error:
            raise faults.writing(error, str(self.workspace)) from error
        try:
            folder = fsio.private_folder(name, parent, self.path)
        finally:
            os.close(parent)
        try:
            stage = fsio.private_folder(STAGE, folder, f"{self.path}/{STAGE}")
            try:
                self._ignore(folder)
            except BaseException:
                os.close(stage)
                raise
        except BaseException:
            os.close(folder)
            raise
        return OpenFolder(folder, stage)

    def _ignore(self, folder: int) -> None:
        """Keep the folder out of git."""
        try:
            os.lstat(".gitignore", dir_fd=folder)
        except FileNotFoundError:
            try:
                with suppress(FileExistsError):
                    os.close(fsio.stage(".gitignore", folder, b"*\n", None))
            except OSError as error:
                raise faults.writing(error, f"{self.path}/.gitignore") from error


class StateFolder:
    """`<state home>/memdeck/<hash of the workspace's real path>/` (0700): what must not lie inside a
    repository.

    A workspace around the person's own home folder contains it, as it contains the files that the person's shell
    starts with. There it counts as well, where no memory folder is around it, it is no link and nobody else may look
    into it: what git brings along is open to others.
    """

    def __init__(self, home: Path, workspace: Path, person: Path | None = None, *, name: str | None = None) -> None:
        """`home` is `$XDG_STATE_HOME`, `workspace` the folder that holds the memory system, `person` the person's home
        folder (None: not known); nothing is looked at yet. `name` is what the folder is called where something else
        than the workspace's path identifies it.
        """
        self._name = name
        self.home = home
        self.workspace = workspace
        self.person = person
        self._path: Path | None = None
        self._records: str | None = None  # As seen from the workspace; empty where they lie outside of it.

    @property
    def path(self) -> Path:
        """Where the folder is, made or not."""
        if self._path is None:
            real = os.fsencode(os.path.realpath(self.workspace))
            self._path = self.home / "memdeck" / (self._name or sha256(real).hexdigest()[:32])
        return self._path

    def holds(self, path: str) -> bool:
        """Tell whether a path, as seen from the workspace, is one of memdeck's records about any workspace."""
        if self._records is None:
            top, workspace = f"{os.path.realpath(self.home)}/memdeck", _slashed(os.path.realpath(self.workspace))
            self._records = top.removeprefix(workspace) if top.startswith(workspace) else ""
        return bool(self._records) and _is_within(path, self._records)

    def open(self) -> int:
        """Open the folder for changing, make it first where it is missing; the caller closes the descriptor.

        RefusedError `state.inside_workspace`, `state.foreign_owner`, `state.writable_by_others`, `state.not_private`.
        """
        contained = self._outside()
        parent = self.path.parent
        fsio.make_folder(self.home)
        top = os.open(self.home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._check(parent, contained)
            self._check(self.path, contained)
            middle = fsio.private_folder(parent.name, top, str(parent))
        finally:
            os.close(top)
        try:
            return fsio.private_folder(self.path.name, middle, str(self.path))
        finally:
            os.close(middle)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file in the folder, None where there is none; RefusedError as `open`."""
        self.check()
        try:
            return fsio.read(name, self.path).base
        except MemdeckError as error:
            # A name without its folder tells nobody where to look.
            where = str(self.path / name)
            message = error.message.replace(name, where, 1)
            raise type(error)(error.code, message, error.hint, **(error.details | {"file": where})) from error

    def read_in(self, name: str, folder: int, *, regular: bool = False) -> bytes | None:
        """Return the bytes of a file of the open folder, None where there is none; MemdeckError `file.*`.

        RefusedError `file.not_regular` with `regular` where it is something else.
        """
        try:
            fd = os.open(name, _READ, dir_fd=folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise faults.reading(error, f"{self.path}/{name}") from error
        try:
            mode = os.fstat(fd).st_mode
            if regular and not st.S_ISREG(mode):
                raise faults.not_regular(f"{self.path}/{name}", mode)
            with open(fd, "rb", closefd=False) as file:
                return file.read()
        except OSError as error:
            raise faults.reading(error, f"{self.path}/{name}") from error
        finally:
            os.close(fd)

    def full(self) -> MemdeckError | None:
        """Return why nothing can be written to the folder, None where it can, or where it is not there yet.

        It is tried out with a file of the size of a small change, which is removed again.
        """
        if not os.path.isdir(self.path):
            return None
        try:
            folder = self.open()
            try:
                fsio.put_private(_TRIAL, folder, b" " * _TRIAL_SIZE)
                fsio.remove(_TRIAL, folder)
            finally:
                os.close(folder)
        except OSError as error:
            return faults.writing(error, str(self.path))
        except MemdeckError as error:
            return error
        return None

    def check(self) -> int:
        """Raise RefusedError as `open` does, without making anything.

        Return the permission bits that no record in it may have: those of others, or also those to look at it.
        """
        contained = self._outside()
        self._check(self.path.parent, contained)
        self._check(self.path, contained)
        return 0o077 if contained else 0o022

    def _outside(self) -> bool:
        """Return whether the folder lies inside the workspace; RefusedError where a repository may have brought it."""
        real, workspace = os.path.realpath(self.path), os.path.realpath(self.workspace)
        if not _is_within(real, workspace):
            return False
        person = None if self.person is None else os.path.realpath(self.person)
        where = ""
        if person is None or not _is_within(person, workspace):
            where = "the workspace"
        else:
            folder = real
            while _is_within(folder, workspace) and not _is_within(person, folder) and not where:
                if os.path.basename(folder).casefold() in MEMORY_FOLDERS or os.path.lexists(f"{folder}/{AGENT_MARK}"):
                    where = f"the memory folder {folder}"
                folder = os.path.dirname(folder)
        if where:
            raise RefusedError(
                "state.inside_workspace",
                f"the state folder {real} lies inside {where}",
                "set XDG_STATE_HOME to a folder outside it",
                folder=real,
            )
        return True

    def _check(self, folder: Path, contained: bool) -> None:
        """Raise RefusedError unless a folder that is there is ours alone."""
        try:
            found = os.lstat(folder) if contained else os.stat(folder)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise faults.reading(error, str(folder)) from error
        if found.st_uid != os.geteuid():
            raise RefusedError(
                "state.foreign_owner",
                f"the state folder {folder} belongs to another user",
                "set XDG_STATE_HOME to a folder of your own",
                folder=str(folder),
            )
        # The folder around it may be one that a person made for the log of a cron line.
        others = 0o077 if folder == self.path else 0
        if contained and (not st.S_ISDIR(found.st_mode) or found.st_mode & others):
            raise RefusedError(
                "state.not_private",
                f"the state folder {folder} lies inside the workspace and is not as memdeck makes it: a repository may "
                "have brought it along",
                "look at it, then remove it; memdeck makes it anew",
                folder=str(folder),
            )
        if found.st_mode & 0o022:
            raise RefusedError(
                "state.writable_by_others",
                f"others can write to the state folder {folder}",
                f"chmod go-w {folder}",
                folder=str(folder),
            )


def _is_within(path: str, folder: str) -> bool:
    """Tell whether a path is a folder or lies in it; both are real paths."""
    return path == folder or path.startswith(_slashed(folder))


def _slashed(folder: str) -> str:
    return folder.rstrip("/") + "/"
