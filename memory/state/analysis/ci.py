"""Reads the settings of continuous integration: the jobs, what they run at the root, and what they run it on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from memory.document.guarded_yaml import FrontRefused, read_yaml

from .manifests import glob
from .tree import Tree, language_of

_WORKFLOW = re.compile(r"\.github/workflows/[^/]+\.ya?ml")
_NO_WORK = re.compile(
    r"(?:release|publish|deploy|codeql|labeler|stale|docs|website|bench|codspeed|pypi|fuzz|nightly|scorecard|backport"
    r"|lock)[^/]*\Z",
    re.IGNORECASE,
)
_MAIN = re.compile(r"/(?:ci|cicd|(?:py)?tests?|build|main|checks?|lint|linux|ubuntu|regress)\b[^/]*\Z", re.IGNORECASE)
_OTHER = re.compile(r"(?:\b|_)(?:win\w*|mac\w*|osx|android|ios|\w*bsd|wasm|sanitizers?)(?:\b|_)", re.IGNORECASE)
"""The names of workflows for systems that most do not work on."""
_TESTS = re.compile(
    r"(?<![/.a-z-])(?:tests?|ctest|pytest|tox|nox|verify|validate|check)(?![/a-z-])"
    r"|\b(?:phpunit|phpstan|psalm|[a-z]*lint|clippy|mypy|pyright|ruff|rubocop|tsc|rake|gradlew|mvnw?|dotnet)\b"
)
_OTHERS = {
    ".gitlab-ci.yml": "GitLab CI", ".circleci/config.yml": "CircleCI", "azure-pipelines.yml": "Azure Pipelines",
    ".travis.yml": "Travis CI", ".buildkite/pipeline.yml": "Buildkite", ".cirrus.yml": "Cirrus CI",
    "appveyor.yml": "AppVeyor", "Jenkinsfile": "Jenkins", ".ci/run": "a script",
}  # fmt: skip
_DEAD = re.compile(
    r"(?:\s*#[^\n]*\n){0,5}?\s*#[^\n]*\b(?:does nothing|(?:not|no longer) (?:in )?used?|unused|disabled|obsolete)\b",
    re.IGNORECASE,
)
"""A comment at the top of settings that says that they have no effect."""
_SCRIPTS = ("run", "command", "before_install", "install", "before_script", "script", "build_script", "test_script")
_MOVED = (
    ("meson setup ..", "meson setup {}"),
    ("meson ..", "meson setup {}"),
    ("ninja", "ninja -C {}"),
    ("ctest", "ctest --test-dir {}"),
    ("cmake --build .", "cmake --build {}"),
    ("cmake ..", "cmake -S . -B {}"),
    ("scons", "scons -C {}"),
)
"""The beginnings of commands in a folder, each with that at the root."""
_ENV = re.compile(r"\$\{\{ *(?:env|matrix)\.([\w-]+) *\}\}|\$\{?([A-Z]\w*)\}?")
_BRANCHES = re.compile(r"^[ \t]*(?:if|case) (?:[^\n]*\n){0,60}?[^\n]*\b(?:fi|esac)\b[^\n]*", re.MULTILINE)
_FILTER = re.compile(r"(?!!)(?=.{1,200}\Z)[^*]*(?:\*+[^*]*){0,3}")
"""A filter of paths that is compared in little time, and lets files in."""
_MOST_PATHS = 200
_WORKSPACE = re.compile(r"\$\{\{ *github\.workspace *\}\}(/?)")
_ON = re.compile(r".*\d|(?:ubuntu|windows|macos|alpine|stable|beta|nightly|latest|lts|current|gcc|clang|[jo]ruby|pypy)",
                 re.IGNORECASE)  # fmt: skip
"""A system, or a version of a tool."""


class Line(NamedTuple):
    """A command: its folder ("" is the root), whether it is told as it is written, and whether it runs each time."""

    text: str
    folder: str = ""
    whole: bool = True
    always: bool = True


class Job(NamedTuple):
    """A script, or a job: its file, its commands in order, what it is run on, and the services that it needs."""

    path: str
    lines: list[Line]
    runs_on: Mapping[str, list[str]] = MappingProxyType({})
    services: Sequence[str] = ()


def ci_files(tree: Tree) -> list[tuple[str, str]]:
    """Return the settings of continuous integration, each with its service; those that run most tests come first.

    Those that say of themselves that they have no effect are left out, and so are those that only run for files of
    another language than the main one, where there are others.
    """
    workflows = [path for path in tree.files if _WORKFLOW.fullmatch(path) and not _NO_WORK.search(path)]
    workflows = [path for path in workflows if _is_started(tree, path)] or workflows
    tests = {path: sum(_tests(job) for job in jobs_of(tree, path)) for path in workflows}
    work = [path for path in workflows if tests[path] or _MAIN.search(path)]
    work.sort(key=lambda path: (not tests[path], bool(_OTHER.search(path)), not _MAIN.search(path), -tests[path], path))
    found = [(path, "GitHub Actions") for path in work]
    # Beside workflows the settings of another service are usually left over.
    found += [(path, name) for path, name in _OTHERS.items() if tree.has(path) and not work]
    return [(path, name) for path, name in found if not _DEAD.match(tree.text(path))]


def _is_started(tree: Tree, path: str) -> bool:
    """Return whether a workflow is for the main language: its filters of paths, if any, let most of its sources in."""
    on = _table(_settings(tree.text(path)).get("on"))
    paths = [str(one) for event in on.values() for one in _list(_table(event).get("paths"))]
    wanted = [glob(one) for one in paths[:_MOST_PATHS] if _FILTER.fullmatch(one)]
    main = next(iter(tree.languages()), None)
    sources = [one for one in tree.sources() if language_of(one) == main]
    started = sum(any(one.fullmatch(source) for one in wanted) for source in sources)
    return not wanted or started * 2 >= len(sources)


def _tests(job: Job) -> int:
    return sum(_TESTS.search(line.text) is not None for line in job.lines)


def jobs_of(tree: Tree, path: str) -> list[Job]:
    """Return the jobs in a file of settings; none where it cannot be read."""
    return _jobs(path, tree.text(path))


@lru_cache(maxsize=64)
def _jobs(path: str, text: str) -> list[Job]:
    settings = _settings(text)
    if not _WORKFLOW.fullmatch(path):
        return [Job(path, [line for script in _scripts(settings) for line in lines_of(script)])]
    return [_job(path, one, settings) for one in _table(settings.get("jobs")).values() if isinstance(one, dict)]


@lru_cache(maxsize=64)
def _settings(text: str) -> dict[str, Any]:
    try:
        return {one.key: one.value for one in read_yaml(text.removeprefix("---\n"))[0]}
    except FrontRefused:
        return {}


def _job(path: str, job: dict[str, Any], settings: dict[str, Any]) -> Job:
    matrix = _table(_table(job.get("strategy")).get("matrix"))
    runs_on: dict[str, list[str]] = {}
    for table in (matrix, *(one for value in matrix.values() for one in map(_table, _list(value)))):
        for key, value in table.items():
            if not key.isupper():
                _add(runs_on, key, value)
    known = {key: values[0] for key, values in runs_on.items() if len(values) == 1}
    _add(runs_on, "os", job.get("runs-on"))
    lines: list[Line] = []
    steps = [*map(_table, _list(job.get("steps")))]
    if any("download-artifact" in str(step.get("uses", "")) for step in steps):
        # What such a job installs is no part of a clone.
        return Job(path, [])
    for step in steps:
        if "golangci/golangci-lint-action@" in str(step.get("uses", "")):
            lines.append(Line("golangci-lint run"))
        for key, value in _table(step.get("with")).items():
            if key.endswith("-version"):
                _add(runs_on, key, value)
        folder, env = "", dict(known)
        for scope in (settings, job, step):
            folder = str(_table(_table(scope.get("defaults")).get("run")).get("working-directory", folder))
            env |= {key: value for key, value in _table(scope.get("env")).items() if isinstance(value, str)}
        folder = str(step.get("working-directory", folder))
        for line in lines_of(str(step.get("run") or ""), folder):
            text, whole = _filled(line.text, env)
            lines += [Line(text, line.folder, whole, "if" not in step)] if text else []
    named = {key: values for key, values in runs_on.items() if any(map(_ON.match, values))}
    return Job(path, lines, named, [f"`{name}`" for name in _table(job.get("services"))])


def _add(runs_on: dict[str, list[str]], key: str, value: object) -> None:
    """Add the values at a key of a matrix, or the lines of one value, without expressions."""
    for text in (line for one in _list(value) or [value] if isinstance(one, str) for line in one.split("\n")):
        if text and "$" not in text and text not in runs_on.setdefault(key, []):
            runs_on[key].append(text)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _scripts(value: object) -> Iterator[str]:
    """Yield the scripts in settings of any service, in order."""
    for key, one in value.items() if isinstance(value, dict) else ():
        texts = one if isinstance(one, list) else [one]
        if key in _SCRIPTS and all(isinstance(text, str) for text in texts):
            yield from texts
        else:
            yield from _scripts(one)
    for one in value if isinstance(value, list) else ():
        yield from _scripts(one)


def lines_of(text: str, folder: str = "") -> Iterator[Line]:
    """Yield the commands of a script that begins in `folder`; those that take a folder as an option are at the root.

    What it runs in some cases only, in the branches of `if` and `case`, is left out.
    """
    folder, cloned = folder.strip(" ./"), False
    for line in _BRANCHES.sub("", re.sub(r"\\\n[ \t]*", " ", text)).split("\n"):
        line = re.sub(r"\A([\"'])(.*)\1\Z", r"\2", re.sub(r"(?:\A|\s+)#(?=\s).*", "", line).strip(" -\t"))
        for part in filter(None, re.split(r"\s*(?:&&|;)\s*", line.removeprefix("$ ").removeprefix("> "))):
            if folder and (built := re.fullmatch(r"cmake((?: -\S+)*) \.\.", part)):
                part = f"cmake ..{built[1]}"
            moved = next((one for one in _MOVED if folder and re.match(rf"{re.escape(one[0])}(?![\w-])", part)), None)
            if part.startswith("cd "):
                # After a clone it is the root that is entered.
                folder = "" if cloned or part[3:].strip(" ./-") == "" else part[3:].strip(" ./")
                cloned = False
            elif part.startswith("git clone"):
                cloned = True
            elif moved is not None:
                yield Line(f"{moved[1].format(folder)}{part[len(moved[0]) :]}")
            else:
                yield Line(part, folder)


def _filled(line: str, env: dict[str, str]) -> tuple[str, bool]:
    """Return a line of a workflow with the values that it sets, without options that are not known, and whether it is
    whole; "" where a part of a word is not known.
    """
    line = _WORKSPACE.sub(lambda one: "" if one[1] else ".", line)
    line = _ENV.sub(lambda name: env.get(name[1] or name[2], name[0]), line)
    bare = re.sub(r" (?!-[BSC]\b|--test-dir)--?[\w-]+[= ]?\S*\$\{\{.*?\}\}\S*(?=\s|\Z)", "", line)
    if re.search(r"\S\$\{\{|\}\}[^\s]", bare):
        return "", False
    bare = re.sub(r"\s*\$\{\{.*?\}\}", "", bare)
    return bare.strip(), bare == line
