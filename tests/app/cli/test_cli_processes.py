"""The command as a process: exit codes, what goes to which stream, and what is imported."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.version import __version__
from tests.patience import PATIENCE

HOUSE = Path(__file__).parents[3]
Process = Callable[..., "subprocess.CompletedProcess[bytes]"]
HEAVY = ("textual", "rich", "markdown_it", "watchdog", "croniter", "yaml", "zoneinfo", "importlib.metadata", "asyncio")


def test_the_version_imports_nothing(process: Process) -> None:
    """`--version` answers before click and before anything of memdeck's own but the constant."""
    done = process("--version")
    assert (0, f"memdeck {__version__}\n", b"") == (done.returncode, done.stdout.decode(), done.stderr)
    code = (
        "import sys; before = set(sys.modules); sys.argv = ['memdeck', '--version']\n"
        "from app.main import main; main()\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    names = subprocess.run(
        [sys.executable, "-c", code], cwd=HOUSE, capture_output=True, text=True, check=True, timeout=PATIENCE
    ).stdout
    assert set(names.split("\n")[1].split()) <= {"app", "app.main", "app.version", "__future__", "gc", "os"}


@pytest.mark.parametrize(
    "words",
    [
        ["tasks", "list"],
        ["tasks", "list", "--due", "overdue"],
        ["journal", "list", "-o", "jsonl"],
        ["undo"],
        ["--help"],
        ["--maintain", "--no-exec"],
        ["hook", "prompt", "--client", "claude-code"],
        ["api", "--openapi"],
    ],
    ids=" ".join,
)
def test_only_what_is_needed_is_imported(shop: Path, words: list[str]) -> None:
    """Short verbs, what cron calls every night and what an agent waits for import neither the application nor the
    libraries and duties of systems that only others need.
    """
    code = "import sys\nfrom app.main import run; run(sys.argv[1:])\nprint(*sys.modules, sep='\\n', file=sys.stderr)"
    place = [] if words[0] == "--help" else ["--now", "2024-01-15T12:00:00Z"]
    place += [str(shop)] if words[0] == "--maintain" else ["-w", str(shop)] if place else []
    asked = json.dumps({"session_id": "s", "prompt": "when do we deploy to staging?", "cwd": str(shop)})
    done = subprocess.run(
        [sys.executable, "-c", code, *words, *place],
        cwd=HOUSE, input=asked, capture_output=True, text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    loaded = set(done.stderr.split("\n"))
    assert "memory.operations" in loaded or "memory.prompts" in loaded or "memory.maintenance.run" in loaded
    # The next run of a recurring task is told to an agent.
    needed = {"hook": ("croniter", "zoneinfo"), "api": HEAVY[1:]}.get(words[0], ())
    assert [name for name in HEAVY if name in loaded and name not in needed] == []
    assert [name for name in loaded if name.startswith(("app.tui", "widgets"))] == []
    if words[0] == "hook":
        assert "app.hooks.run" in loaded
        seldom = ("memory.maintenance.run", "memory.files.exchange", "memory.monitoring.settings", "psutil", "pathspec")
        assert [name for name in (*seldom, "ssl") if name in loaded] == []


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["tasks", "list"], 0, None),
        (["tasks", "show", "nosuchtask"], 1, "task.not_found"),
        (["tasks"], 2, "usage.verb"),
        (["tasks", "list", "-w", "/"], 2, "workspace.not_found"),
        (["tasks", "list", "--now", "yesteryear"], 2, "usage.now"),
        (["./nosuchfolder"], 2, "workspace.no_folder"),
        ([], 2, "terminal.missing"),
        ([".aiter"], 2, "terminal.missing"),
        (["demo"], 2, "terminal.missing"),
        ([".", "elsewhere"], 2, "usage.arguments"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_an_error_is_one_line_and_one_object(process: Process, words: list[str], code: int, error: str | None) -> None:
    """stderr has the line, stdout nothing, or with -o json the object; the exit code is the same."""
    plain = process(*words)
    assert code == plain.returncode, plain.stderr
    answer = process(*words, "-o", "json") if words else process("-o", "json")
    assert code == answer.returncode
    if error is None:
        assert plain.stderr == answer.stderr == b""
        return
    assert plain.stdout == b""
    assert plain.stderr.startswith(f"memdeck: {error}: ".encode())
    assert plain.stderr.count(b"\n") == 1
    assert plain.stderr == answer.stderr
    found = json.loads(answer.stdout)["error"]
    assert set(found) == {"code", "message", "details"}
    assert found["code"] == error


def test_a_folder_named_like_a_verb_is_opened_by_its_path(process: Process, shop: Path) -> None:
    """`./tasks` is a folder and never the verb; both need what they need."""
    (shop / "tasks").mkdir()
    assert b"terminal.missing" in process("./tasks").stderr
    assert b"terminal.missing" in process("--", "tasks").stderr
    assert process("tasks", "list").returncode == 0


def test_an_unexpected_failure_is_one_line(shop: Path) -> None:
    """No traceback reaches the person, unless MEMDECK_DEBUG asks for it."""
    code = (
        "import sys, memory.workspace\n"
        "def broken(*_, **__): raise RuntimeError('two\\nlines \\x1b[31m')\n"
        "memory.workspace.Workspace.open = broken\n"
        "from app.main import run; sys.exit(run(['tasks', 'list', *sys.argv[1:]]))"
    )
    environment = os.environ | {"PYTHONPATH": str(HOUSE)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=shop, env=environment, capture_output=True, check=False, timeout=PATIENCE)
    assert done.returncode == 1
    expected = b"memdeck: internal: RuntimeError: two lines \\x1b[31m; MEMDECK_DEBUG=1 shows where; please report it\n"
    assert expected == done.stderr
    debug = environment | {"MEMDECK_DEBUG": "1"}
    told = subprocess.run(
        [*command, "-o", "json"], cwd=shop, env=debug, capture_output=True, check=False, timeout=PATIENCE
    )
    assert b"Traceback (most recent call last)" in told.stderr
    assert json.loads(told.stdout)["error"]["code"] == "internal"


def test_a_reader_that_goes_away_is_no_failure(shop: Path) -> None:
    """`| head -1` ends the run quietly."""
    memory = shop / ".aiter" / "memory"
    entries = "".join(f"### [LOW] Task {number} {'x' * 200}\n" for number in range(3000))
    (memory / "tasks.md").write_text(f"## Pending\n{entries}")
    for form in ("human", "json", "jsonl"):
        command = [sys.executable, "-m", "app.main", "tasks", "list", "-o", form]
        running = subprocess.Popen(
            command,
            cwd=shop,
            env=os.environ | {"PYTHONPATH": str(HOUSE)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert running.stdout is not None
        assert running.stderr is not None
        assert select.select([running.stdout], [], [], PATIENCE)[0]
        assert running.stdout.read(10)
        running.stdout.close()
        running.stdout = None
        assert running.communicate(timeout=PATIENCE) == (None, b"")
        assert running.wait(PATIENCE) == 141


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize(
    "words",
    ["tasks list", "--help", "tasks -h", "tasks add --help", "--maintain --help", "--version", "--no-color --version"],
)
def test_output_that_cannot_be_written_is_an_error(shop: Path, words: str) -> None:
    """A full disk behind stdout, and a closed one, are said in one line, whatever was to be printed."""
    command = f"{sys.executable} -m app.main {words}"
    environment = os.environ | {"PYTHONPATH": str(HOUSE)}
    for redirection in (">/dev/full", ">&-"):
        done = subprocess.run(
            ["sh", "-c", f"{command} {redirection}"],
            cwd=shop,
            env=environment,
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 1
        assert done.stderr.startswith(b"memdeck: output.failed: ")
        assert done.stderr.count(b"\n") == 1


def test_control_c_is_quiet(shop: Path) -> None:
    """SIGINT ends the run with 130 and no word, also while it waits for stdin."""
    running = subprocess.Popen(
        [sys.executable, "-m", "app.main", "journal", "add", "x", "--line", "-"],
        cwd=shop,
        env=os.environ | {"PYTHONPATH": str(HOUSE), "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever runs the tests in the background of a script has SIGINT ignored, and so would have the child.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    # More than a pipe holds: it is read, so the run has begun, and it waits for the end.
    assert running.stdin is not None
    running.stdin.write("x" * 300_000)
    running.stdin.flush()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, out, err) == (130, "", "")


@pytest.mark.thorough(one_of=4)
@pytest.mark.parametrize(
    "variables", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}], ids=str
)
@pytest.mark.parametrize("form", ["human", "json", "jsonl"])
def test_any_encoding_of_stdout_will_do(process: Process, shop: Path, variables: dict[str, str], form: str) -> None:
    """What the encoding cannot hold is escaped; bytes that are not UTF-8 in a file crash nothing."""
    tasks = shop / ".aiter" / "memory" / "tasks.md"
    tasks.write_bytes(tasks.read_bytes().replace(b"Deploy v2.1", "Deploy 结账 📸 \u202e".encode() + b"\xff"))
    done = process("tasks", "list", "-o", form, **variables)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\xff" not in done.stdout
    assert b"\x80\xae" not in done.stdout  # the override's bytes
    if form == "json":
        titles = [task["title"] for task in json.loads(done.stdout)["tasks"]]
        assert titles[0] == "Deploy 结账 📸 \u202e\udcff to staging"
    shown = process("tasks", "show", "staging", "-o", form, **variables)
    assert shown.returncode == 0
    failed = process("tasks", "show", "未知", "-o", form, **variables)
    assert failed.returncode == 1
    assert failed.stderr.startswith(b"memdeck: task.not_found: ")


@pytest.mark.thorough(one_of=3)
@pytest.mark.skipif(sys.platform != "linux", reason="looks at the descriptors of a process")
@pytest.mark.parametrize("closed", [(2,), (1, 2), (0, 1, 2)], ids=str)
def test_no_file_gets_the_number_of_a_closed_stream(shop: Path, closed: tuple[int, ...]) -> None:
    """Where stdin, stdout or stderr are closed, they lead nowhere: what is written there lands in no file."""
    code = (
        "import os, sys, app.main, app.cli.session\n"
        "found = os.open(sys.argv.pop(), os.O_WRONLY | os.O_CREAT)\n"
        f"for number in {closed}: os.close(number)\n"
        "app.main.run = lambda words: os.write(found, ' '.join(map(os.readlink, "
        "[f'/proc/self/fd/{number}' for number in range(3)])).encode())\n"
        "sys.argv[1:] = ['status']\n"
        "app.main.main()"
    )
    told = shop / "told"
    subprocess.run(
        [sys.executable, "-c", code, str(told)], cwd=HOUSE, capture_output=True, stdin=subprocess.PIPE, timeout=PATIENCE
    )
    streams = told.read_text().split()
    assert ["/dev/null" if number in closed else "pipe" for number in range(3)] == [
        one.partition(":")[0] for one in streams
    ]


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("limit", [6, 7, 8])
def test_a_process_without_descriptors_says_so_in_a_line(shop: Path, tmp_path: Path, limit: int) -> None:
    """Where the system opens no more files, not even those of the program, one line says what to do."""
    done = subprocess.run(
        ["sh", "-c", f'ulimit -n {limit}; exec "$0" -m app.main undo -w "$1"', sys.executable, str(shop)],
        cwd=HOUSE,
        env=os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        timeout=PATIENCE,
    )
    if b"Fatal Python error" in done.stderr:
        pytest.skip("Python itself needs more")
    assert b"Traceback" not in done.stderr
    assert b"internal" not in done.stderr
    assert (done.returncode, done.stderr.count(b"\n")) in ((0, 0), (1, 1))


LONG = "/" + "x" * 5_000


@pytest.mark.parametrize(
    "words",
    [
        ["convert", f"claude-code:{LONG}", "files"],
        ["convert", f"memory-bank:{LONG}", "files"],
        ["fleet", "scan", LONG],
        ["connect", "claude-code", "--scope", "project", "--dry-run", "-w", LONG],
        ["connect", "opencode", "--scope", "project", "--dry-run", "-w", LONG],
        ["doctor"],
    ],
    ids=lambda words: " ".join(words)[:20],
)
def test_a_path_that_no_file_can_have_is_an_error_of_that_path(
    process: Process, words: list[str], tmp_path: Path
) -> None:
    """A name longer than a file system takes is no failure of the program, also as that of the state folder."""
    done = process(*words, XDG_STATE_HOME=LONG if words == ["doctor"] else str(tmp_path / "state"))
    assert b"internal" not in done.stderr
    assert b"Traceback" not in done.stderr
    assert done.returncode != 0


@pytest.mark.parametrize("form", ["human", "json"])
def test_what_cannot_be_shown_is_made_all_the_same(shop: Path, form: str) -> None:
    """A full disk behind stdout is a warning once the change is made: whoever tries again would make it twice."""
    for redirection in (">/dev/full", ">&-"):
        done = subprocess.run(
            ["sh", "-c", f"{sys.executable} -m app.main tasks add New -o {form} {redirection}"],
            cwd=shop,
            env=os.environ | {"PYTHONPATH": str(HOUSE)},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr.count(b"the change is made")) == (0, 1), done
    assert (shop / ".aiter/memory/tasks.md").read_text().count("] New\n") == 2
