"""Answers that can be given again: derived, kept by a key that names all they depend on, and thrown away at will."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from memory.errors import MemdeckError
from memory.storage import fsio
from memory.storage.own_folders import StateFolder

_LONGEST = 1_000_000
_MOST = 64


class Answers:
    """Answers in one small file of the private state folder; what cannot be read or written is as if it were not there.

    A file of another key holds nothing.
    """

    def __init__(self, folder: StateFolder, name: str, key: str) -> None:
        """Nothing is read yet."""
        self._folder = folder
        self._name = name
        self._key = key

    def read(self) -> dict[str, Any]:
        """Return the answers, none where there is no file of this key."""
        try:
            data = self._folder.read(self._name)
            found = json.loads(data) if data is not None and len(data) <= _LONGEST else None
        except (MemdeckError, OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict) or found.get("key") != self._key or not isinstance(found.get("answers"), dict):
            return {}
        answers: dict[str, Any] = found["answers"]
        return answers

    def write(self, answers: dict[str, Any]) -> None:
        """Keep answers in place of all others; the newest where there are very many."""
        kept = dict(list(answers.items())[-_MOST:])
        data = json.dumps({"key": self._key, "answers": kept}).encode()
        if len(data) > _LONGEST:
            return
        with suppress(MemdeckError, OSError), self._folder.opened() as folder:
            fsio.put(self._name, folder, data + b"\n", durable=False)
