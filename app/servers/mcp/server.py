"""The server for the SDK: tools and resources; importing it loads the SDK."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from app.version import __version__
from memory.errors import MemdeckError, NotFoundError
from memory.systems.entries import error_json

from .definitions import BRIEF_URI, FILE_URI, NAME, NOTHING

if TYPE_CHECKING:
    from .calls import Calls

_NOT_FOUND, _FAILED = -32002, -32603


def make_server(calls: Calls) -> Server[Any]:
    """Return the server of a workspace."""
    offered = [types.Tool.model_validate(tool.json()) for tool in calls.offered]

    async def list_tools(_ctx: Any, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=offered)

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        answer, failed = await anyio.to_thread.run_sync(calls.call, params.name, params.arguments, _client(ctx))
        text = json.dumps(answer, ensure_ascii=False)
        if set(answer) == {"text", "tokens"}:
            # Some models refuse an empty text.
            text = answer["text"] or NOTHING
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structured_content=answer, is_error=failed
        )

    async def list_resources(_ctx: Any, _params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        found = [_resource(BRIEF_URI, "brief", "What to know now.")]
        found += [_resource(FILE_URI + quote(name), name, None) for name in await _core(calls.files)]
        return types.ListResourcesResult(resources=found)

    async def read_resource(ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        text = await _core(calls.resource, str(params.uri), _client(ctx))
        found = types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=text)
        return types.ReadResourceResult(contents=[found])

    return Server(
        NAME,
        version=__version__,
        instructions=calls.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def _client(ctx: Any) -> str | None:
    """Return the client's name for itself."""
    params = ctx.session.client_params
    info = None if params is None else params.client_info
    return None if info is None else str(info.name)


async def _core(work: Any, *arguments: Any) -> Any:
    """Run something of the core in a thread; its errors become protocol errors with their codes."""
    try:
        return await anyio.to_thread.run_sync(work, *arguments)
    except MemdeckError as error:
        code = _NOT_FOUND if isinstance(error, NotFoundError) else _FAILED
        raise MCPError(code, f"{error.code}: {error.message}", error_json(error)) from None


def _resource(uri: str, name: str, description: str | None) -> types.Resource:
    return types.Resource(uri=uri, name=name, description=description, mime_type="text/plain")
