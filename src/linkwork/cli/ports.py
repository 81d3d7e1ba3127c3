"""``linkwork ports``: lists the ports of a scene."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from linkwork.cli.outputs import Overwrite, check_outputs

if TYPE_CHECKING:
    from linkwork.session.cycle import Cycle


def ports(
    file: Annotated[str, typer.Argument(metavar="SCENE", help="A scene, or a kit's name for it.")],
    bus: Annotated[str, typer.Option(metavar="NAME", help="Only those of this bus.")] = "",
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
    from linkwork.cli.given import load_with_notes, scene_to_run
    from linkwork.cli.ready import getting_ready
    from linkwork.cli.screen import stdout

    check_outputs([dbc], overwrite=overwrite, sources=[file])
    out = stdout()
    thing, notes = load_with_notes(file)
    with getting_ready():
        from linkwork.buses.listing import port_lines
        from linkwork.cli.live import shown
        from linkwork.session.cycle import Cycle
        from linkwork.world import compile_scene

        scene, more = scene_to_run(thing, file, free=False)
        cycle = Cycle(compile_scene(scene))
    for note in [*notes, *more]:
        out.say(note, lead="note:")
    if bus:
        cycle.bus(bus)
    rows = []
    places = _places(cycle)
    for line in port_lines(cycle):
        if bus and line.bus != bus:
            continue
        (lo, unit), hi = shown(line.lo, line.unit), shown(line.hi, line.unit)[0]
        span = "" if lo == "−inf" and hi == "inf" else f"{lo} … {hi}"
        address = " ".join(_address(line.address, places.get(line.name, "")))
        rows.append((
            line.bus, line.group, f"{line.port}.{line.signal}", line.role,
            shown(line.value, line.unit)[0], _code(line.raw, line.bits), unit, span,
            str(line.bits or ""), address,
        ))  # fmt: skip
    for block in cycle.buses:
        if not bus or block.plan.name == bus:
            plan = block.plan
            pace = "in lock-step" if plan.lockstep else f"deadline {plan.deadline:g} s"
            out.say(
                f"{plan.name}: {plan.type}, plant {plan.plant}, period {plan.period:g} s, {pace}, "
                f"on loss {plan.on_loss}"
            )
    if dbc is not None:
        out.say(f"Wrote {_write_dbc(cycle, bus, dbc)} to {dbc}.")
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
        out.say(
            f"{file} has no ports. Give a joint bus = {{ bits = 10 }}, and the scene a [[bus]]."
        )


def _code(raw: int | None, bits: int) -> str:
    """A code as its bits are on the wire: two's complement, in hexadecimal."""
    return "" if raw is None else f"0x{raw % (1 << bits):0{(bits + 3) // 4}X}"


def _address(address: dict[str, Any], place: str) -> Iterator[str]:
    """An address in words; identifiers as they are written everywhere, in hexadecimal."""
    for key, value in address.items():
        yield f"{key}=0x{value:X}" if key.endswith("_id") else f"{key}={value}"
    if place and "can_id" not in address:
        yield f"can_id=0x{int(place, 16):X}"


def _places(cycle: Cycle) -> dict[str, str]:
    """The frame of each signal of a CAN bus, as its log writes it, by the signal's name."""
    return {
        f"{block.plan.name}/{signal.name}": frame.address
        for block in cycle.buses if block.plan.type == "can"
        for frame in block.adapter.wire(block.plan)
        for signal in frame.signals
    }  # fmt: skip


def _write_dbc(cycle: Cycle, bus: str, file: Path) -> str:
    """Writes the CAN bus of a scene, and returns its name.

    Raises:
        LinkworkError: If it has none, or several and none is named.
    """
    from linkwork.buses.can.catalog import as_database
    from linkwork.buses.can.dbc import write_dbc
    from linkwork.errors import FormatError

    plans = [b.plan for b in cycle.buses if b.plan.type == "can" and bus in ("", b.plan.name)]
    if len(plans) != 1:
        what = f"there are {', '.join(p.name for p in plans)}" if plans else "there is none"
        raise FormatError(f"--dbc writes one CAN bus, and {what}.", hint="Name it with --bus.")
    try:
        write_dbc(as_database(plans[0]), file)
    except OSError as error:
        raise FormatError(f"{file} cannot be written: {error.strerror}.") from None
    return plans[0].name
