"""Access: who may connect to the studio, and its certificate."""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from linkwork.core.atomic import private_folder
from linkwork.core.errors import FormatError, LinkworkError
from linkwork.core.hosts import is_any_address, is_ip_address, is_loopback, own_addresses

#: Minimum length of a token if other machines can reach the studio.
MIN_TOKEN_LENGTH = 8
_KIT_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}/[A-Za-z0-9_-]{1,100}\Z")


class Access:
    """Checks requests.

    Args:
        token: The token that every client must send.
        host: The interface on which the server listens.

    Attributes:
        token: The token.
    """

    def __init__(self, token: str, host: str) -> None:
        self.token = token
        self._token = token.encode()
        self._loopback = is_loopback(host)

    def knows(self, token: str | None) -> bool:
        """Whether a token is correct."""
        return secrets.compare_digest((token or "").encode(), self._token)

    def trusts(self, headers: Mapping[str, str]) -> bool:
        """Whether a request comes from the studio's own page.

        A page of another site could make a browser on this machine call the server: its Origin is
        not the server's address. With DNS rebinding the Host is a name that is not the server's.
        """
        called, origin = headers.get("host", ""), headers.get("origin")
        try:
            if self._loopback and not is_loopback(urlsplit(f"//{called}").hostname or ""):
                return False
            return origin is None or urlsplit(origin).netloc.lower() == called.lower()
        except ValueError:  # an address with unbalanced brackets
            return False


def check_token(token: str, host: str) -> None:
    """Checks that a chosen token is hard to guess from the network.

    Raises:
        LinkworkError: If it is too short for a server that other machines reach.
    """
    if token and len(token) < MIN_TOKEN_LENGTH and not is_loopback(host):
        raise LinkworkError(
            f"a token of {len(token)} characters is too short for a studio that other machines "
            f"reach: whoever knows it can run programs on this one.",
            hint=f"Give at least {MIN_TOKEN_LENGTH} characters, or leave --token out and get one.",
        )


def token_cookie(host: str, scheme: str) -> str:
    """The name of the cookie that holds the token.

    A browser sends a cookie to every port of a machine: the name carries the port, as the browser
    sees it, so that several studios do not overwrite each other's.

    Args:
        host: The request's ``Host``.
        scheme: The request's scheme.
    """
    try:
        port = urlsplit(f"//{host}").port
    except ValueError:
        port = None
    return f"linkwork-token-{port or (443 if scheme in ('https', 'wss') else 80)}"


def new_token() -> str:
    """A random token."""
    return secrets.token_urlsafe(18)


def is_kit_name(name: str) -> bool:
    """Whether a name is that of a kit's scene or part, such as ``tripod/level``."""
    return _KIT_NAME.match(name) is not None


def resolve_allowed(name: str, folders: Iterable[Path], files: Iterable[str]) -> str:
    """Resolves what a client may open: a kit's scene, a file in some folders, or a recent file.

    Args:
        name: The requested name.
        folders: Folders from which it may open files.
        files: Other files that it may open.

    Raises:
        FormatError: If it is not allowed.
    """
    if is_kit_name(name):
        return name
    try:
        path = Path(name).resolve()
    except (OSError, ValueError):
        raise FormatError(f"{name!r} is not a file path.") from None
    known = {str(Path(each).resolve()) for each in files}
    if str(path) in known or any(path.is_relative_to(f.resolve()) for f in folders):
        return str(path)
    listed = ", ".join(str(folder) for folder in folders)
    raise FormatError(
        f"{name} is not in a folder from which the studio opens files.",
        hint=f"Folders: {listed}. Or start with it: linkwork studio {name}",
    )


#: Folder for certificates.
FOLDER = Path("~/.linkwork/certificate")
_DAYS = 365


def certificate(host: str, folder: Path | None = None) -> tuple[Path, Path]:
    """A self-signed certificate and its key, made with ``openssl`` if there is none yet.

    Args:
        host: The name or address that browsers will use.
        folder: Folder for the files; :data:`FOLDER` if None.

    Raises:
        LinkworkError: If it cannot be made.
    """
    place = folder or FOLDER.expanduser()
    names = _names(host)
    # A certificate for the machine's previous address does not match anymore.
    digest = hashlib.sha256(",".join(names).encode()).hexdigest()[:8]
    name = f"{''.join(c if c.isalnum() else '_' for c in host) or 'any'}-{digest}"
    made, key = place / f"{name}.pem", place / f"{name}.key"
    if made.is_file() and key.is_file():
        age = time.time() - made.stat().st_mtime
        if age < (_DAYS - 7) * 86400.0:
            return made, key
    tool = shutil.which("openssl")
    if tool is None:
        raise LinkworkError(
            "--https needs the program openssl to make a certificate, and it is not installed.",
            hint="Install it (Debian: apt install openssl), or use localhost without --https.",
        )
    private_folder(place)
    command = [
        tool, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-nodes", "-days", str(_DAYS), "-subj", "/CN=Linkwork studio",
        "-addext", f"subjectAltName={','.join(names)}",
        "-keyout", str(key), "-out", str(made),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise LinkworkError(f"openssl could not make a certificate: {last}")
    for file in (made, key):
        file.chmod(0o600)
    return made, key


def _names(host: str) -> list[str]:
    """The machine's names, in the format of a certificate."""
    names = {f"DNS:{socket.gethostname()}", "DNS:localhost", "IP:127.0.0.1", "IP:::1"}
    if is_any_address(host):
        names.update(f"IP:{address}" for address in own_addresses())
    elif not is_loopback(host):
        names.add(f"{'IP' if is_ip_address(host) else 'DNS'}:{host}")
    return sorted(names)
