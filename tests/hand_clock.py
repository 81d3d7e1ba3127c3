"""An event loop whose clock a test moves by hand, so that patience costs no time and no race."""

import asyncio
from collections.abc import Callable, Coroutine


class HandClock(asyncio.SelectorEventLoop):
    """Sockets and terminals are real; only time is not."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def time(self) -> float:
        return self.now

    async def settle(self, turns: int = 20) -> None:
        """Lets everything happen that may happen now."""
        for _ in range(turns):
            await asyncio.sleep(0)

    async def forward(self, seconds: float) -> None:
        """Moves the clock on, and lets what is due happen."""
        self.now += seconds
        await self.settle()


def by_hand(test: Callable[[HandClock], Coroutine[None, None, None]]) -> None:
    """Runs a test with such a clock."""
    loop = HandClock()
    try:
        loop.run_until_complete(test(loop))
        loop.run_until_complete(loop.settle())  # connections take a turn to close
    finally:
        loop.close()
