"""Connects a client of agents: writes its server, hooks and instructions into its own files, and can restore every
byte.
"""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from memory.document.compare import take_over
from memory.errors import ConflictError, MemdeckError, RefusedError, UsageError
from memory.storage.fsio import remove_empty
from memory.storage.replace import (
    allow_replacing,
    make_parents,
    put_in_private_folder,
    read_file,
    remove_file,
    replace_file,
)

from .clients import CLIENTS, SCOPES, Client, ConnectionTarget, client_of, gains
from .parts import ConnectionPart, InstructionBlock

Action = Literal["create", "change", "remove", "none"]
_FOLDER = "connections"
_TRIES = 5


@dataclass(frozen=True, slots=True)
class ConnectedFile:
    """A file without memdeck's parts and as it was written (None: no file), and the folders created for it."""

    before: bytes | None
    after: bytes | None
    folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class FilePlan:
    """The plan for one file: its bytes before and after, None for no file; `original` is the file without memdeck."""

    path: Path
    before: bytes | None
    after: bytes | None
    original: bytes | None = None

    @property
    def action(self) -> Action:
        """What is done to the file."""
        if self.before == self.after:
            return "none"
        if self.before is None:
            return "create"
        return "remove" if self.after is None else "change"

    def diff(self) -> str:
        """Return the change as a unified diff."""
        sides = [
            [] if data is None else data.decode("utf-8", "backslashreplace").splitlines(keepends=True)
            for data in (self.before, self.after)
        ]
        lines = unified_diff(sides[0], sides[1], str(self.path), str(self.path), n=2)
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)

    def json(self) -> dict[str, Any]:
        """Return it as JSON for programs."""
        return {"path": str(self.path), "action": self.action, "diff": self.diff()}


@dataclass(frozen=True, slots=True)
class Connection:
    """What connecting or disconnecting does, and what the user still has to do."""

    setting: ConnectionTarget
    files: tuple[FilePlan, ...]
    notes: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether any file changes."""
        return any(file.action != "none" for file in self.files)

    def json(self) -> dict[str, Any]:
        """Return it as JSON for programs."""
        return {
            "client": self.setting.client,
            "scope": self.setting.scope,
            "files": [file.json() for file in self.files],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class ConnectionState:
    """How a client is connected: `working` if all parts are in place, `partly` with the problem, or not at all."""

    client: str
    scope: str
    state: Literal["working", "partly", "no"]
    problems: tuple[str, ...] = ()
    gains: str = ""

    def json(self) -> dict[str, Any]:
        """Return it as JSON for programs."""
        return {
            "client": self.client,
            "scope": self.scope,
            "state": self.state,
            "problems": list(self.problems),
            "gains": self.gains,
        }


def plan_connect(setting: ConnectionTarget, state: Path) -> Connection:
    """Return what connecting would write; nothing is written. Errors of the client's files name file and line."""
    client = client_of(setting.client, setting.scope)
    files = []
    for path, parts in _by_file(client.parts(setting)).items():
        _stay_inside(path, setting)
        before = read_file(path)
        after = before
        for part in parts:
            after = part.put(after)
        if after != before:
            allow_replacing(path)
        original = before
        if before is not None and after != before and _left(before, parts):
            original = _original(before, parts, _recorded(path, state))
        files.append(FilePlan(path, before, after, original))
    return Connection(setting, tuple(files), (gains(client, setting), *client.notes(setting)))


def plan_disconnect(setting: ConnectionTarget, state: Path) -> Connection:
    """Return what disconnecting would write: each file as it was before, with what others changed in it since."""
    client = client_of(setting.client, setting.scope)
    shared = _shared(setting)
    files = []
    for path, parts in _by_file(client.parts(setting)).items():
        before = read_file(path)
        known = _recorded(path, state)
        if known is None:
            _stay_inside(path, setting)
        if before is None or path in shared:
            files.append(FilePlan(path, before, before))
            continue
        after = _original(before, parts, known)
        if after != before:
            allow_replacing(path)
        files.append(FilePlan(path, before, after))
    return Connection(setting, tuple(files))


def _stay_inside(path: Path, setting: ConnectionTarget) -> None:
    """Raise RefusedError `connect.outside` if a project's file leads out of it: its author chose the target."""
    real = path.resolve()
    if not setting.user and not real.is_relative_to(setting.project.resolve()):
        raise RefusedError(
            "connect.outside",
            f"{path} leads out of the project, to {real}",
            "remove the link, or connect that folder itself; nothing was changed",
            file=str(path),
        )


def carry_out(connection: Connection, state: Path, *, undo: bool = False) -> Connection:
    """Write what was planned; if another program changed a file meanwhile, it is planned again from its new content.

    Returns what was done. ConflictError `document.conflict` if the file keeps changing.
    """
    for tries in range(1, _TRIES + 1):
        try:
            for file in connection.files:
                _write(file, state, undo)
            if undo:
                known = [_recorded(file.path, state) for file in connection.files]
                remove_empty({folder for one in known if one is not None for folder in one.folders})
            return connection
        except ConflictError:
            if tries == _TRIES:
                raise
            setting = connection.setting
            connection = plan_disconnect(setting, state) if undo else plan_connect(setting, state)
    raise AssertionError("the last try returns or raises")


def _write(file: FilePlan, state: Path, undo: bool) -> None:
    if file.before == file.after:
        return
    if not undo:
        # The file without memdeck is saved, so that it can be restored.
        known = _recorded(file.path, state)
        made = dict.fromkeys((*(known.folders if known is not None else ()), *make_parents(file.path)))
        record = {"before": _coded(file.original), "after": _coded(file.after), "folders": list(map(str, made))}
        put_in_private_folder(state, _FOLDER, _name(file.path), json.dumps(record).encode())
    if file.after is None:
        remove_file(file.path, base=file.before)
    else:
        replace_file(file.path, file.after, base=file.before)


def states(project: ConnectionTarget, person: ConnectionTarget) -> list[ConnectionState]:
    """Return how every client is connected, in the project and for the user.

    Each has its own target, because memdeck may be started differently in the two.
    """
    targets = {"project": project, "user": person}
    return [
        _state(client, replace(targets[scope], client=name, scope=scope))
        for name, client in CLIENTS.items()
        for scope in client.scopes
    ]


def _state(client: Client, setting: ConnectionTarget) -> ConnectionState:
    problems: list[str] = []
    begun = False
    for part in client.parts(setting):
        try:
            data = read_file(part.path)
            # The instructions may be there for another client.
            begun = begun or (data is not None and not isinstance(part, InstructionBlock) and part.take(data) != data)
            if not part.stands(data):
                problems.append(f"{part.path} does not have what `connect` writes")
        except MemdeckError as error:
            problems.append(error.message)
    if not begun:
        return ConnectionState(setting.client, setting.scope, "no")
    if shutil.which(setting.command[0]) is None:
        problems.append(f"{setting.command[0]} cannot be run")
    return ConnectionState(
        setting.client,
        setting.scope,
        "partly" if problems else "working",
        tuple(dict.fromkeys(problems)),
        gains(client, setting),
    )


def _by_file(parts: Sequence[ConnectionPart]) -> dict[Path, list[ConnectionPart]]:
    files: dict[Path, list[ConnectionPart]] = {}
    for part in parts:
        files.setdefault(part.path, []).append(part)
    return files


def _shared(setting: ConnectionTarget) -> set[Path]:
    """Return the files whose instructions another connected client needs, too."""
    found: set[Path] = set()
    for name, client in CLIENTS.items():
        if name == setting.client or setting.scope not in client.scopes:
            continue
        other = replace(setting, client=name)
        if _state(client, other).state != "no":
            found |= {part.path for part in client.parts(other)}
    return found


def _original(now: bytes, parts: Sequence[ConnectionPart], known: ConnectedFile | None) -> bytes | None:
    """Return a file without the parts: the original if it is known, else with what others did to it since."""
    if known is not None:
        if now == known.after:
            return known.before
        if known.before is not None and known.after is not None:
            merged = take_over(known.after, known.before, now)
            if merged is not None and not _left(merged, parts):
                return merged
    left: bytes | None = now
    for part in reversed(parts):
        left = None if left is None else part.take(left)
    made_for_us = known is not None and known.before is None
    return None if made_for_us and left is not None and left.strip() in (b"", b"{}") else left


def _left(data: bytes, parts: Sequence[ConnectionPart]) -> bool:
    """Return whether a part is still in a file, or the file cannot be read."""
    try:
        return any(part.take(data) != data for part in parts)
    except UsageError:
        return True


def _name(path: Path) -> str:
    return sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:32] + ".json"


def _coded(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _recorded(path: Path, state: Path) -> ConnectedFile | None:
    """Return the record of a file that was connected; None if there is none, or it is damaged."""
    try:
        data = read_file(state / "memdeck" / _FOLDER / _name(path))
        if data is None:
            return None
        found = json.loads(data)
        folders = tuple(map(Path, found["folders"]))
        return ConnectedFile(_decoded(found["before"]), _decoded(found["after"]), folders)
    except (MemdeckError, ValueError, KeyError, TypeError):
        return None


__all__ = [
    "SCOPES",
    "Connection",
    "ConnectionState",
    "FilePlan",
    "carry_out",
    "plan_connect",
    "plan_disconnect",
    "states",
]
