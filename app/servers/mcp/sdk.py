"""The SDK without the parts that this server never uses.

The packages `mcp` and `mcp.server` also import the SDK's client, its other kind of server, OAuth and cryptography: a
fifth of the memory and of the time. Here they start as packages whose own code has not run yet. It runs when a name is
requested that only it defines.
"""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Any

PACKAGES = ("mcp", "mcp.server")
_running = threading.RLock()


def leave_out_unused() -> None:
    """Load less from now on, if nothing of the SDK is loaded yet."""
    for name in PACKAGES:
        begin_late(name)


def begin_late(name: str) -> None:
    """Register a package so that its own code runs when one of its names is used; nothing if it is already loaded."""
    spec = None if name in sys.modules else find_spec(name)
    if spec is None or spec.loader is None:
        return
    loader, package = spec.loader, module_from_spec(spec)

    def missing(asked: str) -> Any:
        if asked.startswith("__") and asked != "__all__":
            raise AttributeError(f"module {name!r} has no attribute {asked!r}")
        if find_spec(f"{name}.{asked}") is not None:
            return import_module(f"{name}.{asked}")
        with _running:
            if vars(package).get("__getattr__") is missing:
                del vars(package)["__getattr__"]
                try:
                    loader.exec_module(package)
                except BaseException:
                    vars(package)["__getattr__"] = missing
                    raise
        return getattr(package, asked)

    vars(package)["__getattr__"] = missing
    sys.modules[name] = package
    above, _, last = name.rpartition(".")
    if above:
        setattr(sys.modules[above], last, package)
