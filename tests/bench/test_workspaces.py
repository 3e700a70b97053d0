"""The generated workspaces are the same for one seed, as large as they say, and varied."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from bench import reference
from bench.workspaces import FIRST_TITLE, SIZES, workspace_files
from memory.document import parse
from memory.document.check import structure_problems

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
SEVEN = {
    "tasks.md",
    "knowledge.md",
    "contacts.md",
    "journal.md",
    "orchestration.md",
    "monitors.md",
    "config.md",
}


def test_one_seed_gives_the_same_bytes() -> None:
    """Size, seed and now decide everything; another seed or another now changes it."""
    size = SIZES["S"]
    first = workspace_files(size, NOW, seed=7)
    assert first == workspace_files(size, NOW, seed=7)
    assert first["tasks.md"] != workspace_files(size, NOW, seed=8)["tasks.md"]
    assert first["tasks.md"] != workspace_files(size, NOW + timedelta(days=1), seed=7)["tasks.md"]


@pytest.mark.parametrize(("name", "megabytes"), [("S", 0.09), ("M", 2.5)])
def test_sizes(name: str, megabytes: float) -> None:
    """All seven files, exactly the entries asked for, and the bytes within a tenth."""
    size = SIZES[name]
    files = workspace_files(size, NOW)
    assert set(files) == SEVEN
    assert len(reference.eager_fields(files["tasks.md"].encode())) == size.tasks
    assert len(reference.eager_fields(files["journal.md"].encode())) == size.journal
    total = sum(len(text.encode()) for text in files.values())
    assert total == pytest.approx(megabytes * 1_000_000, rel=0.1)


def test_tasks_are_varied() -> None:
    """Every form that files show is in the medium workspace."""
    tasks = workspace_files(SIZES["M"], NOW)["tasks.md"]
    forms = {
        "recurring remark": r"^- due: \d{4}-\d\d-\d\d \d\d:\d\d \(recurring: ",
        "recurring alone": r"^- due: recurring: ",
        "remark on null": r"^- due: null \(",
        "Chinese": r"[\u4e00-\u9fff]{4}",
        "emoji": r"[\U0001f300-\U0001faff]",
        "code span": r"^### .*`.+`",
        "fence": r"^```bash$",
        "heading in a fence": r"^### not a heading$",
        "field in a fence": r"^- due: not a field$",
        "table": r"^\|-+[:|]",
        "continuation": r"^- notes: .*\n  \S",
        "unknown field": r"^- x-source: ",
        "title in brackets": r"^### \[LOW\] .*\[urgent\]",
    }
    assert [name for name, form in forms.items() if not re.search(form, tasks, re.M)] == []
    assert FIRST_TITLE in tasks.split("\n### ")[1]
    lengths = [len(entry) for entry in tasks.split("\n### ")]
    assert max(lengths) > 900
    without = [entry for entry in reference.eager_fields(tasks.encode()) if "created" not in str(entry["fields"])]
    assert 200 < len(without) < 1_000


def test_the_eager_reference_agrees_with_the_document() -> None:
    """Both readers find the same entries with the same fields in what the generator writes."""
    files = workspace_files(SIZES["S"], NOW)
    for name in ("tasks.md", "journal.md", "monitors.md"):
        data = files[name].encode("utf-8")
        document = parse(data)
        expected = [
            {"section": section.title, "title": entry.title, "fields": dict(entry.fields)}
            for section in document.sections
            for entry in section.entries
        ]
        assert structure_problems(document) == []
        assert expected == reference.eager_fields(data)
