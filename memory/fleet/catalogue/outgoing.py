"""The one gate through which text leaves a host: secrets that the detector finds are taken out of it first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory.base.secrets import find_secrets

_NO_TEXT = {0: "\ufffd"}
_AT_ONCE = 4_000
"""Characters that are looked through at once."""
_CLAUSE_ENDS = " \t\n\r\f\v,;|"
"""What a text may end in behind a value, and a line may not: at the end of a line a value is found without it."""


def plain(text: str) -> str:
    """Return a text as the database can hold it: bytes that are no UTF-8, and NUL, become a sign for them."""
    if text.isascii():
        return text.translate(_NO_TEXT) if "\0" in text else text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text.translate(_NO_TEXT) if "\0" in text else text


def together(texts: Sequence[str]) -> str:
    """Return texts that belong together as one, which is looked through for secrets: what is said twice once."""
    longest = max(texts, key=len, default="")
    return "\n".join([longest, *(text for text in texts if text and text not in longest)])


def are_clean(wholes: Sequence[str]) -> list[bool]:
    """Return of which texts it is certain that nothing is found in them; of the others it is not known.

    Several short ones are looked through at once: looking is most of publishing, and mostly there is nothing.
    """
    found: list[bool] = []
    while len(found) < len(wholes):
        some = [wholes[len(found)].rstrip(_CLAUSE_ENDS)]
        size = len(some[0])
        # So few that no kind of secret is left out for there being too many of it.
        for text in wholes[len(found) + 1 :]:
            size += len(text) + 1
            if size > _AT_ONCE:
                break
            some.append(text.rstrip(_CLAUSE_ENDS))
        found += [not find_secrets("\n".join(some), plain_words=True)] * len(some)
    return found


def cleared(*texts: str) -> tuple[str, ...]:
    """Return texts that belong together without the secrets in any of them: a value found in one goes from all."""
    found: dict[str, str] = {}
    whole = together(texts)
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


def without_quotes(value: Any) -> Any:
    """Return JSON data without what is said about lines of a file, which may quote them: the code stays."""
    if isinstance(value, Mapping):
        kept = {key: [] if key == "warnings" else without_quotes(one) for key, one in value.items()}
        return {**kept, "message": kept["code"]} if {"code", "message"} <= kept.keys() else kept
    return [without_quotes(one) for one in value] if isinstance(value, (list, tuple)) else value


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
