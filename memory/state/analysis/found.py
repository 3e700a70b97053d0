"""What is found out about a repository before it becomes a bundle."""

from __future__ import annotations

from dataclasses import dataclass, field

from .tree import Tree


@dataclass(frozen=True, slots=True)
class Package:
    """A package of an ecosystem: its folder ("" is the root), its name, and the description in its manifest."""

    folder: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Entrypoint:
    """A file where something begins to run, or that others import, and its role."""

    path: str
    role: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command that validates the work: `kind` is `test` or `lint`."""

    kind: str
    label: str
    command: tuple[str, ...]
    purpose: str


@dataclass(slots=True)
class Ecosystem:
    """What the manifests of one ecosystem say.

    `languages` are those whose files count for it, `workspace` is what connects its packages, `problems` name
    manifests that cannot be read, with the reason.
    """

    name: str
    languages: tuple[str, ...]
    manager: str
    workspace: str = "none"
    packages: list[Package] = field(default_factory=list)
    entrypoints: list[Entrypoint] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    manifests: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def root(self) -> Package | None:
        """The package at the root of the repository, None where there is none."""
        return next((package for package in self.packages if not package.folder), None)

    def enter(self, tree: Tree, path: str, role: str) -> None:
        """Add an entry point, if the repository has that file."""
        if tree.has(path):
            self.entrypoints.append(Entrypoint(path, role))
