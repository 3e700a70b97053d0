"""Programs that read files which a command does not name: which files, and in which language."""

from __future__ import annotations

import re

_NODE_FILES = "package.json .npmrc .yarnrc .yarnrc.yml .yarn/releases/* .pnpmfile.?js pnpm-workspace.yaml bunfig.toml"
_PYTHON_FILES = "pyproject.toml setup.cfg setup.py tox.ini"
_COMPOSE = "docker-compose.y*ml compose.y*ml docker-compose.override.y*ml compose.override.y*ml Dockerfile"
_CLAUDE = (
    ".claude/settings.json .claude/settings.local.json .claude/CLAUDE.md .claude/agents/*.md .claude/commands/*.md"
    " .claude/skills/*/SKILL.md .claude/rules/*.md"
)
READS: dict[str, tuple[str, ...]] = {
    name: tuple(files.split())
    for names, files in (
        # Includes the files from which make can build its makefile: it does so before anything else.
        ("make gmake bmake", "GNUmakefile* Makefile* makefile* BSDmakefile* RCS/[Mm]akefile* SCCS/s.[Mm]akefile*"),
        ("npm npx pnpm pnpx yarn bun bunx node nodejs corepack", _NODE_FILES),
        ("deno", "deno.json* import_map.json package.json"),
        ("just", "[Jj]ustfile .justfile .env"),
        ("task go-task", "[Tt]askfile.y*ml [Tt]askfile.dist.y*ml .env .taskrc.y*ml"),
        ("mage", "magefile*.go"),
        ("rake", "[Rr]akefile [Rr]akefile.rb .rspec Gemfile"),
        ("bundle bundler rspec ruby irb", "Gemfile gems.rb .rspec .irbrc .bundle/config .ruby-version"),
        ("composer php", "composer.json php.ini .user.ini"),
        ("docker podman", _COMPOSE),
        ("docker-compose podman-compose compose", f"{_COMPOSE} .env"),
        ("tox", f"{_PYTHON_FILES} tox.toml"),
        ("nox", f"noxfile.py {_PYTHON_FILES}"),
        ("pytest py.test", f"conftest.py pytest.ini .pytest.ini pytest.toml .pytest.toml {_PYTHON_FILES} .coveragerc"),
        ("pip pip3 uv uvx poetry pdm hatch pipenv pipx rye", f"{_PYTHON_FILES} uv.toml Pipfile .env"),
        ("invoke inv fab", "tasks.py fabfile.py invoke.y*ml fabric.y*ml"),
        ("scons", "[Ss][Cc]onstruct [Ss][Cc]onscript SConstruct.py"),
        ("waf", "wscript waf"),
        ("direnv", ".envrc .env"),
        ("mise asdf rtx", "mise*.toml .mise*.toml .tool-versions .rtx.toml"),
        ("cargo rustc", "Cargo.toml build.rs .cargo/config* rust-toolchain*"),
        ("go", "go.mod go.work"),
        ("gradle gradlew", "build.gradle* settings.gradle* gradle.properties gradlew gradle/wrapper/gradle-wrapper.*"),
        ("mvn mvnw", "pom.xml .mvn/*"),
        ("ant", "build.xml"),
        ("sbt", "build.sbt project/*"),
        ("cmake ctest", "CMakeLists.txt CMakePresets.json CMakeUserPresets.json CTestTestfile.cmake"),
        ("meson", "meson.build"),
        ("ninja", "build.ninja"),
        ("bazel bazelisk", "MODULE.bazel WORKSPACE* BUILD* .bazelrc"),
        ("mix iex elixir", "mix.exs .iex.exs .formatter.exs"),
        ("lein", "project.clj"),
        ("clojure clj", "deps.edn"),
        ("stack cabal", "stack.yaml *.cabal cabal.project"),
        ("vagrant", "Vagrantfile"),
        ("ansible ansible-playbook", "ansible.cfg"),
        ("foreman honcho", "Procfile* .env .foreman"),
        ("pm2", "ecosystem.config.* pm2.config.*"),
        ("gulp", "[Gg]ulpfile.*"),
        ("grunt", "[Gg]runtfile.*"),
        # Agents: their settings name hooks, servers and plug-ins, which run before any answer.
        ("claude", f"{_CLAUDE} CLAUDE.md CLAUDE.local.md AGENTS.md .mcp.json"),
        ("codex", ".codex/config.toml .codex/hooks.json AGENTS.md AGENTS.override.md"),
        ("gemini qwen", ".gemini/settings.json .gemini/.env .qwen/settings.json GEMINI.md QWEN.md AGENTS.md .env"),
        ("opencode", f"opencode.json* .opencode/plugin*/*.?s .opencode/agent*/*.md AGENTS.md {_CLAUDE} CLAUDE.md"),
        ("cursor-agent", ".cursor/cli.json .cursor/mcp.json .cursor/hooks.json .cursorrules AGENTS.md CLAUDE.md"),
        ("copilot", ".github/hooks/*.json .github/copilot-instructions.md .mcp.json AGENTS.md CLAUDE.md GEMINI.md"),
        ("aider", ".aider.conf.y*ml .aider.model.settings.y*ml .env"),
        ("amp goose crush", ".amp/settings.json .goosehints crush.json .crush.json CRUSH.md AGENTS.md"),
        # Linters, build tools and web servers: their settings are code, or name plug-ins, which are code.
        *(
            (name, f"{name}.config.* {name}.conf.* .{name}rc* {name}.json package.json")
            for name in [
                "eslint",
                "prettier",
                "babel",
                "webpack",
                "vite",
                "vitest",
                "rollup",
                "esbuild",
                "postcss",
                "stylelint",
                "tailwindcss",
                "jest",
                "mocha",
                "karma",
                "ava",
                "playwright",
                "cypress",
                "next",
                "nuxt",
                "astro",
                "svelte-kit",
                "remix",
                "gatsby",
                "commitlint",
                "lint-staged",
                "semantic-release",
                "nodemon",
                "lerna",
                "turbo",
                "nx",
                "parcel",
                "snowpack",
                "storybook",
                "typedoc",
                "wrangler",
                "serverless",
                "cdk",
                "tsc",
                "swc",
                "knip",
                "syncpack",
            ]
        ),
        ("pylint", f".pylintrc pylintrc pylintrc.toml .pylintrc.toml {_PYTHON_FILES}"),
        ("flake8", f".flake8 {_PYTHON_FILES}"),
        ("mypy dmypy", f"mypy.ini .mypy.ini {_PYTHON_FILES}"),
        ("coverage", f".coveragerc {_PYTHON_FILES}"),
        ("alembic", "alembic.ini alembic/env.py migrations/env.py"),
        ("sphinx-build sphinx-autobuild", "conf.py docs/conf.py source/conf.py docs/source/conf.py"),
        ("mkdocs", "mkdocs.y*ml"),
        ("locust", "locustfile.py"),
        ("snakemake", "Snakefile workflow/Snakefile"),
        ("doit", f"dodo.py {_PYTHON_FILES}"),
        ("dvc", "dvc.yaml .dvc/config"),
        ("poe pixi", f"{_PYTHON_FILES} pixi.toml"),
        ("goreleaser", ".goreleaser.y*ml goreleaser.y*ml"),
        ("lefthook", "lefthook.y*ml .lefthook.y*ml lefthook.toml"),
        ("husky", ".husky/*"),
        ("air", ".air.toml .air.conf"),
        ("tilt", "Tiltfile"),
        ("skaffold", "skaffold.y*ml"),
        ("pulumi", "Pulumi.y*ml"),
        ("xmake", "xmake.lua"),
        ("premake premake5", "premake5.lua"),
        ("zig", "build.zig build.zig.zon"),
        ("dune", "dune dune-project"),
        ("rebar3", "rebar.config"),
        ("swift", "Package.swift"),
        ("pod", "Podfile"),
        ("fastlane", "Fastfile fastlane/Fastfile"),
        ("prove", ".proverc"),
        ("screen", ".screenrc"),
        ("pre-commit", ".pre-commit-config.y*ml"),
        ("R Rscript", ".Rprofile .Renviron .RData"),
        ("gdb", ".gdbinit"),
        ("lldb", ".lldbinit"),
        ("vim vi nvim ex", ".vimrc .exrc .nvimrc .nvim.lua"),
        ("gnuplot", ".gnuplot"),
        ("erl", ".erlang"),
        ("dotnet msbuild", "*.csproj *.fsproj *.sln Directory.Build.* global.json [Nn]u[Gg]et.config"),
    )
    for name in names.split()
}
"""The files that programs read implicitly: patterns of file names."""
_STEPS = "git hg svn terraform tofu helm kubectl supervisord nix nix-shell nix-build guix act earthly"
RUNS = frozenset(_STEPS.split(" "))
"""Further programs that run hooks, plug-ins, settings or steps from a folder."""
FINDS = frozenset(["xargs", "parallel", "find", "fd", "fdfind", "eval", "run-parts", "entr", "watchexec"])
"""Programs that run what they read or find."""
LANGUAGES: dict[str, str] = {
    name: language
    for language, names in {
        "python": "python pypy uv uvx pytest py.test ipython gunicorn uvicorn flask celery coverage django-admin py",
        "node": "node nodejs bun bunx deno tsx ts-node npx npm pnpm yarn jest mocha vitest electron",
        "ruby": "ruby jruby irb rake rspec bundle rails",
        "perl": "perl prove",
        "php": "php",
        "lua": "lua luajit texlua",
        "java": "java javaw kotlin scala groovy",
        "shell": "sh bash dash zsh ksh mksh ash yash busybox rbash",
        "make": "make gmake bmake",
    }.items()
    for name in names.split()
}
"""The language that a program (a plain name) runs."""
_VERSIONED = re.compile(r"([A-Za-z.+-]*?[A-Za-z])[-.\d]+(?:[a-z]{1,2})?", re.ASCII)
ENDINGS: dict[str, tuple[str, ...]] = {
    "python": (".py", ".pyw", ".pyc", ".pyz", ".so", ".pyd", ".pyi"),
    "node": (".js", ".mjs", ".cjs", ".json", ".node", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".wasm"),
    "ruby": (".rb", ".so", ".ru", ".rake"),
    "perl": (".pm", ".pmc", ".pl", ".ph", ".t"),
    "php": (".php", ".inc", ".phar"),
    "lua": (".lua",),
    "shell": (".sh", ".bash", ".zsh", ".ksh", ".zwc"),
    "make": (".mk", ".mak"),
    "java": (".class", ".jar"),
}
"""The extensions of a language's files; an interpreter adds these to a name by itself."""
_OTHERS = ".just .m4 .java .kts .groovy .c .h .cc .awk .sed .tcl .exp .el .vim .gp .sql .r .jl .ps1 .go .nix .tf .jq"
_BY_ENDING = dict.fromkeys(_OTHERS.split(), "program") | {
    ending: language for language, endings in ENDINGS.items() for ending in endings
}


def plain_name(word: str) -> str:
    """Return the name of a program without its folder and its version: `python` for `/usr/bin/python3.12`."""
    name = word.rpartition("/")[2]
    found = _VERSIONED.fullmatch(name)
    plain = name if found is None or name in READS or name in LANGUAGES else found[1]
    small = plain.casefold()
    # Some file systems ignore case.
    return small if plain not in READS and (small in READS or small in LANGUAGES) else plain


def language_of_file(path: str, head: bytes) -> str | None:
    """Return the language of a file by its extension, else by its first line; None if neither tells.

    `program` is any other language, and `package` the package.json of Node.
    """
    name = path.rpartition("/")[2]
    if name == "package.json":
        return "package"
    stem, dot, ending = name.rpartition(".")
    found = _BY_ENDING.get(f".{ending.casefold()}") if stem and dot else None
    if found is not None:
        return found
    if name.casefold().lstrip(".") == "justfile":
        return "program"
    if name.casefold().partition(".")[0] in ("makefile", "gnumakefile", "bsdmakefile"):
        return "make"
    if head.startswith(b"#!"):
        words = head[2:512].partition(b"\n")[0].decode("utf-8", "replace").split()
        return next((LANGUAGES[one] for word in words if (one := plain_name(word)) in LANGUAGES), None)
    return None
