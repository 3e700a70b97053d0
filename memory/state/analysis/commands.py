"""The commands that set up, test, lint, type check and build a repository, from where the project itself says them.

In this order: the guides for agents and contributors, the steps of continuous integration, the scripts of manifests,
the targets of make and its like, and the usual ones of the ecosystem. None rewrites sources or waits for changes.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from . import kinds
from .ci import Job, Line, jobs, lines_of
from .documents import Code, Section, listed, sections_of
from .manifests import Project
from .single_test import ENV, one_test
from .tree import Tree, is_aside, stem_of
from .tree import is_test as is_test_file

_GUIDE = re.compile(
    r"(?:(?:\.github/|docs?/)?(?:agents|claude|contributing|development|hacking|developing|building)|build|testing)"
    r"\.(?:md|rst|markdown)",
    re.IGNORECASE,
)
SHELLS = (
    "", "sh", "bash", "shell", "zsh", "fish", "console", "text", "txt", "terminal", "powershell", "pwsh", "ps1", "cmd",
)  # fmt: skip
"""What blocks of commands are marked with."""
_OF_WORK = re.compile(
    r"\b(?:tests?|testing|build(?:ing)?|develop\w*|contribut\w+|hacking|compil\w+|from source)\b", re.IGNORECASE
)
_OF_SETUP = re.compile(r"\binstall(?:ation|ing)?\b", re.IGNORECASE)
"""The title of a section that may tell how it is built."""
_NO_WORK = re.compile(
    r"licen[sc]e|conduct|issue|bug|question|commit message|reproduc|structure|documentation\Z|legacy|releas|upload"
    r"|publish|website",
    re.IGNORECASE,
)
_TOOLS_OF = {
    "Ruby": r"rubocop|rspec|rake|bundle", "Python": r"pytest|ruff|mypy|tox|nox|flake8|pip|uv|poetry|pdm",
    "Go": r"go (?:test|vet|build)|golangci-lint", "Node.js": r"eslint|prettier|vitest|jest|np[mx]|pnpm|yarn|bun|tsc",
    "PHP": r"composer|vendor/bin", "Java": r"mvnw?|gradlew?", "C": r"cmake|meson", "Rust": "cargo",
    "Swift": "swift (?:build|test)",
}  # fmt: skip
"""The tools of an ecosystem."""
_SCRIPT_FILE = re.compile(r"(?:scripts?|bin|ci)/[^/]+")
_PLAIN = re.compile(r"(?!.*(?<!/)\.\.\.)[\w./:@=,+\-!' \"]{1,160}")
_INLINE = re.compile(r"`([^`\n]+)`")
_BUILDS = re.compile(r"(?:cmake|meson|autoreconf|\./configure|make|cargo build|go build|git submodule)(?!\S)")
_ALONE = re.compile(r".+ .+|tox|nox|[\w./-]+\.(?:sh|ps1|cmd)")
"""Code in a sentence that may be a command."""
_COMMAND_LINE = re.compile(r"(?!\S+/\Z|\S+:\s|\w+@\d|.*(?:[,:;]|\S\.)$|.*\w\|\w)(?:[a-z@]|\./|[A-Z_]+=)[^\n]+")
"""A line of code that looks like a command, not like what it prints."""
_ALL_IN_ONE = re.compile(r"\bbuilds? [^\n:]{0,40}\band runs? (?:all )?(?:the )?tests:\s+(?:```\w*\s+|`)?(\./[\w./-]+)")
"""A sentence that tells one command for the build and the tests."""
_TARGET = re.compile(
    r"^((?:#[^\n]*\n){0,5})([A-Za-z][\w.-]{0,60})(?:[ \t]+[\w*+-]+(?:=\S*)?)*[ \t]*:(?![=:])"
    r"([^\n]*(?:\n[\t ]+[^\n]*)*)",
    re.MULTILINE,
)
_TASK = re.compile(r"^((?:  #[^\n]*\n){0,5})  ([\w:-]{1,60}):[ \t]*$((?:\n(?:    [^\n]*|[ \t]*(?=\n)))*)", re.MULTILINE)
_TOX_ENV = re.compile(r"^()\[(?:testenv:|(?:tool\.tox\.)?env\.)([\w.-]+)\](.*?)(?=^\[|\Z)", re.DOTALL | re.MULTILINE)
_RUNNERS = {
    "makefile": ("make", _TARGET), "gnumakefile": ("make", _TARGET), "justfile": ("just", _TARGET),
    ".justfile": ("just", _TARGET), "taskfile.yml": ("task", _TASK), "taskfile.yaml": ("task", _TASK),
    "tox.ini": ("tox -e", _TOX_ENV), "tox.toml": ("tox -e", _TOX_ENV), "pyproject.toml": ("tox -e", _TOX_ENV),
}  # fmt: skip
"""The files with targets, each with what runs one and the form of one: the comment above it, its name and its body."""
_DESCRIPTION = re.compile(r"^description *= *\"?([^\"\n]*)", re.MULTILINE)
_WHOLE = {"tox.ini": "tox", "noxfile.py": "nox"}
_NO_TARGETS = (
    "install", "i", "ci", "add", "exec", "dlx", "view", "publish", "config", "version", "dist-tag", "-v", "require",
    "global",
)  # fmt: skip
"""Words of package managers that are no scripts of the project."""
_PACKAGES = re.compile(r"sudo apt(?:-get)? (?:-\S+ )*install (?!.*(?:-linux-|mingw|multilib))[^=]+\Z")
"""What installs packages of the system, none of one version only (from another source) or for another system."""
_PREPARES = re.compile(
    r"docker[ -]compose .*up|.*\b(?:setup|install|init|start|prepare|bootstrap|fixtures|deps)\b", re.I
)
_OF_CHECKS = re.compile(r"lint|type|style|format", re.IGNORECASE)
_CHECKS = re.compile(r"test|spec|lint|check|types?\b|generat|investigat|style|format")
_NO_GATE = re.compile(
    r"install|publish|deploy|release|upload|docs?\b|bench|fuzz|clover|ctest.* -L|set-?up|[<>|&]|(?-i:[A-Z]=)", re.I
)
"""What a target or script is called that checks something, and what is no check of a change."""
_OF_MACHINE = re.compile(
    r"^(?:sudo|pip|python3? -m pip|npm (?:ci|i)|cargo|go|rustup|gem) |format|lint|push|publish|deploy|cover", re.I
)
"""Steps that prepare a machine, or come after the tests."""
_LANGUAGES = {
    "Python": ("python",), "Node.js": ("node",), "Ruby": ("ruby",), "PHP": ("php",), "Go": ("go",),
    "Rust": ("rust", "toolchain"), "Java": ("java", "jdk"), ".NET": ("dotnet",), "Elixir": ("elixir", "otp"),
    "Swift": ("swift",), "Perl": ("perl",), "R": ("r",), "Dart": ("sdk",),
}  # fmt: skip
"""What workflows call the versions of a language."""
_MOST_QUOTED, _MOST_TOLD, _MOST_SECTIONS, _MOST_VALUES, _MOST_INSIDE, _MOST_CHARACTERS = 8, 12, 6, 10, 4, 120_000


class Command(NamedTuple):
    """A command that validates the work: its kind, its words, and where it is from."""

    kind: str
    words: tuple[str, ...]
    source: str

    def json(self) -> dict[str, object]:
        """Return it in the form of a bundle."""
        purpose = f"{kinds.PURPOSES[self.kind]}; {self.source}."
        return {"label": self.kind.capitalize(), "command": list(self.words), "purpose": purpose}

    @property
    def text(self) -> str:
        """The command as one line."""
        return shlex.join(self.words)


class Script(NamedTuple):
    """A script or target: its file and line, what runs it, its name, what it does, and what is said about it."""

    file: str
    line: int
    run: str
    name: str
    body: str
    about: str = ""

    @property
    def command(self) -> str:
        """The command that runs it."""
        return "npm test" if (self.run, self.name) == ("npm run", "test") else f"{self.run} {self.name}"


class Told(NamedTuple):
    """A section of a document with commands in it: its file, its title, and the commands in order."""

    path: str
    title: str
    lines: list[Line]


def commands_of(tree: Tree, projects: list[Project]) -> list[Command]:
    """Return the best command of each kind, in the order of the kinds; none of them is run."""
    own, told = [one for one in scripts_of(tree, projects) if " -C " not in one.run], _told(tree)
    scripts = {path: tree.text(path) for path in tree.files if _SCRIPT_FILE.fullmatch(path)}
    scripts |= {one.name: one.body for one in reversed(own)}
    if not any(one.run == "make" for one in own) and tree.has("configure.ac"):
        scripts |= {"check": "test", "test": "test"}
    # A tool of an ecosystem that is not there checks something else; a bare `make` may only list its targets.
    known = [one.ecosystem.name for one in projects]
    others = "|".join(tools for name, tools in _TOOLS_OF.items() if name not in known)
    beside = re.compile(rf"\b(?:{others})\b" if known else r"\Z\A.")
    makes = not {"C", "C++"}.isdisjoint(tree.languages())
    found = [
        one
        for line, source in (*_lines(tree, told), *_named(tree, own))
        for one in _read(line, source, scripts)
        if (one.words != ("make",) or makes or ".md`" in one.source) and not beside.search(one.text)
    ]
    for path in filter(_GUIDE.fullmatch, tree.files):
        if (whole := _ALL_IN_ONE.search(tree.text(path))) and tree.has(whole[1].removeprefix("./")):
            found[:0] = [Command(kind, (whole[1],), f"from `{path}`") for kind in ("build", "test")]
    # What is usual counts only where nothing is said or run, or only a part of it; a lock file tells the set-up.
    runs = bool(found) or any(job.lines for job in jobs(tree))
    parts = [one.text for one in found if one.kind != kinds.SET_UP and kinds.PART.search(one.text)]
    found = [one for one in found if one.text not in parts]
    for one in (one for line, source in _usual(tree, projects) for one in _read(line, source, scripts)):
        begin = " ".join(word for word in one.words[:2] if word[0] != "-")
        part = any(text.startswith(begin) for text in parts)
        found += [one] if one.kind == kinds.SET_UP or not runs or part else []
    # Those told in part come last, before them those of another package manager.
    managers = {name.lower() for one in projects for name in one.ecosystem.run}
    managers -= {one.manager.lower() for one in projects}
    found.sort(key=lambda one: (not one.source.startswith("from"), one.words[0] in managers))
    best = {one.kind: one for one in reversed(found)}
    if "test" in best:
        said = [(line.text, one.path) for one in told for line in one.lines if not line.folder]
        text, source = one_test(tree, projects, best["test"].text, said, scripts)
        if words := _split(text):
            best[kinds.ONE_TEST] = Command(kinds.ONE_TEST, words, source)
    return [best[kind] for kind in kinds.PURPOSES if kind in best]


def scripts_of(tree: Tree, projects: list[Project]) -> list[Script]:
    """Return the scripts of the manifests, the targets of make and its like, and the environments of tox.

    Those of a Makefile in a folder come last.
    """
    found = []
    for one in projects:
        run, path = one.ecosystem.run.get(one.manager, ""), one.manifests[0]
        for name, body in one.scripts.items():
            found.append(Script(path, line_at(tree.text(path), f'"{name}":'), run, name, body))
    for file in sorted(tree.files, key=lambda path: path.count("/")):
        folder, _, base = file.rpartition("/")
        run, form = _RUNNERS.get(base.lower(), ("", None))
        if form is None or (folder and (run != "make" or "/" in folder)):
            continue
        text, run, line, at = tree.text(file), f"{run} -C {folder}" if folder else run, 1, 0
        for target in form.finditer(text):
            line, at = line + text.count("\n", at, target.start(2)), target.start(2)
            head, _, rest = target[3].partition("\n")
            needs, _, about = head.partition("#")
            about = " ".join([target[1].replace("#", " "), about, *_DESCRIPTION.findall(rest)]).strip()
            if body := rest.strip() or needs.strip():
                found.append(Script(file, line, run, target[2], body, about))
    return found


def line_at(text: str, words: str, start: int = 0) -> int:
    """Return the number of the first line with some words; 0 where there is none."""
    at = text.find(words, start)
    return text.count("\n", 0, at) + 1 if at >= 0 else 0


def _told(tree: Tree) -> list[Told]:
    """Return the sections with commands in the guides, and those of the README about the work on the project."""
    guides = [path for path in tree.files if _GUIDE.fullmatch(path)]
    guides = [*{stem_of(path).lower(): path for path in reversed(guides)}.values()]
    guides.sort(key=lambda path: (path.count("/"), not path.lower().startswith(("agents", "claude"))))
    found = []
    for path in [*guides, *filter(None, [tree.readme()])]:
        sections = sections_of(tree.text(path), path, _MOST_CHARACTERS)
        # The title of a README is the name of the project, not what a section is about.
        name = next((one.title for one in sections if one.title), "") if len(sections) > 1 else ""
        for section in sections:
            lines = [] if _NO_WORK.search(section.title) else _commands_in(tree, section)
            work = path in guides or any(_OF_WORK.search(title) for title in section.titles if title != name)
            if not work and any(map(_OF_SETUP.search, section.titles)):
                # How a package is installed is told to those who only use it.
                work = any(_is_from_source(tree, one.text) for one in lines)
            found += [Told(path, section.title, lines)] if lines and work else []
    return found


def _commands_in(tree: Tree, section: Section) -> list[Line]:
    """Return the commands in the blocks of code and the sentences of a section, in their order."""
    shown = ""
    for block in section.blocks:
        text = block if isinstance(block, str) else block.text
        if not isinstance(block, Code):
            text = "\n".join(filter(_ALONE.fullmatch, _INLINE.findall(text)))
        if not isinstance(block, Code) or (block.language == "indented" and not re.match(r"\$ |.*\n\$ ", text)):
            text = "\n".join(f"cd {one.folder or '.'}\n{one.text}" for one in lines_of(text) if _is_own(tree, one.text))
        elif block.language not in (*SHELLS, "indented"):
            continue
        # What is shown before a clone is made is not about it, and what runs in quotes does so elsewhere.
        text = re.sub(r"'[^'&]*&&[^']*'", "''", text)
        shown = text if isinstance(block, Code) and "git clone " in text else f"{shown}\n{text}"
    # Who has cloned the project is at its root.
    here = tree.root.rpartition("/")[2]
    lines = [line._replace(folder="") if line.folder == here else line for line in lines_of(shown)]
    lines = [line for line in lines if _COMMAND_LINE.fullmatch(line.text)]
    return [line for line in lines if re.search("[ /]", line.text) or _is_own(tree, line.text)]


def _test_jobs(tree: Tree) -> list[Job]:
    """Return the jobs of CI that run tests under usual conditions; where none does, those of the first settings."""
    found = jobs(tree)
    tested = [job for job in found if any(kinds.is_test(line.text) for line in job.lines)]
    return tested or [job for job in found if job.path == found[0].path and not _OF_CHECKS.search(job.path)]


def _lines(tree: Tree, told: list[Told]) -> Iterator[tuple[str, str]]:
    """Yield the lines told and run for the root, each with where it is from; those told in part come last."""
    for section in sorted(told, key=lambda one: _OF_WORK.search(one.title) is None):
        yield from ((line.text, f"from `{section.path}`") for line in section.lines if not line.folder)
    tested = _test_jobs(tree)
    run = [
        (line, job.path)
        for job in (*tested, *(job for job in jobs(tree) if job not in tested))
        for line in job.lines
        # The set-up of another job than that of the tests is for something else.
        if not line.folder and ((job in tested[:1] and line.always) or kinds.kind_of(line.text, {})[0] != kinds.SET_UP)
    ]
    yield from ((line.text, f"{'from' if line.whole and not line.env else 'like'} `{path}`") for line, path in run)


def _named(tree: Tree, own: list[Script]) -> Iterator[tuple[str, str]]:
    """Yield the lines that run the scripts and targets whose names say what they do, each with where it is from."""
    files = list(dict.fromkeys(one.file for one in own))
    for one in sorted(own, key=lambda one: (files.index(one.file), len(one.name), one.name)):
        if kinds.kind_of_script(one.name) and not kinds.NEVER.search(one.body):
            yield one.command, f"from `{one.file}`"
    yield from ((line, f"from `{file}`") for file, line in _WHOLE.items() if tree.has(file))


def _usual(tree: Tree, projects: list[Project]) -> Iterator[tuple[str, str]]:
    """Yield the usual commands of the ecosystems, each with what it is usual with."""
    tests = [tree.text(path) for path in tree.files if path.endswith(".py") and is_test_file(path)][:50]
    for one in projects:
        names = {path.rpartition("/")[2] for path in one.manifests} | {"Makefile.am"}
        apart = [path for path in tree.files if path.rpartition("/")[2] in names and not one.ecosystem.nested]
        texts = "\n".join([*map(tree.text, apart or one.manifests), *tests])
        run = one.ecosystem.run.get(one.manager, "") if one.ecosystem.name == "Python" else ""
        for needs, line in one.ecosystem.usual:
            if re.search(rf"(?i){re.escape(needs)}\b[^.]*\bnot required\b", tree.text(tree.readme() or "")):
                continue
            found = fnmatch.filter([*tree.folders[""], *tree.inner("")], needs)
            if "/" not in one.manifests[0] and (found or (needs[0] == "~" and needs[1:] in texts)):
                yield line.replace("{run}", run).strip(), f"usual with `{(found or one.manifests)[0]}`"


def _read(line: str, source: str, scripts: dict[str, str]) -> Iterator[Command]:
    """Yield the commands of a line that validate something and can be run as they are."""
    for part in re.split(r"\s*(?:&&|;)\s*", line.strip().removeprefix("$ ")):
        text = ENV.sub("", re.sub(r"\s+#.*", "", part).strip())
        words = _split(text) if _PLAIN.fullmatch(text) else ()
        kind, more = kinds.kind_of(" ".join(words), scripts)
        if kind:
            # With words added it is no longer what the file says.
            yield Command(kind, (*words, *more), source.replace("from", "usual with", 1) if more else source)


def _split(text: str) -> tuple[str, ...]:
    """Return the words of a command; none where a quote is open."""
    with suppress(ValueError):
        return tuple(shlex.split(text))
    return ()


def how_to_work(tree: Tree) -> list[str]:
    """Return the commands in the project's own documents about the work on it, in their order, section by section."""
    notes: list[str] = []
    known: set[str] = set()
    for section in _told(tree):
        texts = [f"cd {line.folder} && {line.text}" if line.folder else line.text for line in section.lines]
        texts = [text for text in dict.fromkeys(texts) if kinds.is_step(text) and not re.search("`|&& mkdir", text)]
        if any(_is_own(tree, text) for text in texts) and not known.issuperset(texts):
            title = f", “{section.title}”" if section.title else ""
            notes.append(f"From `{section.path}`{title}: {listed([f'`{text}`' for text in texts], _MOST_TOLD)}.")
            known.update(texts)
    return notes[:_MOST_SECTIONS]


def _is_own(tree: Tree, text: str) -> bool:
    """Return whether a command is the project's: it runs a tool of the work, a target or a file of the project."""
    words = text.split()
    named = (word.removeprefix("./").lstrip("@") for word in words)
    return (
        kinds.kind_of(text, {})[0] != ""
        or ((target := kinds.RUN_SCRIPT.match(text)) is not None and target["name"] not in _NO_TARGETS)
        or text.removeprefix("./").startswith(("vendor/bin/", "node_modules/.bin/"))
        or any(map(tree.has, named))
    )


def _is_from_source(tree: Tree, text: str) -> bool:
    """Return whether a command is of a build from the sources: it needs a clone."""
    return _BUILDS.match(text) is not None or tree.has(re.sub(r"\A(?:sh |bash )?(?:\./)?", "", text).split()[0])


def in_ci(tree: Tree, projects: list[Project], commands: list[Command]) -> list[str]:
    """Return what continuous integration tests: with which versions of the language and services, what it runs of the
    project before the tests and other `commands`, and what it runs in folders.
    """
    test = next((one.text for one in commands if one.kind == "test"), "")
    tested = sorted(_test_jobs(tree), key=lambda job: all(line.text != test for line in job.lines))
    notes = []
    for name in (one for project in projects[:1] for one in _LANGUAGES.get(project.ecosystem.name, ())):
        keys = re.compile(rf"{name}s?(?:[-_]?versions?)?", re.IGNORECASE)
        on = [value for job in tested for key, values in job.runs_on.items() if keys.fullmatch(key) for value in values]
        said = [one for one in dict.fromkeys(on) if not one.startswith(("^", "<", ">"))]
        if said and "?" not in on:
            notes.append(f"CI tests with {name} {listed(said, _MOST_VALUES)} (`{tested[0].path}`).")
    services = dict.fromkeys(one for job in tested for one in job.services)
    notes += [f"The tests in CI use the services {', '.join(services)}."] if services else []
    notes += [*_before_tests(tree, tested[:1], test), *_in_folders(tree)]
    # What a target does is told with the target.
    said = [*(one.text for one in commands), *(line.text for section in _told(tree) for line in section.lines)]
    done = [one.body for one in scripts_of(tree, projects) if one.command in said]
    notes += _also_in_ci(tree, [*said, *done, *notes])
    if tree.has(modules := ".gitmodules"):
        notes.append(f"Has git submodules: `git submodule update --init` (from `{modules}`).")
    return notes


def _before_tests(tree: Tree, tested: list[Job], test: str) -> Iterator[str]:
    """Yield what a job runs to prepare the tests; where no command is known that tests, all that it runs."""
    for job in tested:
        at = next((at for at, line in enumerate(job.lines) if kinds.is_test(line.text)), None)
        steps = [line.text for line in job.lines[:at] if line.whole and not line.folder and line.always]
        said = [f"`{text}`" for text in steps if _PACKAGES.match(text) or _prepares(tree, text, not test)]
        if said:
            when = "Before the tests CI runs" if at is not None else "CI runs"
            yield f"{when} {', '.join(said[:_MOST_QUOTED])} (from `{job.path}`)."


def _prepares(tree: Tree, text: str, alone: bool) -> bool:
    """Return whether a step is one of the project that the tests need; where no test is known (`alone`), any of it."""
    runs = re.sub(r" *&$", "", text)
    target = kinds.RUN_SCRIPT.match(runs)
    validates = kinds.kind_of(text, {})[0] or (target is not None and kinds.kind_of_script(target["name"]))
    if not kinds.is_step(runs) or validates or _OF_MACHINE.search(runs) or not _is_own(tree, runs):
        return False
    return alone or runs != text or _PREPARES.match(runs) is not None


def _also_in_ci(tree: Tree, told: list[str]) -> Iterator[str]:
    """Yield what else the main settings of CI test, check and generate at the root, but for what is `told`."""
    main = next((job.path for job in jobs(tree)), "")
    lines = [line for job in jobs(tree) if job.path == main for line in job.lines if line.always and line.whole]
    texts = dict.fromkeys(f"{line.env}{line.text}" for line in lines if not line.folder and _gates(tree, line.text))
    said = [f"`{text}`" for text in texts if text not in told and not any(f"`{text}`" in one for one in told)]
    if said:
        yield f"CI also runs {', '.join(said[:_MOST_QUOTED])} (from `{main}`)."


def _gates(tree: Tree, text: str) -> bool:
    """Return whether a step of CI tests, checks or generates something of the project."""
    if not kinds.is_step(text) or kinds.NEVER.search(text) or _NO_GATE.search(text):
        return False
    bare = re.sub(rf"\A(?:php \S*vendor/bin/|{kinds.LAUNCHERS.pattern})", "", ENV.sub("", text))
    script = re.match(r"(?:(?:ba)?sh )?(?:\./)?([\w./-]+\.(?:sh|bash))(?!\S)", bare)
    if kinds.RUN_SCRIPT.match(bare) and _CHECKS.search(bare):
        return True
    return kinds.kind_of(bare, {})[0] in ("test", *kinds.CHECKS) or (script is not None and tree.has(script[1]))


def _in_folders(tree: Tree) -> Iterator[str]:
    """Yield what CI runs in the folders where it tests something."""
    inside: dict[tuple[str, str], dict[str, bool]] = {}
    for job in jobs(tree):
        for line in job.lines:
            tests = is_test_file(f"{line.folder}/")
            if line.folder in tree.folders and kinds.is_step(line.text) and (tests or not is_aside(f"{line.folder}/")):
                tests = kinds.is_test(line.text) or (tests and line.text == "make")
                inside.setdefault((line.folder, job.path), {})[line.text] = tests
    inside = {place: texts for place, texts in inside.items() if place[0] and any(texts.values())}
    for (folder, path), texts in list(inside.items())[:_MOST_VALUES]:
        # The first test is told with the steps right before it.
        start = max(0, [*texts.values()].index(True) - _MOST_INSIDE + 1)
        said = list(texts)[start : start + _MOST_INSIDE]
        yield f"In `{folder}` CI runs {', '.join(f'`{text}`' for text in said)} (from `{path}`)."
