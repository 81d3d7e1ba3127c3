"""Formulas and tables of motion: values with derivatives."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.core.errors import FormatError, NameNotFound
from linkwork.motion.formula import Formula
from linkwork.motion.time_table import read_time_table

SMOOTH = [
    "sin(2*pi*t)", "cos(t)*exp(-t)", "t**3 - 2*t", "(1 + t)/(2 + t^2)", "sqrt(1 + t*t)",
    "log(1 + t)", "tan(t/3)", "2**t", "rad(30)*t", "-abs(1 + t)", "max(t, -1) + min(t, 9)",
    "(1 + t)**(0.5*t)", "e**-t", "+t",
]  # fmt: skip


@pytest.mark.parametrize("text", SMOOTH)
def test_derivatives_are_exact(text: str) -> None:
    """Velocity and acceleration agree with difference quotients."""
    formula, h = Formula(text), 1e-5
    for time in (0.3, 0.9, 1.7):
        before, here, after = (formula.at(time + k * h) for k in (-1, 0, 1))
        assert here.speed == pytest.approx((after.value - before.value) / (2 * h), abs=1e-8)
        assert here.change == pytest.approx((after.speed - before.speed) / (2 * h), abs=1e-7)


def test_the_formula_of_schwanen_is_understood() -> None:
    """Schwanen 2002 eq. 5.1 as printed."""
    made = Formula("3*pi/4 * sin(2*pi*t)").at(0.25)
    assert made.value == pytest.approx(0.75 * math.pi)
    assert made.speed == pytest.approx(0.0, abs=1e-12)
    assert made.change == pytest.approx(-3.0 * math.pi**3)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "t.real", "[t]", "lambda: t", "x", "f(t)", "sin(t, t)",
        "sin(x=t)", "'a'", "True", "t if t else 1", "t < 1", "t @ t", "t; t", "", "1 +", "t // 2",
        "(" * 400 + "t" + ")" * 400, "1" * 1001, "t\x00", "sin", "max(t)", "min(*[t, t])",
        "1" * 400, "1e999", "-" * 900 + "t", "+" * 900 + "t", "t" + "+t" * 400,
    ],
)  # fmt: skip
def test_what_is_no_formula_is_refused(text: str) -> None:
    """No program code is run, and the message lists the valid syntax."""
    with pytest.raises(FormatError, match="Allowed are numbers"):
        Formula(text).at(0.0)


@given(st.text(max_size=60))
def test_any_text_is_a_formula_or_a_format_error(text: str) -> None:
    """Any text gives a number or a FormatError."""
    try:
        made = Formula(text).at(0.5)
    except FormatError:
        return
    assert math.isfinite(made.value)


@pytest.mark.parametrize("text", ["1/t", "log(t)", "sqrt(-1)", "10**400", "exp(1e9)", "0/0"])
def test_no_finite_value_is_told_with_its_time(text: str) -> None:
    """NaN and infinity do not reach a joint."""
    with pytest.raises(FormatError, match="t = 0 s"):
        Formula(text).at(0.0)


def test_a_table_is_a_smooth_curve_through_its_rows() -> None:
    """It passes the rows with continuous velocity and acceleration, and rests at the ends."""
    rows = "time [s],a [deg],b\n0,0,1\n0.5,90,2\n1.0,45,0\n2.0,0,1\n"
    names, units, curve = read_time_table(rows)
    assert names == ["a", "b"]
    assert units == ["rad", None]
    for time, a, b in ((0, 0, 1), (0.5, 90, 2), (1.0, 45, 0), (2.0, 0, 1), (9, 0, 1), (-1, 0, 1)):
        np.testing.assert_allclose(curve.at(time)[0], [math.radians(a), b], atol=1e-12)
    h = 1e-6
    for time in (0.2, 0.5, 0.999, 1.0, 1.5):
        before, here, after = (curve.at(time + k * h) for k in (-1, 0, 1))
        np.testing.assert_allclose((after[0] - before[0]) / (2 * h), here[1], atol=1e-5)
        np.testing.assert_allclose(before[2], after[2], atol=1e-3)


def test_a_table_of_a_sine_has_the_sines_derivatives() -> None:
    """Between close rows the curve is the sine, to the fourth power of their spacing."""
    time = np.linspace(0.0, 2.0, 201)
    text = "time,q\n" + "".join(f"{t!r},{math.sin(3 * t)!r}\n" for t in time.tolist())
    curve = read_time_table(text).curves
    made = curve.at(1.003)[:, 0]
    wanted = [math.sin(3.009), 3 * math.cos(3.009), -9 * math.sin(3.009)]
    np.testing.assert_allclose(made, wanted, atol=2e-3)
    assert made[0] == pytest.approx(wanted[0], abs=1e-8)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "needs a heading"),
        ("time,a\n", "needs a heading"),
        ("a,b\n0,1\n", "must begin with time"),
        ("time\n0\n", "must begin with time"),
        ("time,a\n0,1\n0,2\n", "line 3 .* must rise"),
        ("time,a\n0,x\n", "line 2 .*'x' under 'a' is not a number"),
        ("time,a\n0,nan\n", "finite"),
        ("time,a\n0\n", "1 cells, the heading 2"),
        ("time,a [furlong]\n0,1\n", "furlong"),
        ("time,a,a\n0,1,2\n", "is there twice"),
        ("time,[]\n0,1\n", "not a heading"),
        ("time,a\n0,\n", "cell under 'a' is empty"),
        ("time [deg],a\n0,1\n", "time is in s or ms, not in deg"),
        ('time,a\n0,"' + "1" * 140_000, "cannot be read"),
        ("time,a\n0,-1e308\n1,1e308\n", "too large"),
        ("time,a\n0,1e299\n1e-9,-1e299\n2e-9,1e299\n", "too large"),
    ],
)
def test_a_bad_table_is_told_with_its_line(text: str, words: str) -> None:
    """The message names the line and the problem."""
    with pytest.raises(FormatError, match=words):
        read_time_table(text)


def test_columns_that_are_not_chosen_may_hold_anything() -> None:
    """Unknown units and empty cells in other columns are ignored."""
    text = "time [ms],a [furlong],b [mm],d_deg,c\n0,,1,,x\n500,,3,,\n"
    table = read_time_table(text, ["b"])
    assert (table.names, table.units) == (["b"], ["m"])
    np.testing.assert_allclose(table.curves.at(0.25)[:, 0], [2e-3, 4e-3, 0.0])
    with pytest.raises(NameNotFound, match="no column named 'z'"):
        read_time_table("time,a\n0,1\n", ["z"])
