"""Which journal entries mention a task, a plan or a monitor."""

from __future__ import annotations

from memory.files.journal.mentions import subject
from memory.files.links import journal_naming, quoted
from tests.widgets.panes.looking import DEMO, look


def test_entries_that_quote_a_title_mention_it() -> None:
    """Every entry that has the title in quotation marks is found, nothing that only has its words."""
    snapshot = look(DEMO)
    task = next(task for task in snapshot.tasks if task.title == "Payment intent API")
    found = list(journal_naming(snapshot, task.title))
    assert [entry.title for entry in found] == ["Task Started"]
    assert task.title in quoted(found[0].entry.text)
    assert list(journal_naming(snapshot, "Payment intent")) == []


def test_digits_of_a_ref_lead_to_what_has_it() -> None:
    """Tasks, plans and monitors are found by seven digits or more; words are no digits."""
    snapshot = look(DEMO)
    for one in (*snapshot.tasks.tasks[:3], *snapshot.plans.plans, *snapshot.monitors.monitors):
        found = subject(snapshot, one.ref.partition("#")[2])
        assert found is not None
        assert found.title == one.title
        assert subject(snapshot, one.ref.partition("#")[2][:7]) is not None
    assert subject(snapshot, "deploy") is None
    assert subject(snapshot, "0000000") is None
