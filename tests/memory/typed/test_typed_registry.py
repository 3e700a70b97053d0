"""The registry of agents and their Aidefiles: what they may say, and that errors name the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.errors import ConfigError
from memory.typed.aidefile import read_aidefile, read_size, with_core_file
from memory.typed.registry import agents_of, read_registry
from tests.memory.typed.conftest import Den


def test_agents_are_listed_with_name_and_path(den: Den) -> None:
    """`~` is the home, a relative path begins at the registry's folder, links are resolved, the order stays."""
    (den.home / "a").mkdir()
    (den.home / ".aide" / "b").mkdir(parents=True)
    (den.top / "link").symlink_to(den.home / "a")
    den.register(
        '[[agents]]\nname = "one"\npath = "~/a"\n[[agents]]\nname = "two"\npath = "b"\n'
        f'[[agents]]\nname = "three"\npath = "{den.top}/link"\n'
    )
    assert [(agent.name, agent.folder) for agent in read_registry(den.home)] == [
        ("one", den.home / "a"),
        ("two", den.home / ".aide" / "b"),
        ("three", den.home / "a"),
    ]


def test_a_missing_registry_means_no_agents(den: Den) -> None:
    """Neither a home without one, nor no home at all, is an error."""
    assert read_registry(den.home) == () == read_registry(None)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[[agents]]\nname = "a"\npath = "x"\n\n[[agents]]\nname = "a"\npath = "y"\n', 6, "two agents"),
        ('# c\n[[agents]]\npath = "x"\n', 2, "needs a name"),
        ('[[agents]]\nname = "a"\n', 1, "needs a path"),
        ('[[agents]]\nname = "a"\npath = 7\n', 3, "needs a path"),
        ('\nagents = "a"\n', 2, "not a list"),
        ('[[agents]]\nname = "a"\npath = \n', 3, "invalid value"),
        ('[[agents]]\nname = "a', 2, "unterminated"),
    ],
)
def test_a_wrong_registry_names_the_line(den: Den, text: str, line: int, words: str) -> None:
    """Names are unique, each agent has a name and a path, and what is no TOML is told with its line."""
    den.register(text)
    with pytest.raises(ConfigError) as caught:
        read_registry(den.home)
    assert caught.value.details["line"] == line
    assert words in caught.value.message
    assert caught.value.details["file"] == "~/.aide/config.toml"


def test_the_agents_of_a_workspace_lie_in_it(den: Den) -> None:
    """Registered agents inside count, those outside or in a workspace within do not; its own Aidefile does."""
    den.add("in", at="shop/agents/in")
    den.add("out")
    den.add("deeper", at="shop/sub/deeper")
    (den.top / "shop" / "sub" / ".aiter" / "memory").mkdir(parents=True)
    (den.top / "shop" / ".aiter" / "memory").mkdir(parents=True)
    assert [agent.name for agent in agents_of(den.top / "shop", den.home)] == ["in"]
    den.add("shop", registered=False)
    found = agents_of(den.top / "shop", den.home)
    assert [(agent.name, agent.registered) for agent in found] == [("shop", False), ("in", True)]


def test_an_aidefile_is_read_as_it_says(tmp_path: Path) -> None:
    """The example of the documentation: a size, a list of core files, two folders."""
    data = (
        b'[memory]\ncompact_after = "200k"\ncore_files = ["memory/persona.md", "memory/rules.md"]\n'
        b'procedural_dir = "memory/log"\nepisodic_dir = "scratch"\n'
    )
    found = read_aidefile(tmp_path, data)
    assert found.compact_after == 200_000
    assert [one.written for one in found.core] == ["memory/persona.md", "memory/rules.md"]
    assert (found.procedural.written, found.episodic.written) == ("memory/log", "scratch")


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ('[memory]\n\ncompact_after = "lots"\n', "typed.value", 3),
        ("[memory]\ncompact_after = -1\n", "typed.value", 2),
        ("[memory]\ncompact_after = true\n", "typed.value", 2),
        ('[persona]\nx = """\n[memory]\ncompact_after = "no"\n"""\n[memory]\ncompact_after = 1.5\n', "typed.value", 7),
        ('[memory]\ncore_files = [\n  "a",\n  7,\n]\n', "typed.value", 2),
        ("[memory]\ncore_files = 'a'\n", "typed.value", 2),
        ("memory = 7\n", "typed.value", 1),
        ('[memory]\nepisodic_dir = ""\n', "typed.value", 2),
        ('[memory]\nepisodic_dir = "memory/procedural"\n', "typed.value", 2),
        ("[memory]\n# hm\n\n[surprise]\nx = 1\n", "typed.section", 4),
        ("[[surprise]]\nx = 1\n", "typed.section", 1),
        ('[memory]\nepisodic_dir = "../other"\n', "typed.outside", 2),
        ('[memory]\nepisodic_dir = "/etc"\n', "typed.outside", 2),
        ('[memory]\nepisodic_dir = "."\n', "typed.outside", 2),
        ('[memory]\nepisodic_dir = "out"\n', "typed.outside", 2),
        ('[memory]\ncore_files = ["out/passwd"]\n', "typed.outside", 2),
        ('[memory]\ncompact_after = "200k\n', "typed.toml", 2),
        ("[memory]\nx = 1\nx = 2\n", "typed.toml", 3),
    ],
)
def test_a_wrong_aidefile_names_the_line(tmp_path: Path, text: str, code: str, line: int) -> None:
    """Sizes, lists, paths that lead out (by a link as well), unknown sections and broken TOML."""
    (tmp_path / "out").symlink_to("/etc")
    with pytest.raises(ConfigError) as caught:
        read_aidefile(tmp_path, text.encode())
    assert (caught.value.code, caught.value.details["line"]) == (code, line)
    assert caught.value.message.startswith(f"Aidefile:{line}: ")


def test_what_nobody_reads_is_a_warning(tmp_path: Path) -> None:
    """A misspelt key of [memory] and a key outside of all sections are told, with their line."""
    found = read_aidefile(tmp_path, b'top = 1\n[memory]\ncompact_afer = "1m"\n')
    assert [(problem.line, problem.code) for problem in found.problems] == [(1, "typed.key"), (3, "typed.key")]


@pytest.mark.parametrize(
    ("value", "size"),
    [("200k", 200_000), ("200K", 200_000), ("1m", 1_000_000), ("1M", 1_000_000), ("512", 512), (70_000, 70_000)],
)
def test_sizes_are_k_m_or_plain_in_any_case(value: object, size: int) -> None:
    """`200k`, `1m` and plain numbers."""
    assert read_size(value) == size


def _core(aidefile: bytes) -> list[str]:
    return [one.written for one in read_aidefile(Path("/tmp"), aidefile).core]


def test_listing_a_core_file_keeps_the_comments() -> None:
    """Adding and removing change the list and nothing else, whatever its form; twice is once."""
    text = (
        '# my agent\n[memory]\ncompact_after = "200k" # big\ncore_files = [\n  "a.md", # first\n]\n\n[hooks]\nx = 1\n'
    )
    added = with_core_file(text.encode(), "b.md", add=True)
    assert [line for line in text.splitlines() if line not in added.decode().splitlines()] == []
    assert _core(added) == ["a.md", "b.md"]
    assert with_core_file(added, "./b.md", add=True) == added
    back = with_core_file(added, "b.md", add=False)
    assert _core(back) == ["a.md"]
    assert "# first" in back.decode()
    fresh = with_core_file(b"[hooks]\r\nx = 1 # y\r\n", "a.md", add=True)
    assert fresh.startswith(b"[hooks]\r\nx = 1 # y\r\n")
    assert b"\n" not in fresh.replace(b"\r\n", b"")
    assert _core(fresh) == ["a.md"]


@pytest.mark.parametrize("text", ['[memory]\ncore_files = "a"\n', "memory = 7\n", "[[memory]]\nx = 1\n"])
def test_a_list_of_core_files_that_is_none_is_not_changed(text: str) -> None:
    """What is no list is an error of its line, not of the library that edits it."""
    with pytest.raises(ConfigError) as caught:
        with_core_file(text.encode(), "b.md", add=True)
    assert (caught.value.code, caught.value.details["line"]) == ("typed.value", 2 if "core" in text else 1)
