"""Where a name leads, found once, and whether that is a place which needs its own approval."""

from __future__ import annotations

import ipaddress
import socket
import threading

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_MOST = 8


class Unresolved(Exception):
    """A name that leads nowhere, or not in time; the message is for people."""


def is_private(address: str) -> bool:
    """Tell whether an address is not out in the internet: loopback, link-local, private, reserved, multicast.

    IPv6 addresses that carry one of IPv4 are judged by it. What is no address counts as private.
    """
    try:
        found: Address = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return True
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if found in _NAT64 or int(found) >> 32 == 0:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if found.teredo is not None:
            inner = found.teredo[1]
        if inner is not None:
            return is_private(str(inner))
    return not found.is_global or found.is_multicast or found.is_reserved or getattr(found, "is_site_local", False)


def resolve(host: str, port: int, seconds: float) -> tuple[str, ...]:
    """Return the addresses of a host in the order to try them, waiting at most some seconds; raises Unresolved.

    The system's resolver has no time limit, so it is asked in a thread that is left alone if it takes too long.
    """
    found: list[str] = []
    trouble: list[str] = []

    def ask() -> None:
        try:
            for *_, target in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
                address = str(target[0])
                if address not in found:
                    found.append(address)
        except (OSError, UnicodeError, ValueError) as error:
            trouble.append(getattr(error, "strerror", None) or str(error))

    thread = threading.Thread(target=ask, name="resolve", daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    if thread.is_alive():
        raise Unresolved(f"{host} was not resolved in time")
    if trouble or not found:
        raise Unresolved(f"{host} is unknown ({trouble[0] if trouble else 'no address'})")
    return tuple(found[:_MOST])
