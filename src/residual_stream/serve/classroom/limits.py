"""How much one browser, and all of them, may ask of a class's server."""

from dataclasses import dataclass

MOST_BROWSERS = 100_000  # that a class can be set to hold
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
