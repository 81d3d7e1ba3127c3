"""Signals: readable by everyone, set by one owner."""

import math
from typing import Any

import numpy as np
import pytest

from linkwork.core.errors import NameNotFound, SignalError
from linkwork.core.signals import Signals


def signals() -> Signals:
    made = Signals(np.array([0.5, 1.0, 2.0]))
    made.add("arm/J1.angle", 0, unit="rad", lo=-1.0, hi=1.0)
    made.add("arm/J1.target", 1, unit="rad", lo=-1.0, hi=1.0, direction="input")
    made.add("arm/E3.mass", 2, unit="kg", lo=0.0, direction="param")
    return made


def test_anyone_may_watch() -> None:
    """Values are read by name, with unit and range, from the state's array."""
    data = np.array([0.5])
    made = Signals(data)
    signal = made.add("arm/J1.angle", 0, unit="rad", lo=-1, hi=1)
    assert made["arm/J1.angle"] is signal
    assert (signal.unit, signal.lo, signal.hi, signal.direction) == ("rad", -1.0, 1.0, "output")
    assert made.value("arm/J1.angle") == 0.5
    data[0] = 0.75
    assert made.value("arm/J1.angle") == 0.75


def test_signals_are_listed_in_their_order() -> None:
    """Length, membership and order are those of the added signals."""
    made = signals()
    assert [s.name for s in made] == ["arm/J1.angle", "arm/J1.target", "arm/E3.mass"]
    assert [s.direction for s in made] == ["output", "input", "param"]
    assert len(made) == 3
    assert "arm/J1.angle" in made
    assert "arm/J2.angle" not in made


def test_an_unknown_name_gets_a_suggestion() -> None:
    """The message suggests the closest name, or lists all names."""
    with pytest.raises(NameNotFound, match=r"'arm/J1.angel'. Did you mean 'arm/J1.angle'"):
        signals().value("arm/J1.angel")
    with pytest.raises(NameNotFound, match=r"no signal named 'x'. Available signals: arm/E3.mass,"):
        signals().set("x", 1.0, "me")


def test_a_name_is_given_once() -> None:
    """A second signal of the same name is rejected."""
    with pytest.raises(SignalError, match=r"two signals named 'arm/J1.angle'"):
        signals().add("arm/J1.angle", 2)


def test_what_is_measured_cannot_be_set() -> None:
    """An output cannot be set, and has no owner."""
    made = signals()
    with pytest.raises(SignalError, match=r"'arm/J1.angle' is measured; it cannot be set"):
        made.set("arm/J1.angle", 0.0, "me")
    with pytest.raises(SignalError, match=r"'arm/J1.angle' is not an input; it has no owner"):
        made.take("arm/J1.angle", "me")
    assert made.value("arm/J1.angle") == 0.5


def test_the_first_who_sets_an_input_owns_it() -> None:
    """Others are rejected until they take it over, which returns the previous owner."""
    made = signals()
    made.set("arm/J1.target", 0.1, "program")
    made.set("arm/J1.target", 0.2, "program")
    with pytest.raises(SignalError, match=r"owned by 'program', not by 'browser'. Take it over"):
        made.set("arm/J1.target", 0.3, "browser")
    assert made.value("arm/J1.target") == 0.2
    assert made.take("arm/J1.target", "browser") == "program"
    made.set("arm/J1.target", 0.3, "browser")
    assert made.value("arm/J1.target") == 0.3
    with pytest.raises(SignalError, match="owned by 'browser', not by 'program'"):
        made.set("arm/J1.target", 0.4, "program")
    assert made.owners == {"arm/J1.target": "browser"}


def test_checking_alone_takes_nothing() -> None:
    """A check does not make the caller the owner."""
    made = signals()
    assert made.check("arm/J1.target", 0.0, "me").name == "arm/J1.target"
    assert made.owners == {}
    assert made.value("arm/J1.target") == 1.0


def test_what_is_released_is_free_again() -> None:
    """Release frees all inputs of one owner, and of no other."""
    made = signals()
    made.add("arm/J2.target", 1, direction="input")
    assert made.take("arm/J1.target", "me") is None
    made.take("arm/J2.target", "you")
    made.release("me")
    assert made.owners == {"arm/J2.target": "you"}
    made.set("arm/J1.target", 0.0, "someone")
    assert made.owners["arm/J1.target"] == "someone"


def test_parameters_have_no_owner() -> None:
    """Anyone can change them, within their range."""
    made = signals()
    made.set("arm/E3.mass", 3.0, "me")
    made.set("arm/E3.mass", 4.0, "you")
    assert (made.value("arm/E3.mass"), made.owners) == (4.0, {})
    with pytest.raises(SignalError, match=r"'arm/E3.mass' is not an input"):
        made.take("arm/E3.mass", "me")


def test_values_stay_in_range() -> None:
    """The message states the range and the unit; the limits themselves are allowed."""
    made = signals()
    values: list[Any] = [-1.0, 1.0, 0, True, np.float32(0.5), np.int64(1)]
    for value in values:
        made.set("arm/J1.target", value, "me")
        assert made.value("arm/J1.target") == float(value)
    with pytest.raises(SignalError, match=r"'arm/J1.target' takes -1 to 1 rad, not 1.5"):
        made.set("arm/J1.target", 1.5, "me")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "1", None, [1.0], 1j, 10**400])
def test_only_finite_numbers_are_set(value: Any) -> None:
    """Any other value is rejected, and does not change the owner."""
    made = signals()
    with pytest.raises(SignalError, match=r"'arm/E3.mass' takes finite numbers, not"):
        made.set("arm/E3.mass", value, "me")
    with pytest.raises(SignalError, match="takes finite numbers"):
        made.set("arm/J1.target", value, "me")
    assert made.owners == {}


def test_a_signal_is_found_by_the_name_that_it_had_before() -> None:
    """An alias reads the signal, and is not listed."""
    signals = Signals(np.array([3.0]))
    signals.add("can0.clients", 0)
    signals.alias("can0.partners", "can0.clients")
    assert signals.value("can0.partners") == 3.0
    assert "can0.partners" in signals
    assert [signal.name for signal in signals] == ["can0.clients"]
    assert signals.take_used_aliases() == {"can0.partners": "can0.clients"}
    assert signals.value("can0.partners") == 3.0
    assert not signals.take_used_aliases()
