"""What of an earlier bundle stays in a new one: what no file of the repository tells.

Lines that an analysis itself wrote are known by their words. They are not taken over, so that what is done or gone in
the repository goes from the bundle too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from memory.state.likeness import merge_gotchas, merge_lines, merge_next_steps, says_same

from .tree import Tree

_OWN_STEP = re.compile(r"Listed in `")
_OWN_GOTCHA = re.compile(r"As written in `|More than one package manager wrote a lock file\.")
_OWN_LINE = re.compile(
    r"The folder is no git repository\.|On branch `|On no branch\b|Not released yet \(`|\d+ source files?\b"
    r"|No tests were found\.|No settings of continuous integration were found\.|The repository is larger than what was"
    r"|(?:\d+ (?:FIXME|TODO|XXX|HACK)(?: and )?)+ comments? in the sources"
    r"|Broken manifests, of which nothing is known: "
    r"|Run `[^`]+` to get a first validation\.|Begin with “|Write a README that says"
)
_OWN_NOTE = re.compile(
    r"Several ecosystems are in use: |Runs on |Uses the Rust edition |Needs Go |Compiles for Java |Is built with "
    r"|Continuous integration is |`[^`]+` builds an image on "
    r"|Packages of the [^:]{1,60}: `|[\w.+#]{1,20} packages: `|The module is `|.*\(`[^`]+`\)\Z"
)


def carried_over(bundle: dict[str, Any], previous: Mapping[str, Any], tree: Tree) -> dict[str, Any]:
    """Return a bundle with what an earlier one holds beyond it; what says the same stands once."""
    focus, before = bundle["currentFocus"], previous.get("currentFocus", {})
    if previous.get("validationCommands") == bundle["validationCommands"] and before.get("validationSnapshot"):
        focus = {**focus, "validationSnapshot": dict(before["validationSnapshot"])}
    focus = {
        **focus,
        **{
            key: _with(focus[key], _others(before.get(key, ()), _OWN_LINE))
            for key in ("currentState", "knownRisks", "suggestedNextActions")
        },
    }
    if focus["validationSnapshot"]["status"] != "not-run":
        first = re.compile(r"Run `[^`]+` to get a first validation\.")
        focus["suggestedNextActions"] = [one for one in focus["suggestedNextActions"] if not first.match(one)]
    parts, parts_before = bundle["projectMap"], previous.get("projectMap", {})
    notes = _others(parts_before.get("architectureNotes", ()), _OWN_NOTE)
    project = bundle["project"]
    kept = [path for path in previous.get("project", {}).get("keyPaths", ()) if tree.has(path) or tree.has_folder(path)]
    return {
        **bundle,
        "project": {**project, "keyPaths": list(dict.fromkeys([*project["keyPaths"], *kept]))},
        "projectMap": {**parts, "architectureNotes": _with(parts["architectureNotes"], notes)},
        "currentFocus": focus,
        "gotchas": merge_gotchas(
            [*bundle["gotchas"], *(one for one in previous.get("gotchas", ()) if not _OWN_GOTCHA.match(one["cause"]))]
        ).items,
        "nextSteps": merge_next_steps(
            [*bundle["nextSteps"], *(one for one in previous.get("nextSteps", ()) if not _OWN_STEP.match(one["why"]))]
        ).items,
    }


def _with(fresh: list[str], others: list[str]) -> list[str]:
    """Return fresh lines as they are, and those of the others that say something else."""
    return [*fresh, *(one for one in merge_lines(others).items if not any(says_same(one, line) for line in fresh))]


def _others(lines: Iterable[str], own: re.Pattern[str]) -> list[str]:
    return [line for line in lines if not own.match(line)]
