"""The server for the SDK: tools, resources with subscriptions, prompts; importing it loads the SDK."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from app.version import __version__
from memory.errors import MemdeckError, NotFoundError
from memory.systems.entries import error_json

from .definitions import BRIEF_URI, FILE_URI, NAME, NOTHING, PROMPTS, TEMPLATES

if TYPE_CHECKING:
    from .calls import Calls
    from .watched import WatchedResources

_PAGE = 100
_NOT_FOUND, _FAILED = -32002, -32603


def make_server(calls: Calls, watched: WatchedResources) -> Server[Any]:
    """Return the server of a workspace."""
    offered = [types.Tool.model_validate(tool.json()) for tool in calls.offered]
    bus = InMemorySubscriptionBus()
    listen = ListenHandler(bus, max_subscriptions=16)
    sessions: dict[str, list[Any]] = {}

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

    async def list_resources(_ctx: Any, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        names = await _core(calls.files)
        cursor = (params.cursor if params is not None else None) or "0"
        if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 7:
            raise MCPError(types.INVALID_PARAMS, "this is no cursor of a page before")
        start = int(cursor)
        found = [_resource(BRIEF_URI, "brief", "What to know now.")] if start == 0 else []
        found += [_resource(FILE_URI + quote(name), name, None) for name in names[start : start + _PAGE]]
        more = str(start + _PAGE) if start + _PAGE < len(names) else None
        return types.ListResourcesResult(resources=found, next_cursor=more)

    async def list_templates(
        _ctx: Any, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[types.ResourceTemplate.model_validate(one) for one in TEMPLATES]
        )

    async def read_resource(ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        text, kind = await _core(calls.resource, str(params.uri), _client(ctx))
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=params.uri, mime_type=kind, text=text)]
        )

    async def subscribe(ctx: Any, params: types.SubscribeRequestParams) -> types.EmptyResult:
        uri = str(params.uri)
        await _core(calls.resource, uri)
        if ctx.session not in sessions.get(uri, ()):
            await watch([uri])
            sessions.setdefault(uri, []).append(ctx.session)
        return types.EmptyResult()

    async def unsubscribe(ctx: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        leave(str(params.uri), ctx.session)
        return types.EmptyResult()

    def leave(uri: str, session: Any) -> None:
        there = sessions.get(uri, [])
        if session in there:
            there.remove(session)
            watch_no_more([uri])
        if not there:
            sessions.pop(uri, None)

    async def listens(ctx: Any, params: types.SubscriptionsListenRequestParams) -> types.SubscriptionsListenResult:
        uris = [str(uri) for uri in params.notifications.resource_subscriptions or ()]
        await watch(uris)
        try:
            return await listen(ctx, params)
        finally:
            watch_no_more(uris)

    async def watch(uris: list[str]) -> None:
        loop = asyncio.get_running_loop()

        def changed(uri: str) -> None:
            asyncio.run_coroutine_threadsafe(tell(uri), loop)

        await _core(watched.add, uris, changed)

    def watch_no_more(uris: list[str]) -> None:
        # In a thread: it may have to wait until a check for changes is over.
        asyncio.get_running_loop().run_in_executor(None, watched.remove, uris)

    async def tell(uri: str) -> None:
        await bus.publish(ResourceUpdated(uri=uri))
        for session in sessions.get(uri, [])[:]:
            try:
                await session.send_resource_updated(uri)
            except Exception:  # the client has left and needs no notifications
                leave(uri, session)

    async def list_prompts(_ctx: Any, _params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[types.Prompt.model_validate(one) for one in PROMPTS])

    async def get_prompt(ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        text = await _core(calls.prompt, params.name, params.arguments, _client(ctx))
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(messages=[message])

    return Server(
        NAME,
        version=__version__,
        instructions=calls.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_subscriptions_listen=listens,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
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
