"""docs/capabilities.md agrees with the marks of the tests."""

from pathlib import Path

import pytest

import capabilities

LIST = """
[pages]
"guide.md" = [2]

[documents."000 First"]
1 = "Walks"
2 = "Talks | sings"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "capabilities.toml").write_text(LIST)
    (tmp_path / "docs" / "guide.md").write_text("# Guide\n")
    (tmp_path / "tests" / "deep").mkdir(parents=True)
    return tmp_path


def write_test(project: Path, text: str) -> None:
    (project / "tests" / "deep" / "test_it.py").write_text("import pytest\n" + text)


def test_page_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    """The committed page is what the marks generate; if not, the message is the command to run."""
    assert capabilities.main(["--check"]) == 0, capsys.readouterr().err


def test_check_fails_with_the_command_until_the_page_is_written(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new mark makes the check fail until the page is written."""
    assert capabilities.main([], project) == 0
    assert capabilities.main(["--check"], project) == 0
    write_test(project, "@pytest.mark.capability(1)\ndef test_walk(): ...\n")
    assert capabilities.main(["--check"], project) == 1
    assert "make docs-capabilities" in capsys.readouterr().err
    assert capabilities.main([], project) == 0
    assert capabilities.main(["--check"], project) == 0
    page = (project / "docs" / "capabilities.md").read_text()
    assert "| 1 | Walks | [test_walk](../tests/deep/test_it.py) |  |" in page
    assert "| 2 | Talks \\| sings |  | [guide](guide.md) |" in page
    assert "1 of 2 so far" in page


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("@pytest.mark.capability(2)\nasync def test_a(): ...\n", "::test_a"),
        (
            "class TestB:\n    @pytest.mark.capability(1, 2)\n    def test_b(self): ...\n",
            "::TestB::test_b",
        ),
        ("@pytest.mark.capability(2)\nclass TestC: ...\n", "::TestC"),
        ("pytestmark = [pytest.mark.capability(2)]\n", ""),
        (
            "@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.capability(2))])\n"
            "def test_e(x): ...\n",
            "::test_e",
        ),
    ],
)
def test_marks_are_found_wherever_pytest_takes_them(project: Path, text: str, test: str) -> None:
    """Functions, methods, classes, modules and single parameters can have the mark."""
    write_test(project, text)
    assert capabilities.collect(project)[2].tests == [f"tests/deep/test_it.py{test}"]


@pytest.mark.parametrize(
    ("argument", "expected_text"), [("3", "lists 1 to 2"), ("N", "write the number itself")]
)
def test_a_wrong_mark_is_refused_with_file_and_line(
    project: Path, capsys: pytest.CaptureFixture[str], argument: str, expected_text: str
) -> None:
    """An unknown number, or a non-number, is an error with its location."""
    write_test(project, f"@pytest.mark.capability({argument})\ndef test_it(): ...\n")
    assert capabilities.main(["--check"], project) == 2
    error = capsys.readouterr().err
    assert error.startswith("tests/deep/test_it.py:2: ")
    assert expected_text in error
