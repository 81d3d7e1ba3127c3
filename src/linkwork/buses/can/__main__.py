"""A CAN bus without a session: ``python -m linkwork.buses.can``.

Prints one JSON line with the addresses of its servers, then answers each line on standard input:
``stats`` gives the counters as JSON, ``fault {...}`` starts a fault, ``clear`` ends all of them,
``quit`` or the end of the input ends the bus. Without standard input (closed, or ``/dev/null``, as
for a service) it runs until it is terminated.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
from dataclasses import asdict
from typing import Any

from linkwork.buses.can.faults import CanFault, CanFaultKind
from linkwork.buses.can.hub import CanHub
from linkwork.buses.can.node import CanNode
from linkwork.buses.can.slcan import SlcanPty, SlcanServer
from linkwork.buses.can.socketcand import SocketcandServer, beacon_for
from linkwork.core.errors import LinkworkError


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m linkwork.buses.can", description=__doc__)
    parser.add_argument("--name", default="can0", help="name of the bus")
    parser.add_argument("--bitrate", type=int, default=1_000_000, help="bit/s")
    parser.add_argument(
        "--timed", action="store_true", help="frames take as long as on a real wire"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--socketcand", type=int, default=0, metavar="PORT", help="0: a free one")
    parser.add_argument("--slcan", type=int, default=0, metavar="PORT", help="0: a free one")
    parser.add_argument("--pty", action="store_true", help="also slcan on a pseudo terminal")
    parser.add_argument("--beacon", action="store_true", help="announce the bus by UDP broadcast")
    parser.add_argument("--timeout", type=float, default=10.0, help="for clients [s]")
    parser.add_argument(  # its former name
        "--patience", type=float, dest="timeout", default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
    parser.add_argument(
        "--answer", action="store_true", help="a node that answers id with id + 1 and the same data"
    )
    return parser.parse_args()


async def _serve(options: argparse.Namespace) -> None:
    hub = CanHub(options.name, bitrate=options.bitrate, timed=options.timed)
    socketcand = SocketcandServer([hub], timeout=options.timeout)
    slcan = SlcanServer(hub, timeout=options.timeout)
    await socketcand.start(options.host, options.socketcand)
    await slcan.start(options.host, options.slcan)
    pty = SlcanPty(hub, timeout=options.timeout) if options.pty else None
    beacon = None
    if options.beacon:
        beacon = beacon_for(socketcand)
        beacon.start()
    if options.answer:
        _answering(hub)
    endpoints = {
        "socketcand": [socketcand.host, socketcand.port],
        "slcan": [slcan.host, slcan.port],
        "pty": pty.path if pty else None,
    }
    print(json.dumps(endpoints), flush=True)
    await _orders(hub, socketcand)
    if beacon is not None:
        beacon.stop()
    if pty is not None:
        pty.stop()
    await socketcand.stop()
    await slcan.stop()
    hub.close()


def _answering(hub: CanHub) -> CanNode:
    """A node that answers each frame with an even identifier."""

    def answer(frame: Any) -> None:
        if not frame.error and not frame.id & 1:
            node.send(frame._replace(id=frame.id + 1))

    node = hub.attach("answering", answer)
    return node


async def _orders(hub: CanHub, socketcand: SocketcandServer) -> None:
    loop = asyncio.get_running_loop()
    if not _has_input():
        await loop.create_future()  # until the process is terminated
    while True:
        line = (await loop.run_in_executor(None, sys.stdin.readline)).strip()
        if not line or line == "quit":
            return
        order, _, rest = line.partition(" ")
        try:
            answer = _execute(hub, socketcand, order, rest)
        except (LinkworkError, ValueError, TypeError) as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


def _has_input() -> bool:
    """Whether there is a standard input that can hold orders."""
    try:
        there = os.fstat(sys.stdin.fileno())
    except (AttributeError, OSError, ValueError):  # closed
        return False
    return not os.path.samestat(there, os.stat(os.devnull))


def _execute(hub: CanHub, socketcand: SocketcandServer, order: str, rest: str) -> dict[str, Any]:
    if order == "stats":
        return {
            "frames": hub.frames,
            "conflicts": hub.conflicts,
            "load": hub.load.load(hub.now()),
            "bad": socketcand.bad + hub.totals.bad,
            "clients": socketcand.clients,
            "events": [event.text for event in hub.events],
            "nodes": {
                node.name: asdict(node.count) | {"state": str(node.state)}
                for node in hub.nodes.values()
            },
        }
    if order == "fault":
        request = json.loads(rest)
        request["ids"] = frozenset(request.get("ids", ()))
        return {
            "number": hub.add_fault(CanFault(**request | {"kind": CanFaultKind(request["kind"])}))
        }
    if order == "clear":
        for number in [number for number, _, _ in hub.faults]:
            hub.remove_fault(number)
        return {}
    raise ValueError(f"unknown order: {order!r}")


def main() -> None:
    """Runs the bus until its input ends, or until it is terminated if it has none."""
    options = _arguments()
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve(options))
    except LinkworkError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
