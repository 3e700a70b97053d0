"""The parts of a repository: packages of its manifests, folders with sources, files at its root, dense areas."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .found import Ecosystem, Package
from .ignored import is_generated
from .languages import is_document, is_test_file, is_test_folder, language_of
from .texts.describe import counted, header, responsibility
from .texts.prose import ended
from .texts.told import told_of
from .tree import Tree

MOST_MODULES = 16
_FEW_MODULES = 8
_MOST_DENSE = 5
_DENSE_FILES = 5
_DENSE_BYTES = 16 * 1024
_HIDDEN_MODULES = (".github", ".circleci", ".buildkite")
_TOOLS = re.compile(
    r"\..*|(?:setup|conftest|noxfile|tasks|fabfile|manage|versioneer)\.py|(?:gulp|grunt)file\.\w+|(?:build|mix)\.\w+"
    r"|package\.swift|.*\.(?:config|conf|setup)\.[cm]?[jt]s|.*rc\.[cm]?js|.*\.d\.ts|magefile\.go",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"(?:examples?|demos?|samples?|bench(?:mark)?s?|fuzz\w*)\.\w+", re.IGNORECASE)
_HEADERS = (".h", ".hh", ".hpp", ".hxx")
_NAMELESS = frozenset(("index", "main", "mod", "lib", "doc", "__init__", "__main__"))
_ONE_PACKAGE = ("Go",)
"""Languages in which all files of a folder form one part."""
_MOST_ROOT_PARTS = 6


def modules_of(tree: Tree, ecosystems: Sequence[Ecosystem]) -> list[dict[str, str]]:
    """Return name, path and responsibility of up to `MOST_MODULES` parts, sorted by path."""
    packages: dict[str, Package] = {}
    for ecosystem in ecosystems:
        for package in ecosystem.packages:
            if package.folder and tree.has_folder(package.folder):
                packages.setdefault(package.folder, package)
    folders = dict.fromkeys(packages)
    around = {"/".join(folder.split("/")[:end]) for folder in packages for end in range(1, folder.count("/") + 1)}
    waiting = _children(tree, "")
    while waiting:
        folder = waiting.pop()
        if folder in around and folder not in packages:
            # Other folders beside the packages may have no manifest of their own.
            waiting += _children(tree, folder)
        elif folder not in packages:
            folders[_collapse(tree, folder)] = None
    if len(folders) < _FEW_MODULES:
        _split(tree, folders)
    parts = [_root_module(tree, part, ecosystems) for part in root_parts(tree, _languages(tree, ecosystems))]
    heaviest = sorted(folders, key=lambda folder: (-_weight(tree, folder, folder in packages), folder))
    chosen = heaviest[: MOST_MODULES - len(parts)]
    names = _names(tree, chosen, {folder: package.name for folder, package in packages.items()})
    told = told_of(tree)
    return parts + [
        {
            "name": names[folder],
            "path": folder,
            "responsibility": responsibility(
                tree, folder, packages[folder].description if folder in packages else "", told.get(folder, "")
            ),
        }
        for folder in sorted(chosen, key=lambda folder: folder.split("/"))
    ]


def _languages(tree: Tree, ecosystems: Sequence[Ecosystem]) -> Collection[str]:
    """Return the languages of the repository: those of the first ecosystem, else the most frequent one."""
    first = ecosystems[0].languages if ecosystems else ()
    return first if any(tree.count(language) for language in first) else tree.languages()[:1]


def _root_module(tree: Tree, part: RootPart, ecosystems: Sequence[Ecosystem]) -> dict[str, str]:
    """Return name, path and responsibility of a part at the root; a header describes it better than its source does."""
    package = next((one.root.name for one in ecosystems if one.root is not None), "")
    said = next((said for path in (*headers_of(part), part.path, *part.files) if (said := header(tree, path))), "")
    if not said:
        largest = sorted(part.files, key=lambda path: (-tree.files[path], path))
        names = " and ".join(f"`{path}`" for path in largest[:2])
        counts = f"{counted(part.files)} with {size_words(sum(tree.files[path] for path in part.files))}"
        said = f"{counts}, such as {names}" if len(part.files) > 2 else f"{counts}: {names}"
    return {"name": part.name or package or part.path, "path": part.path, "responsibility": ended(said)}


def _children(tree: Tree, folder: str) -> list[str]:
    """Return the folders directly inside one that hold sources or documents."""
    return [one for one in tree.inner(folder) if one not in _HIDDEN_MODULES and _sources(tree, one, documents=True)]


def _sources(tree: Tree, folder: str, *, documents: bool = False) -> list[str]:
    return [
        path
        for path in tree.below(folder)
        if (language_of(path) is not None or (documents and is_document(path))) and not is_generated(path)
    ]


def _collapse(tree: Tree, folder: str) -> str:
    """Follow a folder down while it contains nothing but one folder, as in `src/main/java/com/acme`."""
    while not tree.folders[folder]:
        inner = tree.inner(folder)
        code = [one for one in inner if not is_test_folder(one)]
        if len(inner) == 1 or (len(code) == 1 and folder.rpartition("/")[2] == "src"):
            folder = (code or inner)[0]
        else:
            break
    return folder


def _split(tree: Tree, folders: dict[str, None]) -> None:
    """Add the folders inside the largest code folders to the list, until there are enough."""
    for folder in sorted(folders, key=lambda one: (-len(_sources(tree, one)), one)):
        if tree.is_sample(folder) or folder.startswith(".") or len(folders) >= _FEW_MODULES:
            continue
        inner = [_collapse(tree, one) for one in _children(tree, folder) if _sources(tree, one)]
        inner = [one for one in inner if not tree.is_sample(one)]
        if len(inner) < 2:
            continue
        best = sorted(inner, key=lambda one: (-len(_sources(tree, one)), one))
        folders.update(dict.fromkeys(best[: MOST_MODULES - len(folders)]))
        if not any(language_of(path) for path in tree.folders[folder]):
            # A folder of folders adds nothing to what they say themselves.
            folders.pop(folder)


def _weight(tree: Tree, folder: str, is_package: bool) -> int:
    """Return the weight of a folder for the map: packages and code first, by the number of files."""
    count = len(_sources(tree, folder, documents=True))
    return count + (100_000 if is_package else 0) - (50_000 if folder.startswith(".") else 0)


def _names(tree: Tree, folders: list[str], packages: dict[str, str]) -> dict[str, str]:
    """Return a name for each folder: that of its package or Python module, else its last part where that is unique."""
    last = [folder.rpartition("/")[2] for folder in folders]
    names = {}
    for folder, short in zip(folders, last, strict=True):
        name = packages.get(folder, "")
        if not name and tree.has(f"{folder}/__init__.py"):
            name = _dotted(tree, folder)
        names[folder] = name or (short if last.count(short) == 1 else folder)
    return names


def _dotted(tree: Tree, folder: str) -> str:
    parts = folder.split("/")
    first = len(parts)
    while first > 0 and tree.has("/".join([*parts[:first], "__init__.py"])):
        first -= 1
    return ".".join(parts[first:])


@dataclass(frozen=True, slots=True)
class Area:
    """A folder with many sources directly in it: its files, the largest of them, and the bytes of all."""

    folder: str
    sources: list[str]
    largest: str
    size: int


def areas_of(tree: Tree) -> list[Area]:
    """Return the folders with most source directly in them, the largest first; no tests, benchmarks and the like."""
    areas = []
    for folder, paths in tree.folders.items():
        sources = [path for path in paths if language_of(path) is not None and not is_generated(path)]
        sources = [path for path in sources if not is_test_file(path)]
        if len(sources) >= _DENSE_FILES and folder and not tree.is_aside(folder):
            largest = max(sources, key=lambda path: (tree.files[path], path))
            areas.append(Area(folder, sources, largest, sum(tree.files[path] for path in sources)))
    return sorted(areas, key=lambda area: (-area.size, area.folder))[:_MOST_DENSE]


def dense_areas(tree: Tree, ecosystems: Sequence[Ecosystem]) -> list[dict[str, str]]:
    """Return path and note of the folders with most source directly in them, else of a large file at the root."""
    found = [
        {
            "path": area.folder,
            "note": f"{counted(area.sources)} with {size_words(area.size)}; the largest is"
            f" `{area.largest.rpartition('/')[2]}` with {size_words(tree.files[area.largest])}.",
        }
        for area in areas_of(tree)
    ]
    if not found:
        paths = [part.path for part in root_parts(tree, _languages(tree, ecosystems))]
        largest = max(paths, key=lambda path: tree.files[path], default="")
        if largest and tree.files[largest] >= _DENSE_BYTES:
            return [{"path": largest, "note": f"{counted([largest])} with {size_words(tree.files[largest])}."}]
    return found


def size_words(size: int) -> str:
    """Return a number of bytes in words for people."""
    if size < 1024:
        return f"{size} bytes"
    return f"{round(size / 1024)} KB" if size < 1024 * 1024 else f"{size / 1024 / 1024:.1f} MB"


# -- the sources at the root that are the work itself, not settings of tools -------------------------------------------


@dataclass(frozen=True, slots=True)
class RootPart:
    """A part at the root: its name ("" where its files give none), the file to open first, and all of its files."""

    name: str
    path: str
    files: list[str]


def root_parts(tree: Tree, languages: Collection[str]) -> list[RootPart]:
    """Return the parts at the root in the languages of the work, at most six of the largest, sorted by path.

    There are none where a folder holds more of the work than the root: then the files at the root only serve it.
    """
    files = [path for path in tree.top_files() if language_of(path) in languages and _is_work(tree, path)]
    one_package = [path for path in files if language_of(path) in _ONE_PACKAGE]
    rest = [path for path in files if path not in one_package] if _holds_most(tree, files, languages) else []
    groups: dict[str, list[str]] = {}
    for path in rest:
        groups.setdefault(path.rpartition(".")[0], []).append(path)
    parts = [RootPart("" if stem in _NAMELESS else stem, _opener(tree, group), group) for stem, group in groups.items()]
    if one_package:
        parts.append(RootPart("", _opener(tree, one_package), one_package))
    parts.sort(key=lambda part: (-sum(tree.files[path] for path in part.files), part.path))
    return sorted(parts[:_MOST_ROOT_PARTS], key=lambda part: part.path)


def headers_of(part: RootPart) -> list[str]:
    """Return the header files of a part, as in C."""
    return [path for path in part.files if path.lower().endswith(_HEADERS)]


def _is_work(tree: Tree, path: str) -> bool:
    if is_generated(path) or is_test_file(path) or not tree.files[path]:
        return False
    return _TOOLS.fullmatch(path) is None and _ASIDE.fullmatch(path) is None


def _holds_most(tree: Tree, files: list[str], languages: Collection[str]) -> bool:
    """Return whether no folder at the root holds more bytes of the work than the given files."""
    sizes: dict[str, int] = {}
    for path in tree.sources():
        folder, inner, _ = path.partition("/")
        around = path.rpartition("/")[0]
        if inner and language_of(path) in languages and not is_test_file(path) and not tree.is_aside(around):
            sizes[folder] = sizes.get(folder, 0) + tree.files[path]
    return sum(tree.files[path] for path in files) >= max(sizes.values(), default=0)


def _opener(tree: Tree, files: list[str]) -> str:
    """Return the file of a part to open first: its entry point, else the largest file that is not a header."""
    first = [path for path in files if path.rpartition(".")[0] in _NAMELESS]
    sources = [path for path in files if not path.lower().endswith(_HEADERS)]
    return max(first or sources or files, key=lambda path: (tree.files[path], path))
