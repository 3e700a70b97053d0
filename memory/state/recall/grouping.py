"""Groups of events about the same subject, which a recall shows as evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

from memory.state.files.model import SIGNALS, Json, number_of, scope_of

from .statements import halves, plain_words

SHOWN_GROUPS = 5
_NOTES = ("decisions", "validationObservations")
_PREFIX = re.compile(r"\s*(?:NEXT|DONE|DECISION|GOTCHA|PATH|VALIDATION):")


def topic(text: str) -> str:
    """Return the subject of a gotcha or a hint: its title, without a marker, in plain words."""
    return plain_words(halves(_PREFIX.sub("", text, count=1))[0])


def groups_of(events: Sequence[Json]) -> Json:
    """Return the groups of events about the same subject in the form for programs: the newest ones, and how many.

    Events belong together that share the topic of a gotcha or of a next step, or a key path together with a decision or
    a validation; a path alone groups nothing. Groups are numbered `grp-000001`, … in that order.
    """
    noted = Counter(note for event in events for note in set(_notes(event)))
    groups: dict[object, list[Json]] = {}
    for event in events:
        keys = set(_keys(event, noted))
        shared = {id(groups[key]): groups[key] for key in keys if key in groups}
        largest, *others = sorted(shared.values(), key=len, reverse=True) or [[]]
        for other in others:
            largest += other
            groups |= {key: largest for one in other for key in _keys(one, noted)}
        largest.append(event)
        groups |= dict.fromkeys(keys, largest)
    found = {id(group): sorted(group, key=_when) for group in groups.values()}
    ordered = sorted(found.values(), key=lambda group: _when(group[-1]), reverse=True)
    shown = [_group(f"grp-{number:06d}", group) for number, group in enumerate(ordered[:SHOWN_GROUPS], 1)]
    return {"groups": shown, "groupCount": len(ordered)}


def _group(name: str, events: list[Json]) -> Json:
    kinds = {scope_of(event) for event in events}
    return {
        "id": name,
        "label": kinds.pop() if len(kinds) == 1 else "mixed",
        "eventIds": [event["id"] for event in events],
        "sourceIds": sorted({event["sourceId"] for event in events}),
        "first": events[0]["createdAt"],
        "last": events[-1]["createdAt"],
        "summary": max((event["summary"] for event in events), key=len),
        "signals": {
            kind: list(dict.fromkeys(text for event in events for text in event["signals"][kind])) for kind in SIGNALS
        },
    }


def _keys(event: Json, noted: Counter[tuple[str, str]]) -> Iterator[object]:
    """Yield the keys that events of one group share, and its own; `noted` says how many events have each note."""
    signals = event["signals"]
    yield event["id"]
    for kind in ("gotchas", "nextStepHints"):
        yield from ((kind, about) for text in signals[kind] if (about := topic(text)))
    # Each note with each path would be many keys, and a note of one event alone is shared with none.
    yield from product((note for note in _notes(event) if noted[note] > 1), signals["keyPaths"])


def _notes(event: Json) -> Iterator[tuple[str, str]]:
    """Yield the decisions and validations of an event with paths, in plain words."""
    signals = event["signals"]
    for kind in _NOTES if signals["keyPaths"] else ():
        yield from ((kind, words) for text in signals[kind] if (words := plain_words(text)))


def _when(event: Json) -> tuple[str, int]:
    """Return the sort key of an event: its time, whose form sorts as text, then the number of its id."""
    return event["createdAt"], number_of(event["id"])
