"""Answers questions about the state, its history and the repository by the best evidence; no model is asked.

A question is understood by the table of intents, each of which names the facts that answer it, or as one about a name
in the repository. All other questions are answered by the product's one ranking. Function words are no evidence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import takewhile
from math import log
from typing import NamedTuple

from memory.base.words import camel_parts, content_words, is_request, stem, terms, tokens
from memory.errors import UsageError
from memory.search.searcher import Text, rank

from . import intents
from .analysis.documents import some_sentences
from .analysis.lookups import Lookups
from .analysis.passages import Fact, is_for_work
from .analysis.tree import folded_name, is_document, stem_of
from .files.model import EVENTS, NO_FOCUS, NOT_SAID, STATE, Json, is_echo
from .files.reading import StateFiles, checkpoint_path
from .intents import MODES, Intent, Mode, mode_of
from .projections import SOURCE, code, inline, path_of, render_projections

QUERY_SCOPES = ("state", "history", "all")
MOST, MOST_CHECKPOINTS, MOST_EVENTS = 8, 5, 50
NOT_ENOUGH = "There is not enough evidence to answer this."
_QUOTED, _LONGEST = 3, 320
_LEAST, _SOME = 0.55, 0.3
"""The share of the words of a question that an item must have, and a part of the map where a place is asked for."""
_TOLD_BETTER = re.compile(r"From `|CI runs|Before |In `")
"""The notes on what a document or CI runs, which says it better itself."""
_NO_WAY = re.compile(r"(?:module|area|entry point|project): |state: (?:Since|Not released yet)")
"""What is no way to do something."""
_COMMAND = re.compile(r"(?:\A|: )`[^`]+`(?:; `[^`]+`)*\Z|\A`[^`]+`: `")
_SURE = 0.6
"""The score from which one word of several is enough."""
_SINGLE = re.compile(r"\b(?:single|one|specific|individual|particular)\b", re.IGNORECASE)
_FITTING, _OTHER_FORM, _PROSE, _ASIDE = 1.25, 0.6, 0.6, 0.75
"""The weight of a sentence in the form that is asked for, of a command where none is, of a sentence where a command is,
and of one in a document for users."""
_LISTED, _LIST = 0.9, re.compile(r": [^:]*; [^:]*; ")
_REQUEST, _IN_TITLE, _ALIKE = 0.5, 0.6, 0.6
"""The worth of a word with which people say what to do, of one that only the headings have, and of one for the same."""
_VERSION = re.compile(r"(?<![\w.>=<~^])v?(\d+(?:\.\d+)*)(?![\w.])", re.IGNORECASE)
_IN_VERSION = re.compile(
    r"\b(?:since|new|fix(?:es|ed)?|add(?:s|ed)?|removed?|br(?:oke|eaking)|coming|differ\w*)\b", re.IGNORECASE
)
_WEIGHTS = {"event": 0.9, "checkpoint": 0.5}
"""The weight of the score of an item by its kind; 1 by default."""


class QueryItem(NamedTuple):
    """A piece of evidence: `kind` is bundle, checkpoint, event or repository, `topic` what it answers.

    `title` are its names, `said` is what answers, and `text` what else it holds. `file` is where it is shown.
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
    asked = _Question(memory, question, scope)
    chosen: Mode = next((one for one in MODES if one == mode), mode_of(question))
    hits = asked.hits(chosen)
    # A checkpoint may repeat the bundle: the first item that says it is cited.
    quoted: dict[str, str] = {}
    for item, _, _ in hits:
        # Of two names that are compared both are told.
        said = item.said if item.topic == "named" else some_sentences(item.said, _LONGEST)
        quoted.setdefault(item.said, f"{said} [{item.id}, {item.file}]")
    why = f"nothing in the scope {scope} is about it"
    for item, _, words in hits[:1]:
        why = f"{item.place} " + (f"has {', '.join(words)}" if words else "is what the question asks for")
    return {
        "question": question,
        "mode": chosen,
        "scope": scope,
        "enoughEvidence": bool(hits),
        "answer": "\n".join(list(quoted.values())[:_QUOTED]) or NOT_ENOUGH,
        "why": f"{why}; mode {chosen}",
        "citations": [_citation(*hit) for hit in hits],
    }


def _citation(item: QueryItem, score: float, words: Sequence[str]) -> Json:
    return {
        "sourceId": item.id,
        "sourceType": item.kind,
        "pathOrSection": item.place,
        "projectionPath": item.file if item.kind == "bundle" and item.file != STATE else None,
        "file": item.file,
        "createdAt": item.created or None,
        "summary": item.said,
        "score": round(score, 3),
        "words": list(words),
    }


class _Question:
    """A question, the evidence of the state, and what the repository says."""

    def __init__(self, memory: StateFiles, question: str, scope: str) -> None:
        self.text, self.lookups = question.strip(), Lookups(memory.root)
        self.items = list(items_of(memory, scope))
        self.scope = scope
        self.project = memory.bundle["project"]["name"] if scope != "history" else ""

    def hits(self, mode: Mode) -> list[_Hit]:
        """Return the best items: the facts that are asked for, or the passage that says it, then what is ranked."""
        meant = [one for one in intents.INTENTS if mode in ("answer", one.mode) and one.form.search(self.text)]
        # No fact is a reason.
        meant = [] if mode == "answer" and self.text.lower().startswith("why") else meant
        found = self._facts(meant, mode)
        needed = intents.NEEDED in [one.topics for one in meant]
        branch = intents.BRANCH.search(self.text)
        told = self._evidence
        if needed and not found:
            # The version stands behind the name; work that mentions it says nothing of that.
            near = [re.compile(rf"{word}\W*(?:\w+\W+){{0,3}}v?\d", re.IGNORECASE) for word in self._named_runtimes]
            told = [hit for hit in told if hit[0].kind == "repository" and all(one.search(hit[0].said) for one in near)]
        if branch:
            told = [one for one in told if "branch" in one[0].said.lower()]
        if intents.SINGLE in [one.topics for one in meant[:1]]:
            told = [one for one in told if _SINGLE.search(f"{one[0].title} {one[0].said}") and _runs(one[0].said)]
        if mode != "answer":
            topics = dict.fromkeys(topic for one in intents.INTENTS if one.mode == mode for topic in one.topics)
            found = found or [one for one in told if one[0].topic in topics]
            # What was asked for beside the mode has to be in it; a version that no change log has did not change now.
            fact = not meant or any(not self._rest(one) for one in meant[:1])
            plain = fact and not _VERSION.search(self.text)
            found = found or ([(one, 1.0, ()) for one in self._on(list(topics))] if plain else [])
        elif found and "usual" in found[0][0].said:
            # What is only usual loses against what the repository itself calls so.
            found = [*(one for one in told if self._is_called(one[0], found[0][0].topic)), *found]
        elif found and self._asks_how and told and found[0][0].topic in _COMMANDS:
            # So does one that has not all words of the question.
            words = {stem(one) for one in content_words(self.text) if not self._is_minor(one) and not is_request(one)}
            all_in = words <= {stem(one) for one in told[0][2]} and _runs(told[0][0].said)
            found = [
                *(told[:1] if all_in and not words <= {stem(one) for one in tokens(found[0][0].said)} else []),
                *found,
            ]
        elif not (found or told) and self.scope != "history":
            found = self._named(near=True) if intents.ABOUT.search(self.text) else []
            found = found or [(_looked_up(one, "branch"), 1.0, ()) for one in self.lookups.of("branch") if branch]
        known = {hit[0].said for hit in found}
        return [*found, *(one for one in told if one[0].said not in known)][:MOST]

    def _facts(self, meant: Sequence[Intent], mode: Mode) -> list[_Hit]:
        """Return what a name in code means, else what a version changed, else the facts of the first intent that has
        any, else the version of a package, else what any other name means.
        """
        # What is asked for with no other word is asked for by the first intent alone.
        only = next((place for place, one in enumerate(meant) if not self._rest(one)), len(meant))
        ways: list[Callable[[], list[_Hit]]] = [partial(self._answers, one) for one in meant[: only + 1]]
        version, newest = _VERSION.search(self.text), mode == "changes" and intents.NEWEST.search(self.text)
        told = mode == "changes" or (mode == "answer" and _IN_VERSION.search(self.text) and "branch" not in self.text)
        if self.scope != "history" and told and (version or newest):
            found = self.lookups.changes_in(version[1] if version else "")
            ways.insert(0, lambda: [(_looked_up(one, "version"), 1.0, ()) for one in found])
        if mode == "answer" and self.scope != "history":
            about = intents.ABOUT.search(self.text) is not None
            ways = [self._named, *ways] if about and intents.CODE.search(self.text) else ways
            where = self.text.lower().startswith("where")
            ways += (
                [self._required]
                if "version" in self.text.lower()
                else [partial(self._named, near=where)]
                if about
                else []
            )
        return next(filter(None, (way() for way in ways)), [])

    def _is_called(self, item: QueryItem, topic: str) -> bool:
        """Return whether a command is called what the question asks for: by its name, its step, or its comment."""
        words = {stem(one) for one in content_words(self.text) if stem(one) not in intents.NEUTRAL}
        title = {stem(one) for one in content_words(item.title.rpartition("\n")[2]) if stem(one) not in intents.NEUTRAL}
        single = topic != "single test" or _SINGLE.search(f"{item.title} {item.said}") is not None
        return item.topic == "command" and single and words <= title and len(title - words) <= len(words)

    @cached_property
    def _evidence(self) -> list[_Hit]:
        """The passages of the repository, and what the state says beside facts, that say most of the question."""
        text = re.sub(r"\bPRs?\b", "pull request", self.text)
        version = _VERSION.search(self.text)
        every = content_words(_VERSION.sub(" ", text) if version else text)
        # What says little is asked for only where nothing else is.
        words = [word for word in every if not self._is_minor(word)] or every
        items = [
            one
            for one in self.items
            if one.topic not in _FACTS
            and not _NOTHING_SAID.search(one.said)
            and not (self._asks_how and _NO_WAY.match(f"{one.topic}: {one.said}"))
            and not _TOLD_BETTER.match(one.said)
        ]
        if self.scope != "history":
            items += [
                _looked_up(one, "command" if _COMMAND.search(one.said) else "passage")
                for one in self.lookups.passages()
            ]
        texts = [
            Text(f"{one.title} {_words_of(one.file)}", f"{one.said}\n{one.text}", one.created[:10]) for one in items
        ]
        hits = rank(" ".join(words), texts, len(texts))
        counts = Counter(word for hit in hits for word, _ in hit.why)
        worth = {
            word: log(1 + len(items) / (1 + counts[word])) * (_REQUEST if is_request(word) else 1) for word in words
        }
        telling = [word for word in words if not is_request(word)]
        rarest = max(telling or words, key=worth.__getitem__, default=None)
        found, where = list[_Hit](), self.text.lower().startswith("where")
        for hit in hits:
            item, have = items[hit.entry.line], dict(hit.why)
            exact = {stem(one) for one in terms(f"{item.title} {item.said}")}
            share = sum(
                worth[word] * (_IN_TITLE if place == "title" else 1) * (1 if stem(word) in exact else _ALIKE)
                for word, place in have.items()
                if word in worth
            )
            share /= sum(worth.values()) or 1
            if version and not re.search(version[1].replace(".", "[.]?"), f"{item.title} {item.said}"):
                continue
            fits = self._fits(item)
            own = any("text" in place for place in have.values()) or item.topic == "command" or fits > 1
            if len(telling) == 1 and rarest in have:
                # One word alone tells something only where it is that word, and not another one of its stem.
                own = (
                    own
                    and re.search(
                        re.sub(f"{_ENDING}$", "", telling[0]) + f"{_ENDING}?\\b", f"{item.title} {item.said}", re.I
                    )
                    is not None
                )
            mapped = where and item.topic in _MAPPED and share >= _SOME
            if fits and own and (mapped or (rarest in have and share >= _LEAST)):
                score = (hit.score + 2 * share) / 3 * _WEIGHTS.get(item.kind, 1.0) * fits
                found.append((item, score, tuple(have)))
        return sorted(found, key=lambda hit: -hit[1])

    def _fits(self, item: QueryItem) -> float:
        """Return how well the form of an item fits that of the question."""
        is_command = item.topic == "command"
        weight = 1.0 if item.kind != "repository" or is_for_work(item.file) else _ASIDE
        weight *= _LISTED if _LIST.search(item.said) or (is_command and not is_document(item.file)) else 1.0
        if self._asks_how:
            return weight * (_FITTING if is_command else 1.0 if _runs(item.said) else _PROSE)
        if is_command and _NO_COMMAND_ASKED.match(self.text):
            return 0.0
        said = next((said for asked, said in _FORMS if asked.search(self.text)), None)
        fits = said is not None and said.search(item.said)
        is_other = is_command and re.match("how ", self.text, re.IGNORECASE) is None
        return weight * (_OTHER_FORM if is_other else 1.0) * (_FITTING if fits else 1.0)

    def _is_minor(self, word: str) -> bool:
        """Return whether a word of the question is about nothing in particular."""
        return stem(word) in intents.NEUTRAL | self._own

    @cached_property
    def _own(self) -> set[str]:
        """The stems of the words of the project's own name."""
        return {stem(word) for word in (*tokens(self.project), *tokens(self.project.rpartition("/")[2]))}

    def _answers(self, intent: Intent) -> list[_Hit]:
        """Return the items on the topics of an intent that have all other words of the question."""
        rest = self._rest(intent)
        if rest and intent.topics in (("project",), ("program",)):
            return []
        needs = self._named_runtimes if intent.topics == intents.NEEDED else []
        return [
            (one, 1.0, tuple(sorted(rest)))
            for one in self._on(intent.topics)
            if all(re.search(word, one.said, re.IGNORECASE) for word in needs) and _share(one, rest) == 1
        ]

    @cached_property
    def _asks_how(self) -> bool:
        """Whether the question asks for a way to do something."""
        form = r"\bhow (?:do|can|to|should|would)\b|\bcommand\b"
        return re.search(form, self.text, re.IGNORECASE) is not None

    @cached_property
    def _named_runtimes(self) -> list[str]:
        """The languages and tools that the question names, each as the word for it in the facts."""
        names = intents.RUNTIMES.items()
        return [word for form, word in names if re.search(rf"(?<!\w)(?:{form})(?!\w)", self.text, re.IGNORECASE)]

    def _required(self) -> list[_Hit]:
        """Return which version the project needs of a package that the question names."""
        rest = self._rest(None)
        found = ((word, one) for word in rest for one in self.lookups.requirement(word))
        return [(_looked_up(one, "requirement"), 1.0, (word,)) for word, one in found]

    def _rest(self, intent: Intent | None) -> set[str]:
        """Return the words of the question that are about something, except those by which an intent asks."""
        text = self.text
        if intent is not None:
            # What is between the first and the last word of a form may be what it is about.
            text = intent.form.sub(lambda found: f" {' '.join(found[0].split()[1:-1])} ", text)
        if intent is not None and intent.topics == intents.NEEDED:
            text = re.sub(intents.RUNTIME, " ", text, flags=re.IGNORECASE)
        return {word for word in content_words(text) if stem(word) not in intents.NEUTRAL | self._own}

    def _on(self, topics: Sequence[str]) -> Iterator[QueryItem]:
        """Yield the items on some topics, topic by topic, and then what the repository says on them."""
        for topic in topics:
            yield from (one for one in self.items if one.topic == topic)
            if self.scope != "history":
                yield from (_looked_up(fact, topic) for fact in self.lookups.of(topic))

    def _named(self, near: bool = False) -> list[_Hit]:
        """Return what the name in the question means: a part of the project map, a declaration, a file or folder;
        with `near` also what has the words of the name in its path.
        """
        asked = intents.ABOUT.sub(" ", self.text)
        names = [one[1] or one[0] for one in intents.NAME.finditer(asked) if intents.is_name(one[0])]
        every = content_words(intents.KIND.sub(" ", asked))
        words = [one for one in every if stem(one) not in intents.NEUTRAL or one in names]
        if not (words or names):
            return []
        named = {folded_name(one): one for one in (" ".join(words), " ".join(every), *reversed(names))}
        names = list(reversed(named.values()))
        found: dict[str, QueryItem] = {}
        for look in (self._exactly, *([self.lookups.near] if near else [])):
            for one in (one for name in names if name for one in look(name)):
                fact = one if isinstance(one, QueryItem) else _looked_up(one, "named")
                found.setdefault(fact.said, fact)
        where = self.text.lower().startswith("where")
        told = [
            one for one in found.values() if not _NOTHING_SAID.search(one.said) or (where and "Nothing" not in one.said)
        ]
        if where and not told:
            told = [_looked_up(one, "named") for one in self.lookups.declaring(words)]
        if len(names) > 2 and " and " in asked:
            # Two names are compared: the first fact of each is told.
            firsts = [next((one.said for one in found.values() if one.title == name), "") for name in names]
            told[:1] = [told[0]._replace(said=" ".join(filter(None, firsts)))] if told and any(firsts) else told[:1]
        return [(one, 1.0, tuple(words)) for one in told[:MOST]]

    def _exactly(self, name: str) -> Iterator[QueryItem | Fact]:
        """Yield what has just this name, in the project map and the repository; what is written alike comes first."""
        titled = [(one, one.title.split("\n")) for one in self.items if one.topic in _MAPPED]
        mapped = [(one, titles) for one, titles in titled if folded_name(name) in map(folded_name, titles)]
        yield from (one for one, titles in mapped if name in titles and "`: Declares " not in one.said)
        facts = list(self.lookups.about(name))
        yield from takewhile(lambda one: ", declares `" in one.said, facts)
        yield from (one for one, _ in mapped)
        yield from facts


_NOTHING_SAID = re.compile(r"\A`[^`]*`\.?\Z|Nothing in the repository describes")
_FACTS = frozenset((
    "single test", "test", "lint", "types", "format", "build", "set up", "validate", "needed version", "tested with",
    "before tests", "services", "parts tested", "integration", "hooks", "language", "package manager", "workspace",
    "path", "parts", "first files",
))  # fmt: skip
"""The topics of facts, which are found only where they are asked for."""
_ENDING = "(?:ies|ied|ally|ly|ing|ed|es|s|e|y|d)"
"""The ends of words that do not make it another word."""
_NO_COMMAND_ASKED = re.compile(r"why|where|what (?:is|are)\b(?!.*\bcommand)", re.IGNORECASE)
_FORMS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(said, re.IGNORECASE))
    for asked, said in (
        (r"\bhow (?:high|many|much|long|often|large|big)\b|\b(?:minimum|threshold|limit)\b",
         r"(?<![\w.`])\d[\d.]*%?(?![\w.]*\w)"),
        (r"\bwhat (?:must|should|do|steps)\b.*\b(?:before|when)\b", r";.*;"),
        (r"\Awhy\b|\breason\b", r"\b(?:because|since|so that|due to|in order to|otherwise|rel(?:y|ies))\b"),
        (r"\b(?:may|must|should|can|could|do|need) (?:i|we|one|contributors?|it|my)\b|\ballowed\b|\baccept\w*\b"
         r"|\bbranch\b|\A(?:is|are|does|do|will)\b",
         r"\b(?:must|should|please|never|don['’]t|not|only|need|requir\w+|avoid|recommend\w*|cannot|against)\b"),
        (r"\bwh(?:at|ich)\b.*\b(?:need\w*|requir\w*|prerequisites|depend\w*)\b",
         r"\A(?!.*n['’]t need).*\b(?:need|requir|depend|install|prerequisite)"),
    )
)  # fmt: skip
"""The forms of questions, each with the words by which a sentence answers it."""
_MAPPED = ("module", "entry point", "program", "area", "path")


def _share(item: QueryItem, words: set[str]) -> float:
    """Return the share of the words that an item has in any form; 1 where there is no word."""
    wanted = {stem(word) for word in words}
    told = {stem(word) for word in tokens(f"{item.title} {item.said} {item.text}")}
    return len(wanted & told) / len(wanted) if wanted else 1.0


def _runs(said: str) -> bool:
    """Return whether a sentence says something that can be run."""
    return any(re.search(r"\w[ /]", one) for one in re.findall(r"`([^`]+)`", said))


def _words_of(path: str) -> str:
    """Return the words of a path."""
    words = re.findall(r"[A-Za-z0-9]+", path)
    return " ".join(part for word in words for part in (word, *camel_parts(word)))


def _looked_up(fact: Fact, topic: str) -> QueryItem:
    return QueryItem(topic, "repository", topic, topic, fact.file, fact.said, fact.title)


# -- what can answer ----------------------------------------------------------------------------------------------

_COMMANDS = ("single test", "test", "lint", "types", "format", "build", "set up")
"""The kinds of commands, as their labels and the notes of the analysis begin."""
_NOTES = (
    *((kind, f"{kind}: ") for kind in _COMMANDS),
    ("needed version",
     r"Uses the .* edition|(?:Runs on|Is (?:developed|built) with|Needs|Requires|Targets|Compiles (?:for|as))\b.*\d"),
    ("integration", "Continuous integration"), ("language", "Uses [A-Z].* and "), ("tested with", "CI tests with"),
    ("before tests", "Before the tests"), ("services", "The tests in CI use"), ("parts tested", "In `"),
    ("hooks", "Before a commit"), ("note", ""),
)  # fmt: skip
"""The topics of the notes of the analysis, each with their beginning."""
_PARTS = (
    ("project.packageManager", "package manager", "packageManager", "", "The package manager is {text}."),
    ("project.workspaceManager", "workspace", "workspaceManager", "", "The workspace is managed by {text}."),
    ("project.primaryEcosystem", "language", "primaryEcosystem", "", "The language or ecosystem is {text}."),
    ("project.keyPaths", "path", "path", "{text}", "`{text}` is a key path."),
    ("projectMap.modules", "module", "module", "{name}\n{path}\n{stem}", "`{path}`: {responsibility}"),
    ("projectMap.entrypoints", "entry point", "entrypoint", "{path}\n{stem}", "`{path}`: {role}"),
    ("projectMap.denseSourceAreas", "area", "area", "{path}\n{stem}", "`{path}`: {note}"),
    ("projectMap.architectureNotes", "note", "note", "", "{text}"),
    ("currentFocus.currentState", "state", "state", "", "{text}"),
    ("currentFocus.knownRisks", "risk", "risk", "", "{text}"),
    ("currentFocus.suggestedNextActions", "suggested action", "suggested-action", "", "{text}"),
)  # fmt: skip
"""The values and lists of the bundle: the topic and the id of one, its names, and what it says."""
_ENTRIES = (("gotcha", "gotchas", ("cause", "correctPath", "symptom")), ("step", "nextSteps", ("start", "why", "done")))
_IDS = {"step": "next-step"}
_SIGNALS = {
    "decisions": "decision",
    "gotchas": "gotcha",
    "nextStepHints": "step",
    "validationObservations": "validation",
}
_FILES = {"gotcha": "gotchas", "step": "next-steps", "focus": "current-focus", "validation": "current-focus",
          "state": "current-focus", "risk": "current-focus", "suggested action": "current-focus"}  # fmt: skip
"""The projection that shows a topic; the project map, where nothing else is said."""


def items_of(memory: StateFiles, scope: str) -> Iterator[QueryItem]:
    """Yield all evidence: the bundle and the newest checkpoints for the state, the last active events for the history.

    The archive is never searched.
    """
    if scope in ("state", "all"):
        yield from _of_bundle(memory.bundle, memory.state["generatedAt"])
        for checkpoint in memory.latest_checkpoints(MOST_CHECKPOINTS):
            if not checkpoint["summary"].startswith(NO_FOCUS):  # it says nothing
                yield _of_checkpoint(checkpoint)
    if scope in ("history", "all"):
        for event in reversed(memory.events[-MOST_EVENTS:]):
            yield from _of_event(event)


def _of_bundle(bundle: Json, created: str) -> Iterator[QueryItem]:
    pages = render_projections(bundle, "")

    def item(name: str, topic: str, place: str, said: str, proof: str, title: str = "", text: str = "") -> QueryItem:
        page = _FILES.get(topic, "project-map")
        # What its page leaves out is shown by the state alone.
        shown = path_of(page) if proof in pages[page] else STATE
        return QueryItem(name, "bundle", topic, f"bundle.{place}", shown, said, title, text, created)

    project, focus = bundle["project"], bundle["currentFocus"]
    said = f"{project['name']}: {project['summary']}"
    yield item("project", "project", "project.summary", said, inline(project["summary"]), project["name"])
    for number, one in enumerate(bundle["validationCommands"]):
        labels = (one["label"].lower(), one["purpose"].lower())
        topic = next((kind for about in labels for kind in _COMMANDS if kind in about), "validate")
        run, place = code(" ".join(one["command"])), f"validationCommands[{number}]"
        yield item(f"command-{number + 1}", topic, place, f"{run}: {one['purpose']}", run, one["label"])
    for topic, key, names in _ENTRIES:
        # What people and sessions recorded comes before the rules of documents.
        recorded = sorted(enumerate(bundle[key], 1), key=lambda one: SOURCE.match(one[1].get("cause", "")) is not None)
        for number, one in recorded:
            told = [text for name in names if (text := one[name]) not in (NOT_SAID, "-") and not SOURCE.match(text)]
            # A rule is told whole by its way out, of which the title may be the beginning.
            is_whole = bool(told) and told[0].startswith(one["title"].rstrip("…"))
            said, rest = told[0] if is_whole else ": ".join([one["title"], *told[:1]]), "\n".join(told[1:])
            name, place, title = f"{_IDS.get(topic, topic)}-{number}", f"{key}.{one['title']}", one["title"]
            yield item(name, topic, place, said, inline(title.rstrip("…")), title, rest)
    for where, topic, name, titles, said in _PARTS:
        section, _, key = where.partition(".")
        found = bundle[section][key]
        for number, one in enumerate([found] if isinstance(found, str) else found):
            if found in ("none", "unknown"):
                continue
            values = {"text": one} if isinstance(one, str) else {**one, "stem": stem_of(one["path"])}
            text, about = said.format_map(values), topic
            if topic == "note":
                about = next(about for about, start in _NOTES if re.match(start, text, re.IGNORECASE))
            path = values.get("path", one if topic == "path" else "")
            proof = code(path) if path else inline(one.partition(": ")[2] if topic == "state" and ": " in one else one)
            part = item(f"{name}-{number + 1}", about, f"{where}[{number}]", text, proof, titles.format_map(values))
            yield part
            if topic == "entry point" and re.search("`: The (?:command|program)", text):
                yield part._replace(topic="program")
    if paths := bundle["projectMap"]["firstFilesToRead"]:
        said, place = f"Read first: {_paths(paths)}.", "projectMap.firstFilesToRead"
        yield item("first-files", "first files", place, said, code(paths[0]))
    if modules := bundle["projectMap"]["modules"]:
        said = f"The parts are {_paths(one['path'] for one in modules)}."
        yield item("modules", "parts", "projectMap.modules", said, code(modules[0]["path"]))
    if not focus["summary"].startswith(NO_FOCUS):
        said = " ".join([focus["summary"], *focus["currentState"][:1]])
        yield item("current-focus", "focus", "currentFocus.summary", said, inline(focus["summary"]))
    snapshot = focus["validationSnapshot"]
    if snapshot["status"] != "not-run":
        said = f"{snapshot['status'].capitalize()} at {snapshot['validatedAt']}: {snapshot['summary']}"
        yield item("validation", "validation", "currentFocus.validationSnapshot", said, inline(snapshot["summary"]))


def _paths(paths: Iterable[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths)


def _of_checkpoint(checkpoint: Json) -> QueryItem:
    bundle, name, said = checkpoint["bundle"], checkpoint["id"], checkpoint["summary"]
    lines = [bundle["currentFocus"]["summary"], *bundle["currentFocus"]["currentState"]]
    lines += [f"{one['title']}: {one['cause']}" for one in bundle["gotchas"]]
    lines += [f"{one['title']}: {one['start']}" for one in bundle["nextSteps"]]
    text, created, file = "\n".join(lines), checkpoint["createdAt"], checkpoint_path(name)
    return QueryItem(name, "checkpoint", "checkpoint", f"checkpoint:{name}", file, said, "", text, created)


def _of_event(event: Json) -> Iterator[QueryItem]:
    """Yield the signals of an event, unless it was written along with a bundle, and the event itself."""
    name, created = event["id"], event["createdAt"]

    def item(said: str, topic: str) -> QueryItem:
        return QueryItem(name, "event", topic, f"event:{name}", EVENTS, said, event["summary"], "", created)

    if not is_echo(event):
        for kind, topic in _SIGNALS.items():
            yield from (item(text, topic) for text in event["signals"][kind])
    yield item(event["summary"], "event" if is_echo(event) else "said")
