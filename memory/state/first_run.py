"""The advice to run the validation commands once, which an analysis gives and the first run removes."""

from __future__ import annotations

from .files.model import Json

_ENDING = "to get a first validation."


def first_run(command: str) -> str:
    """Return the advice to run a command first, as a suggested action."""
    return f"Run `{command}` {_ENDING}"


def without_first_run(focus: Json) -> Json:
    """Return a section `currentFocus` without that advice, unless nothing was run."""
    if focus["validationSnapshot"]["status"] == "not-run":
        return focus
    kept = [one for one in focus["suggestedNextActions"] if not (one.startswith("Run `") and one.endswith(_ENDING))]
    return {**focus, "suggestedNextActions": kept}
