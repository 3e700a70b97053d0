"""The files of memories: their names, and their front matter, which is read strictly and written in one form; those of
a folder with its index `MEMORY.md`, which has one line for each memory, and hand-written lines below.
"""

from __future__ import annotations

import json
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from memory.base.problems import original_of
from memory.base.scan import why_not
from memory.curated.model import INDEX, ORIGINS, TYPES, Header, Invalid, Json, Memory, Provenance, Root
from memory.document.front_matter import FrontMatter
from memory.errors import MemdeckError, UsageError
from memory.storage import Store

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
        return "unsafe_filename", "a file name has only letters, digits, dots, hyphens and underscores, and ends in .md"
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
        raise BadFile(data.count(b"\n", 0, error.start) + 1, "memory.file.encoding", "this is not UTF-8") from None
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
            raise bad(key, f"{key} is not text")
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
        return "provenance is not a mapping"
    for key, inner in value.items():
        if key not in PROVENANCE:
            return f"provenance has no key {key[:40]!r}"
        if key == "source_sessions" and (not isinstance(inner, list) or not all(isinstance(one, str) for one in inner)):
            return "source_sessions is not a list of strings"
        if key != "source_sessions" and not isinstance(inner, str):
            return f"{key} is not text"
    actor = value.get("source_actor") or None
    if actor not in (None, *ORIGINS):
        return f"source_actor is {actor[:40]!r}, not one of {', '.join(ORIGINS)}"
    return ""


def check_writable(header: Header) -> None:
    """Raise BadFile for a header that cannot be written, because a text of it is no line, or reading refuses it."""
    for key in KEYS[:-1]:
        if _CONTROL.search(getattr(header, key) or ""):
            raise BadFile(1, f"memory.file.{key}", f"{key} is not text on one line")
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


# -- the files of a folder, and its index ----------------------------------------------------------------------------

INDEX_KIND = "curated"

_OURS = re.compile(r"- \[(?P<name>.*)\]\((?P<file>[A-Za-z0-9._-]+\.md)\)(?: (?:—|-) .*)?")


def index_line(name: str, filename: str, description: str) -> str:
    """Return the line of a memory in the index: `- [Name](file) — description`."""
    name = " ".join(name.split()).replace("[", "(").replace("]", ")")
    description = " ".join(description.split())
    return f"- [{name}]({filename})" + (f" — {description}" if description else "")


def index_lines(memories: Iterable[Memory]) -> dict[str, str]:
    """Return the index lines of some memories, by their file names."""
    return {one.filename: index_line(one.header.name, one.filename, one.header.description) for one in memories}


def suspicious_passages(text: str, own: Collection[str]) -> list[tuple[int, str]]:
    """Return the parts of an index that break the content scan, with their lines (from 0), but for the lines `own`.

    Those are lines; where only several together break it, all others are one part.
    """
    others = [(number, line) for number, line in enumerate(text.splitlines()) if line not in own]
    if not why_not(INDEX_KIND, INDEX, "\n".join(line for _, line in others)):
        return []
    bad = [(number, line) for number, line in others if why_not(INDEX_KIND, INDEX, line)]
    left = "\n".join(one[1] for one in others if one not in bad)
    return [*bad, (0, left)] if why_not(INDEX_KIND, INDEX, left) else bad


def hand_written(text: str, there: Collection[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the lines of an index that are not of the memories `there`, with their numbers (from 0).

    The last value is the file that such a line links to as if it were a memory, empty for another one.
    """
    for number, line in enumerate(text.splitlines()):
        found = _OURS.fullmatch(line)
        if line.strip() and (found is None or found["file"] not in there):
            yield number, line, "" if found is None else found["file"]


def strangers(store: Store, root: Root) -> list[str]:
    """Return the names in a folder of memories that nothing reads: other files than memories, and folders."""
    try:
        names = sorted(os.listdir(store.root / root.folder))
    except OSError:
        return []
    return [
        name
        for name in names
        if name[0] not in "._"
        and name != INDEX
        and (not is_memory_name(name) or os.path.isdir(store.root / root.folder / name))
    ]


def rendered(data: bytes, lines: Mapping[str, str], gone: Sequence[str] = ()) -> bytes:
    """Return the index with these lines at the top, and below them all lines of `data` that memdeck did not write.

    `lines` are those of the memories, by their file names. A line counts as memdeck's if it has its form and links to a
    listed memory or to one of the files `gone`. Any other line belongs to a person and stays byte for byte.
    """
    ours = {*lines, *gone}
    # `surrogateescape`: bytes that are not UTF-8 stay as they are.
    kept = []
    for text in data.decode("utf-8", "surrogateescape").split("\n"):
        found = _OURS.fullmatch(text.rstrip("\r"))
        if found is None or found["file"] not in ours:
            kept.append(text)
    below = "\n".join(kept).strip("\n")
    parts = ["\n".join(lines.values())] if lines else []
    if below.strip():
        parts.append(below)
    return ("\n\n".join(parts) + "\n").encode("utf-8", "surrogateescape") if parts else b""


def capped(text: str, max_lines: int, max_bytes: int) -> tuple[str, int]:
    """Return a text cut at a line to the limits, and how many lines are left out; a first line too long is cut too."""
    lines = text.splitlines()
    kept: list[str] = []
    size = 0
    for line in lines[:max_lines]:
        size += len(line.encode("utf-8", "surrogateescape")) + 1
        if size > max_bytes:
            break
        kept.append(line)
    if not kept and lines:
        cut = lines[0].encode("utf-8", "surrogateescape")[: max(max_bytes - 1, 0)].decode("utf-8", "ignore")
        return cut, len(lines) - 1
    return "\n".join(kept), len(lines) - len(kept)


LARGEST = 1024 * 1024
"""The largest file, in bytes, that is read as a memory."""


UNREADABLE = "memory.file.unreadable"
"""The code of a file that cannot be read: the next look tries again."""


_SLUG = re.compile(r"(?:(?!conflict)[a-z0-9_-])+\.md")
"""The names of most memories, which are no copies."""


class ListedFile(NamedTuple):
    """One file as the folder lists it, with the values that show whether it changed."""

    filename: str
    mtime_ns: int
    size: int
    inode: int


def seen_in(store: Store, root: Root) -> Iterator[ListedFile]:
    """Yield the files of a folder that may be memories: `*.md` except the index, names that begin with a dot or `_`,
    and the copies that syncing programs leave.

    Folders such as `_system` and `_inbox` are not entered.
    """
    try:
        entries = os.scandir(store.root / root.folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        listed = {entry.name: entry for entry in entries}
        for name, entry in listed.items():
            if not is_memory_name(name) or (_SLUG.fullmatch(name) is None and original_of(name, listed.__contains__)):
                continue
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if not stat.S_ISDIR(found.st_mode):
                yield ListedFile(name, found.st_mtime_ns, found.st_size, found.st_ino)


def is_memory_name(name: str) -> bool:
    """Return whether a file may be a memory by its name."""
    return name.endswith(".md") and name[0] not in "._" and name != INDEX and ".tmp-" not in name


def listed_names(store: Store, folder: str, kind: Callable[[int], bool], accepts: Callable[[str], object]) -> list[str]:
    """Return the accepted names in a folder, sorted; `kind` tests the mode of each, and links are not followed."""
    try:
        with os.scandir(store.root / folder) as entries:
            return sorted(
                one.name for one in entries if accepts(one.name) and kind(one.stat(follow_symlinks=False).st_mode)
            )
    except OSError:
        return []


def system_files(store: Store, root: Root) -> tuple[str, ...]:
    """Return the Markdown files of `_system`, as paths relative to the folder of memories."""
    top = store.root / root.folder
    found = []
    for folder, folders, files in os.walk(top / "_system"):
        folders.sort()
        found += [os.path.relpath(os.path.join(folder, name), top) for name in sorted(files) if name.endswith(".md")]
    return tuple(found)


def read_file(store: Store, root: Root, name: str) -> Memory | Invalid | None:
    """Return a file as a memory, or why it is not one; None where there is no such file."""
    path = f"{root.folder}/{name}"
    try:
        found = os.lstat(store.root / path)
        if stat.S_ISLNK(found.st_mode):
            return Invalid(root, name, 0, "memory.file.link", "the file is a link")
        if found.st_size > LARGEST:
            return Invalid(root, name, 0, "memory.file.size", f"the file is larger than {LARGEST // 1024} KB")
        stored = store.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Invalid(root, name, 0, UNREADABLE, error.strerror or "the file cannot be read")
    except MemdeckError as error:
        return Invalid(root, name, 0, UNREADABLE, error.message)
    finally:
        store.forget(path)  # Otherwise thousands of files would stay in memory.
    if not stored.exists:
        return None

    try:
        header, body = read(stored.data, root)
    except BadFile as bad:
        return Invalid(root, name, bad.line, bad.code, bad.reason)
    return Memory(root, name, header, body, digest(stored.data), found.st_mtime_ns)


def read_first(store: Store, root: Root, names: Iterable[str]) -> Memory | Invalid | None:
    """Return the first existing file of some names, as in `read_file`."""
    for name in names:
        found = read_file(store, root, name)
        if found is not None:
            return found
    return None


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes in hex."""
    return str(sha256(data).hexdigest())
