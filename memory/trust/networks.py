"""The networks that are not public, independent of Python's version: a fixed table in addition to `ipaddress`.

Compiled in November 2026 from the registries of IANA (IPv4 and IPv6 special-purpose addresses: RFC 6890, 8190, 9374,
9602, 9637, 9780; multicast: RFC 5771, 4291) and from the documentation of cloud providers on addresses that only their
own machines reach. All of a special-purpose network counts as closed, including routed parts such as the anycast
addresses of protocols: no service that a monitor watches is there.
"""

from __future__ import annotations

import functools
import ipaddress

CLOSED_4 = (
    "0.0.0.0/8",  # this network
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # shared by carriers; 100.100.100.200 is Alibaba Cloud's metadata, 100.88.222.5 Tencent Cloud's
    "127.0.0.0/8",  # this machine
    "169.254.0.0/16",  # link-local; 169.254.169.254 is the metadata of most clouds, 169.254.170.2 that of containers
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # protocol assignments; 192.0.0.192 is Oracle Cloud Classic's metadata
    "192.0.2.0/24",  # documentation
    "192.31.196.0/24",  # AS112
    "192.52.193.0/24",  # AMT
    "192.88.99.0/24",  # 6to4 relays, deprecated
    "192.168.0.0/16",  # private
    "192.175.48.0/24",  # AS112
    "198.18.0.0/15",  # benchmarks
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, and broadcast
    # Public by number, but reachable only from a machine of that cloud.
    "168.63.129.16/32",  # Azure: WireServer, which gives out configuration and certificates
    "192.80.8.124/32",  # Equinix Metal (Packet): metadata
    "161.26.0.0/16",  # IBM Cloud: infrastructure services
    "166.8.0.0/14",  # IBM Cloud: private service endpoints
)
GLOBAL_6 = "2000::/3"
"""The only part of IPv6 that is allocated for the public internet. Outside of it are loopback, link-local, unique local
(with the metadata of AWS, fd00:ec2::254, and Google, fd20:ce::254), multicast, discard, SRv6, mapped and translated
addresses, and unallocated ones.
"""
CLOSED_6 = (
    "2001::/23",  # protocol assignments: Teredo, benchmarks, AMT, AS112, ORCHID, DRIP
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4, deprecated; contains an IPv4 address
    "2620:4f:8000::/48",  # AS112
    "3fff::/20",  # documentation
)
NAT64 = "64:ff9b::/96"
"""Leads to the IPv4 address in its last 32 bits."""
_MAPPED = "::ffff:0:0/96"
_ISATAP = 0x5EFE
_ISATAP_UNIQUE = 0x02005EFE

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_closed(address: Address) -> bool:
    """Return whether an address, or an IPv4 address embedded in it, is in a network of the tables."""
    closed_4, closed_6, [everything], inside = _networks()
    if isinstance(address, ipaddress.IPv4Address):
        return any(address in network for network in closed_4)
    if any(address in network for network in inside):
        return is_closed(_last(address))
    if int(address) >> 32 & 0xFFFFFFFF in (_ISATAP, _ISATAP_UNIQUE) and is_closed(_last(address)):
        return True
    return address not in everything or any(address in network for network in closed_6)


def _last(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


@functools.cache
def _networks() -> tuple[
    list[ipaddress.IPv4Network],
    list[ipaddress.IPv6Network],
    list[ipaddress.IPv6Network],
    list[ipaddress.IPv6Network],
]:
    return (
        [ipaddress.IPv4Network(text) for text in CLOSED_4],
        [ipaddress.IPv6Network(text) for text in CLOSED_6],
        [ipaddress.IPv6Network(GLOBAL_6)],
        [ipaddress.IPv6Network(text) for text in (NAT64, _MAPPED)],
    )
