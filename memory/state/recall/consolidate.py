"""The deterministic engine of a recall: it takes what events say into a bundle; the later statement wins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from memory.state.files.model import NOT_SAID, Json, is_echo, moment
from memory.state.first_run import without_first_run

from .statements import Replaced, Statements, halves, is_repeated, plain_words, settle, stems_of

ALSO = "; also: "
"""What stands between two causes of one gotcha."""

_DONE, _NEXT = "DONE:", "NEXT:"
_CLOSES = 0.6
"""The share of common words from which `DONE:` means a step, where one of the two has no other words."""
_NOTHING_FAILED = re.compile(r"\b(?:0|no|without|zero) (?:failed|failures?|errors?|warnings?|issues?)\b", re.IGNORECASE)
_FAILED = re.compile(r"\b(?:fail\w*|errors?|broken|red|crash\w*|timed? out|not (?:pass|run|ok)\w*)\b", re.IGNORECASE)
_PASSED = re.compile(r"\b(?:pass|passes|passed|ok|green|succeed\w*|success\w*|clean)\b", re.IGNORECASE)


class Closed(NamedTuple):
    """What a session said was done, and the title of the step that it closes; "" where it closes none."""

    done: str
    step: str


@dataclass(frozen=True, slots=True)
class BundleProposal:
    """A bundle made from another one and events: what was replaced, which steps were closed, and the engine's name."""

    bundle: Json
    replaced: tuple[Replaced, ...] = ()
    closed: tuple[Closed, ...] = ()
    engine: str = "deterministic"


def consolidate(bundle: Json, events: Sequence[Json], exists: Callable[[str], bool]) -> BundleProposal:
    """Return the bundle with the content of events, in their order.

    Decisions are added to the current state, failed validations to the known risks, and paths to the key paths, where
    `exists` says that the workspace has them. A validation that passed becomes the snapshot, if it is the newest.
    `DONE:` removes the step that it means. Events that were written along with a bundle are skipped.
    """
    gotchas, steps = _Gotchas(bundle["gotchas"], events), _Steps(bundle["nextSteps"])
    focus = bundle["currentFocus"]
    said: list[str] = []
    checked: list[str] = []
    paths = dict.fromkeys(bundle["project"]["keyPaths"])
    snapshot = focus["validationSnapshot"]
    for event in events:
        if is_echo(event):
            continue
        signals, source = event["signals"], event["sourceRef"]
        for text in signals["gotchas"]:
            gotchas.add(text, source)
        for text in signals["nextStepHints"]:
            steps.take(text.strip(), source)
        said += signals["decisions"]
        for text in signals["validationObservations"]:
            ended = outcome_of(text)
            (said if ended is None else checked).append(text)
            if ended and _is_newer(event["createdAt"], snapshot["validatedAt"]):
                snapshot = {"status": "passed", "validatedAt": event["createdAt"], "summary": text, "results": []}
        paths |= {path: None for path in signals["keyPaths"] if path not in paths and exists(path)}
    state, replaced = settle("current-focus", focus["currentState"], said)
    risks, settled = settle("current-focus", focus["knownRisks"], checked)
    known = {*focus["knownRisks"]}
    new_focus = {
        **focus,
        "currentState": state,
        "knownRisks": [line for line in risks if line in known or not outcome_of(line)],
        "validationSnapshot": snapshot,
    }
    if snapshot is not focus["validationSnapshot"]:
        new_focus = without_first_run(new_focus)
    after = {
        **bundle,
        "project": {**bundle["project"], "keyPaths": list(paths)},
        "currentFocus": new_focus,
        "gotchas": gotchas.entries(),
        "nextSteps": steps.entries(),
    }
    return BundleProposal(
        after, (*replaced, *settled, *gotchas.replaced, *steps.replaced), tuple(dict.fromkeys(steps.closed))
    )


def outcome_of(text: str) -> bool | None:
    """Return whether a validation passed, by its words; None where they do not say."""
    rest = _NOTHING_FAILED.sub("", text)
    if _FAILED.search(rest):
        return False
    return True if _PASSED.search(rest) or rest != text else None


def _is_newer(one: str, other: str | None) -> bool:
    mine, theirs = moment(one), moment(other)
    return mine is not None and (theirs is None or mine > theirs)


class _Gotchas:
    """Gotchas by their titles, in their order; one that says nearly the same under another title is replaced."""

    def __init__(self, entries: Iterable[Json], events: Iterable[Json]) -> None:
        self.replaced: list[Replaced] = []
        self._entries = {number: dict(entry) for number, entry in enumerate(entries)}
        self._next = len(self._entries)
        self._places: dict[str, int] = {}
        new = [halves(text) for event in events for text in event["signals"]["gotchas"]]
        known = [_whole(one["title"], one["cause"]) for one in self._entries.values()]
        self._statements = Statements([*known, *(_whole(*one) for one in new)])
        for number, entry in self._entries.items():
            self._places.setdefault(plain_words(entry["title"]), number)
            if entry["cause"] != NOT_SAID:
                self._statements.add(number, _whole(entry["title"], entry["cause"]))

    def entries(self) -> list[Json]:
        return [self._entries[number] for number in sorted(self._entries)]

    def add(self, text: str, source: str) -> None:
        title, cause = halves(text)
        place = self._places.get(plain_words(title))
        if place is not None and place in self._entries:
            if cause:
                self._add_cause(self._entries[place], cause)
            return
        entry = {"title": title, "symptom": f"Noted in {source}.", "cause": cause or NOT_SAID, "correctPath": NOT_SAID}
        place = self._next = self._next + 1
        if cause:
            for number, _ in self._statements.take(_whole(title, cause)):
                old = self._entries.pop(number)
                self.replaced.append(Replaced("gotchas", _whole(title, cause), _whole(old["title"], old["cause"])))
                entry, place = {**old, "title": title, "cause": cause}, min(place, number)
            self._statements.add(place, _whole(title, cause))
        self._entries[place] = entry
        self._places[plain_words(title)] = place

    def _add_cause(self, entry: Json, cause: str) -> None:
        """Add a cause to a gotcha; it replaces the earlier one about the same matter."""
        causes = [] if entry["cause"] == NOT_SAID else entry["cause"].split(ALSO)
        kept, replaced = settle("gotchas", causes, [cause])
        entry["cause"] = ALSO.join(kept)
        title = entry["title"]
        self.replaced += [Replaced("gotchas", _whole(title, one.text), _whole(title, one.earlier)) for one in replaced]


def _whole(title: str, rest: str) -> str:
    return f"{title}: {rest}" if rest else title


class _Steps:
    """Next steps by the words of their titles, in their order."""

    def __init__(self, entries: Iterable[Json]) -> None:
        self.replaced: list[Replaced] = []
        self.closed: list[Closed] = []
        self._entries: dict[int, Json] = {}
        self._stems: dict[int, frozenset[str]] = {}
        self._by_stem: dict[str, set[int]] = {}
        self._by_title: dict[frozenset[str], int] = {}
        for entry in entries:
            self._append(dict(entry))

    def entries(self) -> list[Json]:
        return list(self._entries.values())

    def _append(self, entry: Json) -> None:
        number, stems = len(self._stems), stems_of(entry["title"])
        self._entries[number], self._stems[number] = entry, stems
        self._by_title[stems] = number
        for one in stems:
            self._by_stem.setdefault(one, set()).add(number)

    def take(self, text: str, source: str) -> None:
        """Add a hint as a step; `DONE:` closes the step that it means."""
        if text.startswith(_DONE):
            done = text.removeprefix(_DONE).strip()
            place = self._meant(done)
            self.closed.append(Closed(done, "" if place is None else self._close(place)))
            return
        title, start = halves(text.removeprefix(_NEXT))
        if not title:
            return
        place = self._by_title.get(stems_of(title))
        if place is None:
            why = f"Noted in {source}."
            self._append({"title": title, "why": why, "start": start or NOT_SAID, "done": NOT_SAID})
        elif start:
            entry = self._entries[place]
            if entry["start"] != NOT_SAID and not is_repeated(entry["start"], start):
                self.replaced.append(Replaced("next-steps", _whole(title, start), _whole(title, entry["start"])))
            entry["start"] = start

    def _close(self, place: int) -> str:
        stems = self._stems[place]
        self._by_title.pop(stems, None)
        for one in stems:
            self._by_stem[one].discard(place)
        return str(self._entries.pop(place)["title"])

    def _meant(self, done: str) -> int | None:
        """Return the step with these words or, where it is the only one, the step that has nearly the same."""
        for text in (done, halves(done)[0]):
            if (place := self._by_title.get(stems_of(text))) is not None:
                return place
        stems = stems_of(halves(done)[0])
        lists = sorted((self._by_stem.get(one, set()) for one in stems), key=len)
        near = set[int]().union(*lists[: len(lists) - ceil(_CLOSES * len(lists)) + 1])
        shares = {number: _share(stems, self._stems[number]) for number in near}
        best = max(shares.values(), default=0.0)
        found = [number for number, share in shares.items() if share == best]
        return found[0] if best >= _CLOSES and len(found) == 1 else None


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of common words where all words of one are in the other, else 0."""
    few, many = sorted((one, other), key=len)
    return len(few) / len(many) if few <= many else 0.0
