"""Whatever a file holds, it is read without failing, and what is written plainly reads the same, once and for all."""

from __future__ import annotations

from datetime import UTC

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memory.document import Document, parse
from memory.files.check import KINDS, check_files, line_findings, write_plainly
from memory.files.fields.dress import UNREAD
from memory.files.journal.model import Journal
from memory.files.tasks.model import TaskList
from tests.examples import examples
from tests.fixture_files import sample, sample_names
from tests.memory.document.documents import documents
from tests.memory_files import snapshot_of

LINES = st.sampled_from(
    [
        "## Pending",
        "## Todo",
        "## Done ✅",
        "## Notes",
        "# Tasks",
        "## 2024-01-15",
        "## January 15, 2024",
        "## Facts",
        "## 2024-01-15T10:30 — x",
        "### [HIGH] A",
        "### B (low)",
        "### 4:30 PM — C",
        "### [x] D",
        "#### P1 E",
        "## People",
        "- due: 2024-01-15",
        "- **Due:** 2024-01-15",
        "* deadline: x",
        "  - due: y",
        "- priority: high",
        "- status: done",
        "- [ ] F !high",
        "- [x] G",
        "1. H",
        "• I",
        "- 10:30 — J",
        "some text",
        "| a | b |",
        "|---|---|",
        "```",
        "<div>",
        "-->",
        "<!--",
        "",
        "> - due: z",
        "due: 2024-01-15",
        "\t- created: q",
        "- notes: a",
        "  more",
        "-",
        "## Active Plans",
    ]
)
FILES = st.lists(LINES, max_size=16)
SETTINGS = settings(max_examples=examples(250), deadline=None, suppress_health_check=list(HealthCheck))


def _read(name: str, document: Document) -> list[object]:
    if name == "tasks.md":
        return [(one.section, one.title, one.priority, dict(one.fields)) for one in TaskList(name, document)]
    if name == "journal.md":
        return [(one.date, one.time, one.title) for one in Journal(name, document).entries()]
    return []


@SETTINGS
@given(
    FILES, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["tasks.md", "journal.md", "knowledge.md", "contacts.md"])
)
def test_what_is_written_plainly_reads_the_same(lines: list[str], end: str, name: str) -> None:
    """The entries of a file are the same before and after, its own bytes stay, and a second time changes nothing."""
    data = end.join(lines).encode()
    snapshot = snapshot_of({name: data})
    before = _read(name, snapshot.document(name))
    check_files(snapshot)
    assert snapshot.document(name).dump() == data
    written = write_plainly(snapshot, [name]).documents.get(name)
    if written is not None:
        assert _read(name, written) == before
        again = snapshot_of({name: written.dump()})
        assert write_plainly(again, [name]).documents == {}


@SETTINGS
@given(documents(), st.sampled_from(sorted(KINDS)))
@example(b"-      code\n<b>\n# h\n", "knowledge")
@example(b"## People\n\n-      code\n<b>\n# h\n", "contacts")
def test_reading_never_fails(data: bytes, kind: str) -> None:
    """Any bytes have their findings, each with a line of the file."""
    document = parse(data)
    name = {"plans": "orchestration"}.get(kind, kind) + ".md"
    for one in line_findings(name, document):
        assert 0 <= one.line <= data.count(b"\n") + data.count(b"\r")
    write_plainly(snapshot_of({name: data}), [name])


@pytest.mark.parametrize("name", sample_names())
def test_the_formats_own_files_are_plain(name: str) -> None:
    """Nothing in the samples of the format is read in another form, or by nothing."""
    assert [one for one in line_findings(name, parse(sample(name))) if one.code == UNREAD] == []
    assert write_plainly(snapshot_of({name: sample(name)}, UTC), [name]).documents == {}
