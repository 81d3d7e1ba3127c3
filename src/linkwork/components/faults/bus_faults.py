"""Bus faults: frames that are lost, late, corrupted, duplicated or destroyed."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec

from linkwork.components.faults import Fault, FaultParams, FaultTargets, NonNegativeInt
from linkwork.core.errors import not_found


class BusFaultParams(FaultParams, kw_only=True):
    """Parameters of faults on the wire; ``chance`` is for each frame, 0 to 1, from ``at`` on.

    Attributes:
        bus: The bus; the only one if absent.
        ids: Only frames with these identifiers, if the bus has any; all if absent.
        node: Only frames of this node; all if absent.
        times: Maximum number of hits; no limit if 0.
    """

    bus: str = ""
    ids: list[Annotated[int, msgspec.Meta(ge=0, le=0x1FFFFFFF)]] = msgspec.field(
        default_factory=list
    )
    node: str = ""
    times: NonNegativeInt = 0


class BusFault(Fault):
    """Base of faults that the bus process injects, at the scene's time.

    Received values are recorded, so that a replay is exact without the bus. Random numbers are
    drawn from the seed frame by frame: the same frames in the same order have the same outcome.
    """

    form = BusFaultParams
    what: ClassVar[str] = "bus"
    chance_per_frame: ClassVar[bool] = True

    def join(self, targets: FaultTargets) -> None:  # noqa: D102
        bus = self.params.bus
        if not bus and len(targets.buses) == 1:
            bus = next(iter(targets.buses))
        if not bus:
            names = ", ".join(targets.buses) or "the scene has none"
            raise self.wrong("it needs a bus.", f"Buses: {names}.")
        if bus not in targets.buses:
            raise not_found("bus", bus, targets.buses, origin=self.spec.origin)
        adapter = targets.buses[bus]
        if self.type not in adapter.faults:
            known = ", ".join(adapter.faults) or "none"
            raise self.wrong(
                f"bus {bus!r} has no fault {self.type!r}.", f"Faults of its type: {known}."
            )
        self._bus = bus
        args: dict[str, Any] = {"kind": self.type, "name": self.spec.name}
        given = self.spec.params
        args |= {k: getattr(self.params, k) for k in self._passed() if k in given}
        args["seed"] = self.params.seed or self.world.scene.seed
        try:
            msgspec.convert(args, adapter.FaultOrder)
        except msgspec.ValidationError as error:
            raise self.wrong(f"bus {bus!r}: {error}.") from None
        self._args = args

    def _passed(self) -> list[str]:
        common = {"at", "lasts", "bus"}
        names = [field.name for field in msgspec.structs.fields(self.form)]
        return [name for name in names if name not in common]

    @property
    def order(self) -> tuple[str, dict[str, Any]] | None:  # noqa: D102
        return self._bus, self._args

    @property
    def about(self) -> str:  # noqa: D102
        ids = ", ".join(f"0x{id:X}" for id in self.params.ids)
        return f"{self._bus} {ids}".strip()


class DroppedFrames(BusFault):
    """Frames that are not received."""

    type: ClassVar[str] = "drop"


class DelayedFramesParams(BusFaultParams, kw_only=True):
    """Parameters of ``DelayedFrames``.

    Attributes:
        delay: Delay of the frames [s].
    """

    delay: Annotated[float, msgspec.Meta(ge=0.0, le=3600.0)] = 0.01


class DelayedFrames(BusFault):
    """Frames that arrive late."""

    type: ClassVar[str] = "delay"
    form = DelayedFramesParams


class CorruptedFrames(BusFault):
    """Frames with a flipped bit, without an error."""

    type: ClassVar[str] = "corrupt"


class DuplicatedFrames(BusFault):
    """Frames that arrive twice."""

    type: ClassVar[str] = "duplicate"


class ErrorFrames(BusFault):
    """Frames that are destroyed on the wire: error frame, counters, sent again."""

    type: ClassVar[str] = "error"


class NodeBusOff(BusFault):
    """Senders that leave the bus; they return when the fault ends."""

    type: ClassVar[str] = "bus_off"
