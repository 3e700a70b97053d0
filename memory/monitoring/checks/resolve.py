"""Resolving a host name, once, to the addresses that a check may connect to."""

from __future__ import annotations

import socket
import threading

from memory.trust.addresses import is_open_address

from .result import Around, Down, NotApproved

_MOST = 8


def resolve(host: str, port: int, seconds: float) -> tuple[str, ...]:
    """Return the addresses of a host in the order to try them, waiting at most `seconds`; raises Down.

    The system's resolver has no time limit, so it runs in a thread that is abandoned if it takes too long.
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
        raise Down(f"{host} was not resolved in time")
    if trouble or not found:
        raise Down(f"{host} is unknown ({trouble[0] if trouble else 'no address'})")
    return tuple(found[:_MOST])


def allowed_addresses(
    host: str, port: int, seconds: float, target: str, approved: bool, around: Around
) -> tuple[str, ...]:
    """Return the addresses of a host to which a check may connect: all if a person approved exactly this `target`.

    Raises Down, and NotApproved if there is none.
    """
    found = resolve(host, port, seconds)
    allowed = tuple(one for one in found if approved or is_open_address(one) or around.reach(target, one))
    if not allowed:
        raise NotApproved(f"{found[0]} is not a public address")
    return allowed
