"""Cases in which things do happen, because a person approved them: the judge, who is told of none, must notice each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .case import Case
from .ground import CHANNELS, EVIL, Ground


@dataclass(frozen=True, slots=True)
class Canary:
    """A case, the verb in which something happens, and the words with which the judge must say so."""

    case: Case
    verb: str
    noticed: str


def _canary(name: str, build: Callable[[Ground], object], verb: str, noticed: str) -> Canary:
    return Canary(Case(f"canary/{name}", name, build), verb, noticed)


def _approved(fields: dict[str, str]) -> Callable[[Ground], object]:
    def build(ground: Ground) -> None:
        ground.only("Evil", {"interval": "* * * * *", **fields})
        ground.approve()

    return build


def _told(ground: Ground) -> None:
    ground.settings("channels.toml", CHANNELS)
    ground.add("journal.md", "## 2024-01-15\n### 09:00 — Told\n")


def _read(ground: Ground) -> None:
    ground.lay("secret.sh", "true\n")
    ground.only("Evil", {"type": "command", "command": "sh ./secret.sh", "folder": "."})


CANARIES = (
    _canary("command", _approved({"type": "command", "command": EVIL}), "monitors check", "starts a program"),
    _canary("http", _approved({"type": "http", "url": "http://127.0.0.1:9/"}), "monitors check", "talks to somebody"),
    _canary("written", _approved({"type": "command", "command": EVIL}), "monitors check", "writes what is not its own"),
    _canary("tcp", _approved({"type": "tcp", "url": "tcp://127.0.0.1:9"}), "maintain", "talks to somebody"),
    _canary(
        "remedy", _approved({"type": "file", "path": "missing", "autoRemediate": EVIL}), "again", "starts a program"
    ),
    _canary("message", _told, "notify test", "talks to somebody"),
    _canary("read", _read, "trust json", "reads what is none of its business"),
)
"""What the judge must notice; the first two in every test run."""
