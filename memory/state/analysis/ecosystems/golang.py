"""Go: go.mod, go.work, and the programs under `cmd`."""

from __future__ import annotations

import re

from memory.state.analysis.found import Command, Ecosystem, Entrypoint, Package
from memory.state.analysis.tree import Tree

from .values import folders_with, fullest

_MODULE = re.compile(r"^module[ \t]+\"?([^\s\"]{1,200})", re.MULTILINE)
_VERSION = re.compile(r"^go[ \t]+(\d[\d.]{0,10})[ \t]*$", re.MULTILINE)
_USE = re.compile(r"^use[ \t]+(?:\(([^)]*)\)|(\S+))", re.MULTILINE)
_MAIN = re.compile(r"^package[ \t]+main\b", re.MULTILINE)


def look(tree: Tree) -> Ecosystem | None:
    """Return what go.mod or go.work at the root says, None where there is neither."""
    manifests = [name for name in ("go.work", "go.mod") if tree.has(name)]
    inner = folders_with(tree, "go.mod")[:20]
    if not manifests and not inner:
        return None
    found = Ecosystem("Go", ("Go",), "Go modules", manifests=manifests)
    folders = _used(tree) if tree.has("go.work") else [""] if manifests else inner
    if tree.has("go.work"):
        found.workspace = "Go workspace"
    for folder in folders:
        _take(tree, folder, found)
    if not manifests:
        found.manifests = [f"{folder}/go.mod" for folder in inner[:3]]
        folder = fullest(tree, [package.folder for package in found.packages])
        if folder:
            found.commands += _commands(("-C", folder, "./..."))
        return found
    if found.packages:
        found.commands += _commands(tuple(f"./{folder}/..." if folder else "./..." for folder in folders[:20]))
    return found


def _commands(where: tuple[str, ...]) -> list[Command]:
    return [
        Command("test", "go test", ("go", "test", *where), "Builds all and runs the tests."),
        Command("lint", "go vet", ("go", "vet", *where), "Checks the code for common mistakes."),
    ]


def _used(tree: Tree) -> list[str]:
    """Return the module folders that go.work names."""
    names = []
    for match in _USE.finditer(tree.text("go.work")):
        for line in (match[1] or match[2]).splitlines():
            name = line.partition("//")[0].strip().strip('"').removeprefix("./").strip("/")
            names.append("" if name == "." else name)
    return [name for name in dict.fromkeys(names) if tree.has(f"{name}/go.mod" if name else "go.mod")]


def _take(tree: Tree, folder: str, found: Ecosystem) -> None:
    top = f"{folder}/" if folder else ""
    text = tree.text(f"{top}go.mod")
    module = _MODULE.search(text)
    if module is None:
        found.problems.append(f"`{top}go.mod` (names no module)")
        return
    name = re.sub(r"/v\d+\Z", "", module[1]).rpartition("/")[2]
    found.packages.append(Package(folder, name))
    if not folder:
        found.notes.append(f"The module is `{module[1]}`.")
    version = _VERSION.search(text)
    if version is not None and not any(note.startswith("Needs Go ") for note in found.notes):
        found.notes.append(f"Needs Go {version[1]} or newer.")
    found.enter(tree, f"{top}main.go", f"the program `{name}`")
    for path in sorted(tree.named("main.go")):
        if path.startswith(f"{top}cmd/") and _MAIN.search(tree.text(path)):
            found.entrypoints.append(Entrypoint(path, f"the program `{path.split('/')[-2]}`"))
