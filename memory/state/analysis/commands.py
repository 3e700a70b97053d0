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

from .ci import Job, ci_files, jobs_of, lines_of
from .documents import listed
from .manifests import Project
from .tree import Tree, is_aside, is_test

SET_UP, ONE_TEST = "set up", "single test"
_PURPOSES = {SET_UP: "Gets what it needs", "test": "Runs the tests", ONE_TEST: "Runs one of them",
             "lint": "Lints the code", "types": "Checks the types",
             "format": "Checks the format", "build": "Builds it"}  # fmt: skip
"""The kinds of commands in their order, each with its purpose."""
_GUIDE = re.compile(
    r"(?:\.github/|docs/)?(?:agents|claude|contributing|development|hacking|developing)\.(?:md|rst|markdown)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*\n(.*?)^[ \t]*(?:```|~~~)", re.DOTALL | re.MULTILINE)
_SECTION = re.compile(r"^(#+) ?([^\n]*)\n(.*?)(?=^#+ |\Z)", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?:^(?: {4}|\t)[^\n]*\n?)+", re.MULTILINE)
_OF_WORK = re.compile(r"\b(?:tests?|testing|build(?:ing)?|develop\w*|contribut\w+|hacking|compil\w+)\b", re.IGNORECASE)
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
             r"|bun|rails) test"
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
_NO_STEP = re.compile(
    r"(?:echo|export|git(?! submodule)|mkdir|set|if|then|else|fi|for|do|done|curl|wget|source|cat|ls|rm|cp|mv|which"
    r"|brew|choco|rustup|corepack|sudo (?:install|dpkg)|.*pip install (?:-U|--upgrade) \S+$|.*\b(?:clean|lint"
    r"|format)\b|-\w|.*update$|.*--?version$|composer update|pip freeze"
    r"|sleep|\w+ version$|.*upgrade)\b|[A-Z_]+=|.*-V$"
)
"""Lines of a script that prepare nothing which a person would have to prepare."""
_TOX_ENV = re.compile(r"^\[testenv:([\w.-]+)\](.*?)(?=^\[|\Z)", re.DOTALL | re.MULTILINE)
_WHOLE = {"tox.ini": "tox", "noxfile.py": "nox"}
_IS_WORK = re.compile(r"\b(?:test|check|build|verify|analyze|lint)\b")
_OTHER_BUILDS = ("cmake", "meson")
_MOST_BEFORE, _MOST_VALUES, _MOST_KEYS, _MOST_INSIDE = 5, 8, 4, 3
_RUNNERS = {
    "makefile": ("make", _TARGET), "gnumakefile": ("make", _TARGET), "justfile": ("just", _TARGET),
    ".justfile": ("just", _TARGET), "taskfile.yml": ("task", _TASK), "taskfile.yaml": ("task", _TASK),
}  # fmt: skip


_ONE_TEST = (
    (r"\bpytest\b", "pytest tests/test_file.py -k name"), (r"\bcargo (?:nextest|test)", "cargo test name"),
    (r"\bgo test\b", "go test ./folder -run Name"), (r"\bmix test\b", "mix test test/file_test.exs:12"),
    (r"\brspec\b", "bundle exec rspec spec/file_spec.rb:12"), (r"\bphpunit\b", "vendor/bin/phpunit --filter name"),
    (r"\bgradlew\b", "./gradlew test --tests Name"), (r"\bmvnw\b", "./mvnw test -Dtest=Name"),
    (r"\bmvn\b", "mvn test -Dtest=Name"), (r"\bvitest\b", "npx vitest run file -t name"),
    (r"\bjest\b", "npx jest file -t name"), (r"\bava\b", "npx ava file"), (r"\bmocha\b", "npx mocha file -g name"),
    (r"\bdotnet test", "dotnet test --filter Name"), (r"\bswift test", "swift test --filter Name"),
    (r"\bctest\b", "ctest --test-dir build -R name"),
    (r"manage\.py test", "python3 manage.py test path.to.test_module"),
    (r"\bunittest\b", "python3 -m unittest tests.test_file"), (r"Rake::TestTask", "rake test TEST=test/test_file.rb"),
    (r"Minitest::TestTask", "rake test N=name"),
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
        if (one.words != ("make",) or makes) and not beside.search(one.text) and _has_files(tree, one.words)
    ]
    found += _conventions(tree, projects)
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
    if "test" in best and best["test"].words[0] == "make" and SET_UP in best and best[SET_UP].words[0] in _OTHER_BUILDS:
        del best[SET_UP]
    if "test" in best:
        usual = " ".join(one.text for one in _conventions(tree, projects[:1]) if one.kind == "test")
        run = " ".join(scripts.get(word, "") for word in best["test"].words)
        files = ["tox.ini", "noxfile.py", "Rakefile", *(path for path in tree.files if path.endswith(".rake"))]
        parts = " ".join(text for name, text in scripts.items() if name.startswith("test"))
        for said in (f"{best['test'].text} {run}", parts, " ".join(map(tree.text, files)), usual):
            if words := next((words for tool, words in _ONE_TEST if re.search(tool, said)), ""):
                launched = re.match(r"(?:uv|poetry|pdm|hatch|pipenv|bundle) (?:run|exec) (?!rspec)", best["test"].text)
                begin = launched[0] if launched is not None and words.startswith(("pytest", "rake")) else ""
                best[ONE_TEST] = Command(ONE_TEST, tuple(f"{begin}{_with_file(tree, words)}".split()), "usual")
                break
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


def _scripts(tree: Tree) -> list[Job]:
    """Return the scripts in which the project itself says how it is worked on, the guides first, then README and CI."""
    guides = [path for path in tree.files if _GUIDE.fullmatch(path)]
    guides.sort(key=lambda path: (path.count("/"), not path.lower().startswith(("agents", "claude"))))
    found = [one for path in guides for one in _told(tree, path)]
    found += _told(tree, tree.readme() or "", _OF_WORK)
    return [*found, *(job for path, _ in ci_files(tree) for job in jobs_of(tree, path))]


def _lines(tree: Tree) -> Iterator[tuple[str, str]]:
    """Yield the lines of the scripts, each with its file; those told in part come last, and are only like it."""
    lines = [(line, job.path) for job in _scripts(tree) for line in job.lines if not line.folder]
    yield from ((line.text, f"from `{path}`") for line, path in lines if line.whole)
    yield from ((line.text, f"like `{path}`") for line, path in lines if not line.whole)


def _told(tree: Tree, path: str, about: re.Pattern[str] | None = None) -> list[Job]:
    """Return the code in a document, that of one command first; only in sections `about` something, if given."""
    found: list[str] = []
    titles: dict[int, str] = {}
    for marks, title, text in _SECTION.findall(f"# \n{tree.text(path)}"):
        titles = {level: one for level, one in titles.items() if level < len(marks)} | {len(marks): title}
        if about is None or any(map(about.search, titles.values())):
            bare = _FENCE.sub("", text)
            found += [*_FENCE.findall(text), *_INDENTED.findall(bare)]
            found += re.findall(r"`([^`\n]+ [^`\n]+|tox|nox)`", _INDENTED.sub("", bare)) if about is None else []
    jobs = [Job(path, [*lines_of(text)]) for text in found]
    return sorted(jobs, key=lambda job: min((len(line.text.split()) for line in job.lines), default=0))


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
        inner = (
            project.manifests
            if project.ecosystem.nested
            else [path for path in tree.files if path.rpartition("/")[2] in names]
        )
        texts = "\n".join(map(tree.text, inner))
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
                    yield Command(
                        found[0],
                        (*words, *found[1]),
                        source if not found[1] else source.replace("from", "usual with", 1),
                    )


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


def _inside(tree: Tree) -> list[str]:
    """Return what is run in folders, the tests first, where nothing is told for the root."""
    found: dict[str, dict[str, str]] = {}
    for job in _scripts(tree):
        for text, folder in ((line.text, line.folder) for line in job.lines if line.folder in tree.folders):
            if folder and not is_aside(f"{folder}/") and _is_step(text) and _IS_WORK.search(text):
                found.setdefault(folder, {}).setdefault(text, job.path)
    notes = []
    for folder, lines in found.items():
        texts = sorted(lines, key=lambda text: (re.search(r"\btest\b", text) is None, len(text)))[:_MOST_INSIDE]
        said = ", ".join(f"`{text}`" for text in texts)
        notes.append(f"In `{folder}`: {said} (from `{lines[texts[0]]}`).")
    return notes


def _is_step(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None and _NO_STEP.match(text) is None


def around_tests(tree: Tree, commands: list[Command], folder: str) -> list[str]:
    """Return what belongs to the tests: the set-up before them, what CI runs them on and the services it starts, and
    what is run in the `folder` of the main package; in all folders where there is no test at the root.
    """
    told = {one.text: one.kind for one in commands}
    inside = _inside(tree)
    test = next((text for text, kind in told.items() if kind == "test"), None)
    if test is None:
        return [*_set_up(commands), *inside[:_MOST_BEFORE]]
    tests = [(_plainly(line.text), job) for job in _scripts(tree) for line in job.lines if not line.folder]
    tests = [one for one in tests if one[0] == test or (_kind(one[0], {}) or ("",))[0] == "test"]
    tests.sort(key=lambda one: one[0] != test)
    notes = next(filter(None, (_before(job, test, told) for text, job in tests if text == test)), _set_up(commands))
    notes += [one for one in inside if folder and one.startswith(f"In `{folder}`:")][:1]
    first = _LAUNCHERS.sub("", test).split()[:2]
    alike = [job for text, job in tests if job.runs_on and _LAUNCHERS.sub("", text).split()[:2] == first]
    if alike := alike or [job for _, job in tests if job.runs_on]:
        on: dict[str, list[str]] = {}
        for key, values in (one for job in alike if job.path == alike[0].path for one in job.runs_on.items()):
            on[key] = [*dict.fromkeys([*on.get(key, []), *values])]
        several = {key for key, values in on.items() if len(values) > 1 and key not in ("version", "name")}
        shown = several if len(several) <= _MOST_KEYS else {key for key in several if key == "os" or "version" in key}
        # One version only is told where no other key is about the same tool.
        shown |= {key for key in on if key.endswith("-version") and key.partition("-")[0] not in several}
        said = [f"{key} {listed(values, _MOST_VALUES)}" for key, values in on.items() if key in shown]
        notes += [f"CI tests with {'; '.join(said)} (`{alike[0].path}`)."] if said else []
    services = dict.fromkeys(one for _, job in tests for one in job.services)
    return [*notes, *([f"The tests in CI use the services {', '.join(services)}."] if services else [])]


def _set_up(commands: list[Command]) -> list[str]:
    return [f"Set up: `{one.text}` ({one.source})." for one in commands if one.kind == SET_UP]


def _before(job: Job, test: str, told: dict[str, str]) -> list[str]:
    """Return the note of the set-up where a script prepares the tests; what builds is no part of it."""
    lines = [(_plainly(line.text), line) for line in job.lines if not line.folder]
    at = [text for text, _ in lines].index(test)
    kinds = {text: told.get(text) or (_kind(text, {}) or ("",))[0] for text, line in lines[:at]
             if line.whole and line.always and _is_step(line.text)}  # fmt: skip
    steps = [text for text, kind in kinds.items() if kind in ("", SET_UP)]
    elsewhere = re.match(r"(?i)macos|windows", (job.runs_on.get("os") or [""])[0])
    if elsewhere or not steps:
        return []
    # What prepares only a machine of CI does not replace the set-up that is told elsewhere.
    set_up = next((text for text, kind in told.items() if kind == SET_UP and text not in steps), "")
    steps = [set_up, *steps] if set_up and SET_UP not in kinds.values() else steps
    return [f"Set up: {', '.join(f'`{text}`' for text in steps[:_MOST_BEFORE])} (from `{job.path}`)."]


def _plainly(text: str) -> str:
    """Return a command with one blank between its words, quoted only where it has to be."""
    try:
        return shlex.join(shlex.split(text))
    except ValueError:
        return text
