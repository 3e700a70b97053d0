"""The files around the code: continuous integration, images, make, and the commands that validate the work."""

from __future__ import annotations

import re

from .found import Command, Ecosystem
from .texts.prose import listed
from .tree import Tree

_TARGET = re.compile(r"^([A-Za-z][\w.-]{0,60})[ \t]*:(?![=:])", re.MULTILINE)
_FROM = re.compile(r"^FROM[ \t]+(?:--\S+[ \t]+)?([\w./:@-]{1,200})", re.MULTILINE | re.IGNORECASE)
_WORKFLOW = re.compile(r"\.github/workflows/[^/]+\.ya?ml")
_CI = (
    (".gitlab-ci.yml", "GitLab CI"), (".circleci/config.yml", "CircleCI"), ("Jenkinsfile", "Jenkins"),
    ("azure-pipelines.yml", "Azure Pipelines"), (".travis.yml", "Travis CI"), ("bitbucket-pipelines.yml", "Bitbucket"),
    (".buildkite/pipeline.yml", "Buildkite"), (".drone.yml", "Drone"), (".cirrus.yml", "Cirrus CI"),
    (".ci/run", "a script"), ("appveyor.yml", "AppVeyor"),
)  # fmt: skip
_LINTS = ("check", "lint", "verify", "fmt-check", "format-check", "typecheck")
_OTHERS = ("docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml", "Justfile", "justfile",
           "Taskfile.yml", "Makefile", "GNUmakefile")  # fmt: skip


def ci_files(tree: Tree) -> list[tuple[str, str]]:
    """Return the configuration files of continuous integration, each with the service it belongs to."""
    workflows = [path for path in tree.below(".github/workflows") if _WORKFLOW.fullmatch(path)]
    # The workflow that runs the tests comes first.
    workflows.sort(key=lambda path: re.search(r"/(?:ci|tests?|build|main|check)\b[^/]*\Z", path) is None)
    found = [(path, "GitHub Actions") for path in workflows]
    return found + [(path, name) for path, name in _CI if tree.has(path)]


def key_files(tree: Tree) -> list[str]:
    """Return the files at the root that build and start things, except the manifests."""
    images = [path for path in tree.top_files() if re.fullmatch(r"Dockerfile(?:\.\w+)?|Containerfile", path)]
    return [*images, *(path for path in _OTHERS if tree.has(path))]


def notes(tree: Tree) -> list[str]:
    """Return sentences about continuous integration and images."""
    found = []
    services: dict[str, list[str]] = {}
    for path, service in ci_files(tree):
        services.setdefault(service, []).append(path)
    for service, paths in services.items():
        found.append(f"Continuous integration is {service}: {listed([f'`{path}`' for path in paths], 3)}.")
    for path in key_files(tree)[:3]:
        base = _FROM.findall(tree.text(path)) if path.startswith(("Dockerfile", "Containerfile")) else []
        if base:
            found.append(f"`{path}` builds an image on `{base[-1]}`.")
    return found


def validation_commands(tree: Tree, ecosystems: list[Ecosystem]) -> list[dict[str, object]]:
    """Return the commands that test and lint: the targets of make, else those of the first ecosystem.

    At most two; neither is run.
    """
    commands = _make(tree) + [command for ecosystem in ecosystems for command in ecosystem.commands]
    chosen: dict[str, Command] = {}
    for command in commands:
        chosen.setdefault(command.kind, command)
    return [
        {"label": one.label, "command": list(one.command), "purpose": one.purpose}
        for one in (chosen.get("test"), chosen.get("lint"))
        if one is not None
    ]


def _make(tree: Tree) -> list[Command]:
    path = next((name for name in ("GNUmakefile", "makefile", "Makefile") if tree.has(name)), "")
    targets = set(_TARGET.findall(tree.text(path))) if path else set()
    found = []
    if "test" in targets or "tests" in targets:
        name = "test" if "test" in targets else "tests"
        found.append(Command("test", f"make {name}", ("make", name), f"Runs the target `{name}` of `{path}`."))
    lint = next((name for name in _LINTS if name in targets), "")
    if lint:
        kind = "lint" if found or lint != "check" else "test"
        found.append(Command(kind, f"make {lint}", ("make", lint), f"Runs the target `{lint}` of `{path}`."))
    return found
