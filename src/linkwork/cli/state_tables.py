"""State tables over time as files: joints, their efforts, and each body that a sensor watches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.cli.outputs import check_outputs
from linkwork.cli.signal_csv import SignalCsv
from linkwork.errors import FormatError

if TYPE_CHECKING:
    from linkwork.session.session import Session


def free_name(stem: str, ending: str, taken: Sequence[Path]) -> str:
    """A file's name that none of ``taken`` has, whatever its case: ``a.csv``, ``a-2.csv``."""
    known, made, number = {path.name.casefold() for path in taken}, f"{stem}{ending}", 1
    while made.casefold() in known:
        number += 1
        made = f"{stem}-{number}{ending}"
    return made


class StateTables:
    """A folder with ``joints.csv``, ``efforts.csv`` and a file for each sensor of type ``motion``.

    A row of ``joints.csv`` is 002's table q, 3×12 for twelve joints: all positions, then all
    speeds, then all accelerations. A row of a sensor's file is the table of a body, 3×6. A sensor
    whose file would have the name of another gets a number behind its own.

    Args:
        session: The session.
        folder: Where the files go; made if it is not there.
        rate: Rows a simulated second.
        overwrite: Whether files that exist may be replaced.

    Attributes:
        files: What is written.

    Raises:
        FormatError: If a file cannot be written, or exists.
    """

    def __init__(self, session: Session, folder: Path, rate: float, *, overwrite: bool) -> None:
        tables = self._contents(session)
        self.files = []
        for name, _ in tables:
            self.files.append(folder / free_name(name.replace("/", "-"), ".csv", self.files))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FormatError(f"{folder} cannot be made: {error.strerror}.") from None
        check_outputs(self.files, overwrite=overwrite)
        self._tables = [
            SignalCsv(session, file, names, rate)
            for file, names in zip(self.files, (names for _, names in tables), strict=True)
        ]

    @staticmethod
    def _contents(session: Session) -> list[tuple[str, list[str]]]:
        """What each file is called after, and its signals."""
        world, signals = session.world, session.signals
        rows: dict[str, list[str]] = {"": [], "speed": [], "acceleration": [], "effort": []}
        for number, joint in enumerate(world.joint_names):
            kind = world.joints[number].kind
            for dof in kind.dofs:
                rows[""].append(f"{joint}.{dof}")
                prefix = f"{joint}." if kind.nv == 1 else f"{joint}.{dof}_"
                for word in ("speed", "acceleration", "effort"):
                    if f"{prefix}{word}" in signals:
                        rows[word].append(f"{prefix}{word}")
        made = [("joints", rows[""] + rows["speed"] + rows["acceleration"])]
        made.append(("efforts", rows["effort"]))
        for spec in world.sensors:
            if spec.type == "motion":
                mine = [s.name for s in signals if s.name.startswith(f"{spec.name}.")]
                made.append((spec.name, mine))
        return [(name, found) for name, found in made if found]

    @property
    def rows(self) -> int:
        """Rows in each file."""
        return self._tables[0].rows if self._tables else 0

    def after_step(self) -> None:
        """Adds rows if they are due."""
        for table in self._tables:
            table.after_step()

    def close(self) -> None:
        """Closes all files."""
        for table in self._tables:
            table.close()
