"""Answers questions about the state and its history from the best evidence, with citations; no model is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from memory.errors import UsageError

from .files.model import EVENTS, KEYS, NOT_SAID, Json, moment
from .files.reading import StateFiles, checkpoint_path
from .projections.files import path_of

Mode = Literal["answer", "changes", "next", "traps"]
MODES: tuple[Mode, ...] = ("answer", "changes", "next", "traps")
QUERY_SCOPES = ("state", "history", "all")
MOST, MOST_CHECKPOINTS, MOST_EVENTS = 8, 5, 50
NOT_ENOUGH = "There is not enough evidence to answer this."
_LEAST_WORDS = 2
_QUOTED = 3

_WORDS: dict[Mode, tuple[str, ...]] = {
    "next": ("next step", "next steps", "todo", "todos", "follow up", "what remains", "what now"),
    "traps": ("gotcha", "gotchas", "trap", "traps", "pitfall", "pitfalls", "watch out", "known issue", "known issues",
              "what breaks"),
    "changes": ("what changed", "what s new", "what is new", "whats new", "recent change", "recent changes",
                "recently changed", "since"),
}  # fmt: skip
_NAMES: dict[Mode, frozenset[str]] = {
    "answer": frozenset(),
    **{mode: frozenset(" ".join(phrases).split()) for mode, phrases in _WORDS.items()},
}
_NAMES["next"] |= {"next", "comes"}
_NEXT = re.compile(r"\bwhat should (?:i|we) do next\b|\bwhat (?:is |s |comes )?next\b")
_WORD = re.compile(r"[a-z0-9\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")

_WEIGHTS: dict[Mode, dict[str, int]] = {
    "answer": {"bundle": 40, "checkpoint": 24, "event": 12},
    "changes": {"bundle": 12, "checkpoint": 44, "event": 36},
    "next": {"bundle": 28, "checkpoint": 16, "event": 22},
    "traps": {"bundle": 28, "checkpoint": 16, "event": 22},
}
_BOOSTS: dict[Mode, dict[str, int]] = {
    "answer": {},
    "changes": {"checkpoint": 20, "current-focus": 18, "event": 14, "project": -18, "project-map": -12},
    "next": {"next-step": 24, "suggested-action": 22, "current-focus": 10},
    "traps": {"gotcha": 24, "current-focus": 8},
}
_COMMON = frozenset(
    """
    an and are as at be by can could did do does for from had has have how if in is it its me my of on or our should so
    than that the their them then there these they this to us was we were what when where which who why will with would
    you your
    """.split()  # noqa: SIM905
)
_ENTRIES: tuple[tuple[str, str, tuple[str, ...], Mode], ...] = (
    ("gotcha", "gotchas", ("symptom", "cause", "correctPath"), "traps"),
    ("next-step", "next-steps", ("why", "start", "done"), "next"),
)
"""The entries of a bundle that are evidence each: their category, section and fields, and the mode that they answer."""
_TAG, _CHECKPOINT, _FOUND, _IN_SUMMARY = 12, 8, 4, 2
_AGES = ((1, 18), (7, 12), (30, 6))


@dataclass(frozen=True, slots=True)
class QueryItem:
    """A piece of evidence: `kind` is bundle, checkpoint or event, `category` its part of that.

    `file` is where it is shown, `tags` are the modes that it is meant for.
    """

    id: str
    kind: str
    category: str
    place: str
    file: str
    summary: str
    text: str
    created: str | None = None
    tags: tuple[Mode, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryHit:
    """An item with its score, and the words of the question that it contains."""

    item: QueryItem
    score: int
    words: tuple[str, ...]

    def json(self) -> Json:
        """Return it as a citation."""
        return {
            "sourceId": self.item.id,
            "sourceType": self.item.kind,
            "pathOrSection": self.item.place,
            "projectionPath": self.item.file if self.item.kind == "bundle" else None,
            "file": self.item.file,
            "createdAt": self.item.created,
            "summary": self.item.summary,
            "score": self.score,
            "words": list(self.words),
        }


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The answer to a question; `enough` is False where the evidence is too weak. `hits` are the citations."""

    question: str
    mode: Mode
    scope: str
    enough: bool
    answer: str
    why: str
    hits: tuple[QueryHit, ...]

    def json(self) -> Json:
        """Return it for programs."""
        return {
            "question": self.question,
            "mode": self.mode,
            "scope": self.scope,
            "enoughEvidence": self.enough,
            "answer": self.answer,
            "why": self.why,
            "citations": [hit.json() for hit in self.hits],
        }


def ask(
    memory: StateFiles, question: str, now: datetime, *, mode: str | None = None, scope: str = "all"
) -> QueryAnswer:
    """Return the answer to a question at an aware time; without a mode, its words decide the mode.

    UsageError `state.query.empty`, `state.query.mode`, `state.query.scope`.
    """
    words = words_of(question)
    if not words:
        raise UsageError("state.query.empty", "the question has no word to look for", "ask with words")
    if mode is not None and mode not in MODES:
        raise UsageError("state.query.mode", f"{mode[:60]!r} is no mode", f"one of {', '.join(MODES)}")
    if scope not in QUERY_SCOPES:
        raise UsageError("state.query.scope", f"{scope[:60]!r} is no scope", f"one of {', '.join(QUERY_SCOPES)}")
    chosen: Mode = next(one for one in MODES if one == mode) if mode is not None else mode_of(question)
    hits = rank(items_of(memory, scope), words, chosen, now)
    if not hits:
        return QueryAnswer(question, chosen, scope, False, NOT_ENOUGH, "nothing is recorded", ())
    # A question for next steps as such is answered by a next step, whatever words that contains.
    asked = _naming(question, chosen) if chosen in hits[0].item.tags else ()
    held = tuple({*hits[0].words, *asked})
    # Words that occur in every text are no evidence where the item contains only them.
    if len(held) < _LEAST_WORDS or (telling(words) and not telling(held)):
        why = f"the best item, {hits[0].item.place}, holds too few of the words {', '.join(words)}"
        return QueryAnswer(question, chosen, scope, False, NOT_ENOUGH, why, hits[:2])
    # A word that asks for the mode, such as the "next" of "what is next", is not a subject of an item.
    modes = _NAMES[chosen] if asked else frozenset()
    about = [replace(hit, words=tuple(word for word in hit.words if word not in modes)) for hit in hits]
    best = sorted(about, key=lambda hit: (-len(telling(hit.words)), -(chosen in hit.item.tags), -hit.score))
    first = next(hit for hit in hits if hit.item is best[0].item)
    return QueryAnswer(question, chosen, scope, True, _compose(best, chosen), _why(first, chosen, words), hits)


def _naming(question: str, mode: Mode) -> tuple[str, ...]:
    """Return the words of a question that ask for its mode."""
    if mode == "answer" or mode_of(question) != mode:
        return ()
    return tuple(dict.fromkeys(_WORD.findall(question.lower())))


def mode_of(question: str) -> Mode:
    """Return the mode that the words of a question ask for: next before traps before changes, else answer."""
    text = f" {' '.join(re.findall(r'[a-z0-9]+', question.lower()))} "
    if _NEXT.search(text):
        return "next"
    for mode, phrases in _WORDS.items():
        if any(f" {phrase} " in text for phrase in phrases):
            return mode
    return "answer"


def words_of(text: str) -> tuple[str, ...]:
    """Return the different words of a question, two characters or longer, in their order."""
    return tuple(dict.fromkeys(word for word in _WORD.findall(text.lower()) if len(word) > 1))


def telling(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words without those that occur in every text; answers are not chosen by these."""
    return tuple(word for word in words if word not in _COMMON)


def _holds(text: str, word: str) -> bool:
    """Return whether a text, its words between single spaces, has a whole word; a non-ASCII word may be a part."""
    return f" {word} " in text if word.isascii() else word in text


def _spaced(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.lower()))} "


def rank(items: Iterable[QueryItem], words: Sequence[str], mode: Mode, now: datetime) -> tuple[QueryHit, ...]:
    """Return the best items, the best first."""
    hits = (_score(item, words, mode, now) for item in items)
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.item.id))[:MOST])


def _score(item: QueryItem, words: Sequence[str], mode: Mode, now: datetime) -> QueryHit:
    summary = _spaced(item.summary)
    text = summary + _spaced(item.text)
    found = tuple(word for word in words if _holds(text, word))
    score = _FOUND * len(found) + _IN_SUMMARY * sum(_holds(summary, word) for word in found)
    score += _WEIGHTS[mode][item.kind] + _recency(item.created, now)
    if item.kind == "checkpoint":
        score += _CHECKPOINT
    score += _BOOSTS[mode].get(item.category, 0)
    if item.kind == "event" and mode in ("next", "traps"):
        score += 14 if mode in item.tags else -6
    if mode != "answer" and mode in item.tags:
        score += _TAG
    return QueryHit(item, score, found)


def _recency(created: str | None, now: datetime) -> int:
    when = moment(created)
    if when is None:
        return 0
    return next((points for days, points in _AGES if now - when <= timedelta(days=days)), 0)


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
        for event in memory.events[-MOST_EVENTS:]:
            yield _of_event(event)


def _of_bundle(bundle: Json, created: str) -> Iterator[QueryItem]:
    project, parts, focus = bundle["project"], bundle["projectMap"], bundle["currentFocus"]
    map_file, focus_file = path_of("project-map"), path_of("current-focus")

    def item(name: str, category: str, place: str, file: str, summary: str, text: str, *tags: Mode) -> QueryItem:
        return QueryItem(name, "bundle", category, place, file, summary, text, created, tags)

    facts = (
        f"{project['name']} {project['primaryEcosystem']} {project['packageManager']} {project['workspaceManager']} "
        f"{project['recommendedEntryFile']} {' '.join(project['keyPaths'])}"
    )
    yield item("project", "project", "bundle.project", map_file, project["summary"], facts)
    lines = [
        *(f"{one['path']} ({one['name']}): {one['responsibility']}" for one in parts["modules"]),
        *(f"{one['path']}: {one['role']}" for one in parts["entrypoints"]),
        *(f"{one['path']}: {one['note']}" for one in parts["denseSourceAreas"]),
        *parts["architectureNotes"],
        *parts["firstFilesToRead"],
    ]
    summary = f"{len(parts['modules'])} modules, {len(parts['entrypoints'])} entry points"
    yield item("project-map", "project-map", "bundle.projectMap", map_file, summary, "\n".join(lines))
    snapshot = focus["validationSnapshot"]
    text = "\n".join([*focus["currentState"], *focus["knownRisks"], snapshot["summary"]])
    yield item(
        "current-focus", "current-focus", "bundle.currentFocus", focus_file, focus["summary"], text, "changes", "next",
        "traps",
    )  # fmt: skip
    for number, action in enumerate(focus["suggestedNextActions"], 1):
        place = f"bundle.currentFocus.suggestedNextActions[{number - 1}]"
        yield item(f"suggested-action-{number}", "suggested-action", place, focus_file, action, "", "next")
    for kind, section, names, mode in _ENTRIES:
        key = KEYS[section]
        for number, one in enumerate(bundle[key], 1):
            text, place = "\n".join(one[name] for name in names), f"bundle.{key}.{one['title']}"
            yield item(f"{kind}-{number}", kind, place, path_of(section), one["title"], text, mode)


def _of_checkpoint(checkpoint: Json) -> QueryItem:
    bundle = checkpoint["bundle"]
    focus = bundle["currentFocus"]
    text = "\n".join(
        [
            focus["summary"],
            *focus["currentState"],
            *(f"{one['title']}: {one['cause']}" for one in bundle["gotchas"]),
            *(f"{one['title']}: {one['start']}" for one in bundle["nextSteps"]),
        ]
    )
    name = checkpoint["id"]
    return QueryItem(
        name, "checkpoint", "checkpoint", f"checkpoint:{name}", checkpoint_path(name), checkpoint["summary"], text,
        checkpoint["createdAt"], ("changes",),
    )  # fmt: skip


def _of_event(event: Json) -> QueryItem:
    signals = event["signals"]
    tags: list[Mode] = ["changes"]
    if signals["nextStepHints"]:
        tags.append("next")
    if signals["gotchas"] or signals["validationObservations"]:
        tags.append("traps")
    text = "\n".join(text for texts in signals.values() if isinstance(texts, list) for text in texts)
    name = event["id"]
    return QueryItem(
        name, "event", "event", f"event:{name}", EVENTS, event["summary"], text, event["createdAt"], tuple(tags)
    )


# -- the answer in words --------------------------------------------------------------------------------------------


def _compose(hits: Sequence[QueryHit], mode: Mode) -> str:
    """Return the answer: the best items that hold a word of the question, in their own words."""
    quoted: dict[str, str] = {}
    for hit in [hit for hit in hits if telling(hit.words)] or hits:
        # A checkpoint may repeat the bundle: the first item with the text is cited.
        quoted.setdefault(_quote(hit, mode), hit.item.id)
    return "\n".join(f"{text} [{name}]" for text, name in list(quoted.items())[:_QUOTED])


def _quote(hit: QueryHit, mode: Mode) -> str:
    """Return the part of an item that answers the question: the lines with its words, else the first ones."""
    item = hit.item
    lines = list(dict.fromkeys(line.strip() for line in item.text.split("\n") if line.strip()))
    matching = [line for line in lines if any(_holds(_spaced(line), word) for word in telling(hit.words))]
    if item.category in ("gotcha", "next-step"):
        told = [line.rstrip(".") for line in lines if line != NOT_SAID]
        return f"{item.summary}: {'; '.join(told[:_QUOTED])}" if told else item.summary
    if matching:
        *others, last = matching[:_QUOTED]
        return "; ".join([*(line.rstrip(".") for line in others), last])
    return item.summary if mode == "answer" or not lines else f"{item.summary.rstrip('.:')}: {lines[0]}"


def _why(best: QueryHit, mode: Mode, words: Sequence[str]) -> str:
    if not best.words:
        return f"{best.item.place} is the best of what the question asks for by its kind; mode {mode}"
    held = ", ".join(best.words)
    return f"{best.item.place} holds {len(best.words)} of {len(words)} words of the question ({held}); mode {mode}"
