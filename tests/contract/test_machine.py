"""What the machine has beside memdeck, its locale, its crontab, does not change what memdeck answers."""

from __future__ import annotations

import pytest

from tests.contract.place import Place


def _crontab(place: Place, script: str) -> dict[str, str]:
    """Put a `crontab` of its own in front of those of the machine; return the variables for it."""
    program = place.top / "programs" / "crontab"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{place.environment['PATH']}"}


def _cron(place: Place, environ: dict[str, str]) -> str:
    """Return the level of what `doctor` says of cron."""
    (found,) = [one for one in place("doctor", "-o", "json", environ=environ).data["checks"] if one["name"] == "cron"]
    return str(found["level"])


def test_doctor_reads_the_crontab_of_the_machine(workspace: Place) -> None:
    """An entry for this workspace is found."""
    environ = _crontab(workspace, f"echo '5 * * * * cd {workspace.work} && memdeck --maintain'")
    assert _cron(workspace, environ) == "ok"


@pytest.mark.parametrize("script", ["echo 'no crontab for me' >&2; exit 1", "exit 0", "echo 'x' >&2; kill -9 $$"])
def test_doctor_goes_on_without_a_crontab(workspace: Place, script: str) -> None:
    """A user without a crontab, and a program that fails, are a note and no error."""
    assert _cron(workspace, _crontab(workspace, script)) == "note"


def test_a_wrong_state_folder_is_one_finding(workspace: Place) -> None:
    """A cause that fails many checks is reported by the first of them, with what to do."""
    [folder] = [one for one in (workspace.top / "state" / "memdeck").iterdir() if one.is_dir()]
    folder.chmod(0o777)
    answer = workspace("doctor", "-o", "json")
    found = [one["name"] for one in answer.data["checks"] if one["message"].startswith("others can write")]
    assert (answer.code, found) == (4, ["state"])


def test_answers_do_not_depend_on_the_locale(workspace: Place) -> None:
    """Words, dates and numbers are the same in every locale, on every terminal."""
    ref = workspace.json("tasks", "add", "İstanbul straße", "--due", "fri 9:00")["task"]["ref"]
    calls = (
        ("tasks", "list"),
        ("tasks", "show", ref),
        ("status",),
        ("tasks", "list", "-o", "json"),
        ("config", "list"),
    )
    plain = [workspace(*words) for words in calls]
    for environ in (
        {"LANG": "tr_TR.UTF-8", "LANGUAGE": "tr:de", "LC_TIME": "de_DE.UTF-8", "LC_NUMERIC": "de_DE.UTF-8"},
        {"LC_ALL": "C", "TERM": "dumb", "PAGER": "false", "EDITOR": "false", "PYTHONUTF8": "1"},
    ):
        assert [workspace(*words, environ=environ) for words in calls] == plain
    assert workspace("tasks", "list", "--bogus").error == "usage.option"
    assert workspace("tasks", "lst").error == "usage.verb"
