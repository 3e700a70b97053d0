"""The person's choices for prompts: entries that are pinned on top, and entries that agents are never told of.

They are kept in the private state folder of the workspace (`prompts/choices.json`), which no repository brings along.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, get_args

from memory.errors import ConfigError, NotFoundError, RefusedError, UsageError
from memory.storage.review import AGENT, may_need_review

if TYPE_CHECKING:
    from memory.storage.private.record import PrivateRecord
    from memory.storage.private.state import State

Kind = Literal["pin", "mute"]
KINDS: tuple[Kind, ...] = get_args(Kind)
EVERY = "*"
"""The agent of a choice that holds for all agents."""
_FOLDER, _FILE = "prompts", "choices.json"
_VERSION = 1
_MOST, _LONGEST = 500, 300


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry, by its ref, that is pinned or muted for one agent (`agent:NAME`) or for all (`*`)."""

    ref: str
    kind: Kind
    agent: str = EVERY

    def json(self) -> dict[str, str]:
        """Return it for programs."""
        return {"ref": self.ref, "kind": self.kind, "agent": self.agent}


@dataclass(frozen=True, slots=True)
class Choices:
    """All choices of a workspace, in the order in which they were made; an agent's own count before those for all."""

    every: tuple[Choice, ...] = ()

    def for_agent(self, agent: str) -> dict[str, Kind]:
        """Return by ref what holds for an agent, or for all where `agent` is empty, in the order of the choices."""
        name = agent_name(agent)
        found: dict[str, Kind] = {one.ref: one.kind for one in self.every if one.agent == EVERY}
        return found | {one.ref: one.kind for one in self.every if one.agent == name != EVERY}

    def having(self, choice: Choice) -> Choices:
        """Return the choices with one more, which replaces the one for the same entry and agent."""
        others = tuple(one for one in self.every if (one.ref, one.agent) != (choice.ref, choice.agent))
        return Choices((*others, choice))

    def without(self, choice: Choice) -> Choices:
        """Return the choices without one; NotFoundError `prompt.not_chosen`."""
        if choice not in self.every:
            word = {"pin": "pinned", "mute": "muted"}[choice.kind]
            whom = "" if choice.agent == EVERY else f" for {choice.agent}"
            raise NotFoundError("prompt.not_chosen", f"{choice.ref} is not {word}{whom}", "memdeck prompt lists them")
        return Choices(tuple(one for one in self.every if one != choice))


def agent_name(agent: str) -> str:
    """Return the name of an agent as choices have it: `*` for none, with `agent:` before any other."""
    agent = agent.strip()
    if agent in ("", EVERY, AGENT):
        return EVERY
    return agent if agent.startswith(AGENT) else f"{AGENT}{agent}"


def choice_of(ref: str, kind: str, agent: str = "") -> Choice:
    """Return a choice that can hold; UsageError `prompt.choice` for one that cannot."""
    ref, name = ref.strip(), agent_name(agent)
    place, _, number = ref.partition("#")
    if not place or not number or len(ref) > _LONGEST or not ref.isprintable():
        raise UsageError(
            "prompt.choice", f"{ref[:80]!r} is no ref", "write the ref of an entry, as memdeck prompt shows it"
        )
    if len(name) > 80 or not name.isprintable():
        raise UsageError("prompt.choice", f"{name[:80]!r} is no agent", "write agent:NAME")
    for one in KINDS:
        if one == kind:
            return Choice(ref, one, name)
    raise UsageError("prompt.choice", f"{kind[:40]!r} is no choice", f"write {' or '.join(KINDS)}")


def read_choices(state: State | None) -> Choices:
    """Return the choices; ConfigError `prompt.choices` where the file holds anything else, RefusedError `state.*`.

    A damaged file is no reason to tell an agent what the person muted, so nothing counts as usual then.
    """
    if state is None:
        return Choices()
    record = _record(state)
    stored = record.read()
    return Choices() if not stored.exists else _read(stored.data, str(record.path))


def change_choices(state: State | None, change: Callable[[Choices], Choices], *, actor: str, now: datetime) -> Choices:
    """Replace the choices by what `change` makes of them, under a lock, and return them; errors as `read_choices`.

    RefusedError `prompt.person_only` for agents, `prompt.no_room` where nothing is kept outside of the workspace.
    """
    if may_need_review(actor):
        raise RefusedError("prompt.person_only", f"only a person may pin and mute, not {actor[:80]}", "ask the person")
    if state is None:
        raise RefusedError("prompt.no_room", "nothing is kept outside of this workspace", "use one with a state folder")
    record = _record(state)
    made = Choices()

    def work(data: bytes | None) -> bytes:
        nonlocal made
        made = change(Choices() if data is None else _read(data, str(record.path)))
        if len(made.every) > _MOST:
            raise UsageError("prompt.choice", f"there are {_MOST} pins and mutes already", "take some back")
        document = {"version": _VERSION, "choices": [one.json() for one in made.every]}
        return json.dumps(document, indent=1).encode() + b"\n"

    record.update(work, command="prompt", now=now)
    return made


def _record(state: State) -> PrivateRecord:
    from memory.storage.private.record import PrivateRecord

    return PrivateRecord(state.folder, _FOLDER, _FILE)


def _read(data: bytes, path: str) -> Choices:
    try:
        document = json.loads(data)
        if document["version"] != _VERSION:
            raise ValueError("another version")
        return Choices(tuple(choice_of(one["ref"], one["kind"], one["agent"]) for one in document["choices"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, UsageError) as error:
        raise ConfigError(
            "prompt.choices",
            f"what you pinned and muted cannot be read: {path} ({type(error).__name__})",
            "mend the file, or remove it and choose anew; agents are told nothing meanwhile",
            file=path,
            line=1,
        ) from None
