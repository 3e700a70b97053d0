"""Reading the file of facts: line by line, whatever stands in it; what is no fact is told with its line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from .model import DEFAULT_SCOPE, Fact, Unread, number_of

_PLAIN = r'[^"\\\x00-\x1f\ud800-\udfff]'
# A line as memdeck writes it, without escapes; any other goes through the JSON parser.
_LINE = re.compile(
    rf'\{{"id":"({_PLAIN}+)","scope":"({_PLAIN}+)","text":"({_PLAIN}*)",'
    rf'"tags":\[((?:"{_PLAIN}*"(?:,"{_PLAIN}*")*)?)\],"ts":"({_PLAIN}*)"\}}'
)
_UTC = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_BOM = "\ufeff"


class Reading:
    """All facts of one version of the file, immutable for whoever holds it.

    `facts` are in the order of the file, `newest` the same from the newest to the oldest: by time, then by number,
    then by line; a fact without a time that can be read is older than all others. `unread` are the lines that are
    none. `highest` is the highest number, 0 without any.
    """

    def __init__(self, data: bytes, facts: Sequence[Fact], unread: Sequence[Unread], lines: int) -> None:
        """Keep what was read."""
        self.data = data
        self.facts = facts
        self.unread = unread
        self.lines = lines

    @cached_property
    def highest(self) -> int:
        """The highest number of an id, 0 without any."""
        return max((number_of(fact.id) for fact in self.facts), default=0)

    @cached_property
    def _times(self) -> list[str]:
        """When each fact was made, in a form that sorts."""
        return [time_key(fact.ts) for fact in self.facts]

    @cached_property
    def order(self) -> Sequence[int]:
        """The places of the facts in `facts`, from the oldest to the newest."""
        times = self._times
        numbers = [number_of(fact.id) for fact in self.facts]
        keys = list(zip(times, numbers, strict=True))
        count = len(keys)
        if all(keys[index] <= keys[index + 1] for index in range(count - 1)):
            return range(count)
        return sorted(range(count), key=keys.__getitem__)

    @cached_property
    def ranked(self) -> Sequence[Fact]:
        """The facts from the oldest to the newest."""
        return self.facts if isinstance(self.order, range) else [self.facts[index] for index in self.order]

    @property
    def newest(self) -> Sequence[Fact]:
        """The facts from the newest to the oldest."""
        return self.ranked[::-1]

    @cached_property
    def undated(self) -> bool:
        """Whether a fact has no time that can be read."""
        return "" in self._times

    def get(self, fact_id: str) -> Fact | None:
        """Return the first fact of an id."""
        return next((fact for fact in self.facts if fact.id == fact_id), None)


def read_facts(data: bytes, known: Reading | None = None) -> Reading:
    """Return the facts of a file; where it begins with one that is known, only the rest is read."""
    if known is not None and known.data and known.data.endswith(b"\n") and data.startswith(known.data):
        facts, unread, lines = list(known.facts), list(known.unread), known.lines
        rest = data[len(known.data) :]
    else:
        facts, unread, lines, rest = [], [], 0, data
    try:
        text, whole = rest.decode(), True
    except UnicodeDecodeError:
        text, whole = rest.decode("utf-8", "surrogateescape"), False
    if not lines:
        text = text.removeprefix(_BOM)
    match = _LINE.fullmatch
    tags_of: dict[str, tuple[str, ...]] = {"": ()}
    pieces = text.split("\n")
    if not pieces[-1]:
        pieces.pop()
    for number, line in enumerate(pieces, lines):
        found = match(line)
        if found is not None:
            fact_id, scope, words, tags, ts = found.groups()
            known_tags = tags_of.get(tags)
            if known_tags is None:
                known_tags = tags_of[tags] = tuple(tags[1:-1].split('","'))
            facts.append(Fact(fact_id, scope, words, known_tags, ts, number))
        elif line.strip(" \t\r"):
            if not whole and _NOT_UTF8.search(line):
                unread.append(Unread(number, "it is not valid UTF-8"))
                continue
            one = read_line(line, number)
            if isinstance(one, Fact):
                facts.append(one)
            else:
                unread.append(one)
    return Reading(data, facts, unread, lines + len(pieces))


def read_line(line: str, number: int) -> Fact | Unread:
    """Read one line with the JSON parser; escapes, other orders and further keys are all the same to it."""
    import json

    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return Unread(number, "it is no JSON")
    if not isinstance(values, dict):
        return Unread(number, "it is no JSON object")
    fact_id = values.get("id")
    if not isinstance(fact_id, str) or not fact_id:
        return Unread(number, "it has no id")
    text, scope, ts = (values.get(key) for key in ("text", "scope", "ts"))
    tags = values.get("tags")
    return Fact(
        fact_id,
        scope if isinstance(scope, str) and scope else DEFAULT_SCOPE,
        text if isinstance(text, str) else "",
        tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        ts if isinstance(ts, str) else "",
        number,
    )


def time_key(ts: str) -> str:
    """Return a time in a form that sorts, empty where it is none: UTC, with microseconds where there are any."""
    if _UTC.fullmatch(ts) and _is_time(ts):
        return ts[:19]
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(ts)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return moment.replace(tzinfo=None).isoformat()


def _is_time(ts: str) -> bool:
    """Tell whether digits in their places can be a date and a time."""
    month, day = ts[5:7], ts[8:10]
    if "01" <= month <= "12" and "01" <= day <= "28" and ts[11:13] <= "23" and ts[14:16] <= "59" and ts[17:19] <= "59":
        return ts[:4] != "0000"
    from datetime import datetime

    try:
        datetime.fromisoformat(ts)
    except ValueError:
        return False
    return True
