"""The person's choices for prompts: pinned entries, entries that are hidden from agents, and what a start may cost.

They are stored in the private state folder of the workspace (`prompts/choices.json`), which is in no repository.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal, NamedTuple

from memory.errors import NotFoundError, RefusedError, UsageError
from memory.storage.changes import AGENT, may_need_review
from memory.storage.own_folders import PrivateState
from memory.storage.private.settings import Settings

Kind = Literal["pin", "mute"]


KINDS: tuple[Kind, ...] = ("pin", "mute")
EVERY = "*"
"""The agent of a choice for all agents."""
_MOST, _LONGEST = 500, 300


class PromptChoice(NamedTuple):
    """One entry, by its ref, that is pinned or muted for one agent (`agent:NAME`) or for all (`*`)."""

    ref: str
    kind: Kind
    agent: str = EVERY

    def json(self) -> dict[str, str]:
        """Return it for programs."""
        return {"ref": self.ref, "kind": self.kind, "agent": self.agent}


class PromptChoices(NamedTuple):
    """All choices of a workspace, in the order in which they were made; an agent's own override those for all.

    `budget` is what hooks may send when a session starts, in tokens (0: the default); `counts` says whether they count
    what they send.
    """

    every: tuple[PromptChoice, ...] = ()
    budget: int = 0
    counts: bool = True

    def for_agent(self, agent: str) -> dict[str, Kind]:
        """Return by ref the choices for an agent, or for all if `agent` is empty, in their order."""
        name = agent_name(agent)
        found: dict[str, Kind] = {one.ref: one.kind for one in self.every if one.agent == EVERY}
        return found | {one.ref: one.kind for one in self.every if one.agent == name != EVERY}

    def having(self, choice: PromptChoice) -> PromptChoices:
        """Return the choices plus one, which replaces the one for the same entry and agent."""
        others = tuple(one for one in self.every if (one.ref, one.agent) != (choice.ref, choice.agent))
        return self._replace(every=(*others, choice))

    def without(self, choice: PromptChoice) -> PromptChoices:
        """Return the choices without one; NotFoundError `prompt.not_chosen`."""
        if choice not in self.every:
            word = {"pin": "pinned", "mute": "muted"}[choice.kind]
            whom = "" if choice.agent == EVERY else f" for {choice.agent}"
            raise NotFoundError("prompt.not_chosen", f"{choice.ref} is not {word}{whom}", "memdeck prompt lists them")
        return self._replace(every=tuple(one for one in self.every if one != choice))


def agent_name(agent: str) -> str:
    """Return the name of an agent in the form of choices: `*` for none, with `agent:` before any other."""
    agent = agent.strip()
    if agent in ("", EVERY, AGENT):
        return EVERY
    return agent if agent.startswith(AGENT) else f"{AGENT}{agent}"


def choice_of(ref: str, kind: str, agent: str = "") -> PromptChoice:
    """Return a valid choice; UsageError `prompt.choice` for an invalid one."""
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
            return PromptChoice(ref, one, name)
    raise UsageError("prompt.choice", f"{kind[:40]!r} is no choice", f"write {' or '.join(KINDS)}")


def read_choices(state: PrivateState) -> PromptChoices:
    """Return the choices; ConfigError `prompt.choices` if the file has any other content, RefusedError `state.*`.

    A damaged file must not disclose muted entries to an agent, so it is an error and not treated as empty.
    """
    return _SETTINGS.read(state)


def change_choices(
    state: PrivateState, change: Callable[[PromptChoices], PromptChoices], *, actor: str, now: datetime
) -> PromptChoices:
    """Replace the choices by the result of `change`, under a lock, and return them; errors as `read_choices`.

    RefusedError `prompt.person_only` for agents.
    """
    if may_need_review(actor):
        raise RefusedError("prompt.person_only", f"only a person may pin and mute, not {actor[:80]}", "ask the person")

    def bounded(before: PromptChoices) -> PromptChoices:
        made = change(before)
        if len(made.every) > _MOST:
            raise UsageError("prompt.choice", f"there are {_MOST} pins and mutes already", "take some back")
        return made

    return _SETTINGS.change(state, bounded, command="prompt", now=now)


def _parse(document: dict[str, Any]) -> PromptChoices:
    every = tuple(choice_of(one["ref"], one["kind"], one["agent"]) for one in document["choices"])
    return PromptChoices(every, int(document.get("budget", 0)), document.get("counts", True) is not False)


_SETTINGS = Settings(
    "prompts",
    "choices.json",
    PromptChoices(),
    _parse,
    lambda choices: {
        "choices": [one.json() for one in choices.every],
        "budget": choices.budget,
        "counts": choices.counts,
    },
    code="prompt.choices",
    what="what you pinned and muted",
    remedy="mend the file, or remove it and choose anew; agents are told nothing meanwhile",
)
