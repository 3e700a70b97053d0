"""The current focus: what the repository says about the work, and its risks."""

from __future__ import annotations

from typing import Any

from memory.state.paths import first_run
from memory.state.repository import is_foreign

from .commands import Command
from .documents import ended, listed
from .plans import MOST_CHANGES, Unreleased
from .tree import MOST_FILES, Tree

FOREIGN = "`.git` names a repository that does not list this folder as its work tree, so nothing of it was read."
NOT_RUN = "The validation commands were not run yet."
NO_COMMANDS = "No command is known that validates the work."
UNREAD = "Could not be read, so nothing of it is known"
_NOTHING = "No file in the repository says what is being worked on; `memdeck state status` shows the last commits."
_MOST_PROBLEMS = 8


def current_focus(
    tree: Tree,
    steps: list[dict[str, str]],
    changes: Unreleased | None,
    commands: list[Command],
    problems: list[str],
) -> dict[str, Any]:
    """Return the section `currentFocus`: nothing in it changes with each commit."""
    state = [FOREIGN] if is_foreign(tree.root) else []
    summary = _NOTHING
    if changes is not None:
        where = f"`{changes.path}`, “{changes.title}”," if changes.title else f"`{changes.path}`"
        summary = f"Work is on the next release: {where} lists what is not released yet."
        state += [ended(f"Not released yet: {change}") for change in changes.changes[:MOST_CHANGES]]
        if len(changes.changes) > MOST_CHANGES:
            state.append(f"`{changes.path}` lists more that is not released yet.")
    if steps:
        file = steps[0]["start"].rpartition("in `")[2].partition("`")[0]
        said = f"`{file}` lists what is open, first “{steps[0]['title']}”."
        summary = said if changes is None else f"{summary} {said}"
    actions = [first_run(commands[0].text)] if commands else []
    actions += [ended(f"Begin with “{steps[0]['title']}”")] if steps else []
    if tree.readme() is None:
        actions.append("Write a README that says what the project is for.")
    return {
        "summary": summary,
        "currentState": state,
        "knownRisks": _risks(tree, problems),
        "validationSnapshot": {
            "status": "not-run",
            "validatedAt": None,
            "summary": NOT_RUN if commands else NO_COMMANDS,
            "results": [],
        },
        "suggestedNextActions": actions,
    }


def _risks(tree: Tree, problems: list[str]) -> list[str]:
    risks = []
    if problems:
        # In one line: several lines would differ only in a name, and would be merged.
        risks.append(f"Broken manifests, of which nothing is known: {listed(problems, _MOST_PROBLEMS)}.")
    if tree.unread:
        unread = [f"`{path}` ({why})" for path, why in sorted(tree.unread.items())]
        risks.append(f"{UNREAD}: {listed(unread, _MOST_PROBLEMS)}.")
    if not tree.complete:
        risks.append(f"The repository is larger than what was looked at: the first {MOST_FILES:,} files.")
    return risks
