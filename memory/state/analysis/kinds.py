"""Tells by its words what a command does: whether it validates something, rewrites, waits, or is only for a part."""

from __future__ import annotations

import re

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
    (SET_UP, r"(?:npm (?:ci|i|install)|(?:pnpm|bun) (?:i|install)|yarn(?: install)?|uv sync|(?:composer|poetry|pdm"
             r"|bundle) install)(?: --[\w-]+)*$|mix deps\.get$|cmake (?:-[SB]|--preset \S+)|meson setup|autoreconf"
             r" -|cpanm --installdeps|dart pub get|\./configure$|(?:sh |\./)autogen\.sh$|git submodule update"
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
             r"|bats|gotestsum|cargo nextest run|(?:rake|thor)(?:$| test| spec)|(?:cargo|go|dart|flutter|dotnet"
             r"|swift|deno|meson|zig build(?: \w+)*?|cabal|stack|sbt|lein|bun|rails) test|scons -C \S*tests?\b"
             r"|(?:\./)?(?:mvnw?|gradlew?) (?:\S+ )*?(?:test|verify|check|build)"
             r"|(?:\./)?mvnw?(?!.* --version)(?: -\S+)*$|(?:bash |sh |\./)?scripts?/tests?(?:-cov)?(?:\.sh)?$"
             r"|\./(?:run[-_])?(?:unit[-_]?)?tests?\.sh$"),
    ("lint", r"(?:\./)?scripts?/(?:check|lint)(?:\.sh)?$"),
    ("build", r"(?:cargo|go|dotnet|swift|zig|uv) build|cmake --build (?:--preset )?\w+|mix compile"
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
    r"--filter|pnpm -[FC] | -- (?!-)|(?:cargo|npm|pnpm) .*-p |--package\b|--projects?\b|mvn.* -pl |(?<!clippy)::"
    r"|--testNamePattern|(?:^| )-run |--manifest-path|(?:^| )-[knt] |--test |--doc\b|--lib\b|--target|packages/"
    r"|\.(?:py|[cm]?[jt]sx?|rs|go|rb|exs?|php|java|cs|csproj|fsproj)(?!\w)|pytest.* -m |phpunit.* -c |go test.* \./\w"
    r"|-bench|-fuzz|nightly| -Z |--formatter|swift .*--(?:no|disable)-|cargo .*(?:--features|--no-default)|--profile"
    r"|(?:^| )-D\w+\.\w|--with |^go test(?: -\w+)*$|^ctest(?!.*--(?:test-dir|preset))|[-:]cov|:ci\b|--release"
    r"|ctest.* -[LER]+ |meson \w+ (?:-C )?(?!build\b(?!-))\w"
)
"""Commands for a part of the work, or under special conditions."""
_LINTS = re.compile("lint|ruff|clippy|biome|prettier|flake8|tsc|mypy")
_STEP = re.compile(r"(?!.*\|\|)[\w./:@=,+\-!' \"\[\]&*{}$~|]{2,160}")
_NO_STEP = re.compile(
    r"(?:echo|export|alias|docker(?:-machine)? (?:start|run|login|push)|git(?! submodule)|mkdir|set|if|then|else|fi"
    r"|for|do|done|curl|wget|source|cat|ls|rm|cp|mv|which|grep|g?cc|clang|brew|choco|rustup|corepack"
    r"|.*pip install (?:-U|--upgrade) \S+$|.*update$|.*--?version$"
    r"|composer update|pip freeze|sleep|\w+ version$)\b|[A-Z_]+=\S*$|.*-V$|-"
)
"""Lines of a script that are not of the project."""


def kind_of(text: str, scripts: dict[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return the kind of a command ("" for one of no use here), and the words that make it end by itself."""
    core = LAUNCHERS.sub("", text, count=1) if LAUNCHERS.match(text) else text
    script = RUN_SCRIPT.match(core)
    name = script["name"] if script is not None else core.partition(" ")[0].removeprefix("./")
    body = scripts.get(name, "")
    kind = next((kind for kind, tool in _TOOLS if re.match(rf"(?:{tool})(?![\w:.-])", core)), "")
    if script is not None and not kind:
        kind = kind_of_script(name)
        if {kind} < {kind_of_script(word) for word in core[script.end() :].split() if word in scripts} | {kind}:
            return "", ()
        if name in ("check", "checks") and body:
            kind = "" if not _LINTS.search(body) else "lint"
            kind = "test" if re.search("test|spec|verify|race", body) else kind
        inner = " -r" in core or "--recursive" in core
        if not (name in scripts or inner or script["runner"] in ("pdm", "poe", "hatch", "rake", "invoke", "melos")):
            return "", ()
    done = f"{text} {body}"
    if not kind or NEVER.search(done):
        return "", ()
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
    target = RUN_SCRIPT.match(text)
    if found := kind_of(text, {})[0]:
        return found == "test"
    kind = kind_of_script(target["name"]) if target is not None else ""
    return kind == "test" or (target is not None and not kind and re.match(r"test\b|ci\Z", target["name"]) is not None)
