"""What an approved command sees of variables by which programs load code: nothing that leads into the workspace."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from memory.monitoring.process.command import clean_environment, run_command
from memory.trust.asks import Ask
from memory.trust.records import ConsentDecision
from memory.trust.view import view_of


@pytest.mark.parametrize(
    ("name", "value", "command"),
    [
        ("BASH_ENV", "./evil.sh", "bash -c 'echo done'"),
        ("BASH_ENV", "{shop}/evil.sh", "bash -c 'echo done'"),
        ("PYTHONPATH", "lib", "{python} -c 'import evil'"),
        ("PYTHONPATH", "/nowhere:", "cd lib && {python} -c 'import evil'"),
        ("PYTHONPATH", "{shop}/lib", "{python} -c 'import evil'"),
        ("PERL5OPT", "-I{shop}/lib -MEvil", "perl -e 'print 1'"),
        ("GIT_SSH_COMMAND", "sh evil.sh", "git ls-remote ssh://nobody@nowhere.invalid/x"),
        ("MAKEFILES", "evil.mk", "make -f /dev/null"),
    ],
)
def test_no_file_of_the_workspace_is_loaded(tmp_path: Path, name: str, value: str, command: str) -> None:
    """A file there, which no approval covers, does not run by way of an approved variable."""
    shop = tmp_path / "shop"
    (shop / "lib").mkdir(parents=True)
    marks = shop / "ran"
    (shop / "evil.sh").write_text(f"touch {marks}\n")
    (shop / "evil.mk").write_text(f"$(shell touch {marks})\nall:\n")
    (shop / "lib" / "evil.py").write_text(f"open({str(marks)!r}, 'w')\n")
    (shop / "lib" / "Evil.pm").write_text(f"open(my $f, '>', '{marks}'); 1;\n")
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), name: value.format(shop=shop)}
    text = command.format(python=sys.executable)
    # What is tried runs where nothing is left out.
    run_command(text, folder=shop, environment=environ, timeout=30)
    assert marks.exists()
    marks.unlink()
    run_command(text, folder=shop, environment=clean_environment(environ, [name], outside=shop), timeout=30)
    assert not marks.exists()


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [
        ("PYTHONPATH", "/usr/share/x:lib::{shop}/lib:/opt/y", "/usr/share/x:/opt/y"),
        ("NODE_OPTIONS", "--max-old-space-size=4096", "--max-old-space-size=4096"),
        ("NODE_OPTIONS", "--require=./hook.js", None),
        ("NODE_OPTIONS", "--require lib", None),
        ("GIT_SSH_COMMAND", "ssh -i /etc/keys/ci", "ssh -i /etc/keys/ci"),
        ("LD_PRELOAD", "/usr/lib/one.so {shop}/lib/two.so", None),
        ("PGHOST", "lib", "lib"),
        ("NODE_ENV", "lib", "lib"),
        ("REPORTS", "{shop}/lib", "{shop}/lib"),
    ],
)
def test_what_is_left_of_a_variable(tmp_path: Path, name: str, value: str, left: str | None) -> None:
    """Lists keep their folders elsewhere, others count as a whole, and variables that load nothing stay as they are."""
    (tmp_path / "lib").mkdir()
    given = {name: value.format(shop=tmp_path)}
    found = clean_environment(given, [name], outside=tmp_path).get(name)
    assert found == (None if left is None else left.format(shop=tmp_path))


def test_the_question_warns_of_them(tmp_path: Path) -> None:
    """Beside the names of all variables stands which of them may have more run."""
    ask = Ask("check", "command", "echo 1", "One", "monitors.md", 3, environment=("PGHOST", "BASH_ENV", "LD_PRELOAD"))
    warnings = view_of(ask, ConsentDecision(False, "pending", "0" * 64, None, ""), tmp_path).warnings
    assert "BASH_ENV, LD_PRELOAD may have programs load and run more than stands here" in warnings
    other = view_of(
        replace(ask, environment=("PGHOST",)), ConsentDecision(False, "pending", "0" * 64, None, ""), tmp_path
    )
    assert not any("may have programs load" in one for one in other.warnings)
