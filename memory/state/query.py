"""Answers questions about the state, its history and the repository by the best evidence; no model is asked.

A question is understood by the table of intents, each of which names the facts that answer it, or as one about a name
in the repository. All other questions are answered by the sentence, command or entry that says most of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import groupby, islice, takewhile

from memory.base.words import content_words, stem, tokens
from memory.errors import UsageError

from . import intents
from .analysis.documents import some_sentences
from .analysis.lookups import Lookups
from .analysis.passages import Fact
from .analysis.tree import folded_name, is_document, stem_of
from .evidence import MAPPED, NOTHING_SAID, Hit, Item, answering, best_of, items_of, looked_up, words_of
from .files.model import Json
from .files.reading import StateFiles
from .intents import COMMANDS, MODES, NEEDED, Asked, Intent, Mode, mode_of, runs, says_little, spelled

QUERY_SCOPES = ("state", "history", "all")
MOST = 8
NOT_ENOUGH = "There is not enough evidence to answer this."
_QUOTED, _LONGEST = 3, 320
_BEFORE = ("before tests", "set up")


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
    bare = intents.STATED.sub("", question)
    chosen: Mode = next((one for one in MODES if one == mode), mode_of(bare))
    hits = _Question(memory, bare, scope).hits(chosen)
    # A checkpoint may repeat the bundle: the first item that says it is cited.
    quoted: dict[str, str] = {}
    for item, _, _ in hits:
        # Of two names that are compared both are told.
        said = item.said if item.topic == "named" else some_sentences(item.said, _LONGEST)
        quoted.setdefault(item.said, f"{said} [{item.id}, {item.file}{f':{item.line}' if item.line else ''}]")
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


def _citation(item: Item, score: float, words: Sequence[str]) -> Json:
    return {
        "sourceId": item.id,
        "sourceType": item.kind,
        "pathOrSection": item.place,
        "projectionPath": item.file if item.kind == "bundle" else None,
        "file": item.file,
        "line": item.line or None,
        "createdAt": item.created or None,
        "summary": item.said,
        "score": round(score, 3),
        "words": list(words),
    }


class _Question:
    """A question, the evidence of the state, and what the repository says."""

    def __init__(self, memory: StateFiles, question: str, scope: str) -> None:
        self.lookups, self.items, self.of_now = Lookups(memory.root), list(items_of(memory, scope)), scope != "history"
        self.asked = Asked(question, memory.bundle["project"]["name"] if self.of_now else "")
        self.text = self.asked.text

    def hits(self, mode: Mode) -> list[Hit]:
        """Return the best items: the facts that are asked for, then what says most of the question."""
        asked, told = self.asked, self._told
        meant = [one for one in intents.INTENTS if mode in ("answer", one.mode) and one.form.search(self.text)]
        # No fact is a reason, and where CI is described is no way to do something.
        meant = [] if mode == "answer" and asked.is_why else meant
        meant = [one for one in meant if not (asked.is_how and one.topics[0] == "integration")]
        if asked.is_of_need:
            # Nor is a command what something needs, but what comes before it.
            meant = [one._replace(topics=_BEFORE) if one.topics[0] in COMMANDS else one for one in meant]
        found = self._facts(meant, mode)
        if asked.as_ci:
            found = [hit for hit in found if "`.github/" in hit[0].said]
            told = [hit for hit in told if hit[0].file.startswith(".github/")]
        branch = intents.BRANCH.search(self.text)
        if branch:
            told = [hit for hit in told if "branch" in hit[0].said.lower()]
        if intents.SINGLE in [one.topics for one in meant[:1]]:
            told = [hit for hit in told if runs(hit[0].said)]
        if NEEDED in [one.topics for one in meant] and not any(hit[0].topic == NEEDED[0] for hit in found):
            # The version follows the name; work that mentions it says nothing of that.
            near = [rf"(?i){form}\W*(?:\w+\W+){{0,3}}v?\d" for form in asked.runtimes.values()]
            told = [hit for hit in told if hit[0].kind == "repository"]
            told = [hit for hit in told if all(re.search(one, hit[0].said) for one in near)]
            told.sort(key=lambda hit: not intents.OR_NEWER.search(hit[0].said))
            found = [*(hit for hit in told[:1] if near and intents.NEEDS.search(hit[0].said)), *found]
        if mode != "answer":
            topics = dict.fromkeys(topic for one in intents.INTENTS if one.mode == mode for topic in one.topics)
            found = found or [hit for hit in told if hit[0].topic in topics]
            # What was asked for beside the mode has to be in it; a version that no change log has did not change now.
            plain = not asked.version and (not meant or any(not asked.rest(one) for one in meant[:1]))
            found = found or ([(one, 1.0, ()) for one in self._on(list(topics))] if plain else [])
        elif found:
            if "(usual)" in found[0][0].said and meant[0].topics == intents.SINGLE:
                # What a section on it says is better than what is usual.
                facts = (one for one in self.lookups.passages() if meant[0].form.search(one.title.rpartition("\n")[2]))
                items = (looked_up(one, "command") for one in facts if runs(one.said) and one.said.endswith("`"))
                found = [*((one, 1.0, ()) for one in islice(items, 2)), *found]
            found = [*(hit for hit in told[:3] if self._is_better(hit, found[0][0])), *found]
        elif not told and self.of_now:
            found = self._named(near=True) if asked.is_about else []
            last = "branch" if branch else "changelog" if intents.LOG_ENTRY.search(self.text) else ""
            found = found or [(looked_up(one, last), 1.0, ()) for one in self.lookups.of(last)]
        if not found and (section := self._section()) and section.title not in [hit[0].title for hit in told[:1]]:
            told = [(section, 1.0, ()), *told]
        known = {hit[0].said for hit in found}
        return [*found, *(hit for hit in told if hit[0].said not in known)][:MOST]

    @cached_property
    def _told(self) -> list[Hit]:
        """What says most of the question; a whole list where that is told by the line that leads to it."""
        items = answering(self.items, self.lookups.passages() if self.of_now else (), self.asked)
        hits = best_of(items, self.asked)
        for item, score, words in hits[:1]:
            lead = item.said.partition(": ")[0]
            had = {stem(one) for one in words} <= _stems(spelled(f"{lead} {item.title} {words_of(item.file)}"))
            lists = (one for one in items if had and one.topic == "list" and one.file == item.file)
            whole = next((one for one in lists if one.said.startswith(f"{lead}: ")), item)
            hits = [(whole, score, words), *(hit for hit in hits if hit[0] is not whole)]
        return hits

    def _facts(self, meant: Sequence[Intent], mode: Mode) -> list[Hit]:
        """Return what a name in code means, else what a version changed, else the facts of the first intent that has
        any, else the version of a package, else what any other name means.
        """
        asked = self.asked
        # What is asked for with no other word is asked for by the first intent alone.
        only = next((place for place, one in enumerate(meant) if not asked.rest(one)), len(meant))
        ways: list[Callable[[], list[Hit]]] = [partial(self._answers, one) for one in meant[: only + 1]]
        newest = mode == "changes" and intents.NEWEST.search(self.text)
        if self.of_now and (newest or (asked.version and (mode == "changes" or asked.is_of_change))):
            found = self.lookups.changes_in(asked.version)
            ways.insert(0, lambda: [(looked_up(one, "version"), 1.0, ()) for one in found])
        if mode == "answer" and self.of_now:
            named = partial(self._named, near=asked.is_where)
            ways = [self._named, *ways] if asked.is_about and intents.CODE.search(self.text) else ways
            ways += [self._required] if "version" in self.text.lower() else [named] if asked.is_about else []
        return next(filter(None, (way() for way in ways)), [])

    def _is_better(self, hit: Hit, fact: Item) -> bool:
        """Return whether an item fits better than a command among the facts: as it tells of the command that is asked
        about, or as a way to do something that has a word of the question which the command lacks.
        """
        item, words = hit[0], {stem(one) for one in self.asked.telling if not says_little(one)}
        if self.asked.is_about and self.asked.is_of_command(item.said):
            return not (fact.topic in COMMANDS and item.topic == "command")
        more = fact.topic in COMMANDS and self.asked.is_how and not words <= _stems(fact.said)
        return more and runs(item.said) and words <= {stem(one) for one in hit[2]}

    def _answers(self, intent: Intent) -> list[Hit]:
        """Return the items on the topics of an intent that have all other words of the question."""
        rest = self.asked.rest(intent)
        if rest and intent.topics in intents.WHOLE:
            return []
        needs = self.asked.runtimes if intent.topics == NEEDED else ()
        wanted = {stem(word) for word in rest}
        return [
            (one, 1.0, tuple(sorted(rest)))
            for one in self._on(intent.topics)
            if all(re.search(word, one.said, re.IGNORECASE) for word in needs)
            and wanted <= _stems(f"{one.title} {one.said} {one.text}")
        ]

    def _on(self, topics: Sequence[str]) -> Iterator[Item]:
        """Yield the items on some topics, topic by topic, and then what the repository says on them."""
        for topic in topics:
            yield from (one for one in self.items if one.topic == topic)
            if self.of_now:
                yield from (looked_up(fact, topic) for fact in self.lookups.of(topic))

    def _required(self) -> list[Hit]:
        """Return which version the project needs of a package that the question names."""
        found = ((word, one) for word in self.asked.rest(None) for one in self.lookups.requirement(word))
        return [(looked_up(one, "requirement"), 1.0, (word,)) for word, one in found]

    def _named(self, near: bool = False) -> list[Hit]:
        """Return what the name in the question means: a part of the project map, a declaration, a file or folder;
        with `near` also what has the words of the name in its path.
        """
        text = intents.ABOUT.sub(" ", self.text)
        names = [one[1] or one[0] for one in intents.NAME.finditer(text) if intents.NAMED.search(one[0])]
        every = content_words(intents.KIND.sub(" ", text))
        words = [one for one in every if stem(one) not in intents.NEUTRAL or one in names]
        if not (words or names):
            return []
        named = {folded_name(one): one for one in (" ".join(words), " ".join(every), *reversed(names))}
        names = list(reversed(named.values()))
        found: dict[str, Item] = {}
        for look in (self._exactly, *([self.lookups.near] if near else [])):
            for one in (one for name in names if name for one in look(name)):
                item = one if isinstance(one, Item) else looked_up(one, "named")
                found.setdefault(item.said, item)
        where = self.asked.is_where
        told = [one for one in found.values() if where or not NOTHING_SAID.search(one.said)]
        if where and not told:
            told = self._sources()
        if len(names) > 2 and " and " in text:
            # Two names are compared: the first fact of each is told.
            firsts = [next((one.said for one in found.values() if one.title == name), "") for name in names]
            told[:1] = [told[0]._replace(said=" ".join(filter(None, firsts)))] if told and any(firsts) else told[:1]
        return [(one, 1.0, tuple(words)) for one in told[:MOST]]

    def _sources(self) -> list[Item]:
        """Return the sources whose paths and names have most of the question, those with a word in the path first."""
        names = self.lookups.names()
        found = [looked_up(Fact(path, path, path), "module")._replace(text=text) for path, text in names]
        wanted = {stem(one) for one in self.asked.telling}
        hits = best_of(found, self.asked)
        hits.sort(key=lambda hit: not wanted & _stems(words_of(hit[0].file)))
        paths = [hit[0].file for hit in hits]
        if not hits and self.asked.is_what:
            # A file is asked for: its name may have some of the words, and none other.
            wanted = {stem(one) for one in self.asked.words}
            paths = [one.file for one in found if _stems(words_of(stem_of(one.file))) <= wanted]
        return [looked_up(self.lookups.file(path), "named") for path in paths[:3]]

    def _section(self) -> Item | None:
        """Return the beginning of the section whose heading says what the question does."""
        passages = self.lookups.passages() if self.of_now else ()
        for (file, title), facts in groupby(passages, lambda one: (one.file, one.title)):
            heading = title.rpartition("\n")[2]
            if is_document(file) and self.asked.is_heading(heading):
                first = next(facts)
                said = " ".join(dict.fromkeys(one.said for one in (first, *facts) if one.kind == "passage"))
                return looked_up(first._replace(said=f"{heading}: {said}"), "passage")
        return None

    def _exactly(self, name: str) -> Iterator[Item | Fact]:
        """Yield what has just this name, in the project map and the repository; what is written alike comes first."""
        titled = [(one, one.title.split("\n")) for one in self.items if one.topic in MAPPED]
        mapped = [(one, titles) for one, titles in titled if folded_name(name) in map(folded_name, titles)]
        yield from (one for one, titles in mapped if name in titles and not NOTHING_SAID.search(one.said))
        facts = list(self.lookups.about(name))
        yield from takewhile(lambda one: ", declares `" in one.said, facts)
        yield from (one for one, _ in mapped)
        yield from facts


def _stems(text: str) -> set[str]:
    """Return the stems of the words of a text."""
    return {stem(word) for word in tokens(text)}
