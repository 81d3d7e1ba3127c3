"""FaultDesk: begins and ends faults as people say, and tells people and buses of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork.errors import FormatError, Origin, SessionError, not_found
from linkwork.faults import Fault
from linkwork.parts import Spec
from linkwork.session import messages as m

if TYPE_CHECKING:
    from linkwork.session.session import Session


class FaultDesk:
    """What a session does about its faults outside the cycle; remembers nothing that matters.

    Args:
        session: The session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._said: dict[str, bool] = {}
        self._ordered: dict[str, tuple[str, int]] = {}

    # ---- what comes in -----------------------------------------------------------------------

    def apply(self, message: m.Fault) -> None:
        """Begins or ends a fault; for ``Fault``.

        Raises:
            LinkworkError: If there is none of the name, or it cannot be.
        """
        trouble = self._session.cycle.trouble
        if message.kind:
            self._inject(message)
        elif not message.name:
            if message.on:
                raise SessionError("which fault? It needs a name, or a type and what it strikes.")
            for fault in trouble:
                fault.end()
        else:
            fault = trouble.find(message.name)
            if fault is None:
                raise not_found("fault", message.name, [f.spec.name for f in trouble])
            if message.on:
                fault.begin(self._session.time)
            else:
                fault.end()
        self.tell()

    def _inject(self, message: m.Fault) -> None:
        trouble = self._session.cycle.trouble
        if not message.on:
            raise SessionError("a new fault cannot be ended; give its name alone.")
        name = message.name or self._new_name(message.kind)
        if any(fault.spec.name == name for fault in trouble.faults):
            raise SessionError(
                f"the scene has a fault {name!r}.", hint="Give the new one another name."
            )
        if not name.replace("-", "").replace("_", "").isalnum() or len(name) > 100:
            raise FormatError(f"a fault cannot be named {name!r}: use letters, digits, _ and -.")
        spec = Spec("fault", message.kind, name, dict(message.args), Origin())
        fault = trouble.inject(spec, message.slot)
        if message.slot < 0 and fault.params.at is None and fault.params.chance is None:
            fault.begin(self._session.time)
        elif message.slot < 0 and fault.once_begun and fault.params.at is None:
            fault.begin(self._session.time)
            fault.spend()

    def _new_name(self, type: str) -> str:
        taken, name, number = {f.spec.name for f in self._session.cycle.trouble}, type, 2
        while name in taken:
            name, number = f"{type}_{number}", number + 1
        return name

    def injected(self) -> list[m.Fault]:
        """What says again what was injected, for a recording that begins in mid-run."""
        return [
            m.Fault(fault.spec.name, True, fault.spec.type, dict(fault.spec.params), slot)
            for slot, fault in enumerate(self._session.cycle.trouble.live)
            if fault is not None
        ]

    # ---- what goes out -----------------------------------------------------------------------

    def tell(self) -> None:
        """Tells people and buses what began and what ended."""
        for fault in self._session.cycle.trouble:
            name, active = fault.spec.name, fault.active
            if self._said.get(name, False) != active:
                self._said[name] = active
                if _comes_and_goes(fault):
                    continue
                what = f"{fault.type} {fault.about}".strip()
                if active:
                    again = ", again and again by chance" if _may_come_again(fault) else ""
                    self._session.say(
                        f"fault {name} begins: {what}{again}.", level="warning", source=name
                    )
                else:
                    self._session.say(f"fault {name} is over.", source=name)
            if fault.order is not None:
                self._order(fault)

    def _order(self, fault: Fault) -> None:
        """Lets a bus's process begin or end a fault; a process that began anew hears it again."""
        session, order = self._session, fault.order
        if session.partners is None or order is None:
            return
        bus, args = order
        process = session.partners[bus]
        if not process.ready:
            return
        name = fault.spec.name
        begun = f"{bus} {fault.count}" if fault.active else ""
        before, restarts = self._ordered.get(name, ("", process.restarts))
        if begun == before and (restarts == process.restarts or not begun):
            return
        if before and restarts == process.restarts:
            session.partners.order(before.partition(" ")[0], "clear", {"name": name})
        if begun:
            session.partners.order(bus, "fault", args)
        self._ordered[name] = begun, process.restarts


def _comes_and_goes(fault: Fault) -> bool:
    """Whether people know by now that it begins again and again by chance."""
    return _may_come_again(fault) and fault.count > 1


def _may_come_again(fault: Fault) -> bool:
    """Whether it begins by chance, and not only once."""
    return fault.params.chance is not None and not fault.once_begun
