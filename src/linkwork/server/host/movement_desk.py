"""MovementDesk: the movement that people edit on a running scene, and its robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from linkwork.errors import LinkworkError, SceneError, SessionError
from linkwork.kinematics.mirror import Mirror, find_mirror
from linkwork.parts.names import plain
from linkwork.scene import Movement, TimedPosture
from linkwork.scene.track import Course
from linkwork.server import messages as m
from linkwork.server.host import movement_files, own_files
from linkwork.server.host.door import Door, Tell
from linkwork.server.host.editor import Editor
from linkwork.server.host.movement_draft import draft_of, movement_of, renamed, ways_of
from linkwork.server.host.movement_play import MovementPlay
from linkwork.server.host.movement_robot import MovementRobot, robots
from linkwork.server.host.movement_steps import Edited, MovementSteps
from linkwork.server.host.posture_steps import PostureSteps
from linkwork.session import messages as inbox
from linkwork.session.cycle import PERSON
from linkwork.session.reading import machine_buses, read_posture
from linkwork.session.session import Session

#: A joint that is moved by less has not been moved [rad or m].
_STILL = 1e-9


class MovementDesk:
    """Takes edits of a movement in, shows its postures on the robot, plays, opens and saves it.

    Args:
        session: The session.
        door: The way into it.
        editor: The files, which are edited and saved besides.
        tell: Tells clients something.
        postures: Keeps what can be undone of postures that are in no movement.
        tell_undo: Tells every client what can be undone now.

    Attributes:
        steps: What can be undone.
        play: Plays the movement.
    """

    def __init__(
        self, session: Session, door: Door, editor: Editor, tell: Tell, postures: PostureSteps,
        tell_undo: Callable[[], object],
    ) -> None:  # fmt: skip
        self._session, self._door, self._editor, self._tell = session, door, editor, tell
        self._postures, self._tell_undo = postures, tell_undo
        self._now, self._saved, self._file = Edited(), None, ""
        self._shown: tuple[int, np.ndarray] | None = None
        self._files: list[str] | None = None
        self._time_told = (0.0, False)
        self.steps = MovementSteps()
        self.play = MovementPlay(
            session, door, lambda e: tell("", m.Refused("play_movement", str(e)))
        )
        self.enter()

    # ---- how it stands -------------------------------------------------------------------

    def enter(self) -> None:
        """Begins with a world, the first or an edited one."""
        self.play.stop()
        self._shown, self._mirror = None, None
        self._made: tuple[Movement, Mapping[str, Course], list[str]] | None = None
        known = robots(self._session.world)
        on = self._now.on if self._now.on in known else (known[0] if known else "")
        self.robot = MovementRobot(self._session.world, on)

    @property
    def depth(self) -> int:
        """How many edits the files have."""
        project = self._editor.project
        return len(project.history) if project is not None else 0

    @property
    def dirty(self) -> bool:
        """Whether there is something to save."""
        return self._now.movement is not None and self._now.movement != self._saved

    @property
    def editing(self) -> bool:
        """Whether the robot has the selected posture, so that what a hand moves goes into it."""
        session = self._session
        return (
            self._shown is not None and self._now.selected >= 0 and not session.running
            and not self.play.playing and session.state.step == self._shown[0]
        )  # fmt: skip

    @property
    def told(self) -> m.MovementState:
        """How it stands, as clients are told."""
        now = self._now
        problems = self._ways()[1] if now.movement is not None else []
        if self._files is None:
            self._files = movement_files.found(self._folders())
        return m.MovementState(
            draft_of(now.movement) if now.movement is not None else None,
            self.robot.on, robots(self._session.world), now.selected, self.editing, problems,
            self._why_no_mirror(), self._file, self.dirty, self._suggestion(), self._files,
            machine_buses(self._session.cycle),
        )  # fmt: skip

    def _movement(self) -> Movement:
        if self._now.movement is None:
            raise SessionError("there is no movement yet.", hint="Add a posture, or open one.")
        return self._now.movement

    def _ways(self) -> tuple[Mapping[str, Course], list[str]]:
        movement = self._movement()
        if self._made is None or self._made[0] is not movement:
            try:
                self._made = (movement, *ways_of(movement, self.robot))
            except (LinkworkError, KeyError) as error:  # the scene was edited under it
                missing = [j for j in movement.joints() if j not in self.robot.dofs]
                words = f"The robot has no joint {', '.join(missing)}." if missing else str(error)
                self._made = (movement, {}, [words])
        return self._made[1], self._made[2]

    def _find_mirror(self) -> Mirror:
        if self._mirror is None:
            self._mirror = find_mirror(self._session.world, list(self.robot.dofs.values()))
        return self._mirror

    def _why_no_mirror(self) -> str:
        try:
            self._find_mirror()
        except LinkworkError as error:
            return error.message
        return ""

    # ---- editing -------------------------------------------------------------------------

    def _edit(self, new: Edited, what: str, gesture: tuple[str, int]) -> None:
        """Puts another movement in the place of the one that is edited."""
        old, self._now = self._now, new
        self.play.stop()
        if new.movement != old.movement:
            self.steps.keep(what, gesture, self.depth, old)
            self._tell_undo()
        if new.on != self.robot.on:
            self.robot, self._mirror = MovementRobot(self._session.world, new.on), None
        self._show_selected(quietly=True)

    def tell(self) -> None:
        """Tells every client how it stands."""
        self._tell("", self.told)

    def set(self, client: str, message: m.SetMovement) -> None:
        """Takes an edit in.

        Raises:
            LinkworkError: If it cannot be; all is as before then, and the client told so.
        """
        try:
            new = self._drafted(message)
        except LinkworkError:
            self._tell(client, self.told)  # the page shows what was asked for
            raise
        self._edit(new, message.what or "movement", (client, message.gesture))
        self.tell()

    def _drafted(self, message: m.SetMovement) -> Edited:
        draft = message.draft
        if draft is None or not draft.postures:
            self._file, self._saved = "", None
            return Edited(None, self.robot.on)
        on = message.on or self.robot.on
        robot = self.robot if on == self.robot.on else self._robot(on)
        movement, order = movement_of(draft, robot, self._now.movement)
        chosen = message.selected
        return Edited(movement, on, order.index(chosen) if chosen in order else -1)

    def _robot(self, on: str) -> MovementRobot:
        known = robots(self._session.world)
        if on not in known:
            words = ", ".join(each or "the scene itself" for each in known)
            raise SessionError(f"no joint of {on!r} moves.", hint=f"Parts whose do: {words}.")
        return MovementRobot(self._session.world, on)

    def add(self, client: str, message: m.AddPosture) -> None:
        """Adds a posture: as the robot is, or as it is to be.

        Raises:
            LinkworkError: If there is one at that time already.
        """
        if message.on and message.on != self.robot.on and self._now.movement is None:
            self.robot, self._mirror = self._robot(message.on), None
        state = self._session.state
        values = self.robot.values(state.q)
        if message.wanted:
            world, signals = self._session.world, self._session.signals
            for name, dof in self.robot.dofs.items():
                if f"{world.dof_name(dof)}.target" in signals:
                    values[name] = self.robot.tidy(name, float(state.target[dof]))
        self._put(client, values, message.time, "add a posture")

    def _put(self, client: str, values: dict[str, float], time: float | None, what: str) -> None:
        """Adds a posture with these values, and selects it."""
        old = self._now.movement
        if not values:
            raise SessionError("nothing here has a joint that moves.")
        if time is None:
            time = 0.0 if old is None else round(old.duration + 1.0, 3)
        posture = m.TimedPosture(time, values)
        draft = draft_of(old) if old is not None else m.MovementDraft(self._name(), [])
        made = [*draft.postures, posture]
        draft = m.MovementDraft(
            draft.name, made, draft.interpolation, draft.planner, draft.limits, draft.title
        )
        movement, order = movement_of(draft, self.robot, old)
        new = Edited(movement, self.robot.on, order.index(len(made) - 1))
        self._edit(new, what, (client, 0))
        self.tell()

    def _name(self) -> str:
        return plain(f"{self.robot.on}_movement" if self.robot.on else "movement")

    def mirror(self, client: str, message: m.MirrorMovement) -> None:
        """Exchanges left and right.

        Raises:
            LinkworkError: If the robot has none, or joints have no image.
        """
        movement, found = self._movement(), self._find_mirror()
        chosen = self._checked(message.posture)
        postures = list(movement.postures)
        for n in range(len(postures)) if chosen < 0 else [chosen]:
            postures[n] = self._mirrored(postures[n], found)
        limits = {self._image(j, found): each for j, each in movement.limits.items()}
        new = replace(
            movement, postures=tuple(postures), limits=limits if chosen < 0 else movement.limits
        )
        what = "mirror the movement" if chosen < 0 else "mirror the posture"
        self._edit(replace(self._now, movement=new), what, (client, 0))
        self.tell()

    def _image(self, joint: str, found: Mirror) -> str:
        image = found.images.get(self.robot.dofs[joint])
        return joint if image is None else self.robot.name(image[0])

    def _mirrored(self, posture: TimedPosture, found: Mirror) -> TimedPosture:
        lost = [j for j in posture.joints if self.robot.dofs[j] not in found.images]
        if lost:
            raise SceneError(f"{', '.join(lost)} has no mirror image.")

        def seen(values: Mapping[str, float]) -> dict[str, float]:
            mirrored = found.of({self.robot.dofs[j]: v for j, v in values.items()})
            return {self.robot.name(dof): value for dof, value in mirrored.items()}

        return replace(posture, joints=seen(posture.joints), speeds=seen(posture.speeds))

    def read(self, client: str, message: m.ReadPosture) -> None:
        """Takes what the machine behind a bus reports into a posture, or adds one of it.

        Raises:
            LinkworkError: If no machine is there, or it says nothing.
        """
        begin = f"{self.robot.on}/" if self.robot.on else ""
        said = {
            name.removeprefix(begin): value
            for name, value in read_posture(self._session.cycle, message.bus).items()
        }
        values = {
            name: self.robot.tidy(name, said[name]) for name in self.robot.dofs if name in said
        }
        if not values:
            raise SessionError(f"the machine has no joint of {self.robot.on or 'the scene'}.")
        chosen = self._checked(message.posture)
        if chosen < 0:
            self._put(client, values, None, "read a posture")
            return
        self._change(chosen, values, "read a posture", (client, 0))
        self.tell()

    def _change(
        self, chosen: int, values: Mapping[str, float], what: str, gesture: tuple[str, int]
    ) -> None:
        """Gives joints of a posture other values."""
        movement = self._movement()
        postures = list(movement.postures)
        postures[chosen] = replace(postures[chosen], joints={**postures[chosen].joints, **values})
        new = replace(movement, postures=tuple(postures))
        self._edit(replace(self._now, movement=new, selected=chosen), what, gesture)

    def _checked(self, number: int) -> int:
        if number >= 0 and number >= len(self._movement().postures):
            raise SessionError(f"there is no posture {number + 1}.")
        return number

    def undo(self) -> None:
        """Takes the last step back."""
        self._go(self.steps.undo(self._now))

    def redo(self) -> None:
        """Does it again."""
        self._go(self.steps.redo(self._now))

    def _go(self, to: Edited) -> None:
        self.play.stop()
        self._now = to
        if to.on != self.robot.on and to.on in robots(self._session.world):
            self.robot, self._mirror = MovementRobot(self._session.world, to.on), None
        self._show_selected(quietly=True)
        self._tell_undo()
        self.tell()

    # ---- on the robot --------------------------------------------------------------------

    def show(self, message: m.ShowMovement) -> None:
        """Shows a posture, which is selected then, or the movement at a time.

        Raises:
            LinkworkError: If there is none, or a program drives the joints.
        """
        self.play.stop()
        self._movement()
        chosen = self._checked(message.posture)
        self._now = replace(self._now, selected=chosen)
        try:
            if chosen >= 0:
                self._show_selected()
            else:
                self._shown, self.play.time = None, message.time
                self._put_on(message.time)
        finally:
            self.tell()
            self._tell_time()

    def _show_selected(self, *, quietly: bool = False) -> None:
        """Gives the robot the selected posture.

        Args:
            quietly: Whether it is left as it is where a program drives it.
        """
        movement, chosen = self._now.movement, self._now.selected
        self._shown = None
        if movement is None or not 0 <= chosen < len(movement.postures):
            return
        self.play.time = movement.postures[chosen].time
        try:
            self._put_on(self.play.time)
        except LinkworkError:
            if not quietly:
                raise
            return
        if not self._session.running:
            self._postures.forget()
            state = self._session.state
            self._shown = state.step, state.q.copy()

    def _put_on(self, time: float) -> None:
        session, ways = self._session, self._ways()[0]
        values = {joint: float(way.value(time)) for joint, way in ways.items()}
        if not session.running:
            self._door.apply(inbox.Arrange(self.robot.arranged(session.state.q, values)))
            return
        for joint, name in self.play.targets(self.robot, values, take=False).items():
            signal = session.signals[name]
            inside = min(max(values[joint], signal.lo), signal.hi)
            self._door.apply(inbox.Set(name, inside, PERSON))

    def lose_sight(self) -> None:
        """The robot was given another state; what hands do goes into no posture now."""
        self.play.stop()
        if self._shown is not None:
            self._shown = None
            self.tell()

    def begin(self, message: m.PlayMovement) -> None:
        """Plays the movement, or ends that.

        Raises:
            LinkworkError: If it cannot be played.
        """
        if not message.on:
            self.play.stop()
            self._tell_time()
            return
        movement, (ways, problems) = self._movement(), self._ways()
        if problems:
            raise SessionError(f"it cannot be played. {problems[0]}")
        self._shown = None
        self._now = replace(self._now, selected=-1)
        try:
            self.play.begin(self.robot, ways, movement.duration, take=message.take)
        finally:
            self.tell()
        self._tell_time()

    def look_after(self) -> None:
        """Tells how far it is, and takes what hands have moved into the selected posture."""
        if (self.play.time, self.play.playing) != self._time_told:
            self._tell_time()
        if not self.editing:
            if self._shown is not None:
                self.lose_sight()
            return
        assert self._shown is not None
        q, before = self._session.state.q, self._shown[1]
        if (np.abs(q - before) <= _STILL).all():
            return
        had, has = self.robot.values(before), self.robot.values(q)
        moved = {name: value for name, value in has.items() if value != had[name]}
        self._shown = self._shown[0], q.copy()
        if not moved:
            return
        words = next(iter(moved)) if len(moved) == 1 else f"{len(moved)} joints"
        movement, chosen = self._movement(), self._now.selected
        postures = list(movement.postures)
        postures[chosen] = replace(postures[chosen], joints={**postures[chosen].joints, **moved})
        new = replace(movement, postures=tuple(postures))
        self.steps.keep(f"move {words}", self._postures.gesture, self.depth, self._now)
        self._now = replace(self._now, movement=new)
        self._tell_undo()
        self.tell()

    def _tell_time(self) -> None:
        self._time_told = self.play.time, self.play.playing
        self._tell("", m.MovementTime(*self._time_told))

    # ---- files ---------------------------------------------------------------------------

    def _folders(self) -> list[Path]:
        return self._editor.folders

    def _suggestion(self) -> str:
        if self._file:
            return self._file
        name = self._now.movement.name if self._now.movement is not None else self._name()
        return own_files.free_path(str(self._folders()[0]), name)

    def open(self, client: str, message: m.OpenMovement) -> None:
        """Edits a movement of a file.

        Raises:
            LinkworkError: If it cannot be opened, or is another robot's.
        """
        movement, file = movement_files.opened(message.path, message.name, self._folders())
        robot, named = self._fitting(movement, message.on)
        self._edit(Edited(named, robot.on), f"open {movement.name}", (client, 0))
        self._saved, self._file = named, file
        self.tell()

    def _fitting(self, movement: Movement, on: str) -> tuple[MovementRobot, Movement]:
        """The robot that has a movement's joints, and the movement with its names for them."""
        known = [on] if on else [self.robot.on, *robots(self._session.world)]
        wrong: LinkworkError | None = None
        for each in dict.fromkeys(known):
            robot = self._robot(each)
            try:
                return robot, renamed(movement, robot)
            except LinkworkError as error:
                wrong = wrong or error
        raise wrong or SessionError("nothing here has a joint that moves.")

    def save(self, message: m.SaveMovement) -> tuple[str, list[str]]:
        """Writes the movement; returns the file and what its format could not say.

        Raises:
            LinkworkError: If it cannot be written, or not there.
        """
        movement = self._movement()
        parts = self._session.world.scene.parts
        robot = parts[self.robot.on].part if self.robot.on in parts else None
        again = message.path == self._file
        file, notes = movement_files.saved(
            movement, message.path, robot, self._folders(), overwrite=message.overwrite or again
        )
        self._saved, self._file, self._files = movement, file, None
        self.tell()
        return file, notes
