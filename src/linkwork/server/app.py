"""App: the studio's addresses: the client, the gallery, meshes, imports and the live socket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from linkwork.errors import LinkworkError
from linkwork.server import imports
from linkwork.server import messages as m
from linkwork.server.access import Access, allowed
from linkwork.server.gallery import gallery, picture
from linkwork.server.hub import Hub
from linkwork.server.live import LiveSocket, live, turn_away
from linkwork.server.pages import Pages
from linkwork.server.recent import Recents
from linkwork.server.shelf import Shelf
from linkwork.server.turned_away import turned_away

#: The client as it was built.
STATIC = Path(__file__).parent / "static"
_WRONG_TOKEN = "the token is wrong. Use the address that linkwork studio printed."
#: A mesh does not change: its address is the hash of its content.
_FOREVER = {"cache-control": "public, max-age=31536000, immutable"}
#: A page of a recording is saved, never shown here: what it holds is not ours.
_AS_FILE = {"content-disposition": 'attachment; filename="recording.html"'}
_NOT_BUILT = (
    "The studio's page has not been built. In Linkwork's source folder run: make studio\n"
    "Without a browser: linkwork studio --terminal\n"
)


def make_app(hub: Hub, access: Access, recents: Recents, shelf: Shelf, version: str) -> ASGIApp:
    """The studio as an ASGI application.

    Args:
        hub: Joins clients and session.
        access: Who may come in.
        recents: Files that were open.
        shelf: Recordings.
        version: Version of the program.
    """
    pages = Pages()

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        hub.start()
        yield

    async def page(request: Request) -> Response:
        file = STATIC / "index.html"
        if not file.is_file():
            return Response(_NOT_BUILT, status_code=503, media_type="text/plain")
        return FileResponse(file, headers={"cache-control": "no-cache"})

    async def show_gallery(request: Request) -> Response:
        return _json(await asyncio.to_thread(gallery, version, recents, shelf))

    async def show_picture(request: Request) -> Response:
        names = request.path_params["kit"], request.path_params["name"]
        found = await asyncio.to_thread(picture, *names)
        return FileResponse(found) if found is not None else _problem("there is no picture.", 404)

    async def show_mesh(request: Request) -> Response:
        data = await hub.mesh(request.path_params["hash"])
        if not data:
            return _problem("there is no such mesh in the scene that is open.", 404)
        return Response(data, media_type="application/octet-stream", headers=_FOREVER)

    async def bring(request: Request) -> Response:
        if reason := hub.why_not(request.headers.get("x-linkwork-key", "")):
            return _problem(reason, 403)
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > imports.MOST:
                return _problem(f"files of more than {imports.MOST >> 20} MB are not taken.", 413)
        kind = request.headers.get("content-type", "")
        try:
            main = await asyncio.to_thread(imports.bring, kind, bytes(body))
        except LinkworkError as error:
            text = f"{error.message} {error.hint}".strip()
            return _problem(text, 400, where=str(error.origin or ""))
        return _json(m.Imported(str(main)))

    async def show_page(request: Request) -> Response:
        try:
            name = request.query_params.get("path", "")
            path = allowed(name, shelf.folders, [each.path for each in recents.all()])
            if not path.lower().endswith(".mcap"):
                raise LinkworkError(f"{name!r} is no recording.")
            data = await pages.make(path)
        except LinkworkError as error:
            return _problem(str(error), 400)
        return Response(data, media_type="text/html", headers=_AS_FILE)

    async def assets(scope: Scope, receive: Receive, send: Send) -> None:
        found = StaticFiles(directory=STATIC) if STATIC.is_dir() else _problem(_NOT_BUILT, 404)
        await found(scope, receive, send)

    routes = [
        Route("/", page),
        Route("/api/gallery", show_gallery),
        Route("/api/picture/{kit}/{name}.png", show_picture),
        Route("/api/mesh/{hash}", show_mesh),
        Route("/api/import", bring, methods=["POST"]),
        Route("/api/recording.html", show_page),
        Mount("/", assets),
    ]
    return Gate(Starlette(routes=routes, lifespan=life), access, hub)


def _json(message: msgspec.Struct, status: int = 200) -> Response:
    return Response(m.encode(message), status_code=status, media_type="application/json")


def _problem(text: str, status: int, where: str = "") -> Response:
    return _json(m.Problem(text, where), status)


class Gate:
    """Lets in who knows the token and comes from our own page: sockets to the hub, the rest on."""

    def __init__(self, app: ASGIApp, access: Access, hub: Hub) -> None:
        self._app, self._access, self._hub = app, access, hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Checks a request before anything else sees it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        reason = self._reason(scope)
        if scope["type"] == "http":
            answer = self._refusal(scope, reason) if reason else self._app
            await answer(scope, receive, send)
        elif reason or scope["path"] != "/ws":
            reason = reason or "there is no socket at this address."
            await turn_away(scope, receive, send, reason)
        else:
            await live(LiveSocket(scope, receive, send), self._hub)

    def _refusal(self, scope: Scope, reason: str) -> Response:
        """A page for people, a few words for programs."""
        accepted = dict(scope["headers"]).get(b"accept", b"")
        if b"text/html" in accepted and not scope["path"].startswith("/api/"):
            return turned_away(reason, token=reason == _WRONG_TOKEN)
        return _problem(reason, 403)

    def _reason(self, scope: Scope) -> str:
        """Why a request is turned away; empty if it is not."""
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        if not self._access.trusts(headers):
            return "this request comes from another site."
        request = Request({**scope, "type": "http", "method": "GET"})
        bearer = headers.get("authorization", "").removeprefix("Bearer ") or None
        token = request.query_params.get("token", bearer)
        guarded = scope["type"] == "websocket" or scope["path"].startswith("/api/")
        if (guarded or token is not None) and not self._access.knows(token):
            return _WRONG_TOKEN
        return ""
