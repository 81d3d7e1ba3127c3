"""Catalog: a bus of a scene as a DBC file, for other tools."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from linkwork.buses.can.dbc.model import Database, DbcMessage, DbcNode, DbcSignal
from linkwork.buses.can.layout import Key, frames
from linkwork.buses.port import BusPlan

PLANT, CONTROLLER = "Plant", "Controller"


def as_database(plan: BusPlan) -> Database:
    """A bus as a DBC file: frames that the plant sends, and frames that it takes.

    Where one identifier serves both ways, as 001's joints do, the file has one message for it: the
    bits mean the same.
    """
    made: dict[Key, DbcMessage] = {}
    ways = ((plan.given, PLANT, CONTROLLER), (plan.fed, CONTROLLER, PLANT))
    if plan.plant != "virtual":
        ways = ((plan.given, CONTROLLER, PLANT), (plan.fed, PLANT, CONTROLLER))
    for signals, sender, receiver in ways:
        for form in frames(plan, signals).values():
            known = made.get(form.key)
            if known is None:
                known = made[form.key] = DbcMessage(
                    form.message.id,
                    _name(form.message.name, (message.name for message in made.values())),
                    form.message.length, form.message.extended, sender=sender,
                )  # fmt: skip
            else:
                known.senders = [known.sender, sender]
                known.length = max(known.length, form.message.length)
            _add(known, form.message.signals, receiver)
    return Database(
        version="linkwork", nodes=[DbcNode(PLANT), DbcNode(CONTROLLER)],
        messages=list(made.values()), comment=f"Bus {plan.name}.",
    )  # fmt: skip


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
