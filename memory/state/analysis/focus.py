"""The current focus: the subject of the work, its state, and its risks."""

from __future__ import annotations

from typing import Any

from memory.state.files.model import Json
from memory.state.projections.markdown import one_line
from memory.state.repository import is_foreign

from .around import ci_files
from .git import GitWork, work_of
from .languages import is_test
from .texts.open_work import marks, unreleased
from .texts.prose import count_of, ended, listed
from .tree import MOST_FILES, Tree

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


FOREIGN = "`.git` names a repository that does not list this folder as its work tree, so nothing of it was read."
NOT_RUN = "The validation commands were not run yet."
_MOST_PROBLEMS = 8
UNREAD = "Could not be read, so nothing of it is known"
NO_COMMANDS = "No command is known that validates the work."


def current_focus(
    tree: Tree,
    name: str,
    steps: list[dict[str, str]],
    commands: list[dict[str, Any]],
    problems: list[str],
    has_readme: bool,
) -> dict[str, Any]:
    """Return the section `currentFocus`; every line of it is based on the repository."""
    work = work_of(tree.root)
    return {
        "summary": _summary(tree, name, work, steps),
        "currentState": _state(tree, work),
        "knownRisks": _risks(tree, problems),
        "validationSnapshot": {
            "status": "not-run",
            "validatedAt": None,
            "summary": NOT_RUN if commands else NO_COMMANDS,
            "results": [],
        },
        "suggestedNextActions": _actions(tree, steps, commands, has_readme),
    }


def _summary(tree: Tree, name: str, work: GitWork | None, steps: list[dict[str, str]]) -> str:
    changes = unreleased(tree)
    if work is not None and work.branch and work.branch not in ("main", "master", "trunk", "develop"):
        said = f"Work is on the branch `{work.branch}`"
    elif changes is not None:
        said = "Work is on the next release"
    elif steps:
        said = f"Work is on what `{_file_of(steps[0])}` lists"
    elif work is not None and work.subject:
        return ended(f"The last commit is “{work.subject}”; no plan says what comes next")
    else:
        return f"No plan in the repository says what the work on {name} is about."
    if changes is not None:
        said += f": `{changes.path}` lists {count_of(changes.count, 'change')} that no version holds yet"
    listed = [step for step in steps if changes is None or _file_of(step) != changes.path]
    return ended(f"{said}; next is “{listed[0]['title']}”" if listed else said)


def _file_of(step: dict[str, str]) -> str:
    return step["why"].partition("`")[2].partition("`")[0]


def _state(tree: Tree, work: GitWork | None) -> list[str]:
    lines = []
    if work is None:
        lines.append(FOREIGN if is_foreign(tree.root) else "The folder is no git repository.")
    else:
        where = f"On branch `{work.branch}`" if work.branch else "On no branch"
        lines.append(ended(f"{where}; the last commit is “{work.subject}”" if work.subject else where))
    changes = unreleased(tree)
    if changes is not None:
        kinds = ", ".join(f"{count} under {title}" for title, count in changes.kinds.items() if title != changes.title)
        said = f"Not released yet (`{changes.path}`): {count_of(changes.count, 'change')}"
        lines.append(f"{said}: {kinds}." if kinds and len(changes.kinds) > 1 else f"{said}.")
    sources = tree.sources()
    tests = sum(map(is_test, sources))
    if sources:
        with_tests = f", {tests} of them for tests" if tests else ""
        lines.append(f"{count_of(len(sources), 'source file')}{with_tests}.")
    return lines


def _risks(tree: Tree, problems: list[str]) -> list[str]:
    risks = []
    if problems:
        # In one line: several lines would differ only in a name, and would be merged.
        risks.append(f"Broken manifests, of which nothing is known: {listed(problems, _MOST_PROBLEMS)}.")
    sources = tree.sources()
    if sources:
        if not any(map(is_test, sources)) and not any(_holds_tests(tree, path) for path in sources):
            risks.append("No tests were found.")
        if not ci_files(tree):
            risks.append("No settings of continuous integration were found.")
    counts, where, most = marks(tree)
    if counts:
        said = " and ".join(f"{counts[mark]} {mark}" for mark in ("FIXME", "TODO", "XXX", "HACK") if mark in counts)
        total = sum(counts.values())
        risks.append(
            f"{said} comment{'' if total == 1 else 's'} in the sources,"
            f" {'' if most == total else 'most of them ' if most * 2 > total else 'as '}in `{where}`."
        )
    if tree.unread:
        unread = [f"`{path}` ({why})" for path, why in sorted(tree.unread.items())]
        risks.append(f"{UNREAD}: {listed(unread, _MOST_PROBLEMS)}.")
    if not tree.complete:
        risks.append(f"The repository is larger than what was looked at: the first {MOST_FILES:,} files.")
    return risks


def _holds_tests(tree: Tree, path: str) -> bool:
    """Return whether a source file holds its own tests, as in Rust."""
    return path.endswith(".rs") and ("#[test]" in tree.text(path) or "#[cfg(test)]" in tree.text(path))


def _actions(tree: Tree, steps: list[dict[str, str]], commands: list[dict[str, Any]], has_readme: bool) -> list[str]:
    actions = []
    if not tree.files:
        return ["Write a README that says what the project is for."]
    if commands:
        command = one_line(" ".join(commands[0]["command"]))
        actions.append(first_run(command))
    if steps:
        actions.append(ended(f"Begin with “{steps[0]['title']}”"))
    if not has_readme:
        actions.append("Write a README that says what the project is for.")
    return actions
