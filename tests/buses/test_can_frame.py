"""Frames, the bits that they take, and the order in which they win the bus."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.buses.can import (
    CanError,
    CanFrame,
    data_frame,
    error_frame,
    parse_frame,
    remote_frame,
)
from linkwork.buses.can.frame import crc15, frame_bits, header, plain_bits, stuff_bits


def frames() -> st.SearchStrategy[CanFrame]:
    standard = st.builds(data_frame, st.integers(0, 0x7FF), st.binary(max_size=8))
    extended = st.builds(
        lambda id, data: data_frame(id, data, extended=True),
        st.integers(0, 0x1FFFFFFF),
        st.binary(max_size=8),
    )
    remote = st.builds(remote_frame, st.integers(0, 0x1FFFFFFF), st.integers(0, 8))
    return st.one_of(standard, extended, remote)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: data_frame(-1), "not a whole number"),
        (lambda: data_frame(0x800, extended=False), "0x7FF"),
        (lambda: data_frame(0x20000000), "0x1FFFFFFF"),
        (lambda: data_frame(1, bytes(9)), "9 bytes"),
        (lambda: data_frame(1, [256]), "not bytes"),
        (lambda: remote_frame(1, 9), "0 to 8"),
        (lambda: remote_frame(1, -1), "0 to 8"),
        (lambda: error_frame(1 << 29), "error frame"),
        (
            lambda: parse_frame("12#11"),
            "not a frame: its identifier has 2 digits. Identifiers have 3",
        ),
        (lambda: parse_frame("123#1G"), "hexadecimal"),
        (lambda: parse_frame("8FF#"), "0x7FF"),
    ],
)
def test_what_can_does_not_allow_is_refused(make, words: str) -> None:
    """Each rule that is broken is named."""
    with pytest.raises(CanError, match=words):
        make()


@given(frames())
def test_text_reads_back(frame: CanFrame) -> None:
    """The form of cansend holds all of a frame."""
    assert parse_frame(str(frame)) == frame


def test_arbitration_follows_the_bits_on_the_wire() -> None:
    """Lower identifiers first; data before remote; standard before extended with the same start."""
    ranked = [
        data_frame(0x0FF),
        data_frame(0x100),
        remote_frame(0x100),
        data_frame(0x100 << 18, extended=True),
        remote_frame(0x100 << 18, extended=True),
        data_frame((0x100 << 18) + 1, extended=True),
        data_frame(0x101),
    ]
    shuffled = random.Random(1).sample(ranked, len(ranked))
    assert sorted(shuffled, key=lambda frame: frame.key) == ranked


def bits_of(frame: CanFrame) -> list[int]:
    """The bits from start of frame to checksum, written out one by one."""
    value, width = header(frame)
    bits = [value >> n & 1 for n in reversed(range(width))]
    for byte in frame.data:
        bits += [byte >> n & 1 for n in reversed(range(8))]
    crc = 0
    for bit in bits:
        top = bit ^ (crc >> 14 & 1)
        crc = (crc << 1) & 0x7FFF
        crc ^= 0x4599 if top else 0
    return bits + [crc >> n & 1 for n in reversed(range(15))]


@given(frames())
def test_stuffing_is_what_one_counts_bit_by_bit(frame: CanFrame) -> None:
    """The tables count the same stuff bits as the rule applied to each bit."""
    count, run, last = 0, 0, -1
    for bit in bits_of(frame):
        run = run + 1 if bit == last else 1
        last = bit
        if run == 5:
            count, run, last = count + 1, 1, bit ^ 1
    assert stuff_bits(frame) == count
    stuffed = plain_bits(frame) - 13  # what stuffing applies to: at most a bit for every four
    assert frame_bits(frame) == plain_bits(frame) + count
    assert count <= (stuffed - 1) // 4


def test_known_lengths() -> None:
    """47 + 8n bits with 11-bit identifiers, 67 + 8n with 29, before stuffing."""
    assert [plain_bits(data_frame(1, bytes(n))) for n in (0, 8)] == [47, 111]
    assert [plain_bits(data_frame(1, bytes(n), extended=True)) for n in (0, 8)] == [67, 131]


def test_checksum_of_a_known_frame() -> None:
    """A frame's bits with its checksum behind them leave no remainder."""
    frame = data_frame(0x14, b"\x01")
    bits = int("".join(map(str, bits_of(frame))), 2)
    assert crc15(bits.to_bytes(6, "big")) == 0
