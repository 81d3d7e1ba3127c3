"""Cyclic sending: exact for who asks for little, and bounded for who asks for everything."""

from collections import Counter

import pytest

from linkwork.buses.can.frame import CanError, data_frame
from linkwork.buses.can.hub import CanHub
from linkwork.buses.can.socketcand.bcm import BURST, MAX_JOBS, BcmMode, SendJobs
from manual_clock import HandClock, by_hand


def test_a_greedy_client_has_one_budget_for_all_its_jobs() -> None:
    """1024 frames at 1 µs each: in one turn of the loop it sends no more than its budget."""

    async def test(loop: HandClock) -> None:
        hub, received = CanHub(), Counter[int]()
        hub.attach("listener", lambda frame: received.update([frame.id]))
        node = hub.attach("greedy")
        client = BcmMode(node, lambda text: True)
        for id in range(MAX_JOBS):
            client.command("add", ["0", "1", f"{id:03X}", "1", "11"])
            if node.full:
                await loop.settle(3)
        for _ in range(100):
            before = node.count.sent + node.count.refused
            loop.now += 0.05
            await loop.settle(4)
            assert node.count.sent + node.count.refused - before <= BURST
        assert len(received) == MAX_JOBS, "some jobs never had their turn"
        assert max(received.values()) - min(received.values()) <= 3, (
            "some had more turns than others"
        )
        client.close()
        hub.close()

    by_hand(test)


@pytest.mark.parametrize("period", [0.0005, 0.002, 0.01])
def test_a_job_keeps_its_rate(period: float) -> None:
    """Over two seconds, and although timers are coarser."""

    async def test(loop: HandClock) -> None:
        hub = CanHub()
        node = hub.attach("client")
        jobs = SendJobs(node)
        jobs.add(data_frame(5), period)
        jobs.add(data_frame(6), 0.0)
        for _ in range(2000):
            loop.now += 0.001
            await loop.settle(4)
        assert node.count.sent == pytest.approx(2 + 2.0 / period, abs=1 + 0.002 / period)
        jobs.close()
        hub.close()

    by_hand(test)


def test_jobs_that_are_replaced_leave_nothing_behind() -> None:
    """An endless stream of adds for one identifier is one job; of others, 1024."""

    async def test(loop: HandClock) -> None:
        hub = CanHub()
        node = hub.attach("client")
        jobs = SendJobs(node)
        for _ in range(20_000):
            jobs.add(data_frame(5), 3600.0)
        assert len(jobs) == 1
        assert len(jobs._due) <= 2 * MAX_JOBS + 1
        for id in range(6, 5 + MAX_JOBS):
            jobs.add(data_frame(id), 3600.0)
        with pytest.raises(CanError, match="1024 already"):
            jobs.add(data_frame(0x7FF), 1.0)
        jobs.close()
        hub.close()

    by_hand(test)
