"""The parts of a repository: packages of its manifests, folders with sources, files at its root, the dense areas."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .found import Ecosystem, Package
from .ignored import is_generated
from .languages import is_document, is_test_file, is_test_folder, language_of
from .root_files import RootPart, headers_of, root_parts
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


def modules_of(tree: Tree, ecosystems: Sequence[Ecosystem]) -> list[dict[str, str]]:
    """Return name, path and responsibility of up to `MOST_MODULES` parts, sorted by path."""
    packages: dict[str, Package] = {}
    for ecosystem in ecosystems:
        for package in ecosystem.packages:
            if package.folder and tree.has_folder(package.folder):
                packages.setdefault(package.folder, package)
    folders = dict.fromkeys(packages)
    around = {"/".join(parts[:end]) for parts in map(_parts, packages) for end in range(1, len(parts))}
    waiting = _children(tree, "")
    while waiting:
        folder = waiting.pop()
        if folder in around and folder not in packages:
            # Beside packages there may be folders without a manifest of their own.
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
    """Return the languages of the work: those of the first ecosystem, else the most frequent one."""
    first = ecosystems[0].languages if ecosystems else ()
    return first if any(tree.count(language) for language in first) else tree.languages()[:1]


def _root_module(tree: Tree, part: RootPart, ecosystems: Sequence[Ecosystem]) -> dict[str, str]:
    """Return name, path and responsibility of a part at the root; a header says more of it than its source does."""
    package = next((one.root.name for one in ecosystems if one.root is not None), "")
    said = next((said for path in (*headers_of(part), part.path, *part.files) if (said := header(tree, path))), "")
    if not said:
        largest = sorted(part.files, key=lambda path: (-tree.files[path], path))
        names = " and ".join(f"`{path}`" for path in largest[:2])
        counts = f"{counted(part.files)} with {size_words(sum(tree.files[path] for path in part.files))}"
        said = f"{counts}, such as {names}" if len(part.files) > 2 else f"{counts}: {names}"
    return {"name": part.name or package or part.path, "path": part.path, "responsibility": ended(said)}


def _parts(folder: str) -> list[str]:
    return folder.split("/")


def _children(tree: Tree, folder: str) -> list[str]:
    """Return the folders directly in one that hold sources or documents."""
    return [one for one in tree.inner(folder) if one not in _HIDDEN_MODULES and _sources(tree, one, documents=True)]


def _sources(tree: Tree, folder: str, *, documents: bool = False) -> list[str]:
    return [
        path
        for path in tree.below(folder)
        if (language_of(path) is not None or (documents and is_document(path))) and not is_generated(path)
    ]


def _collapse(tree: Tree, folder: str) -> str:
    """Follow a folder down as long as it holds nothing but one folder: `src/main/java/com/acme`."""
    while not tree.folders[folder]:
        inner = tree.inner(folder)
        code = [one for one in inner if not is_test_folder(one)]
        if len(inner) == 1 or (len(code) == 1 and folder.rpartition("/")[2] == "src"):
            folder = (code or inner)[0]
        else:
            break
    return folder


def _split(tree: Tree, folders: dict[str, None]) -> None:
    """Put the folders within the largest code folders beside them, until there are enough."""
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
            # A folder of folders says nothing that they do not say themselves.
            folders.pop(folder)


def _weight(tree: Tree, folder: str, is_package: bool) -> int:
    """Return how much a folder belongs into the map: packages and code first, by the number of files."""
    count = len(_sources(tree, folder, documents=True))
    return count + (100_000 if is_package else 0) - (50_000 if folder.startswith(".") else 0)


def _names(tree: Tree, folders: list[str], packages: dict[str, str]) -> dict[str, str]:
    """Return a name for each folder: of its package or Python module, else its last part where only it has that."""
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
    """A folder with many sources directly in it: the files, the largest of them, and the bytes of all."""

    folder: str
    sources: list[str]
    largest: str
    size: int


def areas_of(tree: Tree) -> list[Area]:
    """Return the folders that hold most source directly, without tests, benchmarks and the like, the largest first."""
    areas = []
    for folder, paths in tree.folders.items():
        sources = [path for path in paths if language_of(path) is not None and not is_generated(path)]
        sources = [path for path in sources if not is_test_file(path)]
        if len(sources) >= _DENSE_FILES and folder and not tree.is_aside(folder):
            largest = max(sources, key=lambda path: (tree.files[path], path))
            areas.append(Area(folder, sources, largest, sum(tree.files[path] for path in sources)))
    return sorted(areas, key=lambda area: (-area.size, area.folder))[:_MOST_DENSE]


def dense_areas(tree: Tree, ecosystems: Sequence[Ecosystem]) -> list[dict[str, str]]:
    """Return path and note of the folders that hold most source directly, else of a large file at the root."""
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
    """Return a number of bytes as people say it."""
    if size < 1024:
        return f"{size} bytes"
    return f"{round(size / 1024)} KB" if size < 1024 * 1024 else f"{size / 1024 / 1024:.1f} MB"
