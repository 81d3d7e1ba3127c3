"""Reading lines of a controller, of whatever it may send."""

from __future__ import annotations

import asyncio

from linkwork.buses.tcp.lines import MOST, decoded
from linkwork.errors import FormatError


async def next_line(reader: asyncio.StreamReader) -> str:
    """The next line; empty at the end.

    Raises:
        FormatError: If it was too long, or is not text.
    """
    try:
        data = await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError:
        return ""  # the end; half a line before it is none
    except asyncio.LimitOverrunError as over:
        await _skip_line(reader, over.consumed)
        raise FormatError(f"a line is too long: {MOST} bytes at most.") from None
    text = decoded(data)
    return text or (" " if data else "")


async def _skip_line(reader: asyncio.StreamReader, waiting: int) -> None:
    """Leaves out the rest of a line, of which so many bytes are there."""
    while True:
        await reader.readexactly(waiting)
        try:
            await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as over:
            waiting = over.consumed
        else:
            return
