"""The deterministic engine of a recall: it merges events into a bundle, by titles and by likeness."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memory.state.files.model import Json, is_echo

from .likeness import merge_gotchas, merge_lines, merge_next_steps, normalise

NOT_SAID = "Not recorded."
"""The value of a field of a gotcha or next step that a session did not state."""

_DONE, _NEXT = "DONE:", "NEXT:"


@dataclass(frozen=True, slots=True)
class BundleProposal:
    """A bundle that an engine made from another one and events; the merged titles; the engine's name in words."""

    bundle: Json
    gotchas: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    engine: str = "deterministic"


def consolidate(bundle: Json, events: Sequence[Json], exists: Callable[[str], bool]) -> BundleProposal:
    """Return the bundle with the content of events added, in their order.

    A gotcha or next step with an existing title extends that entry; `DONE:` removes the step with its title. Decisions
    are added to the current state, validations to the known risks, and paths to the key paths, where `exists` says that
    the workspace has them. Events that were written along with a bundle are skipped. Then entries that say the same are
    merged.
    """
    gotchas = _ByTitle(bundle["gotchas"], ("symptom", "cause", "correctPath"))
    steps = _ByTitle(bundle["nextSteps"], ("why", "start", "done"))
    state: list[str] = list(bundle["currentFocus"]["currentState"])
    risks: list[str] = list(bundle["currentFocus"]["knownRisks"])
    paths: list[str] = list(bundle["project"]["keyPaths"])
    known, looked = set(paths), set()
    for event in events:
        if is_echo(event):
            continue
        signals, source = event["signals"], event["sourceRef"]
        for text in signals["gotchas"]:
            gotchas.add(text, source)
        for text in signals["nextStepHints"]:
            _take_hint(text.strip(), source, steps)
        state += signals["decisions"]
        risks += signals["validationObservations"]
        for path in signals["keyPaths"]:
            if path not in known and path not in looked:
                looked.add(path)
                if exists(path):
                    known.add(path)
                    paths.append(path)
    merged_gotchas = merge_gotchas(gotchas.entries)
    merged_steps = merge_next_steps(steps.entries)
    focus = bundle["currentFocus"]
    after = {
        **bundle,
        "project": {**bundle["project"], "keyPaths": paths},
        "currentFocus": {
            **focus,
            "currentState": _lines(state),
            "knownRisks": _lines(risks),
            "suggestedNextActions": _lines(focus["suggestedNextActions"]),
        },
        "gotchas": merged_gotchas.items,
        "nextSteps": merged_steps.items,
    }
    return BundleProposal(
        after,
        _gone(bundle["gotchas"], merged_gotchas.absorbed),
        _gone(bundle["nextSteps"], merged_steps.absorbed),
    )


def _lines(texts: Iterable[str]) -> list[str]:
    return merge_lines(dict.fromkeys(texts)).items


def _gone(before: list[Json], absorbed: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the titles that were merged into others, those of the bundle first."""
    titles = [text for text, _ in absorbed]
    mine = {one["title"] for one in before}
    return tuple(sorted(dict.fromkeys(titles), key=lambda title: title not in mine))


def _halves(text: str) -> tuple[str, str]:
    """Return the text before the first colon and the text after it; a text without a colon is its own title."""
    title, _, rest = text.partition(":")
    return (title.strip(), rest.strip()) if title.strip() else (text.strip(" :") or text.strip(), "")


def _take_hint(text: str, source: str, steps: _ByTitle) -> None:
    """Add a hint: `DONE:` removes its step; any other is added, or sets where to begin with an existing step."""
    if text.startswith(_DONE):
        steps.remove(text.removeprefix(_DONE).strip())
    elif hint := text.removeprefix(_NEXT).strip():
        steps.add(hint, source)


class _ByTitle:
    """Gotchas or next steps by their titles, in their order.

    Of their three fields besides the title, the first says where an entry was noted, the second what was noted.
    """

    def __init__(self, entries: Iterable[Json], fields: tuple[str, str, str]) -> None:
        self._fields = fields
        self._entries: list[Json | None] = []
        self._places: dict[str, list[int]] = {}
        for entry in entries:
            self._append(dict(entry))

    @property
    def entries(self) -> list[Json]:
        return [entry for entry in self._entries if entry is not None]

    def _append(self, entry: Json) -> None:
        self._places.setdefault(_key(entry["title"]), []).append(len(self._entries))
        self._entries.append(entry)

    def add(self, text: str, source: str) -> None:
        """Add an entry; of an existing one with its title, set what was noted, if that says more."""
        title, said = _halves(text)
        noted, about, other = self._fields
        for place in self._places.get(_key(title), ()):
            known = self._entries[place]
            if known is not None:
                if said and (known[about] == NOT_SAID or len(said) > len(known[about])):
                    known[about] = said
                return
        self._append({"title": title, noted: f"Noted in {source}.", about: said or NOT_SAID, other: NOT_SAID})

    def remove(self, text: str) -> None:
        """Remove the entries with that title, or with the title before its colon."""
        for title in (text, _halves(text)[0]):
            for place in self._places.pop(_key(title), ()):
                self._entries[place] = None


def _key(title: str) -> str:
    return normalise(title) or title
