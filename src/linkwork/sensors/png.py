"""PNG files of pictures: colours of 8 bit, or one number of 16 bit for each pixel."""

from __future__ import annotations

import struct
import zlib

import numpy as np

#: Kinds of pixels in the file: one number, or red, green and blue.
_GREY, _RGB = 0, 2
#: Each row is said as the difference from the row above: shaded surfaces pack well, and quickly.
_UP = 2
#: How hard zlib tries; more costs time and gains little.
_LEVEL = 3


def png(image: np.ndarray) -> bytes:
    """A picture as a PNG file.

    Args:
        image: height×width×3 of 8 bit, or height×width of 16 bit.

    Raises:
        ValueError: If it is neither.
    """
    if image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3:
        bits, kind = 8, _RGB
        rows = np.ascontiguousarray(image).reshape(len(image), -1)
    elif image.dtype == np.uint16 and image.ndim == 2:
        bits, kind = 16, _GREY
        rows = np.ascontiguousarray(image.astype(">u2")).view(np.uint8)
    else:
        raise ValueError(f"no PNG of {image.shape} {image.dtype}")
    lines = np.empty((rows.shape[0], rows.shape[1] + 1), np.uint8)
    lines[:, 0] = _UP
    lines[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=lines[1:, 1:])
    header = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], bits, kind, 0, 0, 0)
    body = zlib.compress(lines.tobytes(), _LEVEL)
    chunks = ((b"IHDR", header), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def millimetres(depth: np.ndarray) -> np.ndarray:
    """Depths [m] as 16 bit [mm], rounded; 0 where there is none, or more than 65.535 m."""
    known = (depth > 0.0) & (depth <= 65.535)
    return np.where(known, np.rint(1000.0 * np.where(known, depth, 0.0)), 0).astype(np.uint16)


def numbers(segmentation: np.ndarray) -> np.ndarray:
    """Numbers of elements as 16 bit, one more each; 0 where there is none."""
    return (segmentation + 1).astype(np.uint16)
