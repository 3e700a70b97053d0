"""The parts of a repository: packages, and folders of the main source folder."""

from __future__ import annotations

from .describe import header, responsibility, told_of
from .documents import ended
from .languages import is_aside, is_test_folder
from .manifests import Package, Project, main_package
from .tree import Tree

MOST_MODULES = 16
_FEW, _SMALL = 6, 2
"""Where there are more folders than the first, those with fewer files than the second are no parts."""
_MAIN_PART = 0.8
_FLAT = 8
"""How many files of a source folder without folders are parts of their own."""
_HEADERS = (".h", ".hh", ".hpp", ".hxx")


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
    if source and not any(source == one or source.startswith(f"{one}/") for one in packages):
        parts.insert(0, source)
    room = max(MOST_MODULES - len(packages), MOST_MODULES // 2)
    paths = [*list(packages)[: MOST_MODULES - min(len(parts), room // 2)], *parts]
    others = [one for one in tree.inner("") if not is_aside(one) and tree.sources(one)]
    outer = [one for one in others if not any(path == one or path.startswith(f"{one}/") for path in [*paths, source])]
    outer.sort(key=lambda one: (-_size(tree, one), one))
    tests = [one for one in tree.inner("") if is_test_folder(one) and tree.below(one)]
    told = told_of(tree)
    chosen = list(dict.fromkeys([*paths, *outer, *tests]))[:MOST_MODULES]
    return [_module(tree, path, packages.get(path), main, told) for path in chosen]


def _module(
    tree: Tree, path: str, package: Package | None, main: Package | None, told: dict[str, str]
) -> dict[str, str]:
    name = package.name if package is not None else path.rpartition("/")[2]
    if tree.has(path):
        said = next((said for one in _pair(tree, path) if (said := header(tree, one))), "")
        own = main is not None and path.rpartition("/")[2].partition(".")[0] in ("main", "index", "lib")
        return {"name": main.name if own and main else name, "path": path, "responsibility": ended(said)}
    description = package.description if package is not None else ""
    return {"name": name, "path": path, "responsibility": responsibility(tree, path, description, told.get(path, ""))}


def _pair(tree: Tree, path: str) -> list[str]:
    """Return the header of a C source and the source itself; a header describes it better."""
    stem = path.rpartition(".")[0]
    return [one for end in _HEADERS if tree.has(one := stem + end) and one != path] + [path]


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


def _parts(tree: Tree, folder: str, packages: dict[str, Package]) -> list[str]:
    """Return the folders in the main source folder, the largest first; in a flat one, its files that say what they are.

    What is at the root of a repository counts only with the files there, its folders are found by themselves.
    """
    inner = [one for one in tree.inner(folder) if tree.sources(one) and not is_aside(one)]
    inner = [one for one in inner if not any(path == one or path.startswith(f"{one}/") for path in packages)]
    if len(inner) > _FEW:
        inner = [one for one in inner if len(tree.sources(one)) >= _SMALL]
    if len(inner) >= 3:
        return sorted(inner, key=lambda one: (-_size(tree, one), one))
    files = [path for path in tree.folders.get(folder, []) if tree.is_work(path) and not path.endswith("__init__.py")]
    files = [path for path in files if not (path.endswith(_HEADERS) and len(_twins(tree, path)) > 1)]
    files.sort(key=lambda path: (-tree.files[path], path))
    return inner + [path for path in files if any(header(tree, one) for one in _pair(tree, path))][:_FLAT]


def _twins(tree: Tree, path: str) -> list[str]:
    stem = path.rpartition(".")[0]
    return [one for one in tree.folders[path.rpartition("/")[0]] if one.rpartition(".")[0] == stem]
