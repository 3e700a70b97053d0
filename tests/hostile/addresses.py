"""Addresses that want to be asked: of this machine, its network, its cloud, and other schemes, in an approved workspace."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

from tests.corpus.place import Impossible
from tests.memory.monitoring.monitoring_places import http_server, reply

from .case import Case
from .ground import CHANNELS, Ground

Build = Callable[[Ground], object]
PENDING = "pending url Evil"
REFUSED = "refused url Evil"
_BIND = 4096


def _case(name: str, says: str, build: Build, *asks: str, **more: Any) -> Case:
    return Case(f"address/{name}", says, build, asks, **more)


def _http(url: str, **fields: str) -> Build:
    """Ask an address where all public ones are approved."""

    def build(ground: Ground) -> None:
        ground.open()
        ground.monitor("Evil", {"type": "http", "url": url, "interval": "* * * * *", "follow": "10", **fields})

    return build


def _typed(kind: str, **fields: str) -> Build:
    def build(ground: Ground) -> None:
        ground.open()
        ground.monitor("Evil", {"type": kind, "interval": "* * * * *", **fields})

    return build


def _not_opened(ground: Ground) -> None:
    ground.only("Evil", {"type": "http", "url": "http://192.0.2.1/", "interval": "* * * * *"})


def _served(ground: Ground, location: str) -> int:
    server = http_server(reply(302, Location=location))
    port, _ = server.__enter__()
    ground.closers.append(lambda: server.__exit__(None, None, None))
    ground.connects.append(f"127.0.0.1:{port}")
    return port


def _redirect(location: str) -> Build:
    """Ask a host that the person allows, and that sends to one that they do not."""

    def build(ground: Ground) -> None:
        ground.settings("config.toml", '[trust]\nprivate_hosts = ["127.0.0.1"]\n')
        port = _served(ground, location)
        _http(f"http://127.0.0.1:{port}/")(ground)

    return build


def _redirect_approved(ground: Ground) -> None:
    """Ask one address of this machine that is approved by itself, and that sends to its neighbour."""
    port = _served(ground, "http://127.0.0.2:9/")
    ground.only("Evil", {"type": "http", "url": f"http://127.0.0.1:{port}/", "interval": "* * * * *", "follow": "yes"})
    ground.approve()


def _rebound(address: str) -> Build:
    """A public name that leads to a closed address, by the hosts file of the case's own mounts."""

    def build(ground: Ground) -> None:
        hosts = ground.top / "hosts"
        hosts.write_text(f"{address} rebound.example.com\n")
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(os.fsencode(hosts), b"/etc/hosts", b"", _BIND, b""):
            raise Impossible(f"no mounting here ({os.strerror(ctypes.get_errno())})")
        ground.reads.append("hosts")
        ground.connects += ["LOOKUP"]
        _http("http://rebound.example.com:9/")(ground)

    return build


def _swapped(old: str, new: str) -> Build:
    def build(ground: Ground) -> None:
        ground.only("Evil", {"type": "http", "url": old, "interval": "* * * * *"})
        ground.approve()
        ground.swap(old, new)

    return build


def _channel_in_contacts(ground: Ground) -> None:
    ground.swap(
        "| Dev Team Bot | channel-abc123 | telegram |",
        "| Dev Team Bot | json://127.0.0.1:9/ | telegram |",
        "contacts.md",
    )
    ground.swap("- channelId: channel-abc123", "- channelId: json://127.0.0.1:9/", "config.md")


def _webhook_in_config(ground: Ground) -> None:
    ground.swap(
        "- target: im\n",
        "- target: json://127.0.0.1:9/\n- url: json://127.0.0.1:9/\n- webhook: http://127.0.0.1:9/\n",
        "config.md",
    )


def _channel_path(ground: Ground) -> None:
    ground.lay("channels.toml", CHANNELS, 0o600)
    name = "../../shop/channels.toml"
    ground.swap("| Dev Team Bot | channel-abc123 |", f"| Dev Team Bot | {name} |", "contacts.md")
    ground.swap("- channelId: channel-abc123", f"- channelId: {name}", "config.md")


def _channel_row(ground: Ground) -> None:
    """Columns of the person's channels with addresses beside them."""
    ground.swap(
        "| Name | ID | Type | Status |\n|------|-----|------|--------|",
        "| Name | ID | Type | Status | URL |\n|---|---|---|---|---|",
        "contacts.md",
    )
    ground.swap("| telegram | connected |", "| json://127.0.0.1:9/ | connected | json://127.0.0.1:9/ |", "contacts.md")


CASES = (
    _case("not-opened", "a public address in a workspace that nobody approved", _not_opened, PENDING),
    _case("localhost", "`localhost`, with a port", _http("http://localhost:9/"), PENDING, sample=True),
    _case("loopback", "127.0.0.1", _http("http://127.0.0.1:9/"), PENDING),
    _case("loopback-other", "another number of this machine, `127.8.9.10`", _http("https://127.8.9.10/"), PENDING),
    _case("metadata", "the metadata of a cloud, 169.254.169.254", _http("http://169.254.169.254/latest/meta-data/"), PENDING),
    _case("metadata-azure", "the server of Azure's machines, 168.63.129.16", _http("http://168.63.129.16/machine/"), PENDING),
    _case("metadata-oracle", "the metadata of another cloud, 192.0.0.192", _http("http://192.0.0.192/opc/"), PENDING),
    _case("metadata-packet", "the metadata of a cloud by its public number, 192.80.8.124", _http("http://192.80.8.124/"), PENDING),
    _case("ipv6-6to4", "an IPv4 address inside of a 6to4 address", _http("http://[2002:a83f:8110::1]/"), PENDING),
    _case("ipv6-isatap", "an IPv4 address at the end of a public IPv6 address", _http("http://[2606:4700::5efe:a83f:8110]/"), PENDING),
    _case("private", "a private network, 10.0.0.1", _http("http://10.0.0.1/"), PENDING),
    _case("shared", "the network between a provider and its customers, 100.64.0.1", _http("http://100.64.0.1/"), PENDING),
    _case("unspecified", "0.0.0.0, which is this machine as well", _http("http://0.0.0.0:9/"), PENDING),
    _case("broadcast", "255.255.255.255 and whoever hears it", _http("http://255.255.255.255/"), PENDING),
    _case("decimal", "an address as one number", _http("http://2130706433/"), PENDING),
    _case("hexadecimal", "an address in hexadecimal", _http("http://0x7f.0x0.0x0.0x1/"), PENDING),
    _case("octal", "an address in octal", _http("http://0177.0.0.01/"), PENDING),
    _case("short", "an address with parts left out, `127.1`", _http("http://127.1:9/"), PENDING),
    _case("ipv6", "the loopback address of IPv6", _http("http://[::1]:9/"), PENDING),
    _case("ipv6-mapped", "an IPv4 address inside of IPv6", _http("http://[::ffff:127.0.0.1]:9/"), PENDING),
    _case("ipv6-translated", "an IPv4 address behind a translator's prefix", _http("http://[64:ff9b::7f00:1]/"), PENDING),
    _case("ipv6-local", "an IPv6 address of the link, with a zone", _http("http://[fe80::1%25eth0]/"), PENDING),
    _case("ipv6-unique", "a private IPv6 address", _http("http://[fd00::1]/"), PENDING),
    _case("single", "a single name", _http("http://intranet/"), PENDING),
    _case("internal", "a name below `.internal`", _http("http://metadata.google.internal/"), PENDING),
    _case("dot", "`localhost.` with a dot at its end", _http("http://localhost.:9/"), PENDING),
    _case("capitals", "`LOCALHOST` in capitals, under a scheme in capitals", _http("HTTP://LOCALHOST:9/"), PENDING),
    _case("wide", "`localhost` in wide letters, which become plain ones", _http("http://\uff4c\uff4f\uff43alhost:9/"), PENDING),
    _case("wide-dots", "dots of another script in 127.0.0.1", _http("http://127\u30020\u30020\u30021:9/"), PENDING),
    _case("puny", "a name in its ASCII form that looks like another", _http("http://xn--lcalhost-54a/"), PENDING),
    _case("escapes", "a host written with escapes", _http("http://%6c%6f%63alhost:9/"), PENDING),
    _case("credentials", "a user name before the host", _http("http://example.com@127.0.0.1:9/"), PENDING),
    _case("backslash", "a backslash, which libraries read differently", _http("http://example.com\\@127.0.0.1:9/"), PENDING),
    _case("inside", "a tab inside of the host", _http("http://example.com\t@127.0.0.1:9/"), PENDING),
    _case("lines", "escaped line ends that would add a header", _http("http://127.0.0.1:9/%0d%0aX-Evil:%201%0d%0a"), PENDING),
    _case("port", "port 0, and one above 65535", _http("http://192.0.2.1:99999/"), REFUSED, ends=0),
    _case("file", "`file:`, to read the passwords", _http("file:///etc/shadow"), REFUSED, ends=0),
    _case("ftp", "`ftp:`", _http("ftp://192.0.2.1/"), REFUSED, ends=0),
    _case("gopher", "`gopher:`, to speak to other servers", _http("gopher://127.0.0.1:9/_EVIL"), REFUSED, ends=0),
    _case("unix", "a socket of this machine, `http+unix:`", _http("http+unix://%2Frun%2Fdocker.sock/info"), REFUSED, ends=0),
    _case("data", "`data:` and `javascript:`, which need no server", _http("javascript:fetch('http://127.0.0.1:9')"), REFUSED, ends=0),
    _case("no-scheme", "no scheme, only two slashes", _http("//127.0.0.1:9/"), REFUSED, ends=0),
    _case("tcp", "a tcp check of a port of this machine", _typed("tcp", host="127.0.0.1", port="9"), PENDING),
    _case("tcp-url", "a tcp check whose address stands under `url`", _typed("tcp", url="tcp://127.0.0.1:9"), PENDING),
    _case("type-https", "a type that is no type, `HTTPS`", _typed("HTTPS", url="https://127.0.0.1:9"), PENDING),
    _case("type-unknown", "a type that nobody knows, with an address", _typed("websocket", url="ws://127.0.0.1:9")),
    _case("method", "a method that changes things", _http("http://127.0.0.1:9/", method="DELETE"), REFUSED, ends=0),
    _case("redirect", "an allowed host that sends to the metadata of a cloud", _redirect("http://169.254.169.254/")),
    _case("redirect-scheme", "an allowed host that sends to a file", _redirect("file:///etc/shadow")),
    _case("redirect-relative", "an allowed host that sends to `//localhost`", _redirect("//localhost:9/")),
    _case("redirect-approved", "an approved private address that sends to its neighbour", _redirect_approved),
    _case("rebinding", "a public name that leads to this machine", _rebound("127.0.0.1"), mounts=True),
    _case("rebinding-azure", "a public name that leads to the server of Azure's machines", _rebound("168.63.129.16"), mounts=True),
    _case("rebinding-ipv6", "a public name that leads to the link's own IPv6", _rebound("fe80::1"), mounts=True),
    _case("swapped", "an approved private address with another port", _swapped("http://127.0.0.1:9/", "http://127.0.0.1:10/"), "withdrawn url Evil"),
    _case("channel", "an address of a channel in contacts.md", _channel_in_contacts),
    _case("webhook", "addresses of messages in config.md", _webhook_in_config),
    _case("channel-path", "the id of a channel as the path of a file with addresses", _channel_path),
    _case("channel-column", "a column for addresses beside the channels", _channel_row),
)  # fmt: skip
