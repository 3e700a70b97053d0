"""What `state init` and `state update` say of a repository: true tomorrow, from where the project itself says it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.contract.place import Place

README = "# Kiln\n\nKiln plans the firing of pots.\n"
NODE = '{"name": "kiln", "scripts": {%s}}'


def made(place: Place, files: dict[str, str], *words: str) -> dict[str, Any]:
    """Write files, make the state, and return its bundle."""
    for path, text in files.items():
        place.write(path, text)
    answer = place("state", *(words or ("init",)))
    assert answer.code == 0, answer
    bundle: dict[str, Any] = place.json("state", "show")["bundle"]
    return bundle


def git(folder: Path, *words: str, cwd: Path | None = None) -> None:
    """Run git with a person's name."""
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=cwd or folder, check=True, capture_output=True)


def commands(bundle: dict[str, Any]) -> dict[str, list[str]]:
    """Return the validation commands by label."""
    return {one["label"]: one["command"] for one in bundle["validationCommands"]}


# -- what it is -----------------------------------------------------------------------------------------------------


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize(
    ("files", "summary"),
    [
        ({"package.json": '{"name": "kiln", "description": "Plans the firing of pots in small shared workshops"}',
          "README.md": "# Kiln\n\nTired of cracked pots?\n"}, "Plans the firing of pots in small shared workshops."),
        ({"pyproject.toml": '[project]\nname = "kiln"\ndescription = "Fires pots"\n', "README.md": README},
         "Fires pots. Kiln plans the firing of pots."),
        ({"pyproject.toml": '[project]\nname = "kiln"\ndescription = "A planner for kiln firings"\n',
          "README.md": "# Kiln\n\nKiln is a planner for firings in a kiln.\n"},
         "Kiln is a planner for firings in a kiln."),
        ({"package.json": '{"name": "kiln", "description": "Pots for all"}',
          "README.md": "# Kiln\n\nPots for all\n\nKiln fires pots in your garage.\n"},
         "Pots for all. Kiln fires pots in your garage."),
        ({"Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n', "crates/kiln/src/lib.rs": "pub mod a;\n",
          "crates/kiln/Cargo.toml": '[package]\nname = "kiln"\ndescription = "A planner for kilns that many share"\n'},
         "A planner for kilns that many share."),
        ({"go.mod": "module example.org/kiln\n", "main.go": "package main\n",
          "readme.md": "# Kiln\n\nYou need Go 1.22.\n\nHow can you fire a pot?\n\nKiln plans the firing of pots.\n"},
         "Kiln plans the firing of pots."),
        ({"README.rst": "Kiln\n====\n\n.. image:: kiln.png\n\nKiln plans the firing of pots.\n\nUse\n~~~\n\nRun it.\n"},
         "Kiln plans the firing of pots."),
        ({"README.md": '<h1>Kiln</h1>\n<p align="center">Kiln plans the firing of pots.</p>\n\nUse it.\n'},
         "Kiln plans the firing of pots."),
        ({"README.md": "# Kiln\n\n> [!IMPORTANT]\n> This branch is of 2.0.\n\nKiln fires all pots at once.\n"},
         "Kiln fires all pots at once."),
        ({"README.md": "# Kiln\n\nKiln plans the firing of pots. It provides:\n\n- Fire\n"},
         "Kiln plans the firing of pots."),
        ({"README.md": "# Kiln\n\nThis is a continuation of the old oven.\n\n## Breaking changes\n\n"
          "The oven no longer is a pot.\n\n## Overview\n\nWhen pots crack, it is late.\n\n"
          "Kiln is a planner of firings for many.\n"}, "Kiln is a planner of firings for many."),
        ({"setup.py": "NAME = 'kiln'\nDESCRIPTION = 'Plans the firing of pots in small shared workshops'\n\n"
          "class Upload(Command):\n    name = 'up'\n    description = 'Publishes it.'\n\nsetup(name=NAME)\n"},
         "Plans the firing of pots in small shared workshops."),
        ({"kiln.gemspec": "Gem::Specification.new do |s|\n  s.summary = 'Plans the firing and ' \\\n"
          "    'cooling of pots.'\n"},
         "Plans the firing and cooling of pots."),
    ],
    ids=["manifest", "short manifest and README", "said twice", "a line above", "main package", "no question",
         "reStructuredText", "HTML", "no alert", "no list", "no history", "setup.py", "a string on two lines"],
)  # fmt: skip
def test_it_says_what_the_project_is(place: Place, files: dict[str, str], summary: str) -> None:
    """The manifest's own description comes first, then the first real sentence of the README."""
    assert made(place, files)["project"]["summary"] == summary


def test_the_name_is_that_of_the_project(place: Place) -> None:
    """The name of an index in a Pipfile is none."""
    pipfile = '[[source]]\nname = "pypi"\n\n[packages]\nclay = "*"\n'
    bundle = made(place, {"Pipfile": pipfile, "setup.py": "NAME = 'kiln'\nsetup(name=NAME)\n", "kiln.py": "x = 1\n"})
    assert bundle["project"]["name"] == "kiln"


def test_a_readme_may_be_a_link_to_that_of_a_package(place: Place) -> None:
    """A README behind a link inside is read; the entry block goes into it, and into no new file beside it."""
    place.write("packages/kiln/README.md", README)
    (place.work / "README.md").symlink_to("packages/kiln/README.md")
    bundle = made(place, {"package.json": '{"name": "root", "private": true}'})
    assert bundle["project"]["summary"] == "Kiln plans the firing of pots."
    assert b"agent-memory:entry" in place.read("packages/kiln/README.md")
    assert not (place.work / "AGENTS.md").exists()
    assert place("state", "validate").code == 0


# -- commands -------------------------------------------------------------------------------------------------------


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"AGENTS.md": "# Agents\n\nRun:\n\n```sh\nuv run pytest -q\n```\n", "Makefile": "test:\n\ttrue\n"},
         {"Test": ["uv", "run", "pytest", "-q"]}),
        ({"package.json": NODE % '"test": "vitest", "lint": "eslint --fix .", "lint:check": "eslint ."'},
         {"Test": ["npm", "test", "--", "--run"], "Lint": ["npm", "run", "lint:check"]}),
        ({"package.json": NODE % '"test": "vitest --watch", "test:unit": "vitest run"', "pnpm-lock.yaml": ""},
         {"Test": ["pnpm", "test:unit"]}),
        ({"Cargo.toml": '[package]\nname = "kiln"\n', "src/lib.rs": "pub mod a;\n",
          ".github/workflows/ci.yml": "env:\n  CARGO: cargo\njobs:\n  a:\n    steps:\n"
          "    - run: ${{ env.CARGO }} test --workspace\n"
          "    - run: |\n        cargo fmt --all\n        cargo clippy -- -D warnings\n"},
         {"Test": ["cargo", "test", "--workspace"], "Lint": ["cargo", "clippy", "--", "-D", "warnings"]}),
        ({"Makefile": "test:\n\t./run\nlint:\n\truff check --fix .\ncheck:\n\truff check .\n", "a.py": "x = 1\n"},
         {"Test": ["make", "test"], "Lint": ["make", "check"]}),
        ({"justfile": "test:\n    cargo test\n", "Cargo.toml": '[package]\nname = "kiln"\n', "src/lib.rs": "x\n"},
         {"Test": ["just", "test"]}),
        ({"Taskfile.yml": "version: '3'\ntasks:\n  test:\n    cmds:\n      - go test ./...\n", "a.go": "package a\n"},
         {"Test": ["task", "test"]}),
        ({"tox.ini": "[tox]\n", "setup.py": "setup(name='kiln')\n"}, {"Test": ["tox"]}),
        ({"CONTRIBUTING.md": "# C\n\nRun `npm test`.\n", "package.json": NODE % '"test": "mocha"',
          "pnpm-lock.yaml": ""}, {"Test": ["pnpm", "test"]}),
        ({"setup.py": "setup(name='kiln')\n", "kiln.py": "x = 1\n", "tests/test_a.py": "import pytest\n"},
         {"Test": ["pytest"]}),
        ({"go.mod": "module example.org/kiln\n", "a.go": "package a\n"}, {"Test": ["go", "test", "./..."]}),
        ({"go.mod": "module example.org/kiln\n", "a.go": "package a\n", "Makefile": "all:\n\ttrue\n",
          ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - run: make\n    - run: rubocop\n"},
         {"Lint": None, "Build": None}),
        ({"configure.ac": "AC_INIT([kiln],[1.0])\n", "Makefile.am": "TESTS = a\n",
          "src/main.c": "int main() {}\n"}, {"Test": ["make", "check"]}),
        ({"composer.json": '{"name": "kiln/kiln", "scripts": {"test": ["@php artisan test"], "lint": ["pint"]}}',
          "phpunit.xml": "<phpunit/>\n", "app/A.php": "<?php\n"},
         {"Test": ["composer", "run-script", "test"], "Lint": ["composer", "run-script", "lint"]}),
        ({"composer.json": '{"name": "kiln/kiln"}', "src/A.php": "<?php\n", "Makefile": "test:\n\tphpunit\n",
          ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n"
          "    - run: vendor/bin/phpunit --testsuite \"All pots\"\n"},
         {"Test": ["vendor/bin/phpunit", "--testsuite", "All pots"]}),
        ({"kiln.c": "int main() {}\n", "CMakeLists.txt": "project(kiln)\n", "tests/SConstruct": "\n",
          ".github/workflows/ios_tests.yml": "jobs:\n  a:\n    steps:\n    - run: swift build\n",
          ".github/workflows/ci.yml": "on: push\n",
          "README.md": "Kiln\n====\n\nRunning the tests\n-----------------\nRun:\n\n    cd tests\n    scons\n"},
         {"Test": ["scons", "-C", "tests"], "Build": None}),
    ],
    ids=["AGENTS.md", "no fix, no watch", "another script", "CI", "make", "just", "task", "tox", "manager", "pytest",
         "convention", "tools of another ecosystem", "autotools", "steps of a script", "quotes",
         "other files"],
)  # fmt: skip
def test_commands_come_from_where_the_project_says_them(
    place: Place, files: dict[str, str], expected: dict[str, list[str]]
) -> None:
    """The guides come first, then CI, scripts, make and its like, convention; none rewrites sources or watches."""
    found = commands(made(place, files))
    assert {label: found.get(label) for label in expected} == expected


def test_each_command_names_its_source(place: Place) -> None:
    """Tests and lint are what `validate --run` runs; type check and build are notes; each says where it is from."""
    scripts = '"test": "mocha", "lint": "eslint .", "typecheck": "tsc --noEmit", "build": "tsc"'
    bundle = made(place, {"package.json": NODE % scripts, "index.js": "1;\n"})
    assert [one["purpose"].partition("; ")[2] for one in bundle["validationCommands"]] == ["from `package.json`."] * 2
    notes = bundle["projectMap"]["architectureNotes"]
    assert "Types: `npm run typecheck` (from `package.json`)." in notes
    assert "Build: `npm run build` (from `package.json`)." in notes


@pytest.mark.parametrize(
    ("scripts", "words", "source"),
    [
        ('"test:unit": "run-p test:vitest:min", "test:vitest:min": "vitest run"', "npm run test:unit", "from"),
        ('"test:unit": "vitest"', "npm run test:unit -- --run", "usual with"),
    ],
)
def test_a_command_with_words_added_is_not_from_the_file(place: Place, scripts: str, words: str, source: str) -> None:
    """What is told as from a file is what the file says."""
    ci = "jobs:\n  a:\n    steps:\n    - run: npm run test:unit\n"
    bundle = made(place, {"package.json": NODE % scripts, ".github/workflows/build-test.yml": ci})
    found = bundle["validationCommands"][0]
    assert " ".join(found["command"]) == words
    assert found["purpose"].endswith(f"; {source} `.github/workflows/build-test.yml`.")


@pytest.mark.parametrize(
    ("files", "notes"),
    [
        ({"package.json": NODE % '"test": "mocha"', "pnpm-lock.yaml": "",
          ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - run: pnpm install --frozen-lockfile\n"},
         ["Set up: `pnpm install --frozen-lockfile` (from `.github/workflows/ci.yml`)."]),
        ({"package.json": NODE % '"test": "mocha"', "package-lock.json": "{}"},
         ["Set up: `npm ci` (usual with `package-lock.json`)."]),
        ({"composer.json": '{"name": "kiln/kiln"}', "CONTRIBUTING.md": "# C\n\nRun `composer install` first.\n"},
         ["From `CONTRIBUTING.md`, “C”: `composer install`."]),
        ({"mix.exs": "app: :kiln\n"}, ["Set up: `mix deps.get` (usual with `mix.exs`)."]),
        ({"pyproject.toml": '[project]\nname = "kiln"\n[tool.mypy]\n[tool.ruff]\n', "uv.lock": "",
          "tox.ini": "[tox]\n",
          ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - run: >\n        uv run tox run\n"
          "        -f typing\n\n  b:\n    steps: []\n"},
         ["Set up: `uv sync` (usual with `uv.lock`).",
          "Types: `uv run tox run -f typing` (from `.github/workflows/ci.yml`)."]),
        ({"CMakeLists.txt": "project(kiln)\nenable_testing()\n", "kiln.c": "int main() {}\n",
          ".github/workflows/ubuntu.yml": "jobs:\n  a:\n    steps:\n    - run: cmake -S . -B build -DTESTS=On\n"
          "    - run: ctest\n", ".github/workflows/labeler.yml": "jobs:\n",
          ".github/workflows/windows.yml": "jobs:\n  a:\n    steps:\n    - run: ctest -C Debug\n"},
         ["Set up: `cmake -S . -B build -DTESTS=On` (from `.github/workflows/ubuntu.yml`).",
          "Continuous integration is GitHub Actions: `.github/workflows/ubuntu.yml`,"
          " `.github/workflows/windows.yml`."]),
        ({"go.mod": "module example.org/kiln\n", "a.go": "package a\n", "gcs/go.mod": "module example.org/kiln/gcs\n",
          "gcs/a.go": "package gcs\n"},
         ["Test: `go test ./...` (usual with `go.mod`)."]),
        ({"pom.xml": "<project><name>kiln</name><build><rules><requireJavaVersion><!-- 17 --><version>[17,22)</version>"
          "</requireJavaVersion></rules></build></project>"}, ["Is built with Java [17,22) (Maven's enforcer)."]),
        ({"composer.json": '{"name": "kiln/kiln"}', "phpunit.xml": "<phpunit/>\n", ".github/workflows/static.yml":
          "jobs:\n  a:\n    steps:\n    - run: vendor/bin/phpstan analyze\n"
          "    - run: vendor/bin/php-cs-fixer fix --dry-run\n"},
         ["Format: `vendor/bin/php-cs-fixer fix --dry-run` (from `.github/workflows/static.yml`).",
          "Continuous integration is GitHub Actions: `.github/workflows/static.yml`."]),
        ({"CMakeLists.txt": "project(kiln)\nset(CMAKE_CXX_STANDARD 17)\n", "kiln.cpp": "int main() {}\n",
          ".gitignore": ".*\n", ".github/workflows/cmake.yml": "env:\n  KIND: Release\njobs:\n  a:\n    steps:\n"
          "    - run: cmake -S \"${{github.workspace}}\" -B \"${{github.workspace}}/build\" -DCMAKE_BUILD_TYPE=$KIND\n"
          "    - run: ctest\n"},
         ["Set up: `cmake -S . -B build -DCMAKE_BUILD_TYPE=Release` (from `.github/workflows/cmake.yml`).",
          "Compiles as C++17."]),
        ({"Cargo.toml": '[package]\nname = "kiln"\n', "src/lib.rs": "x\n", ".github/workflows/ci.yml":
          "jobs:\n  a:\n    steps:\n    - run: cargo fmt --check\n    - run: cargo build\n"
          "    - run: cargo clippy -- -Dclippy::all\n"},
         ["Format: `cargo fmt --check` (from `.github/workflows/ci.yml`)."]),
        ({"Package.swift": "// swift-tools-version:6.2\n"}, ["`Package.swift` is for Swift 6.2 or newer."]),
        ({"pom.xml": "<project><maven.compiler.source>1.8</maven.compiler.source></project>"},
         ["Compiles for Java 1.8."]),
        ({"package.json": '{"name": "kiln", "volta": {"node": "20.19.1"}}'},
         ["Is developed with Node.js 20.19.1 (Volta)."]),
        ({f"pots/{name}/pubspec.yaml": f"name: {name}\ndescription: Pots\nenvironment:\n  sdk: {sdk}\n"
          for name, sdk in (("ash", "^3.4.0"), ("clay", "^3.4.0"), ("glaze", "^3.7.0 # new"))},
         ["Needs Dart ^3.4.0 (`pots/ash`, `pots/clay`), ^3.7.0 (`pots/glaze`)."]),
        ({"kiln/kiln.csproj": "<TargetFrameworks>net472;net8.0</TargetFrameworks>", "kiln/A.cs": "class A {}\n",
          "Kiln.Tests/Kiln.Tests.csproj": "<TargetFramework>net9.0</TargetFramework>"},
         ["Targets net472, net8.0 (`kiln`); net9.0 (`Kiln.Tests`)."]),
        ({"pom.xml": "<project/>", "A.java": "class A {}\n",
          "README.md": "# Kiln\n\n- Versions up to 1.3 require JDK 6\n- Versions 1.4 and above require JDK 8\n"},
         ["Needs JDK 8 (`README.md`: “Versions 1.4 and above require JDK 8”)."]),
        ({"CMakeLists.txt": "project(kiln)\n", "kiln.cpp": "int main() {}\n", "AGENTS.md": "# A\n\n```bash\ncmake "
          "--preset dev\ncmake --build --preset dev\nctest --preset dev\nctest --preset dev -R Ash\n```\n",
          ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - run: ctest --test-dir build -L Packaging\n"},
         ["Test: `ctest --preset dev` (from `AGENTS.md`).", "Build: `cmake --build --preset dev` (from `AGENTS.md`).",
          "Single test: `ctest --preset dev -R Ash` (from `AGENTS.md`)."]),
        ({"Cargo.toml": '[package]\nname = "kiln"\n', "src/lib.rs": "x\n", ".github/workflows/ci.yml":
          "jobs:\n  a:\n    steps:\n    - run: cargo test --locked\n    - run: cargo test --features ash\n"
          "      env:\n        RUSTFLAGS: --cfg kiln\n"},
         ["Test: `cargo test` (from `.github/workflows/ci.yml`).",
          'CI also runs `RUSTFLAGS="--cfg kiln" cargo test --features ash` (from `.github/workflows/ci.yml`).']),
        ({"kiln.csproj": "<Project/>", "build": "true\n",
          "BUILDING.md": "# B\n\n1. This command will build the code and run all tests:\n\n    `./build`\n"},
         ["Test: `./build` (from `BUILDING.md`).", "Build: `./build` (from `BUILDING.md`)."]),
        ({"package.json": NODE % '"test": "mocha"', "kiln.py": "x = 1\n", "CONTRIBUTING.md": "# C\n\n    $ uv venv\n"
          "    $ uv pip install -e .\n    $ uv run pytest\n\nor\n\n```sh\nuv run mkdocs build\n```\n"},
         ["From `CONTRIBUTING.md`, “C”: `uv venv`, `uv pip install -e .`, `uv run pytest`, `uv run mkdocs build`."]),
    ],
    ids=["CI", "lock file", "guide", "usual", "lines of one step", "CMake", "Go modules", "enforcer",
         "analysis in CI", "ignored by git", "Cargo", "Swift", "Maven", "Volta", "packages", "tests of .NET",
         "README", "presets", "variables of a step", "all in one", "order"],
)  # fmt: skip
def test_it_says_what_is_needed_before_the_tests(place: Place, files: dict[str, str], notes: list[str]) -> None:
    """The set-up step, the settings that run tests, and modules of their own are told."""
    bundle = made(place, files)
    told = [(one["label"], " ".join(one["command"]), one["purpose"]) for one in bundle["validationCommands"]]
    found = [f"{label}: `{words}` ({purpose.partition('; ')[2][:-1]})." for label, words, purpose in told]
    found += bundle["projectMap"]["architectureNotes"]
    assert [one for one in notes if one not in found] == [], found


@pytest.mark.parametrize(
    ("run", "one"),
    [
        ("python -m pytest -q", "python -m pytest tests/test_kiln.py -k name"),
        ("make test", "pytest tests/test_kiln.py -k name"),
        ("tox", None),
    ],
)
def test_one_test_is_run_as_all_are(place: Place, run: str, one: str | None) -> None:
    """The tool that the project runs, itself or by a script or target, tells how one test is run."""
    files = {"kiln.py": "x = 1\n", "Makefile": "test:\n\tpytest\n", "tox.ini": "[testenv]\ncommands = pytest\n"}
    files["tests/test_kiln.py"] = "x = 1\n"
    ci = f"jobs:\n  a:\n    steps:\n    - run: {run}\n"
    notes = made(place, {**files, ".github/workflows/ci.yml": ci})["projectMap"]["architectureNotes"]
    assert [note for note in notes if note.startswith("Single test")] == (
        [f"Single test: `{one}` (usual)."] if one else []
    )


def test_one_test_is_a_file_that_the_runner_takes(place: Place) -> None:
    """A file that the patterns of the script leave out, or that another program runs, is no example."""
    script = '"test": "mocha ./test/*.mjs --require ./test/before.mjs"'
    files = {"package.json": NODE % script, "test/deno/kiln.test.ts": "Deno.test('kiln', () => {});\n"}
    files |= {"test/long.mjs": "import test from 'node:test';\n" * 9, "test/kiln.mjs": "it('fires');\n"}
    notes = made(place, files)["projectMap"]["architectureNotes"]
    assert "Single test: `npx mocha --require ./test/before.mjs test/kiln.mjs` (usual)." in notes


def test_what_else_ci_checks_is_told(place: Place) -> None:
    """Other tests, scripts of the project and generators that CI runs are commands; alternatives are none."""
    runs = ("./.ci.fmt.sh", "bundle exec rake spec", "bundle exec rake glaze_spec", "bundle exec rake publish", "ls")
    ci = "jobs:\n  a:\n    steps:\n" + "".join(f"    - run: {line}\n" for line in runs)
    inside = "    - run: |\n        cd tests\n        ./unittest.sh\n"
    files = {".ci.fmt.sh": "true\n", "tests/unittest.sh": "true\n", "kiln.gemspec": 'name = "kiln"\n'}
    files |= {".github/workflows/ci.yml": ci + inside, "CONTRIBUTING.md": "# C\n\nRun `rake log:new|fix`.\n"}
    notes = made(place, files)["projectMap"]["architectureNotes"]
    where = "(from `.github/workflows/ci.yml`)."
    assert f"CI also runs `./.ci.fmt.sh`, `bundle exec rake glaze_spec` {where}" in notes
    assert f"In `tests` CI runs `./unittest.sh` {where}" in notes
    assert "|fix" not in repr(notes)


@pytest.mark.parametrize("source", [".github/workflows/ci.yml", "README.md", "CONTRIBUTING.md"])
def test_commands_in_a_folder_are_told_for_the_root(place: Place, source: str) -> None:
    """What CMake and its tests run after `cd build` is told with the folder; what is not known of it is left out."""
    script = "mkdir build && cd build\ncmake .. \\\n  -DTESTS=ON\nmake -j2\nctest -j2\n"
    lines = "".join(f"        {line}\n" for line in script.splitlines())
    text = f"# Kiln\n\n## Running the tests\n\n```sh\n{script}```\n"
    ci = f"jobs:\n  a:\n    steps:\n    - run: |\n{lines}"
    files = {"CMakeLists.txt": "project(kiln)\n", "kiln.c": "int main() {}\n"}
    bundle = made(place, {**files, source: ci if source.endswith("yml") else text})
    assert commands(bundle)["Test"] == ["ctest", "--test-dir", "build", "-j2"]
    notes = [note for note in bundle["projectMap"]["architectureNotes"] if source in note]
    assert "`cmake -S . -B build -DTESTS=ON`" in notes[0]


def test_it_says_what_ci_runs_the_tests_on(place: Place) -> None:
    """Versions and services of the job that runs the tests are told, and what of the project it runs before them."""
    ci = (
        "jobs:\n  a:\n    runs-on: ${{ matrix.os }}\n    services:\n      postgres: {image: postgres}\n"
        "    strategy:\n      matrix:\n        os: [ubuntu-latest, macos-latest]\n        quick: [true]\n"
        "        include:\n        - python: '3.12'\n        - python: '3.13'\n    steps:\n"
        "    - run: sudo apt-get update\n    - run: sudo apt-get install -y libclay-dev\n"
        "    - run: ./start.sh &\n    - run: brew install clay\n      if: runner.os == 'macOS'\n"
        "    - run: pytest -q\n      working-directory: wheel\n    - run: pytest --durations=9\n"
    )
    files = {"setup.py": "setup(name='kiln')\n", "kiln.py": "x = 1\n", ".github/workflows/ci.yml": ci}
    files["start.sh"] = "sleep 9\n"
    bundle = made(place, files)
    assert commands(bundle)["Test"] == ["pytest", "--durations=9"]
    assert bundle["projectMap"]["architectureNotes"][1:-1] == [
        "CI tests with python 3.12, 3.13 (`.github/workflows/ci.yml`).",
        "The tests in CI use the services `postgres`.",
        "Before the tests CI runs `sudo apt-get install -y libclay-dev`, `./start.sh &`"
        " (from `.github/workflows/ci.yml`).",
    ]


def test_what_ci_runs_in_folders_is_told_where_nothing_runs_at_the_root(place: Place) -> None:
    """In a repository of many packages the commands in their folders are the ones to know."""
    ci = "defaults:\n  run:\n    working-directory: pots/kiln\njobs:\n  a:\n    steps:\n    - run: dart test\n"
    files = {"pots/kiln/pubspec.yaml": "name: kiln\n", "pots/kiln/lib/kiln.dart": "x\n"}
    notes = made(place, {**files, ".github/workflows/kiln.yml": ci})["projectMap"]["architectureNotes"]
    assert notes[0] == "In `pots/kiln` CI runs `dart test` (from `.github/workflows/kiln.yml`)."


def test_each_gitignore_counts(place: Place) -> None:
    """The rules of a folder leave out what is below it only."""
    files = {
        "src/a/.gitignore": "mod.rs\n",
        "src/a/mod.rs": "//! Makes all.\n",
        "src/b/mod.rs": "//! Makes all pots.\n",
    }
    assert {one["path"] for one in made(place, files)["projectMap"]["modules"]} == {"src/b"}


def test_what_ci_uses_is_not_replaced_by_what_is_usual(place: Place) -> None:
    """A linter that runs as an action is told as the linter."""
    ci = "jobs:\n  a:\n    steps:\n    - uses: golangci/golangci-lint-action@v9\n"
    files = {"go.mod": "module example.org/kiln\n", "a.go": "package a\n", ".github/workflows/ci.yml": ci}
    assert commands(made(place, files))["Lint"] == ["golangci-lint", "run"]


# -- focus ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("CHANGELOG.md", "# C\n\n## [Unreleased]\n\n### Added\n\n- Fire two kilns at once\n\n## 1.0\n\n- First\n"),
        ("CHANGES.md", "## Version 2.0\n\nUnreleased\n\n- Fire two kilns at once\n\n## Version 1.0\n\n- First\n"),
        ("CHANGES.rst", "C\n=\n\n2.0 (unreleased)\n----\n\n- Fire two kilns at once\n\n1.0\n---\n\n- First\n"),
        ("web/a/CHANGELOG.md", "# C\n\n## Unreleased\n\n- Fire two kilns at once\n\n## 1.0\n\n- First\n"),
        ("CHANGELOG.md", "TBD\n===\n- Fire two kilns at once\n\n1.0 (2026-01-01)\n================\n- First\n"),
        ("CHANGELOG.md", "# C\n\n## Unreleased\n\n- Kilns:\n  - Fire two kilns at once (#12)\n\n## 1.0\n\n- First\n"),
        ("release-notes/VERSION-2.x", "Project: K\n\n----\n=== Releases ===\n----\n\n2.1.0 (not yet released)\n\n"
         "#12: Fire two kilns at once\n\n2.0.0 (today)\n\n#11: First\n"),
        (".changeset/warm-pots-fire.md", '---\n"kiln": minor\n---\n\nFire two kilns at once\n'),
        ("newsfragments/12.feature.rst", "Fire two kilns at once\n"),
    ],
)  # fmt: skip
def test_what_is_not_released_is_quoted(place: Place, path: str, text: str) -> None:
    """The unreleased section is found in all usual forms, and quoted."""
    package = {"package.json": '{"name": "kiln", "workspaces": ["web/*"]}', "web/a/package.json": '{"name": "a"}'}
    focus = made(place, {path: text, **package, "web/a/index.js": "1;\n"})["currentFocus"]
    assert focus["summary"].startswith("Work is on the next release: `")
    assert "Not released yet: Fire two kilns at once." in focus["currentState"]
    assert "First" not in repr(focus)


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"Cargo.toml": '[workspace]\nmembers = ["kiln"]\n', "kiln/Cargo.toml": '[package]\nname = "kiln"\n',
          "kiln/src/lib.rs": "x\n", "kiln/CHANGELOG.md": "# Unreleased\n\n- Fire two kilns at once\n"},
         "kiln/CHANGELOG.md"),
        ({"mix.exs": 'defmodule K do\n  @version "1.9.0-dev"\n  app: :kiln\nend\n',
          "CHANGELOG.md": "# Changelog for v1.9\n\n## Enhancements\n\n- Fire two kilns at once\n"}, "CHANGELOG.md"),
    ],
    ids=["of the main package", "of the version in the manifest"],
)  # fmt: skip
def test_a_change_log_is_that_of_the_main_package(place: Place, files: dict[str, str], path: str) -> None:
    """The change log of the main package counts, and the section of a version that its manifest calls unfinished."""
    focus = made(place, files)["currentFocus"]
    assert focus["summary"].startswith(f"Work is on the next release: `{path}`")
    assert "Not released yet: Fire two kilns at once." in focus["currentState"]


def test_commits_since_the_last_tag_are_the_focus(place: Place) -> None:
    """Without an unreleased section the commits after the last tag are counted, and the main ones quoted, features
    first: no bots, no chores; those of the memory itself do not count.
    """
    git(place.work, "init")
    subjects = ("First", "feat: glaze pots", "Fire two kilns (#12)", "chore: dry", "Fire two kilns (#13)", "Cool")
    for number, subject in enumerate(subjects):
        place.write("kiln.py", f"x = {number}\n")
        git(place.work, "add", ".", cwd=place.work)
        git(place.work, "commit", "-m", subject, cwd=place.work)
        if not number:
            git(place.work, "tag", "v1.0", cwd=place.work)
    git(place.work, "tag", "part/v9.0", cwd=place.work)
    focus = made(place, {})["currentFocus"]
    assert focus["summary"] == "HEAD has 5 commits more than the tag `v1.0`, merges not counted."
    assert focus["currentState"] == ["Since v1.0: feat: glaze pots.", "Since v1.0: Fire two kilns."]
    git(place.work, "add", ".", cwd=place.work)
    git(place.work, "commit", "-m", "Add the memory of it", cwd=place.work)
    assert made(place, {}, "update")["currentFocus"] == focus


def test_the_unreleased_changes_of_packages_are_told_of_each(place: Place) -> None:
    """Each package of a workspace has a line of its own."""
    files = {"package.json": '{"name": "kiln", "private": true, "workspaces": ["web/*"]}'}
    for name in "ab":
        files |= {f"web/{name}/package.json": f'{{"name": "{name}"}}', f"web/{name}/index.js": "1;\n"}
        files[f"web/{name}/CHANGELOG.md"] = f"# C\n\n## 1.0-wip\n\n- Fire {name} pots\n- Cool\n\n## 0.9\n\n- First\n"
    focus = made(place, files)["currentFocus"]
    assert focus["summary"] == "Work is on the next releases of several packages."
    assert focus["currentState"] == [
        f"Not released yet: `web/{name}/CHANGELOG.md`, “1.0-wip”: Fire {name} pots. Cool." for name in "ab"
    ]


def test_a_tag_tells_what_is_released(place: Place) -> None:
    """At a tag nothing is unreleased; one commit is told, whatever it changes; a first version above it is not out."""
    git(place.work, "init")
    summaries = []
    for path, text in (
        ("kiln.py", "x = 1\n"),
        ("docs/kiln.md", "x\n"),
        ("CHANGES", "CHANGES FROM 1 TO 1.1\n\n* Cool\n"),
    ):
        place.write(path, text)
        git(place.work, "add", path, cwd=place.work)
        git(place.work, "commit", "-m", "Fire two kilns", cwd=place.work)
        if path == "kiln.py":
            git(place.work, "tag", "v1.0", cwd=place.work)
        summaries.append(made(place, {}, "update" if summaries else "init")["currentFocus"]["summary"])
    assert summaries == [
        "HEAD is at the tag `v1.0`: nothing is unreleased.", "HEAD has 1 commit more than the tag `v1.0`.",
        "Work is on the next release: `CHANGES`, “CHANGES FROM 1 TO 1.1”, lists its changes.",
    ]  # fmt: skip


def test_where_nothing_is_known_it_says_so_once(place: Place) -> None:
    """A repository without plans has a short page, without empty sections."""
    made(place, {"README.md": README})
    page = place.read("docs/agent-memory/current-focus.md").decode()
    assert (
        page.count("No unreleased section and no plan was found; `memdeck state status` shows the last commits.") == 1
    )
    assert "recorded" not in page
    assert "Known risks" not in page
    assert b"current-focus" not in place.read("README.md") + place.read("docs/agent-memory/README.md")


def test_init_says_which_file_git_ignores(place: Place) -> None:
    """Where git ignores the file of the entry block, another has it, and init says so."""
    git(place.work, "init")
    place.write(".gitignore", "AGENTS.md\n")
    place.write("AGENTS.md", "Mine.\n")
    assert "git ignores AGENTS.md, so CLAUDE.md has the entry block" in place("state", "init").out


def test_a_rule_of_git_that_hides_the_pages_is_told(place: Place) -> None:
    """`init` names the line of `.gitignore` that leaves out the pages, and `validate` warns of it."""
    place.write(".gitignore", "*.log\ndocs/\n")
    place.write("kiln.py", "x = 1\n")
    assert ".gitignore, line 2: git ignores `docs/agent-memory` by `docs/`" in place("state", "init").out
    answer = place.json("state", "validate")
    assert [(one["code"], one["line"]) for one in answer["findings"] if one["file"] == ".gitignore"] == [
        ("projection:ignored", 2)
    ]  # fmt: skip


def test_the_pages_say_only_what_is_there(place: Place) -> None:
    """They say what memdeck is; a sentence about the documentation does not say what the project is."""
    text = "# Kiln\n\nKiln plans the firing of pots. This documentation will show how. Fire now!\n"
    assert made(place, {"README.md": text})["project"]["summary"] == "Kiln plans the firing of pots."
    page = place.read("docs/agent-memory/README.md").decode()
    assert "memdeck, a program for the terminal" in page
    assert "risks" not in page


def test_a_commit_makes_nothing_stale(place: Place) -> None:
    """No branch and no commit is in the files: a commit of the memory changes no word; `status` shows them."""
    git(place.work, "init")
    for path, text in {"README.md": README, "kiln.py": "x = 1\n"}.items():
        place.write(path, text)
    git(place.work, "add", ".", cwd=place.work)
    git(place.work, "commit", "-m", "Fire the first pot", cwd=place.work)
    git(place.work, "clone", ".", "../clone", cwd=place.work)
    there = place.top / "clone"
    assert place("state", "init", folder=there).code == 0
    before = {path: path.read_bytes() for path in sorted((there / "docs").rglob("*.md"))}
    assert b"Fire the first pot" not in b"".join(before.values())
    git(there, "checkout", "-b", "next")
    git(there, "add", ".")
    git(there, "commit", "-m", "Add the memory")
    assert place("state", "update", folder=there).code == 0
    assert {path: path.read_bytes() for path in sorted((there / "docs").rglob("*.md"))} == before
    work = place.json("state", "status", folder=there)["work"]
    assert work == {"branch": "next", "commits": ["Add the memory", "Fire the first pot"]}


def test_git_runs_nothing_that_a_repository_names(place: Place) -> None:
    """Settings of a repository that name programs are not used."""
    git(place.work, "init")
    made(place, {"kiln.py": "x = 1\n", ".gitattributes": "* filter=x diff=x\n"})
    git(place.work, "add", ".", cwd=place.work)
    git(place.work, "commit", "-m", "First", cwd=place.work)
    config = place.work / ".git" / "config"
    ran = place.top / "ran"
    names = ["core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "diff.x.textconv", "filter.x.clean",
             "gpg.program", "core.editor", "pager.log", "credential.helper"]  # fmt: skip
    for name in names:
        git(place.work, "config", "--file", str(config), name, f"touch {ran}", cwd=place.work)
    git(place.work, "config", "--file", str(config), "log.showSignature", "true", cwd=place.work)
    (place.work / "kiln.py").write_text("x = 2\n")
    assert place("state", "update").code == 0
    assert place.json("state", "status")["work"]["commits"] == ["First"]
    assert not ran.exists()


# -- map ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "patterns", ['["packages/**/*", "!packages/old"]', '["packages/{kiln,glaze}"]', '["./packages/*", "!packages/old"]']
)
def test_packages_of_a_workspace(place: Place, patterns: str) -> None:
    """Packages are found by globs and negations, with their descriptions, the one of the project's name first."""
    files = {"package.json": '{"name": "kiln-monorepo", "private": true, "workspaces": %s}' % patterns}  # noqa: UP031
    for name in ("glaze", "kiln", "old"):
        files[f"packages/{name}/package.json"] = f'{{"name": "@pots/{name}", "description": "The {name} of the pots"}}'
        files[f"packages/{name}/src/index.ts"] = "export {};\n" * (9 if name == "glaze" else 1)
    files["pnpm-workspace.yaml"] = "packages:\nonlyBuiltDependencies:\n  - esbuild\n"
    bundle = made(place, files)
    assert [(one["name"], one["responsibility"]) for one in bundle["projectMap"]["modules"]] == [
        ("@pots/kiln", "The main package."), ("@pots/glaze", "The glaze of the pots.")
    ]  # fmt: skip
    assert bundle["projectMap"]["firstFilesToRead"] == ["packages/kiln/src/index.ts"]


def test_the_main_package_is_no_private_helper(place: Place) -> None:
    """The published one that others need is the main one, though git would ignore its manifest; it is read first."""
    files = {"package.json": '{"name": "shop", "private": true, "workspaces": ["packages/*"]}'}
    for name in ("shaking", "pots", "glaze"):
        more = '"private": true, ' if name == "shaking" else ""
        files[f"packages/{name}/package.json"] = f'{{"name": "{name}", {more}"dependencies": {{"pots": "1"}}}}'
        files[f"packages/{name}/src/index.ts"] = "export {};\n"
        files |= {f"packages/{name}/src/{number}.ts": "if (hot) fire();\n" for number in range(name != "pots" and 9)}
    files["packages/pots/package.json"] = '{"name": "pots"}'
    files["packages/pots/.gitignore"] = "**/package.json\n"
    map_of = made(place, files)["projectMap"]
    assert map_of["modules"][0] == {"name": "pots", "path": "packages/pots", "responsibility": "The main package."}
    assert map_of["firstFilesToRead"] == ["packages/pots/src/index.ts"]


@pytest.mark.parametrize(
    ("files", "told", "not_told"),
    [
        ({f"{name}/{name}.{end}": text for name in "pqrsu" for end, text in
          (("csproj", f"<TargetFramework>net{ord(name)}</TargetFramework>"), ("cs", "class A {}\n"))},
         "Ecosystem: .NET", "Targets"),
        ({"kiln.hpp": "#pragma once\n\n// This include is only needed for editors to find symbols\n#include \"a.h\"\n"},
         "`kiln.hpp`", "only needed"),
        ({"go.mod": "module example.org/kiln\n", "kiln.go": "package kiln\n"}, "- `kiln.go`\n", "The package"),
        ({"Gemfile": "", "lib/kiln/a.rb": "x = 1\n", "lib/kiln/pots/b.rb": "x = 1\n", "lib/kiln/pots/c.rb": "x = 2\n",
          "lib/kiln/d.rb": "x = 1\n", "lib/kiln/e.rb": "x = 1\n", **{f"lib/locales/{one}.yml": "" for one in "ab"}},
         "- `lib/kiln`: `pots/`, `a`, `d`, `e`.\n", "`a`, `d`, `e`, `pots/`"),
        ({"Gemfile": "", "lib/kiln/a.rb": "x = 1\n", **{f"lib/locales/{one}.yml": "" for one in "ab"}},
         "- `lib/locales`: 2 `.yml` files.\n", "`b`"),
    ],
    ids=["many versions", "comment on an include", "the only package", "folders first", "locales"],
)  # fmt: skip
def test_the_map_leaves_out_what_says_nothing(place: Place, files: dict[str, str], told: str, not_told: str) -> None:
    """Long lists of versions and comments about something else are left out; lists of names begin with folders."""
    made(place, files)
    page = place.read("docs/agent-memory/project-map.md").decode()
    assert told in page, page
    assert not_told not in page


def test_modules_are_those_of_the_main_source_folder(place: Place) -> None:
    """Documentation, fixtures, examples and style sheets are no modules, nor is a part of which nothing is known."""
    files = {
        "pyproject.toml": '[project]\nname = "kiln"\n',
        "src/kiln/__init__.py": '"""Plans firings."""\n',
        "src/kiln/fire/__init__.py": '"""Fires pots."""\n\n\ndef fire_all(): ...\n',
        "src/kiln/cool/__init__.py": "",
        "src/kiln/cool/slow.py": "x = 1\n",
        "src/kiln/glaze/__init__.py": '"""Knows glazes."""\n',
        "docs/conf.py": "x = 1\n",
        "docs/index.md": "# Docs\n",
        "examples/pot.py": "x = 1\n",
        "styles/a.css": "a {}\n",
        "tests/fixtures/pot.py": "x = 1\n",
        "tests/test_fire.py": "from kiln.fire import fire_all\n",
        "tests/test_glaze.py": "x = 1\n",
    }
    modules = {one["path"]: one["responsibility"] for one in made(place, files)["projectMap"]["modules"]}
    assert modules == {
        "src/kiln": "Plans firings.",
        "src/kiln/fire": "Fires pots.",
        "src/kiln/glaze": "Knows glazes.",
    }


def test_first_files_are_chosen_by_meaning(place: Place) -> None:
    """Entry points come first, then sources that decide, are used and change most, with the reason."""
    files = {
        "package.json": '{"name": "kiln", "main": "kiln.js"}',
        "kiln.js": "1;\n",
        "lib/a.js": "1;\n",
        "lib/config.js": "// autogenerated by build.js, do not edit\n" + "1;\n" * 999,
        "lib/parser.c": "/* A Bison parser, made by GNU Bison 3.8.2.  */\n" + "1;\n" * 999,
        "lib/made.php": "<?php\n\n/* A GENERATED file, which should not be manually edited. */\n" + "1;\n" * 999,
        "tools/version.js": "if (hot) return;\n" * 999,
        "lib/fire.js": "1;\n" * 99,
        "lib/glaze.js": "1;\n" * 50,
        "lib/often.js": "1;\n",
        "lib/table.js": "export const t = [\n" + "  [1, 2],\n" * 300 + "];\n",
        **{f"test/fire-{number}.js": "import '../lib/fire.js';\nFireAll();\n" for number in range(5)},
    }
    files["lib/fire.js"] += "export function FireAll() {\n  if (hot) return;\n}\n" + "if (cold) fire();\n" * 20
    for path, text in files.items():
        place.write(path, text)
    git(place.work, "init")
    git(place.work, "add", ".", cwd=place.work)
    git(place.work, "commit", "-m", "First", cwd=place.work)
    for number in range(4):
        place.write("lib/often.js", f"{number};\n")
        place.write("tools/version.js", f"{number};\n")
        git(place.work, "commit", "-am", f"Change {number}", cwd=place.work)
    map_of = made(place, {})["projectMap"]
    first, said = map_of["firstFilesToRead"], {one["path"]: one["responsibility"] for one in map_of["modules"]}
    assert first[:2] == ["kiln.js", "lib/fire.js"]
    assert {"lib/often.js", "lib/config.js", "lib/made.php", "tools/version.js"} & {*first} == {"lib/often.js"}
    assert (said["lib/fire.js"], said["lib/often.js"]) == (
        "5 files use what it declares.", "Changes most often of all sources."
    )  # fmt: skip
    assert {"path": "test", "note": "Tests: `fire-*` (5 files)."} in map_of["denseSourceAreas"]


# -- the files of a person, and paths that are gone --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["agents.md", "Claude.md", "readme.md", "Readme.MD"])
def test_the_entry_block_goes_into_the_file_that_is_there(place: Place, name: str) -> None:
    """The block goes into the entry file that exists, in whatever case, and never into a new file beside it."""
    bundle = made(place, {name: "# Kiln\n\nMine.\n", "kiln.py": "x = 1\n"})
    assert bundle["project"]["recommendedEntryFile"] == name
    assert b"agent-memory:entry" in place.read(name)
    assert [one.name for one in place.work.iterdir() if one.suffix.lower() == ".md"] == [name]
    assert place("state", "validate").code == 0


def test_the_entry_block_is_short_and_in_no_ignored_file(place: Place) -> None:
    """The block comes after the title, names no empty page, and is in no file that git ignores."""
    git(place.work, "init")
    text = "<img src=logo.png>\n\n# Kiln\n\nMine.\n"
    bundle = made(place, {".gitignore": "AGENTS.md\n", "AGENTS.md": "Mine.\n", "README.md": text, "kiln.py": "x = 1\n"})
    assert bundle["project"]["recommendedEntryFile"] == "README.md"
    before, _, after = text.partition("# Kiln\n\n")
    whole = place.read("README.md").decode()
    block = whole.removeprefix(f"{before}# Kiln\n\n").removesuffix(f"\n{after}").strip().split("\n")
    assert len(block) == 8
    assert ("project-map.md" in block[3], "gotchas.md" in block[3]) == (True, False)
    assert place.read("AGENTS.md") == b"Mine.\n"


def test_agents_are_told_the_markers(place: Place) -> None:
    """One line of the entry block, and of the memory's own README, says how what was learned is noted."""
    made(place, {"README.md": README})
    for path in ("README.md", "docs/agent-memory/README.md"):
        text = place.read(path).decode()
        assert all(f"`{marker}: " in text for marker in ("DECISION", "GOTCHA", "NEXT", "DONE")), path


def test_paths_that_are_gone_leave_the_bundle(place: Place) -> None:
    """After a folder was removed `update` drops what names it, and `validate` passes."""
    files = {f"src/{name}/a.py": f"def {name}():\n    pass\n" for name in ("fire", "cool", "glaze")}
    before = made(place, files)
    assert "src/glaze" in repr(before)
    (place.work / "src/glaze/a.py").unlink()
    (place.work / "src/glaze").rmdir()
    assert place("state", "validate").code == 4
    assert "src/glaze" not in repr(made(place, {}, "update"))
    assert place("state", "validate").code == 0


def test_a_part_that_nothing_describes_has_no_description(place: Place) -> None:
    """A folder without words says what is in it; no name is said again as a sentence."""
    files = {
        "composer.json": '{"name": "pots/kiln"}',
        "src/Fire/Burner.php": "<?php\n\n/**\n * Heats a kiln.\n *\n * @final\n */\nfinal class Burner\n{\n}\n",
        "src/Pots/HotPot.php": "<?php\n/** Hot pot pots. */\nclass HotPot {}\n",
        "src/App.php": "<?php\nclass App {}\n",
        **{f"src/Glaze/LowTone{number}.php": "<?php\nfunction fire() {}\n" for number in range(12)},
    }
    map_of = made(place, files)["projectMap"]
    assert {one["path"]: one["responsibility"] for one in map_of["modules"]} == {"src/Fire/Burner.php": "Heats a kiln."}
    names = ", ".join(f"`LowTone{number}`" for number in (0, 1, 10, 11, 2, 3, 4, 5))
    assert {"path": "src/Glaze", "note": f"{names} and 4 more."} in map_of["denseSourceAreas"]
    assert map_of["firstFilesToRead"][0] == "src/App.php"
    page = place.read("docs/agent-memory/project-map.md").decode()
    assert f"- `src/Glaze`: {names} and 4 more.\n" in page
    assert all(page.count(f"`{path}`") == 1 for path in ("src/Fire/Burner.php", "src/App.php", "src/Glaze"))


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("store.ts", "/** A function with marks of the kiln. */\nexport type Marked = () => void\n\n"
         "/** Keeps all the pots. */\nexport function defineStore() {\n  return new Map<string, number>()\n}\n",
         "`defineStore`: Keeps all the pots."),
        ("runtime.rs", "/// A marker for automatic names.\npub struct AutoName;\n\n/// Fires.\npub fn fire() {}\n"
         "struct Helper;\n", ""),
        ("basepath.go", "package kiln\n\n// The BasePathFs keeps pots in one place.\ntype BasePathFs struct {}\n\n"
         "func NewBase() {}\n", "The BasePathFs keeps pots in one place."),
        ("cut.js", "// Handles the following case of pots:\n// - cracked\nexport const cut = () => 1;\n",
         ""),
        ("wide.js", "// Takes pots of all sizes in any mode\n// They are fired\nexport const wide = () => 1;\n",
         "Takes pots of all sizes in any mode."),
        ("map.js", "/** Used to map all the pots. */\nexports.pots = {};\n\nfunction mapAll() {}\n\n"
         "module.exports = mapAll;\n", ""),
        ("pot.py", 'class Pot:\n    """A pot wraps a :class:`~kiln.clay.Clay` for good."""\n',
         "A pot wraps a `Clay` for good."),
        ("pot.hpp", "/// @brief general pot of the @ref basic_kiln class\nclass pot {};\n",
         "General pot of the basic_kiln class."),
        ("Pot.cs", "#nullable enable\n\n/// <summary>\n/// Wraps a whole <see cref=\"Clay\"/>.\n/// </summary>\n"
         "public class Pot {}\n", "Wraps a whole `Clay`."),
        ("vim.hpp", "/* vim: ts=2:sw=2:expandtab */\n\nclass vim {};\n", ""),
        ("badges.rs", "/// [![github]](https://a.org)&ensp;[![docs-rs]](https://b.org)\n///\n"
         "/// [github]: https://a.org/b.svg\n///\n/// Wraps all the pots.\npub struct Badges;\n",
         "Wraps all the pots."),
        ("timed.py", 'class Stamp(Pot):\n    """Signs all pots with the time."""\n\n    def sign(self): ...\n',
         "`Stamp`: Signs all pots with the time."),
        ("pb.c", "/* pb.c -- fires pots with few resources\n *\n * 2011 Ada\n */\n\n#include <a.h>\n",
         "Fires pots with few resources."),
        ("imap.h", "/* Flags of all the pots */\n#define POT 1\n", ""),
        ("pots.h", "/* pots -- small kiln for pots\n\nCopyright 2026 Ada\n*/\n#ifndef POTS\n", "Small kiln for pots."),
        ("wrap.h", "/* Copyright 2026 Ada */\n\n#ifndef WRAP\n\n/* Makes it easy to use pots */\n"
         "#ifdef __cplusplus\nextern \"C\" {\n#endif\n", ""),
        ("quirks.rs", "// Copyright 2026\n\n//! Setters for all pots implemented per <https://a.org/#b>\n\nuse a;\n",
         "Setters for all pots."),
        ("Pots.java", "/**\n * Main classes of the kiln: most of all pots\n * used for making\n * CLAY bricks.\n */\n"
         "public class Pots {}\n", "Main classes of the kiln: most of all pots used for making CLAY bricks."),
        ("old.js", "/**\n * Fires all pots. Deprecated: use an oven.\n */\nexport class Old {}\n", ""),
    ],
    ids=["named like the file", "one of several", "two letters more", "a colon", "two sentences", "a value", "Sphinx",
         "Doxygen", "C#", "modeline", "badges", "largest type", "named head", "constants", "licence", "extern C",
         "address", "capitals", "deprecated"],
)  # fmt: skip
def test_a_comment_speaks_for_a_file_only_where_it_is_about_it(place: Place, path: str, text: str, said: str) -> None:
    """Only the comment at the declaration with the name of a file tells what it is."""
    modules = made(place, {f"src/{path}": text})["projectMap"]["modules"]
    assert [one["responsibility"] for one in modules if one["path"] == f"src/{path}"] == [said] * bool(said)


@pytest.mark.parametrize(
    ("page", "path", "said"),
    [
        ("| Path | What |\n|--|--|\n| `src/fire/` | Fires all pots |\n", "src/fire", "Fires all pots."),
        ("- `fire` - Fires *all* pots\n", "src/fire", "Fires all pots."),
        ("| Part | What |\n|--|--|\n| [pots](src/fire/) | Fires all pots |\n", "src/fire", "Fires all pots."),
        ("- `a.rs` - Fires all pots\n", "src/fire", ""),
        ("```\nsrc/\n├── fire/   # Fires all pots\n```\n", "src/fire", "Fires all pots."),
        ("| Core | `src/fire.rs` | Fires all pots |\n| `src/fire.rs` | `--all --very-hot` |\n", "src/fire.rs", ""),
        ("- `fire`: see https://example.org for more\n", "src/fire", ""),
        ("Fire: a word of three.\n", "src/fire", ""),
    ],
    ids=["table", "list", "link", "another file", "drawn", "another thing", "address", "prose"],
)
def test_the_documents_say_what_a_part_is(place: Place, page: str, path: str, said: str) -> None:
    """Tables, lists and drawn trees of the guides tell what a folder or file without words of its own is."""
    file = path if "." in path else f"{path}/a.rs"
    files = {"ARCHITECTURE.md": f"# Parts\n\n{page}", file: "struct FireFs {}\n", "src/b.rs": "x\n"}
    modules = made(place, files)["projectMap"]["modules"]
    assert [one["responsibility"] for one in modules if one["path"] == path] == [said] * bool(said)


def test_the_core_is_on_the_map(place: Place) -> None:
    """A folder `benchmark` below `src` and a package called `testing` are work, and the largest files come first."""
    files = {
        "package.json": '{"name": "kiln", "private": true, "workspaces": ["packages/*"]}',
        "packages/kiln/package.json": '{"name": "kiln"}',
        "packages/kiln/src/benchmark/index.ts": "/** Runs all pots. */\n\nexport class Run {}\n",
        "packages/kiln/src/core.ts": "/** Turns the whole kiln. */\nexport class Core {}\n" * 50,
        "packages/testing/package.json": '{"name": "@kiln/testing", "description": "Tests of pots."}',
        "packages/testing/src/index.ts": "export {}\n",
    }
    files |= {
        f"packages/kiln/src/helper{number}.ts": "/** Helps a lot with it. */\nexport class A {}\n"
        for number in range(9)
    }
    found = {one["path"] for one in made(place, files)["projectMap"]["modules"]}
    assert {"packages/kiln/src/benchmark", "packages/kiln/src/core.ts", "packages/testing"} <= found


def test_the_rules_for_contributors_are_gotchas(place: Place) -> None:
    """Whole rules are quoted, the hardest first, with what leads to them; politeness, commands and help are not."""
    files = {
        "CONTRIBUTING.md": "# Contributing\n\nThank you, never be afraid!\n\n## Work\n\n"
        "Files must start with the following header.\n\n```c\n// By potters. All\n```\n\n"
        "Send a pull request to the **4.x** branch. It is merged there.\n\nCheck the pots.\n\n- Made by\n"
        "- `kiln try`\n\n- Keep pots dry. *Always* [fire](https://example.org) at `high`.\n- Always be kind.\n\n"
        "You must never touch:\n\n- the oven\n- `fire.c`\n\n"
        "You must burn:\n\n- `ash` for\n\nUseful are:\n\n- what must be in `a`\n",
        ".github/pull_request_template.md": "<!--\nWe do not accept pots made by AI.\n-->\n\n- [ ] I have read it\n",
        "README.md": README + "\nNever eat `clay`.\n\n## Contributing\n\nYou must sign the CLA.\n"
        "We are not accepting new ovens. Always test a new oven in `fire`.\n",
        "AGENTS.md": "The colour is read from `a/b.c`. Do not edit the colour in `c.d`.\n",
    }
    found = made(place, files)["gotchas"]
    assert found[0]["title"] == "We are not accepting new ovens"
    assert "The colour is read from `a/b.c`. Do not edit the colour in `c.d`." in [one["correctPath"] for one in found]
    found = [one for one in found[1:] if "AGENTS" not in one["cause"]]
    assert [one["title"] for one in found] == [
        "Send a pull request to the 4.x branch", "You must sign the CLA", "We do not accept pots made by AI",
        "Files must start with the following header: `// By potters…`", "Always fire at `high`",
        "You must never touch: the oven; `fire.c`",
    ]  # fmt: skip
    assert found[0]["correctPath"] == "Send a pull request to the 4.x branch. It is merged there."
    assert found[4]["correctPath"] == "Keep pots dry. Always fire at `high`."
    assert found[4]["cause"] == "Written in `CONTRIBUTING.md`, “Work”."


def test_comments_that_warn_are_gotchas(place: Place) -> None:
    """What settings of CI and of the build must not do is quoted from the comment, with the line it is about."""
    ci = "# Created with a tool called potter\njobs:\n  a:\n    steps:\n    # The oven cannot shuffle due to Clay 9.\n"
    files = {
        ".github/workflows/ci.yml": f"{ci}    # run: make shuffle\n    # Fire it.\n    - run: make\n",
        "src/kiln.c": "// Clay 9 must not be changed here.\nint main(void) {}\n",
        "kiln.gemspec": "# Do NOT add `oven` here.\nname = 'kiln'\n",
        "README.md": f"# Kiln\n\n> [!NOTE]\n> No breaking changes will be accepted.\n\n{README}",
    }
    found = made(place, files)["gotchas"]
    titles = [one["title"] for one in found]
    assert {"Do NOT add `oven` here", "No breaking changes will be accepted"} < {*titles}
    found = [one for one in found if "ci.yml" in one["cause"]]
    assert [(one["title"], one["cause"]) for one in found] == [
        (
            "`.github/workflows/ci.yml` is generated: Created with a tool called potter",
            "Written in `.github/workflows/ci.yml`.",
        ),
        ("The oven cannot shuffle due to Clay 9", "Written in `.github/workflows/ci.yml`, above `- run: make`."),
    ]


def test_open_plans_are_the_next_steps(place: Place) -> None:
    """The open items of a plan are the steps, the first one is named in the focus; ticked and closed ones are none."""
    plan = "# To do\n\n- [ ] Glaze pots: see `kiln.py`\n- [x] Cool\n- [ ] Sell pots\n\n## Done\n\n- Dig clay\n"
    bundle = made(place, {"TODO.md": plan, "kiln.py": "x = 1\n"})
    assert [one["title"] for one in bundle["nextSteps"]] == ["Glaze pots", "Sell pots"]
    assert bundle["currentFocus"]["summary"] == "`TODO.md` lists the open steps, first “Glaze pots”."
