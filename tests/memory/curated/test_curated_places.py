"""Where memories are: identity, scopes, tiers, precedence, shadowing, ambiguity, settings."""

from __future__ import annotations

import shutil

import pytest

from memory.curated.files import filename, slug
from memory.curated.sides import find_root, read_identity
from memory.errors import AmbiguousError, ConfigError, MemdeckError, NotFoundError, UsageError
from tests.memory.curated.conftest import Den, ask, write


def test_the_first_write_gives_the_workspace_an_identity(den: Den) -> None:
    """Reading makes nothing; the first write makes workspace.toml with a ULID, a time and the real path."""
    curated = den.open()
    assert curated.memories(curated.visible()) == []
    assert not (den.workspace / ".agh").exists()
    write(den, curated, "project", "Port", "The port is 8080", scope="workspace")
    found = read_identity(curated.sides["workspace"].store)
    assert len(found) == 26
    text = (den.workspace / ".agh/workspace.toml").read_text()
    assert [f'workspace_id = "{found}"' in text, f'realpath_at_creation = "{den.workspace}"' in text] == [True, True]
    write(den, curated, "project", "Host", "The host is alpha", scope="workspace")
    assert read_identity(curated.sides["workspace"].store) == found


def test_the_nearest_ancestor_with_an_identity_is_the_workspace(den: Den) -> None:
    """A folder deep inside belongs to the workspace above it, and the person's own folder is none."""
    write(den, den.open(), "project", "Port", "The port is 8080", scope="workspace")
    deep = den.workspace / "a" / "b"
    deep.mkdir(parents=True)
    assert find_root(deep, den.person) == den.workspace.resolve()
    assert find_root(den.top, den.person) is None
    assert find_root(deep, den.workspace / ".agh") is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("workspace_id = 3\n", 1),
        ('created_at = "x"\nworkspace_id = "nope"\nrealpath_at_creation = "/x"\n', 2),
        ("workspace_id = \n", 1),
        ('\nextra = "x"\n', 2),
        ("", 1),
        ("\xff", 1),
    ],
)
def test_an_identity_that_cannot_be_read_is_an_error_and_stays(den: Den, text: str, line: int) -> None:
    """A damaged workspace.toml stops reads and writes with its line, and is never made anew."""
    place = den.workspace / ".agh" / "workspace.toml"
    place.parent.mkdir()
    place.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError) as error:
        write(den, den.open(), "project", "Port", "The port is 8080", scope="workspace")
    assert error.value.code == "memory.workspace.unreadable"
    assert error.value.details["line"] == line
    assert place.read_bytes() == text.encode("latin-1")


def test_a_moved_folder_keeps_its_memory_and_its_decisions(den: Den) -> None:
    """After a move the files, the decisions and the signals of the workspace are found again, by its ULID."""
    curated = den.open()
    done = write(den, curated, "project", "Port", "The port number is 8080", scope="workspace")
    ask(den, curated, "port number")
    curated.close()
    moved = den.top / "elsewhere"
    den.workspace.rename(moved)
    again = den.open(moved)
    assert [one.filename for one in again.memories(again.visible())] == ["project_port.md"]
    from memory.curated.control.propose import find

    assert find(again, done.decision.id)[1].post == done.decision.post
    assert again.sides["workspace"].records.signals(["workspace/project_port.md"])
    assert again.sides["workspace"].claim.moved_from == str(den.workspace)
    write(den, again, "project", "Host", "The host is alpha", scope="workspace")
    events = again.sides["workspace"].records.events(ops=["memory.workspace.relocated"])
    assert [one["metadata"]["moved_from"] for one in events] == [str(den.workspace)]
    again.close()
    assert den.open(moved).sides["workspace"].claim.moved_from is None


def test_a_copied_folder_is_reported_and_has_a_history_of_its_own(den: Den) -> None:
    """Two folders of one ULID name each other; what one decides is no decision of the other."""
    curated = den.open()
    write(den, curated, "project", "Port", "The port is 8080", scope="workspace")
    copy = den.top / "copy"
    shutil.copytree(den.workspace, copy)
    other = den.open(copy)
    assert other.sides["workspace"].claim.copies == (str(den.workspace),)
    write(den, other, "project", "Port", "The port is 9090 now", scope="workspace")
    assert den.open().sides["workspace"].claim.copies == (str(copy),)
    assert "8080" in (den.workspace / ".agh/memory/project_port.md").read_text()
    count = "SELECT count(*) FROM memory_decisions"
    counts = [
        one.sides["workspace"].records.run(lambda db: db.execute(count).fetchone()[0]) for one in (curated, other)
    ]
    assert counts == [1, 1]


@pytest.mark.parametrize(
    ("scope", "agent", "tier", "code"),
    [
        ("galaxy", None, None, "memory.scope.invalid"),
        ("agent", None, None, "memory.scope.agent_required"),
        ("agent", "ada", "cosmic", "memory.scope.agent_tier_invalid"),
        ("global", "ada", None, "memory.scope.agent_flags_invalid"),
        ("agent", "../x", None, "memory.scope.agent_invalid"),
        ("agent", ".hidden", None, "memory.scope.agent_invalid"),
        ("agent", "a/b", None, "memory.scope.agent_invalid"),
    ],
)
def test_a_choice_of_scope_that_means_nothing_is_an_error(
    den: Den, scope: str, agent: str | None, tier: str | None, code: str
) -> None:
    """Each wrong choice has a code of its own."""
    with pytest.raises(UsageError) as error:
        den.open().root(scope, agent, tier)
    assert error.value.code == code


def test_a_deeper_memory_of_the_same_type_and_slug_shadows(den: Den) -> None:
    """Only the deepest is recalled, every shadowing is told, and both files stay as they are."""
    curated = den.open()
    write(den, curated, "feedback", "Review tone", "Reviews are long and friendly here")
    write(den, curated, "feedback", "Review tone", "Reviews are short and friendly here", scope="workspace")
    found = ask(den, curated, "friendly reviews tone")
    assert [one.memory.root.scope for one in found.entries] == ["workspace"]
    assert [one["shadowed_by"] for one in found.json()["shadowed"]] == ["workspace/feedback_review-tone.md"]
    hidden = curated.shadowed(curated.memories(curated.visible()))
    assert list(hidden) == ["global:global/feedback_review-tone.md"]
    assert "long" in (den.person / "memory/feedback_review-tone.md").read_text()


def test_a_name_in_several_scopes_is_ambiguous(den: Den) -> None:
    """Without a scope none found and several found are different errors, the latter with the list."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    write(den, curated, "user", "Coffee", "likes no milk here", scope="workspace")
    with pytest.raises(AmbiguousError) as error:
        curated.find("user_coffee")
    assert error.value.code == "memory.scope.ambiguous"
    assert [one["scope"] for one in error.value.details["candidates"]] == ["global", "workspace"]
    assert curated.find("user_coffee", "global").body == "likes oat milk"
    with pytest.raises(NotFoundError) as missing:
        curated.find("user_tea")
    assert missing.value.code == "memory.not_found"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Review Style", "review-style"),
        ("  --Über  Straße__x ", "uber-strasse-x"),
        ("Łódź café", "lodz-cafe"),
        ("a" * 60, "a" * 48),
        ("部署窗口", "44c5c8bddca9"),
    ],
)
def test_one_function_makes_slugs(text: str, expected: str) -> None:
    """Lower case with hyphens, 48 at most, letters of other scripts as ASCII, else the beginning of a hash."""
    assert slug(text) == expected
    assert filename("user", text) == f"user_{expected}.md"


def test_underscore_forms_are_found(den: Den) -> None:
    """A file that another program named with underscores is the same memory."""
    place = den.person / "memory" / "user_review_style.md"
    place.parent.mkdir(parents=True)
    place.write_text("---\nname: Review Style\ndescription: d\ntype: user\n---\n\nshort\n")
    curated = den.open()
    assert curated.find("user_review-style").filename == "user_review_style.md"
    done = write(den, curated, "user", "Review Style", "shorter")
    assert (done.decision.op, done.decision.target_filename) == ("update", "user_review_style.md")


# -- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[memory]\nenabeld = true\n", 2),
        ("[memory]\nenabled = 1\n", 2),
        ("[memory.recall]\n\ntop_k = 0\n", 3),
        ("[memory.recall.weights]\nbm25_unicode = 0.9\n", 2),
        ("[memory.controller.policy]\nallow_origins = ['cli', 'moon']\n", 2),
        ("[memory.controller.policy]\nallow_origins = []\n", 2),
        ("[memory.controller]\nmode = 'magic'\n", 2),
        ("[memory.controller.llm]\ntimeout = 'soon'\n", 2),
        ("[memory]\nglobal_dir = 'notes'\n", 2),
        ("[memory.unknown.table]\nx = 1\n", 2),
        ("memory = 3\n", 1),
    ],
)
def test_unknown_keys_and_bad_values_are_errors_with_their_line(den: Den, text: str, line: int) -> None:
    """No setting is guessed: the error names file and line, and nothing is written."""
    den.settings(text)
    with pytest.raises(ConfigError) as error:
        write(den, den.open(), "user", "Coffee", "likes oat milk")
    assert error.value.code == "memory.config"
    assert (error.value.details["file"], error.value.details["line"]) == (str(den.person / "config.toml"), line)
    assert not (den.person / "memory").exists()


def test_settings_of_a_repository_do_not_count(den: Den) -> None:
    """A config.toml that came with the workspace chooses nothing."""
    (den.workspace / ".agh").mkdir()
    (den.workspace / ".agh/config.toml").write_text("[memory.controller.policy]\nmax_content_chars = 1\n")
    assert write(den, den.open(), "user", "Coffee", "likes oat milk").decision.op == "add"


def test_memory_that_is_switched_off_is_not_written(den: Den) -> None:
    """`enabled = false` refuses writes with a code."""
    den.settings("[memory]\nenabled = false\n")
    with pytest.raises(MemdeckError) as error:
        write(den, den.open(), "user", "Coffee", "likes oat milk")
    assert error.value.code == "memory.disabled"
