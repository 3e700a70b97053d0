"""The settings of curated memory in `$AGH_HOME/config.toml`, and the models that they name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from memory.base.clock import read_duration
from memory.base.toml_text import config_error, read_toml
from memory.curated.model import ORIGINS, Json
from memory.monitoring.result import NotInTime, NotUsed
from memory.storage import Store

if TYPE_CHECKING:
    from memory.trust.asks import Ask
    from memory.trust.consent import Trust

FILE = "config.toml"
_CODE = "memory.config"


def _one_line(value: object) -> bool:
    return isinstance(value, str) and value.isprintable()


def _whole(least: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= 2**53


def _share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _span(value: object) -> bool:
    return isinstance(value, str) and bool(read_duration(value))


def _origins(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(value.count(one) == 1 and one in ORIGINS for one in value)


_KINDS: Mapping[str, tuple[str, Callable[[object], object]]] = {
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "text": ("a text on one line", _one_line),
    "count": ("a whole number, 0 or more", _whole(0)),
    "positive": ("a whole number, 1 or more", _whole(1)),
    "share": ("a number from 0 to 1", _share),
    "span": ("a time such as 300ms, 60s, 10m or 24h", _span),
    "origins": (f"a list of some of {', '.join(ORIGINS)}, each once", _origins),
}
"""What a key of each kind takes, in words and as a test; other kinds are choices."""


class Key(NamedTuple):
    """One key: its `kind`, and what it changes (`does`).

    `kind` is bool, text, count (0 or more), positive, share, span, origins, or choices joined by `|`.
    """

    name: str
    default: object
    kind: str
    does: str


KEYS: tuple[Key, ...] = (
    Key("enabled", True, "bool", "whether memories are written and recalled"),
    Key("controller.mode", "hybrid", "hybrid|rules|llm", "whether a model is asked where the rules leave it open"),
    Key("controller.default_op_on_fail", "noop", "noop|reject", "what happens if the model fails to answer"),
    Key("controller.scan_profile", "standard", "standard|strict", "what the content scan rejects"),
    Key("controller.llm.enabled", True, "bool", "whether a model may be asked at all"),
    Key("controller.llm.command", "", "text", "the command that answers; it needs an approval (empty: none)"),
    Key("controller.llm.model", "anthropic/claude-haiku-4", "text", "the name that the trace gives the model"),
    Key("controller.llm.top_k", 5, "positive", "how many targets the model chooses from"),
    Key("controller.llm.timeout", "250ms", "span", "how long the model may take"),
    Key("controller.llm.max_tokens_out", 256, "positive", "the most tokens of its answer, of four bytes each"),
    Key("controller.policy.max_content_chars", 4096, "positive", "characters of one memory"),
    Key("controller.policy.max_writes_per_min", 60, "positive", "writes a minute"),
    Key("controller.policy.allow_origins", ORIGINS, "origins", "who may write"),
    Key("recall.top_k", 5, "positive", "how many memories a recall returns"),
    Key("recall.raw_candidates", 40, "positive", "how many candidates each word index returns"),
    Key("recall.weights.bm25_unicode", 0.55, "share", "weight of the index of words"),
    Key("recall.weights.bm25_trigram", 0.20, "share", "weight of the index of letters"),
    Key("recall.weights.recency", 0.15, "share", "weight of the age"),
    Key("recall.weights.recall_signal", 0.10, "share", "weight of earlier recalls"),
    Key("recall.semantic", False, "bool", "whether meaning counts, too, where words find little"),
    Key("recall.freshness.banner_after_days", 1, "count", "the age from which a memory carries a warning"),
    Key("recall.freshness.half_life_days", 14, "positive", "the age at which the weight of recency is a half"),
    Key("decisions.prune_after_applied_days", 90, "count", "days that decisions are kept (0: for ever)"),
    Key("extractor.enabled", True, "bool", "whether suggestions in the inbox are processed"),
    Key("extractor.deadline", "60s", "span", "how long an extraction may take"),
    Key("extractor.command", "", "text", "the command that suggests memories; it needs an approval (empty: none)"),
    Key("extractor.model", "", "text", "the model that the command is asked to use (empty: none)"),
    Key("extractor.queue.capacity", 1, "positive", "how many sessions are processed at a time"),
    Key("extractor.queue.coalesce_max", 16, "positive", "how many turns are joined at most"),
    Key("dream.enabled", True, "bool", "whether dreaming runs"),
    Key("dream.min_hours", 24, "count", "hours since the last run"),
    Key("dream.min_sessions", 3, "count", "sessions since the last run"),
    Key("dream.command", "", "text", "the command that writes the synthesis; it needs an approval (empty: none)"),
    Key("dream.timeout", "60s", "span", "how long that command may take"),
    Key("dream.gates.min_unpromoted", 5, "positive", "how many memories must be waiting to be promoted"),
    Key("dream.gates.min_recall_count", 2, "count", "how often each must have been recalled"),
    Key("dream.gates.min_score", 0.75, "share", "the lowest score of each"),
    Key("dream.scoring.recency_half_life_days", 14, "positive", "the half-life of its recency"),
    Key("dream.scoring.weights.frequency", 0.30, "share", "weight of the number of recalls"),
    Key("dream.scoring.weights.relevance", 0.35, "share", "weight of the recall signal"),
    Key("dream.scoring.weights.recency", 0.20, "share", "weight of the last recall"),
    Key("dream.scoring.weights.freshness", 0.15, "share", "weight of the first recall"),
    Key("daily.max_lines", 5000, "positive", "lines of a daily log"),
    Key("daily.cold_archive_days", 30, "count", "days until a daily log is archived"),
    Key("file.max_lines", 200, "positive", "how many lines of an index a prompt gets"),
    Key("file.max_bytes", 25600, "positive", "how many bytes of an index a prompt gets"),
    Key("provider.name", "", "text", "the provider of memories (empty: local)"),
    Key("provider.timeout", "2s", "span", "how long a provider may take"),
    Key("provider.failure_threshold", 5, "positive", "after how many failures in a row a provider is paused"),
    Key("provider.cooldown", "30s", "span", "how long it is paused"),
)
BY_NAME = {key.name: key for key in KEYS}
UNUSED = frozenset((
    "controller.max_latency", "controller.llm.prompt_version", "recall.fusion", "recall.include_already_surfaced",
    "recall.include_system", "recall.signals.queue_capacity", "recall.signals.worker_retry_max",
    "recall.signals.metrics_enabled", "decisions.keep_audit_summary", "decisions.max_post_content_bytes",
    "extractor.mode", "extractor.throttle_turns", "extractor.sandbox_inbox_only", "dream.debounce",
    "dream.prompt_version", "dream.check_interval", "session.ledger_format", "session.cold_archive_days",
    "session.hard_delete_days", "session.max_archive_bytes", "session.events_purge_grace",
    "daily.max_bytes", "daily.rotate_format", "daily.dreaming_window", "daily.hard_delete_days",
    "daily.max_archive_bytes", "daily.sweep_hour", "workspace.toml_path", "workspace.auto_create", "dream.agent",
))  # fmt: skip
"""Keys of agh without an effect here: a file that both programs read may have them."""


@dataclass(frozen=True, slots=True)
class CuratedSettings:
    """The values of all keys; `lines` are the lines of the keys that the file sets."""

    values: Mapping[str, Any]
    lines: Mapping[str, int]

    def __getitem__(self, name: str) -> Any:
        """Return the value of a key of `KEYS`."""
        return self.values[name]

    def seconds(self, name: str) -> float:
        """Return a span in seconds."""
        return read_duration(self.values[name]) or 0.0

    @property
    def names_commands(self) -> bool:
        """Whether any command is configured that answers for a model."""
        return any(self.values[key.name].strip() for key in KEYS if key.name.endswith(".command"))

    def json(self) -> list[Json]:
        """Return every key with its value, default and source."""
        return [
            {
                "key": key.name, "value": _plain(self.values[key.name]), "default": _plain(key.default),
                "source": f"{FILE}:{self.lines[key.name]}" if key.name in self.lines else "default",
                "does": key.does,
            }
            for key in KEYS
        ]  # fmt: skip


DEFAULTS = CuratedSettings({key.name: key.default for key in KEYS}, {})


def read_settings(store: Store | None) -> CuratedSettings:
    """Return the settings of a person; ConfigError `memory.config` with file and line for an error in them."""
    if store is None:
        return DEFAULTS
    stored = store.read(FILE)
    return settings_of(stored.data, str(store.root / FILE)) if stored.exists else DEFAULTS


def settings_of(data: bytes, file: str) -> CuratedSettings:
    """Return the settings of a file; errors as in `read_settings`."""
    toml = read_toml(data, file, code=_CODE)
    table = toml.values.get("memory", {})
    if not isinstance(table, Mapping):
        raise config_error(_CODE, "memory is not a table", file, toml.line_of("memory"))
    values = dict(DEFAULTS.values)
    lines: dict[str, int] = {}
    for name, value in _flat(table):
        if name in UNUSED:
            continue
        line = toml.line_of("memory", *name.split("."))
        key = BY_NAME.get(name)
        if key is None:
            near = get_close_matches(name, BY_NAME, 1)
            hint = f"did you mean memory.{near[0]}?" if near else "`memdeck curated config` lists the keys"
            raise config_error(_CODE, f"unknown key memory.{name[:80]}", file, line, hint)
        choices = key.kind.split("|")
        words, accepts = _KINDS.get(key.kind, (" or ".join(choices), choices.__contains__))
        if not accepts(value):
            raise config_error(_CODE, f"memory.{name} takes {words}", file, line)
        values[name] = tuple(value) if isinstance(value, list) else value
        lines[name] = line
    for weights in ("recall.weights", "dream.scoring.weights"):
        total = sum(values[key.name] for key in KEYS if key.name.startswith(f"{weights}."))
        if abs(total - 1) > 1e-6:
            name = next((one for one in lines if one.startswith(weights)), weights)
            at = toml.line_of("memory", *name.split("."))
            raise config_error(_CODE, f"the weights of memory.{weights} add up to {total:g}, not to 1", file, at)
    return CuratedSettings(values, lines)


def _flat(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        name = f"{path}{key}"
        known = any(one.startswith(f"{name}.") for one in (*BY_NAME, *UNUSED))
        if isinstance(value, Mapping) and (known or value):
            yield from _flat(value, f"{name}.")
        else:
            yield name, value


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


class Model(Protocol):
    """Answers questions; `ask` raises `ModelError` where there is no answer in time."""

    def ask(self, question: Json, *, seconds: float, limit: int, now: datetime) -> str:
        """Return the answer to a question as text: one JSON object of at most `limit` bytes."""


ModelError, ModelTimeoutError = NotUsed, NotInTime
"""Raised where there is no valid answer, and where none came in time; the text says why."""


def read_json(text: str, limit: int) -> Any:
    """Return the JSON value of an answer of at most `limit` bytes; ModelError for anything else."""
    if len(text.encode("utf-8", "surrogatepass")) > limit:
        raise ModelError("the answer is too long")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError("the answer is not one JSON object") from None


def read_value(text: str, key: str, limit: int) -> Any:
    """Return the value of an answer that is one JSON object with this key alone; ModelError for anything else."""
    values = read_json(text, limit)
    if not isinstance(values, dict) or set(values) != {key}:
        raise ModelError(f"the answer must have the key {key} and no other")
    return values[key]


_SPARE = 1
"""One byte more than the limit is read, so that an answer that is too long is recognised."""


_ROLES = {
    "tiebreaker": ("controller.llm.command", "controller.llm.timeout", "controller.llm.enabled"),
    "dream": ("dream.command", "dream.timeout", "dream.enabled"),
    "extractor": ("extractor.command", "extractor.deadline", "extractor.enabled"),
}
"""For each use of a model the settings of its command, its time limit, and whether it is in use."""


def model_asks(settings: CuratedSettings) -> dict[str, Ask]:
    """Return the commands of the settings as asks, by role; roles that are not in use are left out."""
    from memory.trust.asks import command_ask

    found = {}
    for role, (command, timeout, enabled) in _ROLES.items():
        text = settings[command].strip()
        if text and settings[enabled] and (role != "tiebreaker" or settings["controller.mode"] != "rules"):
            line, called = settings.lines.get(command, 1) - 1, f"{role} of curated memory"
            found[role] = command_ask(role, text, called, f"$AGH_HOME/{FILE}", line, timeout=settings[timeout])
    return found


def models_of(settings: CuratedSettings, trust: Trust, environ: Mapping[str, str]) -> dict[str, Model]:
    """Return the models of the settings by role."""
    return {name: _Command(ask, trust, environ) for name, ask in model_asks(settings).items()}


class _Command:
    """A model that runs a command for each question."""

    def __init__(self, ask: Ask, trust: Trust, environ: Mapping[str, str]) -> None:
        self._ask, self._trust, self._environ = ask, trust, environ

    def ask(self, question: Json, *, seconds: float, limit: int, now: datetime) -> str:  # noqa: ARG002
        """Return what the command prints; ModelError if there is no valid answer, ModelTimeoutError if none in time."""
        from memory.monitoring.command import ask_command

        decision = self._trust.decide(self._ask)
        if not decision.allowed:
            raise ModelError(f"the command is not approved: {decision.why}")
        text, limit = decision.text or "", limit + _SPARE
        return ask_command(text, question, trust=self._trust, environ=self._environ, seconds=seconds, limit=limit)
