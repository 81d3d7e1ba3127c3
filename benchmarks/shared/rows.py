"""Rows of a benchmark, ours beside one peer each, and the JSON document that holds them.

A document has the keys ``benchmark``, ``title``, ``about``, ``command``, ``machine``, ``rows`` and
``notes``; a row has ``name``, ``unit``, ``ours``, ``peer``, ``peer_name``, ``times_better``,
``better`` and ``note``. A figure that was not measured is null.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

#: Packages whose versions a document names, if they are installed.
PACKAGES = ("linkwork", "numpy", "numba", "mujoco-core", "pin", "python-can", "pyzmq")
#: What stands in a table where there is no figure.
NONE = "–"


class RowError(ValueError):
    """A row or a document that breaks the rules."""


@dataclass(frozen=True)
class Row:
    """One measured quantity, ours beside one peer.

    Rows of the same name measure the same quantity beside different peers.

    Attributes:
        name: What is measured, without its unit.
        unit: Unit of both figures; "1" if they have none.
        ours: Figure of Linkwork; None if it was not measured.
        peer: Figure of the peer; None if there is none.
        peer_name: Name of the peer, with its settings; None if there is no peer.
        better: "lower" for times and errors, "higher" for rates.
        note: Why a figure is missing, or what else a reader should know.

    Raises:
        RowError: A figure is not finite, or is missing without a note.
    """

    name: str
    unit: str
    ours: float | None
    peer: float | None = None
    peer_name: str | None = None
    better: str = "lower"
    note: str = ""

    def __post_init__(self) -> None:
        for what in ("name", "unit", "note"):
            text = getattr(self, what)
            if not isinstance(text, str) or "\n" in text or (not text and what != "note"):
                raise RowError(f"row {self.name!r}: {what} is {text!r}; give one line of text.")
        if self.better not in ("lower", "higher"):
            raise RowError(
                f'row {self.name!r}: better is {self.better!r}; say "lower" or "higher".'
            )
        for what in ("ours", "peer"):
            value = getattr(self, what)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise RowError(f"row {self.name!r}: {what} is {value!r}; give a number or None.")
            if not math.isfinite(value):
                raise RowError(f"row {self.name!r}: {what} is {value}; give None and a note.")
        if self.peer_name is not None and not self.peer_name:
            raise RowError(f"row {self.name!r}: peer_name is empty; give None if there is no peer.")
        if self.peer is not None and self.peer_name is None:
            raise RowError(f"row {self.name!r}: the peer {self.peer:g} has no peer_name.")
        missing = self.ours is None or (self.peer is None and self.peer_name is not None)
        if missing and not self.note:
            raise RowError(f"row {self.name!r}: a figure is missing; say why in its note.")

    @property
    def times_better(self) -> float | None:
        """How many times better ours is: above 1 ours is better, whatever the unit.

        peer / ours if lower is better, ours / peer if higher is better. None unless both figures
        are positive.
        """
        if self.ours is None or self.peer is None or self.ours <= 0.0 or self.peer <= 0.0:
            return None
        return self.peer / self.ours if self.better == "lower" else self.ours / self.peer

    def as_dict(self) -> dict[str, Any]:
        """The row as it stands in a document."""
        made = asdict(self)
        better, note = made.pop("better"), made.pop("note")
        return {**made, "times_better": self.times_better, "better": better, "note": note}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Row:
        """Reads a row of a document and checks it."""
        allowed = {each.name for each in fields(cls)} | {"times_better"}
        if unknown := sorted(set(given) - allowed):
            raise RowError(f"row {given.get('name')!r}: unknown keys {unknown}.")
        if lacking := sorted(allowed - set(given)):
            raise RowError(f"row {given.get('name')!r}: keys {lacking} are missing.")
        claimed = given["times_better"]
        row = cls(**{key: value for key, value in given.items() if key != "times_better"})
        actual = row.times_better
        if (claimed is None) != (actual is None) or (
            claimed is not None and not math.isclose(claimed, actual or 0.0, rel_tol=1e-6)
        ):
            raise RowError(f"row {row.name!r}: times_better is {claimed}, not {actual}.")
        return row


@dataclass(frozen=True)
class Document:
    """What one run of a benchmark found.

    Attributes:
        benchmark: Name of the benchmark, which is its file's name.
        title: One sentence that says what it measures.
        about: Paragraphs that say how, and what the rows mean.
        command: Command line that measured it.
        machine: Processor, cores, system and versions.
        rows: What was measured.
        notes: Remarks on the run, such as peers that are not installed.
    """

    benchmark: str
    title: str
    about: list[str]
    command: str
    machine: dict[str, Any]
    rows: list[Row]
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The document as JSON."""
        made = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "rows"}
        made["rows"] = [row.as_dict() for row in self.rows]
        return json.dumps(made, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def read(cls, path: Path) -> Document:
        """Reads a document and checks its rows."""
        try:
            given = json.loads(path.read_text())
            rows = [Row.from_dict(each) for each in given.pop("rows")]
            return cls(**given, rows=rows)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RowError(f"{path.name} is not a document of a benchmark: {error}") from None


class Benchmark:
    """A benchmark's options and output.

    Args:
        file: ``__file__`` of the benchmark.
        doc: ``__doc__`` of the benchmark: a title, paragraphs and an indented command line.
    """

    def __init__(self, file: str, doc: str | None) -> None:
        self.name = Path(file).stem
        paragraphs = [each for each in (doc or "").strip().split("\n\n") if each[:4].strip()]
        self.title, *self.about = (" ".join(each.split("\n")) for each in paragraphs)
        self.parser = argparse.ArgumentParser(description=self.title, allow_abbrev=False)
        self.parser.add_argument("--quick", action="store_true", help="short runs, rough figures")
        self.parser.add_argument(
            "--json", nargs="?", const="-", metavar="FILE",
            help="write the rows as JSON to FILE, or to standard output if FILE is - or not given",
        )  # fmt: skip

    def parse(self) -> argparse.Namespace:
        """Reads the command line."""
        self.options = self.parser.parse_args()
        return self.options

    def log(self, text: str) -> None:
        """Prints progress, apart from the results."""
        print(f"{self.name}: {text}", file=sys.stderr, flush=True)

    def publish(self, rows: Sequence[Row], *, notes: Iterable[str] = ()) -> None:
        """Prints the rows as a table, or writes them as JSON."""
        asked: str | None = self.options.json
        document = Document(
            self.name, self.title, self.about, command(self.name, sys.argv[1:]), machine(),
            list(rows), list(notes),
        )  # fmt: skip
        if asked == "-":
            print(document.text(), end="")
            return
        print(table(document.rows))
        for note in document.notes:
            print(note)
        if asked is not None:
            path = Path(asked)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(document.text())


def command(name: str, arguments: Sequence[str]) -> str:
    """The command line of a benchmark without ``--json``."""
    kept: list[str] = []
    left = list(arguments)
    while left:
        word = left.pop(0)
        if word == "--json":
            if left and (left[0] == "-" or not left[0].startswith("-")):
                left.pop(0)
        elif not word.startswith("--json="):
            kept.append(word)
    return shlex.join(["python", f"benchmarks/{name}.py", *kept])


def machine() -> dict[str, Any]:
    """Processor, cores, system and versions of what runs here."""
    versions = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "processor": _processor(), "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}", "versions": versions,
    }  # fmt: skip


def _processor() -> str:
    about = Path("/proc/cpuinfo")
    if about.exists():
        for line in about.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def figure(value: float | None) -> str:
    """A number with three digits or more, such as 0.0643, 52.0, 14844 or 8.61e-12."""
    if value is None:
        return NONE
    if value == 0.0:
        return "0"
    size = abs(value)
    if 1e3 <= size < 1e6:
        return f"{value:.0f}"
    if 1e-2 <= size < 1e3:
        return f"{value:.{max(0, 2 - math.floor(math.log10(size)))}f}"
    return power(value, 2)


def power(value: float, digits: int = 0) -> str:
    """A number in scientific notation without leading zeros, such as 1e-3."""
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def peer_text(row: Row) -> str:
    """The peer's name and the note of a row."""
    return "; ".join(filter(None, [row.peer_name, row.note]))


def align(lines: Sequence[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Lines of cells as text with columns of equal width; those of ``right`` end on one line."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    ends = set(right)
    made = []
    for cells in lines:
        padded = [
            cell.rjust(width) if n in ends else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        made.append("  ".join(padded).rstrip())
    return "\n".join(made)


def table(rows: Sequence[Row]) -> str:
    """Rows as text; a name that is repeated is shown once."""
    lines = [["", "unit", "ours", "peer", "times better", ""]]
    last = ""
    for row in rows:
        named = [row.name, row.unit] if row.name != last else ["", ""]
        figures = [figure(each) for each in (row.ours, row.peer, row.times_better)]
        lines.append([*named, *figures, peer_text(row)])
        last = row.name
    return align(lines, right=(2, 3, 4))
