"""The table of capabilities of curated memory, walked against the registry and the command line.

Each row names what a person types, what a server answers, and the tool of an agent; all of one row is one operation.
"""

from __future__ import annotations

from typing import Any

import click
import pytest

from app.cli.commands import command_of
from memory.curated.operations.registry import BY_NAME, OPERATIONS, CuratedOperation
from memory.curated.operations.registry import curated as group

MEMORY, SESSION = "/api/memory", "/api/workspaces/{workspace_id}/memory/sessions/{session_id}"

# verb with its words | routes | tool; a verb in brackets is memdeck's own where the table has none.
TABLE = """
list | GET . | list
show <filename> | GET ./{filename} | show
search <query> | POST ./search | search
write --type --name --content --description --scope --agent --agent-tier | POST . | -
edit <filename> | PATCH ./{filename} | propose
delete <filename> | DELETE ./{filename} | propose
[note] | POST ./ad-hoc | note
dream trigger --force | POST ./dreams/trigger | dream_trigger
[dream list] | GET ./dreams | dream_list
dream show <run> | GET ./dreams/{dream_id} | dream_show
dream retry <run> --force | POST ./dreams/{dream_id}/retry | dream_retry
dream status | GET ./dreams/status | dream_status
decisions list | GET ./decisions | decisions_list
decisions show <id> | GET ./decisions/{decision_id} | decisions_show
decisions revert <id> | POST ./decisions/{decision_id}/revert | decisions_revert
recall trace <session> <turn> | GET ./recall-traces/{session_id}/{turn_seq} | recall_trace
history | GET ./history | admin_history
health | GET ./health | health
[config] | GET ./config | -
reindex | POST ./reindex | reindex
promote <filename> --from --to | POST ./promote | promote
reset | POST ./reset | reset
reload | POST ./reload | reload
scope-show | GET ./scope-show | scope_show
daily ls | GET ./daily | daily_list
extractor status | GET ./extractor/status | extractor_status
extractor list-pending | GET ./extractor/failures | extractor_failures
extractor replay --session | POST ./extractor/retry | extractor_retry
extractor drain | POST ./extractor/drain | extractor_drain
provider list | GET ./providers | provider_list
[provider show] <name> | GET ./providers/{provider_name} | provider_get
[provider select] <name> | POST ./providers/select | provider_select
provider enable <name> | POST ./providers/{provider_name}/enable | provider_enable
provider disable <name> | POST ./providers/{provider_name}/disable | provider_disable
[session ledger] <session> | GET @/ledger | session_ledger
[session replay] <session> | POST @/replay | session_replay
[session prune] | POST ./sessions/prune | sessions_prune
[session repair] | POST ./sessions/repair | sessions_repair
"""
ROWS = [[part.strip() for part in line.split("|")] for line in TABLE.strip().splitlines()]
ABSENT_TOOLS = ("read", "history", "write", "edit", "delete")
ABSENT_VERBS = ("read", "consolidate")


def _operation(verb: str) -> tuple[CuratedOperation, list[str]]:
    """Return the operation of a row, and the words behind its verb."""
    words = verb.replace("[", "").replace("]", "").split()
    name = " ".join(words[:2]) if " ".join(words[:2]) in BY_NAME else words[0]
    return BY_NAME[name], words[len(name.split()) :]


def _command(name: str) -> click.Command:
    found: Any = command_of(group)
    for part in name.split():
        found = found.commands[part]
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize(("verb", "route", "tool"), ROWS, ids=[row[0] for row in ROWS])
def test_a_row_of_the_table_is_one_operation(verb: str, route: str, tool: str) -> None:
    """Verb, route and tool are those of one function, and the verb takes what the row names."""
    operation, words = _operation(verb)
    assert operation.route == route.replace(" .", f" {MEMORY}").replace(" @", f" {SESSION}")
    if tool != "-":
        assert operation.tool == f"agh__memory_{tool}"
    command = _command(operation.words)
    options = {name for one in command.params for name in one.opts if isinstance(one, click.Option)}
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    assert {word for word in words if word.startswith("--")} <= options
    assert len([word for word in words if word.startswith("<")]) == len([one for one in arguments if one.required])


def test_the_table_is_whole() -> None:
    """It has 38 rows; no two operations share a route, and a tool is shared by what agents propose alone."""
    assert len(ROWS) == 38
    routes = [one.route for one in OPERATIONS if one.route]
    assert len(routes) == len(set(routes))
    tools = [one.tool for one in OPERATIONS if one.tool and one.tool != "agh__memory_propose"]
    assert len(tools) == len(set(tools))


def test_what_the_table_rules_out_is_not_there() -> None:
    """There is no raw tool to write with, and no verb of an older name."""
    tools = {one.tool for one in OPERATIONS}
    assert not tools & {f"agh__memory_{name}" for name in ABSENT_TOOLS}
    assert not set(BY_NAME) & set(ABSENT_VERBS)
