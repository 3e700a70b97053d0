"""Maintenance: the rules that keep the memory files small, their plan, the second count, and the report."""

from __future__ import annotations

from .plan import MaintenancePlan, plan_maintenance
from .report import Move, Report, RuleReport, Skip, render
from .rules import ALL_RULES, ARCHIVE_TASKS, CAP_JOURNAL, CLEAR_PLANS, JOURNAL_RULES, PRUNE_JOURNAL, TASK_RULES
from .run import maintain

__all__ = [
    "ALL_RULES",
    "ARCHIVE_TASKS",
    "CAP_JOURNAL",
    "CLEAR_PLANS",
    "JOURNAL_RULES",
    "PRUNE_JOURNAL",
    "TASK_RULES",
    "MaintenancePlan",
    "Move",
    "Report",
    "RuleReport",
    "Skip",
    "maintain",
    "plan_maintenance",
    "render",
]
