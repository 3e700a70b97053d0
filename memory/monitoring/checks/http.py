"""One HTTP request as a check makes it: to an address that was looked at, bounded in time and size, without memory.

No cookies, no proxies, no credentials of the user, no redirects unless asked for. Names are resolved once, and the
connection goes to exactly the address that was found to be allowed.
"""

from __future__ import annotations

import functools
import ssl
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memory.trust.consent import is_open_address

from .context import Around, NotApproved
from .decoding import charset_of
from .resolve import Unresolved, resolve

if TYPE_CHECKING:
    import socket

    import httpx

LARGEST = 1 << 20
"""Bytes of a body that are read."""
LONGEST = 8192
"""Characters of an address that a redirect may lead to."""
_MOST_ADDRESSES = 4


class NoAnswer(Exception):
    """Nothing usable came back; the message says why, in a few words."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What came back: `certificate` is when the server's certificate ends, None without TLS; `seconds` until the end
    of the body, of which at most `LARGEST` bytes are kept, as they came: packed ones stay packed.
    """

    status: int
    body: bytes
    seconds: float
    certificate: datetime | None
    url: str
    charset: str


def ask(url: str, method: str, timeout: float, hops: int, approved: bool, around: Around) -> HttpAnswer:
    """Make a request and follow at most `hops` redirects, all within `timeout` seconds.

    `approved` says that a person approved this very address, wherever it leads. Raises NoAnswer, NotApproved.
    """
    import httpx

    if around.tls is None:
        _system_authorities()  # Read once, and not on the clock of the first check.
    begun = time.monotonic()
    try:
        target = httpx.URL(url)
    except (httpx.InvalidURL, ValueError, TypeError):
        raise NoAnswer("not an address") from None
    for hop in range(hops + 1):
        response = _one(target, method, begun + timeout, approved and hop == 0, around)
        follow = response.headers.get("location") if response.is_redirect else None
        if follow is None or hop == hops:
            if follow is not None and hops:
                raise NoAnswer(f"more than {hops} redirects")
            seconds = time.monotonic() - begun
            extensions = response.extensions
            return HttpAnswer(
                response.status_code,
                extensions["body"],
                seconds,
                extensions["certificate"],
                _shown(target),
                charset_of(response.headers.get("content-type", "")),
            )
        try:
            if len(follow) > LONGEST:
                raise ValueError("no address is that long")
            target = target.join(follow)
            if target.userinfo:
                raise NotApproved("a redirect to an address with a user name")
        except (httpx.InvalidURL, ValueError, TypeError):
            raise NoAnswer("a redirect to something that is no address") from None
    raise AssertionError("the last hop returns")


def _one(url: httpx.URL, method: str, until: float, approved: bool, around: Around) -> httpx.Response:
    """Make one request; try the addresses of the host in turn until one lets us connect."""
    import httpx

    if url.scheme not in ("http", "https") or not url.host:
        raise NotApproved(f"{url.scheme or 'no scheme'} is not http or https")
    if url.port is not None and not 0 < url.port < 65536:
        raise NoAnswer("not an address")
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        found = resolve(url.raw_host.decode("ascii"), port, until - time.monotonic())
    except Unresolved as error:
        raise NoAnswer(str(error)) from None
    allowed = [one for one in found if approved or is_open_address(one) or around.reach(str(url), one)]
    if not allowed:
        raise NotApproved(f"{found[0]} is not a public address")
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
    if around.cancel is not None and around.cancel.cancelled:
        raise NoAnswer("cancelled")
    if time.monotonic() >= until:
        raise NoAnswer("timed out")
    assert trouble is not None
    raise NoAnswer(_why(trouble))


def _send(url: httpx.URL, address: str, method: str, until: float, around: Around) -> httpx.Response:
    """Send one request to one address; the response carries its body and certificate as extensions."""
    import httpx

    lines = _Lines()
    seconds = max(0.001, until - time.monotonic())
    # A limit per read is none for a server that sends one byte at a time, so the connection itself is cut.
    timer = threading.Timer(seconds, lines.cut)
    timer.daemon = True
    timer.start()
    remove = around.cancel.add(lines.cut) if around.cancel is not None else None
    headers = {
        "Host": url.netloc.decode("ascii").rpartition("@")[2],
        "User-Agent": "memdeck",
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Connection": "close",
    }
    extensions: dict[str, Any] = {"trace": lines.trace}
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
            ends = _certificate_end(response)
            body = bytearray()
            for chunk in response.iter_raw():
                body += chunk[: LARGEST - len(body)]
                if len(body) >= LARGEST:
                    break
                if time.monotonic() >= until:
                    raise httpx.ReadTimeout("the body takes too long")
            response.extensions["body"] = bytes(body)
            response.extensions["certificate"] = ends
            return response
    finally:
        timer.cancel()
        lines.close()
        if remove is not None:
            remove()


class _Lines:
    """The connections of one request, so that another thread can cut them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._cut = False

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Keep a second handle of each connection as soon as it is there: TLS takes the first one over."""
        if event != "connection.connect_tcp.complete":
            return
        line = info["return_value"].get_extra_info("socket")
        with self._lock:
            self._sockets.append(line.dup())
            late = self._cut
        if late:
            self.cut()

    def cut(self) -> None:
        """End the connections: whoever waits on them wakes."""
        import socket

        with self._lock:
            self._cut = True
            for line in self._sockets:
                try:
                    line.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self) -> None:
        """Give the handles back."""
        with self._lock:
            for line in self._sockets:
                line.close()
            self._sockets.clear()


@functools.cache
def _system_authorities() -> ssl.SSLContext:
    """Trust whom the system trusts; on machines without a store, the one that comes with the HTTP library."""
    context = ssl.create_default_context()
    if not context.get_ca_certs():
        paths = ssl.get_default_verify_paths()
        if not paths.cafile and not paths.capath:
            import certifi

            context.load_verify_locations(certifi.where())
    return context


def _certificate_end(response: httpx.Response) -> datetime | None:
    tls = response.extensions["network_stream"].get_extra_info("ssl_object")
    if tls is None:
        return None
    ends = (tls.getpeercert() or {}).get("notAfter")
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(ends), UTC) if isinstance(ends, str) else None


def _certificate_trouble(error: BaseException | None) -> str:
    """Return what is wrong with a certificate if that is behind an error, else nothing."""
    for _ in range(6):
        if error is None:
            return ""
        if isinstance(error, ssl.SSLCertVerificationError):
            return f"certificate: {error.verify_message or error.reason or 'not trusted'}"
        error = error.__cause__ or error.__context__
    return ""


def _why(error: Exception) -> str:
    """Say in a few words why there is no answer; the library's own words may repeat the address."""
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
    """Return an address without what may be secret in it: credentials and the query."""
    return str(url.copy_with(username=None, password=None, query=None, fragment=None))
