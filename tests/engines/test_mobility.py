"""Mobility of mechanisms with loops, as reported by ``linkwork check``."""

import re

import pytest

from command_line import linkwork

#: Degrees of freedom from the literature, and Grübler's count if planar loops change it.
BOOKS = {
    "four_bar": (1, -2),
    "slider_crank": (1, 1),
    "jansen": (1, -5),
    "watt": (1, 0),
    "peaucellier": (1, -2),
    "pantograph": (2, 0),
    "hexapod": (6, 6),
    "delta": (3, 3),
    "agile_eye": (3, 3),
}


@pytest.mark.capability(15)
@pytest.mark.parametrize("name", BOOKS)
def test_check_tells_what_loops_leave_free(name: str) -> None:
    found = linkwork("check", f"mechanisms/{name}")
    assert found.code == 0, found.err
    logged = " ".join(found.out.split())
    dofs, counted = BOOKS[name]
    (match,) = re.findall(r"mobility (\d+), with (\d+) moving bodies and (\d+) constraints", logged)
    reported, bodies, rows = map(int, match)
    assert reported == dofs
    assert 6 * bodies - rows == counted
    assert (f"Grübler counts {counted}:" in logged) == (counted != dofs)


def test_without_loops_all_degrees_of_freedom_are_free() -> None:
    """A double pendulum has two, and no mobility is reported."""
    found = linkwork("check", "mechanisms/double_pendulum")
    assert "2 degrees of freedom" in " ".join(found.out.split())
    assert "mobility" not in found.out
