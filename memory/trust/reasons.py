"""Why something may not run yet, in a sentence and, where there is little room, in a few words."""

from __future__ import annotations

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
