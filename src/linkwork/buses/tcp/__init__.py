"""TcpBus: joint values as lines of text over TCP (Visum §6)."""

from __future__ import annotations

import asyncio
import os
import secrets
import ssl
from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from linkwork.buses.adapter import Adapter, PlanError
from linkwork.buses.input_buffer import MessageSink
from linkwork.buses.messages import ActiveFault
from linkwork.buses.port import BusPlan
from linkwork.buses.tcp.client import PartClient, PartClientEvents
from linkwork.buses.tcp.faults import KINDS, LineFaultOrder, LineFaults, Values
from linkwork.buses.tcp.lines import LineItem
from linkwork.buses.tcp.server import PartServer, PartServerEvents
from linkwork.core.errors import LinkworkError, SignalError
from linkwork.core.hosts import is_loopback

DEFAULT_PORT = 7420


class TcpParams(msgspec.Struct, forbid_unknown_fields=True):
    """Parameters of :class:`TcpBus`.

    Attributes:
        host: Interface to listen on; "0.0.0.0" lets other machines connect, which need the token.
        port: Port to listen on; 0 for a free one.
        token: Token of the controllers, or of the part to connect to. Without one, a host that
            others can reach gets a random token, which is shown.
        connect: "host:port" of a part that is hardware, or another simulation.
        tls: Whether connections are encrypted.
        certificate: File of the certificate, from the scene's folder; for a controller, that of the
            trusted certificates.
        key: File of its private key, from the scene's folder.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = DEFAULT_PORT
    token: Annotated[
        str,
        msgspec.Meta(
            max_length=200, pattern=r"^[!-~]*$", description="up to 200 characters without spaces"
        ),
    ] = ""
    connect: Annotated[
        str, msgspec.Meta(pattern=r"^$|^[^\s]+:[0-9]{1,5}$", description="an address, 'host:port'")
    ] = ""
    tls: bool = False
    certificate: str = ""
    key: str = ""


class TcpAddress(msgspec.Struct, forbid_unknown_fields=True):
    """Keys of a signal beyond the common ones.

    Attributes:
        remote: Its name at the other end, if different; for ``connect``.
    """

    remote: str = ""


class TcpBus(Adapter):
    """Serves the ports as a part, or connects to a remote part if the plant is real.

    ``[[bus]] type = "tcp"``; see ``docs/tcp.md`` for the protocol.
    """

    Params = TcpParams
    Address = TcpAddress
    counters = dict.fromkeys(
        ("lines_in", "lines_out", "bad_lines", "skipped", "dropped", "rejections"), ""
    )
    lockstep_counters = tuple(counters)
    single_controller = True
    faults = KINDS
    FaultOrder = LineFaultOrder

    def __init__(self, plan: BusPlan, sink: MessageSink) -> None:
        super().__init__(plan, sink)
        self._server: PartServer | None = None
        self._client: PartClient | None = None
        self._running: asyncio.Task[None] | None = None
        self._linked = self._driven = False
        self._faults = LineFaults()

    @classmethod
    def check(cls, plan: BusPlan) -> list[PlanError]:
        """A real plant needs an address; a virtual one has none."""
        params = msgspec.convert(plan.params, TcpParams)
        if plan.plant == "virtual" and params.connect:
            return [PlanError('connect leads to hardware: write plant = "real" or "both".')]
        if plan.plant != "virtual" and not params.connect:
            return [PlanError('a real plant needs its address: connect = "host:port".')]
        if params.tls and not params.connect and not (params.certificate and params.key):
            return [PlanError("tls needs the files certificate and key.")]
        return []

    @classmethod
    def exposure(cls, plan: BusPlan) -> str:
        """A server on a network interface, or a part on another machine."""
        params = msgspec.convert(plan.params, TcpParams)
        if params.connect:
            host = params.connect.rpartition(":")[0].strip("[]")
            return "" if is_loopback(host) else f"connects to {params.connect}"
        return (
            "" if is_loopback(params.host) else f'listens on the network (host = "{params.host}")'
        )

    async def start(self) -> list[str]:
        """Opens the server, or connects to the part."""
        params: TcpParams = self.params
        if params.connect:
            host, _, port = params.connect.rpartition(":")
            events = PartClientEvents(
                self._reached, self._lost, self._measured, self._counted, self._logged
            )
            self._client = PartClient(
                host.strip("[]"), int(port), token=params.token, tls=self._trust(), events=events
            )
            self._running = asyncio.create_task(self._client.run())
            return [f"part at {params.connect}"]
        token = params.token
        if not token and not is_loopback(params.host):
            token = secrets.token_urlsafe(12)
        events = PartServerEvents(
            self._commanded, self.joined, self._left, self._counted, self._logged
        )
        self._server = PartServer(
            self._items(), self.plan.period, lockstep=self.plan.lockstep, token=token, events=events
        )
        port = await self._server.start(params.host, params.port, self._identity())
        words = f", token {token}" if token and not params.token else ""
        return [f"TCP part on {params.host}:{port}{' with TLS' if params.tls else ''}{words}"]

    def _items(self) -> list[LineItem]:
        inputs = [("command", *each) for each in self.plan.inputs.items()]
        given = [("sensor", *each) for each in self.plan.outputs.items()]
        return [
            LineItem(role, key, signal.unit, signal.lo, signal.hi)  # type: ignore[arg-type]
            for role, key, signal in [*inputs, *given]
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

    def _logged(self, direction: str, who: str, line: str) -> None:
        self.log(direction, who, text=line)

    # ---- a virtual plant -----------------------------------------------------------------

    def _left(self) -> None:
        """Handles a controller that has left; other clients do not replace it."""
        if self._driven and self._server is not None and not self._server.driven:
            self._driven = False
            self.gone()
        self.left()

    def _commanded(self, values: Values) -> None:
        self._driven = True
        self._pass_on(values, "controller", self._take)

    def _take(self, values: Values) -> None:
        if len(values) != len(self.plan.inputs):
            return  # late, for ports that were edited meanwhile
        given = {k: v for k, v in zip(self.plan.inputs, values, strict=True) if v is not None}
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
        """Describes the new part; controllers must join again."""
        if self._server is not None:
            self._server.describe(self._items(), self.plan.period)

    # ---- a real plant --------------------------------------------------------------------

    def _remote(self, key: str) -> str:
        signals = {**self.plan.outputs, **self.plan.inputs}
        return str(signals[key].address.get("remote") or key)

    def _reached(self, items: list[LineItem]) -> None:
        there = {item.name for item in items}
        missing = [key for key in (*self.plan.outputs, *self.plan.inputs)
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
            self.note(f"the part at {self.params.connect} is lost: {why}", "warning")
            self.left()

    def _measured(self, values: dict[str, float]) -> None:
        found = {key: values[self._remote(key)] for key in self.plan.inputs
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
        note = self._faults.apply_faults(values, node, send)
        if note:
            self.log("", node, text=note, kind="note")

    def active_faults(self) -> list[ActiveFault]:
        """Returns the active faults."""
        return self._faults.active_faults()

    def order(self, name: str, args: dict[str, Any]) -> None:
        """Executes ``fault`` or ``clear``."""
        if name == "fault":
            try:
                self._faults.add(msgspec.convert(args, LineFaultOrder))
            except msgspec.ValidationError as error:
                raise LinkworkError(f"{name}: {error}.") from None
        elif name == "clear":
            self._faults.clear(str(args.get("name", "")))
        else:
            raise SignalError(f"tcp has no order {name!r}: fault, clear.")

    async def close(self) -> None:
        """Closes the server or the connection."""
        if self._server is not None:
            await self._server.close()
        if self._running is not None:
            self._running.cancel()


def _path(file: str) -> str:
    return os.path.expanduser(file)


__all__ = ["TcpBus"]
