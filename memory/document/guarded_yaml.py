"""The guarded part of reading front matter: YAML turned into text, lists and mappings, once its events are harmless.

The events come from a state machine without recursion and are read up to the first construct that the guard refuses, so
hostile text can neither exhaust the stack nor expand.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.base.values import MAX_BYTES, MAX_DEPTH

if TYPE_CHECKING:
    import yaml

MAX_LINES = 512

_REFUSED = {
    "size": f"the front matter is larger than {MAX_BYTES // 1024} KB",
    "lines": f"the front matter has more than {MAX_LINES} lines",
    "nesting": f"the front matter is nested deeper than {MAX_DEPTH} levels",
    "anchor": "the front matter uses an anchor (&)",
    "alias": "the front matter uses an alias (*)",
    "tag": "the front matter uses a tag (!)",
    "merge": "the front matter uses a merge key (<<)",
    "documents": "the front matter holds more than one YAML document",
    "mapping": "the front matter is not a list of `key: value` lines",
    "key": "a key in the front matter is not plain text",
    "character": "the front matter holds a character that YAML does not allow",
}


class FrontRefused(Exception):
    """Raised where the guard refuses front matter; `problem` is (line in the front matter, code, sentence)."""

    def __init__(self, what: str, line: int, message: str = "") -> None:
        """Store the problem of kind `what`, with its usual sentence unless `message` is given."""
        super().__init__(what)
        self.problem = (line, f"front.{what}", message or _REFUSED[what])


class FrontKey(NamedTuple):
    """One top-level key and the position of its value: lines of the front matter from 0, columns in characters.

    `value` is text, a list or a mapping; `style` is the quote of a scalar, or "".
    """

    key: str
    value: object
    column: int
    line: int
    start: int
    end_line: int
    end: int
    style: str = ""


def duplicate(line: int, key: str) -> tuple[int, str, str]:
    """Return the problem of a duplicate key in one mapping."""
    return line, "front.duplicate", f"the key {key[:40]!r} occurs twice in the front matter; the first counts"


# Line ends only in YAML, and a mark that it drops: with them its lines and ours would differ.
_FOREIGN = re.compile("[\x85\u2028\u2029\ufeff]")
_LINE_END = re.compile(r"\r\n|\r|\n")
_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF = re.compile("[\ud800-\udbff]|[\udc00-\udc7f\udd00-\udfff]")
"""Half a character that no byte of the file means."""


def read_yaml(text: str) -> tuple[list[FrontKey], list[tuple[int, str, str]]]:
    """Return the keys of the lines between opening and closing line, and the problems inside their values.

    Line numbers count from the opening line. Raises FrontRefused.
    """
    import yaml  # Front matter of plain lines does without.

    foreign = _FOREIGN.search(text)
    if foreign:
        raise FrontRefused("character", _line_at(text, foreign.start()))
    try:
        try:
            # The two differ in tabs only: the one in C takes them for blanks.
            root = _composed(text, yaml.BaseLoader if "\t" in text else getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        except (yaml.YAMLError, ValueError, OverflowError):
            # The Python loader reports errors more exactly; the C loader is ten times as fast.
            root = _composed(text, yaml.BaseLoader)
    except yaml.reader.ReaderError as error:
        raise FrontRefused("character", _line_at(text, error.position)) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "it cannot be read"
        raise FrontRefused("syntax", 1 + (mark.line if mark else 0), f"the front matter is not YAML: {what}") from None
    except (yaml.YAMLError, ValueError, OverflowError):  # among them escapes of characters that do not exist
        raise FrontRefused("syntax", 1, "the front matter is not YAML: it cannot be read") from None
    if root is None:
        return [], []
    if not isinstance(root, yaml.MappingNode):
        raise FrontRefused("mapping", _line(root))
    problems: list[tuple[int, str, str]] = []
    items = []
    for key, node in root.value:
        start, end = node.start_mark, node.end_mark
        value, style = _value(node, problems), node.style if isinstance(node, yaml.ScalarNode) else None
        place = (key.start_mark.column, 1 + start.line, start.column, 1 + end.line, end.column)
        items.append(FrontKey(_key(key), value, *place, style or ""))
    return items, problems


def _line_at(text: str, offset: int) -> int:
    return 1 + len(_LINE_END.findall(text, 0, offset))


def _line(node: yaml.Node | yaml.Event) -> int:
    assert node.start_mark is not None
    return 1 + node.start_mark.line


def _composed(text: str, loader: Any) -> Any:
    """Return the node of a text, None for an empty one; raises FrontRefused for what may expand, nest or begin another
    document.
    """
    import yaml

    depth = documents = 0
    for event in yaml.parse(text, Loader=loader):
        match event:
            case yaml.DocumentStartEvent():
                documents += 1
                if event.explicit or documents > 1:
                    raise FrontRefused("documents", _line(event))
            case yaml.AliasEvent():
                raise FrontRefused("alias", _line(event))
            case yaml.CollectionEndEvent():
                depth -= 1
            case yaml.ScalarEvent() | yaml.CollectionStartEvent():
                if event.anchor is not None:
                    raise FrontRefused("anchor", _line(event))
                if event.tag is not None:
                    raise FrontRefused("tag", _line(event))
                if isinstance(event, yaml.CollectionStartEvent):
                    depth += 1
                    if depth > MAX_DEPTH + 1:
                        raise FrontRefused("nesting", _line(event))
            case _:
                pass
    return yaml.compose(text, Loader=loader)


def _key(node: yaml.Node) -> str:
    """Return the text of a key; raises FrontRefused for one that is none, or that merges mappings."""
    import yaml

    if not isinstance(node, yaml.ScalarNode):
        raise FrontRefused("key", _line(node))
    if node.value == "<<" and not node.style:
        raise FrontRefused("merge", _line(node))
    return _text(node)


def _text(node: yaml.ScalarNode) -> str:
    """Return the text of a scalar: halves of a character, escaped as in JSON (`\\ud83d\\ude80`), are put together.

    Raises FrontRefused for half a character alone.
    """
    text = _HALVES.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), str(node.value))
    if _HALF.search(text):
        raise FrontRefused("character", _line(node))
    return text


def _value(node: yaml.Node, problems: list[tuple[int, str, str]]) -> object:
    """Return a value as text, list or mapping; of equal keys in a mapping the first counts, with a problem added."""
    import yaml

    if isinstance(node, yaml.ScalarNode):
        return _text(node)
    if not isinstance(node, yaml.MappingNode):
        return [_value(one, problems) for one in node.value]
    found: dict[str, object] = {}
    for key, value in node.value:
        name = _key(key)
        if name in found:
            problems.append(duplicate(_line(value), name))
        found.setdefault(name, _value(value, problems))
    return found
