"""Files that a command reaches by links, patterns and interpreters are held on to, or it is said that they are not."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from memory.monitoring.process.command import clean_environment
from memory.trust.pins import loading
from memory.trust.pins.loading import references_of
from memory.trust.pins.named_files import CannotPin, Scripts
from memory.trust.pins.resolve import Resolver
from memory.trust.pins.unknown import sentence_of
from tests.growth import TIMES, assert_in_proportion

LINKED = [
    ("sh run.sh", {"run.sh": "/proc/self/cwd/real.sh"}),
    ("sh run.sh", {"run.sh": "/proc/thread-self/cwd/real.sh"}),
    ("sh run.sh", {"run.sh": "../../../../../../../../../../../../proc/self/cwd/./real.sh"}),
    ("sh run.sh", {"run.sh": "../shop/real.sh"}),
    ("sh run.sh", {"run.sh": "{root}/real.sh"}),
    ("sh run.sh", {"run.sh": "{root}/../shop/real.sh"}),
    ("sh run.sh", {"run.sh": "{named}/real.sh"}),
    ("sh run.sh", {"run.sh": "a", "a": "b/../real.sh", "b": "ops/deep/.."}),
    ("sh bin/real.sh", {"bin": "../shop"}),
    ("cd bin && ./real.sh", {"bin": "../shop/ops/.."}),
    ("sh bin/*.sh", {"bin": "../shop"}),
    ("sh bin/r*.sh", {"bin": "/proc/self/cwd"}),
    ("sh b*/real.sh", {"bin": "/proc/thread-self/cwd"}),
    ("sh b{in,x}/real.sh", {"bin": "../shop"}),
    ("cd bin/deep/../.. && ./real.sh", {"bin": "ops"}),
    ("cd -P bin/.. && ./real.sh", {"bin": "ops/deep"}),
    ("sh ops/run.sh", {"ops/run.sh": "../../shop/real.sh"}),
    ("cd ops && ./run.sh", {"ops/run.sh": "/proc/self/cwd/../real.sh"}),
    ("sh bin/real.sh", {"bin": "/proc/self/cwd/bin2", "bin2": "../shop"}),
    ("sh ./[[:lower:]]eal.sh", {}),
    ("sh ./[!x]eal.sh", {}),
    ("sh ./[a-z]eal.sh", {}),
    ("sh ./r[[.e.]]al.sh", {}),
    ("sh {real,real}.sh", {}),
    ("bash -c 'sh {x,r{e,i}}al.sh'", {}),
    ("bash -c 'sh r{a..z}al.sh'", {}),
    ("bash -O extglob -c 'sh @(real|x).sh'", {}),
    ("zsh -c 'sh (real|x).sh'", {}),
    ("bash -O globstar -c 'sh **/re?l.sh'", {}),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a workspace that has another name as well."""
    root = tmp_path / "shop"
    (root / "ops" / "deep").mkdir(parents=True)
    (tmp_path / "named").symlink_to(root)
    (root / "real.sh").write_text("true\n")
    return root


@pytest.mark.parametrize(("command", "links"), LINKED, ids=[f"{command} {links}" for command, links in LINKED])
def test_what_a_link_or_a_pattern_leads_to_is_held_on_to(root: Path, command: str, links: Mapping[str, str]) -> None:
    """The file at the end counts by its bytes, and each link on the way by where it leads."""
    for path, target in links.items():
        (root / path).symlink_to(target.format(root=root, named=root.parent / "named"))
    scripts = Scripts(root.parent / "named")
    before = scripts.pinned(command).scripts
    held = {script.path: script.hash for script in before}
    assert not held["real.sh"].startswith("link")
    assert set(links) <= set(held)
    (root / "real.sh").write_text("evil\n")
    changed = scripts.pinned(command).scripts
    assert changed != before
    for path in links:
        (root / path).unlink()
        (root / path).symlink_to("./ops" if path.startswith("b") else f"{'../' * path.count('/')}other.sh")
        assert scripts.pinned(command).scripts != changed
        break


OUTSIDE = [
    "/proc/{pid}/cwd/real.sh",
    "/proc/self/task/1/cwd/real.sh",
    "/proc/self/root{root}/real.sh",
    "/proc/self/fd/3",
    "/dev/fd/3",
    "/dev/fd/../cwd/real.sh",
    "/dev/stdin",
    "../beside/real.sh",
    "../back/real.sh",
    "..",
    "/",
    "/nowhere/at/all",
    "ops/up/beside/real.sh",
]


@pytest.mark.parametrize("target", OUTSIDE)
def test_what_leads_out_of_the_workspace_is_refused(root: Path, target: str) -> None:
    """Whether anything is there or not, and whether it would come back over a link that lies outside."""
    (root.parent / "beside").mkdir()
    (root.parent / "beside" / "real.sh").write_text("true\n")
    (root.parent / "back").symlink_to(root)
    (root / "ops" / "up").symlink_to("../..")
    (root / "run.sh").symlink_to(target.format(pid=os.getpid(), root=root))
    with pytest.raises(CannotPin, match="leads out of the workspace"):
        Scripts(root).pinned("sh run.sh")


@pytest.mark.parametrize("command", ["python3 -m out.real", "node -r ./out/real x", "python3 -m in.real"])
def test_a_module_behind_a_link_that_leads_away_is_refused(root: Path, command: str) -> None:
    """Outside, or in whatever folder the interpreter is: nobody can tell what it would load."""
    (root.parent / "beside").mkdir()
    (root / "out").symlink_to("../beside")
    (root / "in").symlink_to("/proc/self/cwd/ops")
    with pytest.raises(CannotPin, match="is a link that leads"):
        Scripts(root).pinned(command)


@pytest.mark.parametrize("command", ["sh out/*.sh", "sh o*t/real.sh", "sh **/x.sh", "cd out && ./real.sh", "cat *"])
def test_a_pattern_does_not_pass_a_link_that_leads_out(root: Path, command: str) -> None:
    """A folder that is reached by a pattern, or the files of which are, is refused as any other."""
    (root.parent / "beside").mkdir()
    (root.parent / "beside" / "real.sh").write_text("true\n")
    (root / "out").symlink_to("../beside")
    with pytest.raises(CannotPin, match="out is a link that leads out"):
        Scripts(root).pinned(command)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_may_not_be_listed_is_refused(root: Path) -> None:
    """What lies in it could be run all the same."""
    (root / "ops" / "run.sh").write_text("true\n")
    (root / "ops").chmod(0o311)
    try:
        with pytest.raises(CannotPin, match="ops cannot be read"):
            Scripts(root).pinned("cd ops && ./run.sh")
    finally:
        (root / "ops").chmod(0o755)


def test_circles_and_long_chains_end(root: Path) -> None:
    """Links that lead round are held on to as such, and those that never stop growing are refused."""
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("../shop/one")
    assert {script.path for script in Scripts(root).pinned("sh one").scripts} == {"one", "two"}
    (root / "grow").symlink_to("/proc/self/cwd/grow/x")
    with pytest.raises(CannotPin, match="too many places"):
        Scripts(root).pinned("sh grow")
    for number in range(39):
        (root / f"chain{number}").symlink_to(f"chain{number + 1}")
    (root / "chain39").symlink_to("real.sh")
    assert Resolver(root).resolve("chain0").kind == "file"


def test_a_hard_link_counts_by_its_bytes(root: Path) -> None:
    """A second name of a script outside changes what is held on to when it is written to."""
    os.link(root / "real.sh", root.parent / "second.sh")
    before = Scripts(root).pinned("sh real.sh").scripts
    (root.parent / "second.sh").write_text("evil\n")
    assert Scripts(root).pinned("sh real.sh").scripts != before


LOADED = [
    ("node ./run", {"run.js": ""}, "run.js"),
    ("node ./run", {"run.mjs": ""}, "run.mjs"),
    ("node run", {"run/index.js": ""}, "run/index.js"),
    ("node app", {"app/package.json": '{"m\\u0061in": "./start"}', "app/start.js": ""}, "app/start.js"),
    ("node run.js", {"run.js": "const x = require('./lib/x')", "lib/x.js": ""}, "lib/x.js"),
    ("node run.mjs", {"run.mjs": "import {a} from '../shop/a.mjs'", "a.mjs": ""}, "a.mjs"),
    ("node --require ./hook run.js", {"run.js": "", "hook.cjs": ""}, "hook.cjs"),
    ("node -e \"require('./run')\"", {"run.js": ""}, "run.js"),
    ("python3 -m tools.probe", {"tools/probe.py": ""}, "tools/probe.py"),
    ("python3 -mtools.probe", {"tools/__init__.py": "", "tools/probe.py": ""}, "tools/__init__.py"),
    ("python3 -m tools", {"tools/__main__.py": ""}, "tools/__main__.py"),
    ("python3 probe", {"probe/__main__.py": ""}, "probe/__main__.py"),
    ("python3 ./probe", {"probe/__main__.py": "import inner", "probe/inner.py": ""}, "probe/inner.py"),
    ("python3.12 x.py", {"x.py": "import os, helper as h", "helper.py": ""}, "helper.py"),
    ("python3 ops/x.py", {"ops/x.py": "from helper import a", "ops/helper/__init__.py": ""}, "ops/helper/__init__.py"),
    ("python3 ops/x.py", {"ops/x.py": "from . import (\n a,\n b)", "ops/b.py": ""}, "ops/b.py"),
    ("python3 x.py", {"x.py": "x = __import__('helper')", "helper.py": ""}, "helper.py"),
    ("python3 x.py", {"x.py": "import \uff48elper", "helper.py": ""}, "helper.py"),
    ("python3 x.py", {"x.py": "import a", "a.py": "import b", "b.py": "import c", "c.py": ""}, "c.py"),
    ("python3 x.py", {"x.py": "import json", "json.py": ""}, "json.py"),
    (
        "python3 x.py",
        {"x.py": "import a", "a.cpython-311-x86_64-linux-gnu.so": ""},
        "a.cpython-311-x86_64-linux-gnu.so",
    ),
    ("./x", {"x": "#!/usr/bin/env python3\nimport helper\n", "helper.py": ""}, "helper.py"),
    ("python3 -c 'import tools.probe'", {"tools/probe.py": ""}, "tools/probe.py"),
    ("make -f x", {"x": "include more.mk", "more.mk": ""}, "more.mk"),
    ("make", {"Makefile": "-include d/*.mk \\\n  e.mk", "d/a.mk": "", "e.mk": ""}, "d/a.mk"),
    ("make", {"Makefile": "-include d/*.mk \\\n  e.mk", "e.mk": ""}, "e.mk"),
    ("make", {"Makefile": "all:\n", "Makefile.sh": ""}, "Makefile.sh"),
    ("make -C ops", {"ops/GNUmakefile": ""}, "ops/GNUmakefile"),
    ("sh x.sh", {"x.sh": '. "$(dirname "$0")/lib.sh"', "lib.sh": ""}, "lib.sh"),
    ("sh ops/x", {"ops/x": "set -e; source lib.sh", "ops/lib.sh": ""}, "ops/lib.sh"),
    ("env -C ops ./x.sh", {"ops/x.sh": ""}, "ops/x.sh"),
    ("awk -f x.awk", {"x.awk": ""}, "x.awk"),
    ("perl -Ilib x.pl", {"x.pl": "use Foo::Bar;", "lib/Foo/Bar.pm": ""}, "lib/Foo/Bar.pm"),
    ("perl -Ilib -MFoo::Bar -e 1", {"lib/Foo/Bar.pmc": ""}, "lib/Foo/Bar.pmc"),
    ("ruby -r ./x -e 1", {"x.rb": ""}, "x.rb"),
    ("ruby a.rb", {"a.rb": "require_relative 'b'", "b.rb": ""}, "b.rb"),
    ("php a.php", {"a.php": "<?php include 'b.php';", "b.php": ""}, "b.php"),
    ("lua a.lua", {"a.lua": "require('m.n')", "m/n.lua": ""}, "m/n.lua"),
    ("npm run x", {".npmrc": ""}, ".npmrc"),
    ("just x", {"justfile": ""}, "justfile"),
    ("tox", {"tox.ini": ""}, "tox.ini"),
    ("pytest ops", {"ops/conftest.py": ""}, "ops/conftest.py"),
    ("direnv exec . true", {".envrc": ""}, ".envrc"),
    ("node .", {"index.js": ""}, "index.js"),
    ("node x.js", {"x.js": "require(\n'./y')", "y.js": ""}, "y.js"),
    ("tsx x.ts", {"x.ts": "import a from './y.js'", "y.ts": ""}, "y.ts"),
    ("python3 -umtools.a", {"tools/a.py": ""}, "tools/a.py"),
    ("python3 x.py", {"x.py": "from\\\n  a import b", "a.py": ""}, "a.py"),
    ("python3 x.py", {"x.py": "from\x0c. import a", "a.py": ""}, "a.py"),
    ("python3 x.py", {"x.py": "import os, \\\n  a", "a.py": ""}, "a.py"),
    ("python3 x.py", {"x.py": "import os\nimport a", "a.py": ""}, "a.py"),
    ("python3 x.py", {"x.py": "sys.path.insert(0, 'lib')\nimport m", "lib/m.py": ""}, "lib/m.py"),
    ("make", {"Makefile": "include y.mk\n", "y.mk": "", "y.mk,v": ""}, "y.mk,v"),
    ("make", {"Makefile": "", "RCS/Makefile,v": ""}, "RCS/Makefile,v"),
    ("sh x.sh", {"x.sh": "command . ./y.sh", "y.sh": ""}, "y.sh"),
    ("sh ${X:-run.sh}", {"run.sh": ""}, "run.sh"),
    ("env -S './x.sh\\_a'", {"x.sh": ""}, "x.sh"),
    ("java Main", {"Main.class": ""}, "Main.class"),
    ("just x", {"justfile": "import 'y.just'\n", "y.just": ""}, "y.just"),
    ("cd a; cd ..; cd b; ./x.sh", {"a/k": "", "b/x.sh": ""}, "b/x.sh"),
    ("./x", {"x": "#!./interp -x\n", "interp": ""}, "interp"),
    ("./x", {"x": "#!/usr/bin/env -S node --require ./hook.js\n", "hook.js": ""}, "hook.js"),
    ("./x", {"x": ". ./lib\n", "lib": ""}, "lib"),
    ("PYTHON3 x.py", {"x.py": "import a", "a.py": ""}, "a.py"),
    ("zsh x.zsh", {"x.zsh": "", "x.zsh.zwc": ""}, "x.zsh.zwc"),
]


@pytest.mark.parametrize(("command", "files", "wanted"), LOADED, ids=[f"{one[0]} {one[2]}" for one in LOADED])
def test_what_an_interpreter_loads_is_held_on_to(
    root: Path, command: str, files: Mapping[str, str], wanted: str
) -> None:
    """Files that stand for a name, modules that a script loads by name, and what runners read without being told."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    scripts = Scripts(root)
    before = scripts.pinned(command)
    assert wanted in {script.path for script in before.scripts}
    (root / wanted).write_text("evil\n")
    assert scripts.pinned(command) != before
    assert before.unknown


SAID = [
    ("git -C ops status", "git reads by itself"),
    ("python3 x.py", "python loads by itself"),
    ("./x", "python loads by itself"),
    ("npm test", "npm reads by itself"),
    ("find . -exec sh {} +", "find will come upon"),
    ("ls | xargs sh", "xargs will come upon"),
    ("run-parts ops", "the files in ops that are not listed"),
    ("sh $X", "known only when it runs"),
    ("sh real.sh", "what they run or open in turn"),
    ("sh /home/me/link/real.sh", "outside of the workspace that it names (/home/me/link/real.sh)"),
    ("sh ../beside/x.sh", "outside of the workspace that it names (../beside/x.sh)"),
    ("~/bin/x", "outside of the workspace that it names (~/bin/x)"),
    ("bash -c 'sh {" + ",".join(f"a/{number}" for number in range(99)) + "}'", "known only when it runs"),
]


@pytest.mark.parametrize(("command", "said"), SAID, ids=[command[:40] for command, _ in SAID])
def test_what_cannot_be_known_is_said(root: Path, command: str, said: str) -> None:
    """Where a program reaches files that nobody can know before, the question says so."""
    (root / "x.py").write_text("")
    (root / "x").write_text("#!/usr/bin/python3\n")
    assert [one for one in map(sentence_of, Scripts(root).pinned(command).unknown) if said in one]


def test_a_command_of_the_system_reaches_nothing_else(root: Path) -> None:
    """Nothing is cried over where only programs of the system are named."""
    for command in (
        f"ls {root}/nothing",
        "curl http://x.example/a/b",
        "df -h / | awk 'NR==2 {print $5}' | tr -d '%'",
        "pg_isready -h localhost",
        "true",
    ):
        assert Scripts(root).pinned(command).unknown == ()


def test_python_takes_no_module_that_lies_about(root: Path) -> None:
    """Neither one beside a script, nor a compiled one in the place of what is held on to."""
    (root / "x.py").write_text("import helper\n")
    (root / "helper.py").write_text("print('evil')\n")
    around = clean_environment(os.environ, outside=root)
    run = [sys.executable, "x.py"]
    done = subprocess.run(run, cwd=root, env=around, capture_output=True, text=True, timeout=60, check=False)
    assert "evil" not in done.stdout
    assert "No module named 'helper'" in done.stderr
    (root / "probe").mkdir()
    main = root / "probe" / "__main__.py"
    main.write_text("print('evil')\n")
    import py_compile

    py_compile.compile(str(main), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    main.write_text("print('good')\n")
    run = [sys.executable, "probe"]
    bare = subprocess.run(run, cwd=root, capture_output=True, text=True, timeout=60, check=False)
    assert bare.stdout == "evil\n"
    done = subprocess.run(run, cwd=root, env=around, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "good\n"
    assert shutil.which("true", path=around["PATH"])


@pytest.mark.parametrize("piece", ["{a,", "{a..b}", "@(a", "**/", "-abcdef ", "a}b{", "node a "])
def test_a_command_full_of_patterns_costs_in_proportion(root: Path, piece: str) -> None:
    """Braces, groups and options of any number cost no more than their length."""

    def look(text: str) -> None:
        with suppress(CannotPin):
            Scripts(root).pinned(text)

    assert_in_proportion(lambda size: f"bash -c '{piece * (size // len(piece))}'", look, 8192 // TIMES)


def test_lines_that_are_passed_over_load_nothing() -> None:
    """In whatever text, a shell reads what a look at every place finds; in prose hardly a line is looked into."""
    pieces = [*".;&|({!'\n\t ", " ", ". ", "source", "source a", "a.sh", "b", "_", "é", "\\\n"]
    pieces += ["then", "do", "else", "if", "while", "builtin", "command"]
    chance = random.Random(1)
    found = 0
    for _ in range(20_000):
        text = "".join(chance.choices(pieces, k=chance.randrange(1, 14)))
        every = dict.fromkeys(match[1] for match in loading._SHELL.finditer(text.replace("\\\n", " ")))
        assert [one.text for one in references_of(text.encode(), "shell")] == list(every), text
        found += bool(every)
    assert found > 1_000


def test_prose_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long file of sentences is looked into at its first line and where a line may load something, nowhere else."""
    looked: list[str] = []

    class Counting:
        @staticmethod
        def finditer(text: str, start: int, stop: int) -> object:
            looked.append(text[start:stop])
            return real.finditer(text, start, stop)

    real = loading._SHELL
    monkeypatch.setattr(loading, "_SHELL", Counting)
    prose = ["- notes: It was slow. We asked Bob, e.g. about v2.1. Nothing helped."] * 1_000
    prose[500], prose[700] = "cd ops && . env.sh", "  source lib.sh; then. x"
    assert [one.text.strip() for one in references_of("\n".join(prose).encode(), "shell")] == ["env.sh", "lib.sh", "x"]
    assert looked == [f"{prose[number]}\n" for number in (0, 500, 700)]


@pytest.mark.parametrize(
    ("language", "piece"),
    [
        *(("python", piece) for piece in ("import ", "from a import (", "from ", ".", "import a, ", "sys.path")),
        *(("node", piece) for piece in ("require(", "require('a", "'", "from ")),
        *(("shell", piece) for piece in (". ", "; ", "\n", ". a b c\n")),
        *(("make", piece) for piece in (" ", "include a\n", "\\\n")),
        *(("perl", piece) for piece in ("use ", "use a::")),
        *(("package", piece) for piece in ("[", '{"main":')),
    ],
)
def test_a_hostile_file_is_looked_through_in_proportion(language: str, piece: str) -> None:
    """Whatever a file is full of, what it loads is found in time that grows as the file does."""
    assert_in_proportion(
        lambda size: (piece * (size // len(piece))).encode(), lambda data: references_of(data, language), 40_000
    )
