"""The parts of a repository, packages and folders of the main source folder, and the purpose of each.

A part is described in its own words, else by the names that its largest files declare; one of which neither is known
is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .documents import capital, cut, ended, first_sentence, opening_of, plain, sections_of
from .manifests import Package, Project, main_package
from .tree import Tree, is_test, language_of

MOST_MODULES = 16
_FEW, _SMALL, _ALL = 6, 2, 3
"""Where there are more folders than the first, those with fewer files than the second are no parts. With as many parts
as the third, the files in them say nothing of the folder around.
"""
_MAIN_PART = 0.8
_FLAT = 8
"""How many files of a source folder without folders are parts of their own."""
_LOOKED_AT, _TOLD, _SHOWN, _WORDS, _FEWEST, _MOST_TEXT = 8, 2, 6, 3, 2, 200_000
"""How many files of a part without a description are read, how many of them and of their names are told, how many words
the description of a declaration has and that of a file, and how many characters of a file are read.
"""


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
    parts = _parts(tree, source, packages, main.entries if main is not None and not source else ())
    says = bool(_by_files(tree, source)) or sum(map(tree.is_work, tree.folders[source])) >= _SMALL
    if source and not _is_in(source, packages) and (says or len(parts) < _ALL):
        parts.insert(0, source)
    room = max(MOST_MODULES - len(packages), MOST_MODULES // 2)
    paths = [*list(packages)[: MOST_MODULES - min(len(parts), room // 2)], *parts]
    if main is not None and not main.folder:
        # The package at the root is the main one: its own folder comes before the other packages.
        paths = [*(one for one in ("lib", "src", "app") if not source and tree.sources(one)), *parts, *paths]
    outer = [one for one in tree.inner("") if tree.sources(one) and not any(_is_in(path, [one]) for path in paths)]
    outer.sort(key=lambda one: (-_size(tree, one), one))
    tests = [one for one in tree.inner("") if is_test(f"{one}/")]
    told = (_module(tree, path, packages.get(path), main) for path in dict.fromkeys([*paths, *outer, *tests]))
    return [module for module in told if module["responsibility"]][:MOST_MODULES]


def _is_in(path: str, folders: Iterable[str]) -> bool:
    return any(path == one or path.startswith(f"{one}/") for one in folders)


def _module(tree: Tree, path: str, package: Package | None, main: Package | None) -> dict[str, str]:
    name = package.name if package is not None else path.rpartition("/")[2]
    if tree.has(path):
        if main is not None and name.partition(".")[0] in ("main", "index", "lib"):
            name = main.name
        role = main.entries.get(path, "") if main is not None else ""
        said = _said_by(tree, path) or _declares(tree, [path]) or role
    else:
        said = capital(first_sentence(plain(package.description))) if package is not None else ""
        said = said or ("Tests" if is_test(f"{path}/") else "") or _by_files(tree, path) or _by_declarations(tree, path)
        if not said and package is not None:
            said = f"A package of {len(tree.sources(path))} source files"
    return {"name": name, "path": path, "responsibility": ended(capital(said)) if said else ""}


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


_STUB = re.compile(r"/__init__\.|\.pyi\Z")


def _parts(tree: Tree, folder: str, packages: Iterable[str], entries: Iterable[str]) -> list[str]:
    """Return the folders in the main source folder, the largest first; in a flat one, its largest files, too.

    What is at the root of a repository counts only with the files there, its folders are found by themselves.
    """
    inner = [one for one in tree.inner(folder) if tree.sources(one)]
    inner = [one for one in inner if not any(_is_in(path, [one]) for path in packages)]
    if len(inner) > _FEW:
        inner = [one for one in inner if len(tree.sources(one)) >= _SMALL]
    inner.sort(key=lambda one: (-_size(tree, one), one))
    if len(inner) == 1:
        inner += [one for one in tree.inner(inner[0]) if len(tree.sources(one)) >= _SMALL]
    if len(inner) >= _ALL and folder:
        return inner
    files = [path for path in tree.folders.get(folder, []) if tree.is_work(path) and not _STUB.search(path)]
    files = [path for path in files if path in entries or _said_by(tree, path) or _declares(tree, [path])]
    return [*inner, *sorted(files, key=lambda path: (-tree.files[path], path))[:_FLAT]]


_DOCSTRING = re.compile(
    r"\A(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*[rRuUbB]{0,2}"
    r"(?:\"\"\"(.{1,4000}?)\"\"\"|'''(.{1,4000}?)'''|\"([^\"\n]{1,300})\")",
    re.DOTALL,
)
_MODULEDOC = re.compile(r"@moduledoc[ \t]+(?:(?:~S)?\"\"\"(.{1,20000}?)\"\"\"|\"([^\"\n]{1,300})\")", re.DOTALL)
_DOCS = {"py": _DOCSTRING, "pyi": _DOCSTRING, "ex": _MODULEDOC, "exs": _MODULEDOC}
"""Where the languages that have more than comments say what a file is."""
_STARS = re.compile(r"^[ \t]*(?:\*+|//+[!/]?|#+)[ \t]?", re.MULTILINE)
_COMMENT = re.compile(r"//|/\*|#(?!!|\[|include|if|pragma|define)")
_ENDS = re.compile(r"\s*(?:\Z|import|use|from|package|namespace|#|[\"']use)")
"""What follows line comments about the file; those directly above other code are about that code."""
_BEFORE = re.compile(r"#!|[\"']use \w+|<\?php")
"""Lines that come before the first comment of a file."""
_TAG = re.compile(r"^[ \t]*(?:[@\\]brief|[@\\]\w+[^\n]*$)", re.MULTILINE)
_LINK = re.compile(
    r"\{@\w+ (?:[\w.]+\.)?([^{}\n]+)\}|\[(`[^`\n]+`)\](?![(\[])|:[a-z:]{2,20}:`~?(?:[\w.]+\.)?([^`<>\n]+)`"
)
"""Links of Javadoc, rustdoc and Sphinx."""
_INLINE = re.compile(r"[@\\](?:ref|c|a|p|em)[ \t]+")
_REMAINS = re.compile(r"[@\\](?:ref|see|link|param|return)|\]\(|\{@|::`")
"""The words of Doxygen inside a sentence; and what would be left of links."""
_LEGAL = re.compile(
    r"copyright|licen[sc]e|spdx|all rights reserved|eslint|prettier|@ts-|frozen_string|coding:|typed: |\+build|go:build"
    r"|shellcheck|warnings?\b|please |the author\b|bug reports",
    re.IGNORECASE,
)
_NO_HEADER = re.compile(
    r"```|(?:import|const|do not|on|if|when|there|we|raised|for|by) |note|todo|fixme", re.IGNORECASE
)
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


def _by_declarations(tree: Tree, folder: str) -> str:
    """Return what the largest files of a folder say that they are, else what they declare; "" without either."""
    direct = [path for path in tree.folders.get(folder, []) if tree.is_work(path)]
    near = direct if len(direct) > 1 else tree.sources(folder)
    paths = sorted(near, key=lambda path: (-tree.files[path], path))[:_LOOKED_AT]
    said = ((cut(path[len(folder) :].lstrip("/"), 60), _said_by(tree, path, len(paths) == 1)) for path in paths)
    told = [one if one.startswith("`") else f"`{file}`: {one}" for file, one in said if one]
    # What one of many files says is not what the folder is.
    enough = len(told) >= min(len(paths), _TOLD)
    more = ["and more"] if len(near) > _TOLD else []
    return "; ".join([*(one.rstrip(".") for one in told[:_TOLD]), *more]) if enough else _declares(tree, paths)


def _said_by(tree: Tree, path: str, alone: bool = True) -> str:
    """Return what a file says that it is, else what the comment at the declaration says that it is named after, or,
    where it is told `alone`, at its only one, after the name of that; "" without either.
    """
    if said := header(tree, path):
        return said
    found, file = _declarations(tree.text(path)), _folded(path.rpartition("/")[2].partition(".")[0])
    named = (one for one in found if one[1] and ((alone and len(found) == 1) or _is_about(file, _folded(one[0]))))
    name, said = next(named, ("", ""))
    return said if not said or re.match(rf"(?:The )?{re.escape(name)} \w+s\b", said) else f"`{name}`: {said}"


def _is_about(file: str, name: str) -> bool:
    """Return whether a declaration has the name of its file, but for a verb before it and a letter or two after it."""
    short = _MADE.sub("", name)
    return short.startswith(file) and len(short) - len(file) < 3


def _declares(tree: Tree, paths: list[str]) -> str:
    """Return the names that files declare for others, the same number of each first; "" without any."""
    found = [[name for name, _ in _declarations(tree.text(path))] for path in paths]
    each = _TOLD if len(paths) > 1 else _SHOWN
    names = [f"`{name}`" for inner in found for name in inner[:each]]
    names += [f"`{name}`" for inner in found for name in inner[each:]]
    shown = list(dict.fromkeys(names))
    return f"Declares {', '.join(shown[:_SHOWN])}{' and more' if len(shown) > _SHOWN else ''}" if shown else ""


def _folded(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


_MADE = re.compile(r"\A(?:define|create|make|new|use|get)(?=\w{3})")
"""Verbs in front of the thing that a function makes: `defineStore` is what `store.ts` is about."""
_DECLARED = re.compile(
    r" {0,4}(?:(?:export|default|pub|pub\(crate\)|public|internal|open|sealed|abstract|final|static|async|data) )*"
    r"(?:class|interface|trait|struct|enum(?: class)?|record|object|protocol|type(?= [A-Z])|defmodule|defprotocol"
    r"|(?P<function>func|fun|fn|function|const|def)) (?P<name>[A-Za-z][\w.]*)"
)
_CLASS = re.compile(r"^class ([A-Z]\w*)[^\n]*:\n[ \t]+[rR]?\"\"\"(.{1,4000}?)\"\"\"", re.DOTALL | re.MULTILINE)
_VALUE = re.compile(r"(?:module\.)?exports\b|(?:var|let|const|static|private|protected) ")
_OPEN = re.compile(r"export |pub |public |func [A-Z]|(?:async )?def [a-z]|defmodule |class [A-Z]|type [A-Z]\w* (?!=)")
"""The beginnings of declarations that other files can use."""


def _declarations(text: str) -> list[tuple[str, str]]:
    """Return the names that a source file declares for others, each with what the comment above it says: types first,
    then functions, then names for other types. Where some are declared as open, the others are left out.
    """
    inside = dict(_CLASS.findall(text[:_MOST_TEXT]))
    exported = "module.exports" in text
    ranked: list[tuple[int, str, str]] = []
    for comment, line in _comments(text):
        if found := _DECLARED.match(line):
            is_open = _OPEN.match(line) is not None or (exported and line.startswith("function "))
            rank = 3 if not is_open else 2 if _ALIAS.search(line) else 1 if found["function"] else 0
            if rank < 3 or found["function"] is None:
                name = found["name"]
                ranked.append((rank, name, _described(inside.get(name, comment), _WORDS)))
    ranked.sort(key=lambda one: one[0])
    least = 2 if ranked and ranked[0][0] < 3 else 3
    return [(name, said) for rank, name, said in ranked if rank <= least]


_ALIAS = re.compile(r"\btype [A-Z]\w*(?:<.*>)? *=|\bconst [A-Z]")


def _comments(text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of code of a source file, each with the comment above it; a blank line ends a comment, too."""
    comment: list[str] = []
    block = False
    for line in [*text[:_MOST_TEXT].split("\n"), ""]:
        bare = line.strip()
        if block or _COMMENT.match(bare):
            comment.append(bare)
            block = (block or bare.startswith("/*")) and not bare.endswith("*/")
        elif not bare.startswith(("@", "#[", "template")):
            yield "\n".join(comment), line
            comment = []


def header(tree: Tree, path: str) -> str:
    """Return the first sentence of the description at the top of a source file; "" where there is none."""
    text, doc = tree.text(path), _DOCS.get(path.rpartition(".")[2])
    if doc is not None:
        # The module that a file is about says most.
        return _described(max(map("".join, doc.findall(text)), key=len, default=""), _FEWEST)
    for comment, code in _comments(text) if language_of(path) is not None else ():
        if said := _described(comment, _FEWEST):
            about_file = comment.startswith("/*") and not (_DECLARED.match(code) or _VALUE.match(code))
            return said if about_file or _ENDS.match(code) else ""
        if code.strip() and not _BEFORE.match(code):
            break
    return ""


def _described(comment: str, least: int) -> str:
    """Return the first sentence of a comment with at least so many words; "" where it describes nothing."""
    text = _TAG.sub("", _INLINE.sub("", _STARS.sub("", comment.strip("/*!")))).strip()
    text = "" if _LEGAL.search(text[:600]) else _LINK.sub(lambda link: link[1] or link[2] or f"`{link[3]}`", text)
    for said in map(plain, re.split(r"\n[ \t]*(?:\n|[-*] )|(?<=\w)\n(?=(?:They|It|This|These|We|If|When|The) )", text)):
        if len(said.split()) >= _FEWEST and not said.startswith(("#", "=", "-")):
            useless = len(said.split()) < least or "http" in said or _NO_HEADER.match(said)
            first = "" if useless else first_sentence(said)
            return "" if first.endswith((":", "…")) or _REMAINS.search(first) else first
    return ""
