"""Which addresses are public, and which belong to this machine, its network or the internals of its cloud.

No name server is queried here. The code that connects checks the resolved address with `is_open_address`, and every
redirect with `closed_reason`.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from memory.errors import UsageError

_GLOBAL_6 = ipaddress.IPv6Network("2000::/3")
"""The only part of IPv6 that is allocated for the public internet."""
_WRAPPED = (ipaddress.IPv6Network("::ffff:0:0/96"), ipaddress.IPv6Network("64:ff9b::/96"))
"""Addresses that lead to the IPv4 address in their last 32 bits: mapped ones, and those of NAT64."""
_ISATAP = (0x00005EFE, 0x02005EFE)
"""The numbers before an IPv4 address in those of ISATAP, which lead to it as well."""
_CLOSED = tuple(
    ipaddress.ip_network(network)
    for network in (
        # Special-purpose networks of IANA (RFC 6890, 8190, 9374, 9637, 9780) that Python calls global, or did.
        *("192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24"),
        *("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
        # Public by number, but reachable only from a machine of that cloud: Azure, Equinix Metal, IBM Cloud.
        *("168.63.129.16/32", "192.80.8.124/32", "161.26.0.0/16", "166.8.0.0/14"),
    )
)
"""Networks that are not public although Python's own table may say so. Compiled in November 2026."""
_LOCAL_NAMES = ("localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "private", "arpa")
_HOST = re.compile(r"[A-Za-z0-9._:%\[\]-]{1,255}", re.ASCII)
_NUMBER = re.compile(r"(?:0[xX][0-9a-fA-F]*|[0-9]+)")


def closed_reason(url: str) -> str:
    """Return why an address needs its own approval; "" for http and https to a public name or number.

    Only certainly public addresses are let through: a person decides about other schemes, user names and odd forms.
    """
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        return "the address holds unusual characters"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "the address cannot be read"
    if parts.scheme.lower() not in ("http", "https"):
        return f"the scheme is {parts.scheme[:20]}, not http or https" if parts.scheme else "the address has no scheme"
    if not host:
        return "the address has no host"
    if "@" in parts.netloc:
        return "the address carries a user name or password"
    if "%" in parts.netloc:
        return "the host is written with escapes"
    if port == 0:
        return "the port is 0"
    return closed_host_reason(host)


def unusable_url(url: str) -> str:
    """Return why no http check can request an address, even if approved; "" if one can."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return f"the address {url[:40]!r} cannot be read"
    if parts.scheme.lower() not in ("http", "https"):
        return f"{parts.scheme[:20]} is not http or https" if parts.scheme else "the address has no scheme"
    return "" if host else "the address has no host"


class BadSetting(UsageError, ValueError):
    """An invalid field of a monitor; code `monitor.setting`, `details["key"]` names it."""

    def __init__(self, key: str, message: str, hint: str = "") -> None:
        """Create the error with the wrong field and what to write."""
        super().__init__("monitor.setting", message, hint, key=key, field=key)


def read_target(text: str) -> tuple[str, int]:
    """Return host and port of a tcp check: `db.example.com:5432`, `[::1]:5432`, `tcp://db:5432`; raises BadSetting."""
    host, _, port = text.strip().removeprefix("tcp://").rstrip(":").rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    if not _HOST.fullmatch(host) or (":" in host and not _is_address(host)):
        raise BadSetting("host", f"invalid host in {text[:40]!r}", "write a name or an address, and a port")
    if not (port.isascii() and port.isdigit() and len(port) < 6 and 0 < int(port) < 65536):
        raise BadSetting("port", f"invalid port in {text[:40]!r}", "write a number from 1 to 65535")
    return host, int(port)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def closed_host_reason(host: str) -> str:
    """Return why a host (a name or a number) needs its own approval; "" for a public one."""
    name = host.strip().strip("[]").lower().rstrip(".")
    if not name:
        return "there is no host"
    if _is_address(name):
        return "" if is_open_address(name) else f"{host[:60]} is not a public address"
    if ":" in name:
        return "the host is neither an address nor a name"
    labels = name.split(".")
    # One library reads them as a number, such as 2130706433 or 0x7f.1, and another as a name.
    if _NUMBER.fullmatch(labels[-1]):
        return f"{host[:60]} is an unusual way to write an address"
    if len(labels) == 1:
        return f"{host[:60]} is a name of this network"
    if labels[-1] in _LOCAL_NAMES:
        return f"{host[:60]} is a name of this machine or its network"
    return ""


def is_open_address(address: str) -> bool:
    """Return whether an IP address, as a name server returns it, is public; False for anything that is no address."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if any(found in network for network in _WRAPPED) or int(found) >> 32 & 0xFFFFFFFF in _ISATAP:
            return is_open_address(str(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)))
        if found not in _GLOBAL_6:
            return False
    closed = any(found in network for network in _CLOSED)
    return found.is_global and not (closed or found.is_multicast or found.is_reserved)
