"""Bytes that another program wrote give the same document as a fresh parse, and share the entries that stayed."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.document import parse
from memory.document.model import updated
from tests.examples import examples
from tests.memory.document.documents import EXAMPLES, documents, structure

SETTINGS = settings(
    max_examples=max(EXAMPLES // 10, examples(300)), deadline=None, suppress_health_check=list(HealthCheck)
)
PIECES = st.sampled_from([b"", b"x", b"\n", b"\r", b"## X\n", b"\n### y\n", b"```\n", b"-->\n", b"---\n", b"- a: 1\n"])


@SETTINGS
@given(documents(), documents(), st.data())
def test_same_as_a_fresh_parse(data: bytes, other: bytes, draw: st.DataObject) -> None:
    """After random replacements of bytes, and for another file, the document is the one that its bytes are."""
    document = parse(data)
    for _ in range(draw.draw(st.integers(1, 4))):
        start = draw.draw(st.integers(0, len(data)))
        stop = draw.draw(st.one_of(st.just(start), st.integers(start, len(data))))
        data = data[:start] + draw.draw(PIECES) + data[stop:]
        document = updated(document, data)
        assert document.dump() == data
        assert structure(parse(data)) == structure(document)
    assert structure(parse(other)) == structure(updated(document, other))


def test_shares_what_did_not_change() -> None:
    """Sections and entries of the same bytes are the same objects, also where an entry was moved."""
    data = b"".join(b"## S%d\n" % part + b"".join(b"### e%d\n- a: 1\n" % at for at in range(5)) for part in range(5))
    document = parse(data)
    before = [section.entries for section in document.sections]
    changed = updated(document, data.replace(b"## S2\n### e0\n- a: 1", b"## S2\n### e0\n- a: 2", 1))
    assert changed.sections[0] is document.sections[0]
    assert changed.sections[4] is document.sections[4]
    assert changed.sections[2].entries[1:] == before[2][1:]
    assert updated(document, data) is document
    entries = [b"### e%d\n" % (at // 2) for at in range(6)]
    document = parse(b"## One\n" + b"".join(entries) + b"## Two\n")
    moved = updated(document, b"## One\n" + b"".join(entries[1:]) + b"## Two\n" + entries[0])
    after = [entry for section in moved.sections for entry in section.entries]
    assert sorted(map(id, after)) == sorted(map(id, document.sections[0].entries))
