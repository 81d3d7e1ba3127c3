"""Sines, cosines and arctangents of several numbers agree with the library's."""

import numpy as np

from linkwork.kinematics.trig_kernels import arctangents, sines


def test_sines_and_cosines_are_the_librarys() -> None:
    """To two units of the last place of 1, over many turns."""
    q = np.concatenate([np.linspace(-40.0, 40.0, 4001), np.pi / 4 * np.arange(-20, 21)])
    s, c = np.zeros_like(q), np.zeros_like(q)
    sines(q, len(q), s, c)
    np.testing.assert_allclose(s, np.sin(q), rtol=0.0, atol=5e-16)
    np.testing.assert_allclose(c, np.cos(q), rtol=0.0, atol=5e-16)


def test_arctangents_are_the_librarys() -> None:
    """In all quadrants, on the axes and the diagonals, for long and short vectors."""
    angle = np.concatenate([np.linspace(-np.pi, np.pi, 4001), np.pi / 8 * np.arange(-8, 9)])
    for size in (1.0, 1e-12, 1e9):
        y, x, out = size * np.sin(angle), size * np.cos(angle), np.zeros_like(angle)
        arctangents(y, x, len(angle), out)
        np.testing.assert_allclose(out, np.arctan2(y, x), rtol=0.0, atol=1e-15)
    y, x = np.array([0.0, 0.0, 1.0, -1.0, 0.0]), np.array([1.0, -1.0, 0.0, 0.0, 0.0])
    out = np.zeros(5)
    arctangents(y, x, 5, out)
    np.testing.assert_allclose(out, np.arctan2(y, x), atol=1e-15)
