"""``linkwork ik``: joint values that bring a tool to a pose, for one target or a file of them."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkwork.cli.output_files import Overwrite, check_outputs
from linkwork.core.atomic import whole_file

if TYPE_CHECKING:
    import numpy as np

    from linkwork.core.errors import Origin
    from linkwork.geometry import Pose
    from linkwork.kinematics import Solver

_NOTHING = 1e-12  # [rad or m] rounding shown as 0


def ik(
    file: Annotated[str, typer.Argument(help="A scene or part, or a kit's name for it.")],
    tip: Annotated[str, typer.Option(metavar="NAME", help="Element or anchor of the tool.")],
    to: Annotated[
        str,
        typer.Option(
            metavar="X,Y,Z[,R,P,Y]",
            help="Target position in m; roll, pitch and yaw in degrees if given.",
        ),
    ] = "",
    batch: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="Many targets, one per row: x, y, z \\[m], and roll, pitch, yaw [°].",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="CSV", help="Output file of a batch.")] = None,
    overwrite: Overwrite = False,
    first: Annotated[
        str, typer.Option(metavar="JOINT", help="Only this joint and those after it may move.")
    ] = "",
) -> None:
    """Solves inverse kinematics: the joint values that bring the tool to a pose.

    Without angles only the position counts. Exit code 1 if a target is out of reach; the nearest
    posture is still shown.

    Examples:
      $ linkwork ik kuka/arm --tip flange --to 0.4,0.1,0.6,180,0,0
      $ linkwork ik cell.toml --tip arm/tool --batch targets.csv --out joints.csv
    """
    from linkwork.cli import exits
    from linkwork.cli.compile_progress import show_compiling
    from linkwork.cli.scene_argument import load_showing_notes, scene_to_run
    from linkwork.cli.screen import stdout
    from linkwork.core.errors import FormatError

    if bool(to) == (batch is not None):
        raise FormatError("give either --to or --batch.")
    if batch is not None and out is None:
        raise FormatError("--batch needs --out, the file for its answers.")
    if batch is None and out is not None:
        raise FormatError("--out is for the answers of a --batch; --to is answered here.")
    check_outputs([out], overwrite=overwrite, sources=[file, batch or ""])
    targets = [_numbers(to.split(","), "--to")] if batch is None else _read(batch)
    thing, _ = load_showing_notes(file)
    with show_compiling():
        from linkwork.kinematics import PoseTask, PositionTask, Solver
        from linkwork.model.world import compile_scene

        scene, _ = scene_to_run(thing, file, free=False)
        world = compile_scene(scene)
        name = _whole_name(tip, [*world.element_names, *world.anchors], "--tip")
        whole = len(targets[0]) == 6
        task = PoseTask(name) if whole else PositionTask(name)
        solver = Solver(world, [task], first=_whole_name(first, world.joint_names, "--first"))
        poses = [_pose(each) for each in targets]
    if batch is not None and out is not None:
        reached = _batch(solver, poses, out)
        stdout().print_line(f"{reached} of {len(poses)} reached; written to {out}.")
        if reached < len(poses):
            raise typer.Exit(exits.MISTAKE)
        return
    staying = _staying(solver, name) if first else []
    solver.set_target(poses[0])
    answer = solver.solve()
    screen = stdout()
    moved = solver.columns.dof.tolist()
    rows = [(world.dof_name(d), _shown(solver, d, answer.q)) for d in moved]
    stays = [(world.dof_name(d), f"{_shown(solver, d, answer.q)} (stays)") for d in staying]
    screen.rows(("joint", "value"), [*stays, *rows])
    screen.print_line(f"{name}: {answer}.")
    if not answer.reached:
        raise typer.Exit(exits.MISTAKE)


def _whole_name(given: str, known: Sequence[str], option: str) -> str:
    """The full name of the only object with this short name; other names are returned unchanged."""
    from linkwork.core.errors import FormatError

    if given in known:
        return given
    fits = list(dict.fromkeys(name for name in known if name.endswith(f"/{given}")))
    if given and len(fits) > 1:
        raise FormatError(f"{option} {given!r} fits several: {', '.join(fits)}.")
    return fits[0] if given and fits else given


def _numbers(words: list[str], where: str, origin: Origin | None = None) -> list[float]:
    from linkwork.core.errors import FormatError

    try:
        made = [float(word) for word in words]
    except ValueError:
        made = []
    given = ",".join(words)
    if len(made) in (3, 6) and not all(map(math.isfinite, made)):
        raise FormatError(f"{where}: the numbers {given!r} are not all finite.", origin=origin)
    if len(made) not in (3, 6):
        raise FormatError(
            f"{where}: expected x,y,z or x,y,z,roll,pitch,yaw, not {given!r}.", origin=origin
        )
    return made


def _read(path: Path) -> list[list[float]]:
    """Targets of a file; a heading in the first row may set the order of the columns."""
    from linkwork.core.errors import FormatError, Origin

    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise FormatError("this is not UTF-8 text.", origin=Origin(str(path), line)) from None
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    made: list[list[float]] = []
    order: list[int] = []
    try:
        is_first = True
        for row in rows:
            here = Origin(str(path), rows.line_num)
            if row and is_first and not any(map(_reads_as_number, row)):
                order = _order(row, here)
            elif row:
                whole = len(row) == len(order)
                words = [row[at] for at in order] if whole else row
                made.append(_numbers(words, "a target", here))
                if len(made[-1]) != len(made[0]):
                    raise FormatError(
                        f"expected {len(made[0])} numbers as in the rows before, not "
                        f"{len(made[-1])}.",
                        origin=here,
                    )
            is_first = is_first and not row
    except csv.Error as error:
        raise FormatError(f"{error}.", origin=Origin(str(path), rows.line_num)) from None
    if not made:
        raise FormatError("expected rows of three or of six numbers.", origin=Origin(str(path)))
    return made


def _order(heading: list[str], origin: Origin) -> list[int]:
    """Column indices of a target's numbers."""
    from linkwork.core.errors import FormatError

    names = [word.strip().lower() for word in heading]
    known = ["x", "y", "z", "roll", "pitch", "yaw"][: 6 if len(names) > 3 else 3]
    if sorted(names) != sorted(known):
        raise FormatError(
            f"the heading must name the columns x, y, z, or x, y, z, roll, pitch, yaw, not "
            f"{', '.join(names)}.",
            origin=origin,
        )
    return [names.index(name) for name in known]


def _reads_as_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _pose(numbers: list[float]) -> Pose:
    from linkwork.geometry import Pose

    turn = [math.radians(angle) for angle in numbers[3:]]
    return Pose.of(numbers[:3], rpy=(turn[0], turn[1], turn[2])) if turn else Pose.of(numbers)


def _value(solver: Solver, dof: int, q: np.ndarray) -> tuple[float, str]:
    """Value of a degree of freedom in its display unit; rotations are rotation vectors."""
    from linkwork.kinematics.columns import dof_value

    value = dof_value(solver.world, dof, q)
    value = 0.0 if abs(value) < _NOTHING else value
    return (math.degrees(value), "°") if solver.world.dof_is_angle(dof) else (value, " m")


def _shown(solver: Solver, dof: int, q: np.ndarray) -> str:
    value, unit = _value(solver, dof, q)
    return f"{value:.6g}{unit}".replace("-", "−")


def _staying(solver: Solver, name: str) -> list[int]:
    """Degrees of freedom that carry a frame but may not move."""
    world = solver.world
    body, found = world.frame(name)[0], []
    while body > 0:
        found += [d for d in range(world.nv) if int(world.dof_body[d]) == body]
        body = int(world.parent[body])
    return sorted(d for d in found if solver.columns.col[d] < 0)


def _batch(solver: Solver, poses: list[Pose], out: Path) -> int:
    """Solves all targets, with a progress bar on a terminal, and writes a row for each."""
    from rich.progress import Progress

    from linkwork.cli.screen import stderr

    screen = stderr()
    moved = solver.columns.dof.tolist()
    units = ["_deg" if solver.world.dof_is_angle(int(d)) else "_m" for d in solver.columns.dof]
    # Opened before the work, which may be long.
    with whole_file(out) as part, part.open("w", newline="", encoding="utf-8") as file:
        with Progress(console=screen, transient=True, disable=not screen.is_terminal) as bar:
            work = bar.add_task("solving", total=len(poses))
            answers = solver.solve_many(
                poses, progress=lambda n: bar.update(work, completed=n), chunk=200
            )
        writer = csv.writer(file)
        names = [f"{n}{unit}" for n, unit in zip(solver.movable, units, strict=True)]
        writer.writerow(["reached", "miss_m", "miss_deg", *names])
        for n in range(len(poses)):
            values = [repr(_value(solver, d, answers.q[n])[0]) for d in moved]
            miss = answers.distance[n], math.degrees(answers.angle[n])
            writer.writerow([int(answers.reached[n]), *(repr(float(m)) for m in miss), *values])
    return int(answers.reached.sum())
