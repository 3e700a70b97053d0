"""Reads the settings of continuous integration: the jobs, what they run at the root, and what they run it on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from memory.base.safe_text import one_line
from memory.document.guarded_yaml import FrontRefused, read_yaml

from .tree import Tree

_WORKFLOW = re.compile(r"\.github/workflows/[^/]+\.ya?ml")
_NO_WORK = re.compile(
    r"(?:release|publish|deploy|codeql|label|stale|docs|website|bench|codspeed|pypi|fuzz|nightly|scorecard|backport"
    r"|lock|downstream|external|autofix|pages|sync|update)[^/]*\Z",
    re.IGNORECASE,
)
_MAIN = re.compile(
    r"\A(?:ci|cicd|(?:py)?tests?|build|main|checks?|lint|linux|ubuntu|regress|r-cmd-check)\b|[-_](?:ci|tests?)\.",
    re.IGNORECASE,
)
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
_SCRIPTS = ("run", "command", "before_install", "install", "before_script", "script", "build_script", "test_script")
_MOVED = (
    ("meson setup ..", "meson setup {}"), ("meson ..", "meson setup {}"), ("ninja", "ninja -C {}"),
    ("ctest", "ctest --test-dir {}"), ("cmake --build .", "cmake --build {}"), ("cmake ..", "cmake -S . -B {}"),
    ("scons", "scons -C {}"),
)  # fmt: skip
"""The beginnings of commands in a folder, each with that at the root."""
_ENV = re.compile(r"\$\{\{ *(?:env|matrix)\.([\w-]+) *\}\}|\$\{?([A-Z]\w*)\}?")
_WORKSPACE = re.compile(r"\$\{\{ *(?:github\.workspace|runner\.workspace) *\}\}(/?)|\$GITHUB_WORKSPACE\b(/?)")
_EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.DOTALL)
_LOCKS = ("Cargo.lock", "uv.lock", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "pixi.lock")
_LOCKED = re.compile(r" --(?:locked|frozen|frozen-lockfile|immutable)(?!\S)")
_NO_FLAGS = re.compile(r"[\"\\`$\n]|\A-[DW] ?[a-z](?!.*--cfg)")
_UNKNOWN = "\ufffc"
"""What is in the place of an expression that is not known."""
_BRANCHES = re.compile(r"^[ \t]*(?:if|case) (?:[^\n]*\n){0,60}?[^\n]*\b(?:fi|esac)\b[^\n]*", re.MULTILINE)
_ANCHOR = re.compile(r"(?<=[:-] )[&*][A-Za-z_][\w-]*(?=[ \t]*$)", re.MULTILINE)
_SELDOM = re.compile(r"matrix\.|runner\.os|github\.|failure|always|inputs\.")
"""A condition that a run on another system or for another event does not meet."""
_ON_LINUX = re.compile(r"runner\.os == 'Linux'|ubuntu|runner\.os != '(?:Windows|macOS)'")
_ON = re.compile(r".*\d|(?:ubuntu|windows|macos|alpine|stable|beta|nightly|latest|lts|current|gcc|clang|[jo]ruby|pypy)",
                 re.IGNORECASE)  # fmt: skip
"""A system, or a version of a tool."""
_COMMENT = re.compile(r"((?:^[ \t]*(?://|#)[^\n]*\n)+)[ \t]*(\S[^\n]*)?", re.MULTILINE)
_MARK = re.compile(r"^[ \t]*(?://+|#+)[ \t]?(?:-? *[a-z][\w-]*: [^\n]*)?|https?://\S+", re.MULTILINE)
"""The sign before a line of a comment, with a setting that is switched off, and addresses."""


class Line(NamedTuple):
    """A command: its folder ("" is the root), whether it is told as it is written, whether it runs each time on Linux,
    the name of its step, and the options for compilers that the step sets as variables.
    """

    text: str
    folder: str = ""
    whole: bool = True
    always: bool = True
    step: str = ""
    env: str = ""


class Job(NamedTuple):
    """A script, or a job: its file, its commands in order, what it is run on, and the services that it needs."""

    path: str
    lines: list[Line]
    runs_on: Mapping[str, list[str]] = MappingProxyType({})
    services: Sequence[str] = ()


def ci_files(tree: Tree) -> list[tuple[str, str]]:
    """Return the settings of continuous integration, each with its service; those that run most tests come first."""
    workflows = [path for path in tree.files if _WORKFLOW.fullmatch(path) and not _NO_WORK.search(path)]
    tests = {path: sum(_tests(job) for job in jobs_of(tree, path)) for path in workflows}
    main = [path for path in workflows if _MAIN.search(path.rpartition("/")[2])]
    work = [path for path in workflows if tests[path] or path in main]
    work.sort(key=lambda path: (not tests[path], bool(_OTHER.search(path)), path not in main, -tests[path], path))
    found = [(path, "GitHub Actions") for path in work]
    # Beside workflows the settings of another service are usually left over.
    return found + [(path, name) for path, name in _OTHERS.items() if tree.has(path) and not work]


def _tests(job: Job) -> int:
    return sum(_TESTS.search(line.text) is not None for line in job.lines)


def jobs(tree: Tree) -> list[Job]:
    """Return the jobs of continuous integration."""
    return [job for path, _ in ci_files(tree) for job in jobs_of(tree, path)]


def jobs_of(tree: Tree, path: str) -> list[Job]:
    """Return the jobs in a file of settings; none where it cannot be read."""

    # Where no lock file is in the repository, an earlier step of CI makes it.
    locked = any(one.endswith(_LOCKS) for one in tree.files)
    return _jobs(path, tree.text(path) if locked else _LOCKED.sub("", tree.text(path)))


@lru_cache(maxsize=64)
def _jobs(path: str, text: str) -> list[Job]:
    settings = _settings(text)
    if not _WORKFLOW.fullmatch(path):
        return [Job(path, [line for script in _scripts(settings) for line in lines_of(script)])]
    found = _table(settings.get("jobs")).items()
    return [_job(path, name, one, settings) for name, one in found if isinstance(one, dict)]


@lru_cache(maxsize=64)
def _settings(text: str) -> dict[str, Any]:
    try:
        return {one.key: one.value for one in read_yaml(_ANCHOR.sub("", text.removeprefix("---\n")))[0]}
    except FrontRefused:
        return {}


def _job(path: str, name: str, job: dict[str, Any], settings: dict[str, Any]) -> Job:
    matrix = _table(_table(job.get("strategy")).get("matrix"))
    rows = [one for value in matrix.values() for one in map(_table, _list(value)) if one]
    runs_on: dict[str, list[str]] = {}
    for key, value in (item for table in (matrix, *rows) for item in table.items()):
        if not key.isupper():
            _add(runs_on, key, value)
    # A value that differs is that of the first row on Linux, where each run has a row.
    own = next((row for row in rows if "ubuntu" in " ".join(map(str, row.values()))), {}) if len(matrix) == 1 else {}
    known = {key: values[0] for key, values in runs_on.items() if len(values) == 1 and values != ["?"]}
    known |= {key: value for key, value in own.items() if isinstance(value, str)}
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
        folder = _filled(str(step.get("working-directory", folder)), env)
        # What only makes errors of warnings changes nothing else.
        flags = {key: str(value) for key, value in _table(step.get("env")).items() if key.endswith("FLAGS")}
        front = "".join(f'{key}="{value}" ' for key, value in flags.items() if not _NO_FLAGS.search(value))
        for line in lines_of(_filled(str(step.get("run") or ""), env), folder):
            text = _known(line.text)
            when = str(step.get("if", ""))
            always = not _SELDOM.search(when) or _ON_LINUX.search(when) is not None
            if text and _UNKNOWN not in line.folder:
                lines.append(Line(text, line.folder, text == line.text, always, str(step.get("name", name)), front))
    named = {key: values for key, values in runs_on.items() if "?" in values or any(map(_ON.match, values))}
    return Job(path, lines, named, [f"`{one}`" for one in _table(job.get("services"))])


def _add(runs_on: dict[str, list[str]], key: str, value: object) -> None:
    """Add the values at a key of a matrix, or the lines of one value; `?` for an expression that is not known."""
    for text in (line for one in _list(value) or [value] if isinstance(one, str) for line in one.split("\n")):
        told = text if "$" not in text else "" if "matrix." in text else "?"
        if told and told not in runs_on.setdefault(key, []):
            runs_on[key].append(told)


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
        line = re.sub(
            r"\A([\"'])(.*)\1\Z", r"\2", re.sub(r"(?:\A|\s+)#(?=\s).*|(?<=\S) +(?= )", "", line).strip(" -\t")
        )
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


def _filled(text: str, env: dict[str, str]) -> str:
    """Return a script of a workflow with the values that it sets, and marks in the place of other expressions."""
    text = _WORKSPACE.sub(lambda one: "" if one[1] or one[2] else ".", text)
    return _EXPRESSION.sub(_UNKNOWN, _ENV.sub(lambda name: env.get(name[1] or name[2], name[0]), text))


def _known(line: str) -> str:
    """Return a command without the options that are not known; "" where a part of a word is not known."""
    line = re.sub(rf"(ctest\b.*) -C {_UNKNOWN}", r"\1", line)
    bare = re.sub(rf" (?!-[BSC]\b|--test-dir)--?[\w-]+[= ]?[^\s{_UNKNOWN}]*{_UNKNOWN}\S*(?=\s|\Z)", "", line)
    bare = re.sub(rf"\s+{_UNKNOWN}(?=\s|\Z)", "", bare)
    return "" if _UNKNOWN in bare else bare.strip()


class Comment(NamedTuple):
    """A comment in settings as one line of text, its first line in the file, and the line below it ("" at the top)."""

    text: str
    line: int
    below: str


def comments_of(text: str) -> Iterator[Comment]:
    """Yield the comments of settings, without settings that are switched off and addresses."""
    line, at = 1, 0
    for found in _COMMENT.finditer(text):
        line, at = line + text.count("\n", at, found.start()), found.start()
        below = (found[2] or "").partition(" #")[0] if found.start() else ""
        yield Comment(one_line(_MARK.sub("", found[1])), line, below)
