"""The address of a class's Redis, tried before the class begins."""

import logging
import re
from contextlib import closing

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    ConnectionError,
    RedisError,
    TimeoutError,
)
from redis.retry import Retry

from residual_stream.lesson.files import LessonError

ANSWER_WITHIN = 2.0  # seconds
# redis-py takes any path for database 0, and a port of five nines for a name
ADDRESS = re.compile(r"rediss?://[^/?#]+(/[0-9]{0,5})?(\?[^#]*)?|unix://[^#]+")

log = logging.getLogger(__name__)


def try_redis(url: str) -> None:
    """Ask the Redis at an address for its word; if it is away, say so and go on.

    raises  LessonError, one line without a password in it, for what waiting won't
            mend: the address itself, the password, the number of the database.
    """
    if not ADDRESS.fullmatch(url):
        raise LessonError("--redis: needs redis://HOST:PORT/NUMBER")
    try:
        with closing(_client(url)) as redis:
            redis.ping()
    except (ValueError, TypeError, UnicodeError) as error:
        raise LessonError(
            f"--redis: {_line(error)}; needs redis://HOST:PORT/NUMBER"
        ) from None
    except AuthenticationError as error:
        raise LessonError(
            f"--redis: {_line(error)}; needs redis://USER:PASSWORD@HOST:PORT/NUMBER"
        ) from None
    except (ConnectionError, TimeoutError, OSError) as error:
        log.warning("The class begins without Redis, which is tried again: %s", error)
    except RedisError as error:
        raise LessonError(f"--redis: {_line(error)}; needs another address") from None


def _client(url: str) -> Redis:
    return Redis.from_url(
        url,
        protocol=2,
        socket_timeout=ANSWER_WITHIN,
        socket_connect_timeout=ANSWER_WITHIN,
        retry=Retry(NoBackoff(), 0),
    )


def _line(error: Exception) -> str:
    return str(error).rstrip(".") or type(error).__name__
