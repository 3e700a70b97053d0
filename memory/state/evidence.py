"""What can answer questions about the state: the lines of its pages, checkpoints, events, and what the repository says.

All of it is ranked together by the product's one ranking. An item answers only where it has the word of the question
that tells most, and enough of the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log
from typing import NamedTuple

from memory.base.words import camel_parts, stem, terms
from memory.search.searcher import Text, rank

from .analysis.passages import Fact, is_for_work
from .analysis.tree import stem_of
from .files.model import EVENTS, NO_FOCUS, Json, is_echo
from .files.reading import StateFiles, checkpoint_path
from .intents import COMMANDS, Asked, says_little, spelled
from .parts import texts_of
from .projections import SOURCE, literal, path_of, render_projections

MAPPED = ("module", "entry point", "program")
"""The topics of the parts of the project map."""
NOTHING_SAID = re.compile(
    r"\A`[^`]*`(?: \(.*?\))?(?::(?: (?:Declares )?`[^`]+`[,.]?(?: and \d+ more\.?)?)+)?\.?\Z"
    r"|`: (?:\d+ files use what it declares|[Cc]hanges most often|[Oo]ne of the sources that change)"
)
"""A part of the map of which nothing is said, or only what is in it."""
_MOST_CHECKPOINTS, _MOST_EVENTS = 5, 50


class Item(NamedTuple):
    """A piece of evidence: `kind` is bundle, checkpoint, event or repository, `topic` what it answers.

    `title` are its names, `said` is what answers, and `text` what else it holds. `file` and `line` (0: the whole file)
    are where that is, and `place` names the part.
    """

    id: str
    kind: str
    topic: str
    place: str
    file: str
    said: str
    title: str = ""
    text: str = ""
    created: str = ""
    line: int = 0


Hit = tuple[Item, float, tuple[str, ...]]
"""An item with its score, and the words of the question that it contains."""

# -- where it is from ---------------------------------------------------------------------------------------------

_LINES = (
    *((kind, f"{kind}: `") for kind in COMMANDS),
    ("needed version",
     r"Uses the .* edition|(?:Runs on|Is (?:developed|built) with|Needs|Requires|Targets|Compiles (?:for|as))\b.*\d"),
    ("integration", "Continuous integration"), ("language", "Ecosystem: |Uses [A-Z].* and "),
    ("package manager", "Package manager: "), ("workspace", "Workspace: "), ("tested with", "CI tests with"),
    ("before tests", "Before the tests"), ("services", "The tests in CI use"), ("parts tested", "In `"),
    ("hooks", "Before a commit"), ("told", "From `|CI (?:also )?runs |Before "),
    ("module", r"`[^`]*`(?: \(.*?\))?(?:: |$)"), ("note", ""),
)  # fmt: skip
"""The topics of the lines of the project map, each with the beginning of such a line."""
_STATE = {"Known risks": "risk", "Validation snapshot": "validation", "Suggested next actions": "suggested action"}
"""The topics of the sections of the page on the current focus; the others are the state."""
_ENTRIES = {"gotchas": ("gotcha", "Cause", "Correct path", "Symptom"),
            "next-steps": ("step", "Start", "Why", "Done when")}  # fmt: skip
"""The topic of the entries of a page, and their values in the order in which they answer."""
_SIGNALS = {
    "decisions": "decision",
    "gotchas": "gotcha",
    "nextStepHints": "step",
    "validationObservations": "validation",
}
_FACTS = frozenset(
    (*COMMANDS, *(topic for topic, _ in _LINES if topic not in ("module", "note")), "parts", "first files")
)
"""The topics of facts, which are found only where they are asked for, and of what documents and CI say better."""


def items_of(memory: StateFiles, scope: str) -> Iterator[Item]:
    """Yield all evidence: the pages and the newest checkpoints for the state, the last active events for the history.

    The archive is never searched.
    """
    if scope in ("state", "all"):
        yield from _of_bundle(memory.bundle, memory.state["generatedAt"])
        for checkpoint in memory.latest_checkpoints(_MOST_CHECKPOINTS):
            if not checkpoint["summary"].startswith(NO_FOCUS):  # it says nothing
                yield _of_checkpoint(checkpoint)
    if scope in ("history", "all"):
        for event in reversed(memory.events[-_MOST_EVENTS:]):
            yield from _of_event(event)


def _of_bundle(bundle: Json, created: str) -> Iterator[Item]:
    parts, pages = bundle["projectMap"], render_projections(bundle, "")
    numbers = Counter[str]()
    found = (item for name in ("project-map", "current-focus") for item in _of_page(name, pages[name], bundle))
    for item in (*found, *(one for name in _ENTRIES for one in _of_entries(name, pages[name]))):
        numbers[item.topic] += 1
        yield item._replace(id=f"{item.topic.replace(' ', '-')}-{numbers[item.topic]}", created=created)
    for topic, words, paths in (("first files", "Read first:", parts["firstFilesToRead"]),
                                ("parts", "The parts are", [one["path"] for one in parts["modules"]])):  # fmt: skip
        if paths:
            said = f"{words} {', '.join(f'`{path}`' for path in paths)}."
            yield Item(topic.replace(" ", "-"), "bundle", topic, f"bundle.{topic}", path_of("project-map"), said)


def _of_page(name: str, page: str, bundle: Json) -> Iterator[Item]:
    """Yield the lines of the project map, or of the page on the current focus."""
    entries = {one["path"] for one in bundle["projectMap"]["entrypoints"]}
    heading, lines = "", page.split("\n")
    for number, line in enumerate(lines, 1):
        text = literal(line.removeprefix("- "))
        topic, title = _STATE.get(heading, "state"), ""
        if line.startswith("## "):
            heading = line[3:]
        if line.startswith(("#", "<!--")) or not line or heading == "Validation commands":
            continue
        if name == "project-map" and not heading:
            topic, title, text = "project", bundle["project"]["name"], f"{bundle['project']['name']}: {text}"
        elif name == "project-map":
            topic = next(topic for topic, form in _LINES if re.match(form, text, re.IGNORECASE))
        elif not line.startswith("- "):
            if text.startswith(NO_FOCUS):
                continue
            topic, more = "focus", [one for one in lines[number : number + 2] if one.startswith("- ")]
            text = " ".join([text, *(literal(one[2:]) for one in more)])
        if topic == "module":
            path, called = text.split("`")[1], re.match(r"`[^`]*` \((.*?)\): ", text)
            title = "\n".join([*([called[1]] if called else []), path, stem_of(path)])
        part = Item("", "bundle", topic, f"{name}: {heading or 'summary'}", path_of(name), text, title, line=number)
        yield part
        if topic == "module" and path in entries:
            yield part._replace(topic="entry point")
            if re.search("`: The (?:command|program)", text):
                yield part._replace(topic="program")


def _of_entries(name: str, page: str) -> Iterator[Item]:
    """Yield the entries of a page, those that people and sessions recorded, and the rules of documents."""
    topic, *order = _ENTRIES[name]
    for block in re.finditer(r"^## (?:\d+\. )?(.*)\n\n((?:- .*\n?)+)", page, re.MULTILINE):
        values = dict(one.split(": ", 1) for one in re.findall(r"^- (\w[\w ]*: .*)", block[2], re.MULTILINE))
        title, line = literal(block[1]), page.count("\n", 0, block.start()) + 1
        told = [literal(values[one]) for one in order if one in values and not SOURCE.match(values[one])]
        # The title may be the beginning of what it is about.
        said = told[0] if told and told[0].startswith(title.rstrip("…")) else ": ".join([title, *told[:1]])
        place, more = f"{name}: {title}", "\n".join(told[1:])
        yield Item("", "bundle", topic, place, path_of(name), said, title, more, line=line)
    for block in re.finditer(r"^(Written in .*)\n\n((?:- .*\n?)+)", page, re.MULTILINE):
        first = page.count("\n", 0, block.start(2)) + 1
        for number, line in enumerate(block[2].splitlines(), first):
            said = literal(line[2:])
            yield Item("", "bundle", "rule", f"{name}: {block[1]}", path_of(name), said, line=number)


def _of_checkpoint(checkpoint: Json) -> Item:
    name, created, bundle = checkpoint["id"], checkpoint["createdAt"], checkpoint["bundle"]
    text = "\n".join(texts_of([bundle["currentFocus"], bundle["gotchas"], bundle["nextSteps"]]))
    about = name, "checkpoint", "checkpoint", f"checkpoint:{name}", checkpoint_path(name)
    return Item(*about, checkpoint["summary"], "", text, created)


def _of_event(event: Json) -> Iterator[Item]:
    """Yield the signals of an event, unless it was written along with a bundle, and the event itself."""
    name, created = event["id"], event["createdAt"]

    def item(said: str, topic: str) -> Item:
        return Item(name, "event", topic, f"event:{name}", EVENTS, said, event["summary"], "", created)

    if not is_echo(event):
        for kind, topic in _SIGNALS.items():
            yield from (item(text, topic) for text in event["signals"][kind])
    yield item(event["summary"], "event" if is_echo(event) else "said")


def looked_up(fact: Fact, topic: str) -> Item:
    """Return what the repository says as an item."""
    return Item(topic, "repository", topic, topic, fact.file, fact.said, fact.title, line=fact.line)


# -- which says most ----------------------------------------------------------------------------------------------

_LEAST, _RARE, _SOME = 0.55, 0.42, 0.3
"""The share of the words of a question that an item must have, one that itself has the word that tells most, and a
part of the map where a place is asked for.
"""
_WEIGHTS = {"event": 0.9, "checkpoint": 0.5, "rule": 0.9}
"""The weight of the score of an item by its kind or topic; 1 by default. A rule is better told by its document."""
_ASIDE, _LISTED, _ABOVE = 0.75, 0.9, 0.9
"""The weight of a document for users, of a whole list, and of an item of which only the headings have the word that
tells most.
"""
_REQUEST, _IN_TITLE, _ALIKE = 0.35, 0.6, 0.6
"""The worth of a word with which people say what to do, of one that only the headings have, of one for the same."""
_COMMAND = re.compile(r"(?:\A|: )`[^`]+`(?:; `[^`]+`)*\Z|\A`[^`]+`: `")
_ENDING = "(?:ies|ied|ally|ly|ing|ed|es|s|e|y|d)"
"""The ends of words that do not make it another word."""


def answering(items: Iterable[Item], passages: Iterable[Fact], asked: Asked) -> list[Item]:
    """Return what can answer a question that asks for no fact: items that say something, and the passages."""
    told = [one for one in items if one.topic not in _FACTS and not NOTHING_SAID.search(one.said)]
    # What a part is tells no way to do something, and the subject of a commit no place.
    told = [one for one in told if not (asked.is_how and one.topic in (*MAPPED, "project"))]
    told = [one for one in told if not (asked.is_how or asked.is_place) or one.topic not in ("state", "focus")]
    return [*told, *(looked_up(one, "command" if _COMMAND.search(one.said) else one.kind) for one in passages)]


def best_of(told: Sequence[Item], asked: Asked) -> list[Hit]:
    """Return what says most of a question, the best first."""
    texts = [
        Text(spelled(f"{one.title} {words_of(one.file)}"), spelled(f"{one.said}\n{one.text}"), one.created[:10])
        for one in told
    ]
    hits = rank(" ".join(asked.words), texts, len(texts))
    counts = Counter(word for hit in hits for word, _ in hit.why)
    worth = {
        word: log(1 + len(told) / (1 + counts[word])) * (_REQUEST if says_little(word) else 1) for word in asked.words
    }
    rarest = max(asked.telling, key=worth.__getitem__, default="")
    found: list[Hit] = []
    for hit in hits:
        item, have = told[hit.entry.line], dict(hit.why)
        exact = {stem(one) for one in terms(spelled(f"{item.title} {item.said} {item.text}"))}
        shares = (
            worth.get(word, 0) * (_IN_TITLE if place == "title" else 1) * (1 if stem(word) in exact else _ALIKE)
            for word, place in have.items()
        )
        share = sum(shares) / (sum(worth.values()) or 1)
        fits = asked.fits(item.said, item.topic == "command")
        own = any("text" in place for place in have.values()) or item.topic == "command" or fits > 1
        # What says little has to be there whole.
        own = own and (asked.tells or len(have) >= len(asked.words))
        itself = any(one.startswith(stem(rarest)) for one in exact)
        least = 2.0 if rarest not in have else _RARE if itself else _LEAST
        least = _SOME if asked.is_where and item.topic in MAPPED else least
        if own and fits and _names(item, asked) and share >= least:
            fits *= _weight(item, asked) * (_ABOVE if have.get(rarest) == "title" else 1)
            score = (hit.score + 2 * share) / 3 * fits
            found.append((item, score, tuple(have)))
    return sorted(found, key=lambda hit: -hit[1])


def _names(item: Item, asked: Asked) -> bool:
    """Return whether an item has the version that a question names, and its one word, not another of the same stem."""
    text = spelled(f"{item.title} {item.said} {item.text}")
    if asked.version and not re.search(asked.version.replace(".", "[.]?"), text):
        return False
    word = asked.telling[0] if len(asked.telling) == 1 and not says_little(asked.telling[0]) else ""
    bare = re.sub(f"{_ENDING}$", "", word)
    form = re.compile(rf"{re.escape(bare)}(?:{re.escape(bare[-1:])})?{_ENDING}?")
    alike = (one for one in terms(text) if form.fullmatch(one) or (word.startswith(one) and stem(one) == stem(word)))
    return not word or item.kind != "repository" or any(alike)


def _weight(item: Item, asked: Asked) -> float:
    is_aside = item.kind == "repository" and not is_for_work(item.file)
    weight = _WEIGHTS.get(item.kind, 1.0) * _WEIGHTS.get(item.topic, 1.0) * (_ASIDE if is_aside else 1.0)
    return weight * ((_LISTED if asked.is_what else _LISTED / 2) if item.topic == "list" else 1.0)


def words_of(path: str) -> str:
    """Return the words of a path."""
    words = re.findall(r"[A-Za-z0-9]+", path)
    return " ".join(part for word in words for part in (word, *camel_parts(word)))
