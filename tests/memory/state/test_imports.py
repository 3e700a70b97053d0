"""Sessions of Claude Code and Codex: which files are found, what of them is evidence, and what never is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.state.imports.privacy import Cleaner
from memory.state.imports.read import ImportedItem, discover, read_item

TIME = "2026-03-01T10:00:00.000Z"


def session(path: Path, *records: object) -> Path:
    """Write a session: objects as JSON, text as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in records))
    return path


def claude(role: str, content: object, **more: object) -> dict[str, object]:
    """Return a line as Claude Code writes it."""
    return {"type": role, "timestamp": TIME, "sessionId": "s", "message": {"role": role, "content": content}, **more}


def codex(kind: str, **payload: object) -> dict[str, object]:
    """Return a line as Codex writes it."""
    return {"timestamp": TIME, "type": kind, "payload": payload}


def read(path: Path, root: Path, source_type: str = "claude-local") -> ImportedItem:
    """Read the only session of a source."""
    (item,) = discover(source_type, path)
    return read_item(item, root=root, home="/home/ada")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a repository with one file."""
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "cart.py").write_text("")
    return folder


def test_claude_shapes(root: Path, tmp_path: Path) -> None:
    """Text of people and agents counts in every shape; tools, thinking, meta and side conversations do not."""
    path = session(
        tmp_path / "s1.jsonl",
        {"type": "summary", "summary": "The cart", "leafUuid": "x"},
        claude("user", "Please fix the cart.\nDECISION: one"),
        claude(
            "assistant", [{"type": "thinking", "thinking": "DECISION: no1"}, {"type": "text", "text": "DECISION: two"}]
        ),
        claude("assistant", [{"type": "tool_use", "name": "Bash", "input": {"command": "DECISION: no2"}}]),
        claude(
            "user", [{"type": "tool_result", "content": "DECISION: no3"}], toolUseResult={"stdout": "DECISION: no4"}
        ),
        claude("user", [{"type": "tool_result", "content": [{"type": "text", "text": "DECISION: no5"}]}]),
        claude("user", "DECISION: no6", isMeta=True),
        claude("assistant", "DECISION: no7", isSidechain=True),
        claude("user", "DECISION: no8", isCompactSummary=True),
        claude("user", "<system-reminder>\nDECISION: no9\n</system-reminder>\nDECISION: three"),
        claude("user", "<local-command-stdout>\nDECISION: no10\n"),
        {"type": "system", "content": "DECISION: no11"},
        {"type": "file-history-snapshot", "message": {"role": "user", "content": "DECISION: no12"}},
        {"type": "user", "content": "DECISION: four", "timestamp": TIME},
        {"role": "assistant", "content": [{"type": "text", "text": "DECISION: five"}, "DECISION: six"]},
        {"type": "message", "message": {"role": "system", "content": "DECISION: no13"}},
    )
    item = read(path, root)
    assert item.signals["decisions"] == ["one", "two", "three", "four", "five", "six"]
    assert item.event["summary"] == "The cart"
    assert (item.event["createdAt"], item.messages, item.bad_lines) == (TIME, 6, 0)
    assert (item.event["externalItemId"], item.event["sourceRef"]) == ("s1", "claude-local:s1.jsonl")


def test_codex_shapes(root: Path, tmp_path: Path) -> None:
    """Messages count once, though they come as items and as events; instructions, tools and reasoning do not."""
    said = [{"type": "output_text", "text": "DECISION: two"}]
    session(
        tmp_path / "home" / "sessions" / "2026" / "03" / "01" / "rollout-1.jsonl",
        codex("session_meta", id="abc", cwd=str(root), instructions="DECISION: no1"),
        codex("response_item", type="message", role="developer", content=[
            {"type": "input_text", "text": "DECISION: no2"}]),
        codex("response_item", type="message", role="user", content=[
            {"type": "input_text", "text": "<environment_context>\nDECISION: no3\n</environment_context>"}]),
        codex("response_item", type="message", role="user", content=[
            {"type": "input_text", "text": "# AGENTS.md instructions for /x\n\nDECISION: no4"}]),
        codex("response_item", type="message", role="user", content=[{"type": "input_text", "text": "DECISION: one"}]),
        codex("event_msg", type="user_message", message="DECISION: one"),
        codex("response_item", type="reasoning", summary=[{"type": "summary_text", "text": "DECISION: no5"}]),
        codex("response_item", type="function_call", arguments="DECISION: no6"),
        codex("response_item", type="function_call_output", output="DECISION: no7"),
        codex("response_item", type="message", role="assistant", content=said),
        codex("event_msg", type="agent_message", message="DECISION: two"),
        codex("event_msg", type="agent_reasoning", text="DECISION: no8"),
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "DECISION: four"}]},
    )  # fmt: skip
    session(
        tmp_path / "home" / "session_index.jsonl",
        {"id": "abc", "thread_name": "Old"},
        "{",
        {"id": "abc", "thread_name": "Cart work"},
    )
    item = read(tmp_path / "home", root, "codex-local")
    assert item.signals["decisions"] == ["one", "two", "four"]
    assert (item.event["externalItemId"], item.event["summary"], item.messages) == ("abc", "Cart work", 3)
    assert item.event["sourceRef"] == "codex-local:sessions/2026/03/01/rollout-1.jsonl"


@pytest.mark.parametrize("source", [{"subagent": "review"}, {"subagent": {"thread_spawn": {"depth": 1}}}])
def test_codex_subagents(root: Path, tmp_path: Path, source: object) -> None:
    """A session of a subagent of Codex is a side conversation: nothing of it counts."""
    path = session(
        tmp_path / "s.jsonl",
        codex("session_meta", id="child", cwd=str(root), source=source),
        codex("event_msg", type="user_message", message="DECISION: one"),
    )
    item = read(path, root, "codex-local")
    assert (item.messages, item.signals["decisions"], item.event["externalItemId"]) == (0, [], "child")


def test_discover_claude(root: Path, tmp_path: Path) -> None:
    """Transcripts, projects and the history are found; empty files, dot files, links and other files are not."""
    home = tmp_path / "claude"
    own = str(root).replace("/", "-").replace("_", "-").replace(".", "-")
    for name in ("transcripts/a/b.jsonl", "transcripts/.x.jsonl", "history.jsonl", "todos/t.jsonl",
                 f"projects/{own}/p.jsonl", "projects/-other/o.jsonl"):  # fmt: skip
        session(home / name, claude("user", "hi"))
    (home / "transcripts" / "empty.jsonl").write_text("")
    (home / "transcripts" / "notes.txt").write_text("x")
    (home / "transcripts" / "link.jsonl").symlink_to("/etc/passwd")
    (home / "transcripts" / "folder").symlink_to("/etc")
    os.mkfifo(home / "transcripts" / "fifo.jsonl")
    assert [item.name for item in discover("claude-local", home, root=root)] == [
        "history.jsonl", f"projects/{own}/p.jsonl", "transcripts/a/b.jsonl",
    ]  # fmt: skip
    assert "projects/-other/o.jsonl" in [item.name for item in discover("claude-local", home)]


def test_bad_lines_are_counted(root: Path, tmp_path: Path) -> None:
    """Broken, foreign, deep and very long lines are counted with the first number, and the rest is read."""
    path = session(
        tmp_path / "s.jsonl", claude("user", "DECISION: one"), "", "{broken", "[1, 2]", "[" * 150_000, "x" * 300_000,
        '{"a": ' + "9" * 10_000 + "}", claude("assistant", "DECISION: two"),
    )  # fmt: skip
    path.write_bytes(path.read_bytes() + b'{"type": "assistant", "mess')
    item = read(path, root)
    assert item.signals["decisions"] == ["one", "two"]
    assert (item.bad_lines, item.first_bad_line) == (5, 3)


def test_no_line_is_read_that_is_too_long(root: Path, tmp_path: Path) -> None:
    """A line of more than 32 MiB is bad even if it is a record; the lines around it are read."""
    path = session(tmp_path / "s.jsonl", claude("user", "DECISION: one"), claude("user", "DECISION: long"))
    blanks = b" " * (33 << 20) + b"}\n"
    path.write_bytes(path.read_bytes().removesuffix(b"}\n") + blanks + json.dumps(claude("user", "GOTCHA: x")).encode())
    item = read(path, root)
    assert (item.signals["decisions"], item.signals["gotchas"]) == (["one"], ["x"])
    assert (item.bad_lines, item.first_bad_line) == (1, 2)


def test_growth_changes_the_hash(root: Path, tmp_path: Path) -> None:
    """A session that grew, however long it was, is another; one that grew by tool output alone is the same."""
    long = [claude("user", f"line {number} " + "x" * 200) for number in range(300)]
    before = read(session(tmp_path / "s.jsonl", *long), root)
    tool = claude("user", [{"type": "tool_result", "content": "more"}])
    assert read(session(tmp_path / "s.jsonl", *long, tool), root).event["contentHash"] == before.event["contentHash"]
    after = read(session(tmp_path / "s.jsonl", *long, claude("user", "x")), root)
    assert after.event["contentHash"] != before.event["contentHash"]
    assert after.event["externalItemId"] == before.event["externalItemId"]


def test_secrets_and_homes_are_masked(root: Path, tmp_path: Path) -> None:
    """No secret, no home folder and no path of the machine is in anything that is kept."""
    key = "ghp_" + "a1B2" * 9
    text = f"DECISION: use {key} in /home/ada/shop and /Users/bob/x and C:\\Users\\zoe\\y\n"
    text += f"GOTCHA: {root}/src/cart.py fails"
    item = read(session(tmp_path / "s.jsonl", {"type": "summary", "summary": f"Key {key}"}, claude("user", text)), root)
    kept = repr(item)
    assert key not in kept
    for name in ("ada", "bob", "zoe", str(tmp_path)):
        assert name not in kept, name
    assert item.signals["decisions"] == ["use [GitHub token] in ~/shop and ~/x and ~\\y"]
    assert item.signals["gotchas"] == ["src/cart.py fails"]
    assert item.event["summary"] == "Key [GitHub token]"


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("src/cart.py", "src/cart.py"),
        ("./src/cart.py:12", "src/cart.py"),
        ("`src/cart.py` is the one", "src/cart.py"),
        ("src/cart.py - the cart", "src/cart.py"),
        ("src/../src/new.py", "src/new.py"),
        ("ROOT/src/cart.py", "src/cart.py"),
        ("/etc/passwd", None),
        ("../other/x", None),
        ("src/../../x", None),
        ("~/x", None),
        ("C:\\x", None),
        ("https://example.org/x", None),
        ("out/x", None),
        (".", None),
        ("ROOT", None),
        ("ROOTS/x", None),
    ],
)
def test_paths(said: str, path: str | None, root: Path) -> None:
    """Paths in the repository become relative to it; those that lead out, through links too, are dropped."""
    (root / "out").symlink_to("/etc")
    assert Cleaner(root).path(said.replace("ROOT", str(root))) == path


def test_history_of_prompts(root: Path, tmp_path: Path) -> None:
    """Of the history of all projects only the prompts of this one count, and no commands of the client."""
    other = tmp_path / "other"
    other.mkdir()
    path = session(
        tmp_path / "history.jsonl",
        {"display": "DECISION: mine", "timestamp": 1772359200000, "project": str(root)},
        {"display": "DECISION: theirs", "timestamp": 1772359200000, "project": str(other)},
        {"display": "/clear", "timestamp": 1772359200000, "project": str(root)},
    )
    item = read(path, root)
    assert (item.signals["decisions"], item.messages, item.elsewhere) == (["mine"], 1, None)
    assert item.event["createdAt"] == "2026-03-01T10:00:00.000Z"


def test_sessions_of_other_projects(root: Path, tmp_path: Path) -> None:
    """A session held in another folder that exists says so; one from another machine, or from within, does not."""
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (other / ".git").mkdir()
    (other / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for folder, elsewhere in (
        (other, str(other)),
        (root / "src", None),
        (tmp_path, None),
        (Path("/no/such/place"), None),
    ):
        path = session(tmp_path / "s.jsonl", claude("user", "hi", cwd=str(folder)))
        assert read(path, root).elsewhere == elsewhere, folder


KEYS = "type message role content text payload item timestamp cwd id display project sessionId summary isMeta".split()  # noqa: SIM905
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)


@given(records=st.lists(json_values, max_size=6), kind=st.sampled_from(["claude-local", "codex-local"]))
def test_any_records(tmp_path_factory: pytest.TempPathFactory, records: list[object], kind: str) -> None:
    """Whatever the lines hold, a session is read, and nothing in it is blank."""
    folder = tmp_path_factory.mktemp("sessions")
    path = session(folder / "s.jsonl", *map(json.dumps, records)) if records else session(folder / "s.jsonl", "{}")
    item = read(path, folder, kind)
    assert item.event["summary"].strip()
    assert item.event["externalItemId"].strip()
    assert all(text.strip() for texts in item.signals.values() for text in texts)
    json.dumps(item.signals).encode()
    item.event["summary"].encode()
