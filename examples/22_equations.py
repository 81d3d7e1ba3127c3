"""Equations of motion: a textbook's for a pendulum, compiled code for a biped, and its swing.

    python examples/22_equations.py

The double pendulum's mass matrix is derived by Lagrange (it needs SymPy: pip install
linkwork[symbolic]). BARt-UH II is traced and compiled, and its joint moments along a sine of the
knee are read off; then its legs swing freely with the engine lagrange, and keep their energy.
"""

import math
from dataclasses import replace

import numpy as np

import linkwork as lw
from linkwork.dynamics.symbolic import CompiledDynamics, SymbolicModel, count_operations
from linkwork.dynamics.symbolic.lagrange import LagrangeEquations


def textbook() -> None:
    """M(q) of the double pendulum, with names for masses and lengths."""
    part = lw.load_part("mechanisms/pendulum")
    world = lw.compile_scene(lw.Scene("pendulum").place(part, name="pendulum"))
    mass = LagrangeEquations(world, named=True).mass_matrix
    print("Double pendulum: M22 =", mass[1, 1], "and M12 =", mass[0, 1])


def moments() -> None:
    """What hip, knee and ankle must give while the right knee swings."""
    part = lw.load_part("bart_uh/biped")
    world = lw.compile_scene(lw.Scene("bart").place(part, name="robot"))
    model = SymbolicModel(world)
    code = CompiledDynamics(model, "bart")
    print(f"BARt-UH II: {sum(count_operations(model.inverse_dynamics).values())} operations")
    knee = world.single_dof("robot/right_knee")
    q, v, a = np.zeros((3, world.nv))
    for t in (0.0, 0.125, 0.25):
        wave = 2.0 * math.pi * t
        q[knee], v[knee], a[knee] = math.sin(wave), 2 * math.pi * math.cos(wave), 0.0
        a[knee] = -4.0 * math.pi**2 * math.sin(wave)
        efforts = code.inverse_dynamics(q, v, a)
        hip, ankle = (world.single_dof(f"robot/right_{name}") for name in ("hip_x", "ankle_x"))
        shown = [f"{efforts[dof]:+7.2f}" for dof in (hip, knee, ankle)]
        print(f"t = {t:.3f} s: hip {shown[0]}, knee {shown[1]}, ankle {shown[2]} N m")


def swing() -> None:
    """Legs without drives, let go with one knee bent."""
    part = lw.load_part("bart_uh/biped")
    for name, joint in part.joints.items():
        part.joints[name] = replace(joint, drive=None, range=None)
    scene = lw.Scene("swing", step=0.002).place(part, name="robot").engine("lagrange")
    scene.postures["bent"] = {"robot/right_hip_x": 0.5, "robot/right_knee": -0.6}
    scene.start = "bent"
    with lw.Session(scene, watch=False) as session:
        session.step()
        first = session["world.kinetic_energy"] + session["world.potential_energy"]
        session.run(5.0)
        last = session["world.kinetic_energy"] + session["world.potential_energy"]
        print(f"Energy lost in 5 s: {abs(last / first - 1.0):.0e} of it")


if __name__ == "__main__":
    textbook()
    moments()
    swing()
