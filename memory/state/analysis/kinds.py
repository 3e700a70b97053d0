"""Tells by its words what a command does: whether it validates something, rewrites, waits, or is only for a part."""

from __future__ import annotations

import re
from collections.abc import Iterator

SET_UP, ONE_TEST, CHECKS = "set up", "single test", ("types", "lint", "format")
PURPOSES = {SET_UP: "Gets what it needs", "test": "Runs the tests", ONE_TEST: "Runs one of them",
            "lint": "Lints the code", "types": "Checks the types",
            "format": "Checks the format", "build": "Builds it"}  # fmt: skip
"""The kinds of commands in their order, each with its purpose."""
_SCRIPT_NAMES = (
    ("types", r"types?(?:[:-]?check)?|check[:-]types?|tsc|mypy|pyright|test[:-](?:types?|typescript)|phpstan|psalm"),
    ("format", r"(?:format|fmt|prettier)[:-]check|check[:-](?:format|fmt)"),
    ("lint", r"lint(?:[:-](?:check|ci|all|js|ts|code))?|check[:-](?:lint|style)|eslint|rubocop|clippy|vet|style|flake8"
             r"|golangci[:-]lint|phpcs"),
    ("test", r"tests?(?:[:-](?:unit|all|ci|packages|run|cov(?:erage)?))?|unit(?:[:-]?tests?)?|check[:-]tests?|verify"
             r"|specs?|phpunit|cov(?:erage)?|checks?"),
    ("build", r"build(?:[:-](?:all|prod|packages))?|compile"),
)  # fmt: skip
_TOOLS = (
    (SET_UP, r"(?:npm (?:ci|i|install)|(?:pnpm|bun) (?:i|install)|yarn(?: install)?|uv sync"
             r"|(?:composer|poetry|pdm|bundle) install)(?: --[\w-]+)*$|mix deps\.get$|cmake -[SB]"
             r"|meson setup|autoreconf -|cpanm --installdeps|dart pub get|\./configure$|(?:sh |\./)autogen\.sh$"
             r"|git submodule update"
             r"|(?:python3? -m )?pip install (?!.*[<>=])(?=.*(?:-e|-r|--group|\.(?:\[[\w,-]+\])?)(?: |$))\S[^&|]*$"),
    ("types", r"(?:tox(?: run)?|nox) -[efs] [\w,.-]*(?:mypy|types?|typing|pyright)"),
    ("types", r"mypy|pyright|basedpyright|ty check|(?:vue-)?tsc\b.*--noEmit|phpstan|psalm|pyrefly|dialyzer"),
    ("format", r"(?:ruff|mix|dotnet) format --(?:check|verify)[\w-]*|prettier .*--check|cargo fmt.* --check"
               r"|black --check|php-cs-fixer fix .*--dry-run"),
    ("lint", r"tox -e (?:lint|style|flake8|check)"),
    ("lint", r"ruff check|flake8|pylint|eslint|biome (?:check|lint|ci)|standard|cargo clippy|go vet|golangci-lint"
             r"|staticcheck|mix credo|rubocop|phpcs|rake rubocop|oxlint|xo"),
    ("test", r"pytest|py\.test|tox(?:(?: run| p)?(?: --[\w-]+)*$| -e py)|nox(?:$| -s tests?)|unittest"
             r"|manage\.py test|vitest|jest|mocha|ava|tap|prove|mix test(?:\.(?:ci|all))?|rspec|phpunit|pest|ctest"
             r"|bats|gotestsum"
             r"|cargo nextest run|(?:rake|thor)(?:$| test| spec)"
             r"|(?:cargo|go|dart|flutter|dotnet|swift|deno|meson|zig build(?: \w+)*?|cabal|stack|sbt|lein"
             r"|bun|rails) test|scons -C \S*tests?\b"
             r"|(?:\./)?(?:mvnw?|gradlew?) (?:\S+ )*?(?:test|verify|check|build)"
             r"|(?:\./)?mvnw?(?!.* --version)(?: -\S+)*$"
             r"|(?:bash |sh |\./)?scripts?/tests?(?:-cov)?(?:\.sh)?$|\./test\.sh$"),
    ("lint", r"(?:\./)?scripts?/(?:check|lint)(?:\.sh)?$"),
    ("build", r"(?:cargo|go|dotnet|swift|zig|uv) build|cmake --build \w+|mix compile"
              r"|(?:\./)?mvnw? (?:\S+ )*?package|make(?: all\b.*| -j ?\d*)?$"),
)  # fmt: skip
RUN_SCRIPT = re.compile(
    r"(?P<runner>npm|pnpm|yarn|bun|composer|deno|make|just|task|pdm|poe|hatch|rake|invoke|melos)"
    r"(?: (?:-r|-w|--recursive|--silent|-s|run|run-script|task|(?:-F|-C|--filter) \S+))* (?P<name>[\w:.-]+)"
)
LAUNCHERS = re.compile(
    r"(?:(?:uv|poetry|pdm|pipenv|rye|hatch) run|uvx|bundle exec|npx|(?:pnpm|yarn) exec|bunx|composer exec|python3? -m"
    r"|(?:pnpm|yarn)(?= (?:vitest|jest|mocha|ava|eslint|tsc|prettier|biome)\b)|coverage run(?: -\w)* -m|c8|nyc"
    r"|\./?vendor/bin/|vendor/bin/|\./node_modules/\.bin/)"
    r"(?: --(?:group|extra|only-group|python) \S+| -p \S+| --?[\w-]+(?:=\S+)?)* ?(?:-- )?"
)
NEVER = re.compile(
    r"--write\b|--fix\b|:fix\b|--apply\b|--unsafe\b|--update|--bless|\s-u\b|--auto-?correct|rubocop.* -[aA]\b"
    r"|-S \w|pre-commit|husky|lint-staged|gofmt\b.* -w|no test specified"
    r"|(?:\bblack|\bisort|(?:\bruff|mix|dotnet) format|(?:cargo|go|terraform) fmt)\b(?!.*--(?:check|diff|verify))"
    r"|--watch(?:All)?\b(?!=false)|(?<![\w-])(?:watch|nodemon|serve)\b|--ui\b|karma start(?!.*single-run)"
)
"""Commands that rewrite sources, wait for changes, or do nothing."""
_ONCE = ((re.compile(r"(?:^|\s)vitest(?=\s|$)(?! (?:run|list|bench|--run))(?!.*--run)"), "--run"),
         (re.compile(r"react-scripts test(?!.*--watchAll=false)"), "--watchAll=false"))  # fmt: skip
PART = re.compile(
    r"--filter|pnpm -[FC] | -- (?!-)|(?:cargo|npm|pnpm) .*-p |--package\b|--projects?\b|mvn.* -pl "
    r"|(?<!clippy)::|--testNamePattern|(?:^| )-run |--manifest-path|\.(?:py|[cm]?[jt]sx?|rs|go|rb|exs?|php|java|cs"
    r"|csproj|fsproj)(?!\w)|--test "
    r"|(?:^| )-[kt] |--doc\b|--lib\b|--target|packages/|pytest.* -m |phpunit.* -c |go test.* \./\w|-bench|-fuzz"
    r"|nightly| -Z |--formatter|swift .*--(?:no|disable)-|cargo .*(?:--features|--no-default)"
)
"""Commands for a part of the work, or with what only a machine has."""
NARROW = re.compile(
    r"(?:^| )-n |(?:^| )-D\w+[.=]|--with |--no-default|^go test(?: -\w+)*$|^ctest(?!.*--test-dir)|cover|:cov|:ci\b"
    r"|meson \w+ (?:-C )?(?!build\b(?!-))\w|--release|--profile"
)
"""Commands under special conditions."""
_LINTS = re.compile("lint|ruff|clippy|biome|prettier|flake8|tsc|mypy")
_STEP = re.compile(r"(?!.*\|\|)[\w./:@=,+\-!' \"\[\]&*{}$~|]{2,160}")
_NO_STEP = re.compile(
    r"(?:echo|export|alias|docker(?:-machine)? (?:start|run|login|push)|git(?! submodule)|mkdir|set|if|then|else|fi"
    r"|for|do|done|curl|wget|source|cat|ls|rm|cp|mv|which|grep|g?cc|clang|brew|choco|rustup|corepack"
    r"|.*pip install (?:-U|--upgrade) \S+$|.*update$|.*--?version$"
    r"|composer update|pip freeze|sleep|\w+ version$)\b|[A-Z_]+=\S*$|.*-V$|-"
)
"""Lines of a script that are not of the project."""
_OF_TEST = re.compile(r"(?:bundle exec )?(?:ruby|python3?|node|perl|php|m) (?:-\S+ )*\S*test")
_BY_NAME = re.compile(r" (?:--(?:name|filter|tests)|-[kt]|-run|-Dtest)[ =]|\w::\w|\.\w+:\d+")
_SELECTS = re.compile(
    rf"(?!.*(?:playwright|browser|e2e|bench)).*(?:{_BY_NAME.pattern}|\btest_\w+|\[match\]"
    r"|(?:\b(?:tests?|specs?|t)|__tests__)/\S*\w\.\w+|\w[._](?:test|spec)\.\w+)"
)
"""Words that choose some of the tests."""
ONE_OF = (
    (r"(?:pytest|py\.test)", "pytest tests/test_file.py -k name"), (r"cargo (?:nextest|test)", "cargo test name"),
    ("go test", "go test -run Name ./..."), ("mix test", "mix test test/file_test.exs:12"),
    ("rspec", "rspec spec/file_spec.rb:12"), ("phpunit", "phpunit --filter name"),
    (r"\./gradlew", "./gradlew test --tests Name"), (r"\./mvnw", "./mvnw test -Dtest=Name"),
    ("mvn", "mvn test -Dtest=Name"), ("vitest", "vitest run FILE"), (r"jest", "jest FILE"), ("ava", "ava FILE"),
    ("dotnet test", "dotnet test --filter Name"), ("swift test", "swift test --filter Name"),
    ("ctest", "ctest --test-dir build -R name"), ("unittest", "unittest tests.test_file"),
    (r"mocha(?: --?[\w-]+(?:[ =][\w.-]+(?:/[\w.-]+)*(?=\s|$))?)*", "{} FILE"),
    (r"node(?: --?[\w-]+(?:[ =](?!--)[\w./-]+)?)*? --test", "{} FILE"),
)  # fmt: skip
"""The programs that run tests, each with how it runs one of them: `{}` is the program with its options."""


def kind_of(text: str, scripts: dict[str, str]) -> tuple[str, tuple[str, ...]] | None:
    """Return the kind of a command and the words that make it end by itself; None where it is of no use here."""
    core = LAUNCHERS.sub("", text, count=1) if LAUNCHERS.match(text) else text
    script = RUN_SCRIPT.match(core)
    name = script["name"] if script is not None else core.partition(" ")[0].removeprefix("./")
    body = scripts.get(name, "")
    kind = next((kind for kind, tool in _TOOLS if re.match(rf"(?:{tool})(?![\w:.-])", core)), "")
    if script is not None and not kind:
        kind = kind_of_script(name)
        if {kind} < {kind_of_script(word) for word in core[script.end() :].split() if word in scripts} | {kind}:
            return None
        if name in ("check", "checks") and body:
            kind = "" if not _LINTS.search(body) else "lint"
            kind = "test" if re.search("test|spec|verify|race", body) else kind
        inner = " -r" in core or "--recursive" in core
        if not (name in scripts or inner or script["runner"] in ("pdm", "poe", "hatch", "rake", "invoke", "melos")):
            return None
    done = f"{text} {body}"
    if not kind or NEVER.search(done):
        return None
    more = next((word for pattern, word in _ONCE if pattern.search(done)), "")
    dashes = ("--",) if more and script is not None and text.startswith("npm") else ()
    return kind, (*dashes, more) if more else ()


def kind_of_script(name: str) -> str:
    """Return the kind of a script or target by its name; "" where that tells none."""
    return next((kind for kind, pattern in _SCRIPT_NAMES if re.fullmatch(pattern, name, re.IGNORECASE)), "")


def is_step(text: str) -> bool:
    """Return whether a line of a script may be shown as a step of the work."""
    return _STEP.fullmatch(text) is not None and _NO_STEP.match(re.sub(r"^(?:[A-Z_]+=\S+ )+", "", text)) is None


def is_test(text: str) -> bool:
    """Return whether a command runs tests, or a script whose name says so."""
    found, target = kind_of(text, {}), RUN_SCRIPT.match(text)
    if found is not None:
        return found[0] == "test"
    kind = kind_of_script(target["name"]) if target is not None else ""
    return kind == "test" or (target is not None and not kind and re.match(r"test\b|ci\Z", target["name"]) is not None)


def some_tests(text: str, test: str) -> int:
    """Return how well a command shows how one test is run, where `test` runs all: 0 for another command."""
    tests = (is_test(text) or text.startswith(f"{test} ")) and is_step(text)
    if not (tests or _OF_TEST.match(text)) or NEVER.search(text) or not _SELECTS.match(text):
        return 0
    return 1 + (" -- " not in text) + 2 * (_BY_NAME.search(text) is not None)


def simple_commands(text: str, scripts: dict[str, str], depth: int = 4) -> Iterator[str]:
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
            yield from simple_commands(one, scripts, depth - 1)
