"""Durations: how long and how many steps a session may be asked to run."""

from __future__ import annotations

from numbers import Integral, Real

from linkwork.errors import SessionError


def check_duration(seconds: object) -> None:
    """Refuses what is no duration.

    Raises:
        SessionError: If it is no number from 0 to 1e12 s.
    """
    if not isinstance(seconds, Real) or not 0.0 <= float(seconds) < 1e12:
        raise SessionError(f"a session runs for 0 s or more, not for {seconds!r} s.")


def check_steps(steps: object) -> None:
    """Refuses what is no number of steps.

    Raises:
        SessionError: If it is no whole number, or below 0.
    """
    if not isinstance(steps, Integral) or steps < 0:
        raise SessionError(f"steps are a whole number, 0 or more, not {steps!r}.")
