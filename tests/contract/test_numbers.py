"""Numbers: every count of every surface has bounds, and a wrong one is an error of usage that names them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.place import Place

WRONG = ("99999999999999999999", "9" * 5000, "-1", "-99999999999999999999", "1.5", "1e9", "nan", "inf", "many", "", "٣")
"""Texts that no count takes; a huge one, a negative one, floats, other digits."""
COUNTS = ("99999999999999999999", "9" * 5000, "-99999999999999999999", "1.5", "1e9", "nan", "many")
"""Texts that are outside of the bounds of every count."""


@pytest.fixture
def filled(workspace: Place) -> Place:
    """Return a workspace with something in each system, so that verbs have something to count."""
    workspace.write("Aidefile", "")
    for words in (
        ("tasks", "add", "Deploy"),
        ("journal", "add", "Began"),
        ("facts", "store", "The gateway restarts at night"),
        ("knowledge", "add", "Deploys are on Tuesdays"),
        ("state", "init"),
        ("curated", "write", "--type", "user", "--name", "Coffee", "--content", "Black."),
    ):
        assert workspace(*words).code == 0, words
    return workspace


def schema_of(place: Place) -> dict[str, Any]:
    """Return what `memdeck api` says that it serves."""
    found: dict[str, Any] = json.loads(place("api", "--openapi").out)
    return found


def verbs(schema: dict[str, Any]) -> Iterator[tuple[list[str], str, list[dict[str, Any]]]]:
    """Yield the words, the method and the arguments of each verb, whose bounds the schema tells."""
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            if not path.startswith("/api/v1/") or "{" in path:
                continue
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            found = [{"name": one["name"], **one["schema"]} for one in operation.get("parameters", ())]
            found += [{"name": name, **one} for name, one in body.get("properties", {}).items()]
            needed = set(body.get("required", ())) | {
                one["name"] for one in operation.get("parameters", ()) if one.get("required")
            }
            yield (
                path.removeprefix("/api/v1/").split("/"),
                method.upper(),
                [{**one, "needed": one["name"] in needed} for one in found if one["name"] != "Memdeck-Actor"],
            )


def test_a_count_on_the_command_line_has_bounds(filled: Place) -> None:
    """Each option that is a number refuses what is outside of its bounds, which the error names."""
    tried = 0
    for words, _, arguments in verbs(schema_of(filled)):
        needed = [str(one["enum"][0]) if "enum" in one else "1" for one in arguments if one["needed"]]
        for one in arguments:
            if one.get("type") != "integer" or one["name"] in ("rows", "cursor"):
                continue
            for value in (str(one["minimum"]), str(one["maximum"])):
                answer = filled(*words, f"--{one['name'].replace('_', '-')}={value}", *needed)
                assert answer.error != "internal", (words, one["name"], value, answer)
            for value in COUNTS:
                answer = filled(*words, f"--{one['name'].replace('_', '-')}={value}", *needed)
                assert answer.code == 2, (words, one["name"], value[:30], answer)
                if answer.error == "usage.value":
                    bounds = f"from {one['minimum']} to {one['maximum']}"
                    assert bounds in answer.err, (words, one["name"], answer.err)
                    tried += 1
    assert tried > 50


@pytest.mark.parametrize(
    "words",
    [
        ("review", "list", "--limit"),
        ("changes", "list", "--limit"),
        ("journal", "list", "--limit"),
        ("facts", "list", "--limit"),
        ("search", "x", "--limit"),
        ("prompt", "--budget"),
        ("curated", "history", "--limit"),
        ("api", "--port"),
        ("mcp", "--http", "--port"),
        ("serve", "--port"),
        ("demo", "--no-open", "--seed"),
        ("fleet", "search", "x", "--limit"),
        ("fleet", "serve", "--port"),
        ("merge", "a", "b", "c", "--marker"),
        ("tasks", "progress", "Deploy"),
    ],
    ids=" ".join,
)
def test_a_wrong_count_is_an_error_of_usage(filled: Place, words: tuple[str, ...]) -> None:
    """Whatever is given that is no number of the range: exit code 2, `usage.value`, and the range."""
    for value in WRONG:
        joined = (*words[:-1], f"{words[-1]}={value}") if words[-1].startswith("--") else (*words, "--", value)
        answer = filled(*joined)
        assert (answer.code, answer.error) == (2, "usage.value"), (value[:30], answer)
        assert re.search(r"takes a whole number from \d+ to \d+", answer.err), answer.err


@pytest.mark.thorough
def test_no_text_that_looks_like_a_number_is_an_internal_error(filled: Place) -> None:
    """Every option of every verb, whatever it takes, gets numbers of all kinds; none ends as `internal`."""
    for words, _, arguments in verbs(schema_of(filled)):
        if words[0] == "fleet":
            continue
        needed = [str(one["enum"][0]) if "enum" in one else "Deploy" for one in arguments if one["needed"]]
        for one in arguments:
            if one["name"] in ("rows", "cursor", "actor") or one.get("type") == "boolean" or "enum" in one:
                continue
            for value in ("99999999999999999999", "-1", "1e999", "in 99999999999999 days", "99999999999999d"):
                answer = filled(*words, f"--{one['name'].replace('_', '-')}={value}", *needed)
                assert answer.error != "internal", (words, one["name"], value, answer.err)
                assert "Traceback" not in answer.err
            for value in ("99999999999999999999", "-1", "1e999"):
                answer = filled(*words, "--", *([value] * max(1, len(needed))))
                assert answer.error != "internal", (words, value, answer.err)


@pytest.mark.thorough
def test_numbers_over_http_have_bounds(filled: Place) -> None:
    """Each number of each route refuses what is outside; `rows` and `cursor` too, also where the answer is no list."""
    schema = schema_of(filled)
    with filled.api() as api:
        for words, method, arguments in verbs(schema):
            path = f"/api/v1/{'/'.join(words)}"
            base: dict[str, Any] = {one["name"]: one.get("enum", ["1"])[0] for one in arguments if one["needed"]}
            for one in arguments:
                if one.get("type") != "integer" and one["name"] != "cursor":
                    continue
                for value in COUNTS:
                    status, found = api.ask(method, path, {**base, one["name"]: value})
                    assert status != 500, (path, one["name"], value[:30], found)
                    # A verb that cannot run at all says so first.
                    assert status in (400, 403, 404, 409, 422, 501), (path, one["name"], value[:30], found)
            if method == "GET":
                for rows in ("1", "2", "1000"):
                    status, found = api.ask(method, path, {**base, "rows": rows})
                    assert status != 500, (path, rows, found)
        assert api.ask("GET", "/api/v1/state/export", {"rows": "2"})[1]["error"]["code"] == "api.argument"
        code = api.ask("GET", "/api/v1/review/list", {"limit": "99999999999999999999"})[1]["error"]["code"]
        assert code == "usage.value"


def test_numbers_of_tools_have_bounds(filled: Place) -> None:
    """The tools of MCP refuse the same, with the bounds; a number sent as text is one."""
    wrong = (10**30, -1, 0, 1.5, 1e300, True, "many")
    calls = [("search", {"query": "x", "limit": value}) for value in wrong]
    calls += [("read", {"kind": "tasks", "limit": value}) for value in wrong]
    calls += [("history", {"limit": value}) for value in wrong]
    calls += [("brief", {"budget": value}) for value in wrong]
    for found in filled.mcp(*calls):
        assert found["error"]["code"] == "mcp.arguments", found
    assert "error" not in filled.mcp(("search", {"query": "x", "limit": "5"}))[0]
