"""Rust: Cargo.toml and the members of its workspace."""

from __future__ import annotations

from memory.state.analysis.found import Command, Ecosystem, Entrypoint, Package
from memory.state.analysis.tree import Tree

from .values import dig, folders_with, fullest, members, name_at, read_manifest, table_at, text_at, texts_at

_MANIFEST = "Cargo.toml"


def look(tree: Tree) -> Ecosystem | None:
    """Return what Cargo.toml at the root says, None where there is none."""
    if not tree.has(_MANIFEST):
        return _without_root(tree)
    found = Ecosystem("Rust", ("Rust",), "Cargo", manifests=[_MANIFEST])
    data = _take(tree, "", found)
    workspace = table_at(data, "workspace")
    if workspace:
        found.workspace = "Cargo workspace"
        patterns = texts_at(workspace, "members") + [f"!{one}" for one in texts_at(workspace, "exclude")]
        for folder in sorted(members(tree, patterns, _MANIFEST))[:100]:
            _take(tree, folder, found)
    edition = text_at(data, "package", "edition") or text_at(workspace, "package", "edition")
    if edition:
        found.notes.append(f"Uses the Rust edition {edition}.")
    if found.problems and not data:
        return found
    every = ("--workspace",) if workspace else ()
    found.commands += [
        Command("test", "cargo test", ("cargo", "test", *every), "Builds all and runs the tests."),
        Command("lint", "clippy", ("cargo", "clippy", *every, "--all-targets"), "Checks the code for common mistakes."),
    ]
    return found


def _without_root(tree: Tree) -> Ecosystem | None:
    """Return what the crates below the root say where the root has no manifest."""
    folders = folders_with(tree, _MANIFEST)[:20]
    if not folders:
        return None
    found = Ecosystem("Rust", ("Rust",), "Cargo", manifests=[f"{folder}/{_MANIFEST}" for folder in folders[:3]])
    for folder in folders:
        _take(tree, folder, found)
    folder = fullest(tree, [package.folder for package in found.packages])
    if folder:
        where = ("--manifest-path", f"{folder}/{_MANIFEST}")
        found.commands.append(Command("test", "cargo test", ("cargo", "test", *where), "Runs the tests."))
    return found


def _take(tree: Tree, folder: str, found: Ecosystem) -> dict[str, object]:
    """Add one manifest, its package and its entry points."""
    top = f"{folder}/" if folder else ""
    data = read_manifest(tree, top + _MANIFEST, found) or {}
    if not table_at(data, "package"):
        return data
    name = name_at(data, "package", "name") or folder.rpartition("/")[2] or "the crate"
    found.packages.append(Package(folder, name, text_at(data, "package", "description")))
    bins = dig(data, "bin")
    for one in bins[:20] if isinstance(bins, list) else ():
        found.enter(tree, top + text_at(one, "path"), f"the program `{name_at(one, 'name') or name}`")
    named = {entry.path for entry in found.entrypoints}
    if f"{top}src/main.rs" not in named:
        found.enter(tree, f"{top}src/main.rs", f"the program `{name}`")
    found.enter(tree, f"{top}src/lib.rs", f"the library `{name.replace('-', '_')}`")
    for path in tree.folders.get(f"{top}src/bin", [])[:20]:
        if path.endswith(".rs") and path not in named:
            found.entrypoints.append(Entrypoint(path, f"the program `{path.rpartition('/')[2][:-3]}`"))
    return data
