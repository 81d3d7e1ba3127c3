"""``linkwork check``: reads a file and says what is wrong, or done only approximately."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from linkwork.cli.screen import Screen
    from linkwork.parts import Part
    from linkwork.session.cycle import Cycle


def check(
    file: Annotated[
        str,
        typer.Argument(help="A part, scene, movement or devices' file, or a kit's name for it."),
    ],
    signals: Annotated[
        bool, typer.Option("--signals", help="List every signal with unit, range and use.")
    ] = False,
    language: Annotated[
        str, typer.Option(metavar="CODE", help="Show names in this language where labels say them.")
    ] = "",
) -> None:
    """Reads a file, compiles it, and lists what engines cannot do or do only softly.

    Nothing runs. Exit code 0 if it could (soft findings are listed), 1 if not.

    Examples:
      $ linkwork check my_robot.toml
      $ linkwork check tripod/level --signals
    """
    from linkwork.cli.given import load_with_notes
    from linkwork.cli.ready import getting_ready
    from linkwork.cli.screen import count, show_findings, stdout
    from linkwork.cli.show_movement import movements_of, show_movement
    from linkwork.parts import Part

    out = stdout()
    if _show_devices(out, file):
        return
    movements, alone = movements_of(file)
    if alone:
        for each in movements:
            show_movement(out, file, each)
        return
    thing, notes = load_with_notes(file)
    with getting_ready():
        from linkwork.cli.given import scene_to_run
        from linkwork.session.cycle import Cycle
        from linkwork.session.rehearsal import rehearse
        from linkwork.world import compile_scene

        scene, more = scene_to_run(thing, file, free=False)
        cycle = Cycle(compile_scene(scene))
        mobilities = [each for engine in cycle.engines for each in engine.mobilities()]
        rehearse(cycle)
    for note in [*notes, *more]:
        out.say(note, lead="note:")
    show_findings(out, cycle.findings)
    if isinstance(thing, Part):
        _show_part(out, thing, language)
        for each in movements:
            show_movement(out, f"{file}, movement {each.name!r}", each, thing)
    for mobility in mobilities:
        out.say(mobility.line())
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
    out.say(f"{file}: {', '.join(counts)}. It can run.")


def _show_devices(out: Screen, file: str) -> bool:
    """Lists what a file of devices maps, if it is one."""
    import os

    if not file.lower().endswith(".toml") or not os.path.isfile(file):
        return False
    from linkwork.cli.screen import count
    from linkwork.devices import load_devices
    from linkwork.devices.read import FORM
    from linkwork.formats.toml.source import Source

    if Source.read(file).data.get("format") != FORM:
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
    out.say(f"{file}: {count(devices, 'device')}, {count(inputs, 'logical input')}.")
    return True


def _show_part(out: Screen, part: Part, language: str) -> None:
    """Lists the joints of a part, and the anchors at which others fit."""
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
    """Lists what will go wrong on purpose, and when."""
    rows = [
        (fault.spec.name, fault.type, fault.about, fault.when) for fault in cycle.trouble.faults
    ]
    if rows:
        out.rows(("fault", "type", "strikes", "when"), rows)


def _show_signals(out: Screen, cycle: Cycle) -> None:
    """Lists signals: what can be watched, and what can be set."""
    from linkwork.cli.live import shown

    uses = {"output": "watch", "input": "watch, set", "param": "watch, set (parameter)"}
    rows = []
    for signal in cycle.signals:
        (lo, unit), hi = shown(signal.lo, signal.unit), shown(signal.hi, signal.unit)[0]
        span = "" if lo == "−inf" and hi == "inf" else f"{lo} … {hi}"
        rows.append((signal.name, unit, span, uses[signal.direction]))
    out.rows(("signal", "unit", "range", "use"), rows)
