"""SpawnedPeople: people added to a running scene, which no file contains."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from linkwork.components.faults.person import WAITING_PLACE, PersonParams, Place, add_person
from linkwork.core.errors import LinkworkError, SessionError
from linkwork.model.blocks import read_params
from linkwork.model.parts import Spec
from linkwork.model.parts.spec import plain_name
from linkwork.model.scene import Scene
from linkwork.session import messages as inbox
from linkwork.session.session import Session
from linkwork.studio import protocol as m
from linkwork.studio.host.session_inbox import SendMessage, SessionInbox

if TYPE_CHECKING:
    from linkwork.studio.host.scene_edits import SceneSwaps

#: Maximum number of people at a time.
MAX_PEOPLE = 8


@dataclass(frozen=True)
class SpawnedPerson:
    """A spawned person: its part, and the fault that moves it.

    Attributes:
        part: Name of the part.
        fault: The fault.
        enters: Starting position, x and y in the world [m].
    """

    part: str
    fault: Spec
    enters: tuple[float, float]


class SpawnedPeople:
    """The people spawned into the running scene; its file does not contain them."""

    def __init__(self) -> None:
        self._all: list[SpawnedPerson] = []
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._all)

    def joined(self, scene: Scene) -> Scene:
        """The scene with the spawned people; the same object if there are none."""
        if not self._all:
            return scene
        made = replace(
            scene, parts=dict(scene.parts), engines=list(scene.engines), faults=list(scene.faults)
        )
        for person in self._all:
            add_person(made, person.part, person.enters)
            made.faults.append(person.fault)
        return made

    def spawn(
        self, session: Session, name: str, args: dict[str, Any], expected: Collection[str] = ()
    ) -> tuple[SpawnedPerson, Callable[[], object]]:
        """Spawns a person; people who have left are removed.

        Args:
            session: The session.
            name: Name of the fault; a free one if empty.
            args: Its parameters without a part, and ``enters``.
            expected: Faults of spawned people that have not begun yet.

        Returns:
            The person, and a function that removes it again.

        Raises:
            LinkworkError: If the parameters are wrong, or there are too many people.
        """
        before = list(self._all)
        stay = [each for each in before if each.fault.name in expected or _is_there(session, each)]
        if len(stay) >= MAX_PEOPLE:
            raise SessionError(
                f"{MAX_PEOPLE} people are in the scene already.", hint="End one first."
            )
        scene, params = session.world.scene, dict(args)
        enters = _place(params.pop("enters", list(WAITING_PLACE)))
        taken = {*scene.parts, *scene.scenery}
        self._count += 1
        number = f"_{self._count}" if self._count > 1 else ""  # names are not reused
        part = plain_name(f"visitor{number}", taken)
        faults = {each.spec.name for each in session.cycle.faults}
        if name in faults:
            raise SessionError(f"there is a fault {name!r}.", hint="Give it another name.")
        spec = Spec(
            "fault",
            "person",
            name or plain_name("person", {*faults, *taken}),
            {"part": part, **params},
        )
        read_params(spec, PersonParams)
        person = SpawnedPerson(part, spec, enters)
        self._all = [*stay, person]

        def take_back() -> None:
            self._all = before

        return person, take_back


def _is_there(session: Session, person: SpawnedPerson) -> bool:
    """Whether a person is visible, walking or about to come."""
    fault = session.cycle.faults.find(person.fault.name)
    if fault is None:  # the scene with the fault is not in use yet
        return True
    return fault.active or fault.pending or bool(session[f"{person.part}/person.visible"])


def _place(value: Any) -> tuple[float, float]:
    try:
        return msgspec.convert(value, tuple[Place, Place])
    except msgspec.ValidationError:
        raise SessionError(
            f"enters is where the person comes from, [x, y] in meters, not {value!r}."
        ) from None


class SpawnHandler:
    """Spawns people, and starts their walk when they are in the scene.

    Args:
        session: The session.
        spawned_people: The spawned people.
        swaps: Swaps the world for one with them.
        session_inbox: The inbox of the session.
        send: Sends a message to clients.
    """

    def __init__(
        self,
        session: Session,
        spawned_people: SpawnedPeople,
        swaps: SceneSwaps,
        session_inbox: SessionInbox,
        send: SendMessage,
    ) -> None:
        self._session, self._spawned_people, self._swaps = session, spawned_people, swaps
        self._session_inbox, self._send = session_inbox, send
        self._pending: list[tuple[str, str]] = []  # next world's faults, and requester

    def spawn(self, client: str, asked: inbox.SetFault) -> None:
        """Spawns a person by swapping the world, as after an edit: there is one more body."""
        person, take_back = self._spawned_people.spawn(
            self._session, asked.name, dict(asked.args), [name for name, _ in self._pending]
        )
        waits = (person.fault.name, client)
        if person.fault.params.keys().isdisjoint(("at", "chance")):
            self._pending.append(waits)

        def undo_spawn() -> None:
            take_back()
            self._pending = [each for each in self._pending if each != waits]

        self._swaps.begin(client, "fault", undo_spawn, person.fault.name)

    def start_spawned(self) -> None:
        """Begins pending faults whose world is in use now."""
        faults = self._session.cycle.faults
        here = [each for each in self._pending if faults.find(each[0]) is not None]
        self._pending = [each for each in self._pending if each not in here]
        for name, client in here:
            try:
                self._session_inbox.apply(inbox.SetFault(name))
            except LinkworkError as error:
                self._send(client, m.Refused.of("fault", error, name))
