"""The five Markdown files that show a bundle to people and agents.

Each begins with a marker that names the file and the hash of the bundle, and is derived from the bundle alone: a file
that differs from the result of `render_projections` was edited by hand or is outdated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.document.lines import decode
from memory.document.model import BOM
from memory.errors import RefusedError
from memory.state.files.model import PROJECTIONS

from .markdown import code, inline

if TYPE_CHECKING:
    from memory.storage.safe_open import Stored

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
        *_section("Reading order", []),
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
    return [
        "# Project map",
        "",
        inline(project["summary"]),
        "",
        *_section(
            "Engineering facts",
            [
                f"Ecosystem: {inline(project['primaryEcosystem'])}",
                f"Package manager: {inline(project['packageManager'])}",
                f"Workspace: {inline(project['workspaceManager'])}",
                f"Entry file: {code(project['recommendedEntryFile'])}",
            ],
        ),
        *_section("Key paths", map(code, project["keyPaths"]), "No key paths recorded."),
        *_section(
            "Modules",
            (
                f"{code(module['path'])} ({inline(module['name'])}): {inline(module['responsibility'])}"
                for module in parts["modules"]
            ),
            "No modules recorded.",
        ),
        *_section(
            "Entry points",
            (f"{code(entry['path'])}: {inline(entry['role'])}" for entry in parts["entrypoints"]),
            "No entry points recorded.",
        ),
        *_section(
            "Dense source areas",
            (f"{code(area['path'])}: {inline(area['note'])}" for area in parts["denseSourceAreas"]),
            "No dense source areas recorded.",
        ),
        *_section("Architecture notes", map(inline, parts["architectureNotes"]), "No architecture notes recorded."),
        *_section("First files to read", map(code, parts["firstFilesToRead"]), "No files to read first recorded."),
    ]


def _current_focus(bundle: Bundle) -> list[str]:
    focus = bundle["currentFocus"]
    snapshot = focus["validationSnapshot"]
    return [
        "# Current focus",
        "",
        inline(focus["summary"]),
        "",
        *_section("Current state", map(inline, focus["currentState"]), "No current state recorded."),
        *_section("Known risks", map(inline, focus["knownRisks"]), "No known risks recorded."),
        *_section(
            "Validation snapshot",
            [
                f"Status: {inline(snapshot['status'])}",
                f"Validated at: {inline(snapshot['validatedAt'] or 'not recorded')}",
                f"Summary: {inline(snapshot['summary'])}",
            ],
        ),
        *_section(
            "Validation results",
            (
                f"{inline(result['status'].upper())} {code(result['command'])}: {inline(result['summary'])}"
                for result in snapshot["results"]
            ),
            "No validation results recorded.",
        ),
        *_section(
            "Suggested next actions", map(inline, focus["suggestedNextActions"]), "No suggested next actions recorded."
        ),
        *_section(
            "Validation commands",
            (
                f"{inline(command['label'])}: {code(' '.join(command['command']))} ({inline(command['purpose'])})"
                for command in bundle["validationCommands"]
            ),
            "No validation commands recorded.",
        ),
    ]


def _entries(
    heading: str, entries: Sequence[Mapping[str, str]], names: Mapping[str, str], *, numbered: bool = False
) -> list[str]:
    """Return a heading, and each entry with its title and the values at the keys of `names`, each with its name."""
    lines = [f"# {heading}", ""]
    for number, entry in enumerate(entries, 1):
        lines += [f"## {f'{number}. ' if numbered else ''}{inline(entry['title'])}", ""]
        lines += [*(f"- {name}: {inline(entry[key])}" for name, key in names.items()), ""]
    return lines if entries else [*lines, f"- No {heading.lower()} recorded."]


def _section(title: str, bullets: Iterable[str], empty: str = "") -> list[str]:
    """Return a heading and its bullets; without bullets, `empty` is the only bullet where it is given."""
    lines = [f"- {bullet}" for bullet in bullets] or ([f"- {empty}"] if empty else [])
    return [f"## {title}", "", *lines, *([""] if lines else [])]
