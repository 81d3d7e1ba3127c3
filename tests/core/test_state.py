"""State: all variables, as named views of one flat array."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.core.errors import SessionError
from linkwork.core.state import CONTACT_CAPACITY, CONTACT_COLUMNS, Layout, State

NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


def layout(*, nq: int = 3, memory: int = 2) -> Layout:
    made = Layout()
    made.add_world(nq, 2, 4, 1, 5)
    made.add("engine/0/warm", memory)
    made.add("agent/count", 2, 2, integer=True)
    return made


def filled(seed: int = 1) -> State:
    state = State(layout())
    state.data[:] = np.random.default_rng(seed).normal(size=state.data.size)
    state["agent/count"][:] = [[1, -2], [2**62 + 1, 0]]
    return state


def test_blocks_follow_each_other_without_gaps() -> None:
    """Each named block is a view of its own range of the array, in order of addition."""
    state = State(layout())
    end = 0
    for name, field in state.layout.fields.items():
        assert field.offset == end
        assert state[name].shape == field.shape
        assert np.shares_memory(state[name], state.data) or field.size == 0
        end += field.size
    assert end == state.data.size == state.layout.size
    assert "q" in state
    assert "speed" not in state
    assert state["report/contacts"].shape == (CONTACT_CAPACITY, CONTACT_COLUMNS)


def test_a_block_has_one_name() -> None:
    """A second block of the same name is rejected."""
    with pytest.raises(SessionError, match="two blocks of the state are named 'q'"):
        layout().add("q", 1)


def test_attributes_are_the_blocks() -> None:
    """state.q is state["q"], and the report's attributes are its blocks."""
    state = State(layout())
    names = ("q", "v", "pose", "twist", "loop_q", "target", "target_speed", "target_effort")
    for number, name in enumerate((*names, "drive")):
        getattr(state, name)[:] = number
        assert (state[name] == number).all()
    for name in ("acceleration", "effort", "contacts", "gap", "energy"):
        getattr(state.report, name)[:] = 5.0
        assert (state[f"report/{name}"] == 5.0).all()
    state.report.contact_count = 7
    state.step = 2**40
    assert (state.report.contact_count, state["report/contact_count"].tolist()) == (7, [7])
    assert (state.step, state["clock"].tolist()) == (2**40, [2**40])


def test_an_address_is_the_place_of_a_number() -> None:
    """An address indexes the same number in the flat array."""
    state = filled()
    for name, index in (("pose", (2, 3)), ("q", (1,)), ("report/contacts", (63, 13))):
        assert state.data[state.address(name, *index)] == state[name][index]


def test_a_copy_is_independent() -> None:
    """A copy is equal until one of them changes."""
    state = filled()
    copy = state.copy()
    assert copy.same(state)
    copy.q[0] += 1.0
    copy.step += 1
    assert not copy.same(state)
    assert copy.q[0] != state.q[0]


def test_saving_and_restoring_keeps_every_bit() -> None:
    """Including NaN, infinities, negative zero and integers beyond 2⁵³."""
    state = filled()
    payload = np.array([0x7FF8000000000123], np.int64).view(np.float64)[0]
    state.q[:] = [payload, -0.0, math.inf]
    saved = state.save()
    assert len(saved) == 8 * state.data.size
    other = State(layout())
    views = other.q, other["agent/count"]
    other.restore(saved)
    assert other.same(state)
    assert other.save() == saved
    assert views[0].tobytes() == state.q.tobytes()  # views stay bound
    assert views[1].tolist() == [[1, -2], [2**62 + 1, 0]]
    third = State(layout())
    third.restore(state)
    assert third.same(state)
    state.q[0] = 0.0
    assert third.q.tobytes() == other.q.tobytes()


@pytest.mark.parametrize("data", [b"", b"12345", b"12345678", State(layout(memory=3)).save()])
def test_bytes_of_another_length_are_refused(data: bytes) -> None:
    """The state of another world is rejected, and changes nothing."""
    state = filled()
    before = state.save()
    with pytest.raises(SessionError, match=rf"has {state.data.size} numbers, not"):
        state.restore(data)
    assert state.save() == before


def test_states_of_other_worlds_are_refused() -> None:
    """By their size, both when restored and when built over an array."""
    with pytest.raises(SessionError, match=r"numbers, not"):
        filled().restore(State(layout(nq=4)))
    with pytest.raises(SessionError, match=r"has \d+ numbers, not 3"):
        State(layout(), np.zeros(3))


@given(st.lists(NUMBERS, min_size=3, max_size=3), st.lists(NUMBERS, min_size=3, max_size=3))
def test_same_hash_and_difference_agree(one: list[float], two: list[float]) -> None:
    """Equal bits have the same hash and no difference."""
    a, b = filled(), filled()
    a.q[:], b.q[:] = one, two
    equal = a.q.tobytes() == b.q.tobytes()
    assert a.same(b) == equal
    assert (a.hash() == b.hash()) == equal
    assert (a.difference(b) == "") == equal


def test_a_difference_names_the_first_block_and_its_size() -> None:
    """Equal entries are ignored, including infinities and NaN."""
    state = filled()
    state.drive[:] = math.inf
    state.drive[0, 0], state.drive[1, 0] = 1.0, math.nan
    other = state.copy()
    other.drive[0, 0] = 1.25
    other["engine/0/warm"][0] += 9.0
    assert state.difference(other) == "drive differs by up to 0.25"
    other = state.copy()
    other.step += 3
    assert state.difference(other) == "clock differs by up to 3"
    other = state.copy()
    other.q[1] = -state.q[1]
    assert state.difference(other) == f"q differs by up to {2 * abs(state.q[1]):.3g}"
    assert State(layout()).difference(State(layout(nq=4))) == "q is not the same block in both"


def test_a_negative_zero_is_another_state() -> None:
    """States are compared bit by bit, although both zeros compare equal."""
    one, two = filled(), filled()
    one.v[0], two.v[0] = 0.0, -0.0
    assert not one.same(two)
    assert one.hash() != two.hash()
    assert one.difference(two) == "v differs by up to 0"
