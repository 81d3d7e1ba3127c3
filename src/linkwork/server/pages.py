"""Pages: recordings as HTML files, made for browsers that ask for one.

Making one takes engines and simulates again, so a process of its own does it.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from linkwork.errors import LinkworkError

#: Longest time that a page may take [s].
PATIENCE = 600.0


class Pages:
    """Makes pages one after the other; its calls belong to the event loop's thread."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def make(self, recording: str) -> bytes:
        """The page of a recording.

        Raises:
            LinkworkError: If it cannot be made; the message is that of ``linkwork replay``.
        """
        async with self._turn:
            with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
                page = Path(folder) / "page.html"
                await self._run(recording, page)
                return await asyncio.to_thread(page.read_bytes)

    async def _run(self, recording: str, page: Path) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "linkwork.cli", "replay", recording, "--html", str(page),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            _, said = await asyncio.wait_for(process.communicate(), PATIENCE)
        except BaseException as error:
            process.kill()
            await process.wait()
            if isinstance(error, TimeoutError):
                raise LinkworkError(f"the page was not ready within {PATIENCE:g} s.") from None
            raise
        if process.returncode or not page.is_file():
            words = " ".join(said.decode("utf-8", "replace").split()).removeprefix("error: ")
            raise LinkworkError(words or "the page could not be made.")
