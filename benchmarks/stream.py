"""What it costs to show a running scene to four people, with viser beside it in the same run.

    python benchmarks/stream.py [--quick] [--json]

A hundred bodies move at 60 pictures a second. ``ours`` and ``peer`` are medians over rounds that
take turns; ``ratio`` is ours / peer. CPU time is that of whole processes, in user and kernel mode.

- *CPU above the simulation*: the server's process, and what the session's process needs more than
  the same session alone. viser's process does nothing but compute a hundred poses and hand them
  over in one atomic block.
- *updates*: whole scenes that reach the client that gets fewest; *torn*: messages that leave bodies
  of different instants. All bodies turn and rise by one angle, so a mix shows.
- *main thread*: CPU time of the page's main thread per frame, see ``shared/page_cost.py``; beside
  it stands the bar that it is held to.

viser needs other versions than we do, so it has an environment of its own: ``make bench-venv``.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

from shared.child import Child
from shared.report import options
from shared.stream_ends import TOKEN

from linkwork.cli.browse import is_built
from linkwork.server.messages import PROTOCOL

HERE = Path(__file__).resolve().parent
ENDS, VISER = str(HERE / "shared" / "stream_ends.py"), str(HERE / "shared" / "viser_ends.py")
CLIENTS = 4
#: What the page may cost per frame [ms].
BAR_MS = 6.0
CPU = "CPU above the simulation, 100 bodies, 60 Hz, 4 clients [% of a core]"
SERVER = "  of that the server's process"
UPDATES = "updates at the slowest client [1/s]"
TORN = "torn updates [%]"
DATA = "data to each client [kB/s]"
PAGE = "main thread per frame, four views, 20 live curves [ms]"

Found = dict[str, list[float]]


def viser_python() -> Path | None:
    """The Python that has viser, or None."""
    found = (
        os.environ.get("LINKWORK_BENCH_PYTHON") or HERE.parent / ".venv-bench" / "bin" / "python"
    )
    return Path(found) if Path(found).exists() else None


def note(found: Found, cpu: float, seen: dict[str, Any]) -> None:
    """Keeps what a round found."""
    found[CPU].append(100.0 * cpu)
    found[UPDATES].append(min(seen["rates"]))
    found[TORN].append(100.0 * seen["torn"] / max(1, seen["pictures"]))
    found[DATA].append(seen["bytes"] / 1e3)


def our_round(studio: Child, watch: Child, alone: Child, seconds: float, found: Found) -> None:
    """One round of ours."""
    base = alone.ask(str(seconds))
    watch.ask("play")
    before = studio.ask("cpu")
    seen = watch.ask(str(seconds))
    after = studio.ask("cpu")
    watch.ask("pause")
    spent = [(b - a) / seconds for a, b in zip(before, after, strict=True)]
    note(found, sum(spent) - base, seen)
    found[SERVER].append(100.0 * spent[1])


def viser_round(server: Child, watch: Child, seconds: float, found: Found) -> None:
    """One round of viser's."""
    before = server.ask("play")
    seen = watch.ask(str(seconds))
    note(found, (server.ask("pause") - before) / seconds, seen)


def measure_page(address: str, seconds: float, rounds: int) -> tuple[dict[str, float] | None, str]:
    """What the page costs, or None and why it was not measured."""
    sys.path.append(str(HERE.parent / "tests"))
    try:
        from shared.page_cost import page_cost

        import chromium
    except ImportError as error:
        return None, f"{error.name} is not installed"
    program = chromium.find()
    if program is None:
        return None, f"there is no browser. {chromium.HOW}"
    if not is_built():
        return None, "the page has not been built: make client"
    with chromium.launch(program) as browser:
        return page_cost(browser, address, seconds, rounds), ""


def measure(quick: bool) -> list[dict[str, Any]]:
    """All rows."""
    seconds, rounds = (2.5, 3) if quick else (6.0, 7)
    python = viser_python()
    ours: Found = {name: [] for name in (CPU, SERVER, UPDATES, TORN, DATA)}
    theirs: Found = {name: [] for name in ours}
    with contextlib.ExitStack() as stack:

        def child(*words: str) -> Child:
            made = Child(*words)
            stack.callback(made.close)
            return made

        alone = child(sys.executable, ENDS, "alone")
        studio = child(sys.executable, ENDS, "studio")
        place = f"127.0.0.1:{studio.first}"
        query = f"token={TOKEN}&protocol={PROTOCOL}"
        watch = child(sys.executable, ENDS, "watch", f"ws://{place}/ws?{query}", str(CLIENTS))
        watch.ask("pause")
        rival = None
        if python is not None:
            server = child(str(python), VISER, "server")
            port, version = server.first
            words = (f"ws://127.0.0.1:{port}", version, str(CLIENTS))
            rival = server, child(str(python), VISER, "watch", *words)
        for _ in range(rounds):
            our_round(studio, watch, alone, seconds, ours)
            if rival is not None:
                viser_round(*rival, seconds, theirs)
        watch.close()
        page, why = measure_page(f"http://{place}/?token={TOKEN}", seconds, rounds)
    name = "viser" if rival is not None else "viser (not there: make bench-venv)"
    rows = [row(each, ours[each], theirs[each], name) for each in ours]
    if page is None:
        rows.append(row(f"{PAGE}: skipped, {why}", [], [BAR_MS], "bar"))
    else:
        rows.append(row(PAGE, [page["task"]], [BAR_MS], "bar"))
        rows.append(row("  of that scripts [ms]", [page["script"]], [], "none"))
        rows.append(row("  frames drawn [1/s]", [page["frames"]], [], "none"))
    return rows


def row(name: str, ours: list[float], peer: list[float], peer_name: str) -> dict[str, Any]:
    """A comparison of medians."""
    mine = statistics.median(ours) if ours else None
    other = statistics.median(peer) if peer else None
    ratio = mine / other if mine is not None and other else None
    return {"name": name, "ours": mine, "peer": other, "peer_name": peer_name, "ratio": ratio}


def shown(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def main() -> None:
    """Measures and prints."""
    asked = options((__doc__ or "").partition("\n")[0])
    rows = measure(asked.quick)
    if asked.json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    for each in rows:
        print(
            f"{each['name']:70}  ours {shown(each['ours']):>8}   {each['peer_name']} "
            f"{shown(each['peer']):>8}   ratio {shown(each['ratio'], 3)}"
        )


if __name__ == "__main__":
    main()
