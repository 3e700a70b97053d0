"""Questions: modes, scopes, scores, citations, and not enough evidence."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memory.errors import UsageError
from memory.state import operations
from memory.state.files.model import ARCHIVE
from memory.state.query import MODES, NOT_ENOUGH, QueryHit, QueryItem, ask, items_of, mode_of, rank, words_of
from memory.state.retention import prune

from .states import ACTOR, NOW, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return a repository that knows something about its cache."""
    found = Repository(tmp_path)
    found.imported(
        "one",
        "DECISION: Use SQLite for the cache, for two processes read it",
        "GOTCHA: Cache lock: two writers block each other",
        "NEXT: Write cache tests: begin in shop",
    )
    found.recall()
    return found


def test_an_answer_cites_its_evidence(repository: Repository) -> None:
    """The answer holds the line that answers, and each citation its id, section and projection."""
    found = ask(repository.memory, "Why do we use SQLite for the cache?", repository.at)
    assert found.enough
    assert "Use SQLite for the cache, for two processes read it" in found.answer
    best = next(hit for hit in found.json()["citations"] if hit["sourceId"] == "current-focus")
    assert best["pathOrSection"] == "bundle.currentFocus"
    assert best["projectionPath"] == "docs/agent-memory/current-focus.md"
    assert len(found.hits) <= 8


def test_lines_of_an_answer_are_joined_without_their_stops(repository: Repository) -> None:
    """Where an item is quoted with more than one line, a full stop before the semicolon goes."""
    repository.imported("stops", "DECISION: The cellar is locked.", "DECISION: The attic is locked.")
    repository.recall()
    answer = ask(repository.memory, "What was said: is the cellar or the attic locked?", repository.at).answer
    assert "The cellar is locked; The attic is locked." in answer
    assert ".;" not in answer


@pytest.mark.parametrize("question", ["What is the airspeed of an unladen swallow?", "zebra quantum"])
@pytest.mark.parametrize("mode", MODES)
def test_too_little_evidence_is_said(repository: Repository, question: str, mode: str) -> None:
    """Where nothing matches two words of the question, the answer says that, with at most two citations."""
    found = ask(repository.memory, question, repository.at, mode=mode)
    assert (found.enough, found.answer) == (False, NOT_ENOUGH)
    assert len(found.hits) <= 2


@pytest.mark.parametrize(
    ("question", "mode"),
    [
        ("what should we do next?", "next"),
        ("Any todo about the cache", "next"),
        ("what gotchas are there", "traps"),
        ("What breaks the cache", "traps"),
        ("what changed since yesterday", "changes"),
        ("What's new", "changes"),
        ("What is next?", "next"),
        ("what's next", "next"),
        ("Why SQLite", "answer"),
        ("nextstep of the changeset", "answer"),
        ("next steps and gotchas and what changed", "next"),
    ],
)
def test_the_words_of_a_question_say_its_mode(question: str, mode: str) -> None:
    """Next comes before traps, traps before changes; anything else is an answer."""
    assert mode_of(question) == mode


def test_a_question_for_next_steps_is_answered_by_one(repository: Repository) -> None:
    """What asks for the next thing as such is no lack of evidence."""
    found = ask(repository.memory, "what should I do next", repository.at)
    assert found.enough
    assert found.hits[0].item.category in ("next-step", "suggested-action")
    first = ask(repository.memory, "what is next", repository.at).answer.split("\n")[0]
    assert " 0 of " not in found.why
    assert "Not recorded" not in first
    assert first.endswith(("[next-step-1]", "[suggested-action-1]")), "an event that says next is no next step"
    assert "Write cache tests" in ask(repository.memory, "which cache tests are next steps", repository.at).answer


def test_a_question_for_traps_is_answered_by_gotchas(repository: Repository) -> None:
    """In the mode of traps the gotcha comes first."""
    found = ask(repository.memory, "gotchas of the cache lock", repository.at)
    assert found.hits[0].item.place == "bundle.gotchas.Cache lock"


def test_scopes(repository: Repository) -> None:
    """State is the bundle and its newest checkpoints, history the events, all is both."""
    kinds = {
        scope: {hit.item.kind for hit in ask(repository.memory, "SQLite cache", repository.at, scope=scope).hits}
        for scope in ("state", "history", "all")
    }
    assert "event" not in kinds["state"]
    assert kinds["history"] == {"event"}


def test_an_older_checkpoint_can_be_cited(repository: Repository) -> None:
    """What an older checkpoint says is found, when the bundle says it no more."""
    focus = repository.memory.bundle["currentFocus"]
    changed = {**focus, "currentState": ["Nothing of note"]}
    operations.edit(repository.store, "current-focus", changed, actor=ACTOR, now=repository.later())
    found = ask(repository.memory, "SQLite processes", repository.at, scope="state")
    assert "chk-000002" in {hit.item.id for hit in found.hits if hit.words}


def test_the_archive_is_never_asked(repository: Repository) -> None:
    """What retention archived answers no question."""
    repository.later(days=100)
    (batch,) = prune(repository.store, actor=ACTOR, now=repository.at).archived
    assert "SQLite" in repository.path(f"{batch}/events.jsonl").read_text()
    assert batch.startswith(ARCHIVE)
    hits = ask(repository.memory, "SQLite processes read", repository.at, scope="history").hits
    assert "evt-000002" not in {hit.item.id for hit in hits}


def test_scores_are_those_of_the_specification() -> None:
    """Four a word, two more in the summary, the weight of the source, recency, checkpoint, category and tag."""
    recent = NOW.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def score(item: QueryItem, mode: str, now: object = NOW) -> int:
        return rank([item], ("cache", "lock"), mode, now)[0].score  # type: ignore[arg-type]

    gotcha = QueryItem("gotcha-1", "bundle", "gotcha", "p", "f", "Cache lock", "text", recent, ("traps",))
    assert score(gotcha, "answer") == 2 * 4 + 2 * 2 + 40 + 18
    assert score(gotcha, "traps") == 2 * 4 + 2 * 2 + 28 + 18 + 24 + 12
    assert score(gotcha, "answer", NOW + timedelta(days=5)) == 2 * 4 + 2 * 2 + 40 + 12
    assert score(gotcha, "answer", NOW + timedelta(days=20)) == 2 * 4 + 2 * 2 + 40 + 6
    assert score(gotcha, "answer", NOW + timedelta(days=31)) == 2 * 4 + 2 * 2 + 40
    checkpoint = QueryItem("chk-1", "checkpoint", "checkpoint", "p", "f", "s", "the cache", recent, ("changes",))
    assert score(checkpoint, "changes") == 4 + 44 + 18 + 8 + 20 + 12
    event = QueryItem("evt-1", "event", "event", "p", "f", "s", "the cache", recent, ("changes",))
    assert score(event, "changes") == 4 + 36 + 18 + 14 + 12
    assert score(event, "next") == 4 + 22 + 18 - 6
    hinting = QueryItem("evt-1", "event", "event", "p", "f", "s", "the cache", recent, ("changes", "next"))
    assert score(hinting, "next") == 4 + 22 + 18 + 14 + 12


def test_only_whole_words_count() -> None:
    """A word that another one begins with, or its plural, is another word."""
    item = QueryItem("gotcha-1", "bundle", "gotcha", "p", "f", "The caches", "locking", None, ("traps",))
    (hit,) = rank([item], ("the", "cache", "caches", "lock"), "answer", NOW)
    assert hit.words == ("the", "caches")
    assert hit.score == 2 * 4 + 2 * 2 + 40


def test_the_best_item_says_whether_there_is_enough(repository: Repository) -> None:
    """Two words in an item further down are no evidence where the best one holds fewer."""
    focus = repository.memory.bundle["currentFocus"]
    changed = {**focus, "currentState": [], "summary": "Nothing of note."}
    operations.edit(repository.store, "current-focus", changed, actor=ACTOR, now=repository.later())
    repository.later(days=8)
    repository.update()
    found = ask(repository.memory, "SQLite processes", repository.at)
    assert len(found.hits[0].words) < 2
    assert any(len(hit.words) == 2 for hit in rank_all(repository, "SQLite processes"))
    assert not found.enough
    assert "the best item" in found.why


def rank_all(repository: Repository, question: str) -> list[QueryHit]:
    """Return every item with its score."""
    every = items_of(repository.memory, "all")
    return [hit for item in every for hit in rank([item], words_of(question), "answer", repository.at)]


def test_words_of_a_question() -> None:
    """Words are in lower case, two characters or longer, each once; every one of them counts."""
    assert words_of("Why is THE cache a cache, x?") == ("why", "is", "the", "cache")
    assert words_of("what is it") == ("what", "is", "it")
    assert words_of("缓存 lock") == ("缓存", "lock")


def test_wrong_calls_are_refused(repository: Repository) -> None:
    """No word, an unknown mode and an unknown scope have codes of their own."""
    for question, more, code in (
        ("?!", {}, "state.query.empty"),
        ("cache", {"mode": "wild"}, "state.query.mode"),
        ("cache", {"scope": "archive"}, "state.query.scope"),
    ):
        with pytest.raises(UsageError) as caught:
            ask(repository.memory, question, repository.at, **more)
        assert caught.value.code == code
