"""Changes to an agent's files, each one transaction of its store: merge, move, expire, note a failure.

Paths are relative to the agent's folder, and RefusedError `typed.not_memory` is raised for each that is not a file of
its memory (`memory.typed.files.refuse_foreign`). `owner` is the process that makes the change (default: this one).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.base.retry import retry
from memory.errors import NotFoundError, RefusedError, UsageError
from memory.storage import Change, Store
from memory.storage.transaction import Transaction

from .aidefile import NAME, with_core_file
from .failures import with_note
from .files import refuse_foreign
from .locks import refuse_locked
from .merging import merged
from .sizes import nanoseconds, span_ns


@dataclass(frozen=True, slots=True)
class AgentWriter:
    """Changes the files of one agent, at an aware time and for an actor.

    A lock that another process holds on a file is honoured: BusyError `typed.locked`, unless `ignore_lock`.
    """

    store: Store
    now: datetime
    actor: str
    owner: int | None = None
    ignore_lock: bool = False

    def merge(self, path: str, content: str, dedupe: str) -> Change:
        """Merge content into a file; a missing file and its folders are made. See `merging.merged`."""
        return self.rewrite(
            path, lambda data: merged(data, content, dedupe), "typed.merge", f"merged into {path} ({dedupe})"
        )

    def rewrite(self, path: str, build: Callable[[bytes], bytes], operation: str, summary: str) -> Change:
        """Write the bytes that `build` returns for a file's bytes (none: no file); no empty file is made."""
        refuse_foreign(self.store.root, path)

        def attempt() -> Change:
            with self._transaction(operation) as transaction:
                self._refuse_locked(path)
                stored = transaction.read(path)
                data = build(stored.data)
                if data != stored.data:
                    transaction.write(path, data, base=stored.base)
                return transaction.commit(summary)

        return retry(attempt)

    def move(self, source: str, target: str, operation: str, *, force: bool = False, core: str | None = None) -> Change:
        """Move a file to another name in one transaction, with its mode and its time; folders are made.

        `core` is `add` to list the target in the Aidefile's `core_files` in the same change, `remove` to remove the
        source from that list. NotFoundError `typed.no_file` for a missing source, RefusedError `typed.exists` for a
        target that exists, unless `force`; UsageError `typed.same` for the same path twice.
        """
        if source == target:
            raise UsageError("typed.same", f"{source} is moved to itself", "name another path")
        if NAME in (source, target):
            raise RefusedError("typed.aidefile", f"the {NAME} itself is not moved, nor moved over", "name another path")
        for path in (source, target):
            refuse_foreign(self.store.root, path)

        def attempt() -> Change:
            with self._transaction(operation) as transaction:
                self._refuse_locked(source)
                self._refuse_locked(target)
                base = transaction.read(source).base
                if base is None:
                    raise NotFoundError(
                        "typed.no_file", f"there is no file {source}", "name one that is there", path=source
                    )
                over = transaction.read(target).base
                if over is not None and not force:
                    raise RefusedError("typed.exists", f"{target} is there already", "force it, or name another path")
                transaction.move(source, target, base=base, over=over)
                if core is not None:
                    _list(transaction, source, target, core)
                return transaction.commit(f"moved {source} to {target}")

        return retry(attempt)

    def expire(self, path: str, max_age: timedelta) -> bool:
        """Delete a file that is strictly older than `max_age`, and return whether it was; undo restores its bytes.

        A missing file is no error and False; a folder is RefusedError `file.not_regular`.
        """
        limit = nanoseconds(self.now) - span_ns(max_age)

        def attempt() -> bool:
            if not os.path.lexists(self.store.root / path):
                return False
            refuse_foreign(self.store.root, path)
            with self._transaction("typed.expire") as transaction:
                stored = transaction.read(path)
                if stored.base is None or stored.version.mtime_ns >= limit:
                    return False
                self._refuse_locked(path)
                transaction.remove(path, base=stored.base)
                transaction.commit(f"expired {path}")
                return True

        return retry(attempt)

    def note_failure(self, path: str, note: str) -> Change:
        """Append a note to a failure log; a missing log is made."""
        return self.rewrite(path, lambda data: with_note(data, note), "typed.fail", f"noted a failure in {path}")

    def _transaction(self, operation: str) -> Transaction:
        return self.store.transaction(operation, actor=self.actor, now=self.now)

    def _refuse_locked(self, path: str) -> None:
        if not self.ignore_lock:
            refuse_locked(self.store.root, path, self.owner)


def _list(transaction: Transaction, source: str, target: str, core: str) -> None:
    """Change `core_files` of the Aidefile; a missing Aidefile is made where a file is added."""
    stored = transaction.read(NAME)
    data = stored.data
    changed = with_core_file(data, source, add=False) if data else data
    if core == "add":
        changed = with_core_file(changed, target, add=True)
    if changed != data:
        transaction.write(NAME, changed, base=stored.base)
