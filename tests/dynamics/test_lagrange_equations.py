"""Lagrange's equations in SymPy agree with the traced models and a textbook."""

from pathlib import Path

import numpy as np
import pytest
import sympy

from command_line import linkwork
from linkwork.core.errors import LinkworkError
from linkwork.dynamics import bias, crba
from linkwork.dynamics.symbolic import SymbolicModel, lagrange
from linkwork.dynamics.symbolic.lagrange import LagrangeEquations
from linkwork.dynamics.symbolic.latex import latex_line
from linkwork.geometry import Pose
from linkwork.model.parts import Box, Element, Joint, Part
from linkwork.model.scene import Scene
from linkwork.model.world import compile_scene
from symbolic_robots import chain, pendulum, state

SPATIAL = [["hinge"], ["universal"], ["slider", "screw"], ["cylindrical"], ["planar"]]


@pytest.mark.capability(67)
@pytest.mark.parametrize("kinds", SPATIAL, ids="-".join)
def test_lagrange_and_the_tracer_agree(kinds: list[str]) -> None:
    """Two independent derivations give the same M and c."""
    world = chain(kinds, askew=False)
    model, given = SymbolicModel(world), LagrangeEquations(world)
    q, v, _ = state(world, 3)
    mass = [each for row in model.mass_matrix for each in row]
    expected = model.evaluate(mass, q).reshape(world.nv, world.nv)
    np.testing.assert_allclose(given.evaluate(given.mass_matrix, q), expected, atol=1e-13)
    np.testing.assert_allclose(expected, crba(world, q), atol=1e-13)
    made = given.evaluate(given.bias, q, v)[:, 0]
    np.testing.assert_allclose(made, model.evaluate(model.bias, q, v), atol=1e-12)
    np.testing.assert_allclose(made, bias(world, q, v), atol=1e-12)


def test_a_ball_joint_agrees_too() -> None:
    """Rates of quaternions are not velocities: the Boltzmann-Hamel equations."""
    part = Part("p").add(Element("e0", (), mass=1.0))
    part.add(Element("e1", (Box(size=(0.1, 0.2, 0.3)),), mass=2.0))
    at, to = Pose((0.2, 0.0, 0.0)), Pose((0.0, 0.0, 0.1))
    part.add(Joint("j", "ball", "e0", "e1", at=at, at_to=to))
    world = compile_scene(Scene("s").place(part, name="p"))
    given = LagrangeEquations(world)
    q, v, _ = state(world, 5)
    np.testing.assert_allclose(given.evaluate(given.mass_matrix, q), crba(world, q), atol=1e-13)
    made = given.evaluate(given.bias, q, v)[:, 0]
    np.testing.assert_allclose(made, bias(world, q, v), atol=1e-12)


def test_a_free_body_obeys_euler() -> None:
    """For a floating body m a = m g and I ω̇ + ω × I ω = 0, from its energy."""
    part = Part("p").add(Element("e", (Box(size=(0.1, 0.2, 0.3)),), mass=2.0))
    world = compile_scene(Scene("s").place(part, name="p", base="free"))
    given = LagrangeEquations(world)
    v = np.array([0.3, -0.2, 0.1, 0.5, -0.7, 0.9])
    q = state(world, 2)[0]
    moment = np.diag(world.inertia[1]) * v[3:]
    expected = np.concatenate([[0.0, 0.0, 2.0 * 9.81], np.cross(v[3:], moment)])
    np.testing.assert_allclose(given.evaluate(given.bias, q, v)[:, 0], expected, atol=1e-12)


@pytest.mark.capability(67)
def test_the_double_pendulum_is_the_textbooks() -> None:
    """The planar elbow manipulator of Spong and Vidyasagar, term by term."""
    given = LagrangeEquations(pendulum(), named=True)
    m1, m2, l1, r1, r2, i1, i2, g = sympy.symbols(
        "m_{1} m_{2} l_{1} r_{1} r_{2} I_{1} I_{2} g", positive=True
    )
    q1, q2 = given.q
    v1, v2 = given.v
    cross = m2 * l1 * r2 * sympy.cos(q2)
    last = m2 * r2**2 + i2
    first = m1 * r1**2 + m2 * (l1**2 + r2**2) + 2 * cross + i1 + i2
    mass = sympy.Matrix([[first, last + cross], [last + cross, last]])
    assert (given.mass_matrix - mass).expand() == sympy.zeros(2, 2)
    h = -m2 * l1 * r2 * sympy.sin(q2)
    coriolis = sympy.Matrix([h * v2 * v1 + h * (v1 + v2) * v2, -h * v1 * v1])
    assert (given.velocity_efforts - coriolis).expand() == sympy.zeros(2, 1)
    # angles from hanging: sines instead of the book's cosines from level
    second = m2 * r2 * g * sympy.sin(q1 + q2)
    weight = sympy.Matrix([(m1 * r1 + m2 * l1) * g * sympy.sin(q1) + second, second])
    assert (given.gravity_efforts - weight).expand() == sympy.zeros(2, 1)
    printed = sympy.latex(given.mass_matrix[1, 0])
    expected = r"I_{2} + l_{1} m_{2} r_{2} \cos{\left(q_{2} \right)} + m_{2} r_{2}^{2}"
    assert printed == expected


def test_latex_of_few_joints_has_names_and_of_many_numbers(tmp_path: Path) -> None:
    """Both are complete documents."""
    small, large = tmp_path / "small.tex", tmp_path / "large.tex"
    assert linkwork("derive", "mechanisms/pendulum", "--to", "latex", "--out", small).code == 0
    text = small.read_text()
    assert r"2 l_{1} m_{2} r_{2} \cos{\left(q_{2} \right)}" in text
    assert r"g m_{2} r_{2} \cos{\left(q_{1} + q_{2} \right)}" in text
    assert linkwork("derive", "kuka/arm", "--to", "latex", "--out", large).code == 0
    text = large.read_text()
    assert r"M_{7,7} &= " in text
    assert r"c_{1} &= " in text
    for each in (small, large):
        whole = each.read_text()
        assert whole.count("{") == whole.count("}")
        assert whole.count(r"\begin{") == whole.count(r"\end{")
    assert latex_line("t3 = 1.5e-05*sin(q[0])*v[11]") == (
        r"t_{3} = 1.5 \cdot 10^{-5} \, \sin(q_{1}) \, \dot q_{12}"
    )


def test_without_sympy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(lagrange, "import_module", missing)
    with pytest.raises(LinkworkError, match="SymPy") as caught:
        LagrangeEquations(pendulum())
    assert "linkwork[symbolic]" in str(caught.value)
