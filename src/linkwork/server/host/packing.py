"""Packing: tables of numbers over time, small enough to stand in a page.

A table's columns change little from row to row, so what is kept are differences, the bytes of
equal weight side by side, deflated. ``web/src/player/unpack.ts`` reads them.
"""

from __future__ import annotations

import base64
import zlib

import numpy as np

#: Poses are kept to this much [m], and quaternions to as much, unless something is far away.
FINEST = 1e-6
#: Whole numbers stay below this, so that differences fit into 32 bits.
_LARGEST = 2.0**29


def pack_bytes(data: bytes) -> str:
    """Bytes, deflated, as text."""
    return base64.b64encode(zlib.compress(data, 9)).decode()


def scale_of(table: np.ndarray) -> float:
    """The unit in which a table's numbers are counted."""
    largest = float(np.abs(table).max(initial=0.0))
    return max(FINEST, largest / _LARGEST)


def pack_counts(table: np.ndarray, scale: float) -> str:
    """A table (rows along time) rounded to whole multiples of ``scale``."""
    counts = np.rint(np.nan_to_num(table, posinf=0.0, neginf=0.0) / scale).astype(np.int64)
    steps = np.diff(counts, axis=0, prepend=np.zeros((1, counts.shape[1]), np.int64))
    # Small differences of either sign become small numbers without one.
    folded = ((steps << 1) ^ (steps >> 63)).astype("<u4")
    return pack_bytes(_planes(folded.T.tobytes()))


def pack_floats(table: np.ndarray) -> str:
    """A table (rows along time) of float32."""
    return pack_bytes(_planes(table.T.astype("<f4").tobytes()))


def _planes(data: bytes) -> bytes:
    """The first byte of each number, then the second of each, and so on."""
    return np.frombuffer(data, np.uint8).reshape(-1, 4).T.tobytes()
