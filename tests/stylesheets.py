"""The rules of Textual's style sheets, worked out once for the thousand applications of a test run.

Continuous integration has each application work out its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

from textual.app import App
from textual.cache import LRUCache
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

from tests.examples import WHOLE


class _Parsed(LRUCache[Any, Any]):
    """What was parsed with some variables, for all applications that have the same ones."""

    def clear(self) -> None:
        """Keep it: other variables have a cache of their own."""


_parse_rules = Stylesheet._parse_rules


@lru_cache(8)
def _parsed(variables: frozenset[tuple[str, str]]) -> _Parsed:
    return _Parsed(2048)


def _parse_rules_once(self: Stylesheet, *arguments: Any, **options: Any) -> list[RuleSet]:
    """Return the rules of a source, which a thousand applications of one test run have alike."""
    if getattr(self, "_parsed_with", None) is not self._variables:
        self._parsed_with = self._variables
        self._parse_cache = _parsed(frozenset(self._variables.items()))
    return _parse_rules(self, *arguments, **options)


_apply_rules = Stylesheet.apply
_FLAGS = ("_has_hover_style", "_has_focus_within", "_has_order_style", "_has_odd_or_even")
_OF_PATHS = {"disabled", "enabled", "dark", "light", "inline", "ansi", "nocolor"}


class _Rules:
    """The rules that a kind of node may have, in their order."""

    def __init__(self, rules: tuple[RuleSet, ...]) -> None:
        self._kept = rules
        """As long as they are there, no others are known by the same numbers."""
        self._asked = set().union(*(rule.pseudo_classes for rule in rules))
        self._asked -= Stylesheet._EXCLUDE_PSEUDO_CLASSES_FROM_CACHE
        self._checks: dict[type, list[Callable[[Any], bool]]] = {}

    def state(self, node: Any) -> Hashable:
        """Return what selectors may ask of a node, but for where it stands among its siblings.

        A widget is disabled where it or one around it was made so, and as dark as its application: all stand in a path.
        """
        kind = type(node)
        if (checks := self._checks.get(kind)) is None:
            asked = self._asked if issubclass(kind, App) else self._asked - _OF_PATHS
            checks = self._checks[kind] = [check for name, check in kind._PSEUDO_CLASSES.items() if name in asked]
        state = getattr(node, "disabled", False), *[check(node) for check in checks]
        return kind, node._id, frozenset(node._classes), state


_rules: LRUCache[tuple[int, ...], _Rules] = LRUCache(2048)
_styled: LRUCache[Any, Any] = LRUCache(4096)


def _rules_of(sheet: Stylesheet, node: Any) -> _Rules:
    """Return the rules of a node; they are the same objects from one application to the next."""
    rules_map = sheet.rules_map
    if getattr(sheet, "_looked_up_in", None) is not rules_map:
        sheet._looked_up_in, sheet._looked_up = rules_map, {}
    looked_up: dict[Hashable, _Rules] = sheet._looked_up
    kind = (type(node), node._id, frozenset(node._classes))
    if (found := looked_up.get(kind)) is None:
        some = {rule for name in rules_map.keys() & node._selector_names for rule in rules_map[name]}
        rules = tuple(filter(some.__contains__, sheet.rules))
        numbers = tuple(map(id, rules))
        if (known := _rules.get(numbers)) is None:
            known = _rules[numbers] = _Rules(rules)
        found = looked_up[kind] = known
    return found


def _key(sheet: Stylesheet, node: Any) -> Hashable:
    known = _rules_of(sheet, node)
    return known, *map(known.state, node.css_path_nodes)


def check_rules(sheet: Stylesheet, node: Any) -> bool:
    """Whether anything is remembered of such a node; AssertionError where Textual works out something else."""
    found = _styled.get(_key(sheet, node))
    if found is not None:
        rules: dict[Any, Any] = {}
        _apply_rules(sheet, node, cache=rules)
        assert [*rules.values(), [getattr(node, name) for name in _FLAGS]] == [*found], node
    return found is not None


def _apply_rules_once(self: Stylesheet, node: Any, *, animate: bool = False, cache: object = None) -> None:
    """Style a node; what its rules come to is worked out once for all of which selectors can ask nothing different.

    What Textual keeps of it lasts for one update of one application. Both leave out what depends on siblings.
    """
    key = _key(self, node)
    found = _styled.get(key)
    if found is None:
        rules: dict[Any, Any] = {}
        _apply_rules(self, node, animate=animate, cache=rules)
        if rules:
            _styled[key] = (*rules.values(), [getattr(node, name) for name in _FLAGS])
        return
    rules, flags = found
    for name, flag in zip(_FLAGS, flags, strict=True):
        setattr(node, name, flag)
    self.replace_rules(node, rules, animate=animate)
    self._process_component_classes(node)


def remember_rules() -> None:
    """Parse each source once, and where not all examples are tried work out the rules of like nodes once."""
    Stylesheet._parse_rules = _parse_rules_once
    if not WHOLE:
        Stylesheet.apply = _apply_rules_once
