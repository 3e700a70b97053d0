"""Tells how one test is run: as the guides say, else with the program that runs all of them in the end."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .kinds import LAUNCHERS, NEVER, RUN_SCRIPT, is_step, is_test
from .manifests import Project, glob
from .tree import Tree
from .tree import is_test as is_test_file

ENV = re.compile(r"\A(?:[A-Z_]+=(?:\"[^\"\n]*\"|(?!\")\S*) +)+")
"""The variables that are set for a command."""
_OF_TEST = re.compile(r"(?:bundle exec )?(?:ruby|python3?|node|perl|php|m) (?:-\S+ )*\S*test")
_BY_NAME = re.compile(r" (?:--(?:name|filter|tests)|-[ktR]|-run|-Dtest)[ =]|\w::\w|\.\w+:\d+")
_SELECTS = re.compile(
    rf"(?!.*(?:playwright|browser|e2e|bench)).*(?:{_BY_NAME.pattern}|\btest_\w+|\[match\]"
    r"|(?:\b(?:tests?|specs?|t)|__tests__)/\S*\w\.\w+|\w[._](?:test|spec)\.\w+)"
)
"""Words that choose some of the tests."""
_NODE = r"\.[cm]?[jt]sx?"
_FORMS = (
    (r"pytest|py\.test", "pytest FILE -k name", r"/test_\w+\.py"), ("unittest", "unittest FILE", r"/test_\w+\.py"),
    ("mix test", "mix test FILE:12", r"_test\.exs"), ("rspec", "rspec FILE:12", r"_spec\.rb"),
    ("vitest", "vitest run FILE", _NODE), ("jest", "jest FILE", _NODE), ("ava", "ava FILE", _NODE),
    (r"mocha(?: --?[\w-]+(?:[ =][\w.-]+(?:/[\w.-]+)*(?=\s|$))?)*", "{} FILE", _NODE),
    (r"node(?: --?[\w-]+(?:[ =](?!--)[\w./-]+)?)*? --test", "{} FILE", _NODE),
    (r"cargo (?:nextest|test)", "cargo test name", ""), ("go test", "go test -run Name ./...", ""),
    ("phpunit", "phpunit --filter name", ""), (r"\./gradlew", "./gradlew test --tests Name", ""),
    (r"\./mvnw", "./mvnw test -Dtest=Name", ""), ("mvn", "mvn test -Dtest=Name", ""),
    ("dotnet test", "dotnet test --filter Name", ""), ("swift test", "swift test --filter Name", ""),
    ("ctest", "ctest --test-dir build -R name", ""),
)  # fmt: skip
"""The programs that run tests, each with how it runs one of them (`{}` is the program with its options), and with the
end of the name of a test, if it takes one.
"""
_BINARIES = {"vitest": "npx", "jest": "npx", "ava": "npx", "mocha": "npx", "phpunit": "vendor/bin/"}
_RUN_BIN = {"pnpm": "pnpm", "Yarn": "yarn", "Bun": "bunx"}
"""What runs a program of a package, where it is not `npx`."""
_NAMED = re.compile(r"[._-](?:test|spec)\.\w+\Z")
_NO_TEST = re.compile(r"e2e|playwright|browser|\b(?:helpers?|fixtures?|support|set-?up|utils?|mocks?|apps|d)\b", re.I)

_TAKEN = re.compile(r"(?<=\s)[\"']?(?:\./)?([^\s\"'-][^\s\"'=]*(?:\*|\.[cm]?[jt]sx?))[\"']?(?=\s|\Z)")
"""A pattern, or a file, that a command names."""
_REQUIRE = re.compile(r"(?<=\s)(?:--(?:require|import)|-r)[ =]\S+")
_RUNNER = re.compile(r"\b(Deno)\.test\b|(?:from|require\() ?[\"'](?:(bun|node):test|(vitest|ava|tape|@playwright)\b)")
"""What a test says of the program that runs it."""


def one_test(
    tree: Tree, projects: list[Project], test: str, said: list[tuple[str, str]], scripts: dict[str, str]
) -> tuple[str, str]:
    """Return how one test is run where the command `test` runs all, and where that is from; two times "" if not known.

    `said` are the commands in the guides, each with its file; `scripts` are what the scripts of the project do.
    """
    text, path = max(said, key=lambda one: _fits(one[0], test), default=("", ""))
    if _fits(text, test):
        return text, f"from `{path}`"
    # A name that only one of several modules has is an error in the others.
    modules = any(one.ecosystem.name == "Java" for one in projects) and not tree.below("src/test")
    for whole in () if modules else _simple_commands(test, scripts, 4):
        text = ENV.sub("", whole)
        bare = re.sub(rf"\A(?:{LAUNCHERS.pattern})*", "", text)
        begin = re.sub(r"coverage run(?: -\w)* |(?:c8|nyc) .*|composer exec .*", "", text.removesuffix(bare))
        for tool, form, end in _FORMS:
            found = re.match(rf"(?:{tool})(?![\w-])", bare)
            file = _largest(tree, end, bare) if found and end else ""
            if found and (file or not end):
                manager = next((one.manager for one in projects if one.ecosystem.name == "Node.js"), "")
                run = _BINARIES.get(form.format(found[0]).split()[0], "") if not begin.strip() else ""
                begin = f"{_RUN_BIN.get(manager, run)} " if run == "npx" else run or begin
                program = " ".join([found[0], *(one for one in _REQUIRE.findall(bare) if one not in found[0])])
                return f"{whole.removesuffix(text)}{begin}{form.format(program).replace('FILE', file)}", "usual"
    return "", ""


def _fits(text: str, test: str) -> int:
    """Return how well a command shows how one test is run, where `test` runs all: 0 for another command."""
    tests = (is_test(text) or text.startswith(f"{test} ")) and is_step(text)
    if not (tests or _OF_TEST.match(text)) or NEVER.search(text) or not _SELECTS.match(text):
        return 0
    return 1 + (" -- " not in text) + 2 * (_BY_NAME.search(text) is not None)


def _simple_commands(text: str, scripts: dict[str, str], depth: int) -> Iterator[str]:
    """Yield what a command runs in the end: itself, or what the script or target does that it names."""
    script = RUN_SCRIPT.match(text)
    body = scripts.get(script["name"], "") if script is not None else ""
    if script is None or not body or not depth:
        yield text
        return
    for part in re.split(r"\s*(?:&&|;|\n)\s*", body):
        bare = part.strip(" \t@-")
        words = bare.split()
        # What a target needs is made before it.
        needed = script["runner"] == "make" and words and all(word in scripts for word in words)
        for one in [f"make {word}" for word in words] if needed else [bare]:
            yield from _simple_commands(one, scripts, depth - 1)


def _largest(tree: Tree, end: str, command: str) -> str:
    """Return the largest test whose name has an end and that a command runs, one that is named like a test before
    others; "" without any.
    """
    taken = [glob(one) for one in _TAKEN.findall(_REQUIRE.sub("", command))]
    tests = [
        path for path in tree.files if is_test_file(path) and path.isascii() and re.search(rf"{end}\Z", f"/{path}")
        and (not taken or any(one.fullmatch(path) for one in taken))
    ]  # fmt: skip
    tests = [path for path in tests if not _NO_TEST.search(path)]
    tests.sort(key=lambda path: (_NAMED.search(path) is None, -tree.files[path]))
    return next((path for path in tests if _is_run_by(command, tree.text(path))), "")


def _is_run_by(command: str, text: str) -> bool:
    """Return whether a test does not say that another program than that of the command runs it."""
    said = {name.lower() for names in _RUNNER.findall(text) for name in names if name}
    return not said or any(name in command for name in said)
