"""What fits a message: what the systems offer, and where a search can find more than that."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from memory.prompts import for_message, is_searched
from memory.systems import searcher_of
from memory.workspace import Workspace

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
FACT = '{"id":"m-1","scope":"workspace","text":"the gateway restarts at night","tags":[],"ts":"2024-01-10T00:00:00Z"}\n'


def _workspace(folder: Path, *marks: str) -> Workspace:
    """Return a workspace of facts, with the marks of other systems."""
    facts = folder / ".aegis/memory/memories.jsonl"
    facts.parent.mkdir(parents=True)
    facts.write_text(FACT)
    for mark in marks:
        path = folder / mark
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix:
            path.write_text('workspace_id = "01ARZ3NDEKTSV4RRFFQ69G5FAV"\ncreated_at = "2024-01-01T00:00:00Z"\n')
        else:
            path.mkdir()
    return Workspace.open(folder, state_home=folder.parent / "state", machine_zone=UTC)


def test_facts_alone_are_not_searched(tmp_path: Path) -> None:
    """Facts offer themselves, so a search finds nothing more, and the prompt is the same with one."""
    workspace = _workspace(tmp_path / "facts")
    assert not is_searched(workspace)
    plain = for_message(workspace, NOW, "when does the gateway restart")
    assert "the gateway restarts at night" in plain.text
    with closing(searcher_of(workspace)) as searcher:
        assert plain == for_message(workspace, NOW, "when does the gateway restart", searcher=searcher)


def test_what_does_not_offer_itself_is_searched(tmp_path: Path) -> None:
    """Memory files are searched, and curated memory unless it is left out."""
    files = _workspace(tmp_path / "files", ".aiter/memory")
    curated = _workspace(tmp_path / "curated", ".agh/workspace.toml")
    assert is_searched(files)
    assert is_searched(curated)
    assert not is_searched(curated, ("curated",))
    assert is_searched(files, ("curated",))
