"""One HTTP request of a check: to a verified address, bounded in time and size, without state.

No cookies, no proxies, no credentials of the user, no redirects unless configured. A name is resolved once, to the
addresses that a check may connect to, and the connection goes to exactly one of them. A body is read as far as
`LARGEST`, unpacked.
"""

from __future__ import annotations

import base64
import functools
import ssl
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

import certifi
import httpcore

from memory.errors import MemdeckError
from memory.monitoring.result import Around, Down, NotApproved, allowed_addresses
from memory.trust.addresses import BadSetting

if TYPE_CHECKING:
    import httpx

LARGEST = 4 << 20
"""Maximum bytes of a body, unpacked, that are read."""
LONGEST = 8192
"""Maximum characters of an address in a redirect."""
_TICK = 0.05
"""Seconds between two looks at the clock and at the cancellation."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The answer: `certificate` is when the server's certificate expires, None without TLS; `seconds` until the end of
    the body. `cut`: the body is longer than `LARGEST` and only begins like this. `size` is that of the whole body,
    counted or as the server says; None where neither is known. `location` is where a redirect leads, else None.
    """

    status: int
    body: bytes
    cut: bool
    size: int | None
    seconds: float
    certificate: datetime | None
    url: str
    location: str | None


def ask(
    url: str, method: str, timeout: float, hops: int, approved: bool, around: Around, *, anywhere: bool = False
) -> HttpAnswer:
    """Make a request and follow at most `hops` redirects, all within `timeout` seconds.

    `approved` means that a person approved exactly this address, wherever it leads; that covers redirects to the same
    host, and with `anywhere` those to any other. Raises Down, NotApproved, and BadSetting for a redirect that no
    approval of this monitor covers.
    """
    import httpx

    _authorities(around)  # Read once, and not counted in the time of the first check.
    begun = time.monotonic()
    try:
        first = target = httpx.URL(url)
    except (httpx.InvalidURL, ValueError, TypeError):
        raise Down("not an address") from None
    for hop in range(hops + 1):
        covered = approved and (anywhere or target.host == first.host)
        try:
            answer = _one(target, method, begun, timeout, covered, around)
        except NotApproved as error:
            if not hop or anywhere:
                raise
            raise BadSetting("follow", f"redirect to {target.host[:30]}: write follow: anywhere", str(error)) from None
        if answer.location is None or not hops:
            return answer
        try:
            if len(answer.location) > LONGEST:
                raise ValueError("the address is too long")
            target = target.join(answer.location)
        except (httpx.InvalidURL, ValueError, TypeError):
            raise Down("a redirect to an invalid address") from None
        if target.userinfo or target.scheme not in ("http", "https"):
            what = "an address with a user name" if target.userinfo else f"the scheme {target.scheme[:20]}"
            raise BadSetting("follow", f"follow leads to {what}, which no check requests")
    raise Down(f"more than {hops} redirects")


class _Network(httpcore.NetworkBackend):
    """Connects to the addresses that a check may reach, as long as its time lasts and it is not cancelled."""

    def __init__(self, url: str, until: float, approved: bool, around: Around) -> None:
        self._url, self._until, self._approved, self._around = url, until, approved, around
        self._system = httpcore.SyncBackend()

    def left(self) -> float:
        """Return the seconds that are left; raises Down."""
        if self._around.cancel is not None and self._around.cancel.is_set():
            raise Down("cancelled")
        left = self._until - time.monotonic()
        if left <= 0:
            raise Down("timed out")
        return left

    def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> httpcore.NetworkStream:
        """Connect to the first allowed address of a host that answers."""
        trouble: Exception | None = None
        for address in allowed_addresses(host, port, self.left(), self._url, self._approved, self._around):
            try:
                return _Line(self._system.connect_tcp(address, port, self.left()), self)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                trouble = error
        assert trouble is not None
        raise trouble


class _Line(httpcore.NetworkStream):
    """A connection with the time of its whole check, because a limit per read does not stop a server that drips."""

    def __init__(self, stream: httpcore.NetworkStream, network: _Network) -> None:
        self._stream, self._network = stream, network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        """Return the next bytes, in short waits."""
        while True:
            try:
                return self._stream.read(max_bytes, min(_TICK, self._network.left()))
            except httpcore.ReadTimeout:
                continue

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        """Send bytes."""
        self._stream.write(buffer, self._network.left())

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        """Begin TLS."""
        return _Line(self._stream.start_tls(ssl_context, server_hostname, self._network.left()), self._network)

    def get_extra_info(self, info: str) -> Any:
        """Return a property of the connection, such as its `ssl_object`."""
        return self._stream.get_extra_info(info)


def _one(url: httpx.URL, method: str, begun: float, timeout: float, approved: bool, around: Around) -> HttpAnswer:
    """Make one request."""
    if url.scheme not in ("http", "https") or not url.host:
        raise NotApproved(f"{url.scheme or 'no scheme'} is not http or https")
    if url.port is not None and not 0 < url.port < 65536:
        raise Down("not an address")
    network = _Network(str(url), begun + timeout, approved, around)
    headers: dict[bytes | str, bytes | str] = {
        "Host": url.netloc.rpartition(b"@")[2],
        "User-Agent": "memdeck",
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Connection": "close",
    }
    if url.userinfo:
        headers["Authorization"] = b"Basic " + base64.b64encode(unquote_to_bytes(url.userinfo))
    target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
    try:
        with (
            httpcore.ConnectionPool(ssl_context=_authorities(around), network_backend=network) as pool,
            pool.stream(method, target, headers=headers) as response,
        ):
            said = {name.lower().decode("ascii"): value.decode("utf-8", "replace") for name, value in response.headers}
            body, cut = _read(response, said)
            return HttpAnswer(
                response.status,
                body,
                cut,
                _size(said) if cut or method == "HEAD" else len(body),
                time.monotonic() - begun,
                _certificate_end(response),
                # Without parts that may be secret: credentials and the query.
                str(url.copy_with(username=None, password=None, query=None, fragment=None)),
                said.get("location") if 300 <= response.status < 400 else None,
            )
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError, ValueError) as error:
        network.left()
        raise Down(_why(error)) from None


def _size(said: Mapping[str, str]) -> int | None:
    """Return the size of a body as the server says; None where it does not, or of a packed one."""
    length = "" if said.get("content-encoding") else said.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() and len(length) < 19 else None


def _read(response: httpcore.Response, said: Mapping[str, str]) -> tuple[bytes, bool]:
    """Return the body of an answer, unpacked, as far as `LARGEST`, and whether it was cut there."""
    packed = said.get("content-encoding", "").strip().casefold()
    body = bytearray()
    unpack = None
    for chunk in response.iter_stream():
        if packed in ("", "identity"):
            body += chunk
        else:
            unpack = unpack or _unpacker(packed, chunk)
            try:
                body += unpack.decompress(chunk, LARGEST + 1 - len(body))
            except zlib.error:
                raise Down("the answer cannot be decompressed") from None
        if len(body) > LARGEST:
            return bytes(body[:LARGEST]), True
    if unpack is not None and not unpack.eof:
        raise Down("the compressed answer is incomplete")
    return bytes(body), False


def _unpacker(packed: str, chunk: bytes) -> zlib._Decompress:
    """Return what unpacks a body; MemdeckError `monitor.packed` for a packing other than gzip and deflate."""
    if packed in ("gzip", "x-gzip"):
        return zlib.decompressobj(31)
    if packed == "deflate":
        # Servers send it with the header of zlib, or without.
        return zlib.decompressobj(15 if chunk[0] & 15 == 8 and int.from_bytes(chunk[:2], "big") % 31 == 0 else -15)
    raise MemdeckError("monitor.packed", f"the answer is compressed as {packed[:30]}, not gzip or deflate")


def _authorities(around: Around) -> ssl.SSLContext:
    return around.tls if around.tls is not None else _system_authorities()


@functools.cache
def _system_authorities() -> ssl.SSLContext:
    """Trust the system's authorities; on machines without a store, those that come with the HTTP library."""
    context = ssl.create_default_context()
    if not context.get_ca_certs():
        paths = ssl.get_default_verify_paths()
        if not paths.cafile and not paths.capath:
            context.load_verify_locations(certifi.where())
    return context


def _certificate_end(response: httpcore.Response) -> datetime | None:
    tls = response.extensions["network_stream"].get_extra_info("ssl_object")
    ends = None if tls is None else (tls.getpeercert() or {}).get("notAfter")
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(ends), UTC) if isinstance(ends, str) else None


def _why(error: BaseException) -> str:
    """Return in a few words why there is no answer; the library's own message may repeat the address."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"certificate: {cause.verify_message or cause.reason or 'not trusted'}"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpcore.TimeoutException):
        return "timed out"
    if isinstance(error, httpcore.ConnectError):
        said = str(error).rpartition("] ")[2].strip()
        return f"no connection: {said[:60].lower()}" if said else "no connection"
    if isinstance(error, httpcore.RemoteProtocolError):
        return "not an HTTP answer, or an incomplete one"
    return "the connection broke" if isinstance(error, httpcore.NetworkError) else "the request failed"
