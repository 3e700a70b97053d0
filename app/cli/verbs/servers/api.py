"""`memdeck api`: the workspace's memory for programs, over HTTP and a socket."""

from __future__ import annotations

from app.cli.session import Session
from app.servers.api.openapi import described
from app.servers.api.runs import Runs
from app.servers.life import Life
from memory.operations import Whole, option, verb

from . import needs, tell_where


@verb(
    "api",
    serves="machine",
    examples=(
        "memdeck api",
        "memdeck api --socket ~/.cache/shop.sock",
        "memdeck api --port 8125 --read-only -o json",
        "memdeck api --openapi",
    ),
)
@option("--port", type=Whole(0, 65535), metavar="N", help="Serve on this port of 127.0.0.1 (0: any).")
@option("--socket", "path", metavar="PATH", help="Serve on a socket that only you can open; alone, on no port.")
@option("--read-only", is_flag=True, help="Refuse changes.")
@option("--openapi", is_flag=True, help="Print the OpenAPI description and exit.")
def api(session: Session, port: int | None, path: str | None, read_only: bool, openapi: bool) -> None:
    """Serve the workspace to programs on this machine: every verb under /api/v1, curated memory under /api/memory.

    Requests to a port need the printed token; requests to a socket need none. Changes are made in the name of the
    agent that a request names, or of --actor or MEMDECK_ACTOR. It ends with ctrl+c, or with the program that started
    it. See docs/api.md. Needs the extra `server`: pip install 'memdeck[server]'.
    """
    workspace = session.workspace
    with needs("server", "api.missing"):
        from app.servers.api.application import Api
        from app.servers.api.server import Where, serve
    actor = session.named_actor or None
    life = Life()
    runs = Runs(workspace, session.clock, life.busy, read_only=read_only)
    if openapi:
        made = Api(runs, actor=actor)
        session.writer.document(described(made.application))
        return

    def say(where: Where) -> None:
        lines = [where.address, f"Authorization: Bearer {where.token}"] if where.address else []
        lines += [session.paint.line(where.socket)] if where.socket else []
        tell_where(session, {"workspace": str(workspace.root), **where._asdict()}, *lines)

    if port is None and path is None:
        port = 0
    serve(runs, life, port=port, path=path, actor=actor, say=say)
