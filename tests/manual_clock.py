"""An event loop with a manual clock, for timeouts without waiting or races."""

import asyncio
from collections.abc import Callable, Coroutine


class HandClock(asyncio.SelectorEventLoop):
    """Sockets and terminals are real; only the clock is simulated."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def time(self) -> float:
        return self.now

    async def settle(self, turns: int = 20) -> None:
        """Processes all pending events."""
        for _ in range(turns):
            await asyncio.sleep(0)

    async def forward(self, seconds: float) -> None:
        """Advances the clock, and processes due events."""
        self.now += seconds
        await self.settle()


def by_hand(test: Callable[[HandClock], Coroutine[None, None, None]]) -> None:
    """Runs a test with a manual clock."""
    loop = HandClock()
    try:
        loop.run_until_complete(test(loop))
        loop.run_until_complete(loop.settle())  # connections take one iteration to close
    finally:
        loop.close()
