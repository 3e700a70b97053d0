"""Changes single places of a JSON file, with or without comments, and leaves every other byte as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory.base.values import no_constant
from memory.errors import UsageError

_MOST_DEPTH = 200
_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_INDENT = re.compile(r"^([ \t]+)[\"\[{]", re.MULTILINE)
_SHOWN = 30
"""Characters that an error shows."""


@dataclass(slots=True)
class Node:
    """A value of the file and its position in characters; `inner` are the values inside, by key or by number."""

    start: int
    begin: int
    """The position of its key, in a list that of the value itself."""
    end: int
    value: Any = None
    inner: dict[Any, Node] = field(default_factory=dict)
    opening: str = ""
    comma: int = 0
    """The position after the comma that follows the last member or item, 0 if there is none."""
    last: int = 0
    """The end of what is inside, comments included."""

    @property
    def parts(self) -> list[Node]:
        """The values inside, in order."""
        return list(self.inner.values())


class JsonFile:
    """The text of a file, parsed; UsageError `connect.json` with the line if it is invalid.

    With `strict`, comments and trailing commas are errors, too: the file's client would ignore the file.
    """

    def __init__(self, name: str, text: str, *, strict: bool = False) -> None:
        """Parse the text; `name` is for errors."""
        self.name = name
        self.bom = "\ufeff" if text.startswith("\ufeff") else ""
        self.text = text.removeprefix("\ufeff")
        self._strict = strict
        self._decoder = json.JSONDecoder(parse_constant=no_constant)
        self._comments: list[tuple[int, int]] = []
        at = self._skip(0)
        self.root: Node | None = self._value(at, 0) if at < len(self.text) else None
        if self.root is not None and (at := self._skip(self.root.end)) < len(self.text):
            raise self._wrong(at, "there is something behind the end")

    # Reading

    def _skip(self, at: int) -> int:
        """Return the position after white space and comments."""
        while True:
            at = _SPACE.match(self.text, at).end()  # type: ignore[union-attr]
            found = _COMMENT.match(self.text, at)
            if found is None:
                return at
            if self._strict:
                raise self._wrong(at, "there is a comment, for which this client ignores the whole file")
            self._comments.append(found.span())
            at = found.end()

    def _wrong(self, at: int, why: str = "") -> UsageError:
        line = self.text.count("\n", 0, at) + 1
        end = f"{self.text[at : at + _SHOWN]!r} is out of place" if at < len(self.text) else "the file ends too early"
        return UsageError(
            "connect.json",
            f"{self.name}:{line}: {why or end}",
            "fix the file, nothing was changed",
            file=self.name,
            line=line,
        )

    def _value(self, at: int, depth: int) -> Node:
        if depth > _MOST_DEPTH:
            raise self._wrong(at, "it is nested too deeply")
        opening = self.text[at : at + 1]
        if opening not in ("{", "["):
            try:
                value, end = self._decoder.raw_decode(self.text, at)
            except ValueError:
                raise self._wrong(at) from None
            return Node(at, at, end, value)
        node, closing = Node(at, at, at, opening=opening, last=at + 1), "}" if opening == "{" else "]"
        at = self._skip(at + 1)
        while self.text[at : at + 1] != closing:
            if node.inner and not node.comma:
                raise self._wrong(at, "a comma is missing")
            at = self._skip(self._inside(node, at, depth).end)
            node.comma = at + 1 if self.text[at : at + 1] == "," else 0
            if node.comma:
                node.last = node.comma
                at = self._skip(node.comma)
        if node.comma and self._strict:
            raise self._wrong(node.comma - 1, "a comma follows the last value")
        if self._comments and self._comments[-1][1] > node.last:
            node.last = self._comments[-1][1]
        values = {key: child.value for key, child in node.inner.items()}
        node.value, node.end = values if opening == "{" else list(values.values()), at + 1
        return node

    def _inside(self, node: Node, at: int, depth: int) -> Node:
        """Read the next value inside another one, with its key."""
        begin: int = at
        key: Any = len(node.inner)
        if node.opening == "{":
            word = self._value(at, depth + 1)
            at = self._skip(word.end)
            if not isinstance(word.value, str) or self.text[at : at + 1] != ":":
                raise self._wrong(at if isinstance(word.value, str) else begin)
            at, key = self._skip(at + 1), word.value
        child = self._value(at, depth + 1)
        if key in node.inner:
            raise self._wrong(begin, f"the key {key[:40]!r} appears twice")
        child.begin, node.inner[key], node.last = begin, child, child.end
        return child

    @property
    def value(self) -> Any:
        """The value of the whole file, None if it is empty."""
        return None if self.root is None else self.root.value

    def find(self, path: Sequence[str]) -> Node | None:
        """Return the node under some keys, None if there is none; UsageError if something else than an object is on the
        way.
        """
        node = self.root
        for key in path:
            if node is None:
                return None
            if node.opening != "{":
                raise self._wrong(node.start, f"an object is wanted here, to hold {key!r}")
            node = node.inner.get(key)
        return node

    # Changing: each method returns the text of the whole file

    @property
    def newline(self) -> str:
        """The line end of the file."""
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def indent(self) -> str:
        """The indentation of one level."""
        found = _INDENT.search(self.text)
        return "  " if found is None else found[1]

    def put(self, path: Sequence[str], value: Any) -> str:
        """Set the value under some keys; the last key is added or replaced."""
        if self.root is None:
            return self.bom + self._written({path[0]: _nested(path[1:], value)}, "") + self.newline + self.text
        node = self.find(path)
        if node is not None:
            return self._spliced([(node.start, node.end, self._written(value, self._indent_of(node.start)))])
        depth = next(length for length in range(len(path) - 1, -1, -1) if self.find(path[:length]) is not None)
        parent = self.find(path[:depth])
        assert parent is not None
        if parent.opening != "{":
            raise self._wrong(parent.start, f"an object is wanted here, to hold {path[depth]!r}")
        return self._added(parent, path[depth], _nested(path[depth + 1 :], value))

    def add(self, path: Sequence[str], value: Any) -> str:
        """Add an item at the end of the list under some keys, which is created if it is missing."""
        node = self.find(path)
        if node is None:
            return self.put(path, [value])
        if node.opening != "[":
            raise self._wrong(node.start, "a list is wanted here")
        return self._added(node, None, value)

    def without(
        self,
        path: Sequence[str],
        wanted: Callable[[Any], bool] | None = None,
        inside: tuple[str, Callable[[Any, Any], bool]] | None = None,
    ) -> str:
        """Remove the value under some keys, or the wanted items of the list there.

        Objects and lists on the way that become empty are removed, too. `inside` names a list within the items that
        stay and selects, by the item and the value, what to remove from it; part of that list stays.
        """
        node = self.find(path)
        if node is None:
            return self.bom + self.text
        if wanted is not None:
            if node.opening != "[":
                return self.bom + self.text
            gone = {place for place, item in node.inner.items() if wanted(item.value)}
            if not gone or len(gone) < len(node.inner):
                splices = self._spans(node, gone)
                for place, item in node.inner.items():
                    inner = item.inner.get(inside[0]) if inside is not None and place not in gone else None
                    if inside is not None and inner is not None and inner.opening == "[":
                        more = {number for number, one in inner.inner.items() if inside[1](item.value, one.value)}
                        splices += self._spans(inner, more)
                return self._spliced(sorted(splices))
        above = self.find(path[:-1])
        assert above is not None
        if len(above.inner) == 1 and len(path) > 1:
            return self.without(path[:-1])
        return self._spliced(self._spans(above, {list(above.inner).index(path[-1])}))

    def _spans(self, parent: Node, gone: Collection[int]) -> list[tuple[int, int, str]]:
        """Return the positions of values inside another one, with their keys and the commas that go with them."""
        if not gone:
            return []
        parts = parent.parts
        kept = max((place for place in range(len(parts)) if place not in gone), default=-1)
        spans = [(parts[place].begin, parts[place + 1].begin, "") for place in sorted(gone) if place < kept]
        if kept < 0:
            spans.append((parent.start + 1, parent.last if parent.comma else parts[-1].end, ""))
        elif kept + 1 < len(parts):
            spans.append((parts[kept].end, parent.comma or parts[-1].end, "," if parent.comma else ""))
        return spans

    def _added(self, parent: Node, key: str | None, value: Any) -> str:
        parts = parent.parts
        outer = self._indent_of(parent.start)
        inner, same_line = outer + self.indent, False
        if parts:
            begin = parts[-1].begin
            # After a line comment the rest of the line does not count.
            same_line = "\n" not in self.text[parent.start : begin] and not self._ends_a_line(parent.last)
            inner = self._indent_of(begin)
        label = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
        if same_line:
            text = " " + label + json.dumps(value, ensure_ascii=False)
        else:
            text = self.newline + inner + label + self._written(value, inner)
        splices = []
        if parts and not parent.comma:
            splices.append((parts[-1].end, parts[-1].end, ","))
        if not parts and "\n" not in self.text[parent.last : parent.end]:
            text += self.newline + outer
        splices.append((parent.last, parent.last, text))
        return self._spliced(splices)

    def _ends_a_line(self, at: int) -> bool:
        """Return whether a comment ends there that only the end of its line ends."""
        return any(end == at and self.text.startswith("//", start) for start, end in self._comments)

    def _indent_of(self, at: int) -> str:
        """Return the white space at the beginning of the line that contains an offset."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _written(self, value: Any, indent: str) -> str:
        text = json.dumps(value, ensure_ascii=False, indent=self.indent)
        return text.replace("\n", self.newline + indent)

    def _spliced(self, splices: Sequence[tuple[int, int, str]]) -> str:
        """Return the file with some places replaced; `splices` are in order."""
        pieces, at = [self.bom], 0
        for start, end, new in splices:
            pieces += [self.text[at:start], new]
            at = end
        return "".join([*pieces, self.text[at:]])


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value
