"""Drafts: what a person typed into a form and has not saved, kept outside of the workspace until it is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime

import psutil

from memory.base.values import read_object
from memory.errors import MemdeckError, writing
from memory.storage import fsio
from memory.storage.own_folders import StateFolder

FOLDER = "drafts"
MOST = 100
"""How many drafts are read at most."""
_ENDING = ".json"
_DAMAGE = (ValueError, KeyError, TypeError)
"""What comes of a file that a power cut tore."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One form that was not saved. `id` names it for good, `time` is aware.

    `pane` and `ref` say which entry it is about, `title` says it to people; of a new entry (`new`) `ref` is where the
    cursor was. `values` are those that were typed, `base` what the form was given for each of them. `owner` is
    the process that has the form open, empty for none.
    """

    id: str
    time: datetime
    pane: str
    operation: str
    title: str
    ref: str | None = None
    new: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
    base: Mapping[str, str] = field(default_factory=dict)
    owner: str = ""


class Drafts:
    """The drafts of one workspace, a private file (0600) each; safe in any thread."""

    def __init__(self, folder: StateFolder) -> None:
        """Keep where they are; nothing is read or made yet."""
        self._folder = folder

    def put(self, draft: Draft) -> None:
        """Write a draft in the place of its older state; RefusedError `state.*`, MemdeckError `file.*`."""
        values = {**asdict(draft), "time": draft.time.isoformat()}
        self._folder.put_json(_name(draft.id), values, inner=FOLDER)

    def remove(self, draft_id: str) -> None:
        """Remove a draft; one that is gone already is fine. Errors as `put`."""
        if os.path.lexists(self._folder.path / FOLDER / _name(draft_id)):
            with writing(self._folder.path / FOLDER), self._folder.opened(FOLDER) as folder:
                fsio.remove(_name(draft_id), folder)

    def left(self) -> tuple[Draft, ...]:
        """Return the drafts whose process has ended, newest first; damaged ones are left out.

        RefusedError `state.*` for a folder that must not be relied on.
        """
        self._folder.check()
        try:
            names = sorted(os.listdir(self._folder.path / FOLDER), reverse=True)
        except OSError:
            return ()
        found = []
        for name in [name for name in names if name.endswith(_ENDING) and name[0] != "."][:MOST]:
            with suppress(MemdeckError, OSError, *_DAMAGE):
                values = read_object(self._folder.read(f"{FOLDER}/{name}"))
                draft = Draft(**{**values, "time": datetime.fromisoformat(values["time"])})
                if _name(draft.id) == name and not is_running(draft.owner):
                    found.append(draft)
        return tuple(sorted(found, key=lambda draft: draft.time, reverse=True))


def _name(draft_id: str) -> str:
    if not draft_id.isalnum() or not draft_id.isascii():
        raise ValueError("an id is letters and digits")
    return draft_id + _ENDING


def this_process() -> str:
    """Return what names this process among all that ever ran on the machine."""
    return _process(os.getpid())


def is_running(owner: str) -> bool:
    """Tell whether the process that `this_process` named still runs."""
    pid, _, begun = owner.partition("@")
    return pid.isascii() and pid.isdigit() and len(pid) < 10 and bool(begun) and _process(int(pid)) == owner


def _process(pid: int) -> str:
    """Return a process by its number and the moment it was started: numbers are used again."""
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            return f"{pid}@{process.create_time()}"
    return f"{pid}@"
