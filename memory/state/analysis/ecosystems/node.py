"""Node: package.json, its workspaces, and the tools around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from memory.state.analysis.found import Command, Ecosystem, Entrypoint, Package
from memory.state.analysis.tree import Tree

from .values import folders_with, fullest, members, name_at, read_manifest, table_at, text_at, texts_at

_LOCKS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "Yarn"),
    ("bun.lock", "Bun"),
    ("bun.lockb", "Bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
)
_RUN = {"pnpm": "pnpm", "Yarn": "yarn", "Bun": "bun", "npm": "npm"}
_IN: dict[str, Callable[[str], tuple[str, ...]]] = {
    "pnpm": lambda folder: ("--dir", folder),
    "Yarn": lambda folder: ("--cwd", folder),
    "Bun": lambda folder: (f"--cwd={folder}",),
    "npm": lambda folder: ("--prefix", folder),
}
"""The option that makes each manager work in another folder."""
_BUILDERS = (("turbo.json", "Turborepo"), ("nx.json", "Nx"), ("lerna.json", "Lerna"), ("rush.json", "Rush"))
_LANGUAGES = ("TypeScript", "JavaScript", "Vue", "Svelte", "Astro")
_NO_TEST = "no test specified"
_FIRST = ("src/index.ts", "src/main.ts", "src/index.tsx", "src/main.tsx", "src/index.js", "src/main.js", "index.js",
          "index.ts", "server.js", "app.js")  # fmt: skip
_YAML_ITEM = re.compile(r"^[ \t]*-[ \t]*[\"']?([^\"'#\n]{1,200}?)[\"']?[ \t]*(?:#.*)?$", re.MULTILINE)


def look(tree: Tree) -> Ecosystem | None:
    """Return what package.json at the root says, None where there is none."""
    if not tree.has("package.json"):
        return _without_root(tree)
    found = Ecosystem("Node.js", _LANGUAGES, "npm", manifests=["package.json"])
    data = read_manifest(tree, "package.json", found) or {}
    found.manager = _manager(tree, data)
    found.manifests += [name for name in ("pnpm-workspace.yaml", *dict(_BUILDERS), "tsconfig.json") if tree.has(name)]
    name = name_at(data, "name")
    if name:
        found.packages.append(Package("", name, text_at(data, "description")))
    _entrypoints(tree, data, "", found)
    _workspace(tree, data, found)
    engine = text_at(data, "engines", "node")
    if engine:
        found.notes.append(f"Runs on Node.js {engine}.")
    found.commands = _scripts(data, found.manager) + found.commands
    return found


def _without_root(tree: Tree) -> Ecosystem | None:
    """Return what the packages below the root say where the root has no manifest."""
    folders = folders_with(tree, "package.json")[:20]
    if not folders:
        return None
    manifests = [f"{folder}/package.json" for folder in folders[:3]]
    found = Ecosystem("Node.js", _LANGUAGES, _manager_in(tree, folders[0]) or "npm", manifests=manifests)
    _inner_commands(tree, _take(tree, folders, found), found)
    return found


def _take(tree: Tree, folders: list[str], found: Ecosystem) -> dict[str, object]:
    """Add packages below the root; return the contents of their manifests by folder."""
    read: dict[str, object] = {}
    for folder in folders:
        inner = read_manifest(tree, f"{folder}/package.json", found)
        if inner is None:
            continue
        name = name_at(inner, "name") or folder.rpartition("/")[2]
        found.packages.append(Package(folder, name, text_at(inner, "description")))
        _entrypoints(tree, inner, folder, found)
        read[folder] = inner
    return read


def _manager(tree: Tree, data: object) -> str:
    named = text_at(data, "packageManager").partition("@")[0].lower()
    return next((manager for manager in _RUN if manager.lower() == named), "") or _manager_in(tree, "") or "npm"


def _manager_in(tree: Tree, folder: str) -> str:
    """Return the manager that wrote a lock file in a folder, "" where there is none."""
    top = f"{folder}/" if folder else ""
    return next((manager for lock, manager in _LOCKS if tree.has(top + lock)), "")


def lock_files(tree: Tree) -> list[tuple[str, str]]:
    """Return the lock files at the root and the managers they belong to."""
    return [(lock, manager) for lock, manager in _LOCKS if tree.has(lock)]


def _workspace(tree: Tree, data: object, found: Ecosystem) -> None:
    patterns = texts_at(data, "workspaces") or texts_at(data, "workspaces", "packages")
    if tree.has("pnpm-workspace.yaml"):
        text = tree.text("pnpm-workspace.yaml").partition("packages:")[2]
        # The list ends at the next key, at the beginning of a line.
        patterns = _YAML_ITEM.findall(re.split(r"^\w", text, maxsplit=1, flags=re.MULTILINE)[0])
    if not patterns and tree.has("lerna.json"):
        patterns = texts_at(read_manifest(tree, "lerna.json", found), "packages")
    builder = next((name for file, name in _BUILDERS if tree.has(file)), "")
    if not patterns:
        found.workspace = builder or "none"
        return
    found.workspace = f"{found.manager} workspaces" + (f" with {builder}" if builder else "")
    inner = _take(tree, sorted(members(tree, patterns, "package.json"))[:100], found)
    # Commands for which the root has no script are run in its packages.
    kinds = {command.kind for command in _scripts(data, found.manager)}
    _inner_commands(tree, inner, found, without=kinds)


def _entrypoints(tree: Tree, data: object, folder: str, found: Ecosystem) -> None:
    top = f"{folder}/" if folder else ""
    name = name_at(data, "name") or folder.rpartition("/")[2] or "the package"
    seen = set()
    bins = table_at(data, "bin")
    if not bins and text_at(data, "bin"):
        bins = {name.rpartition("/")[2]: text_at(data, "bin")}
    for command, path in sorted(bins.items())[:20]:
        file = top + path.removeprefix("./") if isinstance(path, str) else ""
        if tree.has(file) and command.isprintable() and len(command) < 60:
            seen.add(file)
            found.entrypoints.append(Entrypoint(file, f"the command `{command}`"))
    mains = [text_at(data, key).removeprefix("./") for key in ("module", "main")]
    for path in (*mains, *_FIRST):
        if path and tree.has(top + path):
            if top + path not in seen:
                found.entrypoints.append(Entrypoint(top + path, f"the main file of `{name}`"))
            break


def _inner_commands(tree: Tree, packages: dict[str, object], found: Ecosystem, without: Collection[str] = ()) -> None:
    """Add the scripts of packages below the root: of each kind, those of the package with most sources."""
    for kind in ("test", "lint"):
        having = [folder for folder, data in packages.items() if kind in {one.kind for one in _scripts(data, "npm")}]
        folder = fullest(tree, having)
        if folder and kind not in without:
            manager = _manager_in(tree, folder) or found.manager
            found.commands += [one for one in _scripts(packages[folder], manager, folder) if one.kind == kind]


def _scripts(data: object, manager: str, folder: str = "") -> list[Command]:
    """Return the commands that run the scripts of a package.json; they are started at the root, whatever its folder."""
    run = [_RUN[manager], *_IN[manager](folder)] if folder else [_RUN[manager]]
    where = f"{folder}/package.json" if folder else "package.json"
    scripts = table_at(data, "scripts")
    test = scripts.get("test")
    found = []
    if isinstance(test, str) and test.strip() and _NO_TEST not in test:
        command = (*run, "run", "test") if manager == "Bun" else (*run, "test")
        found.append(Command("test", "Tests", command, f"Runs the script `test` of `{where}`."))
    for name in ("lint", "check", "typecheck", "type-check"):
        if isinstance(scripts.get(name), str) and str(scripts[name]).strip():
            purpose = f"Runs the script `{name}` of `{where}`."
            found.append(Command("lint", name.capitalize(), (*run, "run", name), purpose))
            break
    return found
