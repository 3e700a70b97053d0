"""Nothing runs before a person approved exactly that; everything else leaves an approval alone."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

import memory
from memory.document import parse
from memory.errors import AmbiguousError, ConflictError, NotFoundError, RefusedError
from memory.files.monitors import Monitors
from memory.trust.asks import Ask, monitor_asks
from memory.trust.consent import Trust
from tests.examples import examples
from tests.memory.trusting.conftest import MONITORS, NOW, Place
from tests.patience import PATIENCE

HOUSE = Path(memory.__file__).parents[1]
COVERED = ("type", "url", "command", "interval", "threshold", "autoRemediate", "timeout", "environment", "folder")


def monitor_states(place: Place, text: bytes) -> list[tuple[str, str, str]]:
    """Return name, role and state of everything that a monitors.md asks for, without the way over the disk."""
    asks = monitor_asks(Monitors("monitors.md", parse(text)).items)
    return [(ask.name, ask.role, place.trust.decide(ask).state) for ask in asks]


def test_what_was_approved_runs_as_it_is_recorded(place: Place) -> None:
    """After an approval the text comes out of the record, for this process and the next."""
    place.approve_all()
    assert place.states() == ["approved"] * 5
    again = Trust(place.home, place.root)
    for ask in place.asks():
        decision = again.decide(ask)
        assert decision.allowed
        assert decision.text == ask.text
        assert decision.single
    assert [record.who for record in again.list()] == ["human"] * 5


def changed_bytes(text: bytes, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield the name of a monitor and a file in which one byte of a covered field of it is another, more or gone."""
    chance = random.Random(20240115)
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    spots: list[tuple[str, int, int]] = []
    name = ""
    for line, start in zip(lines, starts, strict=True):
        if line.startswith(b"### "):
            name = line[4:].strip().decode()
            spots.append((name, start + 4, start + len(line) - 1))
        key = line[2:].partition(b":")[0].decode("ascii", "replace")
        if line.startswith(b"- ") and key in COVERED and b"null" not in line:
            spots.append((name, start + line.index(b":") + 2, start + len(line) - 1))
    made = 0
    while made < count:
        name, start, end = chance.choice(spots)
        at = chance.randrange(start, end)
        kind = chance.choice("xxxid")
        byte = bytes([chance.choice([*range(33, 127), *range(1, 9), 27, 0x80, 0xC3, 0xFF])])
        new = text[:at] + (b"" if kind == "d" else byte) + text[at + (kind != "i") :]
        if new[start:end].strip() == text[start:end].strip() or new == text:
            continue
        made += 1
        yield name, new


def test_a_thousand_changes_of_one_byte_are_all_blocked(place: Place) -> None:
    """Whichever byte of whichever covered field is changed, what was approved with it is so no more."""
    place.approve_all(workspace=False)
    before = monitor_states(place, MONITORS.encode())
    assert {state for _, _, state in before} == {"approved"}
    count = 0
    for name, text in changed_bytes(MONITORS.encode(), examples(1000)):
        count += 1
        states = monitor_states(place, text)
        # Other monitors stay as they were. Of the changed one something is blocked, and the rest is what was approved.
        still = {(one, role) for one, role, state in states if state == "approved"}
        whole = {(one, role) for one, role, _ in before if one == name}
        assert not whole <= still, text
        assert still >= {(one, role) for one, role, _ in before if one != name}, text
        changed_alone = whole & still
        for one, role in changed_alone:
            ask = next(
                ask
                for ask in monitor_asks(Monitors("monitors.md", parse(text)).items)
                if (ask.name, ask.role) == (one, role)
            )
            assert replace(ask, line=0) == replace(place.ask(one, role), line=0), text
    assert count == examples(1000)


def test_every_part_of_an_ask_counts(place: Place) -> None:
    """Another value of any part makes another ask, but for its line, why it is usual, and what is shown for it."""
    ask = place.ask("Database")
    place.trust.approve(ask, who="human", now=NOW)
    for field in fields(Ask):
        value = getattr(ask, field.name)
        more = {"line": 1, "details": (("x", "y"),)}.get(field.name, "x")
        other = value + more
        changed = place.trust.decide(replace(ask, **{field.name: other}))
        assert changed.allowed is (field.name in ("line", "usual", "shown")), field.name


def test_another_check_withdraws_the_remediation(place: Place) -> None:
    """What fires a remediation belongs to it."""
    place.approve_all()
    place.put("monitors.md", MONITORS.replace("api.example.com", "api.example.org"))
    assert place.trust.decide(place.ask("API", "remediate")).state == "withdrawn"
    assert "fired by" in place.trust.decide(place.ask("API", "remediate")).why


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("### Disk\n", "### Database\n", "same name"),
        ("### Disk\n", "### database\n", "same name"),
        ("### Disk\n", "### Data\u200bbase\n", "hidden character"),
        ("### Disk\n", "### Ｄatabase\n", "same name"),
        ("- timeout: 20s\n", "- timeout: 20s\n- command: true\n", "twice"),
        ("- timeout: 20s\n", "- timeout: 20s\n- Command: true\n", "twice"),
        ("./check.sh", "./check\x1b[2K.sh", "\\x1b"),
        ("./check.sh", "./check\u202e.sh", "\\u202e"),
        ("./check.sh", "./check\u200b.sh", "\\u200b"),
        ("./check.sh", "./check\u00a0.sh", "\\xa0"),
        ("./check.sh", "./check\u00ad.sh", "\\xad"),
        ("./check.sh", "./check\ufe0f.sh", "\\ufe0f"),
        ("./check.sh", "./check\udcff.sh", "\\xff"),
        ("./check.sh", "./check\U000e0041.sh", "\\U000e0041"),
        ("./check.sh", "./check\x00.sh", "\\x00"),
        ("exit code != 0", "exit code != 0\x9b", "\\x9b"),
        ("./check.sh", "./check.sh " + "x" * 9000, "longer"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_ambiguous_is_refused(place: Place, old: str, new: str, why: str) -> None:
    """Two of a name or key, and characters that hide: refused with the reason, and nobody can approve it."""
    place.approve_all()
    place.put("monitors.md", MONITORS.replace(old, new))
    refused = [ask for ask in place.asks() if place.trust.decide(ask).state == "refused"]
    assert refused
    for ask in refused:
        assert why in place.trust.decide(ask).why
        assert place.trust.decide(ask).id == ""
        with pytest.raises(RefusedError, match=r"trust\.refused"):
            place.trust.approve(ask, who="human", now=NOW)


def test_an_id_that_fits_several_is_not_guessed(place: Place) -> None:
    """With enough asks two ids begin alike, and that is an error with its candidates."""
    ask = place.ask("Disk")
    asks: dict[str, Ask] = {}
    for number in range(2000):
        one = replace(ask, name=f"Disk {number}")
        shared = place.trust.decide(one).id[:4]
        if shared in asks:
            with pytest.raises(AmbiguousError):
                place.trust.find([*asks.values(), one], shared)
            return
        asks[shared] = one
    raise AssertionError("no two ids begin alike")


def test_approving_what_changed_since_it_was_shown(place: Place) -> None:
    """A script that is swapped while a person reads makes the approval fail."""
    ask = place.ask("Database")
    shown = place.trust.decide(ask)
    (place.root / "scripts" / "check.sh").write_text("echo evil\n")
    with pytest.raises(ConflictError, match=r"trust\.changed"):
        place.trust.approve(ask, who="human", now=NOW, shown=shown.id)
    assert not place.trust.list()


def test_denied_revoked_and_approved_again(place: Place) -> None:
    """A denial blocks even a public address in an approved workspace; revoking makes it pending again."""
    place.trust.approve_workspace("human", NOW)
    url = place.ask("API", "url")
    assert place.trust.decide(url).allowed
    assert not place.trust.decide(url).single
    place.trust.deny(url, who="human", now=NOW)
    assert place.trust.decide(url).state == "denied"
    place.trust.revoke(place.trust.decide(url).id, who="human", now=NOW)
    assert place.trust.decide(url).allowed
    place.trust.revoke_workspace("human", NOW)
    assert place.trust.decide(url).state == "pending"
    with pytest.raises(NotFoundError):
        place.trust.revoke(place.trust.decide(url).id, who="human", now=NOW)


def test_the_workspace_covers_public_addresses_only(place: Place) -> None:
    """Private places wait for an approval of their own; the person's settings may name hosts."""
    place.trust.approve_workspace("human", NOW)
    for url in ("http://localhost:8080/", "http://10.1.2.3/", "http://db/"):
        place.put("monitors.md", MONITORS.replace("https://api.example.com/health", url))
        ask = place.ask("API", "url")
        decision = place.trust.decide(ask)
        assert (decision.allowed, decision.state) == (False, "pending"), url
        assert "needs an approval of its own" in decision.why
        place.trust.approve(ask, who="human", now=NOW)
        assert place.trust.decide(ask).single
        place.trust.revoke(place.trust.decide(ask).id, who="human", now=NOW)


# Records


def test_records_are_private_and_outside(place: Place) -> None:
    """The file is 0600 in folders of 0700, and nothing of it lies in the workspace."""
    place.approve_all()
    assert place.trust.path.stat().st_mode & 0o777 == 0o600
    assert place.trust.path.parent.stat().st_mode & 0o777 == 0o700
    assert not [path for path in place.root.rglob("*") if "approvals" in path.name]
    with pytest.raises(RefusedError, match=r"state\.inside_workspace"):
        Trust(place.root / "state", place.root).approve(place.ask("Disk"), who="human", now=NOW)
    assert Trust(place.root / "state", place.root).decide(place.ask("Disk")).state == "refused"


def test_every_damaged_byte_of_the_record_counts(place: Place) -> None:
    """Whatever byte of the record is another one, nothing is approved, and it is said."""
    place.approve_all()
    data = place.trust.path.read_bytes()
    chance = random.Random(3)
    for _ in range(150):
        at = chance.randrange(len(data))
        byte = data[at] ^ (1 << chance.randrange(7))
        new = data[:at] + bytes([byte]) + data[at + 1 :]
        if json_same(data, new):
            continue
        place.trust.path.write_bytes(new)
        assert set(place.states()) == {"pending"}, new[max(0, at - 20) : at + 20]
        assert "damaged" in place.trust.problems()[0]
        assert place.trust.list() == ()
    for new in (b"", b"{}", b"[]", b"null", data[: len(data) // 2], data + b"{}", b"\xff" * 20, b"[" * 100_000):
        place.trust.path.write_bytes(new)
        assert set(place.states()) == {"pending"}


def json_same(one: bytes, other: bytes) -> bool:
    """Tell whether two texts are the same JSON, as a space more or less leaves it."""
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


def test_a_damaged_record_is_kept_aside(place: Place) -> None:
    """The next decision begins a new record and keeps the damaged one for a person."""
    place.approve_all()
    place.trust.path.write_bytes(b"{")
    place.trust.approve(place.ask("Disk"), who="human", now=NOW)
    assert place.trust.path.with_name("approvals.json.damaged").read_bytes() == b"{"
    assert [record.ask.name for record in place.trust.list()] == ["Disk"]


def test_planted_records_do_not_count(place: Place, tmp_path: Path) -> None:
    """A link, a second name, a file that others may write, or a pipe in the record's place: nothing is approved."""
    place.approve_all()
    path = place.trust.path
    data = path.read_bytes()
    planted = place.root / "approvals.json"
    planted.write_bytes(data)

    def link() -> None:
        path.symlink_to(planted)

    def second_name() -> None:
        os.link(planted, path)

    def open_to_all() -> None:
        path.write_bytes(data)
        path.chmod(0o666)

    def pipe() -> None:
        os.mkfifo(path)

    def folder() -> None:
        path.mkdir()

    for plant in (link, second_name, open_to_all, pipe, folder):
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()
        plant()
        assert set(place.states()) == {"refused"}, plant.__name__
        assert place.trust.problems()
        assert place.trust.list() == ()
    path.rmdir()
    path.parent.rename(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "approvals.json").write_bytes(data)
    path.parent.symlink_to(tmp_path / "elsewhere")
    assert set(place.states()) == {"refused"}


def test_state_in_the_workspace_is_never_read(place: Place) -> None:
    """What a clone brings along under the names of memdeck's own folders approves nothing."""
    place.approve_all()
    for name in (".aiter/.memdeck/trust", ".memdeck/trust", ".local/state/memdeck/trust", "trust"):
        folder = place.root / name
        folder.mkdir(parents=True)
        (folder / "approvals.json").write_bytes(place.trust.path.read_bytes())
    other = Trust(place.home.with_name("empty"), place.root)
    assert {other.decide(ask).state for ask in place.asks()} == {"pending"}


APPROVER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from memory.trust.asks import Ask
from memory.trust.consent import Trust
trust = Trust(Path(sys.argv[1]), Path(sys.argv[2]))
for number in range(25):
    ask = Ask("check", "command", f"echo {number}", f"{sys.argv[3]} {number}", "monitors.md", 0)
    trust.approve(ask, who=sys.argv[3], now=datetime(2024, 1, 15, tzinfo=UTC))
"""


def test_processes_that_approve_at_once_lose_nothing(place: Place) -> None:
    """Three processes approve 25 commands each at the same time: all 75 are there."""
    environ = {**os.environ, "PYTHONPATH": str(HOUSE)}
    words = [sys.executable, "-c", APPROVER, str(place.home), str(place.root)]
    running = [subprocess.Popen([*words, name], env=environ, cwd=HOUSE) for name in ("one", "two", "three")]
    assert [process.wait(PATIENCE) for process in running] == [0, 0, 0]
    assert len(place.trust.list()) == 75
    assert not place.trust.problems()


FIELDS = {
    "file": ("path: a.txt", ("path: b.txt", "note: x")),
    "http": (
        "url: https://example.com/a\n- method: GET\n- follow: no",
        (
            "url: https://example.com/a\n- method: HEAD\n- follow: no",
            "url: https://example.com/a\n- method: GET\n- follow: 3",
            "url: https://example.com/a\n- method: GET\n- follow: no\n- failuresBefore: 9",
        ),
    ),
    "tcp": ("host: db\n- port: 1", ("host: db\n- port: 2", "host: da\n- port: 1")),
}


@pytest.mark.parametrize("kind", FIELDS)
def test_a_remediation_covers_every_field_but_what_was_measured(place: Place, kind: str) -> None:
    """Whatever makes the check fire at something else withdraws what it fires; a new state and another order do not."""
    before, others = FIELDS[kind]
    head = "## Monitors\n### API\n- type: {}\n- {}\n- autoRemediate: true\n"
    place.put("monitors.md", head.format(kind, before))
    place.trust.approve(place.ask("API", "remediate"), who="human", now=NOW)
    place.put("monitors.md", head.format(kind, before) + "- lastStatus: failing\n- lastCheck: 2024-01-15T10:30:00Z\n")
    assert place.trust.decide(place.ask("API", "remediate")).allowed
    lines = "\n- ".join(reversed(before.split("\n- ")))
    place.put("monitors.md", head.format(kind, lines))
    assert place.trust.decide(place.ask("API", "remediate")).allowed
    for other in others:
        place.put("monitors.md", head.format(kind, other))
        decision = place.trust.decide(place.ask("API", "remediate"))
        assert decision.state == "withdrawn", other
        assert "approved once, but changed since" in decision.why


def test_an_address_covers_how_it_is_asked(place: Place) -> None:
    """An address that was approved by itself is asked about again where method or redirects change."""
    text = "## Monitors\n### API\n- type: http\n- url: http://localhost/\n- follow: {}\n- alertPriority: {}\n"
    place.put("monitors.md", text.format("no", "low"))
    place.trust.approve(place.ask("API"), who="human", now=NOW)
    place.put("monitors.md", text.format("no", "high"))
    assert place.trust.decide(place.ask("API")).allowed
    place.put("monitors.md", text.format("5", "low"))
    assert place.trust.decide(place.ask("API")).state == "withdrawn"


@pytest.mark.parametrize("version", [1, 3])
def test_what_an_older_version_decided_is_asked_again(place: Place, version: int) -> None:
    """It was about commands that ran in another folder: nothing of it counts, and new decisions replace it."""
    place.approve_all()
    place.trust.path.write_text(json.dumps({"version": version, "sum": "0", "records": [], "workspace": None}))
    trust = Trust(place.home, place.root)
    assert {trust.decide(ask).state for ask in place.asks()} == {"pending"}
    trust.approve(place.ask("Disk"), who="human", now=NOW)
    assert Trust(place.home, place.root).decide(place.ask("Disk")).allowed
