"""`memdeck serve`: the application in a browser of this machine."""

from __future__ import annotations

from app.cli.session import Session
from memory.operations import Whole, argument, option, verb

from . import needs, tell_where


@verb("serve", serves="machine", examples=("memdeck serve", "memdeck serve ~/src/shop --port 8123"))
@argument("folder", metavar="[DIR]", required=False)
@option("--port", type=Whole(0, 65535), default=0, metavar="N", help="The port (default: a free one).")
def serve(session: Session, folder: str | None, port: int) -> None:
    """Serve the workspace that contains DIR in a browser: print an address with a token, and serve it until ctrl+c.

    Only this machine can reach it, with the printed address, and only one page at a time; docs/serve.md lists the
    limits. Needs the extra `web`: pip install 'memdeck[web]'.
    """
    session.folder = folder or session.folder
    root = str(session.workspace.root)
    with needs("web", "serve.missing"):
        from app.servers.web.server import serve as run
    run(root, port, lambda address: tell_where(session, {"workspace": root, "address": address}, address))
