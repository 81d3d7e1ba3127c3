"""Signals of what passes through joints and loops."""

from __future__ import annotations

from linkwork.blocks import SignalSpec
from linkwork.engines.impulse.bearing_kernels import ALONG, FORCE, MOMENT
from linkwork.engines.impulse.joint_columns import COUPLING, KIND
from linkwork.engines.impulse.mechanism import Mechanism
from linkwork.engines.impulse.row_kernels import JOINT


def bearing_signals(made: Mechanism, field: str) -> list[SignalSpec]:
    """Force and moment of each joint and loop, from rows of a ``field`` of the state."""
    springs = set(made.soft_whole[made.springs[:, 0], JOINT].tolist())
    found = []
    for n, name in enumerate(made.names):
        if made.whole[n, KIND] == COUPLING or n in springs:
            continue
        found.append(SignalSpec(f"{name}.force", field, (n, FORCE), "N", lo=0.0))
        for k, axis in enumerate("xyz"):
            found.append(SignalSpec(f"{name}.force_{axis}", field, (n, ALONG + k), "N"))
        found.append(SignalSpec(f"{name}.moment", field, (n, MOMENT), "N m", lo=0.0))
    return found
