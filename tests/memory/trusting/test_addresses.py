"""Which addresses are public for sure, and which need an approval of their own, however they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.trust.addresses import closed_reason, is_open_address
from memory.trust.asks import Ask
from memory.trust.consent import Trust
from memory.trust.settings import TrustSettings, read_settings

OPEN = [
    "https://api.example.com/health",
    "http://example.com",
    "HTTPS://Example.COM:8443/x?y=1#z",
    "http://93.184.216.34/",
    "https://[2606:2800:220:1:248:1893:25c8:1946]/",
    "https://xn--bcher-kva.example/",
    "http://example.com./",
]
CLOSED = [
    "http://localhost/",
    "http://api.localhost/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://10.0.0.1/",
    "http://168.63.129.16/",
    "http://[::ffff:168.63.129.16]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://100.64.0.1/",
    "http://[::1]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://db/",
    "http://printer.local/",
    "http://user@example.com/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1:80\\@example.com/",
    "http://example.com:0/",
    "http://example.com:99999/",
    "http://exa%6dple.com/",
    "http://127.0.0.1.:80/",
    "http://foo.08/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "//example.com/",
    "example.com",
    "http://",
    "",
    "http://exa mple.com/",
    "http://еxample.com/",
    "http://①②⑦.0.0.1/",
    "http://[::1/",
]


@pytest.mark.parametrize("url", OPEN)
def test_public(url: str) -> None:
    """Public names and numbers over http and https."""
    assert closed_reason(url) == ""


@pytest.mark.parametrize("url", CLOSED)
def test_everything_else_has_its_reason(url: str) -> None:
    """This machine, its network, other schemes, and every disguise of them."""
    assert closed_reason(url)


@pytest.mark.parametrize(
    ("address", "is_open"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("127.0.0.1", False),
        ("10.1.1.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("64:ff9b::5db8:d822", True),
        ("fec0::1", False),
        ("example.com", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("fc00::1", False),
        ("ff02::1", False),
        ("::127.0.0.1", False),
        ("2002:7f00:1::", False),
        ("nonsense", False),
        ("", False),
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("64:ff9b::808:808", True),
        ("::ffff:8.8.8.8", True),
        ("168.63.129.16", False),
        ("168.63.129.17", True),
        ("192.0.0.192", False),
        ("192.0.1.1", True),
        ("192.80.8.124", False),
        ("166.9.12.1", False),
        ("166.12.0.1", True),
        ("100.100.100.200", False),
        ("192.88.99.1", False),
        ("203.0.113.7", False),
        ("fd00:ec2::254", False),
        ("::ffff:168.63.129.16", False),
        ("::ffff:0:168.63.129.16", False),
        ("64:ff9b::a83f:8110", False),
        ("64:ff9b:1::808:808", False),
        ("2002:a83f:8110::1", False),
        ("2001:0:808:808::1", False),
        ("2001:1::1", False),
        ("2620:4f:8000::1", False),
        ("3fff::1", False),
        ("100::1", False),
        ("4000::1", False),
        ("2001:4860:4860::8888", True),
    ],
)
def test_what_a_name_leads_to(address: str, is_open: bool) -> None:
    """For whoever connects, after asking the name server."""
    assert is_open_address(address) is is_open


# The person's own settings


def test_settings_come_from_the_person_only(tmp_path: Path) -> None:
    """A host named in the configuration counts as public for an approved workspace; nothing in the workspace does."""
    home, root = tmp_path / "config", tmp_path / "shop"
    root.mkdir()
    file = home / "memdeck" / "config.toml"
    file.parent.mkdir(parents=True)
    assert read_settings(home, root) == TrustSettings()
    file.write_text('[trust]\nprivate_hosts = ["localhost", "10.1.2.3", "[::1]"]\n')
    settings = read_settings(home, root)
    assert settings == TrustSettings(frozenset({"localhost", "10.1.2.3", "::1"}))
    trust = Trust(tmp_path / "state", root, settings)

    def reason(url: str) -> str:
        return trust.closed_reason(Ask("url", "http", url, "Web", "monitors.md", 0))

    assert reason("http://localhost:8080/health") == ""
    assert reason("http://[::1]/") == ""
    assert reason("http://10.1.2.4/")
    assert reason("ftp://localhost/")
    assert reason("http://evil@localhost/")


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        ("[trust]\nprivate_hosts = ['localhost']\n", 0o666, "written by others"),
        ("[trust\n", 0o600, "understood"),
        ("[trust]\nprivate_hosts = 'localhost'\n", 0o600, "not a list"),
        ("trust = 3\n", 0o600, "not a list"),
        ("# " + "x" * (1 << 20), 0o600, "larger than 64 KB"),
    ],
    ids=["open", "broken", "text", "number", "long"],
)
def test_settings_that_do_not_count(tmp_path: Path, text: str, mode: int, why: str) -> None:
    """A file that others can write, or that cannot be read, widens nothing and says so."""
    file = tmp_path / "memdeck" / "config.toml"
    file.parent.mkdir()
    file.write_text(text)
    file.chmod(mode)
    settings = read_settings(tmp_path, tmp_path / "shop")
    assert settings.private_hosts == frozenset()
    assert why in settings.problems[0]


def test_settings_in_the_workspace_do_not_count(tmp_path: Path) -> None:
    """Not where XDG_CONFIG_HOME leads into the workspace, and not by a link either."""
    root = tmp_path / "shop"
    inside = root / ".config" / "memdeck"
    inside.mkdir(parents=True)
    (inside / "config.toml").write_text("[trust]\nprivate_hosts = ['localhost']\n")
    home = tmp_path / "config"
    (home / "memdeck").mkdir(parents=True)
    (home / "memdeck" / "config.toml").symlink_to(inside / "config.toml")
    for place in (root / ".config", home):
        settings = read_settings(place, root)
        assert settings.private_hosts == frozenset()
        assert "inside the workspace" in settings.problems[0]
