"""The report of all benchmarks: one table, and the page of the documentation."""

import importlib
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Loads the script under its own name."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("benchmark_report", BENCHMARKS / "report.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "benchmark_report", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def rows(report: Any) -> Any:
    return importlib.import_module("shared.rows")


def document(rows: Any, name: str, found: list[Any], command: str, *notes: str) -> Any:
    machine = {"processor": "a CPU", "cores": 2, "system": "Linux", "versions": {"numpy": "2"}}
    about = ["It runs ``linkwork run`` twice."]
    return rows.Document(name, "Cost of a step.", about, command, machine, found, list(notes))


def test_strongest_peer_has_the_smallest_times_better(report: Any, rows: Any) -> None:
    """For any unit; peers without a figure are used only if none has one."""
    times = [
        rows.Row("step", "µs", 2.0, None, "Drake", note="not installed"),
        rows.Row("step", "µs", 2.0, 6.0, "MuJoCo"),
        rows.Row("step", "µs", 2.0, 3.0, "Pinocchio"),
    ]
    assert report.strongest(times).peer_name == "Pinocchio"
    assert report.strongest(times[:1]).peer_name == "Drake"
    rates = [
        rows.Row("rate", "1/s", 60.0, 20.0, "viser", "higher"),
        rows.Row("rate", "1/s", 60.0, 40.0, "rerun", "higher"),
    ]
    assert report.strongest(rates).peer_name == "rerun"


def test_report_prints_one_table_and_writes_the_page(
    report: Any, rows: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table has one line per quantity; the page has all rows, commands, machine and notes."""
    cycle = document(
        rows, "cycle",
        [
            rows.Row("step", "µs", 2.0, 6.0, "MuJoCo"),
            rows.Row("step", "µs", 2.0, 3.0, "Pinocchio|RK4"),
            rows.Row("derivation", "s", 0.5),
        ],
        "python benchmarks/cycle.py --quick", "Both stand.",
    )  # fmt: skip
    stream = document(
        rows, "stream",
        [rows.Row("updates", "1/s", 60.0, None, "viser", "higher", "not installed")],
        "python benchmarks/stream.py --quick",
    )  # fmt: skip
    for each in (cycle, stream):
        (tmp_path / f"{each.benchmark}.json").write_text(each.text())
    page = tmp_path / "benchmarks.md"
    report.main([*map(str, sorted(tmp_path.glob("*.json"))), "--page", str(page)])
    table = capsys.readouterr().out.splitlines()
    assert len(table) == 4
    assert re.fullmatch(r"cycle +step +µs +2.00 +3.00 +1.50 +Pinocchio\|RK4", table[1])
    assert re.fullmatch(r"stream +updates +1/s +60.0 +– +– +not installed", table[3])
    text = page.read_text()
    assert "The figures are from `make bench QUICK=1`" in text
    assert "Machine: a CPU, 2 cores, Linux; numpy 2." in text
    assert "It runs `linkwork run` twice." in text
    assert "| step | µs | 2.00 | 6.00 | 3.00 | MuJoCo |" in text
    assert "|  |  | 2.00 | 3.00 | **1.50** | Pinocchio\\|RK4 |" in text
    assert "| updates | 1/s | 60.0 | – | – | viser; not installed |" in text
    assert "- Both stand." in text
    assert "Measured with `python benchmarks/cycle.py --quick`." in text
    assert re.search(r"Not measured in this run: .*`loops.py`", text)


def test_report_without_documents_says_what_to_run(report: Any, tmp_path: Path) -> None:
    """A missing or broken document gives a message, not a traceback."""
    broken = tmp_path / "cycle.json"
    broken.write_text("{}")
    with pytest.raises(SystemExit, match=r"cycle.json is not a document"):
        report.main([str(broken), "--page", str(tmp_path / "page.md")])
    report.DOCUMENTS = tmp_path / "nothing"
    with pytest.raises(SystemExit, match="run make bench"):
        report.main(["--page", str(tmp_path / "page.md")])
    assert not (tmp_path / "page.md").exists()


def test_page_has_every_benchmark() -> None:
    """docs/benchmarks.md is the report's output for all benchmarks; if not, run make bench."""
    text = (ROOT / "docs" / "benchmarks.md").read_text()
    for path in BENCHMARKS.glob("*.py"):
        if path.stem != "report":
            assert f"## {path.name}\n" in text, "run: make bench"
    assert not re.search(r"(?<![\w.`])/(?:home|tmp|work|usr|opt)/", text)
