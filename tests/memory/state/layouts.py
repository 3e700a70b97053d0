"""Small repositories of many layouts, as their files by path; `write` puts one into a folder."""

from __future__ import annotations

from pathlib import Path

_HASH = "1" * 40


def _git(branch: str, subject: str) -> dict[str, str]:
    return {
        ".git/HEAD": f"ref: refs/heads/{branch}\n",
        f".git/refs/heads/{branch}": f"{_HASH}\n",
        ".git/logs/HEAD": f"{'0' * 40} {_HASH} Ada <ada@example.org> 1767225600 +0000\tcommit: {subject}\n",
    }


PYTHON = {
    **_git("main", "Read feeds in parallel"),
    "pyproject.toml": """[project]
name = "feedmill"
description = "Collects feeds and mails a digest"
requires-python = ">=3.11"

[project.scripts]
feedmill = "feedmill.cli:main"

[tool.pytest.ini_options]
testpaths = ["tests"]

[tool.ruff]
line-length = 100
""",
    "uv.lock": "version = 1\n",
    "README.md": """# feedmill

[![CI](https://example.org/badge.svg)](https://example.org/ci)

**feedmill** reads [feeds](https://example.org/feeds) and mails one digest a day. It keeps what it saw in SQLite.

## Known issues

- **Feeds without dates**: they are sent twice. Set `fallback_date` in the settings of the feed.
- Large feeds are slow.

## License

MIT
""",
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Feeds in parallel\n- A flag `--dry-run`\n\n### Fixed\n\n"
    "- Dates without zones\n\n## [1.2.0] - 2026-01-01\n\n- First\n",
    "TODO.md": "# To do\n\n## Soon\n\n- [ ] Retry feeds that time out: they are lost today. See `src/feedmill/fetch.py`\n"
    "- [x] Mail as HTML\n- [ ] Document the settings\n",
    "src/feedmill/__init__.py": '"""Collects feeds and mails a digest."""\n',
    "src/feedmill/cli.py": '"""The command line."""\n\n\ndef main() -> None:\n    """Run."""\n',
    "src/feedmill/fetch.py": '"""Fetches feeds."""\n\n# TODO: retry\n# FIXME: a feed may be endless\n',
    "src/feedmill/store/__init__.py": '"""What was seen, in SQLite.\n\nOne table for each feed.\n"""\n',
    "src/feedmill/store/tables.py": "TABLES = ()\n",
    "src/feedmill/mail/__init__.py": "",
    "src/feedmill/mail/html.py": "PAGE = ''\n",
    "src/feedmill/mail/text.py": "PAGE = ''\n",
    "tests/test_fetch.py": "def test_fetch():\n    pass\n",
    ".github/workflows/ci.yml": "on: push\njobs: {}\n",
    ".venv/lib/site-packages/other/__init__.py": '"""Not ours."""\n',
    "build/lib/feedmill/__init__.py": "",
}

NODE = {
    **_git("feature/cart", "Keep the cart in the session"),
    "package.json": '{"name": "shop", "private": true, "workspaces": ["apps/*", "packages/*", "!packages/old"],'
    ' "packageManager": "pnpm@9.1.0", "engines": {"node": ">=20"},'
    ' "scripts": {"test": "turbo run test", "lint": "eslint ."}}',
    "pnpm-workspace.yaml": "packages:\n  - 'apps/*'\n  - packages/*  # shared\n  - '!packages/old'\ncatalog:\n  - nothing\n",
    "pnpm-lock.yaml": "lockfileVersion: 9\n",
    "turbo.json": "{}",
    "README.md": "Shop\n====\n\nA web shop for small makers, with a storefront and an interface for the makers.\n\n"
    "![Screenshot](shot.png)\n",
    "apps/web/package.json": '{"name": "@shop/web", "description": "The storefront", "main": "src/main.tsx"}',
    "apps/web/src/main.tsx": "export {};\n",
    "apps/web/src/cart.test.tsx": "export {};\n",
    "packages/ui/package.json": '{"name": "@shop/ui", "description": "Buttons, forms and tables that the apps share."}',
    "packages/ui/src/index.ts": "/** What the apps import. */\nexport {};\n",
    "packages/tools/package.json": '{"name": "@shop/tools", "bin": {"shop-seed": "./seed.js"}}',
    "packages/tools/README.md": "# Tools\n\nScripts that fill a database with samples.\n",
    "packages/tools/seed.js": "#!/usr/bin/env node\n",
    "packages/old/package.json": '{"name": "@shop/old"}',
    "packages/old/index.js": "",
    "node_modules/react/package.json": '{"name": "react"}',
    "node_modules/react/index.js": "",
}

RUST = {
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\nexclude = ["crates/scratch"]\nresolver = "2"\n\n'
    '[workspace.package]\nedition = "2021"\n',
    "Cargo.lock": "version = 3\n",
    "README.md": "# ferrite\n\n> A key-value store that fits on a stick.\n\nIt keeps all keys in memory and every change in a log.\n",
    "crates/ferrite/Cargo.toml": '[package]\nname = "ferrite"\ndescription = "The store as a library"\n',
    "crates/ferrite/src/lib.rs": "//! A key-value store.\n//!\n//! Begin with `open`.\n\npub mod log;\n",
    "crates/ferrite/src/log.rs": "//! The log.\n// TODO: compact\n",
    "crates/ferrite-cli/Cargo.toml": '[package]\nname = "ferrite-cli"\n\n[[bin]]\nname = "ferrite"\npath = "src/main.rs"\n',
    "crates/ferrite-cli/src/main.rs": "//! The program: one verb for each call of the library.\n\nfn main() {}\n",
    "crates/scratch/Cargo.toml": '[package]\nname = "scratch"\n',
    "target/debug/build.rs": "",
    "ROADMAP.md": "# Roadmap\n\n## 0.3\n\n- Snapshots\n- Compaction of the log — it grows without end today\n\n## Done\n\n- A log\n",
}

GO = {
    **_git("main", "Answer 404 for unknown tenants"),
    "go.mod": "module github.com/example/gatekeeper\n\ngo 1.22\n",
    "Makefile": "VERSION := 1\n\n.PHONY: test lint\n\ntest:\n\tgo test ./...\n\nlint:\n\tgolangci-lint run\n",
    "README.md": "# gatekeeper\n\nA proxy that lets requests through by tenant.\n",
    "Dockerfile": "FROM golang:1.22 AS build\nRUN go build\n\nFROM gcr.io/distroless/static\nCOPY --from=build /app /app\n",
    "cmd/gatekeeper/main.go": "// Command gatekeeper runs the proxy.\npackage main\n\nfunc main() {}\n",
    "internal/tenant/tenant.go": "// Package tenant knows which requests belong to whom.\npackage tenant\n",
    "internal/tenant/tenant_test.go": "package tenant\n",
    "internal/proxy/doc.go": "/*\nPackage proxy passes requests on.\n*/\npackage proxy\n",
    "vendor/github.com/x/y/y.go": "package y\n",
}

MAVEN = {
    "pom.xml": '<?xml version="1.0"?>\n<project>\n  <parent><artifactId>spring-boot-starter-parent</artifactId></parent>\n'
    "  <groupId>org.example</groupId>\n  <artifactId>ledger</artifactId>\n  <description>Books of small clubs</description>\n"
    "  <modules>\n    <module>ledger-core</module>\n    <module>ledger-web</module>\n    <!-- <module>old</module> -->\n  </modules>\n"
    "  <properties><java.version>21</java.version></properties>\n</project>\n",
    "mvnw": "#!/bin/sh\n",
    "ledger-core/pom.xml": "<project><artifactId>ledger-core</artifactId><description>Accounts and bookings</description></project>",
    "ledger-core/src/main/java/org/example/ledger/Account.java": "package org.example.ledger;\npublic class Account {}\n",
    "ledger-core/src/test/java/org/example/ledger/AccountTest.java": "package org.example.ledger;\nclass AccountTest {}\n",
    "ledger-web/pom.xml": "<project><artifactId>ledger-web</artifactId></project>",
    "ledger-web/src/main/java/org/example/web/Application.java": "package org.example.web;\n\n@SpringBootApplication\n"
    "public class Application {\n  public static void main(String[] args) {}\n}\n",
    "ledger-web/target/classes/X.java": "",
}

CMAKE = {
    "CMakeLists.txt": 'cmake_minimum_required(VERSION 3.20)\nproject(tinypng VERSION 1.0 DESCRIPTION "Reads and writes PNG" LANGUAGES C)\n'
    "enable_testing()\nadd_subdirectory(src)\nadd_subdirectory(tests)\n# add_executable(old old.c)\n",
    "README": "tinypng\n=======\n\nA small library that reads and writes PNG images, in C99 and without dependencies.\n",
    "include/tinypng.h": "/* The public interface of tinypng. */\n",
    "src/CMakeLists.txt": "add_library(tinypng inflate.c chunk.c)\nadd_executable(pngdump main.c chunk.c)\n",
    "src/inflate.c": "/* Copyright 2026 The authors. */\nint inflate(void);\n",
    "src/chunk.c": "int chunk(void);\n",
    "src/main.c": "int main(void) { return 0; }\n",
    "tests/CMakeLists.txt": "add_executable(test_chunk test_chunk.c)\nadd_test(NAME chunk COMMAND test_chunk)\n",
    "tests/test_chunk.c": "int main(void) { return 0; }\n",
    "cmake-build-debug/a.c": "",
}

MONOREPO = {
    "README.md": "# acme\n\nEverything that acme runs: the service, the site and the infrastructure.\n\n## Layout\n\n"
    "| Folder | What |\n|---|---|\n| `infra/` | Servers and networks, as Terraform |\n| `service` | The service, in Python |\n",
    "CONTRIBUTING.md": "# Contributing\n\n## Pitfalls\n\n### The site needs a running service\n\nWithout it every page is empty. Start it"
    " with `make run` first.\n",
    "Makefile": "check:\n\t./check.sh\nrun:\n\t./run.sh\n",
    "package.json": '{"name": "acme", "private": true, "workspaces": {"packages": ["site"]}}',
    "package-lock.json": "{}",
    "yarn.lock": "",
    "site/package.json": '{"name": "site", "description": "The public site"}',
    "site/index.js": "",
    "site/pages/home.js": "",
    "service/pyproject.toml": '[project]\nname = "acme-service"\n[project.scripts]\nacme = "acme.main:run"\n',
    "service/acme/__init__.py": "",
    "service/acme/main.py": "def run():\n    pass\n",
    "service/acme/billing/__init__.py": '"""Invoices."""\n',
    "service/tests/test_main.py": "",
    "infra/main.tf": "",
    "infra/network.tf": "",
    ".gitlab-ci.yml": "stages: [test]\n",
}

DOCUMENTS = {
    **_git("main", "Add the chapter on tides"),
    "README.md": "<h1 align=center>Sailing</h1>\n\n<p align=center><img src=boat.png></p>\n\nA handbook on sailing small boats"
    " along a coast, written by people who do.\n\n## Roadmap\n\n- [ ] A chapter on knots\n- [x] A chapter on tides\n",
    "chapters/01-wind.md": "# Wind\n\nWhere it comes from.\n",
    "chapters/02-tides.md": "# Tides\n\nWhen they turn.\n",
    "chapters/03-charts.md": "# Charts\n\nHow to read them.\n",
    "glossary.md": "# Glossary\n",
}

EMPTY: dict[str, str] = {}

WITHOUT_GIT = {
    "convert.py": '#!/usr/bin/env python3\n"""Converts tables to pages."""\n',
    "helpers.py": "",
    "notes.txt": "Call the printer.\n",
}

DOTNET = {
    "Clock.sln": 'Project("{FAE04EC0}") = "Clock", "src\\Clock\\Clock.csproj", "{1}"\nEndProject\n',
    "README.md": "# Clock\n\nShows the time of several cities on one wall.\n",
    "src/Clock/Clock.csproj": "<Project><PropertyGroup><Description>The program</Description></PropertyGroup></Project>",
    "src/Clock/Program.cs": "Console.WriteLine();\n",
    "src/Clock/Wall.cs": "class Wall {}\n",
    "src/Clock/obj/x.cs": "",
    "tests/Clock.Tests/Clock.Tests.csproj": "<Project/>",
    "tests/Clock.Tests/WallTests.cs": "class WallTests {}\n",
}

RUBY = {
    "Gemfile": "gemspec\n",
    "tally.gemspec": 'Gem::Specification.new do |spec|\n  spec.name = "tally"\n  spec.summary = "Counts words in many files"\nend\n',
    "exe/tally": "#!/usr/bin/env ruby\n",
    "lib/tally.rb": "# Counts words.\nmodule Tally\nend\n",
    "lib/tally/reader.rb": "module Tally\nend\n",
    "spec/tally_spec.rb": "",
    ".rubocop.yml": "AllCops: {}\n",
}

GRADLE = {
    "settings.gradle.kts": 'rootProject.name = "kiln"\ninclude(":app", ":core")\n',
    "build.gradle.kts": 'description = "Plans the firing of pots"\n',
    "gradlew": "#!/bin/sh\n",
    "app/build.gradle.kts": "",
    "app/src/main/kotlin/org/kiln/Main.kt": "package org.kiln\n\nfun main() {}\n",
    "core/build.gradle.kts": 'description = "Curves and kilns"\n',
    "core/src/main/kotlin/org/kiln/Curve.kt": "package org.kiln\n",
    "core/src/test/kotlin/org/kiln/CurveTest.kt": "package org.kiln\n",
}

ELIXIR = {
    "mix.exs": 'defmodule Ping.MixProject do\n  def project, do: [app: :ping, description: "Asks hosts whether they live"]\nend\n',
    "lib/ping.ex": 'defmodule Ping do\n  @moduledoc """\n  Asks hosts whether they live.\n  """\nend\n',
    "lib/ping/application.ex": "defmodule Ping.Application do\nend\n",
    "test/ping_test.exs": "",
}

PHP = {
    "composer.json": '{"name": "acme/guestbook", "description": "A guest book", "scripts": {"test": "phpunit", "lint": "phpcs"}}',
    "public/index.php": "<?php\n",
    "src/Entry.php": "<?php\n/** One entry. */\n",
    "tests/EntryTest.php": "<?php\n",
}

BROKEN = {
    "pyproject.toml": "[project\nname = ",
    "package.json": '{"name": ',
    "Cargo.toml": "[[[",
    "go.mod": "nothing\n",
    "pom.xml": "<project",
    "README.md": "# \u202eback\n\n<!-- never closed\n",
    "src/a.py": '"""',
}

LAYOUTS = {
    "python": PYTHON, "node": NODE, "rust": RUST, "go": GO, "maven": MAVEN, "cmake": CMAKE, "monorepo": MONOREPO,
    "documents": DOCUMENTS, "empty": EMPTY, "without-git": WITHOUT_GIT, "dotnet": DOTNET, "ruby": RUBY,
    "gradle": GRADLE, "elixir": ELIXIR, "php": PHP, "broken": BROKEN,
}  # fmt: skip
"""The repositories by name; each is the folder `shelf` wherever it is."""


def write(files: dict[str, str], folder: Path) -> Path:
    """Write a repository into the folder `shelf` of another, and return it."""
    root = folder / "shelf"
    root.mkdir()
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root
