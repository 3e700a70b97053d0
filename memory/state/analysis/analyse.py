"""Assembles a bundle from what was found out about a repository."""

from __future__ import annotations

import os
import re
from datetime import datetime
from typing import Any

from memory.base.words import content_words, stem
from memory.state.files.model import ENTRY_FILES, NO_FOCUS
from memory.state.git import is_foreign, most_changed
from memory.state.paths import first_run
from memory.state.projections.markdown import one_line

from .commands import Command, ci_files, commands_of
from .documents import capital, cut, ended, listed, opening_of, plain, sections_of
from .manifests import Package, Project, main_package, projects_of, whole_name
from .modules import main_folder, modules_of
from .plans import MOST_CHANGES, Unreleased, gotchas, newest_version, next_steps, unreleased
from .tree import MOST_FILES, Tree, is_document, is_test_folder, language_of

_GUIDES = ("AGENTS.md", "CLAUDE.md", "ARCHITECTURE.md", "docs/ARCHITECTURE.md", "docs/architecture.md", "DESIGN.md",
           "CONTRIBUTING.md", ".github/CONTRIBUTING.md")  # fmt: skip
_H1 = re.compile(r"<h1(?:\s[^<>]{0,300})?>(.{1,300}?)</h1>", re.DOTALL | re.IGNORECASE)
_COMING = re.compile(r"version\W{1,20}(\d+\.\d+)[\d.]*(?:-dev|\.?dev\d|-SNAPSHOT)", re.IGNORECASE)
"""The version of a manifest that is not released yet."""
_NAMED = re.compile(r"\S+ (?:is|are) ")
_SUMMARY, _SHORT, _REPEATED = 400, 8, 0.7
_MOST_ENTRYPOINTS, _MOST_KEY_PATHS, _MOST_FIRST = 12, 16, 9

FOREIGN = "`.git` names a repository that does not list this folder as its work tree, so nothing of it was read."
NOT_RUN = "The validation commands were not run yet."
NO_COMMANDS = "No command is known that validates the work."
UNREAD = "Could not be read, so nothing of it is known"
_NOTHING = f"{NO_FOCUS}; `memdeck state status` shows the last commits."
_MOST_PROBLEMS = 8


def analyse(root: str | os.PathLike[str], *, now: datetime) -> dict[str, Any]:
    """Return the bundle of the repository at `root`, in the shape of a state file; none of its strings is blank.

    The same files and commits give the same bundle. Nothing of the repository is run; a file that cannot be read is
    left out and reported as a known risk.
    """
    del now
    tree = Tree(root)
    projects = projects_of(tree)
    primary = projects[0] if projects else None
    main = main_package(tree, primary) if primary is not None else None
    name = _name(tree, primary)
    commands = commands_of(tree, projects)
    checks = commands[:2]
    manifests = " ".join(tree.text(path) for path in primary.manifests) if primary is not None else ""
    coming = _COMING.search(manifests)
    folder = main.folder if main is not None else ""
    steps, changes = next_steps(tree), unreleased(tree, folder, coming[1] if coming is not None else "")
    guides = [path for path in (tree.readme(), *_GUIDES) if path is not None and tree.text(path)]
    entrypoints = _entrypoints(projects, main)
    modules = modules_of(tree, projects)
    return {
        "project": {
            "name": name,
            "summary": _summary(tree, projects, main, name),
            "primaryEcosystem": primary.ecosystem.name if primary is not None else _without_manifest(tree),
            "packageManager": primary.manager if primary is not None else "none",
            "workspaceManager": next((project.workspace for project in projects if project.workspace), "none"),
            "recommendedEntryFile": next(iter(tree.top_entries()), ENTRY_FILES[0]),
            "keyPaths": _key_paths(tree, projects, guides, entrypoints, main_folder(tree, main)),
        },
        "projectMap": {
            "modules": modules,
            "entrypoints": entrypoints,
            "denseSourceAreas": [],
            "architectureNotes": _notes(tree, projects, modules, [one for one in commands if one not in checks]),
            "firstFilesToRead": _first_files(tree, guides, main, entrypoints),
        },
        "currentFocus": _focus(
            tree,
            steps,
            changes or newest_version(tree, folder),
            checks,
            [problem for project in projects for problem in project.problems],
        ),
        "gotchas": gotchas(tree),
        "nextSteps": steps,
        "validationCommands": [command.json() for command in checks],
    }


def _name(tree: Tree, primary: Project | None) -> str:
    root = primary.root if primary is not None else None
    if primary is not None and root is not None:
        name = whole_name(root.name) if primary.workspace else root.name
        if name.lower() not in ("root", "monorepo", "workspace"):
            return name
    text = tree.text(tree.readme() or "")
    titles = [section.title for section in sections_of(text) if section.level == 1 and section.title]
    html = _H1.search(text)
    title = next(iter(titles), plain(html[1]) if html is not None else "").rstrip(" ·|•–—-:")
    folder = one_line(os.path.basename(tree.root)) or "repository"
    return title if 0 < len(title) <= 60 and len(title.split()) <= 5 else folder


def _summary(tree: Tree, projects: list[Project], main: Package | None, name: str) -> str:
    """Return what the project is: the description in a manifest; where that is short or missing, with the README's."""
    own = main is not None and main.name.lower().rpartition("/")[2] in (
        name.lower(),
        os.path.basename(tree.root).lower(),
    )
    # A package that is not named like the whole describes only itself.
    packages = [main if own else None, *(project.root for project in projects[:1])]
    described = next((plain(one.description) for one in packages if one is not None and one.description), "")
    readme = tree.readme()
    described = described or (plain(main.description) if main is not None and readme is None else "")
    opening = opening_of(sections_of(tree.text(readme), readme), _SUMMARY) if readme is not None else ""
    if described and opening:
        if described.rstrip(".") in opening:
            described = ""
        elif len(described.split()) >= _SHORT:
            opening = ""
        elif _is_said(described, opening):
            described = ""
    said = " ".join(
        ended(one if one.startswith(name) or _NAMED.match(one) else capital(one)) for one in (described, opening) if one
    )
    if said:
        return cut(said, _SUMMARY)
    if tree.sources():
        return f"A {' and '.join(tree.languages()[:2])} project; no file says what it is for."
    if any(map(is_document, tree.files)):
        return "A collection of documents; no file says what it is for."
    return "There are no sources and no documents yet."


def _is_said(described: str, opening: str) -> bool:
    """Return whether an opening says what a description says, and more."""
    told, words = ({stem(word) for word in content_words(text)} for text in (opening, described))
    return len(words) > 2 and len(told & words) >= _REPEATED * len(words)


def _without_manifest(tree: Tree) -> str:
    languages = tree.languages()
    return languages[0] if languages else "documentation" if any(map(is_document, tree.files)) else "none"


def _entrypoints(projects: list[Project], main: Package | None) -> list[dict[str, str]]:
    """Return path and role of the entry points, those of the main package first."""
    roles = dict(main.entries) if main is not None else {}
    for project in projects:
        for package in project.packages:
            # The main files of other packages are found in the packages themselves.
            programs = {path: role for path, role in package.entries.items() if role.startswith(("The com", "The pro"))}
            programs = {path: role for path, role in programs.items() if package is main or role not in roles.values()}
            roles = programs | roles if package is main else roles | programs
    return [{"path": path, "role": ended(role)} for path, role in list(roles.items())[:_MOST_ENTRYPOINTS]]


def _key_paths(
    tree: Tree, projects: list[Project], guides: list[str], entrypoints: list[dict[str, str]], source: str
) -> list[str]:
    paths = [*guides, *(path for project in projects for path in project.manifests[:2])]
    paths += [path for path in tree.top_files() if path in ("Makefile", "justfile", "Taskfile.yml", "tox.ini")]
    paths += [path for path, _ in ci_files(tree)[:1]]
    paths += [entry["path"] for entry in entrypoints[:3]]
    paths += [source] if source else []
    paths += [folder for folder in tree.inner("") if is_test_folder(folder)][:2]
    paths = paths or [path for path in tree.files if is_document(path) or tree.is_work(path)][:_MOST_FIRST]
    return list(dict.fromkeys(paths))[:_MOST_KEY_PATHS]


def _notes(tree: Tree, projects: list[Project], modules: list[dict[str, str]], commands: list[Command]) -> list[str]:
    found = []
    for project in projects:
        known = {module["path"] for module in modules}
        inner = [f"`{package.name}`" for package in project.packages if package.folder and package.folder not in known]
        if inner:
            found.append(f"Further packages: {listed(inner, 12)}.")
        found += project.versions
    if len(projects) > 1:
        found.append(f"Uses {' and '.join(project.ecosystem.name for project in projects)}.")
    found += [f"{command.kind.capitalize()}: `{command.text}` ({command.source})." for command in commands]
    for path in _GUIDES:
        if tree.has(path) and re.search(r"architecture|design", path, re.IGNORECASE):
            said = opening_of(sections_of(tree.text(path)), _SUMMARY)
            found += [f"{ended(said)} (`{path}`)"] if said else []
    services: dict[str, str] = {}
    for path, service in ci_files(tree):
        services.setdefault(service, path)
    return [*found, *(f"Continuous integration is {service}: `{path}`." for service, path in services.items())]


def _first_files(tree: Tree, guides: list[str], main: Package | None, entrypoints: list[dict[str, str]]) -> list[str]:
    """Return what to read first: the guides, entry points, the largest sources, and what changed most of late."""
    own = tree.sources(main.folder if main is not None else "") or tree.sources()
    entries = [entry["path"] for entry in entrypoints if main is None or entry["path"] in main.entries]
    languages = [language_of(path) for path in own]
    known = {language_of(path) for path in entries} or set(languages)
    work = {path for path, language in zip(own, languages, strict=True) if language in known}
    largest = sorted(work or own, key=lambda path: (-tree.files[path], path))
    paths = [*guides[:3], *entries[:2], *largest[:2]]
    paths += [path for path in most_changed(tree.root) if path in work and path not in paths][:2]
    if not own:
        paths += [path for path in tree.files if is_document(path)]
    return list(dict.fromkeys(paths))[:_MOST_FIRST]


def _focus(
    tree: Tree,
    steps: list[dict[str, str]],
    changes: Unreleased | str,
    commands: list[Command],
    problems: list[str],
) -> dict[str, Any]:
    """Return the section `currentFocus`: nothing in it changes with each commit."""
    state = [FOREIGN] if is_foreign(tree.root) else []
    summary = _NOTHING
    if isinstance(changes, str):
        state += [changes] if changes else []
    else:
        where = f"`{changes.path}`, “{changes.title}”," if changes.title else f"`{changes.path}`"
        summary = f"Work is on the next release: {where} lists what is not released yet."
        state += [ended(f"Not released yet: {change}") for change in changes.changes[:MOST_CHANGES]]
        if len(changes.changes) > MOST_CHANGES:
            state.append(f"`{changes.path}` lists more that is not released yet.")
    if steps:
        file = steps[0]["start"].rpartition("in `")[2].partition("`")[0]
        said = f"`{file}` lists what is open, first “{steps[0]['title']}”."
        summary = said if isinstance(changes, str) else f"{summary} {said}"
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
