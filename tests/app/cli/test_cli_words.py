"""What the command line says where an answer could be taken for another, and what it proposes instead of an error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.cli.conftest import Answer

Memdeck = Callable[..., Answer]


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("archiveCompletedAfterDay", "did you mean archiveCompletedAfterDays?"),
        ("TIMEZONE", "did you mean timezone?"),
        ("favouriteColour", "it is kept unchanged"),
    ],
)
def test_a_setting_that_nobody_knows_is_set_and_said(memdeck: Memdeck, memory: Path, key: str, told: str) -> None:
    """It may be another program's, so it is written, and one warning on stderr proposes the setting that is meant."""
    answer = memdeck("config", "set", key, "3", "-o", "json")
    assert (answer.code, answer.data) == (0, {"config": {key: "3"}})
    assert answer.err == (f"memdeck: warning: config.unknown_key: {key} is not a setting that memdeck knows; {told}\n")
    assert f"- {key}: 3\n" in (memory / "config.md").read_text()


def test_what_fits_several_is_listed_with_refs_and_titles(memdeck: Memdeck) -> None:
    """Each line has the ref that the lists show, which names that task alone, and programs get what they got."""
    answer = memdeck("tasks", "done", "e")
    first, *lines = answer.err.splitlines()
    assert (answer.code, answer.out) == (1, "")
    assert first == "memdeck: task.ambiguous: 5 entries match 'e'; use one of these refs:"
    shown = [line.split(maxsplit=1) for line in lines]
    tasks = memdeck("tasks", "list", "--section", "all", "-o", "json").data["tasks"]
    assert shown == [[task["ref"].removeprefix("tasks#"), task["title"]] for task in tasks]
    for ref, title in shown:
        assert memdeck("tasks", "show", ref, "-o", "json").data["task"]["title"] == title
    machine = memdeck("tasks", "done", "e", "-o", "json")
    assert machine.err.count("\n") == 1
    candidates = machine.data["error"]["details"]["candidates"]
    assert [set(one) for one in candidates] == [{"ref", "title", "file", "line"}] * 5
    assert all(len(one["ref"]) == len("tasks#") + 18 for one in candidates)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("taks list --due today", "usage.verb: no verb or folder is called 'taks' (did you mean tasks?)"),
        ("./nosuch --bogus", "workspace.no_folder: './nosuch' is not a folder"),
        (". --bogus", "usage.option: no such option '--bogus'"),
        ("--bogus", "usage.option: no such option '--bogus'"),
        ("--pane tasks --bogus", "usage.option: no such option '--bogus'"),
        ("monitors run", "usage.verb: no such command 'run'. Did you mean 'check'?; see memdeck monitors --help"),
        ("tasks rm x", "usage.verb: no such command 'rm'. Did you mean 'remove'?; see memdeck tasks --help"),
        ("tasks view x", "usage.verb: no such command 'view'. Did you mean 'show'?; see memdeck tasks --help"),
        ("monitors view x", "usage.verb: no such command 'view'. Did you mean 'list'?; see memdeck monitors --help"),
        ("config run", "usage.verb: no such command 'run'; see memdeck config --help"),
        ("tasks lst", "usage.verb: no such command 'lst'. Did you mean 'list'?; see memdeck tasks --help"),
    ],
)
def test_a_verb_that_is_none_is_answered_with_one_that_is(memdeck: Memdeck, words: str, told: str) -> None:
    """The word that is wrong is told, not an option behind it, and what was probably meant."""
    answer = memdeck(*words.split())
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"memdeck: {told}")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("tasks edit x --tags a", "'--tags'; write --set tags=…, or see memdeck tasks edit --help"),
        ("tasks edit x --tag=a", "'--tag'; write --set tags=…, "),
        ("tasks edit x --title y", "'--title'; write --set title=…, "),
        ("tasks edit x --last-update y", "'--last-update'; write --set lastUpdate=…, "),
        ("tasks edit x --section pending", "'--section'; write --set section=…, "),
        ("monitors edit x --interval y", "'--interval'; write --set interval=…, "),
        ("tasks edit x --bogus y", "'--bogus'; see memdeck tasks edit --help"),
        ("tasks edit x --prio y", "'--prio'. Did you mean '--priority'?; see"),
        ("tasks show x --tags y", "'--tags'; see memdeck tasks show --help"),
        ("tasks edit x -- --tags", "ot unexpected extra argument (--tags)"),
    ],
)
def test_a_field_that_is_given_as_an_option_is_told_how_it_is_set(memdeck: Memdeck, words: str, told: str) -> None:
    """Only where `--set` takes it, and only what is called like a field."""
    answer = memdeck(*words.split())
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err


def test_tasks_under_a_heading_that_is_no_section_are_listed(memdeck: Memdeck, memory: Path) -> None:
    """As pending, with the heading in `extra`; counted by `status`, an error of `check`."""
    path = memory / "tasks.md"
    before = memdeck("status", "-o", "json").data["counts"]["tasks"]["pending"]
    path.write_text(path.read_text() + "\n## In Progres\n### [HIGH] Lost\n")
    answer = memdeck("tasks", "list", "--section", "pending", "-o", "json")
    (lost,) = [task for task in answer.data["tasks"] if task["title"] == "Lost"]
    assert (lost["section"], lost["extra"]) == ("pending", {"heading": "In Progres"})
    assert "In Progres, which is not a section: taken as Pending (1)" in memdeck("tasks", "list").out
    status = memdeck("status", "-o", "json").data
    assert status["counts"]["tasks"]["pending"] == before + 1
    assert "task.unknown_section" in [problem["code"] for problem in status["problems"]]
    assert memdeck("check", "tasks.md").code == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("tasks", "list", "--now", "9999-12-31T00:00:00Z"),
            "--now is in the year 9999; write a time from 1900 to 9998",
        ),
        (("tasks", "list", "--now", "soon"), "invalid time for --now: 'soon'"),
        (("journal", "list", "--limit", "-3"), "--limit takes a whole number from 0 to 1000000000, not '-3'"),
        (("changes", "list", "--limit", "-1"), "--limit takes a whole number from 0 to 1000000000, not '-1'"),
    ],
)
def test_a_wrong_number_says_which_ones_are_taken(memdeck: Memdeck, words: tuple[str, ...], said: str) -> None:
    """No formula and no riddle: what was wrong, and what to write."""
    answer = memdeck(*words)
    assert answer.code == 2
    assert said in answer.err


@pytest.mark.parametrize(
    ("words", "cron"),
    [("every fri 17:00", "0 17 * * FRI"), ("monthly on the 1st", "0 9 1 * *"), ("0 9 * * MON", "0 9 * * MON")],
)
def test_a_recurrence_is_taken_in_words(memdeck: Memdeck, words: str, cron: str) -> None:
    """`tasks add --recurring` and `tasks edit --set recurring=` write cron; a date says what the words leave out."""
    assert memdeck("tasks", "add", "New", "--recurring", words, "-o", "json").data["task"]["recurring"] == cron
    changed = memdeck(
        "tasks", "edit", "New", "--set", "due=2024-01-31 18:30", "--set", "recurring=every month", "-o", "json"
    )
    assert changed.data["task"]["recurring"] == "30 18 31 * *"
    assert "months without day 31 are left out" in changed.err
    assert memdeck("tasks", "edit", "New", "--set", "recurring=every 2 weeks").code == 2


def test_a_title_of_an_open_and_a_completed_task_means_the_open_one(memdeck: Memdeck) -> None:
    """The open one is taken, and stderr says so; twice done is refused for what is not recurring."""
    memdeck("tasks", "add", "Twice", now="2024-01-15T10:00:00Z")
    assert memdeck("tasks", "done", "Twice", "--outcome", "first").err == ""
    memdeck("tasks", "add", "Twice", now="2024-01-16T10:00:00Z")
    shown = memdeck("tasks", "show", "Twice", "-o", "json")
    assert shown.data["task"]["section"] == "pending"
    assert "'Twice' means the open one" in shown.err
    done = memdeck("tasks", "done", "Twice", "--outcome", "second")
    assert (done.code, "'Twice' means the open one" in done.err) == (0, True)
    assert memdeck("tasks", "done", "Twice", "--outcome", "third").code == 1
