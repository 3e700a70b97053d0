"""The memory of a process that stays: its threads share one heap."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[3]
THREADS = """
import ctypes, sys, threading
from app.servers.heap import give_back, share_heap
if sys.argv[1] == "shared":
    share_heap()
come, go = threading.Barrier(7), threading.Event()
def work():
    kept = [bytearray(1_000) for _ in range(100)]
    come.wait(30)
    go.wait(30)
threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads:
    thread.start()
come.wait(30)
library = ctypes.CDLL(None)
library.fopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(library.fopen(sys.argv[2].encode(), b"w"))
library.malloc_info(0, stream)
library.fclose(stream)
go.set()
for thread in threads:
    thread.join(30)
give_back()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="malloc_info is of glibc")
def test_threads_share_one_heap(tmp_path: Path) -> None:
    """Each thread takes memory from a heap of its own as the C library has it, and all from one once that is said."""
    heaps = {}
    for how in ("apart", "shared"):
        told = tmp_path / how
        subprocess.run([sys.executable, "-c", THREADS, how, str(told)], cwd=HOUSE, check=True, timeout=120)
        heaps[how] = told.read_text().count("<heap nr=")
    assert heaps == {"apart": heaps["apart"], "shared": 1}
    assert heaps["apart"] > 1
