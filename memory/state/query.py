"""Answers questions about the state and its history by the best evidence, with citations; no model is asked.

Each piece of evidence has the words by which people ask for it, and what it says. The product's one ranking finds the
best ones; on top, each kind of evidence counts more or less in each mode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from memory.base.git import recent_work
from memory.base.words import content_words, stem, tokens
from memory.errors import UsageError
from memory.search.searcher import Text, rank

from .files.model import EVENTS, NO_FOCUS, NOT_SAID, Json, is_echo
from .files.reading import StateFiles, checkpoint_path
from .projections import SOURCE, path_of

Mode = Literal["answer", "changes", "next", "traps"]
MODES: tuple[Mode, ...] = ("answer", "changes", "next", "traps")
QUERY_SCOPES = ("state", "history", "all")
MOST, MOST_CHECKPOINTS, MOST_EVENTS = 8, 5, 50
NOT_ENOUGH = "There is not enough evidence to answer this."
_QUOTED = 3

_ASKS: tuple[tuple[Mode, str], ...] = (
    ("next", r"\b(?:next|to-?dos?|follow.?ups?|what (?:remains|now)|left to do|open (?:work|tasks?))\b"),
    ("traps", r"\b(?:gotchas?|traps?|pitfalls?|watch out|known (?:issues?|problems?)|what breaks|be careful|avoid)\b"),
    (
        "changes",
        r"\b(?:change[ds]?|what.?s new|what is new|recent(?:ly)?|latest|since|unreleased|going on|work(?:ed|ing) on)\b",
    ),
)
_WEIGHTS = {"event": 0.9, "checkpoint": 0.5}
"""The weight of the score of an item by its kind; 1 by default."""
_MEANT, _FACT, _PLACE = 1.5, 1.2, 1.4
"""The weight of an item that is meant for the mode or asked for in its own words, of the project and its commands
against its parts, and of a place in a question about where something is.
"""
_PLACES = ("path", "module", "entrypoint", "program")
_LEAST = 0.6
"""The share of the question that an item must have which has its words only in what it is asked for by."""
_ASKED_FOR = {
    "test": "how to run the tests, test command, testing, test suite",
    "single test": "how to run a single test, run a test by its name",
    "lint": "how to lint, linter, linting, code style, style check, lint command",
    "types": "how to check types, type check, type checker, typing",
    "format": "how to check the format, formatter, formatting",
    "build": "how to build, build command, compile",
}
"""The words by which people ask for a command, by its kind."""
_NOTES = (
    *((f"{kind.capitalize()}: ", asked) for kind, asked in _ASKED_FOR.items()),
    ("Uses the .* edition", "which edition, language edition"),
    (r"(?:Runs on|Needs|Requires|Targets|Compiles for)\b.*\d",
     "which version is supported, versions, minimum required version, requirement, language version"),
    ("Continuous integration", "which CI, which CI is used, continuous integration, pipeline, workflow"),
    ("Uses [A-Z].* and ", "which languages, ecosystems"),
    ("CI tests with", "which versions, platforms, systems are tested, matrix"),
    ("Before the tests:", "what is needed before the tests, dependencies, system packages"),
    ("The tests in CI use", "which services, database"),
    ("In `", "which packages are tested, how in a folder"),
    ("Before a commit", "which hooks, pre-commit, before a commit"),
    ("", "architecture, design"),
)  # fmt: skip
"""The words by which people ask for a note of the analysis, by its beginning."""
_PARTS: tuple[tuple[str, str, str, str, str, Mode | None], ...] = (
    ("project.packageManager", "packageManager", "project", "which package manager, install dependencies",
     "The package manager is {text}.", None),
    ("project.workspaceManager", "workspaceManager", "project", "which workspace manager, monorepo",
     "The workspace is managed by {text}.", None),
    ("project.primaryEcosystem", "primaryEcosystem", "project", "which language, ecosystem, written in",
     "The language or ecosystem is {text}.", None),
    ("project.keyPaths", "path", "path", "where is {text}", "`{text}` is a key path.", None),
    ("projectMap.modules", "module", "module", "where is {name}, what is {path}, what is {name}, module",
     "`{path}`: {responsibility}", None),
    ("projectMap.entrypoints", "entrypoint", "entrypoint",
     "where is the entry point, main file, where does the program start, {path}", "`{path}`: {role}", None),
    ("projectMap.denseSourceAreas", "area", "area", "what is {path}, names in {path}", "`{path}`: {note}", None),
    ("projectMap.architectureNotes", "note", "note", "", "{text}", None),
    ("currentFocus.currentState", "state", "focus", "current state, decision, decided, why", "{text}", "changes"),
    ("currentFocus.knownRisks", "risk", "focus", "known risks, problems, failing", "{text}", "traps"),
    ("currentFocus.suggestedNextActions", "suggested-action", "focus", "suggested next action", "{text}", "next"),
)  # fmt: skip
"""The values and lists of the bundle: id and category of one, the words by which people ask for it, what it says."""
_ENTRIES: tuple[tuple[str, str, tuple[str, ...], Mode], ...] = (
    ("gotcha", "gotchas", ("cause", "correctPath", "symptom"), "traps"),
    ("next-step", "nextSteps", ("start", "why", "done"), "next"),
)
_SIGNALS: dict[str, Mode | None] = {
    "decisions": "changes", "gotchas": "traps", "nextStepHints": "next", "validationObservations": None
}  # fmt: skip


class QueryItem(NamedTuple):
    """A piece of evidence: `kind` is bundle, checkpoint or event, `category` its part of that.

    `asked` are words by which people ask for it, `said` is what answers them, and `text` what else it holds. `file` is
    where it is shown, `mode` is the mode that it is meant for, if any.
    """

    id: str
    kind: str
    category: str
    place: str
    file: str
    asked: str
    said: str
    text: str = ""
    created: str = ""
    mode: Mode | None = None


_Hit = tuple[QueryItem, float, tuple[str, ...]]
"""An item with its score, and the words of the question that it contains."""


def ask(memory: StateFiles, question: str, *, mode: str | None = None, scope: str = "all") -> Json:
    """Return the answer to a question with its citations; without a mode, the words of the question decide the mode.

    `enoughEvidence` is False where nothing is about it. UsageError `state.query.empty`, `state.query.mode`,
    `state.query.scope`.
    """
    if not re.search(r"\w", question):
        raise UsageError("state.query.empty", "the question has no word to look for", "ask with words")
    for given, known, what in ((mode, MODES, "mode"), (scope, QUERY_SCOPES, "scope")):
        if given is not None and given not in known:
            raise UsageError(f"state.query.{what}", f"{given[:60]!r} is no {what}", f"one of {', '.join(known)}")
    chosen: Mode = next((one for one in MODES if one == mode), mode_of(question))
    items = list(items_of(memory, scope))
    if chosen == "changes" and scope != "history" and (work := recent_work(memory.root)):
        said = f"The last commits: {'; '.join(f'“{subject}”' for subject in work.subjects)}."
        items.append(QueryItem("commits", "bundle", "commits", "git log", ".git", "commits", said, mode="changes"))
    hits = _hits(items, question, chosen)
    # A checkpoint may repeat the bundle: the first item that says it is cited.
    quoted = {item.said: f"{item.said} [{item.id}, {item.file}]" for item, _, _ in reversed(hits)}
    why = f"nothing in the scope {scope} is about it"
    for item, _, words in hits[:1]:
        why = f"{item.place} " + (f"has {', '.join(words)}" if words else "is what the question asks for")
    return {
        "question": question,
        "mode": chosen,
        "scope": scope,
        "enoughEvidence": bool(hits),
        "answer": "\n".join(list(reversed(quoted.values()))[:_QUOTED]) or NOT_ENOUGH,
        "why": f"{why}; mode {chosen}",
        "citations": [_citation(*hit) for hit in hits],
    }


def _citation(item: QueryItem, score: float, words: Sequence[str]) -> Json:
    return {
        "sourceId": item.id,
        "sourceType": item.kind,
        "pathOrSection": item.place,
        "projectionPath": item.file if item.kind == "bundle" else None,
        "file": item.file,
        "createdAt": item.created or None,
        "summary": item.said,
        "score": round(score, 3),
        "words": list(words),
    }


def mode_of(question: str) -> Mode:
    """Return the mode that the words of a question ask for: next before traps before changes, else answer."""
    text = question.lower()
    return next((mode for mode, words in _ASKS if re.search(words, text)), "answer")


def _hits(items: list[QueryItem], question: str, mode: Mode) -> list[_Hit]:
    """Return the best items; a question for a mode and nothing else is answered by the items of the mode."""
    texts = [Text(item.asked, f"{item.said}\n{item.text}", item.created[:10]) for item in items]
    # The words that ask for steps and traps are in no step and no trap.
    about = re.sub(dict(_ASKS)[mode], " ", question, flags=re.IGNORECASE) if mode in ("next", "traps") else question
    found = [hit for hit in rank(about, texts, len(texts)) if hit.is_about] if content_words(about) else []
    told = [(items[hit.entry.line], hit.score, tuple(need for need, _ in hit.why)) for hit in found]
    told = [one for one in told if one[1] >= _LEAST or _says(one[0], one[2])]
    if mode != "answer" and not any(item.mode == mode for item, _, _ in told):
        told = [*((item, 1.0, ()) for item in items if item.mode == mode), *told]
    hits = [(item, score * _weight(item, mode, question), words) for item, score, words in told]
    return sorted(hits, key=lambda hit: -hit[1])[:MOST]


def _weight(item: QueryItem, mode: Mode, question: str) -> float:
    meant = _MEANT if item.mode == mode else _FACT if item.category in ("project", "command") else 1.0
    asked = question.strip(" ?").lower()
    place = _PLACE if asked.startswith("where") and item.category in _PLACES else 1.0
    exact = _MEANT if asked in item.asked.lower().split(", ") else 1.0
    return _WEIGHTS.get(item.kind, 1.0) * meant * place * exact


def _says(item: QueryItem, words: Sequence[str]) -> bool:
    """Return whether an item itself has one of the words, in any form."""
    told = {stem(word) for word in tokens(f"{item.said} {item.text}")}
    return any(stem(word) in told for word in content_words(" ".join(words)))


# -- what can answer ----------------------------------------------------------------------------------------------


def items_of(memory: StateFiles, scope: str) -> Iterator[QueryItem]:
    """Yield all evidence: the bundle and the newest checkpoints for the state, the last active events for the history.

    The archive is never searched.
    """
    if scope in ("state", "all"):
        yield from _of_bundle(memory.bundle, memory.state["generatedAt"])
        for checkpoint in memory.latest_checkpoints(MOST_CHECKPOINTS):
            yield _of_checkpoint(checkpoint)
    if scope in ("history", "all"):
        for event in reversed(memory.events[-MOST_EVENTS:]):
            yield from _of_event(event)


_FILES = {"gotcha": "gotchas", "next-step": "next-steps", "focus": "current-focus", "command": "current-focus"}
"""The projection that shows a category; the project map, where nothing else is said."""


def _of_bundle(bundle: Json, created: str) -> Iterator[QueryItem]:
    def item(
        name: str, category: str, place: str, asked: str, said: str, text: str = "", mode: Mode | None = None
    ) -> QueryItem:
        file = path_of("project-map" if name.startswith("note-") else _FILES.get(category, "project-map"))
        return QueryItem(name, "bundle", category, f"bundle.{place}", file, asked, said, text, created, mode)

    project, focus = bundle["project"], bundle["currentFocus"]
    name = project["name"]
    asked = f"what is {name}, what is {name.rpartition('/')[2]}, what does {name} do, project, purpose, about"
    yield item("project", "project", "project.summary", asked, f"{name}: {project['summary']}")
    for number, one in enumerate(bundle["validationCommands"]):
        command = " ".join(one["command"])
        about = f"{one['label']} {one['purpose']} {command}".lower()
        asked = next((words for kind, words in _ASKED_FOR.items() if kind in about), "validate, check")
        said = f"`{command}`: {one['purpose']}"
        yield item(f"command-{number + 1}", "command", f"validationCommands[{number}]", asked, said, one["label"])
    mode: Mode | None
    for kind, key, names, mode in _ENTRIES:
        for number, one in enumerate(bundle[key], 1):
            told = [text for name in names if (text := one[name]) not in (NOT_SAID, "-") and not SOURCE.match(text)]
            # A rule is told whole by its way out, of which the title may be the beginning.
            is_whole = bool(told) and told[0].startswith(one["title"].rstrip("…"))
            said, rest = told[0] if is_whole else ": ".join([one["title"], *told[:1]]), "\n".join(told[1:])
            yield item(f"{kind}-{number}", kind, f"{key}.{one['title']}", one["title"], said, rest, mode)
    for where, kind, category, asked, said, mode in _PARTS:
        section, _, key = where.partition(".")
        found = bundle[section][key]
        for number, one in enumerate([found] if isinstance(found, str) else found):
            if found in ("none", "unknown"):
                continue
            values = {"text": one} if isinstance(one, str) else one
            words, text = asked.format_map(values), said.format_map(values)
            part = "program" if kind == "entrypoint" and "`: The " in text else category
            if kind == "note":
                words = next(words for start, words in _NOTES if re.match(start, text))
                part = "command" if words in _ASKED_FOR.values() else category
            yield item(f"{kind}-{number + 1}", part, f"{where}[{number}]", words, text, mode=mode)
    if paths := bundle["projectMap"]["firstFilesToRead"]:
        asked = "which files to read first, where to begin reading, important files, where to start"
        said = f"Read first: {', '.join(f'`{path}`' for path in paths)}."
        yield item("first-files", "files", "projectMap.firstFilesToRead", asked, said)
    if modules := bundle["projectMap"]["modules"]:
        asked = "which packages, which packages are there, which modules, which parts, what is it made of"
        paths = ", ".join(f"`{one['path']}`" for one in modules)
        yield item("modules", "files", "projectMap.modules", asked, f"The parts are {paths}.")
    asked = "current focus, what is being worked on, unreleased, status"
    if not focus["summary"].startswith(NO_FOCUS):
        said = " ".join([focus["summary"], *focus["currentState"][:1]])
        yield item("current-focus", "focus", "currentFocus.summary", asked, said, mode="changes")
    snapshot = focus["validationSnapshot"]
    if snapshot["status"] != "not-run":
        asked = "do the tests pass, was it validated, validation, last run"
        said = f"{snapshot['status'].capitalize()} at {snapshot['validatedAt']}: {snapshot['summary']}"
        yield item("validation", "focus", "currentFocus.validationSnapshot", asked, said)


def _of_checkpoint(checkpoint: Json) -> QueryItem:
    bundle, name, said = checkpoint["bundle"], checkpoint["id"], checkpoint["summary"]
    lines = [bundle["currentFocus"]["summary"], *bundle["currentFocus"]["currentState"]]
    lines += [f"{one['title']}: {one['cause']}" for one in bundle["gotchas"]]
    lines += [f"{one['title']}: {one['start']}" for one in bundle["nextSteps"]]
    place, file, text, created = f"checkpoint:{name}", checkpoint_path(name), "\n".join(lines), checkpoint["createdAt"]
    return QueryItem(name, "checkpoint", "checkpoint", place, file, "checkpoint", said, text, created)


def _of_event(event: Json) -> Iterator[QueryItem]:
    """Yield the signals of an event, unless it was written along with a bundle, and the event itself."""
    name, created = event["id"], event["createdAt"]

    def item(said: str, category: str, mode: Mode | None) -> QueryItem:
        return QueryItem(name, "event", category, f"event:{name}", EVENTS, event["summary"], said, "", created, mode)

    if not is_echo(event):
        for kind, mode in _SIGNALS.items():
            yield from (item(text, kind, mode) for text in event["signals"][kind])
    yield item(event["summary"], "event", None if is_echo(event) else "changes")
