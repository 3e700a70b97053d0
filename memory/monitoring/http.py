"""One HTTP request of a check: to a verified address, bounded in time and size, without state.

No cookies, no proxies, no credentials of the user, no redirects unless configured. A name is resolved once, to the
addresses that a check may connect to, and the connection goes to exactly one of them. A body is read as far as
`LARGEST`, unpacked.
"""

from __future__ import annotations

import functools
import socket
import ssl
import threading
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import certifi

from memory.errors import MemdeckError
from memory.monitoring.result import Around, Down, NotApproved
from memory.trust.addresses import BadSetting, is_open_address

if TYPE_CHECKING:
    import httpx

LARGEST = 4 << 20
"""Maximum bytes of a body, unpacked, that are read."""
LONGEST = 8192
"""Maximum characters of an address in a redirect."""
_MOST_ADDRESSES = 4
_PIECE = 1 << 16
_TICK = 0.05
"""Seconds between two looks at the clock and at the cancellation."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The answer: `certificate` is when the server's certificate expires, None without TLS; `seconds` until the end of
    the body. `cut`: the body is longer than `LARGEST` and only begins like this. `size` is that of the whole body,
    counted or as the server says; None where neither is known.
    """

    status: int
    body: bytes
    cut: bool
    size: int | None
    seconds: float
    certificate: datetime | None
    url: str


def ask(
    url: str, method: str, timeout: float, hops: int, approved: bool, around: Around, *, anywhere: bool = False
) -> HttpAnswer:
    """Make a request and follow at most `hops` redirects, all within `timeout` seconds.

    `approved` means that a person approved exactly this address, wherever it leads; that covers redirects to the same
    host, and with `anywhere` those to any other. Raises Down, NotApproved, and BadSetting for a redirect that no
    approval of this monitor covers.
    """
    import httpx

    if around.tls is None:
        _system_authorities()  # Read once, and not counted in the time of the first check.
    begun = time.monotonic()
    try:
        first = target = httpx.URL(url)
    except (httpx.InvalidURL, ValueError, TypeError):
        raise Down("not an address") from None
    for hop in range(hops + 1):
        try:
            response = _one(
                target, method, begun + timeout, approved and (anywhere or target.host == first.host), around
            )
        except NotApproved as error:
            if not hop or anywhere:
                raise
            raise BadSetting("follow", f"redirect to {target.host[:30]}: write follow: anywhere", str(error)) from None
        follow = response.headers.get("location") if response.is_redirect else None
        if follow is None or hop == hops:
            if follow is not None and hops:
                raise Down(f"more than {hops} redirects")
            return HttpAnswer(
                response.status_code,
                response.extensions["body"],
                response.extensions["cut"],
                _size(response, method),
                time.monotonic() - begun,
                response.extensions["certificate"],
                _shown(target),
            )
        try:
            if len(follow) > LONGEST:
                raise ValueError("no address is that long")
            target = target.join(follow)
        except (httpx.InvalidURL, ValueError, TypeError):
            raise Down("a redirect to something that is no address") from None
        if target.userinfo or target.scheme not in ("http", "https"):
            what = "an address with a user name" if target.userinfo else f"the scheme {target.scheme[:20]}"
            raise BadSetting("follow", f"follow leads to {what}, which no check requests")
    raise AssertionError("the last hop returns")


def _size(response: httpx.Response, method: str) -> int | None:
    """Return the size of a body, as the server says where it was not read whole."""
    if method != "HEAD" and not response.extensions["cut"]:
        return len(response.extensions["body"])
    said = "" if response.headers.get("content-encoding") else response.headers.get("content-length", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 19 else None


def _one(url: httpx.URL, method: str, until: float, approved: bool, around: Around) -> httpx.Response:
    """Make one request; try the addresses of the host in turn until a connection succeeds."""
    import httpx

    if url.scheme not in ("http", "https") or not url.host:
        raise NotApproved(f"{url.scheme or 'no scheme'} is not http or https")
    if url.port is not None and not 0 < url.port < 65536:
        raise Down("not an address")
    port = url.port or (443 if url.scheme == "https" else 80)
    host = url.raw_host.decode("ascii")
    allowed = allowed_addresses(host, port, until - time.monotonic(), str(url), approved, around)
    trouble: Exception | None = None
    for address in allowed[:_MOST_ADDRESSES]:
        try:
            return _send(url, address, method, until, around)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            trouble = error
            if time.monotonic() >= until or _certificate_trouble(error):
                break
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            trouble = error
            break
    if around.cancel is not None and around.cancel.is_set():
        raise Down("cancelled")
    if time.monotonic() >= until:
        raise Down("timed out")
    assert trouble is not None
    raise Down(_why(trouble))


def _send(url: httpx.URL, address: str, method: str, until: float, around: Around) -> httpx.Response:
    """Send one request to one address; the response carries its body and certificate as extensions."""
    import httpx

    seconds = max(0.001, until - time.monotonic())
    lines: list[socket.socket] = []
    done = threading.Event()
    # A limit per read does not stop a server that sends one byte at a time, so the connection itself is cut.
    guard = threading.Thread(target=_guard, args=(lines, done, until, around.cancel), name="guard", daemon=True)
    guard.start()

    def trace(event: str, info: dict[str, Any]) -> None:
        # A second handle of each connection as soon as it is open, because TLS takes over the first one.
        if event == "connection.connect_tcp.complete":
            lines.append(info["return_value"].get_extra_info("socket").dup())

    headers = {
        "Host": url.netloc.decode("ascii").rpartition("@")[2],
        "User-Agent": "memdeck",
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Connection": "close",
    }
    extensions: dict[str, Any] = {"trace": trace}
    if url.scheme == "https":
        extensions["sni_hostname"] = url.raw_host.decode("ascii")
    context = around.tls if around.tls is not None else _system_authorities()
    try:
        with (
            httpx.Client(verify=context, trust_env=False, follow_redirects=False, timeout=seconds) as client,
            client.stream(
                method, url.copy_with(host=address), headers=headers, extensions=extensions, follow_redirects=False
            ) as response,
        ):
            response.extensions["certificate"] = _certificate_end(response)
            response.extensions["body"], response.extensions["cut"] = _read(response, until)
            return response
    finally:
        done.set()
        guard.join()
        for line in lines:
            line.close()


def _guard(lines: list[socket.socket], done: threading.Event, until: float, cancel: threading.Event | None) -> None:
    """Cut the connections of a request when its time is over or the check is cancelled, until it is `done`."""
    while not done.wait(_TICK):
        if time.monotonic() >= until or (cancel is not None and cancel.is_set()):
            for line in tuple(lines):
                with suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)


def _read(response: httpx.Response, until: float) -> tuple[bytes, bool]:
    """Return the body of an answer, unpacked, as far as `LARGEST`, and whether it was cut there."""
    import httpx

    packed = response.headers.get("content-encoding", "").strip().casefold()
    body = bytearray()
    unpack = None
    for chunk in response.iter_raw(_PIECE):
        if packed in ("", "identity"):
            body += chunk
        else:
            unpack = unpack or _unpacker(packed, chunk)
            try:
                body += unpack.decompress(chunk, LARGEST + 1 - len(body))
            except zlib.error:
                raise Down("the answer cannot be unpacked") from None
        if len(body) > LARGEST:
            return bytes(body[:LARGEST]), True
        if time.monotonic() >= until:
            raise httpx.ReadTimeout("the body takes too long")
    if unpack is not None and not unpack.eof:
        raise Down("the packed answer is incomplete")
    return bytes(body), False


def _unpacker(packed: str, chunk: bytes) -> zlib._Decompress:
    """Return what unpacks a body; MemdeckError `monitor.packed` for a packing other than gzip and deflate."""
    if packed in ("gzip", "x-gzip"):
        return zlib.decompressobj(31)
    if packed == "deflate":
        # Servers send it with the header of zlib, or without.
        return zlib.decompressobj(15 if chunk[0] & 15 == 8 and int.from_bytes(chunk[:2], "big") % 31 == 0 else -15)
    raise MemdeckError("monitor.packed", f"the answer is packed as {packed[:30]}, not gzip or deflate")


@functools.cache
def _system_authorities() -> ssl.SSLContext:
    """Trust the system's authorities; on machines without a store, those that come with the HTTP library."""
    context = ssl.create_default_context()
    if not context.get_ca_certs():
        paths = ssl.get_default_verify_paths()
        if not paths.cafile and not paths.capath:
            context.load_verify_locations(certifi.where())
    return context


def _certificate_end(response: httpx.Response) -> datetime | None:
    tls = response.extensions["network_stream"].get_extra_info("ssl_object")
    if tls is None:
        return None
    ends = (tls.getpeercert() or {}).get("notAfter")
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(ends), UTC) if isinstance(ends, str) else None


def _certificate_trouble(error: BaseException | None) -> str:
    """Return the certificate problem behind an error, if there is one, else nothing."""
    for _ in range(6):
        if error is None:
            return ""
        if isinstance(error, ssl.SSLCertVerificationError):
            return f"certificate: {error.verify_message or error.reason or 'not trusted'}"
        error = error.__cause__ or error.__context__
    return ""


def _why(error: Exception) -> str:
    """Return in a few words why there is no answer; the library's own message may repeat the address."""
    import httpx

    certificate = _certificate_trouble(error)
    if certificate:
        return certificate
    if isinstance(error, httpx.TimeoutException):
        return "timed out"
    if isinstance(error, httpx.ConnectError):
        said = str(error).rpartition("] ")[2].strip()
        return f"no connection: {said[:60].lower()}" if said else "no connection"
    if isinstance(error, httpx.RemoteProtocolError):
        return "not an HTTP answer, or an incomplete one"
    return "the connection broke" if isinstance(error, httpx.TransportError) else "the request failed"


def _shown(url: httpx.URL) -> str:
    """Return an address without parts that may be secret: credentials and the query."""
    return str(url.copy_with(username=None, password=None, query=None, fragment=None))


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
