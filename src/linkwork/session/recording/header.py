"""What a recording says about its run: the world, the seed, the versions, the processor."""

from __future__ import annotations

import importlib.metadata
import platform
from dataclasses import dataclass
from datetime import UTC, datetime

from linkwork.session.recording.outline import Outline

#: Version of what is inside the container. A reader refuses newer ones.
FORMAT = 1

_DISTRIBUTIONS = {
    "linkwork": ("linkwork",),
    "numpy": ("numpy",),
    "numba": ("numba",),
    "mujoco": ("mujoco-core", "mujoco"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a recording says about its run.

    Attributes:
        world: The world at the start.
        seed: Seed of all random numbers, 0 to 2⁶⁴ − 1.
        command: Command line that started the run; empty for a run from Python.
        cpu: Name and features of the processor, as far as compiled code depends on them.
        versions: Version of python, linkwork, numpy, numba and mujoco, by name, and of code that
            was made for this run (``engine 1 (lagrange)``).
        created: Wall time of the start, ISO 8601, UTC.
        format: Version of the recording's content.
    """

    world: Outline
    seed: int
    command: str
    cpu: str
    versions: dict[str, str]
    created: str
    format: int = FORMAT

    @staticmethod
    def of_run(
        world: Outline, *, seed: int, cpu: str, command: str = "",
        codes: dict[str, str] | None = None,
    ) -> Header:  # fmt: skip
        """The header of a run that starts now, on this machine."""
        return Header(
            world=world,
            seed=seed,
            command=command,
            cpu=cpu,
            versions=installed_versions() | (codes or {}),
            created=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )

    def differences(self, here: Header) -> list[str]:
        """Why a replay with the versions and processor of ``here`` may differ in the last bits.

        Returns:
            One phrase for each; none if a replay must agree bit for bit.
        """
        found = [
            f"{name} {self.versions.get(name, 'absent')} when recorded, "
            f"{here.versions.get(name, 'absent')} here"
            for name in sorted(self.versions.keys() | here.versions.keys())
            if self.versions.get(name) != here.versions.get(name)
        ]
        if self.cpu != here.cpu:
            found.append(f"processor {self.cpu!r} when recorded, {here.cpu!r} here")
        return found


def installed_versions() -> dict[str, str]:
    """Version of Python and of each package on which the bits of a run depend, by name.

    Reads the installed metadata, so that nothing heavy is imported.
    """
    versions = {"python": platform.python_version()}
    for name, distributions in _DISTRIBUTIONS.items():
        for distribution in distributions:
            try:
                versions[name] = importlib.metadata.version(distribution)
                break
            except importlib.metadata.PackageNotFoundError:
                continue
    return versions
