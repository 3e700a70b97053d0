"""The decisions of a person on a workspace, as one versioned JSON document in its private state folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from memory.errors import ConfigError, UsageError
from memory.storage.own_folders import PrivateState
from memory.storage.private.record import PrivateRecord

Value = TypeVar("Value")

_VERSION = 1


class Settings(NamedTuple, Generic[Value]):
    """One value in `folder`/`name`, read whole and rewritten whole.

    `parse` makes the value of a document and may raise UsageError, or what comes of JSON of another shape; `document`
    goes the other way. What cannot be read is a ConfigError `code` of these words, never the `unset` value: what a
    person settled would be overruled by a damaged file.
    """

    folder: str
    name: str
    unset: Value
    parse: Callable[[dict[str, Any]], Value]
    document: Callable[[Value], dict[str, Any]]
    code: str
    what: str
    remedy: str

    def read(self, state: PrivateState) -> Value:
        """Return the value, `unset` where nothing is kept; ConfigError `code`, RefusedError `state.*`."""
        record = self._record(state)
        stored = record.read()
        return self.unset if not stored.exists else self._value(stored.data, str(record.path))

    def change(self, state: PrivateState, change: Callable[[Value], Value], *, command: str, now: datetime) -> Value:
        """Replace the value by what `change` makes of it, under a lock, and return it; errors as `read`."""
        record = self._record(state)
        made = self.unset

        def work(data: bytes | None) -> bytes:
            nonlocal made
            made = change(self.unset if data is None else self._value(data, str(record.path)))
            return json.dumps({"version": _VERSION, **self.document(made)}, indent=1).encode() + b"\n"

        record.update(work, command=command, now=now)
        return made

    def _record(self, state: PrivateState) -> PrivateRecord:
        return PrivateRecord(state.folder, self.folder, self.name)

    def _value(self, data: bytes, path: str) -> Value:
        try:
            document = json.loads(data)
            if document["version"] != _VERSION:
                raise ValueError("another version")
            return self.parse(document)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, UsageError) as error:
            words = f"{self.what} cannot be read: {path} ({type(error).__name__})"
            raise ConfigError(self.code, words, self.remedy, file=path, line=1) from None
