"""Files that anybody may have written: a watch over them raises nothing, and what it prints is harmless."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.monitoring.overview import prometheus, standings
from tests.examples import examples
from tests.memory.monitoring.keeping import CONFIG, NOW, Place

VALUES = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            "*/5 * * * *",
            "* * * * *",
            "@daily",
            "0 0 30 2 *",
            "9" * 400,
            "1e400",
            "-1",
            "null",
            "None (x)",
            "22:00-07:00",
        ]
    ),
    st.sampled_from(["One", "One, One, Two", "\x1b[31m", "‮x", "http://127.0.0.1:1/", "file", "tcp", "1d"]),
)
KEYS = st.sampled_from(
    [
        "type",
        "url",
        "command",
        "interval",
        "threshold",
        "autoRemediate",
        "lastCheck",
        "lastStatus",
        "failuresBefore",
        "successesBefore",
        "remind",
        "dependsOn",
        "maintenance",
        "alertPriority",
        "timeout",
        "path",
    ]
)
MONITOR = st.tuples(
    st.one_of(st.sampled_from(["One", "Two"]), st.text(max_size=20)), st.lists(st.tuples(KEYS, VALUES), max_size=8)
)


@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(monitors=st.lists(MONITOR, max_size=5), config=st.lists(VALUES, max_size=4), raw=st.binary(max_size=30))
def test_any_file(tmp_path_factory: pytest.TempPathFactory, monitors: list, config: list[str], raw: bytes) -> None:  # type: ignore[type-arg]
    """Whatever stands in monitors.md, config.md and contacts.md, the run ends and its answer is JSON and safe lines."""
    place = Place(tmp_path_factory.mktemp("any"), "")
    memory = place.root / ".aiter/memory"
    text = "## Monitors\n\n"
    for name, fields in monitors:
        text += f"### {name}\n" + "".join(f"- {key}: {value}\n" for key, value in fields) + "\n"
    (memory / "monitors.md").write_bytes(text.encode("utf-8", "surrogatepass") + raw)
    lines = [
        f"- {key}: {value}\n"
        for key, value in zip(("expression", "quietHours", "channelId", "target"), config, strict=False)
    ]
    (memory / "config.md").write_bytes((CONFIG + "\n## Heartbeat\n" + "".join(lines)).encode("utf-8", "surrogatepass"))
    for minutes, options in ((0, {}), (7, {}), (8, {"everything": True})):
        watch = place.watch(minutes, **options)
        json.dumps([watch.json(), watch.blocked, watch.warnings])
        assert not any("\x1b" in line or "\u202e" in line for line in watch.lines())
    found = standings(place.workspace, place.workspace.snapshot(), NOW)
    json.dumps([one.json() for one in found])
    prometheus(found, (), NOW, host="", workspace="").encode()
    assert place.text("journal.md").count("\x1b") == 0


def test_names_that_are_no_text(tmp_path: Path) -> None:
    """A name of bytes that are no UTF-8 is kept, checked and exported like any other."""
    place = Place(tmp_path, "")
    path = place.root / ".aiter/memory/monitors.md"
    path.write_bytes(b"## Monitors\n\n### \xff\xfe\n- type: file\n- path: sign\n- interval: */5 * * * *\n")
    [one] = place.watch().monitors
    assert (one.result.state, one.happenings) == ("failing", ("alert",))
    assert b"### \xff\xfe\n" in path.read_bytes()
    assert b"- \\xff\\xfe: missing (1 occurrence)\n" in (path.parent / "journal.md").read_bytes()
    text = prometheus(standings(place.workspace, place.workspace.snapshot(), NOW), (), NOW, host="", workspace="")
    assert 'memdeck_monitor_up{name="\\\\udcff\\\\udcfe",host="",workspace=""} 0\n' in text
