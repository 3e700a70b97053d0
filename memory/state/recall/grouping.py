"""Groups of events about the same subject, which a recall shows as evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from typing import Any

from memory.base.clock import read_utc
from memory.state.files.model import SIGNALS

from .statements import halves, plain_words

Event = Mapping[str, Any]

_NOTES = ("decisions", "validationObservations")
_PREFIX = re.compile(r"\s*(?:NEXT|DONE|DECISION|GOTCHA|PATH|VALIDATION):")
_ORDINAL = re.compile(r"(\d{1,18})\Z", re.ASCII)
_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class EventGroup:
    """Events about the same subject.

    `label` is `local`, `imports` or `mixed`; `event_ids` are ordered by time, then by number; `source_ids` are sorted;
    `first` and `last` are times as written in the events, None where none can be read; `summary` is the longest of the
    events; `events` are the events themselves.
    """

    id: str
    label: str
    event_ids: tuple[str, ...]
    source_ids: tuple[str, ...]
    first: str | None
    last: str | None
    summary: str
    events: tuple[Event, ...]

    @property
    def texts(self) -> dict[str, tuple[str, ...]]:
        """The lists of `SIGNALS` as the events have them."""
        said = [_signals(event) for event in self.events]
        return {kind: tuple(text for signals in said for text in signals.get(kind, ())) for kind in SIGNALS}

    @property
    def signals(self) -> dict[str, tuple[str, ...]]:
        """The lists of `SIGNALS`, each text once."""
        return {kind: tuple(dict.fromkeys(texts)) for kind, texts in self.texts.items()}


def topic(text: str) -> str:
    """Return the subject of a gotcha or a hint: its title, without a marker, in plain words."""
    return plain_words(halves(_PREFIX.sub("", text, count=1))[0])


def group_events(events: Sequence[Event]) -> list[EventGroup]:
    """Group events about the same subject; the newest group comes first.

    Events belong together that share the topic of a gotcha or of a next step, or a key path together with a decision or
    a validation; a path alone groups nothing. Groups are numbered `grp-000001`, … in that order. Times that cannot be
    read are older than all others.
    """
    leader = list(range(len(events)))

    def find(place: int) -> int:
        while leader[place] != place:
            leader[place] = leader[leader[place]]
            place = leader[place]
        return place

    said = [_signals(event) for event in events]
    noted = [{(kind, plain_words(text)) for kind in _NOTES for text in signals.get(kind, ())} for signals in said]
    times_noted = Counter(note for notes in noted for note in notes)
    seen: dict[object, int] = {}
    for place, signals in enumerate(said):
        for key in _links(signals, (note for note in noted[place] if note[1] and times_noted[note] > 1)):
            first = seen.setdefault(key, place)
            one, other = find(first), find(place)
            leader[max(one, other)] = min(one, other)
    members: dict[int, list[Event]] = {}
    for place, event in enumerate(events):
        members.setdefault(find(place), []).append(event)
    times = {id(event): _when(event) for event in events}
    ordered = [sorted(group, key=lambda event: times[id(event)]) for group in members.values()]
    ordered.sort(key=lambda group: times[id(group[-1])], reverse=True)
    return [_group(number, group, times) for number, group in enumerate(ordered, 1)]


def _links(signals: Mapping[str, list[str]], notes: Iterable[tuple[str, str]]) -> Iterable[object]:
    """Yield the keys that events of one group share; `notes` are those that another event has as well."""
    for kind in ("gotchas", "nextStepHints"):
        for text in signals.get(kind, ()):
            if about := topic(text):
                yield kind, about
    if paths := signals.get("keyPaths"):
        yield from product(notes, dict.fromkeys(paths))


def _signals(event: Event) -> dict[str, list[str]]:
    """Return the non-empty signals of an event, by their kind."""
    signals = event.get("signals")
    if not isinstance(signals, (dict, Mapping)):
        return {}
    lists = ((kind, found) for kind, found in signals.items() if found and isinstance(found, (list, tuple)))
    return {kind: [text for text in found if type(text) is str] for kind, found in lists}


def _when(event: Event) -> tuple[datetime, int, str]:
    """Return the sort key of an event: its time, then the number of its id."""
    name = str(event.get("id", ""))
    number = _ORDINAL.search(name)
    return read_utc(str(event.get("createdAt"))) or _EARLIEST, int(number[1]) if number else 0, name


def _group(number: int, events: Sequence[Event], when: Mapping[int, tuple[datetime, int, str]]) -> EventGroup:
    kinds = {"local" if event.get("kind") == "tool_run" else "imports" for event in events}
    times = [str(event["createdAt"]) for event in events if when[id(event)][0] != _EARLIEST]
    return EventGroup(
        id=f"grp-{number:06d}",
        label=kinds.pop() if len(kinds) == 1 else "mixed",
        event_ids=tuple(str(event.get("id", "")) for event in events),
        source_ids=tuple(sorted({str(event.get("sourceId", "")) for event in events})),
        first=times[0] if times else None,
        last=times[-1] if times else None,
        summary=max((str(event.get("summary", "")) for event in events), key=len),
        events=tuple(events),
    )
