"""Which pages are there, counted by browser, in every process that serves the room."""

import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from residual_stream.serve.classroom.fan_out import Outlet
from residual_stream.serve.classroom.limits import Allowance, Limits

FOLLOWING, EXPLORING, QUIET = "following", "exploring", "quiet"
TEACHING = "teaching"  # in no count
PROCESS_LOST_AFTER = 8.0  # seconds; each process speaks every two


class Counts(NamedTuple):
    """How many browsers there are of each kind."""

    following: int
    exploring: int
    quiet: int


class _Entry(NamedTuple):
    status: str
    process: str
    since: float


class Presence:
    """The status of each browser, from this process and from the others.

    A browser is a random name of its own making. One that comes back in another
    process is counted there alone. No more than `most` are known at once.
    """

    def __init__(
        self, process: str, forget_after: float, most: int, clock: Callable[[], float]
    ) -> None:
        self.process, self._forget_after, self._clock = process, forget_after, clock
        self._most = most
        self._entries: dict[str, _Entry] = {}
        self._heard: dict[str, float] = {}

    def put(self, browser: str, status: str, process: str = "") -> bool:
        """Note a browser's status; False if it was known.

        process:  whose word it is; "" for this one. "quiet" is only believed of the
                  process that last had the browser.
        """
        process = process or self.process
        known = self._entries.get(browser)
        if known is None and len(self._entries) >= self._most:
            return False
        if known and status == QUIET and known.process != process:
            return False
        if known and (known.status, known.process) == (status, process):
            return False
        self._entries[browser] = _Entry(status, process, self._clock())
        return True

    def hear(self, process: str, statuses: Mapping[str, str]) -> bool:
        """Note what another process says; False if all of it was known."""
        self._heard[process] = self._clock()
        news = [self.put(who, status, process) for who, status in statuses.items()]
        return any(news)

    def teaches(self, browser: str) -> bool:
        """Whether it was last heard of as a teacher's."""
        known = self._entries.get(browser)
        return known is not None and known.status == TEACHING

    def mine(self) -> dict[str, str]:
        """The browsers of this process, for one that has just started."""
        entries = self._entries.items()
        return {who: e.status for who, e in entries if e.process == self.process}

    def sweep(self) -> bool:
        """Quieten browsers of lost processes and forget old ones; True if any was.

        A teacher's is forgotten at once: as a quiet one it would count as a student's.
        """
        now = self._clock()
        lost = {p for p, at in self._heard.items() if now - at > PROCESS_LOST_AFTER}
        changed = False
        for browser, entry in list(self._entries.items()):
            if entry.process in lost and entry.status == TEACHING:
                del self._entries[browser]
                changed = True
            elif entry.process in lost and entry.status != QUIET:
                self._entries[browser] = entry._replace(status=QUIET, since=now)
                changed = True
            elif entry.status == QUIET and now - entry.since > self._forget_after:
                del self._entries[browser]
                changed = True
        return changed

    def counts(self) -> Counts:
        """How many follow, explore, and are quiet."""
        found = [entry.status for entry in self._entries.values()]
        return Counts(*(found.count(s) for s in (FOLLOWING, EXPLORING, QUIET)))


def read_statuses(pages: Any) -> dict[str, str]:
    """The statuses that another process tells, without what no process would."""
    if not isinstance(pages, Mapping):
        return {}
    known = (*Counts._fields, TEACHING)
    return {who: status for who, status in pages.items() if status in known}


def status_of(pages: Iterable[tuple[bool, bool]]) -> str:
    """A browser's status from its pages, each (follows, is looked at)."""
    seen = [follows for follows, is_visible in pages if is_visible]
    if not seen:
        return QUIET
    return FOLLOWING if any(seen) else EXPLORING


GONE_AFTER = 3  # times as long silent as a quiet page
REMEMBERED = 5  # times as many browsers as there can be at once


class Seat:
    """One page of the room: a tab of a student's or a teacher's browser."""

    __slots__ = ("allowance", "browser", "heard_at", "is_teacher", "outlet", "status")

    def __init__(self, outlet: Outlet, allowance: Allowance, now: float) -> None:
        self.outlet, self.allowance = outlet, allowance
        self.browser = ""  # until it has said hello
        self.is_teacher = False
        self.status = (False, False)  # follows, is looked at
        self.heard_at = now


class Attendance:
    """The seats of this process, and how many browsers there are in all.

    changed:  called when a count may be new.
    """

    def __init__(
        self, limits: Limits, clock: Callable[[], float], changed: Callable[[], None]
    ) -> None:
        self.seats: set[Seat] = set()
        self._limits, self._clock, self._changed = limits, clock, changed
        self._presence = Presence(
            secrets.token_hex(4),
            limits.forget_after,
            REMEMBERED * limits.browsers,
            clock,
        )
        self._by_browser: dict[str, list[Seat]] = {}
        self._untold: dict[str, str] = {}

    @property
    def process(self) -> str:
        """The name of this process among those that serve the room."""
        return self._presence.process

    @property
    def teachers(self) -> list[Seat]:
        """The seats of teachers."""
        return [seat for seat in self.seats if seat.is_teacher]

    def is_full(self) -> bool:
        """Whether no further page can come in; one that is long silent has left."""
        most = self._limits.browsers
        if len(self.seats) < most:
            return False
        since = self._clock() - GONE_AFTER * self._limits.quiet_after
        return sum(seat.heard_at > since for seat in self.seats) >= most

    def add(self, outlet: Outlet) -> Seat:
        """A seat for a page that has not said yet who it is."""
        now, limits = self._clock(), self._limits
        allowance = Allowance(limits.messages_a_second, limits.burst, now)
        seat = Seat(outlet, allowance, now)
        self.seats.add(seat)
        return seat

    def name(self, seat: Seat, browser: str) -> None:
        """The page has said which browser it belongs to."""
        seat.browser = browser
        self._by_browser.setdefault(browser, []).append(seat)

    def remove(self, seat: Seat) -> None:
        """A page has gone."""
        seat.outlet.is_closed = True
        self.seats.discard(seat)
        pages = self._by_browser.get(seat.browser, [])
        if seat in pages:
            pages.remove(seat)
            self._note(seat.browser)
        if not pages:
            self._by_browser.pop(seat.browser, None)

    def put(self, seat: Seat, status: tuple[bool, bool]) -> None:
        """A page is there; it follows or not, is looked at or not."""
        seat.heard_at, seat.status = self._clock(), status
        self._note(seat.browser)

    def _note(self, browser: str) -> None:
        """Count a browser by all its pages; a teacher's is not counted."""
        pages = self._by_browser[browser]
        if any(seat.is_teacher for seat in pages):
            status = TEACHING  # its student's page, open to have a look, is none
        elif not pages and self._presence.teaches(browser):
            return
        else:
            status = status_of(seat.status for seat in pages)
        if self._presence.put(browser, status):
            self._untold[browser] = status
            self._changed()

    def sweep(self) -> None:
        """Pages that have not spoken for long are quiet; the longest are forgotten."""
        now = self._clock()
        for seat in self.seats:
            is_silent = now - seat.heard_at > self._limits.quiet_after
            if is_silent and seat.browser and seat.status[1]:
                seat.status = (seat.status[0], False)
                self._note(seat.browser)
        if self._presence.sweep():
            self._changed()

    def news(self) -> dict[str, str]:
        """Statuses that the other processes have not been told, once."""
        untold, self._untold = self._untold, {}
        return untold

    def mine(self) -> dict[str, str]:
        """All that this process knows at first hand."""
        return self._presence.mine()

    def hear(self, process: str, pages: Mapping[str, str]) -> None:
        """Another process is there and says who is with it."""
        if self._presence.hear(process, pages):
            self._changed()

    def counts(self) -> dict[str, Any]:
        """How many browsers follow, explore, and are quiet."""
        return self._presence.counts()._asdict()
