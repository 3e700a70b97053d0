"""The commands that set up, test, lint, type check and build a repository, from where the project itself says them.

In this order: the guides for agents and contributors, the steps of continuous integration, the scripts of manifests,
the targets of make and its like, and the usual ones of the ecosystem. None rewrites sources or waits for changes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

from .ci import Line, ci_files, jobs_of, lines_of
from .documents import as_markdown, listed, plain
from .manifests import Project
from .tree import Tree, is_aside, is_test, stem_of

SET_UP, ONE_TEST, _CHECKS = "set up", "single test", ("types", "lint", "format")
_PURPOSES = {SET_UP: "Gets what it needs", "test": "Runs the tests", ONE_TEST: "Runs one of them",
             "lint": "Lints the code", "types": "Checks the types",
             "format": "Checks the format", "build": "Builds it"}  # fmt: skip
"""The kinds of commands in their order, each with its purpose."""
_GUIDE = re.compile(
    r"(?:(?:\.github/|docs?/)?(?:agents|claude|contributing|development|hacking|developing|building)|build|testing)"
    r"\.(?:md|rst|markdown)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~) *(\w*)[^\n]*\n(.*?)^[ \t]*(?:```|~~~)", re.DOTALL | re.MULTILINE)
_SHELLS = ("sh", "bash", "shell", "console", "zsh", "text", "terminal", "powershell", "cmd")
_SECTION = re.compile(r"^(#+) ?([^\n]*)\n(.*?)(?=^#+ |\Z)", re.DOTALL | re.MULTILINE)
_UNDERLINED = re.compile(r"^(\w[^\n|:]{0,80})\n([=-])\2{2,}[ \t]*$", re.MULTILINE)
"""A title of Markdown with a line below it."""
_INDENTED = re.compile(r"(?:^(?: {4}|\t)[^\n]*\n?)+", re.MULTILINE)
_OF_WORK = re.compile(
    r"\b(?:tests?|testing|build(?:ing)?|develop\w*|contribut\w+|hacking|compil\w+|from source)\b", re.IGNORECASE
)
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
             r"|meson setup|autoreconf -"
             r"|(?:python3? -m )?pip install (?!.*[<>=])(?=.*(?:-e|-r|--group|\.(?:\[[\w,-]+\])?)(?: |$))\S[^&|]*$"),
    ("types", r"(?:tox(?: run)?|nox) -[efs] [\w,.-]*(?:mypy|types?|typing|pyright)"),
    ("types", r"mypy|pyright|basedpyright|ty check|(?:vue-)?tsc\b.*--noEmit|phpstan|psalm|pyrefly|dialyzer"),
    ("format", r"(?:ruff|mix|dotnet) format --(?:check|verify)[\w-]*|prettier .*--check|cargo fmt.* --check"
               r"|black --check|php-cs-fixer fix .*--dry-run"),
    ("lint", r"tox -e (?:lint|style|flake8|check)"),
    ("lint", r"ruff check|flake8|pylint|eslint|biome (?:check|lint|ci)|standard|cargo clippy|go vet|golangci-lint"
             r"|staticcheck|mix credo|rubocop|phpcs|rake rubocop|oxlint|xo"),
    ("test", r"pytest|py\.test|tox(?:$| run$| p$| -e py)|nox(?:$| -s tests?)|unittest|manage\.py test|vitest|jest|mocha"
             r"|ava|tap|prove|mix test(?:\.(?:ci|all))?|rspec|phpunit|pest|ctest|bats|gotestsum"
             r"|cargo nextest run|rake(?:$| test| spec)"
             r"|(?:cargo|go|dart|flutter|dotnet|swift|deno|meson|zig build(?: \w+)*?|cabal|stack|sbt|lein"
             r"|bun|rails) test|scons -C tests?$"
             r"|(?:\./)?(?:mvnw?|gradlew?) (?:\S+ )*?(?:test|verify|check|build)"
             r"|(?:\./)?scripts?/tests?(?:\.sh)?$|\./test\.sh$"),
    ("lint", r"(?:\./)?scripts?/(?:check|lint)(?:\.sh)?$"),
    ("build", r"(?:cargo|go|dotnet|swift|zig|uv) build|cmake --build \w+|mix compile"
              r"|(?:\./)?mvnw? (?:\S+ )*?package|make(?: all\b.*| -j ?\d*)?$"),
)  # fmt: skip
_TOOLS_OF = {
    "Ruby": r"rubocop|rspec|rake|bundle", "Python": r"pytest|ruff|mypy|tox|nox|flake8|pip|uv|poetry|pdm",
    "Go": r"go (?:test|vet|build)|golangci-lint", "Node.js": r"eslint|prettier|vitest|jest|np[mx]|pnpm|yarn|bun|tsc",
    "PHP": r"composer|vendor/bin", "Java": r"mvnw?|gradlew?", "C": r"cmake|meson", "Rust": "cargo",
}  # fmt: skip
"""The tools of an ecosystem."""
_SCRIPT_FILE = re.compile(r"(?:scripts?|bin|ci)/[^/]+")
_RUN_SCRIPT = re.compile(
    r"(?P<runner>npm|pnpm|yarn|bun|composer|deno|make|just|task|pdm|poe|hatch|rake|invoke|melos)"
    r"(?: (?:-r|-w|--recursive|--silent|-s|run|run-script|task))* (?P<name>[\w:.-]+)"
)
_LAUNCHERS = re.compile(
    r"(?:(?:uv|poetry|pdm|pipenv|rye|hatch) run|uvx|bundle exec|npx|pnpm exec|yarn exec|bunx|composer exec|python3? -m"
    r"|coverage run -m|\./?vendor/bin/|vendor/bin/|\./node_modules/\.bin/)"
    r"(?: --(?:group|extra|only-group|python) \S+| -p \S+| --?[\w-]+(?:=\S+)?)* ?(?:-- )?"
)
_NEVER = re.compile(
    r"--write\b|--fix\b|:fix\b|--apply\b|--unsafe\b|--update|--bless|\s-u\b|--auto-?correct|rubocop.* -[aA]\b"
    r"|-S \w|pre-commit|husky|lint-staged|gofmt\b.* -w|no test specified"
    r"|(?:\bblack|\bisort|(?:\bruff|mix|dotnet) format|(?:cargo|go|terraform) fmt)\b(?!.*--(?:check|diff|verify))"
    r"|--watch(?:All)?\b(?!=false)|\bwatch\b|\bnodemon\b|--ui\b|\bserve\b|karma start(?!.*single-run)"
)
"""Commands that rewrite sources, wait for changes, or do nothing."""
_ONCE = ((re.compile(r"(?:^|\s)vitest(?=\s|$)(?! (?:run|list|bench|--run))(?!.*--run)"), "--run"),
         (re.compile(r"react-scripts test(?!.*--watchAll=false)"), "--watchAll=false"))  # fmt: skip
_NARROW = re.compile(
    r"--filter|(?:^| )-p |--package\b|--projects?\b|(?:^| )-pl |(?<!clippy)::|--testNamePattern|(?:^| )-run "
    r"|--manifest-path|\.(?:py|[cm]?[jt]sx?|rs|go|rb|exs?|php|java|cs|csproj|fsproj)\b|--test |(?:^| )-[ktn] "
    r"|--features|(?:^| )-D\w+[.=]|--with |--no-default|--doc\b|--lib\b|^go test(?: -\w+)*$|^ctest(?!.*--test-dir)"
    r"|--target|packages/|-Dcover|pytest.* -m |phpunit.* -c |cover|:cov|:ci\b|go test.* \./\w"
    r"|meson \w+ (?:-C )?(?!build\b(?!-))\w|-bench|--release|--profile|-fuzz|nightly"
)
"""Commands for a part of the work."""
_LINTS = re.compile("lint|ruff|clippy|biome|prettier|flake8|tsc|mypy")
_PLAIN = re.compile(r"(?!.*(?<!/)\.\.\.)[\w./:@=,+\-!' \"]{1,160}")
_TARGET = re.compile(
    r"^([A-Za-z][\w.-]{0,60})(?:[ \t]+[\w*+-]+(?:=\S*)?)*[ \t]*:(?![=:])[^\n]*((?:\n[\t ]+[^\n]*)*)", re.MULTILINE
)
_TASK = re.compile(r"^  ([\w:-]{1,60}):[ \t]*$((?:\n(?:    [^\n]*|[ \t]*(?=\n)))*)", re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]+ [^`\n]+|tox|nox|[\w./-]+\.(?:sh|ps1|cmd))`")
_COMMAND_LINE = re.compile(r"(?!\S+/\Z)(?:[a-z@]|\./|[A-Z_]+=)(?!.*[.,:;]$)[^\n]+")
"""A line of code that looks like a command, not like what it prints."""
_STEP = re.compile(r"[\w./:@=,+\-!' \"\[\]&*{}$~|]{2,160}")
_NO_STEP = re.compile(
    r"(?:echo|export|git(?! submodule)|mkdir|set|if|then|else|fi|for|do|done|curl|wget|source|cat|ls|rm|cp|mv|which"
    r"|brew|choco|rustup|corepack|.*pip install (?:-U|--upgrade) \S+$|.*update$|.*--?version$|composer update"
    r"|pip freeze|sleep|\w+ version$)\b|[A-Z_]+=\S*$|.*-V$|-"
)
"""Lines of a script that are not of the project."""
_NO_TARGETS = ("install", "i", "ci", "add", "exec", "dlx", "view", "publish", "config", "version", "dist-tag", "-v")
"""Words of package managers that are no scripts of the project."""
_PACKAGES = re.compile(r"sudo apt(?:-get)? (?:-\S+ )*install (?!.*(?:-linux-|mingw|multilib))[^=]+\Z")
"""What installs packages of the system, none of one version only (from another source) or for another system."""
_OF_MACHINE = re.compile(
    r"^(?:sudo|pip|python3? -m pip|npm (?:ci|i)|cargo|go|rustup|gem) |format|lint|push|publish|deploy", re.IGNORECASE
)
"""Steps that prepare a machine, or come after the tests."""
_NO_WORK = re.compile(
    r"licen[sc]e|conduct|issue|bug|question|commit message|install(?:ation)?\Z|reproduc|structure", re.IGNORECASE
)
_LANGUAGES = {
    "Python": ("python",), "Node.js": ("node",), "Ruby": ("ruby",), "PHP": ("php",), "Go": ("go",),
    "Rust": ("rust", "toolchain"), "Java": ("java", "jdk"), ".NET": ("dotnet",), "Elixir": ("elixir", "otp"),
    "Swift": ("swift",), "Perl": ("perl",), "R": ("r",), "Dart": ("sdk",),
}  # fmt: skip
"""What workflows call the versions of a language."""
_TOX_ENV = re.compile(r"^\[testenv:([\w.-]+)\](.*?)(?=^\[|\Z)", re.DOTALL | re.MULTILINE)
_WHOLE = {"tox.ini": "tox", "noxfile.py": "nox"}
_MOST_QUOTED, _MOST_SECTIONS, _MOST_VALUES, _MOST_INSIDE = 8, 6, 10, 3
_RUNNERS = {
    "makefile": ("make", _TARGET), "gnumakefile": ("make", _TARGET), "justfile": ("just", _TARGET),
    ".justfile": ("just", _TARGET), "taskfile.yml": ("task", _TASK), "taskfile.yaml": ("task", _TASK),
}  # fmt: skip


_ONE_TEST = (
    (r"(?:pytest|py\.test)", "pytest tests/test_file.py -k name"), (r"cargo (?:nextest|test)", "cargo test name"),
    ("go test", "go test -run Name ."), ("mix test", "mix test test/file_test.exs:12"),
    ("rspec", "rspec spec/file_spec.rb:12"), ("phpunit", "phpunit --filter name"),
    (r"\./gradlew", "./gradlew test --tests Name"), (r"\./mvnw", "./mvnw test -Dtest=Name"),
    ("mvn", "mvn test -Dtest=Name"), ("vitest", "vitest run file -t name"), ("jest", "jest file -t name"),
    ("mocha", "mocha file -g name"), ("dotnet test", "dotnet test --filter Name"),
    ("swift test", "swift test --filter Name"), ("ctest", "ctest --test-dir build -R name"),
    ("unittest", "unittest tests.test_file"),
)  # fmt: skip
"""The programs that run tests, each with how it runs one of them."""


class Command(NamedTuple):
    """A command that validates the work: its kind, its words, and where it is from."""

    kind: str
    words: tuple[str, ...]
    source: str

    def json(self) -> dict[str, object]:
        """Return it in the form of a bundle."""
        purpose = f"{_PURPOSES[self.kind]}; {self.source}."
        return {"label": self.kind.capitalize(), "command": list(self.words), "purpose": purpose}

    @property
    def text(self) -> str:
        """The command as one line."""
        return shlex.join(self.words)


def commands_of(tree: Tree, projects: list[Project]) -> list[Command]:
    """Return the best command of each kind, in the order of the kinds; none of them is run."""
    runners = [(one.manifests[0], one.ecosystem.run.get(one.manager, ""), one.scripts) for one in projects]
    for file in tree.folders[""]:
        if runner := _RUNNERS.get(file.lower()):
            targets = {target[1]: target[2] for target in runner[1].finditer(tree.text(file))}
            runners.append((file, runner[0], targets))
    scripts = {path: tree.text(path) for path in tree.files if _SCRIPT_FILE.fullmatch(path)}
    for _, _, names in reversed(runners):
        scripts |= names
    if not any(file.lower() in _RUNNERS for file in tree.folders[""]) and tree.has("configure.ac"):
        scripts |= {"check": "test", "test": "test"}
    # A tool of an ecosystem that is not there checks something else; a bare `make` may only list its targets.
    known = [one.ecosystem.name for one in projects]
    beside, apart = _tools_of_others(known), _tools_of_others(known[:1])
    makes = not {"C", "C++"}.isdisjoint(tree.languages())
    found = [
        one
        for line, source in (*_lines(tree), *_named(tree, runners))
        for one in _read(line, source, scripts)
        if (one.words != ("make",) or makes or ".md`" in one.source)
        and not beside.search(one.text)
        and _has_files(tree, one.words)
    ]
    runs = found or any(job.lines for path, _ in ci_files(tree) for job in jobs_of(tree, path))
    # What is usual counts only where nothing is said or run; a lock file says how it is set up.
    found += [one for one in _conventions(tree, projects) if one.kind == SET_UP or not runs]
    # Those for a part of the work come last, before them those of another ecosystem or package manager.
    managers = {name.lower() for one in projects for name in one.ecosystem.run}
    managers -= {one.manager.lower() for one in projects}
    found.sort(
        key=lambda one: (
            _NARROW.search(one.text) is not None and (one.kind != SET_UP or one.words[0] == "meson"),
            not one.source.startswith("from"),
            apart.search(one.text) is not None or one.words[0] in managers,
        )
    )
    best = {one.kind: one for one in reversed(found)}
    if "test" in best:
        # A script may run more than its tool does alone: only a tool that is run itself tells how it runs one.
        tested = re.sub(rf"\A(?:{_LAUNCHERS.pattern})*", "", best["test"].text)
        begin = best["test"].text.removesuffix(tested)
        if words := next((words for tool, words in _ONE_TEST if re.match(rf"{tool}(?![\w-])", tested)), ""):
            best[ONE_TEST] = Command(ONE_TEST, tuple(f"{begin}{_with_file(tree, words)}".split()), "usual")
    if "test" in best and "build" in best and best["build"].words == best["test"].words:
        del best["build"]
    return [best[kind] for kind in _PURPOSES if kind in best]


def _has_files(tree: Tree, words: tuple[str, ...]) -> bool:
    """Return whether the lists of requirements that a command installs exist."""
    return all(tree.has(name) for option, name in pairwise(words) if option == "-r")


def _tools_of_others(known: list[str]) -> re.Pattern[str]:
    """Return a pattern of the tools of all but some ecosystems; none of it matches where none is known."""
    others = "|".join(tools for name, tools in _TOOLS_OF.items() if known and name not in known)
    return re.compile(rf"\b(?:{others})\b" if others else r"\Z\A.")


def _with_file(tree: Tree, words: str) -> str:
    """Return the words of a command with the largest test of the repository in the place of `test_file` or its like."""
    found = re.search(r"[^\s=]*\b(test_file|file_test|file_spec)(\.\w+)", words)
    if found is None:
        return words
    name = re.compile(rf"(?:.*/)?{found[1].replace('file', r'[a-z0-9_]+')}{re.escape(found[2])}")
    tests = [path for path in tree.files if is_test(path) and name.fullmatch(path) and path.isascii()]
    return words.replace(found[0], max(tests, key=lambda path: tree.files[path])) if tests else words


class Told(NamedTuple):
    """A section of a document with code in it: its file, its title, and the lines of its code."""

    path: str
    title: str
    lines: list[Line]


def _told(tree: Tree) -> list[Told]:
    """Return the sections with code in the guides, and those of the README about the work on the project."""
    guides = [path for path in tree.files if _GUIDE.fullmatch(path)]
    guides = [*{stem_of(path).lower(): path for path in reversed(guides)}.values()]
    guides.sort(key=lambda path: (path.count("/"), not path.lower().startswith(("agents", "claude"))))
    return [one for path in guides for one in _sections(tree, path)] + _sections(tree, tree.readme() or "", _OF_WORK)


def _sections(tree: Tree, path: str, about: re.Pattern[str] | None = None) -> list[Told]:
    """Return the sections with code of a document; only those `about` something, if given."""
    found: list[Told] = []
    titles: dict[int, str] = {}
    # A number sign in code is no heading.
    document = _FENCE.sub(lambda code: code[0].replace("\n#", "\n #"), as_markdown(tree.text(path), path))
    document = _UNDERLINED.sub(lambda line: f"{'#' * (1 + (line[2] == '-'))} {line[1]}", document)
    for marks, title, text in _SECTION.findall(f"# \n{document}"):
        titles = {level: one for level, one in titles.items() if level < len(marks)} | {len(marks): title}
        if about is None or any(map(about.search, titles.values())):
            bare = _FENCE.sub("", text)
            fenced = [body for kind, body in _FENCE.findall(text) if not kind or kind.lower() in _SHELLS]
            lines = [line for one in fenced for line in lines_of(one) if _COMMAND_LINE.fullmatch(line.text)]
            others = [*_INDENTED.findall(bare), *_INLINE.findall(_INDENTED.sub("", bare))]
            lines += [line for one in others for line in lines_of(one) if _is_own(tree, line.text)]
            # Who has cloned the project is at its root.
            here = tree.root.rpartition("/")[2]
            lines = [line._replace(folder="") if line.folder == here else line for line in lines]
            found.append(Told(path, title.strip(" #"), lines))
    return [one for one in found if one.lines]


def _lines(tree: Tree) -> Iterator[tuple[str, str]]:
    """Yield the lines told and run for the root, each with where it is from; those told in part come last."""
    for section in sorted(_told(tree), key=lambda one: _OF_WORK.search(one.title) is None):
        yield from ((line.text, f"from `{section.path}`") for line in section.lines if not line.folder)
    jobs = [(line, job.path) for path, _ in ci_files(tree) for job in jobs_of(tree, path) for line in job.lines]
    yield from ((line.text, f"from `{path}`") for line, path in jobs if line.whole and not line.folder)
    yield from ((line.text, f"like `{path}`") for line, path in jobs if not (line.whole or line.folder))


def _named(tree: Tree, runners: list[tuple[str, str, dict[str, str]]]) -> Iterator[tuple[str, str]]:
    """Yield the lines that run the scripts and targets whose names say what they do, each with where it is from."""
    for file, run, names in runners:
        for name in sorted(filter(_kind_of_script, names), key=lambda name: (len(name), name)):
            yield "npm test" if (run, name) == ("npm run", "test") else f"{run} {name}", f"from `{file}`"
    for name, body in _TOX_ENV.findall(tree.text("tox.ini")):
        if _kind_of_script(name) and not _NEVER.search(body):
            yield f"tox -e {name}", "from `tox.ini`"
    yield from ((line, f"from `{file}`") for file, line in _WHOLE.items() if tree.has(file))


def _conventions(tree: Tree, projects: list[Project]) -> Iterator[Command]:
    tested = "\n".join([tree.text(path) for path in tree.files if path.endswith(".py") and is_test(path)][:50])
    for project in projects:
        top = project.manifests[0].rpartition("/")[0]
        names = {path.rpartition("/")[2] for path in project.manifests} | {"Makefile.am"}
        apart = [path for path in tree.files if path.rpartition("/")[2] in names and not project.ecosystem.nested]
        texts = "\n".join(map(tree.text, apart or project.manifests))
        run = project.ecosystem.run.get(project.manager, "") if project.ecosystem.name == "Python" else ""
        for kind, words, file, text in project.ecosystem.conventions:
            path = f"{top}/{file}" if top else file
            there = (not file or tree.has(path) or path in tree.folders) and (not top or "{}" in words)
            if there and (text in texts or (kind == "test" and text in tested)):
                inside = project.ecosystem.inside.format(shlex.quote(top)) if top else ""
                called = shlex.split(f"{run if kind != SET_UP else ''} {words.replace('{}', inside)}")
                yield Command(kind, tuple(called), f"usual with `{project.manifests[0]}`")


def _kind_of_script(name: str) -> str:
    return next((kind for kind, pattern in _SCRIPT_NAMES if re.fullmatch(pattern, name, re.IGNORECASE)), "")


def _read(line: str, source: str, scripts: dict[str, str]) -> Iterator[Command]:
    """Yield the commands of a line that validate something and can be run as they are."""
    for part in re.split(r"\s*(?:&&|;)\s*", line.strip().removeprefix("$ ")):
        text = re.sub(r"^(?:[A-Z_]+=\S* +)+", "", re.sub(r"\s+#.*", "", part).strip())
        if _PLAIN.fullmatch(text):
            with suppress(ValueError):
                words = shlex.split(text)
                if found := _kind(" ".join(words), scripts):
                    # With words added it is no longer what the file says.
                    whole = source.replace("from", "usual with", 1) if found[1] else source
                    yield Command(found[0], (*words, *found[1]), whole)


def _kind(text: str, scripts: dict[str, str]) -> tuple[str, tuple[str, ...]] | None:
    """Return the kind of a command and the words that make it end by itself; None where it is of no use here."""
    core = _LAUNCHERS.sub("", text, count=1) if _LAUNCHERS.match(text) else text
    script = _RUN_SCRIPT.match(core)
    name = script["name"] if script is not None else core.partition(" ")[0].removeprefix("./")
    body = scripts.get(name, "")
    kind = next((kind for kind, tool in _TOOLS if re.match(rf"(?:{tool})(?![\w:.-])", core)), "")
    if script is not None and not kind:
        kind = _kind_of_script(name)
        if {kind} < {_kind_of_script(word) for word in core[script.end() :].split() if word in scripts} | {kind}:
            return None
        if name in ("check", "checks") and body:
            kind = "lint" if _LINTS.search(body) else kind if re.search("test|spec|verify", body) else ""
        inner = " -r" in core or "--recursive" in core
        if not (name in scripts or inner or script["runner"] in ("pdm", "poe", "hatch", "rake", "invoke", "melos")):
            return None
    done = f"{text} {body}"
    if not kind or _NEVER.search(done):
        return None
    more = next((word for pattern, word in _ONCE if pattern.search(done)), "")
    dashes = ("--",) if more and script is not None and text.startswith("npm") else ()
    return kind, (*dashes, more) if more else ()


def how_to_work(tree: Tree) -> list[str]:
    """Return the commands in the project's own documents about the work on it, in their order, section by section."""
    notes: dict[str, str] = {}
    for section in _told(tree):
        texts = [f"cd {line.folder} && {line.text}" if line.folder else line.text for line in section.lines]
        texts = [text for text in dict.fromkeys(texts) if _is_step(text) and "`" not in text]
        if any(_is_own(tree, text) for text in texts) and not _NO_WORK.search(section.title):
            title = f", “{plain(section.title)}”" if section.title else ""
            said = ", ".join(f"`{text}`" for text in texts[:_MOST_QUOTED])
            notes.setdefault(said, f"From `{section.path}`{title}: {said}.")
    return list(notes.values())[:_MOST_SECTIONS]


def _is_step(text: str) -> bool:
    return _STEP.fullmatch(text) is not None and _NO_STEP.match(re.sub(r"^(?:[A-Z_]+=\S+ )+", "", text)) is None


def _is_own(tree: Tree, text: str) -> bool:
    """Return whether a command is the project's: it runs a tool of the work, a target or a file of the project."""
    words = text.split()
    named = (word.removeprefix("./").lstrip("@") for word in words)
    return (
        _kind(text, {}) is not None
        or ((target := _RUN_SCRIPT.match(text)) is not None and target["name"] not in _NO_TARGETS)
        or text.removeprefix("./").startswith(("vendor/bin/", "node_modules/.bin/"))
        or any(map(tree.has, named))
    )


def in_ci(tree: Tree, projects: list[Project], commands: list[Command]) -> list[str]:
    """Return what continuous integration tests: with which versions of the language and services, what it runs of the
    project before the tests and other `commands`, and what it runs in folders.
    """
    notes: list[str] = []
    jobs = [job for path, _ in ci_files(tree) for job in jobs_of(tree, path)]
    tested = [job for job in jobs if any(_is_test(line.text) for line in job.lines)] or [
        job for job in jobs if job.path == jobs[0].path
    ]
    test = next((one.text for one in commands if one.kind == "test"), "")
    tested.sort(key=lambda job: all(line.text != test for line in job.lines))
    runs_on = [one for job in tested for one in job.runs_on.items()]
    for name in (one for project in projects[:1] for one in _LANGUAGES.get(project.ecosystem.name, ())):
        on = [value for key, values in runs_on if _named_like(key, name) for value in values]
        if on and (said := [one for one in dict.fromkeys(on) if not one.startswith(("^", "<", ">"))]):
            notes.append(f"CI tests with {name} {listed(said, _MOST_VALUES)} (`{tested[0].path}`).")
    services = dict.fromkeys(one for job in tested for one in job.services)
    notes += [f"The tests in CI use the services {', '.join(services)}."] if services else []
    for job in tested[:1]:
        at = next((at for at, line in enumerate(job.lines) if _is_test(line.text)), len(job.lines))
        steps = [line for line in job.lines[:at] if line.whole and not line.folder]
        own = [line for line in steps if line.always and _kind(line.text, {}) is None and _is_prepared(tree, line.text)]
        said = [f"`{line.text}`" for line in steps if line in own or _PACKAGES.match(line.text)]
        if said:
            when = "Before the tests CI runs" if at < len(job.lines) else "CI runs"
            notes.append(f"{when} {', '.join(said[:_MOST_QUOTED])} (from `{job.path}`).")
    for command in (one for one in commands if one.kind in _CHECKS):
        tool = _LAUNCHERS.sub("", command.text).partition(" ")[0].rpartition("/")[2]
        runs = [[line.text for line in job.lines] for job in jobs if f"`{job.path}`" in command.source]
        texts = next((one[: one.index(command.text)] for one in runs if command.text in one), [])
        before = [f"`{one}`" for one in texts if tool in one.split() and (_kind(one, {}) or ("",))[0] not in _CHECKS]
        if before and not _RUN_SCRIPT.match(command.text):
            notes.append(f"Before `{command.text}` CI runs {', '.join(before)} ({command.source}).")
    inside: dict[tuple[str, str], list[str]] = {}
    for job in jobs:
        for line in job.lines:
            if line.folder in tree.folders and line.folder and not is_aside(f"{line.folder}/") and _is_step(line.text):
                inside.setdefault((line.folder, job.path), []).append(line.text)
    for (folder, path), texts in inside.items():
        if any(_is_test(text) for text in texts) and sum(one.startswith("In `") for one in notes) < _MOST_SECTIONS:
            said = [f"`{text}`" for text in sorted(dict.fromkeys(texts), key=lambda text: not _is_test(text))]
            notes.append(f"In `{folder}` CI runs {', '.join(said[:_MOST_INSIDE])} (from `{path}`).")
    return notes


def _named_like(key: str, name: str) -> bool:
    return re.fullmatch(rf"{name}s?(?:[-_]?versions?)?", key, re.IGNORECASE) is not None


def _is_test(text: str) -> bool:
    found, target = _kind(text, {}), _RUN_SCRIPT.match(text)
    return found[0] == "test" if found is not None else target is not None and _kind_of_script(target["name"]) == "test"


def _is_prepared(tree: Tree, text: str) -> bool:
    """Return whether a step is one of the project: it runs a file or target of it, maybe in the background."""
    runs = re.sub(r" *&$", "", text)
    target = _RUN_SCRIPT.match(runs)
    validates = target is not None and _kind_of_script(target["name"])
    return _is_step(runs) and not validates and not _OF_MACHINE.search(runs) and _is_own(tree, runs)
