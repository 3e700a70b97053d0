"""Conversion: each entry is accounted for, what goes there and back is the same bytes, the source never changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory.base.items import Item
from memory.convert.operations import ConversionReport
from memory.convert.operations import convert_entries as convert
from memory.document import parse
from memory.document.item_block import body_of, item_of_block
from memory.document.lines import scan
from memory.document.nodes import bare
from memory.errors import MemdeckError
from memory.workspace import Workspace
from tests.fixture_files import SAMPLE
from tests.strategies import markdown_documents

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
AGENT = b'[memory]\nprocedural_dir = "lessons"\nepisodic_dir = "scratch"\n'


def workspace(folder: Path, files: Mapping[str, str] | None = None) -> Workspace:
    """A workspace with memory files, an agent with typed memory, and room for facts."""
    Workspace.init(
        folder, NOW, actor="test", state_home=folder.parent / "state", machine_zone=UTC, files=dict(files or {})
    )[0].close()
    (folder / "Aidefile").write_bytes(AGENT)
    (folder / "lessons").mkdir()
    return Workspace.open(folder, state_home=folder.parent / "state", machine_zone=UTC)


def sample() -> dict[str, str]:
    """The sample files of the format."""
    return {path.name: path.read_text("utf-8") for path in sorted(SAMPLE.glob("*.md"))}


def run(there: Workspace, source: str, target: str, *, dry_run: bool = False, into: str = "") -> ConversionReport:
    """Convert in the name of a test, and check the balance."""

    def opened(path: Path) -> Workspace:
        return Workspace.open(path, state_home=there.root.parent / "state", machine_zone=UTC)

    report = convert(there, source, target, open_workspace=opened, actor="test", now=NOW, into=into, dry_run=dry_run)
    assert report.read == report.converted + len(report.skipped)
    assert all(one.what and one.reason for one in report.skipped)
    return report


def tree(folder: Path) -> str:
    """A hash of every file below a folder but the locks."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and ".memdeck" not in path.parts:
            found.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def facts(folder: Path) -> None:
    """Facts as an agent wrote them."""
    path = folder / ".aegis/memory/memories.jsonl"
    path.parent.mkdir(parents=True)
    rows = [
        {"id": "m-1", "scope": "user", "text": "Alice likes tea", "tags": ["drink"], "ts": "2024-01-01T08:00:00Z"},
        {"id": "m-2", "scope": "workspace", "text": "Two\nlines: yes", "tags": [], "ts": "2024-01-02T08:00:00Z"},
        {"id": "m-3", "scope": "session", "text": "- kind: trap", "tags": ["a", "b"], "ts": "2024-01-03T08:00:00Z"},
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows))


def test_facts_go_to_typed_memory_and_back(tmp_path: Path) -> None:
    """Facts that went into an agent's file and came back into another workspace are the same bytes."""
    here, there = workspace(tmp_path / "here"), workspace(tmp_path / "there")
    facts(here.root)
    first = run(here, "facts", "typed")
    assert (first.converted, first.losses) == (3, [])
    back = run(there, f"typed:{here.root}", "facts")
    assert (back.converted, [loss.field for loss in back.losses]) == (3, ["id"] * 3)
    name = ".aegis/memory/memories.jsonl"
    assert (there.root / name).read_bytes() == (here.root / name).read_bytes()


@pytest.mark.parametrize("target", ["facts", "typed"])
def test_the_sample_is_accounted_for(tmp_path: Path, target: str) -> None:
    """Every entry of the sample is converted or skipped with a reason, the source keeps its bytes, once is enough."""
    here, there = workspace(tmp_path / "here", sample()), workspace(tmp_path / "there")
    before = tree(here.root)
    count = sum(1 for _ in here.guarded("files").items())
    dry = run(there, f"files:{here.root}", target, dry_run=True)
    clean = tree(there.root)
    report = run(there, f"files:{here.root}", target)
    assert dry.changes == ()
    assert clean != tree(there.root)
    assert (dry.read, dry.converted, dry.skipped, dry.losses) == (
        count,
        report.converted,
        report.skipped,
        report.losses,
    )
    assert tree(here.root) == before
    again = run(there, f"files:{here.root}", target)
    assert again.converted == 0
    assert {one.reason for one in again.skipped} >= {"it already exists"}


def test_losses_name_every_field(tmp_path: Path) -> None:
    """What a fact cannot express of a task is named, field by field."""
    tasks = "## Pending\n\n### [HIGH] Pay\n- due: 2024-02-01\n- created: 2024-01-01\n- tags: a, b, c, d, e, f\n- x: y\n"
    here = workspace(tmp_path / "here", {"tasks.md": tasks})
    report = run(here, "files", "facts")
    assert [loss.field for loss in report.losses] == ["section", "priority", "due", "x", "tags"]
    fact = json.loads((here.root / ".aegis/memory/memories.jsonl").read_text())
    assert (fact["text"], fact["tags"], fact["ts"]) == ("Pay", ["a", "b", "c", "d", "e"], "2024-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("source", "target", "code"),
    [
        ("files", "files", "convert.same"),
        ("files", "nowhere", "convert.target"),
        ("nowhere", "files", "convert.source"),
        ("beads", "files", "convert.source"),
        ("beads:missing.json", "files", "convert.unreadable"),
        ("memory-bank:missing", "files", "convert.unreadable"),
        ("state", "files", "convert.absent"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, source: str, target: str, code: str) -> None:
    """A source or target that is none is refused with a code of its own, and nothing is written."""
    here = workspace(tmp_path / "here")
    before = tree(here.root)
    with pytest.raises(MemdeckError) as caught:
        run(here, source, target)
    assert caught.value.code == code
    assert tree(here.root) == before


_LINES = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\u2028\u2029\x85"), max_size=30)
_ITEMS = st.builds(
    Item,
    kind=st.sampled_from(["task", "journal", "fact", "note", "gotcha", "contact", "plan"]),
    title=_LINES,
    text=st.lists(_LINES, max_size=4).map("\n".join),
    where=st.just("there:1"),
    created=st.sampled_from(["", "2024-01-01", "2024-01-01T08:00:00Z", "never"]),
    tags=st.lists(_LINES, max_size=7).map(tuple),
    fields=st.dictionaries(
        st.sampled_from(["due", "section", "date", "kind", "x y", "notes", "scope"]), _LINES, max_size=4
    ),
)


@given(st.lists(_ITEMS, max_size=6))
def test_any_items_balance_in_every_system(tmp_path_factory: pytest.TempPathFactory, items: list[Item]) -> None:
    """Whatever comes, each item is taken or skipped, nothing fails, and the files read back as they were written."""
    here = workspace(tmp_path_factory.mktemp("any") / "here", sample())
    for name in ("files", "facts", "typed"):
        taken = here.guarded(name).take(items, actor="test", now=NOW)
        assert len(taken.converted) + len(taken.skipped) == len(items)
        done = taken.commit() if taken.converted else None
        assert done is None or not done.refused
    here.close()


def tasks_of(bodies: list[str]) -> str:
    """Tasks and journal entries with these bodies; what a body opens and does not close takes in those behind it."""
    clean = ("\n".join(f"\\{line}" if line.startswith("#") else line for line in one.split("\n")) for one in bodies)
    return "".join(f"### task {at}\n- created: 2024-01-01\n{body}\n\n" for at, body in enumerate(clean))


@given(st.lists(markdown_documents(8), min_size=10, max_size=20))
@settings(max_examples=25)
def test_entries_go_to_other_files_byte_for_byte(tmp_path_factory: pytest.TempPathFactory, bodies: list[str]) -> None:
    """Whatever stands in tasks and journal entries, each arrives with its bytes or is named, and says all that it says.

    So do 150 and more of them in each run.
    """
    top = tmp_path_factory.mktemp("bytes")
    text = tasks_of(bodies)
    files = {"tasks.md": f"## Pending\n\n{text}", "journal.md": f"## 2024-01-05\n\n{text}"}
    here, there = workspace(top / "here", files), workspace(top / "there", dict.fromkeys(files, ""))
    for item in here.guarded("files").items():
        if isinstance(item, Item) and item.kind == "task":
            read = {*item.text.split(), *(word for value in item.fields.values() for word in value.split())}
            body = item.raw.decode().partition("\n")[2]
            assert set(body.split()) <= read | {"-"} | {f"{key}:" for key in item.fields}
    report = run(there, f"files:{here.root}", "files")
    assert report.losses == []
    for name in files:
        old, new = ({bare(one) for part in parse((side.root / ".aiter/memory" / name).read_bytes()).sections
                     for one in part.entries} for side in (here, there))  # fmt: skip
        assert new <= old
        assert [one for one in old - new if not scan(one + b"\n\n").open_end] == []
    here.close()
    there.close()


@given(_ITEMS)
@example(Item("task", "", "", "there:1", fields={"due": "0\xa0"}))
def test_a_block_says_what_the_item_said(item: Item) -> None:
    """An item that a block can hold is read back from it with kind, text and fields."""
    try:
        body = body_of(item)
    except MemdeckError:
        return
    back = item_of_block("", item.title, body, item.where)
    if back.kind == item.kind and back.text.strip() == item.text.strip():
        said = {key: value.strip() for key, value in item.fields.items() if key != "kind" and value.strip()}
        assert {key: back.fields[key].strip() for key in said} == said
