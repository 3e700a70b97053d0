"""Groups of events about the same subject, which a recall shows as evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from memory.state.files.model import SIGNALS, Json, number_of, scope_of

from .statements import halves, plain_words

_NOTES = ("decisions", "validationObservations")
_PREFIX = re.compile(r"\s*(?:NEXT|DONE|DECISION|GOTCHA|PATH|VALIDATION):")


@dataclass(frozen=True, slots=True)
class EventGroup:
    """Events about the same subject, ordered by time, then by number.

    `label` is `local`, `imports` or `mixed`; `source_ids` are sorted; `summary` is the longest of the events.
    """

    id: str
    label: str
    event_ids: tuple[str, ...]
    source_ids: tuple[str, ...]
    first: str
    last: str
    summary: str
    events: tuple[Json, ...]

    @property
    def texts(self) -> dict[str, tuple[str, ...]]:
        """The lists of `SIGNALS` as the events have them."""
        return {kind: tuple(text for event in self.events for text in event["signals"][kind]) for kind in SIGNALS}

    @property
    def signals(self) -> dict[str, tuple[str, ...]]:
        """The lists of `SIGNALS`, each text once."""
        return {kind: tuple(dict.fromkeys(texts)) for kind, texts in self.texts.items()}


def topic(text: str) -> str:
    """Return the subject of a gotcha or a hint: its title, without a marker, in plain words."""
    return plain_words(halves(_PREFIX.sub("", text, count=1))[0])


def group_events(events: Sequence[Json]) -> list[EventGroup]:
    """Group events about the same subject; the newest group comes first.

    Events belong together that share the topic of a gotcha or of a next step, or a key path together with a decision or
    a validation; a path alone groups nothing. Groups are numbered `grp-000001`, … in that order.
    """
    groups: dict[object, list[Json]] = {}
    for event in events:
        keys = set(_keys(event))
        shared = {id(groups[key]): groups[key] for key in keys if key in groups}
        largest, *others = sorted(shared.values(), key=len, reverse=True) or [[]]
        for other in others:
            largest += other
            groups |= {key: largest for one in other for key in _keys(one)}
        largest.append(event)
        groups |= dict.fromkeys(keys, largest)
    found = {id(group): sorted(group, key=_when) for group in groups.values()}
    ordered = sorted(found.values(), key=lambda group: _when(group[-1]), reverse=True)
    return [_group(number, group) for number, group in enumerate(ordered, 1)]


def _keys(event: Json) -> Iterator[object]:
    """Yield the keys that events of one group share, and its own."""
    signals = event["signals"]
    yield event["id"]
    for kind in ("gotchas", "nextStepHints"):
        yield from ((kind, about) for text in signals[kind] if (about := topic(text)))
    notes = [(kind, plain_words(text)) for kind in _NOTES for text in signals[kind]] if signals["keyPaths"] else []
    yield from product((note for note in notes if note[1]), signals["keyPaths"])


def _when(event: Json) -> tuple[str, int]:
    """Return the sort key of an event: its time, whose form sorts as text, then the number of its id."""
    return event["createdAt"], number_of(event["id"])


def _group(number: int, events: Sequence[Json]) -> EventGroup:
    kinds = {scope_of(event) for event in events}
    return EventGroup(
        id=f"grp-{number:06d}",
        label=kinds.pop() if len(kinds) == 1 else "mixed",
        event_ids=tuple(event["id"] for event in events),
        source_ids=tuple(sorted({event["sourceId"] for event in events})),
        first=events[0]["createdAt"],
        last=events[-1]["createdAt"],
        summary=max((event["summary"] for event in events), key=len),
        events=tuple(events),
    )
