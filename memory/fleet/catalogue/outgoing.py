"""The one gate through which text leaves a host: detected secrets are removed from it first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memory.base.secrets import find_secrets, replaced

_NO_TEXT = {0: "\ufffd"}


def plain(text: str) -> str:
    """Return a text that the database can store: bytes that are no UTF-8, and NUL, become a replacement character."""
    if text.isascii():
        return text.translate(_NO_TEXT) if "\0" in text else text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text.translate(_NO_TEXT) if "\0" in text else text


def cleared(*texts: str) -> tuple[str, ...]:
    """Return related texts without the secrets in any of them: a value found in one is removed from all."""
    found: dict[str, str] = {}
    longest = max(texts, key=len, default="")
    whole = "\n".join([longest, *(text for text in texts if text and text not in longest)])
    for one in find_secrets(whole, plain_words=True):
        value = whole[one.start : one.end]
        if value.strip():
            found.setdefault(value, one.kind)
    if not found:
        return tuple(map(plain, texts))
    # The longest first: one may contain another.
    for value in sorted(found, key=len, reverse=True):
        texts = tuple(text.replace(value, f"[{found[value]} left out]") for text in texts)
    # A text may hold the beginning of one only: a title that is cut, for instance.
    return tuple(plain(_alone(text)) for text in texts)


def _alone(text: str) -> str:
    """Return a text without the secrets that are found in it alone."""
    return replaced(text, lambda kind: f"[{kind} left out]", plain_words=True)


def cleared_json(value: Any) -> Any:
    """Return JSON data without the secrets in any of its texts."""
    # All texts first: a value that is found in one is removed from all.
    texts: list[str] = []
    _with_texts(value, texts.append)
    texts = list(dict.fromkeys(texts))
    return _with_texts(value, dict(zip(texts, cleared(*texts), strict=True)).__getitem__)


def without_quotes(value: Any) -> Any:
    """Return JSON data without messages about lines of a file, which may quote them: the code stays."""
    if isinstance(value, Mapping):
        kept = {key: [] if key == "warnings" else without_quotes(one) for key, one in value.items()}
        return {**kept, "message": kept["code"]} if {"code", "message"} <= kept.keys() else kept
    return [without_quotes(one) for one in value] if isinstance(value, (list, tuple)) else value


def _with_texts(value: Any, change: Callable[[str], object]) -> Any:
    """Return JSON data with each of its texts replaced by the result of `change`, names included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {_with_texts(key, change): _with_texts(one, change) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_texts(one, change) for one in value]
    return value
