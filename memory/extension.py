"""The names of the core that a memory system of another package needs; they stay where the modules behind them move.

`memory.registry` is apart: every command imports the declaration of a system, which must import nothing else.
See docs/extending.md.
"""

from __future__ import annotations

from memory.base.problems import Problem
from memory.errors import (
    AmbiguousError,
    BlockedError,
    BusyError,
    ConfigError,
    ConflictError,
    MemdeckError,
    NotFoundError,
    RefusedError,
    UsageError,
)
from memory.files.snapshot import Snapshot
from memory.maintenance.report import Gone, Report, RuleReport
from memory.search.records import Record
from memory.storage.changes import PlainReading
from memory.storage.safe_open import names_in
from memory.system import BriefLine, Contribution, System
from memory.systems import system_of
from memory.systems.acts import act
from memory.workspace import Outcome, Workspace

__all__ = [
    "AmbiguousError",
    "BlockedError",
    "BriefLine",
    "BusyError",
    "ConfigError",
    "ConflictError",
    "Contribution",
    "Gone",
    "MemdeckError",
    "NotFoundError",
    "Outcome",
    "PlainReading",
    "Problem",
    "Record",
    "RefusedError",
    "Report",
    "RuleReport",
    "Snapshot",
    "System",
    "UsageError",
    "Workspace",
    "act",
    "names_in",
    "system_of",
]
