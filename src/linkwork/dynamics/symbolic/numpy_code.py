"""Export of a robot's dynamics as one Python file that needs only numpy."""

from __future__ import annotations

import textwrap

from linkwork.dynamics.symbolic.c_code import GeneratedFunction, functions
from linkwork.dynamics.symbolic.model import SymbolicModel
from linkwork.dynamics.symbolic.printer import CodeStyle, statements

_PYTHON = CodeStyle(
    assign="    {name} = {value}", store="    {name} = {value}", sine="np.sin", cosine="np.cos"
)


def source(model: SymbolicModel) -> str:
    """Returns the file: one function each, over one state or arrays of states."""
    world = model.world
    gravity = ", ".join(f"{g:g}" for g in model.gravity)
    dofs = "\n".join(f"    {n:3d}  {world.dof_name(n)}" for n in range(world.nv))
    bodies = "\n".join(f"    {n:3d}  {name}" for n, name in enumerate(world.body_names))
    made = [
        f'"""Kinematics and dynamics of {world.scene.name}, derived by Linkwork.',
        "",
        "Every function takes one state, or arrays of states along the leading axes. All in SI",
        f"units and radians; gravity is ({gravity}) m/s². Rotor inertia of the joints is in it;",
        "damping, friction, springs and loops are not.",
        "",
        "Degrees of freedom, in the order of v, a and effort:",
        dofs,
        "",
        "Bodies, in the order of poses:",
        bodies,
        '"""',
        "",
        "import numpy as np",
        "",
    ]
    for function in functions(model):
        made += ["", *_body(function, model), ""]
    return "\n".join(made)


def _body(function: GeneratedFunction, model: SymbolicModel) -> list[str]:
    nb, nv = model.world.nb, model.world.nv
    shape = {"poses": (nb, 12), "mass_matrix": (nv, nv)}.get(function.name, (nv,))
    given, output = ", ".join(function.inputs), function.output[0]
    made = [f"def {function.name}({given}):", f'    """{function.about}"""']
    made += [
        f"    {each} = np.moveaxis(np.asarray({each}, float), -1, 0)" for each in function.inputs
    ]
    made += [f"    {output} = np.empty(({len(function.values)}, *q.shape[1:]))"]
    outputs = [(f"{output}[{n}]", value) for n, value in enumerate(function.values)]
    for line in statements(outputs, _PYTHON):
        made += _wrapped(line)
    tail = f"np.moveaxis({output}, 0, -1)"
    if len(shape) == 2:
        tail += f".reshape(*q.shape[1:], {shape[0]}, {shape[1]})"
    return [*made, f"    return {tail}"]


def _wrapped(line: str) -> list[str]:
    """Returns a line, in brackets over several lines if it is long."""
    if len(line) <= 100:
        return [line]
    name, _, value = line.partition(" = ")
    rows = textwrap.wrap(value, 88, break_long_words=False, break_on_hyphens=False)
    return [f"{name} = (", *(f"        {row}" for row in rows), "    )"]
