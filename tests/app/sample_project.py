"""Makes `app/demo/sample/project.json` by the real operations: the project state of the sample workspace.

`python -m tests.app.sample_project` writes it anew; a test compares. The sample is kept, for to make it takes a dozen
changes, which wait for the disk one after the other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.demo.siblings import BASE, ROOT, SAMPLE
from memory.state import bundles
from memory.state.analysis.analyse import analyse
from memory.state.imports.sources import add_source, sync
from memory.state.recall.recall import apply, preview, scope_of_recall
from memory.workspace import Workspace

FILES: Mapping[str, str] = {
    "README.md": """# Shop

A web shop that sells tea: a catalogue, a cart and a checkout, in Python over PostgreSQL.

## Tests

`python -m unittest` runs them; they need no database.
""",
    "AGENTS.md": """# Working on the shop

Small changes, one subject each. Every change of the checkout has a test with a declined card.
""",
    "pyproject.toml": """[project]
name = "shop"
version = "2.1.0"
description = "A web shop that sells tea: a catalogue, a cart and a checkout."
requires-python = ">=3.11"

[project.scripts]
shop = "shop.checkout:main"
""",
    "shop/__init__.py": '"""A web shop that sells tea."""\n',
    "shop/checkout.py": '''"""The checkout: takes a cart, charges a card, makes an order."""


def total(prices: list[int]) -> int:
    """Return the sum of a cart, in cents."""
    return sum(prices)


def main() -> None:
    """Print the total of an empty cart."""
    print(total([]))
''',
    "shop/pool.py": '"""The pool of connections to PostgreSQL."""\n\nSIZE = 40\n',
    "tests/__init__.py": "",
    "tests/test_checkout.py": '''"""The checkout."""

import unittest

from shop.checkout import total


class Checkout(unittest.TestCase):
    """What a cart costs."""

    def test_total(self) -> None:
        """Two prices are added."""
        self.assertEqual(total([350, 420]), 770)
''',
}
"""What the repository has beside its memory: enough to say what it is made of."""

SOURCE = "sessions"
"""Where the sessions of the sample's agent are, in the workspace."""

_SESSIONS: tuple[tuple[str, float, str, tuple[str, ...]], ...] = (
    (
        "pool-size",
        130,
        "The checkout is slow since the campaign began",
        (
            "p99 falls from 900 to 410 ms with twice the connections.",
            "DECISION: The pool holds 40 connections, twice the workers times ten",
            "GOTCHA: Pool runs dry without an error: a request waits thirty seconds and then answers 502",
            "NEXT: Warn when the pool is nearly empty: shop/pool.py",
            "PATH: shop/pool.py",
        ),
    ),
    (
        "declined-cards",
        29,
        "Test the checkout with a card that is declined",
        (
            "DECISION: A retry of a payment sends the idempotency key of the first try",
            "GOTCHA: A declined card empties the cart: the cart is cleared before the charge is answered",
            "NEXT: Clear the cart after the charge: shop/checkout.py",
            "VALIDATION: the unit tests pass, none of them charges a card",
            "PATH: shop/checkout.py",
        ),
    ),
    (
        "checkout-502",
        3,
        "Two of six workers answer 502",
        (
            "Both are still on the old image, with a pool of 20.",
            "GOTCHA: Pool runs dry without an error: workers on the old image have half of the connections",
            "NEXT: Roll the two old workers: docs of the deploy",
            "PATH: shop/pool.py",
        ),
    ),
    (
        "pool-warning",
        1.5,
        "Warn before the pool is empty",
        ("DONE: Warn when the pool is nearly empty", "DECISION: Fewer than four free connections are a warning"),
    ),
)
"""The sessions: name, hours ago, what was asked, what the agent said. The first two were recalled."""

_RECALLED = 2


def sample_project(scratch: Path) -> dict[str, str]:
    """Return the files of the repository and of its state by their paths, made in an empty folder; it is named ROOT."""
    _make(scratch, BASE)
    found = {
        str(path.relative_to(scratch)): path.read_text()
        for path in sorted(scratch.rglob("*"))
        if path.is_file() and ".memdeck" not in path.relative_to(scratch).parts
    }
    sources = ".agent-memory/sources.json"
    found[sources] = found[sources].replace(json.dumps(str(scratch))[1:-1], ROOT)
    return found


def _make(scratch: Path, now: datetime) -> None:
    workspace = Workspace(scratch, state_home=None, machine_zone=UTC)
    store = workspace.system("state").store
    who, first = "human", now - timedelta(days=12)
    _put(workspace, {path: text.encode() for path, text in FILES.items()}, first)
    bundles.init(store, analyse(scratch), actor=who, now=first)
    for number, (name, hours, asked, said) in enumerate(_SESSIONS):
        at = now - timedelta(hours=hours)
        _put(workspace, {f"{SOURCE}/{name}.jsonl": _session(at, asked, said)}, at)
        if not number:
            add_source(store, "claude-local", SOURCE, name="claude", home=None, actor=who, now=at)
        sync(store, ["claude"], home=None, actor=who, now=at)
        if number < _RECALLED:
            memory = store.memory()
            shown = preview(memory, scope_of_recall(memory.config))
            apply(store, shown, actor=who, now=at + timedelta(minutes=5))


def _put(workspace: Workspace, files: Mapping[str, bytes], now: datetime) -> None:
    with workspace.system("state").store.files.transaction("init", actor="human", now=now) as transaction:
        for path, data in files.items():
            transaction.write(path, data, base=None)
        transaction.commit("created the sample repository")


def _session(at: datetime, asked: str, said: tuple[str, ...]) -> bytes:
    """Return a session as Claude Code writes it."""
    time = f"{at:%Y-%m-%dT%H:%M:%S}.000Z"
    records = (
        {"type": "user", "timestamp": time, "message": {"role": "user", "content": asked}},
        {
            "type": "assistant",
            "timestamp": time,
            "message": {"role": "assistant", "content": [{"type": "text", "text": "\n".join(said)}]},
        },
    )
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        (SAMPLE / "project.json").write_text(json.dumps(sample_project(Path(folder)), indent=1) + "\n")
