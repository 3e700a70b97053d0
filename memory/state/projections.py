"""The five Markdown files that show a bundle to people and agents.

Each begins with a marker that names the file and the hash of the bundle, and is derived from the bundle alone: a file
that differs from the result of `render_projections` was edited by hand or is outdated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from memory.base.safe_text import one_line
from memory.document.model import BOM
from memory.errors import RefusedError
from memory.state.files.model import MARKERS, PROJECTIONS
from memory.storage.safe_open import Stored

_SPAN = re.compile(r"(?<![`\\])`([^`]+)`(?!`)")
_COMMENT = re.compile(r"<!--|-->|<!|\?>")
# An underscore or a number sign inside a word means nothing to Markdown.
_SPECIAL = re.compile(r"[\\`*\[<|~]|(?<=<)!|\A>|(?<![^\W_])_|_(?![^\W_])|(?<!\S)#|#(?=\s|\Z)|&(?=#?\w{1,40};)")
_OPENING = re.compile(r"([-+=]|\d{1,9}(?=[.)]))")


def inline(text: str) -> str:
    """Return one line of Markdown that shows a text; code spans stay code, all other signs are literal."""
    line = one_line(text)
    pieces: list[str] = []
    done = 0
    for span in _SPAN.finditer(line):
        if _COMMENT.search(span[1]) or not span[1].strip():
            continue
        pieces += [_escape(line[done : span.start()]), span[0]]
        done = span.end()
    pieces.append(_escape(line[done:]))
    result = "".join(pieces)
    opening = _OPENING.match(result)
    if opening is None:
        return result
    # A number opens a list only with the sign after it.
    place = 0 if not opening[1].isdigit() else opening.end()
    return f"{result[:place]}\\{result[place:]}"


def code(text: str) -> str:
    """Return a code span that shows a text, with as many backticks as it needs."""
    line = one_line(text)
    longest = max(map(len, re.findall("`+", line)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if line.startswith("`") or line.endswith("`") or (line[:1] == " " == line[-1:]) else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def _escape(text: str) -> str:
    return _SPECIAL.sub(lambda found: "&amp;" if found[0] == "&" else "\\" + found[0], text)


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
    "current-focus": "what is known of the work under way, and the commands that validate it",
    "gotchas": "traps, their causes and the correct paths; read it before a change",
    "next-steps": "what to do next, why, and where to begin",
}


_SOURCE = re.compile(r"(?:Written|Listed) in `|Noted in ")
_FACTS = (
    ("Ecosystem", "primaryEcosystem", "{}"),
    ("Package manager", "packageManager", "{}"),
    ("Workspace", "workspaceManager", "{}"),
    ("Entry file", "recommendedEntryFile", "{:code}"),
)
_SECTIONS = {
    "project-map": (
        ("Modules", "projectMap.modules", "{path:code} ({name}): {responsibility}"),
        ("Entry points", "projectMap.entrypoints", "{path:code}: {role}"),
        ("First files to read", "projectMap.firstFilesToRead", "{text:code}"),
        ("Dense source areas", "projectMap.denseSourceAreas", "{path:code}: {note}"),
        ("How it is built and checked", "projectMap.architectureNotes", "{text}"),
        ("Key paths", "project.keyPaths", "{text:code}"),
    ),
    "current-focus": (
        ("Current state", "currentFocus.currentState", "{text}"),
        ("Known risks", "currentFocus.knownRisks", "{text}"),
        ("Validation commands", "validationCommands", "{label}: {command:code} ({purpose})"),
        ("Validation snapshot", "currentFocus.validationSnapshot.results", "{status:upper} {command:code}: {summary}"),
        ("Suggested next actions", "currentFocus.suggestedNextActions", "{text}"),
    ),
}
"""The sections of the two maps: heading, the place of the list in the bundle, and the form of each bullet."""
_ENTRIES = (
    ("Gotchas", "gotchas", "## {title}", {"Symptom": "symptom", "Cause": "cause", "Correct path": "correctPath"}),
    ("Next steps", "nextSteps", "## {number}. {title}", {"Why": "why", "Start": "start", "Done when": "done"}),
)
"""The two lists of entries: heading, key in the bundle, the title of an entry, and the names of its values."""
_README = """\
# Project memory of {name}

{summary}

These files are written from `.agent-memory/state.json` by memdeck, a program for the terminal that keeps what people
and AI agents know about a project. Change the state, not them: the next refresh writes them anew.

## Reading order

{order}

## How to add to it

{markers}

## Where it comes from

- `.agent-memory/state.json`: the state of the project
- `.agent-memory/history/events.jsonl`: what happened, and what sessions with agents brought
- `.agent-memory/history/checkpoints/`: the state after each change
- `.agent-memory/archive/`, once `memdeck state prune` has made it: what is too old for either
- {recommendedEntryFile:code}: where contributors are sent here

## Refresh

- `memdeck state update`: look at the repository anew
- `memdeck state sync --all`: import sessions with agents
- `memdeck state recall`: take what is new into the state
- `memdeck state query QUESTION`: ask the state and its history
- `memdeck state validate`: check all of it
"""


def marker(name: str, bundle_hash: str) -> str:
    """Return the first line of the projection `name`, without its line end."""
    shown = "readme" if name == "README" else name
    return f"<!-- agent-memory:projection file={shown} version={VERSION} bundleHash={bundle_hash} -->"


def marker_of(text: str) -> tuple[str, int, str] | None:
    """Return the name, version and hash of the marker at the beginning of a text, None where there is none."""
    found = _MARKER.match(text)
    return None if found is None else (found[1].replace("readme", "README"), int(found[2]), found[3])


def path_of(name: str) -> str:
    """Return the path of a projection, relative to the repository."""
    return f"{PROJECTIONS}/{name}.md"


def refuse_foreign(read: Callable[[str], Stored]) -> None:
    """Raise RefusedError `state.exists` where a file is in the place of a projection that memdeck did not write."""
    stored = {path_of(name): read(path_of(name)) for name in NAMES}
    found = [
        path
        for path, one in stored.items()
        if one.exists and marker_of(one.data.removeprefix(BOM).decode(errors="replace")) is None
    ]
    if found:
        words = f"there is {', '.join(found)} already, and memdeck did not write it"
        raise RefusedError("state.exists", words, "move it elsewhere and try again", files=found)


def render_projections(bundle: Bundle, bundle_hash: str) -> dict[str, str]:
    """Return the full text of each projection by its name, in the order of `NAMES`.

    Text of the bundle is shown literally and never read as Markdown, except for code spans.
    """
    project, focus = bundle["project"], bundle["currentFocus"]
    order = "\n".join(
        f"{number}. [{name}.md]({name}.md): {why}" for number, (name, why) in enumerate(_PURPOSES.items(), 1)
    )
    facts = [f"{name}: {form.format(_Shown(project[key]))}" for name, key, form in _FACTS if project[key] != "none"]
    snapshot = focus["validationSnapshot"]
    status, at = snapshot["status"].capitalize(), snapshot["validatedAt"]
    run = inline(f"{status} ({at}): {snapshot['summary']}")
    bodies = (
        _filled(_README.replace("{order}", order).replace("{markers}", MARKERS), project).split("\n"),
        ["# Project map", "", inline(project["summary"]), "", *_section("Engineering facts", facts),
         *_lists(bundle, "project-map", {})],
        ["# Current focus", "", inline(focus["summary"]), "",
         *_lists(bundle, "current-focus", {"Validation snapshot": [run]} if at else {})],
        *(_entries(bundle[key], heading, form, names) for heading, key, form, names in _ENTRIES),
    )  # fmt: skip
    return {
        name: "\n".join([marker(name, bundle_hash), "", *body]).rstrip() + "\n"
        for name, body in zip(NAMES, bodies, strict=True)
    }


class _Shown(str):
    """A text of the bundle, which a format shows literally, as code with `:code`, in capitals with `:upper`."""

    def __format__(self, spec: str) -> str:
        """Return it as Markdown."""
        return code(self) if spec == "code" else inline(self.upper() if spec == "upper" else self)


def _filled(template: str, values: Mapping[str, Any] | str) -> str:
    """Return a template with values of the bundle; a list is shown as one text, a text alone is named `text`."""
    named = values if isinstance(values, Mapping) else {"text": values}
    shown = {key: _Shown(" ".join(one) if isinstance(one, list) else one) for key, one in named.items()}
    return template.format_map(shown)


def _lists(bundle: Bundle, page: str, more: Mapping[str, list[str]]) -> list[str]:
    """Return the sections of a page with their bullets; `more` are bullets before those of a section."""
    lines: list[str] = []
    for title, place, form in _SECTIONS[page]:
        value: Any = bundle
        for key in place.split("."):
            value = value[key]
        lines += _section(title, [*more.get(title, ()), *(_filled(form, one) for one in value)])
    return lines


def _entries(entries: Sequence[Mapping[str, str]], heading: str, form: str, names: Mapping[str, str]) -> list[str]:
    """Return a heading, and each entry with its title and the values at the keys of `names`, each with its name.

    A value that was not recorded is left out; where something is only written or noted is in small print.
    """
    lines = [f"# {heading}", ""]
    for number, entry in enumerate(entries, 1):
        lines += [form.format(number=number, title=inline(entry["title"])), ""]
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
