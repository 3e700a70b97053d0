"""The protocol with one thing wrong each: what a mutant breaks, and the part of the harness that is to notice it first.

Each function here replaces something in the storage of its process; `tests.crash.mutants` tries them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import types
from collections.abc import Callable
from typing import Any

from memory.storage import fsio, journal, lock, step, transaction
from memory.storage.journal import Journal
from memory.storage.step import FileStep, Step
from memory.storage.transaction import Transaction


def _set(owner: Any, name: str, value: Any) -> None:
    setattr(owner, name, value)


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _swallow(function: Callable[..., Any]) -> Callable[..., Any]:
    def quiet(*args: Any, **words: Any) -> Any:
        with contextlib.suppress(OSError):
            return function(*args, **words)

    return quiet


def _no_sync_of_new() -> None:
    real, stage = fsio.sync, fsio.write_new

    def staged(*args: Any, **words: Any) -> int:
        fsio.sync = _nothing
        try:
            return stage(*args, **words)
        finally:
            fsio.sync = real

    _set(fsio, "write_new", staged)


def _private(**fixed: Any) -> None:
    real = fsio.put
    _set(fsio, "put", lambda name, folder, data, **_: real(name, folder, data, **fixed))


def _no_sync_of_folders() -> None:
    real = Transaction._put_in_place

    def put(self: Any, *args: Any, **words: Any) -> None:
        self._sync = _nothing
        try:
            real(self, *args, **words)
        finally:
            del self._sync

    _set(Transaction, "_put_in_place", put)


def _intent_too_late() -> None:
    begin, put = Journal.begin, Transaction._put_in_place
    waiting: list[Any] = []

    def later(self: Any, *args: Any, **words: Any) -> None:
        put(self, *args, **words)
        begin(self._journal, *waiting[-1][0], **waiting[-1][1])

    _set(Journal, "begin", lambda _, *args, **words: waiting.append((args, words)))
    _set(Transaction, "_put_in_place", later)


def _intent_ends_early() -> None:
    put = Transaction._put_in_place

    def ended(self: Any, *args: Any, **words: Any) -> None:
        self._journal.end(durable=True)
        put(self, *args, **words)

    _set(Transaction, "_put_in_place", ended)


def _replacing(put: Callable[[Step], None]) -> None:
    """Replace files in another way; what is created or removed stays as it is."""
    real = Step.put
    _set(Step, "put", lambda self: real(self) if self.before is None or self.after is None else put(self))


def _plain_rename() -> None:
    _replacing(lambda one: fsio.rename(one.label, one.stage_folder, one.name, one.folder))
    _set(FileStep, "verify", _nothing)


def _covering_create() -> None:
    _set(fsio, "add_name", fsio.rename)


def _unlinking() -> None:
    real, verify = Step.put, FileStep.verify

    def put(self: Step) -> None:
        real(self)
        if self.after is None:
            fsio.remove(self.label, self.stage_folder)

    _set(Step, "put", put)
    _set(FileStep, "verify", lambda self: verify(self) if self.file.after is not None else None)


def _in_place() -> None:
    def rewritten(one: Step) -> None:
        source = os.open(one.label, os.O_RDONLY, dir_fd=one.stage_folder)
        target = os.open(one.name, os.O_WRONLY | os.O_TRUNC | os.O_NONBLOCK, dir_fd=one.folder)
        fsio.os.write(target, os.read(source, 1 << 24))
        os.close(source)
        os.close(target)

    _replacing(rewritten)
    _set(FileStep, "verify", _nothing)


def _two_renames() -> None:
    def renamed(one: Step) -> None:
        fsio.rename(one.name, one.folder, f"{one.label}.old", one.stage_folder)
        fsio.rename(one.label, one.stage_folder, one.name, one.folder)

    _replacing(renamed)
    _forgetting_recovery()


def _emptied(folder: int) -> None:
    for name in os.listdir(folder):
        fsio.remove(name, folder)


def _stage_first_cleared() -> None:
    real = Transaction._recover

    def cleared(self: Any, places: Any) -> None:
        _emptied(places.stage)
        real(self, places)

    _set(Transaction, "_recover", cleared)


def _forgetting_recovery() -> None:
    _set(journal, "_recover", _nothing)


def _recovery_only_looks() -> None:
    _set(journal, "_go_on", _nothing)
    _set(journal, "go_back", _nothing)


def _crossing_counts_as_done() -> None:
    _set(Step, "crossed", property(lambda _: False))


def _short_write() -> None:
    _set(fsio, "_write", lambda fd, data: fsio.os.write(fd, data) if data else 0)


def _no_lock() -> None:
    free = types.ModuleType("fcntl")
    free.__dict__.update(vars(fcntl) | {"flock": _nothing})  # Leases are as they were.
    _set(lock, "fcntl", free)
    assert fcntl


def _error_hidden() -> None:
    real = Transaction._carry_out

    def hidden(self: Any, *args: Any) -> None:
        with contextlib.suppress(OSError, transaction.MemdeckError):
            real(self, *args)

    _set(Transaction, "_carry_out", hidden)


def _begin(**fixed: Any) -> None:
    real = Journal.begin
    _set(Journal, "begin", lambda self, intent, **_: real(self, intent, **fixed))


def _add_without_sync() -> None:
    real = fsio.append

    def append(fd: int, data: bytes) -> None:
        sync = fsio.sync
        fsio.sync = _nothing
        try:
            real(fd, data)
        finally:
            fsio.sync = sync

    _set(fsio, "append", append)


def _added_anywhere() -> None:
    """The bytes are written where the file ended when it was read, wherever it ends by now."""

    def append(self: FileStep) -> None:
        before, after = self.file.before or b"", self.file.after or b""
        target = os.open(self.name, os.O_WRONLY | os.O_NOFOLLOW, dir_fd=self.folder)
        fsio.os.pwrite(target, after[len(before) :], len(before))
        fsio.sync(target)
        os.close(target)

    _set(FileStep, "_append", append)


def _added_and_not_looked_at() -> None:
    """The bytes may go to a file that has just lost its name."""

    def append(self: FileStep) -> None:
        before, after = self.file.before or b"", self.file.after or b""
        with fsio.closing(fsio.open_append(self.name, self.folder)) as target:
            fsio.append(target, after[len(before) :])

    _set(FileStep, "_append", append)


def _added_to_a_torn_line() -> None:
    plan = Transaction._plan

    def planned(self: Transaction, file: Any) -> None:
        before = file.before or b""
        if before and not before.endswith(b"\n") and (file.after or b"").startswith(before + b"\n"):
            file = file._replace(after=before + file.after[len(before) + 1 :])
        plan(self, file)

    _set(Transaction, "_plan", planned)


def _part_of_an_addition() -> None:
    def append(fd: int, data: bytes) -> None:
        fsio.os.write(fd, data)
        fsio.sync(fd)

    _set(fsio, "append", append)


MUTANTS: dict[str, tuple[str, Callable[[], None]]] = {
    "no sync at all": ("power", lambda: _set(fsio, "sync", _nothing)),
    "new bytes not synced": ("power", _no_sync_of_new),
    "folders not synced at the end": ("power", _no_sync_of_folders),
    "intent not synced": ("power", lambda: _begin(durable=False)),
    "private files not synced": ("power", lambda: _private(durable=False)),
    "no intent": ("kill", lambda: _set(Journal, "begin", _nothing)),
    "intent written after the move": ("kill", _intent_too_late),
    "intent taken away before the move": ("kill", _intent_ends_early),
    "intent never taken away": ("kill", lambda: _set(Journal, "end", _nothing)),
    "plain rename": ("late", _plain_rename),
    "rewritten in place": ("kill", _in_place),
    "two renames with a gap": ("kill", _two_renames),
    "what is displaced not verified": ("foreign", lambda: _set(FileStep, "verify", _nothing)),
    "not compared with the base": (
        "looking",
        lambda: (
            _set(FileStep, "check", _unchecked(FileStep.check)),
            _set(FileStep, "_unchanged", lambda _: True),
            _set(FileStep, "verify", _nothing),
        )[0],
    ),
    "not compared before the exchange, nor after": (
        "foreign",
        lambda: (
            _set(FileStep, "_unchanged", lambda _: True),
            _set(FileStep, "verify", _nothing),
        )[0],
    ),
    "nothing put back": ("looking", lambda: _set(transaction, "go_back", lambda _: True)),
    "put back only half": ("looking", lambda: _set(Step, "take_back", lambda _: True)),
    "a new file covers another": ("foreign", _covering_create),
    "a removal unlinks": ("foreign", _unlinking),
    "recovery forgets": ("kill", _forgetting_recovery),
    "recovery never goes on": (
        "kill",
        _recovery_only_looks,
    ),
    "recovery believes what was displaced": ("foreign and kill", _crossing_counts_as_done),
    "recovery after clearing up": ("kill", _stage_first_cleared),
    "recovery knows no digests": ("kill", lambda: _set(step, "digest_in", lambda *_: "")),
    "recovery leaves folders behind": ("failed syncs", lambda: _set(fsio, "remove_folders", _nothing)),
    "the stage is not cleared": ("kill", lambda: _set(transaction, "sweep", _nothing)),
    "displaced files go at once": ("late", lambda: _set(transaction, "sweep", _emptied)),
    "no lock": ("torture", _no_lock),
    "short writes accepted": ("short writes", _short_write),
    "failing syncs ignored": ("failed syncs", lambda: _set(fsio, "sync", _swallow(fsio.sync))),
    "failing writes ignored": ("errors", lambda: _set(fsio, "_write", _swallow(fsio._write))),
    "errors hidden": ("errors", _error_hidden),
    "an addition is not synced": ("power", _add_without_sync),
    "an addition goes where the file ended": ("foreign looking at facts", _added_anywhere),
    "an addition is not looked for": ("foreign looking at facts", _added_and_not_looked_at),
    "a torn line is added to": ("kill", _added_to_a_torn_line),
    "a part of an addition is enough": ("short writes", _part_of_an_addition),
}


def _unchecked(check: Callable[[FileStep], bool]) -> Callable[[FileStep], bool]:
    def checked(self: FileStep) -> bool:
        check(self)
        if self._found is not None:
            self._found = os.lstat(self.name, dir_fd=self.folder)
            self._seen = step.FileVersion.of(self._found)
        return True

    return checked
