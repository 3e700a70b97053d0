"""The parts of a repository, packages and folders of the main source folder, and the purpose of each.

A part is described in its own words, else by its largest files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .documents import capital, cut, ended, first_sentence, listed, opening_of, plain, sections_of
from .manifests import Package, Project, main_package
from .tree import Tree, is_document, is_test, language_of

MOST_MODULES = 16
_FEW, _SMALL = 6, 2
"""Where there are more folders than the first, those with fewer files than the second are no parts."""
_MAIN_PART = 0.8
_FLAT = 8
"""How many files of a source folder without folders are parts of their own."""


def modules_of(tree: Tree, projects: list[Project]) -> list[dict[str, str]]:
    """Return name, path and responsibility of up to `MOST_MODULES` parts, the main one first.

    First the packages, then the parts of the main source folder, then other folders with sources, then the tests.
    Documentation, samples and test data are no parts.
    """
    main = main_package(tree, projects[0]) if projects else None
    packages: dict[str, Package] = {}
    for project in projects:
        found = [one for one in project.packages if one.folder and tree.sources(one.folder)]
        for one in sorted(found, key=lambda one: (one is not main, -_size(tree, one.folder))):
            packages.setdefault(one.folder, one)
    source = main_folder(tree, main)
    parts = _parts(tree, source, packages)
    if source and not _is_in(source, packages):
        parts.insert(0, source)
    room = max(MOST_MODULES - len(packages), MOST_MODULES // 2)
    paths = [*list(packages)[: MOST_MODULES - min(len(parts), room // 2)], *parts]
    if main is not None and not main.folder:
        # The package at the root is the main one: its own folder comes before the other packages.
        paths = [*(one for one in ("lib", "src", "app") if not source and tree.sources(one)), *parts, *paths]
    outer = [one for one in tree.inner("") if tree.sources(one) and not any(_is_in(path, [one]) for path in paths)]
    outer.sort(key=lambda one: (-_size(tree, one), one))
    tests = [one for one in tree.inner("") if is_test(f"{one}/")]
    chosen = list(dict.fromkeys([*paths, *outer, *tests]))[:MOST_MODULES]
    return [_module(tree, path, packages.get(path), main) for path in chosen]


def _is_in(path: str, folders: Iterable[str]) -> bool:
    return any(path == one or path.startswith(f"{one}/") for one in folders)


def _module(tree: Tree, path: str, package: Package | None, main: Package | None) -> dict[str, str]:
    name = package.name if package is not None else path.rpartition("/")[2]
    if tree.has(path):
        if main is not None and name.partition(".")[0] in ("main", "index", "lib"):
            name = main.name
        return {"name": name, "path": path, "responsibility": ended(header(tree, path))}
    said = capital(first_sentence(plain(package.description))) if package is not None else ""
    said = said or ("Tests" if is_test(f"{path}/") else "") or _by_files(tree, path) or largest_of(tree, path)
    return {"name": name, "path": path, "responsibility": ended(said)}


def _size(tree: Tree, folder: str) -> int:
    return sum(tree.files[path] for path in tree.sources(folder))


def main_folder(tree: Tree, main: Package | None) -> str:
    """Return the folder with the sources of the main package: followed down while most are in one folder."""
    folder = main.folder if main is not None else ""
    while True:
        best = max(tree.inner(folder), key=lambda one: _size(tree, one), default="")
        if not best or _size(tree, best) < _size(tree, folder) * _MAIN_PART:
            return folder
        folder = best


def _parts(tree: Tree, folder: str, packages: Iterable[str]) -> list[str]:
    """Return the folders in the main source folder, the largest first; in a flat one, its files that say what they are.

    What is at the root of a repository counts only with the files there, its folders are found by themselves.
    """
    inner = [one for one in tree.inner(folder) if tree.sources(one)]
    inner = [one for one in inner if not any(_is_in(path, [one]) for path in packages)]
    if len(inner) > _FEW:
        inner = [one for one in inner if len(tree.sources(one)) >= _SMALL]
    if len(inner) >= 3:
        return sorted(inner, key=lambda one: (-_size(tree, one), one))
    files = [path for path in tree.folders.get(folder, []) if tree.is_work(path) and not path.endswith("__init__.py")]
    files.sort(key=lambda path: (-tree.files[path], path))
    return inner + [path for path in files if len(header(tree, path).split()) > 2][:_FLAT]


_DOCSTRING = re.compile(
    r"\A(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*[rRuUbB]{0,2}"
    r"(?:\"\"\"(.{1,4000}?)\"\"\"|'''(.{1,4000}?)'''|\"([^\"\n]{1,300})\")",
    re.DOTALL,
)
_MODULEDOC = re.compile(r"@moduledoc[ \t]+(?:(?:~S)?\"\"\"(.{1,4000}?)\"\"\"|\"([^\"\n]{1,300})\")", re.DOTALL)
_DOCS = {"py": _DOCSTRING, "pyi": _DOCSTRING, "ex": _MODULEDOC, "exs": _MODULEDOC}
"""Where the languages that have more than comments say what a file is."""
_TOP = r"\A(?:#![^\n]*\n|\s|[\"']use \w+[\"'];?|<\?php)*"
_BLOCK = re.compile(rf"{_TOP}/\*[*!]?(.{{1,4000}}?)\*/", re.DOTALL)
_LINES = re.compile(rf"{_TOP}((?:[ \t]*(?://|#(?!!|\[|include|if|pragma|define))[^\n]*\n)+)")
_STARS = re.compile(r"^[ \t]*(?:\*+|//+[!/]?|#+)[ \t]?", re.MULTILINE)
_ENDS = re.compile(r"\s*\Z|[ \t]*\n?[ \t]*\n|\s*(?:import|use|from|package|namespace|#|[\"']use)")
"""What follows a comment about the file; one directly above other code is about that code."""
_TAG = re.compile(r"^[ \t]*(?:@\w+|\\\w+)[^\n]*$", re.MULTILINE)
_LINK = re.compile(r"\{@\w+ (?:[\w.]+\.)?([^{}\n]+)\}|\[(`[^`\n]+`)\](?![(\[])")
"""Links of Javadoc and rustdoc."""
_LEGAL = re.compile(
    r"copyright|licen[sc]e|spdx|all rights reserved|eslint|prettier|@ts-|frozen_string|coding:|typed: |\+build|go:build"
    r"|shellcheck|warnings?\b|please |the author\b|bug reports",
    re.IGNORECASE,
)
_NO_HEADER = re.compile(r"[#=-]|(?:import|const|do not|on|if|when) |note", re.IGNORECASE)
_MOST_COMMENTS = 4
_HEADS = ("__init__.py", "lib.rs", "main.rs", "mod.rs", "doc.go", "package-info.java", "index.ts", "index.js",
          "index.mjs", "main.ts", "main.js", "main.go")  # fmt: skip


def _by_files(tree: Tree, folder: str) -> str:
    """Return what the main file of a folder says that it is, else the README of the folder; "" without either."""
    paths = [f"{folder}/{inner}{name}" for inner in ("", "src/") for name in _HEADS]
    # In Go any file can hold the comment of the package; elsewhere a file speaks for the folder if it is alone.
    direct = [path for path in tree.folders.get(folder, []) if tree.is_work(path)]
    alone = len(direct) == len(tree.below(folder)) == 1
    paths += [path for path in direct if alone or path.endswith(".go")][:30]
    readme = tree.readme(folder) or ""
    told = next((said for path in paths if tree.has(path) and (said := header(tree, path))), "")
    return told or first_sentence(opening_of(sections_of(tree.text(readme), readme), 200, strict=True))


def largest_of(tree: Tree, folder: str, most: int = 3) -> str:
    """Return a sentence with the largest files of a folder, sources before documents."""
    paths = tree.sources(folder) or [path for path in tree.below(folder) if language_of(path) or is_document(path)]
    paths = sorted(paths or tree.below(folder), key=lambda path: (-tree.files[path], path))
    names = [f"`{cut(path[len(folder) :].lstrip('/'), 60)}`" for path in paths[:most]]
    kind = f"{language} sources" if paths and (language := language_of(paths[0])) else "Files"
    return f"{kind}, {'the largest are ' if len(paths) > most else ''}{listed(names, most)}" if names else kind


def header(tree: Tree, path: str) -> str:
    """Return the first sentence of the description at the top of a source file; "" where there is none."""
    text, doc = tree.text(path)[:20_000], _DOCS.get(path.rpartition(".")[2])
    match = doc.search(text) if doc is not None else None
    if match is not None:
        found = next(filter(None, match.groups()), "")
    else:
        found = _first_comment(text) if doc is None and language_of(path) is not None else ""
    found = _LINK.sub(lambda link: link[1] or link[2], _TAG.sub("", found))
    for said in map(plain, re.split(r"\n[ \t]*\n", found)):
        if len(said.split()) >= 2 and "http" not in said and not _NO_HEADER.match(said):
            return "" if _LEGAL.search(said[:300]) else first_sentence(said).rstrip(":")
    return ""


def _first_comment(text: str) -> str:
    """Return the first comment at the top of a file that describes something; those about licenses are skipped."""
    for _ in range(_MOST_COMMENTS):
        match = _BLOCK.match(text) or _LINES.match(text)
        if match is None:
            return ""
        found, text = _STARS.sub("", match[1]), text[match.end() :]
        if not _LEGAL.search(found[:600]) and len(plain(_TAG.sub("", found)).split()) >= 2:
            return found if _ENDS.match(text) else ""
    return ""
