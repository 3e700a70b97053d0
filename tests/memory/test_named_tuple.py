"""Named tuples that are made without looking at their types behave as those of `typing`."""

from __future__ import annotations

import pickle
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable
from typing import NamedTuple as Typed

import pytest

from memory.files.edit import Edit


class Plain(NamedTuple):
    """A plain one."""

    name: str
    count: int = 2
    tags: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """Both in one."""
        return f"{self.name} {self.count}"

    @classmethod
    def of(cls, name: str) -> Plain:
        """Make one."""
        return cls(name)


class Other(Typed):
    """One of `typing`."""

    name: str
    count: int = 2
    tags: tuple[str, ...] = ()


def test_fields_defaults_and_methods() -> None:
    """Fields, defaults, methods, documentation and what `match` asks for are those of a named tuple."""
    one = Plain.of("a")
    assert one == ("a", 2, ())
    assert one.shown == "a 2"
    assert one._replace(count=3) == Plain("a", 3)
    assert repr(one) == "Plain(name='a', count=2, tags=())"
    for name in ("_fields", "_field_defaults", "__match_args__", "__module__"):
        assert getattr(Plain, name) == getattr(Other, name)
    assert Plain.__doc__ == "A plain one."
    assert Plain.__annotations__["tags"] == "tuple[str, ...]"
    match one:
        case Plain(name, count):
            assert (name, count) == ("a", 2)


def test_it_can_be_pickled() -> None:
    """It is found again by its module and name."""
    assert pickle.loads(pickle.dumps(Edit({}, "said"))) == Edit({}, "said")


def test_a_field_that_is_missing_is_an_error() -> None:
    """What has no default must be given, and nothing can be set."""
    with pytest.raises(TypeError, match="name"):
        Plain()  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Plain("a").name = "b"  # type: ignore[misc]


def test_the_first_one_is_made_as_all_others() -> None:
    """The constructor that is compiled with the first use takes names, defaults and no more than there are."""

    class Pair(NamedTuple):
        """Two values."""

        left: int
        right: int = 7

    with pytest.raises(TypeError):
        Pair()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Pair(1, middle=2)  # type: ignore[call-arg]
    assert [Pair(1), Pair(right=2, left=1), Pair._make((3, 4))] == [(1, 7), (1, 2), (3, 4)]
    with pytest.raises(TypeError):
        Pair._make((1,))
    with pytest.raises(ValueError, match="middle"):
        Pair(1)._replace(middle=2)


def test_a_field_without_a_default_stands_before_those_with_one() -> None:
    """A class that mixes them is an error when it is made, as it is with `typing`."""
    space = {"__annotations__": {"left": "int", "right": "int"}, "left": 1, "__module__": __name__}
    with pytest.raises(TypeError):
        type(NamedTuple)("Mixed", (NamedTuple,), space)


@runtime_checkable
class Named(Protocol):
    """What has a name and can be shown."""

    @property
    def name(self) -> str:
        """Its name."""

    def show(self) -> str:
        """Show it."""


class Shown(Named):
    """A class that inherits from a protocol."""


class Whole:
    """What has all that the protocol names, and more."""

    name = "a"
    size = 1

    def show(self) -> str:
        """Show it."""
        return self.name


Value = TypeVar("Value")


class Box(NamedTuple, Generic[Value]):
    """A value of any type."""

    value: Value


def test_protocols_are_checked_by_their_methods_and_properties() -> None:
    """What lacks one is no instance; of a class that inherits from the protocol, only its own objects are."""
    assert isinstance(Whole(), Named)
    assert not isinstance(Plain("a"), Named)
    assert not isinstance(Whole(), Shown)
    assert isinstance(Shown(), Shown)


def test_named_tuples_may_have_type_variables() -> None:
    """At run time they are those without."""
    made = Box[int](3)
    assert (made, made.value) == ((3,), 3)
