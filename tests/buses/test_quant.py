"""Quantisation: exact, against cantools, for every code of 8 to 16 bits."""

import math

import cantools
import cantools.database.can.signal as can_signal
import numpy as np
import pytest
from cantools.database.conversion import LinearConversion
from hypothesis import given
from hypothesis import strategies as st

from linkwork.buses.bus_signals import QuantGrid
from linkwork.buses.port import PortSignal, Quant
from linkwork.core.errors import SignalError

RANGES = [(0.0, 1023.0), (-math.pi, math.pi), (-2.0943951023931953, 2.0943951023931953), (0.1, 0.3)]


def dbc_signal(quant: Quant) -> can_signal.Signal:
    """The same signal as cantools has it from a DBC file."""
    conversion = LinearConversion(quant.scale, quant.offset, is_float=False)
    return can_signal.Signal(
        "s", 0, quant.bits, byte_order="little_endian", is_signed=quant.signed,
        conversion=conversion,
    )  # fmt: skip


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("bits", range(8, 17))
def test_every_code_is_cantools_code(bits: int, signed: bool) -> None:
    """Each code decodes to cantools' number to the last bit, and encodes to itself there too."""
    lo, hi = RANGES[bits % len(RANGES)]
    quant = Quant(bits, lo, hi, signed)
    theirs = dbc_signal(quant)
    assert quant.code_hi - quant.code_lo == 2**bits - 1
    for code in range(quant.code_lo, quant.code_hi + 1):
        value = quant.decode(code)
        assert value == theirs.raw_to_scaled(code)
        assert quant.encode(value) == code == theirs.scaled_to_raw(value)


@pytest.mark.parametrize("signed", [False, True])
def test_the_bytes_of_a_frame_are_cantools_bytes(signed: bool) -> None:
    """cantools packs and reads the same bytes from a DBC file with our scale and offset."""
    quant = Quant(11, -1.5, 1.5, signed)
    sign = "-" if signed else "+"
    dbc = (
        'VERSION ""\nBU_: A\nBO_ 4 M: 2 A\n'
        f' SG_ s : 0|11@1{sign} ({quant.scale!r},{quant.offset!r}) [0|0] "" A\n'
    )
    theirs = cantools.database.load_string(dbc, "dbc")
    assert isinstance(theirs, cantools.database.can.Database)
    for value in (-1.5, -0.7, -1e-9, 0.0, 0.33, 1.5):
        data = (quant.encode(value) & 2**11 - 1).to_bytes(2, "little")
        assert theirs.encode_message(4, {"s": quant.nearest(value)}, strict=False) == data
        assert theirs.decode_message(4, data) == {"s": quant.nearest(value)}


@pytest.mark.parametrize(("scale", "offset", "signed"), [(0.1, -40.0, False), (-0.25, 3.0, True)])
def test_a_scale_and_offset_of_a_dbc_file_are_taken_as_they_are(
    scale: float, offset: float, signed: bool
) -> None:
    """Every code is cantools' code, also where the scale is negative."""
    quant = Quant.scaled(9, scale, offset, signed)
    theirs = dbc_signal(quant)
    for code in range(quant.code_lo, quant.code_hi + 1):
        assert quant.decode(code) == theirs.raw_to_scaled(code)
        assert quant.encode(quant.decode(code)) == code
    narrow = Quant.scaled(9, scale, offset, signed, lo=0.0, hi=2.0)
    assert 0.0 <= narrow.decode(narrow.encode(-100.0)) <= 0.2
    for wrong in (0.0, math.nan, math.inf):
        with pytest.raises(SignalError):
            Quant.scaled(9, wrong, 0.0)
    with pytest.raises(SignalError):
        Quant.scaled(0, 1.0, 0.0)


@given(
    st.integers(1, 52), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.booleans(),
    st.floats(allow_nan=False, allow_infinity=True),
)  # fmt: skip
def test_codes_stay_within_and_are_nearest(
    bits: int, lo: float, span: float, signed: bool, value: float
) -> None:
    """Any number gives a code in range, at most half a code away where the range has it."""
    quant = Quant(bits, lo, lo + span, signed)
    code = quant.encode(value)
    assert quant.code_lo <= code <= quant.code_hi
    inside = min(max(value, quant.lo), quant.hi)
    slack = 4 * math.ulp(max(abs(quant.lo), abs(quant.hi), abs(quant.offset)))
    assert abs(quant.decode(code) - inside) <= 0.5 * quant.scale * (1 + 1e-9) + slack


@pytest.mark.parametrize("signed", [False, True])
def test_many_at_once_is_one_by_one(signed: bool) -> None:
    """What the cycle does with whole arrays is what Quant does with one number, bit for bit."""
    quants = [Quant(bits, -1.2, 2.3, signed) for bits in range(1, 33)]
    plain = PortSignal("plain", "sensor", lo=-1.0, hi=1.0)
    signals = [PortSignal("s", "sensor", lo=-1.2, hi=2.3, quant=q) for q in quants]
    grid = QuantGrid([*signals, plain])
    for value in np.linspace(-1.5, 2.6, 997):
        read = grid.nearest(np.full(33, value))
        assert read[:32].tolist() == [q.nearest(float(value)) for q in quants]
        assert read[32] == min(max(value, -1.0), 1.0)


def test_what_has_no_code_is_refused() -> None:
    """NaN has no code; endless numbers are held at the ends."""
    quant = Quant(10, 0.0, 1.0)
    with pytest.raises(SignalError, match="NaN"):
        quant.encode(math.nan)
    assert quant.encode(math.inf) == 1023
    assert quant.encode(-math.inf) == 0
    assert quant.decode(5000) == quant.decode(1023)


@pytest.mark.parametrize(
    ("bits", "lo", "hi"),
    [(0, 0, 1), (53, 0, 1), (8, 1, 1), (8, 2, 1), (8, math.nan, 1), (8, 0, math.inf),
     (52, 0, 5e-324), (8, -1.7e308, 1.7e308)],
)  # fmt: skip
def test_no_grid_of_nonsense(bits: int, lo: float, hi: float) -> None:
    """Bits, ends or steps that make no grid are refused."""
    with pytest.raises(SignalError):
        Quant(bits, lo, hi)
