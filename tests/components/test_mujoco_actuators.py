"""Actuators that MuJoCo computes: every transmission, law and meter, faults, gains, replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco as compiled_mujoco
import numpy as np
import pytest

import linkwork as lw
from linkwork.core.errors import LinkworkError
from linkwork.formats import load_scene
from linkwork.formats.robots.mjcf import MjcfFormat
from linkwork.model.world import compile_scene
from linkwork.session.cycle import Cycle
from linkwork.session.mujoco_comparison import MujocoComparison
from linkwork.session.transfer import transfer

mujoco: Any = compiled_mujoco

ARM = """<worldbody><body name="a" pos="0 0 1"><joint name="h" axis="0 1 0" damping="0.1"/>
  <geom name="g" type="capsule" size="0.03" fromto="0 0 0 0.4 0 0" mass="1"/><site name="s"
  pos="0.4 0 0"/><body name="b" pos="0.4 0 0"><joint name="k" axis="0 1 0" damping="0.05"/>
  <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="0.5"/><site name="t"
  pos="0.3 0 0"/></body></body>
  <body name="post" pos="0 0.2 1.3"><geom name="post" size="0.02"/><site name="p"/></body>
  <body name="ball" pos="1 0 1"><joint name="ball" type="ball"/><geom size="0.1"/></body>
  <body name="drone" pos="2 0 1"><freejoint name="free"/><geom type="box" size="0.1 0.1 0.02"
  mass="1"/><site name="rotor"/></body></worldbody>"""


def written(folder: Path, body: str, option: str = "") -> Path:
    path = folder / "model.xml"
    path.write_text(f"<mujoco model='m'><option {option}/>{body}</mujoco>")
    return path


LAWS = {
    "position": '<position joint="h" kp="200" kv="20"/>',
    "velocity": '<velocity joint="h" kv="5"/>',
    "motor": '<motor joint="h" gear="3" ctrlrange="-1 1" forcerange="-2 2"/>',
    "damper": '<damper joint="h" kv="4" ctrlrange="0 1"/>',
    "general": '<general joint="h" gainprm="2" biastype="affine" biasprm="0.1 -3 -0.2"/>',
    "filter": '<general joint="h" dyntype="filter" dynprm="0.1" gainprm="3"/>',
    "integrator": '<intvelocity joint="h" kp="50" actrange="-1 1"/>',
    "cylinder": '<cylinder joint="h" timeconst="0.2" area="2"/>',
    "muscle": '<muscle joint="h" lengthrange="-1 1"/>',
    "dcmotor": '<dcmotor joint="h" motorconst="0.05" resistance="2"/>',
    "two on one joint": '<position joint="h" kp="50"/><motor joint="h"/>',
    "site": '<general site="rotor" gear="0 0 12 0 0 0.1"/>',
    "site in site": '<general site="t" refsite="p" gear="1 0 0 0 0 0"/>',
    "ball": '<motor joint="ball" gear="0.1 0.2 0.3"/>',
    "in parent": '<motor jointinparent="ball" gear="0.1 0.2 0.3"/>',
    "free": '<motor joint="free" gear="0 0 10 0 0 1"/>',
    "crank": '<general cranksite="t" slidersite="p" cranklength="1.2"/>',
    "armature": '<motor joint="h" armature="0.2" damping="0.3"/>',
    "group": '<motor joint="h" group="2"/>',
}  # fmt: skip


@pytest.mark.capability(33)
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "discrete", "RK4"])
@pytest.mark.parametrize("kind", LAWS)
def test_an_actuator_of_any_kind_moves_as_in_mujoco(
    kind: str, integrator: str, tmp_path: Path
) -> None:
    """Whatever acts on whatever, with every integrator, to 1e-9 over half a second."""
    path = written(
        tmp_path, f"{ARM}<actuator>{LAWS[kind]}</actuator>", f'integrator="{integrator}"'
    )
    comparison = MujocoComparison(path)
    assert [note for note in comparison.notes if "left out" in note] == []
    for run in comparison.run(0.5, 1):
        assert not run.failed
        assert run.difference <= max(1e-9, run.disturbed)
        assert run.other_contacts == 0


@pytest.mark.parametrize("wraps", ['<site site="p"/><geom geom="g"/><site site="t"/>',
                                   '<site site="p"/><geom geom="post" sidesite="s"/>'
                                   '<site site="t"/>',
                                   '<site site="p"/><site site="s"/><pulley divisor="2"/>'
                                   '<site site="p"/><site site="t"/>'])  # fmt: skip
def test_a_muscle_pulls_a_tendon_around_geoms_and_pulleys(wraps: str, tmp_path: Path) -> None:
    """Spatial tendons wrap as in MuJoCo, and write themselves again."""
    body = f"""{ARM}<tendon><spatial name="c" stiffness="30" range="0.1 2">{wraps}</spatial>
      </tendon><actuator><muscle tendon="c" lengthrange="0.2 1.2"/></actuator>"""
    body = body.replace('type="capsule" size="0.03" fromto="0 0 0 0.4 0 0"', 'size="0.03"')
    path = written(tmp_path, body)
    for run in MujocoComparison(path).run(0.3, 1):
        assert run.difference <= max(1e-9, run.disturbed)
    MjcfFormat().write(MjcfFormat().read(path), tmp_path / "again.xml")
    for run in MujocoComparison(tmp_path / "again.xml").run(0.1, 1):
        assert run.agrees
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "again.xml"))
    assert (m.ntendon, m.nu, m.nwrap) == (1, 1, wraps.count("<"))


def test_adhesion_holds_a_box_under_a_ceiling(tmp_path: Path) -> None:
    """A body transmission presses its contacts together; without control the box falls."""
    body = """<worldbody><geom type="box" size="1 1 0.05" pos="0 0 1.05" margin="0.002"/>
      <body name="cup" pos="0 0 0.949"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"
      margin="0.002"/></body></worldbody><actuator><adhesion name="suck" body="cup"
      ctrlrange="0 1" gain="40"/></actuator>"""
    path = written(tmp_path, body)
    heights = []
    for control in (1.0, 0.0):
        with lw.Session(load_scene(path)) as session:
            session["suck.control"] = control
            session.run(0.5)
            heights.append(float(session.state.q[2]))
    assert heights[0] > 0.94
    assert heights[1] < 0.0


def test_a_quadrotor_flies(tmp_path: Path) -> None:
    """Four thrusts at sites hold it in the air, and turn it about the vertical."""
    sites = "".join(
        f'<site name="r{n}" pos="{x} {y} 0"/>'
        for n, (x, y) in enumerate([(0.1, 0.1), (-0.1, 0.1), (-0.1, -0.1), (0.1, -0.1)])
    )
    drives = "".join(
        f'<general name="r{n}" site="r{n}" gear="0 0 1 0 0 {(-1) ** n * 0.02}"/>' for n in range(4)
    )
    path = written(tmp_path, f"""<worldbody><body name="x" pos="0 0 1"><freejoint/><geom
      type="box" size="0.1 0.1 0.02" mass="0.4"/>{sites}</body></worldbody>
      <actuator>{drives}</actuator>""")  # fmt: skip
    with lw.Session(load_scene(path)) as session:
        for n in range(4):
            session[f"r{n}.control"] = 0.4 * 9.81 / 4.0 * (1.2 if n % 2 == 0 else 0.8)
        session.run(1.0)
        assert session.state.q[2] == pytest.approx(1.0, abs=1e-6)
        assert session.state.v[5] > 0.1


def servo(folder: Path) -> lw.Session:
    """Returns an arm with a position servo of MuJoCo on its first joint."""
    return lw.Session(load_scene(written(folder, f"""{ARM}<actuator><position name="hold"
      joint="h" kp="200" kv="20" forcerange="-30 30"/></actuator>""")))  # fmt: skip


def test_a_position_actuator_is_the_joints_servo(tmp_path: Path) -> None:
    """The joint has a target, its drive force, power and work; the arm goes there."""
    with servo(tmp_path) as session:
        session["m/h.target"] = -0.4
        session.run(3.0)
        assert session["m/h.angle"] == pytest.approx(-0.4, abs=0.05)
        held = 200.0 * (-0.4 - session["m/h.angle"])
        assert session["hold.force"] == pytest.approx(held, abs=1e-3)
        assert session["m/h.effort"] == pytest.approx(held, abs=1e-2)
        assert session["hold.power"] == pytest.approx(0.0, abs=1e-3)
        assert abs(session["hold.energy"]) > 0.1


def test_gains_change_while_running(tmp_path: Path) -> None:
    """A softer servo sags more: by the weight's torque over its stiffness."""
    with servo(tmp_path) as session:
        session.run(4.0)
        stiff = session["m/h.angle"]
        session["m/h.kp"] = 50.0
        session.run(4.0)
        assert session["hold.force"] == pytest.approx(-50.0 * session["m/h.angle"], abs=1e-2)
        assert session["m/h.angle"] > 2.5 * stiff > 0.0


@pytest.mark.parametrize("integrator", ["implicitfast", "implicit", "discrete", "Euler"])
@pytest.mark.parametrize("law", [
    '<position name="x" joint="h" kp="200" kv="20"/>',
    '<position name="x" joint="h" kp="1000" kv="30"/>',
    '<position name="x" joint="h" kp="5000" kv="50"/>',
    '<position name="x" joint="h" kp="5000" kv="50" forcerange="-900 900"/>',
    '<general name="x" joint="h" dyntype="filter" dynprm="0.01" actearly="true" gaintype="affine" '
    'gainprm="100 20 -30" biastype="affine" biasprm="1 -3000 -20"/>',
    '<general name="x" joint="h" dyntype="filter" dynprm="0.01" gaintype="affine" '
    'gainprm="100 20 -30" biastype="affine" biasprm="1 -3000 -20" ctrlrange="0 0.3"/>',
])  # fmt: skip
@pytest.mark.parametrize("limit", ["", 'actuatorfrcrange="-800 800"'])
def test_the_meter_agrees_with_the_kinetic_energy(
    law: str, integrator: str, limit: str, tmp_path: Path
) -> None:
    """Without gravity and damping all work of a stiff drive is kinetic energy, to 1e-3."""
    path = written(tmp_path, f"""<worldbody><body><joint name="h" type="slide" {limit}/><geom
      size="0.1" mass="1"/></body></worldbody><actuator>{law}</actuator>""",
      f'gravity="0 0 0" integrator="{integrator}" timestep="0.002"')  # fmt: skip
    with lw.Session(load_scene(path)) as session:
        known = [s for s in ("x.control", "m/h.target") if s in session.cycle.signals]
        session[known[-1]] = 0.3
        most = 0.0
        for _ in range(40):
            before = float(session.state.v[0])
            session.run(0.002)
            kinetic = session.state.v[0] ** 2 / 2.0
            most = max(most, kinetic)
            assert session["x.energy"] == pytest.approx(kinetic, abs=1e-3 * most + 1e-9)
            acted = (session.state.v[0] - before) / 0.002
            assert session["m/h.effort"] == pytest.approx(acted, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("limit", ["", 'actuatorfrcrange="-60 60"'])
def test_the_meter_of_stages_estimates_the_work(limit: str, tmp_path: Path) -> None:
    """RK4 tells only the force of its last stage: the work is right to some percent."""
    path = written(tmp_path, f"""<worldbody><body><joint name="h" type="slide" {limit}/><geom
      size="0.1" mass="1"/></body></worldbody><actuator><position name="x" joint="h" kp="200"
      kv="20"/></actuator>""", 'gravity="0 0 0" integrator="RK4" timestep="0.001"')  # fmt: skip
    with lw.Session(load_scene(path)) as session:
        session["m/h.target"] = 0.5
        session.run(0.05)
        kinetic = float(session.state.v[0]) ** 2 / 2.0
        assert session["x.energy"] == pytest.approx(kinetic, rel=0.03)


def test_a_dead_drive_is_torque_free(tmp_path: Path) -> None:
    """With the fault the arm falls as without an actuator, afterwards the servo lifts it again."""
    bare, driven = load_scene(written(tmp_path, ARM)), servo(tmp_path).cycle.world.scene
    driven.fault("broken", "dead", joint="m/h", at=0.0, lasts=0.5)
    with lw.Session(driven) as session, lw.Session(bare) as free:
        for each in (session, free):
            each.run(0.5)
        np.testing.assert_allclose(session.state.q, free.state.q, atol=1e-9)
        session.run(4.0)
        assert abs(session["m/h.angle"]) < 0.1


def test_a_run_with_native_actuators_replays_bit_for_bit(tmp_path: Path) -> None:
    """Controls, activations and forces are in the state: two runs and a restored one agree."""
    path = written(tmp_path, f"{ARM}<actuator>{LAWS['filter']}{LAWS['site']}</actuator>")

    def run() -> np.ndarray:
        with lw.Session(load_scene(path)) as session:
            session["actuator0.control"] = 0.7
            session.run(0.2)
            kept = session.state.save()
            session.run(0.2)
            first = session.state.data.copy()
            session.restore_state(kept)
            session.run(0.2)
            np.testing.assert_array_equal(session.state.data, first)
            return first

    np.testing.assert_array_equal(run(), run())


def test_other_engines_say_what_they_do_not_have(tmp_path: Path) -> None:
    """A thrust at a site has no effect with impulse, which is found before the run."""
    scene = load_scene(written(tmp_path, f"{ARM}<actuator>{LAWS['site']}</actuator>"))
    scene.engines[0] = lw.Spec("engine", "impulse", "", {}, scene.engines[0].origin)
    with lw.Session(scene) as session:
        assert any(
            "only the Mujoco engine has this actuator" in f.text for f in session.cycle.findings
        )


def test_wrong_transmissions_are_refused(tmp_path: Path) -> None:
    """An actuator acts on one thing; an unknown tendon is named with those that exist."""
    scene = load_scene(written(tmp_path, ARM))
    for params, word in (({"joint": "m/h", "body": "m/b"}, "exactly one"), ({}, "exactly one"),
                         ({"tendon": "t"}, "tendon"), ({"site": "m/none"}, "none")):  # fmt: skip
        scene.actuators[:] = [lw.Spec("actuator", "mujoco", "x", params, scene.origin)]
        with pytest.raises(LinkworkError, match=word):
            lw.Session(scene)


def test_controls_of_keyframes_start_the_actuators(tmp_path: Path) -> None:
    """A scene that starts at a keyframe has its controls and activations, after TOML too."""
    laws = LAWS["position"] + LAWS["filter"].replace("h", "k", 1)
    path = written(tmp_path, f"""{ARM}<actuator>{laws}</actuator>
      <keyframe><key name="up" ctrl="0.3 0.5" act="0.2"/></keyframe>""")  # fmt: skip
    scene = load_scene(path)
    scene.start = "up"
    with lw.Session(scene) as session:
        assert session["actuator0.control"] == 0.3
        assert session["m/h.kp"] == 200.0
        assert (session["actuator1.control"], session["actuator1.activation"]) == (0.5, 0.2)


def muscle_arm(folder: Path, force: float, second: str = "") -> Cycle:
    """Returns an arm with a muscle of a maximum force on its first joint."""
    muscle = f'<muscle name="pull" joint="h" lengthrange="-1 1" force="{force}"/>'
    path = written(folder, f"{ARM}<actuator>{muscle}{second}</actuator>")
    return Cycle(compile_scene(load_scene(path)))


def law_of(cycle: Cycle, name: str) -> np.ndarray:
    """Returns gain parameters that MuJoCo uses."""
    engine: Any = cycle.engines[0]
    return engine._mj.actuator(f"{name}#mujoco").gainprm


def test_an_edit_of_a_law_acts_and_keeps_the_activation(tmp_path: Path) -> None:
    """A stronger muscle is stronger at once, as contracted as before; live gains are kept."""
    second = '<damper name="brake" joint="k" kv="4" ctrlrange="0 1"/>'
    lift = '<motor name="lift" joint="free" gear="0 0 10 0 0 1"/>'
    old = muscle_arm(tmp_path, 10.0, second + lift)
    old.signals.set("pull.control", 0.8, "user")
    old.signals.set("lift.gain", 3.0, "user")
    for _ in range(50):
        old.move()
    contracted = old.signals.value("pull.activation")
    assert contracted > 0.1
    new = muscle_arm(tmp_path, 99.0, second.replace('"4"', '"7"') + lift)
    transfer(old, new)
    assert law_of(new, "pull")[2] == 99.0
    assert law_of(new, "lift")[0] == 3.0
    assert new.signals.value("pull.activation") == contracted
    for _ in range(10):
        new.move()
    assert new.signals.value("pull.activation") > contracted
    assert new.signals.value("brake.control") == 0.0


def test_the_activation_without_dynamics_is_the_control_within_its_range(tmp_path: Path) -> None:
    """The same signal has the same value with every engine."""
    laws = '<motor name="push" joint="h" ctrlrange="-1 0.5"/>'
    found = []
    for engine in ("mujoco", "impulse"):
        scene = load_scene(written(tmp_path, f"{ARM}<actuator>{laws}</actuator>"))
        if engine == "impulse":
            scene.engines[0] = lw.Spec("engine", engine, "", {}, scene.engines[0].origin)
        with lw.Session(scene) as session:
            address = session.cycle.signals["push.control"].address
            session.state.data[address] = 0.8  # as a replayed run may have it
            session.run(0.01)
            found.append(session["push.activation"])
    assert found == [0.5, 0.5]


@pytest.mark.parametrize("joint", ["m/h", "m/hip"])
@pytest.mark.parametrize("kind", ["fixed", "affine"])
def test_a_gain_that_is_not_given_is_1(kind: str, joint: str, tmp_path: Path) -> None:
    """As MuJoCo's own default, for affine gains too; a joint may be called by its old name."""
    scene = load_scene(written(tmp_path, ARM))
    (placed,) = scene.parts.values()
    placed.part.aliases["hip"] = "h"
    params = {"joint": joint, "gain_type": kind}
    scene.actuators.append(lw.Spec("actuator", "mujoco", "x", params, scene.origin))
    with lw.Session(scene) as session:
        session["x.control"] = 0.7
        session.run(0.01)
        assert session["x.force"] == pytest.approx(0.7)


PAIR = """<tendon><fixed name="pair"><joint joint="h" coef="1"/><joint joint="k" coef="-2"/></fixed>
  </tendon>"""
MUSCLE = '<muscle joint="h" lengthrange="-1 1"/>'


@pytest.mark.parametrize("laws", [
    '<position joint="h" kp="50" kv="3"/>' + MUSCLE,
    MUSCLE + '<position joint="h" kp="50" kv="3"/>',
    '<motor tendon="pair" gear="2"/>' + MUSCLE + '<muscle joint="k" lengthrange="-2 2"/>',
    MUSCLE + '<position tendon="pair" kp="20"/>' + '<motor joint="k" ctrlrange="-1 1"/>',
])  # fmt: skip
def test_affine_actuators_and_muscles_share_a_joint(laws: str, tmp_path: Path) -> None:
    """Each does what it does in MuJoCo, whichever comes first."""
    path = written(tmp_path, f"{ARM}{PAIR}<actuator>{laws}</actuator>")
    comparison = MujocoComparison(path)
    assert [note for note in comparison.notes if "left out" in note] == []
    for run in comparison.run(0.3, 1):
        assert not run.failed
        assert run.difference <= max(1e-9, run.disturbed)


def test_muscles_leave_a_joint_to_the_drives_of_other_engines(tmp_path: Path) -> None:
    """A muscle has no effect with impulse; the servo of its joint holds it nevertheless."""
    laws = '<position joint="h" kp="500" kv="30"/>' + MUSCLE
    scene = load_scene(written(tmp_path, f"{ARM}<actuator>{laws}</actuator>"))
    scene.engines[0] = lw.Spec("engine", "impulse", "", {}, scene.engines[0].origin)
    with lw.Session(scene) as session:
        session["m/h.target"] = -0.3
        session.run(2.0)
        assert session["m/h.angle"] == pytest.approx(-0.3, abs=0.05)


def test_a_servo_of_ours_and_a_muscle_do_not_share_a_joint(tmp_path: Path) -> None:
    """Only efforts that the engine computes add up."""
    scene = load_scene(written(tmp_path, f"{ARM}<actuator>{MUSCLE}</actuator>"))
    scene.actuators.append(lw.Spec("actuator", "servo", "s", {"joint": "m/h"}, scene.origin))
    with pytest.raises(LinkworkError, match="two actuators"):
        lw.Session(scene)


def test_a_drive_across_engines_acts_on_joints_with_another_one(tmp_path: Path) -> None:
    """All efforts on a joint add up, also where one drive acts on joints of two engines."""
    other = '<body name="c" pos="0 3 1"><joint name="x" axis="0 1 0"/><geom size="0.1" mass="1"/>'
    body = ARM.replace("</worldbody>", f"{other}</body></worldbody>")
    body += '<actuator><motor name="own" joint="k"/></actuator>'
    scene = load_scene(written(tmp_path, body, 'gravity="0 0 0"'))
    joints = {"m/k": 1.0, "m/x": -2.0}
    scene.actuators.append(lw.Spec("actuator", "general", "both", {"joints": joints}, scene.origin))
    scene.engines.append(lw.Spec("engine", "mujoco", "", {"owns": ["m/c"]}, scene.origin))
    with lw.Session(scene) as session:
        session["own.control"], session["both.control"] = 0.5, 0.25
        session.run(float(session.cycle.h))
        assert session["both.force"] == 0.25
        assert session["m/k.effort"] == pytest.approx(0.75, abs=0.02)  # with damping
        assert session["m/x.effort"] == pytest.approx(-0.5, abs=1e-3)


def test_a_drive_of_several_joints_that_are_dead_does_no_work(tmp_path: Path) -> None:
    """Neither force nor work while all are dead; with one dead, it works on the other."""
    laws = '<motor name="pull" tendon="pair" gear="2"/>'
    scene = load_scene(written(tmp_path, f"{ARM}{PAIR}<actuator>{laws}</actuator>"))
    scene.fault("one", "dead", joint="m/h", at=0.0, lasts=0.2)
    scene.fault("other", "dead", joint="m/k", at=0.0, lasts=0.1)
    with lw.Session(scene) as session:
        session["pull.control"] = 0.3
        session.run(0.1)
        assert session["pull.force"] == session["pull.energy"] == session["pull.power"] == 0.0
        session.run(0.05)
        assert session["pull.force"] != 0.0
        speed = session.state.v[session.world.single_dof("m/k")]
        gear = [w for name, w in scene.actuators[0].params["joints"].items() if "k" in name]
        power = session["pull.force"] * gear[0] * float(speed)
        assert session["pull.power"] == pytest.approx(power, rel=0.05)


def test_each_of_several_activations_starts_at_its_own_value(tmp_path: Path) -> None:
    """A motor's current and bristle start as the keyframe has them, after writing again too."""
    motor = """<dcmotor name="m2" joint="h" motorconst="0.05" resistance="2"
      inductance="0.01 0.01" lugre="1 1 1 1 1"/>"""
    laws = f"{LAWS['filter'].replace('h', 'k', 1)}{motor}"
    path = written(tmp_path, f"""{ARM}<actuator>{laws}</actuator>
      <keyframe><key name="up" ctrl="0.3 0.5" act="0.2 0.7 -0.4"/></keyframe>""")  # fmt: skip
    scene = load_scene(path)
    MjcfFormat().write(scene, tmp_path / "again.xml")
    for each in (scene, load_scene(tmp_path / "again.xml")):
        each.start = "up"
        with lw.Session(each) as session:
            names = ("actuator0.activation", "m2.activation0", "m2.activation1")
            assert [session[name] for name in names] == [0.2, 0.7, -0.4]
    for run in MujocoComparison(path).run(0.05, 1):
        assert not run.failed
        assert run.difference <= max(1e-9, run.disturbed)
    scene.actuators[1].params["start_activation"] = {"up": [1.0]}
    with pytest.raises(LinkworkError, match="2 activations"):
        lw.Session(scene)
