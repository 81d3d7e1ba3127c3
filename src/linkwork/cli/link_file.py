"""Link file: where a running session's address and key are, for programs of the same user."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from linkwork.errors import FormatError
from linkwork.session.link import SessionEnd, serve


@contextlib.contextmanager
def serve_with_file(path: Path) -> Iterator[SessionEnd]:
    """Opens a link and writes ``{"address": …, "key": …}`` to a file that only the user can read.

    Another program joins with ``connect(**json.load(open(path)))``. The file goes when the link
    does.

    Raises:
        FormatError: If the file cannot be written, or is something else.
        LinkError: If no link can be opened.
    """
    if path.exists() and not _is_link_file(path):
        raise FormatError(f"{path} exists and is not a link file; it is left alone.")
    end = serve()
    try:
        _write(path, {"address": end.address, "key": end.key})
        yield end
    finally:
        end.close()
        path.unlink(missing_ok=True)


def _is_link_file(path: Path) -> bool:
    try:
        return set(json.loads(path.read_text(encoding="utf-8"))) == {"address", "key"}
    except (OSError, ValueError, TypeError):
        return False


def _write(path: Path, content: dict[str, str]) -> None:
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file)
        os.replace(fresh, path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise FormatError(f"{path} cannot be written: {error.strerror}.") from None
