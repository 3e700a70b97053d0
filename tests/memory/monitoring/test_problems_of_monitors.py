"""What `check` says about monitors that could never be judged."""

from __future__ import annotations

import pytest

from memory.monitoring.settings import monitor_problems
from tests.fixture_files import sample
from tests.memory_files import snapshot_of

TEXT = """---
type: monitor-config
---

## Monitors

### Good
- type: command
- command: true
- threshold: value > 3

### Bad threshold
- type: command
- command: true
- interval: 0 * * * *
- threshold: value >

### Bad type
- type: ping

### No url
- type: http

### Bad method
- type: http
- url: https://example.com/
- method: POST
"""


def test_problems_have_a_line() -> None:
    """Each names the line of its field, or that of the monitor where the field is missing."""
    found = [(one.level, one.line, one.code) for one in monitor_problems(snapshot_of({"monitors.md": TEXT}))]
    assert found == [
        ("error", 16, "monitor.threshold"),
        ("error", 19, "monitor.setting"),
        ("error", 21, "monitor.setting"),
        ("error", 27, "monitor.setting"),
    ]


@pytest.mark.parametrize("text", [sample("monitors.md"), ""])
def test_good_files_have_none(text: str | bytes) -> None:
    """The format's own monitors are understood, and a file without any is fine."""
    assert monitor_problems(snapshot_of({"monitors.md": text})) == ()


@pytest.mark.parametrize(
    ("kind", "field", "code"),
    [
        ("http", "timeout: 1e308", "monitor.setting"),
        ("http", "timeout: 1e308 h", "monitor.setting"),
        ("http", "timeout: nan", "monitor.setting"),
        ("http", "follow: 1e308", "monitor.setting"),
        ("http", "threshold: latency > 1e308 h", "monitor.threshold"),
        ("http", "threshold: status > 1e400", "monitor.threshold"),
        ("http", "threshold: status > nan", "monitor.threshold"),
        ("http", "threshold: size > 1e308 GB", "monitor.threshold"),
    ],
)
def test_numbers_without_a_measure_are_problems(kind: str, field: str, code: str) -> None:
    """A number that is infinite, none at all or beyond any clock is a problem of its field, with the line."""
    text = f"## Monitors\n\n### Odd\n- type: {kind}\n- url: https://example.com/\n- {field}\n"
    found = monitor_problems(snapshot_of({"monitors.md": text}))
    assert [(one.level, one.line, one.code) for one in found] == [("error", 6, code)]
    assert field.partition(":")[0] in found[0].message or code == "monitor.threshold"
