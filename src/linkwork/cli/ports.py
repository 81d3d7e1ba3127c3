"""``linkwork ports``: lists the ports of a scene."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from linkwork.cli.output_files import Overwrite, check_outputs

if TYPE_CHECKING:
    from linkwork.session.cycle import Cycle


def ports(
    file: Annotated[str, typer.Argument(metavar="SCENE", help="A scene, or a kit's name for it.")],
    bus: Annotated[str, typer.Option(metavar="NAME", help="Only ports of this bus.")] = "",
    dbc: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a CAN bus as a DBC file.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Lists buses and ports: value, code on the wire, range, bits and address of each signal.

    Nothing runs; values are those at the start.

    Examples:
      $ linkwork ports bench.toml
      $ linkwork ports bench.toml --bus can0
      $ linkwork ports tripod/can --dbc tripod.dbc
    """
    from linkwork.cli.compile_progress import show_compiling
    from linkwork.cli.scene_argument import load_showing_notes, scene_to_run
    from linkwork.cli.screen import stdout

    check_outputs([dbc], overwrite=overwrite, sources=[file])
    out = stdout()
    thing, notes = load_showing_notes(file)
    with show_compiling():
        from linkwork.buses.block import bus_blocks
        from linkwork.buses.port_listing import port_lines
        from linkwork.cli.screen import format_value
        from linkwork.model.world import compile_scene
        from linkwork.session.cycle import Cycle

        scene, more = scene_to_run(thing, file, free=False)
        cycle = Cycle(compile_scene(scene))
    for note in [*notes, *more]:
        out.print_line(note, lead="note:")
    if bus:
        cycle.bus(bus)
    rows = []
    frames = _frames_by_signal(cycle)
    for line in port_lines(cycle):
        if bus and line.bus != bus:
            continue
        (lo, unit), hi = format_value(line.lo, line.unit), format_value(line.hi, line.unit)[0]
        span = "" if lo == "−inf" and hi == "inf" else f"{lo} … {hi}"
        address = " ".join(_address(line.address, frames.get(line.name, "")))
        rows.append((
            line.bus, line.group, f"{line.port}.{line.signal}", line.role,
            format_value(line.value, line.unit)[0], _code(line.raw, line.bits), unit, span,
            str(line.bits or ""), address,
        ))  # fmt: skip
    for block in bus_blocks(cycle):
        if not bus or block.plan.name == bus:
            plan = block.plan
            pace = "in lock-step" if plan.lockstep else f"deadline {plan.deadline:g} s"
            out.print_line(
                f"{plan.name}: {plan.type}, plant {plan.plant}, period {plan.period:g} s, {pace}, "
                f"on loss {plan.on_loss}"
            )
    if dbc is not None:
        out.print_line(f"Wrote {_write_dbc(cycle, bus, dbc)} to {dbc}.")
    cycle.close()
    if rows:
        head = (
            "bus",
            "group",
            "signal",
            "role",
            "value",
            "raw",
            "unit",
            "range",
            "bits",
            "address",
        )
        out.rows(head, rows)
    else:
        out.print_line(
            f"{file} has no ports. Give a joint bus = {{ bits = 10 }}, and the scene a [[bus]]."
        )


def _code(raw: int | None, bits: int) -> str:
    """A raw code as on the wire: two's complement, in hexadecimal."""
    return "" if raw is None else f"0x{raw % (1 << bits):0{(bits + 3) // 4}X}"


def _address(address: dict[str, Any], place: str) -> Iterator[str]:
    """An address as text; identifiers in hexadecimal."""
    for key, value in address.items():
        yield f"{key}=0x{value:X}" if key.endswith("_id") else f"{key}={value}"
    if place and "can_id" not in address:
        yield f"can_id=0x{int(place, 16):X}"


def _frames_by_signal(cycle: Cycle) -> dict[str, str]:
    """The frame of each signal of a CAN bus, as in its log, by signal name."""
    from linkwork.buses.block import bus_blocks

    return {
        f"{block.plan.name}/{signal.name}": frame.address
        for block in bus_blocks(cycle) if block.plan.type == "can"
        for frame in block.adapter.wire(block.plan)
        for signal in frame.signals
    }  # fmt: skip


def _write_dbc(cycle: Cycle, bus: str, file: Path) -> str:
    """Writes the CAN bus of a scene as DBC, and returns its name.

    Raises:
        LinkworkError: If there is no CAN bus, or there are several and none is named.
    """
    from linkwork.buses.block import bus_blocks
    from linkwork.buses.can.dbc_export import write_dbc
    from linkwork.core.errors import FormatError, os_error_text

    plans = [b.plan for b in bus_blocks(cycle) if b.plan.type == "can" and bus in ("", b.plan.name)]
    if len(plans) != 1:
        what = f"there are {', '.join(p.name for p in plans)}" if plans else "there is none"
        raise FormatError(f"--dbc writes one CAN bus, and {what}.", hint="Name it with --bus.")
    try:
        write_dbc(plans[0], file)
    except OSError as error:
        raise FormatError(f"{file} cannot be written: {os_error_text(error)}.") from None
    return plans[0].name
