"""Hints about knowledge: what is said twice, and what must not be called the same."""

from __future__ import annotations

from memory.document import parse
from memory.files.knowledge.model import Knowledge
from memory.files.knowledge.twins import near_twins


def knowledge(*bullets: str, section: str = "Facts") -> Knowledge:
    """Knowledge of one section."""
    text = f"## {section}\n\n" + "".join(f"- {bullet}\n" for bullet in bullets)
    return Knowledge("knowledge.md", parse(text.encode()))


def twice(*bullets: str) -> dict[str, list[str]]:
    """The texts of items that are said twice, and those of the others."""
    found = knowledge(*bullets)
    twins = near_twins(found)
    return {item.text: [twin.item.text for twin in twins[item.ref]] for item in found.items if item.ref in twins}


def test_the_same_in_other_words_order_and_marks() -> None:
    """Case, marks, order and small words do not matter; a word more or less does not either in a long line."""
    assert twice(
        "Never deploy on Fridays after 14:00",
        "on fridays never deploy after 14.00!",
        "The database backup runs daily at night on the second replica",
        "Database backup runs daily at night on second replica, always",
        "Hosting is elsewhere and costs little",
    ) == {
        "Never deploy on Fridays after 14:00": ["on fridays never deploy after 14.00!"],
        "on fridays never deploy after 14.00!": ["Never deploy on Fridays after 14:00"],
        "The database backup runs daily at night on the second replica": [
            "Database backup runs daily at night on second replica, always"
        ],
        "Database backup runs daily at night on second replica, always": [
            "The database backup runs daily at night on the second replica"
        ],
    }


def test_numbers_and_negations_must_agree() -> None:
    """Another port, another version and a `not` are other statements, however many words are the same."""
    assert not twice(
        "The backend of the shop listens on port 8080",
        "The backend of the shop listens on port 8081",
        "Deploy the shop on Friday evening",
        "Never deploy the shop on Friday evening",
        "Do deploy to staging without asking Bob first",
        "Do deploy to staging asking Bob first",
    )


def test_short_items_are_the_same_only_word_by_word() -> None:
    """Two words in another order may mean something else."""
    assert twice("CMS: Contentful", "cms contentful", "Contentful CMS") == {
        "CMS: Contentful": ["cms contentful"],
        "cms contentful": ["CMS: Contentful"],
    }


def test_chinese_is_compared_by_pairs() -> None:
    """There are no spaces to tell words by."""
    assert len(twice("结账页面的中文翻译已经完成", "结账页面的中文翻译已完成", "另外一件完全不同的事情")) == 2
