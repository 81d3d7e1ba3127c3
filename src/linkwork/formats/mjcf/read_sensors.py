"""Reading sensors."""

from __future__ import annotations

from linkwork.formats.mjcf.reading import Reading


def read_sensors(reading: Reading) -> None:
    """Adds the scene's sensors."""
    for s in range(reading.m.nsensor):
        reading.lost("sensors", "sensor", s)
