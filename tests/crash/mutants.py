"""The protocol with one thing wrong each: the harness must notice, or it proves nothing.

Each mutant replaces one function of the storage in a process of its own, in which short runs of the harness follow
until one of them finds a violation.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory.storage import displaced, fsio, journal, leases, lock, placing, recovery, steps, transaction
from memory.storage.journal import Journal
from memory.storage.leases import Lease
from memory.storage.marks import Mark
from memory.storage.recovery import _File, _Stand
from memory.storage.steps import Step
from memory.storage.transaction import Transaction
from tests.crash import errors, foreign, kill, late, power
from tests.crash.kill import Tally

_LIMIT = 300  # Seconds for one mutant; one that makes the harness that slow counts as not noticed.


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
    real, stage = fsio.sync, fsio.stage

    def staged(*args: Any) -> int:
        fsio.sync = _nothing
        try:
            return stage(*args)
        finally:
            fsio.sync = real

    _set(fsio, "stage", staged)


def _private(**fixed: Any) -> None:
    real = fsio.put_private
    _set(fsio, "put_private", lambda name, folder, data, **_: real(name, folder, data, **fixed))


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
    begin, put = Transaction._begin, Transaction._put_in_place
    waiting: list[Any] = []

    def later(self: Any, *args: Any, **words: Any) -> None:
        put(self, *args, **words)
        begin(self, *waiting[-1][0], **waiting[-1][1])

    _set(Transaction, "_begin", lambda _, *args, **words: waiting.append((args, words)))
    _set(Transaction, "_put_in_place", later)


def _intent_ends_early() -> None:
    put = Transaction._put_in_place

    def ended(self: Any, *args: Any, **words: Any) -> None:
        self._journal.end(durable=True)
        put(self, *args, **words)

    _set(Transaction, "_put_in_place", ended)


def _plain_rename() -> None:
    def swap(new: str, _: str, stage: int, name: str, folder: int) -> str:
        fsio.rename(new, stage, name, folder)
        return ""

    _set(placing, "swap", swap)


def _covering_create() -> None:
    _set(placing, "create", lambda new, stage, name, folder: fsio.rename(new, stage, name, folder))


def _unlinking() -> None:
    _set(placing, "take_away", lambda name, folder, *_: fsio.remove(name, folder))


def _in_place() -> None:
    def swap(new: str, old: str, stage: int, name: str, folder: int) -> str:
        source = os.open(new, os.O_RDONLY, dir_fd=stage)
        target = os.open(name, os.O_WRONLY | os.O_TRUNC | os.O_NONBLOCK, dir_fd=folder)
        fsio.os.write(target, os.read(source, 1 << 24))
        os.close(source)
        os.close(target)
        return ""

    _set(placing, "swap", swap)


def _two_renames() -> None:
    def swap(new: str, old: str, stage: int, name: str, folder: int) -> str:
        fsio.rename(name, folder, old, stage)
        fsio.rename(new, stage, name, folder)
        return old

    _set(placing, "swap", swap)
    _set(recovery, "recover", lambda intent, *_: (recovery.Recovery(intent, recovery.Outcome.DISCARDED), []))
    _set(transaction, "recover", recovery.recover)


def _no_lease() -> None:
    _set(leases, "take", lambda _: Lease.HELD)
    _set(leases, "unbroken", lambda _: True)


def _stage_first_cleared() -> None:
    real = Transaction._recover

    def cleared(self: Any, places: Any) -> None:
        fsio.empty_folder(places.stage)
        real(self, places)

    _set(Transaction, "_recover", cleared)


def _forgetting_recovery() -> None:
    _set(transaction, "recover", lambda intent, *_: (recovery.Recovery(intent, recovery.Outcome.DISCARDED), []))


def _recovery_only_back() -> None:
    _set(recovery, "_complete", lambda *_: False)
    _set(_File, "go_back", _nothing)


def _crossing_counts_as_done() -> None:
    look = _File.look

    def looked(self: _File) -> None:
        look(self)
        if self.stand is _Stand.CROSSED:
            self.stand = _Stand.DONE

    _set(_File, "look", looked)


def _short_write() -> None:
    _set(fsio, "_write", lambda fd, data: fsio.os.write(fd, data) if data else 0)


def _sweep_all() -> None:
    def sweep(files: Any, stage: int, _: float) -> tuple[Any, ...]:
        for file in files:
            fsio.remove(file.name, stage)
        return ()

    _set(displaced, "sweep", sweep)
    _set(transaction, "sweep", sweep)


def _sweep_writers() -> None:
    _set(displaced, "_lease", lambda *_: Lease.HELD)


def _no_lock() -> None:
    _set(lock, "fcntl", type("Free", (), {"LOCK_EX": 0, "LOCK_NB": 0, "flock": staticmethod(_nothing)}))
    assert fcntl


def _any_record() -> None:
    import json

    _set(journal, "_decode", lambda data: json.loads(data.partition(b"\n")[2] or b"{}"))


def _unsorted_reads() -> None:
    _set(Transaction, "read", lambda self, path: self._store.read(path))


def _error_hidden() -> None:
    real = Transaction._carry_out

    def hidden(self: Any, *args: Any) -> None:
        with contextlib.suppress(OSError, transaction.MemdeckError):
            real(self, *args)

    _set(Transaction, "_carry_out", hidden)


def _end(**fixed: Any) -> None:
    real = Journal.end
    _set(Journal, "end", lambda self, **_: real(self, **fixed))


def _begin(**fixed: Any) -> None:
    real = Journal.begin
    _set(Journal, "begin", lambda self, intent, **_: real(self, intent, **fixed))


def _stage_sync_gone() -> None:
    real = Transaction._sync
    turn = [0]

    def sync(self: Any, folders: list[int]) -> None:
        if len(folders) > 1 or self._journal is None:
            real(self, folders)
        turn[0] += 1

    _set(Transaction, "_sync", sync)


MUTANTS: dict[str, Callable[[], None]] = {
    "no sync at all": lambda: _set(fsio, "sync", _nothing),
    "new bytes not synced": _no_sync_of_new,
    "folders not synced at the end": _no_sync_of_folders,
    "intent not synced": lambda: _begin(durable=False),
    "private files not synced": lambda: _private(durable=False),
    "no intent": lambda: _set(Transaction, "_begin", _nothing),
    "intent written after the move": _intent_too_late,
    "intent taken away before the move": _intent_ends_early,
    "intent never taken away": lambda: _set(Journal, "end", _nothing),
    "intent believed when torn": _any_record,
    "plain rename": _plain_rename,
    "rewritten in place": _in_place,
    "two renames with a gap": _two_renames,
    "what is displaced not verified": lambda: _set(Step, "verify", _nothing),
    "not compared with the base": lambda: (
        _set(Step, "check", _unchecked(Step.check)),
        _set(Step, "_unchanged", lambda _: True),
        _set(Step, "verify", _nothing),
    )[0],
    "not compared before the exchange, nor after": lambda: (
        _set(Step, "_unchanged", lambda _: True),
        _set(Step, "verify", _nothing),
    )[0],
    "no lease": _no_lease,
    "a broken lease ignored": lambda: _set(leases, "unbroken", lambda _: True),
    "a program that writes is not waited for": lambda: _set(leases, "take", lambda _: Lease.NONE),
    "nothing put back": lambda: _set(Step, "put_back", lambda _: True),
    "put back only half": lambda: _set(Step, "_restore", lambda *_: True),
    "a new file covers another": _covering_create,
    "a removal unlinks": _unlinking,
    "recovery forgets": _forgetting_recovery,
    "recovery never goes back": _recovery_only_back,
    "recovery never goes on": lambda: (_set(_File, "go_on", _nothing), _set(_File, "go_back", _nothing))[0],
    "recovery believes what was displaced": _crossing_counts_as_done,
    "recovery after clearing up": _stage_first_cleared,
    "recovery knows no digests": lambda: _set(Mark, "same", lambda *_: True),
    "recovery leaves folders behind": lambda: _set(fsio, "remove_folders", _nothing),
    "the stage is not cleared": lambda: _set(fsio, "empty_folder", _nothing),
    "temporary files are not cleared": lambda: _set(fsio, "remove_temporary", _nothing),
    "displaced files go at once": _sweep_all,
    "displaced files go while they are written": _sweep_writers,
    "no lock": _no_lock,
    "short writes accepted": _short_write,
    "failing syncs ignored": lambda: _set(fsio, "sync", _swallow(fsio.sync)),
    "failing writes ignored": lambda: _set(fsio, "_write", _swallow(fsio._write)),
    "errors hidden": _error_hidden,
    "reads not repeatable": _unsorted_reads,
}


def _unchecked(check: Callable[[Step], bool]) -> Callable[[Step], bool]:
    def checked(self: Step) -> bool:
        check(self)
        if self._source >= 0:
            self._found = os.fstat(self._source)
            self._seen = steps.Version.of(self._found)
        return True

    return checked


PARTS: list[tuple[str, Callable[[Path], Tally]]] = [
    ("late", late.late),
    ("kill", lambda top: kill.kills(top, every=3)),
    ("power", lambda top: power.power(top, weak=False, every=2)),
    ("weak", lambda top: power.power(top, weak=True, every=6, samples=3)),
    ("foreign", lambda top: foreign.foreign(top, every=2, near=True)),
    ("foreign and kill", lambda top: foreign.foreign(top, every=3, killed=1, near=True)),
    ("errors", lambda top: errors.errors(top, every=13)),
    ("lasting", lambda top: errors.errors(top, every=11, lasting=True)),
    ("recovery", lambda top: kill.compound(top, every=7, inner=3)),
]


def noticed(mutant: str, parts: list[tuple[str, Callable[[Path], Tally]]] = PARTS) -> str:
    """Return which part of the harness noticed a mutant, "" for none."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.setpgid(0, 0)
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - the process ends with it
        os.dup2(sys.stderr.fileno(), 2)
        answer = ""
        top = Path(tempfile.mkdtemp(prefix="memdeck-mutant-", dir=_memory_disk()))
        signal.signal(signal.SIGALRM, _alarm)
        signal.alarm(_LIMIT)
        try:
            MUTANTS[mutant]()
            for name, run in parts:
                folder = top / name.replace(" ", "-")
                folder.mkdir()
                if run(folder).violations:
                    answer = name
                    break
        except TimeoutError:
            answer = ""
        except BaseException as error:
            answer = f"broke: {type(error).__name__}"
        finally:
            signal.alarm(0)
            shutil.rmtree(top, ignore_errors=True)
            os.write(writing, answer.encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    os.waitpid(pid, 0)
    return answer


def _alarm(*_: Any) -> None:
    raise TimeoutError


def _memory_disk() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def mutants(names: list[str] | None = None, say: Callable[[str], None] = lambda _: None) -> Tally:
    """Try the mutants; those that nobody notices are listed."""
    tally = Tally("mutants of the protocol")
    missed = 0
    for name in names or list(MUTANTS):
        by = noticed(name)
        tally.points += 1
        missed += not by
        say(f"{name}: {by or 'NOT NOTICED'}")
    tally.notes["not noticed"] = missed
    share = 100 * (tally.points - missed) / tally.points
    tally.notes["noticed %"] = share
    tally.expect(share >= 95, f"only {share:.0f} % of the mutants were noticed")
    return tally
