"""``linkwork check``: reads a file and reports errors and approximations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from linkwork.cli.scene_argument import MissingChoice, MissingMeshes, ServoChoice, Servos

if TYPE_CHECKING:
    from linkwork.cli.screen import Screen
    from linkwork.model.parts import Part
    from linkwork.session.cycle import Cycle


def check(
    file: Annotated[
        str,
        typer.Argument(help="A part, scene, movement or devices file, or a kit's name of it."),
    ],
    signals: Annotated[
        bool, typer.Option("--signals", help="List every signal with unit, range and use.")
    ] = False,
    language: Annotated[
        str,
        typer.Option(metavar="CODE", help="Show names in this language if the file has labels."),
    ] = "",
    strict: Annotated[
        bool,
        typer.Option("--strict", help="End with exit code 1 if anything will move differently."),
    ] = False,
    servos: Servos = ServoChoice.none,
    missing_meshes: MissingMeshes = MissingChoice.error,
) -> None:
    """Reads and compiles a file, and lists features that engines reject or approximate.

    Nothing runs. Exit code 0 if it could (approximated features are listed), 1 if not; with
    --strict also 1 if a feature is approximated or left out that changes the motion. A file
    that names no engine is checked with mujoco, or with impulse if mujoco cannot run it.

    Examples:
      $ linkwork check my_robot.toml
      $ linkwork check tripod/level --signals
    """
    from linkwork.cli import exits
    from linkwork.cli.compile_progress import show_compiling
    from linkwork.cli.scene_argument import load_showing_notes
    from linkwork.cli.screen import count, show_findings, stderr, stdout
    from linkwork.cli.show_plan import movements_of, show_movement
    from linkwork.formats.conversion_notes import NoteLines
    from linkwork.model.parts import Part

    out = stdout()
    if _show_devices(out, file):
        return
    movements, alone = movements_of(file)
    if alone:
        for each in movements:
            show_movement(out, file, each)
        return
    thing, notes = load_showing_notes(file, missing_meshes)
    with show_compiling():
        from linkwork.cli.scene_argument import FALLBACK_ENGINE, compile_with_engine, scene_to_run
        from linkwork.session.live_edit import dry_run

        scene, more = scene_to_run(thing, file, free=False, servos=servos)
        cycle, other = compile_with_engine(scene)
        mobilities = [each for engine in cycle.engines for each in engine.mobilities()]
        dry_run(cycle)
    for note in [*notes, *more, *other]:
        out.print_line(note, lead="note:")
    show_findings(out, cycle.findings)
    if isinstance(thing, Part):
        _show_part(out, thing, language)
        for each in movements:
            show_movement(out, f"{file}, movement {each.name!r}", each, thing)
    for mobility in mobilities:
        out.print_line(mobility.line())
    _show_faults(out, cycle)
    if signals:
        _show_signals(out, cycle)
    world = cycle.world
    moving = world.nb - 1 - sum(world.is_static(b) for b in range(1, world.nb))
    counts = [
        count(moving, "moving body", "moving bodies"), count(len(world.joint_names), "joint"),
        count(world.nv, "degree of freedom", "degrees of freedom"),
        count(len(world.loop_names), "loop"), f"{world.mass.sum():.3f} kg",
    ]  # fmt: skip
    cycle.close()
    how = f"It can run with --engine {FALLBACK_ENGINE}." if other else "It can run."
    for engine in cycle.engines:
        if text := engine.summary():
            out.print_line(text)
    out.print_line(f"{file}: {', '.join(counts)}. {how}")
    if strict:
        differing = [f for f in cycle.findings if f.level != "note"]
        moved = notes.of("motion") if isinstance(notes, NoteLines) else []
        if total := len(differing) + len(moved):
            stderr().print_line(f"{count(total, 'difference')} in motion, with --strict an error.")
            raise typer.Exit(exits.MISTAKE)


def _show_devices(out: Screen, file: str) -> bool:
    """Lists the mappings of a devices file, if it is one."""
    import os

    if not file.lower().endswith(".toml") or not os.path.isfile(file):
        return False
    from linkwork.cli.screen import count
    from linkwork.devices import FORMAT, load_devices
    from linkwork.formats.toml.source import TomlSource

    if TomlSource.read(file).data.get("format") != FORMAT:
        return False
    mapping = load_devices(file)
    rows = [
        (
            device.name, device.type, each.source, each.to,
            f"{'-' if each.invert else ''}{each.scale:.6g}", f"{each.deadzone:g}",
        )
        for device in mapping.devices.values()
        for each in device.maps
    ]  # fmt: skip
    out.rows(("device", "type", "from", "to", "scale", "deadzone"), rows)
    devices, inputs = len(mapping.devices), len(mapping.inputs())
    out.print_line(f"{file}: {count(devices, 'device')}, {count(inputs, 'logical input')}.")
    return True


def _show_part(out: Screen, part: Part, language: str) -> None:
    """Lists the joints of a part, and the anchors for other parts."""
    if language:
        spoken = [
            (each.labels.get(language) or name, kind, name)
            for kind, things in (("element", part.elements), ("joint", part.joints))
            for name, each in things.items()
        ]
        out.rows((f"name ({language})", "is", "in the file"), spoken)
    joints = [
        (name, joint.type, joint.drive.type if joint.drive else "")
        for name, joint in part.joints.items()
    ]
    if joints:
        out.rows(("joint", "type", "drive"), joints)
    anchors = [(name, part.find_anchor(name).fits or "any") for name in part.all_anchors()]
    if anchors:
        out.rows(("anchor", "fits"), anchors)


def _show_faults(out: Screen, cycle: Cycle) -> None:
    """Lists the scheduled faults."""
    rows = [
        (fault.spec.name, fault.type, fault.about, fault.when)
        for fault in cycle.faults.scene_faults
    ]
    if rows:
        out.rows(("fault", "type", "strikes", "when"), rows)


def _show_signals(out: Screen, cycle: Cycle) -> None:
    """Lists signals: outputs to watch, inputs to set."""
    from linkwork.cli.screen import format_value

    uses = {"output": "watch", "input": "watch, set", "param": "watch, set (parameter)"}
    rows = []
    for signal in cycle.signals:
        (lo, unit), hi = (
            format_value(signal.lo, signal.unit),
            format_value(signal.hi, signal.unit)[0],
        )
        span = "" if lo == "−inf" and hi == "inf" else f"{lo} … {hi}"
        rows.append((signal.name, unit, span, uses[signal.direction]))
    out.rows(("signal", "unit", "range", "use"), rows)
