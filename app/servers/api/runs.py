"""Calls of verbs and operations: one at a time, each as its caller, with the answers of the command line."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from app.cli.failures import document_of, known_error, made_document
from app.cli.printing import LISTENER, Printer
from app.cli.session import Session
from memory.base.values import whole
from memory.errors import (
    AmbiguousError,
    BlockedError,
    BusyError,
    ConflictError,
    MemdeckError,
    NotFoundError,
    RefusedError,
    UsageError,
)
from memory.operations import Caller as OperationCaller
from memory.operations import Operation

from .routes import OF_LOOKS, looks, over_http

if TYPE_CHECKING:
    from memory.workspace import Workspace


_BY_CODE = {
    "internal": 500,
    "workspace.not_found": 404,
    "http.not_found": 404,
    "http.method": 405,
    "http.large": 413,
    "http.type": 415,
    "http.busy": 503,
}
_BY_CLASS: tuple[tuple[type[MemdeckError], int], ...] = (
    (BusyError, 503),
    (ConflictError, 409),
    (BlockedError, 403),
    (RefusedError, 403),
    (NotFoundError, 404),
    (AmbiguousError, 400),
    (UsageError, 400),
)
NOT_DONE = 422
"""The request is valid, but what it asks for cannot be done."""


def status_of(error: MemdeckError) -> int:
    """Return the HTTP status: by the code, else by the class."""
    if error.code in _BY_CODE:
        return _BY_CODE[error.code]
    if error.code.endswith(".not_supported"):
        return 501
    return next((status for kind, status in _BY_CLASS if isinstance(error, kind)), NOT_DONE)


Json = dict[str, Any]
MOST_ROWS = 1000
"""The most rows of a page."""
_PATIENCE = 30.0
_NOTES = 20


class Caller(NamedTuple):
    """The caller, and the transport: `http` or `uds`."""

    actor: str
    origin: str


class CallResult(NamedTuple):
    """What a caller gets: a status, a body, the exit code of the command line, and its messages on stderr."""

    status: int
    body: bytes
    code: int = 0
    notes: Sequence[str] = ()


class ServedSession(Session):
    """The session of one call: the server's workspace, the caller's name, and an answer in JSON.

    No command from memory files runs, even if it was approved: only the user may run those.
    """

    def __init__(self, workspace: Workspace | None, caller: Caller, now: datetime, *, read_only: bool = False) -> None:
        """`workspace` is None for a server of many."""
        super().__init__()
        self._caller, self._read_only = caller, read_only
        self.served = self.safe = self.no_color = True
        self.form = "json"
        self.origin = caller.origin
        if workspace is not None:
            self.folder = str(workspace.root)
            self.__dict__["workspace"] = workspace
        self.__dict__["now"] = now
        self._pages = False
        self._begin()

    def _begin(self) -> None:
        self._answer = io.BytesIO()
        self.writer = Printer(io.TextIOWrapper(self._answer, encoding="utf-8", write_through=True))

    @property
    def actor(self) -> str:
        """The actor of changes."""
        return self._caller.actor

    @property
    def caller(self) -> OperationCaller:
        """Who runs operations here."""
        return OperationCaller(self.actor, surface="api" if self.folder else "", read_only=self._read_only)

    def answer(self, *given: Any, **more: Any) -> None:
        """Answer with a document, which can be read in pages."""
        self._pages = True
        super().answer(*given, **more)

    def answered(self) -> bytes:
        """Return the answer."""
        self.writer.flush()
        return self._answer.getvalue()

    def page(self, rows: Any, cursor: Any) -> None:
        """Reduce a list in the answer to `rows` rows after a cursor, and add the cursor of the next ones."""
        start = 0 if cursor is None else whole(cursor, name="cursor", code="api.argument")
        count = MOST_ROWS if rows is None else whole(rows, 1, MOST_ROWS, name="rows", code="api.argument")
        # An export is text of its own form, of which no part is a page.
        found = json.loads(self.answered()) if self._pages else {}
        lists = [name for name, value in found.items() if isinstance(value, list)]
        if len(lists) != 1:
            raise UsageError("api.argument", "this answer is not a list", "leave rows and cursor out")
        rows_of = found[lists[0]]
        found[lists[0]] = rows_of[start : start + count]
        found["cursor"] = str(start + count) if start + count < len(rows_of) else None
        self._begin()
        self.writer.document(found)


class Runs:
    """Does what callers ask for; `busy` is held during a call, so that the server ends after it."""

    def __init__(
        self,
        workspace: Workspace | None,
        clock: Callable[[], datetime],
        busy: threading.Lock,
        *,
        read_only: bool = False,
    ) -> None:
        """`workspace` is None for a server of many, whose operations concern none of them."""
        self._workspace = workspace
        self.clock = clock
        self.busy = busy
        self.read_only = read_only

    @property
    def workspace(self) -> Workspace:
        """The workspace that is served."""
        assert self._workspace is not None
        return self._workspace

    def caller(self, caller: Caller) -> OperationCaller:
        """Return who calls, for the rule of who may do what."""
        return OperationCaller(caller.actor, surface="api", read_only=self.read_only)

    def call(
        self,
        operation: Operation,
        values: Mapping[str, Any],
        caller: Caller,
        read: Callable[[Json], Json] | None = None,
    ) -> CallResult:
        """Run an operation and return the answer of the command line; `read` reads the values of the request."""
        given, notes = dict(values), list[str]()
        asked = {name: given.pop(name, None) for name in OF_LOOKS} if looks(operation) else {}
        token, held = LISTENER.set(notes.append), self.busy.acquire(timeout=_PATIENCE)
        session = ServedSession(self._workspace, caller, self.clock(), read_only=self.read_only)
        try:
            if not held:
                raise BusyError("api.busy", "other calls take long", "try again")
            if asked.get("actor") is not None:
                session.actor_option = str(asked["actor"])[:80]
            found = session.run(operation, (read or operation.read)(given))
            if asked.get("rows") is not None or asked.get("cursor") is not None:
                session.page(asked.get("rows"), asked.get("cursor"))
            return CallResult(200, session.answered(), found if isinstance(found, int) else 0, notes[:_NOTES])
        except Exception as error:
            known = known_error(error)
            if session.made is not None:
                return CallResult(200, encoded(made_document(known, session.made)), 0, notes[:_NOTES])
            return failed(known)._replace(notes=notes[:_NOTES])
        finally:
            session.close()
            if held:
                self.busy.release()
            LISTENER.reset(token)


def encoded(document: Mapping[str, Any]) -> bytes:
    """Return a document encoded like every answer."""
    stream = io.BytesIO()
    writer = Printer(io.TextIOWrapper(stream, encoding="utf-8", write_through=True))
    writer.document(document)
    return stream.getvalue()


def failed(error: MemdeckError) -> CallResult:
    """Return the answer for an error, whose hint names the way over HTTP."""
    if error.hint:
        error.hint = over_http(error.hint)
    return CallResult(status_of(error), encoded(document_of(error)), error.exit_code)
