"""Bus types with different services run side by side, each with its own buses."""

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from bus_fixture import line_type
from line_bus import LineBus
from linkwork.buses.bus_processes import BusProcesses
from linkwork.core.errors import LinkworkError, SessionError
from linkwork.core.registry import BUSES
from linkwork.model.parts import Spec
from linkwork.model.scene import Scene
from linkwork.session.bus_interface import ServedBus, SessionBus
from linkwork.session.messages import BusCommand, Message
from linkwork.session.session import Session
from session_scenes import bench


class ListService:
    """A service without processes that lists what it is asked to do."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.processes: dict[str, ServedBus] = {}

    def sync(self, buses: Sequence[SessionBus], *, wait: bool = False) -> None:
        self.calls.append(("sync", [bus.spec.name for bus in buses]))
        served: Any = SimpleNamespace(ready=True, restarts=0)
        self.processes = {bus.spec.name: served for bus in buses}

    def unserved(self) -> dict[str, LinkworkError]:
        return {"other": SessionError("it is a list.")}

    def resend_status(self) -> None:
        self.calls.append(("resend_status",))

    def receive(self) -> list[Message]:
        return []

    def publish_outputs(self) -> None:
        self.calls.append(("publish_outputs",))

    def waiting_for_turn(self) -> bool:
        return False

    def wait(self, timeout: float) -> None:
        self.calls.append(("wait",))

    def order(self, bus: str, name: str, args: Mapping[str, object]) -> None:
        self.calls.append(("order", bus, name))

    def close(self) -> None:
        self.calls.append(("close",))


class ListedBus(LineBus):
    """A bus type that is served by a :class:`ListService`."""

    made: list[ListService] = []  # noqa: RUF012

    @classmethod
    def service(cls, session: Session) -> ListService:  # type: ignore[override]
        cls.made.append(ListService())
        return cls.made[-1]


@pytest.fixture(autouse=True)
def _types() -> Iterator[None]:
    ListedBus.made.clear()
    BUSES.register("listed", ListedBus)
    with line_type():
        yield
    BUSES.unregister("listed")


def scene(*others: str) -> Scene:
    """Returns the arm's bench with a bus that commands J1, and buses of the type ``listed``."""
    made = bench().bus("mine", "line")
    made.port("J1", bus="mine", commands=[{"signal": "arm/J1.target", "bits": 12}])
    for name in others:
        made.bus(name, "listed")
    return made


def test_every_bus_is_served_by_its_type() -> None:
    """The first bus does not decide how the others are served, and each service has its own."""
    with Session(scene("other")) as session:
        (service,) = ListedBus.made
        services = session.bus_processes
        assert services is not None
        assert service.calls[0] == ("sync", ["other"])
        assert sorted(services.processes) == ["mine", "other"]
        assert {name: str(why) for name, why in services.unserved().items()} == {
            "other": "it is a list."
        }
        session.step()
        session.apply_or_raise(BusCommand("other", "beep"))
        assert service.calls[-2:] == [("publish_outputs",), ("order", "other", "beep")]
        session.swap(scene()).result(timeout=60)
        session.process_inbox()
        assert service.calls[-1] == ("sync", [])
        with pytest.raises(LinkworkError, match="no bus named 'other'"):
            session.apply_or_raise(BusCommand("other", "beep"))
    assert service.calls[-1] == ("close",)


def test_a_former_name_of_a_signal_is_noted_once() -> None:
    """Who reads a signal of a bus by its former name is told the present one, outside of steps."""
    with Session(scene(), buses=False) as session:
        for _ in range(3):
            assert session["mine.feeds"] == session["mine.inputs"]
            session.step()
        texts = [event.text for event in session.outbox.events]
    assert texts == ["signal 'mine.feeds' is now called 'mine.inputs'."]


def test_a_block_that_no_process_serves_is_refused() -> None:
    """A bus whose type has a block of its own, but not a service, is not left out silently."""
    strange: Any = SimpleNamespace(spec=Spec("bus", "odd", "odd0"))
    with (
        Session(scene(), buses=False) as session,
        pytest.raises(SessionError, match="bus 'odd0' cannot be served"),
    ):
        BusProcesses(session).sync([strange])
