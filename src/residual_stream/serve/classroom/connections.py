"""How many connections a server holds, so that too many do not take it down."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from weakref import WeakSet

from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.iostream import IOStream, StreamClosedError

TEACHER_FACTOR = 5  # a teacher's slider speaks more often than a student's vote


@dataclass(frozen=True)
class Limits:
    """Where a class's server says no, politely.

    browsers:           pages in the room at once.
    messages_a_second:  of one student's page, on the long run; a teacher's page may
                        send five times as many.
    burst:              how many may come at once.
    message_bytes:      of one message; a longer one ends its connection.
    hello_within:       seconds in which a page has to say who it is.
    quiet_after:        seconds without a word after which a page counts as quiet; a
                        page that is there speaks every 20 seconds.
    forget_after:       seconds after which a quiet page is no longer counted.
    waiting_questions:  of the lab, of all pages together, that wait for an answer.
    """

    browsers: int = 2000
    messages_a_second: float = 10
    burst: int = 60
    message_bytes: int = 16_384
    hello_within: float = 10
    quiet_after: float = 45
    forget_after: float = 900
    waiting_questions: int = 100


class Allowance:
    """How many messages a page may send now: it fills up with time, to the burst."""

    __slots__ = ("_at", "_burst", "_left", "_rate")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate, self._burst, self._left, self._at = rate, burst, burst, now

    def take(self, now: float) -> bool:
        """Take one; False if there is none left."""
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


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
