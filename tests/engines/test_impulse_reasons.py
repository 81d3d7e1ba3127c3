"""Error messages of the impulse engine; the anytime solver never gains energy."""

from pathlib import Path

import pytest

import linkwork as lw
from linkwork.core.errors import EngineError, LinkworkError
from linkwork.geometry import Pose
from linkwork.model.parts import Joint, Part
from linkwork.session.session import Session
from mechanisms import bar, centers, four_bar, ground, scene_of


def hung(load: float) -> Part:
    """Returns light bars that hold a heavy one."""
    part, before = Part("hung").add(ground()), "ground"
    for n in range(6):
        part.add(bar(f"bar{n}", 0.1, load if n == 5 else 1e-3))
        at = Pose.of((0.1 if n else 0.0, 0, 0))
        part.add(Joint(f"J{n}", "hinge", before, f"bar{n}", at=at, axis=(0, 1, 0), value=0.2))
        before = f"bar{n}"
    return part


@pytest.mark.parametrize(("load", "step"), [(10.0, 1e-3), (0.1, 0.2)])
def test_joint_by_joint_no_energy_is_gained(load: float, step: float) -> None:
    """Joints open under heavy loads or long steps, but bodies gain no energy."""
    with Session(scene_of(hung(load), step=step, solver="anytime", max_iterations=5)) as session:
        weight = session.world.mass[2:] * -session.world.scene.gravity[2]
        first = float(weight @ centers(session)[1:, 2])  # it starts at rest
        for _ in range(100):
            session.step()
            assert session.state.report.energy.sum() <= first + 1e-6 * load


def test_a_gap_below_rounding_is_refused() -> None:
    with pytest.raises(LinkworkError, match="gap"):
        Session(scene_of(four_bar(), gap=1e-18))


def test_a_loop_that_cannot_be_closed_is_told_where_it_was_said(tmp_path: Path) -> None:
    """The message has the loop's origin, and the unit of its gap."""
    path = tmp_path / "turned.toml"
    lw.save(scene_of(four_bar(turned=0.3)), path)
    with pytest.raises(EngineError, match=r"stays open by [\d.e-]+ (m|rad), in a loop") as caught:
        Session(lw.load_scene(path))
    origin = caught.value.origin
    assert origin is not None
    assert "four_bar" in str(origin)


def test_prescribed_joints_that_contradict_each_other_are_named() -> None:
    """Crank and rocker of a four-bar cannot both be prescribed."""
    part = four_bar()
    with Session(scene_of(part, prescribed=["four_bar/A", "four_bar/D"])) as session:
        session["four_bar/A.target"] = 2.0
        with pytest.raises(EngineError) as caught:
            session.step(50)
    assert "four_bar/A" in str(caught.value.hint)
    assert "are prescribed" in str(caught.value.hint)
