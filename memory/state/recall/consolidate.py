"""The deterministic engine of a recall: it takes what events say into a bundle; the later statement wins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from memory.state.files.model import NOT_SAID, SIGNALS, Json, is_echo

from .statements import Statements, halves, is_repeated, plain_words, stems_of

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
        for kind, text in () if is_echo(event) else _signals(event):
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


def _signals(event: Json) -> Iterator[tuple[str, str]]:
    return ((kind, text) for kind in SIGNALS for text in event["signals"][kind])


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
        self._causes: dict[int, Statements] = {}
        self._places: dict[str, int] = {}
        for entry in entries:
            self._put(None, entry)

    def entries(self) -> list[Json]:
        """Return the gotchas, each with all its causes."""
        return [self._whole(place) for place in sorted(self._entries)]

    def add(self, text: str, source: str) -> None:
        """Add what a session said: another cause of a gotcha, or a new one."""
        title, cause = halves(text)
        place = self._places.get(plain_words(title))
        if place in self._entries:
            told = self._entries[place]
            if place not in self._causes:
                self._causes[place] = Statements([] if told["cause"] == NOT_SAID else told["cause"].split(ALSO))
            earlier = self._causes[place].put(cause) if cause else []
            self.replaced += [_replaced("gotchas", _whole(title, cause), _whole(told["title"], one)) for one in earlier]
            return
        entry = {"title": title, "symptom": f"Noted in {source}.", "cause": cause or NOT_SAID, "correctPath": NOT_SAID}
        place = None
        for number, _ in self._statements.take(_whole(title, cause)) if cause else ():
            old = self._whole(number)
            del self._entries[number]
            self._causes.pop(number, None)
            self.replaced.append(_replaced("gotchas", _whole(title, cause), _whole(old["title"], old["cause"])))
            entry, place = {**old, "title": title, "cause": cause}, number if place is None else place
        self._put(place, entry)

    def _put(self, place: int | None, entry: Json) -> None:
        cause = "" if entry["cause"] == NOT_SAID else entry["cause"]
        place = self._statements.add(_whole(entry["title"], cause), place)
        self._entries[place], self._places[plain_words(entry["title"])] = entry, place

    def _whole(self, place: int) -> Json:
        entry, causes = self._entries[place], self._causes.get(place)
        return entry if causes is None else {**entry, "cause": ALSO.join(causes.texts()) or NOT_SAID}


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
