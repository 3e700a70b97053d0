"""The files of memories: their names, those of agents and sessions, and the front matter.

It is read strictly, with the line of each error, and written in one form.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from hashlib import sha256

from memory.curated.model import INDEX, ORIGINS, TYPES, Header, Json, Provenance, Root
from memory.document.front_matter import FrontMatter
from memory.errors import UsageError

LONGEST = 48
"""The most characters of a slug."""
_AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}", re.ASCII)
_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", re.ASCII)
_LETTERS = str.maketrans(
    dict(zip("ßæÆøØœŒđĐłŁþÞðÐı", "ss ae ae o o oe oe d d l l th th d d i".split(), strict=True))  # noqa: SIM905
)


def slug(text: str) -> str:
    """Return a text in lower case with hyphens, at most 48 characters, other letters as ASCII ones.

    A text without any letter that can be written in ASCII gets the first 12 hex digits of its SHA-256.
    """
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS)).encode("ascii", "ignore").decode().lower()
    made = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST].rstrip("-")
    return made or sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()[:12]


def filename(kind: str, name: str) -> str:
    """Return the name of the file of a memory: `<type>_<slug>.md`."""
    return f"{kind}_{slug(name)}.md"


def spellings(name: str) -> tuple[str, ...]:
    """Return the file names that a name may mean: as it is, with its ending, and with hyphens for underscores."""
    full = name if name.endswith(".md") else f"{name}.md"
    found = [full]
    kind, _, rest = full.partition("_")
    if kind in TYPES and rest:
        found += [f"{kind}_{rest.replace('_', '-')}", f"{kind}_{rest.replace('-', '_')}"]
    return tuple(dict.fromkeys(found))


def free_path(stem: str, exists: Callable[[str], bool]) -> str:
    """Return the path of a new Markdown file: `<stem>.md`, with a number from 2 on where that exists already."""
    path, number = f"{stem}.md", 1
    while exists(path):
        number += 1
        path = f"{stem}-{number}.md"
    return path


def fault_of(name: str) -> tuple[str, str] | None:
    """Return the rule and the reason for which a file name is refused, None where it may be written."""
    if name.casefold().startswith("_system") or name.casefold().startswith("_inbox"):
        return "system_namespace", "names that begin with _system or _inbox are memdeck's own"
    if not _FILE.fullmatch(name) or not name.endswith(".md") or ".." in name:
        return "unsafe_filename", "a file name is letters, digits, dots, hyphens and underscores, and ends in .md"
    if name.casefold() == INDEX.casefold():
        return "unsafe_filename", f"{INDEX} is the index, not a memory"
    return None


def is_agent(name: str) -> bool:
    """Return whether a name can be that of an agent: one safe path segment."""
    return _AGENT.fullmatch(name) is not None and ".." not in name


def check_agent(name: str) -> None:
    """Raise UsageError `memory.scope.agent_invalid` where a name cannot be that of an agent."""
    if not is_agent(name):
        raise UsageError(
            "memory.scope.agent_invalid",
            f"{name[:60]!r} cannot be the name of an agent",
            "letters, digits, dots, hyphens and underscores; a letter or digit first",
        )


def is_segment(name: str) -> bool:
    """Return whether a name can be that of a folder or file of a session."""
    return _SEGMENT.fullmatch(name) is not None and ".." not in name


def check_session(name: str) -> str:
    """Return the id of a session; UsageError `memory.validation` where it is not one safe path segment."""
    if not is_segment(name):
        raise UsageError("memory.validation", f"{name[:60]!r} cannot be the id of a session", field="session_id")
    return name


# -- the front matter ------------------------------------------------------------------------------------------------

KEYS = ("name", "description", "type", "scope", "agent", "agent_tier", "provenance")
_NEEDED = KEYS[:3]
PROVENANCE = ("source_actor", "source_sessions", "confidence", "superseded_by", "created_at", "updated_at")
MAX_TEXT = 500
"""The most characters of a name or a description."""
_PLAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9./_+-]|:(?=[A-Za-z0-9/])| (?=[A-Za-z0-9/(])|[,)('](?=[ A-Za-z0-9]))*")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_FENCE = re.compile(r"---[ \t]*")


class BadFile(Exception):
    """Raised for a file that is not a memory: the line (from 1), a stable code and a sentence."""

    def __init__(self, line: int, code: str, reason: str) -> None:
        super().__init__(reason)
        self.line, self.code, self.reason = line, code, reason


def read(data: bytes, root: Root) -> tuple[Header, str]:
    """Return the header of a memory and its body, stripped; BadFile for a file that is not a memory.

    The scope and agent given by the folder need not be repeated in the file, and must not be contradicted.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        raise BadFile(1, "memory.file.bom", "the file begins with a byte order mark")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadFile(data.count(b"\n", 0, error.start) + 1, "memory.file.encoding", "this is no UTF-8") from None
    text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    if not _FENCE.fullmatch(lines[0]):
        raise BadFile(1, "memory.file.front_missing", "the file has no front matter")
    end = next((number for number, line in enumerate(lines[1:], 1) if _FENCE.fullmatch(line)), None)
    if end is None:
        raise BadFile(1, "memory.file.front_open", "the front matter has no closing line `---`")
    values, places = _values(lines[: end + 1])
    return _header(values, places, root), "\n".join(lines[end + 1 :]).strip()


def body_of(data: bytes) -> str:
    """Return the body of a memory without a look at its header; empty for a file without front matter."""
    lines = iter(data.decode("utf-8", "replace").splitlines(keepends=True)[1:])
    for line in lines:
        if _FENCE.fullmatch(line.rstrip("\r\n")):
            break
    return "".join(lines).strip()


def _values(lines: list[str]) -> tuple[Mapping[str, object], Mapping[str, int]]:
    front = FrontMatter.read("\n".join(lines) + "\n")
    if front.problems:
        line, code, sentence = front.problems[0]
        raise BadFile(line + 1, f"memory.file.{code}", sentence)
    return front.data, {item.key: item.line + 1 for item in front.items}


def _header(values: Mapping[str, object], places: Mapping[str, int], root: Root) -> Header:
    def bad(key: str, reason: str) -> BadFile:
        return BadFile(places.get(key, 1), f"memory.file.{key if key in KEYS else 'key'}", reason)

    for key, value in values.items():
        if key not in KEYS:
            raise bad(key, f"the front matter has no key {key[:40]!r}")
        if key != "provenance" and value is not None and not isinstance(value, str):
            raise bad(key, f"{key} is no text")
    texts = {key: str(value) for key, value in values.items() if key != "provenance" and value is not None}
    for key in _NEEDED:
        if not texts.get(key, "").strip():
            raise bad(key, f"{key} is missing")
        if len(texts[key]) > MAX_TEXT:
            raise bad(key, f"{key} has more than {MAX_TEXT} characters")
    if texts["type"] not in TYPES:
        raise bad("type", f"type is {texts['type'][:40]!r}, not one of {', '.join(TYPES)}")
    for key, mine in (("scope", root.scope), ("agent", root.agent), ("agent_tier", root.tier)):
        if key in texts and texts[key] != (mine or ""):
            raise bad(key, f"{key} is {texts[key][:60]!r}, and the folder is that of {root.label}")
    source = values.get("provenance")
    why = "" if source in (None, "") else _provenance_fault(source)
    if why:
        raise bad("provenance", why)
    facts: Json = {key: value or None for key, value in source.items()} if isinstance(source, Mapping) else {}
    made = Provenance()._replace(**facts | {"source_sessions": tuple(facts.get("source_sessions") or ())})
    return Header(texts["name"], texts["description"], texts["type"], root.scope, root.agent, root.tier, made)


def _provenance_fault(value: object) -> str:
    """Return why a provenance is refused, empty where it is accepted."""
    if not isinstance(value, Mapping):
        return "provenance is no mapping"
    for key, inner in value.items():
        if key not in PROVENANCE:
            return f"provenance has no key {key[:40]!r}"
        if key == "source_sessions" and (not isinstance(inner, list) or not all(isinstance(one, str) for one in inner)):
            return "source_sessions is no list of texts"
        if key != "source_sessions" and not isinstance(inner, str):
            return f"{key} is no text"
    actor = value.get("source_actor") or None
    if actor not in (None, *ORIGINS):
        return f"source_actor is {actor[:40]!r}, not one of {', '.join(ORIGINS)}"
    return ""


def check_writable(header: Header) -> None:
    """Raise BadFile for a header that cannot be written, because a text of it is no line, or reading refuses it."""
    for key in KEYS[:-1]:
        if _CONTROL.search(getattr(header, key) or ""):
            raise BadFile(1, f"memory.file.{key}", f"{key} is no text on one line")
    root = Root(header.scope, header.agent, header.agent_tier, "", "", 0)
    read(text_of(header, "").encode(), root)


def text_of(header: Header, body: str) -> str:
    """Return the file of a memory; reading it gives the same header and body."""
    lines = ["---"]
    lines += [f"{key}: {_written(value)}" for key in KEYS[:-1] if (value := getattr(header, key))]
    inner: list[str] = []
    for key in PROVENANCE:
        value = getattr(header.provenance, key)
        if key == "source_sessions" and value:
            inner += ["  source_sessions:", *(f"    - {_written(one)}" for one in value)]
        elif value:
            inner.append(f"  {key}: {_written(value)}")
    lines += ["provenance:", *inner] if inner else []
    return "\n".join([*lines, "---", "", body.strip(), ""])


def _written(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
