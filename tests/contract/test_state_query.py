"""Questions about the state: the fact itself in the first line with its source, and no answer without evidence."""

from __future__ import annotations

import re

import pytest

from tests.contract.place import Place
from tests.contract.test_state_init import git
from tests.contract.test_state_recall import learned, project, session  # noqa: F401

CHANGES = """\
# Changes

## 2.0

- Carts are kept

## [1.0](https://example.org/a/long/address/of/all/changes/compare/v0.8...v1.0) (2026-01-01)

### Features

- Tea has a name

### BREAKING CHANGES

- Carts need a key

## [0.8](https://example.org/a/long/address/of/all/changes/compare/v0.7...v0.8) (2025-01-01)

- First
"""


def first(place: Place, *words: str) -> str:
    """Return the first line of an answer."""
    return place("state", "query", *words).out.splitlines()[0]


@pytest.fixture
def shop(project: Place) -> Place:  # noqa: F811
    """Return a shop with tests, a lock file, an entry point and a session."""
    project.write(
        "pyproject.toml",
        '[project]\nname = "shop"\nversion = "2.3"\nrequires-python = ">=3.11"\ndependencies = ["flask>=3"]\n'
        '[project.scripts]\nshop = "shop.cli:main"\n[dependency-groups]\ndev = ["pytest"]\n'
        "[tool.coverage.report]\nfail_under = 90\n",
    )
    project.write("uv.lock", "version = 1\n")
    project.write("global.json", '{"sdk": {"version": "9.0.1"}}')
    project.write("website/index.md", "# Tea\n")
    project.write("shop/__init__.py", '"""The shop."""\n')
    project.write("shop/cli.py", '"""The command line."""\ndef main(): ...\n')
    project.write("shop/carts.py", 'class CartStore:\n    """Keeps the carts of customers until they pay."""\n')
    project.write(".github/workflows/publish.yml", "on: push\n")
    project.write("Makefile", "# Rate the teas of the catalogue\nrate:\n\tpython tools/rate.py\n")
    project.write(
        "CONTRIBUTING.md",
        "# Contributing\n\nPull requests go to the [develop][1] branch.\n\n[1]: https://example.org\n\n```\n"
        "# Run the integration tests\nmake integration\n```\n\n"
        "## Scope\n\nWe do not accept:\n\n- New payment providers.\n\n## A single test\n\n"
        "```sh\n./tea-test NAME\n```\n\n## Kitchen\n\nOn a boat you need:\n\n- Gas\n- A pan to boil water in\n\n"
        "New cakes are not planned, tell us why.\n\nBefore you brew the tea...\n\n* Did you wash it?\n* Is it hot?\n",
    )
    project.write("CHANGELOG.md", CHANGES)
    notes = "Project: shop\n\n2.1.0 (not yet released)\n\n#12: Tea is hot\n#13: Cups are blue\n\n2.0 (today)\n"
    project.write("release-notes/VERSION-2.x", notes)
    project.write("LICENSE", "MIT License\n\nPermission is hereby granted, free of charge, to any person\n")
    project.write("tests/test_shop.py", "def test_it(): ...\n")
    assert project("state", "update").code == 0
    learned(
        project,
        (
            "DECISION: Uploads go through nginx",
            "GOTCHA: Timeout of the payment tests: the bank sleeps at night",
            "NEXT: Add tests for the upload path: begin in tests",
        ),
    )
    return project


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("how do I run the tests", "pytest"),
        ("tests", "pytest"),
        ("which python versions are supported", "3.11"),
        ("what package manager does it use", "uv"),
        ("what is shop", "sells tea"),
        ("which test coverage is required", "have to cover 90% of the code (`pyproject.toml`)"),
        ("what version is this", "The version is 2.3 (`pyproject.toml`)"),
        ("which Flask version is required", "Needs flask >=3 (`pyproject.toml`)"),
        ("what does it depend on", "Depends on `flask`"),
        ("how do I run just one test", "`./tea-test NAME`"),
        ("what do I need on a boat", "On a boat you need: Gas; A pan"),
        ("what must I do before I brew the tea", "Did you wash it?; Is it hot?"),
        ("are new cakes accepted", "not planned"),
        ("which .NET SDK is pinned", ".NET SDK 9.0.1 (`global.json`)"),
        ("where is the documentation site", "is in `website`"),
        ("which licence", "`LICENSE` begins with “MIT License”."),
        ("how is it released", "`.github/workflows/publish.yml`"),
        ("to which branch do I send a PR", "go to the develop branch"),
        ("how do I run the integration tests", "`make integration`"),
        ("may I add a payment provider", "We do not accept: New payment providers."),
        ("how are the teas of the catalogue rated", "`make rate`"),
        ("what changed in version 2", "2.0: Carts are kept"),
        ("what changed in the latest release", "2.0: Carts are kept"),
        ("what changed in version 1.0", "1.0 (2026-01-01): Carts need a key, Tea has a name (`CHANGELOG.md`)"),
        ("what changed in version 2.1.0", "2.1.0 (not yet released): Tea is hot, Cups are blue"),
        ("where are the tests", "The tests are in `tests` (1 file)"),
        ("what is CartStore", "`class CartStore`: Keeps the carts of customers until they pay."),
        ("where is the cart store", "`shop/carts.py`, line 1"),
        ("where is the entry point", "shop/cli.py"),
        ("what is the main file", "shop/cli.py"),
        ("what should I do next", "Add tests for the upload path"),
        ("which traps are there", "the bank sleeps at night"),
        ("why does the payment time out", "the bank sleeps at night"),
        ("uploads nginx", "Uploads go through nginx"),
    ],
)
def test_the_first_line_is_the_fact_with_its_source(shop: Place, question: str, right: str) -> None:
    """The best evidence answers in its own words; its id and file stand behind it."""
    line = first(shop, question)
    assert right in line
    assert re.search(r"\[[\w -]+, [\w./-]+(?::\d+)?\]$", line)


@pytest.mark.parametrize(
    "question",
    [
        "who is the president of France",
        "is it the one that we do",
        "does it support Bluetooth",
        "which PHP version is needed",
        "which Bazel version is required",
        "how do I build a spaceship",
        "where is the shopping mall",
    ],
)
def test_without_evidence_it_says_so(shop: Place, question: str) -> None:
    """Words of every text, and words that people ask by, are no evidence."""
    assert first(shop, question) == "There is not enough evidence to answer this."
    assert shop.json("state", "query", question)["enoughEvidence"] is False


def test_a_package_is_told_by_its_own_name(place: Place) -> None:
    """Asked what a package of a workspace is, the answer is that package and not the project."""
    place.write("package.json", '{"name": "cups", "private": true, "workspaces": ["packages/*"]}')
    place.write("README.md", "# Cups\n\nCups draws cups in the browser.\n")
    place.write("packages/draw/package.json", '{"name": "@cups/draw", "description": "Shapes and colours"}')
    place.write("packages/draw/src/index.ts", "export {};\n")
    assert place("state", "init").code == 0
    assert "Shapes and colours" in place("state", "query", "what is @cups/draw").out.split("\n")[0]
    assert "in the browser" in place("state", "query", "what is cups").out.split("\n")[0]


def test_the_line_that_is_cited_says_it(shop: Place) -> None:
    """A citation of a document names the line of the sentence or command."""
    best = shop.json("state", "query", "how do I run the integration tests")["citations"][0]
    text = (shop.work / best["file"]).read_text().splitlines()
    assert "make integration" in text[best["line"] - 1]


def test_more_evidence_gives_no_fewer_answers(project: Place) -> None:  # noqa: F811
    """What the history answers alone, it answers beside the state, too, before any recall."""
    session(project, "one", "DECISION: Uploads go through nginx")
    assert project("state", "sync", "--all").code == 0
    for scope in ("history", "all"):
        assert "Uploads go through nginx [evt-000002" in first(project, "uploads nginx", "--scope", scope)


def test_the_branch_for_pull_requests_is_that_of_ci(place: Place) -> None:
    """Where no document names it, the one branch does to which the pull requests go that CI checks."""
    place.write("kiln.py", "x = 1\n")
    place.write(".github/workflows/ci.yml", "on:\n  pull_request:\n    branches:\n      - trunk\n")
    assert place("state", "init").code == 0
    assert "the branch `trunk`" in first(place, "which branch should a pull request target")


def test_what_changed_is_told_by_the_last_commits(place: Place) -> None:
    """Where no file says what is being worked on, the commits do, as they are now."""
    place.write("kiln.py", "x = 1\n")
    git(place.work, "init")
    git(place.work, "add", "-A")
    git(place.work, "commit", "-m", "Fire two kilns at once")
    assert place("state", "init").code == 0
    assert first(place, "what changed recently").startswith("The last commits: “Fire two kilns at once”.")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["?"], "state.query.empty"),
        (["x", "--mode", "wild"], "state.query.mode"),
        (["x", "--scope", "wild"], "state.query.scope"),
    ],
)
def test_wrong_questions_are_refused(project: Place, words: list[str], code: str) -> None:  # noqa: F811
    """Each has a code of its own."""
    answer = project("state", "query", *words, "-o", "json")
    assert (answer.code, answer.error) == (2, code)


def test_the_citations_say_where_it_stands(shop: Place) -> None:
    """A citation has an id, a section, a file and a score; the bundle's has the projection that shows it."""
    found = shop.json("state", "query", "why does the payment time out")
    best = found["citations"][0]
    assert (found["mode"], best["sourceType"], best["projectionPath"]) == (
        "answer",
        "bundle",
        "docs/agent-memory/gotchas.md",
    )
    assert best["score"] > 0
    assert "payment" in best["words"]
