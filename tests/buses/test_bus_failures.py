"""What badly behaved clients do to a running session: nothing.

Each one meets a real ``linkwork run`` with a CAN bus and a TCP part, each in its process. The
session keeps its rate, memory stays flat, the counters tell what was done, and the next honest
client is served.
"""

import os
import re
import signal
import sys
import time
from collections.abc import Iterator

import pytest

from bad_client_fixture import Cell, until
from bad_clients import (
    GARBAGE,
    Misdeed,
    deaf,
    duplicate_ids,
    flooding,
    garbage,
    half_a_message,
    killed,
    never_reading,
    no_finite_numbers,
    not_numbers,
    paused,
    two_masters,
    wrong_lengths,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads memory from /proc")

WARM_UP = 5  # of garbage [MB]
#: How often those are repeated that take longer, while memory is watched; others three times.
TIMES: dict[Misdeed, int] = {garbage: 1, paused: 2, never_reading: 2}
#: How much a process may grow by then [MB].
GROWTH = 5.0
#: How far the session may lag behind real time in the end [s].
LATE = 0.1
#: How much of real time the session has simulated at least, and what any machine may take [s].
#: One that a bus holds up does nothing; one on a busy machine loses some.
RATE, GRACE = 0.25, 2.0

#: What counts each misdeed, how often for one of them, and whether that is all that it counts: by
#: the CAN bus, by the part.
Rule = tuple[str, int, bool]
COUNTED: dict[Misdeed, tuple[Rule | None, Rule | None]] = {
    killed: (None, None),
    paused: (("can0.missed", 1, False), ("part.skipped", 1, False)),
    never_reading: (("can0.missed", 1, False), ("part.skipped", 1, False)),
    flooding: (("can0.frames", 20_000, False), ("part.lines_in", 20_000, False)),
    garbage: (("can0.bad", 4 * GARBAGE, False), ("part.bad_lines", 4 * GARBAGE, False)),
    half_a_message: (None, ("part.rejections", 1, True)),
    wrong_lengths: (("can0.bad", 2, True), ("part.bad_lines", 3, True)),
    not_numbers: (("can0.bad", 3, True), ("part.bad_lines", 3, True)),
    no_finite_numbers: (("can0.invalid", 3, True), ("part.bad_lines", 3, True)),
    two_masters: (("can0.conflicts", 20, True), ("part.bad_lines", 1, True)),
    duplicate_ids: (("can0.conflicts", 20, True), ("part.bad_lines", 20, True)),
}
COUNTERS = sorted({rule[0] for rules in COUNTED.values() for rule in rules if rule})
PARTNERS = ["can0.clients", "part.clients"]


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cell]:
    cell = Cell(tmp_path_factory.mktemp("cell"))
    try:
        cell.serves()  # warmed up
        yield cell
    finally:
        cell.close()


@pytest.mark.parametrize("endpoint", ["can", "part"])
@pytest.mark.parametrize("misdeed", COUNTED, ids=lambda each: each.__name__)
def test_a_bad_client_harms_nobody(cell: Cell, misdeed: Misdeed, endpoint: str) -> None:
    """Again and again of it, honest clients are served and no process has grown.

    Of the session's rate this asserts what a busy machine can hold: that simulated time went on
    while the misdeed was done, not how fast, and that in the end the session is in time again
    (``LATE``). ``benchmarks/buses.py`` measures the rate itself.
    """
    times = TIMES.get(misdeed, 3)
    if misdeed is garbage:
        garbage(cell, endpoint, WARM_UP)
    else:
        misdeed(cell, endpoint)
    cell.serves()
    memory, processes = cell.memory(), cell.processes()
    before, begun = cell.read_status(*COUNTERS), time.monotonic()
    for _ in range(times):
        misdeed(cell, endpoint)
    after = cell.read_status(*COUNTERS)
    took = time.monotonic() - begun
    assert after.running
    assert after.time - before.time > RATE * took - GRACE, "the session was held up"
    cell.serves()
    until(lambda: cell.read_status().lateness < LATE, "the session is in time")
    if rule := COUNTED[misdeed][endpoint == "part"]:
        name, each, only = rule

        def more() -> float:
            return cell.read_status(name).values[name] - before.values[name]

        until(lambda: more() >= each * times, f"{each * times} more {name}")
        # Those of the warming up may have been told only now.
        assert not only or more() <= each * (times + 1), f"too many {name}"
    until(lambda: not any(cell.read_status(*PARTNERS).values.values()), "all have left")
    assert cell.processes() == processes, "a bus had to be started anew"
    grown = [now - then for now, then in zip(cell.memory(), memory, strict=True)]
    assert max(grown) < GROWTH, f"grown by {grown} MB"


def test_who_never_reads_is_sent_away(cell: Cell) -> None:
    """Ten seconds after it should have read, and while it is still connected."""
    dropped = cell.read_status("part.dropped").values["part.dropped"]
    with deaf(cell, "can"), deaf(cell, "part"):
        until(
            lambda: cell.read_status("part.dropped").values["part.dropped"] > dropped, "the part's"
        )
        until(
            lambda: not any(cell.read_status(*PARTNERS).values.values()), "both have been sent away"
        )
    cell.serves()


def test_a_bus_that_is_killed_comes_back(cell: Cell) -> None:
    """The session goes on and says so; the bus is served again."""
    session, *buses = cell.processes()
    before = cell.read_status().step
    for bus in buses:
        os.kill(bus, signal.SIGKILL)
    assert cell.run.stdout is not None
    found: dict[str, int] = {}
    while len(found) < 2:
        line = cell.run.stdout.readline()
        assert line, "the run ended"
        if match := re.search(r"socketcand on .*:(\d+)", line):
            found["can"] = int(match[1])
        if match := re.search(r"TCP part on .*:(\d+)", line):
            found["part"] = int(match[1])
    cell.can, cell.part = found["can"], found["part"]
    assert cell.processes()[0] == session
    cell.serves()
    after = cell.read_status("can0.restarts", "part.restarts")
    assert after.values == {"can0.restarts": 1.0, "part.restarts": 1.0}
    assert after.step > before
