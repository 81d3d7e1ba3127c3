"""STEP assemblies as parts, through the extra ``cad``."""

import sys
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from command_line import linkwork
from linkwork.core.errors import FormatError, Origin
from linkwork.formats.drawings import step as step_format
from linkwork.formats.drawings.step import check_syntax
from linkwork.model.world import compile_scene
from step_files import assembly

GEAR = assembly(
    "gear",
    {"base": ((100, 60, 20), (0, 0, 10)), "post": ((20, 20, 80), (30, 0, 60))},
)


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "gear.step"
    path.write_text(GEAR)
    return path


@pytest.mark.capability(33)
def test_an_assembly_is_a_part(step: Path) -> None:
    """Components are named elements, in meters, at their poses in the assembly."""
    part = lw.load_part(step)
    assert [*part.elements] == ["gear", "base", "post"]
    assert part.elements["post"].on == "gear"
    np.testing.assert_allclose(part.elements["post"].at.xyz, (0.03, 0.0, 0.06), atol=1e-9)
    masses = {name: e.mass_properties().mass for name, e in part.elements.items()}
    np.testing.assert_allclose([masses["base"], masses["post"]], [0.12, 0.032], rtol=1e-6)
    world = compile_scene(lw.Scene("s").place(part))
    np.testing.assert_allclose(
        world.com[-1], (0.03 * 0.032 / 0.152, 0.0, (0.12 * 0.01 + 0.032 * 0.06) / 0.152), atol=1e-6
    )


@pytest.mark.capability(33, 155)
def test_what_is_made_of_it_stands_alone(step: Path, tmp_path: Path) -> None:
    """convert and new --from copy the triangles, so that no CAD library is needed later."""
    made = tmp_path / "made"
    made.mkdir()
    done = linkwork("convert", step, made / "gear.toml")
    assert done.code == 0, done.err
    done = linkwork("new", "part", "own", "--from", step, "--in", made, "--base", "base", "--yes")
    assert done.code == 0, done.err
    for name in ("gear", "own"):
        assert "cache" not in (made / f"{name}.toml").read_text()
        part = lw.load_part(made / f"{name}.toml")
        assert sum(e.mass_properties().mass for e in part.elements.values()) == pytest.approx(0.152)
    assert lw.load_part(made / "own.toml").root() == "base"


def test_without_the_extra_it_says_what_to_install(
    step: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the command that installs the extra."""
    monkeypatch.setitem(sys.modules, "cascadio", None)
    monkeypatch.setattr(step_format, "find_spec", lambda name: None)
    with pytest.raises(FormatError, match=r'pip install "linkwork\[cad\]"'):
        lw.load(step)


def test_a_damaged_file_is_told(step: Path) -> None:
    """A damaged file gives an error of one line, whatever the library does."""
    spoiled = GEAR[: GEAR.index("DATA;")] + "DATA;\n#1=NONSENSE(());\nENDSEC;\nEND-ISO-10303-21;\n"
    step.write_text(spoiled)
    with pytest.raises(FormatError, match=r"damaged|no triangles"):
        lw.load(step)
    for right, wrong, reported in (
        ("END-ISO-10303-21;", "", "cut off"),
        ("(#363,#361)", "(#363,#99999)", "#99999 is not defined"),
        ("((", "(", "brackets"),
    ):
        assert right in GEAR
        step.write_text(GEAR.replace(right, wrong, 1))
        with pytest.raises(FormatError, match=reported):
            lw.load(step)
    step.write_text("solid no\n")
    with pytest.raises(FormatError, match="no STEP file"):
        lw.load(step)


def test_comments_are_no_text_of_a_file(tmp_path: Path) -> None:
    """Apostrophes, brackets and numbers in comments are ignored; an open one is an error."""
    origin = Origin(str(tmp_path / "gear.step"))
    comment = "DATA; /* don't count #99999 ( ' \n * / */ /**/"
    check_syntax(GEAR.replace("DATA;", comment, 1).encode(), origin)
    text = "DATA; #99998=LABEL('it''s /* no comment');"
    check_syntax(GEAR.replace("DATA;", text, 1).encode(), origin)
    for wrong, reported in (
        ("DATA; /* open", "a comment is not closed"),
        ("DATA; /*/", "a comment is not closed"),
        ("DATA; #99998=LABEL('open);", "a text is not closed"),
    ):
        plain = GEAR.replace("'", "") if "text" in reported else GEAR
        with pytest.raises(FormatError, match=reported):
            check_syntax(plain.replace("DATA;", wrong, 1).encode(), origin)
