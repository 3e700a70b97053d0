"""Java and Kotlin: Maven and Gradle. Their files are read by patterns, never by an XML parser or as a program."""

from __future__ import annotations

import re

from memory.state.analysis.found import Command, Ecosystem, Entrypoint, Package
from memory.state.analysis.tree import Tree

from .values import fullest

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_INNER = re.compile(r"<(parent|dependencies|dependencyManagement|build|profiles|reporting)>.*?(?:</\1>|\Z)", re.DOTALL)
_MODULE = re.compile(r"<module>\s*([^<>\s]{1,200})\s*</module>")
_INCLUDE = re.compile(r"^[ \t]*include[ \t(]+([^\n]{1,2000})", re.MULTILINE)
_QUOTED = re.compile(r"[\"']:?([^\"']{1,200})[\"']")
_GRADLE_NAME = re.compile(r"^[ \t]*rootProject\.name[ \t]*=[ \t]*[\"']([^\"'\n]{1,100})[\"']", re.MULTILINE)
_GRADLE_DESCRIPTION = re.compile(r"^[ \t]*description[ \t]*=[ \t]*[\"']([^\"'\n]{1,300})[\"']", re.MULTILINE)
_MAIN = re.compile(
    r"\bpublic\s+static\s+void\s+main\s*\(|^[ \t]*fun[ \t]+main\s*\(|@SpringBootApplication", re.MULTILINE
)
_GRADLE_FILE = re.compile(r"(?:build|settings)\.gradle(?:\.kts)?")
_JAVA = re.compile(r"<(?:maven\.compiler\.release|maven\.compiler\.source|java\.version)>\s*([\d.]{1,10})\s*<")
_ASIDE = re.compile(r"(?:Benchmarks?|Examples?|Samples?|Demo)\.\w+\Z")
_MOST_MAINS = 400


def look(tree: Tree) -> Ecosystem | None:
    """Return what pom.xml or the Gradle files at the root say, else those of the build below it with most sources.

    None where there are none.
    """
    folder = "" if _is_build(tree, "") else fullest(tree, _builds(tree))
    if not _is_build(tree, folder):
        return None
    top = f"{folder}/" if folder else ""
    maven = tree.has(f"{top}pom.xml")
    gradle = _gradle_files(tree, folder)
    kotlin = tree.count("Kotlin") > tree.count("Java")
    found = Ecosystem(
        "Kotlin" if kotlin else "Java",
        ("Java", "Kotlin", "Scala", "Groovy"),
        "Maven" if maven else "Gradle",
        manifests=([f"{top}pom.xml"] if maven else []) + gradle,
    )
    if maven:
        _maven(tree, folder, found, 0)
        program = f"./{top}mvnw" if tree.has(f"{top}mvnw") else "mvn"
        where = ("-f", f"{top}pom.xml") if folder else ()
        found.commands.append(
            Command("test", "Maven tests", (program, *where, "test"), "Builds all and runs the tests.")
        )
        java = _JAVA.search(tree.text(f"{top}pom.xml"))
        if java is not None:
            found.notes.append(f"Compiles for Java {java[1]}.")
    else:
        _gradle(tree, folder, gradle, found)
        program = f"./{top}gradlew" if tree.has(f"{top}gradlew") else "gradle"
        where = ("-p", folder) if folder else ()
        found.commands += [
            Command("test", "Gradle tests", (program, *where, "test"), "Builds all and runs the tests."),
            Command("lint", "Gradle check", (program, *where, "check"), "Runs the tests and all other checks."),
        ]
    sources = [path for path in tree.files if path.endswith((".java", ".kt")) and not _ASIDE.search(path)]
    for path in sources[:_MOST_MAINS]:
        if not tree.is_aside(path.rpartition("/")[0]) and _MAIN.search(tree.text(path)):
            found.entrypoints.append(Entrypoint(path, f"the program `{path.rpartition('/')[2].partition('.')[0]}`"))
    return found


def _gradle_files(tree: Tree, folder: str) -> list[str]:
    paths = tree.folders.get(folder, [])
    return [path for path in paths if _GRADLE_FILE.fullmatch(path.rpartition("/")[2])]


def _is_build(tree: Tree, folder: str) -> bool:
    return tree.has(f"{folder}/pom.xml" if folder else "pom.xml") or bool(_gradle_files(tree, folder))


def _builds(tree: Tree) -> list[str]:
    """Return the folders below the root with their own build, not inside another such folder, without samples."""
    found: list[str] = []
    for folder in sorted(tree.folders, key=lambda one: one.split("/")):
        within = any(folder.startswith(f"{other}/") for other in found[-1:])
        if folder and not within and not tree.is_sample(folder) and _is_build(tree, folder):
            found.append(folder)
    return found


def _maven(tree: Tree, folder: str, found: Ecosystem, depth: int) -> None:
    """Add a pom.xml and the modules that it names."""
    top = f"{folder}/" if folder else ""
    text = _COMMENT.sub("", tree.text(f"{top}pom.xml"))
    if "<project" not in text:
        found.problems.append(f"`{top}pom.xml` (not a Maven project)")
        return
    own = _INNER.sub("", text)
    name = _tag(own, "name") or _tag(own, "artifactId") or folder.rpartition("/")[2]
    if name:
        plain = name if "${" not in name else _tag(own, "artifactId") or name
        found.packages.append(Package(folder, plain, _tag(own, "description")))
    modules = _MODULE.findall(text)
    if modules and not depth:
        found.workspace = "Maven modules"
    for module in modules[:100]:
        inner = top + module.strip("/")
        if depth < 4 and ".." not in inner.split("/") and tree.has(f"{inner}/pom.xml") and len(found.packages) < 100:
            _maven(tree, inner, found, depth + 1)


def _tag(text: str, name: str) -> str:
    match = re.search(rf"<{name}>([^<>]{{1,500}})</{name}>", text)
    return " ".join(match[1].split()) if match is not None else ""


def _gradle(tree: Tree, top: str, files: list[str], found: Ecosystem) -> None:
    settings = next((tree.text(path) for path in files if path.rpartition("/")[2].startswith("settings")), "")
    build = next((tree.text(path) for path in files if path.rpartition("/")[2].startswith("build")), "")
    name, description = _GRADLE_NAME.search(settings), _GRADLE_DESCRIPTION.search(build)
    if name is not None:
        found.packages.append(Package(top, name[1], description[1] if description else ""))
    included = [one for line in _INCLUDE.findall(settings) for one in _QUOTED.findall(line)]
    if included:
        found.workspace = "Gradle projects"
    for one in dict.fromkeys(included[:100]):
        folder = "/".join((*([top] if top else []), one.replace(":", "/").strip("/")))
        script = next(
            (f"{folder}/{name}" for name in ("build.gradle.kts", "build.gradle") if tree.has(f"{folder}/{name}")), ""
        )
        if script or tree.has_folder(folder):
            about = _GRADLE_DESCRIPTION.search(tree.text(script)) if script else None
            found.packages.append(Package(folder, folder.rpartition("/")[2], about[1] if about else ""))
