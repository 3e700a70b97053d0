"""Which files of a repository are its own work, in which language they are, and which are tests or samples."""

from __future__ import annotations

import re

LANGUAGES = {
    "py": "Python", "pyi": "Python", "pyx": "Python", "js": "JavaScript", "jsx": "JavaScript", "mjs": "JavaScript",
    "cjs": "JavaScript", "ts": "TypeScript", "tsx": "TypeScript", "mts": "TypeScript", "cts": "TypeScript",
    "vue": "Vue", "svelte": "Svelte", "astro": "Astro", "rs": "Rust", "go": "Go", "java": "Java", "kt": "Kotlin",
    "scala": "Scala", "groovy": "Groovy", "c": "C", "h": "C", "cc": "C++", "cpp": "C++", "cxx": "C++", "hpp": "C++",
    "hh": "C++", "hxx": "C++", "m": "Objective-C", "mm": "Objective-C", "rb": "Ruby", "php": "PHP", "ex": "Elixir",
    "exs": "Elixir", "erl": "Erlang", "cs": "C#", "fs": "F#", "vb": "Visual Basic", "swift": "Swift", "dart": "Dart",
    "sh": "Shell", "bash": "Shell", "zsh": "Shell", "ps1": "PowerShell", "lua": "Lua", "pl": "Perl", "pm": "Perl",
    "r": "R", "jl": "Julia", "hs": "Haskell", "ml": "OCaml", "mli": "OCaml", "clj": "Clojure", "cljs": "Clojure",
    "zig": "Zig", "nim": "Nim", "sql": "SQL", "tf": "Terraform", "proto": "Protocol Buffers", "sol": "Solidity",
    "elm": "Elm", "v": "Verilog", "sv": "SystemVerilog", "asm": "Assembly", "s": "Assembly", "f90": "Fortran",
    "gleam": "Gleam",
}  # fmt: skip
DOCUMENTS = frozenset(("md", "markdown", "rst", "adoc", "asciidoc", "txt", "mdx", "tex", "org"))

NOT_OWN = (
    ".*/", "!.github/", "!.circleci/", "!.buildkite/", "!.ci/", "!.changeset/", "node_modules/", "bower_components/",
    "vendor/", "third_party/", "third-party/", "thirdparty/", "build/", "dist/", "target/", "obj/", "_build/",
    "cmake-build-*/", "venv/", "virtualenv/", "site-packages/", "__pycache__/", "eggs/", "htmlcov/", "coverage/",
    "Pods/", "Carthage/", "DerivedData/", "elm-stuff/", "*.egg-info/", "*.dist-info/", "*.xcodeproj/",
    "/docs/agent-memory/", "/.git",
)  # fmt: skip
"""The lines of a .gitignore that leave out what is hidden, built, downloaded, or written by memdeck."""

_TESTS = frozenset(
    ("test", "tests", "__tests__", "__e2e__", "spec", "specs", "testing", "e2e", "testdata", "fixtures", "__fixtures__",
     "__mocks__", "integration-tests", "testsuite")
)  # fmt: skip
_SAMPLES = frozenset(
    ("example", "examples", "sample", "samples", "demo", "demos", "templates", "template", "snippets", "playground",
     "bench", "benches", "benchmark", "benchmarks", "benchsuite", "fuzz", "fuzzing")
)  # fmt: skip
_DOCUMENTATION = frozenset(("docs", "site", "website", "www", "wiki", "guides", "rfcs"))
_DOMAINS = frozenset(("com", "org", "net", "io", "dev"))
_TEST_FILE = re.compile(
    r"(?:test_.*|.*_test|conftest)\.py|.*[._-](?:test|spec|test-d)\.[cm]?[jt]sx?|.*_test\.(?:go|exs|cc|cpp|c|dart)"
    r"|.*(?:Test|Tests|IT|Spec)\.(?:java|kt|scala|cs|swift|groovy|php)|.*_(?:spec|test)\.rb|test_.*\.(?:c|cc|cpp|rb)"
    r"|(?:.*_)?tests?\.rs|tests?\.(?:c|cc|cpp|py|rb|js|ts|lua|php|pl)"
)
_TOOL_FILE = re.compile(
    r"\..*|(?:setup|conftest|noxfile|tasks|conf|fabfile|manage|versioneer|build)\.\w+|(?:gulp|grunt)file\.\w+|mix\.exs"
    r"|package\.swift|.*\.(?:config|conf|setup)\.[cm]?[jt]s|.*rc\.[cm]?js|.*\.d\.[cm]?ts|magefile\.go|.*\.min\.js"
    r"|(?:examples?|demos?|samples?|bench(?:mark)?s?|fuzz\w*|play)\.\w+",
    re.IGNORECASE,
)
_GENERATED = re.compile(
    r"(?:code|auto-?|automatically |machine )generated\b|this (?:file|code) (?:is|was) .{0,20}generated"
    r"|generated file\b|do not (?:edit|modify)\b|@generated",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|;|<!--|%|\"\"\"|'use)")


def language_of(path: str) -> str | None:
    """Return the language of a file, None where it is not a source file."""
    stem, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return LANGUAGES.get(suffix.lower()) if dot and stem else None


def is_document(path: str) -> bool:
    """Return whether a file is text for people."""
    return path.rpartition(".")[2].lower() in DOCUMENTS


def is_test(path: str) -> bool:
    """Return whether a file belongs to tests, by its name or a folder around it."""
    *folders, name = path.split("/")
    return is_test_folder("/".join(folders)) or _TEST_FILE.fullmatch(name) is not None


def is_test_folder(folder: str) -> bool:
    """Return whether a folder holds tests or their data, by its name or that of a folder around it."""
    parts = folder.lower().split("/")
    return not _TESTS.isdisjoint(parts) or any(part.endswith((".tests", "-tests", "_tests")) for part in parts)


def is_aside(folder: str) -> bool:
    """Return whether a folder holds tests, samples, benchmarks or documentation rather than the work itself."""
    parts = [part.lstrip("_") for part in folder.lower().split("/")]
    # `org.example` is the name of a package.
    names = {part for around, part in zip(["", *parts], parts, strict=False) if around not in _DOMAINS}
    return (
        is_test_folder(folder)
        or not names.isdisjoint(_SAMPLES)
        or not names.isdisjoint(_DOCUMENTATION)
        or folder.startswith(".")
    )


def is_tool_file(path: str) -> bool:
    """Return whether a file sets up a tool, or is a sample, by its name."""
    return _TOOL_FILE.fullmatch(path.rpartition("/")[2]) is not None


def is_generated(text: str) -> bool:
    """Return whether a comment at the top of a source file says that a tool wrote it."""
    return _COMMENT.match(text) is not None and _GENERATED.search(text[:2000]) is not None
