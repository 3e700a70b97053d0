"""What agents are told: what looks like a tag is escaped, and usual text stays as it is."""

from __future__ import annotations

from memory.base.scan import fenced


def test_a_fence_is_cut_after_a_line() -> None:
    """It stays within its room, and its hash is that of what is left."""
    whole = fenced("one line\n" * 100, "curated")
    cut = fenced("one line\n" * 100, "curated", 600)
    assert len(cut) <= 600 < len(whole)
    assert cut.endswith("</memdeck-memory>\n")
    assert "(the rest is left out)" in cut
    assert fenced("  \n", "curated") == ""
