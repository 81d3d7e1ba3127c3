"""Tcp: the bus type of parts that are served, or reached, over TCP."""

from __future__ import annotations

import asyncio
import os
import secrets
import ssl
from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from linkwork.buses.adapter import Adapter
from linkwork.buses.latch import Outlet
from linkwork.buses.port import BusPlan
from linkwork.buses.tcp.client import PartClient, Told
from linkwork.buses.tcp.faults import KINDS, LineFaultOrder, LineFaults, Values
from linkwork.buses.tcp.lines import Item
from linkwork.buses.tcp.server import Heard, PartServer
from linkwork.errors import LinkworkError, SignalError
from linkwork.hosts import is_loopback

PORT = 7420


class TcpParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of :class:`Tcp`.

    Attributes:
        host: Interface to listen on; "0.0.0.0" lets other machines in, who need the token.
        port: Port to listen on; 0 for a free one.
        token: What controllers must know, or what the part asks for. Without one, a host that
            others can reach gets a random token, which is shown.
        connect: "host:port" of a part that is hardware, or another simulation.
        tls: Whether connections are encrypted.
        certificate: File of the certificate, from the scene's folder; at the controller's end, of
            what is trusted.
        key: File of its private key, from the scene's folder.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = PORT
    token: Annotated[
        str,
        msgspec.Meta(
            max_length=200, pattern=r"^[!-~]*$", description="up to 200 signs without spaces"
        ),
    ] = ""
    connect: Annotated[
        str, msgspec.Meta(pattern=r"^$|^[^\s]+:\d{1,5}$", description="an address, 'host:port'")
    ] = ""
    tls: bool = False
    certificate: str = ""
    key: str = ""


class TcpAddress(msgspec.Struct, forbid_unknown_fields=True):
    """What a signal may say beyond its common keys.

    Attributes:
        remote: Its name at the other end, where that differs; for ``connect``.
    """

    remote: str = ""


class Tcp(Adapter):
    """Serves the ports as a part, or reaches a part elsewhere where the plant is real.

    ``[[bus]] type = "tcp"``; see ``docs/tcp.md`` for the lines.
    """

    Params = TcpParams
    Address = TcpAddress
    counters = dict.fromkeys(
        ("lines_in", "lines_out", "bad_lines", "skipped", "dropped", "turned_away"), ""
    )
    steady = tuple(counters)
    together = True
    faults = KINDS
    FaultOrder = LineFaultOrder

    def __init__(self, plan: BusPlan, outlet: Outlet) -> None:
        super().__init__(plan, outlet)
        self._server: PartServer | None = None
        self._client: PartClient | None = None
        self._running: asyncio.Task[None] | None = None
        self._linked = self._driven = False
        self._faults = LineFaults()

    @classmethod
    def check(cls, plan: BusPlan) -> list[str]:
        """A real plant needs an address; a virtual one has none."""
        params = msgspec.convert(plan.params, TcpParams)
        if plan.plant == "virtual" and params.connect:
            return ['connect leads to hardware: write plant = "real" or "both".']
        if plan.plant != "virtual" and not params.connect:
            return ['a real plant needs its address: connect = "host:port".']
        if params.tls and not params.connect and not (params.certificate and params.key):
            return ["tls needs the files certificate and key."]
        return []

    async def start(self) -> list[str]:
        """Opens the door, or goes to the part."""
        params: TcpParams = self.params
        if params.connect:
            host, _, port = params.connect.rpartition(":")
            told = Told(self._reached, self._lost, self._measured, self._counted, self._logged)
            self._client = PartClient(
                host.strip("[]"), int(port), token=params.token, tls=self._trust(), told=told
            )
            self._running = asyncio.create_task(self._client.run())
            return [f"part at {params.connect}"]
        token = params.token
        if not token and not is_loopback(params.host):
            token = secrets.token_urlsafe(12)
        heard = Heard(self._commanded, self.joined, self._parted, self._counted, self._logged)
        self._server = PartServer(
            self._items(), self.plan.period, lockstep=self.plan.lockstep, token=token, heard=heard
        )
        port = await self._server.start(params.host, params.port, self._identity())
        words = f", token {token}" if token and not params.token else ""
        return [f"TCP part on {params.host}:{port}{' with TLS' if params.tls else ''}{words}"]

    def _items(self) -> list[Item]:
        fed = [("command", *each) for each in self.plan.fed.items()]
        given = [("sensor", *each) for each in self.plan.given.items()]
        return [
            Item(role, key, signal.unit, signal.lo, signal.hi)  # type: ignore[arg-type]
            for role, key, signal in [*fed, *given]
        ]

    def _identity(self) -> ssl.SSLContext | None:
        params: TcpParams = self.params
        if not params.tls:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(_path(params.certificate), _path(params.key))
        except (OSError, ssl.SSLError) as error:
            raise LinkworkError(
                f"certificate {params.certificate} and key {params.key} cannot be used: {error}."
            ) from None
        return context

    def _trust(self) -> ssl.SSLContext | None:
        params: TcpParams = self.params
        if not params.tls:
            return None
        try:
            return ssl.create_default_context(cafile=_path(params.certificate) or None)
        except (OSError, ssl.SSLError) as error:
            raise LinkworkError(
                f"certificate {params.certificate} cannot be used: {error}."
            ) from None

    def _counted(self, name: str) -> None:
        self.count(name)

    def _logged(self, way: str, who: str, line: str) -> None:
        self.log(way, who, text=line)

    # ---- a virtual plant -----------------------------------------------------------------

    def _parted(self) -> None:
        """A controller has left; whoever looks on does not answer for the one who commanded."""
        if self._driven and self._server is not None and not self._server.driven:
            self._driven = False
            self.gone()
        self.left()

    def _commanded(self, values: Values) -> None:
        self._driven = True
        self._pass_on(values, "controller", self._take)

    def _take(self, values: Values) -> None:
        if len(values) != len(self.plan.fed):
            return  # late, of ports that were edited meanwhile
        given = {k: v for k, v in zip(self.plan.fed, values, strict=True) if v is not None}
        if self.plan.lockstep:
            self.feed(given, turn=self.turn)
        elif given:
            self.feed(given)

    def outgoing(self, values: dict[str, float]) -> None:
        """Sends the sensors to controllers, or the commands to the part."""
        if self._server is not None:
            asks, step, time = self.plan.lockstep and self.turn > 0, self.step, self.time
            server = self._server
            self._pass_on(
                list(values.values()), "part",
                lambda sent: server.show(step, time, sent, asks=asks),  # type: ignore[arg-type]
            )  # fmt: skip
        elif self._client is not None:
            names, client = [self._remote(key) for key in values], self._client
            self._pass_on(
                list(values.values()), "controller",
                lambda sent: client.command(dict(zip(names, sent, strict=True))),  # type: ignore[arg-type]
            )  # fmt: skip

    def replanned(self, before: BusPlan) -> None:
        """Describes the part anew; controllers join again."""
        if self._server is not None:
            self._server.describe(self._items(), self.plan.period)

    # ---- a real plant --------------------------------------------------------------------

    def _remote(self, key: str) -> str:
        signals = {**self.plan.given, **self.plan.fed}
        return str(signals[key].address.get("remote") or key)

    def _reached(self, items: list[Item]) -> None:
        there = {item.name for item in items}
        missing = [key for key in (*self.plan.given, *self.plan.fed)
                   if self._remote(key) not in there]  # fmt: skip
        if missing:
            self.note(
                f"the part at {self.params.connect} has no {', '.join(missing[:5])}"
                f'{" and others" if len(missing) > 5 else ""}. Name what it has: remote = "…".',
                "warning",
            )
        self._linked = True
        self.joined()

    def _lost(self, why: str) -> None:
        if self._linked:
            self._linked = False
            self.note(f"the part at {self.params.connect} is gone: {why}", "warning")
            self.left()

    def _measured(self, values: dict[str, float]) -> None:
        found = {key: values[self._remote(key)] for key in self.plan.fed
                 if self._remote(key) in values}  # fmt: skip
        self._pass_on(
            list(found.values()), "part",
            lambda sent: self.feed(
                dict(zip(found, sent, strict=True)),  # type: ignore[arg-type]
                turn=self.turn if self.plan.lockstep else 0,
            ),
        )  # fmt: skip

    # ---- faults --------------------------------------------------------------------------

    def _pass_on(self, values: Values, node: str, send: Callable[[Values], object]) -> None:
        struck = self._faults.pass_on(values, node, send)
        if struck:
            self.log("note", node, text=struck)

    def struck(self) -> dict[str, float]:
        """Faults that have not ended, with what was wished."""
        return self._faults.struck()

    def order(self, name: str, args: dict[str, Any]) -> None:
        """Does what people ask for: ``fault`` or ``clear``."""
        if name == "fault":
            try:
                self._faults.add(msgspec.convert(args, LineFaultOrder))
            except msgspec.ValidationError as error:
                raise LinkworkError(f"{name}: {error}.") from None
        elif name == "clear":
            self._faults.clear(str(args.get("name", "")))
        else:
            raise SignalError(f"tcp knows no order {name!r}: fault, clear.")

    async def close(self) -> None:
        """Shuts the door."""
        if self._server is not None:
            await self._server.close()
        if self._running is not None:
            self._running.cancel()


def _path(file: str) -> str:
    return os.path.expanduser(file)
