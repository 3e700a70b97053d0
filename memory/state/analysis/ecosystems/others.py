"""Ecosystems that need little knowledge: Ruby, PHP, Elixir, .NET, Swift, Dart, Terraform."""

from __future__ import annotations

import re

from memory.state.analysis.found import Command, Ecosystem, Entrypoint, Package
from memory.state.analysis.tree import Tree

from .values import name_at, read_manifest, table_at, text_at

_GEM = re.compile(r"\.(name|summary)\s*=\s*[\"']([^\"'\n]{1,300})[\"']")
_MIX_APP = re.compile(r"\bapp:\s*:(\w{1,100})")
_MIX_ABOUT = re.compile(r"\bdescription:\s*\"([^\"\n]{1,300})\"")
_YAML = r"^{key}:[ \t]*[\"']?([^\"'\n#]{{1,300}}?)[\"']?[ \t]*$"
_PROJECT = re.compile(r"^Project\(\"[^\"]*\"\)\s*=\s*\"([^\"]{1,200})\",\s*\"([^\"]{1,300})\"", re.MULTILINE)
_SWIFT = re.compile(r"\bPackage\s*\(\s*name:\s*\"([^\"\n]{1,100})\"")


def ruby(tree: Tree) -> Ecosystem | None:
    """Return what Gemfile and gemspec say."""
    specs = [name for name in tree.top_files() if name.endswith(".gemspec")]
    manifests = [name for name in ("Gemfile", "Rakefile") if tree.has(name)] + specs
    if not specs and not tree.has("Gemfile"):
        return None
    found = Ecosystem("Ruby", ("Ruby",), "Bundler", manifests=manifests)
    for spec in specs[:1]:
        values = dict(_GEM.findall(tree.text(spec)))
        found.packages.append(Package("", values.get("name", spec.removesuffix(".gemspec")), values.get("summary", "")))
        if "name" in values:
            found.enter(tree, f"lib/{values['name']}.rb", f"the library `{values['name']}`")
    for folder in ("exe", "bin"):
        for path in tree.folders.get(folder, [])[:10]:
            if not path.endswith(("/setup", "/console", "/rails", "/rake", "/bundle")):
                found.entrypoints.append(Entrypoint(path, f"the command `{path.rpartition('/')[2]}`"))
    rake = tree.text("Rakefile")
    found.enter(tree, "config/application.rb", "the Rails application")
    if tree.has_folder("spec"):
        found.commands.append(Command("test", "RSpec", ("bundle", "exec", "rspec"), "Runs the specs."))
    elif "TestTask" in rake or tree.has_folder("test"):
        found.commands.append(Command("test", "Tests", ("bundle", "exec", "rake", "test"), "Runs the tests."))
    if tree.has(".rubocop.yml"):
        found.commands.append(
            Command("lint", "RuboCop", ("bundle", "exec", "rubocop"), "Checks the style of the code.")
        )
    return found


def php(tree: Tree) -> Ecosystem | None:
    """Return what composer.json says."""
    if not tree.has("composer.json"):
        return None
    found = Ecosystem("PHP", ("PHP",), "Composer", manifests=["composer.json"])
    data = read_manifest(tree, "composer.json", found)
    if data is None:
        return found
    if name_at(data, "name"):
        found.packages.append(Package("", name_at(data, "name"), text_at(data, "description")))
    for path in ("public/index.php", "artisan", "index.php", "bin/console"):
        found.enter(tree, path, "where requests begin" if path.endswith(".php") else "the console")
    scripts = table_at(data, "scripts")
    if "test" in scripts:
        found.commands.append(
            Command("test", "Tests", ("composer", "test"), "Runs the script `test` of `composer.json`.")
        )
    elif any(tree.has(name) for name in ("phpunit.xml", "phpunit.xml.dist")):
        found.commands.append(Command("test", "PHPUnit", ("vendor/bin/phpunit",), "Runs the tests."))
    lint = next((name for name in ("lint", "check", "phpstan", "cs") if name in scripts), "")
    if lint:
        purpose = f"Runs the script `{lint}` of `composer.json`."
        found.commands.append(Command("lint", lint.capitalize(), ("composer", "run-script", lint), purpose))
    return found


def elixir(tree: Tree) -> Ecosystem | None:
    """Return what mix.exs says."""
    if not tree.has("mix.exs"):
        return None
    text = tree.text("mix.exs")
    found = Ecosystem("Elixir", ("Elixir", "Erlang"), "Mix", manifests=["mix.exs"])
    if "apps_path:" in text:
        found.workspace = "Mix umbrella"
        for path in sorted(tree.named("mix.exs")):
            folder = path.rpartition("/")[0]
            if re.fullmatch(r"apps/[^/]+", folder):
                found.packages.append(Package(folder, folder.rpartition("/")[2]))
    app, about = _MIX_APP.search(text), _MIX_ABOUT.search(text)
    if app is not None:
        found.packages.append(Package("", app[1], about[1] if about else ""))
        for path in (f"lib/{app[1]}/application.ex", f"lib/{app[1]}.ex"):
            if tree.has(path):
                found.entrypoints.append(Entrypoint(path, f"where `{app[1]}` begins"))
                break
    found.commands += [
        Command("test", "mix test", ("mix", "test"), "Runs the tests."),
        Command("lint", "mix format", ("mix", "format", "--check-formatted"), "Checks the format of the code."),
    ]
    return found


def dotnet(tree: Tree) -> Ecosystem | None:
    """Return what the solution or the projects say."""
    solutions = [name for name in tree.top_files() if name.endswith((".sln", ".slnx"))]
    projects = sorted(path for path in tree.files if path.endswith((".csproj", ".fsproj", ".vbproj")))
    if not solutions and not projects:
        return None
    found = Ecosystem(".NET", ("C#", "F#", "Visual Basic"), "NuGet", manifests=solutions or projects[:1])
    found.workspace = "solution" if solutions else "none"
    for path in projects[:100]:
        folder, _, file = path.rpartition("/")
        text = tree.text(path)
        about = re.search(r"<Description>([^<>]{1,300})</Description>", text)
        found.packages.append(Package(folder, file.rpartition(".")[0], about[1].strip() if about else ""))
        program = f"{folder}/Program.cs" if folder else "Program.cs"
        found.enter(tree, program, f"the program `{file.rpartition('.')[0]}`")
    found.commands += [
        Command("test", "dotnet test", ("dotnet", "test"), "Builds all and runs the tests."),
        Command("lint", "dotnet format", ("dotnet", "format", "--verify-no-changes"), "Checks the format of the code."),
    ]
    return found


def swift(tree: Tree) -> Ecosystem | None:
    """Return what Package.swift says."""
    if not tree.has("Package.swift"):
        return None
    found = Ecosystem("Swift", ("Swift", "Objective-C"), "Swift Package Manager", manifests=["Package.swift"])
    name = _SWIFT.search(tree.text("Package.swift"))
    if name is not None:
        found.packages.append(Package("", name[1]))
    found.commands.append(Command("test", "swift test", ("swift", "test"), "Builds all and runs the tests."))
    return found


def dart(tree: Tree) -> Ecosystem | None:
    """Return what pubspec.yaml says."""
    if not tree.has("pubspec.yaml"):
        return None
    text = tree.text("pubspec.yaml")
    flutter = re.search(r"^flutter:", text, re.MULTILINE) is not None or "sdk: flutter" in text
    found = Ecosystem("Flutter" if flutter else "Dart", ("Dart",), "pub", manifests=["pubspec.yaml"])
    name, about = (re.search(_YAML.format(key=key), text, re.MULTILINE) for key in ("name", "description"))
    if name is not None:
        found.packages.append(Package("", name[1].strip(), about[1].strip() if about else ""))
    found.enter(tree, "lib/main.dart", "the application")
    tool = "flutter" if flutter else "dart"
    found.commands += [
        Command("test", f"{tool} test", (tool, "test"), "Runs the tests."),
        Command("lint", f"{tool} analyze", (tool, "analyze"), "Checks the code for common mistakes."),
    ]
    return found
