"""Remarks in parentheses at the end of a value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.values import REMARK_FIELDS, join_remark, split_field, split_remark

TEXT = st.text(alphabet="ab() \t-\n", max_size=20)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("healthy (72% used)", ("healthy", "72% used")),
        ("*/5 * * * * (every 5 min)", ("*/5 * * * *", "every 5 min")),
        ("channel-abc123 (Telegram)", ("channel-abc123", "Telegram")),
        ("2024-01-15 09:00 (recurring: 0 9 * * MON)", ("2024-01-15 09:00", "recurring: 0 9 * * MON")),
        ("null (notify only)", ("null", "notify only")),
        ("  7   ( a week )  ", ("7", "a week")),
        ("a (b (c))", ("a", "b (c)")),
        ("a (b) (c)", ("a (b)", "c")),
        ("a) (b)", ("a)", "b")),
        ("(only)", ("", "only")),
        ("plain", ("plain", None)),
        ("", ("", None)),
        ("f(x)", ("f(x)", None)),
        ("a (b", ("a (b", None)),
        ("a b)", ("a b)", None)),
        ("a (b))", ("a (b))", None)),
        ("a (b) c", ("a (b) c", None)),
        ("a ()", ("a ()", None)),
        ("a (b\nc)", ("a (b\nc)", None)),
        ("one\ntwo (b)", ("one\ntwo", "b")),
    ],
)
def test_split(value: str, expected: tuple[str, str | None]) -> None:
    """Only balanced parentheses at the very end, after a space, are a remark."""
    assert expected == split_remark(value)


@given(TEXT)
def test_joining_what_was_split_splits_the_same(value: str) -> None:
    """Splitting and joining settle at once: nothing but space around the parts can get lost."""
    parts = split_remark(value)
    joined = join_remark(*parts)
    assert parts == split_remark(joined)
    assert [char for char in value if char not in " \t"] == [char for char in joined if char not in " \t"]


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("interval", "0 * * * * (every hour)", ("0 * * * *", "every hour")),
        ("maxJournalEntries", "500 (plenty)", ("500", "plenty")),
        ("primaryChannel", "channel-1 (Slack)", ("channel-1", "Slack")),
        ("autoRemediate", "null (notify only)", ("null", "notify only")),
        ("autoRemediate", "- (ask Bob)", ("-", "ask Bob")),
        ("autoRemediate", "pm2 restart (echo api)", ("pm2 restart (echo api)", None)),
        ("command", "echo a (b)", ("echo a (b)", None)),
        ("notes", "later (maybe)", ("later (maybe)", None)),
        ("outcome", "null (nothing)", ("null (nothing)", None)),
    ],
)
def test_split_field(key: str, value: str, expected: tuple[str, str | None]) -> None:
    """Commands and prose keep their parentheses; a remediation has a remark only when there is none."""
    assert expected == split_field(key, value)


def test_commands_and_prose_carry_no_remarks() -> None:
    """No key that holds a command or prose is among the fields with remarks."""
    assert REMARK_FIELDS.isdisjoint({"command", "action", "url", "threshold", "notes", "outcome"})
