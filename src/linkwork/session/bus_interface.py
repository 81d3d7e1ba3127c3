"""Interface that a bus type offers to a session."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

import msgspec

from linkwork.core.errors import LinkworkError, SessionError
from linkwork.core.signals import Signal, Signals
from linkwork.core.state import State
from linkwork.model.blocks import Block
from linkwork.model.parts import Spec
from linkwork.model.world import World
from linkwork.session.messages import Message

if TYPE_CHECKING:
    from linkwork.components.agents import AgentContext
    from linkwork.session.session import Session


class BusSignal(Protocol):
    """A signal of a port."""

    @property
    def signal(self) -> str:
        """The signal of the scene behind it; empty without."""
        ...


class BusRow(Protocol):
    """A signal of a port, with the signal of the scene that shows it."""

    @property
    def own(self) -> Signal:
        """The signal that shows it, ``can0/arm/elbow.target``."""
        ...


class BusDescription(Protocol):
    """A bus with its ports."""

    @property
    def name(self) -> str:
        """Name of the bus."""
        ...

    @property
    def type(self) -> str:
        """Registered type."""
        ...

    @property
    def plant(self) -> str:
        """The plant behind the ports: "virtual", "real" or "both"."""
        ...

    def entries(
        self, *roles: Literal["command", "sensor", "parameter"]
    ) -> Iterable[tuple[str, BusSignal]]:
        """Yields key and signal of all signals of these roles."""
        ...


class BusType(Protocol):
    """A class registered in ``linkwork.core.registry.BUSES``."""

    @property
    def orders(self) -> Mapping[str, type[msgspec.Struct]]:
        """Its commands, each with a struct of the arguments."""
        ...

    def block(self, world: World, spec: Spec) -> SessionBus:
        """Builds the block of one ``[[bus]]`` of a world.

        Raises:
            LinkworkError: If the bus or one of its ports is invalid.
        """
        ...

    def service(self, session: Session) -> BusService:
        """Builds the service of the buses of a session whose types inherit this method."""
        ...


class SessionBus(Block, ABC):
    """A bus as a block of the cycle.

    Attributes:
        spec: The ``[[bus]]`` table.
        every: Control period in whole steps.
        pause_requested: Whether the session must pause because the controller was lost.
    """

    kind: ClassVar[str] = "bus"
    spec: Spec
    every: int
    pause_requested: bool

    @property
    @abstractmethod
    def adapter(self) -> BusType:
        """The registered class."""

    @property
    @abstractmethod
    def plan(self) -> BusDescription:
        """The bus with its ports."""

    @property
    @abstractmethod
    def rows(self) -> Mapping[str, BusRow]:
        """Every signal of the ports, by key ``<port>.<signal>``."""

    @abstractmethod
    def join(self, signals: Signals, state: State) -> None:
        """Resolves the signals behind the ports and adds the signals of the bus."""

    @abstractmethod
    def feed(self, values: Mapping[str, float], *, turn: bool, context: AgentContext) -> None:
        """Applies received values, by key."""

    @abstractmethod
    def on_health(
        self, clients: int, restarts: int, counters: Mapping[str, float], context: AgentContext
    ) -> None:
        """Applies the status of the bus process."""

    @abstractmethod
    def on_controller_lost(
        self, why: str, context: AgentContext, keys: Collection[str] = ()
    ) -> None:
        """Starts the loss policy for the ports of ``keys``; for all ports without."""

    @abstractmethod
    def set_counters(self, counters: Mapping[str, float]) -> None:
        """Applies the counters of the bus process."""

    @abstractmethod
    def check_override(self, key: str, value: float | None) -> int:
        """Returns the row of a signal; raises what :meth:`override` would raise."""

    @abstractmethod
    def override(self, key: str, value: float | None) -> None:
        """Overrides a signal with a value; None ends the override."""

    @abstractmethod
    def overridden(self, key: str) -> bool:
        """Returns whether a signal is overridden."""

    @abstractmethod
    def has_received(self, key: str) -> bool:
        """Returns whether the bus has received a value for a signal."""

    @abstractmethod
    def last_input(self, key: str) -> float | None:
        """Returns the last value received for a signal; None without, or if its port is lost."""

    @abstractmethod
    def transfer_from(self, twin: SessionBus) -> None:
        """Copies the memory of the same bus, of the same type, before an edit of the scene."""

    @abstractmethod
    def act(self, context: AgentContext) -> None:
        """Writes received commands to the scene, before the step."""

    @abstractmethod
    def finish(self) -> None:
        """Publishes the outputs after the step."""

    @abstractmethod
    def publish_outputs(self) -> None:
        """Copies the values of the sensors to the ports."""


#: What the buses of a scene do only if the person who runs it allows it, with a description.
PERMISSIONS = {
    "network": "open buses to other machines",
    "replace-links": "replace symbolic links that they did not make",
}


def check_permissions(names: Collection[str]) -> frozenset[str]:
    """Returns permissions as a set.

    Raises:
        SessionError: If there is no such permission.
    """
    wrong = [name for name in names if name not in PERMISSIONS]
    if isinstance(names, str) or wrong:
        found = names if isinstance(names, str) else wrong[0]
        raise SessionError(
            f"allow takes a collection of permissions, and {found!r} is none.",
            hint="There are " + ", ".join(f"{k} ({v})" for k, v in PERMISSIONS.items()) + ".",
        )
    return frozenset(names)


class ServedBus(Protocol):
    """A bus that is served, or cannot be.

    Attributes:
        ready: Whether it is served.
        given_up: Whether no further attempt is made.
        error: Why it cannot be served; None if it can.
        endpoints: Descriptions of where it is served.
        clients: Number of connected clients.
        restarts: Number of restarts.
    """

    ready: bool
    given_up: bool
    error: LinkworkError | None
    endpoints: list[str]
    clients: int
    restarts: int


class BusService(Protocol):
    """Serves buses of a session. Only :meth:`wait` and :meth:`sync` may block."""

    @property
    def processes(self) -> Mapping[str, ServedBus]:
        """The served buses, by name."""
        ...

    def sync(self, buses: Sequence[SessionBus], *, wait: bool = False) -> None:
        """Starts, updates or ends processes to match the buses of the scene.

        Args:
            buses: The buses to serve.
            wait: Whether to wait until the started processes serve.

        Raises:
            LinkworkError: If it cannot serve a bus of this class.
        """
        ...

    def unserved(self) -> dict[str, LinkworkError]:
        """Returns why buses cannot be served, by bus name."""
        ...

    def resend_status(self) -> None:
        """Sends the number of clients again, after the session restored an earlier state."""
        ...

    def receive(self) -> list[Message]:
        """Returns the messages of the buses and restarts processes that ended."""
        ...

    def publish_outputs(self) -> None:
        """Sends the values after a step to the buses."""
        ...

    def waiting_for_turn(self) -> bool:
        """Returns whether a lock-step client has not answered yet; requests its turn."""
        ...

    def wait(self, timeout: float) -> None:
        """Sleeps until a bus sends a message, at most ``timeout`` [s]."""
        ...

    def order(self, bus: str, name: str, args: Mapping[str, object]) -> None:
        """Sends an order to the process of a bus."""
        ...

    def close(self) -> None:
        """Ends the processes."""
        ...


class BusServices:
    """All buses of a session: one :class:`BusService` for each way in which types are served.

    Types that inherit their method ``service`` from the same class share a service.

    Args:
        session: The session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._services: dict[object, BusService] = {}
        self._waiting: list[BusService] = []

    def __getitem__(self, bus: str) -> ServedBus:
        return self.processes[bus]

    @property
    def processes(self) -> dict[str, ServedBus]:
        """The served buses, by name."""
        return {name: bus for each in self._all() for name, bus in each.processes.items()}

    def _all(self) -> list[BusService]:
        return list(self._services.values())

    def sync(self, buses: Sequence[SessionBus], *, wait: bool = False) -> None:
        """Starts, updates or ends processes to match the buses of the scene.

        Args:
            buses: All buses of the scene.
            wait: Whether to wait until the started processes serve.
        """
        groups: dict[object, list[SessionBus]] = {factory: [] for factory in self._services}
        for bus in buses:
            factory = getattr(bus.adapter.service, "__func__", bus.adapter.service)
            if factory not in self._services:
                self._services[factory] = bus.adapter.service(self._session)
            groups.setdefault(factory, []).append(bus)
        for factory, members in groups.items():
            self._services[factory].sync(members, wait=wait)

    def unserved(self) -> dict[str, LinkworkError]:
        """Returns why buses cannot be served, by bus name."""
        return {name: why for each in self._all() for name, why in each.unserved().items()}

    def resend_status(self) -> None:
        """Sends the number of clients again, after the session restored an earlier state."""
        for service in self._all():
            service.resend_status()

    def receive(self) -> list[Message]:
        """Returns the messages of the buses and restarts processes that ended."""
        return [message for service in self._all() for message in service.receive()]

    def publish_outputs(self) -> None:
        """Sends the values after a step to the buses."""
        for service in self._all():
            service.publish_outputs()

    def waiting_for_turn(self) -> bool:
        """Returns whether a lock-step client has not answered yet; requests all turns."""
        self._waiting = [service for service in self._all() if service.waiting_for_turn()]
        return bool(self._waiting)

    def wait(self, timeout: float) -> None:
        """Sleeps until a bus sends a turn that is waited for, at most ``timeout`` [s]."""
        for service in self._waiting:
            service.wait(timeout / len(self._waiting))

    def order(self, bus: str, name: str, args: Mapping[str, object]) -> None:
        """Sends an order to the process of a bus.

        Raises:
            SessionError: If the bus is not served.
        """
        for service in self._all():
            if bus in service.processes:
                service.order(bus, name, args)
                return
        raise SessionError(f"bus {bus!r} is not served.")

    def close(self) -> None:
        """Ends the processes."""
        with ExitStack() as ends:  # each even if others fail
            for service in self._all():
                ends.callback(service.close)
