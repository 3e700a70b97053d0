"""Channels, what is sent when, and real messages to servers on loopback."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.monitoring.alerts import parse_windows
from memory.monitoring.ledger import Message, MonitorLedger
from memory.monitoring.messages import Addresses, AlertChannel, AlertRoute, Messenger, read_route, send_message
from tests.memory.monitoring.keeping import CONFIG, NOW, Place, Post, command, mail, web

FIRST = AlertChannel("channel-abc123", "Dev Team Bot", ("one://",))
SECOND = AlertChannel("channel-def456", "Slack Alerts", ("two://",))


def message(monitor: str = "One", kind: str = "alert", priority: str = "normal", title: str = "") -> Message:
    """Return a message."""
    return Message(monitor, kind, priority, title or f"{monitor} is failing", "details")


def messenger(post: Post, ledger: MonitorLedger | None = None, now: datetime = NOW, **route: object) -> Messenger:
    """Return a messenger with both channels and a record in memory."""
    whole = replace(AlertRoute((FIRST, SECOND)), **route)  # type: ignore[arg-type]
    return Messenger(ledger or MonitorLedger(None), whole, now, UTC, post)


def secrets(folder: Path, text: str, mode: int = 0o600) -> Addresses:
    """Return the addresses of a file in a configuration folder."""
    file = folder / "memdeck" / "channels.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)
    return Addresses(folder, {})


# -- where ------------------------------------------------------------------------------------------------------------


def test_targets_come_from_config_and_contacts(tmp_path: Path) -> None:
    """Default channel first, then the primary and secondary ones; addresses come from the person's own file."""
    place = Place(tmp_path, "")
    addresses = secrets(
        tmp_path / "config", '[channels]\nchannel-abc123 = "json://x"\nchannel-def456 = ["a://", "b://"]\n'
    )
    route = read_route(place.workspace.snapshot(), addresses)
    assert [(one.id, one.name, one.urls, one.why) for one in route.channels] == [
        ("channel-abc123", "Dev Team Bot", ("json://x",), ""),
        ("channel-def456", "Slack Alerts", ("a://", "b://"), ""),
    ]
    assert "json" not in repr(route)


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        ('[channels]\nchannel-abc123 = "json://hush"\n', 0o640, "can be read by others"),
        ('[channels]\nchannel-abc123 = "json://hush"\n', 0o604, "can be read by others"),
        ('[channels]\nchannel-abc123 = json://hush"\n', 0o600, "it is not TOML"),
        ("[channels]\nchannel-abc123 = 3\n", 0o600, "neither an address"),
        ("", 0o600, "channels.toml has no address for it"),
    ],
)
def test_addresses_that_cannot_be_used(tmp_path: Path, text: str, mode: int, why: str) -> None:
    """A file that others can read, or that is wrong, gives no address, and no message shows what is in it."""
    place = Place(tmp_path, "")
    route = read_route(place.workspace.snapshot(), secrets(tmp_path / "config", text, mode))
    assert why in route.channels[0].why
    assert "hush" not in repr(route) + route.channels[0].why + "".join(route.problems)


def test_the_environment_counts_first(tmp_path: Path) -> None:
    """`MEMDECK_CHANNEL_<ID>` replaces the file."""
    place = Place(tmp_path, "")
    secrets(tmp_path / "config", '[channels]\nchannel-abc123 = "json://file"\n')
    addresses = Addresses(tmp_path / "config", {"MEMDECK_CHANNEL_CHANNEL_ABC123": "json://environment"})
    assert addresses.of("channel-abc123") == ("json://environment",)
    assert place.workspace.root.exists()


def test_addresses_in_a_workspace_do_not_count(tmp_path: Path) -> None:
    """A channels.toml and addresses that lie in the workspace are not even looked at."""
    place = Place(tmp_path, "", config=CONFIG.replace("(Telegram)", "json://evil"))
    (place.root / "channels.toml").write_text('[channels]\nchannel-abc123 = "json://evil"\n')
    route = read_route(place.workspace.snapshot(), Addresses(tmp_path / "config", {}))
    assert route.usable == ()


# -- when -------------------------------------------------------------------------------------------------------------


def test_the_next_channel_is_tried() -> None:
    """Where the first does not answer the second gets it; where none does, the reasons are told and nothing is held."""
    post = Post("one://")
    assert [one.told for one in messenger(post).deliver([message()])] == ["yes"]
    assert [url for url, *_ in post.sent] == ["two://"]
    [failed] = messenger(Post("one://", "two://")).deliver([message()])
    assert (failed.told, failed.detail.count("cannot be reached")) == ("no", 2)
    assert messenger(Post(), channels=()).deliver([message()])[0].told == "none"


def test_quiet_hours_end_with_a_digest() -> None:
    """What happens at night is held and comes as one message in the morning; high priority comes at once."""
    post, ledger, quiet = Post(), MonitorLedger(None), parse_windows("11:00-12:00")
    night = messenger(post, ledger, quiet=quiet)
    told = night.deliver([message("One"), message("Two", priority="high"), message("Three", "recovered", "low")])
    assert [one.told for one in told] == ["held", "yes", "held"]
    assert told[0].detail == "quiet hours until 12:00"
    assert night.digest() == ([], "")
    morning = messenger(post, ledger, NOW + timedelta(minutes=30), quiet=quiet)
    sent, failure = morning.digest()
    assert ([one.monitor for one in sent], failure) == (["One", "Three"], "")
    assert post.sent[1][1:3] == ("2 messages during quiet hours", "11:30 One is failing\n11:30 Three is failing")
    assert morning.digest() == ([], "")


def test_the_digest_of_a_night_in_a_workspace(tmp_path: Path) -> None:
    """An alert of the night counts as told only with the digest, and then is not told again."""
    quiet = CONFIG.replace("- priority: normal", "- priority: normal\n- quietHours: 11:00-12:00")
    place = Place(tmp_path, command("One", "false"), config=quiet)
    place.approve()
    place.watch(0)
    place.watch(5)
    assert place.post.sent == []
    assert '- Notification waits: "One is failing: exit code 1" (quiet hours until 12:00)' in place.text("journal.md")
    assert place.ledger().kept("alert")["One"]["told"] == "held"
    place.watch(30)
    assert place.post.titles == ["One is failing: exit code 1"]
    assert place.post.sent[0][2].splitlines()[-1].endswith(f": {place.workspace.root}")
    assert place.ledger().kept("alert")["One"]["told"] == "yes"
    place.watch(35)
    assert len(place.post.sent) == 1


def test_an_alert_that_could_not_be_sent_is_sent_later(tmp_path: Path) -> None:
    """Nothing counts as told before a channel took it, and the journal says what is true."""
    place = Place(tmp_path, command("One", "false"))
    place.approve()
    place.post.fail |= {"one://", "two://"}
    place.watch(0)
    assert "- Notification failed: " in place.text("journal.md")
    assert place.ledger().kept("alert")["One"]["told"] == "no"
    place.post.fail.clear()
    place.watch(5)
    assert place.post.titles == ["One is failing: exit code 1"]
    assert place.ledger().kept("alert")["One"]["told"] == "yes"


def test_many_at_once_are_one() -> None:
    """Forty alerts of one run are one message that names them."""
    post = Post()
    told = messenger(post).deliver([message(f"Monitor {number}") for number in range(40)])
    assert ({one.told for one in told}, len(post.sent)) == ({"yes"}, 1)
    assert post.sent[0][1] == "Monitors: 40 failing"
    assert "Monitor 39 is failing" in post.sent[0][2]


# -- for real ---------------------------------------------------------------------------------------------------------


def test_a_real_web_server(tmp_path: Path) -> None:
    """A message reaches an HTTP server whole; a server that refuses is told without its address."""
    answers = {"/secret-path": 500}
    with web(answers) as base:
        address = base.replace("http://", "json://")
        assert send_message([f"{address}/hook"], "One is failing", "line 1\nline 2", "high") == ""
        [body] = [json.loads(one) for one in web.posted]  # type: ignore[attr-defined]
        assert (body["title"], body["message"], body["type"]) == ("One is failing", "line 1\nline 2", "failure")
        assert send_message([f"{address}/secret-path"], "One", "two", "low") == "the server answered 500"


def test_a_real_mail_server() -> None:
    """A message reaches an SMTP server as a mail with its subject and text."""
    with mail() as (port, mails):
        address = f"mailto://127.0.0.1:{port}?from=memdeck@example.com&to=ann@example.com&format=text"
        assert send_message([address], "One recovered", "now returning 200", "normal", good=True) == ""
        assert len(mails) == 1
    assert "Subject: One recovered" in mails[0]
    assert "To: ann@example.com" in mails[0]
    assert "now returning 200" in mails[0]


def test_an_address_that_is_none() -> None:
    """What apprise does not know is told by its number, never by itself."""
    why = send_message(["nonsense-secret"], "One", "two", "low")
    assert why == "address 1 of the channel is not known to apprise"


def test_a_whole_run_with_real_servers(tmp_path: Path) -> None:
    """An alert goes from a failing check to a web server, by the file of the person."""
    with web({}) as base:
        place = Place(tmp_path, command("One", "false"))
        place.approve()
        addresses = secrets(
            tmp_path / "config", f'[channels]\nchannel-abc123 = "{base.replace("http", "json")}/hook"\n'
        )
        place.ways = replace(place.ways, addresses=addresses, send=None)
        place.watch()
        [sent] = [json.loads(one) for one in web.posted]  # type: ignore[attr-defined]
    assert sent["title"] == "One is failing: exit code 1"
    assert sent["message"].splitlines()[-1] == f"{os.uname().nodename}: {place.root}"
    file = tmp_path / "config/memdeck/channels.toml"
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
