"""The verbs that serve a workspace to agents, programs and a browser, and what they share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from app.cli.session import Session
from memory.errors import UsageError


@contextmanager
def needs(extra: str, code: str) -> Iterator[None]:
    """Turn a missing library into the UsageError `code`, which names the extra of the package that brings it."""
    try:
        yield
    except ImportError as error:
        hint = f"pip install 'memdeck[{extra}]' brings what it needs"
        raise UsageError(code, f"the library {error.name} is not installed", hint) from error


def tell_where(session: Session, document: Mapping[str, Any], *lines: str) -> None:
    """Print where a server is, at once: a program may wait for it."""
    session.answer(lambda: dict(document), lambda: [*lines, "serves this machine only; ctrl+c ends it"])
    session.writer.flush()
