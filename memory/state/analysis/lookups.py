"""Looks up in the repository, as it is now, what a question is about: facts of manifests, and declarations."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cached_property
from itertools import product

from memory.base.git import recent_work, since_tag
from memory.base.safe_text import plural
from memory.base.words import camel_parts, content_words, stem
from memory.state.projections import code

from .declarations import Declared, comment_of, declared_in, header
from .documents import cut, ended, first_sentence, listed, plain
from .ecosystems import Place
from .manifests import Project, main_package, projects_of
from .passages import Fact, passages
from .tree import Tree, folded_name, is_document, is_generated, is_test, language_of, stem_of


def _text(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


_MANIFESTS: tuple[tuple[str, tuple[Place, ...], tuple[Place, ...]], ...] = (
    ("pyproject.toml", ("project.version", "tool.poetry.version"),
     ("project.dependencies", "tool.poetry.dependencies")),
    ("setup.py", (_text(r"\bversion\s*=\s*['\"](\d[^'\"]*)"),), ()),
    ("package.json", ("version",), ("dependencies",)),
    ("Cargo.toml", ("package.version", "workspace.package.version"), ("dependencies", "workspace.dependencies")),
    ("composer.json", ("version",), ("require",)),
    ("go.mod", (), (_text(r"^(?:require[ \t]+|[ \t]+)([\w.-]+/\S+) v\S+(?![^\n]*// indirect)"),)),
    ("pom.xml", (_text(r"<version>\s*(\d[^<\s]*)"),), ()),
    ("*.gemspec", (_text(r"\.version\s*=\s*['\"](\d[^'\"]*)"),),
     (_text(r"\.add_(?:runtime_)?dependency[ (]+['\"]([^'\"]+)"),)),
    ("mix.exs", (_text(r"(?:@version|\bversion:)\s+\"(\d[^\"]*)"),),
     (_text(r"^\s*\{:(\w+),(?![^\n]*only:)[^\n]*\}"),)),
    ("CMakeLists.txt", (_text(r"(?i)^\s*project\s*\([^)]*?\bVERSION\s+(\d[\w.]*)"),), ()),
    ("*.csproj", (_text(r"<Version(?:Prefix)?>\s*(\d[^<\s]*)"),), (_text(r"<PackageReference\s+Include=\"([^\"]+)"),)),
)  # fmt: skip
"""The manifests, each with the places of the project's own version, and of what it depends on."""
_NO_VERSION = re.compile(r"0\.0\.0(?:-.*)?\Z|.*[{$]")
_NEEDED = re.compile(r"[A-Za-z0-9@][\w@/.-]*")
_NO_PACKAGE = re.compile(r"python|php|ext-[\w-]+|lib-[\w-]+")
_LICENCE_FILE = re.compile(r"(?:licen[sc]e|copying|unlicense)(?:[-.][\w.-]+)?", re.IGNORECASE)
_RELEASE = re.compile(
    r"\.github/workflows/[^/]*(?:release|publish|deploy)[^/]*\.ya?ml"
    r"|(?:docs/|\.github/)?releas(?:ing|e)(?:[-_]process)?\.\w+"
    r"|(?:tasks|scripts?|tools?|bin|dev|etc)/[^/]*(?:release|publish)[^/]*|\.goreleaser\.ya?ml",
    re.IGNORECASE,
)
_ON_TAGS = re.compile(r"(?m)^[ \t]+tags:|^[ \t]*release:\s*\n[ \t]+types:|startsWith\(github\.ref, 'refs/tags")
_BY_HAND = re.compile(r"(?m)^on:\s*\[?workflow_dispatch\b\]?:?[ \t]*\n(?:(?: {4,}|[ \t]*#).*\n|[ \t]*\n)*(?=\w)")
_REQUESTED = re.compile(r"^ +pull_request:\s*\n\s+branches:\s*(\[[^\]]*\]|(?:- .+\s*)+)", re.MULTILINE)
"""The branches to which the pull requests go that a workflow checks."""
_BUMP = re.compile(r"Merge (?:pull request|branch|remote)|(?:\w+(?:\([\w-]+\))?: )?bump |(?:chore|build)\(deps", re.I)
"""The subjects of commits that tell nothing of the work."""
_ITEM = re.compile(r"[ \t]*[-*+][ \t]+|#\d+: ")
_RELEASED = re.compile(r"(?:#{1,3} |\[|CHANGES FROM|v(?:ersion )?)?.{0,30}?\d+\.\d+.{0,60}$", re.IGNORECASE)
_FRAGMENTS = re.compile(r"(?:docs?/)?(?:change(?:log|s)(?:\.d)?|newsfragments|\.change(?:set|s))", re.IGNORECASE)
_PINNED = (
    ("global.json", "Is built with the .NET SDK ", r'"sdk":\s*\{\s*"version":\s*"([\w.-]+)'),
    ("CMakeLists.txt", "Needs C++", r"\bCMAKE_CXX_STANDARD\s+(\d\d)\b"),
)
_DOCS = re.compile(r"(?:(?:packages|apps)/)?(?:docs?|documentation|website|site|book)", re.IGNORECASE)
_CREDIT = re.compile(r" (?:by @\S+ )?in https?://\S+")
_CHANGES = re.compile(
    r"(?:docs/)?(?:change(?:log|s)|history|news|release.?notes|upgrad(?:e|ing))\b[^/]*\Z|release-?notes/version[^/]*\Z",
    re.IGNORECASE,
)


class Lookups:
    """What a repository says now; its files are listed when the first question needs them."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """Look at nothing yet."""
        self._root = root

    @cached_property
    def tree(self) -> Tree:
        """The files."""
        return Tree(self._root)

    @cached_property
    def projects(self) -> list[Project]:
        """The projects."""
        return projects_of(self.tree)

    def of(self, topic: str) -> Iterator[Fact]:
        """Yield what the repository says on a topic; nothing where it has none of its own."""
        find = getattr(self, f"_{topic.replace(' ', '_')}", None)
        if find is not None:
            yield from find()

    # -- facts by their topics --------------------------------------------------------------------------------------

    def _places(self) -> Iterator[tuple[Project, str, tuple[Place, ...], tuple[Place, ...]]]:
        """Yield the manifests at the root and of the main package, with the places of version and dependencies."""
        for project in self.projects[:1]:
            main = main_package(self.tree, project)
            for folder in dict.fromkeys((main.folder if main is not None else "", "")):
                for (name, versions, needs), path in product(_MANIFESTS, self.tree.folders.get(folder, [])):
                    if fnmatch(path.rpartition("/")[2], name):
                        yield project, path, versions, needs

    def _own_version(self) -> Iterator[Fact]:
        for project, path, places, _ in self._places():
            value = project.first([path], *places)
            if value and not _NO_VERSION.match(value):
                yield Fact(f"The version is {value} (`{path}`).", path)
        if since := since_tag(self._root):
            ago = f", {plural(len(since.commits), 'commit')} ago" if since.commits else ""
            yield Fact(f"The last tag is {since.tag}{ago}.", ".git")

    def _licence(self) -> Iterator[Fact]:
        for path in filter(_LICENCE_FILE.fullmatch, self.tree.folders[""]):
            begin = " ".join(self.tree.text(path).split("\n\n")[0].strip("#= \n").split())
            yield Fact(f"`{path}` begins with “{cut(begin, 80)}”." if begin else f"`{path}` is the licence.", path)

    def _dependencies(self) -> Iterator[Fact]:
        for project, path, _, places in self._places():
            raw = (one for place in places for one in project.value(path, place) or () if isinstance(one, str))
            names = (found[0] for one in raw if (found := _NEEDED.match(one)))
            own = dict.fromkeys(f"`{name}`" for name in names if not _NO_PACKAGE.fullmatch(name.lower()))
            told = listed(list(own), 12)
            if places:
                yield Fact(f"Depends on {told} (`{path}`)." if told else f"`{path}` names no dependencies.", path)

    def requirement(self, name: str) -> Iterator[Fact]:
        """Yield which version of a named package the manifests need."""
        between = r"(?:\[[^\]]*\])?['\"]?\s*(?:[:=,(]\s|[:(])?\s*(?:\{\s*version\s*=\s*)?['\"]?"
        line = re.compile(rf"(?im)^[^#\n]*?(?<![\w/.-]){re.escape(name)}{between}([~^<>=!]*\s*\d[^'\";)\n]*)")
        for _, path, _, _ in self._places():
            if found := line.search(self.tree.text(path)):
                yield Fact(f"Needs {name} {found[1].strip()} (`{path}`).", path)

    def _release(self) -> Iterator[Fact]:
        flows = [path for path in self.tree.files if path.startswith(".github/workflows/")]
        tagged = [path for path in flows if _ON_TAGS.search(self.tree.text(path))]
        files = [path for path in self.tree.files if path in tagged or _RELEASE.fullmatch(path)]
        by_hand = [path for path in flows if _BY_HAND.search(self.tree.text(path))]
        started = dict.fromkeys(tagged, " (runs on tags)") | dict.fromkeys(by_hand, " (only started by hand)")
        named = [f"`{path}`{started.get(path, '')}" for path in files]
        if named:
            yield Fact(f"Releases are made with {listed(named, 5)}.", files[0])

    def _coverage(self) -> Iterator[Fact]:
        for path in ("pyproject.toml", ".coveragerc", "setup.cfg", "tox.ini"):
            if found := re.search(r"\bfail[_-]under\s*=\s*(\d[\d.]*)", self.tree.text(path)):
                yield Fact(f"The tests have to cover {found[1]}% of the code (`{path}`).", path)

    def _changelog(self) -> Iterator[Fact]:
        for folder, files in self.tree.folders.items():
            files = [path for path in files if not path.rpartition("/")[2].startswith((".", "README"))]
            if files and _FRAGMENTS.fullmatch(folder):
                yield Fact(f"The entries of the change log are files in `{folder}`, such as `{files[0]}`.", files[0])

    def _branch(self) -> Iterator[Fact]:
        found: dict[str, str] = {}
        for path in (one for one in self.tree.files if one.startswith(".github/workflows/")):
            for names in _REQUESTED.findall(self.tree.text(path)):
                found |= dict.fromkeys(re.findall(r"[^\s,'\"-][^\s,'\"]*", names.strip("[]")), path)
        for name, path in found.items() if len(found) == 1 and "*" not in "".join(found) else ():
            yield Fact(f"CI checks pull requests to the branch `{name}` (`{path}`).", path)

    def _tests(self) -> Iterator[Fact]:
        tests = [path for path in self.tree.files if is_test(path) and language_of(path)]
        form = re.compile(r"(?:.*?/)??[^/]*(?:[tT]est|[sS]pec|e2e)[^/]*(?=/)")
        folders = Counter(found[0] if (found := form.match(path)) else "" for path in tests)
        for folder, count in folders.most_common(1):
            first = next(path for path in tests if path.startswith(folder) and (folder or not form.match(path)))
            many = plural(count, "file")
            where = f"in `{folder}` ({many})" if folder else f"beside the sources ({many}), such as `{first}`"
            yield Fact(f"The tests are {where}.", first)

    def _documentation(self) -> Iterator[Fact]:
        folders = [one for one in self.tree.folders if _DOCS.fullmatch(one)]
        for folder in sorted(folders, key=lambda one: one.count("/"))[:1]:
            yield Fact(f"The documentation is in `{folder}`.", folder)

    def _needed_version(self) -> Iterator[Fact]:
        for path, said, form in _PINNED:
            if found := re.search(form, self.tree.text(path)):
                yield Fact(f"{said}{found[1]} (`{path}`).", path)

    def _commits(self) -> Iterator[Fact]:
        work = recent_work(self._root, 30)
        subjects = [] if work is None else work.subjects
        told = [one for one in subjects if re.search(r"\w", one) and not _BUMP.match(one)] or subjects
        if told:
            yield Fact(f"The last commits: {'; '.join(f'“{subject}”' for subject in told[:5])}.", ".git")

    def passages(self) -> Iterator[Fact]:
        """Yield the sentences and commands that the repository itself writes for people."""
        return passages(self.tree, self.projects)

    def changes_in(self, version: str) -> Iterator[Fact]:
        """Yield the first lines of the items that the change log has of a version, or of the newest for `""`."""
        number = re.escape(version) or r"\d+(?:\.\d+)+"
        exact = re.compile(rf"(?:\D*[ v\[])?(?<![\d.]){number}(?:\.0)*(?![\d.]*\d)|.* TO {number}\b")
        for path in filter(_CHANGES.match, self.tree.files):
            lines = re.sub(r"\(https?://[^)\s]*\)", "", self.tree.text(path)).split("\n")
            heads = (at for at, one in enumerate(lines) if not _ITEM.match(one) and exact.match(one))
            start = next((at for at in heads if version or _RELEASED.match(lines[at])), len(lines))
            breaking, others = list[str](), list[str]()
            found = others
            for line in lines[start + 1 :]:
                item = _ITEM.match(line)
                if (breaking or others) and not item and _RELEASED.match(line):
                    break
                if item or line[:1].strip() not in ("", "#"):
                    found.append(_CREDIT.sub("", line).strip())
                elif line.startswith("#"):
                    found = breaking if "breaking" in line.lower() else others
            below = [*breaking, *others]
            items = [_ITEM.sub("", one, count=1) for one in below if _ITEM.match(one)]
            if below := items or below:
                title = re.sub(r"[\[\]]", "", lines[start]).strip("#= :")
                told = [first_sentence(plain(one), 70) for one in below]
                yield Fact(f"{title}: {listed(told, max(3, min(len(breaking), 6)))} (`{path}`)", path)

    def names(self) -> Iterator[tuple[str, str]]:
        """Yield the sources that are no tests, each with the words of the names that it declares."""
        for path in self.tree.sources():
            if not is_test(path):
                found = {one.name for one in declared_in(self.tree.text(path), language_of(path))}
                yield path, " ".join(part for name in found for part in (*camel_parts(name), *name.split("_")))

    # -- what a name means ------------------------------------------------------------------------------------------

    def about(self, name: str) -> Iterator[Fact]:
        """Yield what has a name: the file or folder at that path, what declares it, files and folders called so."""
        folded, declared = folded_name(name), self._declared(name)
        exact = [one for one in self._paths(name) if f"/{one.lower()}".endswith(f"/{name.lower().strip('/')}")]
        called = [one for one in self._paths(name) if folded_name(stem_of(one)) == folded]
        called = [one for one in called if not is_generated(self.tree.text(one))]
        if "." in name or "/" in name:
            yield from map(self.file, sorted(exact, key=self._nearness))
        yield from (fact for is_type, fact in declared if is_type)
        for found in (exact, called):
            yield from map(self.file, sorted(found, key=self._nearness)[:3])
        yield from (fact for is_type, fact in declared if not is_type)

    def near(self, name: str) -> Iterator[Fact]:
        """Yield the files and folders whose path has all words of a name."""
        words = {stem(word) for word in content_words(name)}
        found = [one for one in self._paths(name) if words and "_" not in name and words <= _stems(one)]
        yield from map(self.file, sorted(found, key=self._nearness)[:3])

    def _paths(self, name: str) -> list[str]:
        """Return the files and folders, those of tests only for a name of a test."""
        paths = (*self.tree.files, *filter(None, self.tree.folders))
        return [one for one in paths if "test" in name.lower() or not is_test(one)]

    def _nearness(self, path: str) -> tuple[bool, bool, bool, int, str]:
        """Return the sort key of a path: hand-written sources of the work come first, near the root."""
        made = is_generated(self.tree.text(path))
        return made, is_test(path), is_document(path), path.count("/"), path

    def file(self, path: str) -> Fact:
        if path in self.tree.files:
            said = header(self.tree, path) if language_of(path) else ""
        else:
            packages = (one for project in self.projects for one in project.packages)
            said = next((one.description for one in packages if one.folder == path), "")
        return Fact(ended(f"`{path}`: {said}") if said else f"`{path}`", path, path)

    def _declared(self, name: str) -> list[tuple[bool, Fact]]:
        """Return the first declarations of a name in the sources, each with whether it is one of a type."""
        last = re.split(r"[.:/#]+", name.strip(".:/#()"))[-1]
        if not re.fullmatch(r"\w[\w ]{1,80}", last):
            return []
        same = re.compile(rf"(?:.*(?:\.|::))?{'_?'.join(last.split())}", re.IGNORECASE if last == last.lower() else 0)
        found: list[tuple[tuple[bool, bool, bool, bool, bool, int], Declared, Fact]] = []
        for path in self.tree.sources():
            text = self.tree.text(path)
            if last.partition(" ")[0].lower() not in text.lower():
                continue
            for one in (one for one in declared_in(text, language_of(path)) if same.fullmatch(one.name)):
                said = comment_of(text, one, 2)
                rank = (
                    folded_name(one.name) != folded_name(name),
                    one.name != name,
                    not one.is_type,
                    one.is_value,
                    not said,
                    len(path),
                )
                whole = one.line.strip().partition("{")[0].rstrip(" :=")
                whole = f"{one.kind} {one.name}" if said and one.kind else cut(whole, 100)
                line = text.count("\n", 0, one.start) + 1
                told = f"`{path}`, line {line}, declares {code(whole)}" + (f": {said}" if said else "")
                found.append((rank, one, Fact(ended(told), path, name)))
        found.sort(key=lambda each: each[0])
        return [(one.is_type, fact) for _, one, fact in found[:3]]


def _stems(path: str) -> set[str]:
    """Return the stems of the words of a path."""
    words = re.findall(r"[A-Za-z0-9]+", path)
    return {stem(word.lower()) for word in words} | {stem(part) for word in words for part in camel_parts(word)}
