"""Guests: people who walk into a running scene, whom no file knows."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from linkwork.blocks import read_params
from linkwork.errors import SessionError
from linkwork.faults.person import PersonParams, Place
from linkwork.faults.visitor import WAITS, add_visitor
from linkwork.parts import Spec
from linkwork.parts.names import plain
from linkwork.scene import Scene
from linkwork.session.session import Session

#: How many people walk about at a time.
MOST = 8


@dataclass(frozen=True)
class Guest:
    """Somebody who was let in: a part that is the person, and the fault that moves it.

    Attributes:
        part: Name of the part.
        fault: The fault.
        enters: Where the person comes from, x and y of the world [m].
    """

    part: str
    fault: Spec
    enters: tuple[float, float]


class Guests:
    """Everyone who was let into a scene; they are in the scene that runs, not in its file."""

    def __init__(self) -> None:
        self._all: list[Guest] = []
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._all)

    def joined(self, scene: Scene) -> Scene:
        """The scene with all of them, which is another one where there are any."""
        if not self._all:
            return scene
        made = replace(
            scene, parts=dict(scene.parts), engines=list(scene.engines), faults=list(scene.faults)
        )
        for guest in self._all:
            add_visitor(made, guest.part, guest.enters)
            made.faults.append(guest.fault)
        return made

    def invite(
        self, session: Session, name: str, args: dict[str, Any], expected: Collection[str] = ()
    ) -> tuple[Guest, Callable[[], object]]:
        """Lets somebody in; those who have left make room.

        Args:
            session: The session into whose scene the person comes.
            name: Of the fault; a free one if empty.
            args: Its parameters without a part, and ``enters``.
            expected: Faults of people who were let in and have not begun yet.

        Returns:
            The guest, and what takes the invitation back.

        Raises:
            LinkworkError: If the parameters are wrong, or too many are there.
        """
        before = list(self._all)
        stay = [each for each in before if each.fault.name in expected or _is_there(session, each)]
        if len(stay) >= MOST:
            raise SessionError(f"{MOST} people are in the scene already.", hint="End one first.")
        scene, params = session.world.scene, dict(args)
        enters = _place(params.pop("enters", list(WAITS)))
        taken = {*scene.parts, *scene.scenery}
        self._count += 1
        number = f"_{self._count}" if self._count > 1 else ""  # nobody takes over who has left
        part = plain(f"visitor{number}", taken)
        faults = {each.spec.name for each in session.cycle.trouble}
        if name in faults:
            raise SessionError(f"there is a fault {name!r}.", hint="Give it another name.")
        spec = Spec(
            "fault", "person", name or plain("person", {*faults, *taken}), {"part": part, **params}
        )
        read_params(spec, PersonParams)
        guest = Guest(part, spec, enters)
        self._all = [*stay, guest]

        def take_back() -> None:
            self._all = before

        return guest, take_back


def _is_there(session: Session, guest: Guest) -> bool:
    """Whether somebody is in the room, on the way, or yet to come."""
    fault = session.cycle.trouble.find(guest.fault.name)
    if fault is None:  # the scene has not got to it yet
        return True
    return fault.active or fault.waits or bool(session[f"{guest.part}/person.visible"])


def _place(value: Any) -> tuple[float, float]:
    try:
        return msgspec.convert(value, tuple[Place, Place])
    except msgspec.ValidationError:
        raise SessionError(
            f"enters is where the person comes from, [x, y] in metres, not {value!r}."
        ) from None
