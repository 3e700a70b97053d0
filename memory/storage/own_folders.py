"""Where memdeck keeps its own files: a folder beside the memory files, and a private one outside every workspace.

The environment names the folders of the person: home, state and configuration; none of them belongs to a workspace.

`.memdeck/` (0700, its own `.gitignore` of `*`, `lock`, `stage/`) is in the system's folder, so that staged files are on
the file system of their targets. A clone may contain one: nothing in it is ever trusted or replayed.
"""

from __future__ import annotations

import json
import os
import stat as st
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from pwd import getpwuid
from typing import Any, NamedTuple

from memory.base.values import read_object
from memory.errors import MemdeckError, RefusedError, reading, writing

from . import fsio
from .safe_open import parts_of, read

STAGE = "stage"
MEMORY_FOLDERS = frozenset({".aiter", ".aegis", ".agent-memory", ".agh"})
"""Folders of memory systems: anything in one may have come with a repository."""
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
        """Open the folder; make it if it is missing.

        RefusedError where it is a link, no folder, another user's, or cannot be made.
        """
        *parents, name = parts_of(self.path)
        with (
            writing(self.workspace),
            fsio.closing(fsio.open_folder(parents, self.workspace, made=[])) as parent,
        ):
            folder = fsio.private_folder(name, parent, self.path)
        with fsio.closed_on_error(folder), writing(f"{self.path}/.gitignore"):
            with suppress(FileExistsError):  # It keeps the folder out of git.
                os.close(fsio.write_new(".gitignore", folder, b"*\n"))
            return OpenFolder(folder, fsio.private_folder(STAGE, folder, f"{self.path}/{STAGE}"))


class StateFolder:
    """`<state home>/memdeck/<hash of the workspace's real path>/` (0700): records that must not be inside a repository.

    A workspace around the user's home folder contains it, like the start files of the user's shell. There it is
    accepted if it is not a link, and no other user can read it: folders that git creates are readable by others.
    """

    def __init__(self, home: Path, workspace: Path, person: Path | None = None, *, name: str | None = None) -> None:
        """`home` is `$XDG_STATE_HOME`, `workspace` the folder that holds the memory system, `person` the user's home
        folder (None: not known); nothing is read yet. `name` is the folder's name where something other than the
        workspace's path identifies it.
        """
        self._name = name
        self.home = home
        self.workspace = workspace
        self.person = person
        self._records: str | None = None  # A path in the workspace; empty where the records are outside it.

    @cached_property
    def path(self) -> Path:
        """The path of the folder, which may not exist yet."""
        real = os.fsencode(os.path.realpath(self.workspace))
        return self.home / "memdeck" / (self._name or sha256(real).hexdigest()[:32])

    def holds(self, path: str) -> bool:
        """Return whether a path in the workspace is one of memdeck's records about any workspace."""
        if self._records is None:
            top, workspace = f"{os.path.realpath(self.home)}/memdeck", _slashed(os.path.realpath(self.workspace))
            self._records = top.removeprefix(workspace) if top.startswith(workspace) else ""
        return bool(self._records) and _is_within(path, self._records)

    def open(self) -> int:
        """Open the folder for changes; make it if it is missing. The caller closes the descriptor.

        RefusedError `state.inside_workspace`, `state.foreign_owner`, `state.writable_by_others`, `state.not_private`.
        """
        self.check()
        with fsio.closing(fsio.own_folder(self.home)) as own:
            return fsio.private_folder(self.path.name, own, str(self.path))

    @contextmanager
    def opened(self, name: str = "") -> Iterator[int]:
        """Open the folder, or the folder `name` in it, for a block; make it if it is missing. Errors as `open`."""
        with fsio.closing(self.open()) as folder:
            if not name:
                yield folder
                return
            with fsio.closing(fsio.private_folder(name, folder, f"{self.path}/{name}")) as inner:
                yield inner

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file in the folder, None where there is none; RefusedError as `open`."""
        self.check()
        return read(name, self.path, shown=str(self.path / name)).base

    def read_json(self, name: str) -> dict[str, Any]:
        """Return the JSON object in a file of the folder, empty where there is none or it cannot be read."""
        with suppress(MemdeckError):
            return read_object(self.read(name))
        return {}

    def put_json(
        self, name: str, values: Mapping[str, Any], *, inner: str = "", owner: str = "", durable: bool = False
    ) -> None:
        """Replace a file of the folder, or of the folder `inner` in it, by a JSON object; errors as `opened`, `file.*`.

        Unless it is `durable`, a power cut may bring an older one back, or none. `owner` is the system whose lock is
        held, and whose recovery removes what a crash left of it.
        """
        with writing(self.path / inner / name), self.opened(inner) as folder:
            fsio.put(name, folder, json.dumps(values).encode() + b"\n", durable=durable, owner=owner)

    def full(self) -> MemdeckError | None:
        """Return why nothing can be written to the folder, None where it can be, or where it does not exist yet.

        This is tested with a file of the size of a small change, which is removed again.
        """
        if not os.path.isdir(self.path):
            return None
        try:
            self.put_json(_TRIAL, {"": " " * _TRIAL_SIZE}, durable=True)
            with self.opened() as folder:
                fsio.remove(_TRIAL, folder)
        except MemdeckError as error:
            return error
        return None

    def check(self) -> int:
        """Raise RefusedError as `open` does, without making anything.

        Return the permission bits that no record in it may have: writing by others, or any access by others.
        """
        contained = self._is_inside_workspace()
        self._check(self.path.parent, contained)
        self._check(self.path, contained)
        return 0o077 if contained else 0o022

    def _is_inside_workspace(self) -> bool:
        """Return whether the folder is inside the workspace; RefusedError where it may have come with a repository."""
        real, workspace = os.path.realpath(self.path), os.path.realpath(self.workspace)
        if not _is_within(real, workspace):
            return False
        person = None if self.person is None else os.path.realpath(self.person)
        if person is None or not _is_within(person, workspace):
            raise RefusedError(
                "state.inside_workspace",
                f"the state folder {real} is inside the workspace",
                "set XDG_STATE_HOME to a folder outside it",
                folder=real,
            )
        return True

    def _check(self, folder: Path, contained: bool) -> None:
        """Raise RefusedError unless the folder is missing or ours alone."""
        with reading(folder):
            try:
                found = os.lstat(folder) if contained else os.stat(folder)
            except (FileNotFoundError, NotADirectoryError):
                return
        if found.st_uid != os.geteuid():
            raise RefusedError(
                "state.foreign_owner",
                f"the state folder {folder} belongs to another user",
                "set XDG_STATE_HOME to a folder of your own",
                folder=str(folder),
            )
        # The parent folder may be one that the user made for the log of a cron job.
        others = 0o077 if folder == self.path else 0
        if contained and (not st.S_ISDIR(found.st_mode) or found.st_mode & others):
            raise RefusedError(
                "state.not_private",
                f"the state folder {folder} is inside the workspace and is not as memdeck makes it: a repository may "
                "have brought it along",
                "look at it, then remove it; memdeck recreates it",
                folder=str(folder),
            )
        if found.st_mode & 0o022:
            raise RefusedError(
                "state.writable_by_others",
                f"others can write to the state folder {folder}",
                f"chmod go-w {folder}",
                folder=str(folder),
            )


def person_folder(home: Path, name: str) -> StateFolder:
    """Return a private folder in a state home that belongs to the user and to no workspace, so it is inside none."""
    return StateFolder(home, home / "memdeck" / name / "none", name=name)


def _is_within(path: str, folder: str) -> bool:
    """Return whether a path is a folder or inside it; both are real paths."""
    return path == folder or path.startswith(_slashed(folder))


def _slashed(folder: str) -> str:
    return folder.rstrip("/") + "/"


# -- the time of the last maintenance --------------------------------------------------------------------------

STATE = "state.json"


class PrivateState:
    """The record of one workspace in its private state folder; written under the workspace's lock only."""

    def __init__(self, home: Path | None, workspace: Path, person: Path | None = None) -> None:
        """`home` is the state home (None: the one that the environment names), `person` the user's home folder;
        nothing is read or made yet.
        """
        self.folder = StateFolder(state_home(os.environ) if home is None else home, workspace, person)

    def last_maintenance(self) -> datetime | None:
        """Return when the workspace was maintained last, None where a missing or damaged file does not tell.

        RefusedError `state.*` when the folder cannot be trusted.
        """
        try:
            time = datetime.fromisoformat(read_object(self.folder.read(STATE))["lastMaintenance"])
        except (KeyError, TypeError, ValueError):
            return None
        return time if time.tzinfo is not None else None

    def record_maintenance(self, now: datetime, owner: str) -> None:
        """Record a maintenance; `owner` is the system whose lock is held. RefusedError `state.*`, MemdeckError
        `file.io`.
        """
        self.folder.put_json(STATE, {"lastMaintenance": now.isoformat()}, owner=owner)


# -- what the environment says of the person ----------------------------------------------------------------------

DATABASE = "MEMDECK_DATABASE"
"""The variable that names the catalogue of a fleet of many hosts."""


def home(environ: Mapping[str, str]) -> Path:
    """Return the user's home folder: `$HOME`, or the one in the system's user list where `$HOME` is not absolute.

    A relative one would be a folder in the current repository.
    """
    setting = environ.get("HOME", "")
    if os.path.isabs(setting):
        return Path(setting)
    try:
        listed = getpwuid(os.getuid()).pw_dir
    except KeyError:
        listed = ""
    return Path(listed if os.path.isabs(listed) else "/")


def state_home(environ: Mapping[str, str]) -> Path:
    """Return `$XDG_STATE_HOME`, or `~/.local/state` where it is not set or not absolute."""
    return _named(environ, "XDG_STATE_HOME", ".local/state")


def config_home(environ: Mapping[str, str]) -> Path:
    """Return `$XDG_CONFIG_HOME`, or `~/.config` where it is not set or not absolute."""
    return _named(environ, "XDG_CONFIG_HOME", ".config")


def agh_home(environ: Mapping[str, str], person: Path) -> Path:
    """Return `$AGH_HOME`, the folder of the user's curated memory, or `.agh` in `person` where it is not absolute."""
    setting = environ.get("AGH_HOME", "")
    return Path(setting) if os.path.isabs(setting) else person / ".agh"


def _named(environ: Mapping[str, str], name: str, beneath: str) -> Path:
    setting = environ.get(name, "")
    return Path(setting) if os.path.isabs(setting) else home(environ) / beneath


def host_name(environ: Mapping[str, str]) -> str:
    """Return the name of this machine; `MEMDECK_HOST` overrides it."""
    return environ.get("MEMDECK_HOST") or os.uname().nodename


def short_path(path: str, home: str | os.PathLike[str] | None) -> str:
    """Return a path as the user writes it, with the home folder as `~`."""
    top = "" if home is None else os.fspath(home).rstrip("/")
    return "~" + path[len(top) :] if top and (path == top or path.startswith(top + "/")) else path
