"""A change leaves every byte as it was that it was not meant to touch, on every Python that memdeck runs on."""

from __future__ import annotations

from tests.contract.place import Place

MEMORY = ".aiter/memory"


def test_a_setting_keeps_the_line_ends_of_its_file(workspace: Place) -> None:
    """One line of a file with CRLF changes, and only in its value."""
    path = f"{MEMORY}/config.md"
    before = b"# Config\r\n\r\n## Limits\r\n\r\n- maxJournalEntries: 500\r\n- pruneDays: 30\r\n\r\n\r\n## Other\r\n"
    workspace.write(path, before)
    assert workspace("config", "set", "maxJournalEntries", "400").code == 0
    assert workspace.read(path) == before.replace(b"500", b"400")


def test_a_field_goes_below_indented_lines(workspace: Place) -> None:
    """The first field of an entry that begins with indented lines goes after them, and takes none of them."""
    path = f"{MEMORY}/tasks.md"
    for top in (b"  indented\n", b"\n  indented\n\n\n    deeper\n", b"\tindented\n  more\n \t\n"):
        for end in (b"\n", b"\r\n", b"\r"):
            before = b"## Pending\n\n### Sweep\n" + top + b"words\n- a bullet\n  of two lines\n"
            workspace.write(path, before.replace(b"\n", end))
            assert workspace("tasks", "edit", "Sweep", "--set", "notes=early").code == 0
            at = top.rstrip(b" \t\n") + b"\n"
            assert workspace.read(path) == before.replace(at, at + b"- notes: early\n").replace(b"\n", end)


def test_a_fact_keeps_the_blank_lines_around_it(workspace: Place) -> None:
    """A new bullet goes behind the last one; the blank lines between bullets and before the next heading stay."""
    path = f"{MEMORY}/knowledge.md"
    before = (
        b"# Knowledge\n\n## Technical Facts\n\n- One\n- Two\n\n- Three\n  and more\n\n\n## Lessons Learned\n\n- Four\n"
    )
    workspace.write(path, before)
    assert workspace("knowledge", "add", "Five").code == 0
    assert workspace.read(path) == before.replace(b"  and more\n", b"  and more\n- Five\n")


def test_an_error_names_the_line_of_an_aidefile(workspace: Place) -> None:
    """Lines are counted over strings of several lines and comments as TOML does."""
    text = '[persona]\nx = """\n[memory]\ncompact_after = "no"\n"""\n[memory]\ncompact_after = 1.5\n'
    workspace.write("Aidefile", text)
    assert "Aidefile:7: " in workspace("check").out
    workspace.write("Aidefile", "[persona]\ny = '''\n\n'a' '''\n# \"\n" + text.replace("[persona]\n", ""))
    assert "Aidefile:11: " in workspace("check").out
