"""The person's choices for prompts: pinned entries, entries that are hidden from agents, and what a start may cost.

They are stored in the private state folder of the workspace (`prompts/choices.json`), which is in no repository.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from memory.errors import NotFoundError, UsageError
from memory.storage.own_folders import PrivateState
from memory.storage.private.record import Settings

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
