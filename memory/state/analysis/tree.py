"""The files of a repository: listed within bounds, read within bounds, links only where they stay inside.

A file may be the work itself, in some language, or tests, samples, documentation, settings of tools, or generated.
"""

from __future__ import annotations

import errno
import os
import re
from collections import Counter, deque
from typing import TYPE_CHECKING

from memory.base.git import ignored_by
from memory.errors import MemdeckError
from memory.state.entry_block import without_blocks
from memory.state.files.model import ENTRY_FILES
from memory.storage.safe_open import open_beneath

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

ENTRY_WORDS = "<!-- agent-memory:entry "

MOST_FILES = 20_000
"""How many files are listed; those nearest to the root come first."""

MOST_BYTES = 256 * 1024
"""How many bytes of a file are read."""

SOURCE_FOLDERS = ("src", "source", "sources", "lib", "include", "app")
"""The usual names of the folder with the sources, in small letters."""

_DEPTH = 12
_MOST_READ = 64 << 20
_README = re.compile(r"readme(?:\.(?:md|markdown|rst|rdoc|txt|adoc|org))?", re.IGNORECASE)


class Tree:
    """The files and folders of a repository that are its own work. Paths are relative, with `/`, in a fixed order.

    `files` maps each file to its size, `folders` each folder to the files directly in it (`""` is the root). A link to
    a file inside is in neither, but can be read. `complete` is true where all files were listed; `unread` maps what
    could not be read to the reason.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """List the files; what cannot be listed is left out."""
        self.root = os.path.realpath(root)
        self.unread: dict[str, str] = {}
        self.complete = True
        self._texts: dict[str, str] = {}
        self._links: dict[str, str] = {}
        self._read = 0
        self._work: dict[str, bool] = {}
        self._below: dict[str, list[str]] = {}
        self._sources: dict[str, list[str]] = {}
        self.files = dict(sorted(self._listed().items(), key=lambda item: item[0].split("/")))
        for path in self.top_entries():
            # A file that contains only the block was made for it.
            if path in self.files and not self.text(path).strip() and ENTRY_WORDS in (self._load(path) or ""):
                del self.files[path]
        self.folders: dict[str, list[str]] = {"": []}
        for path in self.files:
            folder, _, _ = path.rpartition("/")
            self.folders.setdefault(folder, []).append(path)
            while folder:
                folder = folder.rpartition("/")[0]
                self.folders.setdefault(folder, [])

    def _listed(self) -> dict[str, int]:
        """Return the files with their sizes, folder by folder from the root on; note the links to other files."""
        found: dict[str, int] = {}
        own = (0, ignored_by("", NOT_OWN))
        folders: deque[tuple[str, tuple[tuple[int, GitIgnoreSpec], ...]]] = deque([("", (own,))])
        while folders:
            folder, rules = folders.popleft()
            if lines := self._load(f"{folder}/.gitignore".lstrip("/")):
                rules = (*rules, (len(folder) + bool(folder), ignored_by(lines, _TRACKED)))
            try:
                with os.scandir(os.path.join(self.root, folder)) as entries:
                    for entry in sorted(entries, key=lambda one: one.name):
                        path, is_folder = f"{folder}/{entry.name}".lstrip("/"), entry.is_dir(follow_symlinks=False)
                        named = entry.name.isprintable() and len(entry.name) < 200
                        shown = f"{path}/" if is_folder else path
                        if not named or any(rule.match_file(shown[start:]) for start, rule in rules):
                            continue
                        if entry.is_symlink():
                            self._links[path] = os.path.relpath(os.path.realpath(entry.path), self.root)
                        elif is_folder and path.count("/") < _DEPTH:
                            folders.append((path, rules))
                        elif entry.is_file(follow_symlinks=False):
                            if len(found) == MOST_FILES:
                                self.complete = False
                                return found
                            found[path] = entry.stat(follow_symlinks=False).st_size
            except OSError as error:
                self._miss(folder or ".", error)
        return found

    def has(self, path: str) -> bool:
        """Return whether a file is listed."""
        return path in self.files

    def top_entries(self) -> list[str]:
        """Return the existing files that may hold the entry block, in any case, the preferred one first."""
        names = {path.lower(): path for path in (*self._links, *self.files) if "/" not in path}
        found = [names[name.lower()] for name in ENTRY_FILES if name.lower() in names]
        return [path for path in found if self._links.get(path, path) in self.files]

    def readme(self, folder: str = "") -> str | None:
        """Return the path of the README of a folder, which may be a link; None where it has none."""
        links = [path for path, to in self._links.items() if path.rpartition("/")[0] == folder and to in self.files]
        found = [path for path in (*self.folders.get(folder, []), *links) if _README.fullmatch(path.rpartition("/")[2])]
        return min(found, key=lambda path: (not path.lower().endswith(".md"), path), default=None)

    def link(self, path: str | None) -> str:
        """Return the file inside that a link leads to; "" for a path that is no link."""
        return self._links.get(path or "", "")

    def sources(self, folder: str = "") -> list[str]:
        """Return the source files below a folder, without tests, samples, settings of tools and generated files."""
        if folder not in self._sources:
            self._sources[folder] = [path for path in self.below(folder) if self.is_work(path)]
        return self._sources[folder]

    def is_work(self, path: str) -> bool:
        """Return whether a file is a hand-written source that is part of the work itself."""
        if path not in self._work:
            named = language_of(path) is not None and not is_aside(path) and not is_tool_file(path)
            self._work[path] = named and self.files[path] > 0 and not is_generated(self._load(path, 4096) or "")
        return self._work[path]

    def languages(self) -> list[str]:
        """Return the languages of the sources, the most frequent first."""
        found = Counter(language_of(path) or "" for path in self.sources())
        if found["C++"] > sum(path.endswith(".c") for path in self.sources()):
            # Beside sources of C++ headers are of C++, too.
            found["C++"] += found.pop("C", 0)
        return sorted(found, key=lambda language: (-found[language], language))

    def below(self, folder: str) -> list[str]:
        """Return all files in a folder and its subfolders."""
        if folder not in self._below:
            self._below[folder] = [path for path in self.files if not folder or path.startswith(f"{folder}/")]
        return self._below[folder]

    def inner(self, folder: str) -> list[str]:
        """Return the folders directly in a folder."""
        return [one for one in self.folders if one and one.rpartition("/")[0] == folder]

    def text(self, path: str) -> str:
        """Return the beginning of a listed file, or of one that a link leads to; "" where it cannot be read."""
        path = self._links.get(path, path)
        if path not in self.files:
            return ""
        if path not in self._texts:
            text = (self._load(path) or "") if self._read < _MOST_READ else ""
            # The block is written from the bundle and adds nothing new.
            self._texts[path] = without_blocks(text.encode()).decode() if ENTRY_WORDS in text else text
        return self._texts[path]

    def _miss(self, path: str, error: OSError) -> None:
        """Record what could not be read; a missing file or a broken link is not recorded."""
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            self.unread[path] = error.strerror or type(error).__name__

    def _load(self, path: str, most: int = MOST_BYTES) -> str | None:
        try:
            with os.fdopen(open_beneath(path, self.root), "rb") as file:
                data = file.read(most)
        except OSError as error:
            self._miss(path, error)
            return None
        except (ValueError, MemdeckError):
            return None
        self._read += len(data)
        return None if b"\0" in data[:8192] else data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


LANGUAGES = {
    suffix: language
    for language, suffixes in {
        "Python": "py pyi pyx", "JavaScript": "js jsx mjs cjs", "TypeScript": "ts tsx mts cts", "Vue": "vue",
        "Svelte": "svelte", "Astro": "astro", "Rust": "rs", "Go": "go", "Java": "java", "Kotlin": "kt",
        "Scala": "scala", "Groovy": "groovy", "C": "c h", "C++": "cc cpp cxx hpp hh hxx", "Objective-C": "m mm",
        "Ruby": "rb", "PHP": "php", "Elixir": "ex exs", "Erlang": "erl", "C#": "cs", "F#": "fs", "Visual Basic": "vb",
        "Swift": "swift", "Dart": "dart", "Shell": "sh bash zsh", "PowerShell": "ps1", "Lua": "lua", "Perl": "pl pm",
        "R": "r", "Julia": "jl", "Haskell": "hs", "OCaml": "ml mli", "Clojure": "clj cljs", "Zig": "zig", "Nim": "nim",
        "SQL": "sql", "Terraform": "tf", "Protocol Buffers": "proto", "Solidity": "sol", "Elm": "elm", "Gleam": "gleam",
    }.items()
    for suffix in suffixes.split()
}  # fmt: skip
HASHED = {"Python", "Ruby", "Shell", "Elixir", "PHP", "Perl", "R", "Julia", "Nim", "PowerShell", "Terraform"}
"""The languages in which a number sign begins a comment."""
DOCUMENTS = frozenset(("md", "markdown", "rst", "adoc", "asciidoc", "txt", "mdx", "tex", "org"))

_TRACKED = ("!/.github/", "!/.circleci/", "!/.travis.yml", "!package.json")
"""What is read although a rule such as `.*` leaves it out: files that git tracks are not ignored."""
NOT_OWN = (
    ".*/", "!.github/", "!.circleci/", "!.buildkite/", "!.ci/", "!.changeset/", "node_modules/", "bower_components/",
    "vendor/", "third_party/", "third-party/", "thirdparty/", "build/", "!/src/build/", "dist/", "target/", "obj/",
    "_build/", "cmake-build-*/", "venv/", "virtualenv/", "site-packages/", "__pycache__/", "eggs/", "htmlcov/",
    "vendored/", "_vendor/", "bundled/", "coverage/", "Pods/", "Carthage/", "DerivedData/",
    "elm-stuff/", "*.egg-info/", "*.dist-info/", "*.xcodeproj/",
    "priv/static/", "/docs/agent-memory/", "/.git",
)  # fmt: skip
"""The lines of a .gitignore that leave out hidden, built and downloaded files, and those that memdeck writes."""

_TEST = re.compile(
    r"\Atesting/|\At/|(?:\A|/)(?i:_*(?:tests?|test-d|e2e|fixtures|mocks)_*|specs?|test[-_]helpers?|testdata|testsuite|test_files|regress(?:ion)?s?"
    r"|[^/]*[._-]tests?)/|/[a-z]+\w*Test/|(?:\A|/)[A-Z]\w*Tests/"
    r"|(?:\A|/)(?:(?:test_|conftest)[^/]*\.py|(?:[^/]*_)?tests?\.\w+|test[_-]helpers?\.\w+|[^/]*[._-](?:test|spec|test-d)\.\w+"
    r"|[^/]*(?:Test|Tests|IT)\.(?:java|kt|scala|cs|swift|groovy|php)|test_[^/]*\.(?:c|cc|cpp|rb))\Z"
)
# `org.example` is the name of a package.
_ASIDE = re.compile(
    r"\A\.[^/]*/|(?:\A|(?<!com)(?<!org)(?<!net)(?<!io)(?<!dev)/)_*"
    r"(?:examples?|samples?|demos?|templates?|snippets|[^/]*[ _-]examples?|[^/]*playground|[^/]*[._-]benchmarks?"
    r"|(?<!src/)(?:bench(?:es|marks?|suite)?|perf)|fuzz(?:ing)?|docs?(?:[_-]?src)?|site|website|www|wiki|guides|rfcs|contrib|single[-_](?:include|header)|amalgamat\w+)/",
    re.IGNORECASE,
)
"""The folders of samples, benchmarks and documentation."""
_TOOL_FILE = re.compile(
    r"(?:\A|/)(?:\.[^/]*|(?:setup|noxfile|tasks|conf|fabfile|manage|versioneer|build)\.\w+|(?:gulp|grunt)file\.\w+"
    r"|mix\.exs|config/[^/]*\.exs|package\.swift|[^/]*\.(?:config|conf|setup)\.[cm]?[jt]s|[^/]*rc\.[cm]?js"
    r"|(?:webpack|karma|rollup|vite|babel)\.[^/]*|[^/]*\.d\.[cm]?ts|magefile\.go|[^/]*\.min\.js"
    r"|(?:examples?|demos?|samples?|bench(?:mark)?s?|fuzz\w*|play)\.\w+)\Z",
    re.IGNORECASE,
)
_GENERATED = re.compile(
    r"(?:code|auto-?|automatically |machine )generated\b|this (?:file|code) (?:is|was) .{0,20}generated"
    r"|generated file\b|do(?: not|n't) (?:edit|modify)\b|not be (?:manually )?(?:edited|modified)\b|@generated"
    r"|made by GNU Bison|generated by flex|\A#line \d",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|;|<!--|<\?php|%|\"\"\"|'use)")
_HELPER = re.compile(r"\A(?:tools?|scripts?|hack|codegen)/|(?:\A|/)_[^/]+/(?:.*\.go)?\Z")


def language_of(path: str) -> str | None:
    """Return the language of a file, None where it is not a source file."""
    stem, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return LANGUAGES.get(suffix.lower()) if dot and stem else None


def is_document(path: str) -> bool:
    """Return whether a file is text for people."""
    return path.rpartition(".")[2].lower() in DOCUMENTS


def is_test(path: str) -> bool:
    """Return whether a file, or a folder with `/` at its end, belongs to tests, by its name or a folder around it."""
    return _TEST.search(path) is not None


def is_aside(path: str) -> bool:
    """Return whether a file, or a folder with `/` at its end, is of tests, samples, benchmarks or documentation rather
    than of the work itself.
    """
    # What is below `src/main` is named like its package: `org/example/samples`.
    return is_test(path) or _ASIDE.search(path.partition("/main/")[0] if "/main/" in path else path) is not None


def is_tool_file(path: str) -> bool:
    """Return whether a file sets up a tool, or is a sample, by its name."""
    return _TOOL_FILE.search(path) is not None


def is_helper(path: str) -> bool:
    """Return whether a file, or a folder with `/` at its end, is a program that only helps with the work.

    The tools of Go pass over a folder whose name begins with `_`.
    """
    return _HELPER.search(path) is not None


def is_generated(text: str) -> bool:
    """Return whether a comment at the top of a source file says that a tool wrote it."""
    return _COMMENT.match(text) is not None and _GENERATED.search(text[:4000]) is not None


def stem_of(path: str) -> str:
    """Return the name of a file or folder without its ending."""
    return path.rpartition("/")[2].partition(".")[0]


def folded_name(name: str) -> str:
    """Return a name without signs and case, as names are compared."""
    return re.sub(r"[\W_]", "", name).lower()
