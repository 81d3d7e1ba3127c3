"""Doors: the ways onto a scene's CAN bus, as its parameters want them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from linkwork.buses.can.bridge import Bridge
from linkwork.buses.can.hub import Hub
from linkwork.buses.can.params import CanParams
from linkwork.buses.can.slcan import SlcanPty, SlcanTcp
from linkwork.buses.can.socketcand import Socketcand, beacon_for


class Doors:
    """Opens and shuts them.

    Args:
        hub: The bus.
    """

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._all: list[Any] = []
        self._socketcand: Socketcand | None = None

    @property
    def bad(self) -> int:
        """Messages that follow no rule, of clients that opened no bus."""
        return self._socketcand.bad if self._socketcand is not None else 0

    async def open(self, params: CanParams) -> AsyncIterator[str]:
        """Opens one after the other; gives a line each that tells people where.

        Raises:
            LinkworkError: If one cannot be opened.
        """
        hub, name = self._hub, params.channel
        if params.socketcand is not False:
            door = self._socketcand = Socketcand([hub])
            await door.start(params.host, 29536 if params.socketcand is True else params.socketcand)
            self._all.append(door)
            yield f"{name}: socketcand on {door.host}:{door.port}"
            if params.beacon:
                beacon = beacon_for(door)
                beacon.start()
                self._all.append(beacon)
        if params.slcan is not False:
            slcan = SlcanTcp(hub)
            await slcan.start(params.host, 0 if params.slcan is True else params.slcan)
            self._all.append(slcan)
            yield f"{name}: slcan on {slcan.host}:{slcan.port}"
        if params.pty:
            link = Path(params.pty).expanduser() if isinstance(params.pty, str) else None
            pty = SlcanPty(hub, link=link)
            self._all.append(pty)
            yield f"{name}: slcan device {link or pty.path}"
        if params.bridge:
            options = dict(params.bridge)
            bridge = Bridge(hub, str(options.pop("interface")), options.pop("channel"), **options)
            await bridge.start()
            self._all.append(bridge)
            yield f"{name}: joined to {bridge.where}"

    async def close(self) -> None:
        """Shuts them."""
        for door in self._all:
            done = door.stop()
            if done is not None:
                await done
