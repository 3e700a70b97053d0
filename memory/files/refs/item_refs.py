"""Refs of the small files: items known by a part of what they say, told apart by all of it where that part is equal.

Apart from `refs`, for a command on a task needs none of them, nor what they import.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.named_tuple import NamedTuple

from .refs import identity_hex, tell_apart


class Name(NamedTuple):
    """What an item is called: ten hex digits, the digits that no other item of the file has, and the shown ref."""

    identity: str
    long_hex: str
    ref: str


@dataclass(frozen=True, slots=True)
class NamedItem:
    """An item with a ref and a place: `file` relative to the memory folder, `line` from 0."""

    key: Name
    file: str
    line: int

    @property
    def identity(self) -> str:
        """Ten hex digits made of what the item is known by."""
        return self.key.identity

    @property
    def long_hex(self) -> str:
        """The digits that no other item of the file has."""
        return self.key.long_hex

    @property
    def ref(self) -> str:
        """The ref, `<kind>#…`; longer where the file holds twins."""
        return self.key.ref


def name_all(kind: str, parts: Sequence[Sequence[str]], marks: Sequence[bytes] | None = None) -> list[Name]:
    """Return the names of all items of a file in their order.

    `parts` is what each is known by, `marks` what tells equal ones apart: all that they say.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, known in enumerate(parts):
        groups.setdefault(tuple(known), []).append(index)
    names: dict[int, Name] = {}
    for known, members in groups.items():
        identity = identity_hex(kind, *known)
        digits = tell_apart(identity, [b"" if marks is None else marks[index] for index in members])
        for index, long_hex in zip(members, digits, strict=True):
            names[index] = Name(identity, long_hex, f"{kind}#{identity if len(members) == 1 else long_hex}")
    return [names[index] for index in range(len(parts))]
