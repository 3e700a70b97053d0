"""Keeps modules quick to import: no `typing`, named tuples that ignore types, patterns compiled on first use.

Importing `typing` takes a quarter of the time that Python needs to start. It compiles the text of each annotation, and
`collections.namedtuple` a constructor for each class: for the hundred classes that a short command imports, that takes
as long as Python needs to start. Here constructors and regular expressions are compiled on first use: a short command
uses few of those it imports.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
"""As `typing.TYPE_CHECKING`, which type checkers know by this name; for modules that short commands import."""

if TYPE_CHECKING:
    from typing import Any, AnyStr
    from typing import Generic as Generic
    from typing import NamedTuple as NamedTuple
    from typing import Protocol as Protocol
    from typing import runtime_checkable as runtime_checkable
else:
    from _collections import _tuplegetter
    from types import FunctionType

    _space = {"_new": tuple.__new__}
    _codes = {}
    """The code of a constructor by the number of fields."""

    class _Row(tuple):
        """The methods of all named tuples."""

        __slots__ = ()

        @classmethod
        def _make(cls, values):
            """Return a tuple with these values."""
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **values):
            """Return a copy with some values replaced."""
            made = tuple.__new__(type(self), map(values.pop, self._fields, self))
            if values:
                raise ValueError(f"Got unexpected field names: {list(values)!r}")
            return made

        def _asdict(self):
            """Return the values as a dict by field name."""
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            """Return the class and its fields."""
            said = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{self.__class__.__name__}({said})"

        def __getnewargs__(self):
            """Return a plain tuple, for copies."""
            return tuple(self)

    def _constructor(fields, defaults):
        """Return a `__new__` that, on first use, replaces itself with the compiled constructor and calls it."""

        def __new__(cls, /, *args, **values):
            # Compiling takes as long as importing a small module: it is done once for each number of fields.
            code = _codes.get(len(fields))
            if code is None:
                names = "".join(f"_{place}, " for place in range(len(fields)))
                made = eval(f"lambda _cls, {names}: _new(_cls, ({names}))", _space)
                code = _codes[len(fields)] = made.__code__
            made = FunctionType(code.replace(co_varnames=("_cls", *fields)), _space)
            made.__name__ = "__new__"
            made.__qualname__ = f"{cls.__qualname__}.__new__"
            made.__defaults__ = defaults
            owner = next(one for one in cls.__mro__ if "_fields" in one.__dict__)
            owner.__new__ = staticmethod(made)
            return made(cls, *args, **values)

        return __new__

    class _Maker(type):
        """Makes a named tuple class from a class body: the annotated names are its fields, in their order."""

        def __new__(cls, name, bases, space):  # noqa: ARG004
            """Return the named tuple class."""
            fields = tuple(space.get("__annotations__", ()))
            given = {field: space.pop(field) for field in fields if field in space}
            for place, field in enumerate(fields):
                if field.startswith("_") or (given and field not in given and set(fields[:place]) & set(given)):
                    raise TypeError(f"{name}.{field} cannot be a field here")
                space[field] = _tuplegetter(place, None)
            space.pop("__classcell__", None)
            space.update(
                __slots__=(),
                _fields=fields,
                _field_defaults=given,
                __match_args__=fields,
                __new__=_constructor(fields, tuple(given.values())),
            )
            return type(name, (_Row,), space)

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})

    class Generic:
        """The base of a class with type variables, which only type checkers look at."""

        __slots__ = ()

        def __class_getitem__(cls, _):
            """Return the class itself."""
            return cls

    class _Structural(type):
        """The type of protocols: what has all their methods and properties is an instance."""

        def __instancecheck__(cls, instance):
            """Return whether an object has what the protocol names; a class that inherits from it is no protocol."""
            if Protocol not in cls.__bases__:
                return type.__instancecheck__(cls, instance)
            return all(hasattr(instance, name) for name in dir(cls) if not name.startswith("_"))

    class Protocol(metaclass=_Structural):
        """The base of a protocol, named after all others."""

        __slots__ = ()

        def __class_getitem__(cls, _):
            """Return the class itself."""
            return cls

    def runtime_checkable(cls):
        """Return the protocol, unchanged."""
        return cls


class _Late:
    """Stands in for a pattern; from the first use on, each of its methods is that of the compiled pattern."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._text, self._flags), name)
        self.__dict__[name] = found
        return found


def late(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled on first use."""
    return _Late(text, flags)  # type: ignore[return-value]
