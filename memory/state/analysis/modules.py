"""The parts of a repository, packages, folders and files of the main source folder, and the purpose of each.

A part is described in the words of its manifest, of a document that names its path, or in its own; one of which none is
known says what is in it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from memory.base.words import content_words, stem

from .declarations import about, header
from .documents import capital, ended, first_sentence, is_said, listed, opening_of, plain, sayings, sections_of
from .manifests import Package, Project, main_package
from .tree import SOURCE_FOLDERS, Tree, is_document, is_test, language_of, stem_of
from .uses import Weight, reason

MOST_MODULES, MOST_PACKAGES, MOST_AREAS = 14, 20, 12
_MAIN_PART, _NAMED_PART = 0.8, 0.4
"""The share of sources that makes a folder the main one, and that of one with a usual name such as `src`."""
_TESTS = "Tests: "
_DIRECT, _FLAT, _SHOWN, _MORE, _LIKE, _MOST_TESTS, _OUTER = 3, 8, 8, 4, 5, 3, 5
"""How many files make a folder a source folder, how many are told, how many names of what is in a folder, how many
parts beside many packages, how many names that begin alike are told as one, how many folders of tests, and how many
areas outside of the main source folder have room in any case.
"""
_MOST_SAID = 260
_Part = dict[str, str]


def parts_of(
    tree: Tree, projects: list[Project], summary: str, first: list[str], weight: dict[str, Weight]
) -> tuple[list[_Part], list[_Part]]:
    """Return the parts of a repository, the main one first, with the files to read `first`; then those of which only
    the content is known.

    First the packages, then the parts of the main source folder, then other folders with sources or tests, then files.
    Documentation and samples are no parts. Nothing is said twice, nor what the summary or a name says.
    """
    main = main_package(tree, projects[0]) if projects else None
    packages: dict[str, Package] = {}
    for project in projects:
        found = [one for one in project.packages if one.folder and tree.sources(one.folder)]
        for one in sorted(found, key=lambda one: (one is not main, one.private, -_size(tree, one.folder))):
            packages.setdefault(one.folder, one)
    of_workspace = any(one.workspace.endswith("workspace") for one in projects)
    source, said_of = main_folder(tree, main, projects), sayings(tree)
    at_root = main is not None and not main.folder
    inner = _folders(tree, source, packages)
    folders = [*list(packages)[: not at_root], source, *inner, *packages] if main else [*packages, source, *inner]
    names = source.split("/")
    around = ("/".join(names[:end]) for end in reversed(range(len(names))))
    for folder in around if source else ():
        # What holds a part is none itself.
        folders += [one for one in _folders(tree, folder, folders) if one not in folders]
    files = [path for path in weight if path.rpartition("/")[0] == source and path not in first]
    files = [path for path in files if path.rpartition("/")[2] not in _HEADS]
    modules, areas, told, entries = list[_Part](), list[_Part](), summary, main.entries if main is not None else {}
    beside = sorted(filter(_BESIDE.match, tree.folders), reverse=True)
    for path in dict.fromkeys(filter(None, [*folders, *first, *files, *beside])):
        package, is_file = packages.get(path), tree.has(path)
        said = _said_of(tree, path, package, said_of) if path in weight or not is_file else ""
        known = said.rstrip(".").lower() in told.lower() or (package is None and is_said(said, summary))
        if known or (package is None and _repeats(said, path)):
            said = "The main package" if package is not None and package is main else ""
        told += f" {said}"
        said = said or (reason(weight, path) if path in first and path not in entries else "")
        most = MOST_PACKAGES if package is not None else max(MOST_MODULES, len(packages) + _MORE)
        room = sum(one["path"] in files for one in modules) < _FLAT if path in files else len(modules) < most
        name = package.name if package is not None else path.rpartition("/")[2]
        inside = "" if said or is_file else content_of(tree, path, weight)
        said = said or (f"The package `{name}`" if package is not None and of_workspace and not inside else "")
        if said and (room or path in first):
            modules.append({"name": name, "path": path, "responsibility": ended(capital(said))})
        elif inside:
            tests = sum(one["note"].startswith(_TESTS) for one in areas) if inside.startswith(_TESTS) else -1
            within = package is None and tests < 0 and is_in(path, [source])
            if len(areas) < MOST_AREAS - _OUTER * within and tests < _MOST_TESTS:
                areas.append({"path": path, "note": inside})
    return modules, areas


def content_of(tree: Tree, folder: str, weight: dict[str, Weight]) -> str:
    """Return the names of the sources in a folder, those that begin alike as one, and of the folders in it; "" for one
    name that no test has.
    """
    if _BESIDE.match(folder):
        paths = [path for path in tree.below(folder) if is_document(path) or not re.search(r"docs?\Z", folder)]
        ends = Counter(path.rpartition(".")[2] for path in paths).most_common(1)
        return next((f"{count} `.{end}` files." for end, count in ends if count > 1), "")
    tests = is_test(f"{folder}/")
    paths = [path for path in tree.folders[folder] if language_of(path) and (tests or not is_test(path))]
    inner = [one for one in tree.inner(folder) if _holds(tree, one) or _BESIDE.match(one)] if folder else []
    source = [one for one in inner if one.rpartition("/")[2].lower() in (*SOURCE_FOLDERS, "main") or len(inner) == 1]
    if source and len(paths) < _DIRECT and not (tests or (paths and len(inner) == 1)):
        return content_of(tree, source[0], weight)
    paths.sort(key=lambda path: (-weight[path].value if path in weight else 0, path))
    files = [path.rpartition("/")[2] for path in paths if path.rpartition("/")[2] not in _HEADS]
    begins = Counter(begin[0] for file in files if (begin := re.match(r"[A-Za-z]{2,}[-_.](?=.*\.)", file)))
    many = [begin for begin, count in begins.most_common() if count >= _LIKE]
    names = [f"`{begin}*` ({begins[begin]} files)" for begin in many]
    names += [f"`{one.rpartition('/')[2]}/`" for one in inner]
    names += dict.fromkeys(f"`{stem_of(file)}`" for file in files if not file.startswith(tuple(many) or "\0"))
    return f"{_TESTS * tests}{listed(names, _SHOWN // 2 if tests else _SHOWN)}." if tests or len(names) > 1 else ""


def _repeats(said: str, path: str) -> bool:
    """Return whether a text says no more than a path does, but for one word beside two of its own."""
    names = content_words(re.sub(r"(?<=[a-z])(?=[A-Z])|[_/.]", " ", path).lower())
    words = {stem(word) for word in content_words(said)}
    known = words & {stem(word) for word in names}
    return len(words - known) < (2 if len(known) > 1 else 1)


def is_in(path: str, folders: Iterable[str]) -> bool:
    """Return whether a path is that of one of some folders, or below one."""
    return any(path == one or path.startswith(f"{one}/") for one in folders)


def _said_of(tree: Tree, path: str, package: Package | None, said_of: dict[str, str]) -> str:
    """Return what a part is in the words of its manifest, of the documents, or of itself; "" where nothing says it."""
    if tree.has(path):
        return said_of.get(path, "") or about(tree, path)
    said = capital(first_sentence(plain(package.description), _MOST_SAID)) if package is not None else ""
    return said or said_of.get(path, "") or _of_folder(tree, path)


_HEADS = ("__init__.py", "lib.rs", "main.rs", "mod.rs", "doc.go", "package-info.java", "index.ts", "index.js",
          "index.mjs", "main.ts", "main.js", "main.go")  # fmt: skip


def _of_folder(tree: Tree, folder: str) -> str:
    """Return what the main file of a folder says that it is, else the README of the folder; "" without either."""
    paths = [f"{folder}/{inner}{name}" for inner in ("", "src/") for name in _HEADS]
    # In Go any file can hold the comment of the package.
    paths += [path for path in tree.folders.get(folder, []) if path.endswith(".go") and tree.is_work(path)][:30]
    readme = tree.readme(folder) or ""
    told = next((said for path in paths if tree.has(path) and (said := header(tree, path))), "")
    return told or first_sentence(opening_of(sections_of(tree.text(readme), readme), 200, strict=True))


def _size(tree: Tree, folder: str) -> int:
    return sum(tree.files[path] for path in tree.sources(folder))


def main_folder(tree: Tree, main: Package | None, projects: list[Project]) -> str:
    """Return the folder with the sources of the main package: followed down while most are in one folder below it.

    Those of the other packages do not count for one at the root, but where it has no sources beside them.
    """
    folder = main.folder if main is not None else ""
    packages = [one.folder for project in projects for one in project.packages if one.folder]
    apart = packages if main is not None and not folder else []

    def size(folder: str) -> int:
        return sum(tree.files[path] for path in tree.sources(folder) if not is_in(path, apart))

    while True:
        inner = [one for one in tree.inner(folder) if tree.sources(one)]
        best = max(inner, key=size, default="")
        part = _NAMED_PART if best.rpartition("/")[2].lower() in SOURCE_FOLDERS else _MAIN_PART
        enough = folder and sum(map(tree.is_work, tree.folders[folder])) >= _DIRECT
        alone = bool(folder) and len(inner) == 1
        if enough or not best or (not alone and size(best) < max(size(folder), 1) * part):
            return folder
        folder = best


_SOURCE_SET = re.compile(r"/(?:[a-z]\w*)?[mM]ain\Z")
"""A folder with the sources for one platform, as in Kotlin: it is no part of its own."""


def _folders(tree: Tree, folder: str, packages: Iterable[str]) -> list[str]:
    """Return the folders with sources directly in a folder: the largest of the work, then tests, then examples."""
    inner = [one for one in tree.inner(folder) if _holds(tree, one) and not _SOURCE_SET.search(one)]
    inner = [one for one in inner if not any(is_in(path, [one]) for path in packages)]
    return sorted(inner, key=lambda one: (-_size(tree, one), not is_test(f"{one}/"), one))


_NO_PART = re.compile(
    r"(?:\A|/)(?:\.[^/]+|_*(?:docs?|site|website|www|wiki|guides|rfcs|templates?|snippets|fixtures?|testdata|test_files|snapshots"
    r"|mocks|single[-_]include|amalgamat\w*)_*)(?:/|\Z)",
    re.IGNORECASE,
)
"""The folders of documentation, of data of tests, and of what is put together from elsewhere."""

_BESIDE = re.compile(r"(?:[^/]+/){0,2}(?:locales?|translations|docs?)\Z")
"""The folders that count although they may have no sources."""


def _holds(tree: Tree, folder: str) -> bool:
    """Return whether a folder has hand-written sources: of the work, of its tests, or of examples of it."""
    return any(language_of(path) and not _NO_PART.search(path) for path in tree.below(folder))
