"""Rows of the benchmarks: one format for all."""

import importlib
import json
import math
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
SCRIPTS = sorted(path for path in BENCHMARKS.glob("*.py") if path.stem != "report")


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Loads the module that defines a row."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("shared.rows")


def test_times_better_is_above_one_where_ours_is_better(rows: Any) -> None:
    """It is peer / ours for times and errors, ours / peer for rates."""
    assert rows.Row("step", "µs", 2.0, 6.0, "MuJoCo").times_better == 3.0
    assert rows.Row("step", "µs", 6.0, 2.0, "MuJoCo").times_better == pytest.approx(1 / 3)
    assert rows.Row("rate", "1/s", 60.0, 20.0, "viser", "higher").times_better == 3.0
    assert rows.Row("rate", "1/s", 20.0, 60.0, "viser", "higher").times_better == pytest.approx(
        1 / 3
    )


def test_a_row_without_a_peer_has_nulls(rows: Any) -> None:
    """No peer, a peer without a figure and figures that have no ratio give null."""
    alone = rows.Row("frames", "1/s", 50.0, better="higher").as_dict()
    assert (alone["peer"], alone["peer_name"], alone["times_better"]) == (None, None, None)
    absent = rows.Row("step", "µs", 2.0, None, "viser", note="not installed").as_dict()
    assert (absent["peer"], absent["peer_name"], absent["times_better"]) == (None, "viser", None)
    assert rows.Row("gap", "m", 0.0, 1.0, "MuJoCo").times_better is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": ""}, "name"),
        ({"unit": ""}, "unit"),
        ({"ours": math.nan}, "give None and a note"),
        ({"peer": math.inf}, "give None and a note"),
        ({"ours": "2.0"}, "give a number or None"),
        ({"better": "more"}, '"lower" or "higher"'),
        ({"peer_name": None}, "no peer_name"),
        ({"peer_name": ""}, "give None if there is no peer"),
        ({"peer": None}, "say why in its note"),
        ({"ours": None}, "say why in its note"),
        ({"note": "two\nlines"}, "one line of text"),
    ],
)
def test_a_row_that_breaks_the_rules_is_refused(
    rows: Any, given: dict[str, Any], message: str
) -> None:
    """The message names the row and the required value."""
    good = {"name": "step", "unit": "µs", "ours": 2.0, "peer": 6.0, "peer_name": "MuJoCo"}
    rows.Row(**good)
    with pytest.raises(rows.RowError, match=message):
        rows.Row(**{**good, **given})


def test_a_row_reads_back_what_it_writes(rows: Any) -> None:
    """All keys are required, none is unknown, and times_better agrees with the figures."""
    row = rows.Row("step", "µs", 2.0, 6.0, "MuJoCo", note="standing")
    made = row.as_dict()
    assert list(made)[:6] == ["name", "unit", "ours", "peer", "peer_name", "times_better"]
    assert rows.Row.from_dict(made) == row
    with pytest.raises(rows.RowError, match=r"times_better is 2\.0, not 3\.0"):
        rows.Row.from_dict({**made, "times_better": 2.0})
    with pytest.raises(rows.RowError, match=r"keys \['unit'\] are missing"):
        rows.Row.from_dict({key: value for key, value in made.items() if key != "unit"})
    with pytest.raises(rows.RowError, match="unknown keys"):
        rows.Row.from_dict({**made, "ratio": 3.0})


def test_json_goes_to_a_file_or_to_standard_output(
    rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a file the table stays on stdout; with - or nothing only the document is printed."""
    doc = "Cost of a step.\n\n    python benchmarks/some.py\n\nThe peer is\nMuJoCo.\n"
    row, path = rows.Row("step", "µs", 2.0, 6.0, "MuJoCo"), tmp_path / "new" / "some.json"

    def publish(*arguments: str) -> str:
        monkeypatch.setattr("sys.argv", ["/somewhere/some.py", "--quick", *arguments])
        bench = rows.Benchmark("/somewhere/some.py", doc)
        assert bench.parse().quick
        bench.publish([row], notes=["Both stand."])
        return capsys.readouterr().out

    printed = publish("--json", str(path))
    assert "MuJoCo" in printed
    assert "Both stand." in printed
    read = rows.Document.read(path)
    assert read.rows == [row]
    assert (read.benchmark, read.title, read.about) == ("some", "Cost of a step.", [
        "The peer is MuJoCo.",
    ])  # fmt: skip
    assert read.command == "python benchmarks/some.py --quick"
    assert {"processor", "cores", "system", "versions"} <= set(read.machine)
    for words in (["--json", "-"], ["--json"]):
        document = json.loads(publish(*words))
        assert document["rows"] == [row.as_dict()]
        assert "somewhere" not in json.dumps(document)
    assert publish() == printed


def test_a_file_that_is_no_document_is_named(rows: Any, tmp_path: Path) -> None:
    """The error names the file, not its folder."""
    path = tmp_path / "broken.json"
    path.write_text("[]")
    with pytest.raises(rows.RowError, match=r"^broken.json is not a document"):
        rows.Document.read(path)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0, "0"), (0.0643, "0.0643"), (52.04, "52.0"), (182.4, "182"), (14844.2, "14844"),
     (8.61e-12, "8.61e-12"), (4.08e6, "4.08e6")],
)  # fmt: skip
def test_figures_have_three_digits(rows: Any, value: float | None, text: str) -> None:
    """Small and large ones are powers of ten without leading zeros."""
    assert rows.figure(value) == text


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_benchmark_speaks_the_same_language(script: Path) -> None:
    """Each has the shared options, publishes rows, and documents its command."""
    text = script.read_text()
    assert "Benchmark(__file__, __doc__)" in text
    assert ".publish(" in text
    assert f"    python benchmarks/{script.name} [--quick] [--json [FILE]]" in text
    assert "import json\n" not in text or ".dumps(" not in text
