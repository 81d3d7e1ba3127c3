"""A certificate of our own for HTTPS, which headsets and other machines ask for."""

from __future__ import annotations

import hashlib
import shutil
import socket
import subprocess
import time
from pathlib import Path

from linkwork.errors import LinkworkError
from linkwork.hosts import is_everywhere, is_loopback, own_addresses

#: Where certificates are kept.
FOLDER = Path("~/.linkwork/certificate")
_DAYS = 365


def certificate(host: str, folder: Path | None = None) -> tuple[Path, Path]:
    """A self-signed certificate and its key, made with ``openssl`` where there is none yet.

    Args:
        host: The name or address that browsers will use.
        folder: Where it is kept; the user's own place if None.

    Raises:
        LinkworkError: If it cannot be made.
    """
    place = folder or FOLDER.expanduser()
    names = _names(host)
    # Where the machine has got another address, the certificate of before does not say it.
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
            "--https needs the program openssl to make a certificate, and it is not here.",
            hint="Install it (Debian: apt install openssl), or use localhost without --https.",
        )
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
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
    key.chmod(0o600)
    return made, key


def _names(host: str) -> list[str]:
    """How browsers may call the machine, in the words of a certificate."""
    names = {f"DNS:{socket.gethostname()}", "DNS:localhost", "IP:127.0.0.1", "IP:::1"}
    if is_everywhere(host):
        names.update(f"IP:{address}" for address in own_addresses())
    elif not is_loopback(host):
        names.add(f"{'IP' if _is_address(host) else 'DNS'}:{host}")
    return sorted(names)


def _is_address(host: str) -> bool:
    return host.replace(".", "").isdigit() or ":" in host
