"""The advisory lock of a file: a sentinel `<path>.lock` beside it, made by the first program that asks.

Locks are cooperative: a program that does not check for the sentinel is not stopped by it. memdeck checks before it
writes. The content of the sentinel is for people; only its existence counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.base.programs import is_alive
from memory.base.safe_text import visible
from memory.errors import BusyError, RefusedError, write_failed
from memory.storage import Store, fsio
from memory.storage.own_folders import host_name
from memory.storage.safe_open import read_start

from .aidefile import LOCK

_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a lock according to its sentinel: process, host, and time as written."""

    path: str
    pid: int | None
    host: str
    time: str

    @property
    def dead(self) -> bool:
        """Whether the process was one of this machine and no longer exists, so that it will never remove the lock."""
        return self.pid is not None and self.host == host_name(os.environ) and not is_alive(self.pid)

    def text(self) -> str:
        """Return the holder for people to read."""
        if self.pid is None:
            return "an unknown program"
        where = f" on {self.host}" if self.host != host_name(os.environ) else ""
        since = f" since {self.time}" if self.time else ""
        return visible(f"process {self.pid}{where}{since}{', which is gone' if self.dead else ''}")

    def json(self) -> dict[str, Any]:
        """Return the lock for programs."""
        return {"path": self.path, "pid": self.pid, "host": self.host, "time": self.time, "stale": self.dead}


def holder_of(folder: Path | str, path: str) -> Holder | None:
    """Return the holder of the lock of a file (`path` from the folder on), None where it is not locked.

    A link or anything else under the sentinel's name counts as a lock, and is not read.
    """
    place = os.path.join(folder, path + LOCK)
    if not os.path.lexists(place):
        return None
    try:
        words = read_start(place, _SHOWN, follow=False).decode("utf-8", "replace").split()
    except (OSError, RefusedError):
        words = []
    number = words[0] if words else ""
    usable = number.isascii() and number.isdigit() and len(number) < 11 and 0 < int(number) < 1 << 31
    pid = int(number) if usable else None
    return Holder(path, pid, words[1] if len(words) > 1 else "", words[2] if len(words) > 2 else "")


def refuse_locked(folder: Path | str, path: str, owner: int | None = None) -> None:
    """Raise BusyError `typed.locked` where another process holds the lock of a file.

    `owner` is the process that makes the change (default: this one); its own lock does not block it.
    """
    holder = holder_of(folder, path)
    own = (os.getpid() if owner is None else owner, host_name(os.environ))
    if holder is not None and (holder.pid, holder.host) != own:
        raise held(holder)


def held(holder: Holder) -> BusyError:
    """Return the error for a lock that another process holds."""
    hint = "unlock it if that is the case" if holder.dead else "wait until it is unlocked"
    return BusyError("typed.locked", f"{visible(holder.path)} is locked by {holder.text()}", hint, **holder.json())


def lock_file(store: Store, path: str, *, now: datetime, owner: int | None = None) -> Holder:
    """Make the sentinel of a file, which need not exist; BusyError `typed.locked` names the holder.

    The sentinel is made in one step that only one caller can win. It is not a change of memory, so no history has it.
    The caller has checked that the file is one of the agent's memory.
    """
    pid = os.getpid() if owner is None else owner
    time = now.astimezone(UTC).replace(microsecond=0).isoformat()
    text = f"{pid} {host_name(os.environ)} {time}\n".encode()
    try:
        _beside(store, path, lambda name, folder: os.close(fsio.write_new(name, folder, text, durable=False)), made=[])
    except FileExistsError:
        raise held(holder_of(store.root, path) or Holder(path, None, "", "")) from None
    except OSError as error:
        raise write_failed(error, store.shown(path) + LOCK) from error
    return holder_of(store.root, path) or Holder(path, pid, "", "")


def unlock_file(store: Store, path: str) -> bool:
    """Remove the sentinel of a file, also that of another process, and return whether it existed."""
    if not os.path.lexists(store.root / (path + LOCK)):
        return False
    try:
        _beside(store, path, fsio.remove)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise write_failed(error, store.shown(path) + LOCK) from error
    return True


def _beside(store: Store, path: str, act: Callable[[str, int], object], made: list[str] | None = None) -> None:
    """Do something with the sentinel of a file: `act` gets its name and its open folder."""
    store.check_path(path)
    *parents, name = store.shown(path).split("/")
    folder = fsio.open_folder(parents, store.workspace, made=made)
    try:
        act(name + LOCK, folder)
    finally:
        os.close(folder)
