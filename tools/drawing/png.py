"""Reads and writes PNG files as small as zlib makes them."""

import struct
import zlib
from pathlib import Path

import numba
import numpy as np


def write_png(path: Path, image: np.ndarray) -> None:
    """Writes a picture (height×width×3, 8 bit).

    Each row has the filter that leaves the smallest numbers, which suits shaded surfaces; or no
    row has any, where that is smaller: flat colors and letters.
    """
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
    variants = (best, np.zeros_like(best))
    packed = min((zlib.compress(_rows(filtered, way), 9) for way in variants), key=len)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", packed), (b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in chunks))


def _rows(filtered: np.ndarray, way: np.ndarray) -> bytes:
    return b"".join(bytes([n]) + filtered[n, y].tobytes() for y, n in enumerate(way))


def read_png(path: Path) -> np.ndarray:
    """Reads a picture (height×width×3): 8 bit, with or without opacity, not interlaced."""
    data, at, packed = path.read_bytes(), 8, b""
    width = height = depth = 0
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, bits, color, *_, interlaced = struct.unpack(">IIBBBBB", body)
            depth = {2: 3, 6: 4}.get(color, 0)
            if bits != 8 or not depth or interlaced:
                raise ValueError(f"{path.name} is no picture of 8 bit and true colours")
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, -1)
    image = np.zeros((height + 1, width + 1, depth), np.uint8)  # with an edge of zeros
    _unfilter(rows[:, 0].copy(), rows[:, 1:].reshape(height, width, depth), image)
    return image[1:, 1:, :3]


@numba.njit(cache=True)
def _unfilter(filters, rows, image):
    height, width, depth = rows.shape
    for y in range(height):
        for x in range(width):
            for c in range(depth):
                a = np.int64(image[y + 1, x, c])
                b = np.int64(image[y, x + 1, c])
                corner = np.int64(image[y, x, c])
                add = np.int64(0)
                if filters[y] == 1:
                    add = a
                elif filters[y] == 2:
                    add = b
                elif filters[y] == 3:
                    add = (a + b) // 2
                elif filters[y] == 4:
                    p = a + b - corner
                    near = (abs(p - a), abs(p - b), abs(p - corner))
                    add = corner
                    if near[0] <= near[1] and near[0] <= near[2]:
                        add = a
                    elif near[1] <= near[2]:
                        add = b
                image[y + 1, x + 1, c] = (np.int64(rows[y, x, c]) + add) & 255


def _paeth(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    p = a + b - c
    far = np.stack([np.abs(p - a), np.abs(p - b), np.abs(p - c)])
    return np.where(far[0] <= np.minimum(far[1], far[2]), a, np.where(far[1] <= far[2], b, c))


def _chunk(kind: bytes, body: bytes) -> bytes:
    check = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)
