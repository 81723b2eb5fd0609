"""How many connections a server holds, so that too many do not take it down."""

from collections.abc import Callable
from contextlib import suppress
from weakref import WeakSet

from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.iostream import IOStream, StreamClosedError

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]

PER_BROWSER = 7  # its channel, and the six over which it loads the page's files
OTHERS = 200  # files, other pages, other programs' connections
COUNT_EVERY = 0.1  # seconds
FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\n"
    b"Retry-After: 10\r\nConnection: close\r\n\r\n"
    b"The class's server is full. Please try again in a moment.\n"
)


def connections_for(browsers: int) -> int:
    """How many connections a class needs; the system's limit is raised for them.

    Where the system allows no more, as many as it does.
    """
    wanted = PER_BROWSER * browsers + OTHERS
    if resource is None:
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard - OTHERS)
    if soft != resource.RLIM_INFINITY and soft < wanted + OTHERS:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted + OTHERS, hard))
    return wanted


def keep_doors(http: HTTPServer, most: int) -> None:
    """Answer 503 and close, from the first connection that is one too many."""
    streams: WeakSet[IOStream] = WeakSet()
    take: Callable[[IOStream, tuple[str, int]], None] = http.handle_stream
    counted = {"at": 0.0, "open": 0}

    def is_full() -> bool:
        if len(streams) < most:
            return False
        now = IOLoop.current().time()
        if now - counted["at"] > COUNT_EVERY:  # a closed one may not be collected yet
            counted["at"] = now
            counted["open"] = sum(not stream.closed() for stream in streams)
        return counted["open"] >= most

    def handle_stream(stream: IOStream, address: tuple[str, int]) -> None:
        if is_full():
            _refuse(stream)
            return
        streams.add(stream)
        counted["open"] += 1
        take(stream, address)

    http.handle_stream = handle_stream  # type: ignore[method-assign]


def _refuse(stream: IOStream) -> None:
    with suppress(StreamClosedError):
        stream.write(FULL).add_done_callback(lambda _: stream.close())
