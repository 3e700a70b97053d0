"""Named tuples as `typing.NamedTuple` makes them, without looking at their types when a module is imported.

`typing` compiles the text of each annotation: for the forty classes that a short command imports this takes 5 ms,
nearly half of what Python itself needs to start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Maker(type):
        """Makes a named tuple of a class body: annotated names are its fields, in their order."""

        def __new__(cls, name, bases, space):  # noqa: ARG004
            """Return the class of tuples."""
            fields = tuple(space.get("__annotations__", ()))
            defaults = [space.pop(field) for field in fields if field in space]
            made = namedtuple(name, fields, defaults=defaults, module=space["__module__"])
            for key, value in space.items():
                if key not in ("__module__", "__qualname__", "__classcell__"):
                    setattr(made, key, value)
            made.__qualname__ = space["__qualname__"]
            return made

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
