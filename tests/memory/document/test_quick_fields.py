"""Fields read in one pass are those that are found by their positions, whatever code stands between them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.document.lines import _BULLET, _FIELD, _matches, _matches_by_line, read_fields

PIECES = (
    *("- due: 2024-01-15", "- notes: first", "- notes:", "  more", "   deeper  ", "\tindented", "", "plain text"),
    *("```", "~~~", "```sh", "````", "  ```", "~~~ `x`", "<div>", "x < y", "- hidden: no", "  - inner: no", "\r"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=14), st.sampled_from(["\n", "\r\n"]))
def test_quick_is_exact(lines: list[str], newline: str) -> None:
    """Keys and values are those of the positions, the first of a key."""
    fields = read_fields(newline.join(lines))
    wanted: dict[str, str] = {}
    for node in fields.nodes:
        wanted.setdefault(node.key, node.value)
    assert dict(fields) == wanted


@given(st.lists(st.sampled_from(PIECES), max_size=14), st.sampled_from(["\n", "\r\n"]))
def test_positions_are_those_found_line_by_line(lines: list[str], newline: str) -> None:
    """Fields and bullets have the places and the texts that the block scanner leaves, also where fences stand."""
    body = newline.join(lines)
    for forms in (_FIELD, _BULLET):
        quick = [(line, found.span(), found.groups()) for line, found in _matches(forms, body)]
        assert quick == [(line, found.span(), found.groups()) for line, found in _matches_by_line(forms[1], body)]


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_quick_reads_entries_as_bodies(lines: list[str]) -> None:
    """The source of an entry has the fields of its body."""
    body = "\n".join(lines)
    assert dict(read_fields(f"### Title\n{body}".encode())) == dict(read_fields(body))
