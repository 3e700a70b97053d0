"""The five Markdown files that show a bundle to people and agents.

Each begins with a marker that names the file and the hash of the bundle, and is derived from the bundle alone: a file
that differs from the result of `render_projections` was edited by hand or is outdated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from memory.document.lines import decode
from memory.document.model import BOM
from memory.errors import RefusedError
from memory.state.files.model import PROJECTIONS
from memory.storage.safe_open import Stored

from .markdown import code, inline

VERSION = 3
"""The version in the markers of projections."""

NAMES = ("README", "project-map", "current-focus", "gotchas", "next-steps")
"""The names of the projections, in the order of reading; the file is the name with `.md`."""

Bundle = Mapping[str, Any]

_MARKER = re.compile(
    r"<!-- agent-memory:projection file=(\S{1,100}) version=(\d{1,9}) bundleHash=([0-9a-f]{64}) -->(?=\r?\n|\Z)",
    re.ASCII,
)
_PURPOSES = {
    "project-map": "what the project is made of, and which files to read first",
    "current-focus": "the state of the work, its risks, and what was validated",
    "gotchas": "traps, their causes and the correct paths; read it before a change",
    "next-steps": "what to do next, why, and where to begin",
}


_SOURCE = re.compile(r"(?:Written|Noted|Listed) in `")
_GOTCHA = {"Symptom": "symptom", "Cause": "cause", "Correct path": "correctPath"}
_STEP = {"Why": "why", "Start": "start", "Done when": "done"}


class Marker(NamedTuple):
    """The first line of a projection: the name of the file, the version, and the hash of the bundle."""

    name: str
    version: int
    bundle_hash: str


def marker(name: str, bundle_hash: str) -> str:
    """Return the first line of the projection `name`, without its line end."""
    shown = "readme" if name == "README" else name
    return f"<!-- agent-memory:projection file={shown} version={VERSION} bundleHash={bundle_hash} -->"


def marker_of(text: str) -> Marker | None:
    """Return the marker at the beginning of a text, None where there is none; `readme` is read as `README`."""
    found = _MARKER.match(text)
    if found is None:
        return None
    name = found[1]
    return Marker("README" if name.lower() == "readme" else name, int(found[2]), found[3])


def path_of(name: str) -> str:
    """Return the path of a projection, relative to the repository."""
    return f"{PROJECTIONS}/{name}.md"


def refuse_foreign(read: Callable[[str], Stored]) -> None:
    """Raise RefusedError `state.exists` where a file is in the place of a projection that memdeck did not write."""
    stored = [(path_of(name), read(path_of(name))) for name in NAMES]
    found = [path for path, one in stored if one.exists and marker_of(decode(one.data.removeprefix(BOM))) is None]
    if found:
        raise RefusedError(
            "state.exists",
            f"there is {', '.join(found)} already, and memdeck did not write it",
            "move it elsewhere and try again",
            files=found,
        )


def render_projections(bundle: Bundle, bundle_hash: str) -> dict[str, str]:
    """Return the full text of each projection by its name, in the order of `NAMES`.

    Text of the bundle is shown literally and never read as Markdown, except for code spans.
    """
    bodies = (
        _readme(bundle),
        _project_map(bundle),
        _current_focus(bundle),
        _entries("Gotchas", bundle["gotchas"], _GOTCHA),
        _entries("Next steps", bundle["nextSteps"], _STEP, numbered=True),
    )
    return {
        name: "\n".join([marker(name, bundle_hash), "", *body]).rstrip() + "\n"
        for name, body in zip(NAMES, bodies, strict=True)
    }


def _readme(bundle: Bundle) -> list[str]:
    project = bundle["project"]
    return [
        f"# Project memory of {inline(project['name'])}",
        "",
        inline(project["summary"]),
        "",
        "These files are written from `.agent-memory/state.json`. Change the state, not them: the next refresh writes"
        " them anew.",
        "",
        "## Reading order",
        "",
        *(f"{number}. [{name}.md]({name}.md): {why}" for number, (name, why) in enumerate(_PURPOSES.items(), 1)),
        "",
        *_section(
            "Where it comes from",
            [
                "`.agent-memory/state.json`: the state of the project",
                "`.agent-memory/history/events.jsonl`: what happened, and what sessions with agents brought",
                "`.agent-memory/history/checkpoints/`: the state after each change",
                "`.agent-memory/archive/`: what is too old for either",
                f"{code(project['recommendedEntryFile'])}: where contributors are sent here",
            ],
        ),
        *_section(
            "Refresh",
            [
                "`memdeck state update`: look at the repository anew",
                "`memdeck state sync --all`: import sessions with agents",
                "`memdeck state recall`: take what is new into the state",
                "`memdeck state query QUESTION`: ask the state and its history",
                "`memdeck state validate`: check all of it",
            ],
        ),
    ]


def _project_map(bundle: Bundle) -> list[str]:
    project, parts = bundle["project"], bundle["projectMap"]
    facts = [
        ("Ecosystem", inline(project["primaryEcosystem"])),
        ("Package manager", inline(project["packageManager"])),
        ("Workspace", inline(project["workspaceManager"])),
        ("Entry file", code(project["recommendedEntryFile"])),
    ]
    modules = (
        f"{code(one['path'])} ({inline(one['name'])}): {inline(one['responsibility'])}" for one in parts["modules"]
    )
    return [
        "# Project map",
        "",
        inline(project["summary"]),
        "",
        *_section("Engineering facts", (f"{name}: {value}" for name, value in facts if value != "none")),
        *_section("Modules", modules),
        *_section("Entry points", (f"{code(one['path'])}: {inline(one['role'])}" for one in parts["entrypoints"])),
        *_section("First files to read", map(code, parts["firstFilesToRead"])),
        *_section(
            "Dense source areas", (f"{code(one['path'])}: {inline(one['note'])}" for one in parts["denseSourceAreas"])
        ),
        *_section("Architecture notes", map(inline, parts["architectureNotes"])),
        *_section("Key paths", map(code, project["keyPaths"])),
    ]


def _current_focus(bundle: Bundle) -> list[str]:
    focus = bundle["currentFocus"]
    snapshot = focus["validationSnapshot"]
    status = inline(snapshot["status"].capitalize().replace("-", " "))
    validated = f" ({inline(snapshot['validatedAt'])})" if snapshot["validatedAt"] else ""
    results = (
        f"{inline(one['status'].upper())} {code(one['command'])}: {inline(one['summary'])}"
        for one in snapshot["results"]
    )
    commands = (
        f"{inline(one['label'])}: {code(' '.join(one['command']))} ({inline(one['purpose'])})"
        for one in bundle["validationCommands"]
    )
    return [
        "# Current focus",
        "",
        inline(focus["summary"]),
        "",
        *_section("Current state", map(inline, focus["currentState"])),
        *_section("Known risks", map(inline, focus["knownRisks"])),
        *_section("Validation commands", commands),
        *_section(
            "Validation snapshot",
            [
                f"{status}{validated}: {inline(snapshot['summary'])}",
                *results,
            ],
        ),
        *_section("Suggested next actions", map(inline, focus["suggestedNextActions"])),
    ]


def _entries(
    heading: str, entries: Sequence[Mapping[str, str]], names: Mapping[str, str], *, numbered: bool = False
) -> list[str]:
    """Return a heading, and each entry with its title and the values at the keys of `names`, each with its name.

    A value that was not recorded is left out; where something is only written or noted is in small print.
    """
    lines = [f"# {heading}", ""]
    for number, entry in enumerate(entries, 1):
        lines += [f"## {f'{number}. ' if numbered else ''}{inline(entry['title'])}", ""]
        for name, key in names.items():
            value = inline(entry[key])
            if _SOURCE.match(value):
                lines.append(f"- <sub>{value}</sub>")
            elif value.rstrip(".").lower() != "not recorded":
                lines.append(f"- {name}: {value}")
        lines.append("")
    return lines if entries else [*lines, f"- No {heading.lower()} recorded."]


def _section(title: str, bullets: Iterable[str]) -> list[str]:
    """Return a heading and its bullets; nothing without bullets."""
    lines = [f"- {bullet}" for bullet in bullets]
    return [f"## {title}", "", *lines, ""] if lines else []
