"""Search over everything: answers warm and cold, building, one edit and size, against floors on the same text."""

from __future__ import annotations

import mmap
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.measure import Case, Unavailable
from bench.places import NOW, Places, memdeck

if TYPE_CHECKING:
    from memory.search.searcher import Searcher
    from memory.workspace import Workspace

WORDS = {"rare": "d365wren", "common": "deploy", "nothing": "xyzzyplugh"}
"""What is looked for; the rare word is put into one journal entry of the copy that is searched."""
QUESTIONS = {
    "a question": "how do we deploy the staging cache at night?",
    "typos": "kuberntes deplyoment latncy",
    "one absent word": "redis latency xyzzyplugh",
}
"""What nothing or little holds all words of."""
LIMIT = 20


class Searched:
    """A copy of a workspace with one rare word in it, its text in the forms that the floors search, and its index."""

    def __init__(self, places: Places, size: str) -> None:
        """Nothing is made before the first case runs."""
        self._places = places
        self._size = size
        self._root: Path | None = None
        self._workspace: Workspace | None = None
        self._searcher: Searcher | None = None
        self._joined = ""
        self._one: Path | None = None
        self._tables: dict[str, sqlite3.Connection] = {}
        self.turns = 0

    @property
    def root(self) -> Path:
        """The copy."""
        if self._root is None:
            self._root = self._places.copy(self._size)
            path = self.memory / "journal.md"
            text = path.read_text(encoding="utf-8")
            middle = text.index("\n### ", len(text) // 2)
            end = text.index("\n", middle + 1)
            path.write_text(f"{text[:end]}\n- {WORDS['rare']}{text[end:]}", encoding="utf-8")
        return self._root

    @property
    def memory(self) -> Path:
        """Its memory folder."""
        return self._places.memory(self.root if self._root is None else self._root)

    @property
    def text(self) -> str:
        """The text of all files as one string."""
        if not self._joined:
            self._joined = "\n".join(path.read_text(encoding="utf-8") for path in sorted(self.memory.glob("*.md")))
        return self._joined

    @property
    def one(self) -> Path:
        """The text of all files as one file."""
        if self._one is None:
            self._one = self._places.folder / f"search-{self._size}.md"
            self._one.write_text(self.text, encoding="utf-8")
        return self._one

    @property
    def home(self) -> Path:
        """Where memdeck keeps what is not in the workspace; the same as its processes use."""
        return Path(self._places.environment()["XDG_STATE_HOME"])

    @property
    def workspace(self) -> Workspace:
        """The copy, opened."""
        if self._workspace is None:
            from memory.workspace import Workspace

            self._workspace = Workspace.open(self.root, state_home=self.home)
        return self._workspace

    @property
    def searcher(self) -> Searcher:
        """Its search, with an index that is up to date."""
        if self._searcher is None:
            from memory.systems import searcher_of

            self._searcher = searcher_of(self.workspace)
            if not self._searcher.update():
                raise Unavailable("no index can be kept here")
        return self._searcher

    def records(self) -> list[tuple[str, str]]:
        """Title and text of everything that can be found."""
        from memory.systems import records_of_all

        return [(one.title, one.text.encode("utf-8", "replace").decode()) for one in records_of_all(self.workspace)]

    def table(self, tokenizer: str) -> sqlite3.Connection:
        """A plain FTS5 table of all records in memory."""
        if tokenizer not in self._tables:
            self._tables[tokenizer] = build(tokenizer, self.records())
        return self._tables[tokenizer]


def build(tokenizer: str, records: list[tuple[str, str]]) -> sqlite3.Connection:
    """Return a plain FTS5 table in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5(title, text, tokenize='{tokenizer}')")
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO t VALUES (?, ?)", records)
    connection.execute("COMMIT")
    return connection


def search_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield the cases for one size."""
    place = Searched(places, size)
    for name, word in WORDS.items():
        yield from _asking(places, place, name, word)
    for name, text in QUESTIONS.items():
        words = " OR ".join(re.findall(r"\w+", text))
        plain = f"FTS5 unicode61, OR, top 20 by bm25 · {name}"
        yield Case(
            plain,
            lambda words=words: _bm25(place.table("unicode61"), words),  # type: ignore[misc]
            lambda: place.table("unicode61"),
        )
        yield Case(
            f"memdeck, ranked with snippets · {name}",
            lambda text=text: _ask(place.searcher, text),  # type: ignore[misc]
            lambda: place.searcher,
            plain,
        )
    yield from _keeping(place)


def _asking(places: Places, place: Searched, name: str, word: str) -> Iterator[Case]:
    pattern = word.encode()
    ready = f"FTS5 unicode61, top 20 by bm25 · {name}"
    yield Case(f"memmem over the file · {name}", lambda: _memmem(place.one, pattern), lambda: place.one)
    yield Case(f"str.find over one string · {name}", lambda: _find(place.text, word), lambda: place.text)
    yield Case(ready, lambda: _bm25(place.table("unicode61"), word), lambda: place.table("unicode61"))
    yield Case(
        f"memdeck, ranked with snippets · {name}",
        lambda: _ask(place.searcher, word),
        lambda: place.searcher,
        f"memmem over the file · {name}",
    )
    grep = f"ripgrep, process · {name}"
    yield Case(grep, lambda: _ripgrep(places, place, word))
    yield Case(
        f"memdeck search, process · {name}",
        lambda: places.run([memdeck(), "search", word, "-w", place.root, "-o", "json", "--now", NOW.isoformat()]),
        lambda: place.searcher,
        grep,
    )


def _keeping(place: Searched) -> Iterator[Case]:
    plain = "FTS5 unicode61 in memory, build"
    yield Case(plain, lambda: build("unicode61", place.records()))
    yield Case("memdeck index, build from files", lambda: _build(place), compared_with=plain)
    yield Case("memdeck, first answer while building", lambda: _first(place), compared_with=plain)
    yield Case("memdeck index, one journal entry added", lambda: _edit(place), lambda: place.searcher)
    yield Case("memdeck index, size", lambda: _size(place), lambda: place.searcher)


def _memmem(path: Path, pattern: bytes) -> int:
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return _count(data.find, pattern)


def _find(text: str, word: str) -> int:
    return _count(text.find, word)


def _count(find: Callable[[Any, int], int], what: Any) -> int:
    count, at = 0, find(what, 0)
    while at >= 0:
        count += 1
        at = find(what, at + 1)
    return count


def _bm25(connection: sqlite3.Connection, word: str) -> list[Any]:
    return connection.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 20", (word,)).fetchall()


def _ripgrep(places: Places, place: Searched, word: str) -> None:
    if shutil.which("rg") is None:
        raise Unavailable("ripgrep is not installed")
    places.run(["rg", "--no-config", "-n", "-i", word, place.memory], codes=(0, 1))


def _query(word: str) -> Any:
    from memory.search.query import read_query

    return read_query(word, lambda _: None)


def _ask(searcher: Searcher, word: str) -> None:
    if searcher.ask(_query(word), LIMIT) is None:
        raise Unavailable("the index did not answer")


def _fresh(place: Searched) -> Searcher:
    from memory.search.searcher import Searcher
    from memory.storage.own_folders import StateFolder
    from memory.workspace import Workspace

    place.turns += 1
    home = place.home.parent / f"state-{place.turns}"
    workspace = Workspace.open(place.root, state_home=home)
    return Searcher(StateFolder(home, place.root), lambda: workspace.systems())


def _build(place: Searched) -> None:
    searcher = _fresh(place)
    if not searcher.update():
        raise Unavailable("no index can be kept here")
    searcher.close()


def _first(place: Searched) -> dict[str, float]:
    """Stop at the first find of the common word, which then is answered from a part of the index."""
    searcher = _fresh(place)
    start = time.perf_counter()

    def go_on() -> bool:
        answer = searcher.ask(_query(WORDS["common"]), LIMIT)
        return answer is None or not answer.hits

    searcher.update(go_on)
    seconds = time.perf_counter() - start
    searcher.close()
    return {"answered": seconds}


def _edit(place: Searched) -> dict[str, float]:
    """Add an entry as the application does, look at the files, and take the time of the index alone."""
    from memory.files.journal.edits import add_entry

    place.turns += 1
    workspace, title = place.workspace, f"Benchmark turn {place.turns}"
    workspace.change("add", lambda now: add_entry(now, title, ["written"], now=NOW), actor="bench", now=NOW)
    # Versions of files that were written a moment ago are not relied on, and the files are read again.
    time.sleep(0.05)
    # The pane shows the newest entry with its ref before the index hears of it.
    _ = workspace.snapshot().journal.entries(limit=1)[0].ref
    start = time.perf_counter()
    place.searcher.update()
    seconds = time.perf_counter() - start
    if place.searcher.coverage() < 1:
        raise Unavailable("the index is not up to date")
    return {"indexed": seconds}


def _size(place: Searched) -> dict[str, float]:
    text = sum(path.stat().st_size for path in place.memory.glob("*.md"))
    index = sum(path.stat().st_size for path in place.workspace.state.folder.path.glob("search.sqlite*"))
    return {"index rss": index / 2**20, "text rss": text / 2**20}
