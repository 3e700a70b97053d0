"""Connects a client of agents: writes its server, hooks and instructions into its own files, and can restore every
byte.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from memory.document.merge.sequences import merge_files
from memory.errors import ConflictError, MemdeckError, UsageError
from memory.registry import workspace_of
from memory.storage.fsio import remove_folders
from memory.storage.own_folders import person_folder
from memory.storage.replace import (
    allow_replacing,
    make_parents,
    read_file,
    remove_file,
    remove_left_over,
    replace_file,
)

from .clients import CLIENTS, Client, ConnectionTarget, client_of, gains
from .parts import ConnectionPart, InstructionBlock, stay_inside
from .trial import runnable

Action = Literal["create", "change", "remove", "none"]
State = Literal["working", "not working", "not tried", "partly", "no"]
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
        """What happens to the file."""
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
    def memory(self) -> Path | None:
        """The workspace that contains the project; None if there is none."""
        found = workspace_of(str(self.setting.project))
        return None if found is None else Path(found)

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
            "memory": None if self.memory is None else str(self.memory),
            "notes": list(self.notes),
        }


class ConnectionState(NamedTuple):
    """How a client is connected: `partly` with the problem, or not at all; if all parts are in place, whether a call of
    the server worked.
    """

    client: str
    scope: str
    state: State
    problems: tuple[str, ...] = ()
    gains: str = ""

    def json(self) -> dict[str, Any]:
        """Return it as JSON for programs."""
        return self._asdict()


def plan_connect(setting: ConnectionTarget, state: Path) -> Connection:
    """Return what connecting would write; nothing is written. Errors of the client's files name file and line."""
    client = client_of(setting.client, setting.scope)
    files = []
    for path, parts in _by_file(client.parts(setting)).items():
        _stay_inside(path, setting)
        before = read_file(path)
        if own := _users_own(before, parts):
            raise UsageError(
                "connect.taken",
                f"{path} has {own} already, which is not what memdeck writes for {setting.client}",
                "rename or remove it first; nothing was changed",
                file=str(path),
            )
        after = before
        for part in parts:
            after = part.put(after)
        if after != before:
            allow_replacing(path)
        original = before
        if before is not None and after != before and _left(before, parts):
            original = _original(before, parts, _recorded(path, state))
        files.append(FilePlan(path, before, after, original))
    found = Connection(setting, tuple(files), (gains(client, setting), *client.notes(setting)))
    if found.memory is None and not setting.user:
        there = f"There is no memory in {setting.project} yet: `memdeck init` creates it."
        found = replace(found, notes=(there, *found.notes))
    return found


def plan_disconnect(setting: ConnectionTarget, state: Path) -> Connection:
    """Return what disconnecting would write: each file as it was before, with what others changed in it since."""
    client = client_of(setting.client, setting.scope)
    shared = _shared(setting)
    files, notes = [], []
    for path, parts in _by_file(client.parts(replace(setting, everywhere=True))).items():
        before = read_file(path)
        known = _recorded(path, state)
        if known is None:
            _stay_inside(path, setting)
        if own := _users_own(before, parts):
            notes.append(f"{path} keeps {own}, which is not what memdeck writes.")
        if before is None or path.resolve() in shared:
            files.append(FilePlan(path, before, before))
            continue
        after = _original(before, parts, known)
        if after != before:
            allow_replacing(path)
        files.append(FilePlan(path, before, after))
    return Connection(setting, tuple(files), tuple(notes))


def _users_own(data: bytes | None, parts: Sequence[ConnectionPart]) -> str:
    """Return what of a file has the name of a part and is not memdeck's; empty if nothing has."""
    return "" if data is None else next(filter(None, (part.taken(data) for part in parts)), "")


def _stay_inside(path: Path, setting: ConnectionTarget) -> None:
    """Raise RefusedError `connect.outside` if a project's file leads out of it."""
    if not setting.user:
        stay_inside(path, setting.project, "connect that folder itself")


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
                remove_folders({folder for one in known if one is not None for folder in one.folders})
            return connection
        except ConflictError:
            if tries == _TRIES:
                raise
            setting = connection.setting
            connection = plan_disconnect(setting, state) if undo else plan_connect(setting, state)
    raise AssertionError("the last try returns or raises")


def _write(file: FilePlan, state: Path, undo: bool) -> None:
    remove_left_over(file.path)
    if file.before == file.after:
        return
    if not undo:
        # The file without memdeck is saved, so that it can be restored.
        known = _recorded(file.path, state)
        made = dict.fromkeys((*(known.folders if known is not None else ()), *make_parents(file.path)))
        record = {"before": _coded(file.original), "after": _coded(file.after), "folders": list(map(str, made))}
        person_folder(state, _FOLDER).put_json(_name(file.path), record, durable=True)
    if file.after is None:
        remove_file(file.path, base=file.before)
    else:
        replace_file(file.path, file.after, base=file.before)


def states(
    project: ConnectionTarget, person: ConnectionTarget, trial: Callable[[ConnectionTarget], tuple[State, str]]
) -> list[ConnectionState]:
    """Return how every client is connected, in the project and for the user.

    Each has its own target, because memdeck may be started differently in the two. `trial` says how the server of a
    target works, and why it does not, for those that have all parts.
    """
    targets = {"project": project, "user": person}
    found = []
    for name, client in CLIENTS.items():
        for scope in client.scopes:
            setting = replace(targets[scope], client=name, scope=scope)
            one = _state(client, setting)
            if one.state == "not tried":
                state, why = trial(setting)
                one = one._replace(state=state, problems=(why,) if why else ())
            found.append(one)
    return found


def _state(client: Client, setting: ConnectionTarget) -> ConnectionState:
    problems: list[str] = []
    begun = False
    for part in client.parts(setting):
        try:
            data = read_file(part.path)
            # The instructions may be there for another client.
            begun = begun or (data is not None and not isinstance(part, InstructionBlock) and part.take(data) != data)
            if not part.present(data):
                problems.append(f"{part.path} does not have what `connect` writes")
        except MemdeckError as error:
            problems.append(error.message)
    if not begun:
        return ConnectionState(setting.client, setting.scope, "no")
    if runnable(setting.command[0], setting.environ.get("PATH", os.defpath)) is None:
        problems.append(f"{setting.command[0]} cannot be run")
    return ConnectionState(
        setting.client,
        setting.scope,
        "partly" if problems else "not tried",
        tuple(dict.fromkeys(problems)),
        gains(client, setting),
    )


def _by_file(parts: Sequence[ConnectionPart]) -> dict[Path, list[ConnectionPart]]:
    files: dict[Path, list[ConnectionPart]] = {}
    for part in parts:
        files.setdefault(part.path, []).append(part)
    return files


def _shared(setting: ConnectionTarget) -> set[Path]:
    """Return the files, behind all links, whose instructions another connected client needs, too."""
    found: set[Path] = set()
    for name, client in CLIENTS.items():
        if name == setting.client or setting.scope not in client.scopes:
            continue
        other = replace(setting, client=name)
        if _state(client, other).state != "no":
            found |= {part.path.resolve() for part in client.parts(other)}
    return found


def _original(now: bytes, parts: Sequence[ConnectionPart], known: ConnectedFile | None) -> bytes | None:
    """Return a file without the parts: the original if it is known, else with what others did to it since."""
    if known is not None:
        if now == known.after:
            return known.before
        if known.before is not None and known.after is not None:
            merged = merge_files(known.after, known.before, now)
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
        found = person_folder(state, _FOLDER).read_json(_name(path))
        folders = tuple(map(Path, found["folders"]))
        return ConnectedFile(_decoded(found["before"]), _decoded(found["after"]), folders)
    except (ValueError, KeyError, TypeError):
        return None
