"""The engine of a recall that needs no model: what events say is taken into a bundle, by titles and by likeness."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memory.state.files.model import Json, is_echo

from .likeness import merge_gotchas, merge_lines, merge_next_steps, normalise

NOT_SAID = "Not recorded."
"""What stands where a session did not say a field of a gotcha or of a next step."""

_DONE, _NEXT = "DONE:", "NEXT:"


@dataclass(frozen=True, slots=True)
class BundleProposal:
    """A bundle that an engine makes of another one and of events; what merged, by title; who made it, in words."""

    bundle: Json
    gotchas: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    engine: str = "deterministic"


def consolidate(bundle: Json, events: Sequence[Json], exists: Callable[[str], bool]) -> BundleProposal:
    """Return the bundle with what events say, in their order.

    A gotcha or a next step of a title that is there adds to it; `DONE:` takes the step of its title away; decisions
    join the current state, validations the known risks, and paths the key paths, where `exists` says that the
    workspace has them. Events that were written along with a bundle say nothing new. Then what says the same is merged.
    """
    gotchas = [dict(one) for one in bundle["gotchas"]]
    steps = [dict(one) for one in bundle["nextSteps"]]
    state: list[str] = list(bundle["currentFocus"]["currentState"])
    risks: list[str] = list(bundle["currentFocus"]["knownRisks"])
    paths: list[str] = list(bundle["project"]["keyPaths"])
    by_title = {normalise(one["title"]): one for one in reversed(gotchas)}
    by_step = _ByTitle(steps)
    known, looked = set(paths), set()
    for event in events:
        if is_echo(event):
            continue
        signals, source = event["signals"], event["sourceRef"]
        for text in signals["gotchas"]:
            _add_gotcha(text, source, gotchas, by_title)
        for text in signals["nextStepHints"]:
            by_step.take(text, source)
        state += signals["decisions"]
        risks += signals["validationObservations"]
        for path in signals["keyPaths"]:
            if path not in known and path not in looked:
                looked.add(path)
                if exists(path):
                    known.add(path)
                    paths.append(path)
    merged_gotchas = merge_gotchas(gotchas)
    merged_steps = merge_next_steps(by_step.steps)
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
    """Return the titles that went into another one, those of the bundle first."""
    titles = [text for text, _ in absorbed]
    mine = {one["title"] for one in before}
    return tuple(sorted(dict.fromkeys(titles), key=lambda title: title not in mine))


def _halves(text: str) -> tuple[str, str]:
    """Return what stands before the first colon, and what behind it; a text without one is its own title."""
    title, _, rest = text.partition(":")
    return (title.strip(), rest.strip()) if title.strip() else (text.strip(" :") or text.strip(), "")


def _add_gotcha(text: str, source: str, gotchas: list[Json], by_title: dict[str, Json]) -> None:
    title, rest = _halves(text)
    key = normalise(title) or title
    known = by_title.get(key)
    if known is None:
        known = {"title": title, "symptom": f"Noted in {source}.", "cause": rest or NOT_SAID, "correctPath": NOT_SAID}
        gotchas.append(known)
        by_title[key] = known
    elif rest and (known["cause"] == NOT_SAID or len(rest) > len(known["cause"])):
        known["cause"] = rest


class _ByTitle:
    """Next steps by their titles, in their order."""

    def __init__(self, steps: Iterable[Json]) -> None:
        self._steps: list[Json | None] = list(steps)
        self._places: dict[str, list[int]] = {}
        for place, step in enumerate(self._steps):
            if step is not None:
                self._places.setdefault(_key(step["title"]), []).append(place)

    @property
    def steps(self) -> list[Json]:
        return [step for step in self._steps if step is not None]

    def take(self, text: str, source: str) -> None:
        """Take in a hint: one that is done goes, any other comes, or says where to begin with the one there is."""
        text = text.strip()
        if text.startswith(_DONE):
            self._remove(text.removeprefix(_DONE).strip())
            return
        title, rest = _halves(text.removeprefix(_NEXT).strip())
        if not title:
            return
        for place in self._places.get(_key(title), ()):
            known = self._steps[place]
            if known is not None:
                if rest and (known["start"] == NOT_SAID or len(rest) > len(known["start"])):
                    known["start"] = rest
                return
        step = {"title": title, "why": f"Noted in {source}.", "start": rest or NOT_SAID, "done": NOT_SAID}
        self._places.setdefault(_key(title), []).append(len(self._steps))
        self._steps.append(step)

    def _remove(self, text: str) -> None:
        for title in (text, _halves(text)[0]):
            for place in self._places.pop(_key(title), ()):
                self._steps[place] = None


def _key(title: str) -> str:
    return normalise(title) or title
