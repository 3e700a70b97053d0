"""Project state in a real terminal: what it asks before it writes, and editing in a program of one's own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memory.state.files.model import CHECKPOINTS
from tests.memory.state.states import Repository

from .pseudo import Pseudo
from .tmux import memdeck

HOUSE = Path(__file__).parents[2]
EDITOR = (
    "#!/usr/bin/env python3\nimport json, pathlib, sys\nfile = pathlib.Path(sys.argv[1])\ntext = file.read_text()\n"
)
GOTCHA = {"title": "Lock", "symptom": "s", "cause": "c", "correctPath": "p"}
WRITES = f"file.write_text(json.dumps([{GOTCHA}]))"


@pytest.fixture
def shop(tmp_path: Path) -> Repository:
    """A small repository in which one session waits for a recall."""
    found = Repository(tmp_path)
    found.imported("one", "GOTCHA: Lock: two writers")
    return found


def run(shop: Repository, *words: str, editor: str = "") -> Pseudo:
    """Start a verb on the repository in a terminal; `editor` is Python that is done to the file."""
    environ = {
        "XDG_STATE_HOME": str(shop.state_home),
        "TZ": "UTC",
        "PYTHONPATH": str(HOUSE),
        "TMPDIR": str(shop.root.parent),
    }
    if editor:
        program = shop.root.parent / "editor"
        program.write_text(f"{EDITOR.replace('/usr/bin/env python3', sys.executable)}{editor}\n")
        program.chmod(0o755)
        environ["EDITOR"] = str(program)
    return Pseudo(shop.root, memdeck("state", *words, "--now", shop.later().isoformat()), environ)


def files(shop: Repository) -> dict[str, bytes]:
    """All files of the state and those that show it."""
    found = (path for path in shop.root.rglob("*") if path.is_file() and ".memdeck" not in path.parts)
    return {str(path): path.read_bytes() for path in found}


@pytest.mark.thorough(one_of=4)
@pytest.mark.parametrize("typed", ["n\n", "\n", "maybe\n", "\x04"])
def test_anything_but_a_yes_recalls_nothing(shop: Repository, typed: str) -> None:
    """The preview is shown and asked about; no, nothing, another word and the end of the input leave every byte."""
    before = files(shop)
    with run(shop, "recall") as terminal:
        terminal.wait_for("Apply it? [y/N]")
        assert b"gotcha added: Lock" in terminal.output
        assert files(shop) == before
        terminal.type(typed)
        terminal.wait_for("nothing was changed")
        terminal.ended()
        assert terminal.process.returncode == 0
    assert files(shop) == before


def test_a_yes_recalls(shop: Repository) -> None:
    """It is applied as it was shown."""
    with run(shop, "recall") as terminal:
        terminal.wait_for("Apply it? [y/N]")
        terminal.type("y\n")
        terminal.wait_for("`memdeck undo` reverts it")
        terminal.ended()
    assert [one["title"] for one in shop.memory.bundle["gotchas"]] == ["Lock"]
    assert shop.codes() == []


def test_an_editor_writes_a_section(shop: Repository) -> None:
    """It gets the section as JSON in a file that says so, on the terminal; what it leaves is saved."""
    does = f"assert file.suffix == '.json' and sys.stdin.isatty()\nassert json.loads(text) == []\n{WRITES}"
    with run(shop, "edit", "gotchas", editor=does) as terminal:
        terminal.wait_for("edited gotchas")
        terminal.ended()
        assert terminal.process.returncode == 0
    assert shop.memory.bundle["gotchas"] == [GOTCHA]
    assert shop.codes() == []


@pytest.mark.thorough(one_of=4)
@pytest.mark.parametrize(
    ("does", "said", "code"),
    [
        ("sys.exit(3)", "editor ended with 3; nothing was changed", 1),
        ("", "gotchas is unchanged", 0),
        ("file.unlink()", "editor.failed", 1),
        ("import os; os.kill(os.getpid(), 9)", "nothing was changed", 1),
    ],
    ids=["fails", "changes nothing", "removes the file", "is killed"],
)
def test_an_editor_that_gives_nothing_new(shop: Repository, does: str, said: str, code: int) -> None:
    """One that fails, changes nothing, or leaves no file makes no checkpoint, and the answer says why."""
    with run(shop, "edit", "gotchas", editor=does or "pass") as terminal:
        terminal.wait_for(said)
        terminal.ended()
        assert terminal.process.returncode == code
    assert len(list(shop.path(CHECKPOINTS).iterdir())) == 1


@pytest.mark.thorough(one_of=4)
@pytest.mark.parametrize(
    ("text", "said"), [('[{"title": ', "state.json"), ('[{"title": "Lock"}]', "state.refused"), ("", "state.json")]
)
def test_what_does_not_pass_is_edited_again_or_kept(shop: Repository, text: str, said: str) -> None:
    """The second try begins with the text of the first; left, the text is in a file that the error names."""
    does = f"if text.strip() == '[]':\n    file.write_text({text!r})\nelse:\n    assert text == {text!r}\n    {WRITES}"
    with run(shop, "edit", "gotchas", editor=does) as terminal:
        terminal.wait_for("Edit your text again? [y/N]")
        assert said.encode() in terminal.output
        terminal.type("y\n")
        terminal.wait_for("edited gotchas")
        terminal.ended()
    assert shop.memory.bundle["gotchas"] == [GOTCHA]
    with run(shop, "edit", "gotchas", editor=f"file.write_text({text!r})") as terminal:
        terminal.wait_for("Edit your text again? [y/N]")
        terminal.type("n\n")
        terminal.wait_for("your text is in ")
        terminal.ended()
        assert terminal.process.returncode in (1, 2)
        place = terminal.output.decode().split("your text is in ")[1].split()[0].rstrip("\r\n;")
    assert Path(place).read_text() == text
    assert shop.memory.bundle["gotchas"] == [GOTCHA]


def test_what_another_wrote_meanwhile_is_not_overwritten(shop: Repository, tmp_path: Path) -> None:
    """The section changed while the editor was open: a conflict, and the person's text is kept."""
    other = tmp_path / "other.json"
    other.write_text("[]")
    does = (
        "import subprocess\n"
        f"subprocess.run({memdeck('state', 'edit', 'next-steps', '--json', str(other))!r}, check=True)\n"
        "file.write_text(text.replace('Write', 'Rewrite') + ' ')\n"
    )
    other.write_text('[{"title": "Theirs", "why": "w", "start": "s", "done": "d"}]')
    with run(shop, "edit", "next-steps", editor=does) as terminal:
        terminal.wait_for("document.conflict")
        terminal.wait_for("your text is in ")
        terminal.ended()
        assert terminal.process.returncode == 4
    assert [one["title"] for one in shop.memory.bundle["nextSteps"]] == ["Theirs"]
