"""What is served follows from the verbs themselves."""

from __future__ import annotations

import pytest

from app.cli.verbs import _OWN
from app.servers.api.routes import OF_LOOKS, VerbRoute, curated_routes, routes
from memory.curated.operations.registry import OPERATIONS
from memory.errors import UsageError

ROUTES = {" ".join(route.words): route for route in routes()}
DECIDED_BY_A_PERSON = ("trust approve", "trust deny", "trust revoke", "monitors check", "connect", "disconnect")


def test_every_verb_says_whether_it_is_served() -> None:
    """No verb of memdeck's own is left out by accident, nor served by one."""
    own = [route for route in ROUTES.values() if route.words[0] in _OWN]
    assert len(own) > 100
    assert [" ".join(route.words) for route in own if route.serves is None] == []


@pytest.mark.parametrize("name", DECIDED_BY_A_PERSON)
def test_what_a_person_decides_is_not_served(name: str) -> None:
    """Consent, monitors that run and connections are for the person."""
    assert not ROUTES[name].served


def test_what_looks_and_what_changes_have_different_methods() -> None:
    """A link, an image or a prefetch of a browser can change nothing."""
    assert {route.method for route in ROUTES.values() if route.serves == "change"} == {"POST"}
    assert {route.method for route in ROUTES.values() if route.serves == "look"} == {"GET"}


def test_no_argument_is_called_like_those_of_every_look() -> None:
    """What every look takes hides no argument of a verb."""
    assert [(name, one.name) for name, route in ROUTES.items() for one in route.arguments if one.name in OF_LOOKS] == []


def test_a_value_never_becomes_an_option() -> None:
    """Values that look like options stay values."""
    route = ROUTES["tasks add"]
    line = route.command_line({"title": "--actor=me", "notes": "--help", "tag": ["-w", "/etc"]})
    assert line == ["tasks", "add", "--tag=-w", "--tag=/etc", "--notes=--help", "--", "--actor=me"]


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
        ROUTES["tasks add"].command_line(values)


def test_pairs_can_be_an_object() -> None:
    """`--set KEY=VALUE` is an object in JSON, or a list of such texts."""
    route: VerbRoute = ROUTES["tasks edit"]
    assert "--set=due=fri" in route.command_line({"ref": "x", "set": {"due": "fri"}})
    assert "--set=due=fri" in route.command_line({"ref": "x", "set": ["due=fri"]})


def test_each_operation_on_curated_memory_has_its_route() -> None:
    """The registry is the list: no operation is missing, and each name in a path is one of its inputs."""
    found = curated_routes()
    assert {route.operation.name for route in found} == {one.name for one in OPERATIONS}
    for route in found:
        inputs = route.operation.input["properties"]
        assert {key for key in route.keys.values() if not key.startswith("workspace")} <= set(inputs), route.path
        assert route.method in ("GET", "POST", "PATCH", "DELETE")


def test_a_word_in_a_path_comes_before_a_name() -> None:
    """`/api/memory/history` is no memory called history."""
    paths = [route.path for route in curated_routes() if route.method == "GET"]
    assert paths.index("/api/memory/history") < paths.index("/api/memory/{filename}")
