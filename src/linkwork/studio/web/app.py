"""App: the HTTP routes of the studio."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator
from html import escape
from pathlib import Path
from urllib.parse import quote, unquote, urlencode

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from linkwork.core.errors import DAMAGED_EXIT_CODE, LinkworkError
from linkwork.studio import protocol as m
from linkwork.studio.web import uploads
from linkwork.studio.web.access import Access, resolve_allowed, token_cookie
from linkwork.studio.web.client_sockets import WebSocketClient, reject_socket, serve_websocket
from linkwork.studio.web.connections import ConnectionGuard, RefusalLog
from linkwork.studio.web.gallery import Recents, RecordingLibrary, gallery, kit_picture
from linkwork.studio.web.hub import Hub

#: Timeout for making a page [s].
PAGE_TIMEOUT = 600.0


class PageMaker:
    """Makes pages one after the other; call it from the event loop's thread only."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def make(self, recording: str) -> bytes:
        """The page of a recording.

        Raises:
            LinkworkError: If it cannot be made; the message is that of ``linkwork replay``.
        """
        async with self._turn:
            with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
                page = Path(folder) / "page.html"
                await self._run(recording, page)
                return await asyncio.to_thread(page.read_bytes)

    async def _run(self, recording: str, page: Path) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "linkwork", "replay", recording, "--html", str(page),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            _, stderr = await asyncio.wait_for(process.communicate(), PAGE_TIMEOUT)
        except BaseException as error:
            process.kill()
            await process.wait()
            if isinstance(error, TimeoutError):
                raise LinkworkError(f"the page was not ready within {PAGE_TIMEOUT:g} s.") from None
            raise
        # The page of a damaged recording is complete, and says what is damaged.
        if process.returncode not in (0, DAMAGED_EXIT_CODE) or not page.is_file():
            words = " ".join(stderr.decode("utf-8", "replace").split()).removeprefix("error: ")
            raise LinkworkError(words or "the page could not be made.")


_STYLE = """
:root { color-scheme: light dark; font: 14px/20px system-ui, sans-serif; }
body { display: grid; place-content: center; min-height: 90vh; margin: 0 24px;
  background: light-dark(#fafbfc, #16191d); color: light-dark(#1a1e23, #e6e9ed); }
main { max-width: 460px; }
h1 { font-size: 16px; line-height: 24px; margin: 0 0 8px; }
p { color: light-dark(#4a545f, #a9b1bb); margin: 0 0 16px; }
code { font-family: ui-monospace, monospace; }
form { display: flex; gap: 8px; align-items: end; }
label { display: grid; gap: 4px; flex: 1; }
input { font: inherit; height: 28px; padding: 0 8px; border: 0; border-radius: 3px;
  border-bottom: 1px solid light-dark(#7f8994, #67717c);
  background: light-dark(#eef1f4, #20252b); color: inherit; }
button { font: inherit; height: 28px; padding: 0 12px; border: 0; border-radius: 5px;
  background: light-dark(#007586, #3cc3d6); color: light-dark(#fff, #04191d); }
:focus-visible { outline: 2px solid light-dark(#007586, #3cc3d6); outline-offset: 1px; }
"""
_FORM = """<form method="get" action="/">
<label>Token <input name="token" required autofocus autocomplete="off" spellcheck="false"></label>
<button>Open the studio</button></form>"""
#: Advice for each reason.
_TOKEN = (
    "The terminal where <code>linkwork studio</code> runs shows the whole address, with "
    "<code>?token=</code> and the token at its end. A studio that was started anew has a new "
    "token, unless it was given one with <code>--token</code>."
)
_SITE = (
    "Open the address that <code>linkwork studio</code> printed. To reach the studio from other "
    "machines or by another name, start it with <code>--host</code>."
)


def rejection_page(reason: str, *, token: bool) -> HTMLResponse:
    """A page that explains why a request was rejected.

    Args:
        reason: The reason, in a sentence.
        token: Whether the token is wrong; the page then has a field for it.
    """
    help_, form = (_TOKEN, _FORM) if token else (_SITE, "")
    heading = escape(reason[:1].upper() + reason[1:])
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Linkwork Studio</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style><main><h1>{heading}</h1><p>{help_}</p>{form}</main></html>"
    )
    return HTMLResponse(page, status_code=403, headers={"cache-control": "no-store"})


#: The built client.
STATIC = Path(__file__).parents[1] / "static"
_WRONG_TOKEN = m.ErrorResponse(
    "the token is wrong. Use the address that linkwork studio printed.", reason="token"
)
_OTHER_SITE = m.ErrorResponse("this request comes from another site.", reason="site")
#: A mesh never changes: its address is its content hash.
_FOREVER = {"cache-control": "public, max-age=31536000, immutable"}
#: A recording's page is downloaded, never displayed here, since its content is not trusted.
_AS_FILE = {"content-disposition": 'attachment; filename="recording.html"'}
_NOT_BUILT = (
    "The studio's page has not been built. In Linkwork's source folder run: make studio\n"
    "Without a browser: linkwork studio --terminal\n"
)


#: Headers of every answer. Styles may be inline: the views place their labels with them. Images and
#: workers may be blobs: pictures of cameras, downloads.
SECURITY_HEADERS = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; "
        "worker-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'",
    ),
    ("x-frame-options", "DENY"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
]


def make_app(
    hub: Hub,
    access: Access,
    guard: ConnectionGuard,
    recents: Recents,
    library: RecordingLibrary,
    version: str,
) -> ASGIApp:
    """The studio as an ASGI application.

    Args:
        hub: Connects clients and session.
        access: Checks requests.
        guard: Limits connections without the token.
        recents: Recently opened files.
        library: Recordings.
        version: Version of the program.
    """
    pages = PageMaker()

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
        return _json(await asyncio.to_thread(gallery, version, recents, library))

    async def show_picture(request: Request) -> Response:
        names = request.path_params["kit"], request.path_params["name"]
        found = await asyncio.to_thread(kit_picture, *names)
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
            if len(body) > uploads.MAX_BYTES:
                return _problem(
                    f"files of more than {uploads.MAX_BYTES >> 20} MB are not taken.", 413
                )
        kind = request.headers.get("content-type", "")
        try:
            main = await asyncio.to_thread(uploads.store_upload, kind, bytes(body))
        except LinkworkError as error:
            text = f"{error.message} {error.hint}".strip()
            return _problem(text, 400, where=str(error.origin or ""))
        return _json(m.Imported(str(main)))

    async def share(request: Request) -> Response:
        """The token, for an address to give to others: the page itself cannot read its cookie."""
        answer = _json(m.ShareToken(access.token))
        answer.headers["cache-control"] = "no-store"
        return answer

    async def show_page(request: Request) -> Response:
        if reason := hub.why_not(request.headers.get("x-linkwork-key", "")):
            return _problem(reason, 403)
        try:
            name = request.query_params.get("path", "")
            path = resolve_allowed(name, library.folders, [each.path for each in recents.all()])
            if not path.lower().endswith(".mcap"):
                raise LinkworkError(f"{name!r} is not a recording.")
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
        Route("/api/share", share),
        Route("/api/recording.html", show_page),
        Mount("/", assets),
    ]
    return Gate(Starlette(routes=routes, lifespan=life), access, hub, guard)


def _json(message: msgspec.Struct, status: int = 200) -> Response:
    return Response(m.encode(message), status_code=status, media_type="application/json")


def _problem(text: str, status: int, where: str = "") -> Response:
    return _json(m.ErrorResponse(text, where), status)


class Gate:
    """Admits requests with the token from the studio's own page: sockets to the hub, others on.

    The token is in the query, the header ``Authorization: Bearer`` or the cookie. A page opened
    with the token in its address gets the cookie and is sent on to the address without it.
    """

    def __init__(self, app: ASGIApp, access: Access, hub: Hub, guard: ConnectionGuard) -> None:
        self._app, self._access, self._hub = app, access, hub
        self._guard, self._refusals = guard, RefusalLog()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Checks a request before any other handler."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        client = scope.get("client")
        self._guard.begin(client)
        try:
            await self._admit(scope, receive, send)
        finally:
            self._guard.end(client)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        why = self._rejection(scope)
        if scope["type"] == "http":
            answer = self._cookie(scope) or self._app if why is None else self._refusal(scope, why)
            await answer(scope, receive, send)
        elif why is not None or scope["path"] != "/ws":
            why = why or m.ErrorResponse("there is no socket at this address.")
            self._refusals.add(scope.get("client"), "a WebSocket", why.error)
            await reject_socket(scope, receive, send, why, SECURITY_HEADERS)
        else:
            await serve_websocket(WebSocketClient(scope, receive, send), self._hub)

    def _cookie(self, scope: Scope) -> Response | None:
        """Sends a page opened with the token on to its address without; None for other requests."""
        request = Request(scope)
        token = request.query_params.get("token")
        if scope["path"] != "/" or token is None or scope["method"] not in ("GET", "HEAD"):
            return None
        rest = [(key, value) for key, value in request.query_params.multi_items() if key != "token"]
        # Relative: a proxy may have put the page into a folder.
        answer = RedirectResponse(f"./?{urlencode(rest)}" if rest else "./", status_code=303)
        answer.headers["cache-control"] = "no-store"
        answer.set_cookie(
            token_cookie(request.headers.get("host", ""), scope["scheme"]),
            quote(token, safe=""), path="/", httponly=True, samesite="strict",
            secure=scope["scheme"] == "https",
        )  # fmt: skip
        return answer

    def _refusal(self, scope: Scope, why: m.ErrorResponse) -> Response:
        """A page for browsers, a short text for programs."""
        accepted = dict(scope["headers"]).get(b"accept", b"")
        if b"text/html" in accepted and not scope["path"].startswith("/api/"):
            return rejection_page(why.error, token=why.reason == "token")
        return _json(why, 403)

    def _rejection(self, scope: Scope) -> m.ErrorResponse | None:
        """Why a request is rejected; None if it is not."""
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        if not self._access.trusts(headers):
            return _OTHER_SITE
        request = Request({**scope, "type": "http", "method": "GET"})
        bearer = headers.get("authorization", "").removeprefix("Bearer ") or None
        given = request.query_params.get("token", bearer)
        token = given
        if token is None:
            name = token_cookie(headers.get("host", ""), scope["scheme"])
            token = unquote(request.cookies[name]) if name in request.cookies else None
        known = token is not None and self._access.knows(token)
        if known:
            self._guard.admit(scope.get("client"))
        guarded = scope["type"] == "websocket" or scope["path"].startswith("/api/")
        return None if known or (given is None and not guarded) else _WRONG_TOKEN
