"""One operation on curated memory: its names, its schemas, its function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory.curated.interrupted import finish_interrupted
from memory.curated.model import Json

from .memories import OperationCall
from .schema import check

if TYPE_CHECKING:
    from memory.curated.curated import Curated

Run = Callable[["Curated", Json, OperationCall], Json]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. `name` is its verb, `tool` and `route` what a tool and a server call it; empty for neither.

    `first` are the inputs that the command line takes without a name; `writes` says that it may change a memory.
    """

    name: str
    does: str
    run: Run
    input: Json
    output: Json
    tool: str
    route: str
    first: tuple[str, ...] = ()
    writes: bool = False
    example: str = ""

    def call(self, curated: Curated, values: Mapping[str, Any], call: OperationCall) -> Json:
        """Do it: check the values, finish what a crash interrupted, return the result; UsageError and MemdeckError."""
        arguments = check(self.input, values)
        if not arguments.get("dry_run"):
            finish_interrupted(curated, call.now)
        return self.run(curated, arguments, call)
