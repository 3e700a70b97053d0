"""What was decided about an ask, and why it may not run yet, in a sentence or in a few words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memory.trust.pins.named_files import Pinned, Script

from .asks import Ask

NOT_OPEN = "the workspace is not approved for outgoing checks"
NOBODY = "nobody approved it yet"
OWN = "needs an approval of its own: "
CHANGED = "approved once, but changed since: "

_SHORT = {NOT_OPEN: "not approved yet", NOBODY: "not approved yet"}


def short_reason(why: str) -> str:
    """Return a reason in as few words as say it; one that names what is special about it stays as it is."""
    if why.startswith(CHANGED):
        return f"changed: {why.removeprefix(CHANGED)}"
    if why.startswith(OWN):
        return f"own approval: {why.removeprefix(OWN)}"
    return _SHORT.get(why, why)


SHORT = 10
"""How many hex digits of an id are shown."""
State = Literal["approved", "pending", "denied", "withdrawn", "refused"]


@dataclass(frozen=True, slots=True)
class ConsentDecision:
    """Whether an ask may run now; `text` is what runs, from the record, and None unless `allowed`.

    `id` names exactly this ask with its files ("" where it can never be approved), `why` is a sentence for people,
    `before` what was approved in its place before. `scripts` are the files that it names, `unknown` says
    which others it may reach, that cannot be known (`memory.trust.pins.unknown`). `single`: it was approved
    by itself, not with the workspace; only then may an address lead to private places.
    """

    allowed: bool
    state: State
    id: str
    text: str | None
    why: str
    before: Ask | None = None
    scripts: tuple[Script, ...] = ()
    scripts_before: tuple[Script, ...] = ()
    unknown: tuple[str, ...] = ()
    single: bool = False

    @property
    def waits(self) -> bool:
        """Whether it waits for a person: nobody decided, or it is another one than what was approved."""
        return self.state in ("pending", "withdrawn")

    @property
    def short_id(self) -> str:
        """The id as people see it."""
        return self.id[:SHORT]


def undecided(state: State, found: str, why: str, pinned: Pinned) -> ConsentDecision:
    """Return the decision about something that may not run."""
    return ConsentDecision(False, state, found, None, why, scripts=pinned.scripts, unknown=pinned.unknown)
