"""How many browsers follow, explore, or have gone quiet: counts, no names."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

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
