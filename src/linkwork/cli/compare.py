"""``linkwork compare``: runs a model here and in MuJoCo, and shows where they part."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from linkwork.session.mujoco_comparison import RunComparison


def compare(
    file: Annotated[str, typer.Argument(help="An MJCF model.")],
    peer: Annotated[
        str, typer.Option("--with", metavar="NAME", help="What to compare with: mujoco.")
    ] = "mujoco",
    seconds: Annotated[
        float, typer.Option("--for", min=1e-6, max=1e6, help="Duration of each run \\[s].")
    ] = 2.0,
    random: Annotated[
        int, typer.Option("--random", min=0, max=1000, help="Number of random starts.")
    ] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the random starts and controls.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Runs a model here and in MuJoCo itself, and shows where the two motions part.

    From the first keyframe (or the model's start) and from random states; in the middle of each
    run all controls change. Two runs agree if no coordinate differs by more than 1e-6, or by
    more than ten times what a disturbance of the start by 1e-10 does to MuJoCo's own motion.

    Exit code 0 if all runs agree, 3 if not.

    Examples:
      $ linkwork compare robot.xml --with mujoco --for 2
    """
    import json
    from dataclasses import asdict

    from linkwork.cli import exits
    from linkwork.cli.compile_progress import show_compiling
    from linkwork.cli.screen import count, stderr, stdout

    if peer != "mujoco":
        raise typer.BadParameter(f"{peer!r} is not known. Known: mujoco.", param_hint="--with")
    from linkwork.formats import find_file
    from linkwork.session.mujoco_comparison import MujocoComparison

    out = stdout()
    with show_compiling():
        comparison = MujocoComparison(Path(find_file(file)))
    runs: list[RunComparison] = []
    for run in comparison.run(seconds, random, seed=seed):
        runs.append(run)
        if not as_json and not run.agrees:
            stderr().print_line(f"{run.start}: {_reason(run)}", lead="differs:")
    agreed = sum(run.agrees for run in runs)
    if as_json:
        rows = [asdict(run) | {"agrees": run.agrees} for run in runs]
        print(json.dumps({"file": file, "notes": list(comparison.notes), "runs": rows}, indent=2))
    else:
        for note in comparison.notes:
            out.print_line(note, lead="note:")
        out.rows(
            ("start", "time", "difference", "MuJoCo disturbed", "parts at", "energy", "contacts"),
            [_row(run) for run in runs],
        )
        same = count(agreed, "run agrees", "runs agree")
        out.print_line(f"{file}: {same} with MuJoCo, of {len(runs)}.")
    comparison.cycle.close()
    if agreed < len(runs):
        raise typer.Exit(exits.DIFFERENT)


def _reason(run: RunComparison) -> str:
    if run.failed:
        return f"the run here ended after {run.time:.3f} s: {run.failed}"
    if run.parted_at is None:
        return "MuJoCo itself is unstable from the first step: nothing can be compared."
    return f"{run.joint} parts at {run.parted_at:.3f} s and differs by {run.difference:.2g}"


def _row(run: RunComparison) -> tuple[str, ...]:
    contacts = str(run.contacts)
    if run.other_contacts:
        contacts += f" ({run.other_contacts} steps differ)"
    ended = ", MuJoCo unstable" if run.unstable else ""
    return (
        run.start, f"{run.time:.3f} s{ended}", f"{run.difference:.1e}", f"{run.disturbed:.1e}",
        "never" if run.parted_at is None else f"{run.parted_at:.3f} s",
        f"{run.energy:.1e} of {run.energy_scale:.1e} J", contacts,
    )  # fmt: skip
