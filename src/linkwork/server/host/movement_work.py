"""MovementWork: a movement, the robot it moves, and what one edit makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from linkwork.errors import LinkworkError, SceneError, SessionError, listing
from linkwork.kinematics.mirror import Mirror, find_mirror
from linkwork.parts.names import plain
from linkwork.scene import Movement, TimedPosture
from linkwork.scene.track import Course
from linkwork.server import messages as m
from linkwork.server.host.movement_draft import draft_of, movement_of, renamed, ways_of
from linkwork.server.host.movement_robot import MovementRobot, robots
from linkwork.server.host.movement_steps import Edited
from linkwork.world import World


class MovementWork:
    """What is edited. Edits are told as what would come of them; :meth:`take` makes them so.

    Args:
        world: The world.

    Attributes:
        now: The movement, its part and the selected posture.
        robot: The joints of that part.
    """

    def __init__(self, world: World) -> None:
        self.now = Edited()
        self.enter(world)

    def enter(self, world: World) -> None:
        """Begins with a world, the first or an edited one."""
        self._world = world
        self._made: tuple[Movement, Mapping[str, Course], list[str]] | None = None
        known = robots(world)
        self._be(self.now.on if self.now.on in known else (known[0] if known else ""))

    def _be(self, on: str) -> None:
        self.robot, self._made = MovementRobot(self._world, on), None
        self._mirror: Mirror | LinkworkError | None = None

    def take(self, new: Edited) -> None:
        """Goes on with another movement, or another robot."""
        self.now = new
        if new.on != self.robot.on and new.on in robots(self._world):
            self._be(new.on)

    def choose(self, on: str) -> None:
        """Chooses the part that a new movement is of.

        Raises:
            SessionError: If it has no joint that moves.
        """
        if on != self.robot.on:
            self._be(self.robot_of(on).on)

    @property
    def movement(self) -> Movement:
        """The movement.

        Raises:
            SessionError: If there is none.
        """
        if self.now.movement is None:
            raise SessionError("there is no movement yet.", hint="Add a posture, or open one.")
        return self.now.movement

    @property
    def name(self) -> str:
        """What the movement is called, or would be."""
        if self.now.movement is not None:
            return self.now.movement.name
        return plain(f"{self.robot.on}_movement" if self.robot.on else "movement")

    def ways(self) -> tuple[Mapping[str, Course], list[str]]:
        """The way of each joint, and what keeps the robot from going it."""
        movement = self.movement
        if self._made is None or self._made[0] is not movement:
            if words := self._missing():  # the scene was edited under it
                self._made = movement, {}, [words]
            else:
                self._made = movement, *ways_of(movement, self.robot)
        return self._made[1], self._made[2]

    def _missing(self) -> str:
        """What is to be said of joints that the robot does not have; empty if it has all."""
        missing = [joint for joint in self.movement.joints() if joint not in self.robot.dofs]
        words = f"{self.robot.on or 'The scene'} has no joint {', '.join(missing)}."
        return words if missing else ""

    def mirror(self) -> Mirror:
        """What is left and right of the robot.

        Raises:
            SceneError: If it has neither.
        """
        if self._mirror is None:
            try:
                self._mirror = find_mirror(self._world, list(self.robot.dofs.values()))
            except LinkworkError as error:
                self._mirror = error  # looked for once
        if isinstance(self._mirror, LinkworkError):
            raise self._mirror.with_traceback(None)
        return self._mirror

    def without_image(self) -> list[str]:
        """Joints of the movement that a mirror leaves as they are."""
        images, dofs = self.mirror().images, self.robot.dofs
        return [joint for joint in self.movement.joints() if dofs[joint] not in images]

    def why_no_mirror(self) -> str:
        """Why the robot cannot be mirrored; empty if it can."""
        try:
            self.mirror()
        except LinkworkError as error:
            return error.message
        return ""

    def robot_of(self, on: str) -> MovementRobot:
        """The joints of a part.

        Raises:
            SessionError: If none of them moves.
        """
        known = robots(self._world)
        if on not in known:
            words = ", ".join(each or "the scene itself" for each in known) or "none"
            raise SessionError(f"no joint of {on!r} moves.", hint=f"Parts whose do: {words}.")
        return MovementRobot(self._world, on)

    def checked(self, number: int) -> int:
        """The number of a posture, or −1.

        Raises:
            SessionError: If there is no such posture.
        """
        if number >= len(self.movement.postures):
            raise SessionError(f"there is no posture {number + 1}.")
        return number

    # ---- edits ---------------------------------------------------------------------------

    def drafted(self, draft: m.MovementDraft | None, selected: int, on: str) -> Edited:
        """What a browser says, in place of the movement.

        Raises:
            LinkworkError: If it cannot be.
        """
        if draft is None or not draft.postures:
            return replace(self.now, movement=None, on=self.robot.on, selected=-1)
        robot = self.robot if on in ("", self.robot.on) else self.robot_of(on)
        movement, order = movement_of(draft, robot, self.now.movement)
        chosen = order.index(selected) if selected in order else -1
        return replace(self.now, movement=movement, on=robot.on, selected=chosen)

    def added(self, values: dict[str, float], time: float | None) -> Edited:
        """One posture more, selected; without a time a second after the last.

        Raises:
            LinkworkError: If there is one at that time already, or no joint.
        """
        old = self.now.movement
        if not values:
            raise SessionError("nothing here has a joint that moves.")
        if time is None:
            time = 0.0 if old is None else round(old.duration + 1.0, 3)
        draft = draft_of(old) if old is not None else m.MovementDraft(self.name, [])
        draft.postures.append(m.TimedPosture(time, values))
        return self.drafted(draft, len(draft.postures) - 1, "")

    def changed(self, chosen: int, values: Mapping[str, float]) -> Edited:
        """Other values of joints in a posture."""
        postures = list(self.movement.postures)
        postures[chosen] = replace(postures[chosen], joints={**postures[chosen].joints, **values})
        new = replace(self.movement, postures=tuple(postures))
        return replace(self.now, movement=new, on=self.robot.on, selected=chosen)

    def mirrored(self, chosen: int) -> Edited:
        """Left and right exchanged in a posture, or in all.

        Raises:
            SceneError: If the robot has none, or none of its joints has an image.
        """
        if words := self._missing():
            raise SceneError(words)
        movement, found, dofs = self.movement, self.mirror(), self.robot.dofs
        left = self.without_image()
        if len(left) == len(movement.joints()):
            raise SceneError(f"{listing(left)} has no mirror image.")

        def seen(values: Mapping[str, float]) -> dict[str, float]:
            images = found.of({dofs[joint]: value for joint, value in values.items()})
            made = {self.robot.name(dof): value for dof, value in images.items()}
            return made | {joint: value for joint, value in values.items() if joint in left}

        def other(posture: TimedPosture) -> TimedPosture:
            return replace(posture, joints=seen(posture.joints), speeds=seen(posture.speeds))

        postures = tuple(
            other(posture) if chosen in (-1, n) else posture
            for n, posture in enumerate(movement.postures)
        )
        if chosen >= 0:
            return replace(self.now, movement=replace(movement, postures=postures))
        names = {
            joint: self.robot.name(found.images[dofs[joint]][0])
            for joint in movement.joints()
            if joint not in left
        }
        new = replace(
            movement, postures=postures,
            limits={names.get(joint, joint): each for joint, each in movement.limits.items()},
            losses={names.get(joint, joint): each for joint, each in movement.losses.items()},
        )  # fmt: skip
        return replace(self.now, movement=new)

    def fitting(self, movement: Movement, on: str) -> Edited:
        """A movement of a file with the names of the robot that has its joints.

        Raises:
            LinkworkError: If none has.
        """
        known = [on] if on else [self.robot.on, *robots(self._world)]
        wrong: LinkworkError | None = None
        for each in dict.fromkeys(known):
            try:
                return Edited(renamed(movement, self.robot_of(each)), each)
            except LinkworkError as error:
                wrong = wrong or error
        raise wrong or SessionError("nothing here has a joint that moves.")
