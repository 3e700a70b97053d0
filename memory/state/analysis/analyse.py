"""Assembles a bundle from what was found out about a repository."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from memory.state.files.model import ENTRY_FILES
from memory.state.projections.markdown import one_line

from . import around
from .ecosystems import golang, jvm, native, node, others, python, rust
from .focus import current_focus
from .found import Ecosystem
from .languages import is_document, is_test, language_of
from .modules import areas_of, dense_areas, modules_of
from .texts.documents import TextSection, html_title, opening_of, parts_of, readme_of, title_of
from .texts.open_work import gotchas, next_steps
from .texts.prose import count_of, cut, ended, listed, some_sentences
from .tree import Tree

_LOOKS: tuple[Callable[[Tree], Ecosystem | None], ...] = (
    python.look, node.look, rust.look, golang.look, jvm.look, others.dotnet, others.ruby, others.php, others.elixir,
    others.swift, others.dart, native.look,
)  # fmt: skip
_GUIDES = ("AGENTS.md", "CLAUDE.md", "ARCHITECTURE.md", "docs/ARCHITECTURE.md", "docs/architecture.md", "DESIGN.md",
           "CONTRIBUTING.md", ".github/CONTRIBUTING.md")  # fmt: skip
_WHOLE = re.compile(r"[ /_-](?:parent|root|aggregator|monorepo|repository|workspaces?)\Z", re.IGNORECASE)
"""The endings that manifests of a workspace give its name."""
_SUMMARY, _MOST_ENTRYPOINTS, _MOST_KEY_PATHS, _MOST_FIRST = 400, 12, 16, 8


def analyse(root: str | os.PathLike[str], *, now: datetime) -> dict[str, Any]:
    """Return the bundle of the repository at `root`, in the shape of a state file; none of its strings is blank.

    The same files give the same bundle: `now` only dates what is found to be old. Nothing is run and links are not
    followed. A file that cannot be read is left out and reported as a known risk.
    """
    del now
    tree = Tree(root)
    ecosystems = _ecosystems(tree)
    primary = ecosystems[0] if ecosystems else None
    readme = readme_of(tree)
    text = tree.text(readme) if readme is not None else ""
    guides = [path for path in (readme, *_GUIDES) if path is not None and tree.has(path)]
    parts = parts_of(text)
    name = _name(tree, primary, parts, text)
    commands = around.validation_commands(tree, ecosystems)
    steps, traps = next_steps(tree), gotchas(tree) + _lock_gotchas(tree)
    problems = [problem for ecosystem in ecosystems for problem in ecosystem.problems]
    entrypoints = _entrypoints(ecosystems)
    modules = modules_of(tree, ecosystems)
    return {
        "project": {
            "name": name,
            "summary": _summary(tree, ecosystems, parts, name),
            "primaryEcosystem": primary.name if primary is not None else _without_manifest(tree),
            "packageManager": primary.manager if primary is not None else "none",
            "workspaceManager": next((one.workspace for one in ecosystems if one.workspace != "none"), "none"),
            "recommendedEntryFile": next((path for path in ENTRY_FILES if tree.has(path)), "AGENTS.md"),
            "keyPaths": _key_paths(tree, ecosystems, guides, entrypoints, modules),
        },
        "projectMap": {
            "modules": modules,
            "entrypoints": entrypoints,
            "denseSourceAreas": dense_areas(tree, ecosystems),
            "architectureNotes": _notes(tree, ecosystems),
            "firstFilesToRead": _first_files(tree, ecosystems, guides, entrypoints),
        },
        "currentFocus": current_focus(tree, name, steps, commands, problems, readme is not None),
        "gotchas": traps,
        "nextSteps": steps,
        "validationCommands": commands,
    }


def _ecosystems(tree: Tree) -> list[Ecosystem]:
    """Return the ecosystems of the manifests, the one with most files first."""
    found = [one for one in (look(tree) for look in _LOOKS) if one is not None]
    return sorted(found, key=lambda one: -sum(map(tree.count, one.languages)))


def _name(tree: Tree, primary: Ecosystem | None, parts: list[TextSection], text: str) -> str:
    root = primary.root if primary is not None else None
    if primary is not None and root is not None:
        inner = any(package.folder for package in primary.packages)
        return (_WHOLE.sub("", root.name).lstrip("@") or root.name) if inner else root.name
    title = (title_of(parts) or html_title(text)).rstrip(" ·|•–—-:")
    folder = one_line(os.path.basename(tree.root)) or "repository"
    return title if 0 < len(title) <= 60 and len(title.split()) <= 5 else folder


def _summary(tree: Tree, ecosystems: list[Ecosystem], parts: list[TextSection], name: str) -> str:
    said = some_sentences(opening_of(parts), _SUMMARY)
    if said:
        return ended(said)
    described = next((one.root.description for one in ecosystems if one.root and one.root.description), "")
    if described:
        return ended(cut(described, _SUMMARY))
    sources = len(tree.sources())
    texts = sum(1 for path in tree.files if is_document(path))
    if sources:
        languages = " and ".join(tree.languages()[:2]) or "source"
        return f"{name} has {count_of(sources, f'{languages} file')}; nothing says what it is for."
    if texts:
        which = "nothing" if readme_of(tree) is not None else "no README"
        return f"{name} has {count_of(texts, 'document')} and no code; {which} says what it is for."
    return f"{name} has no sources and no documents yet."


def _without_manifest(tree: Tree) -> str:
    languages = tree.languages()
    if languages:
        return languages[0]
    return "documentation" if any(map(is_document, tree.files)) else "none"


def _entrypoints(ecosystems: list[Ecosystem]) -> list[dict[str, str]]:
    """Return path and role of the entry points; a file with several roles lists all of them."""
    roles: dict[str, list[str]] = {}
    for ecosystem in ecosystems:
        for entry in ecosystem.entrypoints:
            known = roles.setdefault(entry.path, [])
            if entry.role not in known:
                known.append(entry.role)
    found = []
    for path, known in list(roles.items())[:_MOST_ENTRYPOINTS]:
        said = listed(known, 3)
        found.append({"path": path, "role": ended(said[0].upper() + said[1:])})
    return found


def _key_paths(
    tree: Tree,
    ecosystems: list[Ecosystem],
    guides: list[str],
    entrypoints: list[dict[str, str]],
    modules: list[dict[str, str]],
) -> list[str]:
    paths = guides + [path for ecosystem in ecosystems for path in ecosystem.manifests]
    paths += around.key_files(tree)
    paths += [path for path, _ in around.ci_files(tree)[:2]]
    paths += [entry["path"] for entry in entrypoints[:4]]
    parts = [module["path"] for module in modules]
    folders = [one for one in parts if tree.has_folder(one)]
    found = [one for one in folders if not any(one.startswith(f"{other}/") for other in folders)]
    if not paths and not found:
        found = [path for path in tree.files if is_document(path) or language_of(path) is not None][:_MOST_FIRST]
    paths += [one for one in parts if one not in folders] + found
    return list(dict.fromkeys(paths))[:_MOST_KEY_PATHS]


def _notes(tree: Tree, ecosystems: list[Ecosystem]) -> list[str]:
    found = []
    for ecosystem in ecosystems:
        inner = [package.name for package in ecosystem.packages if package.folder]
        if inner:
            names = listed([f"`{name}`" for name in inner], 8)
            found.append(
                f"Packages of the {ecosystem.workspace}: {names}."
                if ecosystem.workspace != "none"
                else f"{ecosystem.name} packages: {names}."
            )
    if len(ecosystems) > 1:
        found.append(f"Several ecosystems are in use: {', '.join(one.name for one in ecosystems)}.")
    found += [note for ecosystem in ecosystems for note in ecosystem.notes]
    for path in _GUIDES:
        if tree.has(path) and "rchitecture" in path.lower().replace("design", "rchitecture"):
            said = some_sentences(opening_of(parts_of(tree.text(path))), _SUMMARY)
            if said:
                found.append(f"{ended(said)} (`{path}`)")
    return [*found, *around.notes(tree)]


def _first_files(
    tree: Tree, ecosystems: list[Ecosystem], guides: list[str], entrypoints: list[dict[str, str]]
) -> list[str]:
    paths = guides + [ecosystem.manifests[0] for ecosystem in ecosystems[:2] if ecosystem.manifests]
    paths += [entry["path"] for entry in entrypoints[:3]]
    if len(paths) < _MOST_FIRST:
        own = [path for path in tree.sources() if not is_test(path) and not tree.is_aside(path.rpartition("/")[0])]
        largest = max(own, key=lambda path: (tree.files[path], path), default=None)
        paths += [area.largest for area in areas_of(tree)[:1]] or ([] if largest is None else [largest])
    if len(paths) < 3:
        told = [path for path in tree.files if is_document(path) or language_of(path) is not None]
        work = [path for path in told if not is_test(path) and not tree.is_aside(path.rpartition("/")[0])]
        paths += (work or told)[:_MOST_FIRST]
    return list(dict.fromkeys(paths))[:_MOST_FIRST]


def _lock_gotchas(tree: Tree) -> list[dict[str, str]]:
    """Return the gotcha about two lock files, of which only one is kept up to date."""
    locks = node.lock_files(tree)
    if len({manager for _, manager in locks}) < 2:
        return []
    names = " and ".join(f"`{path}`" for path, _ in locks)
    return [
        {
            "title": "Lock files of different package managers",
            "symptom": f"{names} are both at the root, and may hold different versions.",
            "cause": "More than one package manager wrote a lock file.",
            "correctPath": "Find out which file is kept up to date, use its package manager, and remove the others.",
        }
    ]
