"""The parts of a repository, packages, folders and files of the main source folder, and the purpose of each.

A part is described in its own words or in those of the documents; one of which neither is known has no description.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memory.base.words import content_words, stem
from memory.state.files.model import UNDESCRIBED

from .documents import Sayings, capital, ended, first_sentence, is_said, opening_of, plain, sections_of
from .manifests import Package, Project, main_package
from .tree import HASHED, SOURCE_FOLDERS, Tree, folded_name, language_of, stem_of

MOST_MODULES = 12
_MAIN_PART, _NAMED_PART = 0.8, 0.4
"""The share of sources that makes a folder the main one, and that of one with a usual name such as `src`."""
_DIRECT, _FLAT, _PACKAGES, _SMALL = 3, 9, 10, 0.03
"""How many files make a folder a source folder, from how many parts on files are none, how many packages are told where
there are parts, and the share of the sources that makes a folder without a description a part.
"""
_WORDS, _FEWEST, _MOST_TEXT, _MOST_SAID = 3, 2, 200_000, 260
"""How many words the description of a declaration has and that of a file, how many characters of a file are read, and
how long a description may be.
"""


class Parts(NamedTuple):
    """The parts that are described, and the large folders that nothing describes."""

    modules: list[dict[str, str]]
    areas: list[dict[str, str]]


def parts_of(tree: Tree, projects: list[Project], summary: str, first: list[str], weight: dict[str, float]) -> Parts:
    """Return the parts of a repository, the main one first, and the files to read `first`.

    First the packages, then the parts of the main source folder, then other folders with sources. Documentation,
    samples, tests and their data are no parts. Nothing is said twice, nor what the summary or a name says.
    """
    main = main_package(tree, projects[0]) if projects else None
    packages: dict[str, Package] = {}
    for project in projects:
        found = [one for one in project.packages if one.folder and tree.sources(one.folder)]
        for one in sorted(found, key=lambda one: (one is not main, -_size(tree, one.folder))):
            packages.setdefault(one.folder, one)
    source = main_folder(tree, main, projects)
    inner, files, sayings = _folders(tree, source, packages), _files(tree, source, main, weight), Sayings(tree)
    at_root = main is not None and not main.folder
    paths = [source, *inner, *packages] if at_root else [*packages, source, *inner]
    paths += [*(path for path in first if tree.is_work(path)), *files]
    known = [*filter(None, paths), *packages]
    known_to = {language for project in projects for language in project.ecosystem.languages}
    outer = [
        one
        for one in tree.inner("")
        if any(language_of(path) in known_to or not projects for path in tree.sources(one))
    ]
    outer = [one for one in outer if not any(is_in(path, [one]) for path in known)]
    outer.sort(key=lambda one: (-_size(tree, one), one))
    parts, told = Parts([], []), summary
    enough = _SMALL * sum(map(tree.files.__getitem__, tree.sources()))
    for path in dict.fromkeys(filter(None, [*paths, *outer])):
        package, is_file = packages.get(path), tree.has(path)
        if is_file and not weight.get(path, 0):
            continue
        said = _said_of(tree, path, package, sayings)
        is_known = said.rstrip(".").lower() in told.lower() or (package is None and is_said(said, summary))
        if is_known or _repeats(said, path):
            whole = packages.keys() - {path} and all(is_in(one, [path]) for one in packages)
            said = "The main package" if package is not None and package is main and not whole else ""
        told += f" {said}"
        count = sum(one["path"] not in first for one in parts.modules)
        room = count < (_PACKAGES if package is not None and inner else MOST_MODULES) and (not is_file or count < _FLAT)
        name = package.name if package is not None else path.rpartition("/")[2]
        if said and (room or path in first):
            parts.modules.append({"name": name, "path": path, "responsibility": ended(capital(said))})
        elif not (said or is_file) and path != source and _size(tree, path) > enough:
            parts.areas.append({"path": path, "note": UNDESCRIBED})
    told_alike = [one["responsibility"] for one in parts.modules if tree.has(one["path"])]
    # Sentences that differ in a word only tell less than their list is long.
    parts.modules[:] = [
        one for one in parts.modules if sum(is_said(one["responsibility"], other) for other in told_alike) < 3
    ]
    return parts


def _repeats(said: str, path: str) -> bool:
    """Return whether a text says no more than a path does, but for one word beside two of its own."""
    names = content_words(re.sub(r"(?<=[a-z])(?=[A-Z])|[_/.]", " ", path).lower())
    words = {stem(word) for word in content_words(said)}
    known = words & {stem(word) for word in names}
    return len(words - known) < (2 if len(known) > 1 else 1)


def is_in(path: str, folders: Iterable[str]) -> bool:
    """Return whether a path is that of one of some folders, or below one."""
    return any(path == one or path.startswith(f"{one}/") for one in folders)


def _said_of(tree: Tree, path: str, package: Package | None, sayings: Sayings) -> str:
    """Return what a part is in the words of its manifest, of itself, or of the documents; "" where nothing says it."""
    if tree.has(path):
        name = re.escape(path.rpartition("/")[2])
        return sayings.of(path) or re.sub(rf"\A{name}(?::| [-–—])[ \n]+", "", _of_file(tree, path), flags=re.IGNORECASE)
    said = capital(first_sentence(plain(package.description), _MOST_SAID)) if package is not None else ""
    return said or sayings.of(path) or _of_folder(tree, path)


def _size(tree: Tree, folder: str) -> int:
    return sum(tree.files[path] for path in tree.sources(folder))


def main_folder(tree: Tree, main: Package | None, projects: list[Project]) -> str:
    """Return the folder with the sources of the main package: followed down while most are in one folder below it.

    Those of the other packages do not count for one at the root, but where it has no sources beside them.
    """
    folder = main.folder if main is not None else ""
    packages = [one.folder for project in projects for one in project.packages if one.folder]
    apart = packages if main is not None and not folder else []

    def size(folder: str) -> int:
        return sum(tree.files[path] for path in tree.sources(folder) if not is_in(path, apart))

    while True:
        inner = [one for one in tree.inner(folder) if tree.sources(one)]
        best = max(inner, key=size, default="")
        part = _NAMED_PART if best.rpartition("/")[2].lower() in SOURCE_FOLDERS else _MAIN_PART
        enough = folder and sum(map(tree.is_work, tree.folders[folder])) >= _DIRECT
        alone = bool(folder) and len(inner) == 1
        if enough or not best or (not alone and size(best) < max(size(folder), 1) * part):
            return folder
        folder = best


_SOURCE_SET = re.compile(r"/(?:[a-z]\w*)?[mM]ain\Z")
"""A folder with the sources for one platform, as in Kotlin: it is no part of its own."""


def _folders(tree: Tree, source: str, packages: Iterable[str]) -> list[str]:
    """Return the folders with sources in the main source folder, the largest first."""
    inner = [one for one in tree.inner(source) if tree.sources(one) and not _SOURCE_SET.search(one)]
    inner = [one for one in inner if not any(is_in(path, [one]) for path in packages)]
    return sorted(inner, key=lambda one: (-_size(tree, one), one))


def _files(tree: Tree, source: str, main: Package | None, weight: dict[str, float]) -> list[str]:
    """Return the files of the main source folder, those that help most first, without its entry points."""
    files = [path for path in tree.folders.get(source, []) if tree.is_work(path) and not path.endswith(".pyi")]
    found = Counter(map(language_of, tree.sources()))
    files = [path for path in files if found[language_of(path)] * 4 >= found.total() or path.endswith(".h")]
    entries = main.entries if main is not None else {}
    own = [path for path in files if path.rpartition("/")[2] not in _HEADS and path not in entries]
    return sorted(own, key=lambda path: (-weight.get(path, 0), path))


# -- what a folder is ------------------------------------------------------------------------------------------------

_HEADS = ("__init__.py", "lib.rs", "main.rs", "mod.rs", "doc.go", "package-info.java", "index.ts", "index.js",
          "index.mjs", "main.ts", "main.js", "main.go")  # fmt: skip


def _of_folder(tree: Tree, folder: str) -> str:
    """Return what the main file of a folder says that it is, else the README of the folder; "" without either."""
    paths = [f"{folder}/{inner}{name}" for inner in ("", "src/") for name in _HEADS]
    # In Go any file can hold the comment of the package; elsewhere a file speaks for the folder if it is alone.
    direct = [path for path in tree.folders.get(folder, []) if tree.is_work(path)]
    alone = len(direct) == len(tree.below(folder)) == 1
    paths += [path for path in direct if path.endswith(".go") or (alone and language_of(path) != "Shell")][:30]
    readme = tree.readme(folder) or ""
    told = next((said for path in paths if tree.has(path) and (said := header(tree, path))), "")
    return told or first_sentence(opening_of(sections_of(tree.text(readme), readme), 200, strict=True))


# -- what a file is --------------------------------------------------------------------------------------------------

_DOCSTRING = re.compile(
    r"\A(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*[rRuUbB]{0,2}"
    r"(?:\"\"\"(.{1,4000}?)\"\"\"|'''(.{1,4000}?)'''|\"([^\"\n]{1,300})\")",
    re.DOTALL,
)
_MODULEDOC = re.compile(r"@moduledoc[ \t]+(?:false|(?:~S)?\"\"\"(.{1,20000}?)\"\"\"|\"([^\"\n]{1,300})\")", re.DOTALL)
_MODULES = re.compile(r"^([ \t]*)def(?:module|protocol) ([\w.]+)", re.MULTILINE)
_STARS = re.compile(r"^[ \t]*(?:/?\*+/?|//+[!/]?|#+)[ \t]?|[ \t]*\*+/[ \t]*$", re.MULTILINE)
_SLASHES, _HASH = re.compile(r"//|/\*"), re.compile(r"//|/\*|#(?!!|\[)")
_ENDS = re.compile(r"\s*(?:\Z|import|use|from|package|namespace|#|[\"']use)")
"""What follows line comments about the file; those directly above other code are about that code."""
_BEFORE = re.compile(r"#(?:!|pragma once|ifndef|define|if !|nullable)|[\"']use \w+|<\?php")
"""Lines that come before the first comment of a file."""
_TAG = re.compile(
    r"^[ \t]*(?:[@\\]brief|(?:[@\\]\w+|\{@(?:template|macro|endtemplate)|vim?:|-\*-|\[?!\[|\[[^\]\n]+\]: http)[^\n]*$)",
    re.IGNORECASE | re.MULTILINE,
)
"""Tags, the settings of an editor, badges, and the addresses of links."""
_XML = re.compile(r"<(?:see|paramref|typeparamref)\b[^<>]*?=\"(?:\w:)?(?:[\w.]*\.)?([\w ]+)[^\"<>]*\"\s*/?>|</?[a-z]+>")
"""The references and tags of documentation in C# and Java."""
_LINK = re.compile(
    r"\{@\w+ (?:[\w.]+\.)?([^{}\n]+)\}|\[(`[^`\n]+`)\](?![(\[])|:[a-z:]{2,20}:`~?(?:[\w.]+\.)?([^`<>\n]+)`"
    r"|\[([^\[\]\n]{2,60})\](?:\[[^\[\]\n]*\])?(?!\()"
)
"""Links of Javadoc, rustdoc, Sphinx and KDoc."""
_UNDERLINED = re.compile(r"\A\s*[^\n]+\n[ \t]*([=~*^#-])\1{2,}[ \t]*\n")
"""A title at the beginning of a docstring."""
_SHORT_LINE = re.compile(r"^([^\n]{1,60}[\w)])\n(?=[A-Z][A-Za-z]+ )", re.MULTILINE)
"""A short line without a full stop before one with a capital letter: each is a thought of its own."""
_INLINE = re.compile(r"[@\\](?:ref|c|a|p|em)[ \t]+")
_REMAINS = re.compile(r"[@\\](?:ref|see|link|param|return)|\b\d\.\Z|\]\(|\]\[|\{@|::`")
"""The words of Doxygen inside a sentence; and what would be left of links."""
_LEGAL = re.compile(
    r"go:generate|copyright|licen[sc]e|spdx|all rights reserved|eslint|prettier|resharper|@ts-|frozen_string"
    r"|coding:|typed: "
    r"|[@\\]deprecated|deprecated(?:[:.]| since)"
    r"|\+build|go:build|shellcheck|generated|warnings?\b|please |the author\b|bug reports",
    re.IGNORECASE,
)
_NO_HEADER = re.compile(
    r"```|(?:import|include|const|see|do not|on|if|when|there|we|raised|for|by|despite|example|usage|namespace|nocov"
    r"|this is the documentation)\b|[^()]*\(sounds"
    r"|.*\bVersion \d|.*\b(?:so|that) we\b|note|todo|fixme|\w+ class\Z|[\w.]+ = ",
    re.IGNORECASE,
)


def _of_file(tree: Tree, path: str) -> str:
    """Return what a file says that it is, else what the comment at the declaration says that it is named after, after
    the name of that where it is another; "" without either.
    """
    if (said := header(tree, path)) or language_of(path) == "C":
        return said
    text, bare = tree.text(path), stem_of(path)
    file = folded_name(bare)
    inside = dict(_CLASS.findall(text[:_MOST_TEXT]))
    found: dict[str, str] = {}
    for comment, line in _comments(text, path):
        if (named := _DECLARED.match(line)) and _is_about(file, folded_name(named[1]), line):
            found.setdefault(named[1], described(inside.get(named[1], comment), _WORDS))
    # The thing itself says more than what makes it.
    names = sorted(
        (name for name, said in found.items() if said), key=lambda name: (folded_name(name) != file, name != bare)
    )
    if not names:
        return ""
    name, said = names[0], found[names[0]]
    told = folded_name(name) == file or re.match(rf"(?:The )?{re.escape(name)} \w+s\b", said)
    return said if told else f"`{name}`: {said}"


def _is_about(file: str, name: str, line: str) -> bool:
    """Return whether a declaration has the name of its file, but for a letter or two after it; if it is exported, but
    for a verb before it, too.
    """
    short = _MADE.sub("", name) if re.match(r"\s*(?:export|pub|public|def)\b", line) else name
    return short.startswith(file) and len(short) - len(file) < 3


_MADE = re.compile(r"\A(?:define|create|make|new|use|get)(?=\w{3})")
"""Verbs in front of the thing that a function makes: `defineStore` is what `store.ts` is about."""
_DECLARED = re.compile(
    r"(?! *(?:class|struct|enum) \w+[ \t]*;)"
    r" {0,4}(?:(?:export|default|pub|pub\(crate\)|public|internal|open|sealed|abstract|final|static|async|data"
    r"|partial) )*(?:class|interface|trait|struct|enum(?: class)?|record|object|protocol|type(?= [A-Z])|defmodule"
    r"|defprotocol|module"
    r"|func|fun|fn|function|const|def) ([A-Za-z][\w.]*)"
    r"(?![\w.]|::|[ \t]*\*|[ \t]+\w+[ \t]*[;=,\[])"
)
_CLASS = re.compile(r"^class ([A-Z]\w*)[^\n]*:\n[ \t]+[rR]?\"\"\"(.{1,4000}?)\"\"\"", re.DOTALL | re.MULTILINE)
_VALUE = re.compile(r"(?:module\.)?exports\b|(?:var|let|const|static|private|protected) ")


def _comments(text: str, path: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of code of a source file, each with the comment above it; a blank line ends a comment, too."""
    begins = _HASH if language_of(path) in HASHED else _SLASHES
    comment: list[str] = []
    block = False
    for line in [*text[:_MOST_TEXT].split("\n"), ""]:
        bare = line.strip()
        if block or begins.match(bare):
            comment.append(bare)
            block = (block or bare.startswith("/*")) and not bare.endswith("*/")
        elif not bare.startswith(("@", "[", "#[", "template")):
            yield "\n".join(comment), line
            comment = []


def header(tree: Tree, path: str) -> str:
    """Return the first sentence of the description at the top of a source file; "" where there is none."""
    text, end = tree.text(path), path.rpartition(".")[2]
    if end in ("py", "pyi"):
        return described("".join(_DOCSTRING.findall(text)[0]) if _DOCSTRING.match(text) else "", _FEWEST)
    if end in ("ex", "exs"):
        # The module that the file is named after, else the first one.
        stem, modules = folded_name(stem_of(path)), [*_MODULES.finditer(text)]
        named = [one for one in modules if folded_name(one[2].rpartition(".")[2]) == stem]
        about = next(iter(named or modules), None)
        inside = text[about.end() :].partition(f"\n{about[1]}  @moduledoc")[2] if about is not None else ""
        doc = _MODULEDOC.match(f"@moduledoc{inside}")
        return described(doc[1] or doc[2] or "", _FEWEST) if doc is not None else ""
    for comment, code in _comments(text, path) if language_of(path) is not None else ():
        if said := described(comment, _WORDS):
            block = comment.startswith("/*") and language_of(path) not in ("C", "C++")
            about_file = block and not (_DECLARED.match(code) or _VALUE.match(code))
            if code.startswith("namespace") and not code.endswith(";"):
                return ""
            return said if about_file or _ENDS.match(code) else ""
        if code.strip() and not _BEFORE.match(code):
            break
    return ""


def described(comment: str, least: int) -> str:
    """Return the first sentence of a comment with at least so many words; "" where it describes nothing."""
    text = _TAG.sub("", _INLINE.sub("", _STARS.sub("", _UNDERLINED.sub("", comment).strip("/*!")))).strip()
    text = _UNDERLINED.sub("", f"{text}\n")
    text = _XML.sub(lambda tag: f"`{tag[1]}`" if tag[1] else "", text)
    text = _SHORT_LINE.sub(r"\1\n\n", text)
    text = "" if _LEGAL.search(text[:600]) else _LINK.sub(_unlinked, text)
    for said in map(
        plain, re.split(r"\n[ \t]*(?:\n|[-*] )|(?<=[\w)])\n(?=(?:They|It|This|These|We|You|If|When|The) )", text)
    ):
        if len(said.split()) >= _FEWEST and not said.startswith(("#", "=", "-")):
            useless = len(said.split()) < least or "://" in said or _NO_HEADER.match(said) or not _is_prose(said)
            first = "" if useless else first_sentence(said)
            return (
                ""
                if first.endswith((":", "…")) or _REMAINS.search(first) or " -- " in first or "..." in first
                else first
            )
    return ""


def _is_prose(text: str) -> bool:
    """Return whether at least a third of the words are plain ones: in small letters, without signs."""
    words = text.split()
    return len(words) <= 3 * sum(
        re.fullmatch(r"[(\"'‘“]?[a-z][a-z'’-]*[.,;:)\"'’”]*", word) is not None for word in words
    )


def _unlinked(link: re.Match[str]) -> str:
    """Return the text of a link, as code where it is a name."""
    text = link[1] or link[2] or link[4] or link[3]
    return f"`{text}`" if link[3] or (link[4] and re.fullmatch(r"[A-Z]\w+", text)) else text
