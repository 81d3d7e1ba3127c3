"""Access: who may talk to the studio, and which files it opens for them."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from linkwork.errors import FormatError, LinkworkError
from linkwork.hosts import is_loopback

#: Fewest characters of a token where other machines reach the studio.
SHORTEST = 8
_KIT_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}/[A-Za-z0-9_-]{1,100}\Z")


class Access:
    """Checks requests.

    Args:
        token: What every client must know.
        host: The interface that the server listens on.
    """

    def __init__(self, token: str, host: str) -> None:
        self._token = token.encode()
        self._loopback = is_loopback(host)

    def knows(self, token: str | None) -> bool:
        """Whether a token is the right one."""
        return secrets.compare_digest((token or "").encode(), self._token)

    def trusts(self, headers: Mapping[str, str]) -> bool:
        """Whether a request comes from our own page.

        A page of another site could make a browser on this machine call us: its Origin is not our
        address. Or its name could be made to lead here: then we are called by a name that is not
        ours.
        """
        called, origin = headers.get("host", ""), headers.get("origin")
        try:
            if self._loopback and not is_loopback(urlsplit(f"//{called}").hostname or ""):
                return False
            return origin is None or urlsplit(origin).netloc.lower() == called.lower()
        except ValueError:  # an address with a bracket too many or too few
            return False


def check_token(token: str, host: str) -> None:
    """Sees that a token that somebody chose is none that others on the network guess.

    Raises:
        LinkworkError: If it is too short for a server that other machines reach.
    """
    if token and len(token) < SHORTEST and not is_loopback(host):
        raise LinkworkError(
            f"a token of {len(token)} characters is too short where other machines reach the "
            f"studio: who has it runs programs on this one.",
            hint=f"Give at least {SHORTEST} characters, or leave --token out and get one.",
        )


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(18)


def is_kit_name(name: str) -> bool:
    """Whether a name is a kit's name of something, as ``tripod/level`` is."""
    return _KIT_NAME.match(name) is not None


def allowed(name: str, folders: Iterable[Path], files: Iterable[str]) -> str:
    """What a client may open: a kit's scene, a file of some folders, or one opened before.

    Args:
        name: What the client asks for.
        folders: Where it may open files.
        files: Files that it may open besides.

    Raises:
        FormatError: If it is something else.
    """
    if is_kit_name(name):
        return name
    try:
        path = Path(name).resolve()
    except (OSError, ValueError):
        raise FormatError(f"{name!r} is no path of a file.") from None
    known = {str(Path(each).resolve()) for each in files}
    if str(path) in known or any(path.is_relative_to(f.resolve()) for f in folders):
        return str(path)
    places = ", ".join(str(folder) for folder in folders)
    raise FormatError(
        f"{name} is not in a folder that the studio opens files of.",
        hint=f"Folders: {places}. Or start with it: linkwork studio {name}",
    )
