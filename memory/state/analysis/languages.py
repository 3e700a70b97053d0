"""Which language a file is in, and whether it is a test."""

from __future__ import annotations

import re

LANGUAGES = {
    "py": "Python", "pyi": "Python", "pyx": "Python", "js": "JavaScript", "jsx": "JavaScript", "mjs": "JavaScript",
    "cjs": "JavaScript", "ts": "TypeScript", "tsx": "TypeScript", "mts": "TypeScript", "vue": "Vue",
    "svelte": "Svelte", "astro": "Astro", "rs": "Rust", "go": "Go", "java": "Java", "kt": "Kotlin", "kts": "Kotlin",
    "scala": "Scala", "groovy": "Groovy", "c": "C", "h": "C", "cc": "C++", "cpp": "C++", "cxx": "C++", "hpp": "C++",
    "hh": "C++", "hxx": "C++", "m": "Objective-C", "mm": "Objective-C", "rb": "Ruby", "php": "PHP", "ex": "Elixir",
    "exs": "Elixir", "erl": "Erlang", "cs": "C#", "fs": "F#", "vb": "Visual Basic", "swift": "Swift", "dart": "Dart",
    "sh": "Shell", "bash": "Shell", "zsh": "Shell", "ps1": "PowerShell", "lua": "Lua", "pl": "Perl", "pm": "Perl",
    "r": "R", "jl": "Julia", "hs": "Haskell", "ml": "OCaml", "mli": "OCaml", "clj": "Clojure", "cljs": "Clojure",
    "zig": "Zig", "nim": "Nim", "sql": "SQL", "tf": "Terraform", "proto": "Protocol Buffers", "sol": "Solidity",
    "css": "CSS", "scss": "CSS", "html": "HTML", "elm": "Elm", "v": "Verilog", "sv": "SystemVerilog",
    "vhd": "VHDL", "asm": "Assembly", "s": "Assembly", "f90": "Fortran", "gleam": "Gleam",
}  # fmt: skip

DOCUMENTS = frozenset(("md", "markdown", "rst", "adoc", "asciidoc", "txt", "mdx", "tex", "org"))

_TEST_FOLDERS = frozenset(("test", "tests", "__tests__", "spec", "specs", "testing", "e2e", "testdata", "fixtures"))
_TEST_FILE = re.compile(
    r"(?:test_.*|.*_test|conftest)\.py\Z|.*[._](?:test|spec)\.[cm]?[jt]sx?\Z|.*_test\.(?:go|exs|cc|cpp|c|dart)\Z"
    r"|.*(?:Test|Tests|IT|Spec)\.(?:java|kt|scala|cs|swift|groovy|php)\Z|.*_(?:spec|test)\.rb\Z|test_.*\.(?:c|cc|cpp|rb)\Z"
    r"|tests?\.(?:c|cc|cpp|py|rb|js|ts|lua|php|pl)\Z"
)


def language_of(path: str) -> str | None:
    """Return the language of a file, None where it is not a source file."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    if not dot or not stem or name.endswith(".gradle.kts"):
        return None
    return LANGUAGES.get(suffix.lower())


def is_document(path: str) -> bool:
    """Return whether a file is text for people."""
    return path.rpartition(".")[2].lower() in DOCUMENTS


def is_test(path: str) -> bool:
    """Return whether a file belongs to tests, by its name or a folder around it."""
    *folders, name = path.split("/")
    return not _TEST_FOLDERS.isdisjoint(folders) or is_test_file(name)


def is_test_file(path: str) -> bool:
    """Return whether a file is a test by its own name."""
    return _TEST_FILE.fullmatch(path.rpartition("/")[2]) is not None


def is_test_folder(path: str) -> bool:
    """Return whether a folder holds tests, by its name or that of a folder around it."""
    return not _TEST_FOLDERS.isdisjoint(path.split("/"))
