"""Export of a bus as a DBC file, by cantools."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.buses.can.dbc import require_cantools
from linkwork.buses.can.frame_codec import CanMessage, CanSignal
from linkwork.buses.can.layout import Key, frames
from linkwork.buses.port import BusPlan
from linkwork.core.atomic import whole_file

if TYPE_CHECKING:
    from cantools.database.can import Message, Signal

PLANT, CONTROLLER = "Plant", "Controller"
#: Largest cycle time [ms].
MAX_CYCLE_MS = 3_600_000


def write_dbc(plan: BusPlan, path: Path | str) -> None:
    """Writes a bus as a DBC file; see :func:`dbc_text`."""
    with whole_file(path) as part:
        part.write_text(dbc_text(plan), encoding="utf-8", newline="\n")


def dbc_text(plan: BusPlan) -> str:
    """Returns a bus as a DBC file: the frames that the plant sends and those that it receives.

    An identifier that is used in both directions, as for the target and the angle of a joint, has
    one message: its bits mean the same. A message has the name of its signal or of its port;
    periodic messages have their cycle time. Names beyond the 32 characters of the format are kept
    in attributes, as other tools do.

    Raises:
        LinkworkError: If cantools is not installed.
    """
    require_cantools()
    from cantools.database.can import Database, Node

    database = Database(
        [_cantools_message(each) for each in _messages(plan)],
        nodes=[Node(PLANT), Node(CONTROLLER)],
        version="linkwork",
        sort_signals=None,
    )
    return database.as_dbc_string(sort_signals=None)


@dataclass
class _Exported:
    """A message with what only the file needs: its senders, receivers and cycle time [ms]."""

    message: CanMessage
    senders: list[str]
    receivers: dict[str, str] = field(default_factory=dict)
    cycle: int | None = None


def _messages(plan: BusPlan) -> list[_Exported]:
    made: dict[Key, _Exported] = {}
    directions = ((plan.outputs, PLANT, CONTROLLER), (plan.inputs, CONTROLLER, PLANT))
    if plan.plant != "virtual":
        directions = ((plan.outputs, CONTROLLER, PLANT), (plan.inputs, PLANT, CONTROLLER))
    titles = _titles(plan)
    for signals, sender, receiver in directions:
        for form in frames(plan, signals).values():
            known = made.get(form.key)
            if known is None:
                name = _unique_name(titles[form.key], (m.message.name for m in made.values()))
                message = CanMessage(
                    form.message.id, name, form.message.length, form.message.extended
                )
                known = made[form.key] = _Exported(message, [sender])
            else:
                known.senders.append(sender)
                known.message.length = max(known.message.length, form.message.length)
            if form.send == "period":
                known.cycle = min(round(1000 * form.every), MAX_CYCLE_MS)
            _add_signals(known, form.message.signals, receiver)
    return list(made.values())


def _titles(plan: BusPlan) -> dict[Key, str]:
    """Returns a name for each frame: that of a DBC file, of its only signal or its only port."""
    held: dict[Key, set[str]] = {}
    titles: dict[Key, str] = {}
    for signals in (plan.outputs, plan.inputs):
        for key, form in frames(plan, signals).items():
            names = held.setdefault(key, set())
            names |= {signal.name for signal in form.message.signals}
            ports = {name.rpartition(".")[0] for name in names}
            own = form.message.name != f"Frame_{form.message.id:X}"
            title = names if len(names) == 1 else ports
            titles[key] = form.message.name if own or len(title) > 1 else next(iter(title))
    return titles


def _add_signals(exported: _Exported, signals: Iterable[CanSignal], receiver: str) -> None:
    """Adds the signals whose bits are not taken."""
    message = exported.message
    taken = {bit for signal in message.signals for bit in signal.bits()}
    for signal in signals:
        if taken.isdisjoint(signal.bits()):
            signal.name = _unique_name(signal.name, (other.name for other in message.signals))
            exported.receivers[signal.name] = receiver
            message.signals.append(signal)


def _unique_name(text: str, others: Iterable[str]) -> str:
    """Returns a name that the format allows and no other has: ``arm_J2_angle``."""
    made = re.sub(r"[^A-Za-z0-9_]", "_", text)
    made = made if not made[:1].isdigit() else f"_{made}"
    taken = set(others)
    return next(
        name
        for name in itertools.chain([made], (f"{made}_{n}" for n in itertools.count(2)))
        if name not in taken
    )


def _cantools_message(exported: _Exported) -> Message:
    from cantools.database.can import Message

    message = exported.message
    signals = [_cantools_signal(each, exported.receivers[each.name]) for each in message.signals]
    return Message(
        message.id, message.name, message.length, signals, senders=exported.senders,
        cycle_time=exported.cycle, is_extended_frame=message.extended, sort_signals=None,
    )  # fmt: skip


def _cantools_signal(signal: CanSignal, receiver: str) -> Signal:
    from cantools.database.can import Signal
    from cantools.database.conversion import BaseConversion

    low, high = _limits(signal)
    return Signal(
        signal.name, signal.start, signal.length,
        "big_endian" if signal.big_endian else "little_endian", signal.signed,
        conversion=BaseConversion.factory(
            scale=signal.scale, offset=signal.offset, is_float=signal.float
        ),
        minimum=low, maximum=high, unit=signal.unit, receivers=[receiver],
    )  # fmt: skip


def _limits(signal: CanSignal) -> tuple[float | None, float | None]:
    """Returns both limits; a missing one follows from the bits, unless both are missing."""
    if signal.minimum is None and signal.maximum is None:
        return None, None
    first, last = (raw * signal.scale + signal.offset for raw in signal.raw_range)
    low = min(first, last) if signal.minimum is None else signal.minimum
    high = max(first, last) if signal.maximum is None else signal.maximum
    return low, high
