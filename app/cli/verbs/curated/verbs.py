"""`memdeck curated`: the verbs on curated memory, generated from the registry of its operations."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from app.cli.session import Session
from memory.curated.curated import Curated
from memory.curated.identity import find_root
from memory.curated.operations.operation import OperationCall
from memory.curated.operations.registry import OPERATIONS, Operation
from memory.curated.system import CuratedMemory
from memory.errors import MemdeckError, UsageError
from memory.operations import Group, Kind, Parameter, Serves, Whole, argument, option, under
from memory.storage.own_folders import agh_home, config_home, home, state_home
from memory.systems import system_of
from memory.trust.consent import trust_of
from memory.workspace import Workspace

from .human import lines

curated = Group(
    "curated",
    """Curated memory: one Markdown file a memory, in the scopes global, workspace and agent.

    Every write is decided by a controller, recorded, and can be reverted. Global memories are in $AGH_HOME (default:
    ~/.agh), those of a workspace in its folder .agh.
    """,
)
_GROUPS = {
    "decisions": "What the controller decided, and why.",
    "recall": "What agents got to read.",
    "extractor": "What sessions said that may be worth remembering.",
    "session": "What happened in sessions, and their ledgers.",
    "daily": "What was done to memory, day by day.",
    "provider": "Programs of other packages that add to memory.",
    "dream": "What was recalled most, gathered into one memory.",
}
_OPTIONS = {"agent_name": "agent", "session_id": "session", "turn_seq": "turn", "parent_session_id": "parent",
            "failure_id": "failure", "query_text": "query"}  # fmt: skip
_LARGEST = 1_000_000


def opened(session: Session) -> Curated:
    """Return the curated memory that a run's folder sees; that of the folder itself if no workspace is around it."""
    start = session.folder or "."
    if not os.path.isdir(start):
        raise UsageError("workspace.no_folder", f"{start!r} is not a folder", "name a folder")
    own = home(os.environ)
    root = find_root(start, agh_home(os.environ, own)) or session.root
    if root is None:
        root = Path(os.path.realpath(start))
    workspace = session.opened(Workspace(root, state_home=state_home(os.environ), home=own))
    system = system_of(workspace, "curated", CuratedMemory)
    found = session.opened(system.curated)
    if not session.safe and found.settings.names_commands:
        system.entrust(trust_of(workspace, config_home(os.environ)), os.environ)
    return found


def _run(session: Session, operation: Operation, values: dict[str, Any]) -> None:

    # Options that were not given; not `in (…)`, for which 0 is False.
    given: dict[str, Any] = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in values.items()
        if value is not None and value != () and value is not False
    }
    for key, schema in operation.input["properties"].items():
        if schema.get("x-content") and key in given and not session.served:
            given[key] = _content(given[key])
    done = operation.call(opened(session), given, OperationCall(session.now, session.actor, "cli"))
    if done.get("applied"):
        session.made = f"{done['decision']['op']} {done['decision']['target_filename']}"
    rows = operation.output.get("x-rows")
    if session.output == "jsonl" and rows is not None:
        session.writer.objects(done[rows])
    elif session.output != "human":
        session.writer.document(done)
    else:
        session.writer.lines(session.paint.line(line) for line in lines(operation.name, done))


def _content(text: str) -> str:
    """Return a text: the content of a file for `@FILE`, of standard input for `-`."""
    if text == "-":
        return sys.stdin.read(_LARGEST)
    if not text.startswith("@"):
        return text
    if not text[1:]:
        raise UsageError("memory.content_path_required", "@ needs the path of a file", "write @FILE")
    try:
        with open(text[1:], encoding="utf-8") as file:
            return file.read(_LARGEST)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8"
        raise MemdeckError(
            "memory.content_read_failed", f"{text[1:]} cannot be read: {why}", "name a text file"
        ) from error


def _parameters(operation: Operation) -> Iterator[Parameter]:
    properties, required = operation.input["properties"], operation.input["required"]
    for key in operation.first:
        name = key.upper().removesuffix("_TEXT").removesuffix("_ID")
        kind = Whole() if properties[key]["type"] == "integer" else Kind()
        yield argument(key, metavar=name if key in required else f"[{name}]", required=key in required, type=kind)
    for key, schema in properties.items():
        if key in operation.first:
            continue
        flag = f"--{_OPTIONS.get(key, key).replace('_', '-')}"
        more: dict[str, Any] = {"help": schema["description"]}
        if schema["type"] == "boolean":
            more["is_flag"] = True
        elif schema["type"] == "integer":
            more |= {"type": Whole(schema["minimum"], schema["maximum"]), "metavar": "N"}
        elif schema["type"] == "array":
            more |= {"multiple": True, "metavar": "TEXT"}
        elif "enum" in schema:
            # Checked by the operation, which raises the same code for all interfaces.
            more["metavar"] = "|".join(schema["enum"])
        else:
            more["metavar"] = "TEXT"
        yield option(key, flag, required=key in required, **more)


def _add(parent: Group, operation: Operation, name: str) -> None:
    def run(session: Session, /, **values: Any) -> None:
        _run(session, operation, values)

    for parameter in reversed(list(_parameters(operation))):
        parameter(run)
    serves: Serves = "look" if operation.route.startswith("GET") else "change"
    under(parent, name, help=operation.does, examples=(operation.example,), serves=serves)(run)


for _operation in OPERATIONS:
    _first, _, _rest = _operation.name.partition(" ")
    if not _rest:
        _add(curated, _operation, _first)
        continue
    if _first not in curated.operations:
        Group(_first, _GROUPS[_first], parent=curated)
    _add(cast(Group, curated.operations[_first]), _operation, _rest)
