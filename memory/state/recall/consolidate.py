"""The deterministic engine of a recall: it takes what events say into a bundle; the later statement wins.

A statement has names (in backticks, and the numbers of its subject, as in `Phase 1 is done`), values (other numbers,
"not", "on" and "off", "passed" and "failed") and the remaining words. Two statements with the same names are about the
same matter when their words overlap by `ALIKE`, or when one begins with the words of the other; the values do not
count. The overlap is the number of common words, divided by the number of words of the statement that has more.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import ceil
from typing import NamedTuple

from memory.base.words import stem
from memory.state.files.model import NOT_SAID, SIGNALS, Json, is_echo

ALSO = "; also: "
"""The text between two causes of one gotcha."""

_DONE, _NEXT = "DONE:", "NEXT:"
_CLOSES = 0.6
"""The share of common words from which `DONE:` means a step, where one of the two has no other words."""
_NOTHING_FAILED = re.compile(r"\b(?:0|no|without|zero) (?:failed|failures?|errors?|warnings?|issues?)\b", re.IGNORECASE)
_FAILED = re.compile(r"\b(?:fail\w*|errors?|broken|red|crash\w*|timed? out|not (?:pass|run|ok)\w*)\b", re.IGNORECASE)
_PASSED = re.compile(r"\b(?:pass|passes|passed|ok|green|succeed\w*|success\w*|clean)\b", re.IGNORECASE)


class BundleProposal(NamedTuple):
    """A bundle made from another one and events.

    `replaced` are the statements that replaced earlier ones (`section`, `text`, `replaces`), `closed` what a session
    said was done, each with the title of the step that it closes (`done`, `step`; None where it closes none).
    """

    bundle: Json
    replaced: list[Json] = []
    closed: list[Json] = []


def consolidate(bundle: Json, events: Sequence[Json], exists: Callable[[str], bool]) -> BundleProposal:
    """Return the bundle with the content of events, in their order.

    Decisions are added to the current state, failed validations to the known risks, and paths to the key paths, where
    `exists` says that the workspace has them. A validation that passed becomes the snapshot, if it is the newest.
    `DONE:` removes the step that it means. Events that were written along with a bundle are skipped.
    """
    focus = bundle["currentFocus"]
    state, risks = Statements(focus["currentState"]), Statements(focus["knownRisks"])
    gotchas, steps = _Gotchas(bundle["gotchas"]), _Steps(bundle["nextSteps"])
    paths = dict.fromkeys(bundle["project"]["keyPaths"])
    snapshot = focus["validationSnapshot"]
    replaced: list[Json] = []
    for event in events:
        signals = () if is_echo(event) else ((kind, text) for kind in SIGNALS for text in event["signals"][kind])
        for kind, text in signals:
            ended = outcome_of(text) if kind == "validationObservations" else None
            if kind == "gotchas":
                gotchas.add(text, event["sourceRef"])
            elif kind == "nextStepHints":
                steps.take(text.strip(), event["sourceRef"])
            elif kind == "keyPaths":
                paths |= {text: None} if text not in paths and exists(text) else {}
            else:
                into = state if ended is None else risks
                replaced += [_replaced("current-focus", text, earlier) for earlier in into.put(text)]
            if ended and event["createdAt"] > (snapshot["validatedAt"] or ""):
                snapshot = {"status": "passed", "validatedAt": event["createdAt"], "summary": text, "results": []}
    known = [line for line in risks.texts() if line in focus["knownRisks"] or not outcome_of(line)]
    new_focus = {**focus, "currentState": state.texts(), "knownRisks": known, "validationSnapshot": snapshot}
    after = {
        **bundle,
        "project": {**bundle["project"], "keyPaths": list(paths)},
        "currentFocus": new_focus,
        "gotchas": gotchas.entries(),
        "nextSteps": steps.entries(),
    }
    return BundleProposal(after, [*replaced, *gotchas.replaced, *steps.replaced], steps.closed)


def _replaced(section: str, text: str, earlier: str) -> Json:
    return {"section": section, "text": text, "replaces": earlier}


def outcome_of(text: str) -> bool | None:
    """Return whether a validation passed, by its words; None where they do not say."""
    rest = _NOTHING_FAILED.sub("", text)
    if _FAILED.search(rest):
        return False
    return True if _PASSED.search(rest) or rest != text else None


class _Gotchas:
    """Gotchas by their titles, in their order; one that says nearly the same under another title is replaced."""

    def __init__(self, entries: Iterable[Json]) -> None:
        self.replaced: list[Json] = []
        self._statements = Statements()
        self._entries: dict[int, Json] = {}
        self._places: dict[str, int] = {}
        for entry in entries:
            self._put(None, entry)

    def entries(self) -> list[Json]:
        """Return the gotchas, each with all its causes."""
        return [self._entries[place] for place in sorted(self._entries)]

    def add(self, text: str, source: str) -> None:
        """Add what a session said: another cause of a gotcha, or a new one."""
        title, cause = halves(text)
        place = self._places.get(plain_words(title))
        if place in self._entries:
            told = self._entries[place]
            causes = Statements([] if told["cause"] == NOT_SAID else told["cause"].split(ALSO))
            earlier = causes.put(cause) if cause else []
            self._entries[place] = {**told, "cause": ALSO.join(causes.texts()) or NOT_SAID}
            self.replaced += [_replaced("gotchas", _whole(title, cause), _whole(told["title"], one)) for one in earlier]
            return
        entry = {"title": title, "symptom": f"Noted in {source}.", "cause": cause or NOT_SAID, "correctPath": NOT_SAID}
        place = None
        for number, _ in self._statements.take(_whole(title, cause)) if cause else ():
            old = self._entries.pop(number)
            self.replaced.append(_replaced("gotchas", _whole(title, cause), _whole(old["title"], old["cause"])))
            entry, place = {**old, "title": title, "cause": cause}, number if place is None else place
        self._put(place, entry)

    def _put(self, place: int | None, entry: Json) -> None:
        cause = "" if entry["cause"] == NOT_SAID else entry["cause"]
        place = self._statements.add(_whole(entry["title"], cause), place)
        self._entries[place], self._places[plain_words(entry["title"])] = entry, place


def _whole(title: str, rest: str) -> str:
    return f"{title}: {rest}" if rest else title


class _Steps:
    """Next steps in their order, each with the stems of its title."""

    def __init__(self, entries: Iterable[Json]) -> None:
        self.replaced: list[Json] = []
        self.closed: list[Json] = []
        self._steps = [(stems_of(entry["title"]), dict(entry)) for entry in entries]
        self._titled = dict(self._steps)

    def entries(self) -> list[Json]:
        return [entry for _, entry in self._steps]

    def take(self, text: str, source: str) -> None:
        """Add a hint as a step; `DONE:` closes the step that it means."""
        if text.startswith(_DONE):
            done = text.removeprefix(_DONE).strip()
            meant = self._meant(done)
            self._steps = [one for one in self._steps if one[1] is not meant]
            self._titled = dict(self._steps)
            closed = {"done": done, "step": meant and meant["title"]}
            self.closed += [] if closed in self.closed else [closed]
            return
        title, start = halves(text.removeprefix(_NEXT))
        stems = stems_of(title)
        entry = self._titled.get(stems)
        if entry is None and title:
            new = {"title": title, "why": f"Noted in {source}.", "start": start or NOT_SAID, "done": NOT_SAID}
            self._steps.append((stems, new))
            self._titled[stems] = new
        elif entry is not None and start:
            if entry["start"] != NOT_SAID and not is_repeated(entry["start"], start):
                self.replaced.append(_replaced("next-steps", _whole(title, start), _whole(title, entry["start"])))
            entry["start"] = start

    def _meant(self, done: str) -> Json | None:
        """Return the step with these words; else the one with nearly the same, where there is only one."""
        title = stems_of(halves(done)[0])
        exact = self._titled.get(stems_of(done)) or self._titled.get(title)
        if exact is not None:
            return exact
        shares = [(_share(title, stems), entry) for stems, entry in self._steps]
        best = max([_CLOSES, *(share for share, _ in shares)])
        near = [entry for share, entry in shares if share == best]
        return near[0] if len(near) == 1 else None


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of common words where all words of one are in the other, else 0."""
    few, many = sorted((one, other), key=len)
    return len(few) / len(many) if few <= many else 0.0


# -- which of two statements are about the same matter, so that the later one replaces the earlier --------------------

ALIKE = 0.8
"""The overlap from which two statements are about the same matter."""

_WORD = re.compile(r"[^\W_]+(?:[.,:'’_-][^\W_]+)*%?")
_NAME = re.compile(r"`+([^`]+)`+")
_DIGIT = re.compile(r"\d")
_AMOUNT = re.compile(r"v?\d[\d.,:_-]*(?:[a-z]{1,3}|%)?")
_NEGATED = re.compile(r"\b(?:no longer|cannot)\b|(?<=[a-z])n['’]t\b")
_INSTEAD = re.compile(r"(\S+) (?:instead of|rather than) (\S+)", re.IGNORECASE)
_COLON = re.compile(r":(?=\s|\Z)|：")

_COMMON = frozenset(
    """
    a an and are as at be been by can did do does for from had has have i if in into is it its may must now of or
    our please shall should so that the then there this to up us via was we were which will with would you
    """.split()  # noqa: SIM905
)
_NEGATIONS = frozenset(("not", "no", "never", "without"))
_VALUES = frozenset(
    """
    on off enabled disabled allowed forbidden true false yes optional required passed pass passes failed fail fails
    failure failures failing ok green red broken error errors
    """.split()  # noqa: SIM905
)
_BEFORE_AN_AMOUNT = frozenset(
    """
    is are was were be been has have had use uses used run runs need needs take takes must should will can may allow
    allows set sets to at by after under over than up within keep keeps stay stays wait waits equals only most least
    about
    """.split()  # noqa: SIM905
)
"""Words of a predicate: an amount behind one of them is a value, and not part of the subject."""
_LABELS = frozenset(
    "phase step part milestone issue ticket chapter section stage sprint round task pr level".split()  # noqa: SIM905
)
"""Words that make the number behind them a name."""
_PASSED_OVER = (_COMMON | _NEGATIONS) - _VALUES


class Statement(NamedTuple):
    """A text with its names, its set of words, and all of it in plain words, by which texts are equal.

    `line` has the words in their order, with those of `_VALUES` among them.
    """

    text: str
    names: frozenset[str]
    words: frozenset[str]
    line: tuple[str, ...]
    plain: str


@lru_cache(maxsize=4096)
def statement_of(text: str) -> Statement:
    """Return the statement of a text."""
    names = {name.strip().lower() for name in _NAME.findall(text)}
    lower = _NEGATED.sub(" not ", text.lower())
    told = _WORD.findall(lower)
    bare = _WORD.findall(_NAME.sub(" ", lower)) if names else told
    line: list[str] = []
    predicate = False
    for number, word in enumerate(bare):
        if _DIGIT.search(word):
            labelled = number > 0 and bare[number - 1] in _LABELS
            if labelled or not predicate or not _AMOUNT.fullmatch(word):
                names.add(word)
        elif word not in _PASSED_OVER:
            line.append(word)
        predicate = predicate or word in _BEFORE_AN_AMOUNT
    words = frozenset(line) - _VALUES or frozenset(told)
    return Statement(text, frozenset(names), words, tuple(line), " ".join(told))


def is_same_matter(one: Statement, other: Statement) -> bool:
    """Return whether two statements are about the same matter."""
    if one.plain == other.plain:
        return True
    if one.names != other.names:
        return False
    if len(one.words & other.words) >= ALIKE * max(len(one.words), len(other.words)) > 0:
        return True
    short, long = sorted((one.line, other.line), key=len)
    return len(short) >= max(2, len(long) / 2) and long[: len(short)] == short


class Statements:
    """Texts that count at present, each with a number; a later one about the same matter takes the place of others."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        """Begin with texts, which are not compared with each other."""
        self._present: dict[int, Statement] = {}
        self._numbers: defaultdict[object, dict[object, list[int]]] = defaultdict(dict)
        self._next = 0
        for text in texts:
            self.add(text)

    def add(self, text: str, number: int | None = None) -> int:
        """Let a text count, at the place of a number or behind all others; return its number."""
        one = statement_of(text)
        place = self._next if number is None else number
        self._next = max(self._next, place) + 1
        self._present[place] = one
        numbers = self._numbers[one.names]
        for key in (one.plain, one.line[:2], *one.words):
            numbers.setdefault(key, []).append(place)
        return place

    def take(self, text: str) -> list[tuple[int, str]]:
        """Remove the texts that a later one replaces; return their numbers and texts, the first one first."""
        found = self._about(statement_of(text))
        if (instead := _INSTEAD.sub(r"\2", text)) != text:
            found |= self._about(statement_of(instead))
        return [(number, self._present.pop(number).text) for number in sorted(found)]

    def put(self, text: str) -> list[str]:
        """Add a text in the place of those that it replaces; return these, except any that say the same."""
        earlier = self.take(text)
        self.add(text, earlier[0][0] if earlier else None)
        return [one for _, one in earlier if not is_repeated(text, one)]

    def texts(self) -> list[str]:
        """Return the texts in order."""
        return [self._present[number].text for number in sorted(self._present)]

    def _about(self, one: Statement) -> set[int]:
        # Of two that overlap by `ALIKE`, each has one of the rarest words of the other.
        numbers = self._numbers[one.names]
        words = sorted((numbers.get(word, []) for word in one.words), key=len)
        rare = words[: len(words) - ceil(ALIKE * len(words)) + 1]
        near = set().union(numbers.get(one.plain, ()), numbers.get(one.line[:2], ()), *rare)
        return {number for number in near & self._present.keys() if is_same_matter(one, self._present[number])}


def is_repeated(one: str, other: str) -> bool:
    """Return whether two texts differ in nothing but case, blanks and marks."""
    return statement_of(one).plain == statement_of(other).plain


def halves(text: str) -> tuple[str, str]:
    """Return the title of a text and the text after it; a text without a title is its own.

    A title ends at a colon that a blank follows, outside of backticks: so no address, path, time or `a::b` ends it.
    """
    for colon in _COLON.finditer(text):
        title, rest = text[: colon.start()].strip(), text[colon.end() :].strip()
        if title and title.count("`") % 2 == 0:
            return title, rest
    return text.strip(" :：") or text.strip(), ""


def plain_words(text: str) -> str:
    """Return the words of a text in lower case, with a blank between them; the text itself where it has none."""
    return " ".join(_WORD.findall(text.lower())) or text.strip()


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that are not common ones, and its names and numbers."""
    words = _WORD.findall(text.lower())
    return frozenset(stem(word) for word in words if word not in _COMMON) or frozenset(words)
