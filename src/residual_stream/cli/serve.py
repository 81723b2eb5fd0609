"""The call `residual-stream serve`: a lesson's page, alone or for a live class."""

import argparse
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from residual_stream.cli.parser import (
    Calls,
    Parser,
    add_call,
    add_language,
    path_to,
    whole_number,
)
from residual_stream.lesson.files import LessonError
from residual_stream.lesson.folders import lesson_folder
from residual_stream.serve.classroom.limits import MOST_BROWSERS

if TYPE_CHECKING:
    from residual_stream.serve.classroom.start import Class, Opened
    from residual_stream.serve.server import Serving

PUBLIC = re.compile(r"https?://([^/?#]+)(/[^\s?#]*)?")
HOST = re.compile(r"[^\s:/?#@\[\]]+(?::([0-9]{1,5}))?")
LAST_PORT = 65535
# by their destinations; each belongs to --class
CLASS_OPTIONS = {
    "room": "--room",
    "key_file": "--key-file",
    "state_file": "--state-file",
    "redis": "--redis",
    "class_limit": "--class-limit",
    "class_rate": "--class-rate",
    "public_url": "--public-url",
}


def serve(asked: argparse.Namespace) -> None:
    """Serve a lesson's page until it is stopped with Ctrl-C."""
    given = [o for name, o in CLASS_OPTIONS.items() if getattr(asked, name) is not None]
    if given and not asked.live_class:
        raise LessonError(f"{given[0]}: belongs to a live class; add --class")
    if asked.live_class:
        serve_class(asked)
        return
    from residual_stream.page.publication import publish
    from residual_stream.serve.server import serve_until_stopped

    publication = publish(lesson_folder(asked.lesson))
    serve_until_stopped(publication, _serving(asked))


def serve_class(asked: argparse.Namespace) -> None:
    """Serve a lesson and its class, and print how to get in."""
    from dataclasses import replace

    from residual_stream.page.publication import publish
    from residual_stream.serve import server
    from residual_stream.serve.classroom.connections import connections_for, keep_doors
    from residual_stream.serve.classroom.handlers import routes
    from residual_stream.serve.classroom.start import host_in_network, open_class

    serving, settings = _serving(asked), _class_settings(asked)
    publication = publish(lesson_folder(asked.lesson))
    port = server.free_port(serving)
    host = host_in_network(serving.address)
    network = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    home = _public_url(asked.public_url) or network
    origins = (*serving.origins, urlsplit(home).netloc)
    serving = replace(serving, origins=origins)
    opened = open_class(publication, settings)
    added = routes(opened.classroom, serving.language, origins)
    running = server.serve(publication, serving, port, added)
    server.stop_when_told(running)
    keep_doors(running._http, connections_for(settings.limits.browsers))
    print(server.served_at(publication, serving, port))
    print(_invitation(opened, home, serving), flush=True)
    server.run_until_stopped(running, opened.classroom.close)


def _invitation(opened: "Opened", home: str, serving: "Serving") -> str:
    """What a teacher reads in the terminal: both links, and who can't use them."""
    from residual_stream.serve.classroom.start import LOOPBACK, qr_text

    students, teacher = opened.links(home)
    lines = [
        f"class {opened.classroom.room.name}",
        f"  students: {students}",
        *([qr_text(students)] if _can_draw() else []),
        f"  teacher:  {teacher}",
        "  The teacher's link changes what everybody sees: keep it to yourself.",
    ]
    if serving.address in LOOPBACK and urlsplit(home).hostname == "localhost":
        lines.append("  Only this machine can use these links: --address 0.0.0.0")
    return "\n".join(lines)


def _can_draw() -> bool:
    import sys

    try:
        "█▀▄".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _serving(asked: argparse.Namespace) -> "Serving":
    from residual_stream.serve.server import Serving

    return Serving(
        asked.port,
        asked.address,
        asked.lang or "",
        tuple(asked.allow_websocket_origin),
        asked.open,
    )


def _class_settings(asked: argparse.Namespace) -> "Class":
    from residual_stream.serve.classroom.limits import Limits
    from residual_stream.serve.classroom.start import Class

    limits = Limits(
        asked.class_limit or Limits.browsers,
        asked.class_rate or Limits.messages_a_second,
    )
    room, redis = asked.room or "", asked.redis or ""
    return Class(room, asked.key_file, asked.state_file, redis, limits)


def _public_url(given: str | None) -> str:
    if given is None:
        return ""
    found = PUBLIC.fullmatch(given)
    if not found or not given.isprintable() or not _is_host(found[1]):
        raise LessonError(
            f"--public-url {given[:60]}: needs http://HOST/ or https://HOST/, without "
            "anything after the path"
        )
    return given if given.endswith("/") else f"{given}/"


def _is_host(text: str) -> bool:
    # no IPv6 address: Bokeh tells a host from its port at the colon
    found = HOST.fullmatch(text)
    if not found or not text.isprintable():
        return False
    return int(found[1] or 0) <= LAST_PORT


def _not_empty(text: str) -> str:
    if not text:  # a script's variable that is not set, say
        raise argparse.ArgumentTypeError("is empty; give it a value or leave it out")
    return text


def _origin(text: str) -> str:
    if not _is_host(text):
        raise argparse.ArgumentTypeError(
            f"{text[:60]!r} needs HOST or HOST:PORT, without http:// and without a path"
        )
    return text


def add_serve(calls: Calls) -> None:
    """Add the call to the command line."""
    parser = add_call(calls, "serve", "Serve a lesson's page.", serve)
    parser.add_argument(
        "--port",
        type=whole_number(0, LAST_PORT),
        default=5006,
        metavar="N",
        help="0 takes a free one; by default %(default)s",
    )
    parser.add_argument(
        "--address",
        default="127.0.0.1",
        metavar="A",
        help="the interface to listen on; by default this machine alone",
    )
    parser.add_argument(
        "--allow-websocket-origin",
        action="append",
        type=_origin,
        default=[],
        metavar="HOST:PORT",
        help="a further name that browsers reach this server by; may be repeated",
    )
    parser.add_argument(
        "--open",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="open a browser",
    )
    add_language(parser)
    _add_class(parser)


def _add_class(parser: Parser) -> None:
    group = parser.add_argument_group("live class")
    group.add_argument(
        "--class",
        dest="live_class",
        action="store_true",
        help="open a room: what the teacher does, every browser in it follows",
    )
    group.add_argument(
        "--room",
        type=_not_empty,
        metavar="NAME",
        help="its name in the links; by default that of the state file, or made up",
    )
    group.add_argument(
        "--key-file",
        type=path_to("file"),
        metavar="FILE",
        help="where the teacher's key is kept, so that the link stays the same; it is "
        "made if it isn't there",
    )
    group.add_argument(
        "--state-file",
        type=path_to("file"),
        metavar="FILE",
        help="where state and votes are kept, so that a restart goes on from there",
    )
    group.add_argument(
        "--redis",
        type=_not_empty,
        metavar="URL",
        help="redis://HOST:PORT/NUMBER: several servers share the room",
    )
    group.add_argument(
        "--class-limit",
        type=whole_number(1, MOST_BROWSERS),
        metavar="N",
        help="pages in the room at once; by default 2000",
    )
    group.add_argument(
        "--class-rate",
        type=whole_number(1, 1000),
        metavar="N",
        help="messages a second from one page, on the long run; by default 10",
    )
    group.add_argument(
        "--public-url",
        metavar="URL",
        help="the address by which browsers reach this server, behind a proxy",
    )
