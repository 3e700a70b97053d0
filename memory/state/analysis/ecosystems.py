"""The ecosystems as a table: their manifests, and where these say what a project is and how it is checked.

A place in a manifest is a dotted key in TOML and JSON, and a pattern whose group is the value in any other file.
"""

from __future__ import annotations

import re
from typing import NamedTuple

Place = str | re.Pattern[str]


def _text(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def _quoted(key: str) -> re.Pattern[str]:
    return _text(rf"^[ \t]*(?:\w+\.)?{key}[ \t]*[=:][ \t]*[rub]?[\"']([^\"'\n]{{1,300}})[\"']")


def _bare(key: str) -> re.Pattern[str]:
    return _text(rf"^{key}[ \t]*[=:][ \t]*(?![ \t>|])[\"']?([^\"'\n#(]{{1,300}}?)[\"']?[ \t]*$")


def _xml(tag: str) -> re.Pattern[str]:
    return _text(rf"<{tag}>\s*([^<>]{{1,500}}?)\s*</{tag}>")


class Ecosystem(NamedTuple):
    """A row of the table.

    `managers` are lock files with their package managers, the last one is the default. `run` are the words with which
    a manager runs a program of the project. `members` are the places of the patterns of a workspace; without one, each
    folder with a manifest is a package. `entries` are paths in a package, with `*` and `{name}`, and their roles;
    `tables` are places that name entry points. Where `nested` is false, manifests in folders are no packages.
    `usual` are the commands that are right for most projects, each with the file or folder at the root that it needs,
    or with `~` and what a manifest or test has to contain. `units` are the place of the names of packages without a
    manifest of their own, and the folder that has a folder for each.
    """

    name: str
    languages: tuple[str, ...]
    manifests: tuple[str, ...]
    managers: tuple[tuple[str, str], ...]
    names: tuple[Place, ...]
    descriptions: tuple[Place, ...] = ()
    versions: tuple[tuple[Place, str], ...] = ()
    members: tuple[Place, ...] = ()
    tables: tuple[Place, ...] = ()
    entries: tuple[tuple[str, str], ...] = ()
    usual: tuple[tuple[str, str], ...] = ()
    scripts: tuple[str, ...] = ()
    run: dict[str, str] = {}
    nested: bool = True
    units: tuple[Place, str] | None = None


_NODE_MAIN = "The main file of `{name}`"
_PYTHON, _RUST, _EDITION = "Runs on Python {}.", "Needs Rust {} or newer.", "Uses the Rust edition {}."

ECOSYSTEMS = (
    Ecosystem(
        "Python", ("Python",), ("pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "Pipfile"),
        (("uv.lock", "uv"), ("poetry.lock", "Poetry"), ("pdm.lock", "PDM"), ("Pipfile", "Pipenv"), ("", "pip")),
        ("project.name", "tool.poetry.name", _quoted("(?:name|NAME)"), _bare("name")),
        ("project.description", "tool.poetry.description", _quoted("(?:description|DESCRIPTION)"),
         _bare("description")),
        (("project.requires-python", _PYTHON), ("tool.poetry.dependencies.python", _PYTHON),
         (_quoted("python_requires"), _PYTHON), (_bare("python_requires"), _PYTHON)),
        members=("tool.uv.workspace.members", "tool.uv.workspace.exclude"),
        tables=("project.scripts", "tool.poetry.scripts",
                _text(r"^[ \t]+[\"']?([\w.-]{1,60})[ \t]*=[ \t]*(\w+(?:\.\w+)*:\w+)[\"']?,?[ \t]*$")),
        entries=(("{module}/__init__.py", "Loaded by `import {module}`"),
                 ("{module}.py", "Loaded by `import {module}`"),
                 ("*/__main__.py", "What `python -m` runs"), ("manage.py", "Django's command line")),
        usual=(("~[tool.tox", "tox"), ("~pytest", "{run} pytest"), ("manage.py", "python3 manage.py test"),
               ("~unittest", "python3 -m unittest discover"), ("uv.lock", "uv sync"), ("poetry.lock", "poetry install"),
               ("requirements.txt", "pip install -r requirements.txt")),
        run={"uv": "uv run", "Poetry": "poetry run", "PDM": "pdm run", "Pipenv": "pipenv run"},
    ),
    Ecosystem(
        "Node.js", ("TypeScript", "JavaScript", "Vue", "Svelte", "Astro"),
        ("package.json", "pnpm-workspace.yaml", "lerna.json", "deno.json"),
        (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "Yarn"), ("bun.lock", "Bun"), ("bun.lockb", "Bun"),
         ("pnpm-workspace.yaml", "pnpm"), ("deno.json", "Deno"), ("", "npm")),
        ("name",), ("description",),
        (("engines.node", "Runs on Node.js {}."), ("volta.node", "Is developed with Node.js {} (Volta).")),
        members=("workspaces", "workspaces.packages", "packages",
                 _text(r"^[ \t]*-[ \t]*[\"']?([^\"'#\n:]{1,200}?)[\"']?[ \t]*(?:#.*)?$")),
        tables=("bin",),
        entries=(("{main}", _NODE_MAIN), *((f"{top}{file}.{end}", _NODE_MAIN) for top in ("src/", "")
                                            for file in ("index", "main") for end in ("ts", "tsx", "mts", "js", "mjs")),
                 ("server.js", "The server"), ("app.js", "The application")),
        usual=(("pnpm-lock.yaml", "pnpm install"), ("yarn.lock", "yarn install"), ("bun.lock", "bun install"),
               ("package-lock.json", "npm ci"), ("~ependencies\"", "npm install")),
        scripts=("scripts",),
        run={"npm": "npm run", "pnpm": "pnpm", "Yarn": "yarn", "Bun": "bun run", "Deno": "deno task"},
    ),
    Ecosystem(
        "Rust", ("Rust",), ("Cargo.toml",), (("", "Cargo"),), ("package.name",), ("package.description",),
        (("package.rust-version", _RUST), ("workspace.package.rust-version", _RUST),
         ("package.edition", _EDITION), ("workspace.package.edition", _EDITION)),
        members=("workspace.members", "workspace.exclude"), tables=("bin", "lib"),
        entries=(("src/main.rs", "The program `{name}`"), ("src/lib.rs", "The library `{name}`"),
                 ("src/bin/*.rs", "The program `{stem}`"), ("src/bin/*/main.rs", "The program `{folder}`")),
        usual=(("~[workspace]", "cargo test --workspace"), ("Cargo.toml", "cargo test")),
    ),
    Ecosystem(
        "Go", ("Go",), ("go.mod", "go.work"), (("", "Go modules"),),
        (_text(r"^module[ \t]+\"?(?:[^\s\"]*/)?(?!v\d+\"?\s)([^\s\"/]+)(?:/v\d+)?\"?[ \t]*$"),),
        versions=((_text(r"^go[ \t]+(\d[\d.]{0,10})[ \t]*$"), "Needs Go {} or newer."),),
        entries=(("main.go", "The program `{name}`"), ("cmd/main.go", "The program `{name}`"),
                 ("cmd/*/main.go", "The program `{folder}`"), ("{name}.go", "The package `{name}`")),
        usual=(("go.mod", "go test ./..."),),
    ),
    Ecosystem(
        "Java", ("Java", "Kotlin", "Scala", "Groovy"),
        ("pom.xml", "settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts", "build.sbt"),
        (("pom.xml", "Maven"), ("build.sbt", "sbt"), ("", "Gradle")),
        (_xml("name"), _xml("artifactId"), _quoted(r"rootProject\.name")),
        (_xml("description"), _text(r"^description[ \t]*=?[ \t]*[\"']([^\"'\n]{1,300})[\"']")),
        ((_text(r"<(?:(?:maven\.compiler\.)?(?:release|target|source)|java\.version)>\s*([\d.]{1,10})\s*<"),
          "Compiles for Java {}."),
         (_text(r"<requireJavaVersion>(?:[^<]|<!--(?s:.*?)-->)*<version>\s*([^<\s]{1,40})"),
          "Is built with Java {} (Maven's enforcer)."),
         (_text(r"JavaVersion\.VERSION_(?:1_)?(\d+)"), "Compiles for Java {}."),
         (_text(r"jvmToolchain\((\d+)"), "Is built with Java {}.")),
        entries=(("src/main/**/*Application.*", "The program `{stem}`"),
                 ("src/main/**/*Main.*", "The program `{stem}`"), ("src/**/{name}.java", "The class `{stem}`"),
                 ("src/**/{name}.kt", "The file `{stem}`")),
        usual=(("mvnw", "./mvnw test"), ("pom.xml", "mvn test"), ("gradlew", "./gradlew test"),
               ("build.sbt", "sbt test")),
    ),
    Ecosystem(
        ".NET", ("C#", "F#", "Visual Basic"), ("*.sln", "*.slnx", "*.csproj", "*.fsproj"), (("", "NuGet"),),
        (_xml("PackageId"), _xml("AssemblyName")), (_xml("Description"),),
        ((_text(r"<TargetFrameworks?>([^<>$]{1,100})<"), "Targets {}."),),
        entries=(("Program.cs", "The program `{name}`"),),
        usual=(("*.sln", "dotnet test"), ("*.slnx", "dotnet test")),
    ),
    Ecosystem(
        "Ruby", ("Ruby",), ("*.gemspec", "Gemfile"), (("", "Bundler"),), (_quoted("name"),),
        (_quoted("summary"), _quoted("description")),
        ((_text(r"\brequired_ruby_version\s*=\s*(?:Gem::Requirement\.new)?[\s(\[]*[\"']([^\"'\n]{1,40})"),
          "Needs Ruby {}."),),
        entries=(("lib/{name}.rb", "The library `{name}`"), ("exe/*", "The command `{stem}`"),
                 ("config/application.rb", "The Rails application")),
        usual=(("Gemfile", "bundle install"), ("spec", "bundle exec rspec"), ("Rakefile", "bundle exec rake test")),
    ),
    Ecosystem(
        "PHP", ("PHP",), ("composer.json",), (("", "Composer"),), ("name",), ("description",),
        (("require.php", "Runs on PHP {}."),), tables=("bin",),
        entries=(("*/App.php", "The application"), ("public/index.php", "Where requests begin"),
                 ("index.php", "Where requests begin"),
                 ("artisan", "The console"), ("bin/console", "The console")),
        usual=(("composer.json", "composer install"), ("~phpunit/phpunit", "vendor/bin/phpunit")),
        scripts=("scripts",), run={"Composer": "composer run-script"},
    ),
    Ecosystem(
        "Elixir", ("Elixir", "Erlang"), ("mix.exs",), (("", "Mix"),), (_text(r"\bapp:\s*:(\w{1,100})"),),
        (_text(r"(?:\bdescription:\s*|@description\s+)(?:\"\"\"\s*)?\"?([^\"\n]{1,300})\"?"),),
        ((_text(r"\belixir:\s*\"([^\"\n]+)\""), "Needs Elixir {}."),),
        entries=(("lib/{name}.ex", "The main module"), ("lib/{name}/application.ex", "Starts the OTP application")),
        usual=(("mix.exs", "mix deps.get"), ("mix.exs", "mix test")),
    ),
    Ecosystem(
        "Swift", ("Swift", "Objective-C"), ("Package.swift",), (("", "Swift Package Manager"),),
        (_text(r"\bPackage\s*\(\s*name:\s*\"([^\"\n]{1,100})\""),),
        versions=((_text(r"\A//[ \t]*swift-tools-version:[ \t]*([\d.]{1,10})"),
                   "`Package.swift` is for Swift {} or newer."),),
        units=(_text(r"\.(?:executableT|t)arget\(\s*name:\s*\"(\w{1,100})\""), "Sources"),
        entries=(("Sources/*/main.swift", "The program `{folder}`"), ("{name}.swift", "The main file")),
        usual=(("Package.swift", "swift test"),),
    ),
    Ecosystem(
        "Dart", ("Dart",), ("pubspec.yaml",), (("", "pub"),), (_bare("name"),),
        (_text(r"^description:[ \t]*[>|][+-]?[ \t]*\n((?:[ \t]+[^\n]*\n)+)"), _bare("description")),
        ((_text(r"^environment:\n(?:[ \t]+[^\n]*\n)*?[ \t]+sdk:[ \t]*[\"']?([^\"'\n]+?)[\"']?[ \t]*$"),
          "Needs Dart {}."),),
        entries=(("lib/{name}.dart", "The library `{name}`"), ("bin/*.dart", "The command `{stem}`"),
                 ("lib/main.dart", "The application")),
        usual=(("pubspec.yaml", "dart pub get"), ("test", "dart test")),
    ),
    Ecosystem(
        "Perl", ("Perl",), ("Makefile.PL", "dist.ini", "cpanfile"), (("", "CPAN"),), (_quoted("NAME"),),
        (_quoted("ABSTRACT"),),
        usual=(("Makefile.PL", "cpanm --installdeps ."), ("t", "prove -lr t")),
    ),
    Ecosystem(
        "R", ("R",), ("DESCRIPTION",), (("", "CRAN"),), (_bare("Package"),), (_bare("Title"),),
    ),
    Ecosystem(
        "C", ("C", "C++"), ("CMakeLists.txt", "meson.build", "configure.ac"), (("", "none"),),
        (_text(r"(?i)^[ \t]*project[ \t]*\([ \t\n]*['\"]?([\w.+-]{1,100})"), _text(r"^AC_INIT\(\[?([\w.+-]{1,100})")),
        (_text(r"(?:\b|PROJECT_)DESCRIPTION\"?\s+\"([^\"]{1,300})\""),),
        ((_text(r"(?i)(?:^|\bNOT (?:DEFINED )?CMAKE_CXX_STANDARD\s*\)\s*)"
                r"set[ \t]*\([ \t]*CMAKE_CXX_STANDARD[ \t]+(\d\d)\b"),
          "Compiles as C++{}."),
         (_text(r"(?:\bcxx_std_|\bCXX_STANDARD[ \t\n]+)(\d\d)\b"), "Compiles as C++{}."),
         (_text(r"(?:\bc_std_|\bC_STANDARD[ \t\n]+|\bc_std=(?:c|gnu))(\d\d)\b"), "Compiles as C{}."),
         (_text(r"(?i)\bcmake_minimum_required[ \t]*\([ \t]*VERSION[ \t]+(\d[\d.]*?)(?=[^\d.]|\.\.)"),
          "Needs CMake {} or newer.")),
        entries=(*((f"{top}{name}.{end}", "The main header") for top in ("", "include/", "include/{name}/")
                   for name in ("{name}", "{path}", "{bare}") for end in ("h", "hpp")),
                 ("{name}.c", "The main source file"),
                 ("main.c", "The program"), ("main.cpp", "The program"), ("*/main.c", "The program"),
                 ("*/main.cpp", "The program")),
        usual=(("CMakeLists.txt", "cmake -S . -B build"), ("meson.build", "meson setup build"),
               ("autogen.sh", "sh autogen.sh"), ("configure.ac", "autoreconf -i"), ("~TESTS", "make check"),
               ("~test(", "meson test -C build"), ("~enable_testing", "ctest --test-dir build --output-on-failure")),
        nested=False,
    ),
)  # fmt: skip
