"""What pages ask of Python, the lab above all: one at a time, beside the class."""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

KEPT = 32  # answers; a whole class asks what the teacher shows


class BusyError(Exception):
    """No more questions are taken now; why, in one line."""


class Answers:
    """Answers by kind, each computed once for all who ask the same meanwhile."""

    def __init__(
        self, answers: Mapping[str, Callable[[Any], dict[str, Any]]], waiting: int
    ) -> None:
        self._answers, self._most = answers, waiting
        self._kept: OrderedDict[str, asyncio.Future[str]] = OrderedDict()
        self._waiting, self._is_closed = 0, False
        # a thread of its own: the class's messages go on while it computes
        self._thread = ThreadPoolExecutor(1, "answers")

    async def answer(self, kind: str, payload: Any) -> str:
        """The answer as JSON text.

        raises  BusyError if too many wait, if there are no answers of that kind, or
                after `close`.
        """
        if kind not in self._answers:
            raise BusyError(f"there are no answers of the kind {kind}")
        asked = json.dumps([kind, payload], sort_keys=True)
        if asked in self._kept:
            self._kept.move_to_end(asked)
            return await asyncio.shield(self._kept[asked])
        if self._is_closed:
            raise BusyError("the class's server is stopping")
        if self._waiting >= self._most:
            raise BusyError("too many questions at once; try again")
        loop = asyncio.get_running_loop()
        self._waiting += 1
        answer = loop.run_in_executor(self._thread, self._compute, kind, payload)
        answer.add_done_callback(self._done)
        self._kept[asked] = answer
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return await asyncio.shield(answer)

    def close(self) -> None:
        """What still waits is not computed any more; else the process waits for it."""
        self._is_closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _compute(self, kind: str, payload: Any) -> str:
        answer = self._answers[kind](payload)
        return json.dumps(answer, separators=(",", ":"), allow_nan=False)

    def _done(self, _: Any) -> None:
        self._waiting -= 1
