"""Catalog: a bus of a scene as a DBC file, for other tools."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from linkwork.buses.can.dbc.model import Attribute, Database, DbcMessage, DbcNode, DbcSignal
from linkwork.buses.can.layout import Key, frames
from linkwork.buses.port import BusPlan

PLANT, CONTROLLER = "Plant", "Controller"
#: The attribute that tools read a cycle time from [ms], and its largest value.
CYCLE, LONGEST = "GenMsgCycleTime", 3_600_000


def as_database(plan: BusPlan) -> Database:
    """A bus as a DBC file: frames that the plant sends, and frames that it takes.

    Where one identifier serves both ways, as a joint's target and angle may, the file has one
    message for it: the bits mean the same. A message has the name of its signal or of its port, and
    those that are sent every so often their cycle time.
    """
    made: dict[Key, DbcMessage] = {}
    ways = ((plan.given, PLANT, CONTROLLER), (plan.fed, CONTROLLER, PLANT))
    if plan.plant != "virtual":
        ways = ((plan.given, CONTROLLER, PLANT), (plan.fed, PLANT, CONTROLLER))
    titles = _titles(plan)
    for signals, sender, receiver in ways:
        for form in frames(plan, signals).values():
            known = made.get(form.key)
            if known is None:
                known = made[form.key] = DbcMessage(
                    form.message.id,
                    _name(titles[form.key], (message.name for message in made.values())),
                    form.message.length, form.message.extended, sender=sender,
                )  # fmt: skip
            else:
                known.senders = [known.sender, sender]
                known.length = max(known.length, form.message.length)
            if form.send == "period":
                known.attributes[CYCLE] = min(round(1000 * form.every), LONGEST)
            _add(known, form.message.signals, receiver)
    return Database(
        version="linkwork", nodes=[DbcNode(PLANT), DbcNode(CONTROLLER)],
        messages=list(made.values()), comment=f"Bus {plan.name}.",
        definitions={CYCLE: Attribute(CYCLE, "BO_", "INT", 0, LONGEST, default=0)},
    )  # fmt: skip


def _titles(plan: BusPlan) -> dict[Key, str]:
    """A name for each frame: that of a DBC file, of its only signal, or of its only port."""
    held: dict[Key, set[str]] = {}
    titles: dict[Key, str] = {}
    for signals in (plan.given, plan.fed):
        for key, form in frames(plan, signals).items():
            names = held.setdefault(key, set())
            names |= {signal.name for signal in form.message.signals}
            ports = {name.rpartition(".")[0] for name in names}
            own = form.message.name != f"Frame_{form.message.id:X}"
            title = names if len(names) == 1 else ports
            titles[key] = form.message.name if own or len(title) > 1 else next(iter(title))
    return titles


def _add(message: DbcMessage, signals: Iterable[DbcSignal], receiver: str) -> None:
    """Adds what is not there by the same bits."""
    taken = {bit for signal in message.signals for bit in signal.bits()}
    for signal in signals:
        if taken.isdisjoint(signal.bits()):
            signal.name = _name(signal.name, (other.name for other in message.signals))
            signal.receivers = [receiver]
            message.signals.append(signal)


def _name(text: str, others: Iterable[str]) -> str:
    """A name as a DBC file allows it, that no other has."""
    made = re.sub(r"[^A-Za-z0-9_]", "_", text)
    made = made if not made[:1].isdigit() else f"_{made}"
    taken = set(others)
    return next(
        name
        for name in itertools.chain([made], (f"{made}_{n}" for n in itertools.count(2)))
        if name not in taken
    )
