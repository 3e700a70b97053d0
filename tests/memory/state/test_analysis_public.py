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
