"""Guard: who may talk to the server. It checks every request before textual-serve answers it.

A page in another tab, another program's page that was made to point here, or someone who guesses the port must get
nothing. So every request has to name this host, requests of pages have to come from this page, and every request
carries the cookie that only the address with the token gives.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs, urlencode

from aiohttp import web

from app.servers.loopback import same

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

LEAVING_SECONDS = 3.0
"""Seconds that a reloaded page waits for the session of the previous one to end."""

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws://{host}; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Server": "memdeck",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Guard:
    """Checks every request to `host`, an address and a port as browsers write them."""

    def __init__(self, host: str) -> None:
        """Create a token and a cookie of 256 random bits each; neither is written anywhere."""
        self.host = host
        self.token = secrets.token_urlsafe(32)
        self._cookie = secrets.token_urlsafe(32)
        self._name = f"memdeck-{host.rpartition(':')[2]}"
        self._session = asyncio.Lock()
        self._used = False

    @property
    def address(self) -> str:
        """The address to open in the browser."""
        return f"http://{self.host}/?{urlencode({'token': self.token})}"

    def install(self, application: web.Application) -> None:
        """Check everything that an application answers, errors included."""
        application.middlewares.insert(0, self.check)
        application.on_response_prepare.append(self._add_headers)

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer a request, or refuse it in as few words as possible; never raise."""
        try:
            return await self._check(request, handler)
        except web.HTTPException as refusal:
            return refuse(refusal.status, "nothing is here") if refusal.status >= 400 else _moved(refusal)
        except (asyncio.CancelledError, ConnectionError):
            raise
        except Exception:  # a request that breaks a library is the sender's fault
            return refuse(400, "this is not a request")

    async def _check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.headers.getall("Host", []) != [self.host]:
            return refuse(403, "this address is not served here")
        origin = request.headers.getall("Origin", [])
        is_socket = request.path == "/ws"
        if origin != [f"http://{self.host}"] and (origin or is_socket):
            return refuse(403, "pages of other origins get nothing")
        if request.method not in ("GET", "HEAD"):
            return refuse(405, "only GET")
        known = same(request.cookies.get(self._name, ""), self._cookie)
        if request.path == "/" and "token" in request.query:
            return self._welcome(request, known)
        if not known:
            return refuse(403, "open the whole address that memdeck printed")
        if is_socket or request.path == "/":
            return await self._one_session(request, handler, keep=is_socket)
        return await handler(request)

    def _welcome(self, request: web.Request, known: bool) -> web.StreamResponse:
        """Exchange the token for the cookie, once, and redirect to an address without it, which is safe in histories
        and logs.
        """
        tokens = parse_qs(request.query_string).get("token", [])
        if len(tokens) != 1 or not same(tokens[0], self.token):
            return refuse(403, "this token is not the one of this run")
        if request.method != "GET" or not _is_navigation(request):
            return refuse(403, "open the address in a browser")
        if self._used and not known:
            return refuse(403, "this token was used already; end the server and start it again")
        self._used = True
        response = web.Response(status=303, headers={"Location": "/"})
        response.set_cookie(self._name, self._cookie, httponly=True, samesite="Strict", path="/")
        return response

    async def _one_session(self, request: web.Request, handler: Handler, *, keep: bool) -> web.StreamResponse:
        """Allow one page at a time: a second one waits a moment for the first to go, and is then refused.

        `keep`: the answer is the session, which lasts; else it is the page that then begins one.
        """
        try:
            await asyncio.wait_for(self._session.acquire(), LEAVING_SECONDS)
        except TimeoutError:
            return refuse(409, "memdeck is open in another page already; close that one first")
        if not keep:
            self._session.release()
            return await handler(request)
        try:
            return await handler(request)
        finally:
            self._session.release()

    async def _add_headers(self, _request: web.Request, response: web.StreamResponse) -> None:
        for name, value in _HEADERS.items():
            response.headers[name] = value.replace("{host}", self.host)


def _is_navigation(request: web.Request) -> bool:
    """Return whether the user opens a page, as opposed to a page loading something itself, such as an image or a
    prefetch.

    Older browsers and programs do not send this information.
    """
    wanted = request.headers.getall("Sec-Fetch-Dest", ["document"])
    return wanted == ["document"] and "prefetch" not in request.headers.get("Sec-Purpose", "")


def refuse(status: int, words: str) -> web.Response:
    """Return an answer with as few words as possible."""
    return web.Response(status=status, text=f"{words}\n")


def _moved(answer: web.HTTPException) -> web.Response:
    return web.Response(status=answer.status, headers={"Location": answer.headers.get("Location", "/")})
