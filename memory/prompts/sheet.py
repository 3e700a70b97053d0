"""The balance sheet of what agents are told: what hooks sent to whom, what it cost, and what answers took up of it.

The handle of a line is the ref at its beginning: it is short, the tool `read` takes it, and it is the same bytes each
time. The sheet is one file of the private state folder, `prompts/sheet.json`, which is counted anew if it is damaged.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from memory.base.clock import format_utc
from memory.base.words import content_words, stem
from memory.storage.own_folders import PrivateState
from memory.storage.private.record import PrivateRecord

from .compose import PromptBlock

UNUSED, GRACE, OFTEN = timedelta(days=30), timedelta(days=7), 5
"""An entry is unused if it was sent, but not used, for so long; a new one has a week, and is sent a few times."""
_MOST_ENTRIES, _MOST_SESSIONS, _MOST_REFS, _MOST_WORDS = 1_000, 40, 200, 200
_HANDLE = re.compile(r"[a-z]+#\w+(?:-\w+)*|\b[0-9a-f]{7,40}\b")
_HEX = re.compile(r"[0-9a-f]{7,40}")
_FEWEST = 3
"""How many of its own words an answer must repeat at least."""
_SHARED_BY = 10
"""A word that more than a tenth of the lines of a session have belongs to none of them."""
_LOCK_SECONDS = 1.0


class SheetRow(NamedTuple):
    """What is known of one entry: its cost in all, how often it was sent, and how often answers used it.

    `answers` are those that were looked at after it was sent: with none it is unknown whether it was used. `cited`
    counts answers that name its ref and sessions that changed the entry, `echoed` those that repeat its words.
    """

    ref: str
    title: str
    line: str
    tokens: int
    sent: int
    first: datetime
    last: datetime
    answers: int = 0
    cited: int = 0
    echoed: int = 0
    used: datetime | None = None
    agents: Mapping[str, int] = {}

    def unused(self, now: datetime) -> bool:
        """Return whether it was sent several times, in the last 30 days as well, and no answer of them used it."""
        sent = now - self.last <= UNUSED and now - self.first >= GRACE and self.sent >= OFTEN
        return sent and self.answers > 0 and (self.used is None or now - self.used > UNUSED)

    def words(self, now: datetime) -> str:
        """Return it in words, without its title."""
        times = "once" if self.sent == 1 else f"{self.sent:,} times"
        said = f"sent {times}, {self.tokens:,} tokens"
        if not self.answers and not self.cited:
            return f"{said}; no answer was seen"
        if self.unused(now):
            since = "never used" if self.used is None else f"not used since {self.used:%Y-%m-%d}"
            return f"{said}; {since}"
        return f"{said}; cited {self.cited}, words taken up {self.echoed}"

    def json(self, now: datetime) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "ref": self.ref,
            "title": self.title,
            "tokens": self.tokens,
            "sent": self.sent,
            "answers": self.answers,
            "cited": self.cited,
            "takenUp": self.echoed,
            "firstSent": format_utc(self.first),
            "lastSent": format_utc(self.last),
            "lastUsed": None if self.used is None else format_utc(self.used),
            "agents": dict(self.agents),
            "unused": self.unused(now),
        }


class Sheet:
    """The balance sheet of a workspace, by its private state; nothing is read before it is asked."""

    def __init__(self, state: PrivateState) -> None:
        """Nothing is read yet."""
        self._record = PrivateRecord(state.folder, "prompts", "sheet.json", _LOCK_SECONDS)

    def rows(self) -> dict[str, SheetRow]:
        """Return what is known by ref, the most expensive entries first; errors as `PrivateRecord.read`."""
        found = _read(self._record.read().base)["entries"]
        rows = [_row(ref, one) for ref, one in found.items()]
        return {one.ref: one for one in sorted(rows, key=lambda one: (-one.tokens, one.ref))}

    def sent(self, blocks: Iterable[PromptBlock], agent: str, session: str, now: datetime, message: str = "") -> None:
        """Count the lines that a hook sends, with those of the session and their words that the message has."""
        told = [one for one in blocks if one.included and one.ref]

        def counted(found: dict[str, Any]) -> None:
            entries, name = found["entries"], agent or "agent"
            for one in told:
                known = entries.pop(one.ref, {"first": format_utc(now), "tokens": 0, "sent": 0, "agents": {}})
                agents = {**known["agents"], name: known["agents"].get(name, 0) + 1}
                more = {"tokens": known["tokens"] + one.tokens, "sent": known["sent"] + 1, "last": format_utc(now)}
                line = one.text.removeprefix(f"- {one.ref} ")
                entries[one.ref] = {**known, **more, "title": one.title[:200], "line": line, "agents": agents}
            if session:
                known = found["sessions"].pop(session, {})
                refs = list(dict.fromkeys([*known.get("refs", ()), *(one.ref for one in told)]))[-_MOST_REFS:]
                own = {word for ref in refs if ref in entries for word in _words(entries[ref]["line"])}
                said = [*known.get("said", ()), *(word for word in _words(message) if word in own)]
                said = list(dict.fromkeys(said))[-_MOST_WORDS:]
                found["sessions"][session] = {**known, "refs": refs, "said": said}

        self._change(counted, now)

    def answered(self, answer: str, changed: Collection[str], session: str, now: datetime) -> None:
        """Count what an answer used of the lines of its session; `changed` are the entries that the session changed.

        Words that the person said are not taken up from memory, and words of several lines belong to none of them.
        """

        def counted(found: dict[str, Any]) -> None:
            known = found["sessions"].get(session)
            if known is None:
                return
            lines = {ref: found["entries"][ref] for ref in known["refs"] if ref in found["entries"]}
            cited = {ref for ref in lines if ref in changed and ref not in known.get("changed", ())}
            known["changed"] = [ref for ref in lines if ref in changed]
            cited |= _cited(answer, lines)
            echoed = _echoed(answer, {ref: one["line"] for ref, one in lines.items()}, known["said"])
            for ref, one in lines.items():
                one["answers"] = one.get("answers", 0) + bool(answer.strip())
                one["cited"] = one.get("cited", 0) + (ref in cited)
                one["echoed"] = one.get("echoed", 0) + (ref in echoed)
                if ref in cited | echoed:
                    one["used"] = format_utc(now)

        if session and (answer.strip() or changed):
            self._change(counted, now)

    def _change(self, change: Callable[[dict[str, Any]], None], now: datetime) -> None:
        def work(data: bytes | None) -> bytes:
            found = _read(data)
            change(found)
            kept = {name: dict(list(found[name].items())[-most:]) for name, most in _BOUNDS.items()}
            return json.dumps({"version": 1, **kept}).encode() + b"\n"

        self._record.update(work, command="hook", now=now)


_BOUNDS = {"entries": _MOST_ENTRIES, "sessions": _MOST_SESSIONS}


def _read(data: bytes | None) -> dict[str, Any]:
    """Return the sheet of a file, an empty one where there is none or it is damaged."""
    empty: dict[str, Any] = {"entries": {}, "sessions": {}}
    try:
        found = json.loads(data or b"{}")
        for ref, one in found["entries"].items():
            _row(ref, one)
        kept = {name: dict(found[name]) for name in empty}
        return kept if all(isinstance(one["refs"], list) for one in kept["sessions"].values()) else empty
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return empty


def _row(ref: str, one: Mapping[str, Any]) -> SheetRow:
    first, last, used = (
        datetime.fromisoformat(one[key]) if one.get(key) else None for key in ("first", "last", "used")
    )
    if first is None or last is None:
        raise ValueError("no time")
    answers, cited, echoed = (int(one.get(key, 0)) for key in ("answers", "cited", "echoed"))
    title, line = str(one["title"]), str(one["line"])
    return SheetRow(
        ref, title, line, int(one["tokens"]), int(one["sent"]), first, last, answers, cited, echoed, used, one["agents"]
    )


def _cited(answer: str, refs: Iterable[str]) -> set[str]:
    """Return the refs that an answer names: whole, or by at least seven digits of a hash."""
    named = set(_HANDLE.findall(answer))
    return {
        ref
        for ref in refs
        if any(one == ref or (_HEX.fullmatch(number := one.rpartition("#")[2]) and
                              ref.partition("#")[2].startswith(number)) for one in named)
    }  # fmt: skip


def _echoed(answer: str, lines: Mapping[str, str], said: Sequence[str]) -> set[str]:
    """Return the refs whose lines have words of their own that an answer repeats and the person did not say."""
    heard = set(_words(answer)) - set(said)
    words = {ref: set(_words(line)) for ref, line in lines.items()}
    shared = Counter(word for own in words.values() for word in own)
    most, found = max(2, len(lines) // _SHARED_BY), set()
    for ref, own in words.items():
        rare = {word for word in own if shared[word] <= most} - set(said)
        need = min(_FEWEST + len(rare) // 10, len(rare))
        if need > 1 and len(rare & heard) >= need:
            found.add(ref)
    return found


def _words(text: str) -> list[str]:
    return [stem(word) for word in content_words(text)]
