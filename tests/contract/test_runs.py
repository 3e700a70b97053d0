"""What runs: checks and fixes in an empty private folder, or where `folder` says; an approval covers what it names."""

from __future__ import annotations

import json
import shlex
import shutil
from typing import Any

import pytest

from tests.contract.place import Answer, Place

MONITORS = ".aiter/memory/monitors.md"
GOOD, EVIL = "echo good\n", "echo evil > {work}/ran; echo evil\n"


def monitor(place: Place, command: str, *lines: str, name: str = "Probe") -> None:
    """Write a monitor with this command as the only one of the workspace."""
    fields = "".join(f"- {line}\n" for line in ("type: command", f"command: {command}", *lines))
    place.write(MONITORS, f"## Monitors\n\n### {name}\n{fields}- interval: * * * * *\n- threshold: exit code != 0\n")


def script(place: Place, path: str, text: str) -> None:
    """Write an executable script into the workspace."""
    place.write(path, f"#!/bin/sh\n{text.format(work=place.work)}").chmod(0o755)


def waiting(place: Place) -> list[dict[str, Any]]:
    """Return what does not run as it is, as `trust list --blocked` says."""
    return list(place.json("trust", "list", "--blocked")["trust"])


def approve(place: Place) -> str:
    """Approve all that waits at a terminal, one by one; return what the terminal showed."""
    shown = ""
    for row in waiting(place):
        assert row["id"], row
        answer = place.at_terminal("trust", "approve", row["id"], keys="yes\n", after="Write yes")
        assert answer.code == 0, answer
        assert "\napproved" in answer.out
        shown += answer.out
    return " ".join(shown.split())


def checked(place: Place) -> tuple[Answer, str, str]:
    """Check all monitors; return the answer with the state and the words of the one monitor."""
    answer = place("monitors", "check", "--all", "-o", "json")
    [found] = answer.data["monitors"]
    return answer, found["state"], found["summary"]


HIDDEN = [
    "sh -c './r?n.sh'",
    "sh -c './r*.sh'",
    "sh -c './r[u]n.sh'",
    "timeout 5 bash -c './run.s[h]'",
    "setsid -w sh -c './r*.sh'",
    "sh -c \"sh -c './r?n.sh' x\"",
    "sh -c ./r\\*.sh",
    "bash -c './r@(un).sh'",
    "bash -O extglob -c './r@(un).sh'",
    "echo './r*.sh' | sh",
    "printf '%s.sh' ./run | sh",
    "printf './\\162un.sh' | sh",
    "ls | sh",
    "awk 'BEGIN{system(\"./\\x72un.sh\")}'",
    "awk 'BEGIN{system(\"./r*.sh\")}'",
    "env -S'sh r\\x75n.sh'",
    "python3 -m probe",
    "pydoc3 probe",
    "make",
    "cd \"$OLDPWD\" && sh -c './r?n.sh'",
    'sh "$PWD"/r*n.sh',
]


@pytest.mark.thorough(but=tuple(HIDDEN[::6]))
@pytest.mark.parametrize("command", HIDDEN)
def test_no_spelling_runs_a_script_of_the_workspace(workspace: Place, command: str) -> None:
    """What no approval covers does not run, however a command reaches for it: the folder that it runs in is empty."""
    script(workspace, "run.sh", GOOD)
    workspace.write("probe.py", "pass\n")
    workspace.write("Makefile", "all:\n\ttrue\n")
    monitor(workspace, command)
    approve(workspace)
    checked(workspace)
    script(workspace, "run.sh", EVIL)
    workspace.write("probe.py", f"open({str(workspace.work / 'ran')!r}, 'w')\n")
    workspace.write("Makefile", f"all:\n\ttouch {workspace.work}/ran\n")
    workspace.write(f"touch {workspace.work.name}-ran", "")
    checked(workspace)
    assert not (workspace.work / "ran").exists()


@pytest.mark.parametrize("environ", ["PWD", "OLDPWD", "PROJECT"])
def test_no_variable_leads_back_into_the_workspace(workspace: Place, environ: str) -> None:
    """An approved variable whose value leads into the workspace is an error, unless the monitor names its folder."""
    script(workspace, "run.sh", EVIL)
    workspace.variables[environ] = str(workspace.work)
    monitor(workspace, f'sh "${environ}"/run.sh', f"environment: {environ}")
    approve(workspace)
    _, state, words = checked(workspace)
    assert (state, "folder: ." in words) == ("error", True), words
    assert not (workspace.work / "ran").exists()


@pytest.mark.thorough(one_of=4)
@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("./run.sh", "./run.sh"),
        ("sh run.sh", "run.sh"),
        ("python3 tools/x.py", "tools/x.py"),
        ("cd tools && python3 ./x.py", "tools"),
        ("sh -c './run.sh now'", "./run.sh"),
        ("grep -c ERROR app.log", "app.log"),
        ("sh < run.sh", "run.sh"),
        ("env X=1 ./run.sh", "./run.sh"),
        ("python3 --config=tools/x.py", "tools/x.py"),
        ("sh -c ./ru\\'\\'n.sh", "./run.sh"),
        ("sh r*n.sh", "r*n.sh"),
        ("du -s .", "."),
    ],
)
@pytest.mark.parametrize("key", ["command", "autoRemediate"])
def test_a_relative_name_says_what_to_add(workspace: Place, key: str, command: str, word: str) -> None:
    """A command that names a file of the workspace, and no folder, is an error everywhere that a monitor is shown."""
    script(workspace, "run.sh", GOOD)
    workspace.write("tools/x.py", "print(1)\n")
    workspace.write("app.log", "fine\n")
    if key == "command":
        monitor(workspace, command)
    else:
        monitor(workspace, "true", f"autoRemediate: {command}")
    _, state, words = checked(workspace)
    assert state == "error"
    assert words.startswith(word[:19]), words
    assert "add folder: ." in words
    problems = [one for one in workspace("check", "-o", "json").data["problems"] if one["code"] == "monitor.folder"]
    line = 5 if key == "command" else 6
    assert [(one["line"], "add folder: ." in one["message"]) for one in problems] == [(line, True)]
    assert {row["state"] for row in waiting(workspace)} == {"refused"}
    maintained = workspace("--maintain", "-o", "json", now="2026-03-02T09:05:00Z")
    assert "add folder: ." in json.dumps(maintained.data["monitors"])


def test_a_command_that_cannot_run_is_not_added(workspace: Place) -> None:
    """`monitors add` and `edit` refuse it, and take the folder as a field."""
    script(workspace, "run.sh", GOOD)
    words = ("monitors", "add", "Probe", "--type", "command", "--command", "./run.sh")
    assert workspace(*words).error == "monitor.folder"
    assert workspace(*words, "--set", "folder=/").error == "monitor.setting"
    assert workspace(*words, "--set", "folder=nowhere").error == "monitor.folder"
    added = workspace.json(*words, "--folder", ".")["monitor"]
    assert added["folder"] == "."
    assert workspace("monitors", "edit", added["ref"], "--unset", "folder").error == "monitor.folder"


def test_checks_and_fixes_see_an_empty_folder(workspace: Place) -> None:
    """They run in a folder of their own that is empty, private and gone afterwards; nothing names the workspace."""
    seen = workspace.top / "seen"
    monitor(workspace, f'{{ pwd; stat -c %a "$PWD"; ls -A; env; }} > {seen}; echo x > left; mkdir a; ls')
    approve(workspace)
    workspace.variables["PATH"] = f"{workspace.work}/bin:.:{workspace.environment['PATH']}"
    assert checked(workspace)[1] == "healthy"
    folder, mode, *variables = seen.read_text().splitlines()
    assert mode == "700"
    assert {line.partition("=")[0] for line in variables} <= {"PATH", "HOME", "LANG", "TZ", "PWD", "SHLVL", "_"}
    assert str(workspace.work) not in seen.read_text()
    assert f"PWD={folder}" in variables
    assert not (workspace.top / folder).exists()
    monitor(workspace, "false", f"autoRemediate: pwd > {seen}; ls -A >> {seen}")
    approve(workspace)
    for minute in ("10", "11", "12"):
        workspace("monitors", "check", "--all", now=f"2026-03-02T09:{minute}:00Z")
    [second] = seen.read_text().splitlines()
    assert second != folder
    assert str(workspace.work) not in second


def test_a_folder_pins_what_the_words_name(workspace: Place) -> None:
    """With `folder: .` the question says so and lists what is covered; a change of that withdraws the approval."""
    script(workspace, "run.sh", "cat app.log\n")
    workspace.write("app.log", "one\n")
    monitor(workspace, "./run.sh; grep -c o app.log", "folder: .")
    [row] = waiting(workspace)
    assert (row["folder"], row["files"], row["reads"]) == (".", ["run.sh"], ["app.log"])
    shown = approve(workspace)
    assert "it runs in the workspace: any file there can change what it does" in shown
    assert "reads, not covered: app.log" in shown
    assert f"in folder: {workspace.work}" in shown
    assert checked(workspace)[1] == "healthy"
    workspace.write("app.log", "two\no\n")
    assert checked(workspace)[1] == "healthy"
    script(workspace, "run.sh", EVIL)
    answer, state, words = checked(workspace)
    assert (answer.code, state, "run.sh" in words) == (3, "blocked", True), answer
    assert not (workspace.work / "ran").exists()


@pytest.mark.thorough(one_of=4)
@pytest.mark.parametrize(
    ("command", "files", "reads"),
    [
        ("cat run.sh | sh", ["run.sh"], []),
        ("(cat run.sh; true) | sh", ["run.sh"], []),
        ('eval "$(cat run.sh)"', ["run.sh"], []),
        ("awk -f run.sh app.log", ["run.sh"], ["app.log"]),
        ("tail -n 5 app.log | wc -l", [], ["app.log"]),
        ("[ $(wc -l < app.log) -gt 5 ]", [], ["app.log"]),
        ("test -f app.log && ./run.sh", ["run.sh"], ["app.log"]),
        ("PATH=/bin; grep x app.log", ["app.log"], []),
        ("/bin/sh run.sh; ! tail app.log", ["run.sh"], ["app.log"]),
        ("sh run.sh > app.log", ["run.sh"], ["app.log"]),
        ("cat app.log | ./run.sh", ["app.log", "run.sh"], []),
        ("alias tail=sh; tail run.sh", ["run.sh"], []),
        ("if true; then . ./lib.sh; fi; tail run.sh", ["run.sh"], []),
        ('sed -n "$(cat run.sh)" app.log', ["app.log", "run.sh"], []),
        ('[ "$(jq .depth app.log)" -gt 5 ]', [], ["app.log"]),
        ("cd tools && ./x.sh", ["tools/x.sh"], []),
        ("sh *.sh", ["run.sh"], []),
        ("sh '*.sh'", [], []),
        ("./run.sh >> app.log", ["run.sh"], ["app.log"]),
        ("./link", ["run.sh"], []),
        ("python3 run.sh .aiter/memory/tasks.md", ["run.sh"], [".aiter/memory/tasks.md"]),
    ],
)
def test_programs_and_scripts_are_covered_and_data_is_not(
    workspace: Place, command: str, files: list[str], reads: list[str]
) -> None:
    """What only known readers get is data, and so are memdeck's own files; anything else that is named is covered."""
    script(workspace, "run.sh", GOOD)
    script(workspace, "tools/x.sh", GOOD)
    workspace.write("app.log", "one\n")
    (workspace.work / "link").symlink_to("run.sh")
    monitor(workspace, command, "folder: .")
    [row] = waiting(workspace)
    assert (row["files"], row["reads"]) == (files, reads)


@pytest.mark.thorough(one_of=4)
@pytest.mark.parametrize(
    "command",
    [
        "sh {work}/run.sh",
        "cd {work} && sh ./run.sh",
        "cd {top}; cd work; ./run.sh",
        "cd && sh ../work/run.sh",
        "sh ~/../work/r*.sh",
        'sh "$HOME"/../work/run.sh',
        "sh {work}/r*.sh",
        "sh {top}/w*/run.sh",
        "sh /{top}/[w]ork/r*.sh",
        ". /{top}/work/run.sh",
    ],
)
def test_an_absolute_path_is_covered_and_told(workspace: Place, command: str) -> None:
    """A command that names the workspace by its path runs in the private folder, and what it names is covered."""
    script(workspace, "run.sh", GOOD)
    monitor(workspace, command.format(top=workspace.top, work=workspace.work))
    [row] = waiting(workspace)
    assert (row["folder"], row["files"]) == (None, ["run.sh"])
    assert "it names the workspace: any file there can change what it does" in approve(workspace)
    assert checked(workspace)[1] == "healthy"
    script(workspace, "run.sh", EVIL)
    assert checked(workspace)[1] == "blocked"
    assert not (workspace.work / "ran").exists()


@pytest.mark.thorough(one_of=4)
@pytest.mark.parametrize(
    "command",
    [
        "sh ../../../../../work/run.sh",
        "sh .\\./../../../../work/run.sh",
        "sh ../..{top}/work/run.sh",
        "sh .?/.?/.?/.?/.?/work/run.sh",
        "cd ../../..; cd ../..; sh work/run.sh",
    ],
)
def test_every_other_way_into_the_workspace_is_told(workspace: Place, command: str) -> None:
    """A command that may climb out of the private folder: the question says that nothing there is covered."""
    script(workspace, "run.sh", GOOD)
    monitor(workspace, command.format(top=workspace.top))
    [row] = waiting(workspace)
    assert (row["folder"], row["files"]) == (None, [])
    told = "it may reach the workspace: any file there can change what it does; the approval covers none of them"
    assert told in approve(workspace)


def test_another_folder_withdraws_the_approval(workspace: Place) -> None:
    """Where a command runs belongs to what was approved."""
    monitor(workspace, "ls | grep -c sh")
    assert "a private temporary folder" in approve(workspace)
    monitor(workspace, "ls | grep -c sh", "folder: .")
    [row] = waiting(workspace)
    assert (row["state"], row["why"]) == ("withdrawn", "approved once, but changed since: folder")


def test_a_link_out_of_the_workspace_is_no_folder(workspace: Place) -> None:
    """`folder` names a folder of the workspace, whatever a link says."""
    (workspace.work / "out").symlink_to(workspace.home)
    monitor(workspace, "touch ran", "folder: out")
    approve(workspace)
    assert checked(workspace)[1] == "error"
    assert not list(workspace.home.iterdir())


def test_the_action_of_a_task_belongs_to_the_workspace(workspace: Place) -> None:
    """A person starts it with the command before their eyes: it runs in the workspace, and its files are covered."""
    script(workspace, "run.sh", GOOD)
    workspace.json("tasks", "add", "Deploy", "--action", "./run.sh")
    shown = approve(workspace)
    assert "it runs in the workspace: any file there can change what it does" in shown
    assert f"in folder: {workspace.work}" in shown
    script(workspace, "run.sh", EVIL)
    [row] = waiting(workspace)
    assert (row["state"], row["files"], row["folder"]) == ("withdrawn", ["run.sh"], ".")


def test_a_copied_workspace_runs_nothing(workspace: Place) -> None:
    """Approvals belong to one place: the same files elsewhere wait for a person."""
    monitor(workspace, f"touch {shlex.quote(str(workspace.top / 'ran'))}")
    other = workspace.top / "other"
    shutil.copytree(workspace.work, other)
    answer = workspace("monitors", "check", "--all", "-o", "json", folder=other)
    assert (answer.code, answer.data["monitors"][0]["state"]) == (3, "blocked")
    assert not (workspace.top / "ran").exists()


@pytest.mark.thorough(one_of=6)
@pytest.mark.parametrize(
    "command",
    [
        "< run.sh sh",
        "if 0<run.sh sh; then true; fi",
        "exec < run.sh; sh",
        "$(< run.sh)",
        "`cat run.sh`",
        'test "$(./run.sh)" = good',
        'echo "it says `sh run.sh`"',
        'printf %s "$(cat run.sh | sh)"',
        "sqlite3 state.db < run.sh",
        "cat run.sh | sqlite3 state.db",
        "x=$(true) sh run.sh",
        "x=$(true) sh -c 'sh run.sh'",
        "case x in x) sh -c 'sh run.sh';; esac",
        "sh sh run.sh",
        "sh <>run.sh",
        "bash -c '. run.sh'",
        "echo `echo \\`sh run.sh\\``",
        "sh 'it`s.sh'",
        "env --chdir=deep sh in.sh",
        "cd deep && cd er && sh in.sh",
        "cd deep/er; cd ../../; sh run.sh",
        "PATH=.:$PATH run.sh",
        "sh -c 'PATH=. run.sh'",
        "tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec=./run.sh run.md",
        "sh [r]un[1].sh",
    ],
)
def test_a_script_is_covered_wherever_it_is_named(workspace: Place, command: str) -> None:
    """Redirections before the program, substitutions in quotes and in backticks name scripts like other words."""
    scripts = ("run.sh", "it`s.sh", "deep/in.sh", "deep/er/in.sh", "[r]un[1].sh")
    for path in scripts:
        script(workspace, path, GOOD)
    workspace.write("state.db", "")
    monitor(workspace, command, "folder: .")
    approve(workspace)
    assert waiting(workspace) == []
    for path in scripts:
        script(workspace, path, EVIL)
    assert len(waiting(workspace)) == 1
    checked(workspace)
    assert not (workspace.work / "ran").exists()


@pytest.mark.parametrize("command", ['test "$(wc -l < app.log)" -lt 5', "< app.log grep -c good"])
def test_what_readers_get_is_data_wherever_it_is_named(workspace: Place, command: str) -> None:
    """A log that only known readers get may grow, in substitutions and before the program, too."""
    workspace.write("app.log", "good\n")
    monitor(workspace, command, "folder: .")
    approve(workspace)
    workspace.write("app.log", "good\nmore\n")
    assert waiting(workspace) == []
