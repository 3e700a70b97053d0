"""C and C++: CMake, Meson, Autotools and plain make."""

from __future__ import annotations

import re

from memory.state.analysis.found import Command, Ecosystem, Entrypoint, Package
from memory.state.analysis.modules import headers_of, root_parts
from memory.state.analysis.tree import Tree

_CALL = r"^[ \t]*{name}[ \t]*\(([^()]{{1,4000}})\)"
_PROJECT = re.compile(_CALL.format(name="project"), re.MULTILINE | re.IGNORECASE)
_TARGET = re.compile(_CALL.format(name="add_(executable|library)"), re.MULTILINE | re.IGNORECASE)
_SUBFOLDER = re.compile(_CALL.format(name="add_subdirectory"), re.MULTILINE | re.IGNORECASE)
_TESTING = re.compile(r"^[ \t]*(?:enable_testing|include[ \t]*\([ \t]*CTest)[ \t]*\(?", re.MULTILINE | re.IGNORECASE)
_DESCRIPTION = re.compile(r"\bDESCRIPTION\s+\"([^\"]{1,300})\"")
_MESON = re.compile(r"\bproject\s*\(\s*['\"]([^'\"\n]{1,100})['\"]")
_MAIN = re.compile(r"^[ \t]*(?:int|void|auto)[ \t\n]+w?main[ \t]*\(", re.MULTILINE)
_REMARK = re.compile(r"#[^\n]*")
_LANGUAGES = ("C", "C++", "Objective-C", "Assembly")


def look(tree: Tree) -> Ecosystem | None:
    """Return what the build files at the root say; None without any, or for a Makefile without C."""
    names = [name for name in ("CMakeLists.txt", "meson.build", "configure.ac", "Makefile") if tree.has(name)]
    c, cpp = tree.count("C"), tree.count("C++")
    if not names or (names == ["Makefile"] and not c + cpp):
        return None
    found = Ecosystem("C++" if cpp > c // 2 and cpp else "C", _LANGUAGES, "none", manifests=names)
    if tree.has("CMakeLists.txt"):
        _cmake(tree, found)
    elif tree.has("meson.build"):
        found.notes.append("Is built with Meson, in a folder of its own: `meson setup build`.")
        project = _MESON.search(_REMARK.sub("", tree.text("meson.build")))
        if project is not None:
            found.packages.append(Package("", project[1]))
        if "test(" in tree.text("meson.build") or any("test(" in tree.text(one) for one in tree.named("meson.build")):
            found.commands.append(
                Command(
                    "test", "Meson tests", ("meson", "test", "-C", "build"), "Runs the tests of the build in `build`."
                )
            )
    _headers(tree, found)
    for name, manager in (("vcpkg.json", "vcpkg"), ("conanfile.txt", "Conan"), ("conanfile.py", "Conan")):
        if tree.has(name):
            found.manager = manager
            found.manifests.append(name)
            break
    return found


def _headers(tree: Tree, found: Ecosystem) -> None:
    """Add the headers of a library whose sources are at the root; headers of a program are only for itself."""
    parts = root_parts(tree, _LANGUAGES)
    if any(_MAIN.search(tree.text(path)) for part in parts for path in part.files):
        return
    for part in parts:
        for path in headers_of(part):
            found.entrypoints.append(Entrypoint(path, f"the header of `{part.name or path}`, which programs include"))


def _cmake(tree: Tree, found: Ecosystem) -> None:
    found.notes.append(
        "Is built with CMake, in a folder of its own: `cmake -S . -B build`, then `cmake --build build`."
    )
    text = _REMARK.sub("", tree.text("CMakeLists.txt"))
    project = _PROJECT.search(text)
    if project is not None and project[1].split():
        about = _DESCRIPTION.search(project[1])
        found.packages.append(Package("", project[1].split()[0].strip('"')[:100], about[1] if about else ""))
    scripts = [""] + [folder for folder in _subfolders(tree, "", 0) if folder]
    for folder in scripts[:100]:
        top = f"{folder}/" if folder else ""
        inner = _REMARK.sub("", tree.text(f"{top}CMakeLists.txt"))
        for kind, call in _TARGET.findall(inner)[:50]:
            _target(tree, top, kind.lower(), call.split(), found)
    if any(_TESTING.search(_REMARK.sub("", tree.text(path))) for path in sorted(tree.named("CMakeLists.txt"))[:100]):
        found.commands.append(
            Command(
                "test",
                "CTest",
                ("ctest", "--test-dir", "build", "--output-on-failure"),
                "Runs the tests of the build in `build`.",
            )
        )


def _subfolders(tree: Tree, folder: str, depth: int) -> list[str]:
    top = f"{folder}/" if folder else ""
    names = []
    for call in _SUBFOLDER.findall(_REMARK.sub("", tree.text(f"{top}CMakeLists.txt")))[:50]:
        name = top + (call.split() or [""])[0].strip('"').rstrip("/")
        if tree.has(f"{name}/CMakeLists.txt") and depth < 4:
            names += [name, *_subfolders(tree, name, depth + 1)]
    return names


def _target(tree: Tree, top: str, kind: str, words: list[str], found: Ecosystem) -> None:
    """Add a program by its main file, else its first file. Programs of tests and examples are left out."""
    if kind != "executable" or len(words) < 2 or "${" in words[0] or tree.is_aside(top.rstrip("/")):
        return
    paths = [top + word.strip('"').removeprefix("./") for word in words[1:]]
    files = [path for path in paths if tree.has(path)]
    if not files or re.search(r"(?:^|[_-])tests?(?:[_-]|\Z)", words[0]):
        return
    main = next((path for path in files if path.rpartition("/")[2].startswith("main.")), files[0])
    found.entrypoints.append(Entrypoint(main, f"the program `{words[0][:60]}`"))
