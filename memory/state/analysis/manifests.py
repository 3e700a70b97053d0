"""Reads the manifests of a repository by the table of ecosystems: packages, entry points, versions, scripts.

What a manifest says is untrusted: it is read without failing, and used only where it has the right form.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Any

from memory.state.projections.markdown import one_line

from .ecosystems import ECOSYSTEMS, Ecosystem, Place
from .tree import Tree, is_aside, is_generated, language_of

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NOT_OF_PROJECT = re.compile(
    r"<(parent|dependencies|dependencyManagement|build|profiles|reporting|licenses|developers|organization|scm)>"
    r".*?(?:</\1>|\Z)",
    re.DOTALL,
)
_MODULE = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?::[\w.]+)?(?:\s*\[.*\])?")
_COMPUTED = re.compile(r"[#$]\{")
"""A value with an expression in it, which is not known."""
_WHOLE = re.compile(r"[ /_-](?:parent|root|aggregator|monorepo|repository|workspaces?|reactor)\Z", re.IGNORECASE)
"""The endings that manifests of a workspace give its name."""
_MOST_PACKAGES, _MOST_PATTERNS = 200, 200


@dataclass(slots=True)
class Package:
    """A package: its folder ("" is the root), name, description, and entry points (path and role)."""

    folder: str
    name: str
    description: str = ""
    entries: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Project:
    """The content of the manifests of one ecosystem; `problems` name unreadable ones, with the reason."""

    ecosystem: Ecosystem
    manager: str
    manifests: list[str]
    packages: list[Package] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    scripts: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    workspace: str = ""
    files: int = 0

    @property
    def root(self) -> Package | None:
        """The package at the root, None where there is none."""
        return next((package for package in self.packages if not package.folder), None)


def projects_of(tree: Tree) -> list[Project]:
    """Return the projects of a repository by ecosystem, the one with most sources first."""
    found = [one for one in (_look(tree, ecosystem) for ecosystem in ECOSYSTEMS) if one is not None]
    found.sort(key=lambda one: -one.files)
    return [one for one in found if one is found[0] or one.files or one.problems]


def _look(tree: Tree, ecosystem: Ecosystem) -> Project | None:
    by_folder: dict[str, list[str]] = {}
    for pattern in ecosystem.manifests:
        for path in tree.files:
            folder, _, name = path.rpartition("/")
            if fnmatch(name, pattern) and not is_aside(folder):
                by_folder.setdefault(folder, []).append(path)
    files = sum(language_of(path) in ecosystem.languages for path in tree.sources())
    if ecosystem.name == "C":
        by_folder = {"": by_folder[""]} if "" in by_folder else {}
    if not by_folder or (ecosystem.name == "C" and not files):
        return None
    folders = sorted(by_folder, key=lambda one: one.split("/") if one else [])
    top = folders[0]
    manager = next(
        manager for lock, manager in ecosystem.managers if not lock or tree.has(f"{top}/{lock}" if top else lock)
    )
    found = Project(ecosystem, manager, by_folder[top], files=files)
    read = Manifests(tree, found)
    if not top:
        folders = _members(read, by_folder, folders)
        named = read.text(by_folder[""], "packageManager").partition("@")[0].lower()
        found.manager = next((one for one in ecosystem.run if one.lower() == named), found.manager)
    for folder in folders[:_MOST_PACKAGES]:
        _add(read, folder, by_folder[folder])
    if any(package.folder for package in found.packages):
        found.workspace = found.workspace or "several packages"
    for place, sentence in ecosystem.versions:
        value = read.text([path for folder in folders[:3] for path in by_folder[folder]], place)
        start = sentence.partition("{")[0]
        if value and len(value) < 60 and "{" not in value and not any(one.startswith(start) for one in found.versions):
            found.versions.append(sentence.format(value))
    for place in ecosystem.scripts:
        for path in by_folder.get("", []):
            found.scripts |= {key: _script(value) for key, value in read.table(path, place).items()}
    return found


def _members(read: Manifests, by_folder: dict[str, list[str]], folders: list[str]) -> list[str]:
    """Return the root and the folders of the packages of its workspace; every folder where it names no patterns."""
    wanted: list[re.Pattern[str]] = []
    unwanted: list[re.Pattern[str]] = []
    for place in read.project.ecosystem.members:
        for path in by_folder[""]:
            for pattern in read.values(path, place)[:_MOST_PATTERNS]:
                plain = pattern.removeprefix("!").removeprefix("./").rstrip("/")
                if plain and len(plain) < 200 and len(re.findall(r"\*+", plain)) < 4 and ".." not in plain.split("/"):
                    no = pattern.startswith("!") or (isinstance(place, str) and place.endswith("exclude"))
                    (unwanted if no else wanted).append(_glob(plain))
    inner = [folder for folder in folders if folder]
    if wanted:
        inner = [folder for folder in inner if any(one.fullmatch(folder) for one in wanted)]
    inner = [folder for folder in inner if not any(one.fullmatch(folder) for one in unwanted)]
    read.project.workspace = f"{read.project.manager} workspace" if wanted and inner else ""
    return ["", *inner]


def _glob(pattern: str) -> re.Pattern[str]:
    """Return a pattern in which `*` matches a part of one name, `**` any folders, `{a,b}` either."""
    text = re.escape(pattern).replace(r"\*\*/", "(?:[^/]+/)*").replace(r"\*\*", ".*")
    text = text.replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    return re.compile(re.sub(r"\\\{([^{}]*)\\\}", lambda found: f"(?:{found[1].replace(',', '|')})", text))


def _add(read: Manifests, folder: str, paths: list[str]) -> None:
    """Add the package in a folder, with its entry points; a manifest without a name makes no package."""
    ecosystem = read.project.ecosystem
    name = read.first(paths, ecosystem.names)
    globs = [pattern for pattern in ecosystem.manifests if "*" in pattern]
    if not name and any(fnmatch(paths[0].rpartition("/")[2], pattern) for pattern in globs):
        name = paths[0].rpartition("/")[2].rpartition(".")[0]
    name = name if name and len(name) <= 100 else folder.rpartition("/")[2]
    if not name:
        return
    description = read.first(paths, ecosystem.descriptions)
    package = Package(folder, name, description)
    if folder and not package.description and not read.tree.sources(folder):
        return
    read.project.packages.append(package)
    top = f"{folder}/" if folder else ""
    for place in ecosystem.tables:
        for path in paths:
            for command, target in read.targets(path, place, name):
                file = _file_of(read.tree, top, target)
                written = file and not is_generated(read.tree.text(file))
                if written and command.isprintable() and len(command) < 60:
                    package.entries.setdefault(file, f"The command `{command}`")
    for pattern, role in ecosystem.entries:
        _enter(read, package, paths, pattern, role)


def _enter(read: Manifests, package: Package, paths: list[str], pattern: str, role: str) -> None:
    """Add the files of a pattern to the entry points of a package, unless it has one in that role."""
    top = f"{package.folder}/" if package.folder else ""
    short = package.name.rpartition("/")[2]
    main = (read.text(paths, "module") or read.text(paths, "main")).removeprefix("./") or "\n"
    module = short.replace("-", "_").lower()
    named = pattern.format(name=short, module=module, main=main)
    for start in ("", "src/", "source/"):
        path = f"{top}{start}{named}"
        found = [path] if read.tree.has(path) else []
        if "*" in named:
            wanted = _glob(path)
            found = [one for one in read.tree.below(package.folder) if wanted.fullmatch(one) and not is_aside(one)][:12]
        for file in found:
            stem, folder = file.rpartition("/")[2].partition(".")[0], file.split("/")[-2] if "/" in file else ""
            said = role.format(name=short, module=module, stem=stem, folder=folder)
            if file in package.entries and said.startswith("What"):
                package.entries[file] += f"; what{said[4:]}"
            elif said not in package.entries.values():
                package.entries.setdefault(file, said)


def _file_of(tree: Tree, top: str, target: str) -> str:
    """Return the file of a path, or of a module such as `app.main:main`, beside the manifest, in `src` or in `lib`."""
    plain = target.strip().removeprefix("./")
    if tree.has(top + plain):
        return top + plain
    module = _MODULE.fullmatch(target.strip())
    names = [f"{module[1].replace('.', '/')}{end}" for end in (".py", "/__init__.py")] if module else []
    paths = (f"{top}{start}{name}" for start in ("", "src/", "lib/") for name in names)
    return next((path for path in paths if tree.has(path)), "")


def _script(value: object) -> str:
    """Return the words of a script, which may be in a list or below a key."""
    if isinstance(value, dict):
        value = value.get("cmd") or value.get("shell") or ""
    if isinstance(value, list):
        value = " && ".join(one for one in value if isinstance(one, str))
    return one_line(value) if isinstance(value, str) else ""


class Manifests:
    """The contents of the manifests of a project; one that is broken is among the project's problems."""

    def __init__(self, tree: Tree, project: Project) -> None:
        """Nothing is read yet."""
        self.tree, self.project = tree, project
        self._data: dict[str, Any] = {}

    def _load(self, path: str) -> Any:
        """Return the object in a TOML or JSON file, the text of any other."""
        if path not in self._data:
            text = self.tree.text(path)
            form = {"toml": "TOML", "json": "JSON"}.get(path.rpartition(".")[2], "")
            value: object = _NOT_OF_PROJECT.sub("", _COMMENT.sub("", text)) if path.endswith(".xml") else text
            if path.endswith("pnpm-workspace.yaml"):
                value = re.split(r"^\w", text.partition("packages:")[2], maxsplit=1, flags=re.MULTILINE)[0]
            if form:
                try:
                    value = tomllib.loads(text) if form == "TOML" else json.loads(text)
                except (ValueError, RecursionError, OverflowError):
                    value = None
                if not isinstance(value, dict):
                    self.project.problems.append(f"`{path}` (not valid {form})")
                    value = {}
            self._data[path] = value
        return self._data[path]

    def _at(self, path: str, place: Place) -> object:
        value = self._load(path)
        if isinstance(place, re.Pattern):
            return place.findall(value) if isinstance(value, str) else None
        for key in place.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def values(self, path: str, place: Place) -> list[str]:
        """Return the texts at a place of a manifest, each on one line."""
        value = self._at(path, place)
        found = value if isinstance(value, list) else [value]
        return [one_line(one) for one in found if isinstance(one, str) and one.strip() and not _COMPUTED.search(one)]

    def text(self, paths: list[str], place: Place) -> str:
        """Return the first text at a place of any of the manifests, "" where there is none."""
        return next((value for path in paths for value in self.values(path, place)), "")

    def first(self, paths: list[str], places: tuple[Place, ...]) -> str:
        """Return the first text at any of the places, the manifests in order."""
        return next((value for path in paths for place in places for value in self.values(path, place)), "")

    def table(self, path: str, place: str) -> dict[str, Any]:
        """Return the object at a place, an empty one where there is none."""
        value = self._at(path, place)
        return value if isinstance(value, dict) else {}

    def targets(self, path: str, place: Place, name: str) -> list[tuple[str, str]]:
        """Return the names and targets of a table of entry points: an object, a list of them, or one path."""
        value = self._at(path, place)
        if isinstance(place, re.Pattern):
            return [(found[0], found[1]) for found in value or ()] if isinstance(value, list) else []
        short = name.rpartition("/")[2]
        if isinstance(value, dict) and not isinstance(value.get("path"), str):
            return [(key, one) for key, one in sorted(value.items())[:20] if isinstance(one, str)]
        found = []
        for one in value[:20] if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                found.append((str(one.get("name") or short), str(one.get("path") or "")))
            elif isinstance(one, str):
                found.append((one.rpartition("/")[2] if isinstance(value, list) else short, one))
        return found


def main_package(tree: Tree, project: Project) -> Package | None:
    """Return the package that the project is about: the root's, else the one with the name of the whole.

    Without such a name it is one with a command, the largest first.
    """
    root, inner = project.root, [package for package in project.packages if package.folder]
    if not inner or (root is not None and root.entries):
        return root or next(iter(inner), None)
    linked = tree.link(tree.readme()).rpartition("/")[0]
    whole = {whole_name(root.name).lower()} if root is not None else set()
    whole.add(tree.root.rpartition("/")[2].lower())

    def rank(package: Package) -> tuple[bool, bool, bool, int]:
        short = package.name.lower().rpartition("/")[2]
        named = any(one == short or one.endswith((f"-{short}", f"/{short}")) for one in whole)
        command = any(role.startswith("The command") for role in package.entries.values())
        return package.folder == linked, named, command, len(tree.sources(package.folder))

    return max(inner, key=rank)


def whole_name(name: str) -> str:
    """Return the name of a project from that of its root: without `-monorepo` and the like, its owner, and `@`."""
    return _WHOLE.sub("", name).rpartition("/")[2].lstrip("@") or name
