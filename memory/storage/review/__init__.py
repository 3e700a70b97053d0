"""What an agent changes passes the person's rules first: it is made, waits for the person as a proposal, or is refused.

Every change goes through a transaction, and every transaction of an agent through `gate`: no verb has to ask, and none
can forget to.
"""

from __future__ import annotations

AGENT = "agent:"
"""What the name of an agent begins with."""
PERSONS = frozenset({"human", "cli"})
"""The names under which a person works."""
OWN = frozenset({"outside", "maintain", "monitor", "recover", "replay"})
"""The names of what memdeck does by itself, and notes of other programs."""


def is_agent(actor: str) -> bool:
    """Tell whether a name is one of an agent."""
    return actor.strip().casefold().startswith(AGENT)


def may_need_review(actor: str) -> bool:
    """Tell whether rules can hold for an actor: for all but the person and memdeck itself."""
    return actor not in PERSONS and actor not in OWN
