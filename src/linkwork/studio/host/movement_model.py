"""MovementModel: the edited movement and the robot it moves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from linkwork.components.agents.servo_limits import servo_limits
from linkwork.core.errors import LinkworkError, SceneError, SessionError, listing, not_found
from linkwork.kinematics.mirror import Mirror, find_mirror
from linkwork.model.parts.spec import plain_name
from linkwork.model.scene import Movement, TimedPosture
from linkwork.model.scene.motion_limits import MotionLimits
from linkwork.model.scene.movement import Track, Trajectory
from linkwork.model.world import World
from linkwork.motion.profiles.movement_profiles import movement_profiles
from linkwork.studio import protocol as m
from linkwork.studio.host.movement_history import MovementSnapshot
from linkwork.studio.host.movement_robot import MovementRobot, robots

#: Maximum number of problems reported.
_MAX_PROBLEMS = 5


def draft_of(movement: Movement) -> m.MovementDraft:
    """A movement in the form that a browser edits."""
    postures = [
        m.PostureDraft(p.time, dict(p.joints), dict(p.speeds), p.planner)  # type: ignore[arg-type]
        for p in movement.postures
    ]
    limits = {
        joint: m.JointLimits(*(_number(each) for each in (has.speed, has.acceleration, has.jerk)))
        for joint, has in movement.limits.items()
    }
    return m.MovementDraft(
        movement.name, postures, movement.interpolation, movement.planner, limits,  # type: ignore[arg-type]
        movement.title,
    )  # fmt: skip


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def movement_of(
    draft: m.MovementDraft, robot: MovementRobot, before: Movement | None
) -> tuple[Movement, list[int]]:
    """A movement from a browser's draft, with its postures sorted by time.

    Args:
        draft: The draft.
        robot: The robot whose joints the draft names.
        before: The movement before the edit; fields that browsers do not see are kept.

    Returns:
        The movement, and the draft index of each of its postures.

    Raises:
        LinkworkError: If two postures have the same time, or a joint is missing or unknown.
    """
    order = sorted(range(len(draft.postures)), key=lambda n: draft.postures[n].time)
    postures = []
    for n in order:
        given = draft.postures[n]
        for joint in given.joints:
            if joint not in robot.dofs:
                raise not_found("joint", joint, robot.dofs)
        if postures and postures[-1].time == given.time:
            raise SceneError(
                f"there is a posture at {given.time:g} s already.", hint="Give it another time."
            )
        if not given.joints:
            raise SceneError(
                f"the posture at {given.time:g} s would name no joint.", hint="Delete it instead."
            )
        speeds = {j: v for j, v in given.speeds.items() if j in given.joints and draft.planner}
        planner = given.planner if draft.planner else ""
        postures.append(
            TimedPosture(given.time, dict(given.joints), speeds=speeds, planner=planner)
        )
    named = dict.fromkeys(joint for each in postures for joint in each.joints)
    limits = {
        joint: MotionLimits(
            given.speed or math.inf, given.acceleration or math.inf, given.jerk or math.inf
        )
        for joint, given in draft.limits.items()
        if joint in named and draft.planner and (given.speed or given.acceleration or given.jerk)
    }
    kept = before.losses if before is not None and draft.planner else {}
    made = Movement(
        draft.name, tuple(postures), "linear" if draft.planner else draft.interpolation,
        title=draft.title, labels=before.labels if before is not None else {},
        angles=_angles(robot), planner=draft.planner, limits=limits,
        losses={joint: each for joint, each in kept.items() if joint in named},
    )  # fmt: skip
    return made, order


def _angles(robot: MovementRobot) -> frozenset[str]:
    return frozenset(name for name, dof in robot.dofs.items() if robot.world.dof_is_angle(dof))


def rename_joints(movement: Movement, robot: MovementRobot) -> Movement:
    """A movement of a file with its joints renamed to those of the robot.

    Raises:
        NameNotFound: If the robot lacks one of them.
    """
    names = {joint: robot.named(joint) for joint in movement.joints()}
    for joint, name in names.items():
        if name not in robot.dofs:
            raise not_found("joint", joint, robot.dofs, origin=movement.origin)
    postures = tuple(
        replace(
            p, joints={names[j]: v for j, v in p.joints.items()},
            speeds={names[j]: v for j, v in p.speeds.items()},
        )
        for p in movement.postures
    )  # fmt: skip
    return replace(
        movement, postures=postures, angles=_angles(robot), lengths=frozenset(),
        limits={names[j]: each for j, each in movement.limits.items()},
        losses={names[j]: each for j, each in movement.losses.items()},
    )  # fmt: skip


def tracks_of(
    movement: Movement, robot: MovementRobot
) -> tuple[Mapping[str, Trajectory], list[str]]:
    """The trajectory of each joint, and the problems that prevent the robot from following it.

    If the planner fails, trajectories are interpolated linearly.
    """
    problems: list[str] = []
    for posture in movement.postures:
        for joint, value in posture.joints.items():
            if wrong := robot.out_of_range(joint, value, value):
                problems.append(f"Posture at {posture.time:g} s: {wrong}.")
    limits = {joint: servo_limits(robot.world, robot.dofs[joint]) for joint in movement.joints()}
    units = {
        joint: "rad" if robot.world.dof_is_angle(robot.dofs[joint]) else "m" for joint in limits
    }
    made = _attempt(lambda: movement_profiles(movement, limits, units), problems)
    if made is None:
        plain = replace(movement, planner="", limits={}, losses={}, postures=tuple(
            replace(each, planner="", speeds={}) for each in movement.postures
        ))  # fmt: skip
        made = {joint: plain.track(joint) for joint in plain.joints()}
    elif not problems:
        for joint, profile in made.items():
            if isinstance(profile, Track):
                continue
            if wrong := robot.out_of_range(joint, *profile.extent()):
                problems.append(f"Between postures: {wrong}.")
    return made, problems[:_MAX_PROBLEMS]


def _attempt(
    make: Callable[[], Mapping[str, Trajectory]], problems: list[str]
) -> Mapping[str, Trajectory] | None:
    try:
        return make()
    except LinkworkError as error:
        problems.append(f"{error.message} {error.hint}".strip())
        return None


class MovementModel:
    """The edited movement.

    Edit methods return the new movement; :meth:`take` applies it.

    Args:
        world: The world.

    Attributes:
        now: The movement, its part and the selected posture.
        robot: The joints of that part.
    """

    def __init__(self, world: World) -> None:
        self.now = MovementSnapshot()
        self.enter(world)

    def enter(self, world: World) -> None:
        """Starts with a world: the first or an edited one."""
        self._world = world
        self._made: tuple[Movement, Mapping[str, Trajectory], list[str]] | None = None
        known = robots(world)
        self._be(self.now.on if self.now.on in known else (known[0] if known else ""))

    def _be(self, on: str) -> None:
        self.robot, self._made = MovementRobot(self._world, on), None
        self._mirror: Mirror | LinkworkError | None = None

    def take(self, new: MovementSnapshot) -> None:
        """Applies another movement or another robot."""
        self.now = new
        if new.on != self.robot.on and new.on in robots(self._world):
            self._be(new.on)

    def choose(self, on: str) -> None:
        """Sets the part for a new movement.

        Raises:
            SessionError: If the part has no movable joint.
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
        """The name of the movement, or a default name."""
        if self.now.movement is not None:
            return self.now.movement.name
        return plain_name(f"{self.robot.on}_movement" if self.robot.on else "movement")

    def tracks(self) -> tuple[Mapping[str, Trajectory], list[str]]:
        """The trajectory of each joint, and why the robot cannot follow it."""
        movement = self.movement
        if self._made is None or self._made[0] is not movement:
            if words := self._missing():  # the scene was edited meanwhile
                self._made = movement, {}, [words]
            else:
                self._made = movement, *tracks_of(movement, self.robot)
        return self._made[1], self._made[2]

    def _missing(self) -> str:
        """An error text naming the joints that the robot lacks; empty if it has all."""
        missing = [joint for joint in self.movement.joints() if joint not in self.robot.dofs]
        words = f"{self.robot.on or 'The scene'} has no joint {', '.join(missing)}."
        return words if missing else ""

    def mirror(self) -> Mirror:
        """The left-right symmetry of the robot.

        Raises:
            SceneError: If the robot has no left and right side.
        """
        if self._mirror is None:
            try:
                self._mirror = find_mirror(self._world, list(self.robot.dofs.values()))
            except LinkworkError as error:
                self._mirror = error  # searched once
        if isinstance(self._mirror, LinkworkError):
            raise self._mirror.with_traceback(None)
        return self._mirror

    def without_image(self) -> list[str]:
        """Joints of the movement that mirroring leaves unchanged."""
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
            SessionError: If no joint of the part is movable.
        """
        known = robots(self._world)
        if on not in known:
            words = ", ".join(each or "the scene itself" for each in known) or "none"
            raise SessionError(f"no joint of {on!r} moves.", hint=f"Parts whose do: {words}.")
        return MovementRobot(self._world, on)

    def checked(self, number: int) -> int:
        """A checked posture index, or −1.

        Raises:
            SessionError: If there is no such posture.
        """
        if number >= len(self.movement.postures):
            raise SessionError(f"there is no posture {number + 1}.")
        return number

    # ---- edits ---------------------------------------------------------------------------

    def drafted(self, draft: m.MovementDraft | None, selected: int, on: str) -> MovementSnapshot:
        """A browser's draft in place of the movement.

        Raises:
            LinkworkError: If the draft is invalid.
        """
        if draft is None or not draft.postures:
            return replace(self.now, movement=None, on=self.robot.on, selected=-1)
        robot = self.robot if on in ("", self.robot.on) else self.robot_of(on)
        movement, order = movement_of(draft, robot, self.now.movement)
        chosen = order.index(selected) if selected in order else -1
        return replace(self.now, movement=movement, on=robot.on, selected=chosen)

    def added(self, values: dict[str, float], time: float | None) -> MovementSnapshot:
        """Adds a selected posture; without a time, one second after the last.

        Raises:
            LinkworkError: If that time has a posture already, or there is no joint.
        """
        old = self.now.movement
        if not values:
            raise SessionError("no part has a joint that moves.")
        if time is None:
            time = 0.0 if old is None else round(old.duration + 1.0, 3)
        draft = draft_of(old) if old is not None else m.MovementDraft(self.name, [])
        draft.postures.append(m.PostureDraft(time, values))
        return self.drafted(draft, len(draft.postures) - 1, "")

    def changed(self, chosen: int, values: Mapping[str, float]) -> MovementSnapshot:
        """Sets joint values of a posture."""
        postures = list(self.movement.postures)
        postures[chosen] = replace(postures[chosen], joints={**postures[chosen].joints, **values})
        new = replace(self.movement, postures=tuple(postures))
        return replace(self.now, movement=new, on=self.robot.on, selected=chosen)

    def mirrored(self, chosen: int) -> MovementSnapshot:
        """Exchanges left and right in a posture, or in all.

        Raises:
            SceneError: If the robot has no left and right side, or none of the joints has a mirror
                image.
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

    def fitting(self, movement: Movement, on: str) -> MovementSnapshot:
        """A movement of a file with its joints renamed to those of the robot that has them.

        Raises:
            LinkworkError: If no robot has these joints.
        """
        known = [on] if on else [self.robot.on, *robots(self._world)]
        wrong: LinkworkError | None = None
        for each in dict.fromkeys(known):
            try:
                return MovementSnapshot(rename_joints(movement, self.robot_of(each)), each)
            except LinkworkError as error:
                wrong = wrong or error
        raise wrong or SessionError("no part has a joint that moves.")
