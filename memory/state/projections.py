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
from memory.state.files.model import KEYS, MARKERS, NO_FOCUS, NOT_SAID, PROJECTIONS, SEVERAL
from memory.storage.safe_open import Stored

_SPAN = re.compile(r"(?<![`\\])`([^`]+)`(?!`)")
_COMMENT = re.compile(r"<!--|-->|<!|\?>")
# An underscore or a number sign inside a word means nothing to Markdown.
_SPECIAL = re.compile(
    r"[\\`*]|\A[\[|~>]|\[(?=[^\n]*\][(\[:])|<(?=[A-Za-z/!?])|(?<=<)!|(?<![^\W_])_|_(?![^\W_])|(?<!\S)#|#(?=\s|\Z)"
    r"|~(?=[^\n]*~)|(?<=~)~|&(?=#?\w{1,40};)"
)
"""What Markdown would read as a mark, and no other sign: agents read the pages as they are."""
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


def literal(line: str) -> str:
    """Return the text that a line of Markdown from `inline` shows."""
    return re.sub(r"(`[^`]+`)|\\([^\w\s]|_)|&amp;", lambda found: found[1] or found[2] or "&", line)


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
    "current-focus": "what is known of the work under way",
    "gotchas": "traps, their causes and the correct paths; read it before a change",
    "next-steps": "what to do next, why, and where to begin",
}


_MARKED = {"Gotchas": "GOTCHA: title: cause", "Next steps": "NEXT: title: where to begin"}
SOURCE = re.compile(r"(?:Written|Listed) in `|Noted in ")
"""The beginning of a text that only says where something is from."""
_NOTES = {
    "Modules": re.compile("At the root: "),
    "Commands": re.compile(
        r"(?:Set up|Test|Single test|Lint|Types|Format|Build|Before a commit): `|CI also runs |In `[^`]*` CI runs "
    ),
    "How to work on it": re.compile("From `|(?:Before the tests )?CI runs "),
    "Engineering facts": re.compile(
        r"(?:Runs on|Needs|Uses the \w+ edition|Compiles for|Is built with|Targets|CI tests with|The tests in) "
    ),
}
"""The sections of the map that take notes, each with the beginning of such a note."""
_DOCUMENT = re.compile(r"\.(?:md|markdown|rst|txt|rdoc|adoc)\Z", re.IGNORECASE)
_BEGIN = re.compile(r"(Not released yet|Since [\w./+@-]{1,60}): (.+)")
"""A line of the current state that the summary leads to."""
_FACTS = {"Ecosystem": "primaryEcosystem", "Package manager": "packageManager", "Workspace": "workspaceManager"}
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

`.agent-memory/` has the state, its history, and an archive of what is too old for either. {entry} sends people here.

- `memdeck state update`: look at the repository anew
- `memdeck state sync --all`, then `memdeck state recall`: take in what sessions with agents brought
- `memdeck state query QUESTION`: ask the state and its history
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
    bodies = (
        _readme(bundle), _project_map(bundle), _current_focus(bundle), _gotchas(bundle["gotchas"]),
        _entries("Next steps", bundle["nextSteps"], {"Why": "why", "Start": "start", "Done when": "done"}, number=True),
    )  # fmt: skip
    return {
        name: "\n".join([marker(name, bundle_hash), "", *body]).rstrip() + "\n"
        for name, body in zip(NAMES, bodies, strict=True)
    }


def has_focus(bundle: Bundle) -> bool:
    """Return whether the page of the current focus says more than that nothing is known."""
    focus = bundle["currentFocus"]
    known = (focus[key] for key in ("currentState", "knownRisks", "suggestedNextActions"))
    return not focus["summary"].startswith(NO_FOCUS) or any(known) or bool(focus["validationSnapshot"]["validatedAt"])


def _readme(bundle: Bundle) -> list[str]:
    project = bundle["project"]
    told = (name for name in _PURPOSES if bundle[KEYS[name]] and (name != "current-focus" or has_focus(bundle)))
    order = (f"{number}. [{name}.md]({name}.md): {_PURPOSES[name]}" for number, name in enumerate(told, 1))
    names = {key: inline(project[key]) for key in ("name", "summary")}
    more = {"order": "\n".join(order), "markers": MARKERS, "entry": code(project["recommendedEntryFile"])}
    return _README.format_map(names | more).split("\n")


def _project_map(bundle: Bundle) -> list[str]:
    """Return what the project is, where to begin, its parts and commands; each path is told once."""
    project, parts = bundle["project"], bundle["projectMap"]
    modules, roles = ({one["path"]: one for one in parts[key]} for key in ("modules", "entrypoints"))
    # The package that is the whole project is told above.
    roles = {path: one for path, one in roles.items() if one["role"] != f"The package `{project['name']}`."}
    first, begin = parts["firstFilesToRead"], []
    for path in (one for one in first if not _DOCUMENT.search(one)):
        said = (roles.get(path, {}).get("role"), modules.get(path, {}).get("responsibility"))
        begin.append(_line(path, " ".join(filter(None, said))))
    areas = [_line(one["path"], one["note"]) for one in parts["denseSourceAreas"]]
    told = [_module(one) for path, one in modules.items() if path not in first]
    told += [_line(path, one["role"]) for path, one in roles.items() if path not in {*first, *modules}]
    files = [line for line in told if re.match(r"`[^`]*\.\w+`", line)]
    notes: dict[str, list[str]] = {name: [] for name in (*_NOTES, "Notes")}
    for note in parts["architectureNotes"]:
        notes[next((name for name, form in _NOTES.items() if form.match(note)), "Notes")].append(inline(note))
    known = ((name, project[key]) for name, key in _FACTS.items() if project[key] not in ("none", SEVERAL))
    facts = [*(f"{name}: {inline(value)}" for name, value in known), *notes["Engineering facts"]]
    commands = [*_commands(bundle), *notes["Commands"]]
    commands.sort(key=lambda one: (not one.startswith("Set up"), not one.startswith(("Test", "Single test"))))
    return [
        "# Project map", "", inline(project["summary"]), "", *_section("Engineering facts", facts),
        *_section("First files to read", begin),
        *_section("Modules", [*notes["Modules"], *(one for one in told if one not in files), *areas, *files]),
        *_section("Commands", commands),
        *_section("How to work on it", [*(_line(path, "") for path in first if _DOCUMENT.search(path)),
                                        *notes["How to work on it"]]), *_section("Notes", notes["Notes"]),
    ]  # fmt: skip


def _module(part: Mapping[str, str]) -> str:
    """Return the line of a part; its name is told where it is not that of its folder or file."""
    name = "" if part["name"] == part["path"].rpartition("/")[2] else f" ({inline(part['name'])})"
    return f"{code(part['path'])}{name}: {inline(part['responsibility'])}"


def _line(path: str, text: str) -> str:
    return f"{code(path)}: {inline(text)}" if text else code(path)


def _commands(bundle: Bundle) -> list[str]:
    """Return the validation commands, each with its source or its purpose."""
    return [
        f"{inline(one['label'])}: {code(' '.join(one['command']))}"
        f" ({inline((one['purpose'].partition('; ')[2] or one['purpose']).rstrip('.'))})."
        for one in bundle["validationCommands"]
    ]


def _current_focus(bundle: Bundle) -> list[str]:
    focus = bundle["currentFocus"]
    snapshot = focus["validationSnapshot"]
    changes = [inline(found[2]) for one in focus["currentState"] if (found := _BEGIN.fullmatch(one))]
    state = [inline(one) for one in focus["currentState"] if not _BEGIN.fullmatch(one)]
    run = f"{snapshot['status'].capitalize()} ({snapshot['validatedAt']}): {snapshot['summary']}"
    results = [f"{inline(one['status'].upper())} {code(one['command'])}: {inline(one['summary'])}"
               for one in snapshot["results"]]  # fmt: skip
    return [
        "# Current focus", "", inline(focus["summary"]), "", *_section("", changes), *_section("Current state", state),
        *_section("Known risks", map(inline, focus["knownRisks"])),
        *_section("Validation snapshot", [*([inline(run)] if snapshot["validatedAt"] else []), *results]),
        *_section("Suggested next actions", map(inline, focus["suggestedNextActions"])),
    ]  # fmt: skip


def _gotchas(entries: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the traps, then the rules, which have no symptom, below the documents that say them."""
    rules: dict[str, list[str]] = {}
    for one in entries:
        if one["symptom"] == NOT_SAID and SOURCE.match(one["cause"]):
            title = one["title"] if one["title"].endswith(("!", "…")) else f"{one['title']}."
            whole = title if one["correctPath"] == NOT_SAID else one["correctPath"]
            rules.setdefault(one["cause"], []).append(inline(whole))
    traps = [one for one in entries if not rules.get(one["cause"]) or one["symptom"] != NOT_SAID]
    names = {"Symptom": "symptom", "Cause": "cause", "Correct path": "correctPath"}
    lines = _entries("Gotchas", traps, names) if traps or not rules else ["# Gotchas", ""]
    told = (line for where, texts in rules.items() for line in (inline(where), "", *(f"- {one}" for one in texts), ""))
    return [*lines, *(["## What the documents say", "", *told] if rules else [])]


def _entries(
    heading: str, entries: Sequence[Mapping[str, str]], names: Mapping[str, str], *, number: bool = False
) -> list[str]:
    """Return a heading, and each entry with its title and the values at the keys of `names`, each with its name.

    A value that was not recorded is left out; where something is only written or noted is in small print.
    """
    lines = [f"# {heading}", ""]
    for place, entry in enumerate(entries, 1):
        lines += [f"## {f'{place}. ' if number else ''}{inline(entry['title'])}", ""]
        for name, key in names.items():
            value = inline(entry[key])
            if SOURCE.match(value):
                lines.append(f"- <sub>{value}</sub>")
            elif value.rstrip(".").lower() != "not recorded":
                lines.append(f"- {name}: {value}")
        lines.append("")
    empty = f"- No {heading.lower()} yet: `memdeck state recall` adds what a session marked `{_MARKED[heading]}`."
    return lines if entries else [*lines, empty]


def _section(title: str, bullets: Iterable[str]) -> list[str]:
    """Return a heading, where there is a title, and its bullets; nothing without bullets."""
    lines = [f"- {bullet}" for bullet in bullets]
    return [*([f"## {title}", ""] if title else []), *lines, ""] if lines else []
