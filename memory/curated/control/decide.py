"""The decision on a candidate: the rules in their order, each with the name that its trace carries.

Where the rules find several plausible targets a model may choose, the tiebreaker; its answer is parsed strictly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime

from memory.base.clock import format_utc
from memory.base.scan import THREAT, ScanHit, rejecting, scan
from memory.curated.files import digest, fault_of, filename, slug, text_of
from memory.curated.model import AUTONOMOUS, Header, Invalid, Json, Memory, Provenance
from memory.curated.settings import CuratedSettings, Model, ModelError, ModelTimeoutError, read_json
from memory.errors import RefusedError

from .decision import PROMPT_VERSION, Candidate, Decision, RuleTrace, View, hash_of, slot

COLLISION = "controller.exact_slug_collision"
"""The rule for a candidate whose name belongs to another memory."""
_CONFIDENCE = {"reject": 1.0, "noop": 0.95}
_TIMEOUT = "memory.controller.timeout"
_CONTENT, _TARGET = 1000, 300
_KEYS = {"op", "target_id", "confidence", "reason"}
Read = Callable[[str], bytes | None]
"""Returns the bytes of a file of the folder, None where it does not exist."""


def changed_meanwhile(name: str) -> RefusedError:
    """Return the error for a file that changed after the decision was made."""
    return RefusedError("memory.changed", f"{name} changed meanwhile", "look at it and try again")


class Controller:
    """Decides on one candidate for a folder of memories; nothing is written.

    The decision so far: the operation `op`, the memory `target` it is about, the file to write, the reason, and the
    traces of the rules. `open` are the plausible targets where the rules leave the choice open.
    """

    def __init__(self, candidate: Candidate, view: View, settings: CuratedSettings) -> None:
        """Nothing is decided yet."""
        self._candidate, self._view, self._settings = candidate, view, settings
        self.op, self.filename, self.reason = "noop", "", ""
        self.target: Memory | None = None
        self.traces: list[RuleTrace] = []
        self.open: Sequence[Memory] = ()

    def decide(self, read: Read, *, now: datetime, writes: int, tiebreaker: Model | None) -> Decision:
        """Return the decision, without key and id; `writes` is the number of writes in the last minute.

        RefusedError `memory.file_invalid` and `memory.exists` for a file that must not be overwritten, and
        `memory.changed` for one that changed between two readings.
        """
        candidate, settings = self._candidate, self._settings
        self._judge(writes)
        confidence, source, llm = _CONFIDENCE.get(self.op, 0.9), "rule", None
        mode = settings["controller.mode"]
        if not self.open and mode == "llm" and self.op == "add":
            self.open = self._view.alike(candidate.content)
        if self.open and tiebreaker is not None and mode != "rules" and settings["controller.llm.enabled"]:
            source = "llm"
            llm, confidence = self._ask(tiebreaker, confidence, now)
        # A rejected text may be a secret or an instruction to a model: nothing of it is kept.
        header = None if self.op == "reject" else candidate.header
        made = Decision(
            candidate.root, self.op, () if self.target is None else (self.target.filename,), self.filename,
            _bounded(candidate.metadata.get("reason") or self.reason, self.op), tuple(self.traces), confidence,
            candidate.hash, candidate.origin, {} if header is None else header.json(),
            "" if header is None else slot(candidate.entity), "" if header is None else slot(candidate.attribute),
            source=source, llm_trace=llm, workspace_id=candidate.workspace_id,
        )  # fmt: skip
        return self._with_bytes(made, read, now) if made.changes else made

    def _end(self, op: str, rule: str, reason: str, target: Memory | None = None, *, passed: bool = True) -> None:
        """Keep what a rule has decided."""
        name = "" if target is None else target.filename
        self.traces.append(RuleTrace(rule, passed, reason, name))
        self.op, self.target, self.reason = op, target, reason
        self.filename = self.filename or name

    # -- the rules ------------------------------------------------------------------------------------------------

    def _judge(self, writes: int) -> None:
        candidate = self._candidate
        self._limits(writes)
        if self.op == "reject" or self._scan():
            return
        target = None if candidate.target is None else self._there(_ending(candidate.target))
        if not candidate.deletes:
            self._write(target)
        elif target is None:
            self.filename = _ending(candidate.target or "")
            self._end("noop", "controller.delete_missing", "there is no such memory")
        else:
            self._end("delete", "controller.delete_target", "on request", target)

    def _limits(self, writes: int) -> None:
        """Reject what the policy does not allow."""
        policy = {key: self._settings[f"controller.policy.{key}"]
                  for key in ("allow_origins", "max_content_chars", "max_writes_per_min")}  # fmt: skip
        origin, length = self._candidate.origin, len(self._candidate.content)
        most, rate = policy["max_content_chars"], policy["max_writes_per_min"]
        for rule, broken, reason in (
            ("allow_origins", origin not in policy["allow_origins"], f"the origin {origin} may not write"),
            ("max_content_chars", length > most, f"the content has {length} characters of {most}"),
            ("max_writes_per_min", writes >= rate, f"the limit of {rate} writes per minute is reached"),
        ):
            if broken:
                return self._end("reject", f"controller.policy.{rule}", reason, passed=False)
        return None

    def _scan(self) -> bool:
        """Scan all texts of the candidate; return whether it is rejected. No text becomes part of a trace."""
        candidate, hits = self._candidate, list[ScanHit]()
        fault = None if candidate.target is None else fault_of(_ending(candidate.target))
        if fault is not None:
            hits.append(ScanHit(fault[0], THREAT, "reject", len((candidate.target or "").encode("utf-8", "replace"))))
        if not candidate.deletes and candidate.header is not None:
            texts = (candidate.header.name, candidate.header.description, candidate.content)
            profile = self._settings["controller.scan_profile"]
            hits += scan((*texts, candidate.entity, candidate.attribute), profile)
        for hit in hits:
            details, words = f"{hit.action} sample_bytes={hit.size}", f"{hit.category}: {hit.rule}"
            passed = hit.action != "reject"
            self.traces.append(RuleTrace(f"memory_scan.{hit.rule}", passed, words, hit.category, details))
        rejected = ",".join(hit.rule for hit in hits if hit.action == "reject")
        if rejected:
            self.op, self.reason = "reject", f"content scan: {rejected}"
        return bool(rejected)

    def _write(self, target: Memory | None) -> None:
        """Decide on a memory to write; `target` is the one that the candidate names."""
        candidate, view = self._candidate, self._view
        assert candidate.header is not None
        header, origin, explicit = candidate.header, candidate.origin, candidate.target is not None
        own = _ending(candidate.target) if candidate.target else filename(header.type, header.name)
        there = target if explicit else self._there(own)
        # 3. The same body: of the memory that is meant, or of another one with the same text.
        same = view.same_body(candidate.content)
        meant = there
        if not explicit and there is None:
            meant = next((one for one in same if one.slug == slug(header.name)), None)
        if meant is not None and any(one.filename == meant.filename for one in same):
            if candidate.only_new or meant.header.same(header):
                return self._end("noop", "controller.exact_hash", "the memory already says exactly that", meant)
            return self._update(meant, own, "controller.exact_hash", "the same text under another header")
        if same and not candidate.edits:
            return self._end("noop", "controller.exact_hash", "another memory already says exactly that", same[0])
        if origin in AUTONOMOUS and view.was_deleted(candidate.content):
            self.filename = own
            return self._end(
                "noop", "controller.forgotten", "a person deleted this text; only a person can add it again"
            )
        # 4. The file exists.
        if there is not None and origin in ("extractor", "dreaming") and not explicit:
            reason = "the generated name belongs to another memory"
            return self._end("noop", COLLISION, reason, there)
        if there is not None and candidate.only_new:
            return self._end("noop", COLLISION, "another memory has that name", there)
        if there is not None:
            return self._update(there, own, COLLISION, "new text for the memory of that name")
        # 5. The same fact by entity and attribute.
        slots = view.slot(candidate.entity, candidate.attribute) if candidate.entity and candidate.attribute else []
        if len(slots) == 1:
            (fact,) = slots
            if fact.body.strip() == candidate.content.strip():
                return self._end("noop", "controller.entity_slot_no_change", "this fact is already known", fact)
            reason = "this fact has another value now"
            return self._update(fact, fact.filename, "controller.entity_slot_update", reason)
        # 6. Several memories that may be meant.
        targets = slots if len(slots) > 1 else view.alike(candidate.content)
        if len(targets) > 1 and not (origin == "dreaming" and explicit):
            if origin in AUTONOMOUS or slot(header.name) in {slot(one.header.name) for one in targets}:
                self.open, self.reason = targets, "several memories match, so nothing is changed"
                names = ",".join(sorted(one.filename for one in targets))
                self.traces.append(RuleTrace("controller.ambiguous_targets", False, self.reason, "", names))
                return None
            reason = "the name is a new one, chosen by a person"
            self.traces.append(RuleTrace("controller.explicit_target_filename", True, reason, own))
        # 7. Something new.
        self.op, self.reason, self.filename = "add", "no memory says this yet", own
        self.traces.append(RuleTrace("controller.fresh_slot", True, self.reason, own))
        return None

    def _update(self, memory: Memory, name: str, rule: str, reason: str) -> None:
        """Keep that a memory is written: in its own file, or in one of the new type where the type changes."""
        assert self._candidate.header is not None
        kind = self._candidate.header.type
        self.filename = name
        if memory.header.type == kind:
            self.filename = memory.filename
        elif self._candidate.edits or name == memory.filename:
            self.filename = f"{kind}_{memory.slug}.md"
        self._end("update", rule, reason, memory)

    def _there(self, name: str) -> Memory | None:
        found = self._view.file(name)
        if isinstance(found, Invalid):
            words = f"{found.filename}:{found.line}: {found.reason}"
            hint = "fix the file, or choose another name; memdeck never overwrites it"
            raise RefusedError("memory.file_invalid", words, hint, **found.details())
        return found

    # -- the bytes ------------------------------------------------------------------------------------------------

    def _with_bytes(self, made: Decision, read: Read, now: datetime) -> Decision:
        """Return a decision with the bytes of its file before and after."""
        target, candidate = self.target, self._candidate
        prior = None if made.op == "add" else read(made.source_file)
        if target is not None and hash_of(prior) != target.hash:
            raise changed_meanwhile(target.filename)
        new = made.target_filename != made.source_file or made.op == "add"
        if new and self._view.file(made.target_filename) is not None:
            words = f"{made.target_filename} already exists"
            raise RefusedError("memory.exists", words, "choose another name or type")
        made = made._replace(prior=prior, prior_hash=hash_of(prior))
        if made.op == "delete":
            return made
        assert candidate.header is not None
        header = _stamped(candidate.header, candidate.origin, target, now)
        post = text_of(header, candidate.content).encode()
        return made._replace(header=header.json(), post=post, post_hash=digest(post))

    # -- the tiebreaker -------------------------------------------------------------------------------------------

    def _ask(self, tiebreaker: Model, confidence: float, now: datetime) -> tuple[Json, float]:
        """Ask about the targets and keep the answer; return the trace and the confidence."""
        settings, candidate = self._settings, self._candidate
        assert candidate.header is not None
        offered = {one.filename: one for one in self.open[: settings["controller.llm.top_k"]]}
        limit, seconds = settings["controller.llm.max_tokens_out"] * 4, settings.seconds("controller.llm.timeout")
        header, kind = candidate.header, candidate.header.type
        question: Json = {
            "version": PROMPT_VERSION,
            "candidate": {
                "name": header.name, "type": kind, "description": header.description, "entity": candidate.entity,
                "attribute": candidate.attribute, "content": candidate.content[:_CONTENT],
            },
            "targets": [
                {"target_id": name, "name": one.header.name, "type": one.header.type, "content": one.body[:_TARGET]}
                for name, one in offered.items()
            ],
            "answer": {"op": "noop|add|update|delete", "target_id": "one of the targets, or null",
                       "confidence": "0 to 1", "reason": "one sentence"},
        }  # fmt: skip
        model = settings["controller.llm.model"]
        trace: Json = {"model": model, "prompt_version": PROMPT_VERSION, "latency_ms": 0, "error": None}
        begun = time.perf_counter()
        try:
            answer = _read_answer(tiebreaker.ask(question, seconds=seconds, limit=limit, now=now), [*offered], limit)
        except ModelError as error:
            late = f"{_TIMEOUT}: " if isinstance(error, ModelTimeoutError) else ""
            trace["error"] = f"{late}{error}"[:240]
            self.traces.append(RuleTrace("controller.tiebreak_failed", False, trace["error"]))
            self.op, self.target, self.filename = settings["controller.default_op_on_fail"], None, ""
            self.reason = "the tiebreaker gave no valid answer"
            return trace, confidence
        finally:
            trace["latency_ms"] = round((time.perf_counter() - begun) * 1000)
        op, name = answer["op"], answer["target_id"]
        self.traces.append(RuleTrace("controller.tiebreak", True, f"the answer is {op}", name or ""))
        self.op, self.reason, self.target = op, _clean(answer["reason"]), offered.get(name)
        self.filename = self.target.filename if self.target is not None else ""
        if op == "add":
            self.filename = candidate.target or filename(kind, header.name)
        elif op == "update" and self.target is not None and kind != self.target.header.type:
            self.filename = f"{kind}_{self.target.slug}.md"
        return trace, answer["confidence"]


def _read_answer(text: str, offered: Sequence[str], limit: int) -> Json:
    """Return the parsed answer; ModelError for anything but exactly one JSON object with the four keys.

    `target_id` is one of those offered, None where the operation needs none.
    """
    values = read_json(text, limit)
    if not isinstance(values, dict) or not set(values) <= _KEYS or not {"op", "confidence", "reason"} <= set(values):
        raise ModelError("the answer lacks the keys op, target_id, confidence and reason")
    op, target, confidence, reason = (values.get(key) for key in ("op", "target_id", "confidence", "reason"))
    if op not in ("noop", "add", "update", "delete"):
        raise ModelError("the answer names no operation")
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 <= confidence <= 1:
        raise ModelError("the confidence is not a number from 0 to 1")
    if not isinstance(reason, str) or not reason.strip():
        raise ModelError("the answer gives no reason")
    needed = op in ("update", "delete")
    if target not in (offered if needed else (None, "", *offered)):
        raise ModelError("the answer names a target that was not offered")
    reason = " ".join(reason.split())[:240]
    return {"op": op, "target_id": target if needed else None, "confidence": float(confidence), "reason": reason}


def _stamped(header: Header, origin: str, before: Memory | None, now: datetime) -> Header:
    """Return a header with author and time of the write; provenance of the earlier version is kept."""
    source = header.provenance
    old = Provenance() if before is None else before.header.provenance
    sessions = tuple(dict.fromkeys((*old.source_sessions, *source.source_sessions)))
    confidence, replaced = source.confidence or old.confidence, source.superseded_by or old.superseded_by
    moment = format_utc(now)
    return header._replace(
        provenance=Provenance(origin, sessions, confidence, replaced, old.created_at or moment, moment)
    )


def _ending(name: str) -> str:
    return name if name.endswith(".md") else f"{name}.md"


def _clean(reason: str) -> str:
    """Return the reason of an answer, or a plain one where the content scan would reject it."""
    if rejecting((reason,)):
        return "the reason of the answer is left out: the content scan rejects it"
    return reason


def _bounded(reason: str, op: str) -> str:
    """Return a reason of at most 240 bytes; a caller's reason that the scan rejects is left out."""
    text = _clean(" ".join(reason.split()))
    return text.encode("utf-8", "replace")[:240].decode("utf-8", "ignore") if text else op
