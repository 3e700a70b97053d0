"""The balance sheet of what agents are told: what was sent to whom, what it cost, and what answers took up of it.

The handle of a line is the ref at its beginning: it is short, the tool `read` takes it, and it is the same bytes each
time. The sheet is one file of the private state folder, `prompts/sheet.json`, which is counted anew if it is damaged.
Beside it are the person's choices, `prompts/choices.json`: pinned and hidden entries, and what a start may cost.
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
from memory.errors import NotFoundError, UsageError
from memory.prompts.compose import AgentPrompt, PromptBlock
from memory.storage.own_folders import PrivateState
from memory.storage.private.record import PrivateRecord, Settings

UNUSED, GRACE, OFTEN = timedelta(days=30), timedelta(days=7), 5
"""An entry is unused if it was sent, but not used, for so long; a new one has a week, and is sent a few times."""
_BOUNDS = {"entries": 1_000, "sessions": 40}
_MOST_REFS, _MOST_WORDS = 200, 200
_HANDLE = re.compile(r"[a-z]+#\w+(?:-\w+)*|\b[0-9a-f]{7,40}\b")
_SHORTEST = 7
"""Digits of a hash that name an entry."""
_FEWEST = 3
"""How many of its own words an answer must repeat at least."""
_SHARED_BY = 10
"""A word that more than a tenth of the lines of a session have belongs to none of them."""
_NEW = {"tokens": 0, "sent": 0, "answers": 0, "cited": 0, "takenUp": 0, "lastUsed": None}


class SheetRow(NamedTuple):
    """What is known of one entry, `values` as in the file: its cost in all, how often it was sent, and to whom.

    `answers` are those that were looked at after it was sent: with none it is unknown whether it was used. `cited`
    counts answers that name its ref and sessions that changed it, `takenUp` those that repeat its words.
    """

    ref: str
    values: Mapping[str, Any]

    def day(self, key: str) -> datetime | None:
        """Return the time of `firstSent`, `lastSent` or `lastUsed`."""
        return datetime.fromisoformat(self.values[key]) if self.values[key] else None

    def used(self) -> str:
        """Return the day on which it was used last, in words."""
        return (self.values["lastUsed"] or "")[:10] or ("never" if self.values["answers"] else "unknown")

    def unused(self, now: datetime) -> bool:
        """Return whether it was sent several times, in the last 30 days as well, and no answer of them used it."""
        first, last, used = map(self.day, ("firstSent", "lastSent", "lastUsed"))
        often = self.values["sent"] >= OFTEN and self.values["answers"] > 0
        recent = first is not None and last is not None and now - last <= UNUSED and now - first >= GRACE
        return often and recent and (used is None or now - used > UNUSED)

    def words(self) -> str:
        """Return it in words, without its title."""
        one = self.values
        said = f"sent {one['sent']:,}×, {one['tokens']:,} tokens"
        seen = one["answers"] or one["cited"]
        return f"{said}; " + (f"cited {one['cited']:,}×, taken up {one['takenUp']:,}×" if seen else "no answer seen")

    def json(self, now: datetime) -> dict[str, Any]:
        """Return it for programs."""
        told = {key: value for key, value in self.values.items() if key != "line"}
        return {"ref": self.ref, **told, "unused": self.unused(now)}


class PromptPreview(NamedTuple):
    """The prompt of an agent; `why` is why nothing sends it automatically, and is empty if a hook does.

    `sheet` has the counts of what was sent before, by ref.
    """

    prompt: AgentPrompt
    why: str = ""
    sheet: Mapping[str, SheetRow] = {}


class Sheet:
    """The balance sheet of a workspace, by its private state; nothing is read before it is asked."""

    def __init__(self, state: PrivateState) -> None:
        """Nothing is read yet."""
        self._record = PrivateRecord(state.folder, "prompts", "sheet.json", timeout=1.0)

    def rows(self) -> dict[str, SheetRow]:
        """Return the counts by ref, the most expensive entries first; errors as `PrivateRecord.read`."""
        found = _read(self._record.read().base)["entries"]
        return {ref: SheetRow(ref, one) for ref, one in sorted(found.items(), key=lambda pair: -pair[1]["tokens"])}

    def sent(self, blocks: Iterable[PromptBlock], agent: str, session: str, now: datetime, message: str = "") -> None:
        """Count the lines that an agent is told, and keep of the message the words that lines of the session have.

        Without a session, as the tool `brief` calls it, they belong to the newest session of the agent that is known.
        """
        told = {one.ref: one for one in blocks if one.included and one.ref}

        def counted(found: dict[str, Any]) -> None:
            entries, name, moment = found["entries"], agent or "agent", format_utc(now)
            for ref, one in told.items():
                known = entries.pop(ref, {**_NEW, "firstSent": moment, "agents": {}})
                known |= {"title": one.title[:200], "line": one.text.removeprefix(f"- {ref} "), "lastSent": moment}
                known |= {"tokens": known["tokens"] + one.tokens, "sent": known["sent"] + 1}
                known["agents"][name] = known["agents"].get(name, 0) + 1
                entries[ref] = known
            mine = (one for one, known in found["sessions"].items() if known.get("agent") == name)
            place = session or next(reversed([*mine]), "")
            if place:
                known = found["sessions"].pop(place, {"refs": [], "said": [], "changed": []}) | {"agent": name}
                known["refs"] = list(dict.fromkeys([*known["refs"], *told]))[-_MOST_REFS:]
                own = {word for ref in known["refs"] if ref in entries for word in _words(entries[ref]["line"])}
                known["said"] = sorted({*known["said"], *(own & _words(message))})[:_MOST_WORDS]
                found["sessions"][place] = known

        self._change(counted, now)

    def answered(self, answer: str, changed: Collection[str], session: str, now: datetime) -> None:
        """Count what an answer used of the lines of its session; `changed` are the entries that the session changed.

        Words that the person said are not taken up from memory, and words of several lines belong to none of them.
        """

        def counted(found: dict[str, Any]) -> None:
            known = found["sessions"].get(session, {"refs": (), "said": (), "changed": ()})
            lines = {ref: found["entries"][ref] for ref in known["refs"] if ref in found["entries"]}
            cited = _cited(answer, lines) | {ref for ref in lines if ref in changed and ref not in known["changed"]}
            taken = _taken_up(answer, {ref: one["line"] for ref, one in lines.items()}, known["said"])
            if lines:
                known["changed"] = [ref for ref in lines if ref in changed]
            for ref, one in lines.items():
                one["answers"] += bool(answer.strip())
                one["cited"] += ref in cited
                one["takenUp"] += ref in taken
                one["lastUsed"] = format_utc(now) if ref in cited | taken else one["lastUsed"]

        if answer.strip() or changed:
            self._change(counted, now)

    def _change(self, change: Callable[[dict[str, Any]], None], now: datetime) -> None:
        def work(data: bytes | None) -> bytes:
            found = _read(data)
            change(found)
            return json.dumps(
                {name: dict(list(found[name].items())[-most:]) for name, most in _BOUNDS.items()}
            ).encode()

        self._record.update(work, command="hook", now=now)


def _read(data: bytes | None) -> dict[str, Any]:
    """Return the sheet of a file, an empty one where there is none or it is damaged."""
    try:
        found = json.loads(data or b"")
        for ref, one in found["entries"].items():
            row = SheetRow(ref, {**one, "agents": dict(one["agents"])})
            row.unused(datetime.fromisoformat(one["lastSent"]))
            row.words()
        return {name: dict(found[name]) for name in _BOUNDS}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {"entries": {}, "sessions": {}}


def _cited(answer: str, refs: Iterable[str]) -> set[str]:
    """Return the refs that an answer names: whole, or by at least seven digits of a hash."""
    named = set(_HANDLE.findall(answer))
    digits = tuple(one.rpartition("#")[2] for one in named)
    hashes = tuple(one for one in digits if len(one) >= _SHORTEST)
    return {ref for ref in refs if ref in named or (hashes and ref.partition("#")[2].startswith(hashes))}


def _taken_up(answer: str, lines: Mapping[str, str], said: Sequence[str]) -> set[str]:
    """Return the refs whose lines have words of their own that an answer repeats and the person did not say."""
    heard = _words(answer) - set(said)
    words = {ref: _words(line) - set(said) for ref, line in lines.items()}
    shared = Counter(word for own in words.values() for word in own)
    most, found = max(2, len(lines) // _SHARED_BY), set()
    for ref, every in words.items():
        own = {word for word in every if shared[word] <= most}
        need = min(_FEWEST + len(own) // 10, len(own))
        if need > 1 and len(own & heard) >= need:
            found.add(ref)
    return found


def _words(text: str) -> set[str]:
    return set(map(stem, content_words(text)))


DONE = {"pin": "pinned", "mute": "muted"}
"""The kinds of choices, each with the word for an entry that is so."""
_MOST, _LONGEST = 500, 300


class PromptChoices(NamedTuple):
    """All choices of a workspace: by the refs of entries `pin` or `mute`, in the order in which they were made.

    `budget` is what hooks may send when a session starts, in tokens (0: the default); `counts` says whether they count
    what they send.
    """

    chosen: Mapping[str, str] = {}
    budget: int = 0
    counts: bool = True

    def having(self, ref: str, kind: str) -> PromptChoices:
        """Return the choices plus one, which replaces that for the same entry; UsageError `prompt.choice`."""
        place, _, number = ref.partition("#")
        if not place or not number or len(ref) > _LONGEST or not ref.isprintable() or kind not in DONE:
            hint = "write the ref of an entry, as memdeck prompt shows it"
            raise UsageError("prompt.choice", f"{ref[:80]!r} is not a ref", hint)
        if len(self.chosen) >= _MOST and ref not in self.chosen:
            raise UsageError("prompt.choice", f"there are already {_MOST} pins and mutes", "remove some")
        others = {one: known for one, known in self.chosen.items() if one != ref}
        return self._replace(chosen={**others, ref: kind})

    def without(self, ref: str, kind: str) -> PromptChoices:
        """Return the choices without one; NotFoundError `prompt.not_chosen`."""
        if self.chosen.get(ref) != kind:
            raise NotFoundError("prompt.not_chosen", f"{ref[:80]} is not {DONE[kind]}", "memdeck prompt lists them")
        return self._replace(chosen={one: known for one, known in self.chosen.items() if one != ref})


def read_choices(state: PrivateState) -> PromptChoices:
    """Return the choices; ConfigError `prompt.choices` if the file has any other content, RefusedError `state.*`.

    A damaged file must not disclose muted entries to an agent, so it is an error and not treated as empty.
    """
    return _SETTINGS.read(state)


def change_choices(
    state: PrivateState, change: Callable[[PromptChoices], PromptChoices], *, now: datetime
) -> PromptChoices:
    """Replace the choices by the result of `change`, under a lock, and return them; errors as `read_choices`."""
    return _SETTINGS.change(state, change, command="prompt", now=now)


def _parse(document: dict[str, Any]) -> PromptChoices:
    choices = PromptChoices(budget=int(document.get("budget", 0)), counts=document.get("counts", True) is not False)
    for one in sorted(document["choices"], key=lambda one: one["kind"] == "mute"):  # Where both are, nothing is told.
        choices = choices.having(one["ref"], one["kind"])
    return choices


_SETTINGS = Settings(
    "prompts",
    "choices.json",
    PromptChoices(),
    _parse,
    lambda choices: {
        "choices": [{"ref": ref, "kind": kind} for ref, kind in choices.chosen.items()],
        "budget": choices.budget,
        "counts": choices.counts,
    },
    code="prompt.choices",
    what="what you pinned and muted",
    remedy="fix the file, or remove it and choose again; agents are told nothing meanwhile",
)
