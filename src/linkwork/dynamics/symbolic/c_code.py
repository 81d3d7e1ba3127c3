"""Export of a robot's dynamics as one C file without dependencies, with header and example."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from linkwork.dynamics.symbolic.expression import Expression, count_operations
from linkwork.dynamics.symbolic.model import SymbolicModel
from linkwork.dynamics.symbolic.printer import CodeStyle, statements

_C = CodeStyle(
    assign="    const double {name} = {value};",
    store="    {name} = {value};",
)


@dataclass(frozen=True)
class GeneratedFunction:
    """One function of the file.

    Attributes:
        name: Without the robot's prefix.
        inputs: Input arrays.
        output: Output array, and its size in the header.
        about: Description.
        values: Its outputs in order.
    """

    name: str
    inputs: tuple[str, ...]
    output: tuple[str, str]
    about: str
    values: Sequence[Expression]


#: All functions of a file.
ALL = ("poses", "mass_matrix", "bias", "inverse_dynamics", "forward_dynamics")


def functions(model: SymbolicModel, wanted: Sequence[str] = ALL) -> list[GeneratedFunction]:
    """Returns the functions of a model; only the wanted ones are traced."""
    return [_function(model, name) for name in ALL if name in wanted]


def _function(model: SymbolicModel, name: str) -> GeneratedFunction:
    match name:
        case "poses":
            values = [
                each
                for place, turn in model.poses
                for each in [*place, *(entry for row in turn for entry in row)]
            ]
            about = "Poses of all bodies: origin [m], then the rotation matrix row by row."
            return GeneratedFunction(name, ("q",), ("pose", "NB*12"), about, values)
        case "mass_matrix":
            mass = [each for row in model.mass_matrix for each in row]
            return GeneratedFunction(
                name, ("q",), ("mass", "NV*NV"), "Mass matrix M(q), row by row.", mass
            )
        case "bias":
            about = "Efforts c(q, v) of gravity, centrifugal and Coriolis forces [N m or N]."
            return GeneratedFunction(name, ("q", "v"), ("effort", "NV"), about, model.bias)
        case "inverse_dynamics":
            about = "Efforts M(q) a + c(q, v) that move the joints with the accelerations a."
            values = model.inverse_dynamics
            return GeneratedFunction(name, ("q", "v", "a"), ("effort", "NV"), about, values)
        case _:
            about = "Accelerations M(q)^-1 (effort - c(q, v)) that the efforts cause."
            values = model.forward_dynamics
            return GeneratedFunction(name, ("q", "v", "effort"), ("a", "NV"), about, values)


def identifier(name: str) -> str:
    """Returns a name as a C identifier."""
    made = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower() or "robot"
    return made if not made[0].isdigit() else f"r{made}"


def _signature(name: str, function: GeneratedFunction) -> str:
    size = {"q": f"{name.upper()}_NQ"}
    inputs = [
        f"const double {each}[{size.get(each, f'{name.upper()}_NV')}]" for each in function.inputs
    ]
    length = re.sub(r"N([BV])", rf"{name.upper()}_N\1", function.output[1])
    return (
        f"void {name}_{function.name}({', '.join(inputs)}, double {function.output[0]}[{length}])"
    )


def _order(model: SymbolicModel) -> str:
    """Returns the coordinates and degrees of freedom, by name."""
    world = model.world
    lines = ["Degrees of freedom, in the order of v, a and effort:"]
    lines += [
        f"  {n:3d}  {world.dof_name(n)} [{'rad' if world.dof_is_angle(n) else 'm'}]"
        for n in range(world.nv)
    ]
    if world.nq != world.nv:
        lines += [
            "Coordinates q: one for each, but a ball's three angles are a quaternion w x y z, and",
            "a free body's six are x y z of its origin and a quaternion. Its v are the velocity of",
            "the origin in world axes and the angular velocity in its own.",
        ]
    lines += ["Bodies, in the order of poses:"]
    lines += [f"  {n:3d}  {name}" for n, name in enumerate(world.body_names)]
    return "\n".join(lines)


def _comment(words: str) -> str:
    words = words.replace("*/", "* /")  # no name in it may end the comment
    body = "\n".join(f" * {line}".rstrip() for line in words.splitlines())
    return f"/*\n{body}\n */"


def header(model: SymbolicModel, name: str, wanted: Sequence[str] = ALL) -> str:
    """Returns the header: sizes and functions, documented."""
    big = name.upper()
    gravity = ", ".join(f"{g:g}" for g in model.gravity)
    about = (
        f"Kinematics and dynamics of {model.world.scene.name}, derived by Linkwork.\n"
        "All in SI units and radians. Gravity is "
        f"({gravity}) m/s^2. Rotor inertia of the joints is in it; damping,\n"
        "friction, springs and loops are not.\n\n" + _order(model)
    )
    made = [_comment(about), f"#ifndef {big}_H", f"#define {big}_H", ""]
    sizes = {"NQ": model.world.nq, "NV": model.world.nv, "NB": model.world.nb}
    made += [f"#define {big}_{what} {size}" for what, size in sizes.items()]
    made += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for function in functions(model, wanted):
        line = textwrap.fill(f"{_signature(name, function)};", 100, subsequent_indent="    ")
        made += [f"/* {function.about} */", line, ""]
    made += ["#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(made)


def source(model: SymbolicModel, name: str, wanted: Sequence[str] = ALL) -> str:
    """Returns the C file; with all functions, ``-DNAME_MAIN`` makes it an example program."""
    made = [
        _comment(
            f"Kinematics and dynamics of {model.world.scene.name}, derived by Linkwork.\n"
            f"See {name}.h for the functions and the order of their arguments.\n\n"
            f"    cc -O3 -march=native -c {name}.c\n"
            f"    cc -O3 -march=native -D{name.upper()}_MAIN {name}.c -lm -o {name} && ./{name}"
        ),
        "#include <math.h>", f'#include "{name}.h"', "",
    ]  # fmt: skip
    for function in functions(model, wanted):
        made += [*_body(name, function), ""]
    return "\n".join([*made, _main(model, name)] if {*wanted} >= {*ALL} else made)


def _body(name: str, function: GeneratedFunction) -> list[str]:
    counts = count_operations(function.values)
    cost = ", ".join(f"{n} {what}" for what, n in counts.items() if n)
    lines = statements(
        [(f"{function.output[0]}[{n}]", value) for n, value in enumerate(function.values)], _C
    )
    used = " ".join(lines)
    idle = [each for each in function.inputs if f"{each}[" not in used]
    signature = textwrap.fill(
        _signature(name, function).replace("[", "[restrict "), 100, subsequent_indent="    "
    )
    made = [f"/* {function.about}\n * Operations: {cost or 'none'}. */", signature, "{"]
    made += [f"    (void){each};" for each in idle]
    for line in lines:
        made += textwrap.wrap(
            line, 100, subsequent_indent="        ", break_long_words=False, break_on_hyphens=False
        )
    return [*made, "}"]


def _main(model: SymbolicModel, name: str) -> str:
    big, world = name.upper(), model.world
    start = ", ".join(repr(float(value)) for value in world.q0)
    return f"""\
#ifdef {big}_MAIN
#include <stdio.h>

/* Accelerations at the first posture without efforts, and the efforts that hold it there. */
int main(void)
{{
    const double q[{big}_NQ] = {{{start}}};
    const double v[{big}_NV] = {{0}}, none[{big}_NV] = {{0}};
    double a[{big}_NV], hold[{big}_NV];
    {name}_forward_dynamics(q, v, none, a);
    {name}_bias(q, v, hold);
    for (int n = 0; n < {big}_NV; n++)
        printf("%3d  acceleration % .9e  holding effort % .9e\\n", n, a[n], hold[n]);
    return 0;
}}
#endif
"""
