"""The seven rules of the controller, in their order, each with the name that its trace carries."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory.base.scan import THREAT, ScanHit, scan
from memory.curated.files.names import fault_of, filename, slug
from memory.curated.model import AUTONOMOUS, Invalid, Memory
from memory.curated.settings import CuratedSettings
from memory.errors import RefusedError

from .candidate import Candidate, slot
from .decision import RuleTrace
from .view import View

_CONFIDENCE = {"reject": 1.0, "noop": 0.95}


@dataclass(slots=True)
class RulesVerdict:
    """The result of the rules: the operation, the memory it is about, the file to write, and the traces on the way.

    `open` are the plausible targets where the rules leave the choice open.
    """

    op: str = "noop"
    target: Memory | None = None
    filename: str = ""
    reason: str = ""
    traces: list[RuleTrace] = field(default_factory=list)
    open: tuple[Memory, ...] = ()

    @property
    def confidence(self) -> float:
        """The confidence of the rules."""
        return _CONFIDENCE.get(self.op, 0.9)

    def end(
        self, op: str, rule: str, reason: str, target: Memory | None = None, *, passed: bool = True
    ) -> RulesVerdict:
        """Return the verdict that a rule has reached."""
        name = "" if target is None else target.filename
        self.traces.append(RuleTrace(rule, passed, reason, name))
        self.op, self.target, self.reason = op, target, reason
        self.filename = self.filename or name
        return self


COLLISION = "controller.exact_slug_collision"
"""The rule for a candidate whose name belongs to another memory."""


def judge(candidate: Candidate, view: View, settings: CuratedSettings, writes: int) -> RulesVerdict:
    """Return the verdict on a candidate; `writes` is the number of writes in the last minute.

    RefusedError `memory.file_invalid` where the file to write exists and is not a memory: it is never overwritten.
    """
    verdict = RulesVerdict()
    if _limits(candidate, settings, writes, verdict) or _scan(candidate, settings, verdict):
        return verdict
    target = None if candidate.target is None else _valid(view.file(_ending(candidate.target)))
    if candidate.deletes:
        if target is None:
            verdict.filename = _ending(candidate.target or "")
            return verdict.end("noop", "controller.delete_missing", "there is no such memory")
        return verdict.end("delete", "controller.delete_target", "the memory is to be forgotten", target)
    return _write(candidate, view, verdict, target)


def _write(candidate: Candidate, view: View, verdict: RulesVerdict, target: Memory | None) -> RulesVerdict:
    assert candidate.header is not None
    header, origin = candidate.header, candidate.origin
    own = _ending(candidate.target) if candidate.target else filename(header.type, header.name)
    there = target if candidate.target else _valid(view.file(own))
    explicit = candidate.target is not None
    # 3. The same body: of the memory that is meant, or of another one with the same text.
    same = view.same_body(candidate.content)
    meant = there
    if not explicit and there is None:
        meant = next((one for one in same if one.slug == slug(header.name)), None)
    if meant is not None and any(one.filename == meant.filename for one in same):
        if candidate.only_new or meant.header.same(header):
            return verdict.end("noop", "controller.exact_hash", "the memory says exactly that already", meant)
        verdict.filename = _moved(meant, candidate, own)
        return verdict.end("update", "controller.exact_hash", "the same text under another header", meant)
    if same and not candidate.edits:
        return verdict.end("noop", "controller.exact_hash", "another memory says exactly that already", same[0])
    if origin in AUTONOMOUS and view.was_deleted(candidate.content):
        verdict.filename = own
        return verdict.end("noop", "controller.forgotten", "that text was deleted, and comes back only by hand")
    # 4. The file exists.
    if there is not None:
        if origin in ("extractor", "dreaming") and not explicit:
            reason = "a name that was made up by itself belongs to another memory"
            return verdict.end("noop", COLLISION, reason, there)
        if candidate.only_new:
            return verdict.end("noop", COLLISION, "another memory has that name", there)
        verdict.filename = _moved(there, candidate, own)
        return verdict.end("update", COLLISION, "the memory of that name is renewed", there)
    # 5. The same fact by entity and attribute.
    slots = view.slot(candidate.entity, candidate.attribute) if candidate.entity and candidate.attribute else []
    if len(slots) == 1:
        if slots[0].body.strip() == candidate.content.strip():
            return verdict.end("noop", "controller.entity_slot_no_change", "that fact is known", slots[0])
        verdict.filename = _moved(slots[0], candidate, slots[0].filename)
        return verdict.end("update", "controller.entity_slot_update", "that fact has another value now", slots[0])
    # 6. Several memories that may be meant.
    verdict.filename = own
    targets = slots if len(slots) > 1 else view.alike(candidate.content)
    if len(targets) > 1 and not (origin == "dreaming" and explicit):
        known = {slot(one.header.name) for one in targets}
        if origin in AUTONOMOUS or slot(header.name) in known:
            verdict.open = tuple(targets)
            reason = "several memories may be meant, so nothing is changed"
            names = ",".join(sorted(one.filename for one in targets))
            verdict.traces.append(RuleTrace("controller.ambiguous_targets", False, reason, "", names))
            verdict.op, verdict.reason, verdict.filename = "noop", reason, ""
            return verdict
        reason = "the name is a new one, chosen by a person"
        verdict.traces.append(RuleTrace("controller.explicit_target_filename", True, reason, own))
    # 7. Something new.
    verdict.traces.append(RuleTrace("controller.fresh_slot", True, "no memory says that yet", own))
    verdict.op, verdict.reason = "add", "no memory says that yet"
    return verdict


def _moved(memory: Memory, candidate: Candidate, name: str) -> str:
    """Return the file that an update writes: the memory's own, or one of the new type where the type changes."""
    assert candidate.header is not None
    if memory.header.type == candidate.header.type:
        return memory.filename
    if candidate.edits or name == memory.filename:
        return f"{candidate.header.type}_{memory.slug}.md"
    return name


def _ending(name: str) -> str:
    return name if name.endswith(".md") else f"{name}.md"


def _valid(found: Memory | Invalid | None) -> Memory | None:
    if isinstance(found, Invalid):
        raise RefusedError(
            "memory.file_invalid",
            f"{found.filename}:{found.line}: {found.reason}",
            "mend the file, or choose another name; memdeck never overwrites it",
            **found.details(),
        )
    return found


def _limits(candidate: Candidate, settings: CuratedSettings, writes: int, verdict: RulesVerdict) -> bool:
    """Reject what the policy does not allow; return whether it was rejected."""
    most, rate = settings["controller.policy.max_content_chars"], settings["controller.policy.max_writes_per_min"]
    rule = reason = ""
    if candidate.origin not in settings["controller.policy.allow_origins"]:
        rule, reason = "allow_origins", f"the origin {candidate.origin} may not write"
    elif len(candidate.content) > most:
        rule, reason = "max_content_chars", f"the content has {len(candidate.content)} characters of {most}"
    elif writes >= rate:
        rule, reason = "max_writes_per_min", f"there were {writes} writes of {rate} in this minute"
    if rule:
        verdict.end("reject", f"controller.policy.{rule}", reason, passed=False)
    return bool(rule)


def _scan(candidate: Candidate, settings: CuratedSettings, verdict: RulesVerdict) -> bool:
    """Scan all texts of a candidate; return whether it is rejected. No text becomes part of a trace."""
    hits: list[ScanHit] = []
    fault = None if candidate.target is None else fault_of(_ending(candidate.target))
    if fault is not None:
        hits.append(ScanHit(fault[0], THREAT, "reject", len((candidate.target or "").encode("utf-8", "replace"))))
    if not candidate.deletes and candidate.header is not None:
        texts = (candidate.header.name, candidate.header.description, candidate.content)
        hits += scan((*texts, candidate.entity, candidate.attribute), settings["controller.scan_profile"])
    for hit in hits:
        details = f"{hit.action} sample_bytes={hit.size}"
        passed = hit.action != "reject"
        verdict.traces.append(
            RuleTrace(f"memory_scan.{hit.rule}", passed, f"{hit.category}: {hit.rule}", hit.category, details)
        )
    rejected = [hit for hit in hits if hit.action == "reject"]
    if rejected:
        rules = ",".join(hit.rule for hit in rejected)
        verdict.op, verdict.filename = "reject", ""
        verdict.reason = f"the content scan rejects it: {rules}"
    return bool(rejected)
