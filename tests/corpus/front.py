"""Front matter that readers of YAML choke on, run, or take for something else."""

from __future__ import annotations

from .case import Case
from .place import Place

_BODY = (
    b"---\n## Pending\n\n### [HIGH] Ship it\n- created: 2024-01-14\n\n## In Progress\n\n## Completed (last 7 days)\n"
)


def _case(name: str, says: str, **more: object) -> Case:
    return Case(f"front/{name}", says, **more)  # type: ignore[arg-type]


def _brackets(place: Place) -> None:
    place.put("tasks.md", b"---\ntype: task-list\nx: " + b"[" * 50_000 + b"\n" + _BODY)


def _large(place: Place) -> None:
    place.put("tasks.md", b"---\ntype: task-list\nx: " + b"y" * 70_000 + b"\n" + _BODY)


def _unclosed_large(place: Place) -> None:
    lines = b"".join(b"key%d: value\n" % number for number in range(place.scale(500_000, 50_000)))
    place.put("tasks.md", b"---\n" + lines + b"\n## Pending\n\n## In Progress\n\n## Completed\n")


CASES = (
    _case("unclosed", "front matter that is never closed", screen=True, finds=("tasks.md:1 front.unclosed",)),
    _case(
        "merge-bomb",
        "nine lists of nine aliases each, merged: 400 million words",
        screen=True,
        finds=("tasks.md:2 front.anchor",),
    ),
    _case("anchor", "an anchor without an alias", finds=("tasks.md:2 front.anchor",)),
    _case("tabs", "tabs as indentation", finds=("tasks.md:2 front.syntax",)),
    _case("duplicate-keys", "a key that stands twice", finds=("tasks.md:4 front.duplicate",)),
    _case("impossible-date", "a date of which YAML makes an exception", finds=("tasks.md:3 front.updated",)),
    _case("two-documents", "two YAML documents", finds=("tasks.md:3 front.documents",)),
    _case("python-tag", "a tag that has Python call a program", finds=("tasks.md:3 front.tag",)),
    _case("misread-scalars", "`10:30`, `0755`, `no`, `1e3`, which YAML takes for numbers"),
    _case("not-a-mapping", "a list instead of keys", finds=("tasks.md:2 front.mapping",)),
    _case("block-scalar", "a text block that holds the closing line"),
    _case("many-lines", "600 keys", finds=("tasks.md:514 front.lines",)),
    _case("deep", "lists nested 12 levels deep", finds=("tasks.md:3 front.nesting",)),
    _case("control-character", "a control character that YAML does not allow", finds=("tasks.md:3 front.character",)),
    _case("wrong-type", "the type of another file", finds=("tasks.md:2 front.type",)),
    _case("updated-is-a-list", "a list where the time of the last change stands"),
    _case("line-ends-mixed", "CRLF around LF"),
    _case("quoted-keys", "quoted keys and a comment behind the time"),
    _case("blank-line-before", "a blank line before it"),
    _case("four-dashes", "four dashes instead of three"),
    _case("quote-unbalanced", "a quote that is never closed", finds=("tasks.md:5 front.syntax",)),
    _case("complex-key", "a list as a key", finds=("tasks.md:2 front.key",)),
    _case("empty", "nothing between the lines"),
    _case("toml", "TOML between plus signs"),
    _case("json", "JSON between the lines"),
    _case(
        "utf8-invalid", "a Latin-1 byte inside", finds=("tasks.md:3 document.encoding", "tasks.md:3 front.character")
    ),
    _case("alone", "front matter and nothing else, without a last line end"),
    _case(
        "brackets-50000",
        "50,000 opening brackets, which crash the C parser",
        build=_brackets,
        generated=True,
        finds=("tasks.md:3 front.nesting",),
    ),
    _case("large", "a value of 70 KB", build=_large, generated=True, finds=("tasks.md:1 front.size",)),
    _case(
        "unclosed-large",
        "500,000 keys that are never closed",
        build=_unclosed_large,
        generated=True,
        finds=("tasks.md:1 front.unclosed",),
    ),
)
