"""Reads the manifests of a repository by the table of ecosystems: packages, entry points, versions, scripts.

What a manifest says is untrusted: it is read without failing, and used only where it has the right form.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from itertools import product
from typing import Any

from memory.base.safe_text import one_line
from memory.state.files.model import SEVERAL

from .documents import listed
from .ecosystems import ECOSYSTEMS, Ecosystem, Place
from .tree import SOURCE_FOLDERS, Tree, is_aside, is_generated, is_helper, is_test, language_of

_NOT_OF_PROJECT = re.compile(
    r"<!--.*?(?:-->|\Z)|<(parent|dependencies|dependencyManagement|build|profiles|reporting|licenses|developers"
    r"|organization|scm)>.*?(?:</\1>|\Z)|^class .*?(?=^\S|\Z)",
    re.DOTALL | re.MULTILINE,
)
"""The parts of an XML manifest, and the classes of a `setup.py`, that do not describe the project itself."""
_CONTINUED = re.compile(r"([\"'])[ \t]*\\\n[ \t]*\1")
"""What is between the halves of a string on two lines."""
_MODULE = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?::[\w.]+)?(?:\s*\[.*\])?")
_COMPUTED = re.compile(r"[#$]\{|\A(?:add (?:your|a)|todo)\b", re.IGNORECASE)
"""An expression such as `${version}`, or the words of a template: a value with one in it is not known."""
_WHOLE = re.compile(r"[ /_-](?:parent|root|aggregator|monorepo|repository|workspaces?|reactor)\Z", re.IGNORECASE)
"""Words such as `-monorepo` at the end of a name: they tell that it is a workspace, and are no part of the name."""
_NEEDED = re.compile(r"(?:^[ \t]*|[\"'])([\w@/-]+)(?:\.workspace)?[\"']?[ \t]*[:=]", re.MULTILINE)
"""The keys of a manifest: among them are the names of the packages that it needs."""
_MOST_PACKAGES, _MOST_PATTERNS, _MANY, _FEW, _GROUPS = 200, 200, 12, 4, 2


@dataclass(slots=True)
class Package:
    """A package: its folder ("" is the root), name, description, entry points (path and role), and whether it is never
    published.
    """

    folder: str
    name: str
    description: str = ""
    entries: dict[str, str] = field(default_factory=dict)
    private: bool = False


@dataclass(slots=True)
class Project:
    """The content of the manifests of one ecosystem; `problems` name unreadable ones, with the reason."""

    tree: Tree
    ecosystem: Ecosystem
    manifests: list[str]
    files: int
    manager: str = ""
    workspace: str = ""
    packages: list[Package] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    scripts: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    _data: dict[str, Any] = field(default_factory=dict)

    @property
    def language(self) -> str:
        """The language of most of its files, where the ecosystem is called by one; else the ecosystem."""
        name, languages = self.ecosystem.name, self.ecosystem.languages
        found = (one for one in self.tree.languages() if one in languages)
        return next(found, name) if name in languages else name

    @property
    def root(self) -> Package | None:
        """The package at the root, None where there is none."""
        return next((package for package in self.packages if not package.folder), None)

    def value(self, path: str, place: Place) -> Any:
        """Return what a manifest has at a place: the value of a key, None without it; of a pattern, all its matches."""
        if path not in self._data:
            self._data[path] = self._load(path)
        value = self._data[path]
        if isinstance(place, re.Pattern):
            return place.findall(value) if isinstance(value, str) else None
        for key in place.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def texts(self, path: str, place: Place) -> list[str]:
        """Return the texts at a place of a manifest, each on one line."""
        value = self.value(path, place)
        found = value if isinstance(value, list) else [value]
        return [one_line(one) for one in found if isinstance(one, str) and one.strip() and not _COMPUTED.search(one)]

    def first(self, paths: list[str], *places: Place) -> str:
        """Return the first text at any of the places, the manifests in order; "" where there is none."""
        return next((text for path in paths for place in places for text in self.texts(path, place)), "")

    def _load(self, path: str) -> Any:
        """Return the object in a TOML or JSON file, the text of any other."""
        text, form = self.tree.text(path), "toml" if path.endswith("Pipfile") else path.rpartition(".")[2]
        if form not in ("toml", "json"):
            return _NOT_OF_PROJECT.sub("", text) if form in ("xml", "py") else _CONTINUED.sub("", text)
        try:
            value = tomllib.loads(text) if form == "toml" else json.loads(text)
        except (ValueError, RecursionError, OverflowError):
            value = None
        if not isinstance(value, dict):
            self.problems.append(f"`{path}` (not valid {form.upper()})")
        return value if isinstance(value, dict) else {}


def projects_of(tree: Tree) -> list[Project]:
    """Return the projects of a repository, one for each ecosystem in it; the one with most source files first."""
    found = [one for one in (_look(tree, ecosystem) for ecosystem in ECOSYSTEMS) if one is not None]
    found.sort(key=lambda one: -one.files)
    # A few scripts beside the work are no project of their own, nor is a package for another language.
    most = max(Counter(map(language_of, tree.sources())).values(), default=0)
    return [one for one in found if one.files * _MANY > most or one.problems or not most]


def _look(tree: Tree, ecosystem: Ecosystem) -> Project | None:
    by_folder: dict[str, list[str]] = {}
    for pattern, path in product(ecosystem.manifests, tree.files):
        folder, _, name = path.rpartition("/")
        if fnmatch(name, pattern) and not is_aside(path) and (ecosystem.nested or not folder):
            by_folder.setdefault(folder, []).append(path)
    files = sum(language_of(path) in ecosystem.languages for path in tree.sources())
    if not by_folder:
        return None
    folders = sorted(by_folder, key=lambda one: one.split("/") if one else [])
    top = f"{folders[0]}/".lstrip("/")
    found = Project(tree, ecosystem, by_folder[folders[0]], files)
    found.manager = next(manager for lock, manager in ecosystem.managers if not lock or tree.has(top + lock))
    if not top:
        folders = _members(found, folders)
        named = found.first(by_folder[""], "packageManager").partition("@")[0].lower()
        found.manager = next((one for one in ecosystem.run if one.lower() == named), found.manager)
    for folder in folders[:_MOST_PACKAGES]:
        _add(found, folder, by_folder[folder])
    if ecosystem.units is not None and not top:
        place, around = ecosystem.units
        names = (name for path in by_folder[""] for name in found.texts(path, place))
        found.packages += [Package(f"{around}/{one}", one) for one in names if tree.sources(f"{around}/{one}")]
    if any(package.folder for package in found.packages):
        found.workspace = found.workspace or SEVERAL
    tests = [path for path in tree.files if path.endswith("proj") and is_test(path) and ecosystem.nested]
    for place, sentence in ecosystem.versions:
        start = sentence.partition("{")[0]
        if not any(one.startswith(start) for one in found.versions):
            paths = [one for each in folders for one in by_folder[each]]
            found.versions += _versions(found, place, sentence, [*paths, *tests])
    for table in (found.value(path, place) for place in ecosystem.scripts for path in by_folder.get("", [])):
        for name, value in (table if isinstance(table, dict) else {}).items():
            steps = value if isinstance(value, list) else [value]  # Composer runs the steps of a list in turn.
            if text := " && ".join(one_line(one) for one in steps if isinstance(one, str)):
                found.scripts[name] = text
    return found


def _versions(project: Project, place: Place, sentence: str, paths: list[str]) -> list[str]:
    """Return the sentence with the version at a place of some manifests; with two, each with its folders.

    Of more only that of the main package is told. Those of tests come last, where there is room for them.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(paths, key=is_test):
        # What it is built with may be in any part of a manifest.
        whole = place.findall(project.tree.text(path)) if isinstance(place, re.Pattern) else project.texts(path, place)
        value = next(map(one_line, whole), "").partition(" #")[0].strip("\"' ;").replace(";", ", ")
        room = value in found or len(found) < _GROUPS or not is_test(path)
        if value and len(value) < 60 and "{" not in value and room:
            found.setdefault(value, []).append(f"`{path.rpartition('/')[0] or '.'}`")
    if len(found) < 2:
        return [sentence.format(value) for value in found]
    told = [f"{value} ({listed(list(dict.fromkeys(where)), _GROUPS)})" for value, where in found.items()]
    if len(found) > _GROUPS:
        main = main_package(project.tree, project)
        own = f"`{main.folder or '.'}`" if main is not None else ""
        told = [f"{value} ({own})" for value, where in found.items() if own in where]
    return [sentence.format(("; " if any(", " in one for one in found) else ", ").join(told))] if told else []


def _members(project: Project, folders: list[str]) -> list[str]:
    """Return "" for the root, and those of some folders that its workspace names; all of them if it names none."""
    wanted: list[re.Pattern[str]] = []
    unwanted: list[re.Pattern[str]] = []
    for place, path in product(project.ecosystem.members, project.manifests):
        for pattern in project.texts(path, place)[:_MOST_PATTERNS]:
            plain = pattern.removeprefix("!").removeprefix("./").rstrip("/")
            if plain and len(plain) < 200 and len(re.findall(r"\*+", plain)) < 4 and ".." not in plain.split("/"):
                no = pattern.startswith("!") or (isinstance(place, str) and place.endswith("exclude"))
                (unwanted if no else wanted).append(glob(plain))
    inner = [one for one in folders if one and not any(no.fullmatch(one) for no in unwanted)]
    # A package that is called like the repository is one of its packages, as a path says if no pattern does.
    wanted += [re.compile(re.escape(project.tree.root.rpartition("/")[2]))] if wanted else []
    chosen = [folder for folder in inner if any(one.fullmatch(folder) for one in wanted)]
    project.workspace = f"{project.manager} workspace" if chosen else ""
    return ["", *(chosen if wanted else inner)]


def glob(pattern: str) -> re.Pattern[str]:
    """Return a pattern in which `*` matches a part of one name, `**` any folders, `{a,b}` either."""
    text = re.escape(pattern).replace(r"\*\*/", "(?:[^/]+/)*").replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    return re.compile(re.sub(r"\\\{([^{}]*)\\\}", lambda found: f"(?:{found[1].replace(',', '|')})", text))


def _add(project: Project, folder: str, paths: list[str]) -> None:
    """Add the package in a folder, with its entry points; without a name it has that of its file or folder."""
    tree, ecosystem, file = project.tree, project.ecosystem, paths[0].rpartition("/")[2]
    name = project.first(paths, *ecosystem.names)
    if not name and any("*" in pattern and fnmatch(file, pattern) for pattern in ecosystem.manifests):
        name = file.rpartition(".")[0]
    name = name if name and len(name) <= 100 else folder.rpartition("/")[2]
    description = project.first(paths, *ecosystem.descriptions)
    if not name or (folder and not description and not tree.sources(folder)):
        return
    package = Package(folder, name, description)
    kept = [project.value(path, key) for key in ("private", "package.publish") for path in paths]
    package.private = True in kept or False in kept[len(paths) :]
    project.packages.append(package)
    top, short = f"{folder}/".lstrip("/"), name.rpartition("/")[2]
    for place, path in product(ecosystem.tables, paths):
        for command, target in _targets(project.value(path, place), short):
            found = _file_of(tree, top, target)
            if found and not is_generated(tree.text(found)) and command.isprintable() and len(command) < 60:
                package.entries.setdefault(found, f"The {'library' if place == 'lib' else 'command'} `{command}`")
    main = project.first(paths, "module", "main").removeprefix("./") or "\n"
    values = {"name": short, "module": short.replace("-", "_").lower(), "path": short.replace("_", "/", 1),
              "bare": short.removeprefix("lib")}  # fmt: skip
    for (pattern, role), start in product(ecosystem.entries, ("", "src/", "source/")):
        for path in _files(tree, folder, top + start + pattern.format(main=main, **values)):
            inner, _, file = path.rpartition("/")
            if path.endswith(".go") and "program" in role and not re.search(r"^package main\b", tree.text(path), re.M):
                continue
            said = role.format(stem=file.partition(".")[0], folder=inner.rpartition("/")[2], **values)
            if said not in package.entries.values():
                package.entries.setdefault(path, said)


def _files(tree: Tree, folder: str, pattern: str) -> list[str]:
    """Return the file with a name, or the first ones below a folder that a pattern with `*` matches."""
    if "*" not in pattern:
        return [pattern] if tree.has(pattern) else []
    wanted = glob(pattern)
    return [one for one in tree.below(folder) if wanted.fullmatch(one) and not is_aside(one)][:12]


def _targets(value: Any, short: str) -> Iterator[tuple[str, str]]:
    """Yield the names and targets of a table of entry points: an object, a list, one path, or matches of a pattern."""
    if isinstance(value, dict) and not isinstance(value.get("path"), str):
        value = sorted(value.items())
    for one in value[:20] if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            yield str(one.get("name") or short), str(one.get("path") or "")
        elif isinstance(one, tuple) and isinstance(one[1], str):
            yield one[0], one[1]
        elif isinstance(one, str):
            yield one.rpartition("/")[2] if isinstance(value, list) else short, one


def _file_of(tree: Tree, top: str, target: str) -> str:
    """Return the file of a path, or of a module such as `app.main:main`, beside the manifest, in `src` or in `lib`."""
    names, module = [target.strip().removeprefix("./")], _MODULE.fullmatch(target.strip())
    names += [f"{module[1].replace('.', '/')}{end}" for end in (".py", "/__init__.py")] if module else []
    paths = (f"{top}{start}{name}" for start in ("", "src/", "lib/") for name in names)
    return next((path for path in paths if tree.has(path)), "")


def main_package(tree: Tree, project: Project) -> Package | None:
    """Return the package that the project is about: the one at the root if it has entry points or sources of its own.

    Else it is the one whose README the README at the root is a link to. Without such a link, one that is named like the
    project counts first, then one that is published, then one with a command, then one that others need, then one with
    many of the source files; None where all are alike.
    """
    root, inner = project.root, [one for one in project.packages if one.folder and not is_helper(f"{one.folder}/")]
    own = [path for one in ("", *SOURCE_FOLDERS) for path in tree.folders.get(one, []) if tree.is_work(path)]
    if not inner or (root is not None and (root.entries or len(own) > 2)):
        return root or next(iter(inner or project.packages), None)
    linked = tree.link(tree.readme()).rpartition("/")[0]
    whole = {whole_name(root.name if root is not None else "").lower(), tree.root.rpartition("/")[2].lower()}

    paths = (path for one in inner for path in tree.folders.get(one.folder, []))
    manifests = (path for path in paths if any(fnmatch(path, f"*/{one}") for one in project.ecosystem.manifests))
    users = Counter(name for path in manifests for name in {*_NEEDED.findall(tree.text(path))})

    def rank(package: Package) -> tuple[bool, bool, bool, bool, int, int]:
        short = package.name.lower().rpartition("/")[2]
        bare = re.sub(r"[\W_]", "", short)
        named = any(one == short or re.sub(r"[\W_]", "", one).endswith(bare) for one in whole)
        command = any(role.startswith("The command") for role in package.entries.values())
        size = len(tree.sources(package.folder))
        return package.folder == linked, named, not package.private, command, users[package.name], size

    first, best = max(((rank(one), one) for one in inner), key=lambda each: each[0])
    alike = not (any(first[:2]) or first[3]) and len(inner) > _FEW and first[-1] * 2 < len(tree.sources())
    return None if alike else best


def whole_name(name: str) -> str:
    """Return a project's name, given that of its root package: without `@owner/` and endings such as `-monorepo`."""
    return _WHOLE.sub("", name).rpartition("/")[2].lstrip("@") or name
