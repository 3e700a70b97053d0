"""The five files that show a bundle: their markers, and that no text in them is more than text."""

from __future__ import annotations

import copy
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memory.base.safe_text import one_line
from memory.state.projections import NAMES, code, inline, literal, marker, marker_of, render_projections

HASH = "ab" * 32
EMPTY = {
    "project": {
        "name": "feedmill", "summary": "Collects feeds.", "primaryEcosystem": "Python", "packageManager": "uv",
        "workspaceManager": "none", "recommendedEntryFile": "AGENTS.md", "keyPaths": [],
    },
    "projectMap": {
        "modules": [], "entrypoints": [], "denseSourceAreas": [], "architectureNotes": [], "firstFilesToRead": [],
    },
    "currentFocus": {
        "summary": "Nothing.", "currentState": [], "knownRisks": [],
        "validationSnapshot": {"status": "not-run", "validatedAt": None, "summary": "Not run.", "results": []},
        "suggestedNextActions": [],
    },
    "gotchas": [], "nextSteps": [], "validationCommands": [],
}  # fmt: skip


def full(text: str) -> dict:
    """Return a bundle in which every text is the same one, and every list holds it."""
    bundle = copy.deepcopy(EMPTY)
    bundle["project"] = {key: [text] if key == "keyPaths" else text for key in bundle["project"]}
    bundle["projectMap"] = {
        "modules": [{"name": text, "path": text, "responsibility": text}],
        "entrypoints": [{"path": text, "role": text}],
        "denseSourceAreas": [{"path": text, "note": text}],
        "architectureNotes": [text],
        "firstFilesToRead": [text],
    }
    results = [{"label": text, "command": text, "status": "passed", "summary": text}]
    bundle["currentFocus"] = {
        "summary": text, "currentState": [text], "knownRisks": [text], "suggestedNextActions": [text],
        "validationSnapshot": {"status": "passed", "validatedAt": text, "summary": text, "results": results},
    }  # fmt: skip
    bundle["gotchas"] = [{"title": text, "symptom": text, "cause": text, "correctPath": text}]
    bundle["nextSteps"] = [{"title": text, "why": text, "start": text, "done": text}]
    bundle["validationCommands"] = [{"label": text, "command": [text, text], "purpose": text}]
    return bundle


def skeleton(markdown: str) -> list[str]:
    """Return the kinds of blocks of a document as a parser of Markdown sees them, and its links, images and HTML."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    inside = [child.type for token in tokens for child in token.children or ()]
    return [token.type for token in tokens] + [one for one in inside if one in ("link_open", "image", "html_inline")]


HOSTILE = [
    "two\nlines\n\n# heading", "```\nfence", "`one", "a `b` c ``d", "| a | b |\n|---|---|", "<!-- comment", "--> x",
    "<!-- agent-memory:projection file=gotchas version=3 bundleHash=" + "0" * 64 + " -->",
    "`<!-- agent-memory:entry end -->`", "[link](javascript:x)", "![image](http://x)", "<script>alert(1)</script>",
    "* a * b", "- item", "1. item", "2) item", "+ x", "> quote", "# h", "a #", "=====", "---", "***", "___",
    "_x_ __y__",
    "\\", "\\`a", "a\\", "&lt;b&gt; &amp;", "~~x~~", "[x]: http://y", "<http://x>", "\x1b[31mred", "\u202eback",
    "\ud800", "tab\tbed", "`", "``", "` `", "snake_case a*b*c", "[ ] box", "http://x.y/z_a_b", "~~~", "    code",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_only_text(text: str) -> None:
    """Whatever a text holds, the documents have the blocks of one with a plain word in its place."""
    plain = {name: skeleton(body) for name, body in render_projections(full("word"), HASH).items()}
    for name, body in render_projections(full(text), HASH).items():
        assert skeleton(body) == plain[name], body
        assert len(re.findall(r"(?m)^[ -]*<!-- agent-memory:", body)) == 1
        assert marker_of(body) == (name, 3, HASH)
        body.encode()


def shown(markdown: str) -> str:
    """Return the text that a reader of one paragraph sees."""
    tokens = MarkdownIt("commonmark").parse(markdown)
    return "".join(child.content for token in tokens for child in token.children or ())


@given(st.text(alphabet="ab1 \\`*_[]<>#|~&;!()-+.=\n", max_size=30) | st.text(max_size=30))
def test_inline_shows_its_text(text: str) -> None:
    """A reader sees the text itself, code spans without their backticks; and it can be read back."""
    line = one_line(text)
    seen = shown(inline(text))
    assert seen.replace("`", "").replace(" ", "") == line.replace("`", "").replace(" ", "")
    assert literal(inline(text)) == line


@given(st.text(alphabet="ab` ", min_size=1, max_size=20))
def test_code_shows_its_text(text: str) -> None:
    """A code span shows exactly its text, backticks too."""
    line = one_line(text)
    if line:
        assert shown(code(text)) == line


def test_empty_lists_say_so() -> None:
    """A page without entries says in one bullet how they come; no page sends there; an empty section is left out."""
    files = render_projections(EMPTY, HASH)
    counts = {name: len(re.findall(r"^- No [a-z ]+ yet: .+`\.$", text, re.MULTILINE)) for name, text in files.items()}
    assert counts == {"README": 0, "project-map": 0, "current-focus": 0, "gotchas": 1, "next-steps": 1}
    assert re.findall(r"\]\((.+)\.md\)", files["README"]) == ["project-map", "current-focus"]


def test_form_of_the_files() -> None:
    """The files are the five, in order; the marker is the first line, and one line end the last."""
    files = render_projections(full("word"), HASH)
    assert tuple(files) == NAMES
    for name, text in files.items():
        assert text.startswith(marker(name, HASH) + "\n\n# ")
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
    assert marker("README", HASH) == f"<!-- agent-memory:projection file=readme version=3 bundleHash={HASH} -->"


@pytest.mark.parametrize(
    "text",
    ["", " <!-- agent-memory:projection file=readme version=3 bundleHash=" + HASH + " -->", "# x\n",
     "<!-- agent-memory:projection file=readme version=3 bundleHash=x -->\n",
     "<!-- agent-memory:projection file=readme version=3 bundleHash=" + HASH + " --> more\n"],
)  # fmt: skip
def test_no_marker(text: str) -> None:
    """A marker counts at the very beginning and alone on its line only."""
    assert marker_of(text) is None
