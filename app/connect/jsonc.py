"""Changes single places of a JSON file, with comments or without, and leaves every other byte as it is."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory.errors import UsageError

_MOST_DEPTH = 200
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)|(?P<comment>//[^\r\n]*|/\*.*?\*/)|(?P<string>"(?:[^"\\\x00-\x1f]|\\.)*")"""
    r"""|(?P<sign>[{}\[\]:,])|(?P<word>-?[0-9][0-9.eE+-]*|true|false|null)""",
    re.DOTALL,
)
_KEPT = 3
"""Characters of a token that an error shows, at most ten times as many."""


@dataclass(slots=True)
class Node:
    """A value of the file and its place in characters; `members` of an object by key, `items` of a list."""

    start: int
    end: int = 0
    members: dict[str, Node] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)
    opening: str = ""
    key_start: int = -1
    comma: int = 0
    """The place behind the comma that follows the last member or item, 0 where none does."""
    last: int = 0
    """The end of the last token inside, comments included; the place behind the opening sign where there is none."""

    @property
    def parts(self) -> list[Node]:
        """The values inside, in their order."""
        return list(self.members.values()) if self.opening == "{" else self.items


class JsonFile:
    """The text of a file, parsed; UsageError `connect.json` with the line where it is none.

    With `strict` comments and commas behind the last value are such errors: their client would ignore the file.
    """

    def __init__(self, name: str, text: str, *, strict: bool = False) -> None:
        """Parse the text; `name` is for errors."""
        self.name = name
        self.bom = "\ufeff" if text.startswith("\ufeff") else ""
        self.text = text.removeprefix("\ufeff")
        self._strict = strict
        self._tokens: list[tuple[str, int, int]] = []
        self._at = 0
        self._scan()
        self.root: Node | None = self._value(0) if self._tokens else None
        if self._at < len(self._tokens):
            raise self._wrong(self._tokens[self._at][1], "there is something behind the end")

    # Reading

    def _scan(self) -> None:
        at, text = 0, self.text
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._wrong(at, "it is no JSON")
            kind = str(found.lastgroup)
            if kind == "comment" and self._strict:
                raise self._wrong(at, "there is a comment, for which this client ignores the whole file")
            if kind != "space":
                self._tokens.append((kind, at, found.end()))
            at = found.end()
        self._comments = [(start, end) for kind, start, end in self._tokens if kind == "comment"]
        self._tokens = [token for token in self._tokens if token[0] != "comment"]

    def _wrong(self, at: int, why: str) -> UsageError:
        line = self.text.count("\n", 0, at) + 1
        return UsageError(
            "connect.json",
            f"{self.name}:{line}: {why}",
            "mend the file, nothing was changed",
            file=self.name,
            line=line,
        )

    def _take(self, kinds: str = "") -> tuple[str, int, int, str]:
        if self._at >= len(self._tokens):
            raise self._wrong(len(self.text), "the file ends too early")
        kind, start, end = self._tokens[self._at]
        word = self.text[start:end] if kind == "sign" else kind
        if kinds and word not in kinds.split():
            raise self._wrong(start, f"{self.text[start : start + 10 * _KEPT]!r} stands where it cannot")
        self._at += 1
        return kind, start, end, word

    def _value(self, depth: int) -> Node:
        if depth > _MOST_DEPTH:
            raise self._wrong(self._tokens[self._at - 1][1], "it is nested too deeply")
        kind, start, end, sign = self._take("string word { [")
        node = Node(start, end)
        if kind in ("string", "word"):
            try:
                json.loads(self.text[start:end])
            except ValueError:
                raise self._wrong(start, "it is no JSON") from None
            return node
        node.opening, closing = sign, "}" if sign == "{" else "]"
        first = True
        while True:
            if self._at < len(self._tokens) and self.text[self._tokens[self._at][1]] == closing:
                if node.comma and self._strict:
                    raise self._wrong(self._tokens[self._at - 1][1], "a comma follows the last value")
                break
            if not first and not node.comma:
                raise self._wrong(self._tokens[min(self._at, len(self._tokens) - 1)][1], "a comma is missing")
            first = False
            node.comma = 0
            if sign == "{":
                _, key_start, key_end, _ = self._take("string")
                self._take(":")
                child = self._value(depth + 1)
                child.key_start = key_start
                key = json.loads(self.text[key_start:key_end])
                if key in node.members:
                    raise self._wrong(key_start, f"the key {key[:40]!r} is there twice")
                node.members[key] = child
            else:
                node.items.append(self._value(depth + 1))
            if self._at < len(self._tokens) and self.text[self._tokens[self._at][1]] == ",":
                node.comma = self._take()[2]
        previous = self._tokens[self._at - 1][2]
        _, closing_start, node.end, _ = self._take()
        before = bisect_left(self._comments, (closing_start,)) - 1
        node.last = previous
        if before >= 0 and self._comments[before][0] >= previous:
            node.last = self._comments[before][1]
        return node

    def data(self, node: Node | None) -> Any:
        """Return what a node says."""
        if node is None:
            return None
        if node.opening == "{":
            return {key: self.data(child) for key, child in node.members.items()}
        if node.opening == "[":
            return [self.data(child) for child in node.items]
        return json.loads(self.text[node.start : node.end])

    def find(self, path: Sequence[str]) -> Node | None:
        """Return the node under some keys, None where there is none; UsageError where something else than an object
        stands on the way.
        """
        node = self.root
        for key in path:
            if node is None:
                return None
            if node.opening != "{":
                raise self._wrong(node.start, f"an object is wanted here, to hold {key!r}")
            node = node.members.get(key)
        return node

    # Changing: each returns the text of the whole file

    @property
    def newline(self) -> str:
        """The line end of the file."""
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def indent(self) -> str:
        """The indentation of one level."""
        stop = 0
        for node in self.root.parts if self.root is not None else ():
            begin = node.key_start if node.key_start >= 0 else node.start
            # Not farther back: a file of one line may hold a hundred thousand keys.
            before = self.text[self.text.rfind("\n", stop, begin) + 1 : begin] if "\n" in self.text[stop:begin] else ""
            if before and not before.strip(" \t"):
                return before
            stop = node.end
        return "  "

    def put(self, path: Sequence[str], value: Any) -> str:
        """Set what stands under some keys, the last of them new or replaced."""
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
        """Add an item at the end of the list under some keys, which is made where it is missing."""
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
        inside: tuple[str, Callable[[Any], bool]] | None = None,
    ) -> str:
        """Take away what stands under some keys, or those items of the list there that are wanted.

        Objects and lists on the way that are empty then go with it. Of items that stay, `inside` names a list of theirs
        and what of that is wanted too; some of it stays.
        """
        node = self.find(path)
        if node is None:
            return self.bom + self.text
        if wanted is not None:
            if node.opening != "[":
                return self.bom + self.text
            gone = {place for place, item in enumerate(node.items) if wanted(self.data(item))}
            if not gone or len(gone) < len(node.items):
                splices = self._spans(node, gone)
                for place, item in enumerate(node.items):
                    inner = item.members.get(inside[0]) if inside is not None and place not in gone else None
                    if inside is not None and inner is not None:
                        more = {number for number, one in enumerate(inner.items) if inside[1](self.data(one))}
                        splices += self._spans(inner, more)
                return self._spliced(sorted(splices))
        above = self.find(path[:-1])
        assert above is not None
        if len(above.members) == 1 and len(path) > 1:
            return self.without(path[:-1])
        return self._spliced(self._spans(above, {list(above.members).index(path[-1])}))

    def _spans(self, parent: Node, gone: Collection[int]) -> list[tuple[int, int, str]]:
        """Return the places of values inside another one, with their keys and the commas that go with them."""
        if not gone:
            return []
        parts = parent.parts
        begin = [part.key_start if part.key_start >= 0 else part.start for part in parts]
        kept = max((place for place in range(len(parts)) if place not in gone), default=-1)
        spans = [(begin[place], begin[place + 1], "") for place in sorted(gone) if place < kept]
        if kept < 0:
            spans.append((parent.start + 1, parent.last if parent.comma else parts[-1].end, ""))
        elif kept + 1 < len(parts):
            spans.append((parts[kept].end, parent.comma or parts[-1].end, "," if parent.comma else ""))
        return spans

    def _added(self, parent: Node, key: str | None, value: Any) -> str:
        parts = parent.parts
        outer = self._indent_of(parent.start)
        inner = outer + self.indent
        if parts:
            begin = parts[-1].key_start if parts[-1].key_start >= 0 else parts[-1].start
            # Behind a comment that goes to the end of its line nothing counts.
            same_line = "\n" not in self.text[parent.start : begin] and not self._ends_a_line(parent.last)
            inner = self._indent_of(begin)
        else:
            same_line = False
        label = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
        if parts and same_line:
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
        """Tell whether a comment ends there that only the end of its line ends."""
        before = bisect_left(self._comments, (at,)) - 1
        return before >= 0 and self._comments[before][1] == at and self.text.startswith("//", self._comments[before][0])

    def _indent_of(self, at: int) -> str:
        """Return the white space that begins the line of an offset."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _written(self, value: Any, indent: str) -> str:
        text = json.dumps(value, ensure_ascii=False, indent=self.indent)
        return text.replace("\n", self.newline + indent)

    def _spliced(self, splices: Sequence[tuple[int, int, str]]) -> str:
        """Return the file with some places replaced; they come in their order."""
        pieces, at = [self.bom], 0
        for start, end, new in splices:
            pieces += [self.text[at:start], new]
            at = end
        return "".join([*pieces, self.text[at:]])


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value
