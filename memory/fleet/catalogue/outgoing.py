"""The one gate through which text leaves a host: secrets that the detector finds are taken out of it first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory.base.secrets import find_secrets

_NO_TEXT = {0: "\ufffd"}


def plain(text: str) -> str:
    """Return a text as the database can hold it: bytes that are no UTF-8, and NUL, become a sign for them."""
    if text.isascii():
        return text.translate(_NO_TEXT) if "\0" in text else text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text.translate(_NO_TEXT) if "\0" in text else text


def cleared(*texts: str) -> tuple[str, ...]:
    """Return texts that belong together without the secrets in any of them: a value found in one goes from all."""
    found: dict[str, str] = {}
    # Looking costs the most of publishing: once, and at what is said twice not twice.
    longest = max(texts, key=len, default="")
    whole = "\n".join([longest, *(text for text in texts if text and text not in longest)])
    for one in find_secrets(whole, plain_words=True):
        value = whole[one.start : one.end]
        if value.strip():
            found.setdefault(value, one.kind)
    if not found:
        return tuple(map(plain, texts))
    # The longest first: one may hold another.
    for value in sorted(found, key=len, reverse=True):
        texts = tuple(text.replace(value, f"[{found[value]} left out]") for text in texts)
    return tuple(map(plain, texts))


def cleared_json(value: Any) -> Any:
    """Return JSON data without the secrets in any of its texts."""
    texts = tuple(dict.fromkeys(_texts(value)))
    return _replaced(value, dict(zip(texts, cleared(*texts), strict=True)))


def _texts(value: Any) -> Sequence[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for key, one in value.items() for text in (*_texts(key), *_texts(one))]
    if isinstance(value, (list, tuple)):
        return [text for one in value for text in _texts(one)]
    return []


def _replaced(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return texts[value]
    if isinstance(value, Mapping):
        return {_replaced(key, texts): _replaced(one, texts) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(one, texts) for one in value]
    return value
