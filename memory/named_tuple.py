"""Named tuples as `typing.NamedTuple` makes them, without looking at their types when a module is imported.

`typing` compiles the text of each annotation, and `collections.namedtuple` a constructor for each class: for the
hundred classes that a short command imports that takes as long as Python itself needs to start. Here a constructor is
compiled when a class is used first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from _collections import _tuplegetter

    class _Row(tuple):
        """What all named tuples can do."""

        __slots__ = ()

        @classmethod
        def _make(cls, values):
            """Return one with these values."""
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **values):
            """Return one in which some values are others."""
            made = self._make(map(values.pop, self._fields, self))
            if values:
                raise ValueError(f"Got unexpected field names: {list(values)!r}")
            return made

        def _asdict(self):
            """Return the values by the names of their fields."""
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            """Return the class and its fields."""
            said = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{self.__class__.__name__}({said})"

        def __getnewargs__(self):
            """Return a plain tuple, for copies."""
            return tuple(self)

    def _constructor(fields, defaults):
        """Return what makes the first tuple of a class, and puts the compiled constructor into its own place."""

        def __new__(cls, /, *args, **values):
            names = "".join(f"{name}, " for name in fields)
            made = eval(f"lambda _cls, {names}: _new(_cls, ({names}))", {"_new": tuple.__new__})
            made.__name__ = "__new__"
            made.__qualname__ = f"{cls.__qualname__}.__new__"
            made.__defaults__ = defaults
            owner = next(one for one in cls.__mro__ if "_fields" in one.__dict__)
            owner.__new__ = staticmethod(made)
            return made(cls, *args, **values)

        return __new__

    class _Maker(type):
        """Makes a named tuple of a class body: annotated names are its fields, in their order."""

        def __new__(cls, name, bases, space):  # noqa: ARG004
            """Return the class of tuples."""
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
