"""Serving a lesson: Panel's server with the lesson's files beside it."""

import signal
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import panel as pn
from bokeh.document import Document
from bokeh.server.server import Server
from panel.io.application import Application
from panel.io.handlers import FunctionHandler
from panel.io.state import set_curdoc
from tornado.web import HTTPError, RequestHandler

from residual_stream.lesson.files import LessonError
from residual_stream.page.html import FILES_AT, libraries, links
from residual_stream.page.publication import File, Publication
from residual_stream.serve.session import open_session

A_YEAR = 365 * 24 * 3600
A_DAY = 24 * 3600
IDLE = 60.0  # seconds in which a connection has to ask for something
WAITING = 4096  # connections that a class opens at once, before they are accepted
LOOPBACK = "127.0.0.1"
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104


class LessonFiles(RequestHandler):
    """The lesson's files, compressed once and kept by the browser for good."""

    def initialize(self, files: dict[str, File]) -> None:
        self.files = files

    def get(self, name: str) -> None:
        file = self.files.get(name)
        if file is None:
            raise HTTPError(404)
        self.set_header("Content-Type", f"{file.content_type}; charset=utf-8")
        self.set_header("Cache-Control", f"public, max-age={A_YEAR}, immutable")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Vary", "Accept-Encoding")
        if "gzip" in self.request.headers.get("Accept-Encoding", ""):
            self.set_header("Content-Encoding", "gzip")
            self.write(file.compressed)
        else:
            self.write(file.content)

    head = get  # Tornado leaves the body out

    def compute_etag(self) -> str:
        """The name, which holds a hash; Tornado would take another of each answer."""
        return f'W/"{self.path_args[0]}"'


@dataclass(frozen=True)
class Serving:
    """Where and how a lesson is served.

    port:      0 takes a free one.
    address:   the interface to listen on.
    language:  what the page starts in; "" asks the browser.
    origins:   further hosts ("name:port") that pages may come from.
    """

    port: int = 5006
    address: str = LOOPBACK
    language: str = ""
    origins: Sequence[str] = ()
    open_browser: bool = False


Routes: TypeAlias = "Sequence[tuple[str, type[RequestHandler], dict[str, Any]]]"


def serve(
    publication: Publication, serving: Serving, port: int, routes: Routes = ()
) -> Server:
    """Start serving a lesson; the caller runs the loop.

    port:    one that is free, see `free_port`.
    routes:  what is served beside it, as Tornado takes it.
    """
    vendor = libraries()
    files = publication.files | {file.name: file for file in vendor}
    for file in files.values():
        file.compressed  # noqa: B018  # once, before the first visitor waits for it
    linked = links(publication, vendor, f"{FILES_AT}/")
    server: Server = pn.serve(
        {"/": application(publication, serving.language, linked)},
        port=port,
        address=serving.address,
        show=serving.open_browser,
        start=False,
        title=publication.lesson.title["en"],
        verbose=False,
        location=False,
        extra_patterns=[
            (rf"/{FILES_AT}/([\w.-]+)", LessonFiles, {"files": files}),
            *routes,
        ],
        websocket_origin=origins(serving, port),
        compress_response=True,
        session_token_expiration=A_DAY,
        keep_alive_milliseconds=20_000,
        http_server_kwargs={"idle_connection_timeout": IDLE},
    )
    for listening in server._http._sockets.values():
        # what is accepted there inherits it: a small answer does not wait to be joined
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listening.listen(WAITING)
    return server


def serve_until_stopped(publication: Publication, serving: Serving) -> None:
    """Serve a lesson, print its URL, and stop cleanly at Ctrl-C or a termination.

    raises  LessonError, one line, if the port or address can't be had.
    """
    port = free_port(serving)
    server = serve(publication, serving, port)
    stop_when_told(server)
    print(served_at(publication, serving, port), flush=True)
    run_until_stopped(server)


def served_at(publication: Publication, serving: Serving, port: int) -> str:
    """The line that says where a lesson is."""
    return f"{publication.lesson.title['en']} is served at {url(serving, port)}"


def stop_when_told(server: Server) -> None:
    """From now on Ctrl-C or a termination ends the server's loop, and no more."""
    loop: Any = server.io_loop  # asyncio's loop within it has no type
    # no exception: raised within a weak reference's callback it would be swallowed
    stop_soon = partial(loop.asyncio_loop.call_soon_threadsafe, loop.stop)
    for stopping in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stopping, lambda *_: stop_soon())


def run_until_stopped(
    server: Server, close: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Run a server until it is told to stop; see `stop_when_told`.

    close:  what is to be done in its loop in the end.
    """
    loop = server.io_loop
    server.start()
    try:
        loop.start()
    finally:
        server.stop()
        if close:
            loop.run_sync(close)


def application(publication: Publication, language: str, links: Any) -> Application:
    """The page as an application of Panel's server: one document a session."""

    def fill(document: Document) -> None:
        with set_curdoc(document):
            open_session(document, publication, language, links)

    return Application(FunctionHandler(fill))


def origins(serving: Serving, port: int) -> list[str]:
    """The hosts whose pages may open a websocket."""
    own = {LOOPBACK, "localhost", serving.address}.difference(EVERYWHERE)
    # Bokeh tells a host from its port at the colon, so it takes no IPv6 address
    hosts = sorted(host for host in own if ":" not in host)
    return [*(f"{host}:{port}" for host in hosts), *serving.origins]


def free_port(serving: Serving) -> int:
    """The port that was asked for, or a free one for 0.

    raises  LessonError if it is taken or the address is not this machine's.
    """
    try:
        family = socket.getaddrinfo(serving.address, serving.port)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((serving.address, serving.port))
            return int(probe.getsockname()[1])
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LessonError(
            f"--address {serving.address} --port {serving.port}: {reason}; "
            "choose another, --port 0 takes a free one"
        ) from None


def url(serving: Serving, port: int) -> str:
    """What to type into a browser on this machine."""
    here = (LOOPBACK, "::1", *EVERYWHERE)
    host = "localhost" if serving.address in here else serving.address
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
