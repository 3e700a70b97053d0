"""What Python's own parsers refuse or choke on is an answer of memdeck's readers, never an error of Python."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.base.clock import BadMoment, UnknownZone, find_zone, read_duration, read_moment
from memory.base.cron import BadCron, next_runs
from memory.base.dates import parse_when
from memory.errors import MemdeckError
from memory.facts.model import read_line, time_key
from memory.facts.model import read_settings as fact_settings
from memory.files.plans.model import read_plan_json
from memory.monitoring.alerts import parse_windows
from memory.monitoring.checks import read_json, value_at
from memory.monitoring.threshold import numbers_in, parse_threshold, read_quantity
from memory.storage.journal import Intent
from memory.storage.private.drafts import is_running
from memory.trust.addresses import closed_reason
from memory.trust.consent import DamagedRecords, read_book
from memory.typed.aidefile import read_age, read_aidefile, read_size
from memory.typed.registry import holder_of

DIGITS = "9" * 5_000
DEEP = 100_000
JSON = (
    DIGITS,
    f"-{DIGITS}.{DIGITS}e{DIGITS}",
    "1e999",
    "-Infinity",
    "NaN",
    "[" * DEEP,
    '{"a":' * DEEP,
    '"\\ud800"',
    '"' + "x" * 200_000 + '"',
    "9" * 4_000,
    "\0",
)
TEXTS = (
    DIGITS,
    f"-{DIGITS}",
    f"{DIGITS}d",
    f"0.{DIGITS}s",
    "1e999s",
    f"1e{DIGITS}",
    "\u0661\u0662" * 3_000,
    "²",
    "\ud800",
    "\0",
    "(" * 50_000,
    "*/" + DIGITS + " * * * *",
    " ".join(["*"] * 50_000),
    f"{DIGITS}-01-01",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "2024-01-01T00:00:00." + DIGITS,
    "2024-01-01T00:00:00+99:99",
    "../" * 5_000 + "etc/passwd",
    "http://" + DIGITS + ".com:" + DIGITS + "/",
    "http://[" + ":" * 5_000 + "]/",
    "http://" + ".".join(["xn--" + "a" * 60] * 1_000),
    f"in {DIGITS} days",
    f"{DIGITS}:{DIGITS}-{DIGITS}:{DIGITS}",
)
NOW = datetime(2024, 1, 15, tzinfo=UTC)


def _sealed(text: str) -> bytes:
    return b"memdeck 3 " + f"{len(text)} {zlib.crc32(text.encode()):08x}\n{text}".encode()


def _intent(value: str) -> object:
    parts = f'"id": "01HM0000000000000000000000", "folders": [], "time": {value}'
    return Intent.decode(_sealed(f'{{{parts}, "files": {value}}}'))


READERS_OF_JSON: dict[str, Callable[[str], object]] = {
    "a fact": lambda text: read_line(text.replace("\n", " "), 0),
    "parts of a fact": lambda text: read_line(f'{{"id": "a", "text": {text}, "ts": {text}, "tags": {text}}}', 0),
    "limits of facts": lambda text: fact_settings(f'{{"memory": {{"max_total": {text}}}}}'.encode("utf-8", "replace")),
    "a plan": lambda text: read_plan_json(f'```json\n{{"tasks": [{{"estimatedMinutes": {text}}}]}}\n```\n'),
    "an answer": lambda text: _answer(text),
    "approvals": lambda text: read_book(
        f'{{"version": {text}, "sum": 1, "records": [], "workspace": {text}}}'.encode("ascii", "replace")
    ),
    "an intent": _intent,
}
READERS_OF_TEXT: dict[str, Callable[[str], object]] = {
    "a date": lambda text: read_moment(text, UTC),
    "a written date": lambda text: parse_when(text, NOW, UTC),
    "a zone": find_zone,
    "a recurrence": lambda text: next_runs(text, NOW, UTC),
    "a threshold": lambda text: parse_threshold(f"value > {text}", "command"),
    "a quantity": read_quantity,
    "numbers": numbers_in,
    "a duration": read_duration,
    "quiet hours": parse_windows,
    "an address": closed_reason,
    "a size": read_size,
    "an age": read_age,
    "the time of a fact": time_key,
    "an Aidefile": lambda text: read_aidefile(
        Path("/nowhere"), f"[memory]\ncompact_after = {text}".encode("utf-8", "replace")
    ),
    "an owner": lambda text: is_running(f"{text}@1"),
}


def _answer(text: str) -> object:
    return value_at(read_json(f'{{"a": {text}}}'), "a")


@pytest.mark.thorough(one_of=5)
@pytest.mark.parametrize("value", JSON, ids=lambda value: ascii(value[:12]))
@pytest.mark.parametrize("reader", READERS_OF_JSON)
def test_json_beyond_its_parser_is_an_answer(reader: str, value: str) -> None:
    """Numbers, depths and texts that Python refuses are read as nothing, or refused in the reader's own words."""
    with suppress(MemdeckError, DamagedRecords) if reader != "an answer" else suppress(ValueError):
        READERS_OF_JSON[reader](value)


@pytest.mark.thorough(one_of=5)
@pytest.mark.parametrize("value", TEXTS, ids=lambda value: ascii(value[:12]))
@pytest.mark.parametrize("reader", READERS_OF_TEXT)
def test_text_beyond_its_parser_is_an_answer(reader: str, value: str) -> None:
    """Dates, numbers, recurrences, zones and addresses of any length are read, or refused in the reader's own words."""
    own = ValueError if reader in ("a size", "an age") else MemdeckError
    with suppress(own, BadMoment, UnknownZone, BadCron):
        READERS_OF_TEXT[reader](value)


@pytest.mark.parametrize("text", [DIGITS, "0", "-1", "1" * 11, "²", "\0", ""], ids=lambda text: ascii(text[:12]))
def test_the_number_in_a_lock_is_a_process_or_nothing(tmp_path: Path, text: str) -> None:
    """What stands in a sentinel never becomes a process that there cannot be."""
    (tmp_path / "a.md.lock").write_text(f"{text} host time")
    holder = holder_of(tmp_path, "a.md")
    assert holder is not None
    assert holder.pid is None
