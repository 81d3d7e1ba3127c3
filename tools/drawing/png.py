"""Writes PNG files: each row with the filter that leaves the smallest numbers, then zlib."""

import struct
import zlib
from pathlib import Path

import numpy as np


def write_png(path: Path, image: np.ndarray) -> None:
    """Writes a picture (height×width×3, 8 bit)."""
    height, width, _ = image.shape
    rows = image.reshape(height, width * 3).astype(np.int16)
    left = np.zeros_like(rows)
    left[:, 3:] = rows[:, :-3]
    above = np.vstack([np.zeros_like(rows[:1]), rows[:-1]])
    corner = np.zeros_like(rows)
    corner[:, 3:] = above[:, :-3]
    filtered = np.stack(
        [
            rows,
            rows - left,
            rows - above,
            rows - (left + above) // 2,
            rows - _paeth(left, above, corner),
        ]
    ).astype(np.uint8)
    cost = np.abs(filtered.astype(np.int8).astype(np.int32)).sum(axis=2)
    best = cost.argmin(axis=0)
    data = b"".join(bytes([best[y]]) + filtered[best[y], y].tobytes() for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(data, 9)), (b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in chunks))


def _paeth(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    p = a + b - c
    far = np.stack([np.abs(p - a), np.abs(p - b), np.abs(p - c)])
    return np.where(far[0] <= np.minimum(far[1], far[2]), a, np.where(far[1] <= far[2], b, c))


def _chunk(kind: bytes, body: bytes) -> bytes:
    check = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)
