"""The advice to run the validation commands for the first time, which goes when they were run."""

from __future__ import annotations

from .files.model import Json

_ENDING = "to get a first validation."


def first_run(command: str) -> str:
    """Return the advice as a suggested action."""
    return f"Run `{command}` {_ENDING}"


def without_first_run(focus: Json) -> Json:
    """Return a section `currentFocus` without the advice, unless nothing was run."""
    if focus["validationSnapshot"]["status"] == "not-run":
        return focus
    kept = [one for one in focus["suggestedNextActions"] if not (one.startswith("Run `") and one.endswith(_ENDING))]
    return {**focus, "suggestedNextActions": kept}
