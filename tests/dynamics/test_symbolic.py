"""Traced models: the numbers of the recursive kernels, as expressions, C and Python."""

import shutil
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numba
import numpy as np
import pytest

from command_line import linkwork
from linkwork.core.errors import LinkworkError
from linkwork.dynamics import aba, bias, crba, drift, rnea
from linkwork.dynamics.symbolic import (
    CompiledDynamics,
    ExpressionGraph,
    SymbolicModel,
    c_code,
    count_operations,
    evaluate,
)
from linkwork.dynamics.symbolic import compiled as compiling
from linkwork.dynamics.symbolic.expression import dependencies_of
from linkwork.dynamics.symbolic.printer import text
from linkwork.kinematics import forward, jacobian
from linkwork.model.parts import Box, Element, Joint, Part, RailPiece
from linkwork.model.scene import Scene
from linkwork.model.world import World, compile_scene
from symbolic_robots import chain, state

KINDS = ["hinge", "slider", "ball", "universal", "cylindrical", "screw", "planar"]


def assert_same(made: np.ndarray, expected: np.ndarray, within: float = 1e-12) -> None:
    """Asserts equality relative to the largest number."""
    scale = max(1.0, float(np.max(np.abs(expected))))
    np.testing.assert_allclose(made, expected, rtol=0.0, atol=within * scale)


def test_known_things_leave_no_trace() -> None:
    """Numbers fold, zeros and ones vanish, equal expressions are shared, signs combine."""
    graph = ExpressionGraph()
    x, y = graph.input("x"), graph.input("y")
    assert (x * 0.0 + y * 1.0) is y
    assert (x - x).is_zero
    assert (x * y) is (y * x)
    assert (x + y) is (y + x)
    minus = -x
    assert -minus is x
    assert (x - -y) is (x + y)
    assert ((-x) * (-y)) is (x * y)
    assert (2.0 * (3.0 * x)) is (6.0 * x)
    assert (y - x) is -(x - y)
    assert (graph.number(2.0) + 3.0).value == 5.0
    assert text((x + y) * (x - 2.0) / (x * -y)) == "-(x + y)*(x - 2.0)/(x*y)"
    assert evaluate([(x + y) / y, graph.sine(x)], {"x": 1.0, "y": 2.0}) == pytest.approx(
        [1.5, np.sin(1.0)]
    )


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("askew", [True, False])
def test_expressions_are_the_kernels(base: str, askew: bool) -> None:
    """M, c, efforts and accelerations of every joint type, skew and aligned, to rounding."""
    world = chain(KINDS, base=base, askew=askew)
    model = SymbolicModel(world)
    for seed in range(3):
        q, v, a = state(world, seed)
        mass = [each for row in model.mass_matrix for each in row]
        assert_same(model.evaluate(mass, q).reshape(world.nv, world.nv), crba(world, q))
        assert_same(model.evaluate(model.bias, q, v), bias(world, q, v))
        efforts = rnea(world, q, v, a)
        assert_same(model.evaluate(model.inverse_dynamics, q, v, a), efforts)
        assert_same(model.evaluate(model.forward_dynamics, q, v, effort=efforts), a, 1e-10)
        assert_same(model.evaluate(model.gravity_efforts, q), bias(world, q, np.zeros(world.nv)))


@pytest.mark.capability(62, 63)
def test_a_point_has_its_place_velocity_and_acceleration() -> None:
    """Forward kinematics of any point with both derivatives, as expressions."""
    world = chain(KINDS, base="free")
    model = SymbolicModel(world)
    q, v, a = state(world, 4)
    at = (0.1, 0.2, 0.3)
    made = model.point("p/e7", at)
    whole = jacobian(world, q, "p/e7", point=at)
    rates = whole @ a + drift(world, q, v, "p/e7", point=at)
    body, local = world.frame("p/e7")
    pose = forward(world, q)[body]
    turn = model.evaluate([c for row in model.poses[body][1] for c in row], q).reshape(3, 3)
    assert_same(model.evaluate(model.poses[body][0], q), pose[:3])
    assert_same(model.evaluate(made.position, q), pose[:3] + turn @ local.apply(at))
    assert_same(model.evaluate([*made.velocity, *made.angular_velocity], q, v), whole @ v)
    assert_same(model.evaluate([*made.acceleration, *made.angular_acceleration], q, v, a), rates)


def test_dynamics_does_not_know_how_fast_the_whole_flies() -> None:
    """No expression of the dynamics contains the velocity of a free base (Galilei)."""
    model = SymbolicModel(chain(["hinge"], base="free"))
    used = {node.name for node in dependencies_of([*model.forward_dynamics, *model.bias])}
    assert "v[3]" in used
    assert not used & {"v[0]", "v[1]", "v[2]"}


def test_a_rail_is_refused_by_name() -> None:
    """Its law changes between segments; the message names the body and a remedy."""
    part = Part("p").add(Element("a", (Box(size=(1, 1, 1)),), mass=1.0))
    part.add(Element("cart", (Box(size=(1, 1, 1)),), mass=1.0))
    part.add(Joint("j", "rail", "a", "cart", rail=(RailPiece(1.0),)))
    with pytest.raises(LinkworkError, match="'p/cart' is on a rail"):
        SymbolicModel(compile_scene(Scene("s").place(part, name="p")))


@pytest.fixture(scope="module")
def small() -> World:
    return chain(["hinge", "ball"], base="free")


@pytest.mark.capability(68)
@pytest.mark.parametrize("use", ["c", "numba"])
def test_derived_code_computes_what_the_kernels_do(small: World, use: str) -> None:
    """Compiled C, and the fallback without a compiler, have the same methods and numbers."""
    code = CompiledDynamics(SymbolicModel(small), use=use if compiling.compiler() else "numba")
    q, v, a = state(small, 7)
    efforts = rnea(small, q, v, a)
    assert_same(code.mass_matrix(q), crba(small, q))
    assert_same(code.bias(q, v), bias(small, q, v))
    assert_same(code.inverse_dynamics(q, v, a), efforts)
    assert_same(code.forward_dynamics(q, v, efforts), aba(small, q, v, efforts), 1e-11)
    assert_same(code.poses(q)[:, :3], forward(small, q)[:, :3])
    assert_same(code.poses(q), CompiledDynamics(code.model, use="numba").poses(q))
    with pytest.raises(LinkworkError, match="q"):
        code.bias(q[1:], v)


def test_without_a_compiler_kernels_do_it(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing compiler is an error only if C was requested."""
    monkeypatch.setattr(compiling, "compiler", lambda: None)
    assert CompiledDynamics(SymbolicModel(small)).how == "numba"
    with pytest.raises(LinkworkError, match="no C compiler"):
        CompiledDynamics(SymbolicModel(small), use="c")
    with pytest.raises(LinkworkError, match="'fortran'"):
        CompiledDynamics(SymbolicModel(small), use="fortran")


def test_a_refusing_compiler_is_quoted(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message contains the compiler's output."""
    monkeypatch.setattr(compiling, "FLAGS", ("--no-such-flag",))
    if compiling.compiler():
        with pytest.raises(LinkworkError, match="no-such-flag"):
            CompiledDynamics(SymbolicModel(small), use="c")


def test_numba_kernels_call_the_c_functions(small: World) -> None:
    """A compiled loop can step a robot without Python."""
    if compiling.compiler() is None:
        return
    code = CompiledDynamics(SymbolicModel(small))
    function = code.functions["forward_dynamics"]

    @numba.njit
    def call(q: np.ndarray, v: np.ndarray, effort: np.ndarray, a: np.ndarray) -> None:
        function(q.ctypes, v.ctypes, effort.ctypes, a.ctypes)

    q, v, effort = state(small, 9)
    made = np.zeros(small.nv)
    call(q, v, effort, made)
    np.testing.assert_array_equal(made, code.forward_dynamics(q, v, effort))


@pytest.mark.capability(68)
def test_derive_writes_a_c_program_that_runs(tmp_path: Path) -> None:
    """The file compiles without warnings, and its main prints the kernels' numbers."""
    file = tmp_path / "swing.c"
    done = linkwork("derive", "mechanisms/pendulum", "--out", file)
    assert done.code == 0
    assert file.with_suffix(".h").read_text().count("pendulum/elbow") == 1
    assert "exists" in linkwork("derive", "mechanisms/pendulum", "--out", file).err
    gcc = shutil.which("cc")
    if gcc is None:
        assert "no C compiler" in done.out
        return
    assert "checked" in done.out
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-DSWING_MAIN"]
    subprocess.run([gcc, *flags, str(file), "-lm", "-o", str(tmp_path / "swing")], check=True)
    logged = subprocess.run([str(tmp_path / "swing")], capture_output=True, text=True, check=True)
    columns = np.array([line.split()[2::4] for line in logged.stdout.splitlines()], dtype=object)
    from linkwork.formats import load_part

    part = load_part("mechanisms/pendulum")
    world = compile_scene(Scene("pendulum").place(part, name="pendulum"))
    still = np.zeros(2)
    expected = aba(world, world.q0, still, still)
    np.testing.assert_allclose(columns[:, 0].astype(float), expected, rtol=1e-8)


def test_derive_writes_python_over_many_states(tmp_path: Path) -> None:
    """The numpy file does not need Linkwork, and takes arrays of states."""
    file = tmp_path / "arm.py"
    assert linkwork("derive", "mechanisms/pendulum", "--to", "numpy", "--out", file).code == 0
    spec = spec_from_file_location("derived_arm", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert "linkwork" not in file.read_text()
    from linkwork.formats import load_part

    part = load_part("mechanisms/pendulum")
    world = compile_scene(Scene("s").place(part, name="pendulum"))
    rng = np.random.default_rng(1)
    q, v, effort = rng.uniform(-1, 1, (3, 4, 5, 2))
    assert module.mass_matrix(q).shape == (4, 5, 2, 2)
    assert module.poses(q).shape == (4, 5, world.nb, 12)
    assert_same(module.mass_matrix(q)[2, 3], crba(world, q[2, 3]))
    one = aba(world, q[1, 2], v[1, 2], effort[1, 2])
    assert_same(module.forward_dynamics(q, v, effort)[1, 2], one)


def test_derive_says_what_it_cannot_do(tmp_path: Path) -> None:
    """Unknown forms, robots without joints and floating scenes."""
    assert "forms" in linkwork("derive", "kuka/arm", "--to", "fortran").err
    nothing = linkwork("derive", "furniture/book", "--out", tmp_path / "b.c")
    assert "no joint that moves" in nothing.err
    scene = linkwork("derive", "mechanisms/double_pendulum", "--free", "--out", tmp_path / "b.c")
    assert "--free is for parts" in scene.err
    assert "is a folder" in linkwork("derive", "kuka/arm", "--out", tmp_path).err
    assert "end in .c" in linkwork("derive", "kuka/arm", "--out", tmp_path / "arm.py").err
    assert not list(tmp_path.iterdir())
    (tmp_path / "hub.toml").write_text(
        """format = "linkwork/part 1"
name = "hub"
element = [{ name = "post", mass = 1 }, { name = "vane" }]
joint = [{ name = "pin", type = "hinge", from = "post", to = "vane", axis = [0, 0, 1] }]
"""
    )
    massless = linkwork("derive", tmp_path / "hub.toml", "--out", tmp_path / "hub.c")
    assert "'hub/pin' moves nothing that has mass" in massless.err
    assert not (tmp_path / "hub.c").exists()


def test_derive_says_what_is_not_in_the_equations(tmp_path: Path) -> None:
    """Loops, couplings, springs and losses are left out, with notes."""
    done = linkwork("derive", "mechanisms/eye", "--to", "numpy", "--out", tmp_path / "eye")
    assert done.code == 0
    assert "Not in the equations: 3 loops." in done.out
    assert (tmp_path / "eye.py").exists()
    done = linkwork("derive", "mechanisms/pendulum", "--to", "numpy", "--out", tmp_path / "p.py")
    assert "Not in the equations" not in done.out


def test_a_cache_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the folder."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(compiling, "cache_directory", lambda: tmp_path / "file" / "kernels")
    monkeypatch.setattr(compiling, "compiler", lambda: "cc")
    with pytest.raises(LinkworkError, match=r"compiled code cannot be stored in .*file/derived"):
        CompiledDynamics(SymbolicModel(chain(["hinge"])), use="c")


def test_names_become_identifiers() -> None:
    """Any name of a robot becomes a valid C identifier."""
    assert c_code.identifier("BARt-UH II") == "bart_uh_ii"
    assert c_code.identifier("3-leg") == "r3_leg"
    assert c_code.identifier("ß") == "robot"


def test_expressions_are_few() -> None:
    """An aligned chain costs far less than a skew one: zeros and ones are not computed."""
    kinds = ["hinge"] * 4
    straight = count_operations(SymbolicModel(chain(kinds, askew=False)).forward_dynamics)
    askew = count_operations(SymbolicModel(chain(kinds)).forward_dynamics)
    assert sum(straight.values()) < 0.6 * sum(askew.values())


def test_no_name_ends_a_comment_of_the_c_file() -> None:
    """What follows in the file is compiled and runs, so a name stays inside its comment."""
    made = c_code._comment("Dynamics of a*/ int hostile; /*.\nBodies: arm")
    assert made.count("*/") == 1
    assert made.endswith("*/")
