"""Where paths lead is what the kernel says, for whatever links lie in a workspace."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from memory.trust.pins.resolve import Resolver

PARTS = ["a", "b", "c", "d", "..", "..", ".", "", "shop", "top", "beside", "x"]


def _target(chance: random.Random, top: Path) -> str:
    path = "/".join(chance.choices(PARTS, k=chance.randint(1, 5)))
    head = chance.choice(["", "", "", "", f"{top}/shop/", f"{top}/", f"{top}/named/", "../shop/", "../../top/"])
    return f"{head}{path}" or "a"


def _plant(chance: random.Random, top: Path) -> Path:
    """Make a workspace of folders, files and links, most of which lead somewhere."""
    root = top / "shop"
    folders = [root]
    (top / "beside").mkdir(parents=True)
    (top / "beside" / "a").write_text("")
    root.mkdir()
    (top / "named").symlink_to("shop")
    for _ in range(14):
        place = chance.choice(folders) / chance.choice("abcdx")
        if os.path.lexists(place):
            continue
        kind = chance.randrange(5)
        if kind == 0:
            place.mkdir()
            folders.append(place)
        elif kind == 1:
            place.write_text("")
        else:
            place.symlink_to(_target(chance, top))
    return root


def test_a_path_leads_where_the_kernel_says(tmp_path: Path) -> None:
    """Inside it is the same file; what the kernel finds outside is never taken for something inside, or for nothing."""
    kinds = Counter(kind for seed in range(60) for kind in _compared(random.Random(seed), tmp_path / str(seed) / "top"))
    assert min(kinds[kind] for kind in ("file", "folder", "nothing", "outside", "elsewhere")) > 50, kinds


def _compared(chance: random.Random, top: Path) -> Iterator[str]:
    root = _plant(chance, top)
    resolver = Resolver(root)
    for _ in range(150):
        path = "/".join(chance.choices(PARTS, k=chance.randint(1, 6))).strip("/") or "a"
        led = resolver.resolve(path)
        yield led.kind
        try:
            real = os.path.realpath(root / path, strict=True)
            os.stat(root / path)
        except OSError:
            assert led.kind in ("nothing", "outside", "elsewhere"), path
            continue
        inside = real == str(root) or real.startswith(f"{root}/")
        if led.kind in ("file", "folder"):
            assert os.path.join(str(root), led.path).rstrip("/") == real, path
            continue
        # It refuses what comes back over something that lies outside, too.
        assert led.kind == ("outside" if led.links else "elsewhere"), path
        passed = led.path + "".join(target for _, target in led.links)
        assert not inside or "named" in passed or "beside" in passed, path
