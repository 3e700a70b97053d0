"""One HTTP request of a check: to a verified address, bounded in time and size, without state.

No cookies, no proxies, no credentials of the user, no redirects unless configured. Names are resolved once, and the
connection goes to exactly the address that was found to be allowed.
"""

from __future__ import annotations

import functools
import re
import socket
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import certifi

from .context import Around, Down, NotApproved
from .resolve import allowed_addresses

if TYPE_CHECKING:
    import httpx

LARGEST = 1 << 20
"""Maximum bytes of a body that are read."""
LONGEST = 8192
"""Maximum characters of an address in a redirect."""
_MOST_ADDRESSES = 4
_LONGEST_TYPE = 1000
"""Maximum characters of a `Content-Type` that are read."""
_CHARSET = re.compile(r";[ \t]*charset[ \t]*=[ \t]*[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_CODECS = {
    **dict.fromkeys(("utf-8", "utf8"), "utf-8"),
    **dict.fromkeys(("utf-16", "utf16"), "utf-16"),
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    **dict.fromkeys(("ascii", "us-ascii"), "ascii"),
    **{f"{name}125{number}": f"cp125{number}" for name in ("windows-", "cp") for number in range(9)},
}


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The answer: `certificate` is when the server's certificate expires, None without TLS; `seconds` until the end of
    the body, of which at most `LARGEST` bytes are kept, as they were received: compressed bytes stay compressed.
    """

    status: int
    body: bytes
    seconds: float
    certificate: datetime | None
    url: str
    charset: str


def ask(url: str, method: str, timeout: float, hops: int, approved: bool, around: Around) -> HttpAnswer:
    """Make a request and follow at most `hops` redirects, all within `timeout` seconds.

    `approved` means that a person approved exactly this address, wherever it leads. Raises Down, NotApproved.
    """
    import httpx

    if around.tls is None:
        _system_authorities()  # Read once, and not counted in the time of the first check.
    begun = time.monotonic()
    try:
        target = httpx.URL(url)
    except (httpx.InvalidURL, ValueError, TypeError):
        raise Down("not an address") from None
    for hop in range(hops + 1):
        response = _one(target, method, begun + timeout, approved and hop == 0, around)
        follow = response.headers.get("location") if response.is_redirect else None
        if follow is None or hop == hops:
            if follow is not None and hops:
                raise Down(f"more than {hops} redirects")
            return HttpAnswer(
                response.status_code,
                response.extensions["body"],
                time.monotonic() - begun,
                response.extensions["certificate"],
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
            raise Down("a redirect to something that is no address") from None
    raise AssertionError("the last hop returns")


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
    if around.cancel is not None and around.cancel.cancelled:
        raise Down("cancelled")
    if time.monotonic() >= until:
        raise Down("timed out")
    assert trouble is not None
    raise Down(_why(trouble))


def _send(url: httpx.URL, address: str, method: str, until: float, around: Around) -> httpx.Response:
    """Send one request to one address; the response carries its body and certificate as extensions."""
    import httpx

    lines = _Lines()
    seconds = max(0.001, until - time.monotonic())
    # A limit per read does not stop a server that sends one byte at a time, so the connection itself is cut.
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
        """Keep a second handle of each connection as soon as it is open, because TLS takes over the first one."""
        if event != "connection.connect_tcp.complete":
            return
        line = info["return_value"].get_extra_info("socket")
        with self._lock:
            self._sockets.append(line.dup())
            late = self._cut
        if late:
            self.cut()

    def cut(self) -> None:
        """End the connections; threads that wait on them wake up."""
        with self._lock:
            self._cut = True
            for line in self._sockets:
                with suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the handles."""
        with self._lock:
            for line in self._sockets:
                line.close()
            self._sockets.clear()


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


def charset_of(content_type: str) -> str:
    """Return the character set that a `Content-Type` names, in small letters; `utf-8` if it names none."""
    found = _CHARSET.search(content_type[:_LONGEST_TYPE])
    return found[1].lower() if found else "utf-8"


def decoded(body: bytes, charset: str) -> str:
    """Return bytes as text; invalid bytes are replaced.

    Some of Python's codecs take quadratic time (punycode) or decompress (zip). So only UTF-8, UTF-16, ASCII and those
    of Windows are used; the bytes of every other character set are decoded as Latin-1, one for one.
    """
    return body.decode(_CODECS.get(charset, "latin-1"), "replace")
