"""Where a name leads, found once."""

from __future__ import annotations

import socket
import threading

_MOST = 8


class Unresolved(Exception):
    """A name that leads nowhere, or not in time; the message is for people."""


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
