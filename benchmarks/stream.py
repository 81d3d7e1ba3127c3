"""Cost of showing a running scene to four clients, beside viser.

    python benchmarks/stream.py [--quick] [--json [FILE]]

A hundred bodies move at 60 frames per second. All figures are medians over rounds in which Linkwork
and viser take turns. CPU time is that of whole processes, in user and kernel mode. "CPU above the
simulation" is the server's process, and what the session's process needs more than the same session
without clients; viser's process only computes a hundred poses and sets them in one atomic block.
"Updates" are whole scenes that reach the client that receives the fewest. An update is torn if it
leaves bodies of different instants: all bodies turn and rise by one angle, so that this shows.
"Main thread" is the CPU time of the page's main thread per drawn frame, in Chromium with four views
and 20 live curves; viser has no comparable page.

viser needs other versions of packages than Linkwork and has its own environment: ``make
bench-venv``.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
from pathlib import Path
from typing import Any

from shared.child import Child, bench_python, reason
from shared.rows import Benchmark, Row
from shared.stream_processes import TOKEN

from linkwork.cli.studio_server import is_built
from linkwork.studio.protocol import PROTOCOL

HERE = Path(__file__).resolve().parent
OURS = str(HERE / "shared" / "stream_processes.py")
VISER = str(HERE / "shared" / "viser_processes.py")
CLIENTS = 4
#: What the page's main thread may take per frame [ms].
TARGET_MS = 6.0
CPU = "CPU above the simulation"
SERVER = "CPU of the server's process"
UPDATES = "updates at the slowest client"
WHOLE = "updates that are not torn"
DATA = "data of an update"
UNITS = {CPU: "% of a core", SERVER: "% of a core", UPDATES: "1/s", WHOLE: "%", DATA: "kB"}
PAGE = "main thread of the page per frame"

Found = dict[str, list[float]]


def note(found: Found, cpu: float, seen: dict[str, Any]) -> None:
    """Adds the figures of a round."""
    found[CPU].append(100.0 * cpu)
    found[UPDATES].append(min(seen["rates"]))
    found[WHOLE].append(100.0 - 100.0 * seen["torn"] / max(1, seen["frames"]))
    if max(seen["rates"]) > 0.0:
        found[DATA].append(seen["bytes"] / max(seen["rates"]) / 1e3)


def our_round(studio: Child, clients: Child, alone: Child, seconds: float, found: Found) -> None:
    """One round of ours."""
    base = alone.ask(str(seconds))
    clients.ask("play")
    before = studio.ask("cpu")
    seen = clients.ask(str(seconds))
    after = studio.ask("cpu")
    clients.ask("pause")
    spent = [(b - a) / seconds for a, b in zip(before, after, strict=True)]
    note(found, sum(spent) - base, seen)
    found[SERVER].append(100.0 * spent[1])


def viser_round(server: Child, clients: Child, seconds: float, found: Found) -> None:
    """One round of viser."""
    before = server.ask("play")
    seen = clients.ask(str(seconds))
    note(found, (server.ask("pause") - before) / seconds, seen)


def measure_page(address: str, seconds: float, rounds: int) -> list[Row]:
    """Rows of the page; a row without a figure says why it was not measured."""

    def skipped(why: str) -> list[Row]:
        return [Row(PAGE, "ms", None, note=f"not measured: {why}")]

    sys.path.append(str(HERE.parent / "tests"))
    try:
        from shared.page_cost import page_cost

        import chromium
    except ImportError as error:
        return skipped(reason(error))
    program = chromium.find()
    if program is None:
        return skipped(f"there is no browser. {chromium.HOW}")
    if not is_built():
        return skipped("the page has not been built: make client")
    with chromium.launch(program) as browser:
        found = page_cost(browser, address, seconds, rounds)
    return [
        Row(PAGE, "ms", found["task"], note=f"target: at most {TARGET_MS:g} ms"),
        Row(f"{PAGE}, scripts only", "ms", found["script"]),
        Row("frames drawn by the page", "1/s", found["frames"], better="higher"),
    ]


def start_viser(stack: contextlib.ExitStack) -> tuple[Child, Child, str] | str:
    """viser's server, its clients and its version, or why they did not start."""
    python = bench_python()
    if python is None:
        return "not installed: make bench-venv"
    try:
        server = Child(str(python), VISER, "server")
        stack.callback(server.close)
        port, version = server.first
        clients = Child(
            str(python), VISER, "clients", f"ws://127.0.0.1:{port}", version, str(CLIENTS)
        )
        stack.callback(clients.close)
    except RuntimeError as error:
        return reason(error)
    return server, clients, version


def measure(quick: bool) -> list[Row]:
    """All rows."""
    seconds, rounds = (2.5, 3) if quick else (6.0, 7)
    ours: Found = {name: [] for name in UNITS}
    theirs: Found = {name: [] for name in UNITS}
    with contextlib.ExitStack() as stack:

        def child(*arguments: str) -> Child:
            made = Child(sys.executable, OURS, *arguments)
            stack.callback(made.close)
            return made

        alone, studio = child("alone"), child("studio")
        place = f"127.0.0.1:{studio.first}"
        query = f"token={TOKEN}&protocol={PROTOCOL}"
        clients = child("clients", f"ws://{place}/ws?{query}", str(CLIENTS))
        clients.ask("pause")
        viser = start_viser(stack)
        for _ in range(rounds):
            our_round(studio, clients, alone, seconds, ours)
            if not isinstance(viser, str):
                viser_round(*viser[:2], seconds, theirs)
        clients.close()
        page = measure_page(f"http://{place}/?token={TOKEN}", seconds, rounds)
    missing = viser if isinstance(viser, str) else "no whole update arrived"
    peer = "viser" if isinstance(viser, str) else f"viser {viser[2]}"
    rows = []
    for name, unit in UNITS.items():
        mine = statistics.median(ours[name])
        better = "higher" if name in (UPDATES, WHOLE) else "lower"
        if name == SERVER:
            rows.append(Row(name, unit, mine, note="part of the row above"))
            continue
        other = statistics.median(theirs[name]) if theirs[name] else None
        rows.append(Row(name, unit, mine, other, peer, better, "" if theirs[name] else missing))
    return rows + page


def main() -> None:
    """Measures and publishes."""
    bench = Benchmark(__file__, __doc__)
    bench.publish(measure(bench.parse().quick))


if __name__ == "__main__":
    main()
