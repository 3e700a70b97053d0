"""What public repositories taught the analysis: each case is the shape of one, with what a person would sign."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory.state.analysis import analyse
from memory.state.analysis.texts.prose import capital, plain

from .layouts import write

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def bundle_of(files: dict[str, str], folder: Path) -> dict[str, Any]:
    """Return the bundle of a repository with some files."""
    return analyse(write(files, folder), now=NOW)


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("with _pizzazz_!", "with pizzazz!"),
        ("a `_name_` and snake_case_name stay", "a `_name_` and snake_case_name stay"),
        ("gRPC Web &middot; `&lt;`", "gRPC Web · `&lt;`"),
        ("use [`a()`](https://x.org/A.html#a(b.C))", "use `a()`"),
        ("*one* **two** __three__", "one two three"),
        ("&nothing; & more", "&nothing; & more"),
        ("<b>a</b> `Option<T>` and `<!-- x -->` <!-- y -->end", "a `Option<T>` and `<!-- x -->` end"),
    ],
)
def test_inline_markdown(markdown: str, text: str) -> None:
    """Emphasis, entities and links leave their text, code stays as it is."""
    assert plain(markdown) == text


@pytest.mark.parametrize(("text", "begun"), [("it works", "It works"), ("cJSON works", "cJSON works"), ("", "")])
def test_capital(text: str, begun: str) -> None:
    """A sentence begins with a capital letter, unless a name with one of its own stands there."""
    assert capital(text) == begun


@pytest.mark.parametrize(
    ("readme", "summary"),
    [
        ("# Safe\n\n... so better sign this.\n\nHelpers that sign what goes out.\n",
         "Helpers that sign what goes out."),
        ("# Sets\n\n> [!IMPORTANT]\n> This branch is for the next version.\n\nSets helps to release.\n",
         "Sets helps to release."),
        ("# List\n\n<p>Buy my application today, please</p>\n\n## Contents\n\n- One\n",
         "List has 1 document and no code; nothing says what it is for."),
    ],
)  # fmt: skip
def test_summary(readme: str, summary: str, tmp_path: Path) -> None:
    """The end of a sentence, a note about the branch and an advertisement are no summary."""
    files = {"README.md": readme, ".github/workflows/lint.sh": "true\n"}
    bundle = bundle_of(files, tmp_path)
    assert bundle["project"]["summary"] == summary
    assert bundle["project"]["primaryEcosystem"] == "documentation"
    assert bundle["currentFocus"]["knownRisks"] == []


def test_traps_with_labels(tmp_path: Path) -> None:
    """Symptom, reason and solution of a section become those of the trap, with the lists below each."""
    text = (
        "# Troubleshooting Guide\n\n## Values are lost\n\n**Symptom:** Values are `null`\n\n**Reason:**\n\n"
        "- The class is local\n- Or it is excluded\n\n**Solution:** Make it static.\\\nOr write an adapter.\n"
    )
    (trap,) = bundle_of({"Troubleshooting.md": text}, tmp_path)["gotchas"]
    assert trap == {
        "title": "Values are lost",
        "symptom": "Values are `null`.",
        "cause": "As written in `Troubleshooting.md`, “Troubleshooting Guide”: The class is local. Or it is excluded.",
        "correctPath": "Make it static. Or write an adapter.",
    }


def test_maven_with_benchmarks_and_examples(tmp_path: Path) -> None:
    """Programs of benchmarks and examples are no entry points, and the parent has the name of the whole."""
    main = "class {} {{ public static void main(String[] a) {{}} }}\n"
    modules = "<modules><module>core</module></modules>"
    files = {
        "pom.xml": f"<project><name>Gson Parent</name><artifactId>p</artifactId>{modules}</project>",
        "core/pom.xml": "<project><artifactId>core</artifactId></project>",
        "core/src/main/java/com/example/App.java": main.format("App"),
        "core/src/main/java/org/gson/examples/Raw.java": main.format("Raw"),
        "core/src/main/java/org/gson/ParseBenchmark.java": main.format("ParseBenchmark"),
    }
    bundle = bundle_of(files, tmp_path)
    assert [entry["path"] for entry in bundle["projectMap"]["entrypoints"]] == [
        "core/src/main/java/com/example/App.java"
    ]
    assert bundle["currentFocus"]["summary"] == "No plan in the repository says what the work on Gson is about."


def test_sources_at_the_root(tmp_path: Path) -> None:
    """Where the work is one file at the root, that is to be read first, and what is for tests is counted as such."""
    files = {
        "Makefile": "test:\n\ttrue\n",
        "parse.c": "/* TODO: more */\nint parse;\n",
        "fuzzing/fuzz.c": "int main(void) { return 0; /* longer than the other file */ }\n",
        "tests/check.c": "int main(void) { return 0; /* longer than the other file */ }\n",
        "tests/inner/more.c": "int more;\n",
        "tests/inner/some.py": "x = 1\n",
    }
    bundle = bundle_of(files, tmp_path)
    assert bundle["projectMap"]["firstFilesToRead"] == ["Makefile", "parse.c"]
    assert "5 source files, 3 of them for tests." in bundle["currentFocus"]["currentState"]
    assert "1 TODO comment in the sources, in `parse.c`." in bundle["currentFocus"]["knownRisks"]
    modules = {module["path"]: module["responsibility"] for module in bundle["projectMap"]["modules"]}
    assert modules["tests"] == "Tests (2 C files and 1 other)."


def test_largest_sources_are_no_tests(tmp_path: Path) -> None:
    """Dense areas count and name sources, not the tests beside them, nor benchmarks."""
    files = {f"lib/{name}.ts": "export {};\n" for name in "abcde"}
    files |= {f"lib/{name}.test.ts": "export {};\n" * 20 for name in "abcde"}
    files |= {f"bench/{name}.ts": "export {};\n" * 90 for name in "abcde"} | {"package.json": '{"name": "lib"}'}
    project_map = bundle_of(files, tmp_path)["projectMap"]
    assert [area["path"] for area in project_map["denseSourceAreas"]] == ["lib"]
    assert project_map["denseSourceAreas"][0]["note"].startswith("5 TypeScript files")
    assert project_map["firstFilesToRead"][:3] == ["package.json", "lib/e.ts", "lib/a.ts"]


_POM = "<project><artifactId>api</artifactId></project>"
_CRATE = '[package]\nname = "crate"\n'
_GO_MOD = "module example.org/service\n\ngo 1.22\n"


@pytest.mark.parametrize(
    ("files", "test", "purpose"),
    [
        ({"packages/web/package.json": '{"scripts": {"test": "mocha"}}'},
         ["npm", "--prefix", "packages/web", "test"], "Runs the script `test` of `packages/web/package.json`."),
        ({"web/package.json": '{"scripts": {"test": "mocha"}}', "web/pnpm-lock.yaml": ""},
         ["pnpm", "--dir", "web", "test"], "Runs the script `test` of `web/package.json`."),
        ({"web/package.json": '{"scripts": {"test": "mocha"}}', "web/yarn.lock": ""},
         ["yarn", "--cwd", "web", "test"], "Runs the script `test` of `web/package.json`."),
        ({"web/package.json": '{"scripts": {"test": "bun test"}}', "web/bun.lock": ""},
         ["bun", "--cwd=web", "run", "test"], "Runs the script `test` of `web/package.json`."),
        ({"package.json": '{"workspaces": ["packages/*"]}', "packages/a/package.json": '{"scripts": {"test": "x"}}',
          "packages/b/package.json": '{"scripts": {"test": "x"}}', "packages/b/index.js": "x\n"},
         ["npm", "--prefix", "packages/b", "test"], "Runs the script `test` of `packages/b/package.json`."),
        ({"service/pyproject.toml": "[tool.pytest.ini_options]\n", "service/tests/test_it.py": "x = 1\n"},
         ["python3", "-m", "pytest", "service"], "Runs the tests of `service`."),
        ({"service/pyproject.toml": "[tool.pytest.ini_options]\n", "service/test_it.py": "", "service/uv.lock": ""},
         ["uv", "run", "--directory", "service", "pytest"], "Runs the tests of `service`."),
        ({"service/pyproject.toml": "", "service/test_it.py": ""},
         ["python3", "-m", "unittest", "discover", "-s", "service"], "Runs the tests of `service`."),
        ({"service/go.mod": _GO_MOD, "service/main.go": "package main\n"},
         ["go", "test", "-C", "service", "./..."], "Builds all and runs the tests."),
        ({"a/Cargo.toml": _CRATE, "b/Cargo.toml": _CRATE, "b/src/lib.rs": "\n"},
         ["cargo", "test", "--manifest-path", "b/Cargo.toml"], "Runs the tests."),
        ({"backend/pom.xml": _POM, "backend/src/main/java/A.java": "class A {}\n", "backend/core/pom.xml": _POM},
         ["mvn", "-f", "backend/pom.xml", "test"], "Builds all and runs the tests."),
        ({"app/build.gradle": "", "app/gradlew": "", "app/src/main/kotlin/A.kt": "fun a() {}\n"},
         ["./app/gradlew", "-p", "app", "test"], "Builds all and runs the tests."),
    ],
)  # fmt: skip
def test_tests_of_a_package_in_a_folder(files: dict[str, str], test: list[str], purpose: str, tmp_path: Path) -> None:
    """Where the root has no tests of its own, those of the fullest package below it are run."""
    commands = bundle_of(files, tmp_path)["validationCommands"]
    assert (commands[0]["command"], commands[0]["purpose"]) == (test, purpose)


def test_scripts_of_the_root_come_first(tmp_path: Path) -> None:
    """A script of the root is run rather than that of a package; a package gives what the root has none for."""
    files = {
        "package.json": '{"workspaces": ["web"], "scripts": {"test": "mocha"}}',
        "web/package.json": '{"scripts": {"test": "mocha", "lint": "eslint ."}}',
        "examples/big/package.json": '{"scripts": {"test": "mocha", "lint": "eslint ."}}',
    }
    commands = bundle_of(files, tmp_path)["validationCommands"]
    assert [one["command"] for one in commands] == [["npm", "test"], ["npm", "--prefix", "web", "run", "lint"]]


_LICENSE = "/*\n  Copyright (c) 2026 The authors\n*/\n"
_PAIR = {
    "README.md": "# tinyjson\n\nReads JSON in one file of C that you put into your own project.\n",
    "CMakeLists.txt": "project(tinyjson C)\n",
    "Makefile": "test: check\n\t./check\n",
    "tinyjson.c": f"{_LICENSE}\n/* tinyjson */\n/* Reads JSON. */\n\n/* no warnings */\n#if 1\n" + "int a;\n" * 9000,
    "tinyjson.h": f"{_LICENSE}\n#ifndef tinyjson__h\n",
    "tinyjson_tools.c": f"{_LICENSE}\n/* disable warnings */\n#ifdef X\n",
    "tinyjson_tools.h": f"{_LICENSE}\n#ifndef tinyjson_tools__h\n",
    "test.c": "int main(void) { return 0; }\n",
    "tests/parse.c": "int main(void) { return 0; }\n" * 9000,
    "fuzzing/fuzz.c": "int main(void) { return 0; }\n" * 9000,
}  # fmt: skip


def test_a_pair_of_source_and_header_at_the_root(tmp_path: Path) -> None:
    """A library that is one source and one header at the root has them as a module, with the header to include."""
    bundle = bundle_of(_PAIR, tmp_path)
    parts = bundle["projectMap"]
    assert parts["modules"][:2] == [
        {"name": "tinyjson", "path": "tinyjson.c", "responsibility": "Reads JSON."},
        {"name": "tinyjson_tools", "path": "tinyjson_tools.c",
         "responsibility": "2 C files with 138 bytes: `tinyjson_tools.c` and `tinyjson_tools.h`."},
    ]  # fmt: skip
    assert [one["path"] for one in parts["modules"][2:]] == ["fuzzing", "tests"]
    assert parts["entrypoints"] == [
        {"path": "tinyjson.h", "role": "The header of `tinyjson`, which programs include."},
        {"path": "tinyjson_tools.h", "role": "The header of `tinyjson_tools`, which programs include."},
    ]
    assert parts["denseSourceAreas"] == [{"path": "tinyjson.c", "note": "1 C file with 62 KB."}]
    assert {"tinyjson.c", "tinyjson.h"} <= set(bundle["project"]["keyPaths"])
    assert parts["firstFilesToRead"][-3:] == ["tinyjson.h", "tinyjson_tools.h", "tinyjson.c"]
    assert "7 source files, 2 of them for tests." in bundle["currentFocus"]["currentState"]


@pytest.mark.parametrize(
    ("files", "modules"),
    [
        ({"Makefile": "", "main.c": "int main(void) {}\n", "list.c": "int a;\n", "list.h": "int a;\n"},
         [("list", "list.c"), ("main.c", "main.c")]),
        ({"only.h": "int a;\n", "CMakeLists.txt": "project(only C)\n"}, [("only", "only.h")]),
        ({"go.mod": _GO_MOD, "main.go": "package main\n", "log.go": "package main\n", "ui/ui.go": "package ui\n" * 9},
         [("service", "main.go"), ("ui", "ui")]),
        ({"bottle.py": "x = 1\n" * 99, "setup.py": "x = 1\n", "conftest.py": "x = 1\n", "docs/conf.py": "x = 1\n"},
         [("bottle", "bottle.py"), ("docs", "docs")]),
        ({"package.json": '{"name": "left"}', "index.js": "1;\n", "gulpfile.js": "1;\n", "test.js": "1;\n" * 9,
          "a.config.js": "1;\n", "index.d.ts": "1;\n"}, [("left", "index.js")]),
        ({"pyproject.toml": "", "src/a.py": "x = 1\n" * 99, "run.py": "x = 1\n"}, [("src", "src")]),
        ({"a.sh": "true\n", "b.py": "x = 1\n", "c.py": "x = 1\n", "empty.py": ""}, [("b", "b.py"), ("c", "c.py")]),
    ],
)  # fmt: skip
def test_modules_at_the_root(files: dict[str, str], modules: list[tuple[str, str]], tmp_path: Path) -> None:
    """What lies at the root is a module where it is the work: no settings, no tests, no script beside a full folder."""
    found = bundle_of(files, tmp_path)["projectMap"]
    assert [(one["name"], one["path"]) for one in found["modules"]] == modules
    headers = [entry["path"] for entry in found["entrypoints"] if entry["path"].endswith(".h")]
    assert headers == (["only.h"] if "only.h" in files else [])


def test_parts_at_the_root_leave_out_the_smallest_folders(tmp_path: Path) -> None:
    """Where there are more parts than a map holds, those at the root and the fullest folders stay."""
    files = {"CMakeLists.txt": "project(many C)\n", "core.c": "int a;\n" * 999, "core.h": "int a;\n"}
    files |= {f"p{number:02}/{name}.c": "int a;\n" for number in range(20) for name in "abcdef"[: 1 + number // 4]}
    modules = [one["path"] for one in bundle_of(files, tmp_path)["projectMap"]["modules"]]
    assert modules == ["core.c", *(f"p{number:02}" for number in (*range(4, 7), *range(8, 20)))]
