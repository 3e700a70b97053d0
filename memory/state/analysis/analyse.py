"""Assembles a bundle from what was found out about a repository."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import Any

from memory.base.git import Commit, Since, is_foreign, is_ignored, since_tag
from memory.base.safe_text import one_line, plural
from memory.state.files.model import ENTRY_FILES, FOLDER, NO_FOCUS, PROJECTIONS, is_entry_file

from .ci import ci_files
from .commands import commands_of, how_to_work, in_ci
from .documents import (
    capital,
    cut,
    ended,
    is_said,
    listed,
    opening_of,
    plain,
    required_in,
    sections_of,
    some_sentences,
    without_praise,
)
from .kinds import ONE_TEST, SET_UP
from .manifests import main_package, projects_of, whole_name
from .modules import content_of, is_in, main_folder, parts_of
from .plans import MOST_CHANGES, credited, gotchas, next_steps, unreleased
from .tree import MOST_FILES, Tree, is_aside, is_document, language_of, stem_of
from .uses import often_changed, weights

_GUIDE = re.compile(
    r"(?:(?:(?:\.github|docs)/)?(?:agents|claude|architecture|design|contributing|building|develop\w+|hacking)|build"
    r"|testing|releas\w+|maintaining)\.(?:md|markdown|rst|txt)",
    re.IGNORECASE,
)
_MOST_GUIDES = 4
_COMING = re.compile(r"version\W{1,20}(\d+\.\d+)[\d.]*(?:-dev|\.?dev\d|-SNAPSHOT)", re.IGNORECASE)
"""The version of a manifest that is not released yet."""
_NAMED = re.compile(r"\S+ (?:is|are) ")
_OF_TESTS = re.compile(r"(?:\A|/)tests?\b")
_SIGNS = re.compile(r"\A[^\w`(\"'\[]+")
"""Pictures and the like before the first word."""
_NO_NEWS = re.compile(
    r"\W*(?:bump|chore|tests?|style|build|deps|merge|release|prepare|refactor|rename|revert|fixup|wip|automated|format"
    r"|start|(?:more )?regress|version|v?\d+\.|update (?:dep\w*|.* (?:to|from) v?\d)|fix (?:tests?|build|format\w*))\b"
    r"|\S*(?: \S+)?\Z|.*(?::\Z|\b(?:docs?|document(?:s|ed|ation)?|godoc|comments?|typos?|lint\w*|clippy|gofu?m\w*"
    r"|rubocop|ci|gha|readme|change ?log|spelling|whitespace|skip ci|ci skip)\b)",
    re.IGNORECASE,
)
"""Subjects of commits that change nothing for a user, or say nothing."""
_SCOPE = r"(?:[\w./-]+(?:\([^)]*\))?!?: )?"
_FEATURE = re.compile(rf"{_SCOPE}(?:feat|add|allow|support|introduce|extend|implement)", re.IGNORECASE)
_FIX = re.compile(rf"{_SCOPE}(?:fix|perf\b|prevent|avoid|handle|correct|resolve|reject)", re.IGNORECASE)
_UPKEEP = 3
_SUMMARY, _CHANGES, _SHORT, _LITTLE, _FEW, _SOME, _STUB = 400, 250, 8, 0.01, 4, 3, 300
_POINTER = 60
"""How many characters a guide has that only names another one."""
_MOST_ENTRYPOINTS, _MOST_KEY_PATHS, _MOST_FIRST, _MOST_OWN, _MOST_PROBLEMS = 12, 16, 10, 5, 8

FOREIGN = "`.git` names a repository that does not list this folder as its work tree, so nothing of it was read."
NOT_RUN = "The validation commands were not run yet."
NO_COMMANDS = "No command is known that validates the work."
UNREAD = "Could not be read, so nothing of it is known"
_NOTHING = f"{NO_FOCUS}; `memdeck state status` shows the last commits."


def analyse(root: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the bundle of the repository at `root`, in the shape of a state file; none of its strings is blank.

    The same files and commits give the same bundle. Nothing of the repository is run; a file that cannot be read is
    left out and reported as a known risk.
    """
    return _Repository(Tree(root)).bundle()


def notes_of(root: str | os.PathLike[str], entry: str) -> list[str]:
    """Return what to know before the pages are committed: that git ignores a file in the place of `entry`."""
    tree = Tree(root)
    made = entry not in tree.top_entries()
    ignored = [one for one in ENTRY_FILES if is_ignored(root, one) and (made or os.path.lexists(tree.root + "/" + one))]
    return [f"git ignores {one}, so {entry} has the entry block" for one in ignored[:1]]


def _is_of_memory(commit: Commit) -> bool:
    """Return whether a commit changes nothing but the files that memdeck writes."""
    own = [path.startswith((f"{FOLDER}/", f"{PROJECTIONS}/")) for path in commit.files]
    return any(own) and all(mine or is_entry_file(path) for mine, path in zip(own, commit.files, strict=True))


class _Repository:
    """The findings about a repository: its projects, the main package with its folder, and its commands."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.projects = tree, projects_of(tree)
        self.primary = self.projects[0] if self.projects else None
        self.main = main_package(tree, self.primary) if self.primary is not None else None
        self.folder = self.main.folder if self.main is not None else ""
        self.readme = next(filter(None, map(tree.readme, ("", ".github", "docs"))), None)
        self.opened = sections_of(tree.text(self.readme or ""), self.readme or "")
        guides = [path for path in tree.files if _GUIDE.fullmatch(path) and len(tree.text(path)) > _POINTER]
        by_name = {stem_of(path).lower(): path for path in reversed(guides)}
        guides = sorted(by_name.values(), key=lambda path: ("releas" in path.lower(), path.count("/")))
        self.guides = guides[:_MOST_GUIDES]
        self.commands = commands_of(tree, self.projects)
        named = [one for one in self.commands if one.kind not in (SET_UP, ONE_TEST)]
        self.validation = [one for one in named if one.kind != "build" or one.source.startswith("from")]
        self.name, self.weight = self._name(), weights(tree)

    def bundle(self) -> dict[str, Any]:
        """Return the bundle."""
        primary, tree = self.primary, self.tree
        documents = "documentation" if any(map(is_document, tree.files)) else "none"
        entrypoints, steps, summary = self._entrypoints(), next_steps(tree), cut(self._summary(), _SUMMARY)
        first = self._first_files(entrypoints)
        modules, areas = parts_of(tree, self.projects, summary, first, self.weight)
        return {
            "project": {
                "name": self.name,
                "summary": summary,
                "primaryEcosystem": primary.language if primary else next(iter(tree.languages()), documents),
                "packageManager": primary.manager if primary is not None else "none",
                "workspaceManager": next((one.workspace for one in self.projects if one.workspace), "none"),
                "recommendedEntryFile": self._entry_file(),
                "keyPaths": self._key_paths(entrypoints),
            },
            "projectMap": {
                "modules": modules,
                "entrypoints": entrypoints,
                "denseSourceAreas": areas,
                "architectureNotes": self._notes(),
                "firstFilesToRead": first,
            },
            "currentFocus": self._focus(steps),
            "gotchas": gotchas(tree),
            "nextSteps": steps,
            "validationCommands": [command.json() for command in self.validation[:2]],
        }

    def _name(self) -> str:
        """Return the name in the manifest at the root, else a short title of the README, else that of the folder."""
        root = self.primary.root if self.primary is not None else None
        if self.primary is not None and root is not None:
            name = whole_name(root.name) if self.primary.workspace else root.name
            if name.lower() not in ("root", "monorepo", "workspace"):
                return name
        title = next((one.title for one in self.opened if one.level == 1 and one.title), "").rstrip(" ·|•–—-:")
        folder = one_line(os.path.basename(self.tree.root)) or "repository"
        return title if 0 < len(title) <= 60 and len(title.split()) <= 5 else folder

    def _summary(self) -> str:
        """Return what the project is: the description in a manifest; where that is short, with the README's."""
        tree, main = self.tree, self.main
        names = (self.name.lower(), os.path.basename(tree.root).lower())
        # A package that is not named like the whole describes only itself.
        own = main is not None and (self.readme is None or main.name.lower().rpartition("/")[2] in names)
        packages = [one for one in (main if own else None, *(one.root for one in self.projects[:1])) if one is not None]
        texts = (_SIGNS.sub("", plain(one.description)) for one in packages if one.description)
        described = without_praise(next(texts, ""))
        opening = opening_of(self.opened, _SUMMARY, known=described.rstrip("."), names=names)
        if described and opening:
            if described.rstrip(".") in opening or is_said(described, opening):
                described = ""
            elif len(described.split()) >= _SHORT:
                opening = ""
        said = [one for one in (described, opening) if one]
        guides = (opening_of(sections_of(tree.text(path)), _SUMMARY, strict=True) for path in self.guides)
        said = said or [one for one in (plain(main.description) if main else "", *guides) if one][:1]
        if said:
            said = [one if one.startswith(self.name) or _NAMED.match(one) else capital(one) for one in said]
            return " ".join(map(ended, said))
        if tree.sources():
            return f"A {' and '.join(tree.languages()[:2])} project; no file says what it is for."
        if any(map(is_document, tree.files)):
            return "A collection of documents; no file says what it is for."
        return "There are no sources and no documents yet."

    def _entrypoints(self) -> list[dict[str, str]]:
        """Return path and role of the entry points: those of the main package, and the programs of the others."""
        tree, roles = self.tree, dict[str, str]()
        packages = [one for project in self.projects for one in project.packages if not _OF_TESTS.search(one.folder)]
        for package in sorted(packages, key=lambda one: one is not self.main):
            programs = {one: role for one, role in package.entries.items() if role.startswith(("The com", "The pro"))}
            for path, role in (programs | package.entries if package is self.main else programs).items():
                stub = path.endswith(("__init__.py", "__main__.py")) and tree.files[path] < _STUB
                if role not in roles.values() and "fixture" not in path and not stub:
                    roles.setdefault(path, role)
        return [{"path": path, "role": ended(role)} for path, role in list(roles.items())[:_MOST_ENTRYPOINTS]]

    def _key_paths(self, entrypoints: list[dict[str, str]]) -> list[str]:
        tree, manifests = self.tree, (path for project in self.projects for path in project.manifests[:2])
        paths = [*filter(None, [self.readme]), *self.guides, *manifests, *(path for path, _ in ci_files(tree)[:1])]
        paths += [*(entry["path"] for entry in entrypoints[:3]), main_folder(tree, self.main, self.projects)]
        paths = [*filter(None, paths)] or [path for path in tree.files if is_document(path) or tree.is_work(path)]
        return list(dict.fromkeys(paths))[:_MOST_KEY_PATHS]

    def _notes(self) -> list[str]:
        found = [version for project in self.projects for version in project.versions]
        required = required_in(self.opened) if not found else None
        found += [f"Needs {required[1]} (`{self.readme}`: “{cut(required[0], 100)}”)."] if required else []
        if not main_folder(self.tree, self.main, self.projects) and (inside := content_of(self.tree, "", self.weight)):
            found.append(f"At the root: {inside}")
        if len(self.projects) > 1:
            found.append(f"Uses {' and '.join(project.language for project in self.projects)}.")
        told = how_to_work(self.tree)
        found += [*told, *in_ci(self.tree, self.projects, self.commands)]
        more = [one for one in self.commands if one not in self.validation[:2]]
        # What the documents say is not said again, and nothing usual beside it.
        more = [one for one in more if one.kind != SET_UP or not (told and one.source.startswith("usual"))]
        more = [one for one in more if one.kind != SET_UP or not any(f"`{one.text}`" in note for note in told)]
        found += [f"{command.kind.capitalize()}: `{command.text}` ({command.source})." for command in more]
        if self.tree.has(hooks := ".pre-commit-config.yaml"):
            found.append(f"Before a commit: `pre-commit run --all-files` (from `{hooks}`; it can rewrite files).")
        paths = [f"`{path}`" for path, _ in ci_files(self.tree)]
        services = ", ".join(dict.fromkeys(service for _, service in ci_files(self.tree)))
        return [*found, f"Continuous integration is {services}: {', '.join(paths[:4])}."] if paths else found

    def _first_files(self, entrypoints: list[dict[str, str]]) -> list[str]:
        """Return what to read first: the guides, the entry points, and the weightiest sources of the main package."""
        tree, main = self.tree, self.main
        others = [one.folder for project in self.projects for one in project.packages if one is not main and one.folder]
        own = [path for path in self.weight if is_in(path, [self.folder]) or not (self.folder or is_in(path, others))]
        private = [one.folder for project in self.projects for one in project.packages if one.private and one.folder]
        public = [path for path in self.weight if not is_in(path, private)]
        own = own if main is not None and own else public or list(self.weight)
        entries = [one["path"] for one in entrypoints if main is None or one["path"] in main.entries]
        # A program beside the main one is none to begin with.
        entries = [path for path in entries if not re.search(r"(?:\A|/)(?:cmd/.*/|src/bin/)", path)] or entries
        found = Counter(map(language_of, own))
        work = [path for path in own if found[language_of(path)] * _FEW >= len(own)]
        least = _LITTLE * self.weight[own[0]].value if own else 0
        chosen = work[:_SOME] + [path for path in work[_SOME:] if self.weight[path].value >= least]
        paths = [*entries[:2], *(path for path in chosen if path not in entries[:2])][:_MOST_OWN]
        # What is called like the project, and what changes most, belong to it.
        named = [path for path in work if stem_of(path).lower() == self.name.lower().rpartition("/")[2]]
        paths += named[:1] if {*named}.isdisjoint(paths) else []
        paths += [path for path in often_changed(self.weight) if path in work][:1]
        paths = [*self.guides, *paths, *([] if own else filter(is_document, tree.files))]
        return list(dict.fromkeys(paths))[:_MOST_FIRST]

    def _focus(self, steps: list[dict[str, str]]) -> dict[str, Any]:
        """Return the section `currentFocus`: nothing in it changes with each commit."""
        tree, manifests = self.tree, self.primary.manifests if self.primary is not None else []
        coming = _COMING.search(" ".join(map(tree.text, manifests)))
        packages = [one.folder for project in self.projects for one in project.packages]
        since = since_tag(tree.root)
        changes = unreleased(
            tree, [self.folder, *packages], coming[1] if coming is not None else "", since.tag if since else ""
        )
        said, told = "", list[str]()
        if changes:
            named = [f"`{one.path}`, “{one.title}”" if one.title else f"`{one.path}`" for one in changes]
            if len(changes) == 1:
                said = f"Work is on the next release: {named[0]}{',' * bool(changes[0].title)} lists its changes."
                told = changes[0].changes[:MOST_CHANGES]
                told += [f"More in `{changes[0].path}`."] if len(changes[0].changes) > MOST_CHANGES else []
            else:
                said = "Work is on the next releases of several packages."
                texts = (some_sentences(" ".join(map(ended, one.changes)), _CHANGES) for one in changes)
                told = [f"{where}: {text}" for where, text in zip(named, texts, strict=True)]
            told = [ended(f"Not released yet: {one}") for one in told]
        elif since is not None:
            said, told = self._since(since)
        if steps and not said:
            file = steps[0]["start"].rpartition("in `")[2].partition("`")[0]
            said = f"`{file}` lists the open steps, first “{steps[0]['title']}”."
        actions = [] if self.readme is not None else ["Write a README that says what the project is for."]
        summary = NOT_RUN if self.validation else NO_COMMANDS
        return {
            "summary": said or _NOTHING,
            "currentState": [*([FOREIGN] if is_foreign(tree.root) else []), *told],
            "knownRisks": self._risks(),
            "validationSnapshot": {"status": "not-run", "validatedAt": None, "summary": summary, "results": []},
            "suggestedNextActions": actions,
        }

    def _since(self, since: Since) -> tuple[str, list[str]]:
        """Return how many commits came after the last tag, and the subjects of the main ones, features and fixes first.

        Commits of nothing but this memory do not count.
        """
        work = [one for one in since.commits if not _is_of_memory(one)]
        if not work:
            return f"HEAD is at the tag `{since.tag}`: nothing is unreleased.", []
        ranked = sorted(work, key=self._importance)
        chosen = [one for one in ranked if self._importance(one) < _UPKEEP] or ranked[:_FEW]
        subjects = dict.fromkeys(ended(plain(credited(one.subject))) for one in chosen)
        merges = ", merges not counted" * (len(work) > 1)
        told = [f"Since {since.tag}: {one}" for one in subjects]
        more = f"HEAD has {plural(len(work), 'commit')} more than the tag `{since.tag}`{merges}."
        return more, told[:MOST_CHANGES]

    def _importance(self, commit: Commit) -> int:
        """Return the rank of a commit: features, fixes, other changes of sources, what tells users nothing, bots."""
        subject = credited(commit.subject)
        works = any(language_of(path) and not is_aside(path) for path in commit.files) or not self.tree.sources()
        if commit.of_bot or _NO_NEWS.match(subject) or not works:
            return _UPKEEP + commit.of_bot
        return next((rank for rank, form in enumerate((_FEATURE, _FIX)) if form.match(subject)), _UPKEEP - 1)

    def _entry_file(self) -> str:
        """Return the file for the entry block: one that exists, else one to be made; none that git ignores."""
        names = (*self.tree.top_entries(), *ENTRY_FILES)
        return next((one for one in names if not is_ignored(self.tree.root, one)), ENTRY_FILES[0])

    def _risks(self) -> list[str]:
        """Return what is not known; in one line each: several would differ only in a name, and would be merged."""
        tree, problems = self.tree, [one for project in self.projects for one in project.problems]
        unread = [f"`{path}` ({why})" for path, why in sorted(tree.unread.items())]
        told = (
            (problems, f"Broken manifests, of which nothing is known: {listed(problems, _MOST_PROBLEMS)}."),
            (unread, f"{UNREAD}: {listed(unread, _MOST_PROBLEMS)}."),
            (not tree.complete, f"The repository is larger than what was looked at: the first {MOST_FILES:,} files."),
        )
        return [words for applies, words in told if applies]
