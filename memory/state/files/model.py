"""The format: paths of its files, versions, ids and times, and its JSON, read strictly and written in one form.

The canonical form, in which objects are written and hashed, has its keys sorted, two spaces, UTF-8 unescaped.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.base.values import no_constant
from memory.document.model import BOM
from memory.errors import ConfigError

Json = dict[str, Any]
"""An object of one of the files, in the shapes of the format."""

FOLDER = ".agent-memory"
"""The system's folder, relative to the workspace; so are all paths below."""
STATE = f"{FOLDER}/state.json"
EVENTS = f"{FOLDER}/history/events.jsonl"
CHECKPOINTS = f"{FOLDER}/history/checkpoints"
ARCHIVE = f"{FOLDER}/archive"
EXPIRED = f"{ARCHIVE}/expired.json"
"""The ids of events that have left the archive or were lost, and what identifies the imports among them."""
SOURCES = f"{FOLDER}/sources.json"
CONFIG = f"{FOLDER}/config.json"
ANALYSED = f"{FOLDER}/analysis.json"
"""The last analysis of the repository: `update` uses it to tell analysed values from what recall and people added."""
PRIVATE = f"{FOLDER}/.memdeck"
PROJECTIONS = "docs/agent-memory"
ENTRY_FILES = ("AGENTS.md", "CLAUDE.md", "README.md")
"""The files that may hold the entry block, the preferred one first; their names count in any case."""

SCHEMA_VERSION = 2
GENERATOR = "memdeck 0.1.0"
"""The program that writes a state, with its version."""
NO_FOCUS = "No unreleased section and no plan was found"
"""The beginning of the summary of a focus of which nothing is known."""
NOT_SAID = "Not recorded."
"""The value of a field of a gotcha or next step that a session did not state."""
SEVERAL = "several packages"
"""The value of the workspace manager where there are packages and no workspace that names them."""
FRESH_DAYS = 14
"""How many days old a run of the validation commands may be."""
LOCAL_SOURCE = "agent-memory.local"
OWN_REF = "agent-memory:"
"""The prefix of `sourceRef` in an event that was written along with a bundle and describes its content."""

KEYS = {
    "project": "project",
    "project-map": "projectMap",
    "current-focus": "currentFocus",
    "gotchas": "gotchas",
    "next-steps": "nextSteps",
    "validation-commands": "validationCommands",
}
"""The sections of a bundle by name, with the key of each."""
SECTIONS = tuple(KEYS)
SCOPES = ("all", "local", "imports")
POLICIES = ("balanced", "imports-only", "local-only", "project-map-protected")
PROVIDERS = ("codex", "claude")
SOURCE_TYPES = ("claude-local", "codex-local")
MARKERS = (
    "End your work with what the next one should know, each on a line of its own: `DECISION: …`,"
    " `GOTCHA: title: cause`, `NEXT: title: where to begin`, `DONE: …`, `VALIDATION: command: result`."
)
"""The text for agents, so that their sessions teach the state something."""
SIGNALS = {
    "decisions": "decision",
    "gotchas": "gotcha",
    "nextStepHints": "next step",
    "keyPaths": "key path",
    "validationObservations": "validation",
}
"""The kinds of the signals of an event, each with its noun."""

_ENTRY_NAMES = frozenset(name.lower() for name in ENTRY_FILES)
_ID = re.compile(r"(evt|chk)-([0-9]{6}|[1-9][0-9]{6,14})")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def is_entry_file(path: str) -> bool:
    """Return whether a path at the root names a file that may hold the entry block, in any case."""
    return path.lower() in _ENTRY_NAMES


def event_id(number: int) -> str:
    """Return the id of an event: `evt-000001`, with more digits where six are not enough."""
    return f"evt-{number:06d}"


def checkpoint_id(number: int) -> str:
    """Return the id of a checkpoint."""
    return f"chk-{number:06d}"


def number_of(text: object, kind: str = "evt") -> int:
    """Return the number of an id; 0 for an id of another kind or another form."""
    found = _ID.fullmatch(text) if isinstance(text, str) else None
    return int(found[2]) if found is not None and found[1] == kind else 0


def stamp(now: datetime) -> str:
    """Return an aware time as it is written: UTC, milliseconds, Z."""
    return now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(text: object) -> datetime | None:
    """Return the aware time of a text in the form of `stamp`, None for any other."""
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def scope_of(event: Json) -> str:
    """Return `imports` for an imported session, `local` for any other event."""
    return "imports" if event["kind"] == "imported_session" else "local"


def is_echo(event: Json) -> bool:
    """Return whether an event was written along with a bundle, so that it contains nothing beyond the bundle."""
    return bool(event["sourceId"] == LOCAL_SOURCE and str(event["sourceRef"]).startswith(OWN_REF))


# -- the JSON of the files ------------------------------------------------------------------------------------------


def load(data: bytes, file: str, code: str) -> Any:
    """Return the JSON of some bytes; ConfigError `code` with file and line.

    A byte order mark in front, which some editors write, says nothing.
    """
    try:
        return json.loads(data.removeprefix(BOM).decode("utf-8"), parse_constant=no_constant)
    except RecursionError:
        why, line = "it is nested too deeply", 1
    except ValueError as error:
        why, line = getattr(error, "msg", str(error)), getattr(error, "lineno", 1)
    hint = "`memdeck state validate` says what it means"
    raise ConfigError(code, f"{file}:{line}: {why}", hint, file=file, line=line)


def line_of(data: bytes, key: str) -> int:
    """Return the line (from 1) where a key is first written, 1 where it is not found."""
    place = data.find(f'"{key}"'.encode())
    return data.count(b"\n", 0, place) + 1 if place >= 0 else 1


# -- writing ----------------------------------------------------------------------------------------------------


def canonical(value: Any) -> str:
    """Return the canonical form of JSON-able data, without a newline at the end."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)


def canonical_bytes(value: Any) -> bytes:
    """Return the content of a file: the canonical form and one newline."""
    return (canonical(value) + "\n").encode("utf-8", "surrogatepass")


def ordered_bytes(value: Any) -> bytes:
    """Return the same with the keys in their present order, as in config.json."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def line_bytes(value: Any) -> bytes:
    """Return one line of events.jsonl, its newline included."""
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "surrogatepass")


def digest(value: Any) -> str:
    """Return the SHA-256 (hex) of the canonical form without the final newline."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()


# -- the paths of a workspace: those that a bundle names, and how a path is shown and read ---------------------------


def stays_inside(path: str) -> bool:
    """Return whether a path, judged by its text alone, is below the workspace."""
    return not (path.startswith(("/", "~")) or "\0" in path or ".." in path.replace("\\", "/").split("/"))


_PLACES = ("modules", "entrypoints", "denseSourceAreas", "firstFilesToRead")
"""The lists of the project map in which each entry is or has a path."""


def _path(entry: Any) -> str:
    return str(entry if isinstance(entry, str) else entry["path"])


def bundle_paths(bundle: Json) -> list[str]:
    """Return every path that a bundle names, each once, except the entry file."""
    listed = (_path(one) for key in _PLACES for one in bundle["projectMap"][key])
    return list(dict.fromkeys((*bundle["project"]["keyPaths"], *listed)))


def without_gone(bundle: Json, has: Callable[[str], bool]) -> Json:
    """Return a bundle without the paths that do not exist (`has` tells), and what it says of them."""
    project, parts = bundle["project"], bundle["projectMap"]
    kept = {key: [one for one in parts[key] if has(_path(one))] for key in _PLACES}
    paths = [path for path in project["keyPaths"] if has(path)]
    return {**bundle, "project": {**project, "keyPaths": paths}, "projectMap": {**parts, **kept}}


def shown_path(path: str, root: str | os.PathLike[str] | None, home: str | os.PathLike[str] | None = None) -> str:
    """Return a path for messages and files: relative in the workspace, with `~` for the home folder, in the names that
    agents make of it (`-home-ada-shop`), too.
    """
    for folder in () if root is None else (os.path.abspath(root), os.path.realpath(root)):
        if path == folder or path.startswith(folder.rstrip("/") + "/"):
            return os.path.relpath(path, folder)
    own = "" if home is None else os.path.abspath(home).rstrip("/")
    if own and (path == own or path.startswith(f"{own}/")):
        path = f"~{path[len(own) :]}"
    return path.replace(f"/{as_name(own)}-", "/~-") if own else path


def full_path(path: str, root: str | os.PathLike[str], home: str | os.PathLike[str] | None = None) -> str:
    """Return the absolute path of one that `shown_path` made, or that a person wrote relative to `root`."""
    if home is not None and (path == "~" or path.startswith("~/")):
        path = f"{os.path.abspath(home)}{path[1:]}"
    if home is not None:
        path = path.replace("/~-", f"/{as_name(os.path.abspath(home))}-")
    return os.path.normpath(os.path.join(root, path))


def as_name(path: str) -> str:
    """Return the name that agents give to the folder of the sessions of a path."""
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def is_there(root: Path, path: str) -> bool:
    """Return whether a path is below the workspace and exists; a path that leads out through links does not count."""
    if not (stays_inside(path) and os.path.lexists(root / path)):
        return False
    return os.path.realpath(root / path).startswith(os.path.realpath(root).rstrip("/") + "/")
