"""Search: what each kind of question finds first, what its score means, and that it follows every edit."""

from __future__ import annotations

import shutil

import pytest

from tests.contract.place import Place

JOURNAL = ".aiter/memory/journal.md"
ENTRIES = {
    "Deploy window moved": (
        "2026-02-20",
        "We deploy to staging on Tuesdays; Müller approves. Nobody deploys on Fridays.",
    ),
    "Login broke": ("2026-02-18", "getUserToken returned null after the upgrade of auth-svc-v2."),
    "Kubernetes upgrade": ("2026-02-11", "Upgraded k8s to 1.33, fluentd needed a new certificate."),
    "Deploys on Mondays": ("2025-06-02", "We deploy to staging on Mondays."),
    "Zürich office": ("2026-01-05", "The load balancer of Zürich is named bug-7731."),
    "数据库备份": ("2026-01-04", "数据库每天凌晨三点备份到对象存储。"),
    "バックアップ": ("2026-01-03", "本番環境を変更する前に承認が必要です。"),
    "Retro": ("2026-01-02", "Small things: coffee, chairs, and a longer lunch."),
}


@pytest.fixture
def journal(workspace: Place) -> Place:
    """A workspace with a journal of a few days."""
    days = [f"## {day}\n\n### 10:00 - {title}\n- {text}\n" for title, (day, text) in ENTRIES.items()]
    workspace.write(JOURNAL, "# Journal\n\n" + "\n".join(days))
    return workspace


def titles(place: Place, *words: str) -> list[str]:
    """Return the titles of what a search finds, the best first."""
    return [one["title"] for one in place("search", "-o", "json", *words).data["results"]]


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("deployed staging", "Deploy window moved"),  # another form, and the newer of two that say the same
        ("on which day do we deploy to staging?", "Deploy window moved"),
        ("Why is the login broken", "Login broke"),  # an irregular form
        ("user token", "Login broke"),  # parts of a name
        ("get_user_token", "Login broke"),
        ("authsvc", "Login broke"),  # two words written as one
        ("kubernetes certs", "Kubernetes upgrade"),  # abbreviations
        ("kuberntes upgrde", "Kubernetes upgrade"),  # typos
        ("zurich loadbalancer", "Zürich office"),
        ("bug7731", "Zürich office"),
        ("mueller approves", "Deploy window moved"),
        ("什么时候备份数据库", "数据库备份"),
        ("本番環境の変更", "バックアップ"),
    ],
)
def test_what_is_found_first(journal: Place, question: str, title: str) -> None:
    """Forms, names, typos, spellings and unspaced writing; a question can be asked as it is."""
    assert titles(journal, question)[0] == title


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"to staging" -mondays', ["Deploy window moved"]),
        ("deploy before:2026-01-01", ["Deploys on Mondays"]),
        ("after:2026-02-15", ["Deploy window moved", "Login broke"]),
        ("in:tasks deploy", []),
        ("xyzzyplugh", []),
        ("coffee xyzzyplugh", ["Retro"]),
    ],
)
def test_filters_and_what_is_nowhere(journal: Place, query: str, found: list[str]) -> None:
    """Quotes, a minus and filters are strict; a word that is in no entry finds nothing by itself."""
    assert titles(journal, "--", query) == found


def test_a_score_is_the_share_of_what_was_asked_for(journal: Place) -> None:
    """Everything is near 1, half of it about a half; entries with all words come first, and `why` names the places."""
    (whole, *_) = journal.json("search", "coffee chairs")["results"]
    (half, *_) = journal.json("search", "coffee xyzzyplugh")["results"]
    assert whole["score"] > 0.85
    assert whole["fits_all"]
    assert 0.2 < half["score"] < 0.6
    assert not half["fits_all"]
    assert whole["why"] == [{"term": "coffee", "in": "text"}, {"term": "chairs", "in": "text"}]
    assert "coffee" in whole["snippet"]


def test_a_guess_is_said(journal: Place) -> None:
    """Where a word is in no entry, the words that were taken for it are named on stderr."""
    assert "no entry has 'fluentdd'; similar: fluentd" in journal("search", "fluentdd").err


def test_every_edit_is_found(journal: Place) -> None:
    """By memdeck and by another program, lines above included; what is gone is not found; refs and lines are true."""
    assert titles(journal, "zebra") == []
    assert journal("journal", "add", "Zebra seen", "--line", "stripes").code == 0
    (found,) = journal.json("search", "zebra")["results"]
    assert journal.json("journal", "show", found["ref"])["entry"]["title"] == "Zebra seen"
    text = journal.read(JOURNAL).decode()
    journal.write(JOURNAL, text.replace("# Journal\n", "# Journal\n\nMore lines above.\n").replace("Zebra", "Giraffe"))
    assert titles(journal, "zebra") == []
    (found,) = journal.json("search", "giraffe")["results"]
    assert "Giraffe" in journal.read(JOURNAL).decode().splitlines()[found["line"] - 1]
    assert journal("undo").code in (0, 4)


def test_the_index_may_go_at_any_time(journal: Place) -> None:
    """Removed, torn, or with nowhere to be: the answers stay the same, and stderr is empty."""
    expected = journal.json("search", "deploy")
    (index,) = (journal.top / "state").rglob("search.sqlite")
    for harm in (index.unlink, lambda: index.write_bytes(b"torn" * 999)):
        harm()
        answer = journal("search", "deploy", "-o", "json")
        assert (answer.data, answer.err) == (expected, "")
    shutil.rmtree(journal.top / "state")
    (journal.top / "state").write_text("no folder")
    assert journal.json("search", "deploy") == expected


def test_agents_find_the_same(journal: Place) -> None:
    """The MCP tool gives the refs of the command line in its order."""
    refs = [one["ref"] for one in journal.json("search", "deploy staging")["results"]]
    (answer,) = journal.mcp(("search", {"query": "deploy staging", "limit": 20}))
    assert [one["ref"] for one in answer["results"]] == refs


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What did we do about the certificates in May 2025?", "Certificates, spring"),
        ("certificates on 2025-11-03", "Certificates, autumn"),
        ("certificates, 3 November", "Certificates, autumn"),
        ("which certificates were there in 2024", "Certificates, before"),
    ],
)
def test_a_question_that_names_days_finds_those(workspace: Place, question: str, title: str) -> None:
    """Of entries that say the same those of the days that a question names come first."""
    days = {
        "Certificates, autumn": "2025-11-03",
        "Certificates, spring": "2025-05-12",
        "Certificates, before": "2024-02-01",
    }
    entries = [f"## {day}\n\n### 10:00 - {title}\n- The certificates were renewed.\n" for title, day in days.items()]
    workspace.write(JOURNAL, "# Journal\n\n" + "\n".join(entries))
    assert titles(workspace, question)[0] == title


def test_a_question_that_names_days_meets_an_entry_of_the_last_day_there_is(workspace: Place) -> None:
    """The week in which people write about a day does not reach beyond the calendar."""
    workspace.write(JOURNAL, "# Journal\n\n## 9999-12-31\n\n### 10:00 - Fireworks\n- The end of the calendar.\n")
    for question in ("fireworks in December", "fireworks 31 December", "fireworks in 2022"):
        assert titles(workspace, question) == ["Fireworks"]


def test_one_passage_counts_more_than_words_far_apart(workspace: Place) -> None:
    """Of two long entries with all words of a question the one that has them in one passage comes first."""
    filler = [f"- On day {number} there was a meeting about item {number}.\n" for number in range(60)]
    apart = ["- The pump was loud.\n", *filler[:30], "- The valve came late.\n", *filler[30:], "- Ada paid.\n"]
    together = [*filler[:40], "- Ada changed the valve of the pump.\n", *filler[40:]]
    entries = [("2026-02-20", "Long day", apart), ("2026-02-01", "Other day", together)]
    text = "\n".join(f"## {day}\n\n### 10:00 - {title}\n{''.join(lines)}" for day, title, lines in entries)
    workspace.write(JOURNAL, "# Journal\n\n" + text)
    assert titles(workspace, "Did Ada change the valve of the pump?")[0] == "Other day"


def test_a_kind_is_not_a_folder_of_that_name(journal: Place) -> None:
    """`memory` is what clients remember, and not every file below `.aiter/memory`; another word is part of a name."""
    assert titles(journal, "deploy", "--in", "memory") == []
    assert titles(journal, "deploy", "--in", "journal") == titles(journal, "deploy", "--in", "journal.md") != []
