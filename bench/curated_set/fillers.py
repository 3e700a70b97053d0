"""Memories that answer no question of the set, made of parts that vary."""

from __future__ import annotations

import random
from collections.abc import Iterator

from bench.curated_set import Entry
from bench.words import FOREIGN_TITLES, PLACES, SENTENCES, THINGS, VERBS


def fillers(count: int, seed: int = 19) -> Iterator[Entry]:
    """Yield so many memories that answer no question, of parts that vary; the same for the same numbers."""
    chance = random.Random(seed)
    for number in range(count):
        thing, other = chance.sample(_THINGS, 2)
        verb, who, day = chance.choice(_VERBS), chance.choice(_PEOPLE), chance.choice(_DAYS)
        values = {
            "thing": thing,
            "other": other,
            "verb": verb,
            "low": verb.lower(),
            "who": who,
            "day": day,
            "n": chance.randint(2, 9000),
            "m": chance.randint(2, 90),
            "code": _code(chance),
        }
        title = chance.choice(_TITLES).format(**values)
        if chance.random() < 0.06:
            title = chance.choice(FOREIGN_TITLES)
        sentences = [chance.choice(_SAID).format(**values) for _ in range(chance.randint(1, 3))]
        sentences += chance.sample(SENTENCES, chance.randint(0, 2))
        chance.shuffle(sentences)
        place = chance.choices("gwaA", (4, 10, 1, 1))[0]
        kind = chance.choice(("user", "feedback") if place == "g" else ("project", "project", "reference"))
        about = chance.choice(_ABOUT).format(**values)
        days = min(chance.expovariate(1 / 90), 700)
        yield Entry(kind, place, days, f"{title} {number}", about, " ".join(sentences))


def _code(chance: random.Random) -> str:
    parts = ("api", "core", "edge", "sync", "price", "stock", "mail", "auth", "cart", "feed", "ledger", "image")
    first, second = chance.sample(parts, 2)
    return chance.choice(
        (
            f"{first}-{second}-{chance.randint(1, 40):02}",
            f"{first}_{second}",
            f"{first}{second.title()}",
            f"{first.upper()}-{chance.randint(100, 9999)}",
            f"{first}/{second}.py",
        )
    )


_VERBS = (*VERBS, "Check", "Own", "Release", "Rename", "Review", "Move", "Freeze", "Measure", "Ask about", "Clean up")
_THINGS = (
    *(f"{thing} {place}".strip() for thing in THINGS for place in PLACES[4:9]),
    "the checkout page",
    "stock of the warehouse",
    "the deploy of the catalogue",
    "invoices for Austria",
    "the release notes",
    "refunds over the counter",
    "the database replica",
    "the login of partners",
    "the nightly job",
    "parcel labels",
    "the search index",
    "the meeting room",
    "on-call handover",
    "the staging cluster",
    "prices of the outlet",
    "the mobile release",
    "returns from Poland",
    "the error budget of search",
    "the queue of emails",
    "the audit of suppliers",
    "keyboard shortcuts of the admin",
    "the vault of secrets",
    "the review of texts",
    "the office kitchen",
    "the dashboard of sales",
    "tests of the importer",
    "the cache of images",
    "the branch of the hotfix",
    "the certificate of the shop",
    "commit hooks",
    "the schedule of exports",
    "the time zone of reports",
    "the coverage report",
)
_PEOPLE = (
    "Ada",
    "Bruno",
    "Chidi",
    "Dana",
    "Emre",
    "Fatima",
    "Goran",
    "Hanna",
    "Ivo",
    "Jun",
    "Kaya",
    "Liam",
    "Mei",
    "Nadia",
    "Olu",
    "Petra",
    "Quentin",
    "Rosa",
    "Sven",
    "Tomasz",
    "Uma",
    "Viktor",
    "Wei",
    "Ximena",
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "March", "the summer", "Q3", "spring", "next year")
_TITLES = (
    "{verb} {thing}",
    "Notes on {thing}",
    "{who} about {thing}",
    "How we handle {thing}",
    "{thing}: decision",
    "{code}",
    "Why {thing} comes before {other}",
    "{who}'s rule for {thing}",
    "Limits of {code}",
    "Owner of {thing}",
    "{thing} on {day}",
)
_ABOUT = (
    "What to know about {thing}",
    "{who} decided this",
    "Rule since {day}",
    "Where {thing} is described",
    "About {code}",
    "How {thing} and {other} belong together",
    "The way we {low} {thing}",
    "Short note",
    "Learned from {other}",
)
_SAID = (
    "We {low} {thing} every {day}, {who} looks at it first.",
    "{who} asked that {thing} wait until {other} is done.",
    "The limit is {n} a minute; above it {code} answers with an error.",
    "It takes {m} minutes, {m} more when {other} is involved.",
    "Since {day} `{code}` is the place for this, not {other}.",
    "Never {low} {thing} without telling {who}.",
    "{thing} failed {m} times in {day}; the cause was {other}.",
    "Prefer {code} over a script of your own.",
    "The old way ({other}) is kept for {m} days and then removed.",
    "{who} and the team of {other} own this together.",
    "Ticket {n} has the details, `{code}` the code.",
    "When in doubt, ask {who} and write the answer here.",
    "Two approvals are needed, one of them from {who}.",
    "In {day} we will {low} {other} and come back to {thing}.",
    "Default is {m}, production uses {n}.",
)
