"""Every key of `[memory]`: its default and what it takes."""

from __future__ import annotations

from memory.curated.model import ORIGINS
from memory.named_tuple import NamedTuple


class Key(NamedTuple):
    """One key: `kind` is bool, text, path, count (0 or more), positive, share (0 to 1), span, origins, rotation, or
    choices joined by `|`. `does` says what it changes, `locked` that it cannot be changed while memdeck runs.
    """

    name: str
    default: object
    kind: str
    does: str
    locked: bool = False


KEYS: tuple[Key, ...] = (
    Key("enabled", True, "bool", "whether memories are written and recalled"),
    Key("global_dir", "", "path", "the folder of global memories, inside of $AGH_HOME (empty: memory)", True),
    Key("controller.mode", "hybrid", "hybrid|rules|llm", "whether a model is asked where the rules leave it open"),
    Key("controller.max_latency", "300ms", "span", "how long a decision may wait for the model"),
    Key("controller.default_op_on_fail", "noop", "noop|reject", "what becomes of a question that the model fails"),
    Key("controller.scan_profile", "standard", "standard|strict", "what the content scan rejects"),
    Key("controller.llm.enabled", True, "bool", "whether a model may be asked at all"),
    Key("controller.llm.command", "", "text", "the command that answers; it needs an approval (empty: none)"),
    Key("controller.llm.model", "anthropic/claude-haiku-4", "text", "the name that the trace gives the model"),
    Key("controller.llm.top_k", 5, "positive", "how many targets the model chooses from"),
    Key("controller.llm.prompt_version", "v1", "text", "the version of the question"),
    Key("controller.llm.timeout", "250ms", "span", "how long the model may take"),
    Key("controller.llm.max_tokens_out", 256, "positive", "a quarter of the bytes that its answer may have"),
    Key("controller.policy.max_content_chars", 4096, "positive", "characters of one memory"),
    Key("controller.policy.max_writes_per_min", 60, "positive", "writes a minute"),
    Key("controller.policy.allow_origins", ORIGINS, "origins", "who may write"),
    Key("recall.top_k", 5, "positive", "how many memories a recall returns"),
    Key("recall.raw_candidates", 40, "positive", "how many each word index gives"),
    Key("recall.fusion", "weighted", "weighted|rrf", "how the scores of the indexes are joined"),
    Key("recall.include_already_surfaced", False, "bool", "whether memories shown before are shown again"),
    Key("recall.include_system", False, "bool", "whether files of _system are found"),
    Key("recall.weights.bm25_unicode", 0.55, "share", "weight of the index of words"),
    Key("recall.weights.bm25_trigram", 0.20, "share", "weight of the index of letters"),
    Key("recall.weights.recency", 0.15, "share", "weight of the age"),
    Key("recall.weights.recall_signal", 0.10, "share", "weight of earlier recalls"),
    Key("recall.freshness.banner_after_days", 1, "count", "the age from which a memory carries a warning"),
    Key("recall.freshness.half_life_days", 14, "positive", "the age at which the weight of recency is a half"),
    Key("recall.signals.queue_capacity", 256, "positive", "recalls that wait to be counted"),
    Key("recall.signals.flush_interval", "5s", "span", "how long a recall waits to be counted"),
    Key("recall.signals.worker_retry_max", 3, "count", "how often counting is tried again"),
    Key("recall.signals.metrics_enabled", True, "bool", "whether dropped signals are noted as events"),
    Key("decisions.prune_after_applied_days", 90, "count", "days that decisions are kept (0: for ever)"),
    Key("decisions.keep_audit_summary", True, "bool", "whether a summary stays of decisions that go"),
    Key("decisions.max_post_content_bytes", 65536, "positive", "bytes of a file that a decision keeps"),
    Key("extractor.enabled", True, "bool", "whether the inbox is consumed"),
    Key("extractor.mode", "post_message", "post_message", "when the extractor looks at turns"),
    Key("extractor.throttle_turns", 1, "positive", "turns between two extractions"),
    Key("extractor.deadline", "60s", "span", "how long an extraction may take"),
    Key("extractor.sandbox_inbox_only", True, "bool", "whether the extractor writes to its inbox only"),
    Key("extractor.inbox_path", "_inbox", "path", "the folder of candidates"),
    Key("extractor.dlq_path", "_system/extractor/failures", "path", "the folder of candidates that failed"),
    Key("extractor.command", "", "text", "the command that names candidates; it needs an approval (empty: none)"),
    Key("extractor.model", "", "text", "the model that the question to the command names (empty: none)"),
    Key("extractor.queue.capacity", 1, "positive", "sessions at a time"),
    Key("extractor.queue.coalesce_max", 16, "positive", "turns that are joined at most"),
    Key("dream.enabled", True, "bool", "whether dreaming runs"),
    Key("dream.agent", "dreaming-curator", "text", "in whose name it runs"),
    Key("dream.min_hours", 24, "count", "hours since the last run"),
    Key("dream.min_sessions", 3, "count", "sessions since the last run"),
    Key("dream.debounce", "10m", "span", "how long maintenance waits after a run that failed"),
    Key("dream.command", "", "text", "the command that writes the synthesis; it needs an approval (empty: none)"),
    Key("dream.timeout", "60s", "span", "how long that command may take"),
    Key("dream.prompt_version", "v1", "text", "the version of its prompt"),
    Key("dream.check_interval", "30m", "span", "how often maintenance looks at its gates"),
    Key("dream.gates.min_unpromoted", 5, "positive", "memories that wait to be promoted"),
    Key("dream.gates.min_recall_count", 2, "count", "recalls of each"),
    Key("dream.gates.min_score", 0.75, "share", "score of each"),
    Key("dream.scoring.recency_half_life_days", 14, "positive", "the half-life of its recency"),
    Key("dream.scoring.weights.frequency", 0.30, "share", "weight of the number of recalls"),
    Key("dream.scoring.weights.relevance", 0.35, "share", "weight of the recall signal"),
    Key("dream.scoring.weights.recency", 0.20, "share", "weight of the last recall"),
    Key("dream.scoring.weights.freshness", 0.15, "share", "weight of the first recall"),
    Key("session.ledger_format", "jsonl", "jsonl", "the form of session ledgers"),
    Key("session.ledger_root", "sessions", "path", "the folder of session ledgers", True),
    Key("session.events_purge_grace", "24h", "span", "how long events of a session stay"),
    Key("session.cold_archive_days", 30, "count", "days until a ledger is archived"),
    Key("session.hard_delete_days", 0, "count", "days until an archived ledger is deleted (0: never)"),
    Key(
        "session.max_archive_bytes",
        10 * 1024**3,
        "positive",
        "bytes of archived ledgers; beyond, the oldest go",
    ),
    Key("session.unbound_partition", "_unbound", "segment", "the folder of sessions without a workspace"),
    Key("daily.max_bytes", 1024**2, "positive", "bytes of a daily log"),
    Key("daily.max_lines", 5000, "positive", "lines of a daily log"),
    Key("daily.rotate_format", "{date}.{seq}.md", "rotation", "the name of a daily log that is full"),
    Key("daily.dreaming_window", 7, "count", "days of daily logs that dreaming reads"),
    Key("daily.cold_archive_days", 30, "count", "days until a daily log is archived"),
    Key("daily.hard_delete_days", 0, "count", "days until a daily log is deleted (0: never)"),
    Key("daily.max_archive_bytes", 1024**3, "positive", "bytes of all archived daily logs"),
    Key("daily.sweep_hour", 3, "hour", "the hour of the sweep"),
    Key("daily.archive_path", "_system/archive", "path", "the folder of archived daily logs"),
    Key("file.max_lines", 200, "positive", "lines of an index that a prompt gets"),
    Key("file.max_bytes", 25600, "positive", "bytes of an index that a prompt gets"),
    Key("provider.name", "", "text", "the provider of memories (empty: local)"),
    Key("provider.timeout", "2s", "span", "how long a provider may take"),
    Key("provider.failure_threshold", 5, "positive", "failures that open the breaker"),
    Key("provider.cooldown", "30s", "span", "how long the breaker stays open"),
    Key("workspace.toml_path", ".agh/workspace.toml", ".agh/workspace.toml", "the file of the identity", True),
    Key("workspace.auto_create", True, "bool", "whether the first write gives a workspace an identity"),
)
BY_NAME = {key.name: key for key in KEYS}
