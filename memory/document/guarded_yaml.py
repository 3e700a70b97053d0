"""The guarded part of reading front matter: YAML's events, one by one, turned into text, lists and mappings.

The events come from a state machine without recursion and stop at the first construct that the guard refuses, so
hostile text can neither exhaust the stack nor expand.
"""

from __future__ import annotations

import re

import yaml

from memory.base.values import MAX_DEPTH
from memory.document.front_matter import FrontKey, FrontRefused, duplicate

# Line ends only in YAML, and a mark that it drops: with them its lines and ours would differ.
_FOREIGN = re.compile("[\x85\u2028\u2029\ufeff]")
_Place = tuple[int, int]  # line in the front matter from 0, column
_LINE_END = re.compile(r"\r\n|\r|\n")


def read_yaml(text: str) -> tuple[list[FrontKey], list[tuple[int, str, str]]]:
    """Return the keys of the lines between opening and closing line, and the problems inside their values.

    Line numbers count from the opening line. Raises FrontRefused.
    """
    foreign = _FOREIGN.search(text)
    if foreign:
        raise FrontRefused("character", _line_at(text, foreign.start()))
    reader = _Reader()
    try:
        for event in yaml.parse(text, Loader=yaml.BaseLoader):
            reader.take(event)
    except yaml.reader.ReaderError as error:
        raise FrontRefused("character", _line_at(text, error.position)) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "it cannot be read"
        raise FrontRefused("syntax", 1 + (mark.line if mark else 0), f"the front matter is not YAML: {what}") from None
    except (yaml.YAMLError, ValueError, OverflowError):  # among them escapes of characters that do not exist
        raise FrontRefused("syntax", 1, "the front matter is not YAML: it cannot be read") from None
    return reader.items, reader.problems


def _line_at(text: str, offset: int) -> int:
    return 1 + len(_LINE_END.findall(text, 0, offset))


def _begin(event: yaml.Event) -> _Place:
    assert event.start_mark is not None
    return 1 + event.start_mark.line, event.start_mark.column


def _end(event: yaml.Event) -> _Place:
    assert event.end_mark is not None
    return 1 + event.end_mark.line, event.end_mark.column


class _Open:
    """A list or mapping that is being read, its start, and the key that waits for its value."""

    __slots__ = ("column", "key", "start", "value")

    def __init__(self, value: dict[str, object] | list[object], start: _Place) -> None:
        self.value = value
        self.start = start
        self.key: str | None = None
        self.column = 0


class _Reader:
    """Builds the values; the stack holds the open lists and mappings, the top mapping first."""

    def __init__(self) -> None:
        self.items: list[FrontKey] = []
        self.problems: list[tuple[int, str, str]] = []
        self.stack: list[_Open] = []
        self.begun = False

    def take(self, event: yaml.Event) -> None:
        """Handle the next event; raises FrontRefused."""
        line = _begin(event)[0]
        match event:
            case yaml.DocumentStartEvent():
                if event.explicit or self.begun:
                    raise FrontRefused("documents", line)
                self.begun = True
            case yaml.AliasEvent():
                raise FrontRefused("alias", line)
            case yaml.ScalarEvent():
                self._check(event, line)
                self._scalar(event, line)
            case yaml.CollectionStartEvent():
                self._check(event, line)
                self._open(event, line)
            case yaml.CollectionEndEvent():
                done = self.stack.pop()
                if self.stack:
                    self._finish(done.value, done.start, _end(event), "")
            case _:
                pass

    def _check(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, line: int) -> None:
        if event.anchor is not None:
            raise FrontRefused("anchor", line)
        if event.tag is not None:
            raise FrontRefused("tag", line)

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        if not self.stack:
            raise FrontRefused("mapping", line)
        top = self.stack[-1]
        if isinstance(top.value, dict) and top.key is None:
            if event.value == "<<" and not event.style:
                raise FrontRefused("merge", line)
            top.key, top.column = event.value, _begin(event)[1]
        else:
            self._finish(event.value, _begin(event), _end(event), event.style or "")

    def _open(self, event: yaml.CollectionStartEvent, line: int) -> None:
        mapping = isinstance(event, yaml.MappingStartEvent)
        if not self.stack and not mapping:
            raise FrontRefused("mapping", line)
        if len(self.stack) > MAX_DEPTH:
            raise FrontRefused("nesting", line)
        if self.stack and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None:
            raise FrontRefused("key", line)
        self.stack.append(_Open({} if mapping else [], _begin(event)))

    def _finish(self, value: object, start: _Place, end: _Place, style: str) -> None:
        """Put a complete value into the list or mapping that contains it."""
        top = self.stack[-1]
        if isinstance(top.value, list):
            top.value.append(value)
            return
        key, top.key = top.key, None
        assert key is not None
        if len(self.stack) == 1:
            self.items.append(FrontKey(key, value, top.column, *start, *end, style))
        elif key in top.value:
            self.problems.append(duplicate(start[0], key))
        else:
            top.value[key] = value
