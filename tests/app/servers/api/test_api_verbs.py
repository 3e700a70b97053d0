"""What is served follows from the verbs themselves."""

from __future__ import annotations

import pytest

from app.cli.verbs import _OWN
from app.servers.api.routes import OF_LOOKS, method_of, operations, routes
from memory.curated.operations.registry import OPERATIONS
from memory.errors import UsageError

TABLE = {one.does: one for one in operations()}
DECIDED_BY_A_PERSON = ("trust approve", "trust deny", "trust revoke", "monitors check", "connect", "disconnect")


def test_every_operation_says_whether_it_is_served() -> None:
    """No operation of memdeck's own is left out by accident, nor served by one."""
    own = [one for name, one in TABLE.items() if name.split()[0] in _OWN]
    assert len(own) > 100
    assert [one.does for one in own if one.serves is None] == []


@pytest.mark.parametrize("name", DECIDED_BY_A_PERSON)
def test_what_a_person_decides_is_not_served(name: str) -> None:
    """Consent, monitors that run and connections are for the person."""
    assert not TABLE[name].offered


def test_what_looks_and_what_changes_have_different_methods() -> None:
    """A link, an image or a prefetch of a browser can change nothing."""
    assert {method_of(one) for one in TABLE.values() if one.serves == "change"} == {"POST"}
    assert {method_of(one) for one in TABLE.values() if one.serves == "look"} == {"GET"}


def test_no_argument_is_called_like_those_of_every_look() -> None:
    """What every look takes hides no argument of a verb."""
    assert [(name, one.sent_as) for name, made in TABLE.items() for one in made.sent if one.sent_as in OF_LOOKS] == []


@pytest.mark.parametrize(
    "values",
    [
        {"nope": 1}, {"title": None, "actor": "me"}, {"title": ["a"]}, {"title": {"a": 1}}, {"title": "a\0b"},
        {"title": "\udcff"}, {"quick": "perhaps"}, {"workspace": "/"}, {"now": "2020-01-01"}, {"output": "human"},
    ],
)  # fmt: skip
def test_what_a_verb_does_not_take_is_refused(values: dict[str, object]) -> None:
    """Unknown names, nested values and broken text are a wrong call, and so are the options of every verb."""
    with pytest.raises(UsageError):
        TABLE["tasks add"].read(values)


def test_pairs_can_be_an_object() -> None:
    """`--set KEY=VALUE` is an object in JSON, or a list of such texts."""
    edit = TABLE["tasks edit"]
    assert edit.read({"ref": "x", "set": {"due": "fri"}})["changes"] == ("due=fri",)
    assert edit.read({"ref": "x", "set": ["due=fri"]})["changes"] == ("due=fri",)


def test_each_operation_on_curated_memory_has_its_route() -> None:
    """The registry is the list: no operation is missing, and each name in a path is one of its inputs."""
    found = [route for route in routes() if route.path.startswith(("/api/memory", "/api/workspaces"))]
    assert {route.operation.does for route in found} == {one.does for one in OPERATIONS}
    for route in found:
        assert {key for key in route.keys.values() if not key.startswith("workspace")} <= set(route.inputs), route.path
        assert route.method in ("GET", "POST", "PATCH", "DELETE")


def test_a_word_in_a_path_comes_before_a_name() -> None:
    """`/api/memory/history` is no memory called history."""
    paths = [route.path for route in routes() if route.method == "GET"]
    assert paths.index("/api/memory/history") < paths.index("/api/memory/{filename}")
