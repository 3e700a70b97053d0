"""Read the file of facts line by line, whatever it contains; a line that is not a fact is reported with its number."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise

from .model import DEFAULT_SCOPE, Fact, UnreadLine

_PLAIN = r'[^"\\\x00-\x1f]'
# A line as memdeck writes it, without escapes; any other goes through the JSON parser.
_LINE = re.compile(
    rf'\{{"id":"({_PLAIN}+)","scope":"({_PLAIN}+)","text":"({_PLAIN}*)",'
    rf'"tags":\[((?:"{_PLAIN}*"(?:,"{_PLAIN}*")*)?)\],"ts":"({_PLAIN}*)"\}}'
)
# The usual form of a time; days up to the 28th exist in every month, the others are read as dates.
_UTC = re.compile(
    r"(?!0000)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}Z"
)
NUMBERS = re.compile(r"^m-([0-9]{1,18})$", re.MULTILINE)
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_BOM = "\ufeff"


class FactsOfFile:
    """All facts of one version of the file; immutable.

    `facts` are in file order. `ranked` are the same from the oldest to the newest: by time, then by number, then by
    line; a fact whose time cannot be read counts as older than all others. `unread` are the lines that are not facts.
    Readings that share one `line` (an object) grew out of each other: the ranked facts of the shorter one are the first
    of the longer one.
    """

    def __init__(
        self, data: bytes, facts: list[Fact], unread: list[UnreadLine], lines: int, known: FactsOfFile | None = None
    ) -> None:
        """Keep what was read; `known` is the reading that this one extends."""
        self.data = data
        self.facts: Sequence[Fact] = facts
        self.unread: Sequence[UnreadLine] = unread
        self.lines = lines
        self.line = object()
        self._order: Sequence[int] | None = None
        self._highest: int | None = None
        if known is not None:
            self._follow(known, facts[len(known.facts) :])

    def _follow(self, known: FactsOfFile, new: Sequence[Fact]) -> None:
        """Take over what is known about the facts that both readings contain."""
        if known._highest is not None:
            self._highest = max(known._highest, max((fact.number for fact in new), default=0))
        keys = [(time_key(fact.ts), fact.number) for fact in (*known.facts[-1:], *new)]
        if isinstance(known._order, range) and keys == sorted(keys):
            self._order = range(len(self.facts))
            self.line = known.line

    @property
    def highest(self) -> int:
        """The highest number of an id, 0 without any."""
        if self._highest is None:
            numbers = NUMBERS.findall("\n".join([fact.id for fact in self.facts]))
            self._highest = max(map(int, numbers), default=0)
        return self._highest

    @property
    def order(self) -> Sequence[int]:
        """The places of the facts in `facts`, from the oldest to the newest."""
        if self._order is None:
            times = [time_key(fact.ts) for fact in self.facts]
            pairs = pairwise(zip(times, self.facts, strict=True))
            # Most files are in order already, and checking that is faster than sorting them.
            if times == sorted(times) and all(
                time != later or fact.number <= other.number for (time, fact), (later, other) in pairs
            ):
                self._order = range(len(times))
            else:
                keys = [(time, fact.number) for time, fact in zip(times, self.facts, strict=True)]
                self._order = sorted(range(len(times)), key=keys.__getitem__)
        return self._order

    @cached_property
    def ranked(self) -> Sequence[Fact]:
        """The facts from the oldest to the newest."""
        order = self.order
        return self.facts if isinstance(order, range) else [self.facts[index] for index in order]

    @property
    def newest(self) -> Sequence[Fact]:
        """The facts from the newest to the oldest."""
        return self.ranked[::-1]

    @cached_property
    def undated(self) -> bool:
        """Whether a fact has no time that can be read."""
        first = self.ranked[:1]
        return bool(first) and not time_key(first[0].ts)

    def get(self, fact_id: str) -> Fact | None:
        """Return the first fact with an id, None where there is none."""
        return next((fact for fact in self.facts if fact.id == fact_id), None)


def read_facts(data: bytes, known: FactsOfFile | None = None) -> FactsOfFile:
    """Return the facts of a file; where it begins with the data of `known`, only the rest is read."""
    if known is not None and not (known.data.endswith(b"\n") and data.startswith(known.data)):
        known = None
    facts: list[Fact] = [] if known is None else list(known.facts)
    unread: list[UnreadLine] = [] if known is None else list(known.unread)
    lines = 0 if known is None else known.lines
    rest = data if known is None else data[len(known.data) :]
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
        if not whole and _NOT_UTF8.search(line):
            unread.append(UnreadLine(number, "it is not valid UTF-8"))
            continue
        found = match(line)
        if found is not None:
            fact_id, scope, words, tags, ts = found.groups()
            known_tags = tags_of.get(tags)
            if known_tags is None:
                known_tags = tags_of[tags] = tuple(tags[1:-1].split('","'))
            facts.append(Fact(fact_id, scope, words, known_tags, ts, number))
        elif line.strip(" \t\r"):
            one = read_line(line, number)
            if isinstance(one, Fact):
                facts.append(one)
            else:
                unread.append(one)
    return FactsOfFile(data, facts, unread, lines + len(pieces), known)


def read_line(line: str, number: int) -> Fact | UnreadLine:
    """Read one line with the JSON parser; it accepts escapes, any order of keys, and further keys."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return UnreadLine(number, "it is no JSON")
    if not isinstance(values, dict):
        return UnreadLine(number, "it is no JSON object")
    fact_id = values.get("id")
    if not isinstance(fact_id, str) or not fact_id:
        return UnreadLine(number, "it has no id")
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
    """Return a time in a form that sorts: UTC, with microseconds where it has any; empty where it is not a time."""
    if _UTC.fullmatch(ts):
        return ts[:19]
    try:
        moment = datetime.fromisoformat(ts)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat().removesuffix("+00:00")
    except (ValueError, OverflowError):
        return ""
