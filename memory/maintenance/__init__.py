"""Maintenance: the rules that keep the memory files small, their plan, the second count, and the report."""

from __future__ import annotations

from .plan import Plan, plan_maintenance
from .report import Gone, Move, Report, RuleReport, Skip, Stays, render
from .rules import (
    ALL_RULES,
    ARCHIVE_TASKS,
    CAP_JOURNAL,
    CLEAR_PLANS,
    JOURNAL_RULES,
    PRUNE_JOURNAL,
    TASK_RULES,
)
from .run import maintain

__all__ = [
    "ALL_RULES",
    "ARCHIVE_TASKS",
    "CAP_JOURNAL",
    "CLEAR_PLANS",
    "JOURNAL_RULES",
    "PRUNE_JOURNAL",
    "TASK_RULES",
    "Gone",
    "Move",
    "Plan",
    "Report",
    "RuleReport",
    "Skip",
    "Stays",
    "maintain",
    "plan_maintenance",
    "render",
]
