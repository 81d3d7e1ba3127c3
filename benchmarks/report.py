"""Reads the documents of all benchmarks, prints one table and writes ``docs/benchmarks.md``.

    python benchmarks/report.py [--page FILE] [build/benchmarks/*.json]

The table has one line for each measured quantity, with the strongest peer: the one against which
``times_better`` is smallest. The page has all peers. ``make bench`` runs it last.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from shared.rows import NONE, Document, Row, RowError, align, figure, peer_text

HERE = Path(__file__).resolve().parent
DOCUMENTS, PAGE = HERE.parent / "build" / "benchmarks", HERE.parent / "docs" / "benchmarks.md"

HEAD = """\
# Benchmarks

Linkwork beside other programs that do the same, measured side by side in one run. `make bench`
writes this page: do not edit it.

{run}

```sh
make bench            # runs every benchmark, prints one table and writes this page
make bench QUICK=1    # the same with short runs and rough figures
python benchmarks/cycle.py --quick --json -    # one benchmark, its rows as JSON
```

Peers that need other versions of packages than Linkwork are installed in an environment of their
own by `make bench-venv`. A peer that is not installed has no figure, and its row says so.

How to read the tables:

- **times better** is above 1 where Linkwork is better, whatever the unit: peer / ours for times and
  errors, ours / peer for rates. With several peers, the strongest one is in bold.
- A peer whose name begins with "Linkwork" is Linkwork with other settings: the row shows what a
  feature costs or gains.
- "–" is a figure that does not exist or was not measured; the last column says why.
"""


def by_name(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows by their name, in their order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.name, []).append(row)
    return found


def strongest(rows: Sequence[Row]) -> Row:
    """The row with the smallest ``times_better``; the first row if none has one."""
    compared = [(row.times_better, n) for n, row in enumerate(rows) if row.times_better is not None]
    return rows[min(compared)[1]] if compared else rows[0]


def summary(documents: Sequence[Document]) -> str:
    """One table of all benchmarks, with the strongest peer of each quantity."""
    lines = [["benchmark", "", "unit", "ours", "peer", "times better", ""]]
    for document in documents:
        for n, (name, rows) in enumerate(by_name(document.rows).items()):
            row = strongest(rows)
            figures = [figure(each) for each in (row.ours, row.peer, row.times_better)]
            first = document.benchmark if n == 0 else ""
            peer = row.peer_name if row.peer is not None else row.note
            if row.peer is None and len(rows) > 1:
                peer = f"none of {len(rows)} peers has a figure"
            lines.append([first, name, row.unit, *figures, peer or ""])
    return align(lines, right=(3, 4, 5))


def markdown(text: str) -> str:
    """Text of a docstring as Markdown."""
    return re.sub(r"``\s*(.+?)\s*``", r"`\1`", text)


def cells(*texts: str) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def section(document: Document) -> str:
    """The part of the page about one benchmark."""
    lines = [f"## {document.benchmark}.py", "", markdown(document.title), ""]
    for paragraph in document.about:
        lines += [markdown(paragraph), ""]
    lines += [
        cells("measured", "unit", "Linkwork", "peer", "times better", "peer's name, notes"),
        "|-|-|-:|-:|-:|-|",
    ]
    for name, rows in by_name(document.rows).items():
        best = strongest(rows)
        for row in rows:
            ratio = figure(row.times_better)
            if row is best and len(rows) > 1 and ratio != NONE:
                ratio = f"**{ratio}**"
            named = (name, row.unit) if row is rows[0] else ("", "")
            lines.append(cells(*named, figure(row.ours), figure(row.peer), ratio, peer_text(row)))
    lines.append("")
    lines += [f"- {note}" for note in document.notes]
    lines += [""] if document.notes else []
    return "\n".join([*lines, f"Measured with `{document.command}`.", ""])


def machines(documents: Sequence[Document]) -> str:
    """The machines on which the documents were measured."""
    found: dict[str, list[str]] = {}
    for document in documents:
        about = document.machine
        versions = ", ".join(f"{name} {value}" for name, value in about["versions"].items())
        text = f"{about['processor']}, {about['cores']} cores, {about['system']}; {versions}"
        found.setdefault(text, []).append(document.benchmark)
    if len(found) == 1:
        return f"Machine: {next(iter(found))}."
    return "\n".join(f"- Machine of {', '.join(names)}: {text}." for text, names in found.items())


def how_run(documents: Sequence[Document]) -> str:
    """Which command made the figures."""
    quick = [document for document in documents if "--quick" in document.command.split()]
    if len(quick) == len(documents):
        return "The figures are from `make bench QUICK=1`: short runs, so they are rough."
    if not quick:
        return "The figures are from `make bench`."
    names = ", ".join(f"`{document.benchmark}.py`" for document in quick)
    return f"The figures are from `make bench`; those of {names} are from short runs."


def page(documents: Sequence[Document], missing: Sequence[str]) -> str:
    """The text of ``docs/benchmarks.md``."""
    parts = [HEAD.format(run=how_run(documents)), machines(documents) + "\n"]
    if missing:
        names = ", ".join(f"`{name}.py`" for name in missing)
        parts.append(f"Not measured in this run: {names}.\n")
    return "\n".join([*parts, *(section(document) for document in documents)])


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, help="documents of benchmarks")
    parser.add_argument("--page", type=Path, default=PAGE, help="Markdown file to write")
    options = parser.parse_args(arguments)
    files = options.files or sorted(DOCUMENTS.glob("*.json"))
    if not files:
        raise SystemExit("There are no documents in build/benchmarks: run make bench.")
    try:
        documents = [Document.read(path) for path in files]
    except (RowError, OSError) as error:
        raise SystemExit(str(error)) from None
    there = {document.benchmark for document in documents}
    own = {path.stem for path in HERE.glob("*.py")} - {Path(__file__).stem}
    print(summary(documents))
    options.page.write_text(page(documents, sorted(own - there)))


if __name__ == "__main__":
    main()
