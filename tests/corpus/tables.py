"""Pipe tables that are no rectangles."""

from __future__ import annotations

from .case import Case
from .place import Place

_TOP = b"---\ntype: contacts\n---\n## Channels\n"


_LINKED = ("config.md:12 link.dangling", "config.md:15 link.dangling", "config.md:16 link.dangling")
"""The channels of the table in the sample to which other entries lead."""


def _case(name: str, says: str, *finds: str, **more: object) -> Case:
    return Case(f"tables/{name}", says, file="contacts.md", finds=(*_LINKED, *finds), **more)  # type: ignore[arg-type]


def _columns(place: Place) -> None:
    row = b"|" + b"c|" * 10_000 + b"\n"
    place.put("contacts.md", _TOP + row + b"|" + b"---|" * 10_000 + b"\n" + row * place.scale(20, 3))


def _rows(place: Place) -> None:
    rows = b"".join(b"| Bot %d | c-%d | x | on |\n" % (n, n) for n in range(place.scale(50_000, 5_000)))
    place.put("contacts.md", _TOP + b"| Name | ID | Type | Status |\n|---|---|---|---|\n" + rows)


def _headers(place: Place) -> None:
    place.put("contacts.md", _TOP + b"| a | b |\n" * place.scale(200_000, 20_000))


CASES = (
    _case("ragged-rows", "rows with too few and too many cells", "contacts.md:8 contact.cells"),
    _case("escaped-pipes", "pipes behind one and two backslashes"),
    _case("no-delimiter-row", "no row of dashes", "contacts.md:5 line.unread"),
    _case("code-with-pipes", "pipes in code", "contacts.md:7 contact.cells"),
    _case("delimiter-too-short", "a row of dashes with fewer cells than the header", "contacts.md:5 line.unread"),
    _case("no-outer-pipes", "no pipes at the ends, columns aligned by colons"),
    _case("empty-header", "a header of empty cells", "contacts.md:5 line.unread"),
    _case("columns-twice", "two columns of one name", "contacts.md:5 contact.column"),
    _case("in-a-fence", "a table inside of a code fence", "contacts.md:5 line.unread", "contacts.md:6 line.unread"),
    _case("in-a-comment", "rows inside of an HTML comment", "contacts.md:8 line.unread"),
    _case("only-pipes", "a row of nothing but pipes", "contacts.md:7 contact.cells"),
    _case(
        "wide-characters",
        "wide, joined, reversed and steering characters in cells",
        "contacts.md:7 content.suspicious",
        screen=True,
    ),
    _case(
        "people-other-forms",
        "people that are not written as people",
        "contacts.md:9 contact.form",
        "contacts.md:12 contact.form",
    ),
    _case(
        "columns-10000",
        "10,000 columns",
        "contacts.md:5 contact.column",
        "contacts.md:5 line.unread",
        build=_columns,
        generated=True,
        screen=True,
    ),
    _case("rows-50000", "50,000 rows", build=_rows, generated=True),
    _case(
        "headers-only",
        "200,000 header rows without a table",
        "contacts.md:5 line.unread",
        build=_headers,
        generated=True,
    ),
)
